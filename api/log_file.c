/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf, dup3 */

#include <troupe/log_file.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/log_queue.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "runtime/base/fork_mark.h"
#include "runtime/base/printable.h"

/* RFC 3339 in UTC with milliseconds. */
#define TIME_MAX 48
/* Names of hosts and roles, with their ends. */
#define NAME_MAX_BYTES 256
#define SECOND_NS INT64_C(1000000000)

struct tr_log_file {
    struct fork_mark *mark;
    char *path;
    enum tr_log_format format;
    int fd; /* the same number for as long as the file is open */
    struct tr_log *log;
    pthread_t follower;      /* where there is a log */
    pthread_mutex_t writing; /* guards these two, and that a line is written whole */
    bool torn;               /* the file ends within a line */
    uint64_t lost;           /* lines that could not be written, since one that says so */
    pthread_mutex_t mutex;   /* guards all below */
    char host[NAME_MAX_BYTES], role[NAME_MAX_BYTES];
    uint32_t process;
};

/* Texts that are NULL stand nowhere. */
struct log_line {
    int64_t time_ns; /* 0: now */
    enum tr_log_level level;
    const char *host, *role;
    uint32_t process;
    int stream;
    const char *component;
    const char *text;
    size_t text_bytes;
};

static const char *const LEVELS[] = { "error", "warn", "info", "debug" };

static const struct tr_log_file_options DEFAULTS = TR_LOG_FILE_OPTIONS_INIT;

static int open_path(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
}

static void write_time(char text[TIME_MAX], int64_t time_ns)
{
    struct timespec now = { time_ns / SECOND_NS, time_ns % SECOND_NS };
    struct tm utc;
    char date[32] = "";
    if (time_ns == 0)
        clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, TIME_MAX, "%s.%03dZ", date, (int)(now.tv_nsec / 1000000));
}

/* A text that is no UTF-8 keeps its ASCII. */
static json_t *text_value(const char *text, size_t bytes)
{
    json_t *value = json_stringn(text, bytes);
    char *copy = value == NULL ? malloc(bytes + 1) : NULL;
    for (size_t i = 0; copy != NULL && i < bytes; i++)
        copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    if (copy != NULL)
        value = json_stringn(copy, bytes);
    free(copy);
    return value;
}

static bool set_text(json_t *object, const char *key, const char *text, size_t bytes)
{
    return json_object_set_new(object, key, text_value(text, bytes)) == 0;
}

static char *json_line(const struct log_line *line, const char *time)
{
    json_t *object = json_pack("{s:s, s:s}", "time", time, "level", LEVELS[line->level]);
    bool whole = object != NULL;
    if (whole && line->host != NULL)
        whole = json_object_set_new(object, "process", json_integer(line->process)) == 0 &&
                set_text(object, "host", line->host, strlen(line->host)) &&
                set_text(object, "role", line->role, strlen(line->role));
    if (whole && line->stream != 0)
        whole = json_object_set_new(object, "stream",
                                    json_string(line->stream == 1 ? "stdout" : "stderr")) == 0;
    if (whole && line->component != NULL)
        whole = set_text(object, "component", line->component, strlen(line->component));
    whole = whole && set_text(object, "message", line->text, line->text_bytes);
    /* What cannot be seen, or steers a terminal, stands as \uXXXX. */
    char *text = whole ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL, *ended = NULL;
    json_decref(object);
    if (text != NULL && asprintf(&ended, "%s\n", text) < 0)
        ended = NULL;
    free(text);
    return ended;
}

/* Bytes behind a NUL are left out, and what steers a terminal does not reach one. */
static char *text_line(const struct log_line *line, const char *time)
{
    char *text = NULL, process[2 * NAME_MAX_BYTES + 16] = "";
    if (line->host != NULL)
        snprintf(process, sizeof process, "[%.*s/%.*s %" PRIu32 "] ", NAME_MAX_BYTES, line->host,
                 NAME_MAX_BYTES, line->role, line->process);
    int length = asprintf(&text, "%s %s %s%s%s%s\n", time, LEVELS[line->level], process,
                          line->component != NULL ? line->component : "",
                          line->component != NULL ? ": " : "", line->text);
    if (length < 0)
        return NULL;
    for (char *at = text; (at = strchr(at, '\t')) != NULL;)
        *at = ' ';
    make_printable(text);
    text[length - 1] = '\n';
    return text;
}

/* Under the mutex. */
static bool write_whole(struct tr_log_file *file, const char *text)
{
    size_t bytes = strlen(text), at = 0;
    while (at < bytes) {
        ssize_t written = write(file->fd, text + at, bytes - at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            file->torn = file->torn || at > 0;
            return false;
        }
        at += (size_t)written;
    }
    return true;
}

static char *line_text(const struct tr_log_file *file, const struct log_line *line)
{
    char time[TIME_MAX];
    write_time(time, line->time_ns);
    return file->format == TR_LOG_JSON ? json_line(line, time) : text_line(line, time);
}

/* Says that lines were lost, on a line of its own. Under the mutex. */
static void put_loss(struct tr_log_file *file)
{
    char said[64];
    int length = snprintf(said, sizeof said, "%" PRIu64 " lines could not be written", file->lost);
    const struct log_line line = {
        .level = TR_LOG_WARN, .role = "", .text = said, .text_bytes = (size_t)length
    };
    char *text = line_text(file, &line);
    if (file->torn && write_whole(file, "\n"))
        file->torn = false;
    if (text != NULL && !file->torn && write_whole(file, text))
        file->lost = 0;
    free(text);
}

static int put_line(struct tr_log_file *file, const struct log_line *line, struct tr_error *error)
{
    char *text = line_text(file, line);
    pthread_mutex_lock(&file->writing);
    if (file->lost > 0)
        put_loss(file);
    /* Nothing follows the part of a line, or is there before it is said what is missing. */
    bool written = text != NULL && file->lost == 0 && write_whole(file, text);
    int code = errno;
    file->lost += !written;
    pthread_mutex_unlock(&file->writing);
    bool made = text != NULL;
    free(text);
    if (written)
        return 0;
    return made ? tr_error_set(error, TR_EIO, "%s: cannot write a line: %s", file->path,
                               strerror(code))
                : tr_error_set(error, TR_ENOMEM, "%s: no memory for a line", file->path);
}

/* A line of the process that writes. */
static int put_own(struct tr_log_file *file, struct log_line *line, struct tr_error *error)
{
    char host[NAME_MAX_BYTES], role[NAME_MAX_BYTES];
    pthread_mutex_lock(&file->mutex);
    memcpy(host, file->host, sizeof host);
    memcpy(role, file->role, sizeof role);
    line->process = file->process;
    pthread_mutex_unlock(&file->mutex);
    line->host = host[0] != '\0' ? host : NULL;
    line->role = role;
    return put_line(file, line, error);
}

/* Until it is interrupted, before which the lines that are there are written. A line that cannot be
 * written is lost; the next line that is written comes after one that says how many were. */
static void *follow_log(void *arg)
{
    struct tr_log_file *file = arg;
    struct tr_log_line taken = TR_LOG_LINE_INIT;
    while (tr_log_next(file->log, TR_WAIT_FOREVER, &taken, NULL) == 0) {
        char lost[64];
        struct log_line line = { .time_ns = taken.time_ns, .level = TR_LOG_WARN, .text = lost };
        line.text_bytes = (size_t)snprintf(lost, sizeof lost, "%" PRIu64 " lines were lost",
                                           taken.lost);
        if (taken.lost > 0)
            (void)put_own(file, &line, NULL);
        line.level = taken.level;
        line.component = taken.component;
        line.text = taken.text;
        line.text_bytes = strlen(taken.text);
        (void)put_own(file, &line, NULL);
    }
    return NULL;
}

static int start_follower(struct tr_log_file *file, struct tr_error *error)
{
    sigset_t all, before;
    /* Signals are for the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&file->follower, NULL, follow_log, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0
                   : tr_error_set(error, TR_ENOMEM, "%s: cannot start the thread that writes lines",
                                  file->path);
}

static void log_file_free(struct tr_log_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    fork_mark_destroy(file->mark);
    pthread_mutex_destroy(&file->mutex);
    pthread_mutex_destroy(&file->writing);
    free(file->path);
    free(file);
}

static int open_file(struct tr_log_file *file, const char *path, struct tr_error *error)
{
    file->mark = fork_mark_create();
    file->path = strdup(path);
    if (file->mark == NULL || file->path == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a log file");
    file->fd = open_path(path);
    if (file->fd < 0)
        return tr_error_set(error, TR_EIO, "%s: %s", path, strerror(errno));
    return file->log != NULL ? start_follower(file, error) : 0;
}

int tr_log_file_open(const char *path, const struct tr_log_file_options *caller,
                     struct tr_log_file **out, struct tr_error *error)
{
    struct tr_log_file_options options = DEFAULTS;
    *out = NULL;
    int rv = 0;
    if (caller != NULL)
        rv = sized_read(&options, sizeof options, caller, "tr_log_file_options", error);
    if (rv == 0 && options.format != TR_LOG_TEXT && options.format != TR_LOG_JSON)
        rv = tr_error_set(error, TR_ERANGE, "format: %d; give TR_LOG_TEXT or TR_LOG_JSON",
                          (int)options.format);
    if (rv != 0)
        return rv;
    struct tr_log_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a log file");
    file->fd = -1;
    file->format = options.format;
    file->log = options.log;
    pthread_mutex_init(&file->mutex, NULL);
    pthread_mutex_init(&file->writing, NULL);
    log_acquire(file->log); /* the program may close its log first */
    rv = open_file(file, path, error);
    if (rv == 0) {
        *out = file;
        return 0;
    }
    log_release(file->log);
    log_file_free(file);
    return rv;
}

void tr_log_file_close(struct tr_log_file *file)
{
    if (file == NULL || fork_mark_is_child(file->mark))
        return;
    if (file->log != NULL) {
        tr_log_interrupt(file->log);
        pthread_join(file->follower, NULL);
        tr_log_resume(file->log);
        log_release(file->log);
    }
    log_file_free(file);
}

int tr_log_file_reopen(struct tr_log_file *file, struct tr_error *error)
{
    if (fork_mark_is_child(file->mark))
        return error_forked(error, "the log file");
    int fd = open_path(file->path);
    /* The new file takes the number of the old one in one step, so that other threads write to one
     * of them, and to none that is closed. */
    pthread_mutex_lock(&file->writing);
    bool reopened = fd >= 0 && dup3(fd, file->fd, O_CLOEXEC) >= 0;
    int code = errno;
    if (reopened)
        file->torn = false; /* which the old file is */
    pthread_mutex_unlock(&file->writing);
    struct tr_error failed = TR_ERROR_INIT;
    if (!reopened)
        (void)tr_error_set(&failed, TR_EIO, "%s cannot be opened again: %s", file->path,
                           strerror(code));
    if (fd >= 0)
        close(fd);
    if (reopened)
        return 0;
    (void)tr_log_file_write(file, TR_LOG_ERROR, failed.message, NULL);
    return tr_error_set(error, TR_EIO, "%s", failed.message);
}

int tr_log_file_set_process(struct tr_log_file *file, const char *host, const char *role,
                            uint32_t process, struct tr_error *error)
{
    const char *names[] = { host, role };
    if (fork_mark_is_child(file->mark))
        return error_forked(error, "the log file");
    for (int i = 0; i < 2; i++)
        if (names[i][0] == '\0' || strlen(names[i]) >= NAME_MAX_BYTES)
            return tr_error_set(error, TR_ERANGE, "%s: a name has %zu bytes; give 1 to %d",
                                i == 0 ? "host" : "role", strlen(names[i]), NAME_MAX_BYTES - 1);
    pthread_mutex_lock(&file->mutex);
    snprintf(file->host, sizeof file->host, "%s", host);
    snprintf(file->role, sizeof file->role, "%s", role);
    file->process = process;
    pthread_mutex_unlock(&file->mutex);
    return 0;
}

int tr_log_file_write(struct tr_log_file *file, enum tr_log_level level, const char *text,
                      struct tr_error *error)
{
    if (fork_mark_is_child(file->mark))
        return error_forked(error, "the log file");
    if ((int)level < TR_LOG_ERROR || (int)level > TR_LOG_DEBUG)
        return tr_error_set(error, TR_ERANGE, "level: %d; give TR_LOG_ERROR to TR_LOG_DEBUG",
                            (int)level);
    struct log_line line = { .level = level, .text = text, .text_bytes = strlen(text) };
    return put_own(file, &line, error);
}

static enum tr_log_level level_of(const struct tr_launch_event *event)
{
    switch (event->kind) {
    case TR_LAUNCH_FAILED:
        return TR_LOG_ERROR;
    case TR_LAUNCH_ENDED:
        return event->exit_code != 0 || event->signal != 0 ? TR_LOG_ERROR : TR_LOG_INFO;
    case TR_LAUNCH_NOTE:
    case TR_LAUNCH_KERNELS:
    case TR_LAUNCH_KILLED:
        return TR_LOG_WARN;
    default:
        return TR_LOG_INFO;
    }
}

int tr_log_file_write_event(struct tr_log_file *file, const struct tr_launch_event *caller,
                            struct tr_error *error)
{
    struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
    if (fork_mark_is_child(file->mark))
        return error_forked(error, "the log file");
    int rv = sized_read(&event, sizeof event, caller, "tr_launch_event", error);
    if (rv != 0)
        return rv;
    struct log_line line = { .level = level_of(&event),
                             .host = event.process == UINT32_MAX ? NULL : event.host,
                             .role = event.role != NULL ? event.role : "",
                             .process = event.process,
                             .stream = event.stream,
                             .text = event.text != NULL ? event.text : "",
                             .text_bytes = event.text != NULL ? event.text_bytes : 0 };
    return put_line(file, &line, error);
}
