/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that the files of a simulated trainer share. Internal to it.
 *
 * sim_trainer.c drives. It calls sim_trainer_group.c and sim_trainer_loader.c, which stand for
 * api/group.c and api/loader.c, and these call sim_trainer_check.c, sim_trainer_wait.c and, where
 * calls are given up, sim_trainer_withdraw.c.
 */
#ifndef SIM_SIM_TRAINER_STATE_H
#define SIM_SIM_TRAINER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/training_loop.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "sim/fleet.h"

struct sampled_batch;

#define SIM_TRAINER_MS UINT64_C(1000000)
/* As api/group.c waits for a reducer that was not ready. */
#define SIM_TRAINER_AGAIN_NS (5 * SIM_TRAINER_MS)

/* The state of a trainer that a checkpoint keeps, before its weights. */
struct part_head {
    uint64_t step, rank;
    struct training_position at;
    float best;
};

enum sim_trainer_withdrawal { SIM_TRAINER_KEPT, SIM_TRAINER_INTERRUPTED, SIM_TRAINER_SHUT };

struct sim_trainer {
    struct actor *self;
    struct fleet *fleet;
    const struct fleet_plan *plan;
    struct fleet_process *process;
    uint32_t rank;
    struct draws draws;
    struct training_loop loop;
    enum training_wish wish;       /* the largest of all trainers, as the last sum has it */
    struct address reducer, proxy; /* none: to be found */
    uint64_t loader;
    bool opened;                   /* the loader, at that proxy */
    bool evaluated;                /* rank 0: the scores of this epoch */
    bool met;                      /* its last step is made, as its process counts */
    uint64_t reductions, barriers; /* done since it was restored */
    uint64_t saves;   /* that ended, whatever their outcome; not those that timed out */
    uint64_t offered; /* the number of the last save that had a part */
    bool synced;      /* rank 0: what was reported was written for the save under way, */
    int unsynced;     /* or why it could not be: then this rank has no part */
    uint64_t stands;  /* the step of the last checkpoint that has a part of it; 0: of none */
    uint32_t era;
    float best;     /* score so far */
    float *weights; /* [values] */
    float *values;  /* [values + 2]: what is reduced, */
    float *shared;  /* [trainers + 1]: and what is summed of an epoch; last, who is to leave */
    struct timer timer;
    struct call_id call; /* of the reducer, while it is under way, */
    struct draws whims;  /* when it is given up, */
    struct timer withdrawal;
    enum sim_trainer_withdrawal withdrawn; /* that it was, */
    uint64_t shut_ns;                      /* and since when nothing keeps it from ending */
    /* The steps after an answer are sim_trainer.c's, which calls the files that get the answer. */
    void (*go)(struct sim_trainer *t);                              /* performs loop.operation */
    void (*end)(struct sim_trainer *t, int code, const char *text); /* the operation has ended */
};

/* Steps of the whole job that are done. */
static inline uint64_t sim_trainer_step(const struct sim_trainer *t)
{
    return t->loop.at.steps;
}

/* sim_trainer_wait.c */

/* Goes on with loop.operation then. */
void sim_trainer_go_later(struct sim_trainer *t, uint64_t after_ns);

/* Does the sum of a step, and of an epoch, say whether all are to leave? */
static inline bool sim_trainer_asks_leave(const struct sim_trainer *t)
{
    return t->plan->seed >= FLEET_LEAVES_FROM;
}

/* Looks for an actor by its name in the directory; `found` has t. */
void sim_trainer_find(struct sim_trainer *t, const char *name, directory_found *found);

/* sim_trainer_check.c: what differs from the undisturbed run fails the fleet. */

/* Checks the sums of this step and applies them to the weights. */
void sim_trainer_apply(struct sim_trainer *t, const struct message *reply);

/* All losses of the epoch are in the sum. */
void sim_trainer_check_losses(struct sim_trainer *t, const struct message *reply);

/* Any number that the weights decide. */
float sim_trainer_score(const struct sim_trainer *t);

/* All know what rank 0 found; true: it is the best so far. */
bool sim_trainer_check_scores(struct sim_trainer *t, const struct message *reply);

/* Everybody goes back to the same step, and to none before what was committed. Takes the weights
 * from the reply, and tells the loop where it is. */
void sim_trainer_restored(struct sim_trainer *t, const struct message *reply);

/* The digest of this step's batch, which it releases. */
uint64_t sim_trainer_check_batch(struct sim_trainer *t, struct sampled_batch *batch);

/* sim_trainer_group.c: performs an operation of the group, by calls of the reducer. */
void sim_trainer_call_group(struct sim_trainer *t);

/* sim_trainer_withdraw.c */

/* A call of the reducer is under way: it may be given up. */
void sim_trainer_called(struct sim_trainer *t);

/* It has ended: whether it was given up. */
enum sim_trainer_withdrawal sim_trainer_answered(struct sim_trainer *t);

/* An interrupted call is made again, a little later. */
void sim_trainer_ask_again(struct sim_trainer *t);

/* The group was shut, and the trainer opens it anew. */
void sim_trainer_reopen(struct sim_trainer *t);

/* sim_trainer_loader.c */

/* Opens the loader, at the proxy of today. */
void sim_trainer_open_loader(struct sim_trainer *t);

/* The batch of this step, or NULL: it was asked for, or is to be asked for later. */
struct sampled_batch *sim_trainer_take_batch(struct sim_trainer *t);

/* A hint that the next one is wanted soon: nothing waits for its answer. */
void sim_trainer_announce_next(struct sim_trainer *t);

#endif
