/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/link_checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/monitor.h"
#include "runtime/core/timer.h"
#include "sim/fleet.h"

#define MS UINT64_C(1000000)
#define LINK_CHECKER_NAME "link checker"
#define CALLS_OPEN_MAX 3u
/* Senders that one checker hears of: lives of processes. */
#define SENDERS_MAX 256u

enum { NUMBERED, URGENT, QUESTION, ANSWER, KINDS };

struct checker_number {
    uint64_t value;
};

static int link_checker_encode(const void *head, void *out, size_t capacity)
{
    if (capacity < sizeof(struct checker_number))
        return TR_ETOOBIG;
    memcpy(out, head, sizeof(struct checker_number));
    return sizeof(struct checker_number);
}

static int link_checker_verify(const void *bytes, size_t count)
{
    (void)bytes;
    return count == sizeof(struct checker_number) ? 0 : TR_EFORMAT;
}

static int link_checker_decode(const void *bytes, size_t count, void *head)
{
    memcpy(head, bytes, count);
    return 0;
}

#define KIND(number, label, its_lane)                                                        \
    {                                                                                        \
        .id = KINDS_MAX - 8 + (number), .name = label, .lane = its_lane, .class = KIND_ONCE, \
        .head_bytes = sizeof(struct checker_number), .body_bytes_max = 1 << 20,              \
        .encode = link_checker_encode, .verify = link_checker_verify,                        \
        .decode = link_checker_decode                                                        \
    }

static const struct kind kinds[KINDS] = {
    [NUMBERED] = KIND(NUMBERED, "link_checker_numbered", KIND_DATA),
    [URGENT] = KIND(URGENT, "link_checker_urgent", KIND_CONTROL),
    [QUESTION] = KIND(QUESTION, "link_checker_question", KIND_DATA),
    [ANSWER] = KIND(ANSWER, "link_checker_answer", KIND_DATA),
};

int link_checker_register(struct kinds *table, struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < KINDS && rv == 0; i++)
        rv = kinds_add(table, &kinds[i], error);
    return rv;
}

/* Another checker, as this one knows it. */
struct checked_peer {
    struct link_checker *checker;
    struct address address; /* none: looked for */
    bool looking;
    uint64_t sent[2];
};

struct sender {
    struct address address;
    uint64_t seen[2]; /* the last number of each lane */
};

struct link_checker {
    struct actor *self;
    struct fleet *fleet;
    uint32_t number;
    struct draws draws;
    uint32_t messages_left;
    uint32_t calls_open;
    struct checked_peer peers[FLEET_PROCESSES_MAX];
    struct sender senders[SENDERS_MAX];
    uint32_t num_senders;
    struct timer timer;
};

/* A call or a watch: counts how often it was notified of its end. */
struct link_ticket {
    struct link_checker *checker;
    struct fleet *fleet;
    struct checked_peer *peer;
    uint64_t value, bytes;
};

static unsigned char fill_of(uint64_t value)
{
    return (unsigned char)(value * 7 + 3);
}

static struct link_ticket *ticket_create(struct checked_peer *peer)
{
    struct link_ticket *ticket = calloc(1, sizeof *ticket);
    if (ticket != NULL)
        *ticket = (struct link_ticket){ .checker = peer->checker,
                                        .fleet = peer->checker->fleet,
                                        .peer = peer };
    return ticket;
}

static void went_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct link_ticket *ticket = arg;
    (void)self, (void)reason;
    ticket->fleet->tally.downs++;
    if (address_equal(ticket->peer->address, who))
        ticket->peer->address = ADDRESS_NONE;
    free(ticket);
}

static void link_checker_found(struct actor *self, void *arg, int status, struct address address)
{
    struct checked_peer *peer = arg;
    peer->looking = false;
    if (status != 0)
        return;
    struct link_ticket *ticket = ticket_create(peer);
    /* The monitor starts before the address is taken: a peer that nobody watches would be
     * written to for ever. */
    if (ticket == NULL || actor_monitor(self, address, went_down, ticket, NULL) != 0) {
        free(ticket);
        return;
    }
    peer->checker->fleet->tally.monitors++;
    peer->address = address;
    peer->sent[0] = peer->sent[1] = 0;
}

static void check_answer(const struct link_ticket *ticket, struct message *reply)
{
    const unsigned char *body = message_body(reply);
    bool good = ((const struct checker_number *)message_head(reply))->value == ticket->value &&
                reply->frame.body_bytes == ticket->bytes;
    for (uint64_t i = 0; good && i < ticket->bytes; i += 1 + ticket->bytes / 50)
        good = body[i] == fill_of(ticket->value);
    if (!good)
        fleet_fail(ticket->fleet,
                   "a checker's question of %" PRIu64 " bytes was answered with "
                   "other bytes",
                   ticket->bytes);
}

static void link_checker_called(struct actor *self, void *arg, int status, struct message *reply)
{
    struct link_ticket *ticket = arg;
    ticket->fleet->tally.calls_completed++;
    ticket->checker->calls_open--;
    if ((status == 0) != (reply != NULL))
        fleet_fail(ticket->fleet, "a call ended with %d and %s reply", status,
                   reply != NULL ? "a" : "no");
    else if (reply != NULL)
        check_answer(ticket, reply);
    message_release(self, reply);
    free(ticket);
}

static void link_checker_call(struct link_checker *c, struct checked_peer *peer)
{
    struct link_ticket *ticket = ticket_create(peer);
    struct message *request = message_create(c->self, kinds[QUESTION].id);
    struct call_id id;
    if (ticket == NULL || request == NULL) {
        message_release(c->self, request);
        free(ticket);
        return;
    }
    ticket->value = draws_below(&c->draws, 1 << 30);
    ((struct checker_number *)message_head(request))->value = ticket->value;
    uint64_t most = c->fleet->plan.window_bytes / 2 - 256;
    uint64_t bytes = draws_chance(&c->draws, 30) ? draws_below(&c->draws, most) : 0;
    void *body = bytes == 0 ? NULL : message_body_alloc(c->self, request, bytes);
    if (body != NULL) {
        memset(body, fill_of(ticket->value), bytes);
        ticket->bytes = bytes;
    }
    uint64_t deadline_ns = actor_now_ns(c->self) + draws_below(&c->draws, 3 * ENV_SECOND_NS);
    if (actor_call(c->self, peer->address, request, deadline_ns, link_checker_called, ticket,
                   &id) != 0) {
        free(ticket);
        return;
    }
    c->fleet->tally.calls_opened++;
    c->calls_open++;
    if (draws_chance(&c->draws, 10))
        actor_cancel(c->self, id);
}

static void write_some(struct link_checker *c, struct checked_peer *peer)
{
    for (uint64_t n = draws_below(&c->draws, 5); n > 0; n--) {
        uint32_t lane = draws_chance(&c->draws, 50) ? NUMBERED : URGENT;
        struct message *message = message_create(c->self, kinds[lane].id);
        if (message == NULL)
            return;
        if (lane == NUMBERED && draws_chance(&c->draws, 20))
            message_body_alloc(c->self, message, draws_below(&c->draws, 2000));
        ((struct checker_number *)message_head(message))->value = ++peer->sent[lane];
        if (actor_send(c->self, peer->address, message) != 0)
            peer->sent[lane]--;
    }
}

static void link_checker_tick(struct actor *self, void *arg)
{
    struct link_checker *c = arg;
    uint32_t other = (uint32_t)draws_below(&c->draws, c->fleet->plan.plan.num_processes);
    struct checked_peer *peer = &c->peers[other];
    uint64_t now_ns = actor_now_ns(self);
    if (!address_is_none(peer->address)) {
        write_some(c, peer);
        if (c->calls_open < CALLS_OPEN_MAX)
            link_checker_call(c, peer);
    } else if (!peer->looking) {
        peer->looking = directory_wait_at(self, other, LINK_CHECKER_NAME,
                                          now_ns + 2 * ENV_SECOND_NS, link_checker_found,
                                          peer) == 0;
    }
    if (--c->messages_left > 0)
        timer_start(self, &c->timer, now_ns + draws_scale(&c->draws, MS / 10, ENV_SECOND_NS),
                    link_checker_tick, c);
}

static struct sender *sender_of(struct link_checker *c, struct address address)
{
    for (uint32_t i = 0; i < c->num_senders; i++)
        if (address_equal(c->senders[i].address, address))
            return &c->senders[i];
    if (c->num_senders == SENDERS_MAX)
        return NULL;
    c->senders[c->num_senders].address = address;
    return &c->senders[c->num_senders++];
}

static void link_checker_note(struct link_checker *c, struct message *message)
{
    uint32_t lane = message->frame.kind == kinds[NUMBERED].id ? NUMBERED : URGENT;
    struct sender *sender = sender_of(c, message->frame.from);
    uint64_t value = ((const struct checker_number *)message_head(message))->value;
    c->fleet->tally.messages++;
    if (sender == NULL)
        return;
    if (value <= sender->seen[lane] || (lane == URGENT && value != sender->seen[lane] + 1))
        fleet_fail(c->fleet,
                   "checker %" PRIu32 ": message %" PRIu64 " of process %" PRIu32
                   " in lane %" PRIu32 " came after %" PRIu64,
                   c->number, value, sender->address.node, lane, sender->seen[lane]);
    sender->seen[lane] = value;
}

static void link_checker_answer(struct actor *self, struct message *request)
{
    struct message *reply = message_create(self, kinds[ANSWER].id);
    if (reply == NULL) {
        actor_refuse(self, request, TR_ENOMEM);
        return;
    }
    *(struct checker_number *)message_head(reply) = *(struct checker_number *)message_head(request);
    uint64_t bytes = request->frame.body_bytes;
    struct buffer *body = message_body_detach(request);
    if (body != NULL)
        message_body_attach(reply, body, bytes);
    actor_reply(self, request, reply);
}

static int link_checker_receive(struct actor *self, struct message *message)
{
    if (message->frame.kind == kinds[QUESTION].id) {
        link_checker_answer(self, message);
        return 0;
    }
    if (message->frame.kind == kinds[NUMBERED].id || message->frame.kind == kinds[URGENT].id)
        link_checker_note(actor_state(self), message);
    message_release(self, message);
    return 0;
}

static void link_checker_registered(struct actor *self, void *arg, int status);

static void link_checker_show(struct actor *self, void *arg)
{
    if (directory_register(self, LINK_CHECKER_NAME, link_checker_registered, arg) != 0)
        link_checker_registered(self, arg, TR_ENOMEM);
}

/* Memory may be short; a checker that fails would end its process. */
static void link_checker_registered(struct actor *self, void *arg, int status)
{
    struct link_checker *c = arg;
    if (status == 0)
        link_checker_tick(self, c);
    else
        timer_start(self, &c->timer, actor_now_ns(self) + MS, link_checker_show, c);
}

static int link_checker_start(struct actor *self, const void *arg)
{
    const struct fleet_seat *seat = arg;
    struct link_checker *c = calloc(1, sizeof *c);
    if (c == NULL)
        return TR_ENOMEM;
    actor_set_state(self, c);
    c->self = self;
    c->fleet = seat->fleet;
    c->number = seat->process->number;
    c->messages_left = 1 + seat->fleet->plan.messages;
    c->draws = draws_of(seat->fleet->plan.seed,
                        UINT64_C(1) << 48 | (uint64_t)seat->process->incarnation << 8 | c->number);
    for (uint32_t i = 0; i < FLEET_PROCESSES_MAX; i++)
        c->peers[i].checker = c;
    link_checker_show(self, c);
    return 0;
}

static void link_checker_fini(struct actor *self)
{
    free(actor_state(self));
}

const struct actor_ops link_checker_ops = {
    .name = "link checker",
    .start = link_checker_start,
    .receive = link_checker_receive,
    .fini = link_checker_fini,
};
