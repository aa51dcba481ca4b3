/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training loop (training_loop.h), performed with blocking calls: epochs of steps over
 * somebody's batches, an evaluation after each, early stopping, the best weights kept.
 *
 * It knows nothing of where batches come from (struct batch_source), how evaluation is done,
 * what becomes of a report, or what time it is: all are hooks, so the same loop runs over
 * actors and in tests.
 *
 * Ownership: everything is borrowed for the duration of trainer_run. Thread rules: hooks are
 * called on the calling thread.
 */
#ifndef MODEL_TRAINER_H
#define MODEL_TRAINER_H

#include "model/model.h"
#include "model/scores.h"
#include "model/training_loop.h"

/* Embedded in whatever makes batches. */
struct batch_source {
    int (*start_epoch)(struct batch_source *self, uint32_t epoch, struct error *error);
    /* 0 and a batch, or TR_EEND after the last of the epoch, or an error. */
    int (*next)(struct batch_source *self, const struct mini_batch **batch, struct error *error);
    void (*release)(struct batch_source *self, const struct mini_batch *batch);
    /* The same as start_epoch, from a step on; for runs that may be resumed. */
    int (*start_at)(struct batch_source *self, uint32_t epoch, uint64_t step, struct error *error);
};

struct epoch_report {
    uint32_t epoch; /* from 0 */
    uint64_t steps;
    uint64_t seeds;    /* labelled */
    double rate;       /* learning rate */
    double train_loss; /* mean over labelled seeds of the epoch, NaN without any */
    bool evaluated;
    struct scores scores; /* of the evaluation; else all NaN */
    bool best;            /* so far */
    double seconds;       /* 0 without a clock */
};

struct trainer_result {
    uint32_t epochs_run;
    bool stopped_early;
    bool has_best;
    uint32_t best_epoch;
    struct scores best;
    double last_train_loss;
};

/* Any hook may be NULL. training_loop.h says what a negative result of one means. */
struct trainer_hooks {
    void *arg;
    /* The bytes that were saved last (NULL: none, all begins anew), until the next call of a hook.
     * NULL: those of the plan. */
    int (*restore)(void *arg, const void **bytes, size_t *count, struct error *error);
    int (*evaluate)(void *arg, struct model *model, struct scores *scores, struct error *error);
    int (*epoch_done)(void *arg, const struct epoch_report *report, struct error *error);
    /* Adds up values over trainers, in rank order, in place. NULL: there is one. */
    int (*reduce)(void *arg, float *values, size_t count, struct error *error);
    /* Keeps bytes from which the run can go on after that many steps (plan->save_every). */
    int (*save)(void *arg, uint64_t steps, const void *bytes, size_t count, struct error *error);
    /* The owner's mark of where it stands, kept with the bytes and given back before the run goes
     * on (0: from the start), so that what it wrote since can be taken back. */
    uint64_t (*mark)(void *arg);
    int (*rewind)(void *arg, uint64_t mark, struct error *error);
    void (*step_done)(void *arg, uint32_t epoch, uint64_t step, double loss);
    /* Writes the weights of the best evaluation so far. */
    int (*keep_best)(void *arg, struct model *model, const float *weights, struct error *error);
    int (*meet)(void *arg, struct error *error);
    /* The model is what came of it: it is written, then scored on what it never saw, then the run
     * is complete. Where a disk refuses one of them all three are called again: what is done is not
     * done twice. */
    int (*keep)(void *arg, struct error *error);
    int (*test)(void *arg, struct error *error); /* computes, as evaluate does */
    int (*kept)(void *arg, const struct trainer_result *result, struct error *error);
    int (*finish)(void *arg, struct error *error);
    /* A disk refused that operation: it is gone on without, or tried again for left_ns; or the run
     * ends with it (given_up), then the hook may say in error what is lost. */
    void (*refused)(void *arg, enum training_operation operation, uint64_t left_ns, bool given_up,
                    struct error *error);
    /* From now on the thread computes and waits for nobody, or no longer. */
    void (*computing)(void *arg, bool begins);
    bool (*cancelled)(void *arg); /* asked after each step: TR_ECANCELED */
    /* Asked at each step and at the end of each epoch: is this trainer to stop behind a checkpoint?
     * The answers of all travel with what is reduced there, so that all save at the same place, and
     * end with TR_ECANCELED. */
    enum training_wish (*wish)(void *arg);
    /* That checkpoint is made, for the largest wish of all: this trainer ends. */
    void (*left)(void *arg, enum training_wish wish);
    bool (*wait)(void *arg, uint64_t ns); /* false: it was cancelled meanwhile */
    uint64_t (*now_ns)(void *arg);
};

struct trainer_plan {
    uint32_t epochs;
    uint32_t patience;       /* evaluations without a better one before it stops; 0: never */
    uint32_t evaluate_every; /* epochs, 0 = 1; the last epoch is always evaluated */
    uint32_t rank, world;    /* of this trainer; world 0: 1. Rank 0 evaluates for all. */
    uint64_t save_every;     /* steps; 0: never */
    uint64_t patience_ns;    /* with a disk that takes nothing; 0, or no now_ns hook: none */
    bool grouped;            /* goes back with its group, where the restore hook takes it */
    uint64_t job;            /* what the saved bytes belong to */
    const void *saved;       /* bytes to go on from; NULL: from the start */
    size_t saved_count;
};

/* Trains; at the end the model has the weights of the best evaluation, or the last ones where
 * there is none. */
int trainer_run(struct model *model, struct batch_source *source, const struct trainer_plan *plan,
                const struct trainer_hooks *hooks, struct trainer_result *result,
                struct error *error);

/* Forward over one epoch of a source of labelled batches, without dropout. */
int trainer_evaluate(struct model *model, struct batch_source *source, uint32_t epoch,
                     struct scores *scores, struct error *error);

#endif
