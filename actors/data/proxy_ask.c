/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's calls to samplers.
 *
 * Invariants: a loader is opened at a sampler before a batch is asked for there, in the same lane,
 * and once for each life of the sampler (`address` says which). An answer that says the sampler is
 * gone, or knows no such loader, forgets that, and the next attempt finds or opens it anew; so a
 * batch fails for good only by its deadline or by an answer that asking again would not change.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/common/error_reply.h"
#include "actors/data/proxy_state.h"
#include "actors/data/sampler.h"
#include "runtime/core/directory.h"

/* Slots that found no room, or whose batch was lost on its way, are looked at again after this. */
#define RETRY_NS UINT64_C(1000000)

static void proxy_ask_retry(struct actor *self, void *arg)
{
    (void)self;
    /* Room is made in an event of its own, where none of the slots is in the middle of anything;
     * and before the window is filled, which takes it. */
    proxy_give_way(arg);
    proxy_fill(arg);
}

void proxy_retry_later(struct proxy_loader *l)
{
    struct actor *self = l->proxy->self;
    if (!timer_is_started(&l->retry))
        timer_start(self, &l->retry, actor_now_ns(self) + RETRY_NS, proxy_ask_retry, l);
}

static void proxy_ask_found(struct actor *self, void *arg, int status, struct address address)
{
    struct sampler_link *link = arg;
    (void)self;
    link->finding = false;
    if (status == TR_ECANCELED)
        return;
    /* The address is set before the slots that wait are notified: they ask at once, and look for
     * it here. */
    link->address = status == 0 ? address : ADDRESS_NONE;
    for (struct proxy_loader *l = link->proxy->loaders; l != NULL; l = l->next)
        for (uint64_t turn = l->position; turn < l->next_ask; turn++)
            part_call_located(&proxy_slot(l, turn)->call, status == 0 ? 0 : TR_EPEERDOWN);
}

static void find_sampler(struct proxy *p, uint32_t sampler)
{
    struct sampler_link *link = &p->samplers[sampler];
    const struct plan *plan = p->options->plan;
    char name[DIRECTORY_NAME_MAX];
    /* There is one search at a time, and none for a sampler that is known: slots ask for all
     * samplers with each attempt. */
    if (link->finding || !address_is_none(link->address))
        return;
    sampler_name(sampler, name, sizeof name);
    uint64_t until = actor_now_ns(p->self) + p->options->recovery_ns;
    uint32_t node = plan != NULL ? plan_sampler_node(plan, sampler) : actor_address(p->self).node;
    link->finding = directory_wait_at(p->self, node, name, until, proxy_ask_found, link) == 0;
}

void proxy_find_samplers(struct proxy *p, bool all)
{
    struct plan_range range = { 0, p->options->num_samplers };
    if (!all)
        range = p->own;
    for (uint32_t i = 0; i < range.count; i++)
        find_sampler(p, range.first + i);
}

static void fail_all(struct proxy_loader *l, const struct error *error)
{
    for (uint32_t i = 0; i < l->window; i++) {
        struct proxy_slot *slot = &l->slots[i];
        if (!proxy_is_under_way(slot))
            continue;
        /* The cancel comes first: it gives the room back, and leaves the slot empty. */
        proxy_cancel(slot);
        slot->state = SLOT_FAILED;
        slot->error = *error;
    }
    proxy_retry_later(l);
}

void proxy_close_at(struct proxy_open *open)
{
    struct actor *self = open->loader->proxy->self;
    if (open->call.id != 0 || address_is_none(open->address))
        return;
    struct message *message = message_create(self, MSG_LOADER_CLOSE);
    if (message == NULL)
        return; /* the sampler keeps its seeds until it ends: no batch is made from them */
    ((struct msg_loader_close *)message_head(message))->loader = open->loader->open.loader;
    actor_send(self, open->address, message);
    open->address = ADDRESS_NONE;
}

static void say_unopened(const struct proxy_open *open, int status, struct error *error)
{
    if (error->code == 0) /* else the sampler's own words */
        error_set(error, status, "sampler %" PRIu32 " did not open the loader: %s", open->sampler,
                  tr_strerror(status));
}

static void open_done(struct actor *self, void *arg, int status, struct message *reply)
{
    struct proxy_open *open = arg;
    struct error error = { 0 };
    /* The call is forgotten first: closing and forgetting the loader below depend on whether one
     * is under way. */
    open->call = (struct call_id){ 0 };
    if (status == TR_ECANCELED)
        return;
    if (status == 0)
        status = error_reply_read(reply, &error);
    message_release(self, reply);
    /* Whatever the answer is: a loader that is closed by now waits only for this call. It is closed
     * there before it is forgotten, which frees it. */
    if (open->loader->closed) {
        proxy_close_at(open);
        proxy_forget(open->loader);
        return;
    }
    open->why[0] = '\0';
    if (status == 0)
        return;
    open->address = ADDRESS_NONE; /* the next attempt of a slot opens it again */
    say_unopened(open, status, &error);
    if (part_call_is_transient(status))
        snprintf(open->why, sizeof open->why, "%.*s", (int)sizeof open->why - 1, error.text);
    else
        fail_all(open->loader, &error);
}

/* A message later in the same lane arrives later, so a batch may be asked for at once. */
static int open_at(struct proxy_loader *l, uint32_t sampler)
{
    struct proxy *p = l->proxy;
    struct proxy_open *open = &l->samplers[sampler];
    if (address_equal(open->address, p->samplers[sampler].address))
        return 0;
    /* The call to an earlier life ends first: its answer would be taken for that of this one. */
    if (open->call.id != 0)
        actor_cancel(p->self, open->call);
    struct message *request = message_copy(p->self, l->unlisted);
    if (request == NULL)
        return TR_ENOMEM;
    open->address = p->samplers[sampler].address;
    int rv = actor_call(p->self, open->address, request,
                        actor_now_ns(p->self) + p->options->recovery_ns, open_done, open,
                        &open->call);
    if (rv != 0)
        open->address = ADDRESS_NONE;
    return rv;
}

static bool find_up(const struct proxy *p, struct plan_range range, uint64_t turn,
                    uint32_t *sampler)
{
    for (uint32_t i = 0; i < range.count; i++) {
        *sampler = range.first + (uint32_t)((turn + i) % range.count);
        if (!address_is_none(p->samplers[*sampler].address))
            return true;
    }
    return false;
}

/* One of the trainer's own samplers; else any, while those are down. */
static bool choose_sampler(struct proxy *p, uint64_t turn, uint32_t *sampler)
{
    const struct plan_range all = { 0, p->options->num_samplers };
    proxy_find_samplers(p, false);
    if (find_up(p, p->own, turn, sampler))
        return true;
    proxy_find_samplers(p, true);
    return find_up(p, all, turn, sampler);
}

void proxy_fail(struct proxy_slot *slot, int status, const struct error *error)
{
    slot->state = SLOT_FAILED;
    slot->error = *error;
    if (error->code == 0)
        error_set(&slot->error, status, "batch %" PRIu64 ": %s", slot->step, tr_strerror(status));
    batch_store_unreserve(slot->loader->proxy->options->store, slot->loader->open.loader,
                          slot->epoch, slot->step);
    /* The window is filled last: where the client waits for this batch it hears of it, and the
     * slot starts anew. */
    proxy_fill(slot->loader);
}

void proxy_settle(struct proxy_slot *slot, int status, const struct error *error)
{
    struct proxy_loader *l = slot->loader;
    if (status == 0) {
        slot->state = SLOT_READY;
        proxy_fill(l);
    } else if (part_call_is_transient(status) && actor_now_ns(l->proxy->self) < slot->until_ns) {
        slot->state = SLOT_QUEUED;
        proxy_retry_later(l);
    } else {
        proxy_fail(slot, status, error);
    }
}

/* The batch is in the store (0), where a sampler elsewhere can't have put it; it is to be pulled
 * (1); or the store had no room for it (TR_EFULL): it is the client that has to release batches. */
static int find_batch(struct proxy_slot *slot, const struct message *reply, struct error *error)
{
    const struct msg_batch_reply *head = (const void *)reply->head;
    bool is_elsewhere = reply->frame.from.node != actor_address(slot->loader->proxy->self).node;
    if (reply->frame.kind != MSG_BATCH_REPLY ||
        (is_elsewhere && (head->bytes == 0 || head->full != 0)))
        return error_set(error, TR_EFORMAT,
                         "batch %" PRIu64 " of sampler %" PRIu32 " came without "
                         "its bytes",
                         slot->step, slot->sampler);
    if (head->full != 0)
        return batch_store_say_full(slot->loader->proxy->options->store, head->bytes, error);
    return head->bytes > 0;
}

static void take_answer(struct proxy_slot *slot, struct message *reply)
{
    struct error error = { 0 };
    int rv = find_batch(slot, reply, &error);
    bool is_pulled = rv == 1;
    /* The pull begins before the reply is released, which has its size. */
    if (is_pulled)
        rv = proxy_pull(slot, reply->frame.from,
                        ((const struct msg_batch_reply *)message_head(reply))->bytes, &error);
    message_release(slot->loader->proxy->self, reply);
    /* A lack of memory is asked for first, since memory comes free again: all else that fails
     * here stays so. */
    if (rv == TR_ENOMEM)
        proxy_settle(slot, rv, &error);
    else if (rv < 0) /* an account that is too small for it stays so */
        proxy_fail(slot, rv, &error);
    else if (!is_pulled)
        proxy_settle(slot, 0, &error);
}

/* A sampler that could not open the loader knows nothing of it for that reason. */
static void say_late(const struct proxy_slot *slot, const struct error *why, struct error *error)
{
    const char *unopened = slot->loader->samplers[slot->sampler].why;
    error_set(error, TR_ETIMEDOUT, "batch %" PRIu64 ": %.300s%s%s", slot->step, why->text,
              unopened[0] != '\0' ? "; " : "", unopened);
}

/* A sampler that refuses a batch as too large has words of its own for it. Without any the link has
 * refused the request, which is small but for the seeds that it gives, where there is one; else the
 * sampler had no memory for its words. */
static void say_too_large(const struct proxy_slot *slot, struct error *error)
{
    if (slot->call.to.node == actor_address(slot->loader->proxy->self).node)
        error_set(error, TR_ETOOBIG,
                  "batch %" PRIu64 ": sampler %" PRIu32 " refused it as too large; use smaller "
                  "batches",
                  slot->step, slot->sampler);
    else
        error_set(error, TR_ETOOBIG,
                  "batch %" PRIu64 ": its seeds (%" PRIu32
                  " at most) are larger than half the window of "
                  "the link to sampler %" PRIu32 "; raise the cluster's window_bytes, use smaller "
                  "batches, or give each trainer samplers in its own process",
                  slot->step, slot->loader->open.batch_size, slot->sampler);
}

static void slot_done(struct part_call *call, int status, struct message *reply,
                      const struct error *why)
{
    struct proxy_slot *slot = call->arg;
    struct error error;
    if (status == 0) {
        take_answer(slot, reply);
        return;
    }
    error = *why;
    if (status == TR_ETIMEDOUT)
        say_late(slot, why, &error);
    else if (status == TR_ETOOBIG && strcmp(why->text, tr_strerror(status)) == 0)
        say_too_large(slot, &error);
    proxy_fail(slot, error.code, &error);
}

static int make_request(struct part_call *call, struct message **request)
{
    const struct proxy_slot *slot = call->arg;
    if (slot->loader->listed)
        return proxy_make_listed(slot, request);
    bool once = slot->loader->once;
    *request = once ? message_copy(call->self, slot->loader->message)
                    : message_create(call->self, MSG_BATCH_REQUEST);
    if (once || *request == NULL)
        return *request == NULL ? TR_ENOMEM : 0;
    *(struct msg_batch_request *)message_head(*request) = (struct msg_batch_request){
        .loader = slot->loader->open.loader,
        .batch = slot->step,
        .epoch = slot->epoch,
    };
    return 0;
}

/* Some search ends with part_call_located for all slots that wait. */
static bool is_searched(const struct proxy *p)
{
    for (uint32_t i = 0; i < p->options->num_samplers; i++)
        if (p->samplers[i].finding)
            return true;
    return false;
}

static int locate_sampler(struct part_call *call, struct address *to)
{
    struct proxy_slot *slot = call->arg;
    struct proxy *p = slot->loader->proxy;
    if (!choose_sampler(p, slot->step, &slot->sampler))
        return is_searched(p) ? 1 : TR_EPEERDOWN;
    *to = p->samplers[slot->sampler].address;
    /* The loader is opened before the batch is asked for: messages of one lane arrive in order. */
    return slot->loader->once ? 0 : open_at(slot->loader, slot->sampler);
}

/* Unless another life of the sampler was found meanwhile. */
static void forget_sampler(struct part_call *call, const struct error *why)
{
    struct proxy_slot *slot = call->arg;
    struct sampler_link *link = &slot->loader->proxy->samplers[slot->sampler];
    struct proxy_open *open = &slot->loader->samplers[slot->sampler];
    if (why->code == TR_EPEERDOWN && address_equal(link->address, call->to))
        link->address = ADDRESS_NONE;
    /* A sampler that was started again knows no loaders. */
    if (why->code == TR_ECLOSED && address_equal(open->address, call->to))
        open->address = ADDRESS_NONE;
}

static const struct part_call_ops slot_ops = {
    .locate = locate_sampler, .make = make_request, .failed = forget_sampler, .done = slot_done
};

void proxy_init_slot(struct proxy_slot *slot, struct proxy_loader *l)
{
    *slot = (struct proxy_slot){ .loader = l };
    slot->call = (struct part_call){ .ops = &slot_ops,
                                     .self = l->proxy->self,
                                     .arg = slot,
                                     .call_ns = PART_CALL_PATIENT,
                                     .grace_ns = PROXY_GRACE_NS };
}

void proxy_ask(struct proxy_slot *slot)
{
    slot->state = SLOT_ASKED;
    part_call_reset(&slot->call);
    part_call_send(&slot->call, slot->until_ns);
}

/* Whatever comes of the call is of no interest any more. */
void proxy_cancel(struct proxy_slot *slot)
{
    struct proxy *p = slot->loader->proxy;
    /* The notice goes before the call is cancelled, which forgets that it was sent. The room is
     * given back after the pull has ended: as long as bytes of the batch are held here, they are
     * charged as that, but for a pull that the crew reads just now, which is freed when the crew is
     * done. The state changes last: it says whether there is room to give back. */
    if (slot->call.state == PART_CALL_SENT)
        proxy_unwanted(slot, slot->call.to);
    part_call_cancel(&slot->call);
    proxy_pull_end(slot);
    if (proxy_is_under_way(slot))
        batch_store_unreserve(p->options->store, slot->loader->open.loader, slot->epoch,
                              slot->step);
    slot->state = SLOT_EMPTY;
}
