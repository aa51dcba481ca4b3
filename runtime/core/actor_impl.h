/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An actor as its loop sees it, and the steps of its life.
 *
 * Thread rules: its loop alone, except between allocation and the post that installs it, and
 * after the post that reports its end to the parent's loop, when it belongs to that.
 */
#ifndef RUNTIME_CORE_ACTOR_IMPL_H
#define RUNTIME_CORE_ACTOR_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/core/actor.h"
#include "runtime/core/post.h"
#include "runtime/core/runtime_messages.h"
#include "runtime/core/supervisor.h"
#include "runtime/core/timer.h"

struct account_wait;
struct call;
struct job;
struct stream;

enum actor_phase {
    ACTOR_STARTING, /* start was not called yet; messages wait */
    ACTOR_RUNNING,
    ACTOR_DRAINING, /* an orderly stop was asked */
    ACTOR_ENDING,   /* receives nothing more; waits for its children and jobs */
};

/* A parent remembers this of a child. The actor stays allocated until its end was reported. */
struct child {
    struct child *older, *younger;
    struct actor_options options;
    char name[ACTOR_NAME_MAX];
    struct actor *actor;   /* NULL: down, waits for its siblings */
    bool stopping, killed; /* what it was asked to do */
    bool dismissed;        /* by the parent's own wish: it does not start again */
};

struct supervision {
    struct supervisor_options options;
    uint64_t times_ns[SUPERVISOR_RESTARTS_MAX]; /* of the last restarts, a ring */
    uint32_t num_times, next_time;
    bool restarting_all;
};

/* The work of a parent beyond supervising: the node's root alone, whose children come from other
 * threads and whose children's failures end the node. */
struct parent_ops {
    /* Before the parent ends: are children on their way to it? */
    bool (*awaits_child)(struct actor *parent);
    /* A child ended for good, with this reason. */
    void (*child_ended)(struct actor *parent, int reason);
};

struct actor {
    struct actor *run_next; /* the loop's queue of actors with something to do */
    struct loop *loop;
    struct address address;
    const struct actor_ops *ops;
    const void *arg;
    void *state;
    struct messages control, data;
    size_t mailbox_bytes, mailbox_bytes_max;
    struct timer *timers;
    struct call *calls;
    struct job *jobs;
    struct stream *streams;
    struct account_wait *waits; /* for room in accounts */
    struct message *watchers;   /* monitor requests, answered at the end */
    struct child *oldest, *youngest;
    struct supervision *supervision;     /* made with the first child */
    struct actor *parent;                /* outlives it; NULL: the node's own root */
    const struct parent_ops *parent_ops; /* of the root; else NULL */
    struct post post;                    /* installs it, later reports its end */
    struct post stop_post, kill_post;    /* of the parent, once each: they need no memory */
    /* One for its life, one for each of those two posts under way. */
    atomic_uint references;
    int reason;
    enum actor_phase phase;
    bool queued, started, exiting, killed, stop_called, finished;
    uint64_t received;
    char name[ACTOR_NAME_MAX];
};

/* Allocates an actor and claims its slot on that loop; any thread. parent NULL: the root. */
int actor_create(struct loop *loop, const struct actor_options *options, struct actor *parent,
                 struct actor **actor);

/* Lets it live: at once when `from`, the loop we are on, is its own, since messages on the same
 * loop would overtake a post; else (NULL: no loop) by a post, before anybody knows its address. */
void actor_install(struct actor *actor, struct loop *from);

/* The parent asks, from its loop. */
void actor_post_stop(struct actor *actor);
void actor_post_kill(struct actor *actor);

/* One turn: starts it, or hands it up to `messages` messages. True: it has more to do. */
bool actor_turn(struct actor *actor, uint32_t messages);

/* After every callback: begins the end when there is a reason to. False: the actor is gone. */
bool actor_settle(struct actor *actor);

/* A child ended or a job completed: goes on with a stop or an end that waited for it. */
bool actor_advance(struct actor *actor);

/* A KILL has arrived. */
void actor_be_killed(struct actor *actor, int reason);

/* supervisor.c: takes over an actor that was created with this parent, as its youngest child or
 * (first) its oldest, which ends last. */
void supervisor_adopt(struct actor *parent, struct child *child, bool first);
struct child *child_create(const struct actor_options *options);

/* A child's end, on its parent's loop. */
void supervisor_child_ended(struct actor *parent, struct actor *ended);

/* Asks this child for an orderly stop, for good; false: it is no (living) child of the parent. */
bool supervisor_dismiss(struct actor *parent, struct address who);

/* Has the youngest child stop (or all killed, youngest first); false: no child lives. */
bool supervisor_stop_children(struct actor *parent, bool kill);
void supervisor_fini(struct actor *parent);

/* account.c: leaves all lines it stands in. */
void account_cancel_all(struct actor *actor);

/* crew.c: asks all its jobs to end. */
void crew_cancel_all(struct actor *actor);

/* monitor.c */
void monitor_keep(struct actor *actor, struct message *request);
void monitor_forget(struct actor *actor, struct address watcher, uint64_t call);
void monitor_answer(struct actor *actor, int reason);

#endif
