/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "schemas/body.h"

/* An attempt that failed in passing is repeated after this. */
#define AGAIN_NS UINT64_C(1000000)
/* A call to a proxy that stands still is given up after this. */
#define OPEN_NS UINT64_C(1000000000)
#define NAP_NS UINT64_C(2000000000)
/* Single draws that each trainer makes after its epochs, while others are still at theirs. */
#define SINGLE_DRAWS 3u

struct client_actor {
    struct actor *self;
    struct world *world;
    uint32_t number;
    const struct client_plan *plan;
    struct draws draws;
    struct address proxy;
    uint64_t loader;
    uint32_t epoch;
    uint64_t next, steps;
    uint32_t disturbances;
    uint64_t taken;
    struct sampled_batch *held[SCENARIO_HOLD_MAX + 1];
    uint32_t num_held;
    struct timer timer;
    struct call_id asked;   /* the request that is open */
    struct timer interrupt; /* fires while it is */
    uint32_t drawn;         /* single draws so far; the present one has the number `loader` */
    bool finished;
};

static void sim_client_find(struct client_actor *c);
static void sim_client_go(struct client_actor *c);
static void sim_client_draw(struct client_actor *c);

static void sim_client_wake(struct actor *self, void *arg)
{
    struct client_actor *c = arg;
    (void)self;
    if (address_is_none(c->proxy))
        sim_client_find(c);
    else
        sim_client_go(c);
}

/* The next batch that it wants is that one: between the first and the last it is in the middle of an
 * epoch. */
static void sim_client_turn_to(struct client_actor *c, uint64_t batch)
{
    uint64_t bit = UINT64_C(1) << c->number;
    c->next = batch;
    c->world->in_epoch &= ~bit;
    if (batch == 0)
        c->world->bereft &= ~bit;
    else if (batch < c->steps)
        c->world->in_epoch |= bit;
}

static void go_later(struct client_actor *c, uint64_t after_ns)
{
    timer_start(c->self, &c->timer, actor_now_ns(c->self) + after_ns, sim_client_wake, c);
}

static void find_again(struct client_actor *c)
{
    c->proxy = ADDRESS_NONE;
    go_later(c, AGAIN_NS);
}

static void release_held(struct client_actor *c)
{
    for (uint32_t i = 0; i < c->num_held; i++)
        sampled_batch_release(c->held[i]);
    c->num_held = 0;
}

/* A batch that failed. A user would see it: what servers and samplers lack for a while is theirs to
 * get over. The account of batches is the user's: some are released. */
static void note_failure(struct client_actor *c, int code, const struct error *error)
{
    bool is_ours = code == TR_EFULL && strstr(error->text, "account \"batches\"") != NULL;
    c->world->tally.failures_told++;
    release_held(c);
    if (!is_ours)
        world_fail(c->world,
                   "trainer %" PRIu32 ", epoch %" PRIu32 ", batch %" PRIu64 ": failed with %d: %s",
                   c->number, c->epoch, c->next, code, error->text);
    go_later(c, AGAIN_NS);
}

static void sim_client_opened(struct actor *self, void *arg, int status, struct message *reply)
{
    struct client_actor *c = arg;
    struct error error = { 0 };
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    c->world->tally.calls_completed++;
    if (part_call_is_transient(status)) {
        find_again(c);
    } else if (status != 0) {
        world_fail(c->world, "trainer %" PRIu32 ": its loader was not opened: %s", c->number,
                   tr_error_name(status));
    } else if (failed != 0) {
        note_failure(c, failed, &error);
        c->proxy = ADDRESS_NONE;
    } else {
        const struct msg_loader_opened *head = message_head(reply);
        if (head->loader != c->loader || head->num_batches != c->steps)
            world_fail(c->world,
                       "trainer %" PRIu32 ": opened loader %" PRIu64 " of %" PRIu64
                       " batches, not %" PRIu64 " of %" PRIu64,
                       c->number, head->loader, head->num_batches, c->loader, c->steps);
        sim_client_go(c);
    }
    message_release(self, reply);
}

static struct message *make_open(struct client_actor *c)
{
    const struct wanted_loader *loader = &c->plan->loader;
    /* The lists are there before the proxy is asked, which looks for them. */
    wanted_loader_put(loader, &c->world->partitions, c->world->lists, c->loader);
    struct message *request = message_create(c->self, MSG_LOADER_OPEN);
    void *body = request == NULL
                     ? NULL
                     : message_body_alloc(c->self, request, wanted_loader_bytes(loader));
    if (body == NULL) {
        message_release(c->self, request);
        return NULL;
    }
    struct msg_loader_open *head = message_head(request);
    *head = loader->open;
    head->loader = c->loader;
    wanted_loader_write(loader, head, body);
    return request;
}

static void open_loader(struct client_actor *c)
{
    struct message *request = make_open(c);
    if (request == NULL || actor_call(c->self, c->proxy, request, actor_now_ns(c->self) + OPEN_NS,
                                      sim_client_opened, c, NULL) != 0) {
        find_again(c);
        return;
    }
    c->world->tally.calls_opened++;
}

static void sim_client_found(struct actor *self, void *arg, int status, struct address address)
{
    struct client_actor *c = arg;
    (void)self;
    if (status != 0) {
        find_again(c);
        return;
    }
    c->proxy = address;
    if (c->drawn > 0)
        sim_client_draw(c);
    else
        open_loader(c);
}

static void sim_client_find(struct client_actor *c)
{
    if (directory_wait(c->self, WORLD_PROXY, actor_now_ns(c->self) + OPEN_NS, sim_client_found,
                       c) != 0)
        find_again(c);
}

static struct message *make_request(struct client_actor *c, uint64_t batch)
{
    struct message *request = message_create(c->self, MSG_BATCH_REQUEST);
    if (request == NULL)
        return NULL;
    struct msg_batch_request *head = message_head(request);
    head->loader = c->loader;
    head->epoch = c->epoch;
    head->batch = batch;
    return request;
}

/* A notice may be lost: the next request says the same. */
static void sim_client_notify(struct client_actor *c, uint64_t batch)
{
    struct message *notice = make_request(c, batch);
    if (notice != NULL)
        actor_send(c->self, c->proxy, notice);
}

static void sim_client_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct client_actor *c = arg;
    struct error error = { 0 };
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    c->world->tally.calls_completed++;
    c->asked = (struct call_id){ 0 };
    /* The timer stops before anything comes of the answer: the interrupt is for an open request
     * alone. */
    timer_stop(&c->interrupt);
    message_release(self, reply);
    if (failed != 0) {
        note_failure(c, failed, &error);
    } else if (status == 0) {
        sim_client_go(c);
    } else if (proxy_call_end(status) == PROXY_CALL_REOPEN) {
        find_again(c);
    } else if (status == TR_ETIMEDOUT || status == TR_ECANCELED ||
               proxy_call_end(status) == PROXY_CALL_AGAIN) {
        /* A look ended, or we cancelled it, or it may pass. */
        if (status != TR_ETIMEDOUT || batch_store_is_starving(c->world->store, c->loader))
            release_held(c);
        go_later(c, status == TR_ETIMEDOUT ? 0 : AGAIN_NS);
    } else {
        world_fail(c->world, "trainer %" PRIu32 ": a request was answered with %d (%s)", c->number,
                   status, tr_strerror(status));
    }
}

/* The list goes before the proxy hears of the close: it has a reference of its own. */
static void close_loader(struct client_actor *c)
{
    seed_lists_drop(c->world->lists, c->loader);
    struct message *message = message_create(c->self, MSG_LOADER_CLOSE);
    if (message == NULL)
        return; /* it stays open until the proxy ends */
    ((struct msg_loader_close *)message_head(message))->loader = c->loader;
    actor_send(c->self, c->proxy, message);
}

static void sim_client_reopen(struct client_actor *c)
{
    close_loader(c);
    c->loader = c->world->next_loader++;
    sim_client_turn_to(c, 0);
    open_loader(c);
}

/* Somebody else cancels or closes while a batch is waited for. */
static void sim_client_interrupt(struct actor *self, void *arg)
{
    struct client_actor *c = arg;
    c->disturbances--;
    c->world->tally.disturbances++;
    if (draws_chance(&c->draws, 50)) {
        sim_client_notify(c, MSG_BATCH_NONE);
        sim_client_turn_to(c, 0); /* the proxy refuses the request */
        return;
    }
    /* The call ends first: its end starts the timer for another attempt, which is stopped here. */
    actor_cancel(self, c->asked);
    timer_stop(&c->timer);
    sim_client_reopen(c);
}

static void sim_client_ask(struct client_actor *c)
{
    struct message *request = make_request(c, c->next);
    uint64_t now_ns = actor_now_ns(c->self);
    if (request == NULL || actor_call(c->self, c->proxy, request, now_ns + c->plan->look_ns,
                                      sim_client_answered, c, &c->asked) != 0) {
        go_later(c, AGAIN_NS);
        return;
    }
    c->world->tally.calls_opened++;
    if (c->disturbances > 0 && draws_chance(&c->draws, c->plan->disturbance_percent))
        timer_start(c->self, &c->interrupt, now_ns + draws_below(&c->draws, c->plan->look_ns),
                    sim_client_interrupt, c);
}

/* The kind that a single draw lists, also where the loader has ranks of edges. */
static uint32_t listed_kind(const struct wanted_loader *loader)
{
    return loader->pairs == NULL                        ? MSG_SEEDS_LISTED
           : loader->open.seeds == MSG_SEEDS_EDGE_RANKS ? MSG_SEEDS_EDGES
                                                        : loader->open.seeds;
}

/* A single draw, as tr_sample() makes it: the first seeds of the loader's, as they stand. */
static struct wanted_loader single_draw(const struct client_actor *c)
{
    struct wanted_loader one = wanted_loader_first(&c->plan->loader);
    uint32_t most = one.open.batch_size;
    const struct msg_draw_request head = {
        .draw = c->loader,
        .seed = one.open.seed + c->drawn,
        .num_seeds = one.open.num_seeds < most ? (uint32_t)one.open.num_seeds : most,
        .ntype = one.open.ntype,
        .features = one.open.features,
        .labels = one.open.labels,
        .flags = one.open.flags,
        .spec_bytes = (uint32_t)sample_spec_bytes(&one.spec),
        .seeds = listed_kind(&one),
        .etype = one.open.etype,
        .num_negatives = one.open.num_negatives,
        .negative_ranks = one.open.negative_ranks,
        .reverse_etype = one.open.reverse_etype,
        .reverse_rule = one.open.reverse_rule,
        .negative_ends = one.open.negative_ends,
        .negative_source_ranks = one.open.negative_source_ranks,
    };
    one.open = draw_as_loader(&head);
    one.excludes = one.excludes_in_draw && key_mix(one.open.seed) % 2 == 0;
    return one;
}

static struct message *make_draw(struct client_actor *c, const struct wanted_loader *one)
{
    const struct wanted_loader first = wanted_loader_first(&c->plan->loader);
    struct message *request = message_create(c->self, MSG_DRAW_REQUEST);
    size_t ids_bytes = one->open.num_seeds * seed_kind_ids(one->open.seeds) * sizeof(uint64_t);
    uint32_t excluded = wanted_loader_excluded(one, &c->world->partitions, NULL);
    size_t bytes = ids_bytes + excluded * sizeof(struct msg_excluded_edge);
    uint64_t *ids = request == NULL
                        ? NULL
                        : message_body_alloc(c->self, request, bytes + one->open.spec_bytes);
    if (ids == NULL) {
        message_release(c->self, request);
        return NULL;
    }
    wanted_loader_write_seeds(one, &c->world->partitions, ids);
    wanted_loader_excluded(one, &c->world->partitions,
                           (struct msg_excluded_edge *)((unsigned char *)ids + ids_bytes));
    sample_spec_write(&one->spec, (unsigned char *)ids + bytes);
    *(struct msg_draw_request *)message_head(request) = (struct msg_draw_request){
        .draw = one->open.loader,
        .seed = one->open.seed,
        .num_seeds = (uint32_t)one->open.num_seeds,
        .ntype = one->open.ntype,
        .features = one->open.features,
        .labels = one->open.labels,
        .flags = one->open.flags,
        .spec_bytes = one->open.spec_bytes,
        .seeds = listed_kind(&first),
        .etype = one->open.etype,
        .num_excluded = excluded,
        .num_negatives = one->open.num_negatives,
        .negative_ranks = one->open.negative_ranks,
        .reverse_etype = one->open.reverse_etype,
        .reverse_rule = one->open.reverse_rule,
        .negative_ends = one->open.negative_ends,
        .negative_source_ranks = one->open.negative_source_ranks,
    };
    return request;
}

static void sim_client_check_draw(struct client_actor *c, const struct wanted_loader *one)
{
    struct error error = { 0 };
    struct sampled_batch *batch = batch_store_collect(c->world->store, c->loader, 0, 0);
    if (batch == NULL) { /* the proxy ended between its answer and this */
        go_later(c, AGAIN_NS);
        return;
    }
    if (reference_check(&c->world->reference, &c->world->partitions, one, 0, 0, &batch->space.batch,
                        &error) != 0)
        world_fail(c->world, "trainer %" PRIu32 ": a single draw is not the reference's: %s",
                   c->number, error.text);
    sampled_batch_release(batch);
    close_loader(c);
    c->world->tally.batches++;
    c->world->tally.excluding += wanted_loader_excluded(one, &c->world->partitions, NULL) > 0;
    c->loader = c->world->next_loader++;
    c->drawn++;
    go_later(c, 0);
}

static void sim_client_drawn(struct actor *self, void *arg, int status, struct message *reply)
{
    struct client_actor *c = arg;
    struct error error = { 0 };
    const struct wanted_loader one = single_draw(c);
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    c->world->tally.calls_completed++;
    message_release(self, reply);
    if (failed != 0)
        note_failure(c, failed, &error);
    else if (status == 0)
        sim_client_check_draw(c, &one);
    else if (status == TR_ECANCELED) { /* this actor ends */
    } else if (proxy_call_end(status) == PROXY_CALL_REOPEN)
        find_again(c);
    else if (status == TR_ETIMEDOUT || proxy_call_end(status) == PROXY_CALL_AGAIN) {
        release_held(c);
        go_later(c, AGAIN_NS);
    } else
        world_fail(c->world, "trainer %" PRIu32 ": a single draw was answered with %d (%s)",
                   c->number, status, tr_strerror(status));
}

static void sim_client_draw(struct client_actor *c)
{
    const struct wanted_loader one = single_draw(c);
    struct message *request = make_draw(c, &one);
    if (request == NULL || actor_call(c->self, c->proxy, request, actor_now_ns(c->self) + OPEN_NS,
                                      sim_client_drawn, c, NULL) != 0) {
        go_later(c, AGAIN_NS);
        return;
    }
    c->world->tally.calls_opened++;
}

/* After its epochs: its loader is closed once, then its draws have numbers of their own. */
static bool sim_client_draws_on(struct client_actor *c)
{
    if (c->steps == 0 || c->drawn > SINGLE_DRAWS)
        return false;
    if (c->drawn == 0) {
        sim_client_turn_to(c, 0);
        close_loader(c);
        c->loader = c->world->next_loader++;
        c->drawn = 1;
    }
    sim_client_draw(c);
    return true;
}

static void sim_client_finish(struct client_actor *c)
{
    sim_client_turn_to(c, 0);
    close_loader(c);
    if (!c->plan->keep)
        release_held(c);
    c->finished = true;
    c->world->finished++;
}

/* Does what a person at the other end might do. */
static void disturb_itself(struct client_actor *c)
{
    c->disturbances--;
    c->world->tally.disturbances++;
    switch (draws_below(&c->draws, 4)) {
    case 0: /* cancels: the epoch starts anew */
        sim_client_notify(c, MSG_BATCH_NONE);
        sim_client_turn_to(c, 0);
        go_later(c, draws_below(&c->draws, 2) * AGAIN_NS);
        break;
    case 1: /* begins another epoch */
        c->epoch = (uint32_t)draws_below(&c->draws, c->plan->epochs);
        sim_client_turn_to(c, 0);
        sim_client_notify(c, 0);
        sim_client_go(c);
        break;
    case 2:
        sim_client_reopen(c);
        break;
    default:
        go_later(c, NAP_NS);
        break;
    }
}

static void sim_client_hold(struct client_actor *c, struct sampled_batch *batch)
{
    if (c->num_held > 0 && c->num_held >= c->plan->hold) {
        sampled_batch_release(c->held[0]);
        memmove(c->held, c->held + 1, --c->num_held * sizeof c->held[0]);
    }
    if (c->plan->hold == 0)
        sampled_batch_release(batch);
    else
        c->held[c->num_held++] = batch;
}

static void sim_client_take(struct client_actor *c, struct sampled_batch *batch)
{
    struct error error = { 0 };
    if (reference_check(&c->world->reference, &c->world->partitions, &c->plan->loader, c->epoch,
                        c->next, &batch->space.batch, &error) != 0)
        world_fail(c->world,
                   "trainer %" PRIu32 ", epoch %" PRIu32 ", batch %" PRIu64
                   " is not the reference's: %s",
                   c->number, c->epoch, c->next, error.text);
    c->world->tally.batches++;
    c->world->tally.outlived |= c->world->bereft & UINT64_C(1) << c->number;
    c->taken++;
    sim_client_turn_to(c, c->next + 1);
    /* The next batch is announced before this one is held or given back, as api/loader.c has it:
     * it is made meanwhile. */
    sim_client_notify(c, c->next);
    sim_client_hold(c, batch);
    if (c->disturbances > 0 && draws_chance(&c->draws, c->plan->disturbance_percent))
        disturb_itself(c);
    else
        go_later(c, draws_below(&c->draws, c->plan->think_ns));
}

static void sim_client_go(struct client_actor *c)
{
    if (c->finished)
        return;
    if (c->next >= c->steps) {
        sim_client_turn_to(c, 0);
        c->epoch++;
    }
    if (c->epoch >= c->plan->epochs || c->steps == 0 ||
        (c->plan->quit_after != 0 && c->taken >= c->plan->quit_after)) {
        if (!sim_client_draws_on(c))
            sim_client_finish(c);
        return;
    }
    /* The batch is collected before it is asked for, as api/loader.c has it: the notice of one
     * that is there may have been lost. */
    struct sampled_batch *batch = batch_store_collect(c->world->store, c->loader, c->epoch,
                                                      c->next);
    if (batch != NULL)
        sim_client_take(c, batch);
    else
        sim_client_ask(c);
}

static int sim_client_start(struct actor *self, const void *arg)
{
    const struct client_args *args = arg;
    struct client_actor *c = calloc(1, sizeof *c);
    if (c == NULL)
        return TR_ENOMEM;
    actor_set_state(self, c);
    c->self = self;
    c->world = args->world;
    c->number = args->number;
    c->plan = &args->world->scenario.client[args->number];
    c->draws = world_draws(c->world, WORLD_DRAWS_CLIENT, c->number);
    c->loader = c->world->next_loader++;
    c->steps = reference_steps(&c->plan->loader.open);
    c->disturbances = c->plan->disturbances;
    find_again(c);
    return 0;
}

static int sim_client_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void sim_client_fini(struct actor *self)
{
    struct client_actor *c = actor_state(self);
    if (c == NULL)
        return;
    /* Batches that are to outlive the node are taken off before the rest is released. */
    if (c->plan->keep) {
        for (uint32_t i = 0; i < c->num_held; i++)
            c->world->kept[c->world->num_kept++] = c->held[i];
        c->num_held = 0;
    }
    release_held(c);
    seed_lists_drop(c->world->lists, c->loader);
    free(c);
}

const struct actor_ops client_ops = {
    .name = "trainer",
    .start = sim_client_start,
    .receive = sim_client_receive,
    .fini = sim_client_fini,
};
