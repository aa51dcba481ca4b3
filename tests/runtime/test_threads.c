/* SPDX-License-Identifier: Apache-2.0 */
/* The fault world on real threads: calls, monitors, kills and restarts race; all completes once. */
#include "tests/runtime/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/crew.h"
#include "runtime/core/directory.h"
#include "runtime/core/dump.h"
#include "runtime/core/loop.h"
#include "runtime/core/monitor.h"
#include "runtime/core/supervisor.h"
#include "runtime/core/timer.h"
#include "runtime/event/env_event.h"

#define LOOPS 3
#define CALLERS 3
#define CALLS 400

struct town {
    atomic_uint opened, completed, replies, monitors, downs, finished;
    atomic_uint lines;
};

struct caller {
    struct town *town;
    struct address worker;
    uint32_t made;
    struct timer timer;
};

static int worker_start(struct actor *self, const void *arg)
{
    char name[DIRECTORY_NAME_MAX];
    (void)arg;
    snprintf(name, sizeof name, "%s", actor_name(self));
    return directory_register(self, name, NULL, NULL);
}

static int worker_receive(struct actor *self, struct message *message)
{
    if (actor_random(self) % 50 == 0) {
        message_release(self, message);
        return TR_EIO;
    }
    struct message *reply = message_create(self, KIND_ANSWER);
    if (reply == NULL)
        return TR_ENOMEM;
    struct buffer *body = message_body_detach(message);
    if (body != NULL)
        message_body_attach(reply, body, 64);
    return actor_reply(self, message, reply);
}

static const struct actor_ops worker_ops = { "worker", worker_start, worker_receive, NULL, NULL };

static void find_worker(struct actor *self, void *arg);

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct caller *caller = arg;
    atomic_fetch_add(&caller->town->completed, 1);
    atomic_fetch_add(&caller->town->replies, status == 0);
    message_release(self, reply);
}

static void went_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct caller *caller = arg;
    (void)who;
    (void)self;
    (void)reason;
    atomic_fetch_add(&caller->town->downs, 1);
}

static void call_some(struct actor *self, struct caller *caller)
{
    for (int i = 0; i < 20; i++) {
        struct message *request = message_create(self, KIND_ASK);
        if (request == NULL)
            return;
        message_body_alloc(self, request, 64 + actor_random(self) % 5000);
        uint64_t deadline_ns = actor_now_ns(self) + actor_random(self) % 2000000;
        if (actor_call(self, caller->worker, request, deadline_ns, answered, caller, NULL) == 0)
            atomic_fetch_add(&caller->town->opened, 1);
    }
    if (actor_monitor(self, caller->worker, went_down, caller, NULL) == 0)
        atomic_fetch_add(&caller->town->monitors, 1);
    caller->made += 20;
    if (actor_random(self) % 8 == 0)
        actor_kill(self, caller->worker, TR_EIO);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct caller *caller = arg;
    if (status == TR_ECANCELED)
        return;
    caller->worker = address;
    if (status == 0)
        call_some(self, caller);
    if (caller->made < CALLS)
        timer_start(self, &caller->timer, actor_now_ns(self) + 200000, find_worker, caller);
    else
        atomic_fetch_add(&caller->town->finished, 1);
}

static void find_worker(struct actor *self, void *arg)
{
    struct caller *caller = arg;
    char name[32];
    snprintf(name, sizeof name, "worker-%u", (unsigned)(actor_random(self) % LOOPS));
    directory_wait(self, name, actor_now_ns(self) + 100000000, found, caller);
}

static int caller_start(struct actor *self, const void *arg)
{
    struct caller *caller = calloc(1, sizeof *caller);
    if (caller == NULL)
        return TR_ENOMEM;
    actor_set_state(self, caller);
    caller->town = (void *)(uintptr_t)arg;
    find_worker(self, caller);
    return 0;
}

static void caller_fini(struct actor *self)
{
    free(actor_state(self));
}

static const struct actor_ops caller_ops = { "caller", caller_start, support_discard, NULL,
                                             caller_fini };

static int mayor_start(struct actor *self, const void *arg)
{
    struct supervisor_options often = { .max_restarts = SUPERVISOR_RESTARTS_MAX, .period_ns = 1 };
    assert_int_equal(actor_supervise(self, &often), 0);
    for (uint32_t i = 0; i < LOOPS; i++) {
        char name[32];
        struct address address;
        snprintf(name, sizeof name, "worker-%u", i);
        struct actor_options options = {
            .ops = &worker_ops, .arg = arg, .name = name, .loop = i, .restart = ACTOR_RESTART_ALWAYS
        };
        assert_int_equal(actor_spawn(self, &options, &address), 0);
    }
    return 0;
}

static const struct actor_ops mayor_ops = { "mayor", mayor_start, support_discard, NULL, NULL };

static void count_line(void *arg, enum log_level level, const char *component, const char *line)
{
    (void)component;
    (void)level;
    (void)line;
    atomic_fetch_add(&((struct town *)arg)->lines, 1);
}

static void all_completes_once_on_threads(void **state)
{
    (void)state;
    struct town town = { 0 };
    struct env *env = NULL;
    struct node *node = NULL;
    struct address address;
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    struct node_options options = { .loops = LOOPS,
                                    .kinds = support_kinds(),
                                    .log = { count_line, &town, LOG_LEVEL_INFO } };
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    struct actor_options mayor = { .ops = &mayor_ops, .arg = &town };
    assert_int_equal(node_spawn(node, &mayor, &address), 0);
    for (uint32_t i = 0; i < CALLERS; i++) {
        struct actor_options caller = { .ops = &caller_ops, .arg = &town, .loop = i % LOOPS };
        assert_int_equal(node_spawn(node, &caller, &address), 0);
    }
    assert_int_equal(node_start(node), 0);
    for (int i = 0; i < 20000 && atomic_load(&town.finished) < CALLERS; i++) {
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
        if (i % 10 == 0)
            node_dump_request(node);
    }
    assert_int_equal(atomic_load(&town.finished), CALLERS);
    assert_int_equal(support_finish(node), 0);
    assert_true(atomic_load(&town.opened) >= CALLERS * CALLS / 2);
    assert_true(atomic_load(&town.replies) > 0);
    assert_int_equal(atomic_load(&town.opened), atomic_load(&town.completed));
    assert_int_equal(atomic_load(&town.monitors), atomic_load(&town.downs));
    assert_true(atomic_load(&town.lines) > 0);
    env_destroy(env);
}

#define FALLS 300
#define OBSERVERS 100 /* of each at most */

static int fall(struct actor *self, const void *arg)
{
    (void)self, (void)arg;
    return TR_EIO;
}

static const struct actor_ops faller_ops = { "faller", fall, support_discard, NULL, NULL };
static const struct actor_ops observer_ops = { "observer", NULL, support_discard, NULL, NULL };

/* The root actor ends by itself when a child may not be restarted any more, while this thread knows
 * nothing of it and spawns. */
static void roots_spawned_while_the_node_falls_end_with_it(void **state)
{
    (void)state;
    struct env *env = NULL;
    struct address address;
    uint32_t spawned = 0, fallen = 0;
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    for (uint32_t i = 0; i < FALLS; i++) {
        struct node *node = NULL;
        const struct node_options options = { .loops = LOOPS, .kinds = support_kinds() };
        const struct actor_options faller = { .ops = &faller_ops,
                                              .loop = i % LOOPS,
                                              .restart = ACTOR_RESTART_ALWAYS };
        struct actor_options observer = { .ops = &observer_ops };
        assert_int_equal(node_create(env, &options, &node, NULL), 0);
        assert_int_equal(node_spawn(node, &faller, &address), 0);
        assert_int_equal(node_start(node), 0);
        for (uint32_t j = 0; j < OBSERVERS && node_spawn(node, &observer, &address) == 0; j++)
            observer.loop = ++spawned % LOOPS;
        fallen += support_finish(node) < 0; /* else it was stopped before */
    }
    assert_true(spawned > FALLS && fallen > 0);
    env_destroy(env);
}

#define LATE_NODES 10
#define LATE_NS 20000000

/* The real env, in which a wake by the crew takes long after the loop has heard it. A wake that is
 * under way counts for its driver, which then may not be destroyed. */
static _Thread_local bool in_crew;
static const struct env_ops *real_ops;
static struct {
    pthread_mutex_t mutex;
    void *drivers[64];
    uint32_t num, late, cut; /* drivers above; all wakes; destroyed while one was under way */
} wakes = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void wake_late(struct env *env, void *driver)
{
    if (!in_crew) {
        real_ops->loop_wake(env, driver);
        return;
    }
    pthread_mutex_lock(&wakes.mutex);
    assert_true(wakes.num < 64);
    wakes.drivers[wakes.num++] = driver;
    wakes.late++;
    pthread_mutex_unlock(&wakes.mutex);
    real_ops->loop_wake(env, driver);
    nanosleep(&(struct timespec){ 0, LATE_NS }, NULL);
    pthread_mutex_lock(&wakes.mutex);
    uint32_t i = 0;
    while (wakes.drivers[i] != driver)
        i++;
    wakes.drivers[i] = wakes.drivers[--wakes.num];
    pthread_mutex_unlock(&wakes.mutex);
}

static void destroy_watched(struct env *env, void *driver)
{
    pthread_mutex_lock(&wakes.mutex);
    for (uint32_t i = 0; i < wakes.num; i++)
        wakes.cut += wakes.drivers[i] == driver;
    pthread_mutex_unlock(&wakes.mutex);
    real_ops->loop_destroy(env, driver);
}

/* Works until the actor's loop sleeps, so that its end has to wake it. */
static int work_shortly(struct job *job)
{
    struct inbox *inbox = &job->actor->loop->inbox;
    in_crew = true;
    pthread_mutex_lock(&inbox->mutex);
    bool sleeping = inbox->sleeping;
    pthread_mutex_unlock(&inbox->mutex);
    return sleeping ? CREW_DONE : CREW_MORE;
}

static void end_after_work(struct actor *self, struct job *job, int status)
{
    (void)job;
    actor_exit(self, status);
}

static int start_work(struct actor *self, const void *arg)
{
    struct job *job = (struct job *)(uintptr_t)arg;
    *job = (struct job){ .piece = work_shortly, .done = end_after_work };
    crew_submit(self, job);
    return 0;
}

static const struct actor_ops briefly_ops = { "briefly", start_work, support_discard, NULL, NULL };

/* The crew's thread may still be in the wake that brought the end of the job, with which the actor,
 * its node and the loop end. */
static void a_loop_outlives_those_who_wake_it(void **state)
{
    (void)state;
    struct env *env = NULL;
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    real_ops = env->ops;
    struct env_ops late_ops = *real_ops;
    late_ops.loop_wake = wake_late;
    late_ops.loop_destroy = destroy_watched;
    env->ops = &late_ops;
    for (uint32_t i = 0; i < LATE_NODES; i++) {
        struct node *node = NULL;
        struct address address;
        struct job job = { 0 };
        const struct node_options options = { .loops = LOOPS, .kinds = support_kinds() };
        const struct actor_options briefly = { .ops = &briefly_ops, .arg = &job, .loop = 1 };
        assert_int_equal(node_create(env, &options, &node, NULL), 0);
        assert_int_equal(node_spawn(node, &briefly, &address), 0);
        assert_int_equal(node_start(node), 0);
        assert_int_equal(support_finish(node), 0);
    }
    env->ops = real_ops;
    env_destroy(env);
    assert_true(wakes.late > 0);
    assert_int_equal(wakes.num, 0);
    assert_int_equal(wakes.cut, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_completes_once_on_threads),
        cmocka_unit_test(roots_spawned_while_the_node_falls_end_with_it),
        cmocka_unit_test(a_loop_outlives_those_who_wake_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
