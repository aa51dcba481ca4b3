/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job with no memory: a session is opened, a graph, a loader, some batches are taken and all is
 * closed, while the n-th allocation fails, then the n+1st, and so on. Each time the job either
 * works or says TR_ENOMEM (or what followed from it), and everything can be closed. Run it under
 * the address sanitizer to see that nothing leaked.
 *
 * The allocator is replaced by the linker (--wrap), so that only this project's own calls fail.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "api/internal.h"
#include "api_world.h"
#include "outcome.h"

#define SECOND INT64_C(1000000000)

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);

/* Allocations granted before refusals begin, and how many are refused then; loops allocate too. */
static atomic_llong granted = INT64_MAX, refused;
static atomic_llong made;

static bool is_refused(void)
{
    atomic_fetch_add(&made, 1);
    if (atomic_fetch_sub(&granted, 1) > 0)
        return false;
    return atomic_fetch_sub(&refused, 1) > 0;
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return is_refused() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    return is_refused() ? NULL : __real_aligned_alloc(align, bytes);
}

/* Mappings and threads run out too. */
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (is_refused()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, bytes, protection, flags, fd, offset);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    return is_refused() ? EAGAIN : __real_pthread_create(thread, attributes, run, arg);
}

static char path[256];

/* Checks that a result may follow from an allocation that failed. */
static void check(int rv)
{
    bool known = rv == 0 || rv == TR_ENOMEM || rv == TR_ECLOSED || rv == TR_EPEERDOWN ||
                 rv == TR_ETIMEDOUT || rv == TR_EFULL || rv == TR_EEND;
    if (!known)
        fail_msg("%s", tr_error_name(rv));
}

static int take_batches(struct tr_graph *graph, struct tr_nodes *nodes,
                        const struct tr_link_options *links)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    tr_loader_options_init(&options);
    options.batch_size = 300;
    options.features = "feat";
    options.labels = "label";
    options.original_ids = options.edge_ids = options.degrees = true;
    options.links = links;
    int rv = tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure);
    for (int i = 0; i < 2 && rv == 0; i++) {
        struct tr_batch *batch;
        rv = tr_loader_next(loader, 5 * SECOND, &batch, &failure);
        tr_batch_release(batch);
    }
    tr_loader_close(loader);
    return rv;
}

static int run_job(bool direct)
{
    struct tr_session_options options;
    struct tr_session *session;
    struct tr_graph *graph = NULL;
    struct tr_nodes *nodes = NULL, *pairs = NULL, *edges = NULL;
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    links.num_negatives = 2;
    links.exclude = TR_EXCLUDE_SELF;
    tr_session_options_init(&options);
    options.loops = 2;
    options.direct = direct;
    options.codec = !direct;
    options.recovery_deadline_ns = 5 * SECOND;
    int rv = tr_session_open(&options, &session, &failure);
    if (rv == 0)
        rv = tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure);
    if (rv == 0)
        rv = tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &failure);
    if (rv == 0)
        rv = take_batches(graph, nodes, NULL);
    /* Pairs take the same way but for what they are listed in. */
    if (rv == 0)
        rv = tr_pairs_listed(graph, 0, (const uint64_t[]){ 1, 2, 1 }, (const uint64_t[]){ 3, 3, 1 },
                             3, &pairs, &failure);
    if (rv == 0)
        rv = take_batches(graph, pairs, NULL);
    rv = rv == TR_EEND ? 0 : rv;
    /* Edges by rank ask twice more, their negatives once. */
    if (rv == 0)
        rv = tr_edges_range(graph, 0, 2, 3, &edges, &failure);
    if (rv == 0)
        rv = take_batches(graph, edges, &links);
    rv = rv == TR_EEND ? 0 : rv;
    /* Negatives by degree ask as edges by rank do, and once more which of them are edges. */
    links.negative_ends = TR_NEGATIVE_BOTH;
    links.no_edges = true;
    links.by = TR_NEGATIVES_BY_DEGREE;
    if (rv == 0)
        rv = take_batches(graph, edges, &links);
    rv = rv == TR_EEND ? 0 : rv;
    if (rv != 0 && session != NULL)
        assert_true(strlen(failure.message) > 0);
    tr_nodes_close(edges);
    tr_nodes_close(pairs);
    tr_nodes_close(nodes);
    tr_graph_close(graph);
    tr_session_close(session);
    return rv;
}

static int run_with(long long grants, long long refusals, bool direct)
{
    atomic_store(&refused, refusals);
    atomic_store(&granted, grants);
    int rv = run_job(direct);
    atomic_store(&refused, 0);
    atomic_store(&granted, INT64_MAX);
    check(rv);
    return rv;
}

/* Threads that race where memory ends do so at many places, and the thread sanitizer is slow; leaks
 * are found at every place by the address sanitizer. */
#ifdef __SANITIZE_THREAD__
#define STEP 7
#else
#define STEP 1
#endif

/* One allocation fails at a time (what is tried again gets through), then all from there on. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        bool direct = way % 2 == 0;
        long long refusals = way < 2 ? 1 : 40;
        atomic_store(&made, 0);
        assert_int_equal(run_with(INT64_MAX, 0, direct), 0);
        long long total = atomic_load(&made);
        assert_true(total > 100);
        uint64_t failed = 0;
        long long step = way < 2 ? STEP : 7;
        for (long long grants = 0; grants < total; grants += step)
            failed += run_with(grants, refusals, direct) != 0;
        assert_true(failed > 0);
        assert_int_equal(run_with(total * 2, 0, direct), 0);
    }
}

static int setup(void **state)
{
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, world_teardown);
}
