/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log: a bounded queue of lines, and the descriptor by which threads and event loops wait for them.
 *
 * Invariants:
 * - The descriptor is readable if there is a line, or the log is closed or interrupted. All but an
 *   interrupt changes it under the mutex. Whoever takes it back to not readable looks for an
 *   interrupt after that, so that one which came in between is not lost.
 * - A thread that waits sleeps in ppoll() on the descriptor, without the mutex: a signal handler may
 *   then wake it, and one line wakes all, of which one gets it.
 * - The handle has one reference, each session another. The queue is freed by the last; after the
 *   close nothing is added.
 */
#include "config.h" /* ppoll */

#include "api/log_queue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "api/public_error.h"
#include "api/sized.h"
#include "runtime/base/fork_mark.h"

#define SECOND_NS INT64_C(1000000000)
/* Timeouts above this many seconds wait without an end, so that no sum of times wraps. */
#define TIMEOUT_SECONDS_MAX (INT64_C(1) << 32)
/* Half a gigabyte of lines: whoever keeps more wants a file. */
#define LINES_MAX ((uint32_t)1 << 20)

_Static_assert(LOG_LINE_MAX <= TR_LOG_TEXT_MAX, "a line of the library is never cut");
_Static_assert((int)LOG_LEVEL_ERROR == TR_LOG_ERROR && (int)LOG_LEVEL_DEBUG == TR_LOG_DEBUG,
               "levels are the same inside and outside");

/* A line of the queue, as long as its text. */
struct queued_line {
    struct queued_line *next;
    enum log_level level;
    int64_t time_ns;
    uint64_t lost;
    char component[TR_LOG_COMPONENT_MAX];
    char text[];
};

struct tr_log {
    struct fork_mark *mark;
    atomic_uint references;
    struct tr_log_options options; /* set once */
    int descriptor;
    atomic_bool interrupted;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t left;
    struct queued_line *first, **last;
    uint32_t lines;
    uint64_t lost; /* after the last line of the queue */
    uint32_t waiting;
    bool closed;
};

static const struct tr_log_options DEFAULTS = TR_LOG_OPTIONS_INIT;

/* Of a signal handler too. The counter cannot be full: it is added to once a turn to readable. */
static void make_readable(const struct tr_log *log)
{
    uint64_t one = 1;
    ssize_t written = write(log->descriptor, &one, sizeof one);
    (void)written;
}

/* Under the mutex, when there is no line. */
static void make_unreadable(const struct tr_log *log)
{
    uint64_t count;
    ssize_t got = read(log->descriptor, &count, sizeof count);
    (void)got;
    if (log->closed || atomic_load(&log->interrupted))
        make_readable(log);
}

static struct queued_line *line_create(enum log_level level, const char *component,
                                       const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct queued_line *line = calloc(1, sizeof *line + bytes);
    if (line == NULL)
        return NULL;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    line->level = level;
    line->time_ns = now.tv_sec * SECOND_NS + now.tv_nsec;
    snprintf(line->component, sizeof line->component, "%s", component);
    memcpy(line->text, text, bytes);
    return line;
}

/* Under the mutex: the first line of a queue that has one. */
static struct queued_line *take_first(struct tr_log *log)
{
    struct queued_line *line = log->first;
    log->first = line->next;
    if (log->first == NULL)
        log->last = &log->first;
    log->lines--;
    return line;
}

/* Under the mutex. What was lost is said by the line that follows, which is the queue's first. */
static void drop_oldest(struct tr_log *log)
{
    struct queued_line *oldest = take_first(log);
    uint64_t *lost = log->first != NULL ? &log->first->lost : &log->lost;
    *lost += oldest->lost + 1;
    free(oldest);
}

static void append(void *arg, enum log_level level, const char *component, const char *text)
{
    struct tr_log *log = arg;
    struct queued_line *line = line_create(level, component, text);
    pthread_mutex_lock(&log->mutex);
    if (line == NULL || log->closed) {
        log->lost++;
        pthread_mutex_unlock(&log->mutex);
        free(line);
        return;
    }
    if (log->lines == log->options.lines_max)
        drop_oldest(log);
    line->lost = log->lost;
    log->lost = 0;
    *log->last = line;
    log->last = &line->next;
    if (log->lines++ == 0)
        make_readable(log);
    pthread_mutex_unlock(&log->mutex);
}

struct log_sink log_sink_of(struct tr_log *log)
{
    if (log == NULL)
        return (struct log_sink){ 0 };
    return (struct log_sink){ append, log, (enum log_level)log->options.level };
}

void log_add(struct tr_log *log, enum log_level level, const char *component, const char *line)
{
    if (log != NULL && (int)level <= (int)log->options.level)
        append(log, level, component, line);
}

static void log_free(struct tr_log *log)
{
    while (log->first != NULL)
        free(take_first(log));
    close(log->descriptor);
    pthread_cond_destroy(&log->left);
    pthread_mutex_destroy(&log->mutex);
    fork_mark_destroy(log->mark);
    free(log);
}

void log_acquire(struct tr_log *log)
{
    if (log != NULL)
        atomic_fetch_add_explicit(&log->references, 1, memory_order_relaxed);
}

void log_release(struct tr_log *log)
{
    /* Release, then acquire by the last one, who must see what all others did. */
    if (log != NULL && atomic_fetch_sub_explicit(&log->references, 1, memory_order_acq_rel) == 1)
        log_free(log);
}

static int check_options(const struct tr_log_options *options, struct tr_error *error)
{
    if ((int)options->level < TR_LOG_ERROR || (int)options->level > TR_LOG_DEBUG)
        return tr_error_set(error, TR_ERANGE, "level: %d; give TR_LOG_ERROR to TR_LOG_DEBUG",
                            (int)options->level);
    if (options->lines_max == 0 || options->lines_max > LINES_MAX)
        return tr_error_set(error, TR_ERANGE, "lines_max: %u asked for; give 1 to %u",
                            options->lines_max, LINES_MAX);
    return 0;
}

int tr_log_open(const struct tr_log_options *caller, struct tr_log **out, struct tr_error *error)
{
    struct tr_log_options options = DEFAULTS;
    *out = NULL;
    int rv = 0;
    if (caller != NULL)
        rv = sized_read(&options, sizeof options, caller, "tr_log_options", error);
    if (rv == 0)
        rv = check_options(&options, error);
    if (rv != 0)
        return rv;
    struct tr_log *log = calloc(1, sizeof *log);
    struct fork_mark *mark = fork_mark_create();
    if (log == NULL || mark == NULL) {
        free(log);
        fork_mark_destroy(mark);
        return tr_error_set(error, TR_ENOMEM, "no memory for a log");
    }
    log->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (log->descriptor < 0) {
        struct error why = { 0 };
        error_set_errno(&why, errno, "making the descriptor of a log");
        rv = error_give(&why, error);
        free(log);
        fork_mark_destroy(mark);
        return rv;
    }
    log->mark = mark;
    log->options = options;
    log->last = &log->first;
    atomic_init(&log->references, 1);
    atomic_init(&log->interrupted, false);
    pthread_mutex_init(&log->mutex, NULL);
    pthread_cond_init(&log->left, NULL);
    *out = log;
    return 0;
}

void tr_log_close(struct tr_log *log)
{
    if (log == NULL || fork_mark_is_child(log->mark))
        return;
    pthread_mutex_lock(&log->mutex);
    log->closed = true;
    make_readable(log);
    /* Whoever waits holds no reference: all must have left before the handle's is given back. */
    while (log->waiting > 0)
        pthread_cond_wait(&log->left, &log->mutex);
    pthread_mutex_unlock(&log->mutex);
    log_release(log);
}

/* Sleeps until the descriptor is readable; TR_ETIMEDOUT: until the time is over. until NULL: no end. */
static int sleep_until(const struct tr_log *log, const struct timespec *until)
{
    struct pollfd watched = { .fd = log->descriptor, .events = POLLIN };
    struct timespec left = { 0 };
    if (until != NULL) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t ns = (until->tv_sec - now.tv_sec) * SECOND_NS + until->tv_nsec - now.tv_nsec;
        if (ns <= 0)
            return TR_ETIMEDOUT;
        left = (struct timespec){ .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS };
    }
    (void)ppoll(&watched, 1, until != NULL ? &left : NULL, NULL);
    return 0; /* a signal, too, has the caller look again */
}

/* Under the mutex: until there is a line (0), or a reason to wait no more. */
static int wait_for_line(struct tr_log *log, const struct timespec *until)
{
    int rv = 0;
    while (rv == 0 && log->first == NULL) {
        if (log->closed)
            return TR_ECLOSED;
        if (atomic_load(&log->interrupted))
            return TR_ECANCELED;
        make_unreadable(log); /* an interrupt that is over may have left it readable */
        pthread_mutex_unlock(&log->mutex);
        rv = sleep_until(log, until);
        pthread_mutex_lock(&log->mutex);
    }
    return log->first != NULL ? 0 : rv;
}

/* NULL: no end. */
static const struct timespec *end_of(int64_t timeout_ns, struct timespec *until)
{
    if (timeout_ns < 0 || timeout_ns / SECOND_NS > TIMEOUT_SECONDS_MAX)
        return NULL;
    clock_gettime(CLOCK_MONOTONIC, until);
    until->tv_nsec += timeout_ns % SECOND_NS;
    until->tv_sec += timeout_ns / SECOND_NS + until->tv_nsec / SECOND_NS;
    until->tv_nsec %= SECOND_NS;
    return until;
}

static int give_line(const struct queued_line *from, struct tr_log_line *to, struct tr_error *error)
{
    struct tr_log_line line = TR_LOG_LINE_INIT;
    line.level = (enum tr_log_level)from->level;
    line.time_ns = from->time_ns;
    line.lost = from->lost;
    memcpy(line.component, from->component, sizeof line.component);
    snprintf(line.text, sizeof line.text, "%s", from->text);
    return sized_write(to, &line, sizeof line, "tr_log_line", error);
}

int tr_log_next(struct tr_log *log, int64_t timeout_ns, struct tr_log_line *line,
                struct tr_error *error)
{
    if (fork_mark_is_child(log->mark))
        return error_forked(error, "the log");
    struct timespec until;
    const struct timespec *end = end_of(timeout_ns, &until);
    struct queued_line *taken = NULL;
    pthread_mutex_lock(&log->mutex);
    log->waiting++;
    int rv = log->closed ? TR_ECLOSED : wait_for_line(log, end);
    if (rv == 0) {
        /* A struct that cannot be filled loses no line. */
        rv = give_line(log->first, line, error);
        taken = rv == 0 ? take_first(log) : NULL;
    } else {
        tr_error_set(error, rv, "the log: %s",
                     rv == TR_ETIMEDOUT   ? "no line in that time"
                     : rv == TR_ECANCELED ? "interrupted"
                                          : "closed");
    }
    if (taken != NULL && log->first == NULL)
        make_unreadable(log);
    log->waiting--;
    pthread_cond_broadcast(&log->left);
    pthread_mutex_unlock(&log->mutex);
    free(taken);
    return rv;
}

int tr_log_descriptor(const struct tr_log *log)
{
    return fork_mark_is_child(log->mark) ? -1 : log->descriptor;
}

void tr_log_interrupt(struct tr_log *log)
{
    if (fork_mark_is_child(log->mark)) /* the descriptor is the parent's too */
        return;
    int saved = errno;
    /* The mark first: whoever wakes must find it. */
    atomic_store(&log->interrupted, true);
    make_readable(log);
    errno = saved;
}

/* The descriptor stays readable until the next call of tr_log_next(). */
void tr_log_resume(struct tr_log *log)
{
    if (!fork_mark_is_child(log->mark))
        atomic_store(&log->interrupted, false);
}
