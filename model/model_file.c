/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model_file.h"

#include <math.h>
#include <string.h>

#include "model/safetensors.h"

int model_save(struct model *model, struct files *files, const char *path, struct error *error)
{
    return model_save_weights(model, model_weights(model), files, path, error);
}

int model_save_weights(struct model *model, const float *weights, struct files *files,
                       const char *path, struct error *error)
{
    struct param_view views[PARAM_VIEWS_MAX];
    struct safetensor tensors[PARAM_VIEWS_MAX];
    size_t count = params_views(model_params(model), views);
    for (size_t i = 0; i < count; i++)
        tensors[i] = (struct safetensor){ .name = views[i].name,
                                          .dtype = TR_F32,
                                          .ndim = views[i].ndim,
                                          .shape = { views[i].shape[0], views[i].shape[1] },
                                          .data = weights + views[i].offset };
    return safetensors_write(files, path, tensors, count, error);
}

static int check_tensor(const char *path, const struct param_view *view,
                        const struct safetensor *tensor, struct error *error)
{
    if (tensor == NULL)
        return error_set(error, TR_EMISMATCH, "%s: no tensor '%s'; it is of another model", path,
                         view->name);
    bool equal = tensor->dtype == TR_F32 && tensor->ndim == view->ndim &&
                 tensor->shape[0] == view->shape[0] &&
                 (view->ndim == 1 || tensor->shape[1] == view->shape[1]);
    if (!equal)
        return error_set(error, TR_EMISMATCH,
                         "%s: tensor '%s' has another shape or type than the model, which takes "
                         "float32 [%llu, %llu]",
                         path, view->name, (unsigned long long)view->shape[0],
                         (unsigned long long)view->shape[1]);
    const char *bytes = tensor->data;
    for (uint64_t i = 0; i < tensor->bytes / sizeof(float); i++) {
        float value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return error_set(error, TR_EFORMAT, "%s: tensor '%s' has a value that is not finite",
                             path, view->name);
    }
    return 0;
}

int model_load(struct model *model, struct files *files, const char *path, struct error *error)
{
    struct param_view views[PARAM_VIEWS_MAX];
    size_t count = params_views(model_params(model), views);
    struct safetensors file;
    int rc = safetensors_open(&file, files, path, error);
    if (rc != 0)
        return rc;
    if (file.count != count)
        rc = error_set(error, TR_EMISMATCH, "%s: %zu tensors; the model has %zu", path, file.count,
                       count);
    /* All tensors are checked before the first is copied: a file that is refused leaves the model
     * as it was. */
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_tensor(path, &views[i], safetensors_find(&file, views[i].name), error);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct safetensor *tensor = safetensors_find(&file, views[i].name);
        if (tensor->bytes > 0)
            memcpy(model_weights(model) + views[i].offset, tensor->data, tensor->bytes);
    }
    safetensors_close(&file);
    return rc;
}
