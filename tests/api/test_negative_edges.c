/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Negatives that are to be no edges, through the public API, in a graph so dense that most draws are
 * edges: those that stay are counted as what they are, all others are as likely as each other, and
 * all is the same on every placement; where no other node would do, the last draw stands. And
 * negatives by degree: nodes are as likely as they have edges.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"
#include "tests/graph/statistics.h"

#define SECOND INT64_C(1000000000)
#define WRITES 0u
#define CITES 1u
#define BY 2u
#define AUTHORS 12u
#define PAPERS 24u

static struct sample sample; /* the graph, by original IDs */

/* Four of five pairs are edges, and all that lead to paper 0. */
static bool is_edge(uint64_t author, uint64_t paper)
{
    return paper == 0 || (author * 7 + paper * 3) % 5 != 0;
}

static void make_dense(void)
{
    uint64_t *src = malloc(AUTHORS * PAPERS * 8), *dst = malloc(AUTHORS * PAPERS * 8), count = 0;
    assert_true(src != NULL && dst != NULL);
    for (uint64_t p = 0; p < PAPERS; p++)
        for (uint64_t a = 0; a < AUTHORS; a++)
            if (is_edge(a, p)) {
                src[count] = a;
                dst[count++] = p;
            }
    free(sample.src[WRITES]);
    free(sample.dst[WRITES]);
    sample.src[WRITES] = src;
    sample.dst[WRITES] = dst;
    sample.num_edges[WRITES] = count;
}

/* So many of the edges, over and over, in the order of their ranks. */
static struct tr_nodes *make_set(struct tr_graph *graph, uint32_t etype, size_t count)
{
    struct tr_nodes *all, *set;
    uint64_t *ids = calloc(count, sizeof *ids);
    assert_non_null(ids);
    ok(tr_edges_all(graph, etype, &all, &failure));
    size_t edges = tr_nodes_count(all);
    for (size_t i = 0; i < count; i += edges)
        ok(tr_edges_ids(all, 0, count - i < edges ? count - i : edges, TR_WAIT_FOREVER, &ids[i],
                        &failure));
    ok(tr_edges_listed(graph, etype, ids, count, &set, &failure));
    tr_nodes_close(all);
    free(ids);
    return set;
}

static struct tr_batch *draw(struct tr_graph *graph, struct tr_nodes *set,
                             const struct tr_link_options *links)
{
    struct tr_sample_options options;
    struct tr_sample_spec *spec;
    struct tr_batch *batch;
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    tr_sample_options_init(&options);
    options.spec = spec;
    options.pairs = set;
    options.links = links;
    options.original_ids = true;
    options.seed = 5;
    ok(tr_sample(graph, &options, 60 * SECOND, &batch, &failure));
    tr_sample_spec_destroy(spec);
    return batch;
}

/* How often each pair of nodes is a negative of the batch; how many there are. */
static uint64_t count_negatives(const struct tr_batch *batch, uint64_t counts[AUTHORS][PAPERS])
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    struct tr_negatives n = TR_NEGATIVES_INIT;
    size_t count;
    uint64_t total = 0;
    ok(tr_batch_pairs(batch, &pairs, &failure));
    ok(tr_batch_negatives(batch, &n, &failure));
    const uint64_t *authors = tr_batch_original_ids(batch, 0, &count);
    const uint64_t *papers = tr_batch_original_ids(batch, 1, &count);
    for (uint32_t i = 0; i < pairs.count && n.count + n.count_sources > 0; i++) {
        bool both = n.negative_ends == TR_NEGATIVE_BOTH;
        for (uint32_t j = 0; j < n.num_destinations; j++) {
            uint32_t from = both ? n.sources[i * n.num_sources + j] : pairs.sources[i];
            counts[authors[from]][papers[n.destinations[i * n.num_destinations + j]]]++;
            total++;
        }
        for (uint32_t j = 0; j < n.num_sources && !both; j++) {
            uint32_t from = n.sources[i * n.num_sources + j];
            counts[authors[from]][papers[pairs.destinations[i]]]++;
            total++;
        }
    }
    return total;
}

static uint64_t count_edges(uint64_t counts[AUTHORS][PAPERS])
{
    uint64_t edges = 0;
    for (uint32_t a = 0; a < AUTHORS; a++)
        for (uint32_t p = 0; p < PAPERS; p++)
            edges += is_edge(a, p) ? counts[a][p] : 0;
    return edges;
}

/* All ways; without the option most of them are edges, of which none is counted. */
static uint64_t run_ways(struct tr_graph *graph)
{
    struct tr_nodes *set = make_set(graph, WRITES, 60);
    uint64_t sum = 0, digest;
    for (uint32_t way = 0; way < 20; way++) {
        uint64_t counts[AUTHORS][PAPERS] = { { 0 } };
        struct tr_link_options links = TR_LINK_OPTIONS_INIT;
        struct tr_negatives n = TR_NEGATIVES_INIT;
        links.num_negatives = 9;
        links.negative_ends = (enum tr_negative_ends)(way % 4);
        links.negatives = way / 4 % 2 == 0 ? TR_NEGATIVES_OF_PAIR : TR_NEGATIVES_IN_BATCH;
        links.no_edges = way / 8 % 2 == 0;
        links.by = way < 16 ? TR_NEGATIVES_UNIFORM : TR_NEGATIVES_BY_DEGREE;
        struct tr_batch *batch = draw(graph, set, &links);
        ok(tr_batch_negatives(batch, &n, &failure));
        uint64_t total = count_negatives(batch, counts), edges = count_edges(counts);
        assert_int_equal(total, 9 * 60);
        assert_int_equal(n.num_edges, links.no_edges ? edges : 0);
        if (links.no_edges)
            assert_true(edges < total / 3);
        else
            assert_true(edges > total / 2);
        ok(tr_batch_digest(batch, &digest, &failure));
        sum = sum * 31 + digest;
        tr_batch_release(batch);
    }
    tr_nodes_close(set);
    return sum;
}

/* Whatever the pair where both ends are drawn, and among the papers that an author did not write where
 * the destination alone is. */
static uint64_t run_even(struct tr_graph *graph, enum tr_negative_ends ends)
{
    static uint64_t counts[AUTHORS][PAPERS];
    struct tr_nodes *set = make_set(graph, WRITES, 4096);
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    uint64_t free_pairs[AUTHORS * PAPERS], all = 0, total = 0, digest;
    memset(counts, 0, sizeof counts);
    links.num_negatives = 288;
    links.negative_ends = ends;
    links.no_edges = true;
    struct tr_batch *batch = draw(graph, set, &links);
    assert_int_equal(count_negatives(batch, counts), 4096 * 288);
    for (uint32_t a = 0; a < AUTHORS; a++) {
        uint64_t own = 0, first = all;
        for (uint32_t p = 0; p < PAPERS; p++)
            if (!is_edge(a, p)) {
                free_pairs[all++] = counts[a][p];
                own += counts[a][p];
            }
        total += own;
        if (ends == TR_NEGATIVE_DESTINATIONS)
            assert_uniform_scaled(free_pairs + first, all - first, (double)own, 1);
    }
    if (ends == TR_NEGATIVE_BOTH)
        assert_uniform_scaled(free_pairs, all, (double)total, 1);
    assert_true(total > 1000000);
    ok(tr_batch_digest(batch, &digest, &failure));
    tr_batch_release(batch);
    tr_nodes_close(set);
    return digest;
}

/* Nodes are as likely as they are ends of edges of the type, by the definition. */
static void check_degrees(const uint64_t *counts, const uint64_t *ends, uint64_t edges,
                          uint64_t nodes, double total)
{
    double statistic = 0, cells = 0;
    for (uint64_t v = 0; v < nodes; v++) {
        uint64_t degree = 0;
        for (uint64_t e = 0; e < edges; e++)
            degree += ends[e] == v;
        double expected = total * (double)degree / (double)edges;
        if (degree == 0)
            assert_int_equal(counts[v], 0);
        else
            statistic += ((double)counts[v] - expected) * ((double)counts[v] - expected) / expected;
        cells += degree > 0;
    }
    assert_true(cells > 5);
    assert_true(statistic < chi_square_limit(cells - 1));
}

static uint64_t run_degrees(struct tr_graph *graph)
{
    struct tr_nodes *set = make_set(graph, CITES, 4096);
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    struct tr_negatives n = TR_NEGATIVES_INIT;
    uint64_t from[PAPERS] = { 0 }, to[PAPERS] = { 0 }, digest;
    size_t count;
    links.num_negatives = 256;
    links.negative_ends = TR_NEGATIVE_BOTH;
    links.by = TR_NEGATIVES_BY_DEGREE;
    struct tr_batch *batch = draw(graph, set, &links);
    ok(tr_batch_negatives(batch, &n, &failure));
    const uint64_t *papers = tr_batch_original_ids(batch, 1, &count);
    for (uint32_t i = 0; i < n.count; i++) {
        from[papers[n.sources[i]]]++;
        to[papers[n.destinations[i]]]++;
    }
    assert_true(n.count > 1000000 && n.count == n.count_sources);
    check_degrees(from, sample.src[CITES], sample.num_edges[CITES], PAPERS, n.count);
    check_degrees(to, sample.dst[CITES], sample.num_edges[CITES], PAPERS, n.count);
    ok(tr_batch_digest(batch, &digest, &failure));
    tr_batch_release(batch);
    tr_nodes_close(set);
    return digest;
}

/* All authors wrote the paper: each negative of an edge to it stays one. */
static void run_hopeless(struct tr_graph *graph)
{
    struct tr_nodes *all, *set;
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    struct tr_negatives n = TR_NEGATIVES_INIT;
    uint64_t ids[AUTHORS];
    ok(tr_edges_all(graph, WRITES, &all, &failure));
    ok(tr_edges_ids(all, 0, AUTHORS, TR_WAIT_FOREVER, ids, &failure));
    ok(tr_edges_listed(graph, WRITES, ids, AUTHORS, &set, &failure));
    links.num_negatives = 5;
    links.negative_ends = TR_NEGATIVE_SOURCES;
    links.no_edges = true;
    struct tr_batch *batch = draw(graph, set, &links);
    ok(tr_batch_negatives(batch, &n, &failure));
    assert_int_equal(n.count_sources, 5 * AUTHORS);
    assert_int_equal(n.num_edges, 5 * AUTHORS);
    tr_batch_release(batch);
    tr_nodes_close(all);
    tr_nodes_close(set);
}

static void check_refusal(struct tr_graph *graph)
{
    struct tr_nodes *set = make_set(graph, WRITES, 5);
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    struct tr_loader_options options;
    struct tr_loader *loader;
    links.num_negatives = 5;
    links.negatives = TR_NEGATIVES_OF_BATCH;
    links.no_edges = true;
    tr_loader_options_init(&options);
    options.links = &links;
    refused(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure), TR_EINVAL,
            "no_edges: a negative that all pairs of a batch share");
    tr_nodes_close(set);
}

static uint64_t run_placement(struct tr_graph *graph)
{
    uint64_t sum = run_ways(graph);
    sum = sum * 31 + run_even(graph, TR_NEGATIVE_BOTH);
    sum = sum * 31 + run_even(graph, TR_NEGATIVE_DESTINATIONS);
    sum = sum * 31 + run_degrees(graph);
    run_hopeless(graph);
    check_refusal(graph);
    return sum;
}

static void edges_are_drawn_again(void **state)
{
    (void)state;
    sample_init(&sample, true, AUTHORS + PAPERS, 40, 5);
    assert_int_equal(sample.num_nodes[0], AUTHORS);
    make_dense();
    graphs_agree(&sample, PLACEMENTS, 0, run_placement);
    sample_fini(&sample);
}

/* Pairs of a type without edges, alone and beside edges of another type. */
static uint64_t run_without_edges(struct tr_graph *graph)
{
    const uint64_t papers[] = { 0, 1, 2 }, authors[] = { 2, 1, 0 };
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    struct tr_loader_options options;
    struct tr_sample_options drawing;
    struct tr_sample_spec *spec;
    struct tr_loader *loader;
    struct tr_batch *batch;
    struct tr_nodes *sets[3];
    ok(tr_pairs_listed(graph, CITES, papers, papers, 3, &sets[0], &failure));
    ok(tr_pairs_listed(graph, BY, papers, authors, 3, &sets[1], &failure));
    ok(tr_pairs_join(sets, 2, &sets[2], &failure));
    links.num_negatives = 2;
    links.by = TR_NEGATIVES_BY_DEGREE;
    tr_loader_options_init(&options);
    options.links = &links;
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    tr_sample_options_init(&drawing);
    drawing.spec = spec;
    drawing.links = &links;
    for (uint32_t i = 1; i < 3; i++) {
        const char *says = "by: negatives by degree are ends of edges of type by, and "
                           "the graph has none";
        drawing.pairs = sets[i];
        refused(tr_loader_open(graph, sets[i], &options, TR_WAIT_FOREVER, &loader, &failure),
                TR_ERANGE, says);
        refused(tr_sample(graph, &drawing, 60 * SECOND, &batch, &failure), TR_ERANGE, says);
    }
    links.by = TR_NEGATIVES_UNIFORM;
    ok(tr_sample(graph, &drawing, 60 * SECOND, &batch, &failure));
    tr_batch_release(batch);
    tr_sample_spec_destroy(spec);
    for (uint32_t i = 0; i < 3; i++)
        tr_nodes_close(sets[i]);
    return 0;
}

static void negatives_by_degree_need_edges(void **state)
{
    (void)state;
    sample_init(&sample, true, AUTHORS + PAPERS, 40, 5);
    sample.num_edges[BY] = 0;
    graphs_agree(&sample, PLACEMENTS, 0, run_without_edges);
    sample_fini(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(edges_are_drawn_again),
                                        cmocka_unit_test(negatives_by_degree_need_edges) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
