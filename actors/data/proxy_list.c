/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds that a user listed: the list stays here, in the process that it was given in. A sampler gets
 * the seeds of a batch with the request for it, in the epoch's order, so what a link carries of a list,
 * and what a sampler holds of it, is a batch and no more. Ranges need none of this: a sampler knows
 * the seeds of a batch by its number.
 */
#include <string.h>

#include "actors/data/proxy_state.h"
#include "runtime/core/actor.h"

struct message *proxy_make_unlisted(struct proxy_loader *l)
{
    struct actor *self = l->proxy->self;
    if (l->ids == NULL)
        return message_copy(self, l->message);
    struct message *open = message_create(self, MSG_LOADER_OPEN);
    void *body = open == NULL ? NULL : message_body_alloc(self, open, l->open.spec_bytes);
    if (body == NULL) {
        message_release(self, open);
        return NULL;
    }
    struct msg_loader_open *head = message_head(open);
    *head = l->open;
    head->seeds = MSG_SEEDS_GIVEN;
    memcpy(body, l->ids + l->open.num_seeds, l->open.spec_bytes);
    return open;
}

/* NULL: that of the list. */
static int find_order(struct proxy_loader *l, uint32_t epoch, const struct epoch_order **out)
{
    struct epoch_order *order = &l->orders[epoch % PROXY_ORDERS];
    *out = NULL;
    if (!l->epochs.shuffle)
        return 0;
    if (!order->ready || order->epoch != epoch) {
        int rv = epoch_order_make(order, &l->epochs, epoch);
        if (rv != 0)
            return rv;
    }
    *out = order;
    return 0;
}

int proxy_make_listed(const struct proxy_slot *slot, struct message **request)
{
    struct proxy_loader *l = slot->loader;
    struct actor *self = l->proxy->self;
    const struct epoch_order *order;
    uint64_t begin;
    uint32_t count, step_seeds;
    int rv = find_order(l, slot->epoch, &order);
    if (rv != 0)
        return rv;
    epoch_plan_step(&l->epochs, slot->step, &begin, &count, &step_seeds);
    *request = message_create(self, MSG_BATCH_REQUEST);
    uint64_t *ids = NULL;
    if (*request != NULL && count > 0)
        ids = message_body_alloc(self, *request, count * sizeof *ids);
    if (*request == NULL || (count > 0 && ids == NULL)) {
        message_release(self, *request);
        return TR_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        ids[i] = l->ids[order == NULL ? begin + i : epoch_order_at(order, begin + i)];
    *(struct msg_batch_request *)message_head(*request) = (struct msg_batch_request){
        .loader = l->open.loader,
        .batch = slot->step,
        .epoch = slot->epoch,
        .num_seeds = count,
    };
    return 0;
}
