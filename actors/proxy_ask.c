/* The proxy's calls to samplers. */
#include <inttypes.h>

#include "actors/failed.h"
#include "actors/proxy_state.h"
#include "actors/sampler.h"
#include "runtime/directory.h"

/* Slots that no sampler could take, or that found no room, are looked at again after this. */
#define RETRY_NS UINT64_C(1000000)

static void retry(struct actor *self, void *arg)
{
    (void)self;
    proxy_fill(arg);
}

void proxy_retry_later(struct proxy_loader *l)
{
    struct actor *self = l->proxy->self;
    if (!timer_is_started(&l->retry))
        timer_start(self, &l->retry, actor_now_ns(self) + RETRY_NS, retry, l);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct sampler_link *link = arg;
    (void)self;
    link->finding = false;
    if (status == TR_ECANCELED)
        return;
    link->address = status == 0 ? address : ADDRESS_NONE;
    for (struct proxy_loader *l = link->proxy->loaders; l != NULL; l = l->next)
        proxy_retry_later(l);
}

static void find_sampler(struct proxy *p, uint32_t sampler)
{
    struct sampler_link *link = &p->samplers[sampler];
    const struct plan *plan = p->options->plan;
    char name[DIRECTORY_NAME_MAX];
    if (link->finding || !address_is_none(link->address))
        return;
    sampler_name(sampler, name, sizeof name);
    uint64_t until = actor_now_ns(p->self) + p->options->recovery_ns;
    uint32_t node = plan != NULL ? plan_sampler_node(plan, sampler) : actor_address(p->self).node;
    link->finding = directory_wait_at(p->self, node, name, until, found, link) == 0;
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
    ((struct msg_loader_close *)message_head(message))->loader = open->loader->open->loader;
    actor_send(self, open->address, message);
    open->address = ADDRESS_NONE;
}

static bool is_passing(int status)
{
    return status == TR_EPEERDOWN || status == TR_EFULL || status == TR_ENOMEM ||
           status == TR_ETIMEDOUT;
}

/* What a sampler, or the way there, has against the loader will not pass. */
static void say_unopened(const struct proxy_open *open, int status, struct error *error)
{
    const struct msg_loader_open *head = open->loader->open;
    if (status == TR_ETOOBIG)
        error_set(error, status, "a loader of %" PRIu64 " seeds is larger than half the window of "
                  "the link to sampler %" PRIu32 "; raise the cluster's window_bytes, or give each "
                  "trainer samplers in its own process", head->num_seeds, open->sampler);
    else
        error_set(error, status, "sampler %" PRIu32 " did not open the loader: %s", open->sampler,
                  tr_strerror(status));
}

static void open_done(struct actor *self, void *arg, int status, struct message *reply)
{
    struct proxy_open *open = arg;
    struct error error = { 0 };
    open->call = (struct call_id){ 0 };
    if (status == TR_ECANCELED)
        return;
    int failed = status == 0 ? failed_read(reply, &error) : 0;
    message_release(self, reply);
    if (open->loader->closed) {
        proxy_close_at(open);
        proxy_forget(open->loader);
        return;
    }
    if (status == 0 && failed == 0)
        return;
    open->address = ADDRESS_NONE;
    if (failed == 0 && !is_passing(status) && status != TR_ECLOSED)
        say_unopened(open, status, &error);
    if (error.code != 0)
        fail_all(open->loader, &error);
}

/* A message later in the same lane arrives later, so a batch may be asked for at once. */
static int open_at(struct proxy_loader *l, uint32_t sampler)
{
    struct proxy *p = l->proxy;
    struct proxy_open *open = &l->samplers[sampler];
    if (address_equal(open->address, p->samplers[sampler].address))
        return 0;
    if (open->call.id != 0)
        actor_cancel(p->self, open->call);
    struct message *request = message_copy(p->self, l->message);
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

static void fail(struct proxy_slot *slot, int code, const struct error *error)
{
    slot->state = SLOT_FAILED;
    slot->error = *error;
    if (error->code == 0)
        error_set(&slot->error, code, "batch %" PRIu64 ": %s", slot->step, tr_strerror(code));
    batch_bank_unreserve(slot->loader->proxy->options->bank, slot->loader->open->loader,
                         slot->epoch, slot->step);
}

/* Unless another life of it was found meanwhile. */
static void forget_sampler(struct proxy *p, const struct proxy_slot *slot)
{
    struct sampler_link *link = &p->samplers[slot->sampler];
    if (address_equal(link->address, slot->asked))
        link->address = ADDRESS_NONE;
}

/* What a sampler said, or did not. */
static void settle(struct proxy_slot *slot, int status, int failed, const struct error *error)
{
    struct proxy_loader *l = slot->loader;
    struct proxy *p = l->proxy;
    if (status == 0 && failed == 0) {
        slot->state = SLOT_READY;
        return;
    }
    /* What a sampler has no memory to say in a sentence comes as the status. */
    int said = failed != 0 ? failed : status;
    if (status == TR_EPEERDOWN)
        forget_sampler(p, slot);
    if (said == TR_ECLOSED) /* a sampler that was started again knows no loaders */
        l->samplers[slot->sampler].address = ADDRESS_NONE;
    bool again = said == TR_ECLOSED || said == TR_ECANCELED || status == TR_ENOENT ||
                 is_passing(status);
    if (again && actor_now_ns(p->self) < slot->until_ns)
        slot->state = SLOT_QUEUED;
    else
        fail(slot, said, error);
}

void proxy_settle(struct proxy_slot *slot, int status, int failed, const struct error *error)
{
    settle(slot, status, failed, error);
    if (slot->state == SLOT_QUEUED)
        proxy_retry_later(slot->loader);
    else
        proxy_fill(slot->loader);
}

/* The batch is in the bank (0), where a sampler elsewhere can't have put it; or it is to be
 * pulled (1). */
static int find_batch(struct proxy_slot *slot, const struct message *reply, struct error *error)
{
    const struct msg_batch_reply *head = (const void *)reply->head;
    bool is_elsewhere = reply->frame.from.node != actor_address(slot->loader->proxy->self).node;
    if (reply->frame.kind != MSG_BATCH_REPLY || (is_elsewhere && head->bytes == 0))
        return error_set(error, TR_EFORMAT, "batch %" PRIu64 " of sampler %" PRIu32 " came without "
                         "its bytes", slot->step, slot->sampler);
    return head->bytes > 0;
}

static void done(struct actor *self, void *arg, int status, struct message *reply)
{
    struct proxy_slot *slot = arg;
    struct error error = { 0 };
    if (slot->call.id == 0) /* given up by us; a sampler may say "cancelled" too */
        return;
    slot->call = (struct call_id){ 0 };
    int failed = status == 0 ? failed_read(reply, &error) : 0;
    if (status == 0 && failed == 0)
        failed = find_batch(slot, reply, &error);
    bool is_pulled = failed == 1;
    if (is_pulled)
        failed = proxy_pull(slot, reply->frame.from,
                            ((const struct msg_batch_reply *)message_head(reply))->bytes, &error);
    message_release(self, reply);
    if (!is_pulled || failed != 0)
        proxy_settle(slot, status, failed, &error);
}

void proxy_ask(struct proxy_slot *slot)
{
    struct proxy_loader *l = slot->loader;
    struct proxy *p = l->proxy;
    if (actor_now_ns(p->self) >= slot->until_ns) {
        fail(slot, TR_ETIMEDOUT, &(struct error){ 0 });
        return;
    }
    if (!choose_sampler(p, slot->step, &slot->sampler)) {
        proxy_retry_later(l);
        return;
    }
    struct message *request =
        open_at(l, slot->sampler) != 0 ? NULL : message_create(p->self, MSG_BATCH_REQUEST);
    if (request == NULL) {
        proxy_retry_later(l);
        return;
    }
    struct msg_batch_request *head = message_head(request);
    head->loader = l->open->loader;
    head->batch = slot->step;
    head->epoch = slot->epoch;
    slot->asked = p->samplers[slot->sampler].address;
    int rv = actor_call(p->self, slot->asked, request,
                        slot->until_ns + PROXY_GRACE_NS, done, slot, &slot->call);
    if (rv == 0)
        slot->state = SLOT_ASKED;
    else
        proxy_retry_later(l);
}

/* Whatever comes of the call is of no interest any more. */
void proxy_cancel(struct proxy_slot *slot)
{
    struct proxy *p = slot->loader->proxy;
    struct call_id call = slot->call;
    slot->call = (struct call_id){ 0 };
    if (call.id != 0) {
        actor_cancel(p->self, call);
        proxy_unwanted(slot, slot->asked);
    }
    proxy_pull_end(slot);
    if (proxy_is_under_way(slot))
        batch_bank_unreserve(p->options->bank, slot->loader->open->loader, slot->epoch,
                             slot->step);
    slot->state = SLOT_EMPTY;
}
