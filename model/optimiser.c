/* SPDX-License-Identifier: Apache-2.0 */
#include "model/optimiser.h"

#include <math.h>
#include <string.h>

/* Weights a worker takes at once; the result does not depend on it. */
#define CHUNK ((size_t)16384)

struct optimiser_job {
    struct optimiser *optimiser;
    const struct kernels *kernels;
    struct adam_step adam;
    float rate;
    float *weights;
    const float *grads;
};

int optimiser_init(struct optimiser *optimiser, const struct model_config *config, size_t count,
                   size_t trained)
{
    *optimiser = (struct optimiser){ .config = *config, .trained = trained };
    int rc = tensor_resize(&optimiser->first, 1, count);
    if (rc == 0)
        rc = tensor_resize(&optimiser->second, 1, count);
    if (rc != 0) {
        optimiser_fini(optimiser);
        return rc;
    }
    optimiser_reset(optimiser);
    return 0;
}

void optimiser_reset(struct optimiser *optimiser)
{
    size_t bytes = optimiser->first.cols * sizeof(float);
    optimiser->steps = 0;
    optimiser->beta1_power = optimiser->beta2_power = 1;
    memset(optimiser->first.data, 0, bytes);
    memset(optimiser->second.data, 0, bytes);
}

void optimiser_fini(struct optimiser *optimiser)
{
    tensor_fini(&optimiser->first);
    tensor_fini(&optimiser->second);
}

static void sgd(const struct optimiser_job *job, size_t begin, size_t end)
{
    const struct model_config *config = &job->optimiser->config;
    float *velocity = job->optimiser->first.data;
    float shrink = 1.0f - job->rate * config->weight_decay;
    for (size_t i = begin; i < end; i++) {
        float grad = job->grads[i] + config->l2 * job->weights[i];
        velocity[i] = config->momentum * velocity[i] + grad;
        job->weights[i] = job->weights[i] * shrink - job->rate * velocity[i];
    }
}

static void step_chunk(void *arg, size_t chunk, size_t worker)
{
    (void)worker;
    struct optimiser_job *job = arg;
    struct optimiser *optimiser = job->optimiser;
    size_t begin = chunk * CHUNK, count = optimiser->trained;
    size_t end = begin + CHUNK < count ? begin + CHUNK : count;
    if (optimiser->config.optimiser == MODEL_SGD)
        sgd(job, begin, end);
    else
        job->kernels->adam(job->weights + begin, job->grads + begin, optimiser->first.data + begin,
                           optimiser->second.data + begin, end - begin, &job->adam);
}

void optimiser_step(struct optimiser *optimiser, struct parallel *parallel,
                    const struct kernels *kernels, double rate, float *weights, const float *grads)
{
    const struct model_config *config = &optimiser->config;
    optimiser->steps++;
    optimiser->beta1_power *= (double)config->beta1;
    optimiser->beta2_power *= (double)config->beta2;
    struct optimiser_job job = { .optimiser = optimiser,
                                 .kernels = kernels,
                                 .rate = (float)rate,
                                 .weights = weights,
                                 .grads = grads };
    job.adam = (struct adam_step){
        .lr = (float)(rate / (1 - optimiser->beta1_power)),
        .beta1 = config->beta1,
        .beta2 = config->beta2,
        .bias2_root = (float)sqrt(1 - optimiser->beta2_power),
        .eps = config->eps,
        .l2 = config->l2,
        .shrink = (float)(1 - rate * (double)config->weight_decay),
    };
    parallel_for(parallel, (optimiser->trained + CHUNK - 1) / CHUNK, step_chunk, &job);
}
