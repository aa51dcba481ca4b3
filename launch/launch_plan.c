/* SPDX-License-Identifier: Apache-2.0 */
/* Plans what a launcher runs where, from the cluster file, the graph and the command line. */
#include "launch/launch_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int launch_plan_absolute(const char *path, char **out, struct error *error)
{
    *out = realpath(path, NULL);
    return *out != NULL ? 0 : error_set_errno(error, errno, "%s", path);
}

/* With a folder it is a path from here on; else the system looks it up where it starts it. */
static int find_program(struct launch_plan *plan, struct error *error)
{
    const char *program = plan->request.program != NULL ? plan->request.program : "troupe";
    if (strchr(program, '/') != NULL)
        return launch_plan_absolute(program, &plan->program, error);
    plan->program = strdup(program);
    return plan->program != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory to launch");
}

static int read_graph(struct launch_plan *plan, struct error *error)
{
    const char *graph = plan->request.graph != NULL ? plan->request.graph : plan->cluster.graph;
    if (graph == NULL)
        return error_set(error, TR_EINVAL,
                         "%s names no graph: add its field 'graph', or give options.graph",
                         plan->cluster_path);
    int rv = launch_plan_absolute(graph, &plan->graph_path, error);
    return rv == 0 ? book_file_read(&plan->book, files_posix, plan->graph_path, error) : rv;
}

/* The plan asks whether hosts prove themselves; by what is for the processes to find. */
static int make_key(struct launch_plan *plan, struct error *error)
{
    int rv = job_key_make(&plan->key, plan->cluster_path, error);
    if (rv == 0 && (plan->cluster.tls.shared_key = strdup(plan->key.path)) == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory to launch");
    return rv;
}

/* ssh begins in the user's home: without a folder to work in there, the run lies where it would lie
 * if its processes were here. */
static int name_run(struct launch_plan *plan, struct error *error)
{
    const char *run = plan->request.run;
    if (run == NULL)
        return 0;
    bool from_here = plan->kind == CLUSTER_LAUNCH_SSH && plan->cluster.launcher.workdir == NULL;
    char *here = from_here ? realpath(".", NULL) : NULL;
    if (from_here && here == NULL)
        return error_set_errno(error, errno, "options.run %s: the folder it begins in is not known",
                               run);
    plan->run = from_here ? files_join(here, run) : strdup(run);
    free(here);
    /* A relative path is of where processes begin; hosts that share a disk have it in one place. */
    const char *base = plan->cluster.launcher.workdir;
    if (plan->run != NULL)
        plan->run_here = base != NULL ? files_join(base, plan->run) : strdup(plan->run);
    return plan->run_here != NULL
               ? 0
               : error_set(error, TR_ENOMEM, "options.run %s: no memory for its path", run);
}

/* torch.distributed starts one process a rank. */
static int check_exec(const struct launch_plan *plan, struct error *error)
{
    for (uint32_t p = 0; p < plan->plan.plan.num_processes && plan->request.exec != NULL; p++) {
        uint32_t trainers = plan->plan.plan.processes[p].trainers.count;
        if (trainers > 1)
            return error_set(
                error, TR_EINVAL,
                "process %u has %u trainers, and options.exec starts one program a trainer: "
                "give its host a process for each role in %s",
                p, trainers, plan->cluster_path);
    }
    return 0;
}

static enum cluster_launcher_kind kind_of(const struct launch_plan *plan)
{
    switch (plan->request.launcher) {
    case TR_LAUNCHER_LOCAL:
        return CLUSTER_LAUNCH_LOCAL;
    case TR_LAUNCHER_SSH:
        return CLUSTER_LAUNCH_SSH;
    case TR_LAUNCHER_SRUN:
        return CLUSTER_LAUNCH_SRUN;
    case TR_LAUNCHER_FILE:
        break;
    }
    return plan->cluster.launcher.kind;
}

int launch_plan_init(struct launch_plan *plan, struct launch_request *request, struct error *error)
{
    *plan = (struct launch_plan){ .request = *request };
    *request = (struct launch_request){ 0 };
    /* The request is the plan's by now, so that launch_plan_fini() frees it after any failure
     * below. The key comes before the plan of the cluster, which asks for it (make_key). */
    int rv = launch_plan_absolute(plan->request.cluster, &plan->cluster_path, error);
    if (rv == 0)
        rv = cluster_read(files_posix, plan->cluster_path, &plan->cluster, error);
    if (rv == 0)
        rv = find_program(plan, error);
    if (rv == 0)
        rv = read_graph(plan, error);
    if (rv == 0 && cluster_needs_key(&plan->cluster))
        rv = make_key(plan, error);
    if (rv == 0)
        rv = cluster_plan_make(&plan->plan, &plan->cluster, plan->book.book.num_parts, error);
    if (rv == 0)
        rv = check_exec(plan, error);
    /* The kind is known when the file is read, and the folder of the run depends on it. */
    plan->kind = kind_of(plan);
    return rv == 0 ? name_run(plan, error) : rv;
}

static void request_fini(struct launch_request *request)
{
    free(request->cluster);
    free(request->graph);
    free(request->run);
    free(request->exec);
    free(request->program);
    argv_builder_fini(&request->arguments);
}

void launch_plan_fini(struct launch_plan *plan)
{
    cluster_plan_fini(&plan->plan);
    book_file_fini(&plan->book);
    cluster_fini(&plan->cluster);
    free(plan->cluster_path);
    free(plan->graph_path);
    free(plan->program);
    free(plan->run);
    free(plan->run_here);
    job_key_fini(&plan->key);
    request_fini(&plan->request);
}

void launch_prefix(const struct launch_plan *plan, uint32_t process, char prefix[LAUNCH_PREFIX_MAX])
{
    const char *host = plan->cluster.hosts[plan->plan.plan.processes[process].host].name;
    snprintf(prefix, LAUNCH_PREFIX_MAX, "[%.120s/%s %u]", host,
             launcher_role_name(launcher_role_of(&plan->plan.plan, process)), process);
}

/* Adds what torch.distributed and the like expect of a launcher of ranks. */
static void add_rank(const struct launch_plan *plan, uint32_t process,
                     struct argv_builder *environment)
{
    const struct plan *all = &plan->plan.plan;
    const struct plan_process *mine = &all->processes[process];
    uint32_t local = 0;
    for (uint32_t p = 0; p < process; p++)
        if (all->processes[p].host == mine->host)
            local += all->processes[p].trainers.count;
    const struct cluster_host *first =
        &plan->cluster.hosts[all->processes[plan_trainer_node(all, 0)].host];
    const struct cluster_host *host = &plan->cluster.hosts[mine->host];
    argv_builder_addf(environment, "RANK=%u", mine->trainers.first);
    argv_builder_addf(environment, "WORLD_SIZE=%u", all->trainers);
    argv_builder_addf(environment, "LOCAL_RANK=%u", local);
    argv_builder_addf(environment, "MASTER_ADDR=%s",
                      first->address != NULL ? first->address : "127.0.0.1");
    argv_builder_addf(environment, "MASTER_PORT=%llu",
                      (unsigned long long)plan->request.master_port);
    /* Whatever the machine has: the number may be part of what a program of one's own computes. */
    argv_builder_addf(environment, "OMP_NUM_THREADS=%u", host->threads > 0 ? host->threads : 1);
}

/* What this program's environment has goes before, also to other hosts. */
static void add_unless_set(struct argv_builder *environment, const char *name, const char *value)
{
    const char *own = getenv(name);
    argv_builder_addf(environment, "%s=%s", name, own != NULL ? own : value);
}

/* What a program of the user's needs beside its rank. A step of PyTorch allocates and frees the same
 * large buffers again: by default glibc gives each back to the system, and their pages are faulted
 * in anew, which takes as long as the arithmetic. Lines that it prints are shown at once. */
static void add_own_program(struct argv_builder *environment)
{
    add_unless_set(environment, "PYTHONUNBUFFERED", "1");
    add_unless_set(environment, "MALLOC_MMAP_MAX_", "0");
    add_unless_set(environment, "MALLOC_TRIM_THRESHOLD_", "4294967296");
    add_unless_set(environment, "MALLOC_TOP_PAD_", "67108864");
}

static void add_environment(const struct launch_plan *plan, uint32_t process, uint32_t incarnation,
                            uint32_t restarts, struct argv_builder *environment)
{
    argv_builder_add(environment, "TROUPE_LAUNCHED=1");
    argv_builder_addf(environment, "TROUPE_CLUSTER=%s", plan->cluster_path);
    argv_builder_addf(environment, "TROUPE_PROCESS=%u", process);
    argv_builder_addf(environment, "TROUPE_INCARNATION=%u", incarnation);
    argv_builder_addf(environment, "TROUPE_RESTARTED=%d", restarts > 0);
    argv_builder_addf(environment, "TROUPE_RESTARTS=%u", restarts);
    argv_builder_addf(environment, "TROUPE_GRAPH=%s", plan->graph_path);
    if (plan->key.path != NULL)
        argv_builder_add(environment, JOB_KEY_VARIABLE "=" JOB_KEY_INPUT);
    if (plan->plan.plan.processes[process].trainers.count > 0)
        add_rank(plan, process, environment);
    if (plan->request.exec != NULL && plan->plan.plan.processes[process].trainers.count > 0)
        add_own_program(environment);
}

/* `troupe` on the host; elsewhere the cluster file may say what starts it. */
static void add_program(const struct launch_plan *plan, struct argv_builder *words)
{
    if (plan->kind != CLUSTER_LAUNCH_LOCAL && plan->cluster.launcher.program != NULL)
        argv_builder_add(words, plan->cluster.launcher.program);
    else
        argv_builder_add(words, plan->program);
}

/* Whether trainers are to remove the checkpoints of an earlier run, as their options say; a program
 * of the user's has options of its own. */
static bool launch_plan_replaces(const struct launch_plan *plan)
{
    bool replace = false;
    for (int i = 0; plan->request.exec == NULL && i < (int)plan->request.arguments.count; i++) {
        size_t name = strcspn(plan->request.arguments.list[i], "=");
        if (name == strlen("--checkpoints") &&
            strncmp(plan->request.arguments.list[i], "--checkpoints", name) == 0)
            return false; /* a folder that is named there is never emptied */
        replace = replace || strcmp(plan->request.arguments.list[i], "--replace") == 0;
    }
    return replace;
}

static void add_built_in(const struct launch_plan *plan, uint32_t process,
                         struct argv_builder *words)
{
    static const char *const COMMANDS[] = { "train", "sample", "serve" };
    enum launcher_role role = launcher_role_of(&plan->plan.plan, process);
    add_program(plan, words);
    argv_builder_add(words, COMMANDS[role]);
    argv_builder_add(words, plan->graph_path);
    argv_builder_add(words, "--cluster");
    argv_builder_add(words, plan->cluster_path);
    argv_builder_addf(words, "--process=%u", process);
    if (role != LAUNCHER_TRAINER && launch_plan_replaces(plan))
        argv_builder_add(words, "--replace");
    if (role != LAUNCHER_TRAINER)
        return;
    if (plan->run != NULL)
        argv_builder_addf(words, "--run=%s", plan->run);
    for (int i = 0; i < (int)plan->request.arguments.count; i++)
        argv_builder_add(words, plan->request.arguments.list[i]);
}

static void add_exec(const struct launch_plan *plan, struct argv_builder *words)
{
    add_program(plan, words);
    argv_builder_add(words, "hold");
    argv_builder_add(words, "--");
    argv_builder_add(words, "sh");
    argv_builder_add(words, "-c");
    argv_builder_addf(words, "exec %s \"$@\"", plan->request.exec);
    argv_builder_add(words, "sh");
    for (int i = 0; i < (int)plan->request.arguments.count; i++)
        argv_builder_add(words, plan->request.arguments.list[i]);
}

int launch_process_words(const struct launch_plan *plan, uint32_t process, uint32_t incarnation,
                         uint32_t restarts, struct argv_builder *words,
                         struct argv_builder *environment, struct error *error)
{
    struct argv_builder command = { 0 };
    if (plan->request.exec != NULL &&
        launcher_role_of(&plan->plan.plan, process) == LAUNCHER_TRAINER)
        add_exec(plan, &command);
    else
        add_built_in(plan, process, &command);
    add_environment(plan, process, incarnation, restarts, environment);
    int rv = launch_host_wrap(plan, plan->plan.plan.processes[process].host, &command, environment,
                              words, error);
    argv_builder_fini(&command);
    return rv;
}
