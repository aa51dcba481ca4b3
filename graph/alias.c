/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/alias.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/subset.h"

#define COIN 4294967296.0 /* 2^32 */

int alias_weights_check(const char *name, enum tr_dtype dtype, uint64_t width, const char *where,
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
    default: /* alias_weights_check() refused it */
        return NAN;
    }
}

double alias_weight(const struct feature_table *weights, const struct feature_table *mask,
                    uint64_t position)
{
    bool allowed = mask == NULL || ((const uint8_t *)mask->rows)[position] != 0;
    return allowed ? read_weight(weights, position) : 0;
}

/* One row while it is filled. */
struct alias_filling {
    struct alias_cell *cells;
    double *shares;          /* [degree], in cells: the row's weights times degree / total */
    uint32_t *small, *large; /* [degree], positions whose share is below 1, and others */
    uint32_t num_small, num_large;
};

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

/* The weights, checked, into the shares. */
static int read_row(const struct edge_part *edges, const struct feature_table *weights,
                    const struct feature_table *mask, uint64_t row, uint32_t part,
                    struct alias_filling *fill, struct alias_row *out, struct error *error)
{
    const struct csc *csc = &edges->csc;
    uint64_t begin = csc->index[row];
    uint32_t degree = (uint32_t)(csc->index[row + 1] - begin);
    *out = (struct alias_row){ .total = 0 };
    for (uint32_t i = 0; i < degree; i++) {
        double weight = read_weight(weights, begin + i);
        /* Checked whether the mask allows it or not: what is refused depends on the graph alone. */
        if (!(weight >= 0) || weight > DBL_MAX)
            return refuse_weight(edges, weights, begin + i, weight, part, error);
        if (mask != NULL && ((const uint8_t *)mask->rows)[begin + i] == 0)
            weight = 0;
        fill->shares[i] = weight;
        out->total += weight;
        out->positives += weight > 0;
    }
    if (out->total > DBL_MAX)
        return error_set(error, TR_EINVAL,
                         "partition %" PRIu32 ": the weights \"%s\" of the edges %" PRIu64
                         " to %" PRIu64 ", of one node, add up to more than a double holds",
                         part, weights->name, csc->first_edge + begin,
                         csc->first_edge + begin + degree - 1);
    return 0;
}

/* Thresholds stay apart from those of weight 0, also where they round to 0. */
static uint32_t threshold_of(double share)
{
    double scaled = share * COIN + 0.5;
    if (scaled >= COIN - 1)
        return UINT32_MAX;
    return scaled < 1 ? 1 : (uint32_t)scaled;
}

static void fill_row(struct alias_filling *fill, uint32_t degree, const struct alias_row *row)
{
    uint32_t heaviest = 0;
    fill->num_small = fill->num_large = 0;
    for (uint32_t i = 0; i < degree; i++) {
        heaviest = fill->shares[i] > fill->shares[heaviest] ? i : heaviest;
        /* Dividing first keeps a product of large weights finite. */
        bool zero = fill->shares[i] == 0;
        fill->shares[i] = fill->shares[i] / row->total * degree;
        fill->cells[i] = (struct alias_cell){ zero ? 0 : UINT32_MAX, i };
        if (fill->shares[i] < 1)
            fill->small[fill->num_small++] = i;
        else
            fill->large[fill->num_large++] = i;
    }
    while (fill->num_small > 0 && fill->num_large > 0) {
        uint32_t s = fill->small[--fill->num_small], l = fill->large[fill->num_large - 1];
        if (fill->cells[s].threshold != 0)
            fill->cells[s].threshold = threshold_of(fill->shares[s]);
        fill->cells[s].other = l;
        fill->shares[l] = (fill->shares[l] + fill->shares[s]) - 1;
        if (fill->shares[l] < 1) {
            fill->num_large--;
            fill->small[fill->num_small++] = l;
        }
    }
    /* What is left has a share of 1 but for rounding, and keeps its whole cell. Those of weight 0
     * that rounding left over must not. */
    while (fill->num_small > 0) {
        uint32_t s = fill->small[--fill->num_small];
        if (fill->cells[s].threshold == 0)
            fill->cells[s].other = heaviest;
    }
}

static uint64_t longest_row(const struct csc *csc, uint64_t first, uint64_t end)
{
    uint64_t longest = 0;
    for (uint64_t row = first; row < end; row++) {
        uint64_t degree = csc->index[row + 1] - csc->index[row];
        longest = degree > longest ? degree : longest;
    }
    return longest;
}

int alias_reserve(const struct csc *csc, uint64_t first, uint64_t end, struct vec *scratch)
{
    uint64_t longest = longest_row(csc, first, end);
    if (longest > SUBSET_DEGREE_MAX)
        return TR_ETOOBIG;
    return vec_reserve(scratch, longest + 1, sizeof(double) + 2 * sizeof(uint32_t), 0);
}

int alias_fill(const struct alias_tables *tables, const struct edge_part *edges,
               const struct feature_table *weights, const struct feature_table *mask,
               uint64_t first, uint64_t end, uint32_t part, const struct vec *scratch,
               struct error *error)
{
    const struct csc *csc = &edges->csc;
    uint64_t longest = longest_row(csc, first, end);
    struct alias_filling fill = { .shares = scratch->data };
    fill.small = (uint32_t *)(fill.shares + longest);
    fill.large = fill.small + longest;
    for (uint64_t row = first; row < end; row++) {
        uint64_t begin = csc->index[row];
        int rv = read_row(edges, weights, mask, row, part, &fill, &tables->rows[row], error);
        if (rv != 0)
            return rv;
        fill.cells = tables->cells + begin;
        if (tables->rows[row].positives > 0)
            fill_row(&fill, (uint32_t)(csc->index[row + 1] - begin), &tables->rows[row]);
    }
    return 0;
}
