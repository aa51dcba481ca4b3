/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a training run, as one of its trainers goes through it, without any input or output:
 * which operation comes next, what its failure means, and how long a disk is waited for.
 *
 * The driver performs loop.operation (after loop.wait_ns, where that is not 0), and says how it
 * ended; then the next operation stands there. `troupe train` performs with blocking calls
 * (trainer.h), the simulator with messages, so both go the same way after every failure:
 *
 *   TR_EROLLBACK           of a group: all go back to the last checkpoint
 *   TR_ETIMEDOUT           of a group call: the same call again; the group notices deaths
 *   files_is_refusal()     a checkpoint, the best model, an epoch's record: gone on without, for
 *                          each is made again later; the last checkpoint, the taking back of what
 *                          was written since, the final model: tried again for patience_ns, since
 *                          there is no going on without
 *   anything else          the run has failed
 *
 * Thread rules: the driver's thread.
 */
#ifndef MODEL_TRAINING_LOOP_H
#define MODEL_TRAINING_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* An operation that a disk refused is tried again after this: a person who makes room does not
 * notice it, and a disk that is full is not worn. */
#define TRAINING_AGAIN_NS UINT64_C(500000000)

enum training_operation {
    TRAINING_RESTORE,   /* the last checkpoint, with all others; then training_loop_restored() */
    TRAINING_REWIND,    /* takes back what was written since that */
    TRAINING_BEGIN,     /* opens the epoch, from loop.step on */
    TRAINING_STEP,      /* the next batch and its gradients; TR_EEND: the epoch has no more */
    TRAINING_REDUCE,    /* adds them up over all trainers, and applies them */
    TRAINING_SAVE,      /* a checkpoint */
    TRAINING_SUM,       /* the losses of the epoch, over all trainers */
    TRAINING_EVALUATE,  /* rank 0 for all */
    TRAINING_SHARE,     /* its scores, to all; then training_loop_scored() */
    TRAINING_KEEP_BEST, /* writes the best model so far, where this trainer keeps the run */
    TRAINING_REPORT,    /* the epoch is over */
    TRAINING_MEET,      /* all trainers have trained */
    TRAINING_KEEP,      /* the final scores and the final model */
    TRAINING_FINISH,    /* this trainer is done with the job; ends when all are */
    TRAINING_DONE,
    TRAINING_FAILED, /* with loop.code */
};

struct training_loop_plan {
    uint32_t epochs;
    uint32_t patience;       /* evaluations without a better one before it stops; 0: never */
    uint32_t evaluate_every; /* epochs, 0 = 1; the last epoch is always evaluated */
    uint64_t save_every;     /* steps; 0: never */
    uint64_t patience_ns;    /* with a disk that refuses what cannot be gone on without */
    bool evaluates;
    bool keeps;    /* the run: its best and its final model */
    bool grouped;  /* TR_EROLLBACK is for it */
    bool finishes; /* a job of several processes, which ends together */
};

/* Whether a trainer wishes that all stop behind a checkpoint, and why; of the wishes of several the
 * largest counts. */
enum training_wish {
    TRAINING_GOES_ON,
    /* Its process has lost the launcher, which may live and go on with the job, or is asked by it. */
    TRAINING_ORPHANED,
    TRAINING_ASKED, /* a user stops it by a signal, or a program cancels its task */
};

/* Where a run stands, and what a checkpoint keeps of it. */
struct training_position {
    uint32_t epoch;
    uint32_t evaluations_since_best;
    uint64_t step;  /* steps of the epoch that are done */
    uint64_t steps; /* of all epochs */
    bool has_best;
};

struct training_loop {
    struct training_loop_plan plan;
    enum training_operation operation;
    uint64_t wait_ns; /* before it is performed */
    int code;         /* of TRAINING_FAILED */
    struct training_position at;
    bool stopped_early;
    bool best_unkept;    /* the best model is not known to be written */
    bool leaving;        /* a checkpoint follows, and then the end, as TR_ECANCELED */
    bool refused;        /* a disk refused this operation */
    uint64_t refused_ns; /* when it did so first */
};

void training_loop_init(struct training_loop *loop, const struct training_loop_plan *plan);

/* Takes what TRAINING_RESTORE gave; before training_loop_done(). */
void training_loop_restored(struct training_loop *loop, const struct training_position *at);

/* Takes what came of TRAINING_SHARE: is it the best so far? Before training_loop_done(). */
void training_loop_scored(struct training_loop *loop, bool best);

/* A wish as a number that travels in a sum of floats, and the largest wish of such a sum of up to
 * 2^20 trainers. */
float training_wish_write(enum training_wish wish);
enum training_wish training_wish_read(float sum);

/* All trainers stop where they stand, behind a checkpoint. Before training_loop_done() of
 * TRAINING_REDUCE or TRAINING_SUM, which all are through then. */
void training_loop_leave(struct training_loop *loop);

/* The operation ended with 0 or TR_E*. */
void training_loop_done(struct training_loop *loop, int code, uint64_t now_ns);

/* For display. */
const char *training_operation_name(enum training_operation operation);

#endif
