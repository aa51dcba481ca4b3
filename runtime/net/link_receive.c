/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in.
 *
 *     begin_record --MESSAGE--> begin_message --> read_body --> end_record --> receive_complete
 *                  --MORE---------------------------^              ^
 *                  --ACK, PING, GOODBYE--> read_small ------------/
 *
 * Small messages are parsed out of one buffer, thousands a read; what is missing of a large body is
 * read straight to where it belongs.
 *
 * Invariants:
 *   - Nothing is allocated before header and frame were checked, and nobody gets a message before
 *     its head was verified, its checksum compared and its body checked.
 *   - A step that begins a record or a message and cannot go on has consumed nothing: it is made
 *     again from its beginning.
 *   - A lane has one message in part at most (`partial`). `received` counts whole messages, so one
 *     that a lost connection cut is sent again from its beginning, and none comes twice.
 *   - What waits in mailboxes is bounded: the data lane by the window that was granted, the control
 *     lanes by control_held, observers by their account.
 *   - Reading stalls for LINK_STALL_MOST_NS at most. Then the connection ends: the acknowledgement
 *     that would free memory may be behind what is not read, and the next greeting brings it.
 */
#include <assert.h>
#include <string.h>

#include "runtime/base/crc32c.h"
#include "runtime/core/log.h"
#include "runtime/net/link_impl.h"

/* A body's rest above this is read in place. */
#define DIRECT_BYTES (16u << 10)
/* The bytes that are read behind it in the same call: the next header and small records. */
#define BEHIND_BYTES 4096u

enum step { STEP_MORE, STEP_GO_ON, STEP_STALL, STEP_CORRUPT, STEP_DENIED, STEP_ENDED };

static uint32_t receive_available(const struct link_wire *wire)
{
    return wire->in_end - wire->in_begin;
}

void link_drop_partial(struct link *link)
{
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        loop_free_message(link->loop, link->in[lane].partial);
        link->in[lane].partial = NULL;
    }
}

static bool flags_are_sound(const struct kind *kind, const struct frame *frame, uint8_t lane)
{
    unsigned known = MESSAGE_REQUEST | MESSAGE_REPLY | MESSAGE_DATA;
    bool reply = (frame->flags & MESSAGE_REPLY) != 0;
    bool data = (frame->flags & MESSAGE_DATA) != 0;
    if ((frame->flags & ~known) != 0 || data != (lane == WIRE_DATA))
        return false;
    if (reply)
        return !data && (frame->flags & MESSAGE_REQUEST) == 0 && frame->status <= 0;
    return frame->status == 0 && data == (kind->lane == KIND_DATA);
}

/* Does this frame, with what its record has of it, describe a message that may come here? */
static bool is_sound(const struct link *link, const struct wire_header *header,
                     const struct frame *frame)
{
    const struct node *node = link->loop->node;
    const struct kind *kind = kinds_find(&node->kinds, frame->kind);
    bool failure = (frame->flags & MESSAGE_REPLY) && frame->status != 0;
    /* The kind comes first: all that follows looks into it. */
    if (kind == NULL || (kind->encode == NULL && !failure) ||
        !flags_are_sound(kind, frame, header->lane))
        return false;
    if (frame->from.node != link->node || frame->from.incarnation != link->incarnation ||
        frame->to.node != node->id || frame->to.incarnation != node->incarnation)
        return false;
    if (frame->head_bytes > KIND_ENCODED_BYTES_MAX || frame->body_bytes > kind->body_bytes_max ||
        (failure && (frame->head_bytes != 0 || frame->body_bytes != 0)))
        return false;
    if (wire_cost(kind, frame->body_bytes) > link->links->window_bytes / 2)
        return false;
    uint64_t lead = sizeof *frame + frame->head_bytes;
    return header->bytes >= lead && header->bytes - lead <= frame->body_bytes &&
           (header->bytes > lead || frame->body_bytes == 0);
}

/* An observer may ask what observers may, without a body, and answer that its actor is gone. */
static bool is_allowed(const struct link *link, const struct frame *frame)
{
    if (link->node < NODE_OBSERVERS)
        return true;
    if (frame->flags & MESSAGE_REPLY)
        return frame->status != 0;
    return kinds_find(&link->loop->node->kinds, frame->kind)->observer && frame->body_bytes == 0;
}

/* The message with its head and room for its body; NULL: *step says why. */
static struct message *receive_make(struct link *link, const struct frame *frame, const void *head,
                                    enum step *step)
{
    struct loop *loop = link->loop;
    const struct kind *kind = kinds_find(&loop->node->kinds, frame->kind);
    struct message *message = loop_message_create(loop, kind);
    *step = STEP_STALL;
    if (message == NULL)
        return NULL;
    if (frame->body_bytes > 0) {
        struct buffer *body = loop_buffer_create(loop, frame->body_bytes);
        if (body == NULL) {
            loop_free_message(loop, message);
            return NULL;
        }
        message_body_attach(message, body, frame->body_bytes);
    }
    uint32_t head_bytes = message->frame.head_bytes;
    message->frame = *frame;
    message->frame.head_bytes = head_bytes;
    *step = STEP_GO_ON;
    if ((frame->flags & MESSAGE_REPLY) && frame->status != 0)
        return message;
    /* The head is verified before it is decoded, straight into the message; a failure has none. */
    if (kind->verify(head, frame->head_bytes) == 0 &&
        kind->decode(head, frame->head_bytes, message->head) == 0)
        return message;
    loop_free_message(loop, message);
    *step = STEP_CORRUPT;
    return NULL;
}

/* Is there room in the window that was granted? */
static bool keeps_to_window(struct link *link, uint64_t cost)
{
    uint64_t after = link->data_received + cost;
    uint64_t window_bytes = link->links->window_bytes;
    if (after > link->data_released + window_bytes)
        link_take_returned(link);
    return after <= link->data_released + window_bytes;
}

uint64_t link_control_bound(const struct link *link)
{
    uint64_t windows = LINK_CONTROL_WINDOWS * link->links->window_bytes;
    uint64_t part = link->loop->node->message_account.bound_bytes / LINK_CONTROL_ACCOUNT_PART;
    return windows < part ? windows : part;
}

/* One always fits, or a bound below its size would be a deadlock. */
static bool control_is_full(struct link *link, uint64_t cost)
{
    /* Relaxed: the number is all that is passed on. */
    uint64_t held = atomic_load_explicit(&link->control_held, memory_order_relaxed);
    if (held == 0 || held + cost <= link_control_bound(link))
        return false;
    uint64_t times = atomic_fetch_add_explicit(&link->control_full, 1, memory_order_relaxed) + 1;
    if ((times & (times - 1)) == 0)
        log_write(link->links->node, LOG_LEVEL_WARN, "links",
                  "node %u: %llu bytes of control messages of node %u wait for their actors: it is "
                  "not read until they are taken",
                  link->links->node->id, (unsigned long long)held, link->node);
    return true;
}

/* A member's message of a control lane is charged to its link until it leaves its mailbox. */
static struct message *make_member(struct link *link, const struct frame *frame, const void *head,
                                   uint64_t cost, enum step *step)
{
    if (frame->flags & MESSAGE_DATA)
        return receive_make(link, frame, head, step);
    /* Room is asked for before memory: what has to wait allocates nothing. */
    *step = STEP_STALL;
    if (control_is_full(link, cost))
        return NULL;
    struct message *message = receive_make(link, frame, head, step);
    if (message != NULL) {
        message->frame.flags |= MESSAGE_CREDIT;
        atomic_fetch_add_explicit(&link->control_held, cost, memory_order_relaxed);
    }
    return message;
}

/* The same; an observer's is charged until an actor took it. */
static struct message *make_charged(struct link *link, const struct frame *frame, const void *head,
                                    uint64_t cost, enum step *step)
{
    struct account *account = &link->links->observer_account;
    if (link->node < NODE_OBSERVERS)
        return make_member(link, frame, head, cost, step);
    *step = STEP_STALL;
    /* Room is taken before memory, and given back where there is none. */
    if (account_reserve(account, cost, NULL) < 0)
        return NULL;
    struct message *message = receive_make(link, frame, head, step);
    if (message != NULL)
        message->frame.flags |= MESSAGE_CREDIT;
    else
        account_release(account, cost);
    return message;
}

/* Frame and head of a MESSAGE record are in the buffer, or not yet. */
static enum step begin_message(struct link *link)
{
    struct link_wire *wire = link->wire;
    const struct wire_header *header = &wire->header;
    struct link_in *in = &link->in[header->lane];
    const unsigned char *at = wire->in + wire->in_begin;
    struct frame frame;
    if (receive_available(wire) < sizeof frame)
        return STEP_MORE;
    memcpy(&frame, at, sizeof frame);
    /* The frame is sound before all else: the kind is looked up below without asking whether there
     * is one, and a head of more bytes than the buffer holds would be waited for in vain.
     * Permission is asked before the head is waited for, since the frame alone decides. */
    if (in->partial != NULL || header->sequence != (uint32_t)in->received ||
        !is_sound(link, header, &frame))
        return STEP_CORRUPT;
    if (!is_allowed(link, &frame))
        return STEP_DENIED;
    uint32_t lead = (uint32_t)sizeof frame + frame.head_bytes;
    if (receive_available(wire) < lead)
        return STEP_MORE;
    const struct kind *kind = kinds_find(&link->loop->node->kinds, frame.kind);
    uint64_t cost = wire_cost(kind, frame.body_bytes);
    /* The window before the memory: a peer that exceeds it is broken, while one for which there
     * is no memory only waits. */
    if (header->lane == WIRE_DATA && !keeps_to_window(link, cost))
        return STEP_CORRUPT;
    enum step step;
    in->partial = make_charged(link, &frame, at + sizeof frame, cost, &step);
    if (in->partial == NULL)
        return step;
    /* From here on the record counts as begun: all above is repeated after a stall. */
    in->body_at = 0;
    wire->stalled_ns = 0;
    wire->crc = wire->checksums ? crc32c(wire->crc, at, lead) : 0;
    wire->in_begin += lead;
    wire->left -= lead;
    wire->body_begun = true;
    return STEP_GO_ON;
}

/* A whole message came: its body is checked, and it goes to its actor. */
static enum step receive_complete(struct link *link, uint8_t lane)
{
    struct loop *loop = link->loop;
    struct link_in *in = &link->in[lane];
    struct message *message = in->partial;
    struct frame *frame = &message->frame;
    const struct kind *kind = kinds_find(&loop->node->kinds, frame->kind);
    bool failure = (frame->flags & MESSAGE_REPLY) && frame->status != 0;
    /* The body is checked before the message counts as received: one that fails stays partial, goes
     * with the connection and comes again, LINK_CORRUPT_MAX times at most. */
    if (kind->check != NULL && !failure &&
        kind->check(message->head, message_body(message), frame->body_bytes) < 0)
        return STEP_CORRUPT;
    /* From here on the message has been received, whatever becomes of the connection. Routing it,
     * which consumes it, comes last. */
    in->partial = NULL;
    in->received++;
    link->corrupt_times = 0;
    uint64_t cost = wire_cost(kind, frame->body_bytes);
    link->unacked_bytes += cost;
    if (lane == WIRE_DATA) {
        link->data_received += cost;
        if (link->node < NODE_OBSERVERS)
            frame->flags |= MESSAGE_CREDIT;
        else
            link->data_released += cost; /* its window never closes: the account bounds it */
    }
    /* A deadline travels as the time that is left. It becomes a time before the message is routed,
     * which compares it. */
    if (frame->deadline_ns != 0)
        frame->deadline_ns = frame->deadline_ns < UINT64_MAX - loop->now_ns
                                 ? frame->deadline_ns + loop->now_ns
                                 : UINT64_MAX;
    counter_add(&link->seen.messages_received, 1);
    loop_route(loop, message);
    return STEP_GO_ON;
}

static enum step end_record(struct link *link)
{
    struct link_wire *wire = link->wire;
    uint8_t lane = wire->header.lane;
    bool has_body = wire->body_begun;
    wire->in_record = wire->body_begun = false;
    /* The checksum before anything is done with the record. The head of a message was decoded
     * before it was known, which is why that is verified by itself. */
    if (wire->checksums && wire->crc != wire->header.crc)
        return STEP_CORRUPT;
    if (has_body && link->in[lane].body_at == link->in[lane].partial->frame.body_bytes)
        return receive_complete(link, lane);
    return STEP_GO_ON;
}

/* Bytes of a body: count of them have come to its place. */
static void take_body(struct link *link, const unsigned char *from, uint32_t count)
{
    struct link_wire *wire = link->wire;
    struct link_in *in = &link->in[wire->header.lane];
    unsigned char *to = (unsigned char *)message_body(in->partial) + in->body_at;
    if (from != NULL)
        memcpy(to, from, count);
    if (wire->checksums)
        wire->crc = crc32c(wire->crc, to, count);
    in->body_at += count;
    wire->left -= count;
}

static enum step read_body(struct link *link)
{
    struct link_wire *wire = link->wire;
    uint32_t count = receive_available(wire) < wire->left ? receive_available(wire) : wire->left;
    if (count > 0) {
        take_body(link, wire->in + wire->in_begin, count);
        wire->in_begin += count;
    }
    return wire->left == 0 ? end_record(link) : STEP_MORE;
}

static enum step read_small(struct link *link)
{
    struct link_wire *wire = link->wire;
    const unsigned char *at = wire->in + wire->in_begin;
    if (receive_available(wire) < wire->header.bytes)
        return STEP_MORE;
    wire->crc = wire->checksums ? crc32c(wire->crc, at, wire->header.bytes) : 0;
    wire->in_begin += wire->header.bytes;
    /* The record ends first, which compares its checksum; its bytes stay at `at`, since only
     * read_some moves them. */
    enum step step = end_record(link);
    if (step != STEP_GO_ON || wire->header.type == WIRE_PING)
        return step;
    if (wire->header.type == WIRE_GOODBYE)
        return STEP_ENDED;
    struct wire_ack ack;
    memcpy(&ack, at, sizeof ack);
    if (link_acknowledged(link, &ack) < 0)
        return STEP_CORRUPT;
    link_mark(link);
    return STEP_GO_ON;
}

static enum step begin_record(struct link *link)
{
    struct link_wire *wire = link->wire;
    if (receive_available(wire) < WIRE_HEADER_BYTES)
        return STEP_MORE;
    memcpy(&wire->header, wire->in + wire->in_begin, WIRE_HEADER_BYTES);
    const struct wire_header *header = &wire->header;
    /* The header is judged before anything is consumed, or counted by its length. */
    if (wire_check_header(header, false) < 0 || (!wire->checksums && header->crc != 0))
        return STEP_CORRUPT;
    if (header->type == WIRE_MORE) {
        const struct link_in *in = &link->in[header->lane];
        if (in->partial == NULL || header->bytes > in->partial->frame.body_bytes - in->body_at)
            return STEP_CORRUPT;
    }
    wire->in_begin += WIRE_HEADER_BYTES;
    wire->in_record = true;
    wire->body_begun = header->type == WIRE_MORE;
    wire->left = header->bytes;
    wire->crc = wire->checksums ? wire_crc_begin(header) : 0;
    return STEP_GO_ON;
}

static enum step parse_one(struct link *link)
{
    struct link_wire *wire = link->wire;
    if (!wire->in_record)
        return begin_record(link);
    if (wire->body_begun)
        return read_body(link);
    return wire->header.type == WIRE_MESSAGE ? begin_message(link) : read_small(link);
}

static void stall_over(struct actor *self, void *arg)
{
    struct link *link = arg;
    (void)self;
    link->stalled = false;
    link_read(link);
}

static void receive_stall(struct link *link)
{
    uint64_t now_ns = link->loop->now_ns;
    struct link_wire *wire = link->wire;
    if (wire->stalled_ns == 0)
        wire->stalled_ns = now_ns;
    /* The end of the connection comes before the timer and `stalled`, which it would take back. */
    if (now_ns - wire->stalled_ns >= LINK_STALL_MOST_NS) {
        link_disconnect(link, "there is no room for what it sends");
        return;
    }
    link->stalled = true;
    timer_start(link->self, &link->stall_timer, now_ns + LINK_STALL_NS, stall_over, link);
}

static void receive_corrupt(struct link *link)
{
    atomic_fetch_add(&link->links->corrupt, 1);
    if (++link->corrupt_times >= LINK_CORRUPT_MAX)
        link_peer_down(link, "what it sends does not verify");
    else
        link_disconnect(link, "a record did not verify");
}

/* Parses what the buffer has. False: reading does not go on now, or ever. */
static bool receive_parse(struct link *link)
{
    enum step step = STEP_GO_ON;
    while (step == STEP_GO_ON)
        step = parse_one(link);
    switch (step) {
    case STEP_MORE:
        return true;
    case STEP_STALL:
        receive_stall(link);
        return false;
    case STEP_ENDED:
        link_peer_down(link, NULL);
        return false;
    case STEP_DENIED:
        links_count_refusal(link->links, LINKS_REFUSED_DENIED, "an observer", NULL, true);
        link_peer_down(link, "it sent what observers may not");
        return false;
    default:
        receive_corrupt(link);
        return false;
    }
}

/* *all: fewer small records came than there was room for, so there are no more. The large body's
 * rest may have come while this was summed. */
static ssize_t read_some(struct link *link, bool *all)
{
    struct link_wire *wire = link->wire;
    struct iovec parts[2];
    bool direct = wire->in_record && wire->body_begun && wire->left > DIRECT_BYTES;
    /* Bytes that are left go to the beginning first, so that a record that is cut fits behind
     * it. */
    memmove(wire->in, wire->in + wire->in_begin, receive_available(wire));
    wire->in_end -= wire->in_begin;
    wire->in_begin = 0;
    *all = false;
    if (!direct) {
        uint32_t room = LINK_IN_BYTES - wire->in_end;
        uint32_t most = room < wire->read_bytes ? room : wire->read_bytes;
        parts[0] = (struct iovec){ wire->in + wire->in_end, most };
        ssize_t n = transport_readv(wire->transport, parts, 1);
        wire->in_end += n > 0 ? (uint32_t)n : 0;
        if (n == (ssize_t)most && wire->read_bytes < LINK_IN_BYTES)
            wire->read_bytes *= 2;
        *all = n < (ssize_t)most && transport_error(wire->transport)->code == 0;
        return n;
    }
    assert(wire->in_end == 0);
    wire->read_bytes = BEHIND_BYTES;
    struct link_in *in = &link->in[wire->header.lane];
    parts[0] = (struct iovec){ (unsigned char *)message_body(in->partial) + in->body_at,
                               wire->left };
    parts[1] = (struct iovec){ wire->in, BEHIND_BYTES };
    ssize_t n = transport_readv(wire->transport, parts, 2);
    if (n > 0) {
        uint32_t body = (size_t)n < wire->left ? (uint32_t)n : wire->left;
        take_body(link, NULL, body);
        wire->in_end = (uint32_t)n - body;
    }
    return n;
}

static void ack_later(struct actor *self, void *arg)
{
    struct link *link = arg;
    (void)self;
    link->ack_due = true;
    link_mark(link);
}

/* Acknowledges all that came: at once when it is much, else a little later, or with what is sent
 * before that and is large enough (send_fill). */
static void plan_ack(struct link *link)
{
    bool news = link->data_released != link->released_told;
    for (int lane = 0; lane < WIRE_LANES; lane++)
        news |= link->in[lane].received != link->acked[lane];
    if (!news)
        return;
    /* Credit is taken only with other news: alone it comes by its note or by the tick, and taking
     * it costs an atomic exchange. */
    link_take_returned(link);
    if (link->unacked_bytes >= LINK_ACK_BYTES ||
        link->data_released - link->released_told >= link->links->window_bytes / 4) {
        link->ack_due = true;
        link_mark(link);
    } else if (!timer_is_started(&link->ack_timer)) {
        timer_start(link->self, &link->ack_timer, link->loop->now_ns + LINK_ACK_DELAY_NS, ack_later,
                    link);
    }
}

void link_read(struct link *link)
{
    uint64_t total = 0;
    bool all = false;
    /* Parses before it reads: bytes may be left of the last turn, or have come behind the greeting,
     * and no event tells of those. */
    while (link->phase == LINK_UP && !link->stalled && receive_parse(link) && !all) {
        if (total >= LINK_TURN_BYTES) {
            if (transport_pending(link->wire->transport))
                timer_start(link->self, &link->stall_timer, link->loop->now_ns, stall_over, link);
            break;
        }
        ssize_t n = read_some(link, &all);
        if (n < 0)
            link_broke(link, "the connection ended");
        if (n <= 0)
            break;
        link->heard = true;
        link->silent_ticks = 0;
        total += (uint64_t)n;
        counter_add(&link->seen.bytes_received, (uint64_t)n);
    }
    /* Parsing may have ended the connection, and acknowledgements are of one that is up. */
    if (link->phase != LINK_UP)
        return;
    atomic_store_explicit(&link->seen.heard_ns, link->loop->now_ns, memory_order_relaxed);
    plan_ack(link);
    /* The link is marked although there may be nothing to write: link_flush says for which events
     * the transport waits, none while reading is stalled. */
    link_mark(link);
}
