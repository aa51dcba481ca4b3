/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of nodes, and edges, listed and by rank, as seeds, through the public API: a batch says
 * where both ends of each are, every one comes once an epoch, the same batches on every placement,
 * and what makes no set.
 */
#include <jansson.h>

#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"

#define SECOND INT64_C(1000000000)
#define ETYPES 3
#define AUTHOR 0u
#define PAPER 1u
#define CITES 1u /* its ends are of one type */
#define BATCH 16u

/* Ends of pairs, by original IDs: what no placement changes. */
struct wanted {
    uint32_t etype, src, dst;
    size_t count;
    uint64_t *sources, *destinations; /* [count] */
    uint64_t *edge_ids; /* [count], as this placement numbers them; NULL: they are pairs */
    bool ranked;        /* they are a range of ranks, from first_rank on */
    uint64_t first_rank;
};

enum kind { PAIRS, EDGES, RANKS, KINDS };

static struct sample sample; /* the graph, by original IDs */

/* Nodes come many times, some pairs twice, and some nodes in a pair with themselves. */
static void make_wanted(struct wanted *w, const struct tr_graph *graph, uint32_t etype,
                        size_t count)
{
    static const uint32_t src[ETYPES] = { AUTHOR, PAPER, PAPER };
    static const uint32_t dst[ETYPES] = { PAPER, PAPER, AUTHOR };
    *w = (struct wanted){ etype,
                          src[etype],
                          dst[etype],
                          count,
                          calloc(count + 1, sizeof *w->sources),
                          calloc(count + 1, sizeof *w->destinations),
                          NULL,
                          false,
                          0 };
    assert_true(w->sources != NULL && w->destinations != NULL);
    for (size_t i = 0; i < count; i++) {
        size_t drawn = i % 5 == 4 ? i - 1 : i;
        w->sources[i] = drawn * 7919 % tr_graph_num_nodes(graph, w->src);
        w->destinations[i] = drawn * drawn * 31 % tr_graph_num_nodes(graph, w->dst);
    }
}

/* The global ID of each edge: the in-edges of a node follow one another by their original IDs. */
static uint64_t *number_edges(struct tr_graph *graph, uint32_t etype, uint32_t dst)
{
    uint64_t *next = calloc(tr_graph_num_nodes(graph, dst) + 1, sizeof *next);
    uint64_t *ids = calloc(sample.num_edges[etype] + 1, sizeof *ids);
    assert_true(next != NULL && ids != NULL);
    for (uint32_t part = 0; part < tr_graph_num_parts(graph); part++) {
        struct tr_part_nodes nodes = TR_PART_NODES_INIT;
        struct tr_part_edges edges = TR_PART_EDGES_INIT;
        ok(tr_graph_part_nodes(graph, part, dst, &nodes, &failure));
        ok(tr_graph_part_edges(graph, part, etype, &edges, &failure));
        for (uint64_t row = 0; row < nodes.num_nodes; row++)
            next[nodes.original_ids[row]] = edges.first_edge + edges.index[row];
    }
    for (uint64_t i = 0; i < sample.num_edges[etype]; i++)
        ids[i] = next[sample.dst[etype][i]]++;
    free(next);
    return ids;
}

/* Edges of the graph, some of them twice. */
static void make_wanted_edges(struct wanted *w, struct tr_graph *graph, uint32_t etype,
                              size_t count)
{
    make_wanted(w, graph, etype, count);
    uint64_t *ids = number_edges(graph, etype, w->dst);
    assert_non_null(w->edge_ids = calloc(count + 1, sizeof *w->edge_ids));
    for (size_t i = 0; i < count; i++) {
        uint64_t original = (i % 7 == 6 ? i - 3 : i) * 7919 % sample.num_edges[etype];
        w->sources[i] = sample.src[etype][original];
        w->destinations[i] = sample.dst[etype][original];
        w->edge_ids[i] = ids[original];
    }
    free(ids);
}

/* The edges of a range of ranks: in the order of their destinations, then of the edges
 * themselves. */
static void make_wanted_ranks(struct wanted *w, struct tr_graph *graph, uint32_t etype,
                              uint64_t first, size_t count)
{
    uint64_t rank = 0, num_edges = sample.num_edges[etype];
    make_wanted(w, graph, etype, count);
    uint64_t *ids = number_edges(graph, etype, w->dst);
    uint64_t *next = calloc(sample.num_nodes[w->dst] + 1, sizeof *next);
    assert_non_null(w->edge_ids = calloc(count + 1, sizeof *w->edge_ids));
    assert_non_null(next);
    w->ranked = true;
    w->first_rank = first;
    for (uint64_t i = 0; i < num_edges; i++)
        next[sample.dst[etype][i] + 1]++;
    for (uint64_t v = 0; v < sample.num_nodes[w->dst]; v++)
        next[v + 1] += next[v];
    for (uint64_t i = 0; i < num_edges; i++) {
        rank = next[sample.dst[etype][i]]++;
        if (rank < first || rank - first >= count)
            continue;
        w->sources[rank - first] = sample.src[etype][i];
        w->destinations[rank - first] = sample.dst[etype][i];
        w->edge_ids[rank - first] = ids[i];
    }
    free(next);
    free(ids);
}

static void make_kind(struct wanted *w, struct tr_graph *graph, enum kind kind, uint32_t etype,
                      size_t count)
{
    if (kind == PAIRS)
        make_wanted(w, graph, etype, count);
    else if (kind == EDGES)
        make_wanted_edges(w, graph, etype, count);
    else /* from an edge on that is not the first; of the last type, all of them */
        make_wanted_ranks(w, graph, etype, etype == ETYPES - 1 ? 0 : 11,
                          etype == ETYPES - 1 ? sample.num_edges[etype] : count);
}

static void free_wanted(struct wanted *w)
{
    free(w->edge_ids);
    free(w->sources);
    free(w->destinations);
}

/* The global IDs of nodes of a type on this placement. */
static uint64_t *global_ids(struct tr_graph *graph, uint32_t ntype, const uint64_t *originals,
                            size_t count)
{
    size_t all_count = tr_graph_num_nodes(graph, ntype);
    uint64_t *all = calloc(all_count + 1, sizeof *all), *ids = calloc(count + 1, sizeof *ids);
    struct tr_nodes *nodes;
    assert_true(all != NULL && ids != NULL);
    ok(tr_nodes_all(graph, ntype, TR_WAIT_FOREVER, &nodes, &failure));
    ok(tr_nodes_ids(nodes, 0, all_count, TR_WAIT_FOREVER, all, &failure));
    for (size_t i = 0; i < count; i++)
        ids[i] = all[originals[i]];
    tr_nodes_close(nodes);
    free(all);
    return ids;
}

static struct tr_nodes *list_edges(struct tr_graph *graph, const struct wanted *w)
{
    uint64_t *back = calloc(w->count + 1, sizeof *back);
    struct tr_nodes *edges;
    assert_non_null(back);
    if (!w->ranked)
        ok(tr_edges_listed(graph, w->etype, w->edge_ids, w->count, &edges, &failure));
    else if (w->count == sample.num_edges[w->etype])
        ok(tr_edges_all(graph, w->etype, &edges, &failure));
    else
        ok(tr_edges_range(graph, w->etype, w->first_rank, w->count, &edges, &failure));
    assert_int_equal(tr_nodes_count(edges), w->count);
    for (size_t from = 0; from <= w->count; from += 1 + w->count / 3) {
        ok(tr_edges_ids(edges, from, w->count - from, TR_WAIT_FOREVER, back, &failure));
        assert_memory_equal(back, w->edge_ids + from, (w->count - from) * sizeof *back);
    }
    free(back);
    return edges;
}

static struct tr_nodes *list_pairs(struct tr_graph *graph, const struct wanted *w)
{
    if (w->edge_ids != NULL)
        return list_edges(graph, w);
    uint64_t *sources = global_ids(graph, w->src, w->sources, w->count);
    uint64_t *destinations = global_ids(graph, w->dst, w->destinations, w->count);
    uint64_t *back = calloc(2 * w->count + 1, sizeof *back);
    struct tr_nodes *pairs;
    assert_non_null(back);
    ok(tr_pairs_listed(graph, w->etype, sources, destinations, w->count, &pairs, &failure));
    assert_int_equal(tr_nodes_count(pairs), w->count);
    assert_int_equal(tr_pairs_etype(pairs), w->etype);
    assert_true(tr_nodes_ntype(pairs) == TR_NTYPE_PAIRS);
    assert_int_equal(tr_nodes_num_parts(pairs), 0);
    for (size_t from = 0; from <= w->count; from += 1 + w->count / 3)
        for (size_t to = from; to <= w->count; to += 1 + w->count / 4) {
            ok(tr_pairs_ids(pairs, from, to - from, back, back + w->count, &failure));
            assert_memory_equal(back, sources + from, (to - from) * sizeof *back);
            assert_memory_equal(back + w->count, destinations + from, (to - from) * sizeof *back);
        }
    free(back);
    free(sources);
    free(destinations);
    return pairs;
}

/* The first one of the list that is this pair, or this edge. */
static size_t find_pair(const struct wanted *w, uint64_t source, uint64_t destination,
                        const uint64_t *edge_id)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->sources[i] == source && w->destinations[i] == destination &&
            (edge_id == NULL || w->edge_ids[i] == *edge_id))
            return i;
    fail_msg("a pair came that is not in the list");
    return 0;
}

/* Labels are those of the ends, by their positions. */
static void check_labels(const struct tr_batch *batch, uint32_t ntype)
{
    struct tr_rows rows = TR_ROWS_INIT;
    size_t count, seeds = tr_batch_num_seeds(batch, ntype);
    const uint64_t *original = tr_batch_original_ids(batch, ntype, &count);
    const float *at;
    assert_int_equal(tr_batch_labels(batch, ntype, &rows, NULL), 0);
    assert_int_equal(rows.num_rows, seeds);
    at = rows.rows;
    for (size_t i = 0; i < seeds; i++)
        for (uint64_t j = 0; j < rows.width; j++)
            assert_true(at[i * rows.width + j] == sample_value(ntype, original[i], j));
}

/* A batch's pairs are met; in_order: they are those of the list from `begin` on. */
static uint32_t check_pairs(const struct tr_batch *batch, const struct wanted *w, uint32_t *met,
                            bool in_order, uint64_t begin)
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    size_t num_src, num_dst;
    const uint64_t *src = tr_batch_original_ids(batch, w->src, &num_src);
    const uint64_t *dst = tr_batch_original_ids(batch, w->dst, &num_dst);
    assert_int_equal(tr_batch_pairs(batch, &pairs, NULL), 0);
    assert_int_equal(pairs.etype, w->etype);
    assert_true((pairs.edge_ids == NULL) == (w->edge_ids == NULL));
    bool one_type = w->src == w->dst;
    assert_int_equal(tr_batch_num_seeds(batch, w->src), pairs.count * (one_type ? 2 : 1));
    assert_int_equal(tr_batch_num_seeds(batch, w->dst), pairs.count * (one_type ? 2 : 1));
    bool *taken[2];
    for (int i = 0; i < 2; i++)
        assert_non_null(taken[i] = calloc(2 * (size_t)pairs.count + 1, sizeof *taken[i]));
    for (uint32_t i = 0; i < pairs.count; i++) {
        assert_true(pairs.sources[i] < tr_batch_num_seeds(batch, w->src));
        assert_true(pairs.destinations[i] < tr_batch_num_seeds(batch, w->dst));
        /* Each end has a place of its own. */
        assert_false(taken[0][pairs.sources[i]]);
        taken[0][pairs.sources[i]] = true;
        assert_false(taken[one_type ? 0 : 1][pairs.destinations[i]]);
        taken[one_type ? 0 : 1][pairs.destinations[i]] = true;
        uint64_t source = src[pairs.sources[i]], destination = dst[pairs.destinations[i]];
        if (in_order) {
            assert_int_equal(source, w->sources[begin + i]);
            assert_int_equal(destination, w->destinations[begin + i]);
            if (w->edge_ids != NULL)
                assert_int_equal(pairs.edge_ids[i], w->edge_ids[begin + i]);
        }
        met[find_pair(w, source, destination, w->edge_ids == NULL ? NULL : &pairs.edge_ids[i])]++;
    }
    free(taken[0]);
    free(taken[1]);
    return pairs.count;
}

static void set_options(struct tr_loader_options *options, bool shuffle)
{
    tr_loader_options_init(options);
    options->num_layers = 2;
    options->fanout[0] = 3;
    options->fanout[1] = 2;
    options->batch_size = BATCH;
    options->shuffle = shuffle;
    options->original_ids = true;
    options->labels = "feat";
}

static uint64_t run_epochs(struct tr_graph *graph, const struct wanted *w, struct tr_nodes *set,
                           bool shuffle)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 17, digest;
    uint32_t *met = calloc(w->count + 1, sizeof *met);
    int rv;
    assert_non_null(met);
    set_options(&options, shuffle);
    ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
    assert_int_equal(tr_loader_num_batches(loader), (w->count + BATCH - 1) / BATCH);
    for (uint32_t epoch = 0; epoch < 2; epoch++) {
        uint64_t begin = 0;
        while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
            uint32_t count = check_pairs(batch, w, met, !shuffle, begin);
            assert_int_equal(count, tr_batch_step_seeds(batch));
            check_labels(batch, w->src);
            check_labels(batch, w->dst);
            assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
            sum = sum * 31 + digest;
            begin += count;
            tr_batch_release(batch);
        }
        if (rv != TR_EEND)
            ok(rv);
        assert_int_equal(begin, w->count);
    }
    /* Every pair came as often as the list has it, in each epoch. */
    for (size_t i = 0; i < w->count; i++) {
        const uint64_t *edge_id = w->edge_ids == NULL ? NULL : &w->edge_ids[i];
        size_t first = find_pair(w, w->sources[i], w->destinations[i], edge_id);
        assert_true(met[first] >= 2);
        met[first] -= 2;
    }
    for (size_t i = 0; i < w->count; i++)
        assert_int_equal(met[i], 0);
    tr_loader_close(loader);
    free(met);
    return sum;
}

/* Two trainers share the pairs of each step; a rank may have none in the last one. */
static void check_shares(struct tr_graph *graph, const struct wanted *w, struct tr_nodes *set)
{
    struct tr_loader_options options;
    struct tr_loader *loader[2];
    struct tr_batch *batch;
    uint32_t *met = calloc(w->count + 1, sizeof *met);
    assert_non_null(met);
    set_options(&options, false);
    options.world = 2;
    for (options.rank = 0; options.rank < 2; options.rank++)
        ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader[options.rank], &failure));
    uint64_t steps = tr_loader_num_batches(loader[0]), begin = 0;
    assert_int_equal(steps, (w->count + 2 * BATCH - 1) / (2 * BATCH));
    for (uint64_t step = 0; step < steps; step++) {
        uint32_t step_seeds = 0, count = 0;
        for (uint32_t rank = 0; rank < 2; rank++) {
            ok(tr_loader_next(loader[rank], 30 * SECOND, &batch, &failure));
            count += check_pairs(batch, w, met, true, begin + count);
            step_seeds = tr_batch_step_seeds(batch);
            tr_batch_release(batch);
        }
        assert_int_equal(count, step_seeds);
        begin += count;
    }
    assert_int_equal(begin, w->count);
    tr_loader_close(loader[0]);
    tr_loader_close(loader[1]);
    free(met);
}

/* A single draw from a set is what a loader draws first from as many. */
static void check_draw(struct tr_graph *graph, const struct wanted *w, struct tr_nodes *set)
{
    struct tr_loader_options loading;
    struct tr_sample_options options;
    struct tr_sample_spec *spec;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t first, once;
    uint32_t *met = calloc(w->count + 1, sizeof *met);
    assert_non_null(met);
    ok(tr_sample_spec_create(graph, 2, &spec, &failure));
    ok(tr_sample_spec_set_fanout(spec, 0, TR_EVERY, 3, &failure));
    ok(tr_sample_spec_set_fanout(spec, 1, TR_EVERY, 2, &failure));
    set_options(&loading, false);
    loading.batch_size = (uint32_t)w->count;
    loading.seed = 5;
    ok(tr_loader_open(graph, set, &loading, TR_WAIT_FOREVER, &loader, &failure));
    ok(tr_loader_next(loader, 30 * SECOND, &batch, &failure));
    assert_int_equal(tr_batch_digest(batch, &first, NULL), 0);
    tr_batch_release(batch);
    tr_loader_close(loader);
    tr_sample_options_init(&options);
    options.spec = spec;
    options.pairs = set;
    options.seed = 5;
    options.original_ids = true;
    options.labels = "feat";
    options.ntype = UINT32_MAX; /* is not read */
    ok(tr_sample(graph, &options, 30 * SECOND, &batch, &failure));
    assert_int_equal(check_pairs(batch, w, met, true, 0), w->count);
    check_labels(batch, w->src);
    check_labels(batch, w->dst);
    assert_int_equal(tr_batch_digest(batch, &once, NULL), 0);
    assert_int_equal(first, once);
    tr_batch_release(batch);
    tr_sample_spec_destroy(spec);
    free(met);
}

/* Batches that no request has room for are refused as the loader opens, and the option is named; a
 * set that has no more seeds than that may ask for larger ones. */
static void check_large_batches(struct tr_graph *graph)
{
    const uint64_t most[] = { TR_BATCH_LISTED_MAX / 2, TR_BATCH_LISTED_MAX };
    const char *texts[] = { "batch_size: 4194305 listed pairs; give at most 4194304",
                            "batch_size: 8388609 listed edges; give at most 8388608" };
    uint64_t *zeros = calloc(TR_BATCH_LISTED_MAX + 1, sizeof *zeros);
    assert_non_null(zeros);
    for (uint32_t i = 0; i < 4; i++) {
        bool edges = i % 2 == 1, fits = i >= 2;
        size_t count = most[edges] + !fits;
        struct tr_loader_options options;
        struct tr_loader *loader;
        struct tr_nodes *set;
        ok(edges ? tr_edges_listed(graph, CITES, zeros, count, &set, &failure)
                 : tr_pairs_listed(graph, CITES, zeros, zeros, count, &set, &failure));
        tr_loader_options_init(&options);
        options.batch_size = (uint32_t)most[edges] + 1;
        if (!fits)
            refused(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure),
                    TR_ERANGE, texts[edges]);
        options.batch_size = (uint32_t)most[edges] + fits;
        ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
        tr_loader_close(loader);
        tr_nodes_close(set);
    }
    free(zeros);
}

static void check_refused_draws(struct tr_graph *graph)
{
    struct tr_sample_options options;
    struct tr_sample_spec *spec;
    struct tr_nodes *none, *nodes;
    struct tr_batch *batch;
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    ok(tr_pairs_listed(graph, CITES, NULL, NULL, 0, &none, &failure));
    ok(tr_nodes_all(graph, PAPER, TR_WAIT_FOREVER, &nodes, &failure));
    tr_sample_options_init(&options);
    options.spec = spec;
    options.pairs = none;
    refused(tr_sample(graph, &options, SECOND, &batch, &failure), TR_ERANGE, "pairs: 0 of them");
    options.pairs = nodes;
    refused(tr_sample(graph, &options, SECOND, &batch, &failure), TR_EINVAL, "the set has nodes");
    assert_null(batch);
    tr_nodes_close(none);
    tr_nodes_close(nodes);
    tr_sample_spec_destroy(spec);
}

static void check_refusals(struct tr_graph *graph, struct tr_nodes *set)
{
    uint64_t good[] = { 0, 0, 0, 0 }, bad[] = { 0, 0, 0, tr_graph_num_nodes(graph, PAPER) };
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_nodes *out = set, *all;
    uint64_t id;
    size_t count = tr_nodes_count(set);
    refused(tr_pairs_listed(graph, ETYPES, good, good, 4, &out, &failure), TR_ERANGE,
            "edge type 3: types are numbered from 0, and the graph has 3");
    assert_null(out);
    refused(tr_pairs_listed(graph, CITES, bad, good, 4, &out, &failure), TR_ERANGE,
            "sources[3] = 200: no node of type paper");
    refused(tr_pairs_listed(graph, CITES, good, bad, 4, &out, &failure), TR_ERANGE,
            "destinations[3] = 200: no node of type paper");
    assert_null(out);
    refused(tr_pairs_listed(graph, CITES, good, good, TR_PAIRS_MAX + 1, &out, &failure), TR_ETOOBIG,
            "pairs; at most 2^40");
    refused(tr_pairs_listed(graph, CITES, good, good, SIZE_MAX / 2 + 1, &out, &failure), TR_ETOOBIG,
            "pairs; at most 2^40");
    refused(tr_nodes_listed(graph, PAPER, good, TR_LISTED_MAX + 1, TR_WAIT_FOREVER, &out, &failure),
            TR_ETOOBIG, "nodes; at most 2^40");
    assert_null(out);
    refused(tr_pairs_ids(set, count, 1, &id, &id, &failure), TR_ERANGE, "of a set that has");
    refused(tr_pairs_ids(set, 1, SIZE_MAX, &id, &id, &failure), TR_ERANGE, "of a set that has");
    refused(tr_nodes_ids(set, 0, 1, TR_WAIT_FOREVER, &id, &failure), TR_EINVAL, "tr_pairs_ids()");
    refused(tr_nodes_original_ids(set, 0, 1, TR_WAIT_FOREVER, &id, &failure), TR_EINVAL,
            "tr_pairs_ids()");
    refused(tr_nodes_deal(set, NULL, 0, 2, TR_WAIT_FOREVER, &out, &failure), TR_EINVAL,
            "pairs of nodes");
    refused(tr_nodes_join(&set, 1, &out, &failure), TR_EINVAL, "set 0 has pairs");
    ok(tr_nodes_all(graph, AUTHOR, TR_WAIT_FOREVER, &all, &failure));
    refused(tr_pairs_ids(all, 0, 1, &id, &id, &failure), TR_EINVAL, "tr_nodes_ids()");
    assert_int_equal(tr_pairs_etype(all), TR_ETYPE_NONE);
    tr_nodes_close(all);
    tr_loader_options_init(&options);
    options.batch_size = UINT32_MAX / 2 + 1;
    refused(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure), TR_ERANGE,
            "batch_size: 2147483648 pairs or edges");
    options.batch_size = 8;
    options.labels = "nothing";
    refused(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure), TR_ENOENT,
            "no feature \"nothing\"");
}

static void check_refused_edges(struct tr_graph *graph, struct tr_nodes *set)
{
    uint64_t good[] = { 0, 1, 0 }, bad[] = { 0, 1, tr_graph_num_edges(graph, CITES) }, id;
    struct tr_nodes *out = set, *none;
    char text[64];
    snprintf(text, sizeof text, "edge_ids[2] = %zu: no edge of type", sample.num_edges[CITES]);
    refused(tr_edges_listed(graph, CITES, bad, 3, &out, &failure), TR_ERANGE, text);
    assert_null(out);
    refused(tr_edges_listed(graph, ETYPES, good, 3, &out, &failure), TR_ERANGE,
            "edge type 3: types are numbered from 0, and the graph has 3");
    refused(tr_edges_listed(graph, CITES, good, TR_LISTED_MAX + 1, &out, &failure), TR_ETOOBIG,
            "edges; at most 2^40");
    refused(tr_edges_ids(set, tr_nodes_count(set), 1, SECOND, &id, &failure), TR_ERANGE,
            "of a set that has");
    refused(tr_pairs_ids(set, 0, 1, &id, &id, &failure), TR_EINVAL, "tr_edges_ids()");
    refused(tr_nodes_ids(set, 0, 1, TR_WAIT_FOREVER, &id, &failure), TR_EINVAL, "tr_edges_ids()");
    refused(tr_nodes_join(&set, 1, &out, &failure), TR_EINVAL, "set 0 has edges");
    refused(tr_nodes_deal(set, NULL, 0, 2, TR_WAIT_FOREVER, &out, &failure), TR_EINVAL,
            "the set has edges");
    ok(tr_pairs_listed(graph, CITES, good, good, 3, &none, &failure));
    refused(tr_edges_ids(none, 0, 1, SECOND, &id, &failure), TR_EINVAL, "tr_pairs_ids()");
    tr_nodes_close(none);
    assert_int_equal(tr_pairs_etype(set), CITES);
}

static void check_refused_ranges(struct tr_graph *graph)
{
    uint64_t count = sample.num_edges[CITES], id;
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    struct tr_nodes *out;
    refused(tr_edges_all(graph, ETYPES, &out, &failure), TR_ERANGE,
            "edge type 3: types are numbered from 0, and the graph has 3");
    assert_null(out);
    refused(tr_edges_range(graph, ETYPES, 0, 0, &out, &failure), TR_ERANGE,
            "edge type 3: types are numbered from 0, and the graph has 3");
    refused(tr_edges_range(graph, CITES, count + 1, 0, &out, &failure), TR_ERANGE,
            "0 edges of type cites from rank");
    refused(tr_edges_range(graph, CITES, 1, count, &out, &failure), TR_ERANGE,
            "from rank 1 on; there are");
    refused(tr_edges_range(graph, CITES, 1, SIZE_MAX, &out, &failure), TR_ERANGE, "there are");
    refused(tr_edges_range(graph, CITES, UINT64_MAX, 1, &out, &failure), TR_ERANGE, "there are");
    assert_null(out);
    /* None is a set too. */
    ok(tr_edges_range(graph, CITES, count, 0, &out, &failure));
    assert_int_equal(tr_nodes_count(out), 0);
    ok(tr_edges_ids(out, 0, 0, SECOND, &id, &failure));
    set_options(&options, true);
    ok(tr_loader_open(graph, out, &options, TR_WAIT_FOREVER, &loader, &failure));
    assert_int_equal(tr_loader_next(loader, SECOND, &batch, &failure), TR_EEND);
    tr_loader_close(loader);
    tr_nodes_close(out);
}

/* An empty set has no batch; a batch of nodes has no pairs. */
static void check_edges_of_sets(struct tr_graph *graph)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    struct tr_nodes *nodes;
    struct tr_pairs pairs = TR_PAIRS_INIT;
    set_options(&options, true);
    ok(tr_pairs_listed(graph, CITES, NULL, NULL, 0, &nodes, &failure));
    ok(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    assert_int_equal(tr_loader_num_batches(loader), 0);
    assert_int_equal(tr_loader_next(loader, SECOND, &batch, &failure), TR_EEND);
    tr_loader_close(loader);
    tr_nodes_close(nodes);
    ok(tr_nodes_all(graph, PAPER, TR_WAIT_FOREVER, &nodes, &failure));
    ok(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    ok(tr_loader_next(loader, 30 * SECOND, &batch, &failure));
    assert_int_equal(tr_batch_pairs(batch, &pairs, NULL), TR_ENOENT);
    tr_batch_release(batch);
    tr_loader_close(loader);
    tr_nodes_close(nodes);
}

/* Batches of more pairs than a sampler finds at once, of a set that a bijection orders. */
static uint64_t run_large(struct tr_graph *graph, enum kind kind)
{
    const uint32_t batch_size = 40000;
    const size_t count = 70000;
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 3, digest;
    struct wanted w;
    make_kind(&w, graph, kind, CITES, count);
    struct tr_nodes *set = list_pairs(graph, &w);
    set_options(&options, false);
    options.labels = NULL;
    options.num_layers = 1;
    options.fanout[0] = 1;
    options.batch_size = batch_size;
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        uint64_t begin = 0, left = 0;
        options.shuffle = shuffle == 1;
        ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
        while (tr_loader_next(loader, 60 * SECOND, &batch, &failure) == 0) {
            struct tr_pairs pairs = TR_PAIRS_INIT;
            size_t num_nodes;
            const uint64_t *ids = tr_batch_original_ids(batch, PAPER, &num_nodes);
            assert_int_equal(tr_batch_pairs(batch, &pairs, NULL), 0);
            for (uint32_t i = 0; i < pairs.count; i++) {
                uint64_t source = ids[pairs.sources[i]], target = ids[pairs.destinations[i]];
                assert_true(shuffle == 1 || (source == w.sources[begin + i] &&
                                             target == w.destinations[begin + i]));
                assert_true(kind == PAIRS || shuffle == 1 ||
                            pairs.edge_ids[i] == w.edge_ids[begin + i]);
                left += (source + 1) * 1000003 + (target + 1) * 10007;
            }
            begin += pairs.count;
            assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
            sum = sum * 31 + digest;
            tr_batch_release(batch);
        }
        assert_int_equal(begin, count);
        for (size_t i = 0; i < count; i++)
            left -= (w.sources[i] + 1) * 1000003 + (w.destinations[i] + 1) * 10007;
        assert_int_equal(left, 0);
        tr_loader_close(loader);
    }
    tr_nodes_close(set);
    free_wanted(&w);
    return sum;
}

static uint64_t run_placement(const char *path, int placement)
{
    struct tr_graph *graph;
    struct tr_session *session = placement_open(path, placement, &graph);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < KINDS * ETYPES; i++) {
        uint32_t etype = i / KINDS;
        enum kind kind = i % KINDS;
        struct wanted w;
        make_kind(&w, graph, kind, etype, 97 + 4 * etype);
        struct tr_nodes *set = list_pairs(graph, &w);
        uint64_t ordered = run_epochs(graph, &w, set, false);
        uint64_t shuffled = run_epochs(graph, &w, set, true);
        assert_true(ordered != shuffled);
        sum = (sum * 31 + ordered) * 31 + shuffled;
        check_shares(graph, &w, set);
        check_draw(graph, &w, set);
        if (etype == CITES && kind == PAIRS)
            check_refusals(graph, set);
        if (etype == CITES && kind != PAIRS)
            check_refused_edges(graph, set);
        tr_nodes_close(set);
        free_wanted(&w);
    }
    check_edges_of_sets(graph);
    check_large_batches(graph);
    check_refused_draws(graph);
    check_refused_ranges(graph);
    sum = sum * 31 + run_large(graph, PAIRS);
    sum = sum * 31 + run_large(graph, EDGES);
    tr_graph_close(graph);
    tr_session_close(session);
    return sum;
}

/* More edges than a list of an epoch's order has, by rank. */
static uint64_t run_many(const char *path, int placement)
{
    struct tr_graph *graph;
    struct tr_session *session = placement_open(path, placement, &graph);
    uint64_t sum = run_large(graph, RANKS);
    tr_graph_close(graph);
    tr_session_close(session);
    return sum;
}

static void on_every_placement(uint64_t nodes, uint64_t edges, int placements,
                               uint64_t (*run)(const char *path, int placement))
{
    sample_init(&sample, true, nodes, edges, 5);
    placements_agree(&sample, placements, 0, run);
    sample_fini(&sample);
}

static void pairs_are_seeds_on_every_placement(void **state)
{
    (void)state;
    on_every_placement(300, 2000, PLACEMENTS, run_placement);
}

static void many_edges_are_found_by_rank_on_every_placement(void **state)
{
    (void)state;
    on_every_placement(3000, 160000, 3, run_many);
}

/* A folder as versions before this one wrote it. */
static void drop_runs(const char *path)
{
    json_t *root = json_load_file(path, 0, NULL), *own = json_object_get(root, "troupe");
    assert_int_equal(json_object_del(own, "edge_runs"), 0);
    static const char *const sums[] = { "checksum", "part_checksums", "graph_checksums" };
    for (int i = 0; i < 3; i++)
        assert_int_equal(json_object_del(own, sums[i]), 0);
    assert_int_equal(json_dump_file(root, path, 0), 0);
    json_decref(root);
}

/* All else goes on as it did. */
static uint64_t run_old_folder(const char *path, int placement)
{
    struct tr_graph *graph;
    struct tr_nodes *out;
    struct wanted w;
    drop_runs(path);
    struct tr_session *session = placement_open(path, placement, &graph);
    refused(tr_edges_all(graph, CITES, &out, &failure), TR_EUNSUPPORTED,
            "no runs of edges of type cites");
    assert_non_null(strstr(failure.message, "partition again"));
    assert_null(out);
    refused(tr_edges_range(graph, CITES, 0, 1, &out, &failure), TR_EUNSUPPORTED, "partition again");
    make_kind(&w, graph, EDGES, CITES, 40);
    struct tr_nodes *set = list_pairs(graph, &w);
    uint64_t sum = run_epochs(graph, &w, set, true);
    tr_nodes_close(set);
    free_wanted(&w);
    tr_graph_close(graph);
    tr_session_close(session);
    return sum;
}

static void older_folders_are_refused_ranks_alone(void **state)
{
    (void)state;
    on_every_placement(60, 200, 2, run_old_folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_seeds_on_every_placement),
        cmocka_unit_test(many_edges_are_found_by_rank_on_every_placement),
        cmocka_unit_test(older_folders_are_refused_ranks_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
