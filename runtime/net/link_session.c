/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session of a link: what outlives a connection, and the end of an incarnation.
 *
 * Messages of a lane are numbered in the session. The numbers of those that go out:
 *
 *     first_index <= written_index <= next_index
 *     [first_index, next_index)   were staged or written and are kept until they are acknowledged
 *     [next_index, ...)           wait to be sent
 *
 * Invariants:
 *   - A message is freed when the other side has it (peer_received) and no part of it waits to be
 *     written (written_index): what is staged points into its body.
 *   - What a side says that it received only grows and never exceeds what was sent; anything else
 *     is a broken peer, and nothing of such an acknowledgement is applied.
 *   - data_sent <= peer_window + data_granted, so the receiver has room for all that is under way.
 *   - `incarnation` is the peer's life that the session is with, or 0; all lives up to `fenced` are
 *     dead for good. incarnation > fenced where it is not 0.
 *   - A new session begins when all loops have handled the end of the one before (downs_open is 0).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/log.h"
#include "runtime/net/link_impl.h"

static uint64_t cost_of(const struct link *link, const struct message *message)
{
    const struct kind *kind = kinds_find(&link->loop->node->kinds, message->frame.kind);
    return wire_cost(kind, message->frame.body_bytes);
}

void link_update_seen(struct link *link)
{
    struct link_seen *seen = &link->seen;
    uint64_t queued = 0;
    uint64_t retained = 0;
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        queued += link->out[lane].queued_bytes;
        retained += link->out[lane].retained_bytes;
    }
    uint64_t state = link->phase == LINK_UP     ? LINKS_UP
                     : link->phase == LINK_IDLE ? LINKS_DOWN
                                                : LINKS_CONNECTING;
    /* The numbers may be stored in any order: they are for display, and need not be of one
     * moment. */
    atomic_store_explicit(&seen->state, state, memory_order_relaxed);
    atomic_store_explicit(&seen->incarnation, link->incarnation, memory_order_relaxed);
    atomic_store_explicit(&seen->queued_bytes, queued, memory_order_relaxed);
    atomic_store_explicit(&seen->retained_bytes, retained, memory_order_relaxed);
    uint64_t granted = link->peer_window + link->data_granted;
    atomic_store_explicit(&seen->credit_bytes,
                          granted > link->data_sent ? granted - link->data_sent : 0,
                          memory_order_relaxed);
}

void link_hello(struct link *link, struct wire_hello *hello)
{
    const struct links *links = link->links;
    *hello = (struct wire_hello){
        .protocol_first = LINKS_PROTOCOL_FIRST,
        .protocol_last = LINKS_PROTOCOL_LAST,
        .schema_hash = links->schema_hash,
        .node = links->node->id,
        .incarnation = links->node->incarnation,
        .nonce = links->nonce,
        .peer_node = link->node,
        .peer_incarnation = link->incarnation,
        .peer_fenced = link->fenced,
        .released_bytes = link->data_released,
        .window_bytes = links->window_bytes,
    };
    for (int lane = 0; lane < WIRE_LANES; lane++)
        hello->received[lane] = link->in[lane].received;
    for (int i = 0; links->cluster[i] != '\0'; i++)
        hello->cluster[i] = links->cluster[i];
    /* This is noted as reported: link_begin compares with it. */
    link->released_told = link->data_released;
}

/* Bytes of the data lane up to the message of that index: what the other side may have released
 * when it received so many. */
static uint64_t data_before(const struct link *link, uint64_t index)
{
    const struct link_out *out = &link->out[WIRE_DATA];
    const struct message *message = out->first;
    uint64_t bytes = link->data_acked;
    for (uint64_t i = out->first_index; i < index && message != NULL; i++) {
        bytes += cost_of(link, message);
        message = message->next;
    }
    return bytes;
}

/* Does what it says it received fit what we sent? */
static bool can_resume(const struct link *link, const struct wire_hello *hello)
{
    bool knows_us = hello->peer_incarnation == link->links->node->incarnation;
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        const struct link_out *out = &link->out[lane];
        uint64_t received = knows_us ? hello->received[lane] : 0;
        if (received < out->first_index || received > out->next_index)
            return false;
        /* It missed our WELCOME, so it can't have sent anything. */
        if (!knows_us && link->in[lane].received != 0)
            return false;
    }
    return !knows_us || (hello->released_bytes >= link->data_granted &&
                         hello->released_bytes <= data_before(link, hello->received[WIRE_DATA]));
}

uint32_t link_judge(struct link *link, const struct wire_hello *hello)
{
    struct node *node = link->links->node;
    /* The dead first: what was reported as dead to actors is never spoken to again, whatever
     * else it says. */
    if (hello->incarnation <= link->fenced || hello->incarnation < link->incarnation)
        return LINKS_REFUSED_FENCED;
    /* This stands before all that allows a session: none goes on with a side that counts us as
     * dead. */
    if (hello->peer_fenced >= node->incarnation && link->node < NODE_OBSERVERS)
        return LINKS_REFUSED_BUSY; /* we are fenced, not it: our next life will hear it */
    /* A new life begins a session when the last one is over on all loops; until then it tries
     * again. This stands before the rules of the same life, whose nonce and counts say nothing of
     * another one. */
    if (atomic_load(&link->downs_open) != 0 || hello->incarnation > link->incarnation)
        return link->incarnation == 0 && atomic_load(&link->downs_open) == 0 ? LINKS_REFUSED_NONE
                                                                             : LINKS_REFUSED_BUSY;
    /* The same life, so it must be the same process, and one that still has the session. */
    if (hello->nonce != link->nonce)
        return LINKS_REFUSED_DUPLICATE;
    /* This comes last: the counts of another process would be compared with ours. */
    return can_resume(link, hello) ? LINKS_REFUSED_NONE : LINKS_REFUSED_FENCED;
}

void link_forget_received(struct link *link, int lane)
{
    struct link_out *out = &link->out[lane];
    while (out->first_index < out->peer_received && out->first_index < out->written_index) {
        struct message *message = out->first;
        uint64_t cost = cost_of(link, message);
        out->first = message->next;
        if (out->first == NULL)
            out->last = NULL;
        if (out->before == message)
            out->before = NULL;
        out->first_index++;
        out->count--;
        out->retained_bytes -= cost;
        if (lane == WIRE_DATA)
            link->data_acked += cost;
        loop_free_message(link->loop, message);
    }
}

int link_acknowledged(struct link *link, const struct wire_ack *ack)
{
    /* All of it is checked before any of it is applied. */
    for (int lane = 0; lane < WIRE_LANES; lane++)
        if (ack->received[lane] < link->out[lane].peer_received ||
            ack->received[lane] > link->out[lane].next_index)
            return TR_EFORMAT;
    if (ack->released_bytes < link->data_granted || ack->released_bytes > link->data_sent)
        return TR_EFORMAT;
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        link->out[lane].peer_received = ack->received[lane];
        link_forget_received(link, lane);
    }
    link->data_granted = ack->released_bytes;
    return 0;
}

void link_rewind(struct link *link)
{
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        struct link_out *out = &link->out[lane];
        out->next = out->first;
        out->before = NULL;
        out->next_index = out->written_index = out->first_index;
        out->begun = false;
        out->body_at = 0;
        out->queued_bytes += out->retained_bytes;
        out->retained_bytes = 0;
    }
    link->data_sent = link->data_acked;
}

static bool fits_session(const struct link *link, const struct message *message)
{
    uint32_t incarnation = message->frame.to.incarnation;
    if (incarnation != 0 && incarnation != link->incarnation)
        return false;
    return cost_of(link, message) <= link->peer_window / 2;
}

void link_turn_queue_around(struct link *link, bool all)
{
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        struct link_out *out = &link->out[lane];
        assert(out->next == out->first && !out->begun);
        struct message *message = out->first;
        /* The lane is emptied first, and what stays is put back one behind the other: its order
         * holds. */
        out->first = out->last = out->next = NULL;
        out->count = 0;
        out->queued_bytes = 0;
        while (message != NULL) {
            struct message *next = message->next;
            if (!all && fits_session(link, message)) {
                message->next = NULL;
                if (out->first == NULL)
                    out->first = out->next = message;
                else
                    out->last->next = message;
                out->last = message;
                out->count++;
                out->queued_bytes += cost_of(link, message);
            } else {
                loop_bounce(link->loop, message, TR_EPEERDOWN);
            }
            message = next;
        }
    }
}

static void begin_session(struct link *link, const struct wire_hello *hello)
{
    link->incarnation = hello->incarnation;
    link->nonce = hello->nonce;
    /* The life stands here before any message of it is received: credit of another one is known by
     * it. */
    atomic_store(&link->returned, (uint64_t)hello->incarnation << 32);
    link->peer_window = hello->window_bytes;
    /* Life and window are known now: what was queued for another life, or is too large for this
     * window, is answered. */
    link_turn_queue_around(link, false);
}

static void resume_session(struct link *link, const struct wire_hello *hello)
{
    /* Our WELCOME was lost, so the peer has nothing of ours and says so by zeroes: all is sent
     * again. */
    if (hello->peer_incarnation != link->links->node->incarnation)
        return;
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        link->out[lane].peer_received = hello->received[lane];
        /* The connection that had parts staged is gone, so nothing waits to be written. */
        link->out[lane].written_index = link->out[lane].next_index;
        link_forget_received(link, lane);
    }
    link->data_granted = hello->released_bytes;
}

static int make_wire(struct link *link, struct transport *transport)
{
    struct link_wire *wire = NULL;
    if (account_reserve(&link->links->connection_account, LINK_WIRE_BYTES, NULL) < 0)
        goto err_after_transport;
    if (posix_memalign((void **)&wire, 64, sizeof *wire) != 0)
        goto err_after_account;
    memset(wire, 0, offsetof(struct link_wire, out));
    wire->transport = transport;
    wire->checksums = !transport_is_trusted(transport);
    wire->read_bytes = LINK_IN_BYTES;
    link->wire = wire;
    return 0;

err_after_account:
    account_release(&link->links->connection_account, LINK_WIRE_BYTES);
err_after_transport:
    transport_destroy(transport);
    return TR_ENOMEM;
}

void link_drop_wire(struct link *link)
{
    if (link->wire == NULL)
        return;
    transport_destroy(link->wire->transport);
    free(link->wire);
    link->wire = NULL;
    account_release(&link->links->connection_account, LINK_WIRE_BYTES);
}

int link_begin(struct link *link, struct transport *transport, const struct wire_hello *hello)
{
    /* The connection before this one, if there is any, has to let go of the queues. */
    link_disconnect(link, NULL);
    int rc = make_wire(link, transport);
    if (rc < 0)
        return rc;
    if (link->incarnation == 0)
        begin_session(link, hello);
    else
        resume_session(link, hello);
    /* After the session: what the other side has was freed, and the rest is sent again. */
    link_rewind(link);
    /* Only now: the disconnect above has started it for the next dial, which is made where there
     * was no memory for the wire. With it goes the pause, which each attempt lengthens. */
    timer_stop(&link->dial_timer);
    /* The phase changes behind all that can fail: a link that is up has a wire and a session. */
    link->phase = LINK_UP;
    link->retry_ns = LINK_RETRY_FIRST_NS;
    link->failures = 0;
    link->heard = true;
    link->warn_ticks = 0;
    link->why[0] = '\0';
    link->misfit = false;
    link->goodbye_sent = link->stalled = false;
    for (int lane = 0; lane < WIRE_LANES; lane++)
        link->acked[lane] = link->in[lane].received;
    /* Nothing is received without a connection, but released: what came back after our greeting was
     * made goes by an acknowledgement. */
    link->ack_due = link->data_released != link->released_told;
    link->unacked_bytes = 0;
    counter_add(&link->seen.connections, 1);
    log_write(link->links->node, LOG_LEVEL_DEBUG, "links",
              "node %u: linked with node %u incarnation %u", link->links->node->id, link->node,
              link->incarnation);
    link_update_seen(link);
    link_mark(link);
    return 0;
}

void link_take_returned(struct link *link)
{
    /* Relaxed: the number is all that is passed on. */
    uint64_t returned = atomic_exchange_explicit(&link->returned, (uint64_t)link->incarnation << 32,
                                                 memory_order_relaxed);
    link->data_released += (uint32_t)returned;
}

void link_peer_down(struct link *link, const char *why)
{
    uint32_t gone = link->incarnation;
    /* The connection lets go of the queues, all of them become unsent, and then they are answered:
     * before the downs go to other loops, so that no answer of ours comes behind a DOWN. */
    link_disconnect(link, NULL);
    link_rewind(link);
    link_turn_queue_around(link, true);
    for (int lane = 0; lane < WIRE_LANES; lane++) {
        link->out[lane] = (struct link_out){ 0 };
        link->in[lane] = (struct link_in){ 0 };
    }
    link->data_acked = link->data_sent = link->data_granted = 0;
    link->data_received = link->data_released = link->released_told = 0;
    link->peer_window = link->links->window_bytes;
    link->corrupt_times = link->silent_ticks = link->warn_ticks = 0;
    link->overflown = false;
    if (gone != 0) {
        log_write(link->links->node, why != NULL ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "links",
                  "node %u: node %u incarnation %u is down: %s", link->links->node->id, link->node,
                  gone, why != NULL ? why : "it said goodbye");
        /* Fenced before anybody is notified: from the first DOWN on that life must not come
         * back. */
        link->fenced = gone;
        link->incarnation = 0;
        atomic_store(&link->returned, 0);
        link_tell_down(link, gone);
    }
    link_update_seen(link);
    /* The exit comes last: an observer's link ends with its session. */
    if (link->peer == NULL)
        actor_exit(link->self, 0);
}
