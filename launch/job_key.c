/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* memfd_create, asprintf */

#include "launch/job_key.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/input_watch.h"

/* Of a key that its launcher alone looks for. */
#define KEY_NAME "troupe-key"
/* With the cluster file's device and inode, by which observers find the key of its job. */
#define KEY_NAME_MAX 64
/* What the kernel says of memory files: memfd_create(2). */
#define MEMORY_FILE "/memfd:"
#define MEMORY_FILE_END " (deleted)"

static int name_key(const char *cluster, char name[KEY_NAME_MAX], struct error *error)
{
    struct stat facts;
    if (stat(cluster, &facts) != 0)
        return error_set_errno(error, errno, "%s", cluster);
    snprintf(name, KEY_NAME_MAX, KEY_NAME "-%jx-%jx", (uintmax_t)facts.st_dev,
             (uintmax_t)facts.st_ino);
    return 0;
}

/* Puts the line into memory that has a path. Its mode is that which readers of a key demand. */
static int give_path(struct job_key *key, const char *name, struct error *error)
{
    size_t length = strlen(key->line);
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "no memory file for the job's key");
    /* The descriptor is noted before anything may fail: job_key_fini() closes it. */
    key->memory = fd;
    key->in_memory = true;
    /* The mode comes before the key: nobody else may open what holds it. */
    ssize_t written = fchmod(fd, 0600) == 0 ? write(fd, key->line, length) : -1;
    if (written != (ssize_t)length)
        return error_set_errno(error, written < 0 ? errno : ENOSPC,
                               "no memory file for the job's key");
    /* By number, not "self": programs that this process starts open it too. */
    if (asprintf(&key->path, "/proc/%ld/fd/%d", (long)getpid(), fd) < 0) {
        key->path = NULL;
        return error_set(error, TR_ENOMEM, "no memory for the path of a key");
    }
    return 0;
}

int job_key_make(struct job_key *key, const char *cluster, struct error *error)
{
    unsigned char bytes[SECRET_KEY_BYTES_MIN];
    char name[KEY_NAME_MAX];
    *key = (struct job_key){ 0 };
    int rv = name_key(cluster, name, error);
    if (rv != 0)
        return rv;
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return error_set_errno(error, errno, "the system has no random bytes for a key");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(key->line + 2 * i, 3, "%02x", bytes[i]);
    key->line[2 * sizeof bytes] = '\n';
    explicit_bzero(bytes, sizeof bytes);
    return give_path(key, name, error);
}

#define OF_INPUT JOB_KEY_VARIABLE "=" JOB_KEY_INPUT ": "

static int say_not_come(int rv, struct error *error)
{
    return rv == TR_ECANCELED
               ? error_set(error, rv,
                           OF_INPUT "interrupted before the line of the job's key came by the "
                                    "standard input")
               : error_set(error, rv,
                           OF_INPUT "the job's key did not arrive on the standard input");
}

/* A byte at a time: what follows the line is not ours to take. */
static int read_line(struct job_key *key, int64_t timeout_ns, int stop, struct error *error)
{
    const struct deadline until = deadline_after(timeout_ns);
    for (size_t used = 0; used < JOB_KEY_LINE_MAX;) {
        int rv = input_watch_wait(stop, &until);
        if (rv != 0)
            return say_not_come(rv, error);
        int got = input_watch_read(&key->line[used]);
        if (got == 0)
            return error_set(error, TR_EFORMAT,
                             OF_INPUT "the standard input ended before the line of the job's key");
        if (got > 0 && key->line[used++] == '\n')
            return 0;
    }
    return error_set(error, TR_EFORMAT,
                     OF_INPUT "the first line of the standard input is longer than a key");
}

int job_key_find(struct job_key *key, int64_t timeout_ns, int stop, struct error *error)
{
    const char *from = getenv(JOB_KEY_VARIABLE);
    *key = (struct job_key){ 0 };
    if (from == NULL)
        return 0;
    if (strcmp(from, JOB_KEY_INPUT) != 0) {
        key->path = strdup(from);
        return key->path != NULL ? 0
                                 : error_set(error, TR_ENOMEM,
                                             "no memory for the path of a "
                                             "key");
    }
    int rv = read_line(key, timeout_ns, stop, error);
    return rv == 0 ? give_path(key, KEY_NAME, error) : rv;
}

/* A search for the youngest key of a name. */
struct key_search {
    const char *target;
    struct timespec made;
    char *path; /* NULL: none was found */
};

/* One descriptor of a process of this user. */
static void look_at(struct key_search *search, const char *path)
{
    char target[KEY_NAME_MAX + sizeof MEMORY_FILE + sizeof MEMORY_FILE_END];
    struct stat facts;
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return;
    target[length] = '\0';
    if (strcmp(target, search->target) != 0 || stat(path, &facts) != 0 ||
        facts.st_uid != geteuid() || (facts.st_mode & 0777) != 0600)
        return;
    bool younger = facts.st_ctim.tv_sec > search->made.tv_sec ||
                   (facts.st_ctim.tv_sec == search->made.tv_sec &&
                    facts.st_ctim.tv_nsec > search->made.tv_nsec);
    char *copy = search->path == NULL || younger ? strdup(path) : NULL;
    if (copy == NULL)
        return;
    free(search->path);
    search->path = copy;
    search->made = facts.st_ctim;
}

/* All descriptors of a process, where the system lets this user look. */
static void look_into(struct key_search *search, const char *process)
{
    char folder[64], path[128];
    struct stat facts;
    snprintf(folder, sizeof folder, "/proc/%.20s", process);
    /* Root may look at everybody's; the keys of others are not this user's to find. */
    if (stat(folder, &facts) != 0 || facts.st_uid != geteuid())
        return;
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", process);
    DIR *open = opendir(folder);
    const struct dirent *entry;
    while (open != NULL && (entry = readdir(open)) != NULL) {
        snprintf(path, sizeof path, "%s/%.20s", folder, entry->d_name);
        look_at(search, path);
    }
    if (open != NULL)
        closedir(open);
}

int job_key_seek(struct job_key *key, const char *cluster, struct error *error)
{
    char name[KEY_NAME_MAX], target[KEY_NAME_MAX + sizeof MEMORY_FILE + sizeof MEMORY_FILE_END];
    struct key_search search = { .target = target };
    *key = (struct job_key){ 0 };
    int rv = name_key(cluster, name, error);
    if (rv != 0)
        return rv;
    snprintf(target, sizeof target, MEMORY_FILE "%s" MEMORY_FILE_END, name);
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes != NULL && (entry = readdir(processes)) != NULL)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            look_into(&search, entry->d_name);
    if (processes != NULL)
        closedir(processes);
    key->path = search.path;
    return key->path != NULL
               ? 0
               : error_set(error, TR_ENOENT,
                           "%s: no launcher of this user runs its job on this host", cluster);
}

void job_key_fini(struct job_key *key)
{
    if (key->in_memory)
        close(key->memory);
    free(key->path);
    explicit_bzero(key, sizeof *key);
}
