/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_messages.h"

#include <stdlib.h>

#include "runtime/core/call.h"
#include "runtime/core/node.h"
#include "runtime/core/port.h"
#include "runtime/event/env_event.h"

#define FANIN_WINDOW 4096u /* messages a sender may have under way */
#define FANIN_GRANT 1024u  /* credits come back in portions of this many */
#define BENCH_DEADLINE_NS UINT64_C(120000000000)

enum { KIND_ITEM = 64, KIND_CREDIT, KIND_GO, KIND_GONE, KIND_PING, KIND_PONG };

struct item {
    uint64_t value;
};

static const struct kind bench_kinds[] = {
    { .id = KIND_ITEM,
      .name = "item",
      .lane = KIND_DATA,
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct item) },
    { .id = KIND_CREDIT, .name = "credit", .class = KIND_ONCE },
    { .id = KIND_GO, .name = "go", .class = KIND_ONCE, .head_bytes = sizeof(struct item) },
    { .id = KIND_GONE, .name = "gone", .class = KIND_ONCE },
    { .id = KIND_PING,
      .name = "ping",
      .lane = KIND_DATA,
      .class = KIND_PURE,
      .head_bytes = sizeof(struct item) },
    { .id = KIND_PONG,
      .name = "pong",
      .lane = KIND_DATA,
      .class = KIND_PURE,
      .head_bytes = sizeof(struct item) },
};

/* One run: the driver's request waits until `left` messages were handled. */
struct message_run {
    uint64_t messages, left;
    uint32_t senders;
    struct address to;
    struct message *request;
    const struct actor_ops *first, *second;
};

static int messages_start(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return 0;
}

static int answer_driver(struct actor *self, struct message_run *bench)
{
    struct message *reply = message_create(self, KIND_GONE);
    if (reply == NULL)
        return TR_ENOMEM;
    struct message *request = bench->request;
    bench->request = NULL;
    return actor_reply(self, request, reply);
}

/* fanin */

struct fanin_sender {
    const struct message_run *bench;
    uint64_t left;
    uint64_t index;
};

struct fanin_sink {
    struct message_run *bench;
    uint32_t *got; /* [senders] since the last credit */
    struct address *addresses;
};

static int send_items(struct actor *self, struct fanin_sender *sender, uint64_t count)
{
    for (; count > 0 && sender->left > 0; count--, sender->left--) {
        struct message *message = message_create(self, KIND_ITEM);
        if (message == NULL)
            return TR_ENOMEM;
        ((struct item *)message_head(message))->value = sender->index;
        actor_send(self, sender->bench->to, message);
    }
    return 0;
}

static int sender_start(struct actor *self, const void *arg)
{
    struct fanin_sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL)
        return TR_ENOMEM;
    sender->bench = arg;
    sender->left = sender->bench->messages / sender->bench->senders;
    actor_set_state(self, sender);
    return 0;
}

static int sender_receive(struct actor *self, struct message *message)
{
    struct fanin_sender *sender = actor_state(self);
    bool go = message->frame.kind == KIND_GO;
    if (go)
        sender->index = ((struct item *)message_head(message))->value;
    message_release(self, message);
    return send_items(self, sender, go ? FANIN_WINDOW : FANIN_GRANT);
}

static void sender_fini(struct actor *self)
{
    free(actor_state(self));
}

static const struct actor_ops sender_ops = { "sender", sender_start, sender_receive, NULL,
                                             sender_fini };

static int sink_start(struct actor *self, const void *arg)
{
    struct message_run *bench = (void *)(uintptr_t)arg;
    struct fanin_sink *sink = calloc(1, sizeof *sink);
    actor_set_state(self, sink);
    if (sink == NULL)
        return TR_ENOMEM;
    sink->bench = bench;
    sink->got = calloc(bench->senders, sizeof *sink->got);
    sink->addresses = calloc(bench->senders, sizeof *sink->addresses);
    if (sink->got == NULL || sink->addresses == NULL)
        return TR_ENOMEM;
    bench->to = actor_address(self);
    for (uint32_t i = 0; i < bench->senders; i++) {
        struct actor_options options = {
            .ops = &sender_ops,
            .arg = bench,
            .loop = 1 + i % (node_loops(actor_node(self)) - 1),
        };
        int rc = actor_spawn(self, &options, &sink->addresses[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int send_plain(struct actor *self, struct address to, uint32_t kind)
{
    struct message *message = message_create(self, kind);
    return message != NULL ? actor_send(self, to, message) : TR_ENOMEM;
}

static int start_senders(struct actor *self, struct fanin_sink *sink)
{
    for (uint32_t i = 0; i < sink->bench->senders; i++) {
        struct message *message = message_create(self, KIND_GO);
        if (message == NULL)
            return TR_ENOMEM;
        ((struct item *)message_head(message))->value = i;
        actor_send(self, sink->addresses[i], message);
    }
    return 0;
}

static int sink_receive(struct actor *self, struct message *message)
{
    struct fanin_sink *sink = actor_state(self);
    struct message_run *bench = sink->bench;
    if (message->frame.kind == KIND_GO) {
        bench->request = message;
        return start_senders(self, sink);
    }
    uint64_t sender = ((struct item *)message_head(message))->value;
    message_release(self, message);
    if (++sink->got[sender] == FANIN_GRANT) {
        sink->got[sender] = 0;
        int rc = send_plain(self, sink->addresses[sender], KIND_CREDIT);
        if (rc < 0)
            return rc;
    }
    return --bench->left == 0 ? answer_driver(self, bench) : 0;
}

static void sink_fini(struct actor *self)
{
    struct fanin_sink *sink = actor_state(self);
    if (sink == NULL)
        return;
    free(sink->got);
    free(sink->addresses);
    free(sink);
}

static const struct actor_ops sink_ops = { "sink", sink_start, sink_receive, NULL, sink_fini };

/* roundtrip: the pinger turns each pong into the next ping. */

static int ponger_receive(struct actor *self, struct message *message)
{
    struct address to = message->frame.from;
    message_release(self, message);
    return send_plain(self, to, KIND_PONG);
}

static const struct actor_ops ponger_ops = { "ponger", messages_start, ponger_receive, NULL, NULL };

static int pinger_start(struct actor *self, const void *arg)
{
    struct message_run *bench = (void *)(uintptr_t)arg;
    struct actor_options options = { .ops = bench->second, .arg = bench };
    actor_set_state(self, bench);
    return actor_spawn(self, &options, &bench->to);
}

static int pinger_receive(struct actor *self, struct message *message)
{
    struct message_run *bench = actor_state(self);
    if (message->frame.kind == KIND_GO) {
        bench->request = message;
        return send_plain(self, bench->to, KIND_PING);
    }
    message_release(self, message);
    if (--bench->left == 0)
        return answer_driver(self, bench);
    return send_plain(self, bench->to, KIND_PING);
}

static const struct actor_ops pinger_ops = { "pinger", pinger_start, pinger_receive, NULL, NULL };

/* call roundtrip */

static int callee_receive(struct actor *self, struct message *message)
{
    struct message *reply = message_create(self, KIND_PONG);
    if (reply == NULL)
        return TR_ENOMEM;
    return actor_reply(self, message, reply);
}

static const struct actor_ops callee_ops = { "callee", messages_start, callee_receive, NULL, NULL };

static void call_next(struct actor *self, struct message_run *bench);

static void call_done_here(struct actor *self, void *arg, int status, struct message *reply)
{
    struct message_run *bench = arg;
    message_release(self, reply);
    if (status < 0)
        actor_exit(self, status);
    else if (--bench->left > 0)
        call_next(self, bench);
    else if (answer_driver(self, bench) < 0)
        actor_exit(self, TR_ENOMEM);
}

static void call_next(struct actor *self, struct message_run *bench)
{
    struct message *request = message_create(self, KIND_PING);
    int rc = TR_ENOMEM;
    if (request != NULL)
        rc = actor_call(self, bench->to, request, actor_now_ns(self) + BENCH_DEADLINE_NS,
                        call_done_here, bench, NULL);
    if (rc < 0)
        actor_exit(self, rc);
}

static int caller_receive(struct actor *self, struct message *message)
{
    struct message_run *bench = actor_state(self);
    bench->request = message;
    call_next(self, bench);
    return 0;
}

static const struct actor_ops caller_ops = { "caller", pinger_start, caller_receive, NULL, NULL };

/* Lets the first actor go and waits for its answer: seconds between. */
static int messages_drive(struct node *node, struct address to, double *seconds)
{
    struct port *port = NULL;
    int rc = port_open(node, 0, &port);
    if (rc < 0)
        return rc;
    struct message *reply = NULL;
    struct message *go = port_message(port, KIND_GO);
    uint64_t from_ns = port_now_ns(port);
    rc = go != NULL ? port_call(port, to, go, from_ns + BENCH_DEADLINE_NS, &reply) : TR_ENOMEM;
    *seconds = (double)(port_now_ns(port) - from_ns) / 1e9;
    port_release(port, reply);
    port_destroy(port);
    return rc;
}

static int messages_run(struct message_run *bench, uint32_t loops, double *rate,
                        struct error *error)
{
    struct kinds *kinds = calloc(1, sizeof *kinds);
    struct env *env = NULL;
    struct node *node = NULL;
    double seconds = 1;
    if (kinds == NULL)
        return error_set(error, TR_ENOMEM, "bench: out of memory");
    for (size_t i = 0; i < sizeof bench_kinds / sizeof *bench_kinds; i++)
        kinds_add(kinds, &bench_kinds[i], NULL);
    int rc = env_event_create(1, &env, error);
    if (rc < 0)
        goto err_after_kinds;
    struct node_options options = { .loops = loops, .kinds = kinds };
    rc = node_create(env, &options, &node, error);
    if (rc < 0)
        goto err_after_env;
    struct address to;
    struct actor_options first = { .ops = bench->first, .arg = bench };
    rc = node_spawn(node, &first, &to);
    if (rc == 0)
        rc = node_start(node);
    if (rc == 0) {
        rc = messages_drive(node, to, &seconds);
        node_stop(node, env_now_ns(env) + BENCH_DEADLINE_NS);
        node_join(node);
    }
    *rate = (double)bench->messages / seconds;
    node_destroy(node);
err_after_env:
    env_destroy(env);
err_after_kinds:
    free(kinds);
    return rc < 0 ? error_set(error, rc, "bench of messages: %s", tr_strerror(rc)) : 0;
}

int bench_fanin(uint32_t loops, uint32_t senders, uint64_t messages, double *rate,
                struct error *error)
{
    if (loops < 2 || senders == 0 || messages < senders)
        return error_set(error, TR_EINVAL, "fanin: needs two loops and a sender");
    messages -= messages % senders;
    struct message_run bench = {
        .messages = messages, .left = messages, .senders = senders, .first = &sink_ops
    };
    return messages_run(&bench, loops, rate, error);
}

int bench_roundtrip(uint64_t round_trips, double *rate, struct error *error)
{
    struct message_run bench = {
        .messages = round_trips, .left = round_trips, .first = &pinger_ops, .second = &ponger_ops
    };
    return messages_run(&bench, 1, rate, error);
}

int bench_call_roundtrip(uint64_t round_trips, double *rate, struct error *error)
{
    struct message_run bench = {
        .messages = round_trips, .left = round_trips, .first = &caller_ops, .second = &callee_ops
    };
    return messages_run(&bench, 1, rate, error);
}
