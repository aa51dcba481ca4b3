/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of weights: draws of a row's edges in proportion to their weights, each by a coin and a
 * search.
 *
 * A row has 2^31 coins. Edges have runs of them, one after the other, as long as their share of the
 * row's weight; an edge draws if the coin is in its run. `ends` has the last coin of each run, so the
 * edge of a coin is the first whose end is not below it. A run is rounded to whole coins, so a
 * probability is off by 2^-31 of the row at most, and by as much again for each edge of the row whose
 * share is smaller than one coin: it has one all the same. An edge of weight 0 has none.
 *
 * Long rows have a guide for each 16 edges (Chen and Asau: "On generating random variates from an
 * empirical distribution", AIIE Transactions 1974): the edge of the first coin of each of as many
 * equal parts. A coin's part says between which edges to search: among 17 in the mean, whatever the
 * weights are. Short rows are a few lines of memory, which are all read ahead.
 *
 * Sums take 4 bytes an edge, a quarter of a byte more for guides, and 4 a row. Only + - * / of
 * doubles make them, in the order of the edges, so they are the same on every machine and every
 * placement.
 *
 * Thread rules: pure; rows that differ may be filled at once.
 */
#ifndef GRAPH_WEIGHT_SUMS_H
#define GRAPH_WEIGHT_SUMS_H

#include <stdint.h>

#include "graph/key.h"
#include "graph/part.h"
#include "runtime/base/error.h"

#define WEIGHT_COINS (INT64_C(1) << 31)
/* Every edge of a row may have a coin. */
#define WEIGHT_DEGREE_MAX (UINT64_C(1) << 30)
/* Rows of more edges have guides. */
#define WEIGHT_SHORT_ROW 128u
#define WEIGHT_GUIDED 16u

struct weight_sums {
    int32_t *ends;       /* [num_edges]; before the first edge of positive weight, -1 */
    uint32_t *positives; /* [num_rows], edges of positive weight */
    /* [num_edges / WEIGHT_GUIDED] positions; those of a row whose edges begin at b are at
     * b / WEIGHT_GUIDED */
    uint32_t *guides;
};

/* The sums of one row. */
struct weight_row {
    const int32_t *ends;    /* [degree] */
    const uint32_t *guides; /* [num_guides] */
    uint32_t degree, num_guides;
};

/* Whether a table of edges can be weights: one number an edge. TR_EINVAL names it. */
int weights_check(const char *name, enum tr_dtype dtype, uint64_t width, const char *where,
                  struct error *error);

/* The weight of the edge at that position of the partition; 0 where the mask, which may be NULL,
 * does not allow it. */
double weight_at(const struct feature_table *weights, const struct feature_table *mask,
                 uint64_t position);

/* Fills the sums of rows [first, end). TR_EINVAL names partition, feature, edge and value of a weight
 * that is no number, negative or infinite, and a row whose weights add up to more than a double
 * holds; TR_ETOOBIG a row of more than WEIGHT_DEGREE_MAX edges. */
int weight_sums_fill(const struct weight_sums *sums, const struct edge_part *edges,
                     const struct feature_table *weights, const struct feature_table *mask,
                     uint64_t first, uint64_t end, uint32_t part, struct error *error);

static inline uint32_t weight_num_guides(uint64_t degree)
{
    return degree > WEIGHT_SHORT_ROW ? (uint32_t)(degree / WEIGHT_GUIDED) : 0;
}

static inline struct weight_row weight_row_at(const struct weight_sums *sums, uint64_t begin,
                                              uint64_t degree)
{
    return (struct weight_row){ .ends = sums->ends + begin,
                                .guides = sums->guides + begin / WEIGHT_GUIDED,
                                .degree = (uint32_t)degree,
                                .num_guides = weight_num_guides(degree) };
}

/* The coins that an edge has, which are its share of WEIGHT_COINS. */
static inline uint32_t weight_coins(const struct weight_row *row, uint32_t position)
{
    int64_t before = position == 0 ? -1 : row->ends[position - 1];
    return (uint32_t)(row->ends[position] - before);
}

/* The coin of a draw; one random number makes two. */
static inline int32_t weight_coin(uint64_t row_key, uint64_t draw)
{
    uint64_t drawn = key_draw(row_key, draw / 2);
    return (int32_t)(draw % 2 == 0 ? drawn >> 33 : drawn & INT32_MAX);
}

/* The part of the row that the coin is in, of a row with guides. */
static inline uint32_t weight_guide(const struct weight_row *row, int32_t coin)
{
    return (uint32_t)((uint64_t)coin * row->num_guides >> 31);
}

/* Coins that are looked for at once. */
#define WEIGHT_COINS_AT_ONCE 16u

/* The edges of the first `count` coins of a key, of a row that has edges of positive weight. There is
 * room for count edges rounded up to a multiple of WEIGHT_COINS_AT_ONCE. */
void weight_edges(const struct weight_row *row, uint64_t row_key, uint32_t count, uint32_t *edges);
/* The edge of one. */
uint32_t weight_edge(const struct weight_row *row, int32_t coin);

#endif
