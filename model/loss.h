/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loss that training minimises, and its gradient.
 *
 * Softmax cross-entropy: one class a node. Sigmoid: binary cross-entropy of each output,
 * averaged over the outputs. Unlabelled rows or outputs add nothing. Class weights multiply
 * the term of the true class (softmax) or of the output (sigmoid).
 *
 * Thread rules: computed on the struct parallel that is given; rows are summed in blocks of a
 * fixed size whose sums are added in order.
 */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include "graph/batch.h"
#include "model/model_config.h"
#include "runtime/base/parallel.h"

struct loss_sum {
    double sum;        /* over labelled rows, not divided */
    uint64_t labelled; /* rows with a label */
};

/* logits[rows][classes]; labels must have passed labels_check(). grads, where not NULL, gets
 * the gradient of sum / divisor. TR_ENOMEM. */
int loss_compute(const struct model_config *config, struct parallel *parallel, const float *logits,
                 size_t rows, const struct batch_rows *labels, double divisor, float *grads,
                 struct loss_sum *result);

#endif
