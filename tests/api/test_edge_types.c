/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges and pairs of several edge types as the seeds of one loader, through the public API: each comes
 * once an epoch, of its own type and with its own ends, negatives are of the type of their pairs, the
 * batch's own edges are left out, the same on every placement; and what makes no set.
 */
#include "tests/api/link_checks.h"
#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"

#define SECOND INT64_C(1000000000)
#define ETYPES 3u
#define BATCH 32u
#define FANOUT 4

static struct sample sample; /* the graph, by original IDs */

/* What a loader is opened with. */
struct way {
    bool shuffle;
    bool links;
    uint32_t num_negatives;
    enum tr_negatives_of of;
    enum tr_negative_ends ends;
    enum tr_negatives_by by;
    enum tr_exclude exclude;
};

static const struct way ways[] = {
    { .shuffle = false },
    { .shuffle = true },
    { true, true, 3, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_DESTINATIONS, TR_NEGATIVES_UNIFORM,
      TR_EXCLUDE_SELF },
    { true, true, 4, TR_NEGATIVES_IN_BATCH, TR_NEGATIVE_BOTH, TR_NEGATIVES_UNIFORM,
      TR_EXCLUDE_NONE },
    { true, true, 5, TR_NEGATIVES_OF_BATCH, TR_NEGATIVE_EITHER, TR_NEGATIVES_BY_DEGREE,
      TR_EXCLUDE_SELF },
    { true, true, 0, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_DESTINATIONS, TR_NEGATIVES_UNIFORM,
      TR_EXCLUDE_REVERSE_ID },
};
#define WAYS (sizeof ways / sizeof *ways)

/* Some of each type, in no order of the types' numbers: all by rank, a list, and a range of ranks. */
static void make_parts(struct tr_graph *graph, struct tr_nodes *parts[ETYPES])
{
    ok(tr_edges_all(graph, 1, &parts[0], &failure));
    parts[1] = list_some_edges(graph, 2, 70);
    ok(tr_edges_range(graph, 0, 11, 100, &parts[2], &failure));
}

static struct tr_nodes *make_set(struct tr_graph *graph)
{
    struct tr_nodes *parts[ETYPES], *set;
    size_t count = 0;
    make_parts(graph, parts);
    ok(tr_pairs_join(parts, ETYPES, &set, &failure));
    for (uint32_t i = 0; i < ETYPES; i++) {
        uint32_t etype;
        uint64_t offset, of_part;
        ok(tr_pairs_part(set, i, &etype, &offset, &of_part, &failure));
        assert_true(etype == (i + 1) % ETYPES && offset == count);
        assert_int_equal(of_part, tr_nodes_count(parts[i]));
        count += of_part;
        tr_nodes_close(parts[i]);
    }
    assert_int_equal(tr_nodes_count(set), count);
    assert_int_equal(tr_pairs_etype(set), TR_ETYPE_SEVERAL);
    return set;
}

/* As many as were asked for of the pairs of this type, all of them seeds of the types of their ends. */
static void check_negatives(const struct tr_batch *batch, const struct tr_pairs *pairs,
                            const struct way *way)
{
    const struct graph_etype *type = &sample.types.etypes[pairs->etype];
    struct tr_negatives negatives = TR_NEGATIVES_INIT;
    int rv = tr_batch_negatives_of(batch, pairs->etype, &negatives, &failure);
    assert_int_equal(rv, way->num_negatives > 0 ? 0 : TR_ENOENT);
    if (rv != 0)
        return;
    uint32_t groups = way->of == TR_NEGATIVES_OF_BATCH                        ? pairs->count > 0
                      : way->of == TR_NEGATIVES_IN_BATCH && pairs->count == 1 ? 0
                                                                              : pairs->count;
    assert_int_equal(negatives.count, groups * negatives.num_destinations);
    assert_int_equal(negatives.count_sources, groups * negatives.num_sources);
    for (uint32_t i = 0; i < negatives.count; i++)
        assert_true(negatives.destinations[i] < tr_batch_num_seeds(batch, type->dst));
    for (uint32_t i = 0; i < negatives.count_sources; i++)
        assert_true(negatives.sources[i] < tr_batch_num_seeds(batch, type->src));
}

/* counts[etype][edge] notes each edge of the batch. */
static void check_batch(struct tr_graph *graph, const struct tr_batch *batch, const struct way *way,
                        uint32_t *counts[ETYPES])
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    uint32_t seeds = 0;
    for (uint32_t e = 0; e < ETYPES; e++) {
        ok(tr_batch_pairs_of(batch, e, &pairs, &failure));
        assert_int_equal(pairs.etype, e);
        check_ends_of_pairs(graph, &sample, batch, &pairs);
        for (uint32_t i = 0; i < pairs.count; i++)
            counts[e][pairs.edge_ids[i]]++;
        check_negatives(batch, &pairs, way);
        if (way->exclude == TR_EXCLUDE_SELF)
            check_draws_beside_pairs(graph, &sample, batch, &pairs, true, FANOUT);
        seeds += pairs.count;
    }
    assert_true(seeds <= BATCH && seeds <= tr_batch_step_seeds(batch));
    assert_int_equal(tr_batch_pairs(batch, &pairs, &failure), TR_EINVAL);
    assert_string_equal(
        failure.message,
        "the batch has pairs of 3 edge types; tr_batch_pairs_of() gives those of each");
    assert_int_equal(tr_batch_pairs_of(batch, ETYPES, &pairs, &failure), TR_ENOENT);
}

static void fill_options(struct tr_loader_options *options, struct tr_link_options *links,
                         const struct way *way)
{
    *links = (struct tr_link_options)TR_LINK_OPTIONS_INIT;
    links->num_negatives = way->num_negatives;
    links->negatives = way->of;
    links->negative_ends = way->ends;
    links->by = way->by;
    links->exclude = way->exclude;
    tr_loader_options_init(options);
    options->num_layers = 2;
    options->fanout[0] = options->fanout[1] = FANOUT;
    options->batch_size = BATCH;
    options->shuffle = way->shuffle;
    options->edge_ids = options->original_ids = true;
    options->labels = "feat";
    options->links = way->links ? links : NULL;
}

/* Each edge of the set came as often as the set has it, over all ranks. */
static void check_counts(struct tr_nodes *set, uint32_t *counts[ETYPES], uint32_t epochs)
{
    uint64_t *ids = calloc(tr_nodes_count(set) + 1, sizeof *ids), offset, count;
    uint32_t etype;
    assert_non_null(ids);
    ok(tr_edges_ids(set, 0, tr_nodes_count(set), TR_WAIT_FOREVER, ids, &failure));
    for (uint32_t part = 0; part < tr_pairs_num_parts(set); part++) {
        ok(tr_pairs_part(set, part, &etype, &offset, &count, &failure));
        for (uint64_t i = offset; i < offset + count; i++)
            counts[etype][ids[i]] -= epochs;
    }
    for (uint32_t e = 0; e < ETYPES; e++)
        for (uint64_t i = 0; i < sample.num_edges[e]; i++)
            assert_int_equal(counts[e][i], 0);
    free(ids);
}

static uint64_t run_ranks(struct tr_graph *graph, struct tr_nodes *set, const struct way *way,
                          uint32_t world)
{
    struct tr_loader_options options;
    struct tr_link_options links;
    uint32_t *counts[ETYPES];
    uint64_t sum = 29, digest;
    for (uint32_t e = 0; e < ETYPES; e++)
        assert_non_null(counts[e] = calloc(sample.num_edges[e] + 1, sizeof **counts));
    fill_options(&options, &links, way);
    options.world = world;
    for (options.rank = 0; options.rank < world; options.rank++) {
        struct tr_loader *loader;
        struct tr_batch *batch;
        ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
        for (uint32_t epoch = 0; epoch < 2; epoch++) {
            int rv;
            while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
                check_batch(graph, batch, way, counts);
                ok(tr_batch_digest(batch, &digest, &failure));
                sum = sum * 31 + digest;
                tr_batch_release(batch);
            }
            if (rv != TR_EEND)
                ok(rv);
        }
        tr_loader_close(loader);
    }
    check_counts(set, counts, 2);
    for (uint32_t e = 0; e < ETYPES; e++)
        free(counts[e]);
    return sum;
}

/* The first batch of all edges, so many at once. */
static struct tr_batch *first_batch(struct tr_graph *graph, uint32_t batch_size)
{
    static const struct way way = { .links = true };
    struct tr_nodes *parts[ETYPES], *set;
    struct tr_loader_options options;
    struct tr_link_options links;
    struct tr_loader *loader;
    struct tr_batch *batch;
    for (uint32_t e = 0; e < ETYPES; e++)
        ok(tr_edges_all(graph, e, &parts[e], &failure));
    ok(tr_pairs_join(parts, ETYPES, &set, &failure));
    fill_options(&options, &links, &way);
    options.shuffle = true;
    options.batch_size = batch_size;
    ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
    ok(tr_loader_next(loader, 60 * SECOND, &batch, &failure));
    tr_loader_close(loader);
    tr_nodes_close(set);
    for (uint32_t e = 0; e < ETYPES; e++)
        tr_nodes_close(parts[e]);
    return batch;
}

/* Ends have the positions at which the order of the epoch brings them first, whatever their types:
 * those of a batch begin as those of a longer one do, which a sampler finds in several pieces. */
static void check_pieces(struct tr_graph *graph)
{
    struct tr_batch *few = first_batch(graph, 400), *many = first_batch(graph, 1u << 20);
    uint32_t all = 0;
    for (uint32_t e = 0; e < ETYPES; e++) {
        struct tr_pairs begin = TR_PAIRS_INIT, pairs = TR_PAIRS_INIT;
        ok(tr_batch_pairs_of(few, e, &begin, &failure));
        ok(tr_batch_pairs_of(many, e, &pairs, &failure));
        assert_true(begin.count > 0 && begin.count <= pairs.count);
        size_t bytes = begin.count * sizeof *begin.sources;
        assert_memory_equal(begin.sources, pairs.sources, bytes);
        assert_memory_equal(begin.destinations, pairs.destinations, bytes);
        assert_memory_equal(begin.edge_ids, pairs.edge_ids, begin.count * sizeof *begin.edge_ids);
        all += pairs.count;
    }
    assert_int_equal(all, sample.num_edges[0] + sample.num_edges[1] + sample.num_edges[2]);
    tr_batch_release(few);
    tr_batch_release(many);
}

/* Pairs that a user lists, in its order where nothing is shuffled. */
static uint64_t run_pairs(struct tr_graph *graph)
{
    static const struct way way = {
        true,           true, 2, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_EITHER, TR_NEGATIVES_UNIFORM,
        TR_EXCLUDE_NONE
    };
    struct tr_nodes *parts[2], *set;
    struct tr_loader_options options;
    struct tr_link_options links;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 31, digest;
    uint32_t seen = 0;
    int rv;
    for (uint32_t e = 0; e < 2; e++) {
        struct tr_nodes *all;
        uint64_t ids[50], ends[100];
        ok(tr_edges_range(graph, e, 0, 50, &all, &failure));
        ok(tr_edges_ids(all, 0, 50, TR_WAIT_FOREVER, ids, &failure));
        ok(tr_graph_find_edges(graph, e, ids, 50, TR_WAIT_FOREVER, ends, ends + 50, &failure));
        ok(tr_pairs_listed(graph, e, ends, ends + 50, 50, &parts[e], &failure));
        tr_nodes_close(all);
    }
    ok(tr_pairs_join(parts, 2, &set, &failure));
    fill_options(&options, &links, &way);
    ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
    while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
        for (uint32_t e = 0; e < 2; e++) {
            struct tr_pairs pairs = TR_PAIRS_INIT;
            ok(tr_batch_pairs_of(batch, e, &pairs, &failure));
            assert_null(pairs.edge_ids);
            check_negatives(batch, &pairs, &way);
            seen += pairs.count;
        }
        ok(tr_batch_digest(batch, &digest, &failure));
        sum = sum * 31 + digest;
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    assert_int_equal(seen, 100);
    tr_loader_close(loader);
    tr_nodes_close(set);
    tr_nodes_close(parts[0]);
    tr_nodes_close(parts[1]);
    return sum;
}

/* All edges of a set at once, those of each type in the order of the set. */
static uint64_t run_draw(struct tr_graph *graph, struct tr_nodes *set, const struct way *way)
{
    struct tr_loader_options filled;
    struct tr_link_options links;
    struct tr_sample_options options;
    struct tr_sample_spec *spec;
    struct tr_batch *batch;
    uint64_t *ids = calloc(tr_nodes_count(set) + 1, sizeof *ids), digest, offset, count;
    uint32_t etype;
    assert_non_null(ids);
    fill_options(&filled, &links, way);
    ok(tr_sample_spec_create(graph, 2, &spec, &failure));
    ok(tr_sample_spec_set_fanout(spec, TR_EVERY, TR_EVERY, FANOUT, &failure));
    tr_sample_options_init(&options);
    options.spec = spec;
    options.pairs = set;
    options.links = filled.links;
    options.labels = "feat";
    options.original_ids = options.edge_ids = true;
    options.seed = 3;
    ok(tr_sample(graph, &options, 60 * SECOND, &batch, &failure));
    ok(tr_edges_ids(set, 0, tr_nodes_count(set), TR_WAIT_FOREVER, ids, &failure));
    for (uint32_t part = 0; part < tr_pairs_num_parts(set); part++) {
        struct tr_pairs pairs = TR_PAIRS_INIT;
        ok(tr_pairs_part(set, part, &etype, &offset, &count, &failure));
        ok(tr_batch_pairs_of(batch, etype, &pairs, &failure));
        assert_int_equal(pairs.count, count);
        assert_memory_equal(pairs.edge_ids, ids + offset, count * sizeof *ids);
        check_negatives(batch, &pairs, way);
        if (way->exclude == TR_EXCLUDE_SELF)
            check_draws_beside_pairs(graph, &sample, batch, &pairs, true, FANOUT);
    }
    ok(tr_batch_digest(batch, &digest, &failure));
    tr_batch_release(batch);
    tr_sample_spec_destroy(spec);
    free(ids);
    return digest;
}

/* Any edge may stand for the reverse of one, or none: here the one of the rank that mirrors its
 * own, but for one of seven. */
static void rank_reverses(struct tr_nodes *all, uint64_t *ids, uint64_t *reverses)
{
    size_t count = tr_nodes_count(all);
    ok(tr_edges_ids(all, 0, count, TR_WAIT_FOREVER, ids, &failure));
    for (size_t i = 0; i < count; i++)
        reverses[i] = i % 7 == 3 ? TR_NO_EDGE : ids[count - 1 - i];
}

/* Of the first two types the edges bring their reverses; those of the third have none. */
static struct tr_nodes *list_reverses(struct tr_graph *graph, uint64_t *reverse_of[2])
{
    struct tr_nodes *parts[ETYPES], *set;
    for (uint32_t e = 0; e < 2; e++) {
        struct tr_nodes *all;
        ok(tr_edges_all(graph, e, &all, &failure));
        size_t count = tr_nodes_count(all);
        uint64_t *ids = calloc(count, sizeof *ids), *reverses = calloc(count, sizeof *reverses);
        reverse_of[e] = calloc(count, sizeof *reverses);
        assert_true(ids != NULL && reverses != NULL && reverse_of[e] != NULL);
        rank_reverses(all, ids, reverses);
        ok(tr_edges_with_reverses(graph, e, ids, reverses, count, &parts[e], &failure));
        for (size_t i = 0; i < count; i++)
            reverse_of[e][ids[i]] = reverses[i];
        tr_nodes_close(all);
        free(ids);
        free(reverses);
    }
    ok(tr_edges_range(graph, 2, 0, 90, &parts[2], &failure));
    ok(tr_pairs_join(parts, ETYPES, &set, &failure));
    for (uint32_t e = 0; e < ETYPES; e++)
        tr_nodes_close(parts[e]);
    return set;
}

/* No layer draws an edge of the batch, nor what is listed as the reverse of one. */
static void check_listed(const struct tr_batch *batch, uint64_t *const reverse_of[2])
{
    for (uint32_t e = 0; e < ETYPES; e++) {
        struct tr_pairs pairs = TR_PAIRS_INIT;
        struct tr_block block = TR_BLOCK_INIT;
        bool *gone = calloc(sample.num_edges[e], sizeof *gone);
        assert_non_null(gone);
        ok(tr_batch_pairs_of(batch, e, &pairs, &failure));
        for (uint32_t i = 0; i < pairs.count; i++) {
            uint64_t reverse = e < 2 ? reverse_of[e][pairs.edge_ids[i]] : TR_NO_EDGE;
            gone[pairs.edge_ids[i]] = true;
            if (reverse != TR_NO_EDGE)
                gone[reverse] = true;
        }
        for (uint32_t layer = 0; layer < 2; layer++) {
            ok(tr_batch_block(batch, layer, e, &block, &failure));
            for (uint32_t i = 0; i < block.num_edges; i++)
                assert_false(gone[block.edge_ids[i]]);
        }
        free(gone);
    }
}

static uint64_t run_listed(struct tr_graph *graph)
{
    static const struct way way = { .shuffle = true,
                                    .links = true,
                                    .exclude = TR_EXCLUDE_REVERSE_ID };
    struct tr_loader_options options;
    struct tr_link_options links;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t *reverse_of[2], sum = 37, digest;
    struct tr_nodes *set = list_reverses(graph, reverse_of), *ranks;
    fill_options(&options, &links, &way);
    options.fanout[0] = options.fanout[1] = TR_FANOUT_ALL;
    links.reverse_ids = TR_REVERSE_LISTED;
    ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
    for (int i = 0; i < 9; i++) {
        ok(tr_loader_next(loader, 30 * SECOND, &batch, &failure));
        check_listed(batch, reverse_of);
        ok(tr_batch_digest(batch, &digest, &failure));
        sum = sum * 31 + digest;
        tr_batch_release(batch);
    }
    tr_loader_close(loader);
    ok(tr_edges_all(graph, 0, &ranks, &failure));
    assert_int_equal(tr_loader_open(graph, ranks, &options, 0, &loader, &failure), TR_EINVAL);
    assert_non_null(strstr(failure.message, "tr_edges_with_reverses()"));
    const uint64_t good = 0, bad = sample.num_edges[0];
    struct tr_nodes *none = set;
    assert_int_equal(tr_edges_with_reverses(graph, 0, &good, &bad, 1, &none, &failure), TR_ERANGE);
    assert_null(none);
    assert_non_null(strstr(failure.message, "reverse_ids[0] = "));
    assert_int_equal(tr_edges_with_reverses(graph, 0, &bad, &good, 1, &none, &failure), TR_ERANGE);
    tr_nodes_close(ranks);
    tr_nodes_close(set);
    free(reverse_of[0]);
    free(reverse_of[1]);
    return sum;
}

static void refuse(struct tr_nodes *first, struct tr_nodes *second, int code, const char *text)
{
    struct tr_nodes *sets[] = { first, second }, *out = first;
    assert_int_equal(tr_pairs_join(sets, 2, &out, &failure), code);
    assert_null(out);
    if (strstr(failure.message, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", failure.message, text);
}

static void check_refusals(struct tr_graph *graph, struct tr_nodes *set)
{
    struct tr_nodes *edges, *same, *pairs, *nodes, *out = set;
    const uint64_t node = 0;
    ok(tr_edges_all(graph, 0, &edges, &failure));
    ok(tr_edges_range(graph, 0, 0, 1, &same, &failure));
    ok(tr_pairs_listed(graph, 1, &node, &node, 1, &pairs, &failure));
    ok(tr_nodes_all(graph, 0, TR_WAIT_FOREVER, &nodes, &failure));
    refuse(edges, same, TR_EINVAL, "sets 0 and 1 are both of edge type writes");
    refuse(edges, pairs, TR_EINVAL, "set 1 has pairs of nodes, and set 0 has edges");
    refuse(edges, nodes, TR_EINVAL, "set 1 has nodes, which tr_nodes_join() joins");
    refuse(edges, set, TR_EINVAL, "set 1 has several edge types");
    assert_int_equal(tr_pairs_join(NULL, 0, &out, &failure), TR_EINVAL);
    assert_int_equal(tr_nodes_join(&edges, 1, &out, &failure), TR_EINVAL);
    assert_non_null(strstr(failure.message, "tr_pairs_join()"));
    uint32_t etype;
    uint64_t offset, count;
    assert_int_equal(tr_pairs_num_parts(nodes), 0);
    assert_int_equal(tr_pairs_num_parts(edges), 1);
    assert_int_equal(tr_nodes_num_parts(set), 0);
    assert_int_equal(tr_pairs_part(set, 3, &etype, &offset, &count, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "part 3; the set has 3");
    assert_int_equal(tr_edges_ids(set, tr_nodes_count(set), 1, 0, &offset, &failure), TR_ERANGE);
    tr_nodes_close(edges);
    tr_nodes_close(same);
    tr_nodes_close(pairs);
    tr_nodes_close(nodes);
}

static uint64_t run_placement(struct tr_graph *graph)
{
    struct tr_nodes *set = make_set(graph);
    uint64_t sum = 0;
    for (size_t i = 0; i < WAYS; i++)
        for (uint32_t world = 1; world < 3; world++)
            sum = sum * 31 + run_ranks(graph, set, &ways[i], world);
    for (size_t i = 0; i < WAYS; i++)
        sum = sum * 31 + run_draw(graph, set, &ways[i]);
    sum = sum * 31 + run_pairs(graph);
    sum = sum * 31 + run_listed(graph);
    check_pieces(graph);
    check_refusals(graph, set);
    tr_nodes_close(set);
    return sum;
}

static void edges_of_several_types_are_seeds_on_every_placement(void **state)
{
    (void)state;
    sample_init(&sample, true, 1500, 3000, 5);
    graphs_agree(&sample, PLACEMENTS, 0, run_placement);
    sample_fini(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_of_several_types_are_seeds_on_every_placement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
