/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching a job: an observer, which is no process of the cluster file, connects to each of them
 * and asks for its status once a second; and the counters of a process over HTTP.
 *
 *     tr_observer_open(&options, TR_WAIT_FOREVER, &observer, &error);
 *     tr_observer_wait(observer, 1, ten_seconds, NULL);
 *     tr_observer_job(observer, &job, &error);
 *     for (p = 0; p < job.num_processes; p++)
 *         tr_observer_process(observer, p, &status, &error);
 *     tr_observer_close(observer);
 *
 * Ownership: tr_observer_close() frees the handle and the texts that came from it. Thread rules:
 * any thread; an observer is closed once, when no other thread begins a call on it; those that wait
 * then get TR_ECLOSED. In a child of fork() calls give TR_EFORKED and a close does nothing.
 */
#ifndef TROUPE_OBSERVE_H
#define TROUPE_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_observer;

struct tr_observer_options {
    size_t size;
    const char *cluster; /* the cluster file */
    const char *graph;   /* DIR/NAME.json; NULL: as the cluster file says */
    const char *host;    /* whose keys are used, where each has its own; NULL: this host's */
    /* The file of the job's key; NULL: as TROUPE_SHARED_KEY says, or that of a launcher of this user
     * on this host, which is looked for again while a process does not answer. */
    const char *shared_key;
};
#define TR_OBSERVER_OPTIONS_INIT                                   \
    {                                                              \
        sizeof(struct tr_observer_options), NULL, NULL, NULL, NULL \
    }

/* Begins to ask; waits for no process. timeout_ns: for the line of the key, where TROUPE_SHARED_KEY
 * says that the standard input has it. TR_EINVAL: what the options or the cluster file lack;
 * TR_ENOENT, TR_EIO, TR_EFORMAT are of the files. *out is NULL after a failure. */
TR_API int tr_observer_open(const struct tr_observer_options *options, int64_t timeout_ns,
                            struct tr_observer **out, struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_observer_close(struct tr_observer *observer);

/* Bytes of the name of a score, with its end. */
#define TR_SCORE_NAME_MAX 32

/* Where the job is, by what all processes that answer know. */
struct tr_job_status {
    size_t size;
    const char *name;
    uint32_t num_processes;
    uint32_t num_up; /* that answered when they were asked last */
    uint32_t era, epoch;
    uint32_t epochs;      /* 0: not known */
    uint32_t num_parts;   /* partitions of its graph */
    uint64_t step, steps; /* of the epoch */
    bool has_checkpoint;
    bool has_loss, has_score; /* a trainer has noted one: tr_graph_note_loss(), _note_score() */
    uint64_t checkpoint;      /* the step of the last one */
    double checkpoint_age_s;  /* since a process saw it committed; below 0: none did */
    double loss;              /* the mean of the trainers' processes that noted one */
    double score;             /* of the first such process */
    uint64_t seeds;           /* that the trainers took since their processes began */
    double seeds_per_s;       /* of late, of all trainers */
    char score_name[TR_SCORE_NAME_MAX]; /* "accuracy"; "" without a score */
};
#define TR_JOB_STATUS_INIT                                                                         \
    {                                                                                              \
        sizeof(struct tr_job_status), NULL, 0, 0, 0, 0, 0, 0, 0, 0, false, false, false, 0, -1, 0, \
            0, 0, 0, ""                                                                            \
    }

TR_API int tr_observer_job(struct tr_observer *observer, struct tr_job_status *status,
                           struct tr_error *error);

/* Bytes of the reason for which a process does not answer, with its end. */
#define TR_OBSERVER_WHY_MAX 256

/* The status of a process. A figure that it does not report, or has not reported since it went
 * down, is 0. */
struct tr_process_status {
    size_t size;
    const char *host;  /* of the cluster file */
    const char *roles; /* "server+sampler", as the cluster file has them */
    bool up;           /* it answered when it was asked last */
    uint32_t incarnation;
    uint32_t links, links_up;
    uint32_t restarts; /* of its actors */
    double uptime_s;
    double round_trip_s; /* of the last answer */
    uint64_t at_ns;      /* of CLOCK_MONOTONIC: when it was seen so */
    uint64_t asked;      /* so often did it answer, or fail to */
    uint64_t sent_bytes, received_bytes, queued_bytes;
    uint64_t credit_bytes;                    /* of the link that has the least */
    uint64_t mailbox_messages, mailbox_bytes; /* that wait for its actors */
    uint64_t batch_bytes, batches_made, batches_taken;
    uint64_t rss_bytes; /* of its memory that is in RAM */
    double cpu_s;       /* processor time that it used, of all its threads */
    double cpus; /* processors in use between its last two answers; of one, since it joined */
    /* Its trainers, where it has some. */
    bool has_loss, has_score;
    uint32_t epoch;
    uint64_t step, steps; /* of the epoch */
    uint64_t seeds;       /* that they took since it began, but for evaluations */
    double seeds_per_s;   /* of late */
    double loss, score;   /* the last that was noted */
    char score_name[TR_SCORE_NAME_MAX];
    char why[TR_OBSERVER_WHY_MAX]; /* it is not up, as the last attempt says; "" where it is */
    uint64_t mailbox_messages_max; /* the most that have waited in one mailbox since it began */
    uint64_t process_restarts;     /* so often has its launcher started it again; 0 without one */
};
#define TR_PROCESS_STATUS_INIT                                                                   \
    {                                                                                            \
        sizeof(struct tr_process_status), NULL, NULL, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, false, false, 0, 0, 0, 0, 0, 0, 0, "", "", 0, 0              \
    }

/* TR_ERANGE: there is no such process. */
TR_API int tr_observer_process(struct tr_observer *observer, uint32_t process,
                               struct tr_process_status *status, struct tr_error *error);

/* A link of a process to another one, as the former sees it. */
struct tr_link_status {
    size_t size;
    uint32_t process; /* the other one; from the number of processes on: an observer */
    bool up;
    unsigned char reserved[3];
    uint64_t sent_bytes, received_bytes, queued_bytes;
    double silent_s; /* since something came from it */
};
#define TR_LINK_STATUS_INIT                                       \
    {                                                             \
        sizeof(struct tr_link_status), 0, false, "", 0, 0, 0, 0.0 \
    }

/* link: [0, links of the process). TR_ERANGE: there is no such process, or it told of no such link
 * when it answered last. */
TR_API int tr_observer_link(struct tr_observer *observer, uint32_t process, uint32_t link,
                            struct tr_link_status *status, struct tr_error *error);

/* A partition of the graph, as its book and the cluster file have it. */
struct tr_part_status {
    size_t size;
    uint64_t num_nodes, num_edges; /* that it owns, of all types */
    const uint32_t *processes;     /* [num_processes], ascending, that serve it */
    uint32_t num_processes;
    unsigned char reserved[4];
};
#define TR_PART_STATUS_INIT                              \
    {                                                    \
        sizeof(struct tr_part_status), 0, 0, NULL, 0, "" \
    }

/* part: [0, num_parts of the job). TR_ERANGE: there is no such partition. Its processes are valid
 * as long as the observer is. */
TR_API int tr_observer_part(struct tr_observer *observer, uint32_t part,
                            struct tr_part_status *status, struct tr_error *error);

/* Waits until each process answered or failed to `times` times since the observer was opened.
 * TR_ETIMEDOUT: not yet; TR_ECANCELED: tr_observer_interrupt(); TR_ECLOSED: it is being closed. One
 * that does not answer within 3 s has failed to. */
TR_API int tr_observer_wait(struct tr_observer *observer, uint64_t times, int64_t timeout_ns,
                            struct tr_error *error);

/* Ends every tr_observer_wait() with TR_ECANCELED, and each that would wait from now on, until
 * tr_observer_resume(). Both are safe in a signal handler, as long as the observer is not closed
 * meanwhile. */
TR_API void tr_observer_interrupt(struct tr_observer *observer);
/* Calls may wait again. Those that were interrupted end all the same. */
TR_API void tr_observer_resume(struct tr_observer *observer);

/*
 * What an observer has seen at one moment, kept: it changes no more, and may outlive the observer.
 *
 *     tr_status_read(observer, &status, &error);
 *     puts(tr_status_json(status));
 *     tr_status_close(status);
 *
 * Texts that come from it are valid until its close. Any number of threads may read it, also in a
 * child of fork(), which closes a copy of its own.
 */
struct tr_status;

/* Waits for nobody: tr_observer_wait() does. *out is NULL after a failure. */
TR_API int tr_status_read(struct tr_observer *observer, struct tr_status **out,
                          struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_status_close(struct tr_status *status);

TR_API int tr_status_job(const struct tr_status *status, struct tr_job_status *job,
                         struct tr_error *error);
/* TR_ERANGE: there is no such process. */
TR_API int tr_status_process(const struct tr_status *status, uint32_t process,
                             struct tr_process_status *line, struct tr_error *error);
/* As tr_observer_link(). */
TR_API int tr_status_link(const struct tr_status *status, uint32_t process, uint32_t link,
                          struct tr_link_status *out, struct tr_error *error);
/* As tr_observer_part(). */
TR_API int tr_status_part(const struct tr_status *status, uint32_t part, struct tr_part_status *out,
                          struct tr_error *error);
/* All of it as one object of JSON in ASCII, a line without its end, as `troupe status --json`
 * prints it. Never NULL. */
TR_API const char *tr_status_json(const struct tr_status *status);

/*
 * A page about the job for a browser: hosts, processes, what they do and did, live, with the last
 * hour. It is served by a thread of its own, on this host alone, and read by nobody but who has its
 * URL, which has a token.
 *
 *     tr_live_page_open(observer, &options, &page, &error);
 *     puts(tr_live_page_url(page));
 *     ...
 *     tr_live_page_close(page);
 *
 * The page is closed before its observer. In a child of fork() a close does nothing.
 */
struct tr_live_page;

struct tr_live_page_options {
    size_t size;
    const char *address; /* "8080", "localhost:8080", "[::1]:8080"; port 0: any. NULL: any port */
    const char *log;     /* a text file whose lines are shown as it grows; NULL: none */
    const char *run;     /* the folder of the job's run, whose history is shown; NULL: none */
};
#define TR_LIVE_PAGE_OPTIONS_INIT                             \
    {                                                         \
        sizeof(struct tr_live_page_options), NULL, NULL, NULL \
    }

/* options may be NULL. TR_EINVAL: that is no address, or one that other hosts reach (`ssh -L` brings
 * the page to them); TR_EEXIST: another program listens there; TR_EIO: the system refuses to listen
 * there. *out is NULL after a failure. */
TR_API int tr_live_page_open(struct tr_observer *observer,
                             const struct tr_live_page_options *options, struct tr_live_page **out,
                             struct tr_error *error);
/* What to give to a browser: "http://127.0.0.1:8080/?token=...". Valid until the close. */
TR_API const char *tr_live_page_url(const struct tr_live_page *page);
/* NULL is ignored. Browsers see the connection end. */
TR_API void tr_live_page_close(struct tr_live_page *page);

/* Bytes of an address as text, with its end. */
#define TR_ADDRESS_TEXT_MAX 320

/* Serves the counters of this process as OpenMetrics text at http://ADDRESS/metrics until the graph
 * is closed. address: "9464" (this host alone), "host:9464", "[::1]:9464"; port 0: any. at: where
 * it listens ("tcp:127.0.0.1:9464"); [at_bytes], may be NULL. TR_EINVAL: that is no address;
 * TR_EEXIST: another program listens there; TR_EIO: the system refuses to listen there. After
 * TR_ETIMEDOUT and TR_ECANCELED the counters may be served all the same, as soon as the loop that is
 * to listen gets on. */
TR_API int tr_graph_serve_metrics(struct tr_graph *graph, const char *address, int64_t timeout_ns,
                                  char *at, size_t at_bytes, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
