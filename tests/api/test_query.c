/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about edges: the answers are those of the plain arrays that the graph was made of, in
 * the order of the questions, on any placement, by messages as in place, and in the processes of a
 * cluster file as in one; an ID that is none is named.
 */
#include "tests/api/cluster_job.h"
#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"
#include "tests/schemas/random.h"
#include "tests/scratch.h"

#define SECOND INT64_C(1000000000)
#define ETYPES 3u
#define ASKED 500u

static struct sample sample; /* the graph, by original IDs */

/* The same graph as one placement numbers it: an array for each answer, by global ID. */
struct expected {
    uint64_t *original[2];     /* of nodes of a type, */
    uint64_t *global[2];       /* and back */
    uint64_t *sources[ETYPES]; /* of edges of a type, */
    uint64_t *destinations[ETYPES];
    uint64_t *edge_ids[ETYPES]; /* by original edge ID */
};

static uint64_t *make_ids(uint64_t count)
{
    uint64_t *ids = calloc(count + 1, sizeof *ids);
    assert_non_null(ids);
    return ids;
}

/* Edges follow one another by the global ID of their destination, then by their original ID. */
static void number_edges(struct expected *e, uint32_t etype)
{
    const struct graph_etype *type = &sample.types.etypes[etype];
    uint64_t *next = make_ids(sample.num_nodes[type->dst] + 1);
    for (uint64_t i = 0; i < sample.num_edges[etype]; i++)
        next[e->global[type->dst][sample.dst[etype][i]] + 1]++;
    for (uint64_t v = 0; v < sample.num_nodes[type->dst]; v++)
        next[v + 1] += next[v];
    for (uint64_t i = 0; i < sample.num_edges[etype]; i++) {
        uint64_t destination = e->global[type->dst][sample.dst[etype][i]];
        uint64_t id = next[destination]++;
        e->edge_ids[etype][i] = id;
        e->sources[etype][id] = e->global[type->src][sample.src[etype][i]];
        e->destinations[etype][id] = destination;
    }
    free(next);
}

static void expected_init(struct expected *e, struct tr_graph *graph)
{
    for (uint32_t t = 0; t < sample.types.num_ntypes; t++) {
        uint64_t count = sample.num_nodes[t];
        uint64_t *all = make_ids(count);
        e->original[t] = make_ids(count);
        e->global[t] = make_ids(count);
        for (uint64_t v = 0; v < count; v++)
            all[v] = v;
        ok(tr_graph_original_ids(graph, t, all, count, 30 * SECOND, e->original[t], &failure));
        for (uint64_t v = 0; v < count; v++)
            e->global[t][e->original[t][v]] = v;
        free(all);
    }
    for (uint32_t t = 0; t < sample.types.num_etypes; t++) {
        e->sources[t] = make_ids(sample.num_edges[t]);
        e->destinations[t] = make_ids(sample.num_edges[t]);
        e->edge_ids[t] = make_ids(sample.num_edges[t]);
        number_edges(e, t);
    }
}

static void expected_fini(struct expected *e)
{
    for (uint32_t t = 0; t < sample.types.num_ntypes; t++) {
        free(e->original[t]);
        free(e->global[t]);
    }
    for (uint32_t t = 0; t < sample.types.num_etypes; t++) {
        free(e->sources[t]);
        free(e->destinations[t]);
        free(e->edge_ids[t]);
    }
}

static void ask_for_ends(const struct expected *e, struct tr_graph *graph, uint32_t etype,
                         uint64_t *state)
{
    uint64_t ids[ASKED], sources[ASKED], destinations[ASKED];
    for (size_t i = 0; i < ASKED; i++)
        ids[i] = random_below(state, sample.num_edges[etype]);
    ok(tr_graph_find_edges(graph, etype, ids, ASKED, 30 * SECOND, sources, destinations, &failure));
    for (size_t i = 0; i < ASKED; i++) {
        assert_int_equal(sources[i], e->sources[etype][ids[i]]);
        assert_int_equal(destinations[i], e->destinations[etype][ids[i]]);
    }
    /* Half of the answer alone. */
    memset(sources, 0, sizeof sources);
    memset(destinations, 0, sizeof destinations);
    ok(tr_graph_find_edges(graph, etype, ids, ASKED, 30 * SECOND, sources, NULL, &failure));
    ok(tr_graph_find_edges(graph, etype, ids, 7, 30 * SECOND, NULL, destinations, &failure));
    ok(tr_graph_find_edges(graph, etype, ids, 7, 30 * SECOND, NULL, NULL, &failure));
    for (size_t i = 0; i < ASKED; i++) {
        assert_int_equal(sources[i], e->sources[etype][ids[i]]);
        assert_int_equal(destinations[i], i < 7 ? e->destinations[etype][ids[i]] : 0);
    }
}

/* Every edge at once, of which some partitions may have none. */
static void ask_for_all_ends(const struct expected *e, struct tr_graph *graph, uint32_t etype)
{
    uint64_t count = sample.num_edges[etype];
    uint64_t *ids = make_ids(count), *sources = make_ids(count), *destinations = make_ids(count);
    for (uint64_t i = 0; i < count; i++)
        ids[i] = count - 1 - i;
    ok(tr_graph_find_edges(graph, etype, ids, count, 30 * SECOND, sources, destinations, &failure));
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(sources[i], e->sources[etype][count - 1 - i]);
        assert_int_equal(destinations[i], e->destinations[etype][count - 1 - i]);
    }
    free(ids);
    free(sources);
    free(destinations);
}

static void ask_for_original_ids(const struct expected *e, struct tr_graph *graph, uint32_t etype)
{
    uint64_t count = sample.num_edges[etype], *originals = make_ids(count);
    ok(tr_graph_original_edge_ids(graph, etype, e->edge_ids[etype], count, 30 * SECOND, originals,
                                  &failure));
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(originals[i], i);
    free(originals);
}

/* The first edge that goes into a node, by the IDs of the graph's arrays. */
static uint64_t first_in_edge(const struct expected *e, uint32_t etype, uint64_t node)
{
    uint64_t i = 0;
    while (i < sample.num_edges[etype] && e->destinations[etype][i] < node)
        i++;
    return i;
}

static void ask_for_in_edges(const struct expected *e, struct tr_graph *graph, uint32_t etype,
                             uint64_t *state)
{
    uint64_t num_nodes = sample.num_nodes[sample.types.etypes[etype].dst];
    uint64_t ids[ASKED], degrees[ASKED], index[ASKED + 1], none;
    for (size_t i = 0; i < ASKED; i++)
        ids[i] = random_below(state, num_nodes);
    ok(tr_graph_in_degrees(graph, etype, ids, ASKED, 30 * SECOND, degrees, &failure));
    assert_int_equal(
        tr_graph_in_edges(graph, etype, ids, ASKED, 30 * SECOND, 0, index, NULL, NULL, &failure),
        TR_ETOOBIG);
    size_t room = (size_t)index[ASKED];
    uint64_t *sources = make_ids(room), *edge_ids = make_ids(room);
    refused(tr_graph_in_edges(graph, etype, ids, ASKED, 30 * SECOND, room - 1, index, sources,
                              edge_ids, &failure),
            TR_ETOOBIG, "there is room for");
    ok(tr_graph_in_edges(graph, etype, ids, ASKED, 30 * SECOND, room, index, sources, edge_ids,
                         &failure));
    for (size_t i = 0; i < ASKED; i++) {
        uint64_t first = first_in_edge(e, etype, ids[i]), degree = 0;
        while (first + degree < sample.num_edges[etype] &&
               e->destinations[etype][first + degree] == ids[i])
            degree++;
        assert_int_equal(degrees[i], degree);
        assert_int_equal(index[i + 1] - index[i], degree);
        for (uint64_t k = 0; k < degree; k++) {
            assert_int_equal(edge_ids[index[i] + k], first + k);
            assert_int_equal(sources[index[i] + k], e->sources[etype][first + k]);
        }
    }
    free(sources);
    free(edge_ids);
    ok(tr_graph_in_edges(graph, etype, NULL, 0, 30 * SECOND, 0, &none, NULL, NULL, &failure));
    assert_int_equal(none, 0);
}

static void ask_for_out_edges(const struct expected *e, struct tr_graph *graph, uint32_t etype,
                              uint64_t *state)
{
    uint64_t num_nodes = sample.num_nodes[sample.types.etypes[etype].src];
    uint64_t ids[ASKED / 5], degrees[ASKED / 5], index[ASKED / 5 + 1];
    size_t count = ASKED / 5;
    for (size_t i = 0; i < count; i++)
        ids[i] = random_below(state, num_nodes);
    ok(tr_graph_out_degrees(graph, etype, ids, count, 30 * SECOND, degrees, &failure));
    assert_int_equal(
        tr_graph_out_edges(graph, etype, ids, count, 30 * SECOND, 0, index, NULL, NULL, &failure),
        TR_ETOOBIG);
    size_t room = (size_t)index[count];
    uint64_t *destinations = make_ids(room), *edge_ids = make_ids(room);
    ok(tr_graph_out_edges(graph, etype, ids, count, 30 * SECOND, room, index, destinations,
                          edge_ids, &failure));
    for (size_t i = 0; i < count; i++) {
        /* In the order of the graph's own edges. */
        uint64_t original = e->original[sample.types.etypes[etype].src][ids[i]], at = index[i];
        for (uint64_t k = 0; k < sample.num_edges[etype]; k++) {
            if (sample.src[etype][k] != original)
                continue;
            assert_true(at < index[i + 1]);
            assert_int_equal(edge_ids[at], e->edge_ids[etype][k]);
            assert_int_equal(destinations[at], e->destinations[etype][edge_ids[at]]);
            at++;
        }
        assert_int_equal(at, index[i + 1]);
        assert_int_equal(degrees[i], at - index[i]);
    }
    free(destinations);
    free(edge_ids);
}

/* Pairs that edges join, some of them by several, and pairs that may be joined by none. */
static void ask_between(const struct expected *e, struct tr_graph *graph, uint32_t etype,
                        uint64_t *state)
{
    const struct graph_etype *type = &sample.types.etypes[etype];
    uint64_t sources[ASKED], destinations[ASKED], found[ASKED];
    for (size_t i = 0; i < ASKED; i++) {
        uint64_t edge = random_below(state, sample.num_edges[etype]);
        bool joined = i % 2 == 0;
        sources[i] = joined ? e->sources[etype][edge]
                            : random_below(state, sample.num_nodes[type->src]);
        destinations[i] = joined ? e->destinations[etype][edge]
                                 : random_below(state, sample.num_nodes[type->dst]);
    }
    ok(tr_graph_edges_between(graph, etype, sources, destinations, ASKED, 30 * SECOND, found,
                              &failure));
    for (size_t i = 0; i < ASKED; i++) {
        uint64_t edge = first_in_edge(e, etype, destinations[i]), expected = TR_EDGE_NONE;
        for (; edge < sample.num_edges[etype] && expected == TR_EDGE_NONE &&
               e->destinations[etype][edge] == destinations[i];
             edge++)
            if (e->sources[etype][edge] == sources[i])
                expected = edge;
        assert_int_equal(found[i], expected);
        assert_true(i % 2 != 0 || found[i] != TR_EDGE_NONE);
    }
}

/* A node's place in the order of first appearance: plainly, among those seen so far. */
static uint64_t place_of(uint64_t *seen, size_t *count, uint64_t id)
{
    size_t at = 0;
    while (at < *count && seen[at] != id)
        at++;
    if (at == *count)
        seen[(*count)++] = id;
    return at;
}

/* Of some edge types some edges, one of them twice, and of the last none. */
static void ask_for_edge_subgraph(const struct expected *e, struct tr_graph *graph, uint64_t *state)
{
    size_t counts[ETYPES] = { 0 }, node_counts[2] = { 7, 7 }, found[2] = { 0 }, total = 0, at = 0;
    uint64_t ids[ETYPES * 50] = { 0 }, nodes[2 * ETYPES * 50], *seen[2];
    uint64_t sources[ETYPES * 50], destinations[ETYPES * 50];
    uint32_t num_etypes = sample.types.num_etypes, num_ntypes = sample.types.num_ntypes;
    for (uint32_t t = 0; t < num_etypes; total += counts[t++]) {
        counts[t] = t + 1 < num_etypes || num_etypes == 1 ? 50 - t : 0;
        for (size_t i = 0; i < counts[t]; i++)
            ids[total + i] = i == 9 ? ids[total + 3] : random_below(state, sample.num_edges[t]);
    }
    ok(tr_graph_edge_subgraph(graph, ids, counts, 30 * SECOND, sources, destinations, nodes,
                              node_counts, &failure));
    for (uint32_t t = 0; t < num_ntypes; t++)
        seen[t] = make_ids(2 * total);
    for (uint32_t t = 0; t < num_etypes; at += counts[t++]) {
        const struct graph_etype *type = &sample.types.etypes[t];
        for (size_t i = at; i < at + counts[t]; i++)
            assert_int_equal(sources[i],
                             place_of(seen[type->src], &found[type->src], e->sources[t][ids[i]]));
        for (size_t i = at; i < at + counts[t]; i++)
            assert_int_equal(destinations[i], place_of(seen[type->dst], &found[type->dst],
                                                       e->destinations[t][ids[i]]));
    }
    for (uint32_t t = 0, first = 0; t < num_ntypes; first += (uint32_t)found[t++]) {
        assert_int_equal(node_counts[t], found[t]);
        assert_memory_equal(nodes + first, seen[t], found[t] * sizeof *nodes);
        free(seen[t]);
    }
    memset(counts, 0, sizeof counts);
    ok(tr_graph_edge_subgraph(graph, NULL, counts, 30 * SECOND, NULL, NULL, NULL, node_counts,
                              &failure));
    assert_int_equal(node_counts[0], 0);
}

/* All in-edges of some nodes of each type: those that each edge type has of them. */
static void ask_for_in_subgraph(struct tr_graph *graph, uint64_t *state)
{
    size_t counts[2] = { 30, 40 }, edge_counts[ETYPES], again[ETYPES], total = 0, at = 0;
    uint64_t ids[70], index[41];
    for (size_t i = 0; i < 70; i++)
        ids[i] = random_below(state, sample.num_nodes[i < 30 ? 0 : sample.types.num_ntypes - 1]);
    int rv = tr_graph_in_subgraph(graph, ids, counts, 30 * SECOND, 0, edge_counts, NULL, NULL, NULL,
                                  &failure);
    assert_int_equal(rv, TR_ETOOBIG);
    for (uint32_t t = 0; t < sample.types.num_etypes; t++)
        total += edge_counts[t];
    uint64_t *edges = make_ids(3 * total), *of_type = make_ids(2 * total);
    refused(tr_graph_in_subgraph(graph, ids, counts, 30 * SECOND, total - 1, again, edges,
                                 edges + total, edges + 2 * total, &failure),
            TR_ETOOBIG, "there is room for");
    assert_memory_equal(again, edge_counts, sample.types.num_etypes * sizeof *again);
    ok(tr_graph_in_subgraph(graph, ids, counts, 30 * SECOND, total, edge_counts, edges,
                            edges + total, edges + 2 * total, &failure));
    for (uint32_t t = 0; t < sample.types.num_etypes; at += edge_counts[t++]) {
        uint32_t dst = sample.types.etypes[t].dst;
        const uint64_t *nodes = ids + (dst == 0 ? 0 : counts[0]);
        ok(tr_graph_in_edges(graph, t, nodes, counts[dst], 30 * SECOND, total, index, of_type,
                             of_type + total, &failure));
        assert_int_equal(edge_counts[t], index[counts[dst]]);
        assert_memory_equal(edges + at, of_type, edge_counts[t] * sizeof *edges);
        assert_memory_equal(edges + 2 * total + at, of_type + total,
                            edge_counts[t] * sizeof *edges);
        for (size_t i = 0; i < counts[dst]; i++)
            for (uint64_t k = index[i]; k < index[i + 1]; k++)
                assert_int_equal(edges[total + at + k], nodes[i]);
    }
    free(edges);
    free(of_type);
}

static void ask(struct tr_graph *graph, uint64_t seed)
{
    struct expected e;
    uint64_t state = seed;
    expected_init(&e, graph);
    for (uint32_t etype = 0; etype < sample.types.num_etypes; etype++) {
        ask_for_ends(&e, graph, etype, &state);
        ask_for_all_ends(&e, graph, etype);
        ask_for_original_ids(&e, graph, etype);
        ask_for_in_edges(&e, graph, etype, &state);
        ask_between(&e, graph, etype, &state);
        if (sample.out_edges)
            ask_for_out_edges(&e, graph, etype, &state);
    }
    ask_for_edge_subgraph(&e, graph, &state);
    ask_for_in_subgraph(graph, &state);
    expected_fini(&e);
}

static uint64_t run_placement(const char *path, int placement)
{
    struct tr_graph *graph;
    struct tr_session *session = placement_open(path, placement, &graph);
    ask(graph, 3 + (uint64_t)placement);
    tr_graph_close(graph);
    tr_session_close(session);
    return 0;
}

static void answers_are_those_of_the_graph(void **state)
{
    (void)state;
    sample_init(&sample, true, 300, 2000, 5);
    sample.out_edges = true;
    placements_agree(&sample, PLACEMENTS, 0, run_placement);
    sample_fini(&sample);
    sample_init(&sample, false, 100, 700, 6);
    placements_agree(&sample, 2, 0, run_placement);
    sample_fini(&sample);
}

static uint64_t run_cluster(const char *path, int placement)
{
    struct cluster_job job;
    (void)placement;
    cluster_job_open(&job, path, "");
    for (uint32_t p = 0; p < CLUSTER_JOB_PROCESSES; p++)
        ask(job.graphs[p], 40 + p);
    cluster_job_close(&job);
    return 0;
}

static void processes_answer_each_other(void **state)
{
    (void)state;
    sample_init(&sample, true, 200, 1500, 8);
    sample.out_edges = true;
    placements_agree(&sample, 1, 0, run_cluster);
    sample_fini(&sample);
}

static uint64_t refuse(struct tr_graph *graph)
{
    uint64_t ids[3] = { 0, 1, sample.num_edges[2] }, out[3];
    ok(tr_graph_find_edges(graph, 2, NULL, 0, 30 * SECOND, NULL, NULL, &failure));
    refused(tr_graph_find_edges(graph, 2, ids, 3, 30 * SECOND, out, out, &failure), TR_ERANGE,
            "ids[2] = 100: no edge of type by has this ID; it must be below 100");
    refused(tr_graph_find_edges(graph, 3, ids, 1, 30 * SECOND, out, out, &failure), TR_ERANGE,
            "edge type 3: types are numbered from 0, and the graph has 3");
    ids[2] = sample.num_edges[2] - 1;
    refused(tr_graph_find_edges(graph, 2, ids, 3, 0, out, out, &failure), TR_ETIMEDOUT, "");
    refused(tr_graph_original_edge_ids(graph, 2, ids, 3, 0, out, &failure), TR_ETIMEDOUT, "");
    ids[2] = sample.num_edges[2];
    refused(tr_graph_original_edge_ids(graph, 2, ids, 3, 30 * SECOND, out, &failure), TR_ERANGE,
            "ids[2] = 100: no edge of type by has this ID; it must be below 100");
    refused(tr_graph_original_edge_ids(graph, 3, ids, 1, 30 * SECOND, out, &failure), TR_ERANGE,
            "edge type 3: types are numbered from 0, and the graph has 3");
    uint64_t nodes[2] = { 0, sample.num_nodes[0] };
    refused(tr_graph_in_degrees(graph, 2, nodes, 2, 30 * SECOND, out, &failure), TR_ERANGE,
            "ids[1] = 20: no node of type author has this ID; it must be below 20");
    refused(tr_graph_in_degrees(graph, 3, nodes, 2, 30 * SECOND, out, &failure), TR_ERANGE,
            "edge type 3: types are numbered from 0, and the graph has 3");
    refused(tr_graph_in_edges(graph, 2, nodes, 2, 30 * SECOND, 0, out, NULL, NULL, &failure),
            TR_ERANGE, "ids[1] = 20: no node of type author");
    refused(tr_graph_in_edges(graph, 3, nodes, 2, 30 * SECOND, 0, out, NULL, NULL, &failure),
            TR_ERANGE, "edge type 3");
    uint64_t papers[2] = { 0, sample.num_nodes[1] };
    size_t counts[3] = { 0, 0, 3 }, node_counts[2], edge_counts[3];
    refused(tr_graph_edge_subgraph(graph, ids, counts, 30 * SECOND, out, out, out, node_counts,
                                   &failure),
            TR_ERANGE, "ids[2] = 100: no edge of type by has this ID; it must be below 100");
    counts[2] = 2;
    refused(tr_graph_edge_subgraph(graph, ids, counts, 0, out, out, out, node_counts, &failure),
            TR_ETIMEDOUT, "");
    counts[0] = SIZE_MAX;
    refused(tr_graph_edge_subgraph(graph, ids, counts, 0, out, out, out, node_counts, &failure),
            TR_ETOOBIG, "edges: 2^64 or more are counted");
    refused(tr_graph_in_subgraph(graph, nodes, (const size_t[]){ 2, 0 }, 30 * SECOND, 0,
                                 edge_counts, NULL, NULL, NULL, &failure),
            TR_ERANGE, "ids[1] = 20: no node of type author");
    refused(tr_graph_in_subgraph(graph, nodes, (const size_t[]){ 1, 0 }, 0, 0, edge_counts, NULL,
                                 NULL, NULL, &failure),
            TR_ETIMEDOUT, "");
    ok(tr_graph_in_subgraph(graph, NULL, (const size_t[]){ 0, 0 }, 30 * SECOND, 0, edge_counts,
                            NULL, NULL, NULL, &failure));
    assert_int_equal(edge_counts[0] + edge_counts[1] + edge_counts[2], 0);
    refused(tr_graph_edges_between(graph, 2, papers, nodes, 1, 0, out, &failure), TR_ETIMEDOUT, "");
    refused(tr_graph_edges_between(graph, 2, papers, nodes, 2, 30 * SECOND, out, &failure),
            TR_ERANGE, "sources[1] = 40: no node of type paper has this ID; it must be below 40");
    refused(tr_graph_edges_between(graph, 0, nodes, papers, 2, 30 * SECOND, out, &failure),
            TR_ERANGE, "sources[1] = 20: no node of type author");
    refused(tr_graph_edges_between(graph, 1, nodes, papers, 2, 30 * SECOND, out, &failure),
            TR_ERANGE, "destinations[1] = 40: no node of type paper");
    ok(tr_graph_edges_between(graph, 1, NULL, NULL, 0, 30 * SECOND, NULL, &failure));
    /* Papers have edges of two types, authors of one. */
    ok(tr_graph_out_degrees(graph, 0, nodes, 1, 30 * SECOND, out, &failure));
    refused(tr_graph_out_degrees(graph, 1, papers, 1, 30 * SECOND, out, &failure), TR_EUNSUPPORTED,
            "partition again with --out-edges");
    refused(tr_graph_out_edges(graph, 0, nodes, 1, 30 * SECOND, 0, out, NULL, NULL, &failure),
            TR_EUNSUPPORTED, "partition again with --out-edges");
    refused(tr_graph_out_edges(graph, 3, nodes, 1, 30 * SECOND, 0, out, NULL, NULL, &failure),
            TR_ERANGE, "edge type 3");
    refused(tr_graph_out_degrees(graph, 0, nodes, 2, 30 * SECOND, out, &failure), TR_ERANGE,
            "ids[1] = 20: no node of type author");
    return 0;
}

static void what_is_none_is_named(void **state)
{
    (void)state;
    sample_init(&sample, true, 60, 300, 9);
    graphs_agree(&sample, 2, 0, refuse);
    sample_fini(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_none_is_named),
        cmocka_unit_test(answers_are_those_of_the_graph),
        cmocka_unit_test(processes_answer_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
