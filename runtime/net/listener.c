/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The actor "links": listens, greets connections, and is the parent of all links.
 *
 * It is the node's oldest actor, so it ends last. A connection that is not known yet costs a
 * greeting (greeting.h) and one of LINKS_HALF_OPEN_MAX places for LINKS_HELLO_NS; when all places
 * are taken a new one takes the place of another (admission.h), so that nobody keeps a process that
 * was started again out by holding them. The judgements that need no link's state are made here;
 * then the connection goes to the link's loop.
 *
 * Invariants: a connection has a place from admit to drop; its stage only rises until it is
 * refused; a turn makes LINKS_HANDSHAKES_A_TURN steps of handshakes at most, and while no place is
 * free it accepts no more connections than it keeps first steps for, so that what a connection sent
 * along is read before it can lose its place to those behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/log.h"
#include "runtime/core/monitor.h"
#include "runtime/net/link_impl.h"

#define SPAWN_RETRY_NS UINT64_C(50000000)

struct half_open {
    struct admission_place place; /* must be first */
    struct links *links;
    struct greeting *greeting;
    struct timer deadline;
    bool refused; /* only its REFUSE is still to be written */
};

static void want_connections(struct links *links, bool wanted)
{
    links->accept_paused = !wanted;
    for (uint32_t i = 0; i < links->num_listen; i++)
        stream_want(links->listeners[i], wanted ? STREAM_READABLE : 0);
}

static void listener_drop(struct half_open *it, bool unproved)
{
    struct links *links = it->links;
    struct admission_place **at = &links->half_open;
    while (*at != &it->place)
        at = &(*at)->next;
    *at = it->place.next;
    links->num_half_open--;
    /* A place is free: those that wait in the system's queue may have it. */
    if (links->accept_paused)
        want_connections(links, true);
    if (unproved)
        atomic_fetch_add(&links->dropped_unproved, 1);
    timer_stop(&it->deadline);
    greeting_destroy(it->greeting);
    free(it);
}

static void too_late(struct actor *self, void *arg)
{
    struct half_open *it = arg;
    (void)self;
    if (!it->refused)
        links_count_refusal(it->links, LINKS_REFUSED_TIMEOUT, "an unknown peer", NULL, true);
    listener_drop(it, !it->refused);
}

static void listener_refuse(struct half_open *it, uint32_t refusal, uint32_t node)
{
    char who[TRANSPORT_IDENTITY_MAX + 32];
    char identity[TRANSPORT_IDENTITY_MAX];
    transport_identity(it->greeting->transport, identity);
    snprintf(who, sizeof who, "process %u (%s)", node, identity);
    links_count_refusal(it->links, refusal, who, NULL, true);
    /* The flag is set before the step below, and before whatever comes next: nothing that this
     * connection sends is judged again. */
    it->refused = true;
    it->place.stage = ADMISSION_OVER;
    greeting_refuse(it->greeting, refusal);
    /* The refusal is written as far as it goes, so that most refusals give their place up here. */
    struct error error;
    int rc = greeting_step(it->greeting, &error);
    if (rc < 0 || greeting_is_written(it->greeting))
        listener_drop(it, false);
}

/* The judgements that need no state of the link. Whether the connection can be trusted comes first,
 * so that a stranger learns nothing of cluster, versions and members from the reasons below. The
 * name of the job stands before versions: a peer of another job has the wrong address, whatever its
 * version. Its number stands behind all that must hold for observers too. */
static uint32_t listener_judge(struct links *links, struct transport *transport,
                               const struct wire_hello *hello)
{
    const struct link *link = links_find(links, hello->node);
    if (!transport_is_trusted(transport) && !links->insecure_network)
        return LINKS_REFUSED_INSECURE;
    if (strcmp(hello->cluster, links->cluster) != 0)
        return LINKS_REFUSED_CLUSTER;
    if (hello->protocol_first > LINKS_PROTOCOL_LAST || hello->protocol_last < LINKS_PROTOCOL_FIRST)
        return LINKS_REFUSED_PROTOCOL;
    if (hello->schema_hash != links->schema_hash)
        return LINKS_REFUSED_SCHEMA;
    if (hello->peer_node != links->node->id)
        return LINKS_REFUSED_WRONG_NODE;
    if (hello->node == links->node->id)
        return LINKS_REFUSED_DUPLICATE;
    if (hello->incarnation == 0 || !wire_window_is_sound(hello->window_bytes))
        return LINKS_REFUSED_MALFORMED;
    if (hello->node >= NODE_OBSERVERS)
        return LINKS_REFUSED_NONE;
    if (link == NULL || hello->node < links->node->id)
        return LINKS_REFUSED_UNKNOWN;
    if (links->security != NULL && link->peer->host != NULL &&
        !transport_names(transport, link->peer->host))
        return LINKS_REFUSED_IDENTITY;
    return LINKS_REFUSED_NONE;
}

static void observer_gone(struct actor *self, void *arg, struct address who, int reason)
{
    struct link *observer = arg;
    struct links *links = observer->links;
    (void)self;
    (void)who;
    if (reason == TR_ECANCELED)
        return; /* the listener itself ends; the router's destroy frees the observers */
    /* The link leaves the list before its reference goes: this may be the last one. */
    struct link **at = &links->observers;
    while (*at != observer)
        at = &(*at)->next_observer;
    *at = observer->next_observer;
    links->num_observers--;
    link_unref(observer);
}

static struct link *make_observer(struct actor *self, struct links *links, uint32_t node)
{
    struct link *observer = malloc(sizeof *observer);
    if (observer == NULL || link_init(observer, links, node, NULL) < 0) {
        free(observer);
        return NULL;
    }
    char name[ACTOR_NAME_MAX];
    snprintf(name, sizeof name, "observer %u", node - NODE_OBSERVERS);
    struct actor_options options = {
        .ops = &link_ops, .arg = observer, .name = name, .loop = observer->loop->index
    };
    struct address address;
    if (actor_spawn(self, &options, &address) < 0) {
        link_unref(observer);
        return NULL;
    }
    /* Listed before it is watched: without a watch it stays until all links end, but is
     * not lost. */
    observer->next_observer = links->observers;
    links->observers = observer;
    links->num_observers++;
    if (actor_monitor(self, address, observer_gone, observer, NULL) < 0)
        log_write(links->node, LOG_LEVEL_WARN, "links", "links: no memory to watch an observer");
    return observer;
}

static struct link *link_for(struct actor *self, struct links *links, uint32_t node)
{
    if (node < NODE_OBSERVERS)
        return links_find(links, node);
    for (struct link *observer = links->observers; observer != NULL;
         observer = observer->next_observer)
        if (observer->node == node)
            return observer;
    return links->num_observers < LINKS_OBSERVERS_MAX ? make_observer(self, links, node) : NULL;
}

static void hand_on(struct actor *self, struct half_open *it, const struct wire_hello *hello)
{
    struct links *links = it->links;
    struct link *link = link_for(self, links, hello->node);
    struct link_arrival *arrival = calloc(1, sizeof *arrival);
    /* All that may fail comes before the transport leaves the greeting: a refusal is written over
     * it there. */
    if (link == NULL || arrival == NULL) {
        free(arrival);
        listener_refuse(it, LINKS_REFUSED_FULL, hello->node);
        return;
    }
    atomic_fetch_add(&links->accepted, 1);
    /* Before the post: the post may be the last that refers to an observer's link. */
    atomic_fetch_add(&link->references, 1);
    arrival->post.run = link_arrive;
    arrival->link = link;
    arrival->hello = *hello;
    arrival->transport = greeting_take(it->greeting);
    /* Off this loop before the post: the link's loop adopts it as soon as it runs that. */
    transport_detach(arrival->transport);
    /* The greeting goes without the transport, which was taken above. */
    listener_drop(it, false);
    loop_post(link->loop, &arrival->post);
}

static void listener_greeted(struct actor *self, struct half_open *it)
{
    struct wire_hello hello;
    if (greeting_type(it->greeting) != WIRE_HELLO || greeting_hello(it->greeting, &hello) < 0) {
        listener_refuse(it, LINKS_REFUSED_MALFORMED, 0);
        return;
    }
    uint32_t refusal = listener_judge(it->links, it->greeting->transport, &hello);
    if (refusal != LINKS_REFUSED_NONE)
        listener_refuse(it, refusal, hello.node);
    else
        hand_on(self, it, &hello);
}

/* Steps of handshakes that were made in this turn. */
static uint32_t steps_made(struct links *links, uint64_t now_ns)
{
    if (links->handshakes_ns != now_ns)
        links->handshakes = 0;
    links->handshakes_ns = now_ns;
    return links->handshakes;
}

/* While no place is free the rest of a turn's steps is for newcomers: those that hold the places
 * could otherwise use up all of them, a byte at a time. */
static uint32_t steps_of_placed(const struct links *links)
{
    return links->num_half_open < LINKS_HALF_OPEN_MAX
               ? LINKS_HANDSHAKES_A_TURN
               : LINKS_HANDSHAKES_A_TURN - LINKS_NEWCOMERS_A_TURN;
}

static void count_step(struct links *links)
{
    if (++links->handshakes > atomic_load(&links->handshakes_most))
        atomic_store(&links->handshakes_most, links->handshakes);
}

/* False: not in this turn; what came stays unread, so the next turn tells of it again. */
static bool may_step(struct half_open *it, uint64_t now_ns)
{
    if (!transport_is_shaking(it->greeting->transport))
        return true;
    if (steps_made(it->links, now_ns) >= steps_of_placed(it->links))
        return false;
    count_step(it->links);
    return true;
}

static void go_on(struct actor *self, struct half_open *it)
{
    struct error error = { 0 };
    int rc = greeting_step(it->greeting, &error);
    /* A refused one is asked for first: what it still sends is no greeting any more. */
    if (it->refused) {
        if (rc < 0 || greeting_is_written(it->greeting))
            listener_drop(it, false);
    } else if (rc < 0) {
        links_count_refusal(it->links, LINKS_REFUSED_MALFORMED, "an unknown peer", error.text,
                            true);
        listener_drop(it, true);
    } else if (rc > 0) {
        listener_greeted(self, it);
    } else {
        it->place.stage = greeting_stage(it->greeting);
    }
}

static void listener_ready(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    struct half_open *it = arg;
    (void)stream;
    if ((what & STREAM_FAILED) || may_step(it, self->loop->now_ns))
        go_on(self, it);
}

/* Takes over the stream. Its first words have mostly come with it, and are read at once: it should
 * not wait as a silent one among silent ones. */
static void listener_admit(struct actor *self, struct links *links, struct half_open *it,
                           struct stream *stream)
{
    struct transport *transport = NULL;
    struct stream_peer peer;
    stream_peer(stream, &peer);
    /* The system says whose process is at the other end of a unix socket. */
    const struct security *security = peer.uid >= 0 ? NULL : links->security;
    it->links = links;
    if (transport_create(stream, security, false, NULL, &transport, NULL) < 0 ||
        (it->greeting = greeting_create(transport, &links->connection_account)) == NULL) {
        free(it);
        return;
    }
    /* The connection is in the list and under its deadline before the first step, which may drop it
     * or hand it on. */
    it->place = (struct admission_place){ .next = links->half_open,
                                          .source = peer.source,
                                          .since_ns = self->loop->now_ns,
                                          .stage = ADMISSION_SILENT };
    links->half_open = &it->place;
    links->num_half_open++;
    timer_start(self, &it->deadline, actor_now_ns(self) + LINKS_HELLO_NS, too_late, it);
    transport_want(transport, STREAM_READABLE);
    /* This stands behind transport_want: when the step has to wait, the next turn tells of what
     * came. */
    bool shakes = transport_is_shaking(transport);
    if (shakes && steps_made(links, self->loop->now_ns) >= LINKS_HANDSHAKES_A_TURN)
        return;
    if (shakes)
        count_step(links);
    go_on(self, it);
}

/* Makes room for a connection of that peer; false: none may be made. */
static bool free_place(struct links *links, const struct stream_peer *peer, uint64_t now_ns)
{
    if (links->num_half_open < LINKS_HALF_OPEN_MAX)
        return true;
    struct admission_place *place = admission_choose(links->half_open, peer->source, now_ns);
    if (place == NULL)
        return false;
    struct half_open *it = (struct half_open *)(void *)place;
    /* The count comes before listener_drop, which frees the connection. */
    if (!it->refused)
        links_count_refusal(links, LINKS_REFUSED_FULL, "an unknown peer", NULL, true);
    listener_drop(it, !it->refused);
    return true;
}

static void accept_again(struct actor *self, void *arg)
{
    (void)self;
    want_connections(arg, true);
}

/* While no place can be taken, those that want one wait in the system's queue: until the first one
 * can, or is given back (listener_drop). */
static bool may_accept(struct actor *self, struct links *links)
{
    if (links->num_half_open < LINKS_HALF_OPEN_MAX)
        return true;
    uint64_t next_ns = admission_next_ns(links->half_open);
    if (next_ns <= self->loop->now_ns)
        return true;
    want_connections(links, false);
    if (next_ns != UINT64_MAX)
        timer_start(self, &links->accept_timer, next_ns, accept_again, links);
    return false;
}

#define ACCEPTS_A_TURN 32

static void on_connection(struct actor *self, void *arg, struct stream *listener, unsigned what)
{
    struct links *links = arg;
    uint32_t replaced = 0;
    (void)what;
    for (int i = 0; i < ACCEPTS_A_TURN && may_accept(self, links); i++) {
        struct stream *stream = NULL;
        struct stream_peer peer;
        /* Those behind it wait for the next turn. */
        if (links->num_half_open == LINKS_HALF_OPEN_MAX && replaced++ == LINKS_NEWCOMERS_A_TURN)
            return;
        /* Memory is taken before the connection is taken out of the system's queue, where it can
         * wait for some. Its source, by which a place is found, is known only afterwards. */
        struct half_open *it = calloc(1, sizeof *it);
        if (it == NULL || stream_accept(self, listener, listener_ready, it, &stream) < 0 ||
            stream == NULL) {
            free(it);
            return;
        }
        stream_peer(stream, &peer);
        if (free_place(links, &peer, self->loop->now_ns)) {
            listener_admit(self, links, it, stream);
            continue;
        }
        stream_close(stream);
        free(it);
        links_count_refusal(links, LINKS_REFUSED_FULL, "an unknown peer", NULL, true);
        atomic_fetch_add(&links->dropped_unproved, 1);
    }
}

static int listen_all(struct links *links, struct error *error)
{
    for (uint32_t i = 0; i < links->num_listen; i++) {
        if (links->listeners[i] != NULL)
            continue; /* since an attempt that a later address of the list ended */
        int rc = stream_listen(links->self, &links->listen[i], on_connection, links,
                               &links->listeners[i], error);
        if (rc < 0)
            return rc;
        stream_listening(links->listeners[i], &links->listen[i]);
    }
    return 0;
}

int links_listen(struct links *links, struct error *error)
{
    struct loop *loop = &links->node->loops[0];
    bool simulated = loop->simulated;
    loop->simulated = false;
    int rc = listen_all(links, error);
    loop->simulated = simulated;
    return rc;
}

/* Memory may be short; a link that is not there yet only queues. */
static void spawn_links(struct actor *self, void *arg)
{
    struct links *links = arg;
    while (links->spawned < links->num_peers) {
        struct link *link = &links->table[links->spawned];
        char name[ACTOR_NAME_MAX];
        snprintf(name, sizeof name, "link %u", link->node);
        struct actor_options options = {
            .ops = &link_ops, .arg = link, .name = name, .loop = link->loop->index
        };
        struct address address;
        int rc = actor_spawn(self, &options, &address);
        if (rc == TR_ECLOSED)
            return;
        if (rc < 0) {
            timer_start(self, &links->spawn_timer, actor_now_ns(self) + SPAWN_RETRY_NS, spawn_links,
                        links);
            return;
        }
        /* A link is counted when it is there: the next attempt goes on with the one that failed. */
        links->spawned++;
    }
}

static int listener_start(struct actor *self, const void *arg)
{
    struct links *links = (void *)(uintptr_t)arg;
    actor_set_state(self, links);
    spawn_links(self, links);
    return 0;
}

static int listener_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void listener_fini(struct actor *self)
{
    struct links *links = (void *)(uintptr_t)self->arg;
    /* The flag is cleared first, so that listener_drop does not have listeners accept that are
     * closed below. */
    links->accept_paused = false;
    while (links->half_open != NULL)
        listener_drop((struct half_open *)(void *)links->half_open, true);
    for (uint32_t i = 0; i < links->num_listen; i++) {
        stream_close(links->listeners[i]);
        links->listeners[i] = NULL;
    }
    /* Links that never started hold what was sent to them, each on its own loop: the router's
     * drop_leftovers answers that. */
    links->self = NULL;
}

const struct actor_ops links_ops = {
    .name = "links",
    .start = listener_start,
    .receive = listener_receive,
    .fini = listener_fini,
};
