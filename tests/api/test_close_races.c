/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads, loops of opening and closing, and extreme options against a session. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "actors/data/sampler.h"
#include "api/internal.h"
#include "api_world.h"
#include "outcome.h"

#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)

static char path[256];

struct job {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
};

static void open_job(struct job *job, const struct tr_session_options *options)
{
    ok(tr_session_open(options, &job->session, &failure));
    ok(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure));
    ok(tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &job->nodes, &failure));
}

static void close_job(struct job *job)
{
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
}

static struct tr_session_options two_loops(void)
{
    struct tr_session_options o;
    tr_session_options_init(&o);
    o.loops = 2;
    o.samplers = 2;
    return o;
}

static struct tr_loader_options small(void)
{
    struct tr_loader_options o;
    tr_loader_options_init(&o);
    o.num_layers = 2;
    o.fanout[0] = o.fanout[1] = 3;
    o.batch_size = 64;
    o.original_ids = true;
    o.features = "feat";
    return o;
}

static uint64_t sum_epoch(struct tr_loader *loader)
{
    struct tr_batch *batch;
    uint64_t sum = 0, digest;
    int rv;
    while ((rv = tr_loader_next(loader, 60 * SECOND, &batch, &failure)) == 0) {
        assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
        sum = sum * 31 + digest;
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    return sum;
}

/* More loaders in turn than a sampler may have at a time, each closed with its batches on their
 * way: none stays open anywhere. */
static void abandoned_loaders_are_forgotten(void **state)
{
    struct tr_session_options o = two_loops();
    struct tr_loader_options lo = small();
    struct job job;
    (void)state;
    open_job(&job, &o);
    for (uint32_t i = 0; i < SAMPLER_LOADERS_MAX + SAMPLER_LOADERS_MAX / 4; i++) {
        struct tr_loader *loader;
        struct tr_batch *batch = NULL;
        ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
        int rv = tr_loader_next(loader, i % 16 == 0 ? SECOND : 0, &batch, &failure);
        if (rv != TR_ETIMEDOUT)
            ok(rv);
        tr_batch_release(batch);
        tr_loader_close(loader);
    }
    struct tr_loader *loader;
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    sum_epoch(loader);
    tr_loader_close(loader);
    close_job(&job);
}

static uint64_t live_messages(const struct job *job)
{
    struct node_counters counters;
    node_counters(graph_node(job->graph), &counters);
    return counters.messages_live;
}

/* A loader that could not be opened in time leaves nothing at the proxy either: there each holds a
 * message. */
static void loaders_that_open_too_late_are_forgotten(void **state)
{
    struct tr_session_options o = two_loops();
    struct tr_loader_options lo = small();
    struct job job;
    (void)state;
    open_job(&job, &o);
    job.session->options.recovery_deadline_ns = 1;
    for (int i = 0; i < 200; i++) {
        struct tr_loader *loader;
        int rv = tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure);
        assert_true(rv == 0 || rv == TR_ETIMEDOUT);
        tr_loader_close(loader);
    }
    for (int i = 0; live_messages(&job) > 100; i++) {
        assert_true(i < 10000);
        nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
    }
    close_job(&job);
}

static void *close_graph(void *arg)
{
    tr_graph_close(arg);
    return NULL;
}

/* The last reference to a graph may go while the session is closing. */
static void graph_and_session_close_at_once(void **state)
{
    struct tr_session_options o = two_loops();
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct tr_session *session;
        struct tr_graph *graphs[2];
        pthread_t threads[2];
        ok(tr_session_open(&o, &session, &failure));
        for (int g = 0; g < 2; g++)
            ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graphs[g], &failure));
        for (int g = 0; g < 2; g++)
            assert_int_equal(pthread_create(&threads[g], NULL, close_graph, graphs[g]), 0);
        tr_session_close(session);
        for (int g = 0; g < 2; g++)
            pthread_join(threads[g], NULL);
    }
}

struct trainer {
    struct job *job;
    uint64_t sum;
};

static void *train(void *arg)
{
    struct trainer *trainer = arg;
    struct tr_loader_options lo = small();
    struct tr_loader *loader;
    lo.seed = 7;
    lo.shuffle = true;
    ok(tr_loader_open(trainer->job->graph, trainer->job->nodes, &lo, TR_WAIT_FOREVER, &loader,
                      &failure));
    trainer->sum = sum_epoch(loader);
    tr_loader_close(loader);
    return NULL;
}

static void sessions_and_graphs_do_not_disturb_each_other(void **state)
{
    struct tr_session_options o = two_loops();
    struct job jobs[3];
    struct trainer trainers[6];
    pthread_t threads[6];
    (void)state;
    open_job(&jobs[0], &o);
    o.direct = false;
    o.codec = true;
    open_job(&jobs[1], &o);
    jobs[2].session = jobs[1].session;
    ok(tr_graph_open(jobs[2].session, path, TR_WAIT_FOREVER, &jobs[2].graph, &failure));
    ok(tr_nodes_all(jobs[2].graph, 0, TR_WAIT_FOREVER, &jobs[2].nodes, &failure));
    for (int i = 0; i < 6; i++) {
        trainers[i] = (struct trainer){ .job = &jobs[i % 3] };
        assert_int_equal(pthread_create(&threads[i], NULL, train, &trainers[i]), 0);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < 6; i++)
        assert_int_equal(trainers[i].sum, trainers[0].sum);
    tr_nodes_close(jobs[2].nodes);
    tr_graph_close(jobs[2].graph);
    close_job(&jobs[1]);
    close_job(&jobs[0]);
}

static atomic_bool enough;

static void *fetch_until_closed(void *arg)
{
    struct job *job = arg;
    uint64_t ids[300];
    float rows[300 * WORLD_WIDTH];
    for (size_t i = 0; i < 300; i++)
        ids[i] = (i * 7919) % WORLD_NODES;
    int rv = 0;
    while (rv == 0)
        rv = tr_graph_fetch(job->graph, 0, "feat", ids, 300, TR_WAIT_FOREVER, rows, &failure);
    assert_int_equal(rv, TR_ECLOSED);
    return NULL;
}

static void *next_until_closed(void *arg)
{
    struct job *job = arg;
    struct tr_loader_options lo = small();
    struct tr_loader *loader;
    int rv = tr_loader_open(job->graph, job->nodes, &lo, TR_WAIT_FOREVER, &loader, &failure);
    while (rv == 0 || rv == TR_EEND) {
        struct tr_batch *batch;
        rv = tr_loader_next(loader, TR_WAIT_FOREVER, &batch, &failure);
        tr_batch_release(batch);
    }
    assert_int_equal(rv, TR_ECLOSED);
    tr_loader_close(loader);
    return NULL;
}

static void *dump_until_told(void *arg)
{
    struct job *job = arg;
    while (!atomic_load(&enough) && tr_session_dump(job->session, &failure) == 0)
        nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
    return NULL;
}

static atomic_uint lines;

/* Until the log is interrupted or closed. */
static void *take_lines(void *log)
{
    struct tr_log_line line = TR_LOG_LINE_INIT;
    int rv;
    while ((rv = tr_log_next(log, TR_WAIT_FOREVER, &line, NULL)) == 0) {
        assert_true(line.level <= TR_LOG_INFO);
        assert_true(strlen(line.text) > 0);
        atomic_fetch_add(&lines, 1);
    }
    assert_true(rv == TR_ECANCELED || rv == TR_ECLOSED);
    return NULL;
}

static void a_close_ends_every_call(void **state)
{
    struct job job = { 0 };
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct tr_session_options o = two_loops();
        pthread_t threads[6];
        o.direct = i % 2 == 0;
        ok(tr_log_open(NULL, &o.log, &failure));
        atomic_store(&enough, false);
        atomic_store(&lines, 0);
        open_job(&job, &o);
        assert_int_equal(pthread_create(&threads[5], NULL, take_lines, o.log), 0);
        for (int t = 0; t < 4; t++)
            assert_int_equal(pthread_create(&threads[t], NULL,
                                            t < 2 ? fetch_until_closed : next_until_closed, &job),
                             0);
        assert_int_equal(pthread_create(&threads[4], NULL, dump_until_told, &job), 0);
        do
            nanosleep(&(struct timespec){ .tv_nsec = 60 * MS }, NULL);
        while (atomic_load(&lines) == 0);
        atomic_store(&enough, true);
        pthread_join(threads[4], NULL);
        if (i >= 2)
            tr_session_close(job.session);
        tr_log_interrupt(o.log);
        pthread_join(threads[5], NULL);
        tr_log_close(o.log);
        if (i < 2) /* which holds the log */
            tr_session_close(job.session);
        for (int t = 0; t < 4; t++)
            pthread_join(threads[t], NULL);
        tr_nodes_close(job.nodes);
        tr_graph_close(job.graph);
        job.session = NULL;
    }
}

/* A dump that is asked for while the loops fall asleep is written, not kept for their next turn. */
static void a_dump_is_written_at_once(void **state)
{
    struct job job = { 0 };
    struct tr_session_options o = two_loops();
    (void)state;
    ok(tr_log_open(NULL, &o.log, &failure));
    open_job(&job, &o);
    for (int i = 0; i < 3000; i++) {
        struct tr_log_line line = TR_LOG_LINE_INIT;
        assert_int_equal(tr_session_dump(job.session, &failure), 0);
        for (int taken = 0; taken < 2; taken++)
            ok(tr_log_next(o.log, INT64_C(100000) * MS, &line, &failure));
    }
    tr_log_close(o.log);
    close_job(&job);
}

struct canceller {
    struct job *job;
    struct tr_loader *loader;
};

static void *cancel_often(void *arg)
{
    struct canceller *c = arg;
    while (!atomic_load(&enough))
        ok(tr_loader_cancel(c->loader, &failure));
    return NULL;
}

/* The linker gives this the calls of port_open (tests.mk): when it is armed, the port is there only
 * after the graph began to stop. */
static struct tr_graph *stopping_graph;
static atomic_bool armed, opened;

int __real_port_open(struct node *node, uint32_t loop, struct port **port);
int __wrap_port_open(struct node *node, uint32_t loop, struct port **port);

static bool is_stopping(struct tr_graph *graph)
{
    pthread_mutex_lock(&graph->mutex);
    bool stopping = graph->stopping;
    pthread_mutex_unlock(&graph->mutex);
    return stopping;
}

int __wrap_port_open(struct node *node, uint32_t loop, struct port **port)
{
    int rv = __real_port_open(node, loop, port);
    if (!atomic_exchange(&armed, false))
        return rv;
    atomic_store(&opened, true);
    while (!is_stopping(stopping_graph))
        nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
    return rv;
}

static void *close_when_opened(void *arg)
{
    while (!atomic_load(&opened))
        nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
    tr_session_close(arg);
    return NULL;
}

#define PORTS_MAX 16

static void a_port_that_comes_while_the_graph_stops_is_closed(void **state)
{
    struct graph_port *ports[PORTS_MAX];
    struct address nobody;
    struct job job;
    pthread_t closing;
    int count = 0;
    (void)state;
    const struct tr_session_options options = two_loops();
    open_job(&job, &options);
    /* Ports that are idle are taken before one is opened. */
    while (job.graph->idle != NULL && count < PORTS_MAX - 1)
        assert_int_equal(graph_enter(job.graph, &ports[count++]), 0);
    stopping_graph = job.graph;
    atomic_store(&opened, false);
    atomic_store(&armed, true);
    assert_int_equal(pthread_create(&closing, NULL, close_when_opened, job.session), 0);
    assert_int_equal(graph_enter(job.graph, &ports[count++]), 0);
    /* A call on it would hold up the close for as long as nobody of that name comes. */
    uint64_t until_ns = env_now_ns(job.graph->session->env) + (uint64_t)(20 * SECOND);
    assert_int_equal(port_find(ports[count - 1]->port, "nobody", until_ns, &nobody), TR_ECLOSED);
    while (count > 0)
        graph_leave(job.graph, ports[--count]);
    pthread_join(closing, NULL);
    tr_nodes_close(job.nodes);
    tr_graph_close(job.graph);
}

static void a_storm_of_cancels_loses_nothing(void **state)
{
    struct tr_session_options o = two_loops();
    struct tr_loader_options lo = small();
    struct job job;
    struct canceller c = { .job = &job };
    pthread_t thread;
    (void)state;
    open_job(&job, &o);
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &c.loader, &failure));
    uint64_t want = sum_epoch(c.loader);
    atomic_store(&enough, false);
    assert_int_equal(pthread_create(&thread, NULL, cancel_often, &c), 0);
    for (int i = 0; i < 300; i++) {
        struct tr_batch *batch;
        int rv = tr_loader_next(c.loader, i % 3 * MS, &batch, &failure);
        assert_true(rv == 0 || rv == TR_ECANCELED || rv == TR_ETIMEDOUT || rv == TR_EEND);
        tr_batch_release(batch);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    ok(tr_loader_begin(c.loader, 0, &failure));
    assert_int_equal(sum_epoch(c.loader), want);
    tr_loader_close(c.loader);
    close_job(&job);
}

/* Polling without waiting gets the same batches, and nothing piles up. */
static void polls_get_there(void **state)
{
    struct tr_session_options o = two_loops();
    struct tr_loader_options lo = small();
    struct job job;
    struct tr_loader *loader;
    uint64_t batches = 0, polls = 0;
    int rv;
    (void)state;
    open_job(&job, &o);
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    do {
        struct tr_batch *batch;
        rv = tr_loader_next(loader, 0, &batch, &failure);
        assert_true(rv == 0 || rv == TR_ETIMEDOUT || rv == TR_EEND);
        batches += rv == 0;
        tr_batch_release(batch);
        assert_true(++polls < 50000000);
    } while (rv != TR_EEND);
    assert_int_equal(batches, tr_loader_num_batches(loader));
    tr_loader_close(loader);
    close_job(&job);
}

static void extremes(void **state)
{
    struct tr_session_options o = two_loops();
    struct job job;
    struct tr_nodes *none;
    struct tr_loader *loader;
    struct tr_batch *batch;
    (void)state;
    o.memory_bytes_max = 1;
    open_job(&job, &o);
    ok(tr_nodes_listed(job.graph, 0, NULL, 0, TR_WAIT_FOREVER, &none, &failure));
    ok(tr_graph_fetch(job.graph, 0, "feat", NULL, 0, 0, NULL, &failure));
    struct tr_loader_options lo = small();
    ok(tr_loader_open(job.graph, none, &lo, TR_WAIT_FOREVER, &loader, &failure));
    assert_int_equal(tr_loader_num_batches(loader), 0);
    assert_int_equal(tr_loader_next(loader, 0, &batch, &failure), TR_EEND);
    tr_loader_close(loader);
    tr_nodes_close(none);
    /* One byte is too little for any batch: that is said, and nothing hangs. */
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    int rv;
    while ((rv = tr_loader_next(loader, 5 * SECOND, &batch, &failure)) == TR_ETIMEDOUT) {
    } /* a slow machine has not looked for room yet */
    assert_int_equal(rv, TR_EFULL);
    assert_non_null(strstr(failure.message, "memory_bytes_max"));
    tr_loader_close(loader);
    close_job(&job);

    o.memory_bytes_max = 0;
    open_job(&job, &o);
    lo.fanout[0] = lo.fanout[1] = 0;
    lo.prefetch = UINT32_MAX;
    lo.batch_size = UINT32_MAX;
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    assert_int_equal(tr_loader_num_batches(loader), 1);
    ok(tr_loader_next(loader, INT64_MAX, &batch, &failure));
    assert_int_equal(tr_batch_num_seeds(batch, 0), WORLD_NODES);
    tr_loader_close(loader);
    lo.batch_size = 1;
    lo.world = UINT32_MAX;
    lo.rank = UINT32_MAX - 1;
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    sum_epoch(loader);
    tr_loader_close(loader);
    close_job(&job);
    assert_int_equal(tr_batch_num_seeds(batch, 0), WORLD_NODES);
    tr_batch_release(batch);
}

/* A session that failed to open tells why and refuses the rest. */
static void a_session_that_failed_is_none(void **state)
{
    struct tr_session_options o = two_loops();
    struct tr_session *session;
    (void)state;
    o.recovery_deadline_ns = -5;
    assert_int_equal(tr_session_open(&o, &session, &failure), TR_EINVAL);
    assert_null(session);
    assert_non_null(strstr(failure.message, "-5"));
    tr_session_close(session);
}

static int setup(void **state)
{
    world_setup(state);
    world_partition(PARTITION_RANDOM, 3, path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_that_failed_is_none),
        cmocka_unit_test(extremes),
        cmocka_unit_test(loaders_that_open_too_late_are_forgotten),
        cmocka_unit_test(abandoned_loaders_are_forgotten),
        cmocka_unit_test(graph_and_session_close_at_once),
        cmocka_unit_test(sessions_and_graphs_do_not_disturb_each_other),
        cmocka_unit_test(a_close_ends_every_call),
        cmocka_unit_test(a_port_that_comes_while_the_graph_stops_is_closed),
        cmocka_unit_test(a_dump_is_written_at_once),
        cmocka_unit_test(a_storm_of_cancels_loses_nothing),
        cmocka_unit_test(polls_get_there),
    };
    return cmocka_run_group_tests(tests, setup, world_teardown);
}
