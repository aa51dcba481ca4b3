/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tensor.h"

#include <string.h>

#include <troupe/error.h>

#include "runtime/base/hotmem.h"

int storage_reserve(struct storage *storage, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return TR_ETOOBIG;
    if (bytes <= storage->bytes && storage->data != NULL)
        return 0;
    /* Batches differ by a few per cent: a quarter more keeps the next ones from growing it. */
    size_t roomy;
    if (__builtin_add_overflow(bytes, bytes / 4 + 64, &roomy))
        return TR_ETOOBIG;
    void *data = hotmem_alloc(roomy);
    if (data == NULL)
        return TR_ENOMEM;
    hotmem_free(storage->data, storage->bytes);
    *storage = (struct storage){ .data = data, .bytes = roomy };
    return 0;
}

void storage_fini(struct storage *storage)
{
    hotmem_free(storage->data, storage->bytes);
    *storage = (struct storage){ 0 };
}

int tensor_resize(struct tensor *tensor, size_t rows, size_t cols)
{
    size_t count;
    if (__builtin_mul_overflow(rows, cols, &count))
        return TR_ETOOBIG;
    int rc = storage_reserve(&tensor->memory, count, sizeof(float));
    if (rc != 0)
        return rc;
    tensor->data = tensor->memory.data;
    tensor->rows = rows;
    tensor->cols = cols;
    return 0;
}

void tensor_fini(struct tensor *tensor)
{
    storage_fini(&tensor->memory);
    *tensor = (struct tensor){ 0 };
}
