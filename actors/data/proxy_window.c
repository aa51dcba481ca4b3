/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window of batches in flight ahead of the client.
 *
 *     EMPTY -> QUEUED -> ASKED -> [PULLED] -> READY      QUEUED again when a sampler was lost,
 *                                          -> FAILED     EMPTY again when the client moves past it,
 *                                                        or one before it finds no room
 *
 * Invariants: turns [position, next_ask) have slots, turn t in slot t % window, and next_ask is
 * never more than a window ahead, so no two turns share one. A slot that is not EMPTY or FAILED has
 * its room reserved in the store, or its batch there. Only the batch of `position` answers a
 * client; what is READY ahead of it waits in the store. Everything that changes a slot ends in
 * proxy_fill(), which alone answers and asks.
 */
#include "actors/common/error_reply.h"
#include "actors/data/proxy_state.h"

static struct batch_store *store_of(const struct proxy_loader *l)
{
    return l->proxy->options->store;
}

/* The end of the epoch, or where the next one ends: the client may go on with that. */
static uint64_t end_of(const struct proxy_loader *l)
{
    bool follows = l->follows && l->epoch != UINT32_MAX;
    return l->first + l->num_steps * (follows ? 2 : 1);
}

static bool is_of_next(const struct proxy_loader *l, uint64_t turn)
{
    return turn - l->first >= l->num_steps;
}

void proxy_drop_epoch(struct proxy_loader *l)
{
    for (uint32_t i = 0; i < l->window; i++)
        proxy_cancel(&l->slots[i]);
    l->begun = false;
    /* The store follows after the slots, whose room is given back under the epoch that they were
     * reserved for. */
    batch_store_set_epoch(store_of(l), l->open.loader, l->epoch, l->position - l->first);
}

static void begin_epoch(struct proxy_loader *l, uint32_t epoch, uint64_t step)
{
    /* The old epoch is dropped under its own number, by which its slots and their room are
     * known. */
    proxy_drop_epoch(l);
    l->epoch = epoch;
    l->begun = true;
    l->first = 0;
    l->position = l->next_ask = step;
    batch_store_set_epoch(store_of(l), l->open.loader, epoch, step);
}

static void advance_window(struct proxy_loader *l, uint64_t position)
{
    /* The slots go before the store's position: what is passed is neither wanted nor reserved
     * there. */
    for (uint64_t turn = l->position; turn < position && turn < l->next_ask; turn++)
        proxy_cancel(proxy_slot(l, turn));
    batch_store_advance(store_of(l), l->open.loader, l->epoch, position - l->first);
    l->position = position;
    l->next_ask = l->next_ask < position ? position : l->next_ask;
}

/* Batches that failed ahead of their time are tried again when their time comes. */
static void forget_failures(struct proxy_loader *l)
{
    for (uint32_t i = 0; i < l->window; i++)
        if (l->slots[i].state == SLOT_FAILED)
            l->slots[i].state = SLOT_EMPTY;
}

static void go_on(struct proxy_loader *l)
{
    /* The window moves past the old epoch while `first` is still its beginning, by which the
     * store counts its steps. */
    advance_window(l, l->first + l->num_steps);
    l->first += l->num_steps;
    l->epoch++;
    forget_failures(l);
}

/* A client that waits for a batch it already took lost our notice: rewind to it. */
static bool is_wanted_again(const struct proxy_loader *l, uint32_t epoch, uint64_t step, bool waits)
{
    return waits && batch_store_is_taken(store_of(l), l->open.loader, epoch, step);
}

void proxy_move_to(struct proxy_loader *l, uint32_t epoch, uint64_t step, bool waits)
{
    bool is_next = l->begun && l->epoch != UINT32_MAX && epoch == l->epoch + 1;
    bool ended = l->begun && is_of_next(l, l->position + 1); /* at the last batch, or past it */
    step = step < l->num_steps ? step : l->num_steps;
    /* The client's habit at an epoch's end is learned before anything moves: it says how far the
     * window reaches the next time. */
    if (ended && (epoch != l->epoch || l->first + step < l->position))
        l->follows = is_next;
    /* Going on comes before the test below, which is of the epoch that is then the present one. */
    if (is_next)
        go_on(l);
    if (!l->begun || epoch != l->epoch || l->first + step < l->position ||
        is_wanted_again(l, epoch, step, waits))
        begin_epoch(l, epoch, step);
    else
        advance_window(l, l->first + step);
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
    head->loader = l->open.loader;
    head->batch = proxy_slot(l, l->position)->step;
    head->epoch = proxy_slot(l, l->position)->epoch;
    actor_reply(self, request, reply);
}

/* Answers the client that waits. A failure is reported once; the next request tries again. */
static void answer_waiter(struct proxy_loader *l)
{
    struct proxy_slot *slot = proxy_slot(l, l->position);
    if (l->waiter == NULL || !l->begun || l->position >= l->next_ask)
        return;
    if (slot->state == SLOT_READY) {
        reply_ready(l);
    } else if (slot->state == SLOT_FAILED) {
        struct message *request = l->waiter;
        l->waiter = NULL;
        error_reply_send(l->proxy->self, request, &slot->error);
        slot->state = SLOT_EMPTY;
    }
}

/* The epoch and step of the turn, which the store knows its batch by. */
static void name_slot(const struct proxy_loader *l, uint64_t turn, struct proxy_slot *slot)
{
    bool next = is_of_next(l, turn);
    slot->epoch = l->epoch + (next ? 1 : 0);
    slot->step = turn - l->first - (next ? l->num_steps : 0);
}

static bool fill_slot(struct proxy_loader *l, uint64_t turn)
{
    struct proxy_slot *slot = proxy_slot(l, turn);
    struct proxy *p = l->proxy;
    if (slot->state == SLOT_EMPTY) {
        /* Room is reserved before the question, so that its answer has a place; and epoch and
         * step are set before that, under which it is reserved, and given back. */
        name_slot(l, turn, slot);
        if (batch_store_reserve(store_of(l), l->open.loader, slot->epoch, slot->step) != 0)
            return false;
        slot->state = SLOT_QUEUED;
        slot->until_ns = actor_now_ns(p->self) + p->options->recovery_ns;
    }
    if (slot->state == SLOT_QUEUED)
        proxy_ask(slot);
    return true;
}

/* A batch that came ahead of its time may have been larger than was expected, so that there is no
 * room left for the one that comes first. The last of those ahead of the same loader goes, and is
 * made again in its turn. */
void proxy_give_way(struct proxy_loader *l)
{
    bool starves = l->begun && l->waiter != NULL && l->position < l->next_ask &&
                   proxy_slot(l, l->position)->state == SLOT_EMPTY;
    for (uint64_t turn = l->next_ask; starves && turn-- > l->position + 1;) {
        struct proxy_slot *slot = proxy_slot(l, turn);
        bool asked = slot->state != SLOT_EMPTY && slot->state != SLOT_FAILED;
        if (asked)
            proxy_cancel(slot);
        else
            name_slot(l, turn, slot);
        /* A sampler of this process gives a batch to the store before its answer is read here, and
         * also after its question was cancelled: the store is looked at whatever the slot says. */
        bool dropped = batch_store_drop(store_of(l), l->open.loader, slot->epoch, slot->step);
        if (asked || dropped)
            return;
    }
}

void proxy_fill(struct proxy_loader *l)
{
    if (!l->begun)
        return;
    uint64_t end = l->position + l->window;
    end = end < end_of(l) ? end : end_of(l);
    /* The waiter is answered before samplers are asked: the client gets what is there at once,
     * and a failure that it heard of leaves its slot free to be asked for again. The outcomes of
     * the asks come later, also where one fails at once (part_call_send), and lead here again. */
    answer_waiter(l);
    uint64_t turn = l->position;
    for (; turn < end && fill_slot(l, turn); turn++)
        l->next_ask = turn < l->next_ask ? l->next_ask : turn + 1;
    if (turn < end && !is_of_next(l, turn)) /* the next epoch can wait until the client moves */
        proxy_retry_later(l);
}
