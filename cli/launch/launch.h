/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe launch`, in parts: what is to run where (launch_plan.c), how a command gets to a host
 * (launch_host.c), what is copied there first (launch_copy.c), whether hosts share a folder
 * (launch_shared.c), and the processes while they run (launch_run.c). What to do about an end is
 * decided by actors/cluster/launcher.h.
 *
 * Ownership: launch_plan_fini frees the plan. Thread rules: the main thread.
 */
#ifndef CLI_LAUNCH_LAUNCH_H
#define CLI_LAUNCH_LAUNCH_H

#include "actors/cluster/cluster.h"
#include "actors/cluster/launcher.h"
#include "cli/lib/argv_builder.h"
#include "cli/lib/command.h"
#include "launch/job_key.h"
#include "partition/store/book_json.h"

/* How many lines of a host's commands a person reads; more is a log's matter. */
#define LAUNCH_PREFIX_MAX 160u
#define LAUNCH_MASTER_PORT 29500u /* as torch.distributed.run has it */

struct launch_values {
    const char *run;
    const char *graph;
    const char *exec;
    int launcher; /* enum cluster_launcher_kind + 1; 0: as the cluster file says */
    uint64_t master_port;
    bool no_copy;
    bool dry_run;
    bool json;
    bool quiet;
};

struct launch_plan {
    const struct launch_values *values;
    char *const *words; /* [num_words] after "--": the options of train, or of --exec's program */
    int num_words;
    char *cluster_path, *graph_path, *program; /* absolute */
    char *run; /* folder of the run as the processes get it; NULL: none was named */
    struct cluster cluster;
    struct book_file book;
    struct cluster_plan plan;
    enum cluster_launcher_kind kind;
    struct job_key
        key; /* of this job alone; none where the file chose how hosts prove themselves */
};

/* Reads cluster file and graph, and makes the key of the job where it needs one. */
int launch_plan_init(struct launch_plan *plan, const struct invocation *invocation,
                     const struct launch_values *values, struct error *error);
void launch_plan_fini(struct launch_plan *plan);

/* "[host/role N]". */
void launch_prefix(const struct launch_plan *plan, uint32_t process,
                   char prefix[LAUNCH_PREFIX_MAX]);

/* What runs a process, here: to be given to child_start. */
int launch_process_words(const struct launch_plan *plan, uint32_t process, uint32_t incarnation,
                         bool restarted, struct argv_builder *words,
                         struct argv_builder *environment, struct error *error);

/* Words that run `command` with `environment` on a host; what child_start is to add to our own
 * environment stays in *environment. */
int launch_host_wrap(const struct launch_plan *plan, uint32_t host,
                     const struct argv_builder *command, struct argv_builder *environment,
                     struct argv_builder *wrapped, struct error *error);

/* Runs a command on a host that answers by its exit code, 0: yes, 1: no. TR_ECHILD: it was not run
 * or ended otherwise. */
int launch_host_ask(const struct launch_plan *plan, uint32_t host,
                    const struct argv_builder *command, bool *yes, struct error *error);

/* Copies to every host what it reads, where the launcher is ssh and the user lets it. */
int launch_copy(const struct launch_plan *plan, struct error *error);
/* Says whether hosts that are reached by ssh or srun share the folder of checkpoints. */
int launch_check_shared(const struct launch_plan *plan, struct error *error);

/* Runs the job to its end. */
int launch_run(const struct launch_plan *plan, struct error *error);

#endif
