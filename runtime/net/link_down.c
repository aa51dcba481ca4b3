/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An incarnation is down: each loop completes the calls and monitors that wait for it, and forgets
 * its watchers.
 *
 *     link_tell_down          on the link's loop: takes a note, and one reference a loop
 *     links_deliver_downs     there, when the outboxes have moved: posts to all loops
 *     run                     on each loop, out of its inbox: takes a note
 *     links_run_downs         there, at the end of the turn: does the work
 *
 * Invariants:
 *   - A post of a down is behind all messages of the dead that this link handed to that loop, and
 *     its work is done at the end of the turn that took both, so a loop never delivers a message of
 *     an incarnation after it reported its death.
 *   - The posts of a link are used again only when downs_open is 0, and until then the link begins
 *     no session: no message of the next life overtakes the death of the one before.
 */
#include "runtime/net/link_impl.h"

/* Requests to whichever incarnation lives there (0) are down too. */
static bool is_of(struct address address, uint32_t node, uint32_t incarnation)
{
    return address.node == node && (address.incarnation == incarnation || address.incarnation == 0);
}

static void complete_calls(struct loop *loop, uint32_t node, uint32_t incarnation)
{
    struct calls *calls = &loop->calls;
    for (uint32_t i = 0; i < calls->num_chunks * CALLS_CHUNK; i++) {
        struct call *call = &calls->chunks[i / CALLS_CHUNK][i % CALLS_CHUNK];
        struct actor *actor = call->actor;
        if (actor == NULL || !is_of(call->to, node, incarnation))
            continue;
        /* The actor was read before: the place of the call is free, or another call's, after
         * this. */
        call_complete(call, TR_EPEERDOWN, NULL);
        actor_settle(actor);
    }
}

static void forget_watchers(struct actor *actor, uint32_t node, uint32_t incarnation)
{
    for (struct message **at = &actor->watchers; *at != NULL;) {
        struct message *request = *at;
        if (request->frame.from.node != node || request->frame.from.incarnation != incarnation) {
            at = &request->next;
            continue;
        }
        *at = request->next;
        loop_free_message(actor->loop, request);
    }
}

static void forget_all_watchers(struct loop *loop, uint32_t node, uint32_t incarnation)
{
    const struct slots *slots = &loop->inbox.slots;
    for (uint32_t i = 0; i < slots->actors_capacity; i++)
        if (slots->actors[i] != NULL)
            forget_watchers(slots->actors[i], node, incarnation);
}

static struct actor *run(struct loop *loop, struct post *post)
{
    struct links_loop *on = links_on(loop, ((struct link_down_post *)(void *)post)->link->links);
    post->next = on->downs;
    on->downs = post;
    loop->router_due |= ROUTER_RUN_DOWNS;
    return NULL;
}

void links_run_downs(struct loop *loop)
{
    struct links_loop *on = links_on(loop, links_of_router(loop->node->router));
    struct post *post = on->downs;
    on->downs = NULL;
    loop->router_due &= ~(unsigned)ROUTER_RUN_DOWNS;
    while (post != NULL) {
        struct post *next = post->next;
        struct link *link = ((struct link_down_post *)(void *)post)->link;
        /* Calls and watchers may go in any order: a DOWN that an actor sends here to the dead is
         * dropped by its link. */
        complete_calls(loop, link->node, link->down_incarnation);
        forget_all_watchers(loop, link->node, link->down_incarnation);
        /* Release: the link's loop reuses the posts when it sees 0. So this stands behind the work,
         * and `next` is read before it. The link may be gone after its reference is. */
        atomic_fetch_sub_explicit(&link->downs_open, 1, memory_order_acq_rel);
        link_unref(link);
        post = next;
    }
}

void link_tell_down(struct link *link, uint32_t incarnation)
{
    uint32_t num_loops = link->loop->node->num_loops;
    link->down_incarnation = incarnation;
    /* Both counts stand before the posts go, each of which takes one off. */
    atomic_store(&link->downs_open, num_loops);
    struct links_loop *on = links_on(link->loop, link->links);
    link->next_delivering = on->delivering;
    on->delivering = link;
    link->loop->router_due |= ROUTER_DELIVER_DOWNS;
    atomic_fetch_add(&link->references, num_loops);
}

void links_deliver_downs(struct loop *loop)
{
    struct links_loop *on = links_on(loop, links_of_router(loop->node->router));
    loop->router_due &= ~(unsigned)ROUTER_DELIVER_DOWNS;
    while (on->delivering != NULL) {
        struct link *link = on->delivering;
        on->delivering = link->next_delivering;
        for (uint32_t i = 0; i < loop->node->num_loops; i++) {
            link->downs[i].link = link;
            link->downs[i].post.run = run;
            /* The turn runs this behind its outboxes (loop_turn), so each post is behind the last
             * messages of the dead. */
            loop_post(&loop->node->loops[i], &link->downs[i].post);
        }
    }
}
