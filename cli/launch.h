/*
 * `troupe launch`, in parts: what is to run where (launch_plan.c), how a command gets to a host
 * (launch_host.c), what is copied there first (launch_copy.c), and the processes while they run
 * (launch_run.c). What to do about an end is the policy's (actors/launcher_policy.h).
 *
 * Ownership: launch_plan_fini frees the plan. Thread rules: the main thread.
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include "actors/cluster.h"
#include "actors/launcher_policy.h"
#include "cli/command.h"
#include "cli/place.h"
#include "cli/words.h"
#include "partition/book_json.h"

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
    struct cluster cluster;
    struct book_file book;
    struct cluster_plan plan;
    enum cluster_launcher_kind kind;
    char *job_folder; /* 0700, of the shared key; NULL: none was made */
    char *key_path;
};

/* Reads cluster file and graph, and makes the key of the job where it needs one. */
int launch_plan_init(struct launch_plan *plan, const struct invocation *invocation,
                     const struct launch_values *values, struct error *error);
/* Removes the key too. */
void launch_plan_fini(struct launch_plan *plan);

/* "[host/role N]". */
void launch_prefix(const struct launch_plan *plan, uint32_t process,
                   char prefix[LAUNCH_PREFIX_MAX]);

/* What runs a process, here: to be given to child_start. */
int launch_process_words(const struct launch_plan *plan, uint32_t process, uint32_t incarnation,
                         bool restarted, struct words *words, struct words *environment,
                         struct error *error);

/* Words that run `command` with `environment` on a host; what child_start is to add to our own
 * environment stays in *environment. */
int launch_host_wrap(const struct launch_plan *plan, uint32_t host, const struct words *command,
                     struct words *environment, struct words *wrapped, struct error *error);

/* Runs a command on a host and waits for it. input: what it reads, NULL: nothing. TR_ECHILD says
 * how it ended; *code, if not NULL, takes an exit code instead. */
int launch_host_run(const struct launch_plan *plan, uint32_t host, const struct words *command,
                    const char *input, int *code, struct error *error);

/* Copies to every host what it serves, and the key; checks that what must be reachable there is. */
int launch_copy(const struct launch_plan *plan, struct error *error);
/* Removes what launch_copy left on the hosts beside partitions; says nothing of failures. */
void launch_copy_undo(const struct launch_plan *plan);

/* Runs the job to its end. */
int launch_run(const struct launch_plan *plan, struct error *error);

#endif
