/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/timer.h"

#include <stddef.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"
#include "runtime/core/timers.h"

/*
 * In the heap `child` is the first of a list through `sibling`; `before` is the parent for a
 * first child and the sibling before it for the others.
 */

static bool is_earlier(const struct timer *a, const struct timer *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static struct timer *meld(struct timer *a, struct timer *b)
{
    if (a == NULL)
        return b;
    if (b == NULL)
        return a;
    if (is_earlier(b, a)) {
        struct timer *swap = a;
        a = b;
        b = swap;
    }
    b->before = a;
    b->sibling = a->child;
    if (a->child != NULL)
        a->child->before = b;
    a->child = b;
    return a;
}

/* Pairs from left to right, then melds the pairs from right to left, without recursion: the
 * pairs are stacked through `before`. */
static struct timer *merge_siblings(struct timer *timer)
{
    struct timer *stack = NULL;
    while (timer != NULL) {
        struct timer *a = timer;
        struct timer *b = a->sibling;
        timer = b != NULL ? b->sibling : NULL;
        a->sibling = a->before = NULL;
        if (b != NULL)
            b->sibling = b->before = NULL;
        struct timer *pair = meld(a, b);
        pair->before = stack;
        stack = pair;
    }
    struct timer *root = NULL;
    while (stack != NULL) {
        struct timer *below = stack->before;
        stack->before = NULL;
        root = meld(root, stack);
        stack = below;
    }
    return root;
}

void timers_insert(struct timers *timers, struct timer *timer)
{
    timer->order = timers->started++;
    timer->child = timer->sibling = timer->before = NULL;
    timers->first = meld(timers->first, timer);
}

void timers_remove(struct timers *timers, struct timer *timer)
{
    struct timer *children = merge_siblings(timer->child);
    timer->child = NULL;
    if (timer == timers->first) {
        timers->first = children;
        return;
    }
    if (timer->before->child == timer)
        timer->before->child = timer->sibling;
    else
        timer->before->sibling = timer->sibling;
    if (timer->sibling != NULL)
        timer->sibling->before = timer->before;
    timer->sibling = timer->before = NULL;
    timers->first = meld(timers->first, children);
}

/* In the simulator somewhat later than asked for, as on a busy machine. */
static uint64_t fire_time(struct loop *loop, uint64_t at_ns)
{
    if (!loop->simulated || loop->env->ops->timer_late_ns == NULL)
        return at_ns;
    uint64_t late_ns = loop->env->ops->timer_late_ns(loop->env);
    return at_ns < UINT64_MAX - late_ns ? at_ns + late_ns : at_ns;
}

void timer_start(struct actor *self, struct timer *timer, uint64_t at_ns,
                 void (*fire)(struct actor *self, void *arg), void *arg)
{
    /* The timer is stopped first: a started one is moved, and stands in each list once. */
    timer_stop(timer);
    if (self->phase >= ACTOR_ENDING)
        return;
    timer->at_ns = fire_time(self->loop, at_ns);
    timer->fire = fire;
    timer->arg = arg;
    timer->actor = self;
    timer->actor_before = NULL;
    timer->actor_next = self->timers;
    if (self->timers != NULL)
        self->timers->actor_before = timer;
    self->timers = timer;
    timers_insert(&self->loop->timers, timer);
}

void timer_stop(struct timer *timer)
{
    struct actor *actor = timer->actor;
    if (actor == NULL)
        return;
    timers_remove(&actor->loop->timers, timer);
    if (timer->actor_before != NULL)
        timer->actor_before->actor_next = timer->actor_next;
    else
        actor->timers = timer->actor_next;
    if (timer->actor_next != NULL)
        timer->actor_next->actor_before = timer->actor_before;
    timer->actor = NULL;
}
