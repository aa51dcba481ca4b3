/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix with a row for each node of a whole graph, by original ID, wherever its rows lie.
 *
 * Ownership: a view; it borrows everything. Thread rules: any thread may read it.
 */
#ifndef MODEL_EXACT_ROWS_H
#define MODEL_EXACT_ROWS_H

#include <string.h>

#include "graph/part.h"
#include "model/node_map.h"

/* The non-zero elements of each row, in the order of their columns. */
struct sparse_rows {
    const uint64_t *index;   /* [num_nodes + 1] */
    const uint32_t *columns; /* [index[num_nodes]] */
    const float *values;     /* [index[num_nodes]] */
};

/* Exactly one of dense, sparse and tables holds the rows, in the order of these checks. */
struct exact_rows {
    size_t width;
    const float *dense;                        /* [num_nodes][width], or NULL */
    const struct sparse_rows *sparse;          /* or NULL */
    const struct feature_table *const *tables; /* [num_parts], float32 as partitions store them */
    const struct node_map *map;                /* for tables */
};

/* Where a feature row lies as partitions store it, in the type of its table. */
static inline const void *exact_stored_row(const struct exact_rows *rows, uint32_t original)
{
    struct node_place place = rows->map->places[original];
    const struct feature_table *table = rows->tables[place.part];
    return (const char *)table->rows + (size_t)place.row * table->row_bytes;
}

/* One row of a matrix that is not sparse. */
static inline const float *exact_row(const struct exact_rows *rows, uint32_t original)
{
    if (rows->dense != NULL)
        return rows->dense + (size_t)original * rows->width;
    return exact_stored_row(rows, original);
}

#endif
