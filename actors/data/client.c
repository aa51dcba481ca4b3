/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations wait, run and end:
 *
 *     WAITING -> RUNNING -> ENDED, then answered and freed by settle_ended()
 *
 * Invariants: they begin in the order in which they came; the first that finds no room keeps those
 * behind it waiting, so a large one is not starved by small ones. The memory of an operation is
 * charged from before it begins until it has been answered. Any step may end an operation; it is
 * freed by client_work() alone, when the crew is not busy with it, so the code that ends it may
 * still read it.
 */
#include "actors/data/client_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/common/error_reply.h"
#include "runtime/core/directory.h"

/* An operation that found no memory to begin with tries again after this. */
#define RETRY_NS UINT64_C(5000000)

/* Longer than any clock runs, and far from its end. */
#define TIMEOUT_NS_MAX (UINT64_C(1) << 60)

static void client_work(struct actor *self, void *arg);

void client_schedule(struct client *c)
{
    if (!timer_is_started(&c->work))
        timer_start(c->self, &c->work, actor_now_ns(c->self), client_work, c);
}

static void client_again(struct actor *self, void *arg)
{
    (void)self;
    client_schedule(arg);
}

void operation_end_about(struct operation *op, int status, const char *text, uint32_t process_1)
{
    if (op->state == OPERATION_ENDED)
        return;
    /* The state changes first: what is stopped below must not end it again, or begin something
     * new. */
    op->state = OPERATION_ENDED;
    op->error = (struct error){ .code = status };
    if (status != 0)
        error_set(&op->error, status, "%s", text);
    op->error.process_1 = process_1;
    lanes_stop(op);
    timer_stop(&op->deadline);
    client_schedule(op->client);
}

void operation_end(struct operation *op, int status, const char *text)
{
    operation_end_about(op, status, text, 0);
}

int operation_charge(struct operation *op, size_t bytes, struct error *error)
{
    int rv = account_reserve(&op->client->account, bytes, error);
    if (rv == 0)
        op->bytes += bytes;
    return rv;
}

void operation_expire(struct operation *op)
{
    char text[ERROR_TEXT_MAX];
    uint64_t milliseconds = op->timeout_ns / 1000000;
    bool is_long = milliseconds >= 2000;
    snprintf(text, sizeof text, "gave up after %" PRIu64 " %s%s%.300s",
             is_long ? (milliseconds + 500) / 1000 : milliseconds, is_long ? "s" : "ms",
             op->error.code != 0 ? ": " : "", op->error.text);
    operation_end_about(op, TR_ETIMEDOUT, text, op->error.process_1);
}

static void client_expire(struct actor *self, void *arg)
{
    (void)self;
    operation_expire(arg);
}

static void stop_running(struct operation *op)
{
    struct client *c = op->client;
    op->ops->fini(op);
    message_release(c->self, op->reply);
    op->reply = NULL;
    /* The charge goes last, when what it stands for is freed. */
    account_release(&c->account, op->bytes);
    op->bytes = 0;
    op->began = false;
    c->num_running--;
}

/* Answers, and frees all but the request, which the answer consumed. */
static void client_settle(struct operation *op)
{
    struct client *c = op->client;
    struct message *reply = op->reply;
    if (op->error.code == 0) {
        /* Sending consumes it: stop_running() would release it again. */
        op->reply = NULL;
        actor_reply(c->self, op->request, reply);
    } else {
        error_reply_send(c->self, op->request, &op->error);
    }
    if (op->began)
        stop_running(op);
    else
        c->num_waiting--;
    free(op);
}

static void settle_ended(struct client *c)
{
    struct operation **link = &c->first, *last = NULL;
    while (*link != NULL) {
        struct operation *op = *link;
        if (op->state != OPERATION_ENDED || op->busy) {
            last = op;
            link = &op->next;
            continue;
        }
        /* It leaves the list before it is settled, which frees it. */
        *link = op->next;
        client_settle(op);
    }
    c->last = last;
}

/* False: it waits, and with it all that came later. */
static bool client_begin(struct client *c, struct operation *op)
{
    struct error error = { 0 };
    size_t bytes = 0;
    int rv = op->ops->size(c, op->request, &bytes, &error);
    /* This is asked before the charge: the operation would wait for such room for ever, and all
     * behind it. */
    if (rv == 0 && bytes > c->account.bound_bytes)
        rv = error_set(&error, TR_ETOOBIG,
                       "account \"%s\": %zu bytes are needed, more than its bound of %zu",
                       c->account.name, bytes, c->account.bound_bytes);
    if (rv != 0) {
        operation_end(op, rv, error.text);
        return true;
    }
    if (operation_charge(op, bytes, &op->error) != 0)
        return false;
    /* It counts as running before it begins: stop_running() takes back whatever that got to. */
    op->began = true;
    c->num_running++;
    rv = op->ops->begin(op, &error);
    if (rv == 0)
        rv = lanes_hold(op, &error);
    if (rv == 0) {
        op->state = OPERATION_RUNNING;
        op->error = (struct error){ 0 };
        c->num_waiting--;
        lanes_start(op); /* last: it may end the operation at once */
        return true;
    }
    /* The beginning is taken back before the operation ends or waits again: its bytes are for
     * others, and it counts as waiting. */
    stop_running(op);
    if (rv != TR_ENOMEM) {
        operation_end(op, rv, error.text);
        return true;
    }
    op->error = error;
    timer_start(c->self, &c->retry, actor_now_ns(c->self) + RETRY_NS, client_again, c);
    return false;
}

static void begin_waiting(struct client *c)
{
    uint32_t most = c->options->running_max != 0 ? c->options->running_max : CLIENT_RUNNING_MAX;
    for (struct operation *op = c->first; op != NULL && c->num_running < most; op = op->next)
        if (op->state == OPERATION_WAITING && !client_begin(c, op))
            break;
}

/* A slice of the operation whose turn it is, so that a long one holds up no other. */
static bool read_slice(struct client *c)
{
    uint32_t count = 0, skip = c->turn++;
    for (struct operation *op = c->first; op != NULL; op = op->next)
        count += op->state == OPERATION_RUNNING && op->lanes[0].busy;
    if (count == 0)
        return false;
    skip %= count;
    for (struct operation *op = c->first; op != NULL; op = op->next)
        if (op->state == OPERATION_RUNNING && op->lanes[0].busy && skip-- == 0)
            return lanes_read(op);
    return false;
}

static void client_work(struct actor *self, void *arg)
{
    struct client *c = arg;
    (void)self;
    /* The memory of those that ended is for those that wait; what they ask of servers travels while
     * a slice is read here. */
    settle_ended(c);
    begin_waiting(c);
    if (read_slice(c))
        client_schedule(c);
}

static void client_add(struct client *c, struct message *request, const struct operation_ops *ops,
                       uint64_t timeout_ns)
{
    bool full = c->num_waiting == CLIENT_WAITING_MAX;
    struct operation *op = full ? NULL : calloc(1, ops->state_bytes);
    if (op == NULL) {
        actor_refuse(c->self, request, c->num_waiting == CLIENT_WAITING_MAX ? TR_EFULL : TR_ENOMEM);
        return;
    }
    op->ops = ops;
    op->client = c;
    op->request = request;
    op->timeout_ns = timeout_ns;
    if (c->last != NULL)
        c->last->next = op;
    else
        c->first = op;
    c->last = op;
    c->num_waiting++;
    /* The deadline begins here and not in client_begin(): the requester is patient from now on,
     * however long the operation waits. */
    uint64_t wait_ns = timeout_ns < TIMEOUT_NS_MAX ? timeout_ns : TIMEOUT_NS_MAX;
    timer_start(c->self, &op->deadline, actor_now_ns(c->self) + wait_ns, client_expire, op);
    client_schedule(c);
}

static int client_receive(struct actor *self, struct message *message)
{
    struct client *c = actor_state(self);
    const struct msg_fetch_request *fetch = message_head(message);
    const struct msg_nodes_request *nodes = message_head(message);
    const struct msg_tensor_request *order = message_head(message);
    const struct msg_tensor_store *store = message_head(message);
    switch (message->frame.kind) {
    case MSG_FETCH_REQUEST:
        client_add(c, message, &fetch_ops, fetch->timeout_ns);
        break;
    case MSG_NODES_REQUEST:
        client_add(c, message, &nodes_ops, nodes->timeout_ns);
        break;
    case MSG_TENSOR_REQUEST:
        client_add(c, message, &tensor_order_ops, order->timeout_ns);
        break;
    case MSG_TENSOR_STORE:
        client_add(c, message, &tensor_store_ops, store->timeout_ns);
        break;
    default:
        actor_refuse(self, message, TR_EUNSUPPORTED);
        break;
    }
    return 0;
}

static int client_start(struct actor *self, const void *arg)
{
    struct client *c = calloc(1, sizeof *c);
    if (c == NULL)
        return TR_ENOMEM;
    actor_set_state(self, c);
    c->self = self;
    c->options = arg;
    account_init(&c->account, "client",
                 c->options->bytes_max != 0 ? c->options->bytes_max : CLIENT_BYTES_DEFAULT);
    uint32_t num_parts = c->options->book->num_parts;
    /* The name is registered last: an actor that finds it may ask at once. */
    int rv = part_locator_init(&c->servers, self, c->options->plan, num_parts);
    if (rv == 0)
        rv = part_locator_init(&c->owners, self, c->options->plan, num_parts);
    c->owners.owners_alone = true;
    return rv != 0 ? rv : directory_register(self, CLIENT_NAME, NULL, NULL);
}

/* Calls, timers and jobs are over: requests that are left are answered TR_EPEERDOWN. */
static void client_fini(struct actor *self)
{
    struct client *c = actor_state(self);
    if (c == NULL)
        return;
    while (c->first != NULL) {
        struct operation *op = c->first;
        c->first = op->next;
        lanes_fini(op);
        message_release(self, op->request);
        if (op->began)
            stop_running(op);
        free(op);
    }
    account_fini(&c->account);
    part_locator_fini(&c->owners);
    part_locator_fini(&c->servers);
    free(c);
}

const struct actor_ops graph_client_ops = {
    .name = "client",
    .start = client_start,
    .receive = client_receive,
    .fini = client_fini,
};
