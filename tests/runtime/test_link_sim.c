/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked nodes under resets, clogs, flipped bits, failing allocations and deaths, over many seeds:
 * messages of a lane come in order and without a gap, every call completes once and every monitor
 * gets one DOWN, and nothing is left.
 */
#include "tests/runtime/support.h"
#include "tests/seeds.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/directory.h"
#include "runtime/core/monitor.h"
#include "runtime/core/timer.h"
#include "runtime/net/links.h"
#include "tests/runtime/link_support.h"

#define SEEDS 30
#define NODES 3
#define MS UINT64_C(1000000)
#define MOST_OPEN 20
#define STEPS 60 /* faults a run */

struct record {
    uint64_t opened, completed, monitors, downs, wrong, received, gaps, followed, overtaken;
    uint64_t by_status[32];
    uint64_t kills, fenced;
};

struct world {
    struct env *env;
    struct node *nodes[NODES];
    uint32_t incarnations[NODES];
    struct endpoint endpoints[NODES];
    uint32_t loops;
    bool codec; /* encode inside nodes too */
    bool quiet; /* the faults are over: clients rest */
    struct record record;
};

/* The messages of one sender that a sink saw. */
struct seen {
    struct address from;
    uint64_t next[2]; /* of the data and the control lane */
};

struct sink {
    struct world *world;
    struct seen seen[256];
    uint32_t num_seen;
};

static struct seen *seen_of(struct sink *sink, struct address from)
{
    for (uint32_t i = 0; i < sink->num_seen; i++)
        if (address_equal(sink->seen[i].from, from))
            return &sink->seen[i];
    assert_true(sink->num_seen < 256);
    sink->seen[sink->num_seen].from = from;
    return &sink->seen[sink->num_seen++];
}

static int sink_start(struct actor *self, const void *arg)
{
    struct sink *sink = calloc(1, sizeof *sink);
    assert_non_null(sink);
    actor_set_state(self, sink);
    sink->world = (void *)(uintptr_t)arg;
    /* Memory may be short. */
    return directory_register(self, "sink", NULL, NULL) == TR_ENOMEM ? TR_ENOMEM : 0;
}

static int sink_receive(struct actor *self, struct message *message)
{
    struct sink *sink = actor_state(self);
    if (message->frame.flags & MESSAGE_REQUEST) {
        struct address from = message->frame.from;
        uint64_t value = ((struct number *)message_head(message))->value;
        echo_ops.receive(self, message);
        support_send(self, from, KIND_URGENT, value); /* comes after the answer, however large */
        return 0;
    }
    struct seen *seen = seen_of(sink, message->frame.from);
    uint64_t value = ((struct number *)message_head(message))->value;
    uint64_t *next = &seen->next[message->frame.kind == KIND_URGENT];
    sink->world->record.gaps += value != *next;
    *next = value + 1;
    sink->world->record.received++;
    message_release(self, message);
    return 0;
}

static void state_free(struct actor *self)
{
    free(actor_state(self));
}

static const struct actor_ops sink_ops = { "sink", sink_start, sink_receive, NULL, state_free };

/* One client of each node for each other node. */
struct client {
    struct world *world;
    uint32_t target;
    struct address sink; /* none: it is looked for */
    bool asking;
    uint64_t sent[2];
    uint32_t open;
    uint64_t values[MOST_OPEN]; /* asked and not answered; 0: none */
    struct timer timer;
};

struct ticket {
    struct world *world;
    struct client *client;
    uint64_t value, bytes;
    uint32_t place;
};

static uint8_t fill_of(uint64_t value)
{
    return (uint8_t)(value * 7 + 3);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct ticket *ticket = arg;
    struct record *record = &ticket->world->record;
    record->completed++;
    record->by_status[-status]++;
    record->wrong += (status == 0) != (reply != NULL);
    if (reply != NULL) {
        const unsigned char *body = message_body(reply);
        record->wrong += ((struct number *)message_head(reply))->value != ticket->value ||
                         reply->frame.body_bytes != ticket->bytes;
        for (uint64_t i = 0; i < ticket->bytes; i += 1 + ticket->bytes / 50)
            record->wrong += body[i] != fill_of(ticket->value);
    }
    message_release(self, reply);
    ticket->client->values[ticket->place] = 0;
    ticket->client->open--;
    free(ticket);
}

static void went_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct ticket *ticket = arg;
    (void)self;
    (void)reason;
    ticket->world->record.downs++;
    if (address_equal(ticket->client->sink, who))
        ticket->client->sink = ADDRESS_NONE;
    free(ticket);
}

static struct ticket *ticket_of(struct client *client)
{
    struct ticket *ticket = calloc(1, sizeof *ticket);
    assert_non_null(ticket);
    ticket->world = client->world;
    ticket->client = client;
    return ticket;
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct client *client = arg;
    client->asking = false;
    if (status != 0)
        return;
    struct ticket *ticket = ticket_of(client);
    if (actor_monitor(self, address, went_down, ticket, NULL) < 0) {
        free(ticket);
        return;
    }
    client->world->record.monitors++;
    client->sink = address;
    client->sent[0] = client->sent[1] = 0;
}

static void call_once(struct actor *self, struct client *client)
{
    struct message *request = message_create(self, KIND_ASK);
    if (request == NULL)
        return;
    struct ticket *ticket = ticket_of(client);
    ticket->value = actor_random(self) | 1;
    ((struct number *)message_head(request))->value = ticket->value;
    uint64_t bytes = actor_random(self) % 6 == 0 ? actor_random(self) % 400000 : 0;
    if (actor_random(self) % 6 == 0)
        bytes = actor_random(self) % 10000;
    if (bytes > 0) {
        void *body = message_body_alloc(self, request, bytes);
        if (body != NULL)
            memset(body, fill_of(ticket->value), bytes);
        ticket->bytes = body != NULL ? bytes : 0;
    }
    uint64_t deadline_ns = actor_now_ns(self) + actor_random(self) % (3000 * MS);
    if (actor_call(self, client->sink, request, deadline_ns, answered, ticket, NULL) < 0) {
        free(ticket);
        return;
    }
    client->world->record.opened++;
    client->open++;
    while (client->values[ticket->place] != 0)
        ticket->place++;
    client->values[ticket->place] = ticket->value;
}

static void send_some(struct actor *self, struct client *client)
{
    for (uint64_t n = actor_random(self) % 6; n > 0; n--) {
        uint32_t lane = (uint32_t)(actor_random(self) % 2);
        uint32_t kind = lane == 1 ? KIND_URGENT : KIND_NUMBER;
        if (support_send(self, client->sink, kind, client->sent[lane]) == 0)
            client->sent[lane]++;
    }
}

static void act(struct actor *self, void *arg)
{
    struct client *client = arg;
    if (!client->world->quiet) {
        if (address_is_none(client->sink)) {
            if (!client->asking)
                client->asking = directory_wait_at(self, client->target, "sink",
                                                   actor_now_ns(self) + 2000 * MS, found,
                                                   client) == 0;
        } else {
            send_some(self, client);
            if (client->open < MOST_OPEN)
                call_once(self, client);
        }
    }
    timer_start(self, &client->timer, actor_now_ns(self) + actor_random(self) % (20 * MS), act,
                client);
}

struct client_options {
    struct world *world;
    uint32_t target;
};

static int client_start(struct actor *self, const void *arg)
{
    const struct client_options *options = arg;
    struct client *client = calloc(1, sizeof *client);
    assert_non_null(client);
    actor_set_state(self, client);
    client->world = options->world;
    client->target = options->target;
    timer_start(self, &client->timer, actor_now_ns(self), act, client);
    return 0;
}

/* Receives what was sent behind an answer. */
static int client_receive(struct actor *self, struct message *message)
{
    struct client *client = actor_state(self);
    uint64_t value = ((struct number *)message_head(message))->value;
    for (uint32_t i = 0; i < MOST_OPEN; i++)
        client->world->record.overtaken += client->values[i] == value;
    client->world->record.followed++;
    message_release(self, message);
    return 0;
}

static const struct actor_ops client_ops = { "client", client_start, client_receive, NULL,
                                             state_free };

static void to_stderr(void *arg, enum log_level level, const char *component, const char *line)
{
    (void)component;
    struct world *world = arg;
    (void)level;
    fprintf(stderr, "# %8.3f %s\n", (double)env_sim_now_ns(world->env) / 1e9, line);
}

static void spawn(struct node *node, const struct actor_ops *ops, const void *arg, uint32_t loop)
{
    struct actor_options options = { .ops = ops, .arg = arg, .loop = loop };
    struct address address;
    while (node_spawn(node, &options, &address) < 0)
        ;
}

static void make(struct world *world, uint32_t id, struct client_options options[NODES])
{
    struct node_options node = { .id = id,
                                 .incarnation = ++world->incarnations[id],
                                 .loops = world->loops,
                                 .kinds = link_kinds(),
                                 .codec = world->codec };
    if (getenv("TEST_LOG") != NULL)
        node.log = (struct log_sink){ to_stderr, world, LOG_LEVEL_DEBUG };
    struct links_peer peers[NODES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < NODES; i++)
        if (i != id)
            peers[count++] = (struct links_peer){ .node = i, .endpoint = world->endpoints[i] };
    struct links_options links = {
        .cluster = "test",
        .listen = &world->endpoints[id],
        .num_listen = 1,
        .peers = peers,
        .num_peers = count,
        .insecure_network = true,
        .heartbeat_ns = 100 * MS,
        .dead_ns = 500 * MS,
        .window_bytes = 4 << 20,
    };
    struct error error;
    assert_int_equal(node_create(world->env, &node, &world->nodes[id], NULL), 0);
    if (links_create(world->nodes[id], &links, &error) < 0)
        fail_msg("%s", error.text);
    spawn(world->nodes[id], &sink_ops, world, id % world->loops);
    for (uint32_t i = 0; i < NODES; i++) {
        options[i] = (struct client_options){ world, i };
        spawn(world->nodes[id], &client_ops, &options[i], i % world->loops);
    }
    assert_int_equal(node_start(world->nodes[id]), 0);
}

static void run_for(struct world *world, uint64_t ns)
{
    int rc = env_sim_run(world->env, NULL, NULL, env_sim_now_ns(world->env) + ns);
    assert_int_equal(rc, TR_ETIMEDOUT);
}

/* Nodes that were fenced (or whose directory found no memory) end; a new life follows. */
static void replace_failed(struct world *world, struct client_options options[NODES][NODES])
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (node_failure(world->nodes[i]) == 0 || !node_is_stopped(world->nodes[i]))
            continue;
        world->record.fenced += node_failure(world->nodes[i]) == TR_EPEERDOWN;
        support_check_zero(world->nodes[i]);
        node_destroy(world->nodes[i]);
        make(world, i, options[i]);
    }
}

static void one_fault(struct world *world, uint64_t draw,
                      struct client_options options[NODES][NODES])
{
    struct env *env = world->env;
    uint32_t from = (uint32_t)(draw / 16 % NODES);
    uint32_t to = (from + 1 + (uint32_t)(draw / 64 % (NODES - 1))) % NODES;
    switch (draw % 16) {
    case 0: /* a death */
        world->record.kills++;
        env_sim_kill(env, world->nodes[from]);
        node_destroy(world->nodes[from]);
        make(world, from, options[from]);
        break;
    case 1: /* too long: somebody will be taken for dead */
        env_sim_net_clog(env, from, to, env_sim_now_ns(env) + 1500 * MS);
        break;
    case 2:
    case 3:
        env_sim_net_clog(env, from, to, env_sim_now_ns(env) + draw / 256 % 300 * MS);
        break;
    case 4: /* a node that is stopped for a while */
        env_sim_pause(env, world->nodes[from], 0, env_sim_now_ns(env) + draw / 256 % 400 * MS);
        break;
    default:
        env_sim_net_reset(env);
    }
}

static uint64_t next_draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 17;
}

static bool all_stopped(void *arg)
{
    struct world *world = arg;
    for (uint32_t i = 0; i < NODES; i++)
        if (!node_is_stopped(world->nodes[i]))
            return false;
    return true;
}

static struct world *open_world(uint64_t seed, struct client_options options[NODES][NODES])
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->loops = 1 + (uint32_t)(seed % 3);
    world->codec = seed % 7 == 0;
    struct env_sim_options sim = { .turn_ns_max = 100000 };
    assert_int_equal(env_sim_create(seed, &sim, &world->env), 0);
    for (uint32_t i = 0; i < NODES; i++) {
        world->endpoints[i] = (struct endpoint){ .kind = seed % 2 == 0 ? ENDPOINT_TCP
                                                                       : ENDPOINT_UNIX,
                                                 .port = (uint16_t)(7000 + i) };
        if (seed % 2 != 0)
            world->endpoints[i].port = 0;
        snprintf(world->endpoints[i].host, sizeof world->endpoints[i].host, "/n%u", i);
    }
    for (uint32_t i = 0; i < NODES; i++)
        make(world, i, options[i]);
    return world;
}

/* Returns the trace. */
static uint64_t close_world(struct world *world)
{
    for (uint32_t i = 0; i < NODES; i++)
        node_stop(world->nodes[i], env_sim_now_ns(world->env) + 10 * ENV_SECOND_NS);
    assert_int_equal(env_sim_run(world->env, all_stopped, world,
                                 env_sim_now_ns(world->env) + 20 * ENV_SECOND_NS),
                     0);
    for (uint32_t i = 0; i < NODES; i++) {
        support_check_zero(world->nodes[i]);
        node_destroy(world->nodes[i]);
    }
    uint64_t trace = env_sim_trace(world->env);
    env_destroy(world->env);
    return trace;
}

static uint64_t run_seed(uint64_t seed, struct record *sum)
{
    struct client_options options[NODES][NODES];
    struct world *world = open_world(seed, options);
    uint64_t state = seed * 977 + 1;
    if (seed % 4 == 0)
        env_sim_net_corrupt(world->env, 300);
    if (seed % 3 == 0)
        env_sim_set_alloc_fail(world->env, 5000);
    run_for(world, 300 * MS);
    for (uint32_t i = 0; i < STEPS; i++) {
        if (seed % 5 != 0)
            one_fault(world, next_draw(&state), options);
        run_for(world, next_draw(&state) % 200 * MS);
        replace_failed(world, options);
    }
    env_sim_net_corrupt(world->env, 0);
    env_sim_set_alloc_fail(world->env, 0);
    run_for(world, 3000 * MS);
    replace_failed(world, options);
    run_for(world, 1000 * MS);
    world->quiet = true;
    run_for(world, 4000 * MS);
    /* Everybody talks to everybody in the end. */
    for (uint32_t i = 0; i < NODES; i++) {
        struct links_status status[NODES];
        assert_int_equal(links_status(world->nodes[i], status, NODES), NODES - 1);
        for (uint32_t j = 0; j < NODES - 1; j++) {
            assert_int_equal(status[j].state, LINKS_UP);
            assert_int_equal(status[j].queued_bytes, 0);
            assert_int_equal(status[j].retained_bytes, 0);
        }
    }
    uint64_t trace = close_world(world);
    const struct record *record = &world->record;
    assert_int_equal(record->gaps, 0);
    assert_int_equal(record->overtaken, 0);
    assert_true(record->followed > 0);
    assert_int_equal(record->wrong, 0);
    assert_int_equal(record->opened, record->completed);
    assert_int_equal(record->monitors, record->downs);
    sum->kills += record->kills;
    sum->fenced += record->fenced;
    sum->received += record->received;
    for (int i = 0; i < 32; i++)
        sum->by_status[i] += record->by_status[i];
    free(world);
    return trace;
}

/* A node that stood still while the others counted it as dead ends, whichever side connects; the
 * others, which did nothing wrong, go on. */
static void who_stood_still_ends_alone(void **state)
{
    (void)state;
    struct seeds seeds = seeds_wanted(SEEDS);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        seeds_note(seed);
        struct client_options options[NODES][NODES];
        struct world *world = open_world(seed, options);
        uint32_t stopped = (uint32_t)(seed % NODES);
        run_for(world, 500 * MS);
        env_sim_pause(world->env, world->nodes[stopped], 0, env_sim_now_ns(world->env) + 1200 * MS);
        run_for(world, 4000 * MS);
        for (uint32_t i = 0; i < NODES; i++)
            assert_int_equal(node_failure(world->nodes[i]), i == stopped ? TR_EPEERDOWN : 0);
        close_world(world);
        free(world);
    }
}

static void nothing_is_lost_repeated_or_left(void **state)
{
    (void)state;
    struct record sum = { 0 };
    struct seeds seeds = seeds_wanted(SEEDS);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        seeds_note(seed);
        run_seed(seed, &sum);
    }
    fprintf(stderr,
            "# %lu answers, %lu timed out, %lu down, %lu cancelled, %lu kills, %lu fenced\n",
            sum.by_status[0], sum.by_status[-TR_ETIMEDOUT], sum.by_status[-TR_EPEERDOWN],
            sum.by_status[-TR_ECANCELED], sum.kills, sum.fenced);
    if (seeds.end - seeds.begin < SEEDS)
        return;
    /* The faults were real. */
    assert_true(sum.by_status[0] > 1000);
    assert_true(sum.by_status[-TR_EPEERDOWN] > 100);
    assert_true(sum.by_status[-TR_ETIMEDOUT] > 100);
    assert_true(sum.kills > 10);
    assert_true(sum.fenced > 10);
}

static void runs_repeat_with_their_seed(void **state)
{
    (void)state;
    struct record sum = { 0 };
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_int_equal(run_seed(seed, &sum), run_seed(seed, &sum));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_repeated_or_left),
        cmocka_unit_test(who_stood_still_ends_alone),
        cmocka_unit_test(runs_repeat_with_their_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
