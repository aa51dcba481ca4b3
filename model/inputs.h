/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first layer reads: the rows of each node type, features (converted, normalised,
 * standardised, dropped) or learned rows of nodes; and the gradients of the learned ones.
 *
 * Ownership: a struct inputs belongs to a model and keeps its memory from step to step.
 * Thread rules: those of the model.
 */
#ifndef MODEL_INPUTS_H
#define MODEL_INPUTS_H

#include "model/layer.h"

struct inputs {
    const struct params *params;
    struct readers *readers; /* [node types]: who reads them in the first layer */
    struct tensor *made;     /* [node types] */
    const float **rows;      /* [node types] what is read; NULL: nobody reads the type's */
};

int inputs_init(struct inputs *inputs, const struct params *params);
void inputs_fini(struct inputs *inputs);

/* Are rows of the type read? */
bool inputs_wants(const struct inputs *inputs, uint32_t ntype);

/* Does the batch have what is read? TR_EMISMATCH. */
int inputs_check(const struct inputs *inputs, const struct mini_batch *batch, struct error *error);

/* Fills inputs->rows from the features of a checked batch, or from weights. TR_ENOMEM. */
int inputs_prepare(struct inputs *inputs, const struct layer_tools *tools, const float *weights,
                   const struct mini_batch *batch, const struct dropout *dropout);

/* Sets the gradients of all learned rows: those of nodes that the batch does not have are 0.
 * TR_ENOMEM. */
int inputs_backward(struct inputs *inputs, struct layer_tools *tools,
                    const struct mini_batch *batch, float *grads);

#endif
