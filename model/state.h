/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of a training run but its data, as bytes: what a checkpoint keeps of a trainer.
 *
 * Weights, the optimiser's moments, the best weights so far, and where the run stands. Numbers
 * drawn at random need no state: they are keyed. The bytes begin with what they belong to (a hash
 * of the job, the number of parameters), and a reader trusts no length.
 *
 * Ownership: state_write allocates, the caller frees. Thread rules: as the model's.
 */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include "model/trainer.h"

struct trainer_position {
    uint32_t epoch;
    uint32_t evaluations_since_best;
    uint64_t step;        /* steps of the epoch that are done */
    uint64_t steps;       /* of all epochs */
    uint64_t mark;        /* the owner's, such as how long its log was */
    struct loss_sum loss; /* of this trainer in this epoch */
    struct trainer_result result;
};

/* best: [parameters], read where result.has_best. TR_ENOMEM. */
int state_write(struct model *model, const float *best, const struct trainer_position *position,
                uint64_t job, void **bytes, size_t *count);

/* TR_EFORMAT: not such bytes; TR_EMISMATCH: of another job or model. Then nothing is changed. */
int state_read(struct model *model, float *best, struct trainer_position *position, uint64_t job,
               const void *bytes, size_t count, struct error *error);

/* The place of its run as a head says it; for display, unproved. */
#define STATE_HEAD_BYTES ((size_t)22 * 8)
struct state_facts {
    uint64_t job; /* the hash of what it belongs to */
    uint64_t params, epoch, step, steps;
};

/* Reads the first bytes, [STATE_HEAD_BYTES]. TR_EFORMAT: not such bytes. */
int state_look(const void *bytes, struct state_facts *facts);

#endif
