/* SPDX-License-Identifier: Apache-2.0 */
/* Trainers take every seed once an epoch in equally many steps, dealt beforehand or not; a deal is
 * taken for what it is, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "api_world.h"
#include "outcome.h"
#include "partition/store/npy.h"

#define SECOND INT64_C(1000000000)
#define WORLDS_MAX 4u
#define STEPS_MAX 200u

struct job {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
};

/* With the first `count` nodes, by original ID; not direct: all by encoded messages. */
static void open_job(struct job *job, uint32_t num_parts, size_t count, bool direct)
{
    struct tr_session_options options;
    struct tr_nodes *all;
    char path[256];
    *job = (struct job){ 0 };
    world_partition(PARTITION_RANDOM, num_parts, path);
    tr_session_options_init(&options);
    options.direct = direct;
    options.codec = !direct;
    ok(tr_session_open(&options, &job->session, &failure));
    ok(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure));
    ok(tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &all, &failure));
    uint64_t *ids = calloc(count, sizeof *ids);
    assert_non_null(ids);
    ok(tr_nodes_ids(all, 0, count, TR_WAIT_FOREVER, ids, &failure));
    ok(tr_nodes_listed(job->graph, 0, ids, count, TR_WAIT_FOREVER, &job->nodes, &failure));
    free(ids);
    tr_nodes_close(all);
}

static void close_job(struct job *job)
{
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
}

/* Writes a deal of the first `count` nodes: blocks of them, so that no rank has every n-th. */
static void write_deal(const char *name, size_t count, uint32_t trainers, char path[256])
{
    static int32_t deal[WORLD_NODES];
    uint64_t shape = WORLD_NODES;
    struct error error = { 0 };
    for (uint64_t v = 0, given = 0, t = 0; v < WORLD_NODES; v++) {
        deal[v] = v < count ? (int32_t)t : -1;
        if (++given == count / trainers + (t < count % trainers)) {
            given = 0;
            t++;
        }
    }
    snprintf(path, 256, "%s/%s.npy", world_folder(), name);
    unlink(path);
    assert_int_equal(npy_write(files_posix, path, "<i4", 1, &shape, deal, &error), 0);
}

struct tally {
    uint32_t seen[WORLD_NODES];
    uint32_t step_seeds[STEPS_MAX], together[STEPS_MAX];
    uint64_t digests[WORLDS_MAX][STEPS_MAX];
    uint64_t steps[WORLDS_MAX];
    uint32_t empty;
};

static void run_rank(struct job *job, struct tr_nodes *nodes, struct tr_loader_options options,
                     struct tally *tally)
{
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t step = 0;
    int rv;
    ok(tr_loader_open(job->graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    for (; (rv = tr_loader_next(loader, 60 * SECOND, &batch, &failure)) == 0; step++) {
        size_t count = 0;
        const uint64_t *original = tr_batch_original_ids(batch, 0, &count);
        uint32_t seeds = (uint32_t)tr_batch_num_seeds(batch, 0);
        assert_true(step < STEPS_MAX && seeds <= options.batch_size);
        for (uint32_t i = 0; i < seeds; i++)
            tally->seen[original[i]]++;
        tally->together[step] += seeds;
        tally->empty += seeds == 0;
        assert_true(seeds > 0 || count == 0);
        ok(tr_batch_digest(batch, &tally->digests[options.rank][step], NULL));
        tr_batch_release(batch);
    }
    assert_int_equal(rv, TR_EEND);
    assert_int_equal(step, tr_loader_num_batches(loader));
    tally->steps[options.rank] = step;
    tr_loader_close(loader);
}

static struct tr_loader_options loader_options(uint32_t rank, uint32_t trainers, uint32_t batch)
{
    struct tr_loader_options o;
    tr_loader_options_init(&o);
    o.num_layers = 2;
    o.fanout[0] = o.fanout[1] = 3;
    o.batch_size = batch;
    o.original_ids = true;
    o.degrees = true;
    o.edge_ids = true;
    o.features = "feat";
    o.labels = "label";
    o.rank = rank;
    o.world = trainers;
    o.seed = 5;
    return o;
}

/* deal NULL: one order of all seeds. */
static void run_all(struct job *job, const char *deal, uint32_t trainers, uint32_t batch,
                    struct tally *tally)
{
    memset(tally, 0, sizeof *tally);
    for (uint32_t rank = 0; rank < trainers; rank++) {
        struct tr_nodes *group = NULL;
        if (deal != NULL)
            ok(tr_nodes_deal(job->nodes, deal, rank, trainers, TR_WAIT_FOREVER, &group, &failure));
        run_rank(job, group != NULL ? group : job->nodes, loader_options(rank, trainers, batch),
                 tally);
        tr_nodes_close(group);
    }
}

static void check_epoch(const struct tally *tally, size_t count, uint32_t trainers, uint32_t batch)
{
    size_t size = (size_t)batch * trainers, steps = (count + size - 1) / size;
    for (uint32_t rank = 0; rank < trainers; rank++)
        assert_int_equal(tally->steps[rank], steps);
    for (size_t v = 0; v < WORLD_NODES; v++)
        assert_int_equal(tally->seen[v], v < count);
    for (size_t s = 0; s < steps; s++)
        assert_int_equal(tally->together[s], s + 1 < steps ? size : count - s * size);
}

static const struct {
    size_t count;
    uint32_t batch;
} shapes[] = { { WORLD_NODES, 64 }, { 241, 30 }, { 13, 3 }, { 2, 5 }, { 1, 1 } };
#define SHAPES (sizeof shapes / sizeof *shapes)

static void every_seed_comes_once_in_equally_many_steps(void **state)
{
    static struct tally tally;
    uint32_t empty = 0;
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        struct job job;
        open_job(&job, 3, shapes[i].count, i % 2 == 0);
        for (uint32_t trainers = 1; trainers <= WORLDS_MAX; trainers++) {
            char deal[256];
            write_deal("even", shapes[i].count, trainers, deal);
            run_all(&job, NULL, trainers, shapes[i].batch, &tally);
            check_epoch(&tally, shapes[i].count, trainers, shapes[i].batch);
            empty += tally.empty;
            run_all(&job, deal, trainers, shapes[i].batch, &tally);
            check_epoch(&tally, shapes[i].count, trainers, shapes[i].batch);
            empty += tally.empty;
        }
        close_job(&job);
    }
    assert_true(empty > 0);
}

static void a_deal_gives_the_same_batches_on_other_partitions(void **state)
{
    static struct tally one, many;
    struct job job;
    char deal[256];
    (void)state;
    write_deal("same", 241, 3, deal);
    open_job(&job, 1, 241, true);
    run_all(&job, deal, 3, 20, &one);
    close_job(&job);
    open_job(&job, 5, 241, false);
    run_all(&job, deal, 3, 20, &many);
    close_job(&job);
    assert_memory_equal(&one, &many, sizeof one);
}

/* A partitioning whose nodes were dealt to so many trainers. */
static void partition_dealt(uint32_t trainers, char path[256])
{
    const struct partition_options options = {
        .name = "g", .method = PARTITION_RANDOM, .num_parts = 2, .seed = 5, .trainers = trainers
    };
    struct partition_report report;
    struct error error = { 0 };
    struct raw_graph *raw = NULL;
    char from[256], dir[200];
    snprintf(from, sizeof from, "%s/raw", world_folder());
    snprintf(dir, sizeof dir, "%s/dealt-%u", world_folder(), trainers);
    if (raw_open(from, NULL, &raw, &error) != 0 ||
        partition_graph(raw, &options, dir, parallel_serial, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    raw_close(raw);
    snprintf(path, 256, "%s/g.json", dir);
}

/* The graph's own deal of its training nodes: each is one trainer's, lower ranks have the larger
 * shares, and no share is larger than another by two. */
static void the_graphs_own_deal_is_of_all_its_training_nodes(void **state)
{
    bool uneven = false;
    (void)state;
    for (uint32_t trainers = 1; trainers <= WORLDS_MAX; trainers++) {
        static uint64_t ids[WORLD_NODES];
        static uint32_t seen[WORLD_NODES], wanted[WORLD_NODES];
        struct job job = { 0 };
        char path[256];
        partition_dealt(trainers, path);
        ok(tr_session_open(NULL, &job.session, &failure));
        ok(tr_graph_open(job.session, path, TR_WAIT_FOREVER, &job.graph, &failure));
        ok(tr_nodes_masked(job.graph, 0, "train_mask", TR_WAIT_FOREVER, &job.nodes, &failure));
        size_t count = tr_nodes_count(job.nodes);
        uneven = uneven || count % trainers > 1;
        memset(wanted, 0, sizeof wanted);
        memset(seen, 0, sizeof seen);
        ok(tr_nodes_ids(job.nodes, 0, count, TR_WAIT_FOREVER, ids, &failure));
        for (size_t i = 0; i < count; i++)
            wanted[ids[i]]++;
        for (uint32_t rank = 0; rank < trainers; rank++) {
            struct tr_nodes *group;
            ok(tr_nodes_deal(job.nodes, NULL, rank, trainers, TR_WAIT_FOREVER, &group, &failure));
            size_t share = tr_nodes_count(group);
            assert_int_equal(share, count / trainers + (rank < count % trainers));
            ok(tr_nodes_ids(group, 0, share, TR_WAIT_FOREVER, ids, &failure));
            for (size_t i = 0; i < share; i++)
                seen[ids[i]]++;
            tr_nodes_close(group);
        }
        assert_memory_equal(seen, wanted, sizeof seen);
        close_job(&job);
    }
    assert_true(uneven);
}

static void one_trainers_deal_is_the_shuffle(void **state)
{
    static struct tally dealt, shuffled;
    struct job job;
    char deal[256];
    (void)state;
    write_deal("single", 241, 1, deal);
    open_job(&job, 2, 241, true);
    run_all(&job, deal, 1, 20, &dealt);
    run_all(&job, NULL, 1, 20, &shuffled);
    close_job(&job);
    assert_memory_equal(&dealt, &shuffled, sizeof dealt);
}

static void refuse(struct job *job, const char *deal, uint32_t trainers, int code, const char *says)
{
    struct tr_nodes *group;
    assert_int_equal(
        tr_nodes_deal(job->nodes, deal, 0, trainers, TR_WAIT_FOREVER, &group, &failure), code);
    assert_null(group);
    if (strstr(failure.message, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", failure.message, says);
}

static void deals_that_do_not_fit_are_refused(void **state)
{
    struct tr_nodes *group, *again;
    struct tr_loader *loader;
    struct tr_loader_options o = loader_options(0, 2, 10);
    uint64_t shape = 3;
    int32_t few[3] = { 0, 1, 0 };
    struct error error = { 0 };
    struct job job;
    char path[256];
    (void)state;
    open_job(&job, 2, 100, true);
    assert_int_equal(tr_graph_deal_trainers(job.graph), 0);
    refuse(&job, NULL, 2, TR_ENOENT, "for 2 trainers");
    refuse(&job, "/nowhere.npy", 2, TR_ENOENT, "/nowhere.npy");
    write_deal("d", 100, 3, path);
    refuse(&job, path, 2, TR_EMISMATCH, "trainer 2");
    refuse(&job, path, 4, TR_EMISMATCH, "fewer trainers");
    refuse(&job, path, 0, TR_ERANGE, "0 trainers");
    write_deal("d", 90, 2, path);
    refuse(&job, path, 2, TR_EMISMATCH, "no trainer");
    write_deal("d", 150, 2, path);
    refuse(&job, path, 2, TR_EMISMATCH, "75 of the 100");
    unlink(path);
    assert_int_equal(npy_write(files_posix, path, "<i4", 1, &shape, few, &error), 0);
    refuse(&job, path, 2, TR_EMISMATCH, "3 nodes");
    unlink(path);
    assert_int_equal(npy_write(files_posix, path, "|i1", 1, &shape, few, &error), 0);
    refuse(&job, path, 2, TR_EFORMAT, "32-bit");
    write_deal("d", 100, 2, path);
    ok(tr_nodes_deal(job.nodes, path, 1, 2, TR_WAIT_FOREVER, &group, &failure));
    assert_int_not_equal(tr_nodes_deal_hash(group), 0);
    assert_int_equal(tr_nodes_deal_hash(job.nodes), 0);
    assert_int_equal(tr_nodes_deal(group, path, 1, 2, TR_WAIT_FOREVER, &again, &failure),
                     TR_EINVAL);
    assert_int_equal(tr_loader_open(job.graph, group, &o, TR_WAIT_FOREVER, &loader, &failure),
                     TR_EMISMATCH);
    tr_nodes_close(group);
    close_job(&job);
}

/* Even among all that the file deals, uneven among the nodes that are trained on: one trainer has
 * one below its share, its share, and one above. */
static void a_trainer_short_of_its_share_is_refused(void **state)
{
    static int32_t deal[WORLD_NODES];
    struct error error = { 0 };
    uint64_t shape = WORLD_NODES;
    struct job job;
    char path[256];
    (void)state;
    open_job(&job, 2, 99, true);
    snprintf(path, sizeof path, "%s/short.npy", world_folder());
    for (int extra = -1; extra <= 1; extra++) {
        /* 33 + extra nodes of trainer 0, 33 of trainer 1, the rest of trainer 2 ... */
        uint64_t of_0 = (uint64_t)(33 + extra), of_1 = of_0 + 33;
        for (uint64_t v = 0; v < WORLD_NODES; v++)
            deal[v] = v < of_0 ? 0 : v < of_1 ? 1 : v < 99 ? 2 : -1;
        /* ... which are evened out by nodes that nobody trains on. */
        if (extra < 0)
            deal[99] = deal[100] = 0, deal[101] = 1; /* 34 each */
        if (extra > 0)
            deal[99] = 1, deal[100] = deal[101] = 2; /* 34 each */
        unlink(path);
        assert_int_equal(npy_write(files_posix, path, "<i4", 1, &shape, deal, &error), 0);
        if (extra < 0) {
            refuse(&job, path, 3, TR_EMISMATCH, "32 of the 99");
        } else if (extra > 0) {
            refuse(&job, path, 3, TR_EMISMATCH, "34 of the 99");
        } else {
            struct tr_nodes *group;
            ok(tr_nodes_deal(job.nodes, path, 0, 3, TR_WAIT_FOREVER, &group, &failure));
            tr_nodes_close(group);
        }
    }
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deals_that_do_not_fit_are_refused),
        cmocka_unit_test(a_trainer_short_of_its_share_is_refused),
        cmocka_unit_test(every_seed_comes_once_in_equally_many_steps),
        cmocka_unit_test(a_deal_gives_the_same_batches_on_other_partitions),
        cmocka_unit_test(the_graphs_own_deal_is_of_all_its_training_nodes),
        cmocka_unit_test(one_trainers_deal_is_the_shuffle),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
