/* SPDX-License-Identifier: Apache-2.0 */
/* Links between nodes of one process, over real sockets. */
#include "tests/runtime/support.h"
#include "tests/scratch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/core/directory.h"
#include "runtime/core/monitor.h"
#include "runtime/core/timer.h"
#include "runtime/net/hello.h"
#include "runtime/net/links.h"
#include "tests/runtime/link_support.h"

#define CALLS 1000

struct caller {
    struct cluster *cluster;
    uint32_t made, done;
    int failure;
};

static void call_next(struct actor *self, struct caller *caller);

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct caller *caller = arg;
    if (status != 0)
        caller->failure = status;
    else if (((struct number *)message_head(reply))->value != caller->done)
        caller->failure = TR_EINTERNAL;
    message_release(self, reply);
    caller->done++;
    call_next(self, caller);
}

static struct address echo_address;

static void call_next(struct actor *self, struct caller *caller)
{
    if (caller->made == CALLS || caller->failure < 0) {
        cluster_done(caller->cluster);
        return;
    }
    struct message *request = message_create(self, KIND_ASK);
    ((struct number *)message_head(request))->value = caller->made++;
    if (actor_call(self, echo_address, request, actor_now_ns(self) + 10 * ENV_SECOND_NS, answered,
                   caller, NULL) < 0)
        abort();
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct caller *caller = arg;
    assert_int_equal(status, 0);
    assert_int_equal(address.node, 0);
    echo_address = address;
    call_next(self, caller);
}

static int caller_start(struct actor *self, const void *arg)
{
    struct caller *caller = (void *)(uintptr_t)arg;
    return directory_wait_at(self, 0, "echo", actor_now_ns(self) + 10 * ENV_SECOND_NS, found,
                             caller);
}

static const struct actor_ops caller_ops = { "caller", caller_start, support_discard, NULL, NULL };

static void calls_are_answered_with(enum endpoint_kind kind, uint32_t loops,
                                    const struct links_options *options)
{
    struct cluster cluster;
    cluster_open_with(&cluster, 2, loops, kind, options);
    struct caller caller = { .cluster = &cluster };
    cluster_spawn(&cluster, 0, &echo_ops, NULL, loops - 1);
    cluster_spawn(&cluster, 1, &caller_ops, &caller, 0);
    cluster_start(&cluster);
    cluster_wait(&cluster, 1);
    cluster_close(&cluster);
    assert_int_equal(caller.failure, 0);
    assert_int_equal(caller.done, CALLS);
}

static void calls_are_answered(enum endpoint_kind kind, uint32_t loops)
{
    calls_are_answered_with(kind, loops, NULL);
}

static void calls_are_answered_over_unix_sockets(void **state)
{
    (void)state;
    calls_are_answered(ENDPOINT_UNIX, 1);
    calls_are_answered(ENDPOINT_UNIX, 3);
}

static void calls_are_answered_over_tcp(void **state)
{
    (void)state;
    calls_are_answered(ENDPOINT_TCP, 2);
}

static void calls_are_answered_over_tls(void **state)
{
    (void)state;
    char path[64];
    char key[65];
    memset(key, 'a', 64);
    key[64] = '\n';
    int fd = mkstemp(scratch_template(path, sizeof path, "key"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, key, sizeof key), sizeof key);
    close(fd);
    struct error error = { 0 };
    struct security *security = NULL;
    struct security_options keys = { .shared_key = path };
    if (security_create(&keys, &security, &error) < 0)
        fail_msg("%s", error.text);
    struct links_options options = { .security = security };
    calls_are_answered_with(ENDPOINT_TCP, 2, &options);
    security_destroy(security);
    unlink(path);
}

/* The messages that one actor sends in two lanes come in the order of each, whatever the bodies. */
#define STREAM 100000

struct streamer {
    struct cluster *cluster;
    struct address to;
    uint64_t sent[2];
    struct timer timer;
    uint64_t next[2]; /* of the receiver */
    uint32_t wrong;
};

static void stream_some(struct actor *self, void *arg)
{
    struct streamer *streamer = arg;
    for (int i = 0; i < 400 && streamer->sent[0] + streamer->sent[1] < STREAM; i++) {
        uint32_t lane = (uint32_t)(actor_random(self) % 2);
        struct message *message = message_create(self, lane == 0 ? KIND_BULK : KIND_URGENT);
        ((struct number *)message_head(message))->value = streamer->sent[lane]++;
        if (lane == 0 && actor_random(self) % 50 == 0)
            message_body_alloc(self, message, actor_random(self) % 100000);
        actor_send(self, streamer->to, message);
    }
    if (streamer->sent[0] + streamer->sent[1] < STREAM)
        timer_start(self, &streamer->timer, actor_now_ns(self) + 1000000, stream_some, streamer);
}

static void stream_to(struct actor *self, void *arg, int status, struct address address)
{
    struct streamer *streamer = arg;
    assert_int_equal(status, 0);
    streamer->to = address;
    stream_some(self, streamer);
}

static int streamer_start(struct actor *self, const void *arg)
{
    return directory_wait_at(self, 0, "sink", actor_now_ns(self) + 20 * ENV_SECOND_NS, stream_to,
                             (void *)(uintptr_t)arg);
}

static const struct actor_ops streamer_ops = { "streamer", streamer_start, support_discard, NULL,
                                               NULL };

static int order_start(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return directory_register(self, "sink", NULL, NULL);
}

static int order_receive(struct actor *self, struct message *message)
{
    struct streamer *streamer = actor_state(self);
    uint64_t value = ((struct number *)message_head(message))->value;
    uint64_t *next = &streamer->next[message->frame.kind == KIND_URGENT];
    streamer->wrong += value != (*next)++;
    message_release(self, message);
    if (streamer->next[0] + streamer->next[1] == STREAM)
        cluster_done(streamer->cluster);
    return 0;
}

static const struct actor_ops order_ops = { "order", order_start, order_receive, NULL, NULL };

static void lanes_keep_their_order(void **state)
{
    (void)state;
    struct cluster cluster;
    cluster_open(&cluster, 2, 2, ENDPOINT_TCP);
    struct streamer streamer = { .cluster = &cluster };
    cluster_spawn(&cluster, 0, &order_ops, &streamer, 1);
    cluster_spawn(&cluster, 1, &streamer_ops, &streamer, 0);
    cluster_start(&cluster);
    cluster_wait(&cluster, 1);
    cluster_close(&cluster);
    assert_int_equal(streamer.wrong, 0);
}

/* A receiver that takes little: what is refused is answered, memory stays small on both sides. */
#define FLOOD 3000
#define FLOOD_BYTES 16384u
#define SMALL_WINDOW (1u << 20)

struct flood {
    struct cluster *cluster;
    uint32_t taken, full, answered, other;
};

static int slow_receive(struct actor *self, struct message *request)
{
    struct flood *flood = actor_state(self);
    flood->taken++;
    if (flood->taken < 200)
        usleep(1000);
    return echo_ops.receive(self, request);
}

static const struct actor_ops slow_ops = { "slow", order_start, slow_receive, NULL, NULL };

static void flooded(struct actor *self, void *arg, int status, struct message *reply)
{
    struct flood *flood = arg;
    flood->full += status == TR_EFULL;
    flood->other += status != TR_EFULL && status != 0;
    message_release(self, reply);
    if (++flood->answered == FLOOD)
        cluster_done(flood->cluster);
}

static void flood_it(struct actor *self, void *arg, int status, struct address address)
{
    assert_int_equal(status, 0);
    for (int i = 0; i < FLOOD; i++) {
        struct message *request = message_create(self, KIND_ASK);
        memset(message_body_alloc(self, request, FLOOD_BYTES), 1, FLOOD_BYTES);
        assert_int_equal(actor_call(self, address, request, actor_now_ns(self) + 60 * ENV_SECOND_NS,
                                    flooded, arg, NULL),
                         0);
    }
}

static int flood_start(struct actor *self, const void *arg)
{
    return directory_wait_at(self, 0, "sink", actor_now_ns(self) + 20 * ENV_SECOND_NS, flood_it,
                             (void *)(uintptr_t)arg);
}

static const struct actor_ops flood_ops = { "flood", flood_start, support_discard, NULL, NULL };

static void a_slow_receiver_bounds_what_is_sent(void **state)
{
    (void)state;
    struct cluster cluster;
    struct links_options options = { .window_bytes = SMALL_WINDOW };
    cluster_open_with(&cluster, 2, 1, ENDPOINT_UNIX, &options);
    struct flood flood = { .cluster = &cluster };
    cluster_spawn(&cluster, 0, &slow_ops, &flood, 0);
    cluster_spawn(&cluster, 1, &flood_ops, &flood, 0);
    cluster_start(&cluster);
    cluster_wait(&cluster, 1);
    assert_int_equal(flood.other, 0);
    assert_int_equal(flood.answered, FLOOD);
    /* The sender may hold two windows; all the rest was refused at once. */
    assert_true(flood.taken <= 2 * SMALL_WINDOW / FLOOD_BYTES);
    assert_int_equal(flood.full + flood.taken, FLOOD);
    /* The receiver never held more than its window, and the answers that it owed. */
    struct account *account = node_message_account(cluster.nodes[0]);
    assert_true(account->peak_bytes < 6 * SMALL_WINDOW);
    cluster_close(&cluster);
}

/* A message that no link can carry is answered, not lost. */
struct oversized {
    struct cluster *cluster;
    uint64_t bytes; /* of the request, or (reply) of the answer */
    bool reply;
    int status;
};

static int big_receive(struct actor *self, struct message *request)
{
    struct oversized *it = actor_state(self);
    struct message *reply = message_create(self, KIND_BULK);
    if (it->reply)
        message_body_alloc(self, reply, it->bytes);
    actor_reply(self, request, reply);
    return 0;
}

static const struct actor_ops big_ops = { "big", order_start, big_receive, NULL, NULL };

static void big_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct oversized *it = arg;
    it->status = status;
    message_release(self, reply);
    cluster_done(it->cluster);
}

static void ask_big(struct actor *self, void *arg, int status, struct address address)
{
    struct oversized *it = arg;
    assert_int_equal(status, 0);
    struct message *request = message_create(self, it->reply ? KIND_ASK : KIND_BULK);
    if (!it->reply)
        message_body_alloc(self, request, it->bytes);
    actor_call(self, address, request, actor_now_ns(self) + 30 * ENV_SECOND_NS, big_answered, it,
               NULL);
}

static int big_start(struct actor *self, const void *arg)
{
    return directory_wait_at(self, 0, "sink", actor_now_ns(self) + 20 * ENV_SECOND_NS, ask_big,
                             (void *)(uintptr_t)arg);
}

static const struct actor_ops asks_big_ops = { "asks", big_start, support_discard, NULL, NULL };

static int carry(uint64_t bytes, bool reply)
{
    struct cluster cluster;
    struct links_options options = { .window_bytes = SMALL_WINDOW };
    cluster_open_with(&cluster, 2, 1, ENDPOINT_UNIX, &options);
    struct oversized it = { .cluster = &cluster, .bytes = bytes, .reply = reply };
    cluster_spawn(&cluster, 0, &big_ops, &it, 0);
    cluster_spawn(&cluster, 1, &asks_big_ops, &it, 0);
    cluster_start(&cluster);
    cluster_wait(&cluster, 1);
    cluster_close(&cluster);
    return it.status;
}

static void no_message_exceeds_half_a_window(void **state)
{
    (void)state;
    for (int reply = 0; reply < 2; reply++) {
        assert_int_equal(carry(SMALL_WINDOW / 2 - 80, reply == 1), 0);
        assert_int_equal(carry(SMALL_WINDOW / 2, reply == 1), TR_ETOOBIG);
    }
}

/* A node that ends: an actor that watches it hears it once; its next life is found by the same
 * name. */
struct watcher {
    struct cluster *cluster;
    uint32_t downs;
    int reason;
    struct address found[2];
    uint32_t num_found;
};

static void watch(struct actor *self, void *arg, int status, struct address address);

static void went_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct watcher *watcher = arg;
    (void)who;
    if (reason == TR_ECANCELED)
        return;
    watcher->downs++;
    watcher->reason = reason;
    cluster_done(watcher->cluster);
    directory_wait_at(self, 0, "echo", actor_now_ns(self) + 30 * ENV_SECOND_NS, watch, watcher);
}

static void watch(struct actor *self, void *arg, int status, struct address address)
{
    struct watcher *watcher = arg;
    if (status != 0)
        return;
    watcher->found[watcher->num_found++ % 2] = address;
    actor_monitor(self, address, went_down, watcher, NULL);
    cluster_done(watcher->cluster);
}

static int watcher_start(struct actor *self, const void *arg)
{
    return directory_wait_at(self, 0, "echo", actor_now_ns(self) + 30 * ENV_SECOND_NS, watch,
                             (void *)(uintptr_t)arg);
}

static const struct actor_ops watcher_ops = { "watcher", watcher_start, support_discard, NULL,
                                              NULL };

static void the_next_life_is_found(void **state)
{
    (void)state;
    struct cluster cluster;
    cluster_open(&cluster, 2, 2, ENDPOINT_UNIX);
    struct watcher watcher = { .cluster = &cluster };
    cluster_spawn(&cluster, 0, &echo_ops, NULL, 1);
    cluster_spawn(&cluster, 1, &watcher_ops, &watcher, 0);
    cluster_start(&cluster);
    cluster_wait(&cluster, 1);
    support_finish(cluster.nodes[0]);
    cluster_wait(&cluster, 2);
    assert_int_equal(watcher.downs, 1);
    cluster_make(&cluster, 0, 2);
    cluster_spawn(&cluster, 0, &echo_ops, NULL, 1);
    assert_int_equal(node_start(cluster.nodes[0]), 0);
    cluster_wait(&cluster, 3);
    assert_int_equal(watcher.found[0].incarnation, 1);
    assert_int_equal(watcher.found[1].incarnation, 2);
    cluster_close(&cluster);
}

/* A node of the same number and life as one that ended learns it, and ends. */
static void a_life_that_ended_is_fenced(void **state)
{
    (void)state;
    struct cluster cluster;
    cluster_open(&cluster, 2, 1, ENDPOINT_UNIX);
    struct watcher watcher = { .cluster = &cluster };
    cluster_spawn(&cluster, 0, &echo_ops, NULL, 0);
    cluster_spawn(&cluster, 1, &watcher_ops, &watcher, 0);
    cluster_start(&cluster);
    cluster_wait(&cluster, 1);
    support_finish(cluster.nodes[1]);
    cluster_make(&cluster, 1, 1);
    assert_int_equal(node_start(cluster.nodes[1]), 0);
    assert_int_equal(node_join(cluster.nodes[1]), TR_EPEERDOWN);
    node_destroy(cluster.nodes[1]);
    cluster.nodes[1] = NULL;
    cluster_close(&cluster);
}

/* An observer asks what observers may, and nothing else; it is no peer of the table. */
struct observer {
    struct cluster *cluster;
    int asked, killed;
    bool forbidden;
};

static void observer_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct observer *observer = arg;
    observer->asked = status;
    message_release(self, reply);
    cluster_done(observer->cluster);
}

static void observer_watched(struct actor *self, void *arg, struct address who, int reason)
{
    struct observer *observer = arg;
    (void)self;
    (void)who;
    observer->killed = reason;
    cluster_done(observer->cluster);
}

static void observer_found(struct actor *self, void *arg, int status, struct address address)
{
    struct observer *observer = arg;
    assert_int_equal(status, 0);
    if (observer->forbidden) {
        actor_monitor(self, address, observer_watched, observer, NULL);
        actor_kill(self, address, TR_EIO);
        return;
    }
    struct message *request = message_create(self, KIND_ASK);
    actor_call(self, address, request, actor_now_ns(self) + 20 * ENV_SECOND_NS, observer_answered,
               observer, NULL);
}

static int observer_start(struct actor *self, const void *arg)
{
    return directory_wait_at(self, 0, "echo", actor_now_ns(self) + 20 * ENV_SECOND_NS,
                             observer_found, (void *)(uintptr_t)arg);
}

static const struct actor_ops observer_ops = { "asker", observer_start, support_discard, NULL,
                                               NULL };

static void observer_asks(bool forbidden, struct observer *observer)
{
    struct cluster cluster;
    cluster_open(&cluster, 1, 2, ENDPOINT_UNIX);
    *observer = (struct observer){ .cluster = &cluster, .asked = 1, .forbidden = forbidden };
    cluster_spawn(&cluster, 0, &echo_ops, NULL, 1);
    cluster_start(&cluster);
    cluster.num_nodes = 2;
    snprintf(cluster.endpoints[1].host, sizeof cluster.endpoints[1].host, "%s/observer.sock",
             cluster.folder);
    cluster.endpoints[1].kind = ENDPOINT_UNIX;
    cluster_make_as(&cluster, 1, NODE_OBSERVERS + 5, 1);
    cluster_spawn(&cluster, 1, &observer_ops, observer, 0);
    assert_int_equal(node_start(cluster.nodes[1]), 0);
    cluster_wait(&cluster, 1);
    cluster_close(&cluster);
}

static void observers_ask_what_they_may(void **state)
{
    (void)state;
    struct observer observer;
    observer_asks(false, &observer);
    assert_int_equal(observer.asked, 0);
    /* It is fenced; what it tried to end lives. */
    observer_asks(true, &observer);
    assert_true(observer.killed == TR_EPEERDOWN || observer.killed == TR_ECANCELED);
}

/* Errors first: what links_create says of options that can't be. */
/* A program that cannot spawn a root ends its node before the start: its links listen by then. */
static void nodes_that_listen_and_never_start_are_joined(void **state)
{
    (void)state;
    struct cluster cluster;
    cluster_open(&cluster, 2, 2, ENDPOINT_UNIX);
    cluster_spawn(&cluster, 0, &echo_ops, NULL, 1);
    cluster_close(&cluster);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    struct env *env = NULL;
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    struct endpoint tcp = { .kind = ENDPOINT_TCP, .host = "127.0.0.1" };
    struct links_peer self = { .node = 3, .endpoint = tcp };
    struct links_peer nowhere = { .node = 1 };
    struct links_peer twice[2] = { { .node = 4 }, { .node = 4 } };
    struct links_options bad[] = {
        { .cluster = NULL },
        { .cluster = "c", .listen = &tcp, .num_listen = 1 },
        { .cluster = "c", .peers = &self, .num_peers = 1, .insecure_network = true },
        { .cluster = "c", .peers = &nowhere, .num_peers = 1 },
        { .cluster = "c", .peers = twice, .num_peers = 2 },
        { .cluster = "c", .window_bytes = UINT64_C(1) << 33 },
    };
    int codes[] = { TR_EINVAL, TR_EPERM, TR_EINVAL, TR_EINVAL, TR_EINVAL, TR_ERANGE };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct node *node = NULL;
        struct error error = { 0 };
        struct node_options options = { .id = 3, .kinds = link_kinds() };
        assert_int_equal(node_create(env, &options, &node, NULL), 0);
        assert_int_equal(links_create(node, &bad[i], &error), codes[i]);
        assert_true(strlen(error.text) > 10);
        node_destroy(node);
    }
    env_destroy(env);
}

/* Each bound of the options, at it and one above, to the letter. */
static void options_have_bounds(void **state)
{
    (void)state;
    char name[WIRE_CLUSTER_MAX + 1];
    struct endpoint tcp = { .kind = ENDPOINT_TCP, .host = "127.0.0.1", .port = 1 };
    struct links_peer peer = { .node = 1, .endpoint = tcp };
    memset(name, 'c', sizeof name);
    name[WIRE_CLUSTER_MAX] = '\0';
    const char *longest = name + 1, *longer = name;
    const struct {
        struct links_options options;
        int code;
        const char *said;
    } cases[] = {
        { { .cluster = longest }, 0, NULL },
        { { .cluster = longer }, TR_EINVAL, "cluster: the name is missing or has over 127 bytes" },
        { { .cluster = "c", .window_bytes = LINKS_WINDOW_BYTES_MAX }, 0, NULL },
        { { .cluster = "c", .window_bytes = (uint64_t)LINKS_WINDOW_BYTES_MAX + 1 },
          TR_ERANGE,
          "window: over 2 GiB" },
        { { .cluster = "c", .peers = &peer, .num_peers = LINKS_PEERS_MAX + 1 },
          TR_ERANGE,
          "peers: 65537 is over 65536" },
        { { .cluster = "c", .peers = &peer, .num_peers = 1, .insecure_network = true }, 0, NULL },
        { { .cluster = "c", .peers = &peer, .num_peers = 1 },
          TR_EPERM,
          "peers: node 1 is reached by TCP, which needs TLS (certificates or a shared key), or "
          "\"insecure_network\"" },
        { { .cluster = "c", .listen = &tcp, .num_listen = 1 },
          TR_EPERM,
          "listening on TCP needs TLS (certificates or a shared key), or \"insecure_network\"" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct env *env = NULL;
        struct node *node = NULL;
        struct error error = { 0 };
        struct node_options options = { .id = 3, .kinds = link_kinds() };
        assert_int_equal(env_event_create(1, &env, NULL), 0);
        assert_int_equal(node_create(env, &options, &node, NULL), 0);
        assert_int_equal(links_create(node, &cases[i].options, &error), cases[i].code);
        if (cases[i].said != NULL)
            assert_string_equal(error.text, cases[i].said);
        node_destroy(node);
        env_destroy(env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(options_have_bounds),
        cmocka_unit_test(calls_are_answered_over_unix_sockets),
        cmocka_unit_test(calls_are_answered_over_tcp),
        cmocka_unit_test(calls_are_answered_over_tls),
        cmocka_unit_test(lanes_keep_their_order),
        cmocka_unit_test(a_slow_receiver_bounds_what_is_sent),
        cmocka_unit_test(no_message_exceeds_half_a_window),
        cmocka_unit_test(the_next_life_is_found),
        cmocka_unit_test(a_life_that_ended_is_fenced),
        cmocka_unit_test(observers_ask_what_they_may),
        cmocka_unit_test(nodes_that_listen_and_never_start_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
