/* SPDX-License-Identifier: Apache-2.0 */
/* Whole jobs in one process, through the public API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "api_world.h"
#include "outcome.h"

#define SECOND INT64_C(1000000000)
#define DIGESTS_MAX 64

struct job {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
};

static void open_job(struct job *job, const struct tr_session_options *options, const char *path,
                     const struct tr_loader_options *loader)
{
    *job = (struct job){ 0 };
    ok(tr_session_open(options, &job->session, &failure));
    ok(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure));
    ok(tr_nodes_masked(job->graph, 0, "train_mask", TR_WAIT_FOREVER, &job->nodes, &failure));
    ok(tr_loader_open(job->graph, job->nodes, loader, TR_WAIT_FOREVER, &job->loader, &failure));
}

static void close_job(struct job *job)
{
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
}

static struct tr_loader_options loader_options(void)
{
    struct tr_loader_options o;
    tr_loader_options_init(&o);
    o.num_layers = 2;
    o.fanout[0] = 3;
    o.fanout[1] = 4;
    o.batch_size = 60;
    o.seed = 77;
    o.original_ids = true;
    o.degrees = true;
    o.edge_ids = true;
    o.features = "feat";
    o.labels = "label";
    return o;
}

/* The digests of two epochs. */
static size_t digests(const struct tr_session_options *options, const char *path, uint64_t *out)
{
    struct tr_loader_options lo = loader_options();
    struct job job;
    size_t count = 0;
    open_job(&job, options, path, &lo);
    for (int ends = 0; ends < 2;) {
        struct tr_batch *batch;
        int rv = tr_loader_next(job.loader, 30 * SECOND, &batch, &failure);
        if (rv == TR_EEND) {
            ends++;
            continue;
        }
        ok(rv);
        assert_true(count < DIGESTS_MAX);
        assert_int_equal(tr_batch_digest(batch, &out[count++], NULL), 0);
        tr_batch_release(batch);
    }
    close_job(&job);
    return count;
}

static void placement_changes_nothing(void **state)
{
    static const struct {
        uint32_t parts, loops, samplers, direct, codec, servers;
    } ways[] = {
        { 1, 1, 1, 1, 0, 0 }, { 1, 2, 2, 0, 0, 0 }, { 2, 1, 1, 1, 0, 0 }, { 2, 2, 3, 0, 1, 1 },
        { 4, 4, 2, 1, 0, 0 }, { 4, 2, 1, 0, 0, 2 }, { 8, 1, 3, 0, 1, 0 }, { 8, 3, 2, 1, 1, 3 },
    };
    uint64_t want[DIGESTS_MAX], got[DIGESTS_MAX];
    size_t num_want = 0;
    (void)state;
    for (int method = 0; method < 2; method++) {
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            struct tr_session_options o;
            char path[256];
            tr_session_options_init(&o);
            o.loops = ways[i].loops;
            o.samplers = ways[i].samplers;
            o.direct = ways[i].direct;
            o.codec = ways[i].codec;
            o.servers = ways[i].servers;
            world_partition(method == 0 ? PARTITION_RANDOM : PARTITION_METIS, ways[i].parts, path);
            size_t count = digests(&o, path, num_want == 0 ? want : got);
            if (num_want == 0) {
                num_want = count;
                assert_true(count > 10);
                continue;
            }
            assert_int_equal(count, num_want);
            assert_memory_equal(got, want, count * sizeof *got);
        }
    }
}

static void check_blocks(const struct tr_batch *batch)
{
    size_t num_nodes, above = tr_batch_num_seeds(batch, 0);
    tr_batch_nodes(batch, 0, &num_nodes);
    for (uint32_t layer = tr_batch_num_layers(batch); layer-- > 0;) {
        struct tr_block block = TR_BLOCK_INIT;
        assert_int_equal(tr_batch_block(batch, layer, 0, &block, NULL), 0);
        assert_int_equal(block.num_dst, above);
        assert_int_equal(block.index[0], 0);
        assert_int_equal(block.index[block.num_dst], block.num_edges);
        for (uint32_t i = 0; i < block.num_edges; i++) {
            assert_true(block.sources[i] < block.num_src);
            assert_true(block.edge_ids[i] < WORLD_EDGES);
        }
        above = block.num_src;
    }
    assert_int_equal(above, num_nodes);
}

static void check_rows(const struct tr_batch *batch, const float *features, const int64_t *labels)
{
    struct tr_rows rows = TR_ROWS_INIT;
    size_t count;
    const uint64_t *original = tr_batch_original_ids(batch, 0, &count);
    assert_int_equal(tr_batch_features(batch, 0, &rows, NULL), 0);
    assert_int_equal(rows.num_rows, count);
    assert_int_equal(rows.row_bytes, WORLD_WIDTH * sizeof(float));
    for (size_t i = 0; i < count; i++)
        assert_memory_equal((const float *)rows.rows + i * WORLD_WIDTH,
                            features + original[i] * WORLD_WIDTH, rows.row_bytes);
    assert_int_equal(tr_batch_labels(batch, 0, &rows, NULL), 0);
    assert_int_equal(rows.num_rows, tr_batch_num_seeds(batch, 0));
    for (size_t i = 0; i < rows.num_rows; i++)
        assert_int_equal(((const int64_t *)rows.rows)[i], labels[original[i]]);
}

/* Each seed once an epoch, and what came with it is what was written; by reads and by messages. */
static void epochs_cover_seeds(void **state)
{
    static float features[WORLD_NODES * WORLD_WIDTH];
    static int64_t labels[WORLD_NODES];
    (void)state;
    world_truth(features, labels);
    for (int direct = 0; direct < 2; direct++) {
        struct tr_session_options o;
        struct tr_loader_options lo = loader_options();
        struct job job;
        char path[256];
        tr_session_options_init(&o);
        o.loops = 2;
        o.direct = direct != 0;
        world_partition(PARTITION_RANDOM, 4, path);
        open_job(&job, &o, path, &lo);
        size_t seeds = tr_nodes_count(job.nodes), batches = 0;
        static uint8_t seen[WORLD_NODES];
        memset(seen, 0, sizeof seen);
        struct tr_batch *batch;
        int rv;
        while ((rv = tr_loader_next(job.loader, 30 * SECOND, &batch, &failure)) == 0) {
            size_t count;
            const uint64_t *original = tr_batch_original_ids(batch, 0, &count);
            assert_int_equal(tr_batch_index(batch), batches++);
            for (size_t i = 0; i < tr_batch_num_seeds(batch, 0); i++)
                assert_int_equal(seen[original[i]]++, 0);
            check_blocks(batch);
            check_rows(batch, features, labels);
            tr_batch_release(batch);
        }
        assert_int_equal(rv, TR_EEND);
        assert_int_equal(batches, (seeds + 59) / 60);
        assert_int_equal(batches, tr_loader_num_batches(job.loader));
        static uint64_t originals[WORLD_NODES], piece[WORLD_NODES];
        ok(tr_nodes_original_ids(job.nodes, 0, seeds, 30 * SECOND, originals, &failure));
        for (size_t i = 0; i < seeds; i++)
            assert_int_equal(seen[originals[i]], 1);
        ok(tr_nodes_original_ids(job.nodes, seeds / 2, 7, 30 * SECOND, piece, &failure));
        assert_memory_equal(piece, originals + seeds / 2, 7 * sizeof *piece);
        assert_int_equal(tr_nodes_ids(job.nodes, seeds - 3, 4, 0, piece, &failure), TR_ERANGE);
        assert_int_equal(tr_nodes_ids(job.nodes, UINT64_MAX, 1, 0, piece, &failure), TR_ERANGE);
        ok(tr_nodes_ids(job.nodes, seeds, 0, 0, piece, &failure));
        close_job(&job);
    }
}

static void fetch_equals_truth(void **state)
{
    static float features[WORLD_NODES * WORLD_WIDTH];
    static int64_t labels[WORLD_NODES];
    enum { N = 500 };
    uint64_t ids[N], original[N];
    float rows[N * WORLD_WIDTH];
    struct tr_session *session;
    struct tr_graph *graph;
    char path[256];
    (void)state;
    world_truth(features, labels);
    world_partition(PARTITION_METIS, 4, path);
    ok(tr_session_open(NULL, &session, &failure));
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure));
    for (size_t i = 0; i < N; i++)
        ids[i] = i * 7919 % WORLD_NODES;
    ok(tr_graph_original_ids(graph, 0, ids, N, 60 * SECOND, original, &failure));
    ok(tr_graph_fetch(graph, 0, "feat", ids, N, 60 * SECOND, rows, &failure));
    for (size_t i = 0; i < N; i++)
        assert_memory_equal(rows + i * WORLD_WIDTH, features + original[i] * WORLD_WIDTH,
                            WORLD_WIDTH * sizeof(float));
    ids[3] = WORLD_NODES;
    assert_int_equal(tr_graph_fetch(graph, 0, "feat", ids, N, SECOND, rows, &failure), TR_ERANGE);
    assert_non_null(strstr(failure.message, "ids[3] = 1500"));
    assert_int_equal(tr_graph_fetch(graph, 0, "fest", ids, 1, SECOND, rows, &failure), TR_ENOENT);
    assert_non_null(strstr(failure.message, "'fest'"));
    assert_int_equal(tr_graph_fetch(graph, 9, "feat", ids, 1, SECOND, rows, &failure), TR_ERANGE);
    tr_session_close(session);
    assert_int_equal(tr_graph_fetch(graph, 0, "feat", ids, 1, SECOND, rows, &failure), TR_ECLOSED);
    assert_string_equal(failure.message, "the graph: the session is closed");
    tr_graph_close(graph);
}

/* A fetch of several pieces, whole answers of one owner and mixed ones, read in place and by
 * message. */
static void a_large_fetch_equals_truth(void **state)
{
    static float features[WORLD_NODES * WORLD_WIDTH];
    static int64_t labels[WORLD_NODES];
    enum { N = 300001 };
    uint64_t *ids = malloc(N * sizeof *ids), *original = malloc(N * sizeof *original);
    float *rows = malloc((size_t)N * WORLD_WIDTH * sizeof *rows);
    (void)state;
    world_truth(features, labels);
    for (int i = 0; i < 4; i++) {
        struct tr_session_options o;
        struct tr_session *session;
        struct tr_graph *graph;
        char path[256];
        tr_session_options_init(&o);
        o.direct = i % 2;
        world_partition(PARTITION_RANDOM, i < 2 ? 1 : 4, path);
        ok(tr_session_open(&o, &session, &failure));
        ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure));
        for (size_t k = 0; k < N; k++)
            ids[k] = k * 7919 % WORLD_NODES;
        ok(tr_graph_original_ids(graph, 0, ids, N, 60 * SECOND, original, &failure));
        ok(tr_graph_fetch(graph, 0, "feat", ids, N, 60 * SECOND, rows, &failure));
        for (size_t k = 0; k < N; k++)
            assert_memory_equal(rows + k * WORLD_WIDTH, features + original[k] * WORLD_WIDTH,
                                WORLD_WIDTH * sizeof *rows);
        tr_graph_close(graph);
        tr_session_close(session);
    }
    free(rows);
    free(original);
    free(ids);
}

static void bad_input_is_named(void **state)
{
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_session_options o;
    struct job job;
    struct tr_loader_options lo = loader_options();
    struct tr_loader *loader;
    struct tr_nodes *nodes;
    char path[256];
    (void)state;
    tr_session_options_init(&o);
    o.loops = 1000;
    assert_int_equal(tr_session_open(&o, &session, &failure), TR_ERANGE);
    assert_non_null(strstr(failure.message, "1000"));
    tr_session_close(session);
    ok(tr_session_open(NULL, &session, &failure));
    assert_true(tr_graph_open(session, "/nonexistent/g.json", TR_WAIT_FOREVER, &graph, &failure) <
                0);
    assert_null(graph);
    assert_non_null(strstr(failure.message, "/nonexistent/g.json"));
    tr_session_close(session);

    world_partition(PARTITION_RANDOM, 2, path);
    open_job(&job, NULL, path, &lo);
    lo.features = "nope";
    assert_int_equal(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure),
                     TR_ENOENT);
    assert_non_null(strstr(failure.message, "nope"));
    lo = loader_options();
    lo.fanout[1] = -2;
    assert_int_equal(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure),
                     TR_ERANGE);
    lo = loader_options();
    lo.num_layers = 17;
    assert_int_equal(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure),
                     TR_ERANGE);
    assert_int_equal(tr_nodes_masked(job.graph, 0, "feat", TR_WAIT_FOREVER, &nodes, &failure),
                     TR_EINVAL);
    close_job(&job);
}

/* Each is a seed with a row of labels, and the second one draws other neighbours than the first. */
static void a_node_listed_twice_is_two_seeds(void **state)
{
    struct job job;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    struct tr_batch *batch;
    struct tr_rows labels = TR_ROWS_INIT;
    struct tr_block block = TR_BLOCK_INIT;
    uint32_t differ = 0;
    uint64_t ids[400];
    size_t count;
    char path[256];
    (void)state;
    for (size_t i = 0; i < 400; i++)
        ids[i] = i / 2;
    world_partition(PARTITION_RANDOM, 3, path);
    struct tr_loader_options lo = loader_options();
    open_job(&job, NULL, path, &lo);
    ok(tr_nodes_listed(job.graph, 0, ids, 400, TR_WAIT_FOREVER, &nodes, &failure));
    assert_int_equal(tr_nodes_count(nodes), 400);
    lo.num_layers = 1;
    lo.fanout[0] = 2;
    lo.batch_size = 400;
    lo.shuffle = false;
    ok(tr_loader_open(job.graph, nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    ok(tr_loader_next(loader, 30 * SECOND, &batch, &failure));
    assert_int_equal(tr_batch_num_seeds(batch, 0), 400);
    const uint64_t *seeds = tr_batch_nodes(batch, 0, &count);
    assert_true(count >= 400);
    assert_int_equal(tr_batch_labels(batch, 0, &labels, NULL), 0);
    assert_int_equal(labels.num_rows, 400);
    assert_int_equal(tr_batch_block(batch, 0, 0, &block, NULL), 0);
    assert_int_equal(block.num_dst, 400);
    for (size_t i = 0; i < 400; i += 2) {
        uint32_t first = block.index[i], second = block.index[i + 1], end = block.index[i + 2];
        assert_true(seeds[i] == seeds[i + 1]);
        assert_int_equal(end - second, second - first);
        assert_true(((const int64_t *)labels.rows)[i] == ((const int64_t *)labels.rows)[i + 1]);
        differ += memcmp(block.sources + first, block.sources + second,
                         (second - first) * sizeof *block.sources) != 0;
    }
    assert_true(differ > 50);
    tr_batch_release(batch);
    tr_loader_close(loader);
    tr_nodes_close(nodes);
    close_job(&job);
}

static void batches_outlive_all(void **state)
{
    struct tr_loader_options lo = loader_options();
    struct job job;
    struct tr_batch *batches[3], *late;
    char path[256];
    uint64_t digest;
    (void)state;
    world_partition(PARTITION_RANDOM, 2, path);
    open_job(&job, NULL, path, &lo);
    for (int i = 0; i < 3; i++)
        ok(tr_loader_next(job.loader, 30 * SECOND, &batches[i], &failure));
    tr_batch_release(batches[1]);
    tr_session_close(job.session);
    assert_int_equal(tr_loader_next(job.loader, SECOND, &late, &failure), TR_ECLOSED);
    assert_string_equal(failure.message, "loader: next: the session is closed");
    assert_null(late);
    assert_int_equal(tr_loader_begin(job.loader, 0, &failure), TR_ECLOSED);
    assert_string_equal(failure.message, "loader: begin: the session is closed");
    tr_graph_close(job.graph);
    tr_loader_close(job.loader);
    check_blocks(batches[0]);
    tr_nodes_close(job.nodes);
    assert_int_equal(tr_batch_digest(batches[2], &digest, NULL), 0);
    tr_batch_release(batches[2]);
    tr_batch_release(batches[0]);
}

/* A node whose actors are killed at the end of their time says so; these have time enough. */
static void a_graph_that_is_closed_ends_in_order(void **state)
{
    struct tr_loader_options lo = loader_options();
    struct tr_log_options warnings;
    struct tr_log_line line = TR_LOG_LINE_INIT;
    struct tr_session_options o;
    char path[256];
    tr_log_options_init(&warnings);
    (void)state;
    warnings.level = TR_LOG_WARN;
    world_partition(PARTITION_RANDOM, 2, path);
    tr_session_options_init(&o);
    o.loops = 2;
    o.samplers = 2;
    ok(tr_log_open(&warnings, &o.log, &failure));
    for (int i = 0; i < 8; i++) {
        struct tr_batch *batch;
        struct job job;
        open_job(&job, &o, path, &lo);
        ok(tr_loader_next(job.loader, 30 * SECOND, &batch, &failure));
        tr_batch_release(batch);
        close_job(&job);
    }
    int rv = tr_log_next(o.log, 0, &line, &failure);
    if (rv != TR_ETIMEDOUT)
        fail_msg("%s", rv == 0 ? line.text : failure.message);
    tr_log_close(o.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(a_node_listed_twice_is_two_seeds),
        cmocka_unit_test(fetch_equals_truth),
        cmocka_unit_test(a_large_fetch_equals_truth),
        cmocka_unit_test(epochs_cover_seeds),
        cmocka_unit_test(placement_changes_nothing),
        cmocka_unit_test(batches_outlive_all),
        cmocka_unit_test(a_graph_that_is_closed_ends_in_order),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
