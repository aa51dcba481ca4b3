/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds that a user listed: the list stays where the user's set has it, in this process, and is
 * read in place (seed_lists.h). A sampler gets the seeds of a batch with the request for it, in
 * the epoch's order, so a link carries no more of a list at a time than a batch, and a sampler
 * holds no more. Ranges need none of this: a sampler knows the seeds of a batch by its number. A
 * request for a set that has both gives the listed seeds alone.
 */
#include <string.h>

#include "actors/data/proxy_state.h"
#include "runtime/core/actor.h"

/* The segments of several types as a sampler gets them. */
static void write_segments(const struct seed_set *set, struct msg_seed_segment *to)
{
    for (uint32_t i = 0; i < set->num_segments; i++) {
        const struct seed_segment *from = &set->segments[i];
        to[i] = (struct msg_seed_segment){
            .ntype = from->ntype,
            .seeds = seed_kind_given(from->seeds),
            .ranks = from->ranks,
            .etype = from->etype,
            .first_rank = from->first_rank,
            .num_seeds = from->count,
            .negative_ranks = from->negative_ranks,
            .negative_source_ranks = from->negative_source_ranks,
            .reverse_etype = from->reverse_etype,
            .reverse_rule = from->reverse_rule,
        };
    }
}

struct message *proxy_make_unlisted(struct proxy_loader *l)
{
    struct actor *self = l->proxy->self;
    if (!l->listed)
        return message_copy(self, l->message);
    size_t segment_bytes = l->open.num_segments * sizeof(struct msg_seed_segment);
    struct message *open = message_create(self, MSG_LOADER_OPEN);
    unsigned char *body = open == NULL
                              ? NULL
                              : message_body_alloc(self, open, segment_bytes + l->open.spec_bytes);
    if (body == NULL) {
        message_release(self, open);
        return NULL;
    }
    struct msg_loader_open *head = message_head(open);
    *head = l->open;
    if (l->open.seeds == MSG_SEEDS_SEVERAL)
        write_segments(&l->seeds, (struct msg_seed_segment *)(void *)body);
    else
        head->seeds = seed_kind_given(head->seeds);
    const unsigned char *from = message_body(l->message);
    memcpy(body + segment_bytes, from + (l->message->frame.body_bytes - l->open.spec_bytes),
           l->open.spec_bytes);
    return open;
}

/* IDs of a seed in the list that has it. */
struct listed_seed {
    const uint64_t *ids; /* [num_ids] */
    uint32_t num_ids;    /* 0: no list has the seed */
};

/* The seed at a place of the epoch's order. */
static struct listed_seed find_listed(const struct proxy_loader *l, const struct epoch_order *order,
                                      uint64_t at)
{
    uint64_t place = order == NULL ? at : epoch_order_at(order, at);
    const struct seed_segment *segment = &l->seeds.segments[seed_set_find(&l->seeds, place)];
    const struct seed_list *list = segment->list;
    if (list == NULL)
        return (struct listed_seed){ NULL, 0 };
    return (struct listed_seed){ list->ids + (place - segment->begin) * segment->num_ids,
                                 segment->num_ids };
}

/* How many IDs of a batch's seeds lists have. */
static uint32_t count_listed(const struct proxy_loader *l, const struct epoch_order *order,
                             uint64_t begin, uint32_t count)
{
    uint32_t listed = 0;
    if (l->seeds.num_segments == 1)
        return count * l->seeds.segments[0].num_ids;
    for (uint32_t i = 0; i < count; i++)
        listed += find_listed(l, order, begin + i).num_ids;
    return listed;
}

int proxy_make_listed(const struct proxy_slot *slot, struct message **request)
{
    struct proxy_loader *l = slot->loader;
    struct actor *self = l->proxy->self;
    const struct epoch_order *order;
    uint64_t begin;
    uint32_t count, step_seeds, at = 0;
    /* The order comes first, for which there may be no memory; then the count, by which the message
     * is made. */
    int rv = epoch_orders_find(&l->orders, &l->epochs, slot->epoch, &order);
    if (rv != 0)
        return rv;
    epoch_plan_step(&l->epochs, slot->step, &begin, &count, &step_seeds);
    /* A batch's pairs are few enough for 32 bits. */
    uint32_t listed = count_listed(l, order, begin, count);
    *request = message_create(self, MSG_BATCH_REQUEST);
    uint64_t *ids = NULL;
    if (*request != NULL && listed > 0)
        ids = message_body_alloc(self, *request, listed * sizeof *ids);
    if (*request == NULL || (listed > 0 && ids == NULL)) {
        message_release(self, *request);
        return TR_ENOMEM;
    }
    for (uint32_t i = 0; i < count && at < listed; i++) {
        const struct listed_seed seed = find_listed(l, order, begin + i);
        for (uint32_t j = 0; j < seed.num_ids; j++)
            ids[at++] = seed.ids[j];
    }
    *(struct msg_batch_request *)message_head(*request) = (struct msg_batch_request){
        .loader = l->open.loader,
        .batch = slot->step,
        .epoch = slot->epoch,
        .num_seeds = listed,
    };
    return 0;
}
