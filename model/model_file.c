/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/safetensors.h"

int model_save(struct model *model, struct files *files, const char *path, struct error *error)
{
    return model_save_weights(model, model_weights(model), files, path, error);
}

int model_save_weights(struct model *model, const float *weights, struct files *files,
                       const char *path, struct error *error)
{
    struct param_view *views;
    size_t count;
    int rc = params_views(model_params(model), &views, &count);
    struct safetensor *tensors = rc == 0 ? calloc(count + 1, sizeof *tensors) : NULL;
    if (tensors == NULL)
        rc = error_set(error, TR_ENOMEM, "%s: no memory for the names of tensors", path);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        tensors[i] = (struct safetensor){ .name = views[i].name,
                                          .dtype = TR_F32,
                                          .ndim = views[i].ndim,
                                          .data = weights + views[i].offset };
        memcpy(tensors[i].shape, views[i].shape, sizeof views[i].shape);
    }
    if (rc == 0)
        rc = safetensors_write(files, path, tensors, count, error);
    free(tensors);
    param_views_free(views, count);
    return rc;
}

static void print_shape(uint32_t ndim, const uint64_t *shape, char text[80])
{
    size_t used = 0;
    for (uint32_t i = 0; i < ndim; i++)
        used += (size_t)snprintf(text + used, 80 - used, "%s%llu", i == 0 ? "[" : ", ",
                                 (unsigned long long)shape[i]);
    snprintf(text + used, 80 - used, "]");
}

static int check_tensor(const char *path, const struct param_view *view,
                        const struct safetensor *tensor, struct error *error)
{
    if (tensor == NULL)
        return error_set(error, TR_EMISMATCH, "%s: no tensor '%s'; the file holds another model",
                         path, view->name);
    if (tensor->dtype != TR_F32 || tensor->ndim != view->ndim)
        return error_set(error, TR_EMISMATCH,
                         "%s: tensor '%s' is not float32 with %u dimensions, which the model needs",
                         path, view->name, view->ndim);
    if (memcmp(tensor->shape, view->shape, view->ndim * sizeof *view->shape) != 0) {
        char there[80], here[80];
        print_shape(view->ndim, tensor->shape, there);
        print_shape(view->ndim, view->shape, here);
        return error_set(error, TR_EMISMATCH,
                         "%s: tensor '%s' has the shape %s, and the model takes %s", path,
                         view->name, there, here);
    }
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
    struct param_view *views;
    size_t count;
    struct safetensors file;
    if (params_views(model_params(model), &views, &count) != 0)
        return error_set(error, TR_ENOMEM, "%s: no memory for the names of tensors", path);
    int rc = safetensors_open(&file, files, path, error);
    if (rc != 0) {
        param_views_free(views, count);
        return rc;
    }
    /* All tensors are checked before the first is copied: a file that is refused leaves the model
     * as it was. */
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_tensor(path, &views[i], safetensors_find(&file, views[i].name), error);
    if (rc == 0 && file.count != count)
        rc = error_set(error, TR_EMISMATCH, "%s: %zu tensors; the model has %zu", path, file.count,
                       count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct safetensor *tensor = safetensors_find(&file, views[i].name);
        if (tensor->bytes > 0)
            memcpy(model_weights(model) + views[i].offset, tensor->data, tensor->bytes);
    }
    safetensors_close(&file);
    param_views_free(views, count);
    return rc;
}
