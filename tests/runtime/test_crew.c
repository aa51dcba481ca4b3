/* SPDX-License-Identifier: Apache-2.0 */
/* The crew: jobs complete once, in both envs, can be cancelled, and are waited for by their actor;
 * the parallel loop runs every index once. */
#include "tests/runtime/support.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/thread.h"
#include "runtime/core/crew.h"
#include "runtime/event/env_event.h"

#define JOBS 8

struct office {
    struct job jobs[JOBS];
    atomic_uint pieces[JOBS];
    atomic_uint finished, canceled, failed, finis, running;
    uint32_t endless; /* jobs from this one on never end by themselves */
    bool cancel_them;
    atomic_bool fini_with_open_jobs;
};

static int piece(struct job *job)
{
    struct office *office = job->arg;
    uint32_t index = (uint32_t)(job - office->jobs);
    atomic_fetch_add(&office->running, 1);
    uint32_t done = atomic_fetch_add(&office->pieces[index], 1) + 1;
    if (index >= office->endless)
        return CREW_MORE;
    if (index == 1)
        return TR_EIO;
    return done < 5 ? CREW_MORE : CREW_DONE;
}

static void job_done(struct actor *self, struct job *job, int status)
{
    struct office *office = job->arg;
    (void)self;
    if (status == TR_ECANCELED)
        atomic_fetch_add(&office->canceled, 1);
    else if (status < 0)
        atomic_fetch_add(&office->failed, 1);
    atomic_fetch_add(&office->finished, 1);
}

static int start(struct actor *self, const void *arg)
{
    struct office *office = (void *)(uintptr_t)arg;
    actor_set_state(self, office);
    for (uint32_t i = 0; i < JOBS; i++) {
        office->jobs[i].piece = piece;
        office->jobs[i].done = job_done;
        office->jobs[i].arg = office;
        crew_submit(self, &office->jobs[i]);
    }
    for (uint32_t i = office->endless; i < JOBS && office->cancel_them; i++)
        crew_cancel(&office->jobs[i]);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void fini(struct actor *self)
{
    struct office *office = actor_state(self);
    atomic_fetch_add(&office->finis, 1);
    if (atomic_load(&office->finished) != JOBS)
        atomic_store(&office->fini_with_open_jobs, true);
}

static const struct actor_ops office_ops = { "office", start, receive, NULL, fini };

static bool all_finished(void *arg)
{
    return atomic_load(&((struct office *)arg)->finished) == JOBS;
}

static void check(struct office *office, uint32_t canceled)
{
    assert_int_equal(atomic_load(&office->finished), JOBS);
    assert_int_equal(atomic_load(&office->canceled), canceled);
    assert_int_equal(atomic_load(&office->failed), 1);
    assert_int_equal(atomic_load(&office->finis), 1);
    assert_false(atomic_load(&office->fini_with_open_jobs));
    assert_int_equal(atomic_load(&office->pieces[0]), 5);
    assert_int_equal(atomic_load(&office->pieces[1]), 1);
}

static void jobs_complete_once_in_the_simulator(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct office office = { .endless = 6, .cancel_them = true };
        struct env *env = NULL;
        struct address address;
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        struct node *node = support_sim_node(env, 1, 2);
        struct actor_options options = { .ops = &office_ops, .arg = &office, .loop = 1 };
        assert_int_equal(node_spawn(node, &options, &address), 0);
        assert_int_equal(node_start(node), 0);
        assert_int_equal(env_sim_run(env, all_finished, &office, 10 * ENV_SECOND_NS), 0);
        support_sim_finish(env, node);
        check(&office, 2);
        env_destroy(env);
    }
}

static void an_actor_that_ends_cancels_and_awaits_its_jobs(void **state)
{
    (void)state;
    struct office office = { .endless = 6 };
    struct env *env = NULL;
    struct address address;
    struct node *node = NULL;
    struct node_options node_options = { .loops = 2, .kinds = support_kinds() };
    struct actor_options options = { .ops = &office_ops, .arg = &office, .loop = 1 };
    assert_int_equal(env_event_create(2, &env, NULL), 0);
    assert_int_equal(node_create(env, &node_options, &node, NULL), 0);
    assert_int_equal(node_spawn(node, &options, &address), 0);
    assert_int_equal(node_start(node), 0);
    while (atomic_load(&office.finished) < 6 || atomic_load(&office.pieces[7]) == 0)
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    assert_int_equal(support_finish(node), 0);
    check(&office, 2);
    env_destroy(env);
}

struct squares {
    uint64_t values[1000];
    atomic_uint calls;
    size_t workers;
    atomic_bool bad_worker;
};

static void square(void *arg, size_t index, size_t worker)
{
    struct squares *squares = arg;
    squares->values[index] += index * index;
    atomic_fetch_add(&squares->calls, 1);
    if (worker >= squares->workers)
        atomic_store(&squares->bad_worker, true);
}

static void every_index_runs_once(void **state)
{
    (void)state;
    for (size_t threads = 0; threads < 4; threads++) {
        struct parallel *parallel = crew_parallel_create(threads);
        assert_non_null(parallel);
        assert_int_equal(parallel->workers, threads + 1);
        for (size_t count = 0; count <= 1000; count += 1 + count / 2) {
            struct squares squares = { .workers = parallel->workers };
            parallel_for(parallel, count, square, &squares);
            assert_int_equal(atomic_load(&squares.calls), count);
            assert_false(atomic_load(&squares.bad_worker));
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(squares.values[i], i < count ? i * i : 0);
        }
        crew_parallel_destroy(parallel);
    }
}

static void look_at_mask(void *arg, size_t index, size_t worker)
{
    sigset_t *masks = arg;
    (void)index;
    pthread_sigmask(SIG_BLOCK, NULL, &masks[worker]);
    /* Long enough for each worker to have a part in the loop. */
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* A program that has a use of its own for it, or none, is not ended by what its library
 * unblocks. */
static void helpers_take_the_signal_for_stacks_where_asked_alone(void **state)
{
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        struct parallel *parallel = watched ? crew_parallel_create_watched(1)
                                            : crew_parallel_create(1);
        sigset_t masks[2];
        assert_non_null(parallel);
        sigemptyset(&masks[1]);
        do
            parallel_for(parallel, 10, look_at_mask, masks);
        while (sigismember(&masks[1], SIGTERM) == 0); /* the helper had no part yet */
        assert_int_equal(sigismember(&masks[1], THREAD_STACK_SIGNAL), !watched);
        crew_parallel_destroy(parallel);
    }
}

/* Nobody goes on before all have come: so many pieces of work need so many workers at once. */
struct meeting {
    size_t workers;
    atomic_size_t came;
    atomic_uint by_worker[4];
};

static void meet(void *arg, size_t index, size_t worker)
{
    struct meeting *meeting = arg;
    (void)index;
    assert_true(worker < meeting->workers);
    atomic_fetch_add(&meeting->by_worker[worker], 1);
    atomic_fetch_add(&meeting->came, 1);
    while (atomic_load(&meeting->came) % meeting->workers != 0)
        nanosleep(&(struct timespec){ 0, 1000 }, NULL);
}

/* The memory that a worker keeps for itself is found by its number. */
static void every_worker_has_a_number_of_its_own(void **state)
{
    (void)state;
    for (size_t threads = 1; threads < 4; threads++) {
        struct parallel *parallel = crew_parallel_create(threads);
        struct meeting meeting = { .workers = threads + 1 };
        assert_non_null(parallel);
        parallel_for(parallel, threads + 1, meet, &meeting);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(atomic_load(&meeting.by_worker[i]), i <= threads);
        crew_parallel_destroy(parallel);
    }
    crew_parallel_destroy(NULL);
}

/* Blocks of many sizes, so that every lock of an allocator is taken. */
static void allocate(void)
{
    for (size_t bytes = 1; bytes < 5000; bytes += 1 + bytes / 8) {
        void *volatile block = malloc(bytes);
        free(block);
    }
}

/* METIS and measurements run in a child, beside threads that wait for work. */
static void a_child_beside_fresh_threads_has_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct parallel *parallel = crew_parallel_create(3);
        assert_non_null(parallel);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            allocate();
            _exit(0);
        }
        int status = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        crew_parallel_destroy(parallel);
    }
}

/* Clocks of a real process are the system's, and no fault is made up. */
static void a_real_process_has_the_systems_clocks(void **state)
{
    (void)state;
    struct env *env = NULL;
    struct timespec t;
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    uint64_t wall_ms = env->ops->wall_ms(env), seconds = (uint64_t)time(NULL);
    assert_true(wall_ms / 1000 <= seconds && wall_ms / 1000 + 600 > seconds);
    uint64_t first_ns = env->ops->now_ns(env);
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t then_ns = (uint64_t)t.tv_sec * ENV_SECOND_NS + (uint64_t)t.tv_nsec;
    assert_true(first_ns <= then_ns && first_ns + 600 * ENV_SECOND_NS > then_ns);
    uint64_t coarse_ns = env->ops->coarse_ns(env);
    then_ns = env->ops->now_ns(env);
    assert_true(coarse_ns <= then_ns && coarse_ns + 600 * ENV_SECOND_NS > then_ns);
    assert_true(env->ops->random(env) != env->ops->random(env));
    assert_false(env->simulated);
    assert_false(env->ops->fails(env));
    env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_complete_once_in_the_simulator),
        cmocka_unit_test(an_actor_that_ends_cancels_and_awaits_its_jobs),
        cmocka_unit_test(a_real_process_has_the_systems_clocks),
        cmocka_unit_test(every_index_runs_once),
        cmocka_unit_test(every_worker_has_a_number_of_its_own),
        cmocka_unit_test(helpers_take_the_signal_for_stacks_where_asked_alone),
        cmocka_unit_test(a_child_beside_fresh_threads_has_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
