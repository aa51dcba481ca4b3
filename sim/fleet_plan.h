/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choices of a seed for a whole cluster: where actors are, what is trained, what goes wrong.
 *
 * Up to five processes on simulated hosts: partitions with replicas, samplers beside trainers or
 * apart from them, one to three trainers, the coordinator anywhere. Windows are small, so that
 * credit binds. Faults are tied to the progress of the job, so that they hit it at work.
 *
 * Ownership: the struct owns what it points to. Immutable after fleet_plan_init.
 */
#ifndef SIM_FLEET_PLAN_H
#define SIM_FLEET_PLAN_H

#include <stdio.h>

#include "actors/cluster/plan.h"
#include "runtime/base/failpoint.h"
#include "runtime/sim/env_sim.h"
#include "sim/reference.h"
#include "sim/run.h"
#include "sim/sim_graph.h"

#define FLEET_PROCESSES_MAX 5u
#define FLEET_PARTS_MAX 6u
#define FLEET_SAMPLERS_MAX 3u
#define FLEET_TRAINERS_MAX 3u
#define FLEET_READERS_MAX 2u
#define FLEET_READS_MAX 30u
#define FLEET_WRITES_MAX 60u
#define FLEET_INTERRUPTS_MAX 100u
#define FLEET_SHUTS_MAX 3u
#define FLEET_VALUES_MAX 10000u /* three pieces of a reduction, for each of three ranks */
#define FLEET_FAULTS_MAX 8u
#define FLEET_SERVER_FAULTS_MAX 3u
#define FLEET_BUSY_FAULTS_MAX 3u
#define FLEET_LAUNCH_FAULTS_MAX 3u
#define FLEET_HOST_FAULTS_MAX 2u
#define FLEET_CARRIER_FAULTS_MAX 2u
#define FLEET_SIGNAL_FAULTS_MAX 1u
#define FLEET_STRIKES_MAX                                                         \
    (FLEET_FAULTS_MAX + FLEET_SERVER_FAULTS_MAX + FLEET_BUSY_FAULTS_MAX +         \
     FLEET_LAUNCH_FAULTS_MAX + FLEET_HOST_FAULTS_MAX + FLEET_CARRIER_FAULTS_MAX + \
     FLEET_SIGNAL_FAULTS_MAX)
#define FLEET_FAILPOINTS_MAX 2u
/* Seeds from here on draw fail-points: those before are remembered as they were without them, and
 * `troupe simulate --minutes` has none below it. */
#define FLEET_FAILPOINTS_FROM (UINT64_C(1) << 50)
/* Seeds from here on draw among all fail-points; those before among the first ones alone, which
 * they were remembered with. */
#define FLEET_ALL_FAILPOINTS_FROM UINT64_C(1795404000000000)
#define FLEET_FIRST_FAILPOINTS (FAILPOINT_END_FINISHED + 1)
/* Seeds from here on draw checkpoint stores and reducers that are busy, for the same reason: it is
 * above all seeds that were remembered without them. */
#define FLEET_BUSY_FROM UINT64_C(1795364000000000)
/* Trainers of seeds from here on write what was reported before each save, and skip the save where
 * the disk refuses that; those before are remembered without. */
#define FLEET_SKIPS_FROM UINT64_C(1795405200000000)
/* Launchers of seeds from here on have few restarts, are asked to stop, and are killed; those before
 * are remembered with one launcher that never gives up. */
#define FLEET_LAUNCHES_FROM UINT64_C(1795415000000000)
/* Processes of seeds from here on have threads that read the graph; those before are remembered
 * without. */
#define FLEET_READS_FROM UINT64_C(1795416000000000)
/* In most clusters of seeds from here on each host has a disk of its own, and whole hosts die, now
 * and then with their disks; those before are remembered with one folder that all hosts see. */
#define FLEET_DISKS_FROM UINT64_C(1795418400000000)
/* Trainers of seeds from here on give up group calls; those before are remembered without. */
#define FLEET_WITHDRAWALS_FROM UINT64_C(1795430000000000)
/* Trainers of seeds from here on leave behind a checkpoint where their process is asked to stop; those
 * before are remembered as ending at once. */
#define FLEET_LEAVES_FROM UINT64_C(1795464000000000)
/* Programs of seeds from here on make a tensor, write and read it; those before are remembered
 * without. */
#define FLEET_WRITES_FROM UINT64_C(1795478400000000)
/* What carries input and output of a process there and back breaks for seeds from here on; those
 * before are remembered without. */
#define FLEET_CARRIERS_FROM UINT64_C(1795491000000000)
/* Threads that read the graph, of seeds from here on, ask about its edges too; those before are
 * remembered without. */
#define FLEET_QUERIES_FROM UINT64_C(1795739600000000)
/* Processes of seeds from here on get signals of their own; those before are remembered without. */
#define FLEET_SIGNALS_FROM UINT64_C(1795789707000000)

enum fleet_fault {
    FLEET_KILL,      /* of a process; now and then of all */
    FLEET_PAUSE,     /* of a process: shorter or longer than it takes to be taken for dead; or of
                        its training threads alone */
    FLEET_CLOG,      /* nothing gets from one process to another, or both ways */
    FLEET_RESET,     /* of some connections, at any byte */
    FLEET_CORRUPT,   /* bits flip on their way */
    FLEET_REFUSE,    /* a process accepts no connection */
    FLEET_WALL,      /* a wall clock is set */
    FLEET_MEMORY,    /* allocations of messages fail */
    FLEET_DISK_FULL, /* or read-only */
    FLEET_SYNC_FAIL,
    FLEET_ACTOR, /* an actor fails */
    FLEET_FAULT_KINDS,
    /* Those of a process are full, short of memory or slow; drawn apart, so that seeds keep their
     * other faults. */
    FLEET_SERVERS = FLEET_FAULT_KINDS,
    FLEET_CHECKPOINT_STORES,
    FLEET_REDUCERS,
    FLEET_STOP,     /* the launcher is asked to stop, once or twice */
    FLEET_LAUNCHER, /* it is killed, and launched again when that is over */
    FLEET_HOST,     /* it dies with all its processes, and may be replaced by an empty one */
    /* What carries a process's input and output, such as an ssh, dies: the launcher hears of its end,
     * the process of its launcher's. */
    FLEET_CARRIER,
    FLEET_SIGNAL, /* a user sends a process SIGTERM */
};

struct fleet_strike {
    enum fleet_fault fault;
    uint64_t at_step;  /* of the job: it waits for that, */
    uint64_t after_ns; /* and then so long */
    uint64_t lasts_ns;
    uint64_t draw; /* of the victim, and of how */
};

/* Whichever process passes that point as the nth of the job dies there. */
struct fleet_failpoint {
    enum failpoint point;
    uint32_t nth; /* from 1 on */
};

struct fleet_plan {
    uint64_t seed;
    struct sim_graph raw;
    struct plan plan; /* of processes and parts below */
    struct plan_process processes[FLEET_PROCESSES_MAX];
    uint32_t parts[FLEET_PROCESSES_MAX * FLEET_PARTS_MAX];
    bool direct, flat, codec, tcp, evaluates;
    bool own_disks; /* each host has its own; else all see the same folder */
    bool watches;   /* processes tell their launcher of others that are silent, as `troupe train` */
    uint64_t heartbeat_ns, dead_ns, window_bytes, reply_bytes_max, replies_bytes_max, call_ns;
    uint32_t slice_edges;
    size_t batch_bytes_max;
    uint32_t short_ppm; /* of reads and writes of files */
    uint64_t net_delay_ns, think_ns, group_ns;
    struct wanted_loader loader; /* of every rank; open.rank is each one's own */
    uint64_t steps, steps_epoch; /* of the whole job; of an epoch */
    uint32_t values;             /* weights */
    uint32_t save_every;         /* steps; 0: never */
    uint32_t keep;               /* checkpoints */
    uint32_t messages;           /* that link checkers send */
    uint32_t readers, reads;     /* of a process; of each of them, in each of its lives, */
    uint64_t read_ns;            /* with pauses of so much at most */
    uint32_t writes;             /* what each life of a process's writer does; 0: there is none; */
    uint64_t write_ns;           /* with pauses of so much at most */
    uint32_t interrupts, shuts;  /* of group calls, and of groups, of the whole job at most; */
    uint32_t withdraw_percent;   /* of its calls that a trainer gives up, */
    uint64_t withdraw_ns;        /* so much later at most */
    struct fleet_strike strikes[FLEET_STRIKES_MAX];
    uint32_t num_strikes;
    struct fleet_failpoint failpoints[FLEET_FAILPOINTS_MAX];
    uint32_t num_failpoints;
    uint32_t restarts;    /* of a role, that a launcher has ... */
    uint64_t restarts_ns; /* ... in so long */
    uint32_t resumes;     /* how often the job is launched again where it failed or was stopped, */
    uint64_t resume_ns;   /* so much later */
    uint64_t limit_ns;    /* virtual time in which the job ends */
    struct env_sim_options env;
};

/* die_at: the fail-points of this run, NULL for those that the seed draws. */
void fleet_plan_init(struct fleet_plan *fleet, uint64_t seed, const struct sim_failpoints *die_at);
void fleet_plan_fini(struct fleet_plan *fleet);

/* Whether nothing goes wrong but with disks, servers and clocks: no process dies, no message is
 * lost. */
bool fleet_plan_is_of_disks(const struct fleet_plan *fleet);

/* Lines for a person. */
void fleet_plan_print(const struct fleet_plan *fleet, FILE *out);

const char *fleet_fault_name(enum fleet_fault fault);

#endif
