/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/process_identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int process_identity_check(const struct plan *plan, uint32_t process, enum launcher_role role,
                           struct error *error)
{
    static const char *const COMMANDS[LAUNCHER_ROLES] = { "train", "sample", "serve" };
    enum launcher_role is = launcher_role_of(plan, process);
    if (is == role)
        return 0;
    return error_set(error, TR_EINVAL,
                     "process %u is a %s by the cluster file: start it with "
                     "troupe %s",
                     process, launcher_role_name(is), COMMANDS[is]);
}

static const char *process_identity_say(const struct process_identity_wanted *wanted,
                                        const char *name)
{
    const char *value = wanted->environment != NULL ? wanted->environment(wanted->arg, name) : NULL;
    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool process_identity_read_number(const char *text, uint32_t *number)
{
    char *end;
    *number = PROCESS_IDENTITY_NONE;
    if (text == NULL)
        return true;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value >= PROCESS_IDENTITY_NONE)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* *number: PROCESS_IDENTITY_NONE where the environment says nothing. */
static int say_number(const struct process_identity_wanted *wanted, const char *name,
                      uint32_t *number, struct error *error)
{
    const char *text = process_identity_say(wanted, name);
    if (!process_identity_read_number(text, number))
        return error_set(error, TR_EINVAL, "%s=%s in the environment is not a number", name, text);
    return 0;
}

static int check_number(const struct cluster_plan *plan, uint32_t number, const char *what,
                        struct error *error)
{
    if (number < plan->plan.num_processes)
        return 0;
    return error_set(error, TR_ERANGE, "%s %u: %s has processes 0 to %u", what, number,
                     plan->cluster->path, plan->plan.num_processes - 1);
}

/* The index-th process of a role among those of a range; *found counts all of them. */
static uint32_t nth_of_role(const struct cluster_plan *plan, struct plan_range range,
                            enum launcher_role role, uint32_t index, uint32_t *found)
{
    uint32_t process = PROCESS_IDENTITY_NONE;
    *found = 0;
    for (uint32_t p = range.first; p < range.first + range.count; p++)
        if (launcher_role_of(&plan->plan, p) == role && (*found)++ == index)
            process = p;
    return process;
}

static int on_host(const struct cluster_plan *plan, uint32_t host, enum launcher_role role,
                   uint32_t index, uint32_t *process, struct error *error)
{
    const char *name = plan->cluster->hosts[host].name;
    uint32_t found;
    *process = nth_of_role(plan, cluster_host_processes(plan, host), role,
                           index == PROCESS_IDENTITY_NONE ? 0 : index, &found);
    /* The number of processes is judged before the index, so that the text names what there is. */
    if (found == 0)
        return error_set(error, TR_EINVAL, "host %s has no process with the role %s", name,
                         launcher_role_name(role));
    if (found > 1 && index == PROCESS_IDENTITY_NONE)
        return error_set(
            error, TR_EINVAL,
            "host %s has %u processes with the role %s: say which by options.index, 0 to %u", name,
            found, launcher_role_name(role), found - 1);
    if (*process == PROCESS_IDENTITY_NONE)
        return error_set(error, TR_ERANGE, "host %s has %u processes with the role %s, not %u",
                         name, found, launcher_role_name(role), index + 1);
    return 0;
}

static int by_host_name(const struct cluster_plan *plan,
                        const struct process_identity_wanted *wanted, const char *name,
                        uint32_t *process, struct error *error)
{
    uint32_t host, index = wanted->index;
    int rv = cluster_find_host(plan->cluster, name, &host, error);
    if (rv == 0 && index == PROCESS_IDENTITY_NONE)
        rv = say_number(wanted, "TROUPE_INDEX", &index, error);
    if (rv == TR_ENOENT) { /* a wrong word, not a missing file */
        rv = TR_EINVAL;
        if (error != NULL)
            error->code = rv;
    }
    return rv == 0 ? on_host(plan, host, wanted->role, index, process, error) : rv;
}

/* A node name as the cluster file has it: in full, or what is before the first dot. */
static bool is_host(const struct cluster_host *host, const char *name)
{
    size_t length = strcspn(name, ".");
    return strcmp(host->name, name) == 0 ||
           (host->address != NULL && strcmp(host->address, name) == 0) ||
           (strlen(host->name) == length && strncmp(host->name, name, length) == 0);
}

static uint32_t find_host(const struct cluster *cluster, const char *name)
{
    for (uint32_t h = 0; name != NULL && h < cluster->num_hosts; h++)
        if (is_host(&cluster->hosts[h], name))
            return h;
    return PROCESS_IDENTITY_NONE;
}

/* Slurm: the host by its name, the process by its number there; or by its number in the step, when
 * the step has as many tasks as the cluster has processes. */
static int by_slurm(const struct cluster_plan *plan, const struct process_identity_wanted *wanted,
                    uint32_t *process, struct error *error)
{
    uint32_t task, tasks;
    int rv = say_number(wanted, "SLURM_PROCID", &task, error);
    if (rv == 0)
        rv = say_number(wanted, "SLURM_STEP_NUM_TASKS", &tasks, error);
    if (rv != 0 || task == PROCESS_IDENTITY_NONE)
        return rv;
    if (tasks == plan->plan.num_processes && task < tasks) {
        *process = task;
        return 0;
    }
    uint32_t host = find_host(plan->cluster, process_identity_say(wanted, "SLURMD_NODENAME"));
    if (host == PROCESS_IDENTITY_NONE)
        return 0;
    return on_host(plan, host, wanted->role, wanted->index, process, error);
}

/* The variables in which starters give a program's rank, and the number of ranks. RANK comes first:
 * a wrapper inside an mpirun sets it to what it means. */
static const struct {
    const char *rank, *world;
    bool mpi; /* set for any program, also a single one that need not be a rank of ours */
} RANK_VARIABLES[] = {
    { "RANK", "WORLD_SIZE", false },                          /* torchrun */
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true }, /* Open MPI's mpirun */
    { "PMI_RANK", "PMI_SIZE", true },                         /* MPICH's, Intel MPI's mpiexec */
};
#define RANK_VARIABLES_COUNT (sizeof RANK_VARIABLES / sizeof RANK_VARIABLES[0])

/* One half alone says nothing. */
static int by_rank_variables(const struct cluster_plan *plan,
                             const struct process_identity_wanted *wanted, size_t which,
                             uint32_t *process, struct error *error)
{
    const char *rank_name = RANK_VARIABLES[which].rank, *world_name = RANK_VARIABLES[which].world;
    uint32_t rank, world;
    int rv = say_number(wanted, rank_name, &rank, error);
    if (rv == 0)
        rv = say_number(wanted, world_name, &world, error);
    if (rv != 0 || rank == PROCESS_IDENTITY_NONE || world == PROCESS_IDENTITY_NONE)
        return rv;
    if (RANK_VARIABLES[which].mpi && world == 1 && plan->plan.trainers != 1)
        return 0;
    if (world != plan->plan.trainers || rank >= world)
        return error_set(error, TR_EMISMATCH,
                         "%s=%u of %s=%u in the environment does not fit %s, which has %u trainers",
                         rank_name, rank, world_name, world, plan->cluster->path,
                         plan->plan.trainers);
    uint32_t found = plan_trainer_node(&plan->plan, rank);
    uint32_t trainers = plan->plan.processes[found].trainers.count;
    if (trainers > 1)
        return error_set(error, TR_EMISMATCH,
                         "%s=%u of %s=%u in the environment: process %u of %s has %u trainers, and "
                         "each rank starts a program; give its host \"processes\": \"role\", or "
                         "start one program a process",
                         rank_name, rank, world_name, world, found, plan->cluster->path, trainers);
    *process = found;
    return 0;
}

static int by_rank(const struct cluster_plan *plan, const struct process_identity_wanted *wanted,
                   uint32_t *process, struct error *error)
{
    int rv = 0;
    if (wanted->role != LAUNCHER_TRAINER)
        return 0;
    for (size_t i = 0; i < RANK_VARIABLES_COUNT && rv == 0 && *process == PROCESS_IDENTITY_NONE;
         i++)
        rv = by_rank_variables(plan, wanted, i, process, error);
    return rv;
}

/* "name-3", where no host is called that. */
static uint32_t process_identity_ordinal(const char *name)
{
    size_t length = strcspn(name, ".");
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    if (at == length || at == 0 || name[at - 1] != '-' || length - at > 6)
        return PROCESS_IDENTITY_NONE;
    return (uint32_t)strtoul(name + at, NULL, 10);
}

static int by_own_name(const struct cluster_plan *plan,
                       const struct process_identity_wanted *wanted, uint32_t *process,
                       struct error *error)
{
    uint32_t found, host = find_host(plan->cluster, wanted->host_name);
    if (host != PROCESS_IDENTITY_NONE)
        return on_host(plan, host, wanted->role, wanted->index, process, error);
    uint32_t index = wanted->host_name != NULL ? process_identity_ordinal(wanted->host_name)
                                               : PROCESS_IDENTITY_NONE;
    if (index == PROCESS_IDENTITY_NONE)
        return 0;
    const struct plan_range all = { 0, plan->plan.num_processes };
    *process = nth_of_role(plan, all, wanted->role, index, &found);
    if (*process == PROCESS_IDENTITY_NONE)
        return error_set(error, TR_ERANGE,
                         "this host is %s, but %s has %u processes with the role %s, not %u",
                         wanted->host_name, plan->cluster->path, found,
                         launcher_role_name(wanted->role), index + 1);
    return 0;
}

static int from_surroundings(const struct cluster_plan *plan,
                             const struct process_identity_wanted *wanted, uint32_t *process,
                             struct error *error)
{
    /* The order is that of process_identity.h: what was said to Troupe goes before what a scheduler
     * says of its own numbers, and both before the name of the host, which nobody may have
     * meant. */
    int rv = say_number(wanted, "TROUPE_PROCESS", process, error);
    if (rv != 0)
        return rv;
    if (*process != PROCESS_IDENTITY_NONE)
        return check_number(plan, *process, "TROUPE_PROCESS", error);
    const char *host = process_identity_say(wanted, "TROUPE_HOST");
    if (host != NULL)
        return by_host_name(plan, wanted, host, process, error);
    /* What Slurm says of an mpirun's programs is inherited from the step, or the batch script, that
     * the mpirun runs in. PMI_RANK alone tells nothing of an mpirun: srun sets it too. The rank on a
     * host is said by the mpiexec of MPICH and Intel MPI alone. */
    bool by_mpirun = process_identity_say(wanted, "OMPI_COMM_WORLD_RANK") != NULL ||
                     process_identity_say(wanted, "MPI_LOCALRANKID") != NULL;
    if (by_mpirun)
        rv = by_rank(plan, wanted, process, error);
    if (rv == 0 && *process == PROCESS_IDENTITY_NONE)
        rv = by_slurm(plan, wanted, process, error);
    if (rv == 0 && *process == PROCESS_IDENTITY_NONE && !by_mpirun)
        rv = by_rank(plan, wanted, process, error);
    if (rv == 0 && *process == PROCESS_IDENTITY_NONE)
        rv = by_own_name(plan, wanted, process, error);
    return rv;
}

int process_identity_find(const struct cluster_plan *plan,
                          const struct process_identity_wanted *wanted, uint32_t *process,
                          struct error *error)
{
    int rv;
    *process = wanted->process;
    if (wanted->process != PROCESS_IDENTITY_NONE)
        rv = check_number(plan, wanted->process, "options.process", error);
    else if (wanted->host != NULL)
        rv = by_host_name(plan, wanted, wanted->host, process, error);
    else
        rv = from_surroundings(plan, wanted, process, error);
    if (rv != 0 || *process != PROCESS_IDENTITY_NONE)
        return rv;
    return error_set(
        error, TR_EINVAL,
        "%s: cannot tell which of its processes this is, since no host of it is called "
        "%s: give options.process or options.host, or set TROUPE_PROCESS",
        plan->cluster->path, wanted->host_name != NULL ? wanted->host_name : "like this one");
}
