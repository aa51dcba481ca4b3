/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* O_CLOEXEC */

#include "model/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_file_open(const char *path, FILE **file, struct tr_error *error)
{
    struct stat facts;
    *file = NULL;
    /* Without O_NONBLOCK the open waits for a writer of a pipe. Files are read as always. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return tr_error_set(error, errno == ENOENT ? TR_ENOENT : TR_EIO, "%s: %s", path,
                            strerror(errno));
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        *file = fdopen(fd, "r");
    else
        errno = EINVAL;
    if (*file != NULL)
        return 0;
    int rv = errno == EINVAL ? tr_error_set(error, TR_EINVAL, "%s: not a regular file", path)
                             : tr_error_set(error, TR_EIO, "%s: %s", path, strerror(errno));
    close(fd);
    return rv;
}
