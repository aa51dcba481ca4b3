/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link_loss.h"

#include <math.h>
#include <stdlib.h>

/* Pairs that one thread takes at a time, and columns. */
#define PAIRS_AT_ONCE 64u
#define COLUMNS_AT_ONCE 16u
/* Sums that run beside each other, so that each waits less for its last addition. */
#define SUMS 4u

double link_score(const float *a, const float *b, uint32_t width)
{
    double sums[SUMS] = { 0 };
    uint32_t i = 0;
    for (; i + SUMS <= width; i += SUMS)
        for (uint32_t s = 0; s < SUMS; s++)
            sums[s] += (double)a[i + s] * (double)b[i + s];
    for (; i < width; i++)
        sums[0] += (double)a[i] * (double)b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double link_entropy(double score, bool edge)
{
    double x = edge ? -score : score;
    /* log(1 + e^x) without overflow for either sign of x. */
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

int link_loss_check(const struct mini_batch *batch, uint32_t seeds, struct error *error)
{
    static const struct batch_pairs none = { 0 };
    const struct batch_pairs *pairs = batch->num_pair_types == 1 ? batch->pairs : &none;
    const struct negatives_rule *rule = &pairs->negatives_rule;
    if (rule->each == 0 || rule->of != NEGATIVES_OF_PAIR || rule->ends != NEGATIVE_DESTINATIONS ||
        pairs->count_negatives != (uint64_t)pairs->count * rule->each)
        return error_set(error, TR_EMISMATCH,
                         "batch: a model of links learns from pairs that have negatives of their "
                         "own, with another destination; open the loader with links");
    if (batch->step_seeds < pairs->count)
        return error_set(error, TR_EMISMATCH, "batch: %u pairs in a step of %u over all trainers",
                         pairs->count, batch->step_seeds);
    bool inside = true;
    for (uint32_t i = 0; i < pairs->count; i++)
        inside = inside && pairs->sources[i] < seeds && pairs->destinations[i] < seeds;
    for (uint32_t i = 0; i < pairs->count_negatives; i++)
        inside = inside && pairs->negatives[i] < seeds;
    return inside ? 0
                  : error_set(error, TR_EMISMATCH,
                              "batch: the end of a pair is none of its %u seeds", seeds);
}

struct link_job {
    const float *outputs;
    uint32_t seeds, width;
    const struct batch_pairs *pairs;
    double divisor;
    float *grads;
    float *slopes;   /* [pairs][1 + negatives], of the losses by the scores */
    double *partial; /* [blocks] */
};

static const float *output_of(const struct link_job *job, uint32_t seed)
{
    return job->outputs + (size_t)seed * job->width;
}

/* The other end of pair i: its destination, then its negatives. */
static uint32_t other_end(const struct batch_pairs *pairs, uint32_t i, uint32_t j)
{
    return j == 0 ? pairs->destinations[i]
                  : pairs->negatives[(size_t)i * pairs->negatives_rule.each + j - 1];
}

static void score_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct link_job *job = arg;
    const struct batch_pairs *pairs = job->pairs;
    uint32_t each = 1 + pairs->negatives_rule.each, begin = (uint32_t)block * PAIRS_AT_ONCE;
    uint32_t end = pairs->count - begin < PAIRS_AT_ONCE ? pairs->count : begin + PAIRS_AT_ONCE;
    double sum = 0;
    for (uint32_t i = begin; i < end; i++) {
        const float *source = output_of(job, pairs->sources[i]);
        for (uint32_t j = 0; j < each; j++) {
            double score = link_score(source, output_of(job, other_end(pairs, i, j)), job->width);
            double slope = 1 / (1 + exp(-score)) - (j == 0);
            job->slopes[(size_t)i * each + j] = (float)(slope / each / job->divisor);
            sum += link_entropy(score, j == 0) / each;
        }
    }
    job->partial[block] = sum;
}

/* Every pair adds to some columns of the rows of its ends. */
static void gradient_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct link_job *job = arg;
    const struct batch_pairs *pairs = job->pairs;
    uint32_t each = 1 + pairs->negatives_rule.each, begin = (uint32_t)block * COLUMNS_AT_ONCE;
    uint32_t end = job->width - begin < COLUMNS_AT_ONCE ? job->width : begin + COLUMNS_AT_ONCE;
    for (uint32_t row = 0; row < job->seeds; row++)
        for (uint32_t c = begin; c < end; c++)
            job->grads[(size_t)row * job->width + c] = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        uint32_t source = pairs->sources[i];
        float *to_source = job->grads + (size_t)source * job->width;
        for (uint32_t j = 0; j < each; j++) {
            uint32_t other = other_end(pairs, i, j);
            float *to_other = job->grads + (size_t)other * job->width;
            float slope = job->slopes[(size_t)i * each + j];
            for (uint32_t c = begin; c < end; c++) {
                to_source[c] += slope * output_of(job, other)[c];
                to_other[c] += slope * output_of(job, source)[c];
            }
        }
    }
}

int link_loss_compute(struct parallel *parallel, const float *outputs, uint32_t seeds,
                      uint32_t width, const struct batch_pairs *pairs, double divisor, float *grads,
                      struct loss_sum *result)
{
    struct link_job job = { .outputs = outputs,
                            .seeds = seeds,
                            .width = width,
                            .pairs = pairs,
                            .divisor = divisor,
                            .grads = grads };
    size_t blocks = (pairs->count + PAIRS_AT_ONCE - 1) / PAIRS_AT_ONCE;
    size_t columns = (width + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
    *result = (struct loss_sum){ .labelled = pairs->count };
    job.partial = calloc(blocks + 1, sizeof *job.partial);
    job.slopes = calloc((size_t)pairs->count * (1 + (size_t)pairs->negatives_rule.each) + 1,
                        sizeof *job.slopes);
    int rc = job.partial == NULL || job.slopes == NULL ? TR_ENOMEM : 0;
    if (rc == 0) {
        parallel_for(parallel, blocks, score_block, &job);
        for (size_t i = 0; i < blocks; i++)
            result->sum += job.partial[i];
        /* The slopes of all pairs come first: a row has the ends of pairs of any block. */
        parallel_for(parallel, columns, gradient_block, &job);
    }
    free(job.partial);
    free(job.slopes);
    return rc;
}
