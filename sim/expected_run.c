/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/expected_run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/digest.h"
#include "graph/key.h"

static float drawn(uint64_t key, uint32_t i)
{
    return (float)((int64_t)(key_mix(key + i * KEY_STEP) % 2001) - 1000) / 1024;
}

void expected_run_begin(const struct fleet_plan *plan, float *weights)
{
    for (uint32_t i = 0; i < plan->values; i++)
        weights[i] = drawn(plan->seed, i);
}

void expected_run_learn(const struct fleet_plan *plan, const float *weights, uint64_t digest,
                        float *values)
{
    float loss = 0;
    for (uint32_t i = 0; i < plan->values; i++) {
        values[i] = drawn(digest, i) + weights[i] * 0.3f;
        loss += values[i] * values[i];
    }
    values[plan->values] = loss;
}

void expected_run_apply(const struct fleet_plan *plan, float *weights, const float *sums)
{
    for (uint32_t i = 0; i < plan->values; i++)
        weights[i] -= 0.1f * sums[i];
}

uint64_t expected_run_hash(const struct fleet_plan *plan, const float *weights)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < plan->values; i++) {
        uint32_t bits;
        memcpy(&bits, &weights[i], sizeof bits);
        hash = key_mix(hash + KEY_STEP + bits);
    }
    return hash;
}

static struct wanted_loader loader_of(const struct fleet_plan *plan, uint32_t rank)
{
    struct wanted_loader loader = plan->loader;
    loader.open.rank = rank;
    return loader;
}

static uint64_t digest_of(struct expected_run *expected, uint32_t rank, uint64_t step)
{
    const struct fleet_plan *plan = expected->plan;
    const struct wanted_loader loader = loader_of(plan, rank);
    struct mini_batch batch;
    uint64_t digest;
    reference_build(&expected->reference, &loader, (uint32_t)(step / plan->steps_epoch),
                    step % plan->steps_epoch, &batch);
    int rv = batch_digest(&batch, &digest);
    assert(rv == 0);
    return digest;
}

static void take_step(struct expected_run *expected, uint64_t step, float *weights, float *sums,
                      float *values)
{
    const struct fleet_plan *plan = expected->plan;
    for (uint32_t rank = 0; rank < plan->plan.trainers; rank++) {
        expected_run_learn(plan, weights, digest_of(expected, rank, step),
                           rank == 0 ? sums : values);
        for (uint32_t i = 0; rank > 0 && i <= plan->values; i++)
            sums[i] += values[i];
    }
    expected_run_apply(plan, weights, sums);
    expected->losses[step] = sums[plan->values];
    expected->hashes[step + 1] = expected_run_hash(plan, weights);
}

void expected_run_init(struct expected_run *expected, const struct fleet_plan *plan)
{
    size_t count = plan->values + (size_t)1;
    *expected = (struct expected_run){ .plan = plan };
    reference_init(&expected->reference, &plan->raw);
    expected->hashes = calloc(plan->steps + 1, sizeof *expected->hashes);
    expected->losses = calloc(plan->steps + 1, sizeof *expected->losses);
    float *memory = calloc(3 * count, sizeof *memory);
    assert(expected->hashes != NULL && expected->losses != NULL && memory != NULL);
    expected_run_begin(plan, memory);
    expected->hashes[0] = expected_run_hash(plan, memory);
    for (uint64_t step = 0; step < plan->steps; step++)
        take_step(expected, step, memory, memory + count, memory + 2 * count);
    free(memory);
}

void expected_run_fini(struct expected_run *expected)
{
    reference_fini(&expected->reference);
    free(expected->hashes);
    free(expected->losses);
}

int expected_run_check(struct expected_run *expected, const struct sim_partitions *partitions,
                       uint32_t rank, uint64_t step, const struct mini_batch *batch,
                       uint64_t *digest, struct error *error)
{
    const struct fleet_plan *plan = expected->plan;
    const struct wanted_loader loader = loader_of(plan, rank);
    int rv = reference_check(&expected->reference, partitions, &loader,
                             (uint32_t)(step / plan->steps_epoch), step % plan->steps_epoch, batch,
                             error);
    return rv != 0 ? rv : batch_digest(batch, digest);
}
