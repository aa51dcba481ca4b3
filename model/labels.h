/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of any element type. A negative number or NaN means unlabelled.
 *
 * Softmax takes one class number a node. Sigmoid takes a row of targets in [0, 1], one for
 * each output.
 *
 * Thread rules: pure functions.
 */
#ifndef MODEL_LABELS_H
#define MODEL_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "graph/batch.h"
#include "model/model_config.h"

#define LABEL_NONE (-1)

/* That the first `rows` labels fit the loss and its number of classes: 0, TR_EMISMATCH for a
 * wrong width or too few rows, TR_ERANGE naming row and value. */
int labels_check(const struct batch_rows *labels, size_t rows, const struct model_config *config,
                 struct error *error);

/* The class of a row that labels_check() passed, or LABEL_NONE. */
int64_t labels_class(const struct batch_rows *labels, size_t row);

/* The target of an output in [0, 1], or a negative number where it is unlabelled. */
float labels_target(const struct batch_rows *labels, size_t row, size_t output);

#endif
