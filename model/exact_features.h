/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features of a whole graph as exact inference reads them, prepared once for many passes.
 *
 * Dense float32 rows that need no normalising are read where partitions store them. Otherwise there
 * is a copy, converted, normalised and standardised: dense, or, where the input layer multiplies
 * before it aggregates and at most one element in EXACT_SPARSE_SHARE differs from zero, as bags of
 * words do, of the non-zero elements alone.
 *
 * Memory: nothing in place; nodes x width x 4 bytes dense; 8 bytes a non-zero element and 8 a
 * node sparse, which is at most a quarter of the dense size for each element.
 *
 * Ownership: embedded; owns its copy, borrows the partitions and the node map. Thread rules:
 * one thread prepares; any thread may then read the rows.
 */
#ifndef MODEL_EXACT_FEATURES_H
#define MODEL_EXACT_FEATURES_H

#include "model/exact_rows.h"
#include "model/model.h"
#include "model/tensor.h"

/* A product over stored elements costs about that many times one of the BLAS per element. */
#define EXACT_SPARSE_SHARE 8

struct exact_features {
    const struct feature_table **tables; /* [num_parts] */
    struct tensor dense;
    struct sparse_rows sparse;
    struct storage index, columns, values; /* of sparse */
    struct exact_rows rows;
};

/* name is unused where the model takes no features. TR_ENOENT, TR_EMISMATCH, TR_ENOMEM,
 * TR_ETOOBIG. After a failure only exact_features_fini may follow. */
int exact_features_init(struct exact_features *features, struct model *model,
                        const struct node_map *map, const struct graph_part *const *parts,
                        uint32_t num_parts, const char *name, struct error *error);
/* A row of a table, dense or sparse, as float32: [table->width]. */
void exact_features_row(const struct feature_table *table, uint64_t row, float *to);
void exact_features_fini(struct exact_features *features);

#endif
