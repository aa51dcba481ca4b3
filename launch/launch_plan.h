/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching, in parts: what is to run where (launch_plan.c), how a command gets to a host
 * (launch_host.c), what is copied there first (launch_copy.c), whether hosts share a folder
 * (launch_shared.c), the processes while they run (launch_run.c), and the public handle and its
 * task (launch_task.c). The reaction to an end is decided by actors/cluster/launcher.h.
 *
 * Ownership: launch_plan_fini frees the plan. Thread rules: a plan is made on one thread and read
 * by any; struct launch_job is its task's thread's, but for stops and what its header says.
 */
#ifndef LAUNCH_LAUNCH_PLAN_H
#define LAUNCH_LAUNCH_PLAN_H

#include <stdatomic.h>

#include <troupe/launch.h>

#include "actors/cluster/cluster.h"
#include "actors/cluster/launcher.h"
#include "launch/argv_builder.h"
#include "launch/child.h"
#include "launch/job_key.h"
#include "launch/launch_events.h"
#include "partition/store/book_json.h"

#define LAUNCH_PREFIX_MAX TR_LAUNCH_PREFIX_MAX

/* The wishes of the caller, copied. */
struct launch_request {
    char *cluster, *graph, *run, *exec, *program; /* NULL: not said */
    struct argv_builder arguments;
    enum tr_launcher launcher;
    uint32_t master_port;
    bool no_copy, keep_lines;
};

struct launch_plan {
    struct launch_request request;
    char *cluster_path, *graph_path; /* absolute */
    char *program;
    char *run;      /* folder of the run as the processes get it; NULL: none was named */
    char *run_here; /* that folder on this host, where its history is written */
    struct cluster cluster;
    struct book_file book;
    struct cluster_plan plan;
    enum cluster_launcher_kind kind;
    struct job_key
        key; /* of this job alone; none where the file chose how hosts prove themselves */
};

/* The job while it runs. */
struct launch_job {
    const struct launch_plan *plan;
    struct launch_events events;
    int wake;                   /* an eventfd: a stop was asked, or the events have room again */
    atomic_uint stops, hurried; /* that were asked: in order, and in a hurry */
    struct tr_task *task;       /* for its progress */
};

/* The work, and with it the kind, of the task that launches; its arg is a struct launch_job. */
extern const struct task_work launch_work;

/* Takes the request over. Reads cluster file and graph, and makes the key of the job where it needs
 * one. */
int launch_plan_init(struct launch_plan *plan, struct launch_request *request, struct error *error);
void launch_plan_fini(struct launch_plan *plan);

/* "[host/role N]". */
void launch_prefix(const struct launch_plan *plan, uint32_t process,
                   char prefix[LAUNCH_PREFIX_MAX]);

/* Makes the words that run a process, here: to be given to child_start. */
int launch_process_words(const struct launch_plan *plan, uint32_t process, uint32_t incarnation,
                         uint32_t restarts, struct argv_builder *words,
                         struct argv_builder *environment, struct error *error);

/* Words that run `command` with `environment` on a host; what child_start is to add to our own
 * environment stays in *environment. */
int launch_host_wrap(const struct launch_plan *plan, uint32_t host,
                     const struct argv_builder *command, struct argv_builder *environment,
                     struct argv_builder *wrapped, struct error *error);

/* Runs a command here for a host, to its end, whose lines are events; it is ended when a stop is
 * asked (TR_ECANCELED). Fills code and signal (0: none). */
int launch_help(struct launch_job *job, uint32_t host, const struct argv_builder *words, int *code,
                int *signal, struct error *error);

/* Runs a command on a host that answers by its exit code, 0: yes, 1: no. TR_ECHILD: it was not run
 * or ended otherwise. */
int launch_host_ask(struct launch_job *job, uint32_t host, const struct argv_builder *command,
                    bool *yes, struct error *error);

/* Copies to every host what it reads, where the launcher is ssh and the user lets it. */
int launch_copy(struct launch_job *job, struct error *error);
/* Says whether hosts that are reached by ssh or srun share the folder of checkpoints. */
int launch_check_shared(struct launch_job *job, struct error *error);

/* Runs the job to its end. */
int launch_run(struct launch_job *job, struct error *error);

/* Whether any was asked. */
bool launch_is_stopped(struct launch_job *job);

/* Something to say of a process, or (LAUNCHER_NOBODY) of none. */
#define LAUNCHER_NOBODY UINT32_MAX
void launch_say(struct launch_job *job, enum tr_launch_event_kind kind, uint32_t process,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
