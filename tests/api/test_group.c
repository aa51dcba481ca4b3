/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups through the public API, a thread a trainer: sums in the order of ranks, checkpoints that a
 * second session finds, and a close that wakes the thread that waits.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "runtime/base/files.h"
#include "runtime/core/port.h"
#include "tests/api/api_world.h"
#include "tests/api/outcome.h"
#include "tests/scratch.h"

#define RANKS 3
#define VALUES 10000
#define SECOND INT64_C(1000000000)

struct rank {
    struct tr_graph *graph;
    uint32_t rank;
    uint64_t found_step;
    int code;
    bool alone; /* waits for others that never come */
    struct tr_group *group;
    float sums[VALUES];
};

/* The linker gives this the waits for answers (tests.mk): it is known when the thread that comes to
 * the barrier alone waits there. */
static _Thread_local bool at_barrier;
static atomic_bool waits_alone;

int __real_port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                             struct message **reply);
int __wrap_port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                             struct message **reply);

int __wrap_port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                             struct message **reply)
{
    if (at_barrier)
        atomic_store(&waits_alone, true);
    return __real_port_wait_or_keep(port, errand, deadline_ns, reply);
}

static float value(uint32_t rank, uint32_t i)
{
    return (float)(i % 1000) * (rank == 1 ? 1e7f : 0.333f) - (float)rank;
}

static int train(struct rank *r, struct tr_group *group)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    for (uint32_t i = 0; i < VALUES; i++)
        r->sums[i] = value(r->rank, i);
    if (tr_group_reduce(group, r->sums, VALUES, 60 * SECOND, &failure) !=
        TR_EROLLBACK) /* not restored yet */
        return TR_EINTERNAL;
    int rv = tr_group_restore(group, 60 * SECOND, &checkpoint, &failure);
    r->found_step = checkpoint.step;
    if (rv == 0 && checkpoint.step != 0 &&
        (checkpoint.count != 4 || memcmp(checkpoint.bytes, &r->rank, 4) != 0))
        rv = TR_EMISMATCH;
    if (rv == 0 && !r->alone)
        rv = tr_group_reduce(group, r->sums, VALUES, 60 * SECOND, &failure);
    at_barrier = r->alone;
    if (rv == 0)
        rv = tr_group_barrier(group, "all", r->alone ? TR_WAIT_FOREVER : 60 * SECOND, &failure);
    if (rv == 0)
        rv = tr_group_save(group, checkpoint.step + 7, &r->rank, 4, 60 * SECOND, &failure);
    return rv;
}

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    r->code = train(r, r->group);
    return NULL;
}

static void run_ranks(const char *path, const char *folder, struct rank *ranks)
{
    struct tr_session_options options;
    tr_session_options_init(&options);
    options.trainers = RANKS;
    options.checkpoints = folder;
    struct tr_session *session;
    struct tr_graph *graph;
    pthread_t threads[RANKS];
    assert_int_equal(tr_session_open(&options, &session, &failure), 0);
    assert_int_equal(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure), 0);
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].rank = i;
        assert_int_equal(tr_group_open(graph, i, &ranks[i].group, &failure), 0);
        assert_int_equal(tr_group_world(ranks[i].group), RANKS);
        assert_int_equal(pthread_create(&threads[i], NULL, run_rank, &ranks[i]), 0);
    }
    if (ranks[0].alone) {
        /* A thread between two calls would begin the next one on a group that is closed. */
        while (!atomic_load(&waits_alone))
            usleep(1000);
        tr_group_close(ranks[0].group);
        ranks[0].group = NULL;
        /* The others wait for it in vain. */
        tr_session_close(session);
        session = NULL;
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        tr_group_close(ranks[i].group);
    }
    struct tr_group *none;
    if (session != NULL)
        assert_int_equal(tr_group_open(graph, RANKS, &none, &failure), TR_ERANGE);
    tr_graph_close(graph);
    tr_session_close(session);
}

static void threads_train_together(void **state)
{
    char folder[64];
    assert_non_null(scratch_folder(folder, sizeof folder, "group"));
    struct rank *ranks = calloc(RANKS, sizeof *ranks);
    assert_non_null(ranks);
    for (uint32_t job = 0; job < 2; job++) {
        run_ranks(*state, folder, ranks);
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_int_equal(ranks[r].code, 0);
            assert_int_equal(ranks[r].found_step, job * 7);
            for (uint32_t i = 0; i < VALUES; i++)
                assert_true(ranks[r].sums[i] == value(0, i) + value(1, i) + value(2, i));
        }
    }
    free(ranks);
    assert_int_equal(files_remove_tree(files_posix, folder, NULL), 0);
}

static void a_close_wakes_who_waits(void **state)
{
    struct rank *ranks = calloc(RANKS, sizeof *ranks);
    assert_non_null(ranks);
    ranks[0].alone = true;
    run_ranks(*state, NULL, ranks);
    assert_int_equal(ranks[0].code, TR_ECANCELED);
    assert_int_not_equal(ranks[1].code, 0);
    assert_int_not_equal(ranks[2].code, 0);
    free(ranks);
}

/* Rank 1 has no part of the checkpoint; then all are done, and rank 0 says that this was the
 * job. */
static int end_together(struct rank *r)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    int rv = tr_group_restore(r->group, 60 * SECOND, &checkpoint, &failure);
    if (rv != 0)
        return rv;
    rv = r->rank == 1 ? tr_group_skip_save(r->group, 3, TR_ENOSPC, 60 * SECOND, &failure)
                      : tr_group_save(r->group, 3, "part", 4, 60 * SECOND, &failure);
    if (rv != TR_ENOSPC)
        return rv != 0 ? rv : TR_EINTERNAL;
    rv = tr_group_save(r->group, 4, "part", 4, 60 * SECOND, &failure);
    if (rv != 0)
        return rv;
    return r->rank == 0 ? tr_group_complete(r->group, 60 * SECOND, &failure)
                        : tr_group_done(r->group, 60 * SECOND, &failure);
}

static void *run_end(void *arg)
{
    struct rank *r = arg;
    r->code = end_together(r);
    return NULL;
}

static void the_job_ends_when_its_result_is_written(void **state)
{
    char folder[64];
    struct tr_session_options options;
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_graph_place place = TR_GRAPH_PLACE_INIT;
    pthread_t threads[RANKS];
    struct rank *ranks = calloc(RANKS, sizeof *ranks);
    assert_non_null(ranks);
    assert_non_null(scratch_folder(folder, sizeof folder, "group"));
    tr_session_options_init(&options);
    options.trainers = RANKS;
    options.checkpoints = folder;
    assert_int_equal(tr_session_open(&options, &session, &failure), 0);
    assert_int_equal(tr_graph_open(session, *state, TR_WAIT_FOREVER, &graph, &failure), 0);
    assert_int_equal(tr_graph_place(graph, &place, &failure), 0);
    assert_int_equal(place.num_trainers, RANKS);
    assert_int_equal(place.first_trainer, 0);
    assert_int_equal(place.world, RANKS);
    assert_int_equal(place.num_processes, 1);
    assert_true(place.first_with_trainers);
    assert_null(place.host_name);
    assert_int_equal(tr_graph_wait_end(graph, 0, &failure), TR_ETIMEDOUT);
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].rank = i;
        assert_int_equal(tr_group_open(graph, i, &ranks[i].group, &failure), 0);
        assert_int_equal(pthread_create(&threads[i], NULL, run_end, &ranks[i]), 0);
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(ranks[i].code == 0 || ranks[i].code == TR_ECLOSED);
    }
    assert_int_equal(ranks[0].code, 0);
    assert_int_equal(tr_graph_wait_end(graph, 60 * SECOND, &failure), 0);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(tr_group_barrier(ranks[i].group, "late", 0, &failure), TR_ECLOSED);
        assert_non_null(strstr(failure.message, ": barrier: the job has ended"));
        tr_group_shut(ranks[i].group);
        assert_int_equal(tr_group_barrier(ranks[i].group, "late", 0, &failure), TR_ECLOSED);
        assert_non_null(strstr(failure.message, ": barrier: the group is closed"));
        tr_group_close(ranks[i].group);
    }
    tr_graph_close(graph);
    tr_session_close(session);
    free(ranks);
    assert_true(tr_checkpoints_exist(folder));
    assert_int_equal(files_remove_tree(files_posix, folder, NULL), 0);
}

#define BARRIERS 6

struct pair {
    struct tr_group *groups[2];
    atomic_uint come[2]; /* barriers that each rank came to */
    int codes[2];
};

/* One comes late, in turns; neither passes before the other came. */
static void pass_barriers(struct pair *pair, uint32_t rank)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    int rv = tr_group_restore(pair->groups[rank], 60 * SECOND, &checkpoint, &failure);
    for (uint32_t round = 1; round <= BARRIERS && rv == 0; round++) {
        if (round % 2 == rank)
            usleep(20000);
        atomic_store(&pair->come[rank], round);
        rv = tr_group_barrier(pair->groups[rank], "round", 60 * SECOND, &failure);
        if (rv == 0 && atomic_load(&pair->come[1 - rank]) < round)
            rv = TR_EMISMATCH;
    }
    pair->codes[rank] = rv;
}

static void *run_second(void *arg)
{
    pass_barriers(arg, 1);
    return NULL;
}

/* Each barrier of many holds the ranks that come until all have, as the first does. */
static void every_barrier_waits_for_all(void **state)
{
    struct tr_session_options options;
    struct tr_session *session;
    struct tr_graph *graph;
    struct pair pair = { .codes = { 1, 1 } };
    pthread_t thread;
    tr_session_options_init(&options);
    options.trainers = 2;
    assert_int_equal(tr_session_open(&options, &session, &failure), 0);
    assert_int_equal(tr_graph_open(session, *state, TR_WAIT_FOREVER, &graph, &failure), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(tr_group_open(graph, i, &pair.groups[i], &failure), 0);
    assert_int_equal(pthread_create(&thread, NULL, run_second, &pair), 0);
    pass_barriers(&pair, 0);
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        if (pair.codes[i] != 0)
            fail_msg("rank %u: %s", i, tr_error_name(pair.codes[i]));
        tr_group_close(pair.groups[i]);
    }
    tr_graph_close(graph);
    tr_session_close(session);
}

/* Its sums need nobody, but they are refused as all calls are. */
static void a_trainer_alone_is_refused_where_others_are(void **state)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_group *group;
    float sum = 3;
    assert_int_equal(tr_session_open(NULL, &session, &failure), 0);
    assert_int_equal(tr_graph_open(session, *state, TR_WAIT_FOREVER, &graph, &failure), 0);
    assert_int_equal(tr_group_open(graph, 0, &group, &failure), 0);
    assert_int_equal(tr_group_world(group), 1);
    assert_int_equal(tr_group_restore(group, TR_WAIT_FOREVER, &checkpoint, &failure), 0);
    assert_int_equal(tr_group_reduce(group, &sum, 1, 0, &failure), 0);
    tr_session_interrupt(session);
    assert_int_equal(tr_group_reduce(group, &sum, 1, TR_WAIT_FOREVER, &failure), TR_ECANCELED);
    tr_session_resume(session);
    assert_int_equal(tr_group_reduce(group, &sum, 1, TR_WAIT_FOREVER, &failure), 0);
    assert_true(sum == 3);
    tr_session_close(session);
    assert_int_equal(tr_group_reduce(group, &sum, 1, TR_WAIT_FOREVER, &failure), TR_ECLOSED);
    tr_group_close(group);
    tr_graph_close(graph);
}

static char path[256];

static int set_up(void **state)
{
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, path);
    *state = path;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_train_together),
        cmocka_unit_test(a_close_wakes_who_waits),
        cmocka_unit_test(the_job_ends_when_its_result_is_written),
        cmocka_unit_test(every_barrier_waits_for_all),
        cmocka_unit_test(a_trainer_alone_is_refused_where_others_are),
    };
    return cmocka_run_group_tests(tests, set_up, world_teardown);
}
