/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link's actor: dialing, greeting, ticks, silence, leaving.
 *
 *     IDLE --dial--> DIALING --connected--> GREETING --welcome--> UP
 *       ^-------------- link_disconnect, from any ----------------/
 *
 * On the side that is dialed an arrival (link_arrive) leads from any phase to UP, or is refused.
 *
 * Invariants:
 *   - There is one connection at a time: `greeting` in DIALING and GREETING, `wire` in UP, neither
 *     in IDLE. A newer one replaces it, since its maker knows that the older one is lost.
 *   - A connection ends in link_disconnect, a session in link_peer_down. Sent messages survive the
 *     first and are answered by the second.
 *   - Of two nodes the one with the higher number dials, and after each end dials again until it
 *     leaves. So two nodes never hold two connections against each other.
 *   - A peer is down when no byte came for dead_ticks ticks in a row. A tick does not count while
 *     this side does not read, nor when it comes late: this process stood still then, and the bytes
 *     may be in the socket.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/log.h"
#include "runtime/net/link_impl.h"

/* A node that never started dials no peer while it is played to its end: its peers would take it for
 * the next life of the one that still has its address, and end that. */
static bool link_dials(const struct link *link)
{
    const struct node *node = link->links->node;
    return link->peer != NULL && node->started && node->id > link->node &&
           link->peer->endpoint.kind != ENDPOINT_NONE;
}

void link_mark(struct link *link)
{
    if (link->dirty || link->self == NULL)
        return;
    link->dirty = true;
    struct links_loop *on = links_on(link->loop, link->links);
    link->next_dirty = on->dirty;
    on->dirty = link;
    link->loop->router_due |= ROUTER_FLUSH;
}

static void link_dial(struct actor *self, void *arg);

static void link_retry(struct link *link)
{
    if (!link_dials(link) || link->leaving)
        return;
    /* Half to one and a half of it, so that nodes that lost one peer don't come back in step. */
    uint64_t wait_ns = link->retry_ns / 2 + actor_random(link->self) % link->retry_ns;
    timer_start(link->self, &link->dial_timer, link->loop->now_ns + wait_ns, link_dial, link);
    link->retry_ns *= 2;
    if (link->retry_ns > LINK_RETRY_MOST_NS)
        link->retry_ns = LINK_RETRY_MOST_NS;
}

/* Processes of a job start in any order, so the first silence says nothing. After dead_ns without a
 * link the peer is named, with where it is looked for and why that fails: every few seconds while
 * people watch a start, then each minute, and each minute at once where a configuration has to be
 * corrected, which the first failure has said (link_note_misfit). Both sides do so, since
 * the one that is dialed waits too. */
static void link_name_absent(struct link *link)
{
    const struct links *links = link->links;
    const struct links_peer *peer = link->peer;
    uint64_t silent_ns = link->silent_ticks * links->heartbeat_ns;
    uint64_t pause_ns = link->misfit || silent_ns >= LINK_ABSENT_OFTEN_NS ? LINK_ABSENT_RARE_NS
                                                                          : LINK_ABSENT_NS;
    char where[ENDPOINT_TEXT_MAX];
    const char *why = link->why;
    if (link->silent_ticks < links->dead_ticks || link->silent_ticks < link->warn_ticks)
        return;
    link->warn_ticks = link->silent_ticks + (uint32_t)(pause_ns / links->heartbeat_ns);
    endpoint_format(&peer->endpoint, where, sizeof where);
    /* The address is in many errors, and is said once. */
    size_t length = strlen(where);
    if (strncmp(why, where, length) == 0 && strncmp(why + length, ": ", 2) == 0)
        why += length + 2;
    if (why[0] == '\0')
        why = link_dials(link) ? "it does not answer" : "it has not connected to this process";
    log_write(links->node, LOG_LEVEL_WARN, "links",
              "waiting for process %u (%s%s%s): no connection for %llu s: %s", link->node,
              peer->name != NULL ? peer->name : "", peer->name != NULL ? ", " : "", where,
              (unsigned long long)(silent_ns / 1000000000), why);
}

static void note_end(struct link *link, const char *why)
{
    if (link->phase == LINK_DIALING || link->phase == LINK_GREETING) {
        link->failures++;
        snprintf(link->why, sizeof link->why, "%s", why);
        if (link->links->apart != NULL)
            link->links->apart(link->links->apart_arg, link->node, why);
    }
    log_write(link->links->node, LOG_LEVEL_DEBUG, "links", "node %u: connection with node %u: %s",
              link->links->node->id, link->node, why);
}

void link_disconnect(struct link *link, const char *why)
{
    /* The log comes before anything is destroyed: the text may lie in the stream, and the phase
     * says whether a greeting failed. The steps up to the phase may go in any order. */
    if (why != NULL)
        note_end(link, why);
    timer_stop(&link->deadline_timer);
    timer_stop(&link->ack_timer);
    timer_stop(&link->stall_timer);
    greeting_destroy(link->greeting);
    link->greeting = NULL;
    /* The other side sends a message that came in part again from its beginning. */
    link_drop_partial(link);
    link_drop_wire(link);
    /* The phase and the timer of link_retry may change in any order: the dial is made in a later
     * turn. */
    link->phase = LINK_IDLE;
    link->stalled = link->ack_due = false;
    link_update_seen(link);
    link_retry(link);
    /* This is only a note (actor_exit), so callers may go on with the link. */
    if (link->stopping)
        actor_exit(link->self, 0);
}

void link_broke(struct link *link, const char *what)
{
    /* This is a copy, since link_disconnect frees the transport that holds it. */
    struct error why = *transport_error(link->wire->transport);
    if (why.code == TR_EPERM)
        log_write(link->links->node, LOG_LEVEL_WARN, "links",
                  "node %u: connection with node %u: %s", link->links->node->id, link->node,
                  why.text);
    link_disconnect(link, why.code != 0 ? why.text : what);
}

static void too_late(struct actor *self, void *arg)
{
    (void)self;
    link_disconnect(arg, "the greeting took too long");
}

/* The other side counts us as dead: its actors that watched ours went on without them. */
static void be_fenced(struct link *link)
{
    struct node *node = link->links->node;
    log_write(node, LOG_LEVEL_ERROR, "links",
              "node %u incarnation %u: node %u counts it as dead (fenced); it ends", node->id,
              node->incarnation, link->node);
    node_fail(node, TR_EPEERDOWN);
}

static void link_refused(struct link *link, uint32_t refusal)
{
    char who[32];
    snprintf(who, sizeof who, "process %u", link->node);
    if (refusal != LINKS_REFUSED_BUSY)
        links_count_refusal(link->links, refusal, who, NULL, false);
    /* Fenced is for good: no later connection could change it. This and the end of the connection
     * may go in any order: node_fail only asks for a stop. */
    if (refusal == LINKS_REFUSED_FENCED)
        be_fenced(link);
    link_disconnect(link, wire_refusal_text(refusal));
}

static bool is_sound(const struct link *link, const struct wire_hello *hello)
{
    const struct links *links = link->links;
    return hello->node == link->node && hello->peer_node == links->node->id &&
           hello->incarnation != 0 && wire_window_is_sound(hello->window_bytes) &&
           hello->schema_hash == links->schema_hash && strcmp(hello->cluster, links->cluster) == 0;
}

static void link_answered(struct link *link)
{
    struct wire_hello hello;
    uint32_t refusal = LINKS_REFUSED_MALFORMED;
    /* A refusal is asked for first: as "no welcome" it would lose its reason, and this node would
     * not hear that it is fenced. */
    if (greeting_refusal(link->greeting, &refusal) == 0) {
        link_refused(link, refusal);
        return;
    }
    if (greeting_type(link->greeting) != WIRE_WELCOME ||
        greeting_hello(link->greeting, &hello) < 0 || !is_sound(link, &hello)) {
        links_count_refusal(link->links, LINKS_REFUSED_MALFORMED, "a peer", NULL, true);
        link_disconnect(link, "its answer to the greeting is not one that Troupe sends");
        return;
    }
    /* The old life ends first, on all loops; the next dial begins a session with the new one. This
     * stands before link_judge, which would only have it wait for an end that nobody begins. */
    if (link->incarnation != 0 && hello.incarnation > link->incarnation) {
        link_peer_down(link, "it started again");
        return;
    }
    refusal = link_judge(link, &hello);
    if (refusal != LINKS_REFUSED_NONE) {
        link_disconnect(link, wire_refusal_text(refusal));
        return;
    }
    /* The transport leaves the greeting before link_begin, which first ends what the link has, the
     * greeting included. */
    link_begin(link, greeting_take(link->greeting), &hello);
}

/* Retrying will not help: a configuration has to be corrected. The failure is logged when it is
 * new, and of those that differ ever fewer, so that whatever listens there cannot fill the log. */
static void link_note_misfit(struct link *link, const struct error *error)
{
    if (strncmp(link->why, error->text, sizeof link->why - 1) != 0 &&
        (link->failures & (link->failures + 1)) == 0)
        log_write(link->links->node, LOG_LEVEL_WARN, "links", "process %u: no connection: %s",
                  link->node, error->text);
    link->misfit = true;
}

static void go_on_greeting(struct link *link)
{
    struct error error = { 0 };
    struct transport *transport = link->greeting->transport;
    int rc = greeting_step(link->greeting, &error);
    /* The note comes before link_disconnect, which keeps the text that this one is compared with. */
    if (rc == TR_EPERM || rc == TR_EFORMAT)
        link_note_misfit(link, &error);
    /* Trust is asked for before the answer: nothing is done of what a side says that need not be
     * the one meant. */
    if (rc < 0)
        link_disconnect(link, error.text);
    else if (link->greeting->secured && !transport_is_trusted(transport) &&
             !link->links->insecure_network)
        link_disconnect(link, "it is not encrypted");
    else if (rc > 0)
        link_answered(link);
}

static void link_ready(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    struct link *link = arg;
    (void)self;
    if (what & STREAM_FAILED) {
        link_disconnect(link, stream_error(stream)->text);
        return;
    }
    /* Each step may lead to the next in the same call, so all three are asked in turn. */
    if (link->phase == LINK_DIALING)
        link->phase = LINK_GREETING;
    if (link->phase == LINK_GREETING)
        go_on_greeting(link);
    /* Bytes that came right behind the greeting may wait in the transport, and no event tells of
     * them. link_read comes last: it may end the connection and free the wire, and else marks the
     * link, so that what was blocked is written. */
    if (link->phase == LINK_UP) {
        link->wire->blocked = false;
        link_read(link);
    }
}

static void link_dial(struct actor *self, void *arg)
{
    struct link *link = arg;
    const struct links *links = link->links;
    const struct endpoint *endpoint = &link->peer->endpoint;
    const struct security *security = endpoint->kind == ENDPOINT_UNIX ? NULL : links->security;
    struct stream *stream = NULL;
    struct transport *transport = NULL;
    struct wire_hello hello;
    if (link->phase != LINK_IDLE || link->leaving)
        return;
    /* The link dials only when all loops have completed what waited for the last life of the peer:
     * its next one must not answer in between. Each step takes over what the one before made,
     * whatever its result, so there is nothing to free here. */
    if (atomic_load(&link->downs_open) != 0 ||
        stream_connect(self, endpoint, link_ready, link, &stream) < 0 ||
        transport_create(stream, security, true, link->peer->host, &transport, NULL) < 0 ||
        (link->greeting = greeting_create(transport, &link->links->connection_account)) == NULL) {
        link_retry(link);
        return;
    }
    link_hello(link, &hello);
    greeting_say(link->greeting, WIRE_HELLO, &hello);
    link->phase = LINK_DIALING;
    timer_start(self, &link->deadline_timer, link->loop->now_ns + LINKS_HELLO_NS, too_late, link);
    link_update_seen(link);
}

static void drop_parting(struct link *link)
{
    greeting_destroy(link->parting);
    link->parting = NULL;
}

static void link_write_parting(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    struct link *link = arg;
    (void)self;
    (void)stream;
    if ((what & STREAM_FAILED) || greeting_write(link->parting) != 0)
        drop_parting(link);
}

/* The REFUSE is written as the connection takes it. The next one that is refused takes its place,
 * so no time has to bound it. */
static void turn_away(struct link *link, struct transport *transport, uint32_t refusal)
{
    char who[32];
    drop_parting(link);
    /* The transport is detached before greeting_create, which destroys it when memory is short, and
     * adopted again below, with link_write_parting for its events. */
    transport_detach(transport);
    link->parting = greeting_create(transport, &link->links->connection_account);
    snprintf(who, sizeof who, "process %u", link->node);
    if (refusal != LINKS_REFUSED_BUSY)
        links_count_refusal(link->links, refusal, who, NULL, true);
    /* This stands behind the count: a refusal counts although there is no memory to say it. */
    if (link->parting == NULL)
        return;
    greeting_refuse(link->parting, refusal);
    if (transport_adopt(link->self, transport, link_write_parting, link) < 0 ||
        greeting_write(link->parting) != 0)
        drop_parting(link);
    else
        transport_want(transport, STREAM_WRITABLE);
}

static void link_welcome(struct link *link, struct transport *transport,
                         const struct wire_hello *hello)
{
    struct wire_hello answer;
    /* The session begins before the WELCOME, which names its life and what was received in it. */
    if (link_begin(link, transport, hello) < 0)
        return;
    struct link_wire *wire = link->wire;
    link_hello(link, &answer);
    uint32_t bytes = greeting_record(WIRE_WELCOME, &answer, 0, wire->out);
    /* The WELCOME is staged by hand, before link_flush adds anything: it is the first record of the
     * connection. */
    wire->parts[0] = (struct link_part){ wire->out, bytes };
    wire->num_parts = 1;
    wire->staged_bytes = wire->out_used = bytes;
    link_flush(link); /* also says what the transport waits for */
    if (link->phase == LINK_UP)
        link_read(link);
}

static void link_take_arrival(struct link *link, struct transport *transport,
                              const struct wire_hello *hello)
{
    if (transport_adopt(link->self, transport, link_ready, link) < 0 || link->leaving) {
        transport_destroy(transport);
        return;
    }
    /* The end of the old life comes first: until all loops have heard of it, link_judge answers
     * "busy" to the new one, which connects again. */
    if (link->incarnation != 0 && hello->incarnation > link->incarnation)
        link_peer_down(link, "it started again");
    /* If both sides fenced each other, only the dialing side ends. Behind the fencing of the peer's
     * old life above, since it compares with link->fenced. */
    bool fenced = hello->peer_fenced >= link->links->node->incarnation && link->peer != NULL &&
                  hello->incarnation > link->fenced;
    uint32_t refusal = link_judge(link, hello);
    if (refusal == LINKS_REFUSED_NONE && link->incarnation == 0 &&
        hello->peer_incarnation == link->links->node->incarnation)
        refusal = LINKS_REFUSED_FENCED; /* it goes on with a session that is over here */
    if (refusal == LINKS_REFUSED_NONE)
        link_welcome(link, transport, hello);
    else
        turn_away(link, transport, refusal);
    /* Last, so that the other side still gets its answer. */
    if (fenced)
        be_fenced(link);
}

static void drop_early(struct link *link)
{
    struct link_arrival *early = link->early;
    link->early = NULL;
    if (early == NULL)
        return;
    transport_destroy(early->transport);
    link_unref(link);
    free(early);
}

/* The listener makes an observer's link for its first connection, so the actor, on a loop of its
 * own, has mostly not had its first turn when that arrives: it waits for the turn. A later one
 * takes its place, as it would that of a connection that is up. */
static void keep_early(struct link *link, struct link_arrival *arrival)
{
    drop_early(link);
    link->early = arrival;
}

static void take_early(struct link *link)
{
    struct link_arrival *early = link->early;
    link->early = NULL;
    if (early == NULL)
        return;
    link_take_arrival(link, early->transport, &early->hello);
    link_unref(link);
    free(early);
}

struct actor *link_arrive(struct loop *loop, struct post *post)
{
    struct link_arrival *arrival = (struct link_arrival *)(void *)post;
    struct link *link = arrival->link;
    struct actor *self = link->self;
    (void)loop;
    if (self == NULL && link->peer == NULL && !link->ended) {
        keep_early(link, arrival);
        return NULL;
    }
    if (self == NULL || self->exiting)
        transport_destroy(arrival->transport);
    else
        link_take_arrival(link, arrival->transport, &arrival->hello);
    /* The actor is settled before the reference goes: its fini uses the link, and this may be the
     * last reference to that of an observer. */
    if (self != NULL)
        actor_settle(self);
    link_unref(link);
    free(arrival);
    return NULL;
}

/* The other side did not take what was queued within LINK_LEAVE_NS. */
static void leave_over(struct actor *self, void *arg)
{
    (void)self;
    link_disconnect(arg, "it did not read what was left in time");
}

/* The link begins to leave: the goodbye follows what is queued (send_fill), and the other side then
 * closes. This is called again when the actor is stopped after the links have begun to leave. */
static void link_leave(struct link *link)
{
    if (!link->leaving) {
        /* The flag is set first: link_disconnect below would dial again otherwise. */
        link->leaving = true;
        timer_stop(&link->dial_timer);
        if (link->phase == LINK_UP)
            timer_start(link->self, &link->leave_timer, link->loop->now_ns + LINK_LEAVE_NS,
                        leave_over, link);
        else
            link_disconnect(link, NULL);
        link_mark(link);
    }
    /* This stands outside of the branch above: the stop may come when the link has left long
     * ago. */
    if (link->stopping && link->phase != LINK_UP)
        actor_exit(link->self, 0);
}

/* Another loop has credit for us, or all links leave. */
static struct actor *link_noted(struct loop *loop, struct post *post)
{
    struct link *link = (struct link *)(void *)((char *)post - offsetof(struct link, note));
    struct actor *self = link->self;
    (void)loop;
    /* The flag is cleared first: credit or a wish to leave that comes behind the looks below finds
     * false and posts another note. If it were cleared after them, what came in between would find
     * true, post nothing and be seen by nobody. */
    atomic_store(&link->noted, false);
    if (self != NULL && !self->exiting) {
        link_take_returned(link);
        link->ack_due |= link->data_released != link->released_told;
        if (atomic_load(&link->links->leaving))
            link_leave(link);
        link_mark(link);
        actor_settle(self);
    }
    /* The reference goes last: the link of an observer may be freed by it, and settling uses the
     * link. */
    link_unref(link);
    return NULL;
}

void link_note(struct link *link)
{
    if (atomic_exchange(&link->noted, true))
        return;
    /* The reference is taken before the post, which gives it up on another thread. */
    atomic_fetch_add(&link->references, 1);
    link->note.run = link_noted;
    loop_post(link->loop, &link->note);
}

static bool is_waiting(const struct link *link)
{
    return link->out[WIRE_CONTROL].count + link->out[WIRE_BULK].count + link->out[WIRE_DATA].count >
           0;
}

/* A peer that was silent for a tick. One that nobody has met is not down, but messages for an
 * incarnation of it that only others have met are answered. */
static void count_silence(struct link *link)
{
    char why[64];
    if (++link->silent_ticks < link->links->dead_ticks)
        return;
    /* A life that is known is asked for first, an observer's too: its calls and monitors end with
     * it. */
    if (link->incarnation != 0) {
        uint32_t gone = link->incarnation;
        snprintf(why, sizeof why, "silent for %u heartbeats", link->silent_ticks);
        link_peer_down(link, why);
        /* This stands behind link_peer_down: when somebody ends the process, its life is fenced
         * already. */
        if (link->peer != NULL && link->links->silent != NULL)
            link->links->silent(link->links->silent_arg, link->node, gone);
    } else if (link->peer == NULL) {
        actor_exit(link->self, 0);
    } else if (is_waiting(link)) {
        link_turn_queue_around(link, false);
    }
}

static void link_tick(struct actor *self, void *arg)
{
    struct link *link = arg;
    uint64_t now_ns = link->loop->now_ns;
    /* A late tick says that we were stopped, not that the other side was. */
    bool late = now_ns - link->last_tick_ns > 2 * link->links->heartbeat_ns;
    if (!link->heard && !link->stalled && !late)
        count_silence(link);
    if (link->heard)
        link->silent_ticks = 0;
    if (link->peer != NULL && link->phase != LINK_UP && !link->leaving)
        link_name_absent(link);
    /* This stands behind count_silence, which may have ended the connection. */
    if (link->phase == LINK_UP) {
        /* Credit is taken before it is asked whether there is any to tell. */
        link_take_returned(link);
        link->ping_due = !link->spoke;
        link->ack_due |= link->data_released != link->released_told;
        link_mark(link);
    }
    /* The flags are cleared when both were looked at: they speak of the tick that ends here. */
    link->heard = link->spoke = false;
    link->last_tick_ns = now_ns;
    timer_start(self, &link->tick_timer, now_ns + link->links->heartbeat_ns, link_tick, link);
}

static int link_start(struct actor *self, const void *arg)
{
    struct link *link = (void *)(uintptr_t)arg;
    actor_set_state(self, link);
    link->self = self;
    link->last_tick_ns = actor_now_ns(self);
    /* The link counts as heard now, so that its silence is seen from the beginning. */
    atomic_store_explicit(&link->seen.heard_ns, link->last_tick_ns, memory_order_relaxed);
    timer_start(self, &link->tick_timer, actor_now_ns(self) + link->links->heartbeat_ns, link_tick,
                link);
    if (link->peer == NULL) {
        struct links_loop *on = links_on(link->loop, link->links);
        link->next_observer_of_loop = on->observers;
        on->observers = link;
    }
    /* Connections come last: all that the end of one works on is there. */
    if (link_dials(link))
        link_dial(self, link);
    take_early(link);
    return 0;
}

static int link_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void leave_now(struct actor *self, void *arg)
{
    struct link *link = arg;
    struct links *links = link->links;
    (void)self;
    /* All leave together: one after the other would take their number times the slowest. The flag
     * stands before the notes go, which look at it. */
    if (!atomic_exchange(&links->leaving, true))
        for (uint32_t i = 0; i < links->num_peers; i++)
            link_note(&links->table[i]);
    link_leave(link);
}

static void link_stop(struct actor *self)
{
    struct link *link = actor_state(self);
    /* The flag is set before link_leave(), which ends the actor by it. */
    link->stopping = true;
    if (link->leaving)
        link_leave(
            link); /* since the first of the links was stopped, and the time it has runs on */
    else
        timer_start(self, &link->leave_timer, actor_now_ns(self) + LINK_LEAVE_DELAY_NS, leave_now,
                    link);
}

static void forget_observer(struct link *link)
{
    struct link **at = &links_on(link->loop, link->links)->observers;
    while (*at != link)
        at = &(*at)->next_observer_of_loop;
    *at = link->next_observer_of_loop;
}

/* The listener, which is notified of an observer's end, may free its link before the turn ends. */
static void link_unmark(struct link *link)
{
    struct links_loop *on = links_on(link->loop, link->links);
    struct link **at = &on->dirty;
    while (*at != NULL && *at != link)
        at = &(*at)->next_dirty;
    if (*at == link)
        *at = link->next_dirty;
    /* The duty goes with the last link: the turn would flush an empty list. */
    if (on->dirty == NULL)
        link->loop->router_due &= ~(unsigned)ROUTER_FLUSH;
    link->dirty = false;
}

static void link_fini(struct actor *self)
{
    struct link *link = (void *)(uintptr_t)self->arg;
    if (link->self != NULL) {
        /* The connection goes first: what it has staged points into messages, which link_rewind
         * makes unsent and link_turn_queue_around answers at the end. */
        link_disconnect(link, NULL);
        drop_parting(link);
        link_rewind(link);
        if (link->peer == NULL)
            forget_observer(link);
    }
    drop_early(link);
    /* The flag is set before the queues are emptied: what is sent later is answered at once
     * (links.c) instead of staying here. Without `self` nothing marks the link again once it is
     * unmarked. */
    link->ended = true;
    link->self = NULL;
    link_unmark(link);
    link_turn_queue_around(link, true);
}

const struct actor_ops link_ops = {
    .name = "link",
    .start = link_start,
    .receive = link_receive,
    .stop = link_stop,
    .fini = link_fini,
};
