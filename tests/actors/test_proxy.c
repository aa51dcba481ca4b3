/* SPDX-License-Identifier: Apache-2.0 */
/* The trainer-proxy over samplers that are slow and die: every batch comes once and in order, the
 * window is kept, and an epoch that follows is begun ahead of time. */
#include "config.h" /* memfd_create */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/data/batch_flat.h"
#include "actors/data/epoch_plan.h"
#include "actors/data/proxy.h"
#include "actors/data/proxy_state.h"
#include "actors/data/sampler.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/supervisor.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/actors/graphs.h"
#include "tests/seeds.h"

#define SAMPLERS 2u
#define STEPS 7u
#define WINDOW 5u
#define EPOCHS_MAX 16u
#define LOADER 9u
/* The seed with that place in the list. */
#define SEED_OF(place) ((uint64_t)(place)*3 + 1)

struct world;

struct stub_args {
    struct world *world;
    uint32_t number;
};

struct world {
    struct msg_loader_open open;
    struct asker asker;
    struct stub_args stubs[SAMPLERS];
    struct test_graph graph;
    struct graph_meta meta;
    struct batch_store *store;
    struct proxy_options options;
    uint64_t delay_ns;          /* most time that a sampler takes */
    uint64_t die_one_in;        /* requests that kill a sampler; 0: none */
    bool flat;                  /* batches are pulled */
    uint64_t pieces;            /* that were */
    uint64_t cut;               /* bytes that are missing from them */
    uint64_t step_off;          /* by how much they are another step */
    uint64_t turn;              /* epoch * STEPS + step that the client asks for */
    uint32_t asked[EPOCHS_MAX]; /* requests that came to samplers, by epoch */
    uint32_t asked_last;        /* of epoch UINT32_MAX */
    uint64_t full_until_ns;     /* samplers refuse everything before that, by message or status */
    uint32_t refusals;
    bool no_room;       /* the store takes no batch */
    int fails;          /* samplers fail with that code */
    bool fails_plainly; /* and without words */
    bool keeps_pulls;   /* pieces are not sent */
    uint32_t kept;      /* batches that samplers keep */
};

/* A batch that a stub keeps. */
struct kept {
    bool used;
    uint32_t epoch;
    uint64_t step, bytes;
    unsigned char *data;
};

#define KEPT_MAX 64u

/* A sampler without a graph: it makes empty batches, one at a time. */
struct stub {
    struct world *world;
    struct kept kept[KEPT_MAX];
    struct message *queue[64], *pulls[KEPT_MAX];
    uint32_t count, num_pulls;
    struct timer timer;
};

static void make_first(struct actor *self, void *arg);

static void schedule(struct actor *self, struct stub *stub)
{
    uint64_t delay = actor_random(self) % (stub->world->delay_ns + 1);
    if (stub->count > 0 && !timer_is_started(&stub->timer))
        timer_start(self, &stub->timer, actor_now_ns(self) + delay, make_first, stub);
}

static struct kept *find_kept(struct stub *stub, uint32_t epoch, uint64_t step)
{
    for (uint32_t i = 0; i < KEPT_MAX; i++)
        if (stub->kept[i].used && stub->kept[i].epoch == epoch && stub->kept[i].step == step)
            return &stub->kept[i];
    return NULL;
}

static void drop_kept(struct kept *kept)
{
    if (kept == NULL)
        return;
    free(kept->data);
    *kept = (struct kept){ 0 };
}

static void drop_counted(struct stub *stub, struct kept *kept)
{
    stub->world->kept -= kept != NULL;
    drop_kept(kept);
}

static uint64_t keep(struct stub *stub, const struct sampled_batch *batch, uint64_t step)
{
    struct kept *kept = stub->kept;
    drop_counted(stub, find_kept(stub, batch->space.batch.epoch, step));
    stub->world->kept++;
    while (kept->used)
        assert_true(++kept < stub->kept + KEPT_MAX);
    *kept = (struct kept){ .used = true, .epoch = batch->space.batch.epoch, .step = step };
    assert_int_equal(batch_flat_bytes(batch, &kept->bytes), 0);
    void *data = NULL;
    assert_int_equal(posix_memalign(&data, 64, kept->bytes), 0);
    kept->data = data;
    batch_flatten(batch, data);
    kept->bytes -= stub->world->cut;
    return kept->bytes;
}

static int hand_over(struct stub *stub, struct sampled_batch *batch, struct message *reply)
{
    struct world *world = stub->world;
    uint64_t step = batch->space.batch.index;
    if (world->no_room) {
        if (reply != NULL) {
            struct msg_batch_reply *head = message_head(reply);
            head->bytes = sampled_batch_bytes(batch);
            head->full = 1;
        }
        sampled_batch_release(batch);
        return 0;
    }
    if (!world->flat)
        return batch_store_deposit(world->store, batch);
    batch->space.batch.index += world->step_off;
    if (reply != NULL)
        ((struct msg_batch_reply *)message_head(reply))->bytes = keep(stub, batch, step);
    sampled_batch_release(batch);
    return 0;
}

static struct message *make_piece(struct actor *self, const struct kept *kept,
                                  const struct msg_batch_pull *asked, uint64_t count)
{
    struct message *reply = message_create(self, MSG_BATCH_PIECE);
    void *to = reply == NULL ? NULL : message_body_alloc(self, reply, count);
    if (to == NULL) {
        message_release(self, reply);
        return NULL;
    }
    memcpy(to, kept->data + asked->offset, count);
    *(struct msg_batch_piece *)message_head(reply) = (struct msg_batch_piece){ asked->offset,
                                                                               (uint32_t)count };
    return reply;
}

static void pull_stub(struct actor *self, struct stub *stub, struct message *request)
{
    const struct msg_batch_pull *asked = message_head(request);
    struct kept *kept = find_kept(stub, asked->epoch, asked->batch);
    if (asked->offset == MSG_PULL_NONE) {
        drop_counted(stub, kept);
        message_release(self, request);
        return;
    }
    if (stub->world->keeps_pulls) { /* the caller waits until it gives up */
        assert_true(stub->num_pulls < KEPT_MAX);
        stub->pulls[stub->num_pulls++] = request;
        return;
    }
    if (kept == NULL) {
        actor_refuse(self, request, TR_ENOENT);
        return;
    }
    assert_true(asked->offset < kept->bytes && asked->bytes_max > 0);
    uint64_t count = kept->bytes - asked->offset;
    count = count < asked->bytes_max ? count : asked->bytes_max;
    bool last = asked->offset + count == kept->bytes;
    struct message *reply = make_piece(self, kept, asked, count);
    stub->world->pieces++;
    if (reply == NULL) {
        actor_refuse(self, request, TR_ENOMEM);
        return;
    }
    actor_reply(self, request, reply);
    if (last)
        drop_counted(stub, kept);
}

static void make_first(struct actor *self, void *arg)
{
    struct stub *stub = arg;
    struct message *request = stub->queue[0];
    const struct msg_batch_request *asked = message_head(request);
    struct message *reply = message_create(self, MSG_BATCH_REPLY);
    const struct graph_types *types = &stub->world->graph.book.types;
    struct sampled_batch *batch = batch_store_take(stub->world->store, types->num_ntypes,
                                                   types->num_etypes, 1);
    assert_non_null(batch);
    for (uint32_t i = 1; i < stub->count; i++)
        stub->queue[i - 1] = stub->queue[i];
    stub->count--;
    batch->loader = asked->loader;
    batch->space.batch.epoch = asked->epoch;
    batch->space.batch.index = asked->batch;
    int rv = hand_over(stub, batch, reply);
    if (reply == NULL || rv != 0) {
        message_release(self, reply);
        actor_refuse(self, request, rv != 0 ? rv : TR_ENOMEM);
    } else {
        actor_reply(self, request, reply);
    }
    schedule(self, stub);
}

static void open_stub(struct actor *self, struct message *request)
{
    struct message *reply = message_create(self, MSG_LOADER_OPENED);
    if (reply == NULL)
        actor_refuse(self, request, TR_ENOMEM);
    else
        actor_reply(self, request, reply);
}

/* Every second time without a message of its own. */
static void refuse_full(struct actor *self, struct world *world, struct message *request)
{
    struct error error = { 0 };
    if (world->refusals++ % 2 == 0) {
        actor_refuse(self, request, TR_EFULL);
        return;
    }
    error_set(&error, world->refusals % 4 == 0 ? TR_EFULL : TR_ENOMEM, "the sampler is busy");
    error_reply_send(self, request, &error);
}

/* The seeds of a listed batch come with its request, in the order of its epoch. */
static void check_given(const struct msg_loader_open *open, const struct msg_batch_request *asked,
                        const uint64_t *given)
{
    struct epoch_plan plan;
    struct epoch_order order = { 0 };
    uint64_t begin;
    uint32_t count, step_seeds;
    assert_int_equal(epoch_plan_init(&plan, open, NULL), 0);
    epoch_plan_step(&plan, asked->batch, &begin, &count, &step_seeds);
    assert_int_equal(asked->num_seeds, count);
    if (plan.shuffle)
        assert_int_equal(epoch_order_make(&order, &plan, asked->epoch), 0);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t place = plan.shuffle ? epoch_order_at(&order, begin + i) : begin + i;
        assert_true(given[i] == SEED_OF(place));
    }
    epoch_order_fini(&order);
}

static int stub_receive(struct actor *self, struct message *message)
{
    struct stub *stub = actor_state(self);
    struct world *world = stub->world;
    bool is_request = (message->frame.flags & MESSAGE_REQUEST) != 0;
    if (is_request && actor_now_ns(self) < world->full_until_ns) {
        refuse_full(self, world, message);
        return 0;
    }
    if (message->frame.kind == MSG_LOADER_OPEN) {
        const struct msg_loader_open *open = message_head(message);
        assert_true(open->seeds == MSG_SEEDS_GIVEN);
        assert_true(message->frame.body_bytes == open->spec_bytes); /* the list stays */
        open_stub(self, message);
        return 0;
    }
    if (message->frame.kind == MSG_BATCH_PULL) {
        pull_stub(self, stub, message);
        return 0;
    }
    if (message->frame.kind != MSG_BATCH_REQUEST) {
        message_release(self, message);
        return 0;
    }
    if (world->fails != 0 && world->fails_plainly) {
        actor_refuse(self, message, world->fails);
        return 0;
    }
    if (world->fails != 0) {
        struct error error = { 0 };
        error_set(&error, world->fails, "the sampler fails");
        error_reply_send(self, message, &error);
        return 0;
    }
    const struct msg_batch_request *asked = message_head(message);
    bool is_last = asked->epoch >= UINT32_MAX - 1;
    assert_true((asked->epoch < EPOCHS_MAX || is_last) && asked->batch < STEPS);
    assert_true(asked->epoch * (uint64_t)STEPS + asked->batch < world->turn + WINDOW);
    assert_true(stub->count < 64);
    check_given(&world->open, asked, message_body(message));
    if (is_last)
        world->asked_last += asked->epoch == UINT32_MAX;
    else
        world->asked[asked->epoch]++;
    stub->queue[stub->count++] = message;
    schedule(self, stub);
    bool dies = world->die_one_in != 0 && actor_random(self) % world->die_one_in == 0;
    return dies ? TR_EINTERNAL : 0;
}

static int stub_start(struct actor *self, const void *arg)
{
    const struct stub_args *args = arg;
    struct stub *stub = calloc(1, sizeof *stub);
    char name[DIRECTORY_NAME_MAX];
    assert_non_null(stub);
    stub->world = args->world;
    actor_set_state(self, stub);
    sampler_name(args->number, name, sizeof name);
    return directory_register(self, name, NULL, NULL);
}

static void stub_fini(struct actor *self)
{
    struct stub *stub = actor_state(self);
    for (uint32_t i = 0; stub != NULL && i < stub->count; i++)
        message_release(self, stub->queue[i]);
    for (uint32_t i = 0; stub != NULL && i < stub->num_pulls; i++)
        message_release(self, stub->pulls[i]);
    for (uint32_t i = 0; stub != NULL && i < KEPT_MAX; i++)
        drop_kept(&stub->kept[i]);
    free(stub);
}

static const struct actor_ops stub_ops = { "stub", stub_start, stub_receive, NULL, stub_fini };

static int parent_start(struct actor *self, const void *arg)
{
    const struct stub_args *stubs = arg;
    const struct supervisor_options restarts = { SUPERVISOR_ONE_FOR_ONE, SUPERVISOR_RESTARTS_MAX,
                                                 1 };
    int rv = actor_supervise(self, &restarts);
    for (uint32_t i = 0; i < SAMPLERS && rv == 0; i++) {
        const struct actor_options options = {
            .ops = &stub_ops, .arg = &stubs[i], .loop = i, .restart = ACTOR_RESTART_ON_FAILURE
        };
        struct address address;
        rv = actor_spawn(self, &options, &address);
    }
    return rv;
}

static int parent_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops parent_ops = { "parent", parent_start, parent_receive, NULL, NULL };

/* Lets the samplers do all that they were asked for. */
static void settle(struct world *world)
{
    env_sim_run(world->asker.env, NULL, NULL, env_sim_now_ns(world->asker.env) + ENV_SECOND_NS);
}

static void open_list(struct world *world, uint64_t seed, size_t store_bytes, uint32_t num_seeds,
                      uint32_t flags)
{
    const struct actor_options parent = { .ops = &parent_ops, .arg = world->stubs };
    struct address address;
    *world = (struct world){ .delay_ns = 1000000 };
    for (uint32_t i = 0; i < SAMPLERS; i++)
        world->stubs[i] = (struct stub_args){ world, i };
    test_graph_init(&world->graph, 3, 50, 10);
    assert_int_equal(graph_meta_init(&world->meta, &world->graph.parts[0]), 0);
    world->store = batch_store_create(store_bytes);
    assert_non_null(world->store);
    world->options = (struct proxy_options){ .book = &world->graph.book,
                                             .meta = &world->meta,
                                             .store = world->store,
                                             .num_samplers = SAMPLERS,
                                             .recovery_ns = 60 * ENV_SECOND_NS };
    asker_open(&world->asker, seed, false);
    world->options.lists = world->asker.lists;
    assert_int_equal(node_spawn(world->asker.node, &parent, &address), 0);
    asker_spawn(&world->asker, &proxy_ops, &world->options);
    uint64_t *seeds = calloc(num_seeds, sizeof *seeds);
    assert_non_null(seeds);
    for (uint32_t i = 0; i < num_seeds; i++)
        seeds[i] = SEED_OF(i);
    world->open = (struct msg_loader_open){ .loader = LOADER,
                                            .num_seeds = num_seeds,
                                            .batch_size = (num_seeds + STEPS - 1) / STEPS,
                                            .world = 1,
                                            .features = MSG_MASK_ALL,
                                            .labels = MSG_MASK_ALL,
                                            .flags = flags,
                                            .prefetch = WINDOW };
    const int32_t fanout = 2;
    assert_int_equal(
        asker_open_loader(&world->asker, &world->open, seeds, 1, &fanout, GRAPH_ETYPES), 0);
    free(seeds);
    assert_int_equal(world->asker.reply_kind, MSG_LOADER_OPENED);
    settle(world); /* all names are registered before faults begin */
}

static void open_bounded(struct world *world, uint64_t seed, size_t store_bytes)
{
    open_list(world, seed, store_bytes, STEPS, 0);
}

static void open_world(struct world *world, uint64_t seed)
{
    open_bounded(world, seed, (size_t)1 << 28);
}

static void close_world(struct world *world)
{
    asker_close(&world->asker);
    batch_store_close(world->store);
    assert_int_equal(batch_store_used(world->store), 0);
    batch_store_release(world->store);
    graph_meta_fini(&world->meta);
    test_graph_fini(&world->graph);
}

/* Waits for a batch and takes it out of the store. */
static void take(struct world *world, uint32_t epoch, uint64_t step)
{
    const struct msg_batch_request asked = { .loader = LOADER, .batch = step, .epoch = epoch };
    struct asker *asker = &world->asker;
    world->turn = epoch * (uint64_t)STEPS + step;
    while (asker_ask(asker, MSG_BATCH_REQUEST, &asked, sizeof asked, NULL, 0) == TR_ENOMEM)
        ; /* the proxy had no memory to say that it is there */
    assert_int_equal(node_failure(asker->node), 0);
    assert_int_equal(asker->status, 0);
    assert_int_equal(asker->reply_kind, MSG_BATCH_REPLY);
    const struct msg_batch_reply *got = (const void *)asker->reply_head;
    assert_true(got->epoch == epoch && got->batch == step);
    struct sampled_batch *batch = batch_store_collect(world->store, LOADER, epoch, step);
    assert_non_null(batch);
    assert_true(batch->space.batch.epoch == epoch && batch->space.batch.index == step);
    sampled_batch_release(batch);
    assert_null(batch_store_collect(world->store, LOADER, epoch, step));
}

static void take_epoch(struct world *world, uint32_t epoch)
{
    for (uint64_t step = 0; step < STEPS; step++)
        take(world, epoch, step);
}

/* The stub asserts that the window is kept. */
static void batches_come_once_and_in_order(void **state)
{
    (void)state;
    struct seeds seeds = seeds_wanted(50);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        struct world world;
        seeds_note(seed);
        open_world(&world, seed);
        world.die_one_in = seed % 3 == 0 ? 0 : 3 + seed % 7;
        world.asker.alloc_fail_ppm = seed % 2 == 0 ? 0 : 20000;
        world.flat = seed % 5 < 2;
        world.options.piece_bytes_max = 64 * (seed % 3);
        for (uint32_t epoch = 0; epoch < 4; epoch++)
            take_epoch(&world, epoch);
        assert_true(!world.flat || world.pieces >= 4 * STEPS * (seed % 3 == 1 ? 4 : 1));
        close_world(&world);
    }
}

static void the_next_epoch_is_begun_ahead(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 1);
    take_epoch(&world, 0);
    settle(&world);
    assert_int_equal(world.asked[1], WINDOW - 1); /* the batch that was taken last has a place */
    for (uint64_t step = 0; step < WINDOW - 1; step++) {
        struct sampled_batch *batch = batch_store_collect(world.store, LOADER, 1, step);
        assert_non_null(batch);
        sampled_batch_release(batch);
    }
    take(&world, 1, WINDOW - 1);
    settle(&world);
    assert_int_equal(world.asked[0], STEPS);
    assert_int_equal(world.asked[1], STEPS); /* none was asked for twice */
    close_world(&world);
}

static void another_epoch_drops_what_was_begun(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 2);
    take_epoch(&world, 0);
    settle(&world);
    take(&world, 5, 0);
    assert_null(batch_store_collect(world.store, LOADER, 1, 0));
    for (uint64_t step = 1; step < STEPS; step++)
        take(&world, 5, step);
    settle(&world);
    assert_int_equal(world.asked[6], 0); /* this client does not go on by itself */
    take_epoch(&world, 6);
    settle(&world);
    assert_int_equal(world.asked[7], WINDOW - 1); /* now it did */
    take_epoch(&world, 6);                        /* the same again */
    assert_int_equal(world.asked[6], 2 * STEPS);
    close_world(&world);
}

/* Batches that are on their way when the client turns elsewhere are let go of by their samplers,
 * also while their pieces travel. */
static void what_is_not_wanted_is_not_kept(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 4);
    world.flat = true;
    world.keeps_pulls = true;
    world.asker.timeout_ns = ENV_SECOND_NS;
    const struct msg_batch_request asked = { .loader = LOADER };
    assert_int_equal(asker_ask(&world.asker, MSG_BATCH_REQUEST, &asked, sizeof asked, NULL, 0),
                     TR_ETIMEDOUT);
    assert_int_equal(world.kept, WINDOW);
    world.turn = 6 * STEPS;
    world.keeps_pulls = false;
    world.asker.timeout_ns = 0;
    take(&world, 6, 0);
    settle(&world);
    assert_int_equal(world.kept, 0);
    close_world(&world);
}

/* The number of an epoch does not come round: none follows the last one. */
static void no_epoch_follows_the_last_one(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 5);
    take_epoch(&world, UINT32_MAX - 1);
    take_epoch(&world, UINT32_MAX);
    settle(&world);
    assert_int_equal(world.asked_last, STEPS);
    assert_int_equal(world.asked[0], 0);
    take_epoch(&world, 0); /* a client may ask for it all the same */
    assert_int_equal(world.asked[0], STEPS);
    close_world(&world);
}

/* For twenty seconds loaders are not opened and batches not made; then all come, in order. */
static void samplers_that_are_full_for_a_while_fail_no_batch(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct world world;
        open_world(&world, seed);
        world.flat = seed % 2 == 0;
        world.full_until_ns = env_sim_now_ns(world.asker.env) + 20 * ENV_SECOND_NS;
        take_epoch(&world, 0);
        take_epoch(&world, 1);
        /* Each slot asks with growing pauses: some hundred times, not once a millisecond. */
        assert_in_range(world.refusals, 50, 200 * WINDOW);
        close_world(&world);
    }
}

static void expect_failure(int fails, bool no_room, int code)
{
    const struct msg_batch_request asked = { .loader = LOADER };
    struct world world;
    open_world(&world, 1);
    world.fails = fails;
    world.no_room = no_room;
    struct asker *asker = &world.asker;
    assert_int_equal(asker_ask(asker, MSG_BATCH_REQUEST, &asked, sizeof asked, NULL, 0), 0);
    assert_int_equal(asker->reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(((const struct msg_error_reply *)(const void *)asker->reply_head)->code, code);
    close_world(&world);
}

/* The code of a sampler's own failure is handed on as it is. A store without room for a batch is
 * the client's account. */
static void a_store_without_room_is_no_failure_of_a_sampler(void **state)
{
    (void)state;
    expect_failure(TR_ENOSPC, false, TR_ENOSPC);
    expect_failure(TR_EIO, false, TR_EIO);
    expect_failure(0, true, TR_EFULL);
}

/* Between a proxy and a sampler of one process there is no link whose window would be too small. */
static void no_link_is_blamed_inside_a_process(void **state)
{
    (void)state;
    const struct msg_batch_request asked = { .loader = LOADER };
    struct world world;
    char text[ERROR_TEXT_MAX];
    open_world(&world, 1);
    world.fails = TR_ETOOBIG;
    world.fails_plainly = true;
    struct asker *asker = &world.asker;
    assert_int_equal(asker_ask(asker, MSG_BATCH_REQUEST, &asked, sizeof asked, NULL, 0), 0);
    assert_int_equal(asker->reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(((const struct msg_error_reply *)(const void *)asker->reply_head)->code,
                     TR_ETOOBIG);
    snprintf(text, sizeof text, "%.*s", (int)asker->reply_bytes, (const char *)asker->reply);
    assert_string_equal(text, "batch 0: sampler 0 refused it as too large; use smaller batches");
    close_world(&world);
}

/* Closes a loader that the proxy does not know. */
static void close_unknown(struct world *world, uint64_t loader)
{
    const struct msg_loader_close closed = { .loader = loader };
    /* Nothing answers a close: the call that brings it ends when the message is released. */
    assert_int_equal(asker_ask(&world->asker, MSG_LOADER_CLOSE, &closed, sizeof closed, NULL, 0),
                     TR_EPEERDOWN);
}

static int open_another(struct world *world, uint64_t loader)
{
    uint64_t seeds[STEPS];
    const int32_t fanout = 2;
    struct msg_loader_open open = world->open;
    for (uint32_t i = 0; i < STEPS; i++)
        seeds[i] = SEED_OF(i);
    open.loader = loader;
    return asker_open_loader(&world->asker, &open, seeds, 1, &fanout, GRAPH_ETYPES);
}

/* The control lane may bring a close before the open that it is for, which nobody would close any
 * more; so many closes of others are noted beside it. */
static void a_loader_that_was_closed_before_is_not_opened(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 3);
    close_unknown(&world, LOADER + 1);
    for (uint64_t i = 2; i <= PROXY_EARLY_MAX; i++)
        close_unknown(&world, LOADER + i);
    assert_int_equal(open_another(&world, LOADER + 1), TR_ECANCELED);
    const struct msg_batch_request asked = { .loader = LOADER + 1 };
    assert_int_equal(asker_ask(&world.asker, MSG_BATCH_REQUEST, &asked, sizeof asked, NULL, 0),
                     TR_ECLOSED);
    assert_int_equal(open_another(&world, LOADER + PROXY_EARLY_MAX + 1), 0);
    close_unknown(&world, LOADER + PROXY_EARLY_MAX + 2);
    assert_int_equal(open_another(&world, LOADER + 1), 0);
    close_world(&world);
}

static int error_of(const struct asker *asker)
{
    const struct msg_error_reply *failed = (const void *)asker->reply_head;
    return asker->reply_kind == MSG_ERROR_REPLY ? failed->code : 0;
}

/* The message has no list, so nothing but the list itself says whether it is there, and whole. A
 * loader that is open holds it, and no other one does. */
static void a_list_is_held_while_its_loader_is_open(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 3);
    struct msg_loader_open open = world.open;
    struct asker *asker = &world.asker;
    struct seed_list *list = seed_list_create(STEPS);
    const int32_t fanout = 2;
    assert_non_null(list);
    open.loader = LOADER + 1;
    assert_int_equal(asker_open_loader(asker, &open, NULL, 1, &fanout, GRAPH_ETYPES), 0);
    assert_int_equal(error_of(asker), TR_ENOENT);
    assert_int_equal(seed_lists_put(asker->lists, open.loader, &list, 1), 0);
    open.num_seeds = STEPS + 1;
    assert_int_equal(asker_open_loader(asker, &open, NULL, 1, &fanout, GRAPH_ETYPES), 0);
    assert_int_equal(error_of(asker), TR_EINVAL);
    open.num_seeds = STEPS;
    open.seeds = MSG_SEEDS_PAIRS;
    assert_int_equal(asker_open_loader(asker, &open, NULL, 1, &fanout, GRAPH_ETYPES), 0);
    assert_int_equal(error_of(asker), TR_EINVAL);
    assert_int_equal(atomic_load(&list->references), 2);
    /* The same again takes none. */
    open.seeds = MSG_SEEDS_LISTED;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(asker_open_loader(asker, &open, NULL, 1, &fanout, GRAPH_ETYPES), 0);
        assert_int_equal(asker->reply_kind, MSG_LOADER_OPENED);
        assert_int_equal(atomic_load(&list->references), 3);
    }
    seed_lists_drop(asker->lists, open.loader);
    assert_int_equal(atomic_load(&list->references), 2);
    close_unknown(&world, open.loader);
    settle(&world);
    assert_int_equal(atomic_load(&list->references), 1);
    seed_list_release(list);
    close_world(&world);
}

#define HUGE_SEEDS (UINT64_C(1) << 33)
#define HUGE_BATCH 8u

/* 64 GiB of seeds in a file without pages, but for those that the first batches have. */
static uint64_t *map_huge(const struct msg_loader_open *open)
{
    struct epoch_plan plan;
    struct epoch_order order = { 0 };
    const size_t bytes = HUGE_SEEDS * sizeof(uint64_t);
    int fd = memfd_create("seeds", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    uint64_t *ids = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(ids != MAP_FAILED);
    close(fd);
    assert_int_equal(epoch_plan_init(&plan, open, NULL), 0);
    assert_int_equal(epoch_order_make(&order, &plan, 0), 0);
    for (uint64_t at = 0; at < (uint64_t)STEPS * HUGE_BATCH; at++)
        ids[epoch_order_at(&order, at)] = SEED_OF(epoch_order_at(&order, at));
    epoch_order_fini(&order);
    return ids;
}

/* No message, and no copy, bounds a list: the stubs compare the seeds of each batch with the places
 * that they have in it. */
static void a_list_may_be_as_long_as_memory_holds(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 3);
    close_unknown(&world, LOADER);
    settle(&world);
    world.open.num_seeds = HUGE_SEEDS;
    world.open.batch_size = HUGE_BATCH;
    world.open.flags = MSG_LOADER_SHUFFLE;
    struct seed_list *list = seed_list_create(1);
    const int32_t fanout = 2;
    assert_non_null(list);
    uint64_t *own = list->ids;
    list->ids = map_huge(&world.open);
    list->num_ids = HUGE_SEEDS;
    assert_int_equal(seed_lists_put(world.asker.lists, LOADER, &list, 1), 0);
    assert_int_equal(asker_open_loader(&world.asker, &world.open, NULL, 1, &fanout, GRAPH_ETYPES),
                     0);
    assert_int_equal(world.asker.reply_kind, MSG_LOADER_OPENED);
    const struct msg_loader_opened *opened = (const void *)world.asker.reply_head;
    assert_true(opened->num_batches == HUGE_SEEDS / HUGE_BATCH);
    for (uint64_t step = 0; step + WINDOW <= STEPS; step++)
        take(&world, 0, step);
    close_world(&world);
    assert_int_equal(atomic_load(&list->references), 1);
    assert_int_equal(munmap(list->ids, HUGE_SEEDS * sizeof *list->ids), 0);
    list->ids = own;
    seed_list_release(list);
}

/* A batch as bytes is the one that was asked for, whole, or it is refused with a message. */
static void bytes_that_are_no_such_batch_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t cut, step_off;
        size_t bound;
        int code;
    } bad[] = { { 1, 0, 1 << 28, TR_EFORMAT },
                { 64, 0, 1 << 28, TR_EFORMAT },
                { 0, 1, 1 << 28, TR_EFORMAT },
                { 0, 0, 100, TR_EFULL } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct msg_batch_request asked = { .loader = LOADER };
        struct world world;
        open_bounded(&world, i, bad[i].bound);
        world.flat = true;
        world.cut = bad[i].cut;
        world.step_off = bad[i].step_off;
        assert_int_equal(asker_ask(&world.asker, MSG_BATCH_REQUEST, &asked, sizeof asked, NULL, 0),
                         0);
        assert_int_equal(world.asker.reply_kind, MSG_ERROR_REPLY);
        const struct msg_error_reply *failed = (const void *)world.asker.reply_head;
        assert_int_equal(failed->code, bad[i].code);
        assert_null(batch_store_collect(world.store, LOADER, 0, 0));
        close_world(&world);
    }
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 3);
    const struct msg_batch_request bad = { .loader = LOADER, .batch = STEPS, .epoch = 1 };
    assert_int_equal(asker_ask(&world.asker, MSG_BATCH_REQUEST, &bad, sizeof bad, NULL, 0),
                     TR_ERANGE);
    const struct msg_batch_request other = { .loader = LOADER + 1 };
    assert_int_equal(asker_ask(&world.asker, MSG_BATCH_REQUEST, &other, sizeof other, NULL, 0),
                     TR_ECLOSED);
    close_world(&world);
}

/* Room that a client may never use is given in the first half of the account alone. */
static void the_next_epoch_starves_nobody(void **state)
{
    (void)state;
    struct batch_store *store = batch_store_create(1000);
    assert_non_null(store);
    assert_int_equal(batch_store_open_loader(store, 1, 100), 0);
    batch_store_set_epoch(store, 1, 3, 0);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(batch_store_reserve(store, 1, 4, i), 0);
    assert_int_equal(batch_store_reserve(store, 1, 4, 5), TR_EFULL);
    assert_false(batch_store_is_starving(store, 1));
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(batch_store_reserve(store, 1, 3, i), 0);
    assert_int_equal(batch_store_reserve(store, 1, 3, 5), TR_EFULL);
    assert_true(batch_store_is_starving(store, 1));
    batch_store_unreserve(store, 1, 4, 0);
    assert_int_equal(batch_store_used(store), 900);
    batch_store_unreserve(store, 1, 4, 0);
    assert_int_equal(batch_store_used(store), 900);
    batch_store_set_epoch(store, 1, 4, 0);
    assert_int_equal(batch_store_used(store), 0);
    batch_store_close(store);
    batch_store_release(store);
}

/* Takes a batch out of a store that may have no room for it, as the proxy then says, and asks
 * again. Returns how large it is. */
static size_t take_at_last(struct world *world, uint64_t step)
{
    const struct msg_batch_request asked = { .loader = LOADER, .batch = step };
    struct asker *asker = &world->asker;
    uint32_t tries = 0;
    world->turn = step;
    do
        asker_ask(asker, MSG_BATCH_REQUEST, &asked, sizeof asked, NULL, 0);
    while (asker->reply_kind != MSG_BATCH_REPLY && ++tries < STEPS);
    assert_int_equal(asker->reply_kind, MSG_BATCH_REPLY);
    struct sampled_batch *batch = batch_store_collect(world->store, LOADER, 0, step);
    assert_non_null(batch);
    size_t bytes = batch->charged_bytes;
    sampled_batch_release(batch);
    return bytes;
}

/* Batches that came ahead of their time leave no room for the one that comes first: they were
 * larger than was expected, and come in any order. */
static void later_batches_give_way_to_the_first(void **state)
{
    size_t bytes = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct world world;
        open_bounded(&world, seed, bytes == 0 ? (size_t)1 << 28 : bytes + bytes * (seed % 16) / 8);
        size_t largest = 0;
        for (uint64_t step = 0; step < STEPS; step++) {
            size_t taken = take_at_last(&world, step);
            largest = taken > largest ? taken : largest;
        }
        bytes = bytes == 0 ? largest : bytes; /* the first world says how large a batch is */
        assert_true(bytes > 0);
        close_world(&world);
    }
}

/* The tables and flags that a loader asks for are counted: each flag and table by its bytes of
 * every node or edge that a batch may have, and no batch has more of them than the graph. */
static void estimates_count_what_is_asked_for(void **state)
{
    (void)state;
    enum { SEEDS = 4, FANOUT = 3 };
    /* The test's graphs have three edge types; all fanouts together draw this for each node. */
    const uint64_t edges = SEEDS * FANOUT * GRAPH_ETYPES, nodes = SEEDS + edges;
    struct test_graph graph;
    struct graph_meta meta;
    struct sample_spec spec;
    test_graph_init(&graph, 3, 500, 40);
    assert_int_equal(graph_meta_init(&meta, &graph.parts[0]), 0);
    assert_int_equal(sample_spec_alloc(&spec, 1, GRAPH_ETYPES), 0);
    for (uint32_t e = 0; e < GRAPH_ETYPES; e++)
        *sample_spec_term(&spec, 0, e) = SAMPLE_TERM(FANOUT, false);
    const struct proxy_options options = { .book = &graph.book, .meta = &meta };
    const struct msg_loader_open plain = {
        .num_seeds = 1000, .batch_size = SEEDS, .features = MSG_MASK_ALL, .labels = MSG_MASK_ALL
    };
    const size_t least = proxy_estimate(&options, &plain, false, &spec);
    assert_true(least >= nodes * 8 + edges * 4);
    const struct {
        uint32_t flags;
        uint64_t more;
    } flags[] = {
        { MSG_LOADER_ORIGINAL_IDS, nodes * 8 },
        { MSG_LOADER_DEGREES, nodes * 8 },
        { MSG_LOADER_EDGE_IDS, edges * 8 },
        { MSG_LOADER_SHUFFLE, 0 },
        { MSG_LOADER_DEGREES | MSG_LOADER_ORIGINAL_IDS | MSG_LOADER_EDGE_IDS,
          nodes * 16 + edges * 8 },
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct msg_loader_open open = plain;
        open.flags = flags[i].flags;
        assert_int_equal(proxy_estimate(&options, &open, false, &spec), least + flags[i].more);
    }
    struct msg_loader_open open = plain;
    open.features = (uint32_t)graph_meta_name(&meta, "feat");
    assert_int_equal(proxy_estimate(&options, &open, false, &spec), least + nodes * 20);
    open.features = (uint32_t)graph_meta_name(&meta, "mask");
    assert_int_equal(proxy_estimate(&options, &open, false, &spec), least + nodes);
    const struct sample_table table = { .of = SAMPLE_OF_NODES,
                                        .type = 1,
                                        .name = (uint32_t)graph_meta_name(&meta, "feat"),
                                        .where = SAMPLE_FOR_ALL };
    assert_int_equal(sample_spec_add_table(&spec, &table), 0);
    assert_int_equal(proxy_estimate(&options, &plain, false, &spec), least + nodes * 20);
    assert_int_equal(sample_spec_add_table(&spec, &table), 0);
    assert_int_equal(proxy_estimate(&options, &plain, false, &spec), least + nodes * 40);
    sample_spec_free(&spec);
    /* A set that is smaller than a batch, and a pair's two ends. */
    assert_int_equal(sample_spec_alloc(&spec, 1, GRAPH_ETYPES), 0);
    open = plain;
    open.num_seeds = SEEDS / 2;
    const size_t half = proxy_estimate(&options, &open, false, &spec);
    assert_int_equal(proxy_estimate(&options, &plain, false, &spec), 2 * half);
    assert_int_equal(proxy_estimate(&options, &open, true, &spec), 2 * half + SEEDS / 2 * 16);
    sample_spec_free(&spec);
    graph_meta_fini(&meta);
    test_graph_fini(&graph);
}

/* The list stays with the proxy: a sampler opens the loader without it, and gets with each request
 * the seeds of the batch, in an order that differs from epoch to epoch; of a short list and of one
 * that no list of places is made of. */
static void a_list_is_put_in_order_by_the_proxy(void **state)
{
    (void)state;
    static const uint32_t lengths[] = { 50, 70000 };
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct world world;
        open_list(&world, 7 + i, (size_t)1 << 28, lengths[i], MSG_LOADER_SHUFFLE);
        for (uint32_t epoch = 0; epoch < 3; epoch++)
            take_epoch(&world, epoch);
        close_world(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(a_loader_that_was_closed_before_is_not_opened),
        cmocka_unit_test(a_list_is_held_while_its_loader_is_open),
        cmocka_unit_test(a_list_may_be_as_long_as_memory_holds),
        cmocka_unit_test(no_link_is_blamed_inside_a_process),
        cmocka_unit_test(the_next_epoch_starves_nobody),
        cmocka_unit_test(later_batches_give_way_to_the_first),
        cmocka_unit_test(what_is_not_wanted_is_not_kept),
        cmocka_unit_test(no_epoch_follows_the_last_one),
        cmocka_unit_test(samplers_that_are_full_for_a_while_fail_no_batch),
        cmocka_unit_test(a_store_without_room_is_no_failure_of_a_sampler),
        cmocka_unit_test(bytes_that_are_no_such_batch_are_refused),
        cmocka_unit_test(a_list_is_put_in_order_by_the_proxy),
        cmocka_unit_test(another_epoch_drops_what_was_begun),
        cmocka_unit_test(the_next_epoch_is_begun_ahead),
        cmocka_unit_test(batches_come_once_and_in_order),
        cmocka_unit_test(estimates_count_what_is_asked_for),
    };
    return cmocka_run_group_tests_name("proxy", tests, NULL, NULL);
}
