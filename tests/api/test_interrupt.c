/* SPDX-License-Identifier: Apache-2.0 */
/* tr_session_interrupt() ends every call that waits, whenever it comes, and loses nothing. */
#include "config.h" /* pthread_timedjoin_np */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "api/internal.h"
#include "api_world.h"
#include "outcome.h"
#include "partition/store/npy.h"
#include "runtime/base/files.h"
#include "tests/scratch.h"

#define SECOND INT64_C(1000000000)
#define PARTS 2u
#define PROCESSES 4u /* two servers, a sampler, a trainer */
#define SECOND_SERVER 1u
#define TRAINER 3u
#define VALUES 5u

struct job {
    char folder[64], file[80], path[256];
    struct tr_session *session; /* of the trainer */
    struct tr_graph *graph;
    struct tr_session *sessions[TRAINER];
    struct tr_graph *graphs[TRAINER];
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    struct tr_group *groups[2];
    struct tr_batch *batch;
};

/* One call that waits. */
struct call {
    const char *name;
    int (*make)(struct job *job);
};

struct caller {
    const struct call *call;
    struct job *job;
    pthread_t thread;
    int rv;
};

static void *run_call(void *arg)
{
    struct caller *caller = arg;
    caller->rv = caller->call->make(caller->job);
    return NULL;
}

static void begin(struct caller *caller, struct job *job, const struct call *call)
{
    *caller = (struct caller){ .job = job, .call = call };
    assert_int_equal(pthread_create(&caller->thread, NULL, run_call, caller), 0);
}

/* Far below the recovery deadline of 600 s, by which the call would end anyway. */
static void expect_end(struct caller *caller, int rv)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    if (pthread_timedjoin_np(caller->thread, NULL, &until) != 0)
        fail_msg("%s still waits", caller->call->name);
    if (caller->rv != rv)
        fail_msg("%s gave %s", caller->call->name, tr_error_name(caller->rv));
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static struct tr_session *handled;

static void interrupt_in_handler(int number)
{
    (void)number;
    tr_session_interrupt(handled);
}

/* Before the call, about when it begins, while it sleeps, and in a handler on its own thread. */
static void interrupt_each(struct job *job, const struct call *calls, size_t count)
{
    struct sigaction action = { .sa_handler = interrupt_in_handler }, before;
    struct caller caller;
    handled = job->session;
    sigaction(SIGUSR1, &action, &before);
    for (size_t i = 0; i < count; i++) {
        tr_session_interrupt(job->session);
        begin(&caller, job, &calls[i]);
        expect_end(&caller, TR_ECANCELED);
        tr_session_resume(job->session);

        for (long ms = 0; ms <= 200; ms += 100) {
            begin(&caller, job, &calls[i]);
            pause_ms(ms);
            tr_session_interrupt(job->session);
            expect_end(&caller, TR_ECANCELED);
            tr_session_resume(job->session);
        }
        begin(&caller, job, &calls[i]);
        pause_ms(200);
        pthread_kill(caller.thread, SIGUSR1);
        expect_end(&caller, TR_ECANCELED);
        tr_session_resume(job->session);

        /* Resumed at once: what was inside ends all the same, if it was. */
        begin(&caller, job, &calls[i]);
        pause_ms(200);
        for (int again = 0; again < 3; again++)
            tr_session_interrupt(job->session);
        tr_session_resume(job->session);
        pause_ms(100);
        tr_session_interrupt(job->session);
        expect_end(&caller, TR_ECANCELED);
        tr_session_resume(job->session);
    }
    sigaction(SIGUSR1, &before, NULL);
}

static void write_cluster(struct job *job)
{
    assert_non_null(scratch_folder(job->folder, sizeof job->folder, "interrupt"));
    snprintf(job->file, sizeof job->file, "%s/c.json", job->folder);
    FILE *to = fopen(job->file, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"seed\": 9, \"direct\": false, \"hosts\": "
            "[{\"name\": \"a\", \"unix\": \"%s/s\", \"servers\": 2, \"samplers\": 1, "
            "\"trainers\": 1, \"loops\": 1, \"processes\": \"role\"}]}",
            job->path, job->folder);
    assert_int_equal(fclose(to), 0);
}

static void open_process(const struct job *job, uint32_t process, uint32_t incarnation,
                         struct tr_session **session, struct tr_graph **graph)
{
    struct tr_session_options o;
    tr_session_options_init(&o);
    o.cluster = job->file;
    o.process = process;
    o.incarnation = incarnation;
    ok(tr_session_open(&o, session, &failure));
    ok(tr_graph_open(*session, NULL, TR_WAIT_FOREVER, graph, &failure));
}

static void open_trainer(struct job *job)
{
    *job = (struct job){ 0 };
    world_partition(PARTITION_RANDOM, PARTS, job->path);
    write_cluster(job);
    open_process(job, TRAINER, 1, &job->session, &job->graph);
}

static void close_job(struct job *job)
{
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    for (int g = 0; g < 2; g++)
        tr_group_close(job->groups[g]);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
    for (uint32_t p = 0; p < TRAINER; p++) {
        tr_graph_close(job->graphs[p]);
        tr_session_close(job->sessions[p]);
    }
    assert_int_equal(files_remove_tree(files_posix, job->folder, NULL), 0);
}

/* Making such a set asks nobody; its members are read from the servers. */
static int read_members(struct tr_nodes *nodes)
{
    uint64_t ids[2];
    int rv = tr_nodes_ids(nodes, 0, 2, TR_WAIT_FOREVER, ids, &failure);
    tr_nodes_close(nodes);
    return rv;
}

static int call_nodes_all(struct job *job)
{
    struct tr_nodes *nodes;
    int rv = tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &nodes, &failure);
    return rv != 0 ? rv : read_members(nodes);
}

static int call_nodes_masked(struct job *job)
{
    struct tr_nodes *nodes;
    int rv = tr_nodes_masked(job->graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &failure);
    return rv != 0 ? rv : read_members(nodes);
}

static int call_nodes_listed(struct job *job)
{
    const uint64_t ids[] = { 1, 2 };
    struct tr_nodes *nodes;
    return tr_nodes_listed(job->graph, 0, ids, 2, TR_WAIT_FOREVER, &nodes, &failure);
}

static int call_fetch(struct job *job)
{
    const uint64_t ids[] = { 0, WORLD_NODES - 1 };
    float rows[2 * WORLD_WIDTH];
    return tr_graph_fetch(job->graph, 0, "feat", ids, 2, TR_WAIT_FOREVER, rows, &failure);
}

static int call_original_ids(struct job *job)
{
    const uint64_t ids[] = { 0, WORLD_NODES - 1 };
    uint64_t original[2];
    return tr_graph_original_ids(job->graph, 0, ids, 2, TR_WAIT_FOREVER, original, &failure);
}

static int call_degrees(struct job *job)
{
    const uint64_t ids[] = { 0, WORLD_NODES - 1 };
    uint32_t degrees[2];
    return tr_graph_degrees(job->graph, 0, ids, 2, TR_WAIT_FOREVER, NULL, degrees, &failure);
}

static int call_find_edges(struct job *job)
{
    const uint64_t ids[] = { 0, WORLD_EDGES - 1 };
    uint64_t sources[2];
    return tr_graph_find_edges(job->graph, 0, ids, 2, TR_WAIT_FOREVER, sources, NULL, &failure);
}

static int call_original_edge_ids(struct job *job)
{
    const uint64_t ids[] = { 0, WORLD_EDGES - 1 };
    uint64_t originals[2];
    return tr_graph_original_edge_ids(job->graph, 0, ids, 2, TR_WAIT_FOREVER, originals, &failure);
}

static int call_nodes_original_ids(struct job *job)
{
    struct tr_nodes *nodes;
    uint64_t ids[2];
    int rv = tr_nodes_masked(job->graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &failure);
    if (rv != 0)
        return rv;
    rv = tr_nodes_original_ids(nodes, 0, 2, TR_WAIT_FOREVER, ids, &failure);
    tr_nodes_close(nodes);
    return rv;
}

static int call_edges_ids(struct job *job)
{
    struct tr_nodes *edges;
    uint64_t ids[2];
    int rv = tr_edges_all(job->graph, 0, &edges, &failure);
    if (rv != 0)
        return rv;
    rv = tr_edges_ids(edges, 0, 2, TR_WAIT_FOREVER, ids, &failure);
    tr_nodes_close(edges);
    return rv;
}

/* By a file, so that the servers are asked; one trainer has all nodes. */
static int call_nodes_deal(struct job *job)
{
    static const int32_t trainers[WORLD_NODES];
    const uint64_t shape = WORLD_NODES;
    struct tr_nodes *nodes, *group;
    struct error error = { 0 };
    char path[80];
    snprintf(path, sizeof path, "%s/deal.npy", job->folder);
    unlink(path);
    int rv = npy_write(files_posix, path, "<i4", 1, &shape, trainers, &error);
    if (rv == 0)
        rv = tr_nodes_masked(job->graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &failure);
    if (rv != 0)
        return rv;
    rv = tr_nodes_deal(nodes, path, 0, 1, TR_WAIT_FOREVER, &group, &failure);
    tr_nodes_close(nodes);
    return rv;
}

static int call_sample(struct job *job)
{
    const uint64_t seeds[] = { 0, WORLD_NODES - 1 };
    struct tr_sample_options o;
    struct tr_sample_spec *spec;
    struct tr_batch *batch;
    ok(tr_sample_spec_create(job->graph, 1, &spec, &failure));
    tr_sample_options_init(&o);
    o.spec = spec;
    o.seeds = seeds;
    o.num_seeds = 2;
    int rv = tr_sample(job->graph, &o, TR_WAIT_FOREVER, &batch, &failure);
    tr_sample_spec_destroy(spec);
    return rv;
}

static int call_group_done(struct job *job)
{
    return tr_group_done(job->groups[0], TR_WAIT_FOREVER, &failure);
}

static int call_group_complete(struct job *job)
{
    return tr_group_complete(job->groups[0], TR_WAIT_FOREVER, &failure);
}

static int call_restore(struct job *job)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    return tr_group_restore(job->groups[0], TR_WAIT_FOREVER, &checkpoint, &failure);
}

static int call_wait_end(struct job *job)
{
    return tr_graph_wait_end(job->graph, TR_WAIT_FOREVER, &failure);
}

static void calls_that_wait_for_peers_end(void **state)
{
    static const struct call calls[] = {
        { "tr_nodes_ids of all", call_nodes_all },
        { "tr_nodes_ids of a mask", call_nodes_masked },
        { "tr_nodes_listed", call_nodes_listed },
        { "tr_graph_fetch", call_fetch },
        { "tr_graph_original_ids", call_original_ids },
        { "tr_graph_degrees", call_degrees },
        { "tr_graph_find_edges", call_find_edges },
        { "tr_graph_original_edge_ids", call_original_edge_ids },
        { "tr_nodes_original_ids", call_nodes_original_ids },
        { "tr_edges_ids", call_edges_ids },
        { "tr_nodes_deal", call_nodes_deal },
        { "tr_sample", call_sample },
        { "tr_group_restore", call_restore },
        { "tr_graph_wait_end", call_wait_end },
    };
    struct job job;
    (void)state;
    open_trainer(&job);
    ok(tr_group_open(job.graph, 0, &job.groups[0], &failure));
    interrupt_each(&job, calls, sizeof calls / sizeof *calls);
    close_job(&job);
}

static int call_graph_open(struct job *job)
{
    struct tr_graph *graph;
    int rv = tr_graph_open(job->session, job->path, TR_WAIT_FOREVER, &graph, &failure);
    tr_graph_close(graph);
    return rv;
}

/* It waits for nobody but its own disk and actors; so it may be faster than the interrupt. */
static void opening_a_graph_ends_too(void **state)
{
    static const struct call call = { "tr_graph_open", call_graph_open };
    struct job job = { 0 };
    struct caller caller;
    (void)state;
    world_partition(PARTITION_RANDOM, PARTS, job.path);
    ok(tr_session_open(NULL, &job.session, &failure));
    tr_session_interrupt(job.session);
    begin(&caller, &job, &call);
    expect_end(&caller, TR_ECANCELED);
    tr_session_resume(job.session);
    for (long us = 0; us < 30; us++) {
        begin(&caller, &job, &call);
        nanosleep(&(struct timespec){ .tv_nsec = us * 300000 }, NULL);
        tr_session_interrupt(job.session);
        pthread_join(caller.thread, NULL);
        if (caller.rv != TR_ECANCELED)
            ok(caller.rv);
        tr_session_resume(job.session);
    }
    ok(call_graph_open(&job));
    tr_session_close(job.session);
}

/* Sums of files that were computed, and the session that the one of that number interrupts. */
static atomic_uint sums;
static unsigned interrupt_at;
static struct tr_session *summing;

uint32_t __real_crc32c(uint32_t crc, const void *bytes, size_t count);
uint32_t __wrap_crc32c(uint32_t crc, const void *bytes, size_t count);

uint32_t __wrap_crc32c(uint32_t crc, const void *bytes, size_t count)
{
    unsigned before = atomic_fetch_add(&sums, 1);
    if (summing != NULL && before == interrupt_at)
        tr_session_interrupt(summing);
    return __real_crc32c(crc, bytes, count);
}

/* Also where there is one partition, which is not begun anew for each file. */
static void opening_a_graph_ends_between_its_files(void **state)
{
    struct job job = { 0 };
    struct tr_session_options o;
    struct tr_graph *graph;
    (void)state;
    world_partition(PARTITION_RANDOM, 1, job.path);
    tr_session_options_init(&o);
    o.loops = 1; /* one thread reads, so that no other has begun a file meanwhile */
    ok(tr_session_open(&o, &job.session, &failure));
    atomic_store(&sums, 0);
    ok(call_graph_open(&job));
    unsigned all = atomic_load(&sums);
    assert_true(all > 12);
    summing = job.session;
    for (interrupt_at = 4; interrupt_at < all; interrupt_at += 3) {
        atomic_store(&sums, 0);
        assert_int_equal(call_graph_open(&job), TR_ECANCELED);
        /* At most the sums of the headers of that file and of the next follow. */
        assert_true(atomic_load(&sums) <= interrupt_at + 3);
        tr_session_resume(job.session);
    }
    summing = NULL;
    atomic_store(&sums, 0);
    assert_int_equal(tr_graph_open(job.session, job.path, 0, &graph, &failure), TR_ETIMEDOUT);
    assert_null(graph);
    assert_true(atomic_load(&sums) < all);
    ok(call_graph_open(&job));
    tr_session_close(job.session);
}

static int call_map_parts(struct job *job)
{
    return tr_graph_map_parts(job->graph, &failure);
}

/* A trainer has no partition of its own; what one call has not mapped the next one does. */
static void mapping_partitions_ends_between_their_files(void **state)
{
    static const struct call call = { "tr_graph_map_parts", call_map_parts };
    struct tr_part_nodes nodes = TR_PART_NODES_INIT;
    struct caller caller;
    struct job job;
    (void)state;
    open_trainer(&job);
    assert_int_equal(tr_graph_part_nodes(job.graph, 0, 0, &nodes, &failure), TR_ENOENT);
    tr_session_interrupt(job.session);
    begin(&caller, &job, &call);
    expect_end(&caller, TR_ECANCELED);
    tr_session_resume(job.session);
    summing = job.session;
    for (interrupt_at = 0; interrupt_at < 4; interrupt_at++) {
        atomic_store(&sums, 0);
        assert_int_equal(call_map_parts(&job), TR_ECANCELED);
        assert_true(atomic_load(&sums) <= interrupt_at + 3);
        tr_session_resume(job.session);
    }
    summing = NULL;
    ok(call_map_parts(&job));
    ok(tr_graph_part_nodes(job.graph, PARTS - 1, 0, &nodes, &failure));
    close_job(&job);
}

/* How long reading is held up, and the time that was left to what comes after it. */
static long hold_up_ms;
static int64_t left_ns;

int __real_graph_load(struct tr_graph *graph, const char *path, int64_t timeout_ns,
                      struct error *error);
int __wrap_graph_load(struct tr_graph *graph, const char *path, int64_t timeout_ns,
                      struct error *error);
int __real_graph_link(struct tr_graph *graph, int64_t timeout_ns, struct error *error);
int __wrap_graph_link(struct tr_graph *graph, int64_t timeout_ns, struct error *error);

int __wrap_graph_load(struct tr_graph *graph, const char *path, int64_t timeout_ns,
                      struct error *error)
{
    int rv = __real_graph_load(graph, path, timeout_ns, error);
    pause_ms(hold_up_ms);
    return rv;
}

int __wrap_graph_link(struct tr_graph *graph, int64_t timeout_ns, struct error *error)
{
    left_ns = timeout_ns;
    return __real_graph_link(graph, timeout_ns, error);
}

static void the_time_to_open_a_graph_counts_once(void **state)
{
    struct job job = { 0 };
    struct tr_graph *graph;
    (void)state;
    world_partition(PARTITION_RANDOM, PARTS, job.path);
    ok(tr_session_open(NULL, &job.session, &failure));
    hold_up_ms = 100;
    ok(tr_graph_open(job.session, job.path, 200 * SECOND, &graph, &failure));
    assert_true(left_ns <= 200 * SECOND - 100 * 1000000);
    tr_graph_close(graph);
    ok(tr_graph_open(job.session, job.path, TR_WAIT_FOREVER, &graph, &failure));
    assert_true(left_ns < 0);
    tr_graph_close(graph);
    hold_up_ms = 0;
    tr_session_close(job.session);
}

static void *close_session(void *session)
{
    tr_session_close(session);
    return NULL;
}

static sem_t held;

/* A loop that does not get on. */
static int hold_loop(struct actor *self, const void *arg)
{
    (void)self;
    (void)arg;
    while (sem_wait(&held) != 0) {
    } /* interrupted */
    return 0;
}

static int refuse(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static int call_serve_metrics(struct job *job)
{
    return tr_graph_serve_metrics(job->graph, "0", TR_WAIT_FOREVER, NULL, 0, &failure);
}

static void a_call_to_a_loop_that_hangs_ends_too(void **state)
{
    static const struct call calls[] = { { "tr_graph_serve_metrics", call_serve_metrics } };
    static const struct actor_ops ops = { .name = "hold", .start = hold_loop, .receive = refuse };
    const struct actor_options holder = { .ops = &ops };
    struct tr_session_options o;
    struct address address;
    struct caller caller;
    struct job job = { 0 };
    (void)state;
    world_partition(PARTITION_RANDOM, PARTS, job.path);
    tr_session_options_init(&o);
    o.loops = 1;
    ok(tr_session_open(&o, &job.session, &failure));
    ok(tr_graph_open(job.session, job.path, TR_WAIT_FOREVER, &job.graph, &failure));
    assert_int_equal(sem_init(&held, 0, 0), 0);
    ok(node_spawn(graph_node(job.graph), &holder, &address));
    interrupt_each(&job, calls, 1);
    assert_int_equal(tr_graph_serve_metrics(job.graph, "0", 1, NULL, 0, &failure), TR_ETIMEDOUT);
    /* Closing the session ends it as well, before the loop gets on. */
    begin(&caller, &job, &calls[0]);
    pthread_t closer;
    assert_int_equal(pthread_create(&closer, NULL, close_session, job.session), 0);
    expect_end(&caller, TR_ECLOSED);
    assert_int_equal(sem_post(&held), 0);
    pthread_join(closer, NULL);
    tr_graph_close(job.graph);
    sem_destroy(&held);
}

static int call_next(struct job *job)
{
    return tr_loader_next(job->loader, TR_WAIT_FOREVER, &job->batch, &failure);
}

static int call_loader_open(struct job *job)
{
    struct tr_loader_options o;
    struct tr_loader *loader;
    tr_loader_options_init(&o);
    int rv = tr_loader_open(job->graph, job->nodes, &o, TR_WAIT_FOREVER, &loader, &failure);
    tr_loader_close(loader);
    return rv;
}

static void a_loader_loses_nothing(void **state)
{
    static const struct call next = { "tr_loader_next", call_next };
    static const struct call open = { "tr_loader_open", call_loader_open };
    struct tr_loader_options o;
    struct caller caller;
    struct job job;
    (void)state;
    open_trainer(&job);
    for (uint32_t p = 0; p < TRAINER; p++)
        open_process(&job, p, 1, &job.sessions[p], &job.graphs[p]);
    ok(tr_nodes_all(job.graph, 0, TR_WAIT_FOREVER, &job.nodes, &failure));
    /* From now on no batch is whole. */
    tr_graph_close(job.graphs[SECOND_SERVER]);
    tr_session_close(job.sessions[SECOND_SERVER]);
    tr_loader_options_init(&o);
    o.batch_size = 100;
    o.features = "feat";
    ok(tr_loader_open(job.graph, job.nodes, &o, TR_WAIT_FOREVER, &job.loader, &failure));
    interrupt_each(&job, &next, 1);
    tr_session_interrupt(job.session);
    begin(&caller, &job, &open);
    expect_end(&caller, TR_ECANCELED);
    tr_session_resume(job.session);

    begin(&caller, &job, &next);
    open_process(&job, SECOND_SERVER, 2, &job.sessions[SECOND_SERVER], &job.graphs[SECOND_SERVER]);
    expect_end(&caller, 0);
    assert_int_equal(tr_batch_index(job.batch), 0);
    tr_batch_release(job.batch);
    ok(call_next(&job));
    assert_int_equal(tr_batch_index(job.batch), 1);
    tr_batch_release(job.batch);
    close_job(&job);
}

static int reduce(struct job *job, int rank)
{
    float values[VALUES];
    for (uint32_t i = 0; i < VALUES; i++)
        values[i] = (float)(i + 1);
    int rv = tr_group_reduce(job->groups[rank], values, VALUES, TR_WAIT_FOREVER, &failure);
    for (uint32_t i = 0; i < VALUES && rv == 0; i++)
        if (values[i] != 2 * (float)(i + 1))
            return TR_EINTERNAL;
    return rv;
}

static int call_reduce(struct job *job)
{
    return reduce(job, 0);
}

static int call_reduce_other(struct job *job)
{
    return reduce(job, 1);
}

static int call_barrier(struct job *job)
{
    return tr_group_barrier(job->groups[0], "here", TR_WAIT_FOREVER, &failure);
}

static int call_save(struct job *job)
{
    return tr_group_save(job->groups[0], 5, "five", 4, TR_WAIT_FOREVER, &failure);
}

static int call_skip_save(struct job *job)
{
    return tr_group_skip_save(job->groups[0], 6, TR_ENOSPC, TR_WAIT_FOREVER, &failure);
}

static int call_finish(struct job *job)
{
    return tr_group_finish(job->groups[0], TR_WAIT_FOREVER, &failure);
}

static void a_group_goes_on_with_what_was_interrupted(void **state)
{
    static const struct call restore = { "tr_group_restore", call_restore };
    static const struct call complete = { "tr_group_complete", call_group_complete };
    static const struct call other = { "tr_group_reduce of the other rank", call_reduce_other };
    static const struct call calls[] = {
        { "tr_group_reduce", call_reduce },   { "tr_group_barrier", call_barrier },
        { "tr_group_save", call_save },       { "tr_group_skip_save", call_skip_save },
        { "tr_group_done", call_group_done }, { "tr_group_finish", call_finish },
    };
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    struct tr_session_options o;
    struct job job = { 0 };
    struct caller caller;
    (void)state;
    assert_non_null(scratch_folder(job.folder, sizeof job.folder, "interrupt"));
    world_partition(PARTITION_RANDOM, PARTS, job.path);
    tr_session_options_init(&o);
    o.trainers = 2;
    o.checkpoints = job.folder;
    ok(tr_session_open(&o, &job.session, &failure));
    ok(tr_graph_open(job.session, job.path, TR_WAIT_FOREVER, &job.graph, &failure));
    for (uint32_t g = 0; g < 2; g++)
        ok(tr_group_open(job.graph, g, &job.groups[g], &failure));
    interrupt_each(&job, &restore, 1);
    begin(&caller, &job, &restore);
    ok(tr_group_restore(job.groups[1], TR_WAIT_FOREVER, &checkpoint, &failure));
    expect_end(&caller, 0);
    interrupt_each(&job, &calls[0], 1);
    begin(&caller, &job, &calls[0]);
    ok(reduce(&job, 1));
    expect_end(&caller, 0);
    /* The other rank's answer comes while nobody waits here; or its call waits for the repeat, where
     * the interrupt came before the first one had asked. */
    begin(&caller, &job, &calls[0]);
    pause_ms(100);
    tr_session_interrupt(job.session);
    expect_end(&caller, TR_ECANCELED);
    tr_session_resume(job.session);
    begin(&caller, &job, &other);
    pause_ms(100);
    ok(reduce(&job, 0));
    expect_end(&caller, 0);
    interrupt_each(&job, &calls[1], 1);
    begin(&caller, &job, &calls[1]);
    ok(tr_group_barrier(job.groups[1], "here", TR_WAIT_FOREVER, &failure));
    expect_end(&caller, 0);
    interrupt_each(&job, &calls[2], 1);
    begin(&caller, &job, &calls[2]);
    ok(tr_group_save(job.groups[1], 5, "four", 4, TR_WAIT_FOREVER, &failure));
    expect_end(&caller, 0);
    interrupt_each(&job, &calls[3], 1);
    begin(&caller, &job, &calls[3]);
    assert_int_equal(tr_group_save(job.groups[1], 6, "six", 3, TR_WAIT_FOREVER, &failure),
                     TR_ENOSPC);
    expect_end(&caller, TR_ENOSPC);
    /* It asks the coordinator alone, and may be faster than an interrupt that comes behind it. */
    tr_session_interrupt(job.session);
    begin(&caller, &job, &complete);
    expect_end(&caller, TR_ECANCELED);
    tr_session_resume(job.session);
    /* Both say that this rank is done, and wait for the other one. */
    interrupt_each(&job, &calls[4], 2);
    begin(&caller, &job, &calls[5]);
    ok(tr_group_finish(job.groups[1], TR_WAIT_FOREVER, &failure));
    expect_end(&caller, 0);
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_wait_for_peers_end),
        cmocka_unit_test(opening_a_graph_ends_too),
        cmocka_unit_test(opening_a_graph_ends_between_its_files),
        cmocka_unit_test(mapping_partitions_ends_between_their_files),
        cmocka_unit_test(the_time_to_open_a_graph_counts_once),
        cmocka_unit_test(a_call_to_a_loop_that_hangs_ends_too),
        cmocka_unit_test(a_loader_loses_nothing),
        cmocka_unit_test(a_group_goes_on_with_what_was_interrupted),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
