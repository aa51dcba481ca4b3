/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* pipe2 */

#include "api/apt_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/helper_program.h"

#define APT_PROGRAM "apt-cache"
/* The code with which a C library without a check of its own ends a child that cannot run its
 * program. */
#define EXIT_NOT_FOUND 127

static int no_apt(struct error *error)
{
    return error_set(error, TR_ENOENT,
                     "there is no apt-cache here; give the output of `%s` of a Debian system "
                     "as the file \"from\"",
                     APT_COMMAND);
}

/* Its standard output is the pipe. */
static int spawn_apt(int output, pid_t *child)
{
    char *const argv[] = { (char *)(uintptr_t)APT_PROGRAM, (char *)(uintptr_t) "dumpavail", NULL };
    posix_spawn_file_actions_t actions;
    const struct helper_program apt = {
        .program = APT_PROGRAM, .in_path = true, .argv = argv, .actions = &actions
    };
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (rc == 0)
        rc = helper_program_start(&apt, child);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

int apt_reader_open(struct apt_reader *reader, struct error *error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set_errno(error, errno, "cannot make the pipe for %s", APT_COMMAND);
    int rc = spawn_apt(ends[1], &reader->child);
    /* Our end is closed before anything is read, or the end of the program would not end the
     * reading. */
    close(ends[1]);
    reader->input = rc == 0 ? fdopen(ends[0], "r") : NULL;
    if (reader->input != NULL)
        return 0;
    int failed = rc != 0 ? rc : errno;
    close(ends[0]);
    if (rc == 0)
        waitpid(reader->child, NULL, 0); /* the closed pipe ends it */
    return rc == ENOENT ? no_apt(error)
                        : error_set_errno(error, failed, "cannot run %s", APT_COMMAND);
}

int apt_reader_close(struct apt_reader *reader, int rv, struct error *error)
{
    int status = 0;
    /* Closed first: a program that still has something to say then ends, however much it is. */
    fclose(reader->input);
    pid_t ended;
    while ((ended = waitpid(reader->child, &status, 0)) < 0 && errno == EINTR) {
    }
    bool known = ended == reader->child && WIFEXITED(status);
    if (rv != 0)
        return known && WEXITSTATUS(status) == EXIT_NOT_FOUND ? no_apt(error) : rv;
    if (known && WEXITSTATUS(status) != 0)
        return error_set(error, TR_ECHILD, "%s ended with %d: what was imported may be incomplete",
                         APT_COMMAND, WEXITSTATUS(status));
    return 0;
}
