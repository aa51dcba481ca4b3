/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One node type's part of a layer over one block: forward, and backward to its weights and its
 * input.
 *
 *     forward    out = sum over terms of (aggregate of the source type's rows) W_term^T
 *                + own rows W_self^T (residual: + own rows; normed: normalised and scaled), then
 *                bias,
 *                and relu and dropout, except in the last layer; batch_normed: all rows are made
 *                before the first is normalised
 *     backward   out's gradient comes from those of the layer above that read out, block of rows by
 *                block of rows, and is used at once while it is in the cache: it is never stored
 *                whole, but for a layer that is batch_normed or attends
 *
 * A one-hot row times a matrix is a row of the matrix: nothing is multiplied there, and the
 * gradient of a row is gathered over the edges from its node.
 *
 * The order of the sum is fixed: own rows first, then terms by the number of their edge type; where
 * there is one term over all destinations (sage, gcn), that one first.
 *
 * Ownership: a layer belongs to a model and keeps its memory from step to step.
 * Thread rules: forward and backward are called by one thread and use a struct parallel.
 */
#ifndef MODEL_LAYER_H
#define MODEL_LAYER_H

#include "model/kernels.h"
#include "model/params.h"
#include "model/term.h"
#include "runtime/base/cancel.h"
#include "runtime/base/parallel.h"

struct layer;

/* What reads the rows of one node type in the layer above: its gradients come from these, in the
 * order of terms, and then from what its own part reads as own rows. */
struct readers {
    const struct term **terms; /* [num_terms] */
    uint32_t num_terms;
    const struct layer *own; /* NULL: none has own rows of it */
};

struct layer {
    const struct layer_params *params;
    struct term *terms; /* [params->num_terms] */
    struct readers readers;
    uint32_t num_dst;        /* of the block that it is prepared for */
    const uint64_t *own_ids; /* [num_dst] original IDs, where own rows are one-hot */
    bool last;
    bool with_own; /* whoever made its own rows wants their gradients */
    bool training; /* backward will follow; batch_normed: by the batch's own statistics */
    struct dropout dropout;
    struct tensor out;          /* [num_dst][out] */
    struct tensor self_grads;   /* [num_dst][in]; where there is a W_self, or it is residual */
    struct tensor normed;       /* [num_dst][out]; where it is normed */
    struct tensor inverses;     /* [num_dst][1], of the rows' deviations; where it is normed */
    struct storage column_sums; /* double [blocks][2][out]; where it is batch_normed */
    struct tensor columns;      /* [5][out]: those of struct batch_columns */
    struct tensor out_grads;    /* [num_dst][out]: the same layer's, on the way back */
};

/* All layers of a model share these. */
struct layer_tools {
    struct parallel *parallel;
    const struct kernels *kernels;
    const struct cancel *cancel; /* forward leaves out the rest of its blocks; NULL: nobody asks */
    struct tensor row_grads;     /* one block of rows for each worker */
    struct tensor spare;         /* one row for each worker */
    struct tensor aggregates;    /* one block of rows for each worker */
    struct tensor products;      /* the same */
    struct tensor partials;      /* weight gradients of each lane */
};

void layer_fini(struct layer *layer);
void layer_tools_fini(struct layer_tools *tools);

/* rows: of each node type, of the block's sources -> layer->out; the terms have been prepared.
 * TR_ENOMEM. */
int layer_forward(struct layer *layer, struct layer_tools *tools, const float *weights,
                  const float *const *rows);

/* Fills this part's gradients of grads. out_grads: of the last layer, the gradient of the loss. rows
 * is what forward was given. Also fills the gradients that those below want. */
int layer_backward(struct layer *layer, struct layer_tools *tools, const float *out_grads,
                   const float *const *rows, const float *weights, float *grads);

/* The gradient of a row that these have read; spare has room for one. */
void readers_gradient(const struct readers *readers, const struct kernels *kernels, uint32_t row,
                      size_t width, float *grad, float *spare);

/* Adds up the lanes' partial sums of count gradients; zeroed: in the place of what is there. */
void layer_reduce(struct layer_tools *tools, size_t num_lanes, float *grads, size_t count,
                  bool zeroed);

#endif
