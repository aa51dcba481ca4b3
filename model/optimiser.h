/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adam (Kingma and Ba, ICLR 2015; with decoupled decay Loshchilov and Hutter, ICLR 2019) and
 * SGD with momentum, with PyTorch's recurrences so that recipes carry over: `l2` is what
 * torch.optim.Adam calls weight_decay, `weight_decay` what torch.optim.AdamW calls so.
 *
 * Ownership: embedded in a model. Thread rules: as the model's.
 */
#ifndef MODEL_OPTIMISER_H
#define MODEL_OPTIMISER_H

#include "model/kernels.h"
#include "model/model_config.h"
#include "model/tensor.h"
#include "runtime/base/parallel.h"

struct optimiser {
    struct model_config config;
    uint64_t steps;
    double beta1_power; /* beta1^steps, by multiplication: no libm */
    double beta2_power;
    struct tensor first;  /* [1][count]: Adam's first moment, or SGD's momentum */
    struct tensor second; /* [1][count]: Adam's second moment */
    size_t trained;       /* the first so many are changed */
};

int optimiser_init(struct optimiser *optimiser, const struct model_config *config, size_t count,
                   size_t trained);
void optimiser_fini(struct optimiser *optimiser);

/* Forgets all steps. */
void optimiser_reset(struct optimiser *optimiser);

/* One step of all trained weights. */
void optimiser_step(struct optimiser *optimiser, struct parallel *parallel,
                    const struct kernels *kernels, double rate, float *weights, const float *grads);

#endif
