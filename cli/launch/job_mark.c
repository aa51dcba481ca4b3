/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "cli/launch/job_mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".job"
/* Two paths, each character of which JSON may spell in six, and an exit code. */
#define MARK_BYTES_MAX (2 * 6 * PATH_MAX + 128)
/* The byte that launchers lock, far behind the end of the file: other programs lock files from their
 * beginning, so that no lock of theirs is taken for a launcher's. */
#define LOCKED_BYTE ((off_t)1 << 40)

static struct flock launcher_lock(void)
{
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCKED_BYTE, .l_len = 1
    };
}

/* What F_GETLK found: a lock of another extent is of a program that copies or edits the file. */
static bool is_of_a_launcher(const struct flock *lock)
{
    return lock->l_type == F_WRLCK && lock->l_start == LOCKED_BYTE && lock->l_len == 1;
}

static int open_mark(const char *log, int flags, char **path)
{
    if (asprintf(path, "%s" SUFFIX, log) < 0) {
        *path = NULL;
        errno = ENOMEM;
        return -1;
    }
    return open(*path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
}

/* The folder of a run may not be there yet. NULL: there is no memory, or no folder. */
static char *make_absolute(const char *path)
{
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;
    if (path[0] == '/')
        return strdup(path);
    if (folder != NULL && asprintf(&whole, "%s/%s", folder, path) < 0)
        whole = NULL;
    free(folder);
    return whole;
}

/* A path that is no UTF-8 is left out: such a job is found by its log alone. */
static void set_path(json_t *object, const char *key, const char *path)
{
    char *whole = make_absolute(path);
    (void)json_object_set_new(object, key, json_string(whole));
    free(whole);
}

static bool write_note(struct job_mark *mark, const char *cluster, const char *run)
{
    json_t *object = json_object();
    set_path(object, "cluster", cluster);
    if (run != NULL)
        set_path(object, "run", run);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL, *line = NULL;
    json_decref(object);
    int length = text != NULL ? asprintf(&line, "%s\n", text) : -1;
    free(text);
    if (length < 0)
        return false;
    bool written = ftruncate(mark->fd, 0) == 0 &&
                   pwrite(mark->fd, line, (size_t)length, 0) == length;
    mark->bytes = (size_t)length;
    free(line);
    return written;
}

int job_mark_take(struct job_mark *mark, const char *log, const char *cluster,
                  struct tr_error *error)
{
    struct flock lock = launcher_lock();
    char *path;
    int rv = 0;
    *mark = (struct job_mark){ .fd = open_mark(log, O_RDWR | O_CREAT, &path) };
    if (mark->fd < 0)
        rv = tr_error_set(error, TR_EIO, "--log %s: cannot open %s" SUFFIX ": %s", log, log,
                          strerror(errno));
    else if (fcntl(mark->fd, F_SETLK, &lock) != 0)
        rv = errno == EACCES || errno == EAGAIN
                 ? tr_error_set(error, TR_EEXIST,
                                "--log %s: another job that runs has this log; name another file",
                                log)
                 : tr_error_set(error, TR_EIO, "--log %s: cannot lock %s: %s", log, path,
                                strerror(errno));
    /* How the last job ended is not how this one does. */
    else if (!write_note(mark, cluster, NULL))
        rv = tr_error_set(error, TR_EIO, "--log %s: cannot write %s: %s", log, path,
                          strerror(errno));
    if (rv != 0 && mark->fd >= 0)
        close(mark->fd);
    free(path);
    mark->held = rv == 0;
    return rv;
}

int job_mark_name_run(struct job_mark *mark, const char *cluster, const char *run,
                      struct tr_error *error)
{
    if (!mark->held || run == NULL || write_note(mark, cluster, run))
        return 0;
    return tr_error_set(error, TR_EIO, "--log: cannot note the run %s: %s", run, strerror(errno));
}

void job_mark_release(struct job_mark *mark, int code)
{
    char text[32];
    if (!mark->held)
        return;
    int length = snprintf(text, sizeof text, "%d\n", code);
    ssize_t written = pwrite(mark->fd, text, (size_t)length, (off_t)mark->bytes);
    (void)written; /* the job then looks as if its launcher had been killed */
    close(mark->fd);
    mark->held = false;
}

static char *path_of(const json_t *object, const char *key)
{
    const char *path = json_string_value(json_object_get(object, key));
    return path != NULL && path[0] == '/' ? strdup(path) : NULL;
}

void job_mark_read(struct job_note *note, const char *bytes, size_t size)
{
    char text[16] = "", *end;
    *note = (struct job_note){ .code = -1 };
    const char *line_end = size > 0 ? memchr(bytes, '\n', size) : NULL;
    if (line_end == NULL)
        return;
    json_t *object = json_loadb(bytes, (size_t)(line_end - bytes), 0, NULL);
    note->cluster = path_of(object, "cluster");
    note->run = path_of(object, "run");
    json_decref(object);
    size_t left = size - (size_t)(line_end + 1 - bytes);
    if (left == 0 || left >= sizeof text || line_end[1] < '0' || line_end[1] > '9')
        return;
    memcpy(text, line_end + 1, left);
    long code = strtol(text, &end, 10);
    if (end[0] == '\n' && code < 256)
        note->code = (int)code;
}

void job_note_fini(struct job_note *note)
{
    free(note->cluster);
    free(note->run);
}

static void read_mark(int fd, struct job_note *note)
{
    char *bytes = malloc(MARK_BYTES_MAX);
    ssize_t got = bytes != NULL ? pread(fd, bytes, MARK_BYTES_MAX, 0) : 0;
    job_mark_read(note, bytes, got > 0 ? (size_t)got : 0);
    free(bytes);
}

int job_mark_look(const char *log, struct job_state *state, struct tr_error *error)
{
    struct flock lock = launcher_lock();
    struct job_note note;
    char *path;
    int fd = open_mark(log, O_RDONLY, &path), rv = 0;
    *state = (struct job_state){ .code = -1 };
    if (fd < 0)
        rv = tr_error_set(error, errno == ENOENT ? TR_ENOENT : TR_EIO,
                          "%s: no job has this log (%s" SUFFIX ": %s); give the file that troupe "
                          "launch --log named",
                          log, log, strerror(errno));
    else if (fcntl(fd, F_GETLK, &lock) != 0)
        rv = tr_error_set(error, TR_EIO, "%s: cannot ask for its lock: %s", path, strerror(errno));
    else if (lock.l_type != F_UNLCK && !is_of_a_launcher(&lock))
        rv = tr_error_set(
            error, TR_EEXIST,
            "%s: process %ld, which launched no job, has locked it; try again when it "
            "has ended",
            path, (long)lock.l_pid);
    else if (lock.l_type != F_UNLCK) {
        state->runs = true;
        state->launcher = lock.l_pid > 0 ? lock.l_pid : 0;
    } else {
        read_mark(fd, &note);
        state->code = note.code;
        job_note_fini(&note);
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return rv;
}

/* A search for the logs of jobs that run here. */
struct mark_search {
    struct stat wanted; /* the folder of a run, or a cluster file */
    char *log, *other;  /* that was found first, and one more; NULL: none */
};

static bool is_wanted(const struct mark_search *search, const char *path)
{
    struct stat facts;
    return path != NULL && stat(path, &facts) == 0 && facts.st_dev == search->wanted.st_dev &&
           facts.st_ino == search->wanted.st_ino;
}

/* Is it locked by that process, which holds it open? */
static bool is_of_launcher(int fd, pid_t process)
{
    struct flock lock = launcher_lock();
    return fcntl(fd, F_GETLK, &lock) == 0 && is_of_a_launcher(&lock) && lock.l_pid == process;
}

static void search_file(struct mark_search *search, const char *path, pid_t process)
{
    struct job_note note;
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &facts) == 0 && facts.st_uid == geteuid() && is_of_launcher(fd, process)) {
        read_mark(fd, &note);
        if (is_wanted(search, note.run) || is_wanted(search, note.cluster)) {
            char **to = search->log == NULL ? &search->log : &search->other;
            free(*to);
            *to = strndup(path, strlen(path) - strlen(SUFFIX));
        }
        job_note_fini(&note);
    }
    close(fd);
}

static void search_process(struct mark_search *search, const char *process)
{
    char folder[64], link[128], path[PATH_MAX];
    struct stat facts;
    snprintf(folder, sizeof folder, "/proc/%.20s", process);
    /* Root may look at everybody's, but the jobs of others are not this user's. */
    if (stat(folder, &facts) != 0 || facts.st_uid != geteuid())
        return;
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", process);
    DIR *open = opendir(folder);
    const struct dirent *entry;
    while (open != NULL && (entry = readdir(open)) != NULL) {
        snprintf(link, sizeof link, "%s/%.20s", folder, entry->d_name);
        ssize_t length = readlink(link, path, sizeof path - 1);
        size_t suffix = strlen(SUFFIX);
        if (length < (ssize_t)suffix || memcmp(path + length - suffix, SUFFIX, suffix) != 0)
            continue;
        path[length] = '\0';
        search_file(search, path, (pid_t)strtol(process, NULL, 10));
    }
    if (open != NULL)
        closedir(open);
}

static int search_jobs(const char *name, struct mark_search *search, struct tr_error *error)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes != NULL && (entry = readdir(processes)) != NULL)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            search_process(search, entry->d_name);
    if (processes != NULL)
        closedir(processes);
    if (search->other != NULL)
        return tr_error_set(error, TR_EEXIST,
                            "%s: several jobs run here, with the logs %s and %s; give one of these",
                            name, search->log, search->other);
    if (search->log == NULL)
        return tr_error_set(error, TR_ENOENT,
                            "%s: %s; give the file that troupe launch --log named", name,
                            S_ISDIR(search->wanted.st_mode)
                                ? "no job of yours with a log has this run on this host"
                                : "no job has this log, nor does one of yours with a log run on "
                                  "this host by this cluster file");
    return 0;
}

int job_mark_find(const char *name, char **log, struct tr_error *error)
{
    struct mark_search search = { .log = NULL };
    struct stat facts;
    char *path;
    int rv = 0;
    *log = NULL;
    if (asprintf(&path, "%s" SUFFIX, name) < 0)
        return tr_error_set(error, TR_ENOMEM, "no memory to look for a job");
    if (lstat(path, &facts) == 0)
        search.log = strdup(name);
    else if (stat(name, &search.wanted) == 0)
        rv = search_jobs(name, &search, error);
    else
        rv = tr_error_set(error, TR_ENOENT,
                          "%s: no job has this log (%s); give the file that troupe launch --log "
                          "named, or the folder of the run or the cluster file of a job that runs "
                          "on this host",
                          name, strerror(errno));
    if (rv == 0 && search.log == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "no memory to look for a job");
    if (rv == 0) {
        *log = search.log;
        search.log = NULL;
    }
    free(search.log);
    free(search.other);
    free(path);
    return rv;
}
