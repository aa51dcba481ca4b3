/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's start and stop.
 *
 * Invariants:
 *   - The root is the first actor of loop 0 and the directory the second: other nodes know the
 *     address of a directory without asking. The root is the parent of all that has no other
 *     parent, so it ends last, and the node is empty when it has gone.
 *   - Roots are spawned by any thread but adopted on loop 0. The mutex covers the look at
 *     `stopping`, the birth and both posts, so a root is either refused or waited for
 *     (`adoptions`).
 *   - `stopping` only becomes true. node_stop posts the stop only when it is the one that set it:
 *     the thread that set it otherwise saw the root ending already.
 */
#include "runtime/core/node.h"

#include <assert.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/directory_impl.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/runtime_kinds.h"

/* A node that stops because a root failed grants the others so long to drain. */
#define NODE_FAILURE_DRAIN_NS UINT64_C(5000000000)
/* The bytes that messages may take on the smallest machine: a few of the largest that a router
 * carries. Below that such a one would never be received. */
#define NODE_MESSAGE_BYTES_MIN (4u * (size_t)ROUTER_MESSAGE_BYTES)

void node_fail(struct node *node, int reason)
{
    /* The failure is noted before the stop: once that is posted the node may end, and its owner
     * asks for the reason. */
    pthread_mutex_lock(&node->mutex);
    if (node->failure == 0)
        node->failure = reason;
    pthread_mutex_unlock(&node->mutex);
    node_stop(node, env_now_ns(node->env) + NODE_FAILURE_DRAIN_NS);
}

static void root_failed(struct actor *parent, int reason)
{
    struct node *node = parent->loop->node;
    if (reason >= 0)
        return;
    log_write(node, LOG_LEVEL_ERROR, "actors", "node %u stops: a root actor failed: %s", node->id,
              tr_strerror(reason));
    node_fail(node, reason);
}

/* Are roots on their way that other threads spawned? From now on no more are spawned. */
static bool awaits_root(struct actor *parent)
{
    struct node *node = parent->loop->node;
    pthread_mutex_lock(&node->mutex);
    bool awaits = node->adoptions > 0;
    node->stopping = true;
    pthread_mutex_unlock(&node->mutex);
    return awaits;
}

static const struct parent_ops root_parent_ops = { .awaits_child = awaits_root,
                                                   .child_ended = root_failed };

static int root_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void root_fini(struct actor *self)
{
    struct node *node = self->loop->node;
    timer_stop(&node->kill_timer);
    pthread_mutex_lock(&node->mutex);
    /* The root fails when a child failed more often than it may be restarted. It is killed by a
     * stop's deadline, or with its node, and neither is a failure. */
    if (node->failure == 0 && self->reason < 0 && !self->killed)
        node->failure = self->reason;
    pthread_mutex_unlock(&node->mutex);
}

static const struct actor_ops root_ops = {
    .name = "root",
    .receive = root_receive,
    .fini = root_fini,
};

static int create_loops(struct node *node)
{
    node->loops = aligned_alloc(64, node->num_loops * sizeof *node->loops);
    if (node->loops == NULL)
        return TR_ENOMEM;
    for (uint32_t i = 0; i < node->num_loops; i++) {
        int rc = loop_init(&node->loops[i], node, i);
        if (rc < 0) {
            /* The loop that failed is taken down, too: loop_init leaves it in a shape for that. */
            for (uint32_t j = 0; j <= i; j++)
                loop_fini(&node->loops[j]);
            free(node->loops);
            return rc;
        }
    }
    return 0;
}

/* The root and the directory are there before anything else can run. */
static int create_root(struct node *node)
{
    struct actor_options options = { .ops = &root_ops };
    struct env *env = node->env;
    bool simulated = env->simulated;
    node->loops[0].simulated = false; /* the node itself comes up without injected failures */
    /* The root comes first, then the directory: slots are given out from 0 on, and other nodes know
     * the directory's. */
    int rc = actor_create(&node->loops[0], &options, NULL, &node->root);
    if (rc == 0) {
        node->root->parent_ops = &root_parent_ops;
        actor_install(node->root, NULL);
        rc = node_spawn(node, &directory_options, &node->directory);
        assert(rc < 0 || (node->directory.slot == DIRECTORY_SLOT &&
                          node->directory.generation == DIRECTORY_GENERATION));
    }
    node->loops[0].simulated = simulated;
    return rc;
}

/* Messages that pile up end here, and not with a process that the system kills: the other half
 * is for graphs and batches, which have bounds of their own. The job's processes on one machine
 * may all have it at once, so each has its share. */
static size_t message_bytes(const struct env *env, const struct node_options *options)
{
    uint64_t bytes = env->memory_bytes / 2 / (options->sharers != 0 ? options->sharers : 1);
    if (options->message_bytes_max != 0)
        return options->message_bytes_max;
    return bytes > NODE_MESSAGE_BYTES_MIN ? bytes : NODE_MESSAGE_BYTES_MIN;
}

int node_create(struct env *env, const struct node_options *options, struct node **out,
                struct error *error)
{
    uint32_t num_loops = options->loops != 0 ? options->loops : 1;
    if (num_loops > ADDRESS_LOOPS_MAX)
        return error_set(error, TR_ERANGE, "loops: %u is more than %u", num_loops,
                         ADDRESS_LOOPS_MAX);
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return error_set(error, TR_ENOMEM, "node: out of memory");
    node->env = env;
    node->id = options->id;
    node->incarnation = options->incarnation != 0 ? options->incarnation : 1;
    node->num_loops = num_loops;
    node->codec = options->codec;
    if (options->kinds != NULL)
        node->kinds = *options->kinds;
    /* This comes after the copy of the table, which would overwrite the runtime's kinds. */
    runtime_kinds_add(&node->kinds);
    node->log = options->log;
    node->failpoints = options->failpoints;
    /* The account comes before the loops, whose pools are charged to it and read its bound. */
    account_init(&node->message_account, "messages", message_bytes(env, options));
    pthread_mutex_init(&node->mutex, NULL);
    int rc = create_loops(node);
    if (rc < 0)
        goto err_after_account;
    rc = create_root(node);
    if (rc < 0)
        goto err_after_loops;
    *out = node;
    return 0;

err_after_loops:
    if (node->root != NULL) { /* it waits in an inbox: it has to live before it can end */
        node_destroy(node);
        goto out;
    }
    for (uint32_t i = 0; i < num_loops; i++)
        loop_fini(&node->loops[i]);
    free(node->loops);
err_after_account:
    pthread_mutex_destroy(&node->mutex);
    account_fini(&node->message_account);
    free(node);
out:
    return error_set(error, rc, "node %u: its %u loops could not be made: %s", options->id,
                     num_loops, tr_strerror(rc));
}

/* Plays the loops from `first` on, which have no threads, until every actor ended. The loops before
 * it run on their own. */
static void run_out(struct node *node, uint32_t first)
{
    node_stop(node, 0);
    while (!node_is_empty(node))
        for (uint32_t i = first; i < node->num_loops; i++)
            loop_turn(&node->loops[i]);
}

int node_start(struct node *node)
{
    /* The mark comes before the first thread: node_destroy plays loops itself only where none may
     * have one. */
    node->started = true;
    for (uint32_t i = 0; i < node->num_loops; i++) {
        int rc = node->env->ops->loop_start(node->env, node->loops[i].driver);
        if (rc < 0) {
            run_out(node, i);
            return rc;
        }
    }
    return 0;
}

/* Brings a new root to loop 0, whose root actor adopts it. */
struct adoption {
    struct post post;
    struct child *child;
    bool first;
};

/* The mutex makes it wait until the spawning thread has sent the child to its loop: what the root
 * asks of the child, its end above all, comes there later. */
static struct actor *node_adopt(struct loop *loop, struct post *post)
{
    struct adoption *adoption = (struct adoption *)(void *)post;
    struct node *node = loop->node;
    struct actor *root = node->root;
    pthread_mutex_lock(&node->mutex);
    node->adoptions--;
    node->stopping = node->stopping || root->exiting || root->phase >= ACTOR_DRAINING;
    pthread_mutex_unlock(&node->mutex);
    /* In any order with `adoptions`, which only this loop compares with the children. */
    supervisor_adopt(root, adoption->child, adoption->first);
    free(adoption);
    /* This comes last, since it may end the root. If the root is ending, the child ends, too. */
    actor_advance(root);
    return NULL;
}

static int node_spawn_root(struct node *node, const struct actor_options *options, bool first,
                           struct address *address, struct actor **out)
{
    if (options->loop >= node->num_loops)
        return TR_ERANGE;
    int rc = TR_ENOMEM;
    struct adoption *adoption = calloc(1, sizeof *adoption);
    struct child *child = child_create(options);
    if (adoption == NULL || child == NULL)
        goto err_after_memory;
    adoption->post.run = node_adopt;
    adoption->child = child;
    adoption->first = first;
    pthread_mutex_lock(&node->mutex);
    /* The mutex covers this look and the birth: a root that was not refused counts in `adoptions`
     * before the root actor asks whether it may end. */
    if (node->stopping)
        rc = TR_ECLOSED;
    else
        rc = actor_create(&node->loops[options->loop], &child->options, node->root, &child->actor);
    if (rc == 0) {
        struct actor *actor = child->actor;
        *address = actor->address;
        *out = actor;
        node->adoptions++;
        /* The adoption is posted before the actor lives: the child may end at once on its own loop,
         * and its end, reported to loop 0, has to find it among the root's children. */
        loop_post(&node->loops[0], &adoption->post);
        actor_install(actor, NULL);
    }
    pthread_mutex_unlock(&node->mutex);
    if (rc == 0)
        return 0;
err_after_memory:
    free(adoption);
    free(child);
    return rc;
}

int node_spawn(struct node *node, const struct actor_options *options, struct address *address)
{
    struct actor *actor;
    return node_spawn_root(node, options, false, address, &actor);
}

int node_spawn_first(struct node *node, const struct actor_options *options,
                     struct address *address, struct actor **actor)
{
    return node_spawn_root(node, options, true, address, actor);
}

static void kill_now(struct actor *root, void *arg)
{
    (void)arg;
    log_write(root->loop->node, LOG_LEVEL_WARN, "actors",
              "node %u: the stop's deadline passed; ending all", root->loop->node->id);
    actor_be_killed(root, TR_ETIMEDOUT);
}

static struct actor *arm_kill(struct loop *loop, struct post *post)
{
    struct node *node = loop->node;
    (void)post;
    timer_start(node->root, &node->kill_timer, node->stop_deadline_ns, kill_now, NULL);
    return NULL;
}

void node_stop(struct node *node, uint64_t deadline_ns)
{
    pthread_mutex_lock(&node->mutex);
    if (!node->stopping) {
        node->stopping = true;
        node->stop_deadline_ns = deadline_ns;
        /* The deadline comes before the stop: posts run in order, and an ending root starts no
         * timer. */
        node->kill_post.run = arm_kill;
        loop_post(&node->loops[0], &node->kill_post);
        actor_post_stop(node->root);
    }
    pthread_mutex_unlock(&node->mutex);
}

/* No loop runs any more: what is still on its way goes home. A request in an inbox is turned around
 * into a reply, which is then freed and goes home: each takes one more hop, and loops that
 * come earlier in the round see it in the next. */
#define DRAIN_ROUNDS 4

static void node_drain(struct node *node)
{
    for (int round = 0; round < DRAIN_ROUNDS; round++)
        for (uint32_t i = 0; i < node->num_loops; i++)
            loop_drain(&node->loops[i]);
}

bool node_is_stopped(struct node *node)
{
    if (!node_is_empty(node))
        return false;
    /* The loops are drained here only where no threads run them; else node_join does it after their
     * ends. */
    if (node->env->simulated)
        node_drain(node);
    return true;
}

int node_join(struct node *node)
{
    const struct env_ops *ops = node->env->ops;
    /* A node that never started is played to its end here, while its loops have their drivers, which
     * an actor that ends may use. */
    if (!node->started)
        run_out(node, 0);
    /* All threads end before the first driver goes: a loop that ends may be about to wake
     * another. */
    for (uint32_t i = 0; i < node->num_loops; i++)
        ops->loop_join(node->env, node->loops[i].driver);
    for (uint32_t i = 0; i < node->num_loops; i++) {
        struct loop *loop = &node->loops[i];
        /* A thread of the crew may still be making its wake: the driver goes after that. */
        loop_await_wakers(loop);
        ops->loop_destroy(node->env, loop->driver);
        loop->driver = NULL;
    }
    /* This comes after all threads: it touches each loop as if it were its own. */
    node_drain(node);
    return node_failure(node);
}

int node_failure(struct node *node)
{
    pthread_mutex_lock(&node->mutex);
    int failure = node->failure;
    pthread_mutex_unlock(&node->mutex);
    return failure;
}

void node_destroy(struct node *node)
{
    if (node == NULL)
        return;
    assert(node_is_empty(node) || !node->started);
    /* A node that was never started, or was played, has not been joined: its drivers go here. */
    if (node->loops[0].driver != NULL)
        node_join(node);
    /* Messages that the router still has go home through the loops, and what stands in the loops
     * may hold credit of the router: so neither is freed before both are drained. */
    if (node->router != NULL)
        node->router->ops->drop_leftovers(node->router);
    node_drain(node);
    if (node->router != NULL)
        node->router->ops->destroy(node->router);
    for (uint32_t i = 0; i < node->num_loops; i++)
        loop_fini(&node->loops[i]);
    free(node->loops);
    /* The account goes after the pools of all loops, which are charged to it. */
    account_fini(&node->message_account);
    pthread_mutex_destroy(&node->mutex);
    free(node);
}

void node_attach_router(struct node *node, struct router *router)
{
    assert(!node->started && node->router == NULL);
    node->router = router;
}

struct env *node_env(const struct node *node)
{
    return node->env;
}

uint32_t node_loops(const struct node *node)
{
    return node->num_loops;
}

struct account *node_message_account(struct node *node)
{
    return &node->message_account;
}

void node_counters(struct node *node, struct node_counters *sum)
{
    *sum = (struct node_counters){ .actors_live = atomic_load(&node->actors_live) };
    for (uint32_t i = 0; i < node->num_loops; i++) {
        struct loop *loop = &node->loops[i];
        sum->messages_live += counter_get(&loop->messages.taken) -
                              counter_get(&loop->messages.given);
        sum->buffers_live += counter_get(&loop->buffers.taken) - counter_get(&loop->buffers.given);
        sum->calls_open += counter_get(&loop->calls.opened) - counter_get(&loop->calls.completed);
        sum->sent += counter_get(&loop->sent);
        sum->delivered += counter_get(&loop->delivered);
        sum->dropped_full += counter_get(&loop->dropped_full);
        sum->dropped_expired += counter_get(&loop->dropped_expired);
        sum->stale += counter_get(&loop->stale);
        sum->late_replies += counter_get(&loop->late_replies);
        sum->long_turns += counter_get(&loop->long_turns);
        sum->wakes += counter_get(&loop->wakes);
        sum->restarts += counter_get(&loop->restarts);
        sum->mailbox_messages += counter_get(&loop->mailbox_messages);
        sum->mailbox_bytes += counter_get(&loop->mailbox_bytes);
        uint64_t most = counter_get(&loop->mailbox_messages_max);
        if (most > sum->mailbox_messages_max)
            sum->mailbox_messages_max = most;
    }
}
