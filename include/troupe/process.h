/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of a launched process: which process of a cluster this one is, what it says to the
 * launcher that started it, and how it learns that the launcher has gone.
 *
 * The options or the environment say which process this is; the first of these that says something
 * counts:
 *
 *     options.process, options.host     the program's own command line
 *     TROUPE_PROCESS, TROUPE_HOST       a launcher, systemd units
 *     SLURM_PROCID, SLURMD_NODENAME     Slurm's srun
 *     RANK, WORLD_SIZE                  torchrun; of a process with trainers
 *     OMPI_COMM_WORLD_RANK, _SIZE       Open MPI's mpirun; the same
 *     PMI_RANK, PMI_SIZE                MPICH's and Intel MPI's mpiexec; the same. The ranks of an
 *                                       mpirun that runs within Slurm go before what Slurm says
 *     the name of this host             as the cluster file has it, or as "name-3", the third of a
 *                                       Kubernetes StatefulSet: the third process of its role
 *
 * A launcher also sets TROUPE_LAUNCHED=1, TROUPE_CLUSTER, TROUPE_GRAPH, TROUPE_INCARNATION (a
 * number larger than that of the process's life before), TROUPE_RESTARTED (1: it had one) and
 * TROUPE_RESTARTS (so many, as the process's status says). The key of the job, where the cluster
 * file names none, is the first line of the standard input (TROUPE_SHARED_KEY=-), or a file
 * (TROUPE_SHARED_KEY=PATH). The standard input stays open for as long as the process is to run: its
 * end means that the launcher has gone or wants it to stop. An input that has nothing yet has not
 * ended; one that is closed in this process has. The notices of a process to its launcher are lines
 * on its standard output that begin with "troupe: ".
 *
 *     tr_process_open(&options, TR_WAIT_FOREVER, &process, &error);
 *     tr_process_watch(process, &error);
 *     tr_session_options_init(&session_options);
 *     tr_process_session(process, &session_options, &error);
 *     tr_session_open(&session_options, &session, &error);
 *     tr_process_attach(process, session, &error);
 *     tr_graph_open(session, info.graph, ...);
 *     tr_process_say_ready(process, TR_PROCESS_SAY_NS, &error);
 *     ...
 *     tr_process_attach(process, NULL, &error);
 *     tr_session_close(session);
 *     tr_process_close(process);
 *
 * Ownership: tr_process_close() frees the handle and the texts that came from it. Thread rules: any
 * thread; a process is closed once, when no other thread begins a call on it. In a child of fork()
 * calls give TR_EFORKED and a close does nothing.
 */
#ifndef TROUPE_PROCESS_H
#define TROUPE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/cluster.h>
#include <troupe/error.h>
#include <troupe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_process;

/* A number that is not given. */
#define TR_PROCESS_UNSAID UINT32_MAX
/* A limit that is not given; what TR_TRAIN_LIMIT_UNSAID is in the options of a training. */
#define TR_PROCESS_LIMIT_UNSAID ((int64_t)-1)

/* From the end of the launcher on, a process that hangs has so long before it is ended. */
#define TR_PROCESS_ORPHAN_NS INT64_C(25000000000)

struct tr_process_options {
    size_t size;
    const char *cluster; /* the cluster file; NULL: TROUPE_CLUSTER */
    const char *graph;   /* DIR/NAME.json; NULL: as the cluster file says, else TROUPE_GRAPH */
    uint32_t role;       /* TR_ROLE_TRAINER, _SAMPLER or _SERVER: what the program does */
    uint32_t process;    /* its number, or TR_PROCESS_UNSAID */
    const char *host;    /* its host's name in the cluster file; NULL: not said */
    uint32_t index;      /* which of the host's processes of that role, or TR_PROCESS_UNSAID */
    unsigned char reserved[4];
};
/* Fills it with the defaults: a trainer, and no number is given. */
#define tr_process_options_init(options) tr_process_options_init_sized((options), sizeof *(options))
TR_API void tr_process_options_init_sized(struct tr_process_options *options, size_t size);

struct tr_process_info {
    size_t size;
    uint32_t process; /* its number in the cluster file's plan */
    uint32_t host;
    uint32_t num_trainers; /* in this process */
    uint32_t threads;      /* of each trainer, as the cluster file says; 0: it does not */
    bool first_of_host;    /* of the host's processes: it has the host's checkpoint store */
    bool beside_trainers;  /* the host has trainers, in this process or in others */
    bool launched;         /* by a launcher */
    bool restarted;        /* and not for the first time: go on with what was begun */
    bool has_seed;         /* the cluster file names one */
    uint64_t seed;
    uint64_t checkpoint_every; /* steps, as the cluster file says; 0: it does not */
    /* Limits of trainers, as the cluster file says; TR_PROCESS_LIMIT_UNSAID: it does not. */
    int64_t step_limit_ns, disk_wait_ns;
    uint32_t incarnation; /* as the launcher counts; 0: nothing says */
    const char *cluster;  /* path of the cluster file */
    const char *name;     /* of the job */
    const char *host_name;
    const char *graph;
    const char *shared_key;  /* path of the job's key; NULL: none was given */
    const char *checkpoints; /* the folder, with %h for each host's name; NULL: none is named */
};
#define TR_PROCESS_INFO_INIT                                                                   \
    {                                                                                          \
        sizeof(struct tr_process_info), 0, 0, 0, 0, false, false, false, false, false, 0, 0,   \
            TR_PROCESS_LIMIT_UNSAID, TR_PROCESS_LIMIT_UNSAID, 0, NULL, NULL, NULL, NULL, NULL, \
            NULL                                                                               \
    }

/* Finds out which process this is. timeout_ns: for the line of the job's key, where it comes by the
 * standard input; TR_ETIMEDOUT: it did not come. TR_EINVAL, TR_ERANGE: what was said, in the
 * options or the environment, and what the cluster file has; TR_EMISMATCH: a rank and its world are
 * not of this cluster; TR_ENOENT, TR_EIO and TR_EFORMAT are of the files and of the key. *out is
 * NULL after a failure. */
TR_API int tr_process_open(const struct tr_process_options *options, int64_t timeout_ns,
                           struct tr_process **out, struct tr_error *error);
/* Ends watching too. NULL is ignored. */
TR_API void tr_process_close(struct tr_process *process);

TR_API int tr_process_info(const struct tr_process *process, struct tr_process_info *info,
                           struct tr_error *error);

/* Sets what a session needs to join the job as this process: cluster, process, incarnation and
 * shared_key; its texts are the handle's. */
TR_API int tr_process_session(const struct tr_process *process, struct tr_session_options *options,
                              struct tr_error *error);

/* Where a launcher started this process: reads the standard input, on a thread of the library,
 * until it ends. Then tr_process_is_orphaned() is true, the attached session is interrupted, and
 * unless the process has closed this handle within TR_PROCESS_ORPHAN_NS it is ended by _exit(1),
 * whatever hangs. Without a launcher nothing is read. Called once. */
TR_API int tr_process_watch(struct tr_process *process, struct tr_error *error);

/* Attaches a session, between opening it and opening its graph, until the next call: it is
 * interrupted when the launcher has gone, also before this call, and a thread of the library
 * notifies the launcher of peers that the session counts as dead, so that no loop waits for a
 * launcher that reads nothing. NULL detaches, which comes before the session is closed. */
TR_API int tr_process_attach(struct tr_process *process, struct tr_session *session,
                             struct tr_error *error);

/* From now on the attached session is interrupted so long after the launcher has gone, or wants this
 * process to stop, in which the program may end its work in order; at most TR_PROCESS_LINGER_NS. 0,
 * as it begins: at once, also where that was before this call. TR_ERANGE. */
#define TR_PROCESS_LINGER_NS INT64_C(15000000000)
TR_API int tr_process_linger(struct tr_process *process, int64_t linger_ns, struct tr_error *error);

/* The launcher has gone, or wants this process to stop: end soon. Safe in a signal handler. */
TR_API bool tr_process_is_orphaned(const struct tr_process *process);

/* Whether the environment says that a launcher started this process, and that it did so before;
 * without a handle. */
TR_API bool tr_process_is_launched(void);
TR_API bool tr_process_is_restarted(void);

/* The notices of a process on its standard output, a line each, behind what the program has
 * printed: that it is ready (its session and graph are open), by which kernels a trainer computes,
 * that a checkpoint was committed, and that the job's result is written and synced, so that nothing
 * need be started again. All but the first are said to a launcher only, and do nothing without one.
 * TR_EIO: the output takes nothing. TR_ETIMEDOUT: its pipe is full, since the launcher reads
 * nothing, or another thread prints into it; the line was not said. TR_PROCESS_SAY_NS is long
 * enough for a launcher that lives. No interrupt ends the wait. */
#define TR_PROCESS_SAY_NS INT64_C(10000000000)
TR_API int tr_process_say_ready(const struct tr_process *process, int64_t timeout_ns,
                                struct tr_error *error);
TR_API int tr_process_say_kernels(const char *kernels, int64_t timeout_ns, struct tr_error *error);
TR_API int tr_process_say_checkpoint(uint64_t step, int64_t timeout_ns, struct tr_error *error);
/* Trainer 0 says that all trainers go on from that step, with which an era begins (tr_group_restore());
 * the job's history has it (troupe-events(5)). */
TR_API int tr_process_say_era(uint64_t step, int64_t timeout_ns, struct tr_error *error);
/* All trainers of the job stop behind a checkpoint. asked: since one was asked to, so the launcher
 * starts nothing again; else since a process of theirs has lost its launcher, or is asked by it
 * (tr_process_is_orphaned), and a launcher that goes on with the job starts all of them again. */
TR_API int tr_process_say_left(bool asked, int64_t timeout_ns, struct tr_error *error);
TR_API int tr_process_say_complete(int64_t timeout_ns, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
