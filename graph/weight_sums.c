/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/weight_sums.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/quads.h"

int weights_check(const char *name, enum tr_dtype dtype, uint64_t width, const char *where,
                  struct error *error)
{
    bool number = dtype != TR_F16 && dtype != TR_BF16;
    if (number && width == 1)
        return 0;
    return error_set(error, TR_EINVAL,
                     "%s: weights \"%s\" have %" PRIu64
                     " of %s for an edge; weights have one float32, float64 or integer",
                     where, name, width, tr_dtype_name(dtype));
}

#define READ(type) ((double)((const type *)table->rows)[position])

static double read_weight(const struct feature_table *table, uint64_t position)
{
    switch (table->dtype) {
    case TR_F32:
        return READ(float);
    case TR_F64:
        return READ(double);
    case TR_I8:
        return READ(int8_t);
    case TR_I16:
        return READ(int16_t);
    case TR_I32:
        return READ(int32_t);
    case TR_I64:
        return READ(int64_t);
    case TR_U8:
    case TR_BOOL:
        return READ(uint8_t);
    default: /* weights_check() refused it */
        return NAN;
    }
}

double weight_at(const struct feature_table *weights, const struct feature_table *mask,
                 uint64_t position)
{
    bool allowed = mask == NULL || ((const uint8_t *)mask->rows)[position] != 0;
    return allowed ? read_weight(weights, position) : 0;
}

/* By its global ID, and by its original ID where the partition knows it, as its user does. */
static int refuse_weight(const struct edge_part *edges, const struct feature_table *weights,
                         uint64_t at, double weight, uint32_t part, struct error *error)
{
    char original[64] = "";
    if (edges->original_edge_ids != NULL)
        snprintf(original, sizeof original, ", with the original ID %" PRIu64 ",",
                 edges->original_edge_ids[at]);
    return error_set(error, TR_EINVAL,
                     "partition %" PRIu32 ": weight \"%s\" of edge %" PRIu64
                     "%s is %g; weights are finite numbers, 0 or more",
                     part, weights->name, edges->csc.first_edge + at, original, weight);
}

/* Checks the weights of a row, whether the mask allows them or not: what is refused depends on the
 * graph alone. Adds up those that it allows, and counts those of them that are positive. */
static int add_up(const struct edge_part *edges, const struct feature_table *weights,
                  const struct feature_table *mask, uint64_t row, uint32_t part, double *total,
                  uint32_t *positives, struct error *error)
{
    const struct csc *csc = &edges->csc;
    uint64_t begin = csc->index[row], end = csc->index[row + 1];
    *total = 0;
    *positives = 0;
    if (end - begin > WEIGHT_DEGREE_MAX)
        return error_set(error, TR_ETOOBIG,
                         "partition %" PRIu32 ": a node has %" PRIu64 " edges; of at most %" PRIu64
                         " they can be drawn by weights",
                         part, end - begin, WEIGHT_DEGREE_MAX);
    for (uint64_t e = begin; e < end; e++) {
        double weight = read_weight(weights, e);
        if (!(weight >= 0) || weight > DBL_MAX)
            return refuse_weight(edges, weights, e, weight, part, error);
        if (mask != NULL && ((const uint8_t *)mask->rows)[e] == 0)
            continue;
        *total += weight;
        *positives += weight > 0;
    }
    if (*total > DBL_MAX)
        return error_set(error, TR_EINVAL,
                         "partition %" PRIu32 ": the weights \"%s\" of the edges %" PRIu64
                         " to %" PRIu64 ", of one node, add up to more than a double holds",
                         part, weights->name, csc->first_edge + begin, csc->first_edge + end - 1);
    return 0;
}

/* Where the run of coins of an edge ends that has the share [.., sum) of the row's weights. It has one
 * coin at least, and leaves one to each of those behind it. */
static int64_t end_of_run(double share, int64_t before, uint32_t behind)
{
    int64_t end = (int64_t)(share * (double)WEIGHT_COINS + 0.5), most = WEIGHT_COINS - behind;
    end = end > before ? end : before + 1;
    return end < most ? end : most;
}

static void fill_ends(int32_t *ends, const struct feature_table *weights,
                      const struct feature_table *mask, uint64_t begin, uint64_t degree,
                      double total, uint32_t positives)
{
    double sum = 0;
    int64_t end = 0;
    for (uint64_t i = 0; i < degree; i++) {
        double weight = weight_at(weights, mask, begin + i);
        sum += weight;
        if (weight > 0)
            end = end_of_run(sum / total, end, --positives);
        ends[i] = (int32_t)(end - 1);
    }
}

/* The first coin of a part is the least whose weight_guide() is that part. */
static void fill_guides(uint32_t *guides, uint32_t num_guides, const int32_t *ends)
{
    uint32_t position = 0;
    for (uint64_t guide = 0; guide < num_guides; guide++) {
        int64_t first = (int64_t)(((guide << 31) + num_guides - 1) / num_guides);
        while (ends[position] < first)
            position++;
        guides[guide] = position;
    }
}

int weight_sums_fill(const struct weight_sums *sums, const struct edge_part *edges,
                     const struct feature_table *weights, const struct feature_table *mask,
                     uint64_t first, uint64_t end, uint32_t part, struct error *error)
{
    const struct csc *csc = &edges->csc;
    for (uint64_t row = first; row < end; row++) {
        uint64_t begin = csc->index[row], degree = csc->index[row + 1] - begin;
        uint32_t *positives = &sums->positives[row], num_guides = weight_num_guides(degree);
        double total;
        int rv = add_up(edges, weights, mask, row, part, &total, positives, error);
        if (rv != 0)
            return rv;
        fill_ends(sums->ends + begin, weights, mask, begin, degree, total, *positives);
        if (*positives > 0)
            fill_guides(sums->guides + begin / WEIGHT_GUIDED, num_guides, sums->ends + begin);
    }
    return 0;
}

uint32_t weight_edge(const struct weight_row *row, int32_t coin)
{
    uint32_t low = 0, left = row->degree;
    if (row->num_guides > 0) {
        uint32_t guide = weight_guide(row, coin);
        low = row->guides[guide];
        left = (guide + 1 < row->num_guides ? row->guides[guide + 1] : row->degree - 1) - low + 1;
    }
    /* Without a branch on the coin, which would be guessed wrong every other time. */
    while (left > 1) {
        uint32_t half = left / 2;
        low += half & -(uint32_t)(row->ends[low + half - 1] < coin);
        left -= half;
    }
    return low;
}

/* As many ends are below a coin as edges are before its. All coins are compared with one end after the
 * other, a vector of coins in one operation. */
#define VARIANT(suffix, attribute, vector)                                           \
    attribute static void count_##suffix(const int32_t *ends, uint32_t degree,       \
                                         const int32_t *coins, uint32_t *edges)      \
    {                                                                                \
        enum { LANES = sizeof(vector) / sizeof *coins };                             \
        enum { VECTORS = WEIGHT_COINS_AT_ONCE / LANES };                             \
        vector wanted[VECTORS], below[VECTORS];                                      \
        UNROLL for (size_t v = 0; v < VECTORS; v++)                                  \
        {                                                                            \
            memcpy(&wanted[v], coins + v * LANES, sizeof(vector));                   \
            below[v] = (vector){ 0 };                                                \
        }                                                                            \
        for (uint32_t e = 0; e < degree; e++) {                                      \
            const vector end = ends[e] - (vector){ 0 };                              \
            UNROLL for (size_t v = 0; v < VECTORS; v++) below[v] -= wanted[v] > end; \
        }                                                                            \
        UNROLL for (size_t v = 0; v < VECTORS; v++)                                  \
            memcpy(edges + v * LANES, &below[v], sizeof(vector));                    \
    }

VARIANT(base, , quad)
#ifdef __x86_64__
typedef int32_t eight __attribute__((vector_size(32)));
VARIANT(avx2, __attribute__((target("avx2"))), eight)
#endif

static void find_in_short(const struct weight_row *row, const int32_t *coins, uint32_t *edges)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        count_avx2(row->ends, row->degree, coins, edges);
        return;
    }
#endif
    count_base(row->ends, row->degree, coins, edges);
}

void weight_edges(const struct weight_row *row, uint64_t row_key, uint32_t count, uint32_t *edges)
{
    for (uint32_t first = 0; first < count; first += WEIGHT_COINS_AT_ONCE) {
        int32_t coins[WEIGHT_COINS_AT_ONCE];
        for (uint32_t i = 0; i < WEIGHT_COINS_AT_ONCE; i += 2) {
            uint64_t drawn = key_draw(row_key, (first + i) / 2);
            coins[i] = (int32_t)(drawn >> 33);
            coins[i + 1] = (int32_t)(drawn & INT32_MAX);
        }
        if (row->num_guides == 0)
            find_in_short(row, coins, edges + first);
        else
            for (uint32_t i = 0; i < WEIGHT_COINS_AT_ONCE; i++)
                edges[first + i] = weight_edge(row, coins[i]);
    }
}
