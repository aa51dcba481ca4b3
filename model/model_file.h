/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model's weights in model.safetensors, named as PyTorch's state_dict would name them.
 *
 * Thread rules: as the model's.
 */
#ifndef MODEL_MODEL_FILE_H
#define MODEL_MODEL_FILE_H

#include "model/model.h"
#include "runtime/base/files.h"

/* Equal weights give equal bytes; the file appears whole or not at all. */
int model_save(struct model *model, struct files *files, const char *path, struct error *error);

/* The same with other weights, [parameters]. */
int model_save_weights(struct model *model, const float *weights, struct files *files,
                       const char *path, struct error *error);

/* The file must hold exactly the model's tensors, float32, finite: TR_EMISMATCH, TR_EFORMAT. On
 * failure the weights are what they were. */
int model_load(struct model *model, struct files *files, const char *path, struct error *error);

#endif
