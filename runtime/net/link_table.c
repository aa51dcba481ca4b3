/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a node's links: which link a node number has, and how long a link lives.
 *
 * Invariants: the table and its index never change after links_create, so any thread reads them
 * without a lock. The index has more than twice as many places as there are peers, so a search ends
 * at an empty one. A link of the table lives as long as the table; one of an observer lives until
 * its last reference is given up, since a post may still be on its way to a link that has ended.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/log.h"
#include "runtime/net/link_impl.h"

/* Refusals of a kind that was said before are said so often at most, of all kinds together. */
#define REFUSAL_SAID_NS UINT64_C(60000000000)

static uint32_t scatter(uint32_t node)
{
    return node * 2654435761u; /* Knuth's multiplicative hash */
}

struct link *links_find(struct links *links, uint32_t node)
{
    for (uint32_t at = scatter(node) & links->index_mask; links->index[at] != 0;
         at = (at + 1) & links->index_mask) {
        struct link *link = &links->table[links->index[at] - 1];
        if (link->node == node)
            return link;
    }
    return NULL;
}

void links_index(struct links *links, uint32_t place)
{
    uint32_t at = scatter(links->table[place].node) & links->index_mask;
    while (links->index[at] != 0)
        at = (at + 1) & links->index_mask;
    links->index[at] = place + 1;
}

int link_init(struct link *link, struct links *links, uint32_t node, const struct links_peer *peer)
{
    *link = (struct link){ .links = links, .node = node, .peer = peer };
    link->loop = &links->node->loops[node % links->node->num_loops];
    link->peer_window = links->window_bytes;
    link->last_large = WIRE_BULK;
    link->retry_ns = LINK_RETRY_FIRST_NS;
    atomic_init(&link->references, 1);
    link->downs = calloc(links->node->num_loops, sizeof *link->downs);
    return link->downs != NULL ? 0 : TR_ENOMEM;
}

void link_unref(struct link *link)
{
    /* acq_rel: all uses by other holders happen before the one that frees. Those of the table are
     * freed with it. */
    if (atomic_fetch_sub_explicit(&link->references, 1, memory_order_acq_rel) == 1) {
        free(link->downs);
        free(link);
    }
}

void links_count_refusal(struct links *links, uint32_t refusal, const char *who, const char *why,
                         bool by_us)
{
    if (refusal >= LINKS_REFUSALS_COUNT)
        refusal = LINKS_REFUSED_MALFORMED;
    if (why == NULL)
        why = wire_refusal_text(refusal);
    uint64_t before = atomic_fetch_add(&links->refused, 1);
    uint64_t same_before = atomic_fetch_add(&links->refused_by[refusal], 1);
    uint64_t now_ns = env_now_ns(links->node->env), due_ns = atomic_load(&links->refusal_due_ns);
    /* The first of each kind, then one each minute, so that neither a peer that tries again and
     * again nor a stranger can fill the log. */
    if (same_before != 0 &&
        (now_ns < due_ns || !atomic_compare_exchange_strong(&links->refusal_due_ns, &due_ns,
                                                            now_ns + REFUSAL_SAID_NS)))
        return;
    if (same_before == 0)
        atomic_store(&links->refusal_due_ns, now_ns + REFUSAL_SAID_NS);
    char more[48] = "";
    if (same_before != 0)
        snprintf(more, sizeof more, " (refused so far: %llu)", (unsigned long long)before + 1);
    log_write(links->node, LOG_LEVEL_WARN, "links",
              by_us ? "refused a connection from %s: %s%s" : "%s refused our connection: %s%s", who,
              why, more);
}
