/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question asked until it is answered: it completes once, with the answer, with a refusal that
 * will not pass, or at its deadline; it is cancelled at any moment; memory for replies comes back;
 * and a server that is full, short of memory or slow for a while fails neither batches nor fetches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "actors/data/client.h"
#include "actors/data/sampler.h"
#include "actors/data/server_work.h"
#include "graph/graph_meta.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/actors/graphs.h"
#include "tests/actors/linked_pair.h"
#include "tests/schemas/random.h"
#include "tests/seeds.h"

#define MS UINT64_C(1000000)
#define CALLS 12u
#define REPLY_BYTES 1000u
#define QUIET_NS (3 * ENV_SECOND_NS) /* after the last deadline */

/* The machine alone: calls of one node to an actor of another one, through a link. */

enum answer { ANSWER, FULL, FULL_SAID, MEMORY_SAID, DOWN, LATE, REFUSAL, ANSWERS };

struct question {
    struct part_call call;
    struct world *world;
    uint32_t number;
    bool wrong;     /* is refused for good, sooner or later */
    bool hopeless;  /* its server is full for ever */
    bool endless;   /* has no deadline */
    bool cancelled; /* at cancel_ns */
    uint64_t begin_ns, deadline_ns, cancel_ns, late_ns;
    struct timer begin, cancel;
    uint32_t attempts, done;
    int status;
    uint64_t done_ns;
};

struct world {
    struct linked_pair pair;
    struct address peer;
    struct account replies;
    uint64_t state;         /* of draws */
    uint32_t kind_until;    /* attempts of each question that may fail */
    enum answer always;     /* how those fail; ANSWERS: as drawn */
    uint64_t full_until_ns; /* FULL until then, whatever the attempt */
    struct question questions[CALLS];
    uint32_t num_questions;
    uint32_t outstanding, outstanding_most; /* requests that the peer has not answered */
    struct late *late;
};

struct late {
    struct late *next, **link;
    struct timer timer;
    struct message *request;
    struct world *world;
};

static void reply_to(struct actor *self, struct world *world, struct message *request)
{
    const struct msg_batch_request *asked = message_head(request);
    struct message *reply = message_create(self, MSG_BATCH_REPLY);
    assert_non_null(reply);
    ((struct msg_batch_reply *)message_head(reply))->batch = asked->batch + 1;
    world->outstanding--;
    actor_reply(self, request, reply);
}

static void reply_late(struct actor *self, void *arg)
{
    struct late *late = arg;
    *late->link = late->next;
    if (late->next != NULL)
        late->next->link = late->link;
    reply_to(self, late->world, late->request);
    free(late);
}

static void answer_late(struct actor *self, struct world *world, struct message *request,
                        uint64_t after_ns)
{
    struct late *late = calloc(1, sizeof *late);
    assert_non_null(late);
    *late = (struct late){
        .next = world->late, .link = &world->late, .request = request, .world = world
    };
    if (late->next != NULL)
        late->next->link = &late->next;
    world->late = late;
    timer_start(self, &late->timer, actor_now_ns(self) + after_ns, reply_late, late);
}

static void refuse(struct actor *self, struct world *world, struct message *request, int code,
                   const char *words)
{
    struct error error = { 0 };
    world->outstanding--;
    error_set(&error, code, "%s", words);
    error_reply_send(self, request, &error);
}

static enum answer draw_answer(struct world *world, const struct question *q)
{
    if (q->hopeless || actor_now_ns(q->call.self) < world->full_until_ns)
        return FULL_SAID;
    if (q->attempts > world->kind_until)
        return q->wrong ? REFUSAL : ANSWER;
    if (world->always != ANSWERS)
        return world->always;
    enum answer drawn = (enum answer)random_below(&world->state, REFUSAL);
    return q->wrong && (drawn == ANSWER || drawn == LATE) ? FULL : drawn;
}

static int peer_receive(struct actor *self, struct message *request)
{
    struct world *world = actor_state(self);
    const struct msg_batch_request *asked = message_head(request);
    struct question *q = &world->questions[asked->batch];
    world->outstanding++;
    if (world->outstanding > world->outstanding_most)
        world->outstanding_most = world->outstanding;
    switch (draw_answer(world, q)) {
    case ANSWER:
        reply_to(self, world, request);
        break;
    case FULL:
        world->outstanding--;
        actor_refuse(self, request, TR_EFULL);
        break;
    case FULL_SAID:
        refuse(self, world, request, TR_EFULL, "too many are waiting");
        break;
    case MEMORY_SAID:
        refuse(self, world, request, TR_ENOMEM, "no memory there");
        break;
    case DOWN: /* as an actor does that ends before it answers */
        world->outstanding--;
        message_release(self, request);
        break;
    case LATE:
        answer_late(self, world, request, q->late_ns);
        break;
    default:
        refuse(self, world, request, TR_ERANGE, "there is no such batch");
        break;
    }
    return 0;
}

static int peer_start(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return 0;
}

static void peer_fini(struct actor *self)
{
    struct world *world = actor_state(self);
    while (world->late != NULL) {
        struct late *late = world->late;
        world->late = late->next;
        message_release(self, late->request);
        free(late);
    }
}

static const struct actor_ops peer_ops = {
    .name = "peer", .start = peer_start, .receive = peer_receive, .fini = peer_fini
};

static int locate(struct part_call *call, struct address *to)
{
    struct question *q = call->arg;
    *to = q->world->peer;
    return 0;
}

static int make(struct part_call *call, struct message **request)
{
    struct question *q = call->arg;
    *request = message_create(call->self, MSG_BATCH_REQUEST);
    if (*request == NULL)
        return TR_ENOMEM;
    ((struct msg_batch_request *)message_head(*request))->batch = q->number;
    q->attempts++;
    return 0;
}

static void question_done(struct part_call *call, int status, struct message *reply,
                          const struct error *error)
{
    struct question *q = call->arg;
    assert_int_equal(q->done, 0);
    assert_true(call->state == PART_CALL_IDLE && call->room.bytes == 0);
    q->done++;
    q->status = status;
    q->done_ns = actor_now_ns(call->self);
    if (status == 0) {
        assert_false(q->wrong);
        assert_int_equal(((const struct msg_batch_reply *)message_head(reply))->batch,
                         q->number + 1);
    } else if (status == TR_ERANGE) {
        assert_true(q->wrong);
        assert_string_equal(error->text, "there is no such batch");
        assert_int_equal(error->process_1, q->call.to.node + 1);
    } else {
        assert_int_equal(status, TR_ETIMEDOUT);
        assert_true(q->done_ns >= q->call.deadline_ns);
        /* 0: nobody was asked. */
        assert_true(error->process_1 == 0 || error->process_1 == q->call.to.node + 1);
    }
    message_release(call->self, reply);
}

static const struct part_call_ops question_ops = { .locate = locate,
                                                   .make = make,
                                                   .done = question_done };

static void cancel_question(struct actor *self, void *arg)
{
    struct question *q = arg;
    (void)self;
    part_call_cancel(&q->call);
    q->cancelled = q->done == 0;
    assert_true(q->call.room.bytes == 0 && q->call.room.wait == NULL);
}

static void begin_question(struct actor *self, void *arg)
{
    struct question *q = arg;
    if (q->cancel_ns != 0)
        timer_start(self, &q->cancel, actor_now_ns(self) + q->cancel_ns, cancel_question, q);
    part_call_send(&q->call, q->endless ? UINT64_MAX : actor_now_ns(self) + q->deadline_ns);
}

static int caller_start(struct actor *self, const void *arg)
{
    struct world *world = (struct world *)(uintptr_t)arg;
    actor_set_state(self, world);
    for (uint32_t i = 0; i < world->num_questions; i++) {
        struct question *q = &world->questions[i];
        q->call.self = self;
        timer_start(self, &q->begin, actor_now_ns(self) + q->begin_ns, begin_question, q);
    }
    return 0;
}

static int caller_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void caller_fini(struct actor *self)
{
    struct world *world = actor_state(self);
    for (uint32_t i = 0; i < world->num_questions; i++)
        part_call_fini(&world->questions[i].call);
}

static const struct actor_ops caller_ops = {
    .name = "caller", .start = caller_start, .receive = caller_receive, .fini = caller_fini
};

static void open_nodes(struct world *world, uint64_t seed)
{
    *world = (struct world){ .state = seed, .always = ANSWERS };
    linked_pair_open(&world->pair, seed);
    const struct actor_options peer = { .ops = &peer_ops, .arg = world };
    assert_int_equal(node_spawn(world->pair.nodes[1], &peer, &world->peer), 0);
    linked_pair_run(&world->pair, ENV_SECOND_NS);
    account_init(&world->replies, "replies", REPLY_BYTES * 5 / 2); /* of two at a time */
}

static struct question *add_question(struct world *world, uint64_t deadline_ns)
{
    struct question *q = &world->questions[world->num_questions];
    *q = (struct question){ .world = world,
                            .number = world->num_questions++,
                            .deadline_ns = deadline_ns };
    q->call = (struct part_call){
        .ops = &question_ops, .arg = q, .replies = &world->replies, .reply_bytes = REPLY_BYTES
    };
    return q;
}

static void run_nodes(struct world *world, uint64_t ns)
{
    const struct actor_options caller = { .ops = &caller_ops, .arg = world };
    struct address address;
    assert_int_equal(node_spawn(world->pair.nodes[0], &caller, &address), 0);
    linked_pair_run(&world->pair, ns);
}

static void close_nodes(struct world *world)
{
    linked_pair_close(&world->pair);
    account_fini(&world->replies); /* asserts that all was given back */
}

static void draw_questions(struct world *world)
{
    uint32_t count = 1 + (uint32_t)random_below(&world->state, CALLS);
    world->kind_until = (uint32_t)random_below(&world->state, 12);
    for (uint32_t i = 0; i < count; i++) {
        bool hasty = random_below(&world->state, 6) == 0;
        struct question *q = add_question(world, hasty ? 1 + random_below(&world->state, 300 * MS)
                                                       : 600 * ENV_SECOND_NS);
        q->call.call_ns = 100 * MS + random_below(&world->state, 400 * MS);
        q->begin_ns = random_below(&world->state, 50 * MS);
        q->late_ns = random_below(&world->state, 3 * ENV_SECOND_NS);
        q->wrong = random_below(&world->state, 5) == 0;
        if (random_below(&world->state, 3) == 0)
            q->cancel_ns = 1 + random_below(&world->state,
                                            (uint64_t)1 << random_below(&world->state, 33));
    }
}

static void each_question_completes_once(void **unused)
{
    (void)unused;
    struct seeds seeds = seeds_wanted(300);
    uint32_t answered = 0, refused = 0, expired = 0, cancelled = 0;
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        struct world world;
        seeds_note(seed);
        open_nodes(&world, seed);
        draw_questions(&world);
        bool early = seed % 4 == 0; /* the actor ends in the middle */
        run_nodes(&world, early ? random_below(&world.state, ENV_SECOND_NS)
                                : 600 * ENV_SECOND_NS + QUIET_NS);
        assert_true(world.outstanding_most <= CALLS);
        for (uint32_t i = 0; i < world.num_questions && !early; i++) {
            const struct question *q = &world.questions[i];
            assert_int_equal(q->done, q->cancelled ? 0 : 1);
            if (q->done && q->status == TR_ETIMEDOUT)
                assert_true(q->deadline_ns <= 300 * MS);
            cancelled += q->cancelled;
            answered += q->done && q->status == 0;
            refused += q->done && q->status == TR_ERANGE;
            expired += q->done && q->status == TR_ETIMEDOUT;
        }
        if (!early)
            assert_int_equal(account_used(&world.replies), 0);
        close_nodes(&world);
    }
    assert_true(seeds.end - seeds.begin < 100 ||
                (answered > 300 && refused > 50 && expired > 20 && cancelled > 50));
}

/* The grace of a call without a deadline takes nothing from the patience of an attempt. */
static void grace_never_shortens_an_attempt(void **unused)
{
    (void)unused;
    struct world world;
    open_nodes(&world, 3);
    world.kind_until = UINT32_MAX;
    world.always = LATE;
    struct question *q = add_question(&world, 0);
    q->endless = true;
    q->late_ns = ENV_SECOND_NS;
    q->call.grace_ns = env_sim_now_ns(world.pair.env) +
                       100 * MS; /* wraps where it is added to the end */
    run_nodes(&world, 5 * ENV_SECOND_NS);
    assert_int_equal(q->done, 1);
    assert_int_equal(q->status, 0);
    assert_int_equal(q->attempts, 1);
    close_nodes(&world);
}

/* Two replies have room at a time, and the first two questions are never answered: they must not
 * keep their room while they pause. Filled, drained and filled again. */
static void room_for_replies_comes_back_before_the_end(void **unused)
{
    (void)unused;
    struct world world;
    open_nodes(&world, 1);
    world.kind_until = 3;
    world.always = FULL;
    for (uint32_t i = 0; i < CALLS; i++) {
        struct question *q = add_question(&world, 30 * ENV_SECOND_NS);
        q->begin_ns = (i < 2 ? 0 : 1 + i / 4) * ENV_SECOND_NS;
        q->hopeless = i < 2;
    }
    run_nodes(&world, 20 * ENV_SECOND_NS);
    for (uint32_t i = 2; i < CALLS; i++)
        assert_true(world.questions[i].done == 1 && world.questions[i].status == 0);
    linked_pair_run(&world.pair, 20 * ENV_SECOND_NS);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(world.questions[i].done == 1 && world.questions[i].status == TR_ETIMEDOUT);
    assert_true(world.outstanding_most <= 2);
    assert_int_equal(account_used(&world.replies), 0);
    close_nodes(&world);
}

/* Asked seldom enough, and often enough. */
static void a_full_peer_is_asked_with_growing_pauses(void **unused)
{
    (void)unused;
    struct world world;
    open_nodes(&world, 2);
    world.full_until_ns = env_sim_now_ns(world.pair.env) + 20 * ENV_SECOND_NS;
    struct question *q = add_question(&world, 60 * ENV_SECOND_NS);
    run_nodes(&world, 60 * ENV_SECOND_NS);
    assert_true(q->done == 1 && q->status == 0);
    assert_in_range(q->attempts, 50, 200);
    assert_true(q->done_ns < world.full_until_ns + 400 * MS);
    close_nodes(&world);
}

/* The machine learns how slow its peer is: 1, 2, 4, 8 s. */
static void a_slow_peer_gets_to_answer(void **unused)
{
    (void)unused;
    struct world world;
    open_nodes(&world, 3);
    world.kind_until = UINT32_MAX;
    world.always = LATE;
    struct question *q = add_question(&world, 60 * ENV_SECOND_NS);
    q->call.call_ns = ENV_SECOND_NS;
    q->late_ns = 5 * ENV_SECOND_NS;
    run_nodes(&world, 70 * ENV_SECOND_NS);
    assert_true(q->done == 1 && q->status == 0);
    assert_int_equal(q->attempts, 4);
    close_nodes(&world);
}

static void only_what_passes_is_asked_again(void **unused)
{
    (void)unused;
    static const int passing[] = { TR_EPEERDOWN, TR_ETIMEDOUT, TR_EFULL,
                                   TR_ENOMEM,    TR_ECLOSED,   TR_ECANCELED };
    for (int code = TR_EINVAL; code >= TR_EFORKED; code--) {
        bool passes = false;
        for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
            passes = passes || passing[i] == code;
        assert_int_equal(part_call_is_transient(code), passes);
    }
}

/* Servers that a person would know: full, short of memory or slow for a while. */

struct busy_server {
    struct server_options options; /* first: what the server's state points to */
    uint32_t part;
    uint64_t until_ns; /* refuses everything before that, with ... */
    int code;          /* ... this code; a message of it, or ... */
    bool plain;        /* ... the status alone */
    uint64_t slow_ns;  /* takes so long for a request, always */
    uint64_t refusals;
};

struct held {
    struct timer timer;
    struct message *message;
};

static struct busy_server *busy_of(struct actor *self)
{
    struct server *server = actor_state(self);
    return (struct busy_server *)(uintptr_t)server->options;
}

static void serve_held(struct actor *self, void *arg)
{
    struct held *held = arg;
    (void)server_ops.receive(self, held->message);
    free(held);
}

static int busy_receive(struct actor *self, struct message *message)
{
    struct busy_server *busy = busy_of(self);
    if (actor_now_ns(self) < busy->until_ns) {
        struct error error = { 0 };
        busy->refusals++;
        error_set(&error, busy->code, "the server has 4096 requests waiting");
        if (busy->plain)
            actor_refuse(self, message, busy->code);
        else
            error_reply_send(self, message, &error);
        return 0;
    }
    if (busy->slow_ns == 0)
        return server_ops.receive(self, message);
    struct held *held = calloc(1, sizeof *held);
    assert_non_null(held);
    held->message = message;
    timer_start(self, &held->timer, actor_now_ns(self) + busy->slow_ns, serve_held, held);
    return 0;
}

static int busy_start(struct actor *self, const void *arg)
{
    return server_ops.start(self, arg);
}

static void busy_fini(struct actor *self)
{
    server_ops.fini(self);
}

static const struct actor_ops busy_ops = {
    .name = "busy", .start = busy_start, .receive = busy_receive, .fini = busy_fini
};

struct job {
    struct asker asker;
    struct test_graph graph;
    struct graph_meta meta;
    struct snapshots *snapshots;
    struct batch_store *store;
    struct busy_server servers[GRAPH_PARTS];
    struct sampler_options sampler;
    struct client_options client;
};

#define ROWS 40u
#define SEEDS (ROWS * GRAPH_PARTS)
#define FEAT_BYTES 20u
#define BATCH 20u

static void open_job(struct job *job, bool codec)
{
    *job = (struct job){ .store = batch_store_create((size_t)1 << 24) };
    test_graph_init(&job->graph, 3, ROWS, 6);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++) {
        struct graph_part *part = &job->graph.parts[p];
        part->version = job->graph.book.node_extents[0][p].version;
        uint64_t *columns = (uint64_t *)(uintptr_t)part->edges[2].csc.column_global;
        for (uint64_t i = 0; columns != NULL && i < ROWS * GRAPH_PARTS; i++)
            columns[i] = i; /* the graph's own name nodes that no book has */
    }
    assert_int_equal(graph_meta_init(&job->meta, &job->graph.parts[0]), 0);
    assert_int_equal(snapshots_create(&job->graph.book, &job->snapshots), 0);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++) {
        graph_meta_add_part(&job->meta, &job->graph.parts[p]);
        assert_int_equal(snapshots_add(job->snapshots, &job->graph.parts[p], NULL, NULL, NULL), 0);
    }
    asker_open(&job->asker, 7, codec);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++) {
        struct busy_server *busy = &job->servers[p];
        busy->part = p;
        busy->options = (struct server_options){ .snapshots = job->snapshots,
                                                 .parts = &busy->part,
                                                 .num_parts = 1,
                                                 .rank = p,
                                                 .named = true };
        asker_spawn(&job->asker, &busy_ops, &busy->options);
    }
    job->sampler = (struct sampler_options){ .book = &job->graph.book,
                                             .meta = &job->meta,
                                             .store = job->store,
                                             .recovery_ns = 60 * ENV_SECOND_NS,
                                             .call_ns = ENV_SECOND_NS };
    job->client = (struct client_options){ .book = &job->graph.book, .call_ns = ENV_SECOND_NS };
}

static void close_job(struct job *job)
{
    asker_close(&job->asker);
    batch_store_close(job->store);
    batch_store_release(job->store);
    snapshots_destroy(job->snapshots);
    graph_meta_fini(&job->meta);
    test_graph_fini(&job->graph);
}

static void make_busy(struct job *job, uint64_t ns, int code, bool plain)
{
    for (uint32_t p = 0; p < GRAPH_PARTS; p++) {
        job->servers[p].until_ns = env_sim_now_ns(job->asker.env) + ns;
        job->servers[p].code = code;
        job->servers[p].plain = plain;
    }
}

static void make_slow(struct job *job, uint64_t ns)
{
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        job->servers[p].slow_ns = ns;
}

static void start_sampler(struct job *job)
{
    const struct msg_loader_open open = { .loader = 1,
                                          .seed = 5,
                                          .num_seeds = SEEDS,
                                          .batch_size = BATCH,
                                          .world = 1,
                                          .seeds = MSG_SEEDS_GIVEN,
                                          .features = 0,
                                          .labels = MSG_MASK_ALL };
    asker_spawn(&job->asker, &sampler_ops, &job->sampler);
    assert_int_equal(batch_store_open_loader(job->store, 1, 100000), 0);
    static const int32_t fanout[] = { 3, 2 };
    assert_int_equal(asker_open_loader(&job->asker, &open, NULL, 2, fanout, GRAPH_ETYPES), 0);
    assert_int_equal(job->asker.reply_kind, MSG_LOADER_OPENED);
}

static void fill_seeds(uint64_t ids[BATCH], uint64_t batch)
{
    for (uint32_t i = 0; i < BATCH; i++)
        ids[i] = (batch * BATCH + i) % SEEDS;
}

static int ask_batch(struct job *job, uint64_t batch)
{
    const struct msg_batch_request asked = { .loader = 1, .batch = batch, .num_seeds = BATCH };
    uint64_t ids[BATCH];
    fill_seeds(ids, batch);
    return asker_ask(&job->asker, MSG_BATCH_REQUEST, &asked, sizeof asked, ids, sizeof ids);
}

static void batch_comes(struct job *job, uint64_t batch)
{
    assert_int_equal(ask_batch(job, batch), 0);
    if (job->asker.reply_kind != MSG_BATCH_REPLY)
        fail_msg("a batch failed: %.*s", (int)job->asker.reply_bytes,
                 (const char *)job->asker.reply);
    struct sampled_batch *made = batch_store_collect(job->store, 1, 0, batch);
    assert_non_null(made);
    sampled_batch_release(made);
}

static void rows_come(struct job *job)
{
    uint64_t ids[SEEDS];
    for (uint32_t i = 0; i < SEEDS; i++)
        ids[i] = i;
    const struct msg_fetch_request head = {
        .timeout_ns = 50 * ENV_SECOND_NS, .row_bytes = FEAT_BYTES, .table = 0, .count = SEEDS
    };
    int rv = asker_ask(&job->asker, MSG_FETCH_REQUEST, &head, sizeof head, ids, sizeof ids);
    assert_int_equal(rv, 0);
    if (job->asker.reply_kind != MSG_FETCH_REPLY)
        fail_msg("rows failed: %.*s", (int)job->asker.reply_bytes, (const char *)job->asker.reply);
    for (uint32_t i = 0; i < SEEDS; i++) {
        const struct node_part *nodes = &job->graph.parts[i / ROWS].nodes[0];
        assert_memory_equal(job->asker.reply + i * FEAT_BYTES,
                            (const char *)nodes->features[0].rows + i % ROWS * FEAT_BYTES,
                            FEAT_BYTES);
    }
}

static const struct {
    int code;
    bool plain;
} refusals[] = {
    { TR_EFULL, false }, { TR_EFULL, true }, { TR_ENOMEM, false }, { TR_ENOMEM, true }
};
#define REFUSALS (sizeof refusals / sizeof *refusals)

static void no_batch_fails_by_a_server_that_is_full_for_a_while(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < REFUSALS; i++) {
        struct job job;
        open_job(&job, i % 2 == 0);
        start_sampler(&job);
        make_busy(&job, 20 * ENV_SECOND_NS, refusals[i].code, refusals[i].plain);
        batch_comes(&job, 0);
        assert_true(job.servers[0].refusals > 0 || job.servers[1].refusals > 0);
        batch_comes(&job, 1);
        close_job(&job);
    }
}

static void no_fetch_fails_by_a_server_that_is_full_for_a_while(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < REFUSALS; i++) {
        struct job job;
        open_job(&job, i % 2 == 0);
        asker_spawn(&job.asker, &graph_client_ops, &job.client);
        make_busy(&job, 20 * ENV_SECOND_NS, refusals[i].code, refusals[i].plain);
        rows_come(&job);
        close_job(&job);
    }
}

/* Five times as slow as a request is waited for at first. */
static void slow_servers_answer_batches_and_fetches(void **unused)
{
    (void)unused;
    struct job job;
    open_job(&job, true);
    start_sampler(&job);
    make_slow(&job, 5 * ENV_SECOND_NS);
    batch_comes(&job, 0);
    close_job(&job);
    open_job(&job, false);
    asker_spawn(&job.asker, &graph_client_ops, &job.client);
    make_slow(&job, 5 * ENV_SECOND_NS);
    rows_come(&job);
    close_job(&job);
}

/* A server that stays full: the message names partition, deadline and what it said. */
static void a_deadline_says_what_it_waited_for(void **unused)
{
    (void)unused;
    struct job job;
    open_job(&job, false);
    job.sampler.recovery_ns = 10 * ENV_SECOND_NS;
    start_sampler(&job);
    make_busy(&job, 30 * ENV_SECOND_NS, TR_EFULL, false);
    assert_int_equal(ask_batch(&job, 0), 0);
    assert_int_equal(job.asker.reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(((const struct msg_error_reply *)(const void *)job.asker.reply_head)->code,
                     TR_ETIMEDOUT);
    job.asker.reply[job.asker.reply_bytes] = '\0';
    const char *text = (const char *)job.asker.reply;
    assert_non_null(strstr(text, "did not answer within the recovery deadline of 10000 ms"));
    assert_non_null(strstr(text, "the server has 4096 requests waiting"));
    close_job(&job);
}

/* Batches that are asked for together, of servers that answer all of them at one moment. */
struct together {
    struct address sampler;
    uint32_t count;
    uint64_t order[SAMPLER_DRAFTS_MAX];
};

static void batch_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct together *together = arg;
    if (status != TR_ECANCELED) {
        assert_int_equal(status, 0);
        assert_int_equal(reply->frame.kind, MSG_BATCH_REPLY);
        together->order[together->count++] =
            ((const struct msg_batch_reply *)message_head(reply))->batch;
    }
    message_release(self, reply);
}

static int ask_together(struct actor *self, const void *arg)
{
    struct together *together = (struct together *)(uintptr_t)arg;
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++) {
        struct message *request = message_create(self, MSG_BATCH_REQUEST);
        assert_non_null(request);
        *(struct msg_batch_request *)message_head(
            request) = (struct msg_batch_request){ .loader = 1, .batch = i, .num_seeds = BATCH };
        uint64_t *ids = message_body_alloc(self, request, BATCH * sizeof *ids);
        assert_non_null(ids);
        fill_seeds(ids, i);
        assert_int_equal(actor_call(self, together->sampler, request,
                                    actor_now_ns(self) + 100 * ENV_SECOND_NS, batch_answered,
                                    together, NULL),
                         0);
    }
    return 0;
}

static const struct actor_ops together_ops = { .name = "together",
                                               .start = ask_together,
                                               .receive = caller_receive };

static bool all_came(void *arg)
{
    return ((const struct together *)arg)->count == SAMPLER_DRAFTS_MAX;
}

/* The trainer takes batches in order, so the oldest that can go on goes on first. */
static void older_batches_are_finished_first(void **unused)
{
    (void)unused;
    struct job job;
    struct address address;
    open_job(&job, false);
    job.sampler.call_ns = 0;
    start_sampler(&job);
    make_slow(&job, ENV_SECOND_NS);
    struct together together = { .sampler = job.asker.to };
    const struct actor_options options = { .ops = &together_ops, .arg = &together, .loop = 1 };
    assert_int_equal(node_spawn(job.asker.node, &options, &address), 0);
    assert_int_equal(env_sim_run(job.asker.env, all_came, &together,
                                 env_sim_now_ns(job.asker.env) + 100 * ENV_SECOND_NS),
                     0);
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++)
        assert_int_equal(together.order[i], i);
    close_job(&job);
}

/* The reply of a server that cannot serve, and what the requester reads of it. */

struct saying {
    uint32_t kind; /* of the reply; MSG_ERROR_REPLY with code 0: as error_reply_send makes it */
    int code;
    size_t length; /* of the text */
};

struct said {
    const struct saying *saying;
    struct address speaker;
    bool told;
    int status, code;
    struct error error;
};

static int speak(struct actor *self, struct message *request)
{
    const struct saying *saying = ((const struct said *)actor_state(self))->saying;
    if (saying->kind == MSG_ERROR_REPLY && saying->code == 0) {
        struct error error = { .code = TR_EFULL };
        memset(error.text, 'x', saying->length);
        error_reply_send(self, request, &error);
        return 0;
    }
    struct message *reply = message_create(self, saying->kind);
    assert_non_null(reply);
    if (saying->kind == MSG_ERROR_REPLY) {
        ((struct msg_error_reply *)message_head(reply))->code = saying->code;
        if (saying->length > 0)
            memset(message_body_alloc(self, reply, saying->length), 'x', saying->length);
    }
    actor_reply(self, request, reply);
    return 0;
}

static void listened(struct actor *self, void *arg, int status, struct message *reply)
{
    struct said *said = arg;
    said->status = status;
    said->told = true;
    if (status == 0) {
        said->code = error_reply_read(reply, &said->error);
        assert_int_equal(error_reply_read(reply, NULL), said->code);
    }
    message_release(self, reply);
}

static int start_listener(struct actor *self, const void *arg)
{
    struct said *said = (struct said *)(uintptr_t)arg;
    struct message *request = message_create(self, MSG_BATCH_REQUEST);
    assert_non_null(request);
    assert_int_equal(actor_call(self, said->speaker, request,
                                actor_now_ns(self) + 10 * ENV_SECOND_NS, listened, said, NULL),
                     0);
    return 0;
}

static const struct actor_ops speaker_ops = { .name = "speaker",
                                              .start = peer_start,
                                              .receive = speak };
static const struct actor_ops listener_ops = { .name = "listener",
                                               .start = start_listener,
                                               .receive = caller_receive };

static bool was_told(void *arg)
{
    return ((const struct said *)arg)->told;
}

/* The code and the text arrive, cut to what an error holds; a peer that says "error 0" has an error
 * all the same, and any other reply is none. */
static void an_error_is_read_as_it_was_said(void **unused)
{
    static const struct {
        struct saying saying;
        int code;
        size_t length;
    } cases[] = {
        { { MSG_ERROR_REPLY, 0, 0 }, TR_EFULL, 0 },
        { { MSG_ERROR_REPLY, 0, 1 }, TR_EFULL, 1 },
        { { MSG_ERROR_REPLY, 0, ERROR_TEXT_MAX - 1 }, TR_EFULL, ERROR_TEXT_MAX - 1 },
        { { MSG_ERROR_REPLY, TR_ERANGE, 0 }, TR_ERANGE, 0 },
        { { MSG_ERROR_REPLY, TR_ERANGE, 7 }, TR_ERANGE, 7 },
        { { MSG_ERROR_REPLY, TR_EIO, ERROR_TEXT_MAX - 1 }, TR_EIO, ERROR_TEXT_MAX - 1 },
        { { MSG_ERROR_REPLY, TR_EIO, ERROR_TEXT_MAX }, TR_EIO, ERROR_TEXT_MAX - 1 },
        { { MSG_ERROR_REPLY, 1, 3 }, TR_EINTERNAL, 3 },
        { { MSG_ERROR_REPLY, 7, 0 }, TR_EINTERNAL, 0 },
        { { MSG_BATCH_REPLY, 0, 0 }, 0, 0 },
        { { MSG_JOINED, 0, 0 }, 0, 0 },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct said said = { .saying = &cases[i].saying };
        struct asker asker;
        struct address ignored;
        asker_open(&asker, i, false);
        asker_spawn(&asker, &speaker_ops, &said);
        said.speaker = asker.to;
        const struct actor_options listener = { .ops = &listener_ops, .arg = &said };
        assert_int_equal(node_spawn(asker.node, &listener, &ignored), 0);
        assert_int_equal(
            env_sim_run(asker.env, was_told, &said, env_sim_now_ns(asker.env) + 20 * ENV_SECOND_NS),
            0);
        assert_int_equal(said.status, 0);
        assert_int_equal(said.code, cases[i].code);
        assert_int_equal(said.error.code, cases[i].code);
        assert_int_equal(strlen(said.error.text), cases[i].length);
        assert_int_equal(strspn(said.error.text, "x"), cases[i].length);
        asker_close(&asker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_passes_is_asked_again),
        cmocka_unit_test(an_error_is_read_as_it_was_said),
        cmocka_unit_test(a_full_peer_is_asked_with_growing_pauses),
        cmocka_unit_test(a_slow_peer_gets_to_answer),
        cmocka_unit_test(grace_never_shortens_an_attempt),
        cmocka_unit_test(room_for_replies_comes_back_before_the_end),
        cmocka_unit_test(no_batch_fails_by_a_server_that_is_full_for_a_while),
        cmocka_unit_test(no_fetch_fails_by_a_server_that_is_full_for_a_while),
        cmocka_unit_test(slow_servers_answer_batches_and_fetches),
        cmocka_unit_test(a_deadline_says_what_it_waited_for),
        cmocka_unit_test(older_batches_are_finished_first),
        cmocka_unit_test(each_question_completes_once),
    };
    return cmocka_run_group_tests_name("part_call", tests, NULL, NULL);
}
