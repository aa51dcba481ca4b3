/* SPDX-License-Identifier: Apache-2.0 */
#include "model/safetensors.h"

#include <string.h>

int safetensor_bytes(const struct safetensor *tensor, uint64_t *bytes)
{
    uint64_t product = tr_dtype_size(tensor->dtype);
    for (uint32_t i = 0; i < tensor->ndim; i++) {
        if (__builtin_mul_overflow(product, tensor->shape[i], &product))
            return TR_ETOOBIG;
    }
    *bytes = product;
    return 0;
}

const struct safetensor *safetensors_find(const struct safetensors *tensors, const char *name)
{
    for (size_t i = 0; i < tensors->count; i++) {
        if (strcmp(tensors->tensors[i].name, name) == 0)
            return &tensors->tensors[i];
    }
    return NULL;
}
