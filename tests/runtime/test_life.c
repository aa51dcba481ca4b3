/* SPDX-License-Identifier: Apache-2.0 */
/* Lives: stale addresses, restarts with bounded intensity, drain, children before parents, stop. */
#include "tests/runtime/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/directory.h"
#include "runtime/core/loop.h"
#include "runtime/core/monitor.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/stream.h"
#include "runtime/core/supervisor.h"
#include "runtime/core/timer.h"

/* A tree of actors that writes down what happens to it. */
struct plan {
    const char *name;
    const struct plan *children;
    uint32_t num_children;
    uint32_t loop;
    enum actor_restart restart;
    struct supervisor_options supervision; /* period 0: the default */
    uint32_t failing_starts;               /* each start beyond the first this many works */
    uint64_t drain_ns;                     /* what its stop takes; UINT64_MAX: for ever */
    struct story *story;
};

struct story {
    char text[4096];
    uint32_t starts;
    struct address last;
    int down_reason;
    uint32_t downs;
};

static void tell(struct story *story, const char *what, const char *name)
{
    size_t at = strlen(story->text);
    snprintf(story->text + at, sizeof story->text - at, "%s%s ", what, name);
}

static const struct actor_ops plan_ops;

static const struct plan *plan_of(struct actor *self)
{
    return self->arg;
}

static int start(struct actor *self, const void *arg)
{
    const struct plan *plan = arg;
    tell(plan->story, "+", plan->name);
    plan->story->last = actor_address(self);
    if (plan->supervision.period_ns != 0)
        assert_int_equal(actor_supervise(self, &plan->supervision), 0);
    for (uint32_t i = 0; i < plan->num_children; i++) {
        const struct plan *child = &plan->children[i];
        struct actor_options options = {
            .ops = &plan_ops, .arg = child, .loop = child->loop, .restart = child->restart
        };
        struct address address;
        assert_int_equal(actor_spawn(self, &options, &address), 0);
    }
    return ++plan->story->starts <= plan->failing_starts ? TR_EIO : 0;
}

static int receive(struct actor *self, struct message *message)
{
    bool fail = message->frame.kind == KIND_URGENT;
    message_release(self, message);
    return fail ? TR_EIO : 0;
}

static void drained(struct actor *self, void *arg)
{
    (void)arg;
    actor_exit(self, 0);
}

static void stop(struct actor *self)
{
    const struct plan *plan = plan_of(self);
    tell(plan->story, "~", plan->name);
    if (plan->drain_ns == UINT64_MAX)
        return;
    struct timer *timer = calloc(1, sizeof *timer);
    actor_set_state(self, timer);
    timer_start(self, timer, actor_now_ns(self) + plan->drain_ns, drained, NULL);
}

static void fini(struct actor *self)
{
    const struct plan *plan = plan_of(self);
    tell(plan->story, "-", plan->name);
    free(actor_state(self));
}

static const struct actor_ops plan_ops = { "plan", start, receive, stop, fini };

static struct env *make_env(uint64_t seed)
{
    struct env *env = NULL;
    assert_int_equal(env_sim_create(seed, NULL, &env), 0);
    return env;
}

static void run_for(struct env *env, uint64_t ns)
{
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ns);
}

static struct address spawn(struct node *node, const struct plan *plan)
{
    struct actor_options options = {
        .ops = &plan_ops, .arg = plan, .loop = plan->loop, .restart = plan->restart
    };
    struct address address;
    assert_int_equal(node_spawn(node, &options, &address), 0);
    return address;
}

static void children_end_before_parents_in_reverse_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct env *env = make_env(seed);
        struct node *node = support_sim_node(env, 1, 3);
        struct story story = { .text = "" };
        struct plan leaves[] = {
            { .name = "a1", .loop = 1, .story = &story, .drain_ns = 1000000 },
            { .name = "a2", .loop = 2, .story = &story, .drain_ns = 10 },
        };
        struct plan a = { .name = "a", .children = leaves, .num_children = 2, .story = &story };
        struct plan b = { .name = "b", .loop = 2, .story = &story, .drain_ns = 5000 };
        spawn(node, &a);
        assert_int_equal(node_start(node), 0);
        run_for(env, ENV_SECOND_NS);
        spawn(node, &b);
        run_for(env, ENV_SECOND_NS);
        story.text[0] = '\0';
        support_sim_finish(env, node);
        assert_string_equal(story.text, "~b -b ~a2 -a2 ~a1 -a1 ~a -a ");
        env_destroy(env);
    }
}

static void a_stop_that_takes_too_long_is_cut_at_its_deadline(void **state)
{
    (void)state;
    struct env *env = make_env(1);
    struct node *node = support_sim_node(env, 1, 2);
    struct story story = { .text = "" };
    struct plan leaf = { .name = "c", .loop = 1, .story = &story, .drain_ns = UINT64_MAX };
    struct plan root = {
        .name = "p", .children = &leaf, .num_children = 1, .story = &story, .drain_ns = UINT64_MAX
    };
    spawn(node, &root);
    assert_int_equal(node_start(node), 0);
    run_for(env, ENV_SECOND_NS);
    uint64_t from_ns = env_sim_now_ns(env);
    support_sim_finish(env, node);
    assert_string_equal(story.text, "+p +c ~c -c -p ");
    assert_true(env_sim_now_ns(env) - from_ns < 70 * ENV_SECOND_NS);
    env_destroy(env);
}

static int quit(struct actor *self, struct message *message)
{
    message_release(self, message);
    actor_exit(self, 0);
    return 0;
}

static const struct actor_ops quitter_ops = { "quitter", start, quit, NULL, fini };

struct killing {
    struct address target;
    struct timer timer;
};

static void kill_now(struct actor *self, void *arg)
{
    const struct killing *killing = arg;
    assert_int_equal(actor_kill(self, killing->target, TR_EIO), 0);
}

/* Lets the target end in peace for two seconds. */
static int killer_start(struct actor *self, const void *arg)
{
    struct killing *killing = (struct killing *)(uintptr_t)arg;
    support_send(self, killing->target, KIND_ASK, 0);
    timer_start(self, &killing->timer, actor_now_ns(self) + 2 * ENV_SECOND_NS, kill_now, killing);
    return 0;
}

static const struct actor_ops killer_ops = { "killer", killer_start, receive, NULL, NULL };

/* An actor that ended by itself waits for its children to drain; killed then, it waits no longer:
 * they are killed, and theirs. */
static void one_that_waits_for_its_children_can_be_killed(void **state)
{
    (void)state;
    struct env *env = make_env(2);
    struct node *node = support_sim_node(env, 1, 2);
    struct story story = { .text = "" };
    struct plan leaf = { .name = "d", .loop = 1, .story = &story, .drain_ns = UINT64_MAX };
    struct plan child = { .name = "c", .children = &leaf, .num_children = 1, .story = &story };
    struct plan root = {
        .name = "p", .children = &child, .num_children = 1, .loop = 1, .story = &story
    };
    struct actor_options quitter = {
        .ops = &quitter_ops, .arg = &root, .loop = 1, .restart = ACTOR_RESTART_NEVER
    };
    struct killing killing = { 0 };
    struct actor_options killer = { .ops = &killer_ops, .arg = &killing };
    struct address address;
    assert_int_equal(node_spawn(node, &quitter, &killing.target), 0);
    assert_int_equal(node_start(node), 0);
    run_for(env, ENV_SECOND_NS);
    assert_int_equal(node_spawn(node, &killer, &address), 0);
    run_for(env, ENV_SECOND_NS);
    assert_string_equal(story.text, "+p +c +d ~d ");
    run_for(env, 2 * ENV_SECOND_NS);
    assert_string_equal(story.text, "+p +c +d ~d -d -c -p ");
    support_sim_finish(env, node);
    env_destroy(env);
}

struct probe {
    struct address target;
    struct story *story;
};

static void probed(struct actor *self, void *arg, struct address who, int reason)
{
    struct story *story = arg;
    (void)self;
    (void)who;
    story->downs++;
    story->down_reason = reason;
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    message_release(self, reply);
    ((struct story *)arg)->down_reason = status;
}

static int probe_start(struct actor *self, const void *arg)
{
    const struct probe *probe = arg;
    struct message *ask = message_create(self, KIND_ASK);
    actor_monitor(self, probe->target, probed, probe->story, NULL);
    actor_call(self, probe->target, ask, actor_now_ns(self) + ENV_SECOND_NS, answered, probe->story,
               NULL);
    support_send(self, probe->target, KIND_URGENT, 0);
    return 0;
}

static const struct actor_ops probe_ops = { "probe", probe_start, receive, NULL, NULL };

/* A message for a past life fails neither the slot's next owner nor the sender. */
static void a_stale_address_is_answered_not_misdelivered(void **state)
{
    (void)state;
    struct env *env = make_env(3);
    struct node *node = support_sim_node(env, 1, 2);
    struct story story = { .text = "" };
    struct plan plan = { .name = "x",
                         .loop = 1,
                         .restart = ACTOR_RESTART_ON_FAILURE,
                         .failing_starts = 1,
                         .story = &story };
    struct address first = spawn(node, &plan);
    assert_int_equal(node_start(node), 0);
    run_for(env, ENV_SECOND_NS);
    assert_string_equal(story.text, "+x -x +x ");
    assert_int_equal(story.last.slot, first.slot);
    assert_int_not_equal(story.last.generation, first.generation);
    struct probe probe = { first, &story };
    struct actor_options options = { .ops = &probe_ops, .arg = &probe };
    struct address address;
    assert_int_equal(node_spawn(node, &options, &address), 0);
    run_for(env, 2 * ENV_SECOND_NS);
    assert_int_equal(story.downs, 1);
    assert_int_equal(story.down_reason, TR_EPEERDOWN);
    assert_string_equal(story.text, "+x -x +x ");
    struct node_counters counters;
    node_counters(node, &counters);
    assert_int_equal(counters.stale, 3);
    support_sim_finish(env, node);
    env_destroy(env);
}

/* Two nodes in one process share nothing; what is for another node or incarnation is down. */
static void nodes_are_apart(void **state)
{
    (void)state;
    struct env *env = make_env(8);
    struct node *nodes[] = { support_sim_node(env, 1, 2), support_sim_node(env, 2, 2) };
    struct story stories[3] = { { .text = "" } };
    struct plan plans[] = { { .name = "a", .loop = 1, .story = &stories[0] },
                            { .name = "b", .loop = 1, .story = &stories[1] } };
    struct address targets[] = { spawn(nodes[0], &plans[0]), spawn(nodes[1], &plans[1]) };
    assert_int_equal(targets[0].slot, targets[1].slot);
    assert_int_equal(node_start(nodes[0]), 0);
    assert_int_equal(node_start(nodes[1]), 0);
    struct address past = targets[0];
    past.incarnation++;
    struct probe probes[] = { { targets[1], &stories[2] }, { past, &stories[2] } };
    for (int i = 0; i < 2; i++) {
        struct actor_options options = { .ops = &probe_ops,
                                         .arg = &probes[i],
                                         .restart = ACTOR_RESTART_NEVER };
        struct address address;
        assert_int_equal(node_spawn(nodes[0], &options, &address), 0);
        run_for(env, ENV_SECOND_NS);
        assert_int_equal(stories[2].downs, i + 1);
        assert_int_equal(stories[2].down_reason, TR_EPEERDOWN);
    }
    support_sim_finish(env, nodes[0]);
    assert_string_equal(stories[0].text, "+a ~a -a ");
    assert_string_equal(stories[1].text, "+b ");
    support_sim_finish(env, nodes[1]);
    env_destroy(env);
}

/* Two actors on loops of their own, whose first calls have the same number, watch one actor. */
struct watcher {
    struct address target;
    struct call_id id;
    uint32_t downs;
    bool leaves; /* it stops watching, a little later */
    struct timer timer;
};

static void watched_went(struct actor *self, void *arg, struct address who, int reason)
{
    (void)self;
    (void)who;
    ((struct watcher *)arg)->downs += reason != TR_ECANCELED;
}

static void stop_watching(struct actor *self, void *arg)
{
    assert_int_equal(actor_demonitor(self, ((struct watcher *)arg)->id), 0);
}

static int watcher_start(struct actor *self, const void *arg)
{
    struct watcher *watcher = (void *)(uintptr_t)arg;
    assert_int_equal(actor_monitor(self, watcher->target, watched_went, watcher, &watcher->id), 0);
    if (watcher->leaves)
        timer_start(self, &watcher->timer, actor_now_ns(self) + ENV_SECOND_NS, stop_watching,
                    watcher);
    return 0;
}

static const struct actor_ops watcher_ops = { "watcher", watcher_start, receive, NULL, NULL };

static int ender_start(struct actor *self, const void *arg)
{
    return actor_stop(self, *(const struct address *)arg);
}

static const struct actor_ops ender_ops = { "ender", ender_start, receive, NULL, NULL };

/* The one that stops watching leaves the other's watch alone, whichever began first. */
static void a_watcher_that_leaves_takes_nobody_along(void **state)
{
    (void)state;
    for (uint32_t leaver = 0; leaver < 2; leaver++) {
        struct env *env = make_env(5);
        struct node *node = support_sim_node(env, 1, 3);
        struct actor_options ender = { .ops = &ender_ops, .loop = 2 };
        struct actor_options watching = { .ops = &watcher_ops };
        struct watcher watchers[2] = { 0 };
        struct address target, address;
        struct story story = { .text = "" };
        struct plan plan = {
            .name = "x", .loop = 2, .restart = ACTOR_RESTART_NEVER, .story = &story
        };
        target = spawn(node, &plan);
        assert_int_equal(node_start(node), 0);
        for (uint32_t i = 0; i < 2; i++) {
            watchers[i] = (struct watcher){ .target = target, .leaves = i == leaver };
            watching.arg = &watchers[i];
            watching.loop = i;
            assert_int_equal(node_spawn(node, &watching, &address), 0);
            run_for(env, ENV_SECOND_NS / 10);
        }
        assert_int_equal(watchers[0].id.id, watchers[1].id.id);
        run_for(env, 2 * ENV_SECOND_NS);
        ender.arg = &target;
        assert_int_equal(node_spawn(node, &ender, &address), 0);
        run_for(env, ENV_SECOND_NS);
        assert_int_equal(watchers[leaver].downs, 0);
        assert_int_equal(watchers[1 - leaver].downs, 1);
        support_sim_finish(env, node);
        env_destroy(env);
    }
}

/* Plays the way to node 2: each request comes back at once as an answer, of the incarnation that
 * was asked or of the next one. */
struct impostor {
    uint32_t lives_later;
    int status[2];
};

static void answer_for_others(void *arg, struct loop *loop, struct message *message)
{
    struct impostor *impostor = arg;
    struct address from = message->frame.to;
    assert_true(message->frame.flags & MESSAGE_REQUEST);
    from.incarnation += impostor->lives_later++ == 0 ? 1 : 0;
    message->frame.to = message->frame.from;
    message->frame.from = from;
    message->frame.flags = MESSAGE_REPLY;
    message->frame.status = 0;
    loop_deliver(loop, message);
}

static void keep_first(struct actor *self, void *arg, int status, struct message *reply)
{
    message_release(self, reply);
    ((struct impostor *)arg)->status[0] = status;
}

static void keep_second(struct actor *self, void *arg, int status, struct message *reply)
{
    message_release(self, reply);
    ((struct impostor *)arg)->status[1] = status;
}

static int ask_twice(struct actor *self, const void *arg)
{
    static call_done *const done[] = { keep_first, keep_second };
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            actor_call(self, (struct address){ 2, 7, 1, 1 }, message_create(self, KIND_ASK),
                       actor_now_ns(self) + ENV_SECOND_NS, done[i], (void *)(uintptr_t)arg, NULL),
            0);
    return 0;
}

static const struct actor_ops twice_ops = { "asker", ask_twice, receive, NULL, NULL };

/* The next life of a node knows nothing of what was asked of this one. */
static void only_the_life_that_was_asked_answers(void **state)
{
    (void)state;
    struct env *env = make_env(6);
    struct node *node = support_sim_node(env, 1, 1);
    struct impostor impostor = { .status = { 1, 1 } };
    struct support_router router = { .send = answer_for_others, .arg = &impostor };
    struct actor_options options = { .ops = &twice_ops, .arg = &impostor };
    struct address address;
    struct node_counters counters;
    support_attach_router(node, &router);
    assert_int_equal(node_spawn(node, &options, &address), 0);
    assert_int_equal(node_start(node), 0);
    run_for(env, 2 * ENV_SECOND_NS);
    assert_int_equal(impostor.lives_later, 2);
    assert_int_equal(impostor.status[0], TR_ETIMEDOUT);
    assert_int_equal(impostor.status[1], 0);
    node_counters(node, &counters);
    assert_int_equal(counters.late_replies, 1);
    support_sim_finish(env, node);
    env_destroy(env);
}

static void restarts_are_bounded_and_then_the_parent_fails(void **state)
{
    (void)state;
    struct env *env = make_env(4);
    struct node *node = support_sim_node(env, 1, 2);
    struct story story = { .text = "" };
    struct plan child = { .name = "c",
                          .loop = 1,
                          .restart = ACTOR_RESTART_ON_FAILURE,
                          .failing_starts = 1000,
                          .story = &story };
    struct plan parent = { .name = "p",
                           .children = &child,
                           .num_children = 1,
                           .supervision = { .max_restarts = 3, .period_ns = ENV_SECOND_NS },
                           .story = &story };
    story.starts = 0;
    /* The parent's own start counts in `starts` too, and must not fail. */
    struct story own = { .text = "" };
    parent.story = &own;
    spawn(node, &parent);
    assert_int_equal(node_start(node), 0);
    run_for(env, 20 * ENV_SECOND_NS);
    assert_int_equal(story.starts, 1 + 3);
    assert_string_equal(own.text, "+p -p ");
    assert_int_equal(node_failure(node), TR_EIO);
    assert_true(node_is_stopped(node));
    support_sim_finish(env, node);
    env_destroy(env);
}

static void one_for_all_restarts_the_siblings(void **state)
{
    (void)state;
    struct env *env = make_env(5);
    struct node *node = support_sim_node(env, 1, 3);
    struct story own = { .text = "" };
    struct story calm = { .text = "" };
    struct story wild = { .text = "" };
    struct plan children[] = {
        { .name = "a", .loop = 1, .restart = ACTOR_RESTART_ON_FAILURE, .story = &calm },
        { .name = "b",
          .loop = 2,
          .restart = ACTOR_RESTART_ON_FAILURE,
          .failing_starts = 2,
          .story = &wild },
    };
    struct plan parent = { .name = "p",
                           .children = children,
                           .num_children = 2,
                           .story = &own,
                           .supervision = { .strategy = SUPERVISOR_ONE_FOR_ALL,
                                            .max_restarts = 5,
                                            .period_ns = ENV_SECOND_NS } };
    spawn(node, &parent);
    assert_int_equal(node_start(node), 0);
    run_for(env, 20 * ENV_SECOND_NS);
    assert_string_equal(wild.text, "+b -b +b -b +b ");
    assert_string_equal(calm.text, "+a -a +a -a +a ");
    assert_string_equal(own.text, "+p ");
    support_sim_finish(env, node);
    env_destroy(env);
}

#define LEAN_CHILDREN 3u

/* Children of which the last fails in its first life; from then on memory is short. */
struct lean {
    uint32_t starts, parent_ends;
};

static int lean_start(struct actor *self, const void *arg)
{
    struct lean *lean = (struct lean *)(uintptr_t)arg;
    if (++lean->starts != LEAN_CHILDREN)
        return 0;
    env_sim_set_alloc_fail(node_env(actor_node(self)), 500000);
    return TR_EIO;
}

static const struct actor_ops lean_ops = { "child", lean_start, receive, NULL, NULL };

static int lean_parent_start(struct actor *self, const void *arg)
{
    const struct supervisor_options supervision = { .strategy = SUPERVISOR_ONE_FOR_ALL,
                                                    .max_restarts = 60,
                                                    .period_ns = ENV_SECOND_NS };
    assert_int_equal(actor_supervise(self, &supervision), 0);
    for (uint32_t i = 0; i < LEAN_CHILDREN; i++) {
        struct actor_options options = {
            .ops = &lean_ops, .arg = arg, .loop = i, .restart = ACTOR_RESTART_ON_FAILURE
        };
        struct address address;
        assert_int_equal(actor_spawn(self, &options, &address), 0);
    }
    return 0;
}

static void lean_parent_fini(struct actor *self)
{
    ((struct lean *)(uintptr_t)self->arg)->parent_ends++;
}

static const struct actor_ops lean_parent_ops = { "parent", lean_parent_start, receive, NULL,
                                                  lean_parent_fini };

/* As where one is restarted: what found no memory is tried again, as often as restarts are
 * allowed. */
static void one_for_all_tries_again_without_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct env *env = make_env(seed);
        struct node *node = support_sim_node(env, 1, LEAN_CHILDREN);
        struct lean lean = { .starts = 0 };
        struct actor_options options = { .ops = &lean_parent_ops, .arg = &lean };
        struct address address;
        assert_int_equal(node_spawn(node, &options, &address), 0);
        assert_int_equal(node_start(node), 0);
        run_for(env, ENV_SECOND_NS);
        assert_int_equal(lean.parent_ends, 0);
        assert_int_equal(lean.starts, 2 * LEAN_CHILDREN);
        support_sim_finish(env, node);
        env_destroy(env);
    }
}

/* A parent that stops its child at the first message; others are stopped by an actor that knows
 * them. */
static int dismiss_start(struct actor *self, const void *arg)
{
    struct plan *plan = (void *)(uintptr_t)arg;
    struct actor_options options = {
        .ops = &plan_ops, .arg = plan, .loop = plan->loop, .restart = plan->restart
    };
    struct address *child = malloc(sizeof *child);
    assert_non_null(child);
    actor_set_state(self, child);
    int rc = actor_spawn(self, &options, child);
    return rc < 0 ? rc : support_send(self, actor_address(self), KIND_URGENT, 0);
}

static int dismiss_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    int rc = actor_stop(self, *(struct address *)actor_state(self));
    assert_int_equal(rc, 0);
    return rc;
}

static void dismiss_fini(struct actor *self)
{
    free(actor_state(self));
}

static const struct actor_ops dismiss_ops = { "dismiss", dismiss_start, dismiss_receive, NULL,
                                              dismiss_fini };

static void a_dismissed_child_stays_away(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct env *env = make_env(seed);
        struct node *node = support_sim_node(env, 1, 2);
        struct story story = { .text = "" };
        struct plan plan = { .name = "c",
                             .loop = (uint32_t)seed % 2,
                             .restart = ACTOR_RESTART_ALWAYS,
                             .drain_ns = 1000,
                             .story = &story };
        struct actor_options options = { .ops = &dismiss_ops, .arg = &plan };
        struct address address;
        assert_int_equal(node_spawn(node, &options, &address), 0);
        assert_int_equal(node_start(node), 0);
        run_for(env, ENV_SECOND_NS);
        /* An actor that was dismissed before its start has no stop either. */
        assert_true(strcmp(story.text, "+c ~c -c ") == 0 || strcmp(story.text, "-c ") == 0);
        support_sim_finish(env, node);
        env_destroy(env);
    }
}

/* A parent that kills its child when both have started, and asks it to stop at once. */
struct killing_parent {
    const struct plan *plan;
    struct address child;
    struct timer timer;
};

static struct killing_parent *killing_parent_of(struct actor *self)
{
    return (struct killing_parent *)(uintptr_t)self->arg;
}

static void ask_itself(struct actor *self, void *arg)
{
    (void)arg;
    assert_int_equal(support_send(self, actor_address(self), KIND_NUMBER, 0), 0);
}

static int kill_and_stop_start(struct actor *self, const void *arg)
{
    struct killing_parent *parent = killing_parent_of(self);
    struct actor_options options = { .ops = &plan_ops, .arg = parent->plan };
    (void)arg;
    timer_start(self, &parent->timer, actor_now_ns(self) + 1000000, ask_itself, NULL);
    return actor_spawn(self, &options, &parent->child);
}

static int kill_and_stop(struct actor *self, struct message *message)
{
    const struct address child = killing_parent_of(self)->child;
    message_release(self, message);
    assert_int_equal(actor_kill(self, child, TR_EIO), 0);
    assert_int_equal(actor_stop(self, child), 0);
    return 0;
}

static const struct actor_ops kill_and_stop_ops = { "parent", kill_and_stop_start, kill_and_stop,
                                                    NULL, NULL };

/* The post of the stop may run before the child's turn, in which the kill is acted on. */
static void a_killed_child_has_no_stop(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct env *env = make_env(seed);
        struct node *node = support_sim_node(env, 1, 1);
        struct story story = { .text = "" };
        struct plan plan = { .name = "c", .drain_ns = 1000, .story = &story };
        struct killing_parent parent = { .plan = &plan };
        struct actor_options options = { .ops = &kill_and_stop_ops, .arg = &parent };
        struct address address;
        assert_int_equal(node_spawn(node, &options, &address), 0);
        assert_int_equal(node_start(node), 0);
        run_for(env, ENV_SECOND_NS);
        assert_string_equal(story.text, "+c -c ");
        support_sim_finish(env, node);
        env_destroy(env);
    }
}

/* A parent that its child kills when both are to stop. */
struct feud {
    struct address parent;
    uint32_t child_stops, parent_stops, parent_ends;
};

static struct feud *feud_of(struct actor *self)
{
    return (struct feud *)(uintptr_t)self->arg;
}

/* In a later turn: what it does then may be the last of a turn of the loop. */
static void feud_child_stop(struct actor *self)
{
    feud_of(self)->child_stops++;
    ask_itself(self, NULL);
}

static int feud_child_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    assert_int_equal(actor_kill(self, feud_of(self)->parent, TR_EIO), 0);
    actor_exit(self, 0);
    return 0;
}

static const struct actor_ops feud_child_ops = { "child", NULL, feud_child_receive, feud_child_stop,
                                                 NULL };

static int feud_start(struct actor *self, const void *arg)
{
    struct actor_options child = { .ops = &feud_child_ops, .arg = arg };
    struct address address;
    feud_of(self)->parent = actor_address(self);
    return actor_spawn(self, &child, &address);
}

static void feud_stop(struct actor *self)
{
    feud_of(self)->parent_stops++;
    actor_exit(self, 0);
}

static void feud_fini(struct actor *self)
{
    assert_int_equal(actor_reason(self), TR_EIO);
    feud_of(self)->parent_ends++;
}

static const struct actor_ops feud_ops = { "parent", feud_start, receive, feud_stop, feud_fini };

/* The post of the child's end may run before the parent's turn. */
static void one_that_is_killed_while_it_drains_has_no_stop(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct env *env = make_env(seed);
        struct node *node = support_sim_node(env, 1, 1);
        struct feud feud = { .child_stops = 0 };
        struct actor_options options = { .ops = &feud_ops, .arg = &feud };
        struct address address;
        assert_int_equal(node_spawn(node, &options, &address), 0);
        assert_int_equal(node_start(node), 0);
        run_for(env, ENV_SECOND_NS);
        support_sim_finish(env, node);
        assert_int_equal(feud.child_stops, 1);
        assert_int_equal(feud.parent_stops, 0);
        assert_int_equal(feud.parent_ends, 1);
        env_destroy(env);
    }
}

static void a_node_that_never_started_can_be_destroyed(void **state)
{
    (void)state;
    struct env *env = make_env(6);
    struct node *node = support_sim_node(env, 1, 2);
    struct story story = { .text = "" };
    struct plan plan = { .name = "x", .loop = 1, .story = &story };
    spawn(node, &plan);
    node_destroy(node);
    env_destroy(env);
}

static void a_stopping_node_refuses_roots(void **state)
{
    (void)state;
    struct env *env = make_env(7);
    struct node *node = support_sim_node(env, 1, 1);
    assert_int_equal(node_start(node), 0);
    node_stop(node, env_sim_now_ns(env) + ENV_SECOND_NS);
    struct actor_options options = { .ops = &plan_ops };
    struct address address;
    assert_int_equal(node_spawn(node, &options, &address), TR_ECLOSED);
    options.loop = 1;
    assert_int_equal(node_spawn(node, &options, &address), TR_ERANGE);
    support_sim_finish(env, node);
    env_destroy(env);
}

struct late_spawn {
    int result;
    bool stopped;
};

static int late_start(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return 0;
}

static void spawn_late(struct actor *self)
{
    struct late_spawn *late = actor_state(self);
    struct story story = { .text = "" };
    const struct plan plan = { .name = "late", .story = &story };
    const struct actor_options options = { .ops = &plan_ops, .arg = &plan };
    struct address address;
    late->result = actor_spawn(self, &options, &address);
    late->stopped = true;
    actor_exit(self, 0);
}

static const struct actor_ops late_ops = {
    .name = "late", .start = late_start, .receive = dismiss_receive, .stop = spawn_late
};

/* Its children have ended before it is asked, and none comes after them. */
static void an_actor_that_stops_spawns_nothing(void **state)
{
    (void)state;
    struct env *env = make_env(8);
    struct node *node = support_sim_node(env, 1, 1);
    struct late_spawn late = { 0 };
    const struct actor_options options = { .ops = &late_ops, .arg = &late };
    struct address address;
    assert_int_equal(node_spawn(node, &options, &address), 0);
    assert_int_equal(node_start(node), 0);
    run_for(env, ENV_SECOND_NS);
    support_sim_finish(env, node);
    assert_true(late.stopped);
    assert_int_equal(late.result, TR_ECLOSED);
    env_destroy(env);
}

/* The calls that an actor is refused while there is no memory. */
struct poor {
    struct address other;
    int results[11];
    struct error error; /* of the listener */
    bool asked;
    struct timer timer;
};

static void never(struct actor *self, void *arg, struct address who, int reason)
{
    (void)self, (void)arg, (void)who, (void)reason;
    fail();
}

static void no_stream(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    (void)self, (void)arg, (void)stream, (void)what;
    fail();
}

static void ask_for_all(struct actor *self, void *arg)
{
    struct poor *poor = arg;
    const struct actor_options options = { .ops = &plan_ops };
    struct call_id id;
    struct address address;
    int *result = poor->results;
    env_sim_set_alloc_fail(node_env(actor_node(self)), 1000000);
    *result++ = actor_monitor(self, poor->other, never, poor, &id);
    *result++ = actor_stop(self, poor->other);
    *result++ = actor_kill(self, poor->other, TR_EIO);
    *result++ = actor_spawn(self, &options, &address);
    *result++ = directory_register(self, "poor", NULL, NULL);
    *result++ = directory_lookup(self, "poor", NULL, NULL);
    *result++ = message_create(self, KIND_ASK) == NULL ? TR_ENOMEM : 0;
    *result++ = buffer_create(self, 10) == NULL ? TR_ENOMEM : 0;
    struct endpoint endpoint = { .kind = ENDPOINT_TCP, .host = "host0", .port = 7 };
    struct stream *stream;
    *result++ = stream_listen(self, &endpoint, no_stream, poor, &stream, &poor->error);
    *result++ = stream_connect(self, &endpoint, no_stream, poor, &stream);
    *result++ = stream_watch(self, 0, no_stream, poor, &stream);
    env_sim_set_alloc_fail(node_env(actor_node(self)), 0);
    poor->asked = true;
}

static int poor_start(struct actor *self, const void *arg)
{
    struct poor *poor = (void *)(uintptr_t)arg;
    timer_start(self, &poor->timer, actor_now_ns(self) + ENV_SECOND_NS / 10, ask_for_all, poor);
    return 0;
}

static const struct actor_ops poor_ops = { "poor", poor_start, receive, NULL, NULL };

/* Each says so, nothing of it is left behind, and the actor goes on. */
static void without_memory_each_request_is_refused(void **state)
{
    (void)state;
    struct env *env = make_env(9);
    struct node *node = support_sim_node(env, 1, 2);
    struct story story = { .text = "" };
    struct plan plan = { .name = "x", .loop = 1, .story = &story };
    struct poor poor = { .other = spawn(node, &plan) };
    const struct actor_options options = { .ops = &poor_ops, .arg = &poor };
    struct address address;
    assert_int_equal(node_spawn(node, &options, &address), 0);
    assert_int_equal(node_start(node), 0);
    run_for(env, ENV_SECOND_NS);
    assert_true(poor.asked);
    for (int i = 0; i < 11; i++)
        assert_int_equal(poor.results[i], TR_ENOMEM);
    assert_string_equal(poor.error.text, "tcp:host0:7: cannot listen: out of memory");
    assert_string_equal(story.text, "+x ");
    support_sim_finish(env, node);
    env_destroy(env);
}

static int ask_what_repeats(struct actor *self, const void *arg)
{
    bool *repeats = (void *)(uintptr_t)arg;
    repeats[0] = actor_may_repeat(self, KIND_ASK);    /* pure */
    repeats[1] = actor_may_repeat(self, KIND_ORDER);  /* sequenced */
    repeats[2] = actor_may_repeat(self, KIND_NUMBER); /* once */
    repeats[3] = actor_may_repeat(self, KINDS_MAX);   /* no kind */
    return 0;
}

static void a_kind_says_whether_it_may_be_sent_again(void **state)
{
    (void)state;
    static const struct actor_ops ops = { "repeats", ask_what_repeats, receive, NULL, NULL };
    struct env *env = make_env(11);
    struct node *node = support_sim_node(env, 1, 1);
    bool repeats[4] = { false, false, true, true };
    const struct actor_options options = { .ops = &ops, .arg = repeats };
    struct address address;
    assert_int_equal(node_spawn(node, &options, &address), 0);
    assert_int_equal(node_start(node), 0);
    run_for(env, ENV_SECOND_NS);
    assert_true(repeats[0] && repeats[1] && !repeats[2] && !repeats[3]);
    support_sim_finish(env, node);
    env_destroy(env);
}

/* Every loop has each counter for itself: a node's is their sum. */
static void a_node_counts_what_its_loops_do(void **state)
{
    (void)state;
    struct env *env = make_env(10);
    struct node *node = support_sim_node(env, 1, 3);
    struct node_counters counters;
    node_counters(node, &counters);
    assert_int_equal(counters.sent + counters.delivered + counters.stale + counters.restarts, 0);
    for (uint64_t i = 0; i < 3; i++) {
        struct loop *loop = &node->loops[i];
        counter_add(&loop->sent, 1 + i);
        counter_add(&loop->delivered, 10 + i);
        counter_add(&loop->dropped_full, 20 + i);
        counter_add(&loop->dropped_expired, 30 + i);
        counter_add(&loop->stale, 40 + i);
        counter_add(&loop->late_replies, 50 + i);
        counter_add(&loop->long_turns, 60 + i);
        counter_add(&loop->wakes, 70 + i);
        counter_add(&loop->restarts, 80 + i);
        counter_add(&loop->messages.taken, 90 + 2 * i);
        counter_add(&loop->messages.given, 5 + i);
        counter_add(&loop->buffers.taken, 100 + 2 * i);
        counter_add(&loop->buffers.given, 7 + i);
        counter_add(&loop->calls.opened, 110 + 2 * i);
        counter_add(&loop->calls.completed, 9 + i);
    }
    node_counters(node, &counters);
    assert_int_equal(counters.sent, 6);
    assert_int_equal(counters.delivered, 33);
    assert_int_equal(counters.dropped_full, 63);
    assert_int_equal(counters.dropped_expired, 93);
    assert_int_equal(counters.stale, 123);
    assert_int_equal(counters.late_replies, 153);
    assert_int_equal(counters.long_turns, 183);
    assert_int_equal(counters.wakes, 213);
    assert_int_equal(counters.restarts, 243);
    assert_int_equal(counters.messages_live, 3 * 85 + 3);
    assert_int_equal(counters.buffers_live, 3 * 93 + 3);
    assert_int_equal(counters.calls_open, 3 * 101 + 3);
    for (uint64_t i = 0; i < 3; i++) {
        struct loop *loop = &node->loops[i];
        counter_add(&loop->messages.given, 85 + i);
        counter_add(&loop->buffers.given, 93 + i);
        counter_add(&loop->calls.completed, 101 + i);
    }
    node_destroy(node);
    env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_says_whether_it_may_be_sent_again),
        cmocka_unit_test(a_stopping_node_refuses_roots),
        cmocka_unit_test(an_actor_that_stops_spawns_nothing),
        cmocka_unit_test(a_node_that_never_started_can_be_destroyed),
        cmocka_unit_test(a_stale_address_is_answered_not_misdelivered),
        cmocka_unit_test(nodes_are_apart),
        cmocka_unit_test(without_memory_each_request_is_refused),
        cmocka_unit_test(a_node_counts_what_its_loops_do),
        cmocka_unit_test(a_watcher_that_leaves_takes_nobody_along),
        cmocka_unit_test(only_the_life_that_was_asked_answers),
        cmocka_unit_test(restarts_are_bounded_and_then_the_parent_fails),
        cmocka_unit_test(a_dismissed_child_stays_away),
        cmocka_unit_test(a_killed_child_has_no_stop),
        cmocka_unit_test(one_that_is_killed_while_it_drains_has_no_stop),
        cmocka_unit_test(one_for_all_restarts_the_siblings),
        cmocka_unit_test(one_for_all_tries_again_without_memory),
        cmocka_unit_test(a_stop_that_takes_too_long_is_cut_at_its_deadline),
        cmocka_unit_test(one_that_waits_for_its_children_can_be_killed),
        cmocka_unit_test(children_end_before_parents_in_reverse_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
