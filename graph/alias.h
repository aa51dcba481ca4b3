/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alias tables: draws of a row's edges in proportion to their weights, each by one random number
 * and one look-up, however long the row is.
 *
 * A row of d edges has d cells. A draw picks a cell evenly and a coin of 32 bits: below the cell's
 * threshold it is the cell's own edge, else the other one (Walker: "An efficient method for
 * generating discrete random variables with general distributions", TOMS 1977; filled by Vose's
 * method, "A linear algorithm for generating random numbers with a given distribution", IEEE TSE
 * 1991). Thresholds are rounded, so a probability is off by 2^-32 of the whole row at most, and by
 * 2^-33 / d for each of the cells that lead to it. An edge of weight 0 has threshold 0, any other
 * one at least 1, and no cell leads to an edge of weight 0.
 *
 * Tables take 8 bytes an edge and 16 a row. Only + - * / of doubles make them, in the order of the
 * edges, so they are the same on every machine and every placement.
 *
 * Thread rules: pure; rows that differ may be filled at once.
 */
#ifndef GRAPH_ALIAS_H
#define GRAPH_ALIAS_H

#include <stdint.h>

#include "graph/key.h"
#include "graph/part.h"
#include "graph/vec.h"
#include "runtime/base/error.h"

struct alias_cell {
    uint32_t threshold;
    uint32_t other; /* position in the row */
};

struct alias_row {
    double total; /* of the weights */
    uint32_t positives;
    uint32_t zero;
};

struct alias_tables {
    struct alias_cell *cells; /* [num_edges], as the edges of the CSC */
    struct alias_row *rows;   /* [num_rows] */
};

/* Whether a table of edges can be weights: one number an edge. TR_EINVAL names it. */
int alias_weights_check(const char *name, enum tr_dtype dtype, uint64_t width, const char *where,
                        struct error *error);

/* The weight of the edge at that position of the partition; 0 where the mask, which may be NULL,
 * does not allow it. */
double alias_weight(const struct feature_table *weights, const struct feature_table *mask,
                    uint64_t position);

/* The scratch memory that rows [first, end) take. TR_ENOMEM, TR_ETOOBIG (a row of 2^32 - 1 edges or
 * more). */
int alias_reserve(const struct csc *csc, uint64_t first, uint64_t end, struct vec *scratch);

/* Fills these rows of the tables, with the scratch that was reserved for them. TR_EINVAL names
 * partition, feature, edge and value of a weight that is no number, negative or infinite, and a row
 * whose weights add up to more than a double holds. */
int alias_fill(const struct alias_tables *tables, const struct edge_part *edges,
               const struct feature_table *weights, const struct feature_table *mask,
               uint64_t first, uint64_t end, uint32_t part, const struct vec *scratch,
               struct error *error);

/* The cell that the next draw of a row picks, in the upper half, and the coin, in the lower one. */
static inline uint64_t alias_aim(uint64_t row_key, uint64_t *draw, uint32_t degree)
{
    /* As key_below(): the cell is even, without bias; what is left of the product is the coin. */
    unsigned __int128 product = (unsigned __int128)key_draw(row_key, (*draw)++) * degree;
    if (__builtin_expect((uint64_t)product < degree, 0)) {
        uint64_t threshold = -(uint64_t)degree % degree;
        while ((uint64_t)product < threshold)
            product = (unsigned __int128)key_draw(row_key, (*draw)++) * degree;
    }
    return (uint64_t)(product >> 64) << 32 | (uint64_t)product >> 32;
}

static inline uint32_t alias_take(const struct alias_cell *row, uint64_t aimed)
{
    uint32_t cell = (uint32_t)(aimed >> 32);
    return (uint32_t)aimed < row[cell].threshold ? cell : row[cell].other;
}

#endif
