/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of a model's weights against central differences of its loss; behind cmocka.h. */
#ifndef TESTS_MODEL_MODEL_SLOPES_H
#define TESTS_MODEL_MODEL_SLOPES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

struct model_slopes {
    size_t wrong;     /* slopes that the gradients differ from */
    size_t learned;   /* slopes that are not 0 */
    double magnitude; /* the mean */
};

static inline double model_step_loss(struct model *model, const struct mini_batch *batch)
{
    struct loss_sum loss;
    assert_int_equal(model_step(model, batch, &loss, NULL), 0);
    return loss.sum / batch->step_seeds;
}

/* Biases of zero leave relus on their edge. */
static inline void model_move_weights(struct model *model, size_t count)
{
    for (size_t i = 0; i < count; i++)
        model_weights(model)[i] += 0.01f * (float)(i % 7) - 0.03f;
}

/* Of the first `count` weights, in steps small enough for the curve and large enough for float32. */
static inline struct model_slopes model_slopes_of(struct model *model,
                                                  const struct mini_batch *batch, size_t count)
{
    struct model_slopes slopes = { 0 };
    size_t all;
    float *weights = model_weights(model), *grads = model_gradients(model, &all);
    model_step_loss(model, batch);
    float *found = malloc(count * sizeof *found);
    assert_non_null(found);
    memcpy(found, grads, count * sizeof *found);
    for (size_t i = 0; i < count; i++) {
        const float step = 1e-3f, old = weights[i];
        weights[i] = old + step;
        double high = model_step_loss(model, batch), high_at = (double)weights[i];
        weights[i] = old - step;
        double low = model_step_loss(model, batch), low_at = (double)weights[i];
        weights[i] = old;
        double slope = (high - low) / (high_at - low_at);
        slopes.magnitude += fabs(slope) / (double)count;
        slopes.learned += fabs(slope) > 1e-4;
        slopes.wrong += fabs(slope - (double)found[i]) > 3e-4 + 3e-3 * fabs(slope);
    }
    free(found);
    return slopes;
}

#endif
