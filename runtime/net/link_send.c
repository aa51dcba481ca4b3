/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link's queues, and records out.
 *
 * link_send queues by lane; at the end of the turn link_flush stages records (send_fill) and writes
 * them. Staged records are parts: what is small is copied into `out`, large bodies are pointed at.
 *
 * Invariants:
 *   - A lane keeps its order. A message of which a part is staged (`begun`) is finished before the
 *     next one of its lane; records of other lanes may go in between.
 *   - Credit is taken for a whole message when its first part is staged, so a message that was
 *     begun never waits for credit.
 *   - `out` is used again only when all parts were written, since parts point into it.
 *   - link_send never ends a connection or a session, because its caller may be reading from this
 *     link. A lane that overflows is noted (`overflown`), and link_flush ends the session.
 *   - Each lane has a bound, so a peer that does not read costs a known amount.
 */
#include <assert.h>
#include <string.h>

#include "runtime/base/crc32c.h"
#include "runtime/core/log.h"
#include "runtime/net/link_impl.h"

/* Room in `out` that one record may need beside a large body. */
#define RECORD_ROOM (WIRE_HEADER_BYTES + WIRE_LEAD_BYTES_MAX + LINK_COPY_BYTES)
_Static_assert(LINK_OUT_BYTES > 2 * RECORD_ROOM, "some records fit");

static const struct kind *kind_of(const struct link *link, const struct message *message)
{
    return kinds_find(&link->loop->node->kinds, message->frame.kind);
}

static bool is_failure(const struct message *message)
{
    return (message->frame.flags & MESSAGE_REPLY) && message->frame.status != 0;
}

static bool is_same_pair(const struct message *a, const struct message *b)
{
    return address_equal(a->frame.to, b->frame.to) && address_equal(a->frame.from, b->frame.from);
}

/* Order is kept between two actors: control follows a large reply of the same pair. */
static bool must_follow(const struct link_out *bulk, const struct message *message)
{
    if (bulk->count > LINK_BULK_COMPARED)
        return true;
    const struct message *at = bulk->first;
    while (at != NULL && !is_same_pair(at, message))
        at = at->next;
    return at != NULL;
}

static enum wire_lane lane_of(const struct link *link, const struct message *message)
{
    if (message->frame.flags & MESSAGE_DATA)
        return WIRE_DATA;
    if ((message->frame.flags & MESSAGE_REPLY) && message->frame.body_bytes >= LINK_BULK_BYTES)
        return WIRE_BULK;
    return must_follow(&link->out[WIRE_BULK], message) ? WIRE_BULK : WIRE_CONTROL;
}

/* 0, or why this message can't go to the other side. */
static int send_check(const struct link *link, const struct message *message)
{
    const struct frame *frame = &message->frame;
    const struct node *node = link->loop->node;
    if (kind_of(link, message)->encode == NULL && !is_failure(message))
        return TR_EUNSUPPORTED;
    /* Handing on another node's request would need its answer to find back through us. */
    if (frame->from.node != node->id)
        return TR_EUNSUPPORTED;
    if (frame->to.incarnation != 0 &&
        (link->incarnation != 0 ? frame->to.incarnation != link->incarnation
                                : frame->to.incarnation <= link->fenced))
        return TR_EPEERDOWN;
    /* The size is asked for behind the life: the window is that of the life the link is with. */
    if (wire_cost(kind_of(link, message), frame->body_bytes) > link->peer_window / 2)
        return TR_ETOOBIG;
    return 0;
}

static void note_refused(struct link *link, const struct message *message, int status)
{
    struct loop *loop = link->loop;
    counter_add(status == TR_EFULL ? &loop->dropped_full : &loop->stale, 1);
    uint64_t count = counter_get(status == TR_EFULL ? &loop->dropped_full : &loop->stale);
    if ((count & (count - 1)) != 0)
        return;
    log_write(loop->node, LOG_LEVEL_WARN, "links",
              "link %u: a %s was not sent: %s (%llu bytes queued)", link->node,
              kind_of(link, message)->name, tr_strerror(status),
              (unsigned long long)link->out[WIRE_DATA].queued_bytes);
}

/* An answer that can't travel still ends its call: with the reason. */
static void make_failure(struct link *link, struct message *message, int status)
{
    loop_buffer_release(link->loop, message_body_detach(message));
    message->frame.status = (int8_t)status;
    message->frame.deadline_ns = 0;
}

/* Takes a message, which is behind `before`, out of its lane, unsent: it is too late for it, or its
 * head can't be encoded. False: an answer, which stays in its place as a failure. One that is too
 * late goes all the same: the caller has a timer of its own, and a refusal would tell it that the
 * other actor said so. */
static bool send_discard(struct link *link, struct link_out *out, struct message *message,
                         struct message *before, int status)
{
    if ((message->frame.flags & MESSAGE_REPLY) && status != TR_ETIMEDOUT) {
        /* The bytes are taken off before make_failure, which takes the body and its size away. */
        out->queued_bytes -= message->frame.body_bytes;
        make_failure(link, message, status);
        return false;
    }
    out->queued_bytes -= wire_cost(kind_of(link, message), message->frame.body_bytes);
    if (before != NULL)
        before->next = message->next;
    else
        out->first = message->next;
    if (out->next == message)
        out->next = message->next;
    if (out->last == message)
        out->last = before;
    out->count--;
    /* The message is out of the list before it is consumed. */
    if (status == TR_ETIMEDOUT) {
        counter_add(&link->loop->dropped_expired, 1);
        loop_free_message(link->loop, message);
    } else {
        loop_bounce(link->loop, message, status);
    }
    return true;
}

static bool is_late(const struct link *link, const struct message *message)
{
    return message->frame.deadline_ns != 0 && message->frame.deadline_ns <= link->loop->now_ns;
}

/* Drops queued messages whose deadline has passed. A connection that is slower than deadlines
 * are long would have nothing else in its queues. It does not look each time, since there may be
 * none. */
static void drop_late(struct link *link, enum wire_lane lane)
{
    struct link_out *out = &link->out[lane];
    struct message *first = out->next, *before = out->before;
    uint64_t pause_ns = LINK_LATE_LOOK_NS + out->count * LINK_LATE_LOOK_EACH_NS;
    if (link->loop->now_ns < out->late_looked_ns + pause_ns)
        return;
    out->late_looked_ns = link->loop->now_ns;
    if (out->begun) { /* its rest has to follow */
        before = first;
        first = first->next;
    }
    for (struct message *at = first, *next; at != NULL; at = next) {
        next = at->next;
        if (!is_late(link, at) || !send_discard(link, out, at, before, TR_ETIMEDOUT))
            before = at;
    }
}

/* Pushes it; false: the lane is at its bound. */
static bool send_push(struct link *link, enum wire_lane lane, struct message *message)
{
    struct link_out *out = &link->out[lane];
    uint64_t cost = wire_cost(kind_of(link, message), message->frame.body_bytes);
    uint32_t windows = lane == WIRE_DATA ? LINK_DATA_WINDOWS : LINK_CONTROL_WINDOWS;
    uint64_t bytes_max = link->node < NODE_OBSERVERS ? windows * link->links->window_bytes
                                                     : LINK_OBSERVER_QUEUE_BYTES;
    /* Late messages go before the lane counts as full, and only then: the look goes through the
     * whole queue. */
    if (out->queued_bytes + out->retained_bytes + cost > bytes_max)
        drop_late(link, lane);
    if (out->queued_bytes + out->retained_bytes + cost > bytes_max)
        return false;
    message->next = NULL;
    if (out->first == NULL)
        out->first = message;
    else
        out->last->next = message;
    if (out->next == NULL) {
        out->next = message;
        out->before = out->last;
    }
    out->last = message;
    out->count++;
    out->queued_bytes += cost;
    return true;
}

void link_send(struct link *link, struct message *message)
{
    int rc = send_check(link, message);
    bool answer = (message->frame.flags & MESSAGE_REPLY) != 0;
    if (rc != 0 && rc != TR_EPEERDOWN)
        note_refused(link, message, rc);
    if (answer && (rc == TR_ETOOBIG || rc == TR_EUNSUPPORTED) &&
        message->frame.from.node == link->loop->node->id) {
        make_failure(link, message, rc);
        rc = 0;
    }
    enum wire_lane lane = rc == 0 ? lane_of(link, message) : WIRE_CONTROL;
    if (rc == 0 && !send_push(link, lane, message)) {
        rc = TR_EFULL;
        note_refused(link, message, rc);
        /* The session ends in link_flush: the caller may be reading from this link. */
        link->overflown |= lane != WIRE_DATA;
    }
    /* The link is marked although the message is refused: an overflown one ends in link_flush. */
    link_mark(link);
    if (rc == 0)
        return;
    const struct node *node = link->loop->node;
    /* The address is set before the bounce, which swaps both: the caller takes answers from our
     * node alone. */
    if (message->frame.from.node != node->id)
        message->frame.to = node->directory;
    loop_bounce(link->loop, message, rc);
}

static bool has_room(const struct link_wire *wire)
{
    size_t most = wire->checksums ? LINK_SUMMED_BYTES : LINK_WRITE_BYTES;
    return wire->num_parts + 3 <= LINK_PARTS && wire->staged_bytes < most &&
           wire->out_used + RECORD_ROOM <= LINK_OUT_BYTES;
}

static void send_stage(struct link_wire *wire, const void *bytes, size_t count)
{
    wire->staged_bytes += count;
    if (wire->num_parts > wire->first_part) {
        struct link_part *last = &wire->parts[wire->num_parts - 1];
        if (last->bytes + last->count == bytes) {
            last->count += count;
            return;
        }
    }
    wire->parts[wire->num_parts++] = (struct link_part){ bytes, count };
}

/* A record of bytes that were put behind `out_used` (after room for the header), and then, by
 * reference, a part of a body. */
static void stage_record(struct link_wire *wire, struct wire_header *header, uint32_t put,
                         const void *body, uint32_t body_bytes)
{
    unsigned char *at = wire->out + wire->out_used;
    header->bytes = put + body_bytes;
    /* The length is set before the checksum, which covers the header. */
    if (wire->checksums) {
        header->crc = crc32c(wire_crc_begin(header), at + WIRE_HEADER_BYTES, put);
        header->crc = crc32c(header->crc, body, body_bytes);
    }
    memcpy(at, header, sizeof *header);
    wire->out_used += WIRE_HEADER_BYTES + put;
    send_stage(wire, at, WIRE_HEADER_BYTES + put);
    if (body_bytes > 0)
        send_stage(wire, body, body_bytes);
}

static void stage_ack(struct link *link)
{
    struct link_wire *wire = link->wire;
    struct wire_ack ack = { .released_bytes = link->data_released };
    for (int lane = 0; lane < WIRE_LANES; lane++)
        ack.received[lane] = link->acked[lane] = link->in[lane].received;
    memcpy(wire->out + wire->out_used + WIRE_HEADER_BYTES, &ack, sizeof ack);
    stage_record(wire, &(struct wire_header){ .type = WIRE_ACK }, sizeof ack, NULL, 0);
    /* The numbers are noted with the record: plan_ack finds news by the difference. */
    link->released_told = link->data_released;
    link->unacked_bytes = 0;
    link->ack_due = false;
    timer_stop(&link->ack_timer);
}

static void send_advance(struct link *link, enum wire_lane lane)
{
    struct link_out *out = &link->out[lane];
    uint64_t cost = wire_cost(kind_of(link, out->next), out->next->frame.body_bytes);
    out->queued_bytes -= cost;
    out->retained_bytes += cost;
    out->before = out->next;
    out->next = out->next->next;
    out->next_index++;
    out->begun = false;
    out->body_at = 0;
    counter_add(&link->seen.messages_sent, 1);
}

/* Frame and head into `out`; returns their bytes or why they can't be written. */
static int put_lead(struct link *link, const struct message *message)
{
    struct link_wire *wire = link->wire;
    unsigned char *at = wire->out + wire->out_used + WIRE_HEADER_BYTES;
    uint64_t now_ns = link->loop->now_ns;
    struct frame frame = message->frame;
    int head = 0;
    /* The time is asked for before the encoding, which a late message does not need. */
    if (is_late(link, message))
        return TR_ETIMEDOUT;
    if (!is_failure(message))
        head = kind_of(link, message)
                   ->encode(message->head, at + sizeof frame, KIND_ENCODED_BYTES_MAX);
    if (head < 0)
        return head;
    if (frame.deadline_ns != 0 && frame.deadline_ns != UINT64_MAX)
        frame.deadline_ns -= now_ns;
    frame.flags &= MESSAGE_REQUEST | MESSAGE_REPLY | MESSAGE_DATA;
    frame.head_bytes = (uint32_t)head;
    /* The life is filled in here and not when the message is queued: it may have waited for the
     * session to begin. */
    if (frame.to.incarnation == 0)
        frame.to.incarnation = link->incarnation;
    memcpy(at, &frame, sizeof frame);
    return (int)sizeof frame + head;
}

static void stage_message(struct link *link, enum wire_lane lane)
{
    struct link_wire *wire = link->wire;
    struct link_out *out = &link->out[lane];
    const struct message *message = out->next;
    const unsigned char *body = message_body(message);
    uint64_t body_bytes = message->frame.body_bytes;
    /* The head is encoded first: it alone can fail, while nothing of the message is counted yet. */
    int lead = put_lead(link, message);
    if (lead < 0) {
        send_discard(link, out, out->next, out->before, lead);
        return;
    }
    struct wire_header header = { .type = WIRE_MESSAGE,
                                  .lane = (uint8_t)lane,
                                  .sequence = (uint32_t)out->next_index };
    uint32_t put = (uint32_t)lead;
    uint32_t part = 0;
    if (lane == WIRE_DATA)
        link->data_sent += wire_cost(kind_of(link, message), body_bytes);
    if (body_bytes > 0 && body_bytes <= LINK_COPY_BYTES) {
        memcpy(wire->out + wire->out_used + WIRE_HEADER_BYTES + put, body, body_bytes);
        put += (uint32_t)body_bytes;
        out->body_at = body_bytes;
    } else {
        part = body_bytes < WIRE_PART_BYTES ? (uint32_t)body_bytes : WIRE_PART_BYTES;
        out->body_at = part;
    }
    stage_record(wire, &header, put, body, part);
    out->begun = true;
}

static void stage_more(struct link *link, enum wire_lane lane)
{
    struct link_out *out = &link->out[lane];
    const unsigned char *body = message_body(out->next);
    uint64_t left = out->next->frame.body_bytes - out->body_at;
    uint32_t part = left < WIRE_PART_BYTES ? (uint32_t)left : WIRE_PART_BYTES;
    struct wire_header header = { .type = WIRE_MORE, .lane = (uint8_t)lane };
    stage_record(link->wire, &header, 0, body + out->body_at, part);
    out->body_at += part;
}

static void stage_next(struct link *link, enum wire_lane lane)
{
    struct link_out *out = &link->out[lane];
    if (out->begun)
        stage_more(link, lane);
    else
        stage_message(link, lane);
    if (out->begun && out->body_at == out->next->frame.body_bytes)
        send_advance(link, lane);
}

static bool may_send(const struct link *link, enum wire_lane lane)
{
    const struct link_out *out = &link->out[lane];
    if (out->next == NULL)
        return false;
    if (lane != WIRE_DATA || out->begun)
        return true;
    uint64_t cost = wire_cost(kind_of(link, out->next), out->next->frame.body_bytes);
    return link->data_sent + cost <= link->peer_window + link->data_granted;
}

/* Control first; the other two take turns. */
static bool send_choose(struct link *link, enum wire_lane *lane)
{
    enum wire_lane other = link->last_large == WIRE_BULK ? WIRE_DATA : WIRE_BULK;
    if (may_send(link, WIRE_CONTROL))
        *lane = WIRE_CONTROL;
    else if (may_send(link, other))
        *lane = link->last_large = other;
    else if (may_send(link, link->last_large))
        *lane = link->last_large;
    else
        return false;
    return true;
}

static bool lanes_are_empty(const struct link *link)
{
    for (int lane = 0; lane < WIRE_LANES; lane++)
        if (link->out[lane].next != NULL)
            return false;
    return true;
}

static void send_fill(struct link *link)
{
    struct link_wire *wire = link->wire;
    enum wire_lane lane;
    /* The acknowledgement first: it is small, frees memory on the other side and lets it send. */
    if (link->ack_due && has_room(wire))
        stage_ack(link);
    while (has_room(wire) && send_choose(link, &lane))
        stage_next(link, lane);
    /* An acknowledgement that waits for company has it. It comes behind the messages, whose bytes
     * say whether they are enough. */
    if (timer_is_started(&link->ack_timer) && wire->staged_bytes >= LINK_ACK_COMPANY_BYTES &&
        has_room(wire))
        stage_ack(link);
    /* Anything else says as well that this side lives. */
    if (link->ping_due && wire->num_parts == 0)
        stage_record(wire, &(struct wire_header){ .type = WIRE_PING }, 0, NULL, 0);
    link->ping_due = false;
    /* The goodbye last: the other side ends the session when it reads it. */
    if (link->leaving && !link->goodbye_sent && lanes_are_empty(link) && has_room(wire)) {
        stage_record(wire, &(struct wire_header){ .type = WIRE_GOODBYE }, 0, NULL, 0);
        link->goodbye_sent = true;
    }
}

static ssize_t write_parts(struct link_wire *wire)
{
    struct iovec parts[LINK_PARTS];
    int count = 0;
    for (uint32_t i = wire->first_part; i < wire->num_parts; i++)
        parts[count++] = (struct iovec){ (void *)(uintptr_t)wire->parts[i].bytes,
                                         wire->parts[i].count };
    return transport_writev(wire->transport, parts, count);
}

/* The first n bytes of the parts are written. */
static void send_consume(struct link *link, size_t n)
{
    struct link_wire *wire = link->wire;
    wire->staged_bytes -= n;
    while (n > 0) {
        struct link_part *part = &wire->parts[wire->first_part];
        size_t taken = n < part->count ? n : part->count;
        part->bytes += taken;
        part->count -= taken;
        n -= taken;
        if (part->count == 0)
            wire->first_part++;
    }
    /* The rest waits until all parts are written: they point into `out`, and into bodies that
     * link_forget_received frees. */
    if (wire->first_part < wire->num_parts)
        return;
    wire->first_part = wire->num_parts = wire->out_used = 0;
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        link->out[lane].written_index = link->out[lane].next_index;
        link_forget_received(link, lane);
    }
}

void link_flush(struct link *link)
{
    size_t written = 0;
    /* Whether there is a connection or not: a control message that found no room is missing from
     * the session, which no later connection mends. Before the phase, since this ends the
     * connection. */
    if (link->overflown)
        link_peer_down(link, "it does not take the answers that it asked for");
    if (link->phase != LINK_UP)
        return;
    struct link_wire *wire = link->wire;
    while (!wire->blocked) {
        send_fill(link);
        if (wire->num_parts == 0)
            break;
        ssize_t n = write_parts(wire);
        if (n < 0) {
            link_broke(link, "writing failed");
            return;
        }
        wire->blocked = n == 0;
        send_consume(link, (size_t)n);
        counter_add(&link->seen.bytes_sent, (uint64_t)n);
        link->spoke |= n > 0;
        written += (size_t)n;
        if (written >= LINK_TURN_BYTES) {
            link_mark(link);
            break;
        }
    }
    /* This comes last, when it is known what blocks: it also sends what TLS has encrypted above. */
    transport_want(wire->transport, (link->stalled ? 0u : (unsigned)STREAM_READABLE) |
                                        (wire->blocked ? (unsigned)STREAM_WRITABLE : 0u));
    link_update_seen(link);
}
