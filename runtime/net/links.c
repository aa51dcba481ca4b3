/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/links.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/dump_impl.h"
#include "runtime/core/log.h"
#include "runtime/net/link_impl.h"

/* Observers of this loop too. */
static struct link *find_on(struct loop *loop, uint32_t node)
{
    struct links *links = links_of(loop->node);
    if (node < NODE_OBSERVERS)
        return links_find(links, node);
    struct link *observer = links_on(loop, links)->observers;
    while (observer != NULL && observer->node != node)
        observer = observer->next_observer_of_loop;
    return observer;
}

static bool links_knows(const struct router *router, uint32_t node)
{
    return node >= NODE_OBSERVERS || links_find(links_of_router(router), node) != NULL;
}

static int check_peer(const struct node *node, const struct links_options *options,
                      const struct links_peer *peer, struct error *error)
{
    if (peer->node == node->id || peer->node >= NODE_OBSERVERS)
        return error_set(error, TR_EINVAL, "peers: node %u is %s", peer->node,
                         peer->node == node->id ? "this one" : "an observer's number");
    if (peer->endpoint.kind == ENDPOINT_NONE && node->id > peer->node)
        return error_set(error, TR_EINVAL,
                         "peers: node %u has no address, and node %u has to connect to it",
                         peer->node, node->id);
    if (peer->endpoint.kind == ENDPOINT_TCP && options->security == NULL &&
        !options->insecure_network)
        return error_set(error, TR_EPERM,
                         "peers: node %u is reached by TCP, which needs TLS (certificates or a "
                         "shared key), or \"insecure_network\"",
                         peer->node);
    return 0;
}

static int links_check(const struct node *node, const struct links_options *options,
                       struct error *error)
{
    if (options->cluster == NULL || strlen(options->cluster) >= WIRE_CLUSTER_MAX)
        return error_set(error, TR_EINVAL, "cluster: the name is missing or has over %u bytes",
                         WIRE_CLUSTER_MAX - 1);
    if (options->num_peers > LINKS_PEERS_MAX)
        return error_set(error, TR_ERANGE, "peers: %u is over %u", options->num_peers,
                         LINKS_PEERS_MAX);
    if (options->window_bytes > LINKS_WINDOW_BYTES_MAX)
        return error_set(error, TR_ERANGE, "window: over 2 GiB");
    for (uint32_t i = 0; i < options->num_listen; i++)
        if (options->listen[i].kind == ENDPOINT_TCP && options->security == NULL &&
            !options->insecure_network)
            return error_set(error, TR_EPERM,
                             "listening on TCP needs TLS (certificates or a shared key), or "
                             "\"insecure_network\"");
    int rc = 0;
    for (uint32_t i = 0; i < options->num_peers && rc == 0; i++)
        rc = check_peer(node, options, &options->peers[i], error);
    return rc;
}

static int copy_peers(struct links *links, const struct links_options *options, struct error *error)
{
    uint32_t count = options->num_peers;
    while (links->index_mask + 1 < 2 * count + 2)
        links->index_mask = 2 * links->index_mask + 1;
    links->peers = calloc(count + 1, sizeof *links->peers);
    links->table = calloc(count + 1, sizeof *links->table);
    links->index = calloc((size_t)links->index_mask + 1, sizeof *links->index);
    if (links->peers == NULL || links->table == NULL || links->index == NULL)
        return error_set(error, TR_ENOMEM, "links: out of memory");
    for (uint32_t i = 0; i < count; i++) {
        struct links_peer *peer = &links->peers[i];
        *peer = options->peers[i];
        /* The names are cleared before anything may fail: what links_destroy() frees is never the
         * caller's. */
        peer->host = peer->name = NULL;
        if (links_find(links, peer->node) != NULL)
            return error_set(error, TR_EINVAL, "peers: node %u is there twice", peer->node);
        if (options->peers[i].host != NULL && (peer->host = strdup(options->peers[i].host)) == NULL)
            return error_set(error, TR_ENOMEM, "links: out of memory");
        links->num_peers = i + 1; /* before all that may fail below: by this number it is freed */
        if (options->peers[i].name != NULL && (peer->name = strdup(options->peers[i].name)) == NULL)
            return error_set(error, TR_ENOMEM, "links: out of memory");
        int rc = link_init(&links->table[i], links, peer->node, peer);
        if (rc < 0)
            return error_set(error, rc, "links: out of memory");
        links_index(links, i);
    }
    return 0;
}

/* Each link has a connection that is up, one that begins (dialed, or greeted here before its place
 * is known) and one that is turned away. */
static size_t connection_bytes(uint32_t num_peers)
{
    size_t num_links = (size_t)num_peers + LINKS_OBSERVERS_MAX;
    return num_links * (LINK_WIRE_BYTES + 2 * GREETING_BYTES) +
           LINKS_HALF_OPEN_MAX * GREETING_BYTES;
}

static int copy_options(struct links *links, const struct links_options *options,
                        struct error *error)
{
    struct node *node = links->node;
    memcpy(links->cluster, options->cluster, strlen(options->cluster) + 1);
    links->schema_hash = wire_schema_hash(&node->kinds);
    links->nonce = node->env->ops->random(node->env);
    links->heartbeat_ns = options->heartbeat_ns != 0 ? options->heartbeat_ns : LINKS_HEARTBEAT_NS;
    uint64_t dead_ns = options->dead_ns != 0 ? options->dead_ns : LINKS_DEAD_NS;
    links->dead_ticks = (uint32_t)((dead_ns + links->heartbeat_ns - 1) / links->heartbeat_ns);
    links->window_bytes = options->window_bytes != 0 ? options->window_bytes : LINKS_WINDOW_BYTES;
    links->security = options->security;
    links->insecure_network = options->insecure_network;
    links->silent = options->silent;
    links->silent_arg = options->silent_arg;
    links->apart = options->apart;
    links->apart_arg = options->apart_arg;
    account_init(&links->observer_account, "observers", LINKS_OBSERVER_BYTES_MAX);
    account_init(&links->connection_account, "connections", connection_bytes(options->num_peers));
    links->by_loop = aligned_alloc(64, node->num_loops * sizeof *links->by_loop);
    links->listen = calloc(options->num_listen + 1, sizeof *links->listen);
    links->listeners = calloc(options->num_listen + 1, sizeof(struct stream *));
    if (links->by_loop == NULL || links->listen == NULL || links->listeners == NULL)
        return error_set(error, TR_ENOMEM, "links: out of memory");
    memset(links->by_loop, 0, node->num_loops * sizeof *links->by_loop);
    links->num_listen = options->num_listen;
    for (uint32_t i = 0; i < options->num_listen; i++)
        links->listen[i] = options->listen[i];
    /* The peers come last: their links take the window and the node from what is copied above. */
    return copy_peers(links, options, error);
}

static void drop_leftovers(struct router *router)
{
    struct links *links = links_of_router(router);
    for (uint32_t i = 0; i < links->num_peers; i++) {
        links->table[i].ended = true;
        link_turn_queue_around(&links->table[i], true);
    }
}

static void links_destroy(struct router *router)
{
    struct links *links = links_of_router(router);
    for (uint32_t i = 0; i < links->num_peers; i++) {
        free(links->table[i].downs);
        free((char *)(uintptr_t)links->peers[i].host);
        free((char *)(uintptr_t)links->peers[i].name);
    }
    while (links->observers != NULL) {
        struct link *observer = links->observers;
        links->observers = observer->next_observer;
        link_unref(observer);
    }
    /* The accounts go when nothing is charged to them any more, and the tables behind all that
     * stands in them. */
    account_fini(&links->observer_account);
    account_fini(&links->connection_account);
    free(links->by_loop);
    free(links->index);
    free(links->table);
    free(links->peers);
    free(links->listeners);
    free(links->listen);
    free(links);
}

int links_listening(struct node *node, uint32_t index, struct endpoint *endpoint)
{
    struct links *links = links_of(node);
    if (links == NULL || index >= links->num_listen || links->listeners[index] == NULL)
        return TR_ENOENT;
    *endpoint = links->listen[index];
    return 0;
}

uint32_t links_status(struct node *node, struct links_status *status, uint32_t most)
{
    struct links *links = links_of(node);
    if (links == NULL)
        return 0;
    uint64_t now_ns = env_now_ns(node->env);
    for (uint32_t i = 0; i < links->num_peers && i < most; i++) {
        const struct link_seen *seen = &links->table[i].seen;
        uint64_t heard_ns = counter_get(&seen->heard_ns);
        status[i] = (struct links_status){
            .node = links->table[i].node,
            .incarnation = (uint32_t)counter_get(&seen->incarnation),
            .state = (enum links_state)counter_get(&seen->state),
            .bytes_sent = counter_get(&seen->bytes_sent),
            .bytes_received = counter_get(&seen->bytes_received),
            .messages_sent = counter_get(&seen->messages_sent),
            .messages_received = counter_get(&seen->messages_received),
            .queued_bytes = counter_get(&seen->queued_bytes),
            .retained_bytes = counter_get(&seen->retained_bytes),
            .credit_bytes = counter_get(&seen->credit_bytes),
            .connections = counter_get(&seen->connections),
            .silent_ns = heard_ns != 0 && heard_ns < now_ns ? now_ns - heard_ns : 0,
        };
    }
    return links->num_peers;
}

uint32_t links_absent(struct node *node, struct links_absent *first)
{
    const struct links *links = links_of(node);
    uint32_t count = 0;
    for (uint32_t i = 0; links != NULL && i < links->num_peers; i++) {
        const struct link *link = &links->table[i];
        const char *name = link->peer->name;
        char where[ENDPOINT_TEXT_MAX];
        if (counter_get(&link->seen.connections) > 0 || count++ > 0)
            continue;
        endpoint_format(&link->peer->endpoint, where, sizeof where);
        first->node = link->node;
        snprintf(first->where, sizeof first->where, "%.60s%s%s", name != NULL ? name : "",
                 name != NULL ? ", " : "", where);
    }
    return count;
}

static void dump_one(struct node *node, const struct link *link)
{
    static const char *const states[] = { "down", "connecting", "up" };
    const struct link_seen *seen = &link->seen;
    log_write(node, LOG_LEVEL_INFO, "dump",
              "link %u incarnation %u %s: %llu messages sent, %llu received, %llu bytes "
              "queued, %llu not acknowledged, %llu of credit, %llu connections",
              link->node, (unsigned)counter_get(&seen->incarnation),
              states[counter_get(&seen->state)],
              (unsigned long long)counter_get(&seen->messages_sent),
              (unsigned long long)counter_get(&seen->messages_received),
              (unsigned long long)counter_get(&seen->queued_bytes),
              (unsigned long long)counter_get(&seen->retained_bytes),
              (unsigned long long)counter_get(&seen->credit_bytes),
              (unsigned long long)counter_get(&seen->connections));
}

static void links_dump(struct router *router)
{
    struct links *links = links_of_router(router);
    dump_account(links->node, &links->connection_account);
    dump_account(links->node, &links->observer_account);
    for (uint32_t i = 0; i < links->num_peers; i++)
        dump_one(links->node, &links->table[i]);
}

void links_counters(struct node *node, struct links_counters *counters)
{
    struct links *links = links_of(node);
    *counters = (struct links_counters){ 0 };
    if (links == NULL)
        return;
    counters->accepted = atomic_load(&links->accepted);
    counters->refused = atomic_load(&links->refused);
    counters->dropped_unproved = atomic_load(&links->dropped_unproved);
    counters->corrupt = atomic_load(&links->corrupt);
    counters->observers = atomic_load(&links->num_observers);
    counters->handshakes_most = atomic_load(&links->handshakes_most);
    for (uint32_t i = 0; i < 16; i++)
        counters->refused_by[i] = atomic_load(&links->refused_by[i]);
}

struct account *links_observer_account(struct node *node)
{
    struct links *links = links_of(node);
    return links != NULL ? &links->observer_account : NULL;
}

struct account *links_connection_account(struct node *node)
{
    struct links *links = links_of(node);
    return links != NULL ? &links->connection_account : NULL;
}

/* Credit of a link is posted when a quarter of the window came together; less comes with the next
 * acknowledgement. The sender still has three quarters then, and no message takes over a half. */
static void return_credit(struct loop *loop, struct message *message)
{
    struct links *links = links_of(loop->node);
    /* The flag is cleared first, so that no message gives its credit back twice. */
    message->frame.flags &= (uint8_t)~MESSAGE_CREDIT;
    const struct kind *kind = kinds_find(&loop->node->kinds, message->frame.kind);
    uint64_t cost = wire_cost(kind, message->frame.body_bytes);
    /* Observers come first: the table has no link of theirs, and an account bounds all of them. */
    if (message->frame.from.node >= NODE_OBSERVERS) {
        account_release(&links->observer_account, cost);
        return;
    }
    struct link *link = links_find(links, message->frame.from.node);
    if (link == NULL)
        return;
    if ((message->frame.flags & MESSAGE_DATA) == 0) {
        atomic_fetch_sub_explicit(&link->control_held, cost, memory_order_relaxed);
        return;
    }
    uint64_t before = atomic_load_explicit(&link->returned, memory_order_relaxed);
    do {
        /* A life that is over gets nothing. Relaxed: the number is all that is passed on. */
        if (before >> 32 != message->frame.from.incarnation)
            return;
    } while (!atomic_compare_exchange_weak_explicit(&link->returned, &before, before + cost,
                                                    memory_order_relaxed, memory_order_relaxed));
    /* The note comes behind the sum, which it takes. */
    if ((uint32_t)before + cost >= links->window_bytes / 4)
        link_note(link);
}

static void send_message(struct loop *loop, struct message *message)
{
    struct link *link = find_on(loop, message->frame.to.node);
    /* A link that has ended is asked for before the queue: nothing would answer what is put
     * there. */
    if (link != NULL && !link->ended) {
        link_send(link, message);
        return;
    }
    counter_add(&loop->stale, 1);
    loop_bounce(loop, message, TR_EPEERDOWN);
}

static void links_flush(struct loop *loop)
{
    struct links_loop *on = links_on(loop, links_of(loop->node));
    struct link *link = on->dirty;
    /* The list, the duty and each flag are cleared before the work, and `next` is read before it: a
     * link that has more to write than a turn takes is marked again by link_flush, for the next
     * turn. */
    on->dirty = NULL;
    loop->router_due &= ~(unsigned)ROUTER_FLUSH;
    while (link != NULL) {
        struct link *next = link->next_dirty;
        struct actor *self = link->self;
        link->dirty = false;
        if (self != NULL) {
            link_flush(link);
            actor_settle(self);
        }
        link = next;
    }
}

static const struct router_ops links_router_ops = {
    .knows = links_knows,
    .send = send_message,
    .run_downs = links_run_downs,
    .flush = links_flush,
    .deliver_downs = links_deliver_downs,
    .return_credit = return_credit,
    .dump = links_dump,
    .drop_leftovers = drop_leftovers,
    .destroy = links_destroy,
};

struct links *links_of(const struct node *node)
{
    struct router *router = node->router;
    return router != NULL && router->ops == &links_router_ops ? links_of_router(router) : NULL;
}

/* Comes up without injected failures, as the node does. */
static int links_spawn(struct links *links, struct error *error)
{
    struct loop *loop = &links->node->loops[0];
    struct actor_options actor = { .ops = &links_ops, .arg = links };
    struct address address;
    bool simulated = loop->simulated;
    loop->simulated = false;
    int rc = node_spawn_first(links->node, &actor, &address, &links->self);
    loop->simulated = simulated;
    /* The router comes behind its actor: from here on the node owns the links and destroys them
     * (links_create). */
    if (rc == 0)
        node_attach_router(links->node, &links->router);
    return rc < 0 ? error_set(error, rc, "links: %s", tr_strerror(rc)) : 0;
}

int links_create(struct node *node, const struct links_options *options, struct error *error)
{
    assert(!node->started && node->router == NULL);
    int rc = links_check(node, options, error);
    if (rc < 0)
        return rc;
    struct links *links = calloc(1, sizeof *links);
    if (links == NULL)
        return error_set(error, TR_ENOMEM, "links: out of memory");
    links->router.ops = &links_router_ops;
    links->node = node;
    rc = copy_options(links, options, error);
    if (rc < 0)
        goto err_after_links;
    rc = links_spawn(links, error);
    if (rc < 0)
        goto err_after_links;
    /* The router is the node's by now, so a failure from here on frees nothing: node_destroy
     * does. */
    rc = links_listen(links, error);
    while (rc == TR_EEXIST && options->busy != NULL && options->busy(options->busy_arg, error)) {
        *error = (struct error){ 0 };
        rc = links_listen(links, error);
    }
    return rc;

err_after_links:
    links_destroy(&links->router);
    return rc;
}
