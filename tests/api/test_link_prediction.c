/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches for models of links through the public API: each node is one seed, negatives are as many
 * as were asked for, have the ends that were, and depend on nothing but their numbers, the batch's own
 * edges are left out of draws that are as full as the others allow, the same on every placement; and
 * what is refused.
 */
#include "tests/api/link_checks.h"
#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"

#define SECOND INT64_C(1000000000)
#define ETYPES 3
#define PAPER 1u
#define CITES 1u
#define BATCH 32u
#define FANOUT 4

static struct sample sample; /* the graph, by original IDs */

struct kind {
    uint32_t etype;
    bool listed; /* edges; else all by rank */
    struct tr_link_options links;
};

/* The third has nothing but seeds that are one a node. */
static const struct way {
    uint32_t num_negatives;
    enum tr_negatives_of of;
    enum tr_negative_ends ends;
    enum tr_exclude exclude;
    enum tr_negatives_by by;
} ways[] = {
    { 3, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_DESTINATIONS, TR_EXCLUDE_SELF, TR_NEGATIVES_UNIFORM },
    { 7, TR_NEGATIVES_OF_BATCH, TR_NEGATIVE_DESTINATIONS, TR_EXCLUDE_SELF, TR_NEGATIVES_UNIFORM },
    { 0, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_DESTINATIONS, TR_EXCLUDE_NONE, TR_NEGATIVES_UNIFORM },
    { 4, TR_NEGATIVES_IN_BATCH, TR_NEGATIVE_DESTINATIONS, TR_EXCLUDE_SELF, TR_NEGATIVES_UNIFORM },
    { 2, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_SOURCES, TR_EXCLUDE_NONE, TR_NEGATIVES_UNIFORM },
    { 5, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_EITHER, TR_EXCLUDE_SELF, TR_NEGATIVES_UNIFORM },
    { 7, TR_NEGATIVES_OF_BATCH, TR_NEGATIVE_EITHER, TR_EXCLUDE_NONE, TR_NEGATIVES_UNIFORM },
    { 3, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_BOTH, TR_EXCLUDE_NONE, TR_NEGATIVES_UNIFORM },
    { 3, TR_NEGATIVES_IN_BATCH, TR_NEGATIVE_BOTH, TR_EXCLUDE_NONE, TR_NEGATIVES_UNIFORM },
    { 1, TR_NEGATIVES_IN_BATCH, TR_NEGATIVE_EITHER, TR_EXCLUDE_NONE, TR_NEGATIVES_UNIFORM },
    { 4, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_DESTINATIONS, TR_EXCLUDE_SELF, TR_NEGATIVES_BY_DEGREE },
    { 5, TR_NEGATIVES_OF_BATCH, TR_NEGATIVE_EITHER, TR_EXCLUDE_NONE, TR_NEGATIVES_BY_DEGREE },
    { 2, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_SOURCES, TR_EXCLUDE_NONE, TR_NEGATIVES_BY_DEGREE },
};
#define WAYS ((uint32_t)(sizeof ways / sizeof *ways))
#define KINDS (WAYS * 2 * ETYPES)

/* Each way with each edge type. */
static struct kind kind_of(uint32_t number)
{
    struct kind kind = { number % ETYPES, number / ETYPES % 2 == 0, TR_LINK_OPTIONS_INIT };
    const struct way *way = &ways[number / (2 * ETYPES)];
    kind.links.num_negatives = way->num_negatives;
    kind.links.negatives = way->of;
    kind.links.negative_ends = way->ends;
    kind.links.exclude = way->exclude;
    kind.links.by = way->by;
    return kind;
}

static struct tr_nodes *make_set(struct tr_graph *graph, const struct kind *kind, size_t count)
{
    struct tr_nodes *all;
    if (kind->listed)
        return list_some_edges(graph, kind->etype, count);
    ok(tr_edges_all(graph, kind->etype, &all, &failure));
    return all;
}

static void ends_of(uint32_t etype, uint32_t *src, uint32_t *dst)
{
    *src = sample.types.etypes[etype].src;
    *dst = sample.types.etypes[etype].dst;
}

/* No node is two seeds, and the ends come first, in the order of the pairs. */
static void check_seeds(const struct tr_batch *batch, const struct kind *kind)
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    struct tr_negatives negatives = TR_NEGATIVES_INIT;
    uint32_t type[2], met[2] = { 0, 0 };
    ends_of(kind->etype, &type[0], &type[1]);
    uint32_t *counts[2] = { &met[0], type[0] == type[1] ? &met[0] : &met[1] };
    ok(tr_batch_pairs(batch, &pairs, &failure));
    for (uint32_t i = 0; i < pairs.count; i++) {
        assert_true(pairs.sources[i] <= *counts[0]);
        *counts[0] += pairs.sources[i] == *counts[0];
        assert_true(pairs.destinations[i] <= *counts[1]);
        *counts[1] += pairs.destinations[i] == *counts[1];
    }
    int rv = tr_batch_negatives(batch, &negatives, &failure);
    assert_int_equal(rv, kind->links.num_negatives > 0 ? 0 : TR_ENOENT);
    /* Negative by negative, of both ends the source first. */
    uint32_t to = 0, from = 0, each = negatives.num_negatives;
    enum tr_negative_ends ends = kind->links.negative_ends;
    while (to < negatives.count || from < negatives.count_sources) {
        bool source = ends == TR_NEGATIVE_EITHER ? (to + from) % each >= (each + 1) / 2
                                                 : ends != TR_NEGATIVE_DESTINATIONS;
        bool destination = ends == TR_NEGATIVE_EITHER ? !source : ends != TR_NEGATIVE_SOURCES;
        if (source) {
            assert_true(negatives.sources[from] <= *counts[0]);
            *counts[0] += negatives.sources[from++] == *counts[0];
        }
        if (destination) {
            assert_true(negatives.destinations[to] <= *counts[1]);
            *counts[1] += negatives.destinations[to++] == *counts[1];
        }
    }
    for (int end = 0; end < 2; end++) {
        size_t count, seeds = tr_batch_num_seeds(batch, type[end]);
        const uint64_t *ids = tr_batch_original_ids(batch, type[end], &count);
        bool *taken = calloc(sample.num_nodes[type[end]] + 1, sizeof *taken);
        assert_non_null(taken);
        assert_int_equal(seeds, *counts[end]);
        for (size_t i = 0; i < seeds; i++) {
            assert_false(taken[ids[i]]);
            taken[ids[i]] = true;
        }
        free(taken);
    }
}

/* The end of another pair than the one. */
static void check_is_other(const uint32_t *ends, uint32_t count, uint32_t pair, uint32_t end)
{
    for (uint32_t i = 0; i < count; i++)
        if (i != pair && ends[i] == end)
            return;
    fail_msg("pair %u has an end that no other pair has", pair);
}

static void check_negatives(const struct tr_batch *batch, const struct kind *kind)
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    struct tr_negatives negatives = TR_NEGATIVES_INIT;
    uint32_t wanted = kind->links.num_negatives;
    if (wanted == 0)
        return;
    ok(tr_batch_pairs(batch, &pairs, &failure));
    ok(tr_batch_negatives(batch, &negatives, &failure));
    const struct tr_link_options *links = &kind->links;
    enum tr_negative_ends ends = links->negative_ends;
    bool in_batch = links->negatives == TR_NEGATIVES_IN_BATCH;
    uint32_t groups = links->negatives == TR_NEGATIVES_OF_BATCH ? pairs.count > 0
                      : in_batch && pairs.count == 1            ? 0
                                                                : pairs.count;
    uint32_t to = ends == TR_NEGATIVE_SOURCES  ? 0
                  : ends == TR_NEGATIVE_EITHER ? (wanted + 1) / 2
                                               : wanted;
    uint32_t from = ends == TR_NEGATIVE_EITHER         ? wanted / 2
                    : ends == TR_NEGATIVE_DESTINATIONS ? 0
                                                       : wanted;
    assert_int_equal(negatives.num_negatives, wanted);
    assert_int_equal(negatives.negatives, links->negatives);
    assert_int_equal(negatives.negative_ends, ends);
    assert_int_equal(negatives.num_destinations, to);
    assert_int_equal(negatives.num_sources, from);
    assert_int_equal(negatives.count, groups * to);
    assert_int_equal(negatives.count_sources, groups * from);
    for (uint32_t i = 0; in_batch && i < negatives.count; i++)
        check_is_other(pairs.destinations, pairs.count, i / to, negatives.destinations[i]);
    for (uint32_t i = 0; in_batch && i < negatives.count_sources; i++)
        check_is_other(pairs.sources, pairs.count, i / from, negatives.sources[i]);
}

static void check_ends(struct tr_graph *graph, const struct tr_batch *batch)
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    ok(tr_batch_pairs(batch, &pairs, &failure));
    check_ends_of_pairs(graph, &sample, batch, &pairs);
}

static void check_left_out(struct tr_graph *graph, const struct tr_batch *batch, bool left_out)
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    ok(tr_batch_pairs(batch, &pairs, &failure));
    check_draws_beside_pairs(graph, &sample, batch, &pairs, left_out, FANOUT);
}

static void set_options(struct tr_loader_options *options, const struct kind *kind)
{
    tr_loader_options_init(options);
    options->num_layers = 2;
    options->fanout[0] = options->fanout[1] = FANOUT;
    options->batch_size = BATCH;
    options->edge_ids = true;
    options->original_ids = true;
    options->labels = "feat";
    options->links = &kind->links;
}

/* Where one trainer's batches differ from another's the sum says so as well. */
static uint64_t run_loader(struct tr_graph *graph, const struct kind *kind, struct tr_nodes *set,
                           uint32_t rank, uint32_t world)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 29, digest, before = 0;
    set_options(&options, kind);
    options.rank = rank;
    options.world = world;
    ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
    for (uint32_t epoch = 0; epoch < 2; epoch++) {
        int rv;
        while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
            check_seeds(batch, kind);
            check_negatives(batch, kind);
            check_ends(graph, batch);
            check_left_out(graph, batch, kind->links.exclude == TR_EXCLUDE_SELF);
            ok(tr_batch_digest(batch, &digest, &failure));
            assert_true(digest != before);
            sum = sum * 31 + (before = digest);
            tr_batch_release(batch);
        }
        if (rv != TR_EEND)
            ok(rv);
    }
    tr_loader_close(loader);
    return sum;
}

static struct tr_batch *draw_once(struct tr_graph *graph, struct tr_nodes *set,
                                  const struct tr_link_options *links)
{
    struct tr_sample_options options;
    struct tr_sample_spec *spec;
    struct tr_batch *batch;
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    ok(tr_sample_spec_set_fanout(spec, 0, TR_EVERY, 1, &failure));
    tr_sample_options_init(&options);
    options.spec = spec;
    options.pairs = set;
    options.links = links;
    options.original_ids = true;
    options.edge_ids = true;
    options.seed = 3;
    ok(tr_sample(graph, &options, 60 * SECOND, &batch, &failure));
    tr_sample_spec_destroy(spec);
    return batch;
}

/* More pairs and negatives than a sampler finds at once: those of the first pairs are what a batch
 * of these alone has, so that the pieces that they are found in change nothing. */
static uint64_t run_pieces(struct tr_graph *graph, uint32_t count, uint32_t first,
                           enum tr_negative_ends ends, enum tr_negatives_by by)
{
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    struct tr_negatives negatives[2] = { TR_NEGATIVES_INIT, TR_NEGATIVES_INIT };
    struct tr_batch *batch[2];
    uint64_t digest;
    size_t nodes;
    links.num_negatives = 5;
    links.negative_ends = ends;
    links.by = by;
    links.exclude = TR_EXCLUDE_SELF;
    for (int i = 0; i < 2; i++) {
        const struct kind kind = { CITES, true, links };
        struct tr_nodes *set = make_set(graph, &kind, i == 0 ? count : first);
        batch[i] = draw_once(graph, set, &links);
        check_seeds(batch[i], &kind);
        check_negatives(batch[i], &kind);
        check_ends(graph, batch[i]);
        ok(tr_batch_negatives(batch[i], &negatives[i], &failure));
        tr_nodes_close(set);
    }
    const uint64_t *all = tr_batch_original_ids(batch[0], PAPER, &nodes);
    const uint64_t *few = tr_batch_original_ids(batch[1], PAPER, &nodes);
    for (uint32_t i = 0; i < negatives[1].count; i++)
        assert_int_equal(all[negatives[0].destinations[i]], few[negatives[1].destinations[i]]);
    for (uint32_t i = 0; i < negatives[1].count_sources; i++)
        assert_int_equal(all[negatives[0].sources[i]], few[negatives[1].sources[i]]);
    ok(tr_batch_digest(batch[0], &digest, &failure));
    tr_batch_release(batch[0]);
    tr_batch_release(batch[1]);
    return digest;
}

/* A batch of one pair has no other. */
static void run_alone(struct tr_graph *graph)
{
    struct kind kind = { CITES, true, TR_LINK_OPTIONS_INIT };
    kind.links.num_negatives = 3;
    kind.links.negatives = TR_NEGATIVES_IN_BATCH;
    struct tr_nodes *set = make_set(graph, &kind, 1);
    struct tr_batch *batch = draw_once(graph, set, &kind.links);
    check_seeds(batch, &kind);
    check_negatives(batch, &kind);
    tr_batch_release(batch);
    tr_nodes_close(set);
}

static void refuse_open(struct tr_graph *graph, struct tr_nodes *set, struct tr_link_options links,
                        int code, const char *text)
{
    const struct kind kind = { CITES, true, links };
    struct tr_loader_options options;
    struct tr_loader *loader;
    set_options(&options, &kind);
    options.labels = NULL;
    refused(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure), code, text);
    assert_null(loader);
}

static void check_refusals(struct tr_graph *graph)
{
    const struct tr_link_options none = TR_LINK_OPTIONS_INIT;
    const uint64_t ends[] = { 0, 1, 2 };
    struct tr_link_options links = none;
    struct tr_nodes *nodes, *pairs, *edges;
    struct tr_sample_options drawing;
    struct tr_sample_spec *spec;
    struct tr_batch *batch;
    ok(tr_nodes_all(graph, PAPER, TR_WAIT_FOREVER, &nodes, &failure));
    ok(tr_pairs_listed(graph, CITES, ends, ends, 3, &pairs, &failure));
    ok(tr_edges_all(graph, CITES, &edges, &failure));
    refuse_open(graph, nodes, links, TR_EINVAL, "links: the seeds are nodes; give a set of edges");
    links.exclude = TR_EXCLUDE_SELF;
    refuse_open(graph, pairs, links, TR_EINVAL, "exclude: the seeds are pairs of nodes");
    links.exclude = (enum tr_exclude)7;
    refuse_open(graph, edges, links, TR_ERANGE, "exclude: 7");
    links = none;
    links.negatives = (enum tr_negatives_of)5;
    refuse_open(graph, edges, links, TR_ERANGE, "negatives: 5");
    links = none;
    links.negative_ends = (enum tr_negative_ends)4;
    refuse_open(graph, edges, links, TR_ERANGE, "negative_ends: 4");
    links = none;
    links.num_negatives = 1;
    links.by = (enum tr_negatives_by)2;
    refuse_open(graph, edges, links, TR_ERANGE, "by: 2");
    links.by = TR_NEGATIVES_BY_DEGREE;
    links.negatives = TR_NEGATIVES_IN_BATCH;
    refuse_open(graph, edges, links, TR_EINVAL, "by: ends of other pairs are not drawn by degree");
    links = none;
    links.num_negatives = (uint32_t)(TR_NEGATIVES_MAX / BATCH) + 1;
    refuse_open(graph, edges, links, TR_ERANGE, "num_negatives: 2097153, 32 times a batch");
    links.negatives = TR_NEGATIVES_OF_BATCH;
    links.num_negatives = (uint32_t)TR_NEGATIVES_MAX + 1;
    refuse_open(graph, edges, links, TR_ERANGE, "1 times a batch");
    links.size = 0;
    refuse_open(graph, edges, links, TR_EINVAL, "tr_link_options");
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    tr_sample_options_init(&drawing);
    drawing.spec = spec;
    drawing.ntype = PAPER;
    drawing.seeds = ends;
    drawing.num_seeds = 3;
    drawing.links = &none;
    refused(tr_sample(graph, &drawing, SECOND, &batch, &failure), TR_EINVAL, "links: the seeds");
    tr_sample_spec_destroy(spec);
    /* Pairs that need be no edges have negatives too. */
    links = none;
    links.num_negatives = 2;
    batch = draw_once(graph, pairs, &links);
    const struct kind kind = { CITES, true, links };
    check_seeds(batch, &kind);
    check_negatives(batch, &kind);
    tr_batch_release(batch);
    tr_nodes_close(nodes);
    tr_nodes_close(pairs);
    tr_nodes_close(edges);
}

static uint64_t run_placement(struct tr_graph *graph)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < KINDS; i++) {
        const struct kind kind = kind_of(i);
        struct tr_nodes *set = make_set(graph, &kind, 70);
        sum = sum * 31 + run_loader(graph, &kind, set, 0, 1);
        if (kind.listed &&
            kind.etype == CITES) /* the second has fewer pairs in the last step, perhaps none */
            for (uint32_t rank = 0; rank < 2; rank++)
                sum = sum * 31 + run_loader(graph, &kind, set, rank, 2);
        tr_nodes_close(set);
    }
    sum = sum * 31 + run_pieces(graph, 4500, 300, TR_NEGATIVE_DESTINATIONS, TR_NEGATIVES_UNIFORM);
    sum = sum * 31 + run_pieces(graph, 4500, 300, TR_NEGATIVE_BOTH, TR_NEGATIVES_UNIFORM);
    sum = sum * 31 + run_pieces(graph, 4500, 300, TR_NEGATIVE_EITHER, TR_NEGATIVES_UNIFORM);
    sum = sum * 31 + run_pieces(graph, 4500, 300, TR_NEGATIVE_BOTH, TR_NEGATIVES_BY_DEGREE);
    run_alone(graph);
    check_refusals(graph);
    return sum;
}

static void links_are_the_same_on_every_placement(void **state)
{
    (void)state;
    sample_init(&sample, true, 150, 200, 5);
    graphs_agree(&sample, PLACEMENTS, 0, run_placement);
    sample_fini(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(links_are_the_same_on_every_placement) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
