/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/proxy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "actors/data/epoch_plan.h"
#include "actors/data/proxy_state.h"
#include "actors/data/seed_set.h"
#include "runtime/core/directory.h"
#include "schemas/body.h"

/* Batches in flight for each sampler when the options don't say. */
#define WINDOW_A_SAMPLER 2u

void proxy_name(uint32_t rank, char name[DIRECTORY_NAME_MAX])
{
    snprintf(name, DIRECTORY_NAME_MAX, "proxy/%" PRIu32, rank);
}

enum proxy_call_end proxy_call_end(int status)
{
    if (status == TR_EPEERDOWN || status == TR_ECLOSED)
        return PROXY_CALL_REOPEN;
    return part_call_peer_recovers(status) ? PROXY_CALL_AGAIN : PROXY_CALL_FAILED;
}

static struct proxy_loader *proxy_find(struct proxy *p, uint64_t id)
{
    struct proxy_loader *l = p->loaders;
    while (l != NULL && l->open.loader != id)
        l = l->next;
    return l;
}

static void free_loader(struct proxy *p, struct proxy_loader *l)
{
    message_release(p->self, l->waiter);
    message_release(p->self, l->message);
    message_release(p->self, l->unlisted);
    epoch_orders_fini(&l->orders);
    seed_set_fini(&l->seeds);
    free(l->slots);
    free(l->samplers);
    free(l);
}

/* The numbers of loaders are counted in each process: what a link brought would name lists of some
 * other loader here. */
static int take_lists(struct proxy_loader *l, const struct message *request, struct error *error)
{
    const struct address self = actor_address(l->proxy->self);
    if (request->frame.from.node != self.node)
        return error_set(error, TR_EUNSUPPORTED,
                         "loader %" PRIu64 ": its seeds are a list in process %" PRIu32
                         "; open it in process %" PRIu32 ", which this trainer-proxy is in",
                         l->open.loader, request->frame.from.node, self.node);
    return seed_set_take(&l->seeds, l->proxy->options->lists, l->open.loader, error);
}

static int read_loader(struct proxy_loader *l, const struct message *request, struct error *error)
{
    const void *body = message_body(l->message);
    uint64_t length = l->message->frame.body_bytes;
    epoch_plan_init(&l->epochs, &l->open, NULL);
    loader_open_spec(&l->open, body, length, &l->spec);
    int rv = seed_set_init(&l->seeds, &l->open, body, length);
    if (rv != 0)
        return rv;
    l->listed = seed_set_is_listed(&l->seeds);
    return l->listed ? take_lists(l, request, error) : 0;
}

static int make_loader(struct proxy *p, const struct msg_loader_open *open, struct message *request,
                       struct proxy_loader **out, struct error *error)
{
    struct proxy_loader *l = calloc(1, sizeof *l);
    if (l == NULL)
        return TR_ENOMEM;
    l->proxy = p;
    /* The copy is made first: segments and spec are read from it, and lie in it as long as the
     * loader lives. */
    l->message = message_copy(p->self, request);
    l->open = *open;
    l->once = request->frame.kind == MSG_DRAW_REQUEST;
    uint32_t wanted = open->prefetch;
    wanted = wanted != 0 ? wanted : WINDOW_A_SAMPLER * p->own.count;
    l->window = wanted < PROXY_WINDOW_MAX ? wanted : PROXY_WINDOW_MAX;
    l->slots = calloc(l->window, sizeof *l->slots);
    l->samplers = calloc(p->options->num_samplers, sizeof *l->samplers);
    if (l->message == NULL || l->slots == NULL || l->samplers == NULL) {
        free_loader(p, l);
        return TR_ENOMEM;
    }
    int rv = read_loader(l, request, error);
    l->unlisted = rv == 0 ? proxy_make_unlisted(l) : NULL;
    if (l->unlisted == NULL) {
        free_loader(p, l);
        return rv != 0 ? rv : TR_ENOMEM;
    }
    l->num_steps = epoch_plan_steps(&l->epochs);
    l->follows = !l->once;
    for (uint32_t i = 0; i < l->window; i++)
        proxy_init_slot(&l->slots[i], l);
    for (uint32_t i = 0; i < p->options->num_samplers; i++) {
        l->samplers[i].loader = l;
        l->samplers[i].sampler = i;
    }
    *out = l;
    return 0;
}

static int add_loader(struct proxy *p, const struct msg_loader_open *open, struct message *request,
                      struct proxy_loader **out, struct error *error)
{
    struct proxy_loader *l;
    int rv = make_loader(p, open, request, &l, error);
    if (rv != 0)
        return rv;
    /* The store knows a loader before it is on the list, whose slots reserve room there. */
    rv = batch_store_open_loader(
        p->options->store, l->open.loader,
        proxy_estimate(p->options, open, seed_set_is_pairs(&l->seeds), &l->spec));
    if (rv != 0) {
        free_loader(p, l);
        return rv;
    }
    l->next = p->loaders;
    p->loaders = l;
    *out = l;
    return 0;
}

/* The samplers say what kinds there are: they may be of another version. */
static int proxy_check(const struct proxy *p, const struct msg_loader_open *open,
                       const struct message *request)
{
    struct epoch_plan epochs;
    struct sample_spec spec;
    bool bad = loader_open_spec(open, message_body(request), request->frame.body_bytes, &spec) !=
                   0 ||
               spec.num_etypes != p->options->book->types.num_etypes;
    int rv = bad ? TR_EINVAL
                 : seed_set_check(p->options->book, open, message_body(request),
                                  request->frame.body_bytes, NULL);
    return rv != 0 ? rv : epoch_plan_init(&epochs, open, NULL);
}

/* The close of a loader, or of a draw, that its client gave up while the request for it was on its
 * way may come first: it has the faster lane, and perhaps another port. The number is noted, since
 * nobody would close what that request opens. */
static void note_early(struct proxy *p, uint64_t id)
{
    p->early[p->num_early++ % PROXY_EARLY_MAX] = id;
}

static bool is_early(const struct proxy *p, uint64_t id)
{
    for (uint64_t i = 0; i < p->num_early && i < PROXY_EARLY_MAX; i++)
        if (p->early[i] == id)
            return true;
    return false;
}

static void open_loader(struct proxy *p, struct message *request)
{
    const struct msg_loader_open *open = message_head(request);
    struct proxy_loader *l = proxy_find(p, open->loader);
    struct error error = { 0 };
    int rv = proxy_check(p, open, request);
    if (rv == 0 && l == NULL)
        rv = is_early(p, open->loader) ? TR_ECANCELED : add_loader(p, open, request, &l, &error);
    if (error.code != 0) {
        error_reply_send(p->self, request, &error);
        return;
    }
    /* A loader that could not be answered stays: the call comes again and finds it. */
    struct message *reply = rv != 0 ? NULL : message_create(p->self, MSG_LOADER_OPENED);
    if (reply == NULL) {
        actor_refuse(p->self, request, rv != 0 ? rv : TR_ENOMEM);
        return;
    }
    struct msg_loader_opened *head = message_head(reply);
    head->loader = open->loader;
    head->num_batches = l->num_steps;
    actor_reply(p->self, request, reply);
}

static void end_loader(struct proxy_loader *l)
{
    struct proxy *p = l->proxy;
    /* Slots give their room back while the store still knows the loader. */
    proxy_drop_epoch(l);
    timer_stop(&l->retry);
    batch_store_close_loader(p->options->store, l->open.loader);
    if (l->waiter != NULL)
        actor_refuse(p->self, l->waiter, TR_ECANCELED);
    l->waiter = NULL;
}

static struct proxy_loader *unlink_loader(struct proxy_loader **link, uint64_t id)
{
    while (*link != NULL && (*link)->open.loader != id)
        link = &(*link)->next;
    struct proxy_loader *l = *link;
    if (l != NULL)
        *link = l->next;
    return l;
}

void proxy_forget(struct proxy_loader *l)
{
    struct proxy *p = l->proxy;
    for (uint32_t i = 0; i < p->options->num_samplers; i++)
        if (l->samplers[i].call.id != 0)
            return;
    unlink_loader(&p->closing, l->open.loader);
    free_loader(p, l);
}

static void close_loader(struct proxy *p, uint64_t id)
{
    struct proxy_loader *l = unlink_loader(&p->loaders, id);
    if (l == NULL) {
        note_early(p, id);
        return;
    }
    end_loader(l);
    /* The loader is on the list of those that close before any sampler is notified: calls that
     * open it somewhere are under way, and their ends look for it there. */
    l->closed = true;
    l->next = p->closing;
    p->closing = l;
    for (uint32_t i = 0; i < p->options->num_samplers; i++)
        proxy_close_at(&l->samplers[i]);
    /* This comes last: it takes the loader off that list and frees it, unless a call is under way,
     * whose end closes the loader at its sampler and comes here again. */
    proxy_forget(l);
}

static void cancel_epoch(struct proxy_loader *l)
{
    proxy_drop_epoch(l);
    if (l->waiter != NULL)
        actor_refuse(l->proxy->self, l->waiter, TR_ECANCELED);
    l->waiter = NULL;
}

static void ask_batch(struct proxy *p, struct message *request)
{
    const struct msg_batch_request *asked = message_head(request);
    bool waits = (request->frame.flags & MESSAGE_REQUEST) != 0;
    struct proxy_loader *l = proxy_find(p, asked->loader);
    /* Only a call must name a batch of the epoch: a notice may name its end, or none. */
    if (l == NULL || (waits && asked->batch >= l->num_steps)) {
        actor_refuse(p->self, request, l == NULL ? TR_ECLOSED : TR_ERANGE);
        return;
    }
    if (asked->batch == MSG_BATCH_NONE) {
        cancel_epoch(l);
        message_release(p->self, request);
        return;
    }
    /* The window moves before the request waits: the waiter is answered by the batch of the
     * position, and the old one is not to have the batch that the new one asked for. */
    proxy_move_to(l, asked->epoch, asked->batch, waits);
    if (waits && l->waiter != NULL)
        actor_refuse(p->self, l->waiter, TR_ECANCELED);
    if (waits)
        l->waiter = request;
    else
        message_release(p->self, request);
    proxy_fill(l);
}

/* The waiter is the request itself; a repeated one, whose first answer nobody waits for any more,
 * takes its place. The requester closes it when the batch is collected, or not wanted any more. */
static void proxy_draw(struct proxy *p, struct message *request)
{
    const struct msg_loader_open open = draw_as_loader(message_head(request));
    struct proxy_loader *l = proxy_find(p, open.loader);
    bool waits = (request->frame.flags & MESSAGE_REQUEST) != 0;
    int rv = waits ? proxy_check(p, &open, request) : TR_EINVAL;
    if (rv == 0 && l == NULL)
        rv = is_early(p, open.loader) ? TR_ECANCELED : add_loader(p, &open, request, &l, NULL);
    if (rv != 0) {
        actor_refuse(p->self, request, rv);
        return;
    }
    /* The window moves before the request waits, as in ask_batch(). The request waits before the
     * window is filled: proxy_fill() answers the request that waits where the batch is ready or has
     * failed already (the request may be a repeat), and nothing else would come to answer it. */
    proxy_move_to(l, 0, 0, true);
    if (l->waiter != NULL)
        actor_refuse(p->self, l->waiter, TR_ECANCELED);
    l->waiter = request;
    proxy_fill(l);
}

static int proxy_receive(struct actor *self, struct message *message)
{
    struct proxy *p = actor_state(self);
    switch (message->frame.kind) {
    case MSG_LOADER_OPEN:
        open_loader(p, message);
        break;
    case MSG_BATCH_REQUEST:
        ask_batch(p, message);
        break;
    case MSG_DRAW_REQUEST:
        proxy_draw(p, message);
        break;
    case MSG_LOADER_CLOSE:
        close_loader(p, ((const struct msg_loader_close *)message_head(message))->loader);
        message_release(self, message);
        break;
    default:
        actor_refuse(self, message, TR_EUNSUPPORTED);
        break;
    }
    return 0;
}

static struct plan_range own_samplers(const struct proxy_options *o)
{
    if (o->plan == NULL)
        return (struct plan_range){ 0, o->num_samplers };
    return plan_trainer_samplers(o->plan, o->rank);
}

static int proxy_start(struct actor *self, const void *arg)
{
    struct proxy *p = calloc(1, sizeof *p);
    if (p == NULL)
        return TR_ENOMEM;
    actor_set_state(self, p);
    p->self = self;
    p->options = arg;
    p->samplers = calloc(p->options->num_samplers, sizeof *p->samplers);
    if (p->samplers == NULL)
        return TR_ENOMEM;
    for (uint32_t i = 0; i < p->options->num_samplers; i++)
        p->samplers[i].proxy = p;
    p->own = own_samplers(p->options);
    /* Samplers are looked for before anyone finds the proxy by its name, and asks; it joins last,
     * when it could be asked to stop. */
    proxy_find_samplers(p, false);
    char name[DIRECTORY_NAME_MAX];
    proxy_name(p->options->rank, name);
    int rv = directory_register(self, name, NULL, NULL);
    p->member = (struct process_member){ .role = MSG_ROLE_TRAINER,
                                         .rank = p->options->rank,
                                         .plan = p->options->plan,
                                         .root = p->options->root };
    return rv == 0 && p->options->join ? process_member_join(self, &p->member) : rv;
}

static void proxy_stop(struct actor *self)
{
    struct proxy *proxy = actor_state(self);
    process_member_stop(self, &proxy->member);
}

static void proxy_fini(struct actor *self)
{
    struct proxy *p = actor_state(self);
    if (p == NULL)
        return;
    while (p->loaders != NULL) {
        struct proxy_loader *l = p->loaders;
        p->loaders = l->next;
        /* The pulls end first: proxy_pull_end(), by way of end_loader(), would leave a batch to
         * the crew, which is done with it, and cancel waits that have ended with the actor. */
        for (uint32_t i = 0; i < l->window; i++)
            proxy_pull_fini(&l->slots[i]);
        /* Nobody cancelled it: the next life of the proxy is to be asked for the batch. */
        message_release(self, l->waiter);
        l->waiter = NULL;
        end_loader(l);
        free_loader(p, l);
    }
    while (p->closing != NULL) {
        struct proxy_loader *l = p->closing;
        p->closing = l->next;
        free_loader(p, l);
    }
    free(p->samplers);
    free(p);
}

const struct actor_ops proxy_ops = {
    .name = "proxy",
    .start = proxy_start,
    .receive = proxy_receive,
    .stop = proxy_stop,
    .fini = proxy_fini,
};
