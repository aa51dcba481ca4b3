/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph that METIS is asked about: each node's neighbours in either direction once, without
 * itself, of all types in one row of numbers; and how large it may be.
 */
#include "tests/partition/graph_util.h"

#include "partition/build/job.h"
#include "partition/build/symmetric.h"

/* Rows that a thread cleans at once, and edges whose places are looked up at once. */
#define ROWS_AT_ONCE 32768u
#define TILE 128u

/* The indexes backwards and by more than one worker in turn: any order gives the same. */
static void run_backwards(struct parallel *self, size_t count,
                          void (*body)(void *arg, size_t index, size_t worker), void *arg)
{
    for (size_t i = count; i-- > 0;)
        body(arg, i, i % self->workers);
}

static struct parallel backwards = { .run = run_backwards, .workers = 3 };

static int by_number(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* The row of a node as the sample has it, sorted, each neighbour once. */
static size_t neighbours_of(const struct sample *sample, const uint64_t *offsets, int32_t node,
                            int32_t *found, uint32_t *in_degree)
{
    size_t count = 0, kept = 0;
    *in_degree = 0;
    for (uint32_t e = 0; e < sample->types.num_etypes; e++)
        for (uint64_t i = 0; i < sample->num_edges[e]; i++) {
            int32_t src = (int32_t)(offsets[sample->types.etypes[e].src] + sample->src[e][i]);
            int32_t dst = (int32_t)(offsets[sample->types.etypes[e].dst] + sample->dst[e][i]);
            if (src == dst || (src != node && dst != node))
                continue;
            *in_degree += dst == node;
            found[count++] = src == node ? dst : src;
        }
    qsort(found, count, sizeof *found, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || found[i] != found[i - 1])
            found[kept++] = found[i];
    return kept;
}

static void symmetric_well(struct raw_graph *raw, struct parallel *parallel,
                           struct symmetric *graph)
{
    const struct partition_options options = { .num_parts = 2 };
    struct partition_job job = { .raw = raw, .options = &options, .parallel = parallel };
    struct error error = { 0 };
    if (symmetric_init(graph, &job, &error) != 0)
        fail_msg("%s", error.text);
}

static void neighbours_are_those_of_either_direction(void **state)
{
    for (int round = 0; round < 4; round++) {
        bool hetero = round % 2 == 1;
        char name[16];
        struct sample sample;
        struct symmetric graph;
        snprintf(name, sizeof name, "raw%d", round);
        /* Loops and parallel edges are among them, and more edges than a tile has. */
        sample_init(&sample, hetero, round < 2 ? 60 : 7, 5 * TILE + 3, 3 + (uint64_t)round);
        struct raw_graph *raw = sample_raw(&sample, at(*state, name));
        symmetric_well(raw, round < 2 ? parallel_serial : &backwards, &graph);
        int32_t *wanted = calloc(4 * (5 * TILE + 3), sizeof *wanted);
        uint64_t nodes = 0, entries = 0;
        assert_non_null(wanted);
        for (uint32_t t = 0; t < sample.types.num_ntypes; t++) {
            assert_int_equal(graph.offsets[t], nodes);
            nodes += sample.num_nodes[t];
        }
        assert_int_equal(graph.num_nodes, nodes);
        for (uint64_t v = 0; v < nodes; v++) {
            uint32_t in_degree;
            size_t count = neighbours_of(&sample, graph.offsets, (int32_t)v, wanted, &in_degree);
            assert_int_equal(graph.index[v], entries);
            entries += count;
            assert_int_equal(graph.index[v + 1], entries);
            qsort(graph.adjacency + graph.index[v], count, sizeof *wanted, by_number);
            assert_memory_equal(graph.adjacency + graph.index[v], wanted, count * sizeof *wanted);
            assert_int_equal(graph.in_degrees[v], in_degree);
        }
        assert_int_equal(graph.num_entries, entries);
        assert_true(graph.room >= entries);
        free(wanted);
        symmetric_fini(&graph);
        raw_close(raw);
        sample_fini(&sample);
    }
}

/* A ring with each edge twice, of more rows than a thread cleans at once. */
static void rows_are_cleaned_in_pieces(void **state)
{
    enum { NODES = 2 * ROWS_AT_ONCE + 5 };
    struct sample sample;
    struct symmetric graph;
    sample_init(&sample, false, NODES, 2 * NODES, 1);
    for (uint64_t v = 0; v < NODES; v++)
        for (uint64_t i = 2 * v; i < 2 * v + 2; i++) {
            sample.src[0][i] = v;
            sample.dst[0][i] = (v + 1) % NODES;
        }
    struct raw_graph *raw = sample_raw(&sample, at(*state, "raw"));
    symmetric_well(raw, &backwards, &graph);
    assert_int_equal(graph.num_entries, 2 * NODES);
    for (int64_t v = 0; v < NODES; v++) {
        int64_t before = (v + NODES - 1) % NODES, behind = (v + 1) % NODES;
        assert_int_equal(graph.index[v], 2 * v);
        assert_int_equal(graph.adjacency[2 * v], before);
        assert_int_equal(graph.adjacency[2 * v + 1], behind);
        assert_int_equal(graph.in_degrees[v], 2);
    }
    symmetric_fini(&graph);
    raw_close(raw);
    sample_fini(&sample);
}

/* The numbers of METIS have 32 bits, one of them a sign, and an edge is two of its entries. */
static void sizes_are_bounded(void **state)
{
    static const struct {
        uint64_t nodes[2], edges[2];
        bool fits;
    } cases[] = {
        { { 0, 0 }, { 0, 0 }, true },
        { { INT32_MAX - 1, 0 }, { 0, 0 }, true },
        { { INT32_MAX, 0 }, { 0, 0 }, false },
        { { INT32_MAX - 5, 4 }, { 1, 1 }, true },
        { { INT32_MAX - 5, 5 }, { 1, 1 }, false },
        { { 1, 1 }, { INT32_MAX / 2 - 1, 0 }, true },
        { { 1, 1 }, { INT32_MAX / 2, 0 }, false },
        { { 1, 1 }, { 7, INT32_MAX / 2 - 8 }, true },
        { { 1, 1 }, { 7, INT32_MAX / 2 - 7 }, false },
        { { INT32_MAX, 0 }, { INT32_MAX / 2, 0 }, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t nodes[2], edges[2];
        struct error error = { 0 };
        memcpy(nodes, cases[i].nodes, sizeof nodes);
        memcpy(edges, cases[i].edges, sizeof edges);
        const struct raw_graph raw = { .types = { .num_ntypes = 2, .num_etypes = 2 },
                                       .num_nodes = nodes,
                                       .num_edges = edges };
        char text[256];
        snprintf(text, sizeof text,
                 "METIS here has 32-bit indices: %llu nodes, and %llu edges in both directions "
                 "(counted twice, before doubles are found), must stay below 2147483647 each; use "
                 "\"method\" random",
                 (unsigned long long)(nodes[0] + nodes[1]),
                 (unsigned long long)(edges[0] + edges[1]));
        assert_int_equal(symmetric_check(&raw, &error), cases[i].fits ? 0 : TR_ETOOBIG);
        if (!cases[i].fits)
            assert_says(&error, TR_ETOOBIG, text);
    }
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(neighbours_are_those_of_either_direction),
        SCRATCH(rows_are_cleaned_in_pieces),
        cmocka_unit_test(sizes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
