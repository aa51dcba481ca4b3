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

static bool are_below(const uint32_t *positions, uint32_t count, uint32_t seeds)
{
    bool below = true;
    for (uint32_t i = 0; i < count; i++)
        below = below && positions[i] < seeds;
    return below;
}

int link_loss_check(const struct mini_batch *batch, uint32_t sources, uint32_t destinations,
                    struct error *error)
{
    static const struct batch_pairs none = { 0 };
    const struct batch_pairs *pairs = batch->num_pair_types == 1 ? batch->pairs : &none;
    const struct negatives_rule *rule = &pairs->negatives_rule;
    if (rule->each == 0 || rule->of != NEGATIVES_OF_PAIR ||
        pairs->count_negatives != (uint64_t)pairs->count * negatives_each(rule, PAIR_DESTINATION) ||
        pairs->count_negative_sources != (uint64_t)pairs->count * negatives_each(rule, PAIR_SOURCE))
        return error_set(error, TR_EMISMATCH,
                         "batch: a model of links learns from pairs that have negatives of their "
                         "own; open the loader with links");
    if (batch->step_seeds < pairs->count)
        return error_set(error, TR_EMISMATCH, "batch: %u pairs in a step of %u over all trainers",
                         pairs->count, batch->step_seeds);
    bool inside = are_below(pairs->sources, pairs->count, sources) &&
                  are_below(pairs->negative_sources, pairs->count_negative_sources, sources) &&
                  are_below(pairs->destinations, pairs->count, destinations) &&
                  are_below(pairs->negatives, pairs->count_negatives, destinations);
    return inside ? 0
                  : error_set(error, TR_EMISMATCH,
                              "batch: the end of a pair is none of its %u and %u seeds", sources,
                              destinations);
}

struct link_job {
    const struct link_ends *sources, *destinations;
    uint32_t width;
    const struct batch_pairs *pairs;
    double divisor;
    float *slopes;   /* [pairs][1 + negatives], of the losses by the scores */
    double *partial; /* [blocks] */
};

static size_t offset_of(const struct link_job *job, uint32_t seed)
{
    return (size_t)seed * job->width;
}

/* Where the ends of a pair are among the seeds. */
struct scored_pair {
    uint32_t source, destination;
};

/* Pair i itself, and then its negatives, which have an end of its own where none is drawn. */
static struct scored_pair scored_pair(const struct batch_pairs *pairs, uint32_t i, uint32_t j)
{
    const struct negatives_rule *rule = &pairs->negatives_rule;
    struct scored_pair pair = { pairs->sources[i], pairs->destinations[i] };
    if (j == 0)
        return pair;
    if (negative_has(rule, j - 1, PAIR_DESTINATION))
        pair.destination = pairs->negatives[(size_t)i * negatives_each(rule, PAIR_DESTINATION) +
                                            negative_place(rule, j - 1, PAIR_DESTINATION)];
    if (negative_has(rule, j - 1, PAIR_SOURCE))
        pair.source = pairs->negative_sources[(size_t)i * negatives_each(rule, PAIR_SOURCE) +
                                              negative_place(rule, j - 1, PAIR_SOURCE)];
    return pair;
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
        for (uint32_t j = 0; j < each; j++) {
            struct scored_pair pair = scored_pair(pairs, i, j);
            double score = link_score(job->sources->outputs + offset_of(job, pair.source),
                                      job->destinations->outputs + offset_of(job, pair.destination),
                                      job->width);
            double slope = 1 / (1 + exp(-score)) - (j == 0);
            job->slopes[(size_t)i * each + j] = (float)(slope / each / job->divisor);
            sum += link_entropy(score, j == 0) / each;
        }
    }
    job->partial[block] = sum;
}

static void clear_columns(const struct link_job *job, const struct link_ends *ends, uint32_t begin,
                          uint32_t end)
{
    for (uint32_t seed = 0; seed < ends->seeds; seed++)
        for (uint32_t c = begin; c < end; c++)
            ends->grads[offset_of(job, seed) + c] = 0;
}

/* Every pair adds to some columns of the rows of its ends. */
static void gradient_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct link_job *job = arg;
    const struct batch_pairs *pairs = job->pairs;
    uint32_t each = 1 + pairs->negatives_rule.each, begin = (uint32_t)block * COLUMNS_AT_ONCE;
    uint32_t end = job->width - begin < COLUMNS_AT_ONCE ? job->width : begin + COLUMNS_AT_ONCE;
    clear_columns(job, job->sources, begin, end);
    clear_columns(job, job->destinations, begin, end);
    for (uint32_t i = 0; i < pairs->count; i++) {
        for (uint32_t j = 0; j < each; j++) {
            struct scored_pair pair = scored_pair(pairs, i, j);
            size_t source = offset_of(job, pair.source);
            size_t destination = offset_of(job, pair.destination);
            float slope = job->slopes[(size_t)i * each + j];
            for (uint32_t c = begin; c < end; c++) {
                job->sources->grads[source + c] += slope *
                                                   job->destinations->outputs[destination + c];
                job->destinations->grads[destination + c] += slope *
                                                             job->sources->outputs[source + c];
            }
        }
    }
}

int link_loss_compute(struct parallel *parallel, const struct link_ends *sources,
                      const struct link_ends *destinations, uint32_t width,
                      const struct batch_pairs *pairs, double divisor, struct loss_sum *result)
{
    struct link_job job = { .sources = sources,
                            .destinations = destinations,
                            .width = width,
                            .pairs = pairs,
                            .divisor = divisor };
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
