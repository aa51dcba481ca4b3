/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One relation's share of a layer: what it gathers of the rows of its source type, for the
 * destinations that have edges of it.
 *
 * A term of sage and gcn gathers for every destination. Others gather for those alone that have an
 * edge of the relation: of many relations most have few destinations in a block, and products of
 * zeros would cost as much as others. The aggregates of those stand side by side, by destination.
 *
 * Ownership: a term belongs to a layer and keeps its memory from step to step; it points into the
 * block that it was prepared for. Thread rules: one thread prepares; rows may be computed by any.
 */
#ifndef MODEL_TERM_H
#define MODEL_TERM_H

#include "model/params.h"
#include "model/propagate.h"

struct attention;

struct term {
    const struct term_params *params;
    bool with_input;          /* whoever made the rows that it reads wants their gradients */
    struct propagation prop;  /* its destinations are the aggregates */
    const uint32_t *rows;     /* [prop.num_dst] the destination of each; NULL: its number */
    const uint32_t *begins;   /* [blocks + 1] where those of each block of destinations begin */
    struct block_edges dense; /* edges of destinations that have some */
    struct storage places;
    struct tensor aggregate;       /* [prop.num_dst][in] */
    struct tensor aggregate_grads; /* [prop.num_dst][in] */
    struct attention *attention;   /* gat: in the place of all of these; else NULL */
};

void term_fini(struct term *term);

/* Every destination has an aggregate. */
void term_take_all(struct term *term, const struct block_edges *edges, uint32_t num_src);
/* Those that have edges have one: their mean. TR_ENOMEM. */
int term_take_means(struct term *term, const struct block_edges *edges, uint32_t num_src);

/* The same of one-hot rows: sources are rows of the matrix, by original ID. */
int term_take_rows(struct term *term, const struct block_edges *edges,
                   const uint64_t *original_ids);

/* The gradient of row src of its source type, [width]. */
void term_gradient(const struct term *term, const struct kernels *kernels, uint32_t src,
                   size_t width, float *grad);

#endif
