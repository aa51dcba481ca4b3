/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision: the children of an actor, their ends and their restarts.
 *
 * Invariants:
 *   - Children stand in the order of their spawning, oldest to youngest. They end in the reverse
 *     order and one at a time: the next one is asked when the one before has reported its end, so a
 *     child may use its older siblings until it is gone.
 *   - child->actor is set from actor_create until the end was reported on the parent's loop; NULL:
 *     the child is down and waits for its siblings (one for all).
 *   - While restarting_all is set no child is started; the last end clears it and starts all.
 *   - A parent that drains or ends starts no child. A child that its parent dismissed never starts
 *     again, whatever its policy.
 *   - A restart is counted before it is tried, so one that finds no memory counts too, and the loop
 *     that tries again is bounded by max_restarts.
 */
#include "runtime/core/supervisor.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/log.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/run_queue.h"

static const struct supervisor_options defaults = {
    .strategy = SUPERVISOR_ONE_FOR_ONE,
    .max_restarts = 5,
    .period_ns = UINT64_C(10000000000),
};

static struct supervision *supervision_of(struct actor *parent)
{
    if (parent->supervision == NULL) {
        parent->supervision = calloc(1, sizeof *parent->supervision);
        if (parent->supervision != NULL)
            parent->supervision->options = defaults;
    }
    return parent->supervision;
}

int actor_supervise(struct actor *self, const struct supervisor_options *options)
{
    if (options->max_restarts > SUPERVISOR_RESTARTS_MAX || options->period_ns == 0)
        return TR_ERANGE;
    struct supervision *supervision = supervision_of(self);
    if (supervision == NULL)
        return TR_ENOMEM;
    supervision->options = *options;
    return 0;
}

struct child *child_create(const struct actor_options *options)
{
    struct child *child = calloc(1, sizeof *child);
    if (child == NULL)
        return NULL;
    child->options = *options;
    snprintf(child->name, sizeof child->name, "%s",
             options->name != NULL ? options->name : options->ops->name);
    child->options.name = child->name;
    return child;
}

void supervisor_adopt(struct actor *parent, struct child *child, bool first)
{
    if (first && parent->oldest != NULL) {
        child->younger = parent->oldest;
        parent->oldest->older = child;
        parent->oldest = child;
        return;
    }
    child->older = parent->youngest;
    if (parent->youngest != NULL)
        parent->youngest->younger = child;
    else
        parent->oldest = child;
    parent->youngest = child;
}

static void supervisor_forget(struct actor *parent, struct child *child)
{
    if (child->older != NULL)
        child->older->younger = child->younger;
    else
        parent->oldest = child->younger;
    if (child->younger != NULL)
        child->younger->older = child->older;
    else
        parent->youngest = child->older;
    free(child);
}

void supervisor_fini(struct actor *parent)
{
    while (parent->youngest != NULL)
        supervisor_forget(parent, parent->youngest);
    free(parent->supervision);
    parent->supervision = NULL;
}

int actor_spawn(struct actor *self, const struct actor_options *options, struct address *address)
{
    if (self->phase >= ACTOR_DRAINING)
        return TR_ECLOSED;
    if (options->loop >= self->loop->node->num_loops)
        return TR_ERANGE;
    struct child *child = supervision_of(self) != NULL ? child_create(options) : NULL;
    if (child == NULL)
        return TR_ENOMEM;
    struct loop *loop = &self->loop->node->loops[options->loop];
    int rc = actor_create(loop, &child->options, self, &child->actor);
    if (rc < 0) {
        free(child);
        return rc;
    }
    /* In any order with the installing: the child's end arrives as a post to this loop, later. */
    supervisor_adopt(self, child, false);
    *address = child->actor->address;
    actor_install(child->actor, self->loop);
    return 0;
}

static void supervisor_tell(struct child *child, bool kill)
{
    if (child->actor == NULL)
        return;
    /* Each post is made once, since it is a part of the actor and may still be in an inbox. A child
     * that was asked to stop may be killed all the same. */
    if (kill && !child->killed)
        actor_post_kill(child->actor);
    else if (!kill && !child->stopping)
        actor_post_stop(child->actor);
    child->stopping = true;
    child->killed = child->killed || kill;
}

bool supervisor_dismiss(struct actor *parent, struct address who)
{
    for (struct child *child = parent->oldest; child != NULL; child = child->younger)
        if (child->actor != NULL && address_equal(child->actor->address, who)) {
            child->dismissed = true;
            supervisor_tell(child, false);
            return true;
        }
    return false;
}

bool supervisor_stop_children(struct actor *parent, bool kill)
{
    /* Only the youngest that lives is asked: the next one follows when its end is reported. */
    for (struct child *child = parent->youngest; child != NULL; child = child->older)
        if (child->actor != NULL) {
            supervisor_tell(child, kill);
            return true;
        }
    return false;
}

/* The rule of Erlang/OTP's supervisors: more than max_restarts within the period is a failure that
 * a restart does not mend. */
static bool may_restart(struct supervision *supervision, uint64_t now_ns)
{
    uint32_t max = supervision->options.max_restarts;
    if (max == 0)
        return false;
    if (supervision->num_times >= max) {
        uint32_t oldest = (supervision->next_time + SUPERVISOR_RESTARTS_MAX - max) %
                          SUPERVISOR_RESTARTS_MAX;
        if (now_ns - supervision->times_ns[oldest] < supervision->options.period_ns)
            return false;
    }
    /* The restart is counted before it is tried, as the invariants say. */
    supervision->times_ns[supervision->next_time] = now_ns;
    supervision->next_time = (supervision->next_time + 1) % SUPERVISOR_RESTARTS_MAX;
    if (supervision->num_times < SUPERVISOR_RESTARTS_MAX)
        supervision->num_times++;
    return true;
}

/* Starts a child again, of which the restart was counted. One that finds no memory is tried again,
 * and counts as one more. */
static int supervisor_start(struct actor *parent, struct child *child)
{
    struct loop *loop = &parent->loop->node->loops[child->options.loop];
    for (;;) {
        int rc = actor_create(loop, &child->options, parent, &child->actor);
        if (rc == 0)
            break;
        if (!may_restart(parent->supervision, parent->loop->now_ns))
            return rc;
    }
    /* The marks belong to the last life: this one has been asked nothing yet. */
    child->stopping = child->killed = false;
    counter_add(&parent->loop->restarts, 1);
    actor_install(child->actor, parent->loop);
    return 0;
}

static int supervisor_restart(struct actor *parent, struct child *child, int reason)
{
    if (!may_restart(parent->supervision, parent->loop->now_ns))
        return reason;
    return supervisor_start(parent, child);
}

/* One for all: the rest ends, youngest first; then all start again, oldest first. */
static int restart_all(struct actor *parent, int reason)
{
    /* The mark comes first: by it supervisor_decide() leads each end that follows back here, until
     * no child lives. */
    parent->supervision->restarting_all = true;
    if (supervisor_stop_children(parent, true))
        return 0;
    parent->supervision->restarting_all = false;
    /* This is asked when all are down: the restart of all counts once, not once a child. */
    if (!may_restart(parent->supervision, parent->loop->now_ns))
        return reason < 0 ? reason : TR_ECANCELED;
    /* The oldest comes first, as at their spawning: a younger child counts on its older
     * siblings. */
    int rc = 0;
    for (struct child *child = parent->oldest; child != NULL && rc == 0; child = child->younger)
        rc = supervisor_start(parent, child);
    return rc;
}

static int supervisor_decide(struct actor *parent, struct child *child, int reason)
{
    enum actor_restart policy = child->options.restart;
    if (supervision_of(parent) == NULL) /* the root actor adopts, it never spawned */
        return TR_ENOMEM;
    /* The parent's wish comes before the policy; a restart of all goes on without this child. */
    if (child->dismissed) {
        supervisor_forget(parent, child);
        return parent->supervision->restarting_all ? restart_all(parent, reason) : 0;
    }
    /* This comes before the policy: the restart of all ended the child, which starts again with the
     * others whatever its own policy says of an end. */
    if (parent->supervision->restarting_all)
        return restart_all(parent, reason);
    /* This comes before the strategy: a child that is not to start again ends none of its
     * siblings. */
    if (policy == ACTOR_RESTART_NEVER || (policy == ACTOR_RESTART_ON_FAILURE && reason == 0)) {
        supervisor_forget(parent, child);
        if (parent->parent_ops != NULL)
            parent->parent_ops->child_ended(parent, reason);
        return 0;
    }
    if (parent->supervision->options.strategy == SUPERVISOR_ONE_FOR_ALL)
        return restart_all(parent, reason);
    return supervisor_restart(parent, child, reason < 0 ? reason : TR_ECANCELED);
}

void supervisor_child_ended(struct actor *parent, struct actor *ended)
{
    struct child *child = parent->oldest;
    while (child->actor != ended)
        child = child->younger;
    /* This comes first: the actor is given up when this returns, and a child that has an actor
     * counts as living. */
    child->actor = NULL;
    /* An ending parent only waits for this end: it starts no child, whatever the policy. */
    if (parent->phase >= ACTOR_DRAINING || parent->exiting) {
        supervisor_forget(parent, child);
        actor_advance(parent);
        return;
    }
    int rc = supervisor_decide(parent, child, ended->reason);
    if (rc < 0) {
        actor_exit(parent, rc);
        /* The parent's own turn settles it: this post returns no actor for the loop to settle. */
        loop_queue(parent->loop, parent);
    }
}
