/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of a model: one flat float32 array and the table of what lies where.
 *
 * Flat, so that trainers reduce one array of gradients and an optimiser is one loop.
 *
 * Ownership: the arrays belong to the model; the table is plain data.
 */
#ifndef MODEL_PARAMS_H
#define MODEL_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/batch.h"
#include "model/model_config.h"

/* One layer: out = W_neigh * aggregate + W_self * own + bias. GCN has no W_self: a node's own
 * row is part of the aggregate. A residual layer adds the own row as it is (He et al., CVPR 2016);
 * a normed one normalises and scales the sum before the bias, by rows or (batch_normed) by columns.
 * Offsets count floats in the flat array. */
struct layer_params {
    uint32_t in;
    uint32_t out;
    bool has_self;
    bool residual;
    bool normed;
    bool batch_normed;
    size_t self;
    size_t neigh;
    size_t bias;
    size_t scale; /* where it is normed, either way */
    size_t end;
    size_t running; /* where it is batch_normed, behind all layers: see batch_norm.h */
};

/* What no step changes stands behind what is learned: with model_config.standardise, the mean of
 * each column of features and the factor that its difference from it is multiplied by. */
struct params {
    uint32_t num_layers;
    struct layer_params layers[BATCH_LAYERS_MAX];
    size_t trained;   /* of all: those that an optimiser changes, which come first */
    uint32_t columns; /* of features that are standardised; 0: none are */
    size_t means;     /* [columns] */
    size_t factors;   /* [columns] */
    size_t count;
};

void params_layout(struct params *params, const struct model_config *config);

/* Weights uniform within the square root of 6 / (in + out) (Glorot and Bengio, AISTATS 2010),
 * drawn from (seed, layer, matrix, element); biases, means and running means zero, scales, factors
 * and running variances one. */
void params_draw(const struct params *params, uint64_t seed, float *values);

/* One named matrix or vector, as PyTorch's state_dict would name it. */
struct param_view {
    /* layers.0.self.weight, layers.0.neigh.weight (gcn: layers.0.weight), ...bias, ...norm.weight,
     * ...norm.running_mean, ...norm.running_var, ...norm.steps; features.mean,
     * features.factor */
    char name[40];
    size_t offset;
    uint32_t ndim;
    uint64_t shape[2];
};

#define PARAM_VIEWS_MAX (7 * BATCH_LAYERS_MAX + 2)

/* Fills views and returns their number. */
size_t params_views(const struct params *params, struct param_view views[PARAM_VIEWS_MAX]);

#endif
