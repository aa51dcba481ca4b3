/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "cli/lib/tools_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the running program. */
static int find_own_folder(char folder[PATH_MAX], struct tr_error *error)
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0)
        return tr_error_set(error, TR_EIO, "/proc/self/exe: cannot find where this program is: %s",
                            strerror(errno));
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    /* libtool keeps the program of a build in a folder below that of the script that runs it. */
    char *last = strrchr(folder, '/');
    if (last != NULL && strcmp(last, "/.libs") == 0)
        *last = '\0';
    return 0;
}

static char *find_program(const char *folder, const char *name)
{
    static const char *const PLACES[] = { "/", "/../libexec/troupe/" };
    char *path;
    /* Programs that were built or moved together run together; the configured place, which may hold
     * another version, comes last, and stands in the error where none is there. */
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        if (asprintf(&path, "%s%s%s", folder, PLACES[i], name) < 0)
            return NULL;
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return asprintf(&path, "%s/%s", TROUPE_LIBEXECDIR, name) < 0 ? NULL : path;
}

int tools_program_become(const char *name, char **argv, struct tr_error *error)
{
    char folder[PATH_MAX];
    int rv = find_own_folder(folder, error);
    if (rv != 0)
        return rv;
    char *path = find_program(folder, name);
    if (path == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the path of %s", name);
    execv(path, argv);
    rv = errno == ENOENT
             ? tr_error_set(error, TR_ENOENT,
                            "%s, which runs this command, is neither in %s nor near %s; install it "
                            "there",
                            name, TROUPE_LIBEXECDIR, folder)
             : tr_error_set(error, TR_EIO, "%s: cannot be started: %s", path, strerror(errno));
    free(path);
    return rv;
}
