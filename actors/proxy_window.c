/* The window of batches in flight ahead of the client. */
#include "actors/failed.h"
#include "actors/proxy_state.h"

static struct batch_bank *bank_of(const struct proxy_loader *l)
{
    return l->proxy->options->bank;
}

void proxy_drop_epoch(struct proxy_loader *l)
{
    for (uint32_t i = 0; i < l->window; i++)
        proxy_cancel(&l->slots[i]);
    l->begun = false;
    batch_bank_set_epoch(bank_of(l), l->open->loader, l->epoch, l->position);
}

void proxy_begin_epoch(struct proxy_loader *l, uint32_t epoch, uint64_t position)
{
    proxy_drop_epoch(l);
    l->epoch = epoch;
    l->begun = true;
    l->position = l->next_ask = position;
    batch_bank_set_epoch(bank_of(l), l->open->loader, epoch, position);
}

void proxy_advance(struct proxy_loader *l, uint64_t position)
{
    for (uint64_t step = l->position; step < position && step < l->next_ask; step++)
        proxy_cancel(proxy_slot(l, step));
    batch_bank_advance(bank_of(l), l->open->loader, position);
    l->position = position;
    l->next_ask = l->next_ask < position ? position : l->next_ask;
}

static void reply_ready(struct proxy_loader *l)
{
    struct actor *self = l->proxy->self;
    struct message *reply = message_create(self, MSG_BATCH_REPLY);
    struct message *request = l->waiter;
    l->waiter = NULL;
    if (reply == NULL) {
        actor_refuse(self, request, TR_ENOMEM);
        return;
    }
    struct msg_batch_reply *head = message_head(reply);
    head->loader = l->open->loader;
    head->batch = l->position;
    head->epoch = l->epoch;
    actor_reply(self, request, reply);
}

/* A failure is told once; who asks again tries again. */
static void tell(struct proxy_loader *l)
{
    struct proxy_slot *slot = proxy_slot(l, l->position);
    if (l->waiter == NULL || !l->begun || l->position >= l->next_ask)
        return;
    if (slot->state == SLOT_READY) {
        reply_ready(l);
    } else if (slot->state == SLOT_FAILED) {
        struct message *request = l->waiter;
        l->waiter = NULL;
        failed_reply(l->proxy->self, request, &slot->error);
        slot->state = SLOT_EMPTY;
    }
}

static bool fill_slot(struct proxy_loader *l, uint64_t step)
{
    struct proxy_slot *slot = proxy_slot(l, step);
    struct proxy *p = l->proxy;
    if (slot->state == SLOT_EMPTY) {
        if (batch_bank_reserve(bank_of(l), l->open->loader, step) != 0)
            return false;
        slot->step = step;
        slot->state = SLOT_QUEUED;
        slot->until_ns = actor_now_ns(p->self) + p->options->recovery_ns;
    }
    if (slot->state == SLOT_QUEUED)
        proxy_ask(slot);
    return true;
}

void proxy_fill(struct proxy_loader *l)
{
    if (!l->begun)
        return;
    uint64_t end = l->position + l->window;
    end = end < l->num_steps ? end : l->num_steps;
    tell(l);
    bool room = true;
    for (uint64_t step = l->position; step < end && room; step++) {
        room = fill_slot(l, step);
        if (room && step >= l->next_ask)
            l->next_ask = step + 1;
    }
    if (!room)
        proxy_retry_later(l);
    tell(l);
}
