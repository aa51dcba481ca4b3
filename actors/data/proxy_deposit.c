/* SPDX-License-Identifier: Apache-2.0 */
/* Batches that came as bytes, from a sampler that shares no store with the proxy. */
#include <inttypes.h>

#include "actors/data/proxy_state.h"

/* The slot's batch and no other: a client must not wait for what came under another name. */
static bool is_asked_for(const struct proxy_slot *slot, const struct mini_batch *batch)
{
    const struct msg_loader_open *open = &slot->loader->open;
    return batch->epoch == slot->epoch && batch->index == slot->step && batch->seed == open->seed &&
           batch->rank == open->rank;
}

struct sampled_batch *proxy_take_batch(const struct proxy_slot *slot)
{
    const struct proxy_options *o = slot->loader->proxy->options;
    return batch_store_take(o->store, o->book->types.num_ntypes, o->book->types.num_etypes,
                            slot->loader->spec.num_layers);
}

int proxy_deposit(const struct proxy_slot *slot, struct sampled_batch *batch, int read,
                  struct error *error)
{
    struct batch_store *store = slot->loader->proxy->options->store;
    if (read == 0 && !is_asked_for(slot, &batch->space.batch))
        read = TR_EFORMAT;
    if (read != 0) {
        sampled_batch_release(batch);
        return error_set(error, read, "batch %" PRIu64 " of sampler %" PRIu32 ": %s", slot->step,
                         slot->sampler,
                         read == TR_EFORMAT ? "its bytes are not the batch that was asked for"
                                            : tr_strerror(read));
    }
    batch->loader = slot->loader->open.loader;
    /* The batch is measured before the deposit, which consumes it. */
    size_t held = sampled_batch_bytes(batch);
    int rv = batch_store_deposit(store, batch);
    if (rv == TR_EFULL)
        return batch_store_say_full(store, held, error);
    return rv == 0 ? 0 : error_set(error, rv, "no loader waits for the batch any more");
}
