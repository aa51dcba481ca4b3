/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process of a cluster this one is: from its options, or from what its starter says in the
 * environment.
 *
 * In this order, the first that says something counts:
 *
 *     --process N, --host NAME          the command line
 *     TROUPE_PROCESS, TROUPE_HOST       the environment (the launcher, systemd units)
 *     SLURMD_NODENAME, SLURM_PROCID     Slurm's srun
 *     RANK, WORLD_SIZE                  torchrun; of a process with one trainer
 *     OMPI_COMM_WORLD_RANK, _SIZE       Open MPI's mpirun; the same. Where it is there, ranks go
 *                                       before Slurm: its programs inherit what Slurm said of it
 *     PMI_RANK, PMI_SIZE                MPICH's and Intel MPI's mpiexec; the same, where
 *                                       MPI_LOCALRANKID says that it was not srun that set them
 *     the name of this host             as the cluster file has it, or as "name-3", the third of a
 *                                       Kubernetes StatefulSet: the third process of its role
 *
 * A host with several processes needs the role and the index among those too; the role is that of
 * the command (serve, sample, train) unless said.
 *
 * Ownership: pure; nothing is kept. Thread rules: any thread.
 */
#ifndef LAUNCH_PROCESS_IDENTITY_H
#define LAUNCH_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/cluster.h"
#include "actors/cluster/launcher.h"

#define PROCESS_IDENTITY_NONE UINT32_MAX

struct process_identity_wanted {
    uint32_t process;        /* PROCESS_IDENTITY_NONE: not said */
    const char *host;        /* NULL: not said */
    enum launcher_role role; /* of the command, or as said */
    uint32_t index;          /* PROCESS_IDENTITY_NONE: not said */
    /* Asks what the surroundings say; NULL results: nothing. */
    const char *(*environment)(void *arg, const char *name);
    void *arg;
    const char *host_name; /* of this machine */
};

/* TR_EINVAL, TR_ENOENT, TR_ERANGE: what was said, and what there is. */
int process_identity_find(const struct cluster_plan *plan,
                          const struct process_identity_wanted *wanted, uint32_t *process,
                          struct error *error);

/* Is it a process of that role? If not, the text says which command starts it. */
int process_identity_check(const struct plan *plan, uint32_t process, enum launcher_role role,
                           struct error *error);

/* A number below PROCESS_IDENTITY_NONE, which a NULL text gives; false: the text is no such
 * number. */
bool process_identity_read_number(const char *text, uint32_t *number);

#endif
