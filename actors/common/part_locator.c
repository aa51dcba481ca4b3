/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for a server of a partition.
 *
 *     not known --find--> one server after the other --found--> known --lost--> not known
 *
 * Invariants: at most one search a partition is under way (`finding`), with the deadline of the
 * find that began it; its end notifies all that wait, each once. A wait stands on the list from
 * part_locator_find until it is notified or stopped. `found` never runs inside part_locator_find,
 * since the first look is a timer's. An address that is known stays until its own server is lost.
 */
#include "actors/common/part_locator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Servers of one partition that are tried: more serve no purpose. */
#define REPLICAS_MAX 64u

/* So long a server is looked for before the next one is, doubled with each round: a connection is
 * made in milliseconds, also to a process that was just started. */
#define LOOK_NS UINT64_C(500000000)
#define LOOK_DOUBLINGS_MAX 4u

/* The pause after a round in which nobody was found, doubled each time. */
#define PAUSE_NS UINT64_C(5000000)
#define PAUSE_DOUBLINGS_MAX 7u

static uint32_t part_of(const struct part_location *owner)
{
    return (uint32_t)(owner - owner->owners->parts);
}

void server_part_name(uint32_t part, char name[DIRECTORY_NAME_MAX])
{
    snprintf(name, DIRECTORY_NAME_MAX, "part/%" PRIu32, part);
}

static uint32_t own_node(const struct part_locator *owners)
{
    return actor_address(owners->self).node;
}

static uint32_t replicas(const struct part_location *owner, uint32_t nodes[REPLICAS_MAX])
{
    const struct part_locator *o = owner->owners;
    nodes[0] = own_node(o);
    if (o->plan == NULL)
        return 1;
    if (o->owners_alone) {
        uint32_t node = plan_part_owner(o->plan, part_of(owner));
        nodes[0] = node != PLAN_NO_NODE ? node : nodes[0];
        return 1;
    }
    uint32_t count = plan_part_nodes(o->plan, part_of(owner), nodes[0], nodes, REPLICAS_MAX);
    return count < REPLICAS_MAX ? count : REPLICAS_MAX;
}

static uint64_t doubled(uint64_t ns, uint32_t times, uint32_t most)
{
    return ns << (times < most ? times : most);
}

static void look(struct actor *self, void *arg);

void part_locator_wait_stop(struct part_locator_wait *wait)
{
    if (wait->link == NULL)
        return;
    *wait->link = wait->next;
    if (wait->next != NULL)
        wait->next->link = wait->link;
    wait->next = NULL;
    wait->link = NULL;
}

static void add_wait(struct part_location *owner, struct part_locator_wait *wait)
{
    struct part_locator_wait **end = &owner->first;
    while (*end != NULL)
        end = &(*end)->next;
    wait->next = NULL;
    wait->link = end;
    *end = wait;
}

/* Those that wait are taken off the list of the partition first: one that is notified may wait
 * anew, for another search, and may stop others. */
static void settle(struct part_location *owner, int status, struct address address)
{
    /* The address is there before anyone hears of it, and asks for it. */
    struct part_locator_wait *first = owner->first;
    owner->finding = false;
    owner->address = address;
    owner->misses = 0;
    owner->first = NULL;
    if (first != NULL)
        first->link = &first;
    while (first != NULL) {
        struct part_locator_wait *wait = first;
        /* The wait is off the list before it is notified: that may free it, or use it again. */
        part_locator_wait_stop(wait);
        wait->found(wait, status);
    }
}

static void look_at_next(struct part_location *owner, uint32_t count)
{
    struct actor *self = owner->owners->self;
    owner->turn = (owner->turn + 1) % count;
    owner->misses++;
    /* The miss is counted before the pause is chosen: the round ends with its last server, and only
     * a whole round in vain is followed by a pause. */
    uint64_t pause = owner->misses < count
                         ? 0
                         : doubled(PAUSE_NS, owner->misses / count - 1, PAUSE_DOUBLINGS_MAX);
    timer_start(self, &owner->timer, actor_now_ns(self) + pause, look, owner);
}

static void looked(struct actor *self, void *arg, int status, struct address address)
{
    struct part_location *owner = arg;
    uint32_t nodes[REPLICAS_MAX];
    (void)self;
    if (status == 0)
        settle(owner, 0, address);
    else if (status != TR_ECANCELED) /* the actor ends */
        look_at_next(owner, replicas(owner, nodes));
}

static void look(struct actor *self, void *arg)
{
    struct part_location *owner = arg;
    uint32_t nodes[REPLICAS_MAX], count = replicas(owner, nodes);
    uint64_t now_ns = actor_now_ns(self), until_ns = owner->until_ns;
    char name[DIRECTORY_NAME_MAX];
    /* The deadline is asked for before the next server: the search ends here, whichever server it
     * came to. */
    if (now_ns >= until_ns) {
        settle(owner, TR_ETIMEDOUT, ADDRESS_NONE);
        return;
    }
    if (count > 1) {
        uint64_t next_ns = now_ns + doubled(LOOK_NS, owner->misses / count, LOOK_DOUBLINGS_MAX);
        until_ns = next_ns < until_ns ? next_ns : until_ns;
    }
    owner->turn %= count;
    server_part_name(part_of(owner), name);
    if (directory_wait_at(self, nodes[owner->turn], name, until_ns, looked, owner) != 0)
        look_at_next(owner, count);
}

int part_locator_init(struct part_locator *owners, struct actor *self, const struct plan *plan,
                      uint32_t num_parts)
{
    *owners = (struct part_locator){ .self = self, .plan = plan, .num_parts = num_parts };
    owners->parts = calloc((size_t)num_parts + 1, sizeof *owners->parts);
    if (owners->parts == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; p < num_parts; p++)
        owners->parts[p].owners = owners;
    return 0;
}

void part_locator_fini(struct part_locator *owners)
{
    for (uint32_t p = 0; owners->parts != NULL && p < owners->num_parts; p++)
        timer_stop(&owners->parts[p].timer);
    free(owners->parts);
    owners->parts = NULL;
}

void part_locator_find(struct part_locator *owners, uint32_t part, uint64_t deadline_ns,
                       struct part_locator_wait *wait)
{
    struct part_location *owner = &owners->parts[part];
    add_wait(owner, wait); /* also to a search that is under way, whose end notifies all */
    if (owner->finding)
        return;
    owner->finding = true;
    owner->until_ns = deadline_ns;
    timer_start(owners->self, &owner->timer, actor_now_ns(owners->self), look, owner);
}

void part_locator_lost(struct part_locator *owners, uint32_t part, struct address who, int status)
{
    struct part_location *owner = &owners->parts[part];
    uint32_t nodes[REPLICAS_MAX], count = replicas(owner, nodes);
    bool lost = status == TR_EPEERDOWN || (status == TR_ETIMEDOUT && count > 1);
    /* The address is compared too: a late answer of the server before says nothing of the present
     * one. */
    if (!lost || !address_equal(owner->address, who))
        return;
    owner->address = ADDRESS_NONE;
    /* One of this process that died is started again at once, where it is nearest. */
    if (who.node != own_node(owners) || status == TR_ETIMEDOUT)
        owner->turn = (owner->turn + 1) % count;
}
