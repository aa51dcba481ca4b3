/* SPDX-License-Identifier: Apache-2.0 */
/* Links over the simulated network: calls hold what they promise through resets, clogged ways and
 * the death of a node, and nothing of a dead node's links stays. */
#include "tests/runtime/link_support.h"

#include <stdio.h>
#include <string.h>

#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "runtime/net/link_impl.h"

#define CALLS 300u

struct asker {
    uint32_t made, answered, failed, wrong, lookups;
    uint32_t incarnation; /* of the node that answered last */
    struct address echo;
    struct timer pause;
};

static void look_up(struct actor *self, void *arg);
static void ask(struct actor *self, struct asker *asker);

/* An actor that did not answer is looked up again, a little later. */
static void begin_again(struct actor *self, struct asker *asker)
{
    timer_start(self, &asker->pause, actor_now_ns(self) + ENV_SECOND_NS / 10, look_up, asker);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct asker *asker = arg;
    if (status != 0) {
        asker->failed++;
        message_release(self, reply);
        if (status != TR_ECANCELED)
            begin_again(self, asker);
        return;
    }
    asker->wrong += ((struct number *)message_head(reply))->value != asker->made - 1;
    asker->incarnation = asker->echo.incarnation;
    asker->answered++;
    message_release(self, reply);
    ask(self, asker);
}

static void ask(struct actor *self, struct asker *asker)
{
    if (asker->answered == CALLS)
        return;
    struct message *request = message_create(self, KIND_ASK);
    assert_non_null(request);
    ((struct number *)message_head(request))->value = asker->made++;
    assert_int_equal(actor_call(self, asker->echo, request, actor_now_ns(self) + 30 * ENV_SECOND_NS,
                                answered, asker, NULL),
                     0);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct asker *asker = arg;
    asker->echo = address;
    if (status == 0)
        ask(self, asker);
    else if (status != TR_ECANCELED)
        begin_again(self, asker);
}

static void look_up(struct actor *self, void *arg)
{
    struct asker *asker = arg;
    asker->lookups++;
    uint64_t deadline_ns = actor_now_ns(self) + 5 * ENV_SECOND_NS;
    if (directory_wait_at(self, 0, "echo", deadline_ns, found, asker) < 0)
        begin_again(self, asker);
}

static int start(struct actor *self, const void *arg)
{
    look_up(self, (void *)(uintptr_t)arg);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops asker_ops = { .name = "asker", .start = start, .receive = receive };

/* Numbers that a sender sends at once at that time, to whoever is called "sink". */
#define NUMBERS_THAT_FIT 12u /* a window */
#define NUMBERS 20u          /* the rest waits for the window */
#define SEND_NS (2 * ENV_SECOND_NS)

struct post_office {
    struct address sink;
    struct timer timer;
    uint32_t received;
};

static void send_numbers(struct actor *self, void *arg)
{
    struct post_office *office = arg;
    for (uint32_t i = 0; i < NUMBERS; i++)
        assert_int_equal(support_send(self, office->sink, KIND_NUMBER, i), 0);
}

static void sink_found(struct actor *self, void *arg, int status, struct address address)
{
    struct post_office *office = arg;
    if (status == TR_ECANCELED)
        return;
    assert_int_equal(status, 0);
    office->sink = address;
    timer_start(self, &office->timer, SEND_NS, send_numbers, office);
}

static int start_sender(struct actor *self, const void *arg)
{
    return directory_wait_at(self, 1, "sink", SEND_NS, sink_found, (void *)(uintptr_t)arg);
}

static int start_sink(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return directory_register(self, "sink", NULL, NULL);
}

static int sink_number(struct actor *self, struct message *message)
{
    struct post_office *office = actor_state(self);
    assert_int_equal(((struct number *)message_head(message))->value, office->received++);
    message_release(self, message);
    return 0;
}

static const struct actor_ops sender_ops = { .name = "sender",
                                             .start = start_sender,
                                             .receive = receive };
static const struct actor_ops sink_ops = { .name = "sink",
                                           .start = start_sink,
                                           .receive = sink_number };

struct town {
    struct env *env;
    struct node *nodes[2];
    struct asker asker;
    struct post_office office;
    uint64_t window_bytes; /* 0: as links have it */
    uint32_t warnings;     /* of peers that no link is had with */
    char warning[LOG_LINE_MAX];
};

static void note_line(void *arg, enum log_level level, const char *component, const char *line)
{
    (void)component;
    struct town *town = arg;
    if (level != LOG_LEVEL_WARN || strstr(line, "waiting for process") == NULL)
        return;
    town->warnings++;
    snprintf(town->warning, sizeof town->warning, "%s", line);
}

static struct endpoint endpoint_of(uint32_t id)
{
    struct endpoint endpoint = { .kind = ENDPOINT_TCP, .port = 7000 };
    snprintf(endpoint.host, sizeof endpoint.host, "host%u", id);
    return endpoint;
}

static void make(struct town *town, uint32_t id, uint32_t incarnation)
{
    struct node_options options = {
        .id = id,
        .incarnation = incarnation,
        .loops = 2,
        .kinds = link_kinds(),
        .log = { .write = note_line, .arg = town, .level = LOG_LEVEL_WARN },
    };
    struct endpoint listen = endpoint_of(id);
    struct links_peer peer = { .node = 1 - id,
                               .endpoint = endpoint_of(1 - id),
                               .name = id == 0 ? "b" : "a" };
    struct links_options links = { .cluster = "test",
                                   .listen = &listen,
                                   .num_listen = 1,
                                   .peers = &peer,
                                   .num_peers = 1,
                                   .window_bytes = town->window_bytes,
                                   .insecure_network = true };
    struct actor_options echo = { .ops = &echo_ops, .loop = 1 };
    struct actor_options asker = { .ops = &asker_ops, .arg = &town->asker, .loop = 1 };
    struct address address;
    struct error error;
    assert_int_equal(node_create(town->env, &options, &town->nodes[id], &error), 0);
    if (links_create(town->nodes[id], &links, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(node_spawn(town->nodes[id], id == 0 ? &echo : &asker, &address), 0);
    assert_int_equal(node_start(town->nodes[id]), 0);
}

static void found_town(struct town *town, uint64_t seed)
{
    *town = (struct town){ .env = NULL };
    assert_int_equal(env_sim_create(seed, NULL, &town->env), 0);
    make(town, 0, 1);
    make(town, 1, 1);
}

static void leave(struct town *town)
{
    for (uint32_t i = 2; i-- > 0;)
        support_sim_finish(town->env, town->nodes[i]);
    env_destroy(town->env);
}

static bool all_came(void *arg)
{
    return ((struct town *)arg)->asker.answered == CALLS;
}

static bool some_came(void *arg)
{
    return ((struct town *)arg)->asker.answered > CALLS / 3;
}

static void await(struct town *town, bool (*done)(void *arg))
{
    uint64_t until_ns = env_sim_now_ns(town->env) + 300 * ENV_SECOND_NS;
    assert_int_equal(env_sim_run(town->env, done, town, until_ns), 0);
}

static uint64_t calls_through_resets(uint64_t seed)
{
    struct town town;
    found_town(&town, seed);
    for (uint32_t i = 0; i < 20; i++) {
        env_sim_run(town.env, all_came, &town, env_sim_now_ns(town.env) + ENV_SECOND_NS / 500);
        env_sim_net_reset(town.env);
        if (i % 5 == 4)
            env_sim_net_clog(town.env, i % 2, 1 - i % 2, env_sim_now_ns(town.env) + ENV_SECOND_NS);
    }
    await(&town, all_came);
    assert_int_equal(town.asker.wrong, 0);
    assert_int_equal(town.asker.failed, 0); /* a reset is not seen above */
    assert_int_equal(town.asker.made, CALLS);
    uint64_t trace = env_sim_trace(town.env);
    leave(&town);
    return trace;
}

static void no_call_notices_a_reset(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        uint64_t trace = calls_through_resets(seed);
        if (seed % 10 == 0)
            assert_true(trace == calls_through_resets(seed));
    }
}

static void no_flipped_bit_is_believed(void **state)
{
    (void)state;
    uint64_t corrupt = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct town town;
        struct links_counters counters;
        found_town(&town, seed);
        await(&town, some_came);
        env_sim_net_corrupt(town.env, 20000);
        env_sim_run(town.env, all_came, &town, env_sim_now_ns(town.env) + 2 * ENV_SECOND_NS);
        env_sim_net_corrupt(town.env, 0);
        await(&town, all_came);
        assert_int_equal(town.asker.wrong, 0);
        for (uint32_t i = 0; i < 2; i++) {
            links_counters(town.nodes[i], &counters);
            corrupt += counters.corrupt;
        }
        leave(&town);
    }
    assert_true(corrupt > 10);
}

static void a_node_that_dies_is_replaced(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct town town;
        found_town(&town, seed);
        await(&town, some_came);
        env_sim_kill(town.env, town.nodes[0]);
        node_destroy(town.nodes[0]);
        env_sim_run(town.env, NULL, NULL, env_sim_now_ns(town.env) + seed * ENV_SECOND_NS / 2);
        make(&town, 0, 2);
        await(&town, all_came);
        assert_int_equal(town.asker.wrong, 0);
        assert_int_equal(town.asker.incarnation, 2);
        assert_true(town.asker.failed <= 1); /* the call that was open */
        leave(&town);
    }
}

static void run_until(struct town *town, uint64_t ns)
{
    env_sim_run(town->env, NULL, NULL, ns);
}

static bool is_up(void *arg)
{
    struct links_status status;
    struct town *town = arg;
    return links_status(town->nodes[1], &status, 1) == 1 && status.state == LINKS_UP;
}

/* Two nodes never hold two connections against each other: after a cut only the node with the
 * higher number connects, and goes on while it is refused. The link is up again soon after the last
 * refusal, and after the next cut at once, since the pauses begin anew. */
static void after_a_cut_only_one_side_connects(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct town town;
        struct links_status before, after;
        struct links_counters at[2];
        found_town(&town, seed);
        await(&town, some_came);
        assert_int_equal(links_status(town.nodes[1], &before, 1), 1);
        uint64_t refused_until_ns = env_sim_now_ns(town.env) + 4 * ENV_SECOND_NS;
        env_sim_net_refuse(town.env, 0, refused_until_ns);
        assert_true(env_sim_net_reset(town.env));
        run_until(&town, refused_until_ns);
        assert_false(is_up(&town));
        await(&town, is_up);
        assert_true(env_sim_now_ns(town.env) < refused_until_ns + 2 * ENV_SECOND_NS);
        uint64_t cut_ns = env_sim_now_ns(town.env) + ENV_SECOND_NS / 10;
        run_until(&town, cut_ns);
        assert_true(env_sim_net_reset(town.env));
        run_until(&town, cut_ns + ENV_SECOND_NS / 4);
        assert_true(is_up(&town));
        await(&town, all_came);
        assert_int_equal(links_status(town.nodes[1], &after, 1), 1);
        assert_int_equal(after.connections, before.connections + 2);
        for (uint32_t i = 0; i < 2; i++)
            links_counters(town.nodes[i], &at[i]);
        assert_int_equal(at[0].accepted, after.connections);
        assert_int_equal(at[1].accepted, 0);
        assert_int_equal(at[0].refused + at[1].refused, 0);
        leave(&town);
    }
}

/* A node that is stopped before its peer begins anew: nobody knows an incarnation that is silent,
 * and the connections that its system accepts lead nowhere. The peer names it, with where it looks
 * for it, and its status shows for how long. */
static void a_peer_that_stood_still_before_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct town town;
        struct links_status status;
        found_town(&town, seed);
        await(&town, some_came);
        uint64_t begun_ns = env_sim_now_ns(town.env);
        for (uint32_t loop = 0; loop < 2; loop++)
            env_sim_pause(town.env, town.nodes[0], loop, begun_ns + 100 * ENV_SECOND_NS);
        env_sim_kill(town.env, town.nodes[1]);
        node_destroy(town.nodes[1]);
        make(&town, 1, 2);
        run_until(&town, begun_ns + 4 * ENV_SECOND_NS);
        assert_int_equal(town.warnings, 0);
        run_until(&town, begun_ns + 9 * ENV_SECOND_NS);
        assert_int_equal(town.warnings, 1);
        assert_non_null(
            strstr(town.warning, "waiting for process 0 (a, tcp:host0:7000): no connection for "));
        assert_int_equal(links_status(town.nodes[1], &status, 1), 1);
        assert_int_not_equal(status.state, LINKS_UP);
        assert_true(status.silent_ns > 8 * ENV_SECOND_NS);
        run_until(&town, begun_ns + 95 * ENV_SECOND_NS);
        assert_in_range(town.warnings, 6, 8); /* for a minute each ten seconds, then rarely */
        await(&town, all_came);
        uint32_t warnings = town.warnings;
        run_until(&town, env_sim_now_ns(town.env) + 30 * ENV_SECOND_NS);
        assert_int_equal(town.warnings, warnings);
        assert_int_equal(town.asker.wrong, 0);
        leave(&town);
    }
}

static bool all_numbers_came(void *arg)
{
    return ((struct town *)arg)->office.received == NUMBERS;
}

/* The window is full of messages that a loop which stands still does not take. It takes them while
 * the node that dials has said hello anew, with what was released so far, and is not welcome yet:
 * the rest is reported once the link is up, or the sender would wait for ever. */
static void what_is_released_during_a_greeting_is_told(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct town town = { .window_bytes = NUMBERS_THAT_FIT *
                                             (sizeof(struct frame) + sizeof(struct number)) };
        struct address address;
        struct actor_options sender = { .ops = &sender_ops, .arg = &town.office };
        struct actor_options sink = { .ops = &sink_ops, .arg = &town.office, .loop = seed % 2 };
        assert_int_equal(env_sim_create(seed, NULL, &town.env), 0);
        town.asker.answered = CALLS; /* asks nothing */
        make(&town, 0, 1);
        make(&town, 1, 1);
        assert_int_equal(node_spawn(town.nodes[1], &sink, &address), 0);
        assert_int_equal(node_spawn(town.nodes[0], &sender, &address), 0);
        run_until(&town, SEND_NS - 1);
        env_sim_pause(town.env, town.nodes[1], sink.loop, 5 * ENV_SECOND_NS);
        run_until(&town, 9 * ENV_SECOND_NS / 2);
        assert_int_equal(town.office.received, 0);
        assert_true(env_sim_net_reset(town.env));
        /* Both have heard of the reset, and the pause before the next greeting is not over. */
        run_until(&town, 9 * ENV_SECOND_NS / 2 + ENV_SECOND_NS / 1000);
        env_sim_net_clog(town.env, 0, 1, 11 * ENV_SECOND_NS / 2);
        assert_int_equal(env_sim_run(town.env, all_numbers_came, &town, 20 * ENV_SECOND_NS), 0);
        leave(&town);
    }
}

/* Asks the sink once for its numbers, and counts them. */
static void send_one(struct actor *self, void *arg)
{
    struct post_office *office = arg;
    assert_int_equal(support_send(self, office->sink, KIND_NUMBER, 0), 0);
}

static void source_found(struct actor *self, void *arg, int status, struct address address)
{
    struct post_office *office = arg;
    if (status == TR_ECANCELED)
        return;
    assert_int_equal(status, 0);
    office->sink = address;
    timer_start(self, &office->timer, SEND_NS, send_one, office);
}

static int start_counter(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return directory_wait_at(self, 1, "sink", SEND_NS, source_found, (void *)(uintptr_t)arg);
}

static int answer_numbers(struct actor *self, struct message *message)
{
    struct address to = message->frame.from;
    message_release(self, message);
    for (uint32_t i = 0; i < NUMBERS; i++)
        assert_int_equal(support_send(self, to, KIND_NUMBER, i), 0);
    return 0;
}

static const struct actor_ops counter_ops = { .name = "counter",
                                              .start = start_counter,
                                              .receive = sink_number };
static const struct actor_ops source_ops = { .name = "source",
                                             .start = start_sink,
                                             .receive = answer_numbers };

/* The answer to a message is so large that the acknowledgement goes with it: nothing follows. */
static void an_acknowledgement_goes_with_a_large_answer(void **state)
{
    (void)state;
    _Static_assert(NUMBERS * sizeof(struct frame) >= LINK_ACK_COMPANY_BYTES, "they are company");
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct town town = { .env = NULL };
        struct address address;
        struct links_status before, after;
        struct actor_options asking = { .ops = &counter_ops, .arg = &town.office };
        struct actor_options source = { .ops = &source_ops, .arg = &town.office, .loop = seed % 2 };
        assert_int_equal(env_sim_create(seed, NULL, &town.env), 0);
        town.asker.answered = CALLS; /* asks nothing */
        make(&town, 0, 1);
        make(&town, 1, 1);
        assert_int_equal(node_spawn(town.nodes[1], &source, &address), 0);
        assert_int_equal(node_spawn(town.nodes[0], &asking, &address), 0);
        await(&town, all_numbers_came);
        assert_int_equal(links_status(town.nodes[1], &before, 1), 1);
        run_until(&town, env_sim_now_ns(town.env) + LINK_ACK_DELAY_NS * 10);
        assert_int_equal(links_status(town.nodes[1], &after, 1), 1);
        assert_int_equal(after.bytes_sent, before.bytes_sent);
        leave(&town);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_notices_a_reset),
        cmocka_unit_test(no_flipped_bit_is_believed),
        cmocka_unit_test(a_node_that_dies_is_replaced),
        cmocka_unit_test(after_a_cut_only_one_side_connects),
        cmocka_unit_test(a_peer_that_stood_still_before_is_named),
        cmocka_unit_test(what_is_released_during_a_greeting_is_told),
        cmocka_unit_test(an_acknowledgement_goes_with_a_large_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
