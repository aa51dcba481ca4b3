/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The saving of a deal that puts trainers beside their partitions: rows that a trainer's batches
 * need of partitions that are not its own, for a METIS partitioning of a skewed graph on four
 * hosts, beside those that the shuffle of all seeds needs.
 *
 * A row is a node whose neighbours are drawn (one a hop) or whose features are brought. Needs the
 * data folder (TROUPE_DATA).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/internal.h"
#include "graph/key.h"
#include "partition/build/partition.h"
#include "partition/store/npy.h"
#include "tests/api/outcome.h"
#include "tests/scratch.h"

#define HOSTS 4u
#define NODES 81306u
#define SECOND INT64_C(1000000000)

static char folder[64];

static void data_path(char path[300])
{
    const char *all = getenv("TROUPE_DATA");
    snprintf(path, 300, "%s/topo_ego_twitter", all != NULL ? all : "");
}

static void path_of(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
}

/* The data set with a tenth of its nodes to train. */
static void make_raw(const char *data)
{
    static uint8_t mask[NODES];
    char from[400], to[256];
    uint64_t shape = NODES;
    struct error error = { 0 };
    path_of("raw", to);
    assert_int_equal(files_make_folders(files_posix, to, &error), 0);
    static const char *const names[] = { "edges.npy", "meta.json" };
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(from, sizeof from, "%s/%s", data, names[i]);
        snprintf(name, sizeof name, "raw/%s", names[i]);
        path_of(name, to);
        assert_int_equal(symlink(from, to), 0);
    }
    for (uint64_t v = 0; v < NODES; v++)
        mask[v] = key_mix(v * KEY_STEP) % 10 == 0;
    path_of("raw/train_mask.npy", to);
    if (npy_write(files_posix, to, "|u1", 1, &shape, mask, &error) != 0)
        fail_msg("%s", error.text);
}

static void partition(const char *out, enum partition_method method)
{
    struct partition_options options = {
        .name = "g", .method = method, .num_parts = HOSTS, .trainers = HOSTS, .drop_edge_ids = true
    };
    struct raw_graph *raw = NULL;
    struct partition_report report;
    struct error error = { 0 };
    char path[256], to[256];
    path_of("raw", path);
    path_of(out, to);
    if (raw_open(path, NULL, &raw, &error) != 0 ||
        partition_graph(raw, &options, to, parallel_serial, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    raw_close(raw);
}

/* Nodes of a list beyond the first `count` are not looked at. */
static uint64_t remote_nodes(const struct book *book, const uint64_t *ids, uint64_t count,
                             uint32_t part)
{
    uint64_t remote = 0;
    for (uint64_t i = 0; i < count; i++)
        remote += (uint32_t)book_node_owner(book, 0, ids[i]) != part;
    return remote;
}

static uint64_t remote_rows(const struct book *book, const struct mini_batch *batch, uint32_t part)
{
    const struct batch_nodes *nodes = &batch->nodes[0];
    uint64_t remote = remote_nodes(book, nodes->ids, nodes->num_nodes, part);
    for (uint32_t l = 0; l < batch->num_layers; l++)
        remote += remote_nodes(book, nodes->ids, batch->blocks[l].edges[0].num_dst, part);
    return remote;
}

static uint64_t epoch_of(struct tr_graph *graph, struct tr_nodes *nodes, uint32_t rank)
{
    struct tr_loader_options o;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t remote = 0;
    int rv;
    tr_loader_options_init(&o);
    o.num_layers = 2;
    o.fanout[0] = 10;
    o.fanout[1] = 25;
    o.batch_size = 256;
    o.rank = rank;
    o.world = HOSTS;
    ok(tr_loader_open(graph, nodes, &o, TR_WAIT_FOREVER, &loader, &failure));
    while ((rv = tr_loader_next(loader, 60 * SECOND, &batch, &failure)) == 0) {
        remote += remote_rows(graph->book, batch_mini(batch), rank);
        tr_batch_release(batch);
    }
    assert_int_equal(rv, TR_EEND);
    tr_loader_close(loader);
    return remote;
}

/* Rows of other partitions in one epoch of all trainers. */
static uint64_t remote_of(const char *out, bool dealt)
{
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    uint64_t remote = 0;
    char path[256], name[64];
    snprintf(name, sizeof name, "%s/g.json", out);
    path_of(name, path);
    ok(tr_session_open(NULL, &session, &failure));
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure));
    ok(tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &failure));
    assert_int_equal(tr_graph_deal_trainers(graph), HOSTS);
    for (uint32_t rank = 0; rank < HOSTS; rank++) {
        struct tr_nodes *group = NULL;
        if (dealt)
            ok(tr_nodes_deal(nodes, NULL, rank, HOSTS, TR_WAIT_FOREVER, &group, &failure));
        remote += epoch_of(graph, group != NULL ? group : nodes, rank);
        tr_nodes_close(group);
    }
    tr_nodes_close(nodes);
    tr_graph_close(graph);
    tr_session_close(session);
    return remote;
}

static void affinity_needs_half_of_the_remote_rows_of_shuffle(void **unused)
{
    char data[300];
    (void)unused;
    data_path(data);
    make_raw(data);
    partition("metis", PARTITION_METIS);
    partition("random", PARTITION_RANDOM);
    uint64_t shuffle = remote_of("metis", false), affinity = remote_of("metis", true);
    uint64_t random = remote_of("random", true);
    print_message("# remote rows an epoch: affinity %llu, shuffle %llu (ratio %.3f), random "
                  "partitions %llu\n",
                  (unsigned long long)affinity, (unsigned long long)shuffle,
                  (double)affinity / (double)shuffle, (unsigned long long)random);
    assert_true(2 * affinity <= shuffle);
}

static int make_folder(void **unused)
{
    (void)unused;
    return scratch_folder(folder, sizeof folder, "affinity") == NULL ? -1 : 0;
}

static int remove_folder(void **unused)
{
    char command[100];
    (void)unused;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    char data[300];
    data_path(data);
    if (!files_is_folder(files_posix, data)) {
        printf("1..0 # SKIP %s is not there; set TROUPE_DATA to the folder of the data\n", data);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affinity_needs_half_of_the_remote_rows_of_shuffle),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
