/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/sampled_batch.h"

#include <assert.h>
#include <stdlib.h>

#include "actors/data/batch_store.h"

struct sampled_batch *sampled_batch_create(uint32_t num_ntypes, uint32_t num_etypes,
                                           uint32_t num_layers)
{
    struct sampled_batch *b = calloc(1, sizeof *b);
    if (b == NULL)
        return NULL;
    if (batch_space_init(&b->space, num_ntypes, num_etypes, num_layers) != 0) {
        free(b);
        return NULL;
    }
    atomic_init(&b->references, 1);
    return b;
}

void sampled_batch_clear(struct sampled_batch *b)
{
    batch_space_clear(&b->space);
    b->loader = 0;
    b->next = NULL;
    atomic_store_explicit(&b->references, 1, memory_order_relaxed);
}

void sampled_batch_release(struct sampled_batch *batch)
{
    if (batch == NULL)
        return;
    /* Release, then acquire by the last one: every reader is done before the memory is reused. */
    unsigned before = atomic_fetch_sub_explicit(&batch->references, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before > 1)
        return;
    if (batch->store != NULL)
        batch_store_give_back(batch->store, batch);
    else
        sampled_batch_destroy(batch);
}

void sampled_batch_destroy(struct sampled_batch *b)
{
    batch_space_fini(&b->space);
    free(b);
}

size_t sampled_batch_bytes(const struct sampled_batch *b)
{
    return sizeof *b + batch_space_bytes(&b->space);
}
