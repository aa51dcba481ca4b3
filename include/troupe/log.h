/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log: lines that sessions have to say, pulled by the program.
 *
 * The program opens a log, names it in struct tr_session_options (or in the options of a task that
 * has a session of its own), and takes its lines one by one. One log may serve several sessions.
 * Lines that nobody takes are kept up to a bound, and then the oldest are lost, which the next line
 * says: no actor ever waits for a reader.
 *
 *     while (tr_log_next(log, TR_WAIT_FOREVER, &line, NULL) == 0)
 *         fprintf(stderr, "%s: %s\n", line.component, line.text);
 *
 * An event loop watches tr_log_descriptor() and takes lines with timeout 0.
 *
 * Ownership: a session holds the log that it was given: the log may be closed before the session,
 * whose lines then go nowhere. Thread rules: any thread; several may take lines, and each line goes
 * to one of them. tr_log_interrupt() and tr_log_resume() are safe in a signal handler. A log is
 * closed once, when no other thread begins a call on it; threads that wait get TR_ECLOSED first.
 */
#ifndef TROUPE_LOG_H
#define TROUPE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_log;

enum tr_log_level {
    TR_LOG_ERROR = 0, /* the process, or the job, cannot go on */
    TR_LOG_WARN = 1,  /* something failed, and is worked around or tried again */
    TR_LOG_INFO = 2,
    TR_LOG_DEBUG = 3
};

/* Bytes of texts with their ends; longer ones are cut. */
#define TR_LOG_COMPONENT_MAX 32
#define TR_LOG_TEXT_MAX 512

struct tr_log_options {
    size_t size;
    enum tr_log_level level; /* lines of higher levels are not even made */
    uint32_t lines_max;      /* that wait to be taken, 1 .. 2^20; each takes 600 bytes at most */
};
/* Fills it with the defaults: up to TR_LOG_INFO, 4096 lines. */
#define tr_log_options_init(options) tr_log_options_init_sized((options), sizeof *(options))
TR_API void tr_log_options_init_sized(struct tr_log_options *options, size_t size);

struct tr_log_line {
    size_t size;
    enum tr_log_level level;
    int64_t time_ns; /* since 1970-01-01 UTC, by the machine's clock, when it was said */
    uint64_t lost;   /* lines that were lost just before this one */
    /* "actors", "links", "memory", "job", "files", "batches", "metrics", "dump" (what
     * tr_session_dump() asked for); more will come. */
    char component[TR_LOG_COMPONENT_MAX];
    char text[TR_LOG_TEXT_MAX]; /* one line, without its end */
};
#define TR_LOG_LINE_INIT                                       \
    {                                                          \
        sizeof(struct tr_log_line), TR_LOG_ERROR, 0, 0, "", "" \
    }

/* options NULL: the defaults. TR_ERANGE names an option; TR_EIO: the process has no descriptor
 * left. *out is NULL after a failure. */
TR_API int tr_log_open(const struct tr_log_options *options, struct tr_log **out,
                       struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_log_close(struct tr_log *log);

/* Takes the oldest line, in the order in which they were said, into *line. TR_ETIMEDOUT: there was
 * none in that time; TR_ECANCELED: tr_log_interrupt(), which a line that is there goes before;
 * TR_ECLOSED: the log was closed meanwhile. */
TR_API int tr_log_next(struct tr_log *log, int64_t timeout_ns, struct tr_log_line *line,
                       struct tr_error *error);

/* A descriptor that poll(2), select(2) or epoll(7) report as readable while tr_log_next() would not
 * wait. It is the log's until that is closed: only watch it, never read or close it. -1 in a child
 * of fork(). */
TR_API int tr_log_descriptor(const struct tr_log *log);

/* Ends every call that waits for a line with TR_ECANCELED, and each that would wait from now on,
 * until tr_log_resume(). */
TR_API void tr_log_interrupt(struct tr_log *log);
TR_API void tr_log_resume(struct tr_log *log);

#ifdef __cplusplus
}
#endif

#endif
