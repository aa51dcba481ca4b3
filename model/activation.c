/* SPDX-License-Identifier: Apache-2.0 */
/* Relu and dropout in one pass, as the built-in models have them, for programs with layers of their
 * own. */
#include <stdlib.h>
#include <string.h>

#include <troupe/aggregate.h>

#include "model/kernels.h"
#include "model/row_loop.h"

struct activation_job {
    const struct kernels *kernels;
    struct dropout dropout;
    size_t num_rows, width;
    const float *bias;
    const float *rows, *grads; /* on the way back */
    float *to;
};

static int check_activation(const void *const arrays[], size_t count, size_t num_rows, float rate,
                            struct tr_error *error)
{
    if (!(rate >= 0.0f && rate < 1.0f))
        return tr_error_set(error, TR_ERANGE, "rate is %g; give one from 0 to below 1",
                            (double)rate);
    for (size_t i = 0; i < count; i++)
        if (arrays[i] == NULL && num_rows > 0)
            return tr_error_set(error, TR_EINVAL, "the rows are NULL");
    return 0;
}

static void activate_chunk(void *arg, size_t chunk, size_t worker)
{
    (void)worker;
    const struct activation_job *job = arg;
    size_t begin = chunk * ROW_LOOP_ROWS, end = row_loop_end(begin, job->num_rows);
    for (size_t row = begin; row < end; row++)
        job->kernels->activate(job->to + row * job->width, job->bias, job->width, &job->dropout,
                               row);
}

int tr_model_activate(struct tr_model_threads *threads, float *rows, size_t num_rows, size_t width,
                      float rate, uint64_t key, struct tr_error *error)
{
    int rv = check_activation((const void *[]){ rows }, 1, num_rows, rate, error);
    if (rv != 0 || width == 0)
        return rv;
    float *zeros = calloc(width, sizeof *zeros);
    if (zeros == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for rows of %zu numbers", width);
    struct activation_job job = { .kernels = kernels_best(),
                                  .dropout = dropout_make(rate, key),
                                  .num_rows = num_rows,
                                  .width = width,
                                  .bias = zeros,
                                  .to = rows };
    row_loop(threads, num_rows, activate_chunk, &job);
    free(zeros);
    return 0;
}

static void deactivate_chunk(void *arg, size_t chunk, size_t worker)
{
    (void)worker;
    const struct activation_job *job = arg;
    size_t begin = chunk * ROW_LOOP_ROWS, end = row_loop_end(begin, job->num_rows);
    for (size_t row = begin; row < end; row++) {
        float *to = job->to + row * job->width;
        memcpy(to, job->grads + row * job->width, job->width * sizeof *to);
        job->kernels->deactivate(to, job->rows + row * job->width, job->dropout.scale, job->width);
    }
}

int tr_model_activate_backward(struct tr_model_threads *threads, const float *rows,
                               const float *grads, size_t num_rows, size_t width, float rate,
                               float *row_grads, struct tr_error *error)
{
    int rv = check_activation((const void *[]){ rows, grads, row_grads }, 3, num_rows, rate, error);
    if (rv != 0 || width == 0)
        return rv;
    struct activation_job job = { .kernels = kernels_best(),
                                  .dropout = dropout_make(rate, 0),
                                  .num_rows = num_rows,
                                  .width = width,
                                  .rows = rows,
                                  .grads = grads,
                                  .to = row_grads };
    row_loop(threads, num_rows, deactivate_chunk, &job);
    return 0;
}
