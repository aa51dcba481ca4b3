/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batch_drain.h"

#include "bench/walk.h"

int batch_drain_failed(const struct tr_error *why, int rv, struct error *error)
{
    return error_set(error, rv, "%s", why->message);
}

static uint64_t count_edges(const struct tr_batch *batch)
{
    struct tr_block block = TR_BLOCK_INIT;
    uint64_t edges = 0;
    for (uint32_t layer = 0; layer < REFERENCE_LAYERS; layer++)
        if (tr_batch_block(batch, layer, 0, &block, NULL) == 0)
            edges += block.num_edges;
    return edges;
}

int batch_drain_batches(struct tr_loader *loader, uint64_t batches, int64_t wait_ns,
                        uint64_t *edges, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *edges = 0;
    for (uint64_t i = 0; i < batches;) {
        struct tr_batch *batch;
        int rv = tr_loader_next(loader, wait_ns, &batch, &why);
        if (rv == TR_EEND)
            continue; /* the next call begins the next epoch */
        if (rv != 0)
            return batch_drain_failed(&why, rv, error);
        *edges += count_edges(batch);
        tr_batch_release(batch);
        i++;
    }
    return 0;
}
