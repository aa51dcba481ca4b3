/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/vec.h"

#include <stdint.h>
#include <string.h>

#include <troupe/error.h>

#include "runtime/base/hotmem.h"

/* Smaller arrays are not worth growing twice. */
#define VEC_BYTES_MIN ((size_t)256)

void vec_fini(struct vec *vec)
{
    hotmem_free(vec->data, vec->capacity);
    *vec = (struct vec){ NULL, 0 };
}

int vec_reserve(struct vec *vec, size_t count, size_t size, size_t keep)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4)
        return TR_ENOMEM;
    if (bytes <= vec->capacity && vec->data != NULL)
        return 0;
    size_t capacity = vec->capacity + vec->capacity / 2;
    capacity = capacity < bytes ? bytes : capacity;
    capacity = capacity < VEC_BYTES_MIN ? VEC_BYTES_MIN : capacity;
    void *data = hotmem_alloc(capacity);
    if (data == NULL)
        return TR_ENOMEM;
    if (keep != 0)
        memcpy(data, vec->data, keep);
    hotmem_free(vec->data, vec->capacity);
    *vec = (struct vec){ data, capacity };
    return 0;
}
