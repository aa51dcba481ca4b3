/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GraphSAGE, GCN, RGCN or GAT network of any depth, run forward and backward over mini-batches.
 *
 * Everything it computes is a function of its configuration, its weights and the batch: not
 * of the number of threads, nor of where the batch came from. Memory is kept from step to
 * step and grows to the largest batch.
 *
 * RGCN and GAT take the types that the configuration lists (model_types.h); sage and gcn one node
 * type and one edge type.
 *
 * Ownership: model_create makes it, model_destroy frees it; the configuration is copied, its
 * class_weights and the struct parallel are borrowed. Pointers handed out stay valid until the
 * next call that computes. Thread rules: one thread at a time.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "graph/batch.h"
#include "model/kernels.h"
#include "model/loss.h"
#include "model/model_config.h"
#include "model/params.h"
#include "runtime/base/cancel.h"
#include "runtime/base/parallel.h"

struct model;
struct optimiser;
struct weighted_norms;

/* Also stops OpenBLAS from using threads of its own, in the whole process (see matmul.h).
 * TR_ERANGE, TR_ENOMEM. */
int model_create(struct model **model, const struct model_config *config, struct parallel *parallel,
                 struct error *error);
void model_destroy(struct model *model);

const struct model_config *model_configuration(const struct model *model);
const struct params *model_params(const struct model *model);
struct parallel *model_parallel(const struct model *model);
/* Computes with that one from here on; which one changes no bit of a result. */
void model_set_parallel(struct model *model, struct parallel *parallel);
const struct kernels *model_kernels(const struct model *model);

/* Forward asks it before each block of rows; NULL, as at first: nobody asks. */
void model_set_cancel(struct model *model, const struct cancel *cancel);

/* What gcn with weighted edges normalises by; borrowed, and the same for all batches. */
void model_set_norms(struct model *model, const struct weighted_norms *norms);
const struct weighted_norms *model_norms(const struct model *model);

/* Computes with another variant of the loops; for tests of their equality. */
void model_use_kernels(struct model *model, const struct kernels *kernels);

/* "openblas SkylakeX, loops avx512": results are equal, bit for bit, where this is equal. */
const char *model_kernels_text(const struct model *model);

/* The flat arrays, model_params()->count floats each. Gradients are those of the last
 * model_step; trainers may reduce them in place before model_apply, with one value of their own,
 * for which there is room behind them. */
float *model_weights(struct model *model);
float *model_gradients(struct model *model, size_t *count);

/* The state of the optimiser from step to step. */
struct optimiser *model_optimiser_state(struct model *model);

/* As model_create left it, or with the weights of model_begin_with(). */
void model_reset(struct model *model);

/* Resets it, now and by model_reset(), to a copy of weights [parameters]. TR_ENOMEM. */
int model_begin_with(struct model *model, const float *weights);

/* Standardises the features by columns, means and then factors of all inputs, and with logarithms
 * centres and units too, now and after a model_reset() to drawn weights. For a configuration that
 * standardises. TR_ENOMEM. */
int model_standardise_with(struct model *model, const float *columns);

/* Without dropout; *logits is [seeds of the batch][classes], of the first target. TR_EUNSUPPORTED
 * for types that the model does not take, TR_EMISMATCH where the batch does not fit the model,
 * TR_ECANCELED, TR_ERANGE for an edge whose weight is none, TR_ENOMEM. Weights of edges are the
 * batch's tables of edges. */
int model_forward(struct model *model, const struct mini_batch *batch, const float **logits,
                  struct error *error);

/* The same of that batch for the target with that number (model_types.h). */
const float *model_outputs(const struct model *model, uint32_t target);

/* The rows of the last hidden layer of that batch's seeds of a target, [seeds][hidden], behind its
 * activation; NULL of a model of one layer, which has none. */
const float *model_hidden(const struct model *model, uint32_t target);

/* Forward with dropout, loss, backward: fills the gradients, changes no weight. The gradient
 * is of the sum over this batch divided by the seeds of the step (of all trainers). Behind the
 * trained parameters stand what this batch adds to running statistics (batch_norm.h). */
int model_step(struct model *model, const struct mini_batch *batch, struct loss_sum *loss,
               struct error *error);

/* One step of the optimiser at that learning rate. */
void model_apply(struct model *model, double rate);

#endif
