/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole cluster in one thread: its processes, the disks of its hosts, the launchers that start them
 * again (fleet_launch.h), and the tally that oracles read.
 *
 * A process is what `troupe train` or `troupe serve` is: a node with links, the actors of its place
 * in the plan, and in place of each training thread an actor that does what one does
 * (sim_trainer.h). A checker in each (link_checker.h) watches what links promise. Nothing of a
 * process outlives it but what it had synced to the disk.
 *
 * Everything runs in one thread, so this is plain memory.
 */
#ifndef SIM_FLEET_H
#define SIM_FLEET_H

#include "actors/process_actors.h"
#include "runtime/core/directory.h"
#include "runtime/core/node.h"
#include "runtime/net/links.h"
#include "sim/actor_faults.h"
#include "sim/expected_run.h"
#include "sim/fleet_disks.h"
#include "sim/fleet_launch.h"
#include "sim/fleet_liveness.h"
#include "sim/fleet_plan.h"

/* While memory is short: the chance, per million, that a message's allocation fails. */
#define FLEET_MEMORY_PPM 5000u
/* Then what still lives in a process that was asked to stop is ended, as api/graph.c has it. */
#define FLEET_STOP_NS (10 * ENV_SECOND_NS)
#define FLEET_CHECKPOINTS "checkpoints" /* the folder on each disk */
#define FLEET_RUN "run"                 /* that of rank 0 */
#define FLEET_MODEL FLEET_RUN "/model"
#define FLEET_METRICS FLEET_RUN "/metrics"

struct fleet;

struct fleet_seat {
    struct fleet *fleet;
    struct fleet_process *process;
    uint32_t rank; /* of a trainer; the number of a reader */
};

/* One life of a process after the other. */
struct fleet_process {
    struct failpoints failpoints; /* first: what is reached is found by it */
    bool doomed;                  /* it died in the middle of a turn, and is to be taken down */
    uint32_t number;
    struct node *node; /* NULL: it does not run */
    uint32_t incarnation;
    uint32_t era;       /* the last one that this life knows of, by a trainer or the coordinator */
    uint32_t met;       /* trainers that have made their last step */
    bool leaves;        /* its trainers were asked to leave behind a checkpoint, */
    uint64_t leave_ns;  /* for which they have until then */
    uint32_t left;      /* so many have: the process ends with a failure when all have */
    bool ending;        /* it was asked to stop, */
    uint64_t ending_ns; /* then */
    struct files *files;
    struct snapshots *snapshots;
    struct batch_store *store;
    struct seed_lists *lists;
    struct process_actors actors;
    struct fleet_seat trainers[FLEET_TRAINERS_MAX];
    struct fleet_seat readers[FLEET_READERS_MAX];
    struct fleet_seat writer;
    struct fleet_seat checker;
    uint64_t paused_until_ns;
    uint64_t trainers_until_ns; /* its training threads stand still */
    struct process_faults faults;
    bool died;      /* by a signal, and the launcher has not heard of it */
    bool orphan;    /* its launcher was killed */
    bool signalled; /* it was asked to stop by another than that, and ends with a failure */
    uint32_t waits; /* the incarnation that takes its place once it has ended; 0: none */
    bool gave_up;   /* that one was ended before, and the launcher has not heard of it, */
    int gave_up_by; /* by a signal or else 0 */
};

/* An actor that is to fail. */
struct fleet_victim {
    char name[DIRECTORY_NAME_MAX];
};

/* The counts of a run. */
struct fleet_tally {
    uint64_t batches, steps, saves, restores;
    uint64_t reads;   /* that readers were answered */
    uint64_t queries; /* those of them about edges by ID */
    uint64_t writes;  /* of tensors, that were acknowledged */
    uint64_t skips;   /* saves that a trainer had no part for */
    uint64_t calls_opened, calls_completed;
    uint64_t monitors, downs;
    uint64_t messages;
    uint64_t faults, starts, deaths;
    uint64_t actor_restarts;
    uint64_t failures_told;                    /* operations that failed and were asked for again */
    uint64_t launches, spent, stopped, killed; /* all; that failed; that were stopped; killed */
    uint64_t interrupts, shuts;                /* of group calls, of groups */
    uint64_t leaves;                           /* of trainers, behind a checkpoint */
    uint64_t signals;                          /* to processes, that stopped jobs */
};

struct fleet {
    struct fleet_plan plan;
    struct env *env;
    struct fleet_disks disks;
    struct kinds kinds;
    struct endpoint endpoints[FLEET_PROCESSES_MAX];
    struct sim_partitions partitions;
    struct expected_run expected;
    struct sim_ledger *ledgers; /* of tensors: sim_writer.h */
    struct fleet_process processes[FLEET_PROCESSES_MAX];
    struct fleet_launch launch;
    bool said;              /* some process told the launcher something */
    bool launched;          /* all is over */
    uint64_t furthest;      /* steps that some trainer did; past the last: it finished */
    uint64_t committed;     /* the newest checkpoint that a trainer was notified of */
    bool *made;             /* [steps + 1]: those whose checkpoints trainers were notified of */
    uint64_t offered;       /* the newest step that a trainer had a part of */
    uint32_t last_era;      /* in which somebody was restored, */
    uint64_t last_era_step; /* and to which step */
    uint64_t reached[FLEET_TRAINERS_MAX]; /* the step at which each trainer is, or was last */
    bool signals;                         /* a process got one of its own */
    bool written;  /* the one of rank 0 has written the job's result since this launcher began, */
    bool complete; /* which knows so */
    struct fleet_victim victims[FLEET_STRIKES_MAX];
    uint32_t failpoint_passes[FLEET_FAILPOINTS_MAX];
    uint64_t struck; /* bits of fail-points where a process died */
    uint32_t next_strike;
    uint64_t strike_at_ns; /* of the next one; UINT64_MAX: it waits for the job to get there */
    uint64_t memory_until_ns, corrupt_until_ns; /* 0: not under way */
    struct fleet_liveness liveness;
    FILE *verbose;
    struct fleet_tally tally;
    struct error error; /* the first thing that was wrong */
};

/* Remembers the first thing that is wrong. */
__attribute__((format(printf, 2, 3))) void fleet_fail(struct fleet *fleet, const char *format, ...);

/* A process prints a line, which its launcher reads. */
__attribute__((format(printf, 2, 3))) void fleet_say(struct fleet_process *process,
                                                     const char *format, ...);

/* Rank 0 has written the job's result, and says so to the launcher. */
void fleet_complete(struct fleet_process *process);

/* A life of a process begins. */
void fleet_boot(struct fleet *fleet, uint32_t process, uint32_t incarnation);

/* It is asked to stop, as by SIGTERM: its trainers may leave behind a checkpoint first. */
void fleet_ask_to_leave(struct fleet *fleet, uint32_t number);
/* One of its trainers has. */
void fleet_leave(struct fleet_process *process);
/* It ends. */
void fleet_ask_to_stop(struct fleet *fleet, uint32_t process);

/* It dies by a signal at this instant, and its remains are looked at. */
void fleet_kill(struct fleet *fleet, uint32_t process);

/* Its node has stopped: takes it down, and returns the exit code. */
int fleet_reap(struct fleet *fleet, uint32_t process);

#endif
