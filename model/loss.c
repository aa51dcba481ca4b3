/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/labels.h"
#include "model/matmul.h"

struct loss_job {
    const struct model_config *config;
    const float *logits;
    size_t rows;
    const struct batch_rows *labels;
    double divisor;
    float *grads;
    struct loss_sum *partial; /* [blocks] */
};

static double class_weight(const struct model_config *config, size_t class)
{
    return config->class_weights == NULL ? 1.0 : (double)config->class_weights[class];
}

/* Returns the row's loss; the maximum is taken off first so that no exponential overflows. */
static double softmax_row(const struct loss_job *job, const float *z, size_t truth, float *grad)
{
    size_t classes = job->config->classes;
    double top = (double)z[0], total = 0;
    for (size_t c = 1; c < classes; c++)
        top = (double)z[c] > top ? (double)z[c] : top;
    for (size_t c = 0; c < classes; c++)
        total += exp((double)z[c] - top);
    double weight = class_weight(job->config, truth);
    for (size_t c = 0; grad != NULL && c < classes; c++) {
        double share = exp((double)z[c] - top) / total;
        grad[c] = (float)(weight * (share - (c == truth)) / job->divisor);
    }
    return weight * (log(total) - ((double)z[truth] - top));
}

static void softmax(const struct loss_job *job, size_t row, struct loss_sum *sum)
{
    size_t classes = job->config->classes;
    int64_t truth = labels_class(job->labels, row);
    float *grad = job->grads == NULL ? NULL : job->grads + row * classes;
    if (truth == LABEL_NONE) {
        if (grad != NULL)
            memset(grad, 0, classes * sizeof *grad);
        return;
    }
    sum->sum += softmax_row(job, job->logits + row * classes, (size_t)truth, grad);
    sum->labelled++;
}

static void sigmoid(const struct loss_job *job, size_t row, struct loss_sum *sum)
{
    size_t classes = job->config->classes;
    const float *z = job->logits + row * classes;
    float *grad = job->grads == NULL ? NULL : job->grads + row * classes;
    bool any = false;
    for (size_t c = 0; c < classes; c++) {
        double target = (double)labels_target(job->labels, row, c);
        if (grad != NULL)
            grad[c] = 0;
        if (target < 0)
            continue;
        any = true;
        double x = (double)z[c], weight = class_weight(job->config, c) / (double)classes;
        /* log(1 + e^x) without overflow for either sign of x. */
        double soft = (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
        sum->sum += weight * (soft - x * target);
        if (grad != NULL)
            grad[c] = (float)(weight * (1 / (1 + exp(-x)) - target) / job->divisor);
    }
    sum->labelled += any;
}

static void loss_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    struct loss_job *job = arg;
    size_t end = (block + 1) * MATMUL_ROWS < job->rows ? (block + 1) * MATMUL_ROWS : job->rows;
    struct loss_sum sum = { 0 };
    for (size_t row = block * MATMUL_ROWS; row < end; row++) {
        if (job->config->loss == MODEL_SOFTMAX)
            softmax(job, row, &sum);
        else
            sigmoid(job, row, &sum);
    }
    job->partial[block] = sum;
}

int loss_compute(const struct model_config *config, struct parallel *parallel, const float *logits,
                 size_t rows, const struct batch_rows *labels, double divisor, float *grads,
                 struct loss_sum *result)
{
    size_t blocks = matmul_blocks(rows);
    struct loss_job job = { config, logits, rows, labels, divisor, grads, NULL };
    job.partial = calloc(blocks + 1, sizeof *job.partial);
    if (job.partial == NULL)
        return TR_ENOMEM;
    parallel_for(parallel, blocks, loss_block, &job);
    *result = (struct loss_sum){ 0 };
    for (size_t i = 0; i < blocks; i++) {
        result->sum += job.partial[i].sum;
        result->labelled += job.partial[i].labelled;
    }
    free(job.partial);
    return 0;
}
