/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log: a queue of lines (api/event_queue.h), which sessions write to and the program takes from.
 *
 * The handle has one reference, each session another: the queue is freed by the last. After the
 * close lines of sessions go nowhere.
 */
#include "api/log_queue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/event_queue.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "runtime/base/fork_mark.h"

#define SECOND_NS INT64_C(1000000000)
/* Half a gigabyte of lines: a program that keeps more wants a file. */
#define LINES_MAX ((uint32_t)1 << 20)

_Static_assert(LOG_LINE_MAX <= TR_LOG_TEXT_MAX, "a line of the library is never cut");
_Static_assert((int)LOG_LEVEL_ERROR == TR_LOG_ERROR && (int)LOG_LEVEL_DEBUG == TR_LOG_DEBUG,
               "levels are the same inside and outside");

/* A line of the queue, as long as its text. */
struct queued_line {
    struct queued_event queued; /* first */
    enum log_level level;
    int64_t time_ns;
    char component[TR_LOG_COMPONENT_MAX];
    char text[];
};

struct tr_log {
    struct fork_mark *mark;
    atomic_uint references;
    struct tr_log_options options; /* set once */
    struct event_queue lines;
};

static const struct tr_log_options DEFAULTS = { .size = sizeof DEFAULTS,
                                                .level = TR_LOG_INFO,
                                                .lines_max = 4096 };

void tr_log_options_init_sized(struct tr_log_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
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
    line->queued.cost = 1; /* the bound counts lines */
    line->level = level;
    line->time_ns = now.tv_sec * SECOND_NS + now.tv_nsec;
    snprintf(line->component, sizeof line->component, "%s", component);
    memcpy(line->text, text, bytes);
    return line;
}

static void log_queue_append(void *arg, enum log_level level, const char *component,
                             const char *text)
{
    struct tr_log *log = arg;
    struct queued_line *line = line_create(level, component, text);
    event_queue_put(&log->lines, line != NULL ? &line->queued : NULL);
}

struct log_sink log_sink_of(struct tr_log *log)
{
    if (log == NULL)
        return (struct log_sink){ 0 };
    return (struct log_sink){ log_queue_append, log, (enum log_level)log->options.level };
}

void log_add(struct tr_log *log, enum log_level level, const char *component, const char *line)
{
    if (log != NULL && (int)level <= (int)log->options.level)
        log_queue_append(log, level, component, line);
}

static void log_free(struct tr_log *log)
{
    event_queue_fini(&log->lines);
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
    /* Release, then acquire by the last one, which must see what all others did. */
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
    struct error why = { 0 };
    rv = event_queue_init(&log->lines, options.lines_max, &why);
    if (rv != 0) {
        free(log);
        fork_mark_destroy(mark);
        return error_give(&why, error);
    }
    log->mark = mark;
    log->options = options;
    atomic_init(&log->references, 1);
    *out = log;
    return 0;
}

void tr_log_close(struct tr_log *log)
{
    if (log == NULL || fork_mark_is_child(log->mark))
        return;
    /* A thread that waits holds no reference: all must have left before the handle's is given
     * back. */
    event_queue_close(&log->lines);
    log_release(log);
}

struct line_taker {
    struct tr_log_line *line;
    struct tr_error *error;
};

static int give_line(void *arg, const struct queued_event *event)
{
    const struct line_taker *taker = arg;
    const struct queued_line *from = (const struct queued_line *)(const void *)event;
    struct tr_log_line line = TR_LOG_LINE_INIT;
    line.level = (enum tr_log_level)from->level;
    line.time_ns = from->time_ns;
    line.lost = event->lost;
    memcpy(line.component, from->component, sizeof line.component);
    snprintf(line.text, sizeof line.text, "%s", from->text);
    return sized_write(taker->line, &line, sizeof line, "tr_log_line", taker->error);
}

int tr_log_next(struct tr_log *log, int64_t timeout_ns, struct tr_log_line *line,
                struct tr_error *error)
{
    if (fork_mark_is_child(log->mark))
        return error_forked(error, "the log");
    struct line_taker taker = { line, error };
    struct queued_event *taken;
    int rv = event_queue_take(&log->lines, timeout_ns, give_line, &taker, &taken);
    free(taken);
    if (rv == TR_ETIMEDOUT)
        return tr_error_set(error, rv, "the log: no line in that time");
    if (rv == TR_ECANCELED || rv == TR_ECLOSED)
        return tr_error_set(error, rv, "the log: %s",
                            rv == TR_ECANCELED ? "interrupted" : "closed");
    return rv;
}

int tr_log_descriptor(const struct tr_log *log)
{
    return fork_mark_is_child(log->mark) ? -1 : log->lines.descriptor;
}

void tr_log_interrupt(struct tr_log *log)
{
    if (fork_mark_is_child(log->mark)) /* the descriptor is the parent's too */
        return;
    event_queue_interrupt(&log->lines);
}

/* The descriptor stays readable until the next call of tr_log_next(). */
void tr_log_resume(struct tr_log *log)
{
    if (!fork_mark_is_child(log->mark))
        event_queue_resume(&log->lines);
}
