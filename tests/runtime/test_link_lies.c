/* SPDX-License-Identifier: Apache-2.0 */
/* The words that a peer that was let in may say, and what it gets for lies: nobody else notices
 * them. */
#include "tests/runtime/raw_peer.h"

#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/core/account.h"
#include "runtime/core/actor_impl.h"
#include "runtime/core/directory.h"
#include "runtime/core/directory_impl.h"
#include "runtime/core/monitor.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/runtime_codec.h"
#include "runtime/core/runtime_kinds.h"
#include "runtime/net/hello_codec.h"
#include "runtime/net/link_impl.h"

#define OBSERVER (NODE_OBSERVERS + 2)
/* The patience of asks that nobody's death shall end. */
#define PATIENT_NS (60 * ENV_SECOND_NS)

static void open_house(struct cluster *cluster, uint32_t loops)
{
    struct links_options options = { .dead_ns = PATIENT_NS };
    cluster_open_for(cluster, 1, 3, loops, &options);
}

/* Asks an actor that echoes, and gets its answer: all that was sent before was looked at. */
static void expect_echo(struct raw_peer *peer, struct address echo)
{
    struct number number = { .value = 11 };
    struct frame frame = {
        .to = echo, .kind = KIND_ASK, .call = 77, .flags = MESSAGE_REQUEST | MESSAGE_DATA
    };
    raw_send(peer, WIRE_DATA, frame, &number, sizeof number);
    number.value = 0;
    assert_true(raw_receive(peer, &frame, &number, sizeof number));
    assert_int_equal(frame.call, 77);
    assert_int_equal(frame.status, 0);
    assert_int_equal(number.value, 11);
}

static void an_answer_ends_nobody(void **state)
{
    (void)state;
    struct cluster cluster;
    open_house(&cluster, 2);
    struct address echo = cluster_spawn(&cluster, 0, &echo_ops, NULL, 1);
    cluster_start(&cluster);
    uint32_t nodes[] = { 1, OBSERVER };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        struct raw_peer peer;
        raw_open(&peer, &cluster, nodes[i], 1);
        struct frame kill = {
            .to = echo, .kind = RUNTIME_KILL, .flags = MESSAGE_REPLY, .status = TR_EIO
        };
        raw_send(&peer, WIRE_CONTROL, kill, NULL, 0);
        expect_echo(&peer, echo);
        close(peer.fd);
    }
    cluster_close(&cluster);
}

/* Calls actor 1 of node 1, and keeps the answer. */
struct caller {
    struct cluster *cluster;
    int status;
    uint64_t value;
};

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct caller *caller = arg;
    if (status == TR_ECANCELED)
        return;
    caller->status = status;
    if (reply != NULL)
        caller->value = ((struct number *)message_head(reply))->value;
    message_release(self, reply);
    cluster_done(caller->cluster);
}

static int call_one(struct actor *self, const void *arg)
{
    struct message *request = message_create(self, KIND_ASK);
    return actor_call(self, (struct address){ 1, 1, 1, 1 }, request,
                      actor_now_ns(self) + PATIENT_NS, answered, (void *)(uintptr_t)arg, NULL);
}

static const struct actor_ops caller_ops = { "caller", call_one, support_discard, NULL, NULL };

static void only_who_was_asked_answers(void **state)
{
    (void)state;
    struct cluster cluster;
    struct caller caller = { .cluster = &cluster };
    struct raw_peer asked, member, observer;
    struct frame request, lie = { .kind = KIND_ANSWER, .flags = MESSAGE_REPLY };
    struct number number, wrong = { .value = 666 }, right = { .value = 7 };
    open_house(&cluster, 1);
    struct address echo = cluster_spawn(&cluster, 0, &echo_ops, NULL, 0);
    cluster_spawn(&cluster, 0, &caller_ops, &caller, 0);
    cluster_start(&cluster);
    raw_open(&asked, &cluster, 1, 1);
    assert_true(raw_receive(&asked, &request, &number, sizeof number));
    lie.to = request.from;
    lie.call = request.call;
    raw_open(&member, &cluster, 2, 1);
    raw_send(&member, WIRE_CONTROL, lie, &wrong, sizeof wrong);
    expect_echo(&member, echo);
    raw_open(&observer, &cluster, OBSERVER, 1);
    lie.status = TR_EIO;
    raw_send(&observer, WIRE_CONTROL, lie, NULL, 0);
    expect_echo(&observer, echo);
    lie.status = 0;
    raw_send(&asked, WIRE_CONTROL, lie, &right, sizeof right);
    cluster_wait(&cluster, 1);
    assert_int_equal(caller.status, 0);
    assert_int_equal(caller.value, 7);
    /* An observer has nothing to say in an answer but that it failed. */
    raw_send(&observer, WIRE_CONTROL, lie, &wrong, sizeof wrong);
    assert_false(raw_receive(&observer, &request, &number, sizeof number));
    struct links_counters counters;
    links_counters(cluster.nodes[0], &counters);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_DENIED], 1);
    close(asked.fd);
    close(member.fd);
    close(observer.fd);
    cluster_close(&cluster);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct caller *caller = arg;
    (void)self;
    (void)address;
    if (status == TR_ECANCELED)
        return;
    caller->status = status;
    cluster_done(caller->cluster);
}

static int look_up(struct actor *self, const void *arg)
{
    return directory_lookup_at(self, 1, "somebody", actor_now_ns(self) + PATIENT_NS, found,
                               (void *)(uintptr_t)arg);
}

static const struct actor_ops finder_ops = { "finder", look_up, support_discard, NULL, NULL };

/* The head of another kind is not read as an address. */
static void a_directory_answers_with_an_address(void **state)
{
    (void)state;
    struct cluster cluster;
    struct caller caller = { .cluster = &cluster };
    struct raw_peer peer;
    struct frame frame;
    unsigned char name[256];
    open_house(&cluster, 1);
    cluster_spawn(&cluster, 0, &finder_ops, &caller, 0);
    cluster_start(&cluster);
    raw_open(&peer, &cluster, 1, 1);
    assert_true(raw_receive(&peer, &frame, name, sizeof name));
    assert_int_equal(frame.kind, RUNTIME_LOOKUP);
    struct frame lie = {
        .to = frame.from, .call = frame.call, .kind = RUNTIME_STOP, .flags = MESSAGE_REPLY
    };
    raw_send(&peer, WIRE_CONTROL, lie, NULL, 0);
    cluster_wait(&cluster, 1);
    assert_int_equal(caller.status, TR_EFORMAT);
    close(peer.fd);
    cluster_close(&cluster);
}

/* Greets once more as the same life; the refusal, or LINKS_REFUSED_NONE. */
static uint32_t resume(const struct cluster *cluster, const struct wire_hello *hello)
{
    uint32_t refusal = LINKS_REFUSED_NONE;
    int fd;
    raw_greet(cluster, hello, &fd, &refusal);
    close(fd);
    return refusal;
}

static void a_session_goes_on_only_as_it_was(void **state)
{
    (void)state;
    struct cluster cluster;
    open_house(&cluster, 1);
    cluster_start(&cluster);
    struct wire_hello hello = raw_hello(1, 1);
    assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_NONE);
    hello.peer_incarnation = 1;
    assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_NONE);
    uint64_t lies[] = { 1, UINT64_MAX };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        for (int lane = 0; lane < WIRE_LANES; lane++) {
            hello.received[lane] = lies[i];
            assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_FENCED);
            hello.received[lane] = 0;
        }
        /* Credit for what was never sent. */
        hello.released_bytes = lies[i];
        assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_FENCED);
        hello.released_bytes = 0;
    }
    assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_NONE);
    cluster_close(&cluster);
}

/* Sends numbers to the actors that ask for them. */
#define NUMBERS 20u

static int number_sender_receive(struct actor *self, struct message *message)
{
    struct address to = message->frame.from;
    message_release(self, message);
    for (uint64_t i = 0; i < NUMBERS; i++)
        assert_int_equal(support_send(self, to, KIND_NUMBER, i), 0);
    return 0;
}

static const struct actor_ops number_sender_ops = { "number sender", NULL, number_sender_receive,
                                                    NULL, NULL };

static void expect_number(struct raw_peer *peer, uint64_t value)
{
    struct frame frame;
    struct number number;
    assert_true(raw_receive(peer, &frame, &number, sizeof number));
    assert_int_equal(frame.kind, KIND_NUMBER);
    assert_int_equal(number.value, value);
}

/* The release is said in no ACK before the connection breaks, but in the HELLO of the next one: the
 * sender, whose window was full, goes on. */
static void a_full_window_opens_again_when_the_session_resumes(void **state)
{
    (void)state;
    struct cluster cluster;
    struct raw_peer peer = { .cluster = &cluster, .node = 1, .incarnation = 1 };
    struct wire_hello hello = raw_hello(1, 1);
    uint64_t cost = sizeof(struct frame) + sizeof(struct number), fit = 12;
    open_house(&cluster, 1);
    struct address sender = cluster_spawn(&cluster, 0, &number_sender_ops, NULL, 0);
    cluster_start(&cluster);
    hello.window_bytes = fit * cost;
    assert_int_equal(raw_greet(&cluster, &hello, &peer.fd, NULL), WIRE_WELCOME);
    struct number number = { .value = 1 };
    raw_send(&peer, WIRE_DATA,
             (struct frame){ .to = sender, .kind = KIND_NUMBER, .flags = MESSAGE_DATA }, &number,
             sizeof number);
    for (uint64_t i = 0; i < fit; i++)
        expect_number(&peer, i);
    close(peer.fd);
    hello.peer_incarnation = 1;
    hello.received[WIRE_DATA] = fit;
    hello.released_bytes = fit * cost;
    assert_int_equal(raw_greet(&cluster, &hello, &peer.fd, NULL), WIRE_WELCOME);
    for (uint64_t i = fit; i < NUMBERS; i++)
        expect_number(&peer, i);
    close(peer.fd);
    cluster_close(&cluster);
}

/* Says that so many messages of each lane were received. */
static void acknowledge(struct raw_peer *peer, const struct wire_ack *ack)
{
    unsigned char record[WIRE_HEADER_BYTES + sizeof *ack];
    struct wire_header header = { .bytes = sizeof *ack, .type = WIRE_ACK };
    memcpy(record, &header, sizeof header);
    memcpy(record + sizeof header, ack, sizeof *ack);
    assert_int_equal(send(peer->fd, record, sizeof record, MSG_NOSIGNAL), sizeof record);
}

static void gone(struct actor *self, void *arg, struct address who, int reason)
{
    struct caller *caller = arg;
    (void)self;
    (void)who;
    if (reason == TR_ECANCELED)
        return;
    caller->value += reason == TR_EPEERDOWN;
    cluster_done(caller->cluster);
}

/* Asks and watches the actor that lives there, whichever it is (incarnation 0). */
static int call_and_watch_anyone(struct actor *self, const void *arg)
{
    struct message *request = message_create(self, KIND_ASK);
    struct address anyone = { 1, 0, 1, 1 };
    int rc = actor_monitor(self, anyone, gone, (void *)(uintptr_t)arg, NULL);
    return rc < 0 ? rc
                  : actor_call(self, anyone, request, actor_now_ns(self) + PATIENT_NS, answered,
                               (void *)(uintptr_t)arg, NULL);
}

static const struct actor_ops anyone_ops = { "caller of anyone", call_and_watch_anyone,
                                             support_discard, NULL, NULL };

/* A message that the peer acknowledged is no longer in a queue that could be turned around: only
 * the end of the peer's life ends the wait for an answer. */
static void a_death_ends_what_waits_for_whoever_lived_there(void **state)
{
    (void)state;
    struct cluster cluster;
    struct caller caller = { .cluster = &cluster };
    struct raw_peer peer, next;
    struct frame frame;
    struct number number;
    struct wire_ack ack = { .received = { 0 } };
    open_house(&cluster, 2);
    struct address echo = cluster_spawn(&cluster, 0, &echo_ops, NULL, 1);
    cluster_spawn(&cluster, 0, &anyone_ops, &caller, 0);
    cluster_start(&cluster);
    raw_open(&peer, &cluster, 1, 1);
    for (int i = 0; i < 2; i++) {
        assert_true(raw_receive(&peer, &frame, &number, sizeof number));
        ack.received[frame.kind == KIND_ASK ? WIRE_DATA : WIRE_CONTROL]++;
    }
    assert_int_equal(ack.received[WIRE_DATA], 1);
    assert_int_equal(ack.received[WIRE_CONTROL], 1);
    acknowledge(&peer, &ack);
    expect_echo(&peer, echo);
    raw_open(&next, &cluster, 1, 2);
    cluster_wait(&cluster, 2);
    assert_int_equal(caller.status, TR_EPEERDOWN);
    assert_int_equal(caller.value, 1);
    close(peer.fd);
    close(next.fd);
    cluster_close(&cluster);
}

/* A record that comes twice, or after one that is missing, ends its connection: neither is
 * delivered. */
static void records_come_in_their_order(void **state)
{
    (void)state;
    struct cluster cluster;
    open_house(&cluster, 1);
    struct address echo = cluster_spawn(&cluster, 0, &echo_ops, NULL, 0);
    cluster_start(&cluster);
    int32_t steps[] = { -1, 1, 1 << 30 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct raw_peer peer;
        struct frame frame = {
            .to = echo, .kind = KIND_ASK, .call = 78, .flags = MESSAGE_REQUEST | MESSAGE_DATA
        };
        struct number number = { .value = 1 };
        struct links_counters counters;
        raw_open(&peer, &cluster, 1, (uint32_t)i + 1);
        expect_echo(&peer, echo);
        peer.sent[WIRE_DATA] += (uint32_t)steps[i];
        raw_send(&peer, WIRE_DATA, frame, &number, sizeof number);
        assert_false(raw_receive(&peer, &frame, &number, sizeof number));
        links_counters(cluster.nodes[0], &counters);
        assert_int_equal(counters.corrupt, i + 1);
        close(peer.fd);
    }
    cluster_close(&cluster);
}

/* Asks actor 1 of node 1 with short deadlines, until the test saw one. */
struct hasty {
    struct cluster *cluster;
    atomic_bool seen;
};

static void ask_hastily(struct actor *self, struct hasty *hasty);

static void hasty_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct hasty *hasty = arg;
    message_release(self, reply);
    if (status == TR_ECANCELED)
        return;
    assert_int_equal(status, TR_ETIMEDOUT);
    if (atomic_load(&hasty->seen))
        cluster_done(hasty->cluster);
    else
        ask_hastily(self, hasty);
}

static void ask_hastily(struct actor *self, struct hasty *hasty)
{
    struct message *request = message_create(self, KIND_ASK);
    actor_call(self, (struct address){ 1, 1, 1, 1 }, request,
               actor_now_ns(self) + ENV_SECOND_NS / 10, hasty_answered, hasty, NULL);
}

static int hasty_start(struct actor *self, const void *arg)
{
    ask_hastily(self, (void *)(uintptr_t)arg);
    return 0;
}

static const struct actor_ops hasty_ops = { "hasty", hasty_start, support_discard, NULL, NULL };

/* A message that was written and lost is no more there to be received when it expired meanwhile. */
static void nothing_is_received_that_was_dropped(void **state)
{
    (void)state;
    struct cluster cluster;
    struct hasty hasty = { .cluster = &cluster };
    struct raw_peer peer;
    struct frame frame;
    struct number number;
    open_house(&cluster, 1);
    cluster_spawn(&cluster, 0, &hasty_ops, &hasty, 0);
    cluster_start(&cluster);
    raw_open(&peer, &cluster, 1, 1);
    assert_true(raw_receive(&peer, &frame, &number, sizeof number));
    atomic_store(&hasty.seen, true);
    cluster_wait(&cluster, 1);
    close(peer.fd);
    struct wire_hello hello = raw_hello(1, 1);
    hello.peer_incarnation = 1;
    assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_NONE);
    hello.received[WIRE_DATA] = 1;
    assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_FENCED);
    cluster_close(&cluster);
}

static void windows_have_a_bound(void **state)
{
    (void)state;
    struct cluster cluster;
    open_house(&cluster, 1);
    cluster_start(&cluster);
    struct wire_hello hello = raw_hello(1, 1);
    uint64_t lies[] = { 0, (uint64_t)LINKS_WINDOW_BYTES_MAX + 1, UINT64_MAX };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        hello.window_bytes = lies[i];
        assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_MALFORMED);
    }
    hello.window_bytes = LINKS_WINDOW_BYTES_MAX;
    assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_NONE);
    cluster_close(&cluster);
}

#define FIRST_OBSERVERS 16u

/* Its link is made for it, on whichever loop, and takes the connection that it was made for. */
static void the_first_connection_of_an_observer_is_answered(void **state)
{
    (void)state;
    struct cluster cluster;
    struct raw_peer observers[FIRST_OBSERVERS];
    struct links_counters counters;
    open_house(&cluster, 2);
    cluster_start(&cluster);
    for (uint32_t i = 0; i < FIRST_OBSERVERS; i++)
        raw_open(&observers[i], &cluster, OBSERVER + i, 1);
    links_counters(cluster.nodes[0], &counters);
    assert_int_equal(counters.observers, FIRST_OBSERVERS);
    assert_int_equal(counters.accepted, FIRST_OBSERVERS);
    for (uint32_t i = 0; i < FIRST_OBSERVERS; i++)
        close(observers[i].fd);
    cluster_close(&cluster);
}

static void an_observer_watches_a_few_times(void **state)
{
    (void)state;
    struct cluster cluster;
    struct raw_peer observer;
    struct number number;
    open_house(&cluster, 1);
    struct address echo = cluster_spawn(&cluster, 0, &echo_ops, NULL, 0);
    cluster_start(&cluster);
    raw_open(&observer, &cluster, OBSERVER, 1);
    struct frame frame = { .to = echo, .kind = RUNTIME_MONITOR, .flags = MESSAGE_REQUEST };
    for (frame.call = 1; frame.call <= MONITOR_OBSERVER_WATCHES_MAX + 1; frame.call++)
        raw_send(&observer, WIRE_CONTROL, frame, NULL, 0);
    assert_true(raw_receive(&observer, &frame, &number, sizeof number));
    assert_int_equal(frame.call, MONITOR_OBSERVER_WATCHES_MAX + 1);
    assert_int_equal(frame.status, TR_EFULL);
    expect_echo(&observer, echo);
    struct links_counters counters;
    links_counters(cluster.nodes[0], &counters);
    assert_int_equal(counters.observers, 1);
    close(observer.fd);
    cluster_close(&cluster);
}

static void an_observer_waits_for_a_few_names(void **state)
{
    (void)state;
    struct cluster cluster;
    struct raw_peer observer;
    unsigned char head[256];
    struct runtime_name name = { .name = "nobody", .wait = 1 };
    open_house(&cluster, 1);
    cluster_start(&cluster);
    raw_open(&observer, &cluster, OBSERVER, 1);
    int count = runtime_encode(RUNTIME_LOOKUP, &name, head, sizeof head);
    struct frame frame = { .to = cluster.nodes[0]->directory,
                           .kind = RUNTIME_LOOKUP,
                           .flags = MESSAGE_REQUEST,
                           .deadline_ns = PATIENT_NS };
    for (frame.call = 1; frame.call <= DIRECTORY_OBSERVER_WAITERS_MAX + 1; frame.call++)
        raw_send(&observer, WIRE_CONTROL, frame, head, (uint32_t)count);
    assert_true(raw_receive(&observer, &frame, head, sizeof head));
    assert_int_equal(frame.call, DIRECTORY_OBSERVER_WAITERS_MAX + 1);
    assert_int_equal(frame.status, TR_EFULL);
    close(observer.fd);
    cluster_close(&cluster);
}

/* Takes no message before it is let. */
struct gate {
    pthread_mutex_t mutex;
    atomic_bool closed;
};

static int pass_gate(struct actor *self, const void *arg)
{
    struct gate *gate = (void *)(uintptr_t)arg;
    (void)self;
    atomic_store(&gate->closed, true);
    pthread_mutex_lock(&gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return 0;
}

static const struct actor_ops gated_ops = { "gated", pass_gate, support_discard, NULL, NULL };

#define FLOOD 20000

/* Writes what the other side takes; true: it has to wait because the account is full. */
static bool flood(struct raw_peer *observer, struct account *account, struct frame frame)
{
    unsigned char record[512], head[256];
    struct runtime_name name = { .name = "anybody" };
    uint32_t count = (uint32_t)runtime_encode(RUNTIME_LOOKUP, &name, head, sizeof head);
    for (int i = 0; i < FLOOD; i++) {
        uint32_t at = 0, bytes = raw_record(observer, WIRE_CONTROL, frame, head, count, record);
        while (at < bytes) {
            ssize_t n = send(observer->fd, record + at, bytes - at, MSG_NOSIGNAL | MSG_DONTWAIT);
            at += n > 0 ? (uint32_t)n : 0;
            pthread_mutex_lock(&account->mutex);
            bool full = account->refusals > 0;
            pthread_mutex_unlock(&account->mutex);
            if (full)
                return true;
            if (n < 0)
                usleep(1000);
        }
    }
    return false;
}

/* An actor that takes nothing does not let an observer's messages, of whatever lane, pile up. */
static void a_flood_of_observers_is_bounded(void **state)
{
    (void)state;
    struct cluster cluster;
    struct gate gate = { .mutex = PTHREAD_MUTEX_INITIALIZER };
    struct raw_peer observer;
    open_house(&cluster, 2);
    struct address to = cluster_spawn(&cluster, 0, &gated_ops, &gate, 1);
    pthread_mutex_lock(&gate.mutex);
    cluster_start(&cluster);
    while (!atomic_load(&gate.closed))
        usleep(1000);
    raw_open(&observer, &cluster, OBSERVER, 1);
    struct account *account = links_observer_account(cluster.nodes[0]);
    bool stopped = flood(&observer, account, (struct frame){ .to = to, .kind = RUNTIME_LOOKUP });
    pthread_mutex_unlock(&gate.mutex);
    assert_true(stopped);
    assert_true(account->peak_bytes <= LINKS_OBSERVER_BYTES_MAX);
    close(observer.fd);
    cluster_close(&cluster);
}

/* Small enough that a flood of a few megabytes is far above what may wait. */
#define SMALL_WINDOW_BYTES (UINT64_C(64) << 10)

/* Sends control messages until the other side says that it reads no more. */
static void flood_control(struct raw_peer *peer, const struct link *link, struct address to)
{
    struct number number = { 0 };
    struct frame frame = { .to = to, .kind = KIND_URGENT };
    for (int i = 0; i < FLOOD; i++) {
        unsigned char record[512];
        uint32_t bytes = raw_record(peer, WIRE_CONTROL, frame, &number, sizeof number, record);
        for (uint32_t at = 0; at < bytes;) {
            ssize_t n = send(peer->fd, record + at, bytes - at, MSG_NOSIGNAL | MSG_DONTWAIT);
            at += n > 0 ? (uint32_t)n : 0;
            if (atomic_load(&link->control_full) > 0)
                return;
            if (n < 0)
                usleep(1000);
        }
    }
    fail_msg("all of %d control messages were taken", FLOOD);
}

/* A member's control messages have no credit: those that an actor does not take are bounded all the
 * same, for each member by itself, and when they were taken nothing counts against it. */
static void control_that_nobody_takes_is_bounded(void **state)
{
    (void)state;
    struct links_options options = { .dead_ns = PATIENT_NS, .window_bytes = SMALL_WINDOW_BYTES };
    struct cluster cluster;
    struct gate gates[2] = { { .mutex = PTHREAD_MUTEX_INITIALIZER },
                             { .mutex = PTHREAD_MUTEX_INITIALIZER } };
    struct address to[2];
    /* Loop 0 listens, loops 1 and 2 have the links: the gates stand on the others. */
    cluster_open_for(&cluster, 1, 3, 5, &options);
    for (uint32_t i = 0; i < 2; i++) {
        to[i] = cluster_spawn(&cluster, 0, &gated_ops, &gates[i], i + 3);
        pthread_mutex_lock(&gates[i].mutex);
    }
    cluster_start(&cluster);
    struct raw_peer peers[2];
    struct link *links[2];
    for (uint32_t i = 0; i < 2; i++) {
        while (!atomic_load(&gates[i].closed))
            usleep(1000);
        links[i] = links_find(links_of(cluster.nodes[0]), i + 1);
        uint64_t bound = link_control_bound(links[i]);
        assert_true(bound > 0 && bound <= LINK_CONTROL_WINDOWS * SMALL_WINDOW_BYTES);
        raw_open(&peers[i], &cluster, i + 1, 1);
        flood_control(&peers[i], links[i], to[i]);
        /* One of full length was refused; the other member's are not counted. */
        uint64_t held = atomic_load(&links[i]->control_held);
        assert_true(held <= bound && held > bound - 1024);
        close(peers[i].fd); /* no more comes, and what came is taken all the same */
    }
    for (uint32_t i = 0; i < 2; i++) {
        pthread_mutex_unlock(&gates[i].mutex);
        while (atomic_load(&links[i]->control_held) > 0)
            usleep(1000);
    }
    cluster_close(&cluster);
}

/* A node that has no memory for what comes does not wait for ever for an acknowledgement behind
 * it. */
static void a_stall_ends(void **state)
{
    (void)state;
    struct cluster cluster;
    struct raw_peer peer;
    struct number number = { 0 };
    unsigned char record[512];
    struct wire_header header;
    open_house(&cluster, 1);
    struct address echo = cluster_spawn(&cluster, 0, &echo_ops, NULL, 0);
    cluster_start(&cluster);
    raw_open(&peer, &cluster, 1, 1);
    expect_echo(&peer, echo);
    struct account *account = node_message_account(cluster.nodes[0]);
    size_t rest = account->bound_bytes - (1 << 20);
    assert_int_equal(account_reserve(account, rest, NULL), 0);
    struct frame frame = {
        .to = echo, .kind = KIND_ASK, .flags = MESSAGE_DATA, .body_bytes = 1 << 20
    };
    uint32_t bytes = raw_record(&peer, WIRE_DATA, frame, &number, sizeof number, record);
    memcpy(&header, record, sizeof header);
    header.bytes++; /* the first byte of the body */
    memcpy(record, &header, sizeof header);
    record[bytes++] = 0;
    assert_int_equal(send(peer.fd, record, bytes, MSG_NOSIGNAL), bytes);
    assert_false(raw_receive(&peer, &frame, &number, sizeof number));
    close(peer.fd);
    account_release(account, rest);
    struct wire_hello hello = raw_hello(1, 1);
    hello.peer_incarnation = 1;
    hello.received[WIRE_CONTROL] = 1;
    assert_int_equal(resume(&cluster, &hello), LINKS_REFUSED_NONE);
    cluster_close(&cluster);
}

/* As large as the window of raw_hello() lets them be; together more than an observer may
 * have queued. */
#define LARGE_BYTES (256u << 10)
#define LARGE_ASKS 96u

static int answer_large(struct actor *self, struct message *request)
{
    atomic_uint *answered = (void *)(uintptr_t)self->arg;
    struct message *reply = message_create(self, KIND_ANSWER);
    assert_non_null(reply);
    memset(message_body_alloc(self, reply, LARGE_BYTES), 0, LARGE_BYTES);
    actor_reply(self, request, reply);
    atomic_fetch_add(answered, 1);
    return 0;
}

static const struct actor_ops large_ops = { "large", NULL, answer_large, NULL, NULL };

static uint64_t observers_of(const struct cluster *cluster)
{
    struct links_counters counters;
    links_counters(cluster->nodes[0], &counters);
    return counters.observers;
}

/* An observer that takes no answers is let go before they have taken more than it is worth. */
static void an_observer_that_does_not_read_is_let_go(void **state)
{
    (void)state;
    struct cluster cluster;
    struct raw_peer observer;
    struct number number = { 0 };
    atomic_uint answered = 0;
    open_house(&cluster, 1);
    struct address to = cluster_spawn(&cluster, 0, &large_ops, &answered, 0);
    cluster_start(&cluster);
    raw_open(&observer, &cluster, OBSERVER, 1);
    struct frame frame = {
        .to = to, .kind = KIND_ASK, .call = 1, .flags = MESSAGE_REQUEST | MESSAGE_DATA
    };
    for (uint32_t i = 0; i < LARGE_ASKS; i++)
        raw_send(&observer, WIRE_DATA, frame, &number, sizeof number);
    /* It may be gone before all that it asked was read. */
    for (int i = 0; i < 60000 && observers_of(&cluster) > 0; i++)
        usleep(1000);
    assert_int_equal(observers_of(&cluster), 0);
    char bytes[4096];
    uint64_t total = 0;
    for (ssize_t n; (n = read(observer.fd, bytes, sizeof bytes)) > 0;)
        total += (uint64_t)n;
    assert_true(total < (uint64_t)LARGE_ASKS * LARGE_BYTES);
    close(observer.fd);
    cluster_close(&cluster);
}

#define LATE_NS UINT64_C(10000000)

/* Answers whose deadline passed are not kept, so an observer that is slow to take them is not let
 * go for them. */
static void answers_that_are_too_late_take_no_room(void **state)
{
    (void)state;
    struct cluster cluster;
    struct raw_peer observer;
    struct number number = { 0 };
    atomic_uint answered = 0;
    open_house(&cluster, 1);
    struct address to = cluster_spawn(&cluster, 0, &large_ops, &answered, 0);
    cluster_start(&cluster);
    raw_open(&observer, &cluster, OBSERVER, 1);
    struct frame frame = { .to = to,
                           .kind = KIND_ASK,
                           .call = 1,
                           .deadline_ns = LATE_NS,
                           .flags = MESSAGE_REQUEST | MESSAGE_DATA };
    for (uint32_t i = 0; i < LARGE_ASKS; i++) {
        unsigned before = atomic_load(&answered);
        raw_send(&observer, WIRE_DATA, frame, &number, sizeof number);
        /* On a busy machine the question itself may be too late. */
        for (int wait = 0; wait < 100 && atomic_load(&answered) == before; wait++)
            usleep(1000);
        usleep(2 * LATE_NS / 1000);
        assert_int_equal(observers_of(&cluster), 1);
    }
    close(observer.fd);
    cluster_close(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_ends_nobody),
        cmocka_unit_test(only_who_was_asked_answers),
        cmocka_unit_test(a_directory_answers_with_an_address),
        cmocka_unit_test(a_session_goes_on_only_as_it_was),
        cmocka_unit_test(nothing_is_received_that_was_dropped),
        cmocka_unit_test(windows_have_a_bound),
        cmocka_unit_test(a_full_window_opens_again_when_the_session_resumes),
        cmocka_unit_test(a_death_ends_what_waits_for_whoever_lived_there),
        cmocka_unit_test(records_come_in_their_order),
        cmocka_unit_test(the_first_connection_of_an_observer_is_answered),
        cmocka_unit_test(an_observer_watches_a_few_times),
        cmocka_unit_test(an_observer_waits_for_a_few_names),
        cmocka_unit_test(a_flood_of_observers_is_bounded),
        cmocka_unit_test(an_observer_that_does_not_read_is_let_go),
        cmocka_unit_test(answers_that_are_too_late_take_no_room),
        cmocka_unit_test(control_that_nobody_takes_is_bounded),
        cmocka_unit_test(a_stall_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
