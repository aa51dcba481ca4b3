/* Batches that came as bytes, from a sampler that shares no bank with the proxy. */
#include <inttypes.h>

#include "actors/batch_flat.h"
#include "actors/proxy_state.h"

/* The slot's batch and no other: a client must not wait for what came under another name. */
static bool is_asked_for(const struct proxy_slot *slot, const struct mini_batch *batch)
{
    const struct msg_loader_open *open = slot->loader->open;
    return batch->epoch == slot->epoch && batch->index == slot->step &&
           batch->seed == open->seed && batch->rank == open->rank;
}

static int read_batch(const struct proxy_slot *slot, struct sampled_batch *batch,
                      const void *bytes, uint64_t count, struct error *error)
{
    int rv = batch_unflatten(batch, &slot->loader->proxy->options->book->types, bytes, count);
    if (rv == 0 && !is_asked_for(slot, &batch->space.batch))
        rv = TR_EFORMAT;
    if (rv != 0)
        return error_set(error, rv, "batch %" PRIu64 " of sampler %" PRIu32 ": %s", slot->step,
                         slot->sampler,
                         rv == TR_EFORMAT ? "its bytes are no such batch" : tr_strerror(rv));
    return 0;
}

int proxy_deposit(const struct proxy_slot *slot, const void *bytes, uint64_t count,
                  struct error *error)
{
    const struct proxy_options *o = slot->loader->proxy->options;
    const struct msg_loader_open *open = slot->loader->open;
    struct sampled_batch *batch = batch_bank_take(o->bank, o->book->types.num_ntypes,
                                                  o->book->types.num_etypes, open->num_layers);
    if (batch == NULL)
        return error_set(error, TR_ENOMEM, "no memory for batch %" PRIu64, slot->step);
    int rv = read_batch(slot, batch, bytes, count, error);
    if (rv != 0) {
        sampled_batch_release(batch);
        return rv;
    }
    batch->loader = open->loader;
    size_t held = sampled_batch_bytes(batch);
    rv = batch_bank_deposit(o->bank, batch);
    if (rv == TR_EFULL)
        return batch_bank_say_full(o->bank, held, error);
    return rv == 0 ? 0 : error_set(error, rv, "nobody waits for the batch");
}
