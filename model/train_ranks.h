/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trainers of one process: a thread and a model each, in one group.
 *
 * A step is shared: each takes its seeds, the gradients are added up over all ranks of the job in
 * their order, and every model takes the same step. Rank 0 evaluates, reports, keeps the model and
 * tells of progress. When the group is rolled back all go on from the last checkpoint. A job of one
 * trainer that keeps no checkpoints has no group, and trains on the calling thread.
 *
 * Ownership: a struct train_ranks is its caller's, and borrows all it points to. Thread rules: run
 * on one thread; the hooks of rank 0 are called on its thread.
 */
#ifndef MODEL_TRAIN_RANKS_H
#define MODEL_TRAIN_RANKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "model/run_folder.h"
#include "model/run_job.h"
#include "model/shape_choice.h"
#include "model/watchdog.h"

struct train_rank;

struct train_ranks {
    struct run_job *job;       /* its model is the first rank's */
    struct run_folder *folder; /* rank 0's process writes there */
    const char *deal;          /* see run_job_split_train */
    uint32_t first, count, world;
    bool grouped;
    bool reproducible;
    bool finishes; /* the job has other processes, which end with it */
    /* Ranks that are in their group already; NULL: none is. Their groups are taken. */
    struct shape_entry *entries; /* [count] */
    uint64_t save_every;
    uint64_t patience_ns;     /* see trainer.h */
    struct watchdog watchdog; /* limit_ns, stalled and arg are given; runs while they train */
    uint64_t job_hash;        /* equal for all trainers of a job */
    uint64_t run_hash;        /* what checkpoints belong to */
    uint64_t deal_hash;       /* of the splits, once open; 0: shuffle */
    /* These are of rank 0, but refused, which any rank calls, one at a time. Those that are about
     * the group are added. */
    const struct trainer_hooks *hooks;
    /* Rank 0 calls it, with the hooks' arg: a checkpoint was committed after so many steps. */
    void (*saved)(void *arg, uint64_t steps);
    /* The same: the group begins an era, from what was saved after so many steps. NULL: nobody needs to
     * know. */
    void (*restored)(void *arg, uint64_t steps);
    const struct cancel *cancel; /* the wish to stop all */
    /* The wish to stop the trainers of all processes behind a checkpoint; NULL: there is none. It
     * becomes a wish to stop when that takes too long. */
    const struct cancel *leave;
    /* With the hooks' arg: that wish is there because this process has lost its launcher. NULL: it has
     * none. */
    bool (*orphaned)(void *arg);
    /* Any rank calls it, with the hooks' arg: all trainers leave the job, whose checkpoint is there,
     * for that wish. NULL: nobody else needs to know. */
    void (*left)(void *arg, enum training_wish wish);
    /* Trainers here that have nothing to keep: on their way back to a checkpoint, or, of a job of
     * several processes, behind their last step. */
    atomic_uint idle;
    /* Set by rank 0: the job has committed a checkpoint, or gone back to one. Whichever hosts keep
     * it, this one may not. */
    bool has_checkpoint;
    /* Below: train_ranks.c's. */
    atomic_bool failed;
    pthread_mutex_t refusing; /* guards calls of refused */
    struct watched **watched; /* [count] */
    struct cancel stop;       /* asked, or another rank failed */
    struct train_rank *ranks; /* [count] */
};

/* Opens loaders, models and groups. train_ranks_close takes down whatever it left. */
int train_ranks_open(struct train_ranks *ranks, struct error *error);

/* The loader of this process's first rank. */
struct tr_loader *train_ranks_loader(const struct train_ranks *ranks);

/* Trains until all trainers of the job are done; the job's model is what came of it. */
int train_ranks_run(struct train_ranks *ranks, struct trainer_result *result, struct error *error);

void train_ranks_close(struct train_ranks *ranks);

#endif
