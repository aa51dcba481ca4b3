/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batches that a seed gave on the day they were recorded, it gives on every later day.
 *
 * The other tests compare placements of one build with each other, so a change of the draws
 * themselves would pass them all. The numbers below are digests in original IDs, which no machine
 * and no placement changes. They are recorded once: a change that breaks them breaks the published
 * promise that a seed is all one needs to repeat an experiment.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <troupe/troupe.h>
#include <cmocka.h>

#include "tests/api/api_world.h"
#include "tests/api/outcome.h"

#define TIMEOUT_NS INT64_C(60000000000)

struct golden {
    uint32_t layers;
    int32_t fanout[4];
    bool replace, shuffle, masked;
    uint64_t digest; /* of two epochs */
};

static const struct golden goldens[] = {
    { 1, { 10 }, false, false, false, UINT64_C(0xc4bb537b5de9d1fe) },
    { 2, { 10, 25 }, false, false, true, UINT64_C(0x09cd5ce659f16133) },
    { 2, { 10, 25 }, true, false, true, UINT64_C(0xd5d07ef7b52726c6) },
    { 3, { 5, 10, 15 }, false, false, false, UINT64_C(0xebda5f12b4333ae7) },
    { 3, { 5, 10, 15 }, true, false, false, UINT64_C(0xb595cd2b27b66ce5) },
    { 2, { TR_FANOUT_ALL, 3 }, false, false, true, UINT64_C(0x0e2b6c2ec9047258) },
    { 2, { 3, TR_FANOUT_ALL }, true, false, true, UINT64_C(0x10432f69a3b87188) },
    { 3, { 2, 0, 4 }, false, false, false, UINT64_C(0x6eea101c99c3a147) },
    { 4, { 1, 1, 2, 3 }, true, true, false, UINT64_C(0x41c732ae1f0c641e) },
    { 2, { 10, 25 }, false, true, true, UINT64_C(0x3c011770004efc52) },
};

#define GOLDENS (sizeof goldens / sizeof *goldens)

static void fold_epoch(struct tr_loader *loader, uint64_t *sum)
{
    struct tr_batch *batch;
    uint64_t digest;
    int rv;
    while ((rv = tr_loader_next(loader, TIMEOUT_NS, &batch, &failure)) == 0) {
        assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
        *sum = *sum * UINT64_C(0x9e3779b97f4a7c15) + digest;
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
}

static uint64_t digest_of(struct tr_graph *graph, const struct golden *golden)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_nodes *nodes;
    uint64_t sum = 17;
    tr_loader_options_init(&options);
    options.num_layers = golden->layers;
    for (uint32_t i = 0; i < golden->layers; i++)
        options.fanout[i] = golden->fanout[i];
    options.batch_size = 100;
    options.replace = golden->replace;
    options.shuffle = golden->shuffle;
    options.original_ids = true;
    ok(golden->masked ? tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &failure)
                      : tr_nodes_all(graph, 0, TR_WAIT_FOREVER, &nodes, &failure));
    ok(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    for (int epoch = 0; epoch < 2; epoch++)
        fold_epoch(loader, &sum);
    tr_loader_close(loader);
    tr_nodes_close(nodes);
    return sum;
}

/* Says every number that differs, so that a first recording is one run. */
static void batches_are_those_recorded(uint32_t num_parts, bool direct)
{
    struct tr_session_options options;
    struct tr_session *session;
    struct tr_graph *graph;
    char path[256];
    int differ = 0;
    world_partition(PARTITION_METIS, num_parts, path);
    tr_session_options_init(&options);
    options.seed = 5;
    options.loops = 2;
    options.samplers = 2;
    options.direct = direct;
    ok(tr_session_open(&options, &session, &failure));
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure));
    for (size_t i = 0; i < GOLDENS; i++) {
        uint64_t digest = digest_of(graph, &goldens[i]);
        if (digest == goldens[i].digest)
            continue;
        print_error("golden %zu, %" PRIu32 " partitions: 0x%016" PRIx64 "\n", i, num_parts, digest);
        differ++;
    }
    tr_graph_close(graph);
    tr_session_close(session);
    assert_int_equal(differ, 0);
}

static void on_one_partition(void **state)
{
    (void)state;
    batches_are_those_recorded(1, true);
}

static void on_four_partitions(void **state)
{
    (void)state;
    batches_are_those_recorded(4, true);
}

static void on_four_partitions_by_messages(void **state)
{
    (void)state;
    batches_are_those_recorded(4, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_one_partition),
        cmocka_unit_test(on_four_partitions),
        cmocka_unit_test(on_four_partitions_by_messages),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
