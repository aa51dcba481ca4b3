/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One layer over one block: forward, and backward to its weights and its input.
 *
 *     forward    aggregate = propagate(rows);  out = aggregate W_neigh^T + rows W_self^T
 *                (residual: + rows; normed: normalised and scaled), then bias, and relu and
 *                dropout, except in the last layer; batch_normed: all rows are made before the
 *                first is normalised
 *     backward   out's gradient comes from the layer above, block of rows by block of rows,
 *                and is used at once while it is in the cache: it is never stored whole, but for a
 *                layer that is batch_normed
 *
 * Ownership: a layer belongs to a model and keeps its memory from step to step.
 * Thread rules: forward and backward are called by one thread and use a struct parallel.
 */
#ifndef MODEL_LAYER_H
#define MODEL_LAYER_H

#include "model/kernels.h"
#include "model/params.h"
#include "model/propagate.h"
#include "runtime/base/parallel.h"

struct layer {
    struct layer_params params;
    struct propagation prop;
    bool last;
    bool training; /* batch_normed: by the batch's own statistics */
    struct dropout dropout;
    struct tensor aggregate;       /* [num_dst][in] */
    struct tensor out;             /* [num_dst][out] */
    struct tensor aggregate_grads; /* [num_dst][in]; not in the input layer */
    struct tensor self_grads;      /* [num_dst][in]; where there is a W_self, or it is residual */
    struct tensor normed;          /* [num_dst][out]; where it is normed */
    struct tensor inverses;        /* [num_dst][1], of the rows' deviations; where it is normed */
    struct storage column_sums;    /* double [blocks][2][out]; where it is batch_normed */
    struct tensor columns;         /* [5][out]: those of struct batch_columns */
    struct tensor out_grads;       /* [num_dst][out]: the same layer's, on the way back */
};

/* All layers of a model share these. */
struct layer_tools {
    struct parallel *parallel;
    const struct kernels *kernels;
    struct tensor row_grads; /* one block of rows for each worker */
    struct tensor partials;  /* weight gradients of each lane */
};

void layer_fini(struct layer *layer);
void layer_tools_fini(struct layer_tools *tools);

/* rows[num_src][in] -> layer->out; the propagation has been prepared. TR_ENOMEM. */
int layer_forward(struct layer *layer, struct layer_tools *tools, const float *weights,
                  const float *rows);

/* Fills this layer's part of grads. above is the layer that read out, or NULL for the last
 * one, whose out_grads are the gradient of the loss. rows is what forward was given.
 * with_input: also fill aggregate_grads and self_grads for the layer below. */
int layer_backward(struct layer *layer, struct layer_tools *tools, const struct layer *above,
                   const float *out_grads, const float *rows, bool with_input, const float *weights,
                   float *grads);

#endif
