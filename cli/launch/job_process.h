/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a process of a cluster, as serve, sample and train --cluster share it: which process
 * it is, that it says when it is ready, and that it ends when its job, its launcher or a signal
 * says so.
 *
 * The options and the environment (TROUPE_CLUSTER, TROUPE_PROCESS ...) say which; process_identity.h says in
 * what order. A process that a launcher started (TROUPE_LAUNCHED) reads the end of its standard
 * input as the end of the launcher: it is cancelled like by a signal, and ends within
 * PROCESS_ORPHAN_NS whatever hangs.
 *
 *     process_find -> session and graph opened with process_session -> process_begin ->
 *         process_ready ... process_cancelled? ... -> process_end
 *
 * Ownership: process_find fills it, process_fini frees it. Thread rules: the main thread;
 * process_cancelled on any.
 */
#ifndef CLI_LAUNCH_JOB_PROCESS_H
#define CLI_LAUNCH_JOB_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>

#include <troupe/troupe.h>

#include "actors/cluster/cluster.h"
#include "actors/report/metrics.h"
#include "cli/launch/job_key.h"
#include "cli/launch/process_identity.h"
#include "cli/lib/inside.h"
#include "cli/lib/interrupter.h"
#include "cli/lib/options.h"
#include "cli/lib/signals.h"

/* From the end of its input on. */
#define PROCESS_ORPHAN_NS UINT64_C(25000000000)

struct process_values {
    const char *cluster, *process, *host, *index, *metrics;
};

/* Rows of a command's option table; member is its struct process_values. */
#define PROCESS_OPTION_ROWS(type, member)                                                 \
    { .name = "cluster",                                                                  \
      .kind = OPTION_TEXT,                                                                \
      .offset = offsetof(type, member.cluster),                                           \
      .metavar = "FILE",                                                                  \
      .help = "cluster file of a job of several processes; this is one" },                \
        { .name = "process",                                                              \
          .kind = OPTION_TEXT,                                                            \
          .offset = offsetof(type, member.process),                                       \
          .metavar = "N",                                                                 \
          .help = "which: its number, from 0 on" },                                       \
        { .name = "host",                                                                 \
          .kind = OPTION_TEXT,                                                            \
          .offset = offsetof(type, member.host),                                          \
          .metavar = "NAME",                                                              \
          .help = "or the host's name in the cluster file" },                             \
        { .name = "index",                                                                \
          .kind = OPTION_TEXT,                                                            \
          .offset = offsetof(type, member.index),                                         \
          .metavar = "I",                                                                 \
          .help = "and which of its processes of this role, from 0 on" },                 \
    {                                                                                     \
        .name = "metrics", .kind = OPTION_TEXT, .offset = offsetof(type, member.metrics), \
        .metavar = "ADDRESS", .help = "serve OpenMetrics at [HOST:]PORT"                  \
    }

/* Metrics while they are served. Embedded; all zeros at first. */
struct process_metrics {
    struct metrics_options options;
    struct endpoint at;
    struct error error;
    int told; /* under mutex: 1 it listens, -1 it can't */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

struct process {
    const struct process_values *values;
    struct cluster cluster;
    uint32_t number;
    enum launcher_role role;
    struct {
        uint32_t trainers, threads; /* threads of each */
        uint32_t host;
        bool first;           /* of the host's processes: it keeps the copies of checkpoints */
        bool beside_trainers; /* the host has some, here or in other processes */
    } plays;
    char *cluster_path, *graph;
    struct job_key key;
    struct signals signals;
    atomic_bool orphaned;
    bool watching;
    pthread_t watcher;
    int stop_pipe[2];
    struct tr_session *session; /* for a dump */
    /* Fired when the launcher has gone, and by signals of its own; NULL: nothing waits. */
    struct interrupter *interrupter;
    struct process_metrics metrics;
};

/* Is there a cluster file, in the options or the environment? */
bool process_in_cluster(const struct process_values *values);

/* graph: as the command line has it, or NULL. TR_EINVAL and the like are wrong usage. */
int process_find(struct process *process, const struct process_values *values, const char *graph,
                 enum launcher_role role, struct error *error);
void process_fini(struct process *process);

/* What a session needs to join as this process. */
void process_session(const struct process *process, struct tr_session_options *options);

/* Catches signals and watches the launcher, before anything long is done. A command with signals
 * of its own gives own_signals and asks process_is_orphaned. */
int process_begin(struct process *process, bool own_signals, struct error *error);
void process_end(struct process *process);

/* Serves OpenMetrics of the graph's node at that address, as --metrics has it; for as long as the
 * graph is open. NULL: nothing. */
int process_serve_metrics(struct process_metrics *metrics, const char *address,
                          struct tr_graph *graph, struct error *error);

/* The graph is open: serves metrics if asked, and says so on standard output. */
int process_ready(struct process *process, struct tr_session *session, struct tr_graph *graph,
                  struct error *error);

bool process_cancelled(const struct process *process);
bool process_is_orphaned(const struct process *process);
bool process_is_launched(void);
/* Started again by its launcher: what was begun is gone on with. */
bool process_is_restarted(void);
/* From then on a launcher is told of processes that this one counts as dead. Between the opening
 * of the session and that of the graph. */
void process_watch_peers(struct tr_session *session);
/* Says what failed, and returns the exit code. By that of wrong usage a launcher learns that
 * another start would end in the same way: what this process was started with is not the job's. */
int process_fail(const struct invocation *invocation, const struct error *error);
/* Tells a launcher by which kernels this process computes. */
void process_say_kernels(const char *kernels);
/* Tells a launcher that a checkpoint was committed. */
void process_say_checkpoint(uint64_t step);
/* Tells a launcher that the job's result is written and synced: nothing need be started again. */
void process_say_complete(void);

#endif
