/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result that training has to come to: pseudo-training, and its undisturbed run.
 *
 * A rank's gradient is a function of its batch's digest and the weights, so a batch that is wrong,
 * a sum in another order, a step done twice or a checkpoint of another step changes every weight
 * after it. The undisturbed run is computed here in a loop, without actors.
 *
 * Ownership: the struct owns its arrays and borrows the plan. Immutable after expected_run_init,
 * but for the scratch of `reference`. Thread rules: one thread.
 */
#ifndef SIM_EXPECTED_RUN_H
#define SIM_EXPECTED_RUN_H

#include "sim/fleet_plan.h"
#include "sim/reference.h"

struct expected_run {
    const struct fleet_plan *plan;
    struct reference reference;
    uint64_t *hashes; /* [steps + 1]: of the weights after so many steps */
    float *losses;    /* [steps]: summed over ranks */
};

void expected_run_init(struct expected_run *expected, const struct fleet_plan *plan);
void expected_run_fini(struct expected_run *expected);

/* weights[plan->values] before the first step. */
void expected_run_begin(const struct fleet_plan *plan, float *weights);

/* A rank's part of a step: values[plan->values + 1], the last of which is its loss. */
void expected_run_learn(const struct fleet_plan *plan, const float *weights, uint64_t digest,
                        float *values);

/* Applies the sums over ranks. */
void expected_run_apply(const struct fleet_plan *plan, float *weights, const float *sums);

uint64_t expected_run_hash(const struct fleet_plan *plan, const float *weights);

/* The rank's batch of a step is what it has to be: 0, or TR_EMISMATCH with a message. *digest is
 * that of the batch that came. */
int expected_run_check(struct expected_run *expected, const struct sim_partitions *partitions,
                       uint32_t rank, uint64_t step, const struct mini_batch *batch,
                       uint64_t *digest, struct error *error);

#endif
