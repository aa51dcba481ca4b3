/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether all hosts see one folder of checkpoints: a token, an empty file, is made in it here and
 * looked for there.
 *
 * A launcher that is killed leaves its token behind. Each holds a lock on its own for as long as it
 * lives, so the next one knows those of the dead, and removes them: files of the token's name and
 * size, of this user, that nobody has locked.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/launch_plan.h"

/* Random, so that nobody can have made it before. */
#define TOKEN_PREFIX ".launch-"
#define TOKEN_DIGITS 16u
#define TOKEN_BYTES (sizeof TOKEN_PREFIX + TOKEN_DIGITS)
/* So often may others take a token for a dead one's between its making and its lock. */
#define TRIES_MAX 8

struct token {
    char *path;
    int fd;
};

static bool is_token(const char *name)
{
    size_t prefix = strlen(TOKEN_PREFIX);
    return strncmp(name, TOKEN_PREFIX, prefix) == 0 && strlen(name) == prefix + TOKEN_DIGITS &&
           strspn(name + prefix, "0123456789abcdef") == TOKEN_DIGITS;
}

/* Removes it if it is the token of a dead launcher of ours. A token that is in doubt stays. */
static int remove_dead(void *arg, const char *name)
{
    struct stat facts;
    char *path = is_token(name) ? files_join(arg, name) : NULL;
    /* For writing: some file systems lock only so. */
    int fd = path != NULL ? open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    /* The lock comes last: nothing is locked that would not be removed. It comes before the unlink:
     * a launcher that lives holds the lock, and its token stays. */
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
        facts.st_size == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlink(path);
    if (fd >= 0)
        close(fd);
    free(path);
    return 0;
}

/* Where the file system has no locks nobody can take the token for a dead one's. */
static bool lock(const struct token *token)
{
    while (flock(token->fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return true;
    return files_is_at(files_posix, token->fd, token->path);
}

static int make_token(const char *folder, struct token *token, struct error *error)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        char name[TOKEN_BYTES];
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
            return error_set_errno(error, errno, "the system has no random bytes for a name");
        snprintf(name, sizeof name, TOKEN_PREFIX "%016" PRIx64, number);
        token->path = files_join(folder, name);
        if (token->path == NULL)
            return error_set(error, TR_ENOMEM, "no memory to launch");
        token->fd = open(token->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (token->fd < 0)
            return error_set_errno(error, errno, "%s", token->path);
        /* Between its making and its lock another launcher may take the token for a dead one's:
         * then it is not this one's, and another name is tried. */
        if (lock(token))
            return 0;
        close(token->fd);
        free(token->path);
        *token = (struct token){ NULL, -1 };
    }
    return error_set(error, TR_EEXIST, "%s: other launchers remove the file that this one makes",
                     folder);
}

static void remove_token(struct token *token)
{
    if (token->fd >= 0) {
        /* The name goes while the lock is held, so that nobody takes the token for a dead one's. */
        (void)unlink(token->path);
        close(token->fd);
    }
    free(token->path);
}

static int probe(struct launch_job *job, uint32_t host, const char *path, bool *seen,
                 struct error *error)
{
    struct argv_builder command = { 0 };
    argv_builder_add(&command, "test");
    argv_builder_add(&command, "-e");
    argv_builder_add(&command, path);
    int rv = launch_host_ask(job, host, &command, seen, error);
    argv_builder_fini(&command);
    return rv;
}

/* Every process may be started again on its own host, and then reads the last checkpoint. A file
 * that is made here is seen there where hosts share the folder; where they do not, processes copy
 * what they save to a second host, and the user is notified. */
int launch_check_shared(struct launch_job *job, struct error *error)
{
    const struct launch_plan *plan = job->plan;
    const char *folder = plan->cluster.checkpoints.folder;
    /* "%h" says that each host has its own; processes here see what this one sees. */
    if (plan->kind == CLUSTER_LAUNCH_LOCAL || plan->cluster.num_hosts < 2 || folder == NULL ||
        strstr(folder, "%h") != NULL)
        return 0;
    int rv = files_make_folders(files_posix, folder, error);
    if (rv != 0)
        return rv;
    struct token token = { NULL, -1 };
    files_posix->list(files_posix, folder, remove_dead, (void *)(uintptr_t)folder);
    rv = make_token(folder, &token, error);
    bool seen = true;
    for (uint32_t host = 0; rv == 0 && seen && host < plan->cluster.num_hosts; host++) {
        rv = probe(job, host, token.path, &seen, error);
        if (rv == 0 && !seen)
            launch_say(
                job, TR_LAUNCH_NOTE, LAUNCHER_NOBODY,
                "host %s does not see the checkpoints in %s: each part of one is copied to a "
                "second host",
                plan->cluster.hosts[host].name, folder);
    }
    remove_token(&token);
    return rv;
}
