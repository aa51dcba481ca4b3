/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a process of a cluster, as serve, sample and train --cluster share it: their options,
 * signals and warnings around what <troupe/process.h> does.
 *
 *     process_find -> session and graph opened with process_session -> process_begin ->
 *         process_ready ... process_cancelled? ... -> process_end
 *
 * Ownership: process_find fills it, process_fini frees it. Thread rules: the main thread;
 * process_cancelled on any.
 */
#ifndef CLI_LAUNCH_JOB_PROCESS_H
#define CLI_LAUNCH_JOB_PROCESS_H

#include <troupe/troupe.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/interrupter.h"
#include "cli/lib/options.h"
#include "cli/lib/signals.h"

struct process_values {
    const char *cluster, *process, *host, *index, *metrics;
};

/* Rows of a command's option table; member is its struct process_values. */
#define PROCESS_OPTION_ROWS(type, member)                                                 \
    { .name = "cluster",                                                                  \
      .kind = OPTION_TEXT,                                                                \
      .offset = offsetof(type, member.cluster),                                           \
      .metavar = "FILE",                                                                  \
      .help = "cluster file of the job that this process belongs to" },                   \
        { .name = "process",                                                              \
          .kind = OPTION_TEXT,                                                            \
          .offset = offsetof(type, member.process),                                       \
          .metavar = "N",                                                                 \
          .help = "number of this process in the cluster file, from 0" },                 \
        { .name = "host",                                                                 \
          .kind = OPTION_TEXT,                                                            \
          .offset = offsetof(type, member.host),                                          \
          .metavar = "NAME",                                                              \
          .help = "name of this host in the cluster file" },                              \
        { .name = "index",                                                                \
          .kind = OPTION_TEXT,                                                            \
          .offset = offsetof(type, member.index),                                         \
          .metavar = "I",                                                                 \
          .help = "with --host: number of its process of this role, from 0" },            \
    {                                                                                     \
        .name = "metrics", .kind = OPTION_TEXT, .offset = offsetof(type, member.metrics), \
        .metavar = "ADDRESS", .help = "serve OpenMetrics at [HOST:]PORT"                  \
    }

struct process {
    const struct process_values *values;
    struct tr_process *own; /* NULL: it was not found */
    struct tr_process_info info;
    struct signals signals;
    struct tr_session *session; /* for a dump */
    const char *metrics;        /* where this process serves them, as --metrics says; or NULL */
    char metrics_text[TR_ADDRESS_TEXT_MAX];
    bool ready;              /* it joined: what it was started with is in order */
    struct tr_log_file *log; /* of the command; NULL: none */
    /* Fired by signals of its own; NULL: nothing waits. */
    struct interrupter *interrupter;
};

/* Is there a cluster file, in the options or the environment? */
bool process_in_cluster(const struct process_values *values);

/* graph: as the command line has it, or NULL. role: one of TR_ROLE_*. log: of the command, whose lines
 * are then of this process; NULL: none. TR_EINVAL and the like are wrong usage. */
int process_find(struct process *process, const struct process_values *values, const char *graph,
                 uint32_t role, struct tr_log_file *log, struct tr_error *error);
void process_fini(struct process *process);

/* Sets the options that a session needs to join as this process. */
void process_session(const struct process *process, struct tr_session_options *options);

/* Catches signals and watches the launcher, before anything long is done. A command with signals
 * of its own gives own_signals and asks process_is_orphaned. */
int process_begin(struct process *process, bool own_signals, struct tr_error *error);

/* From then on that session ends when the launcher does, and a launcher is notified of processes
 * that this one counts as dead. Between the opening of the session and that of the graph; NULL
 * before the session is closed. */
void process_attach(struct process *process, struct tr_session *session);

/* Metrics cannot be served at that address. log NULL: on the standard error. */
void process_warn_metrics(struct tr_log_file *log, const char *address, const char *reason);

/* The graph is open: serves metrics if asked, and says so on standard output. */
int process_ready(struct process *process, struct tr_session *session, struct tr_graph *graph,
                  struct tr_error *error);

bool process_cancelled(const struct process *process);
bool process_is_orphaned(const struct process *process);
/* Says what failed, and returns the exit code. By that of wrong usage a launcher learns that
 * another start would end in the same way: what this process was started with is not the job's. */
int process_fail(const struct invocation *invocation, const struct process *process,
                 const struct tr_error *error);

#endif
