/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of several node types through the public API: what a batch has of each type, the same
 * batches on every placement, each seed once an epoch, and what makes no set.
 */
#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"

#define SECOND INT64_C(1000000000)
#define EPOCHS 2

/* Those of a mask of type 0, and of type 1 a list in which some come twice; or all of type 1, then
 * that mask. */
static struct tr_nodes *join(struct tr_graph *graph, bool with_list)
{
    struct tr_nodes *sets[2], *all, *joined;
    const size_t count = tr_graph_num_nodes(graph, 1);
    uint64_t *ids = calloc(2 * count + 1, sizeof *ids);
    uint64_t *original = calloc(count + 1, sizeof *original);
    size_t listed = 0;
    assert_true(ids != NULL && original != NULL);
    /* The same nodes, whatever the placement calls them. */
    ok(tr_nodes_all(graph, 1, TR_WAIT_FOREVER, &all, &failure));
    ok(tr_nodes_ids(all, 0, count, TR_WAIT_FOREVER, original, &failure));
    for (size_t i = 0; i < count; i++)
        for (size_t times = 0; times < i % 3; times++)
            ids[listed++] = original[i];
    ok(tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &sets[with_list ? 0 : 1],
                       &failure));
    if (with_list)
        ok(tr_nodes_listed(graph, 1, ids, listed, TR_WAIT_FOREVER, &sets[1], &failure));
    else
        ok(tr_nodes_all(graph, 1, TR_WAIT_FOREVER, &sets[0], &failure));
    ok(tr_nodes_join(sets, 2, &joined, &failure));
    assert_int_equal(tr_nodes_count(joined), tr_nodes_count(sets[0]) + tr_nodes_count(sets[1]));
    tr_nodes_close(all);
    tr_nodes_close(sets[0]);
    tr_nodes_close(sets[1]);
    free(original);
    free(ids);
    return joined;
}

/* A batch's seeds stand first in the lists of their types, with their labels; met[ntype][original
 * ID] counts them. */
static void check_seeds(struct tr_graph *graph, const struct tr_batch *batch, uint32_t *const *met,
                        uint32_t batch_size)
{
    size_t seeds = 0;
    for (uint32_t t = 0; t < tr_graph_num_ntypes(graph); t++) {
        struct tr_rows rows = TR_ROWS_INIT;
        size_t nodes, here = tr_batch_num_seeds(batch, t);
        const uint64_t *original = tr_batch_original_ids(batch, t, &nodes);
        assert_true(here <= nodes);
        for (size_t i = 0; i < here; i++)
            met[t][original[i]]++;
        seeds += here;
        assert_int_equal(tr_batch_labels(batch, t, &rows, NULL), 0);
        assert_int_equal(rows.num_rows, here);
        const float *at = rows.rows;
        for (size_t i = 0; i < here; i++)
            for (uint64_t j = 0; j < rows.width; j++)
                assert_true(at[i * rows.width + j] == sample_value(t, original[i], j));
    }
    assert_true(seeds == batch_size || seeds == tr_batch_step_seeds(batch));
}

/* Every seed came as often as the set has it. */
static void check_met(struct tr_graph *graph, struct tr_nodes *nodes, uint32_t *const *met,
                      uint32_t epochs)
{
    for (uint32_t part = 0; part < tr_nodes_num_parts(nodes); part++) {
        uint32_t ntype;
        uint64_t offset, count;
        assert_int_equal(tr_nodes_part(nodes, part, &ntype, &offset, &count, NULL), 0);
        uint64_t *ids = calloc(count + 1, sizeof *ids);
        assert_non_null(ids);
        ok(tr_nodes_original_ids(nodes, offset, count, TR_WAIT_FOREVER, ids, &failure));
        for (uint64_t i = 0; i < count; i++) {
            assert_true(met[ntype][ids[i]] >= epochs);
            met[ntype][ids[i]] -= epochs;
        }
        free(ids);
    }
    for (uint32_t t = 0; t < tr_graph_num_ntypes(graph); t++)
        for (uint64_t i = 0; i < tr_graph_num_nodes(graph, t); i++)
            assert_int_equal(met[t][i], 0);
}

static uint64_t run_epochs(struct tr_graph *graph, struct tr_nodes *nodes, bool shuffle)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 17, digest;
    uint32_t *met[2];
    int rv;
    for (uint32_t t = 0; t < 2; t++)
        assert_non_null(met[t] = calloc(tr_graph_num_nodes(graph, t) + 1, sizeof *met[t]));
    tr_loader_options_init(&options);
    options.num_layers = 2;
    options.fanout[0] = 3;
    options.fanout[1] = 2;
    options.batch_size = 16;
    options.shuffle = shuffle;
    options.original_ids = true;
    options.labels = "feat";
    ok(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    assert_int_equal(tr_loader_num_batches(loader), (tr_nodes_count(nodes) + 15) / 16);
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
            check_seeds(graph, batch, met, options.batch_size);
            assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
            sum = sum * 31 + digest;
            tr_batch_release(batch);
        }
        if (rv != TR_EEND)
            ok(rv);
    }
    check_met(graph, nodes, met, EPOCHS);
    tr_loader_close(loader);
    for (uint32_t t = 0; t < 2; t++)
        free(met[t]);
    return sum;
}

/* Pieces of any bounds say what the whole set says, part by part. */
static void check_pieces(struct tr_nodes *nodes, uint32_t first)
{
    size_t count = tr_nodes_count(nodes);
    uint64_t *all = calloc(count + 1, sizeof *all), *some = calloc(count + 1, sizeof *some);
    uint64_t offset, part_count, end = 0;
    uint32_t ntype;
    assert_true(all != NULL && some != NULL);
    assert_true(tr_nodes_ntype(nodes) == TR_NTYPE_SEVERAL);
    for (uint32_t part = 0; part < 2; part++) {
        assert_int_equal(tr_nodes_part(nodes, part, &ntype, &offset, &part_count, NULL), 0);
        assert_true(ntype == (part + first) % 2 && offset == end);
        end += part_count;
    }
    assert_int_equal(end, count);
    assert_int_equal(tr_nodes_part(nodes, 2, &ntype, &offset, &part_count, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "part 2; the set has 2");
    ok(tr_nodes_ids(nodes, 0, count, TR_WAIT_FOREVER, all, &failure));
    for (size_t from = 0; from <= count; from += 1 + count / 9)
        for (size_t to = from; to <= count; to += 1 + count / 7) {
            ok(tr_nodes_ids(nodes, from, to - from, TR_WAIT_FOREVER, some, &failure));
            assert_memory_equal(all + from, some, (to - from) * sizeof *all);
        }
    assert_int_equal(tr_nodes_ids(nodes, count, 1, TR_WAIT_FOREVER, some, &failure), TR_ERANGE);
    free(some);
    free(all);
}

/* The digest of a loader's batches of a set, in order or shuffled. */
static uint64_t digests_of(struct tr_graph *graph, struct tr_nodes *nodes, bool shuffle)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 17, digest;
    int rv;
    tr_loader_options_init(&options);
    options.batch_size = 7;
    options.shuffle = shuffle;
    options.original_ids = true; /* by which the digest knows nodes */
    ok(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
        assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
        sum = sum * 31 + digest;
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    tr_loader_close(loader);
    return sum;
}

static void same_nodes(struct tr_nodes *nodes, uint64_t first, struct tr_nodes *range)
{
    size_t count = tr_nodes_count(range);
    uint64_t *ids = calloc(count + 1, sizeof *ids), *back = calloc(count + 1, sizeof *back);
    assert_true(ids != NULL && back != NULL);
    ok(tr_nodes_ids(nodes, first, count, TR_WAIT_FOREVER, ids, &failure));
    ok(tr_nodes_ids(range, 0, count, TR_WAIT_FOREVER, back, &failure));
    assert_memory_equal(ids, back, count * sizeof *ids);
    ok(tr_nodes_original_ids(nodes, first, count, TR_WAIT_FOREVER, ids, &failure));
    ok(tr_nodes_original_ids(range, 0, count, TR_WAIT_FOREVER, back, &failure));
    assert_memory_equal(ids, back, count * sizeof *ids);
    free(ids);
    free(back);
}

/* The nodes [first, first + count) of a set as a range, or as a list of the same. */
static struct tr_nodes *take_range(struct tr_graph *graph, struct tr_nodes *nodes, uint64_t first,
                                   size_t count, bool as_list)
{
    struct tr_nodes *range;
    uint64_t *ids = calloc(count + 1, sizeof *ids);
    assert_non_null(ids);
    ok(tr_nodes_ids(nodes, first, count, TR_WAIT_FOREVER, ids, &failure));
    if (as_list)
        ok(tr_nodes_listed(graph, tr_nodes_ntype(nodes), ids, count, TR_WAIT_FOREVER, &range,
                           &failure));
    else
        ok(tr_nodes_range(nodes, first, count, &range, &failure));
    assert_int_equal(tr_nodes_count(range), count);
    assert_int_equal(tr_nodes_ntype(range), tr_nodes_ntype(nodes));
    same_nodes(nodes, first, range);
    free(ids);
    return range;
}

/* A range makes the batches of a list of its nodes, by itself, as a range of a range, as one of a
 * list, and beside one of another type. */
static uint64_t check_ranges(struct tr_graph *graph)
{
    struct tr_nodes *whole[2], *parts[2], *joined;
    uint64_t sums[2], ordered[2], shuffled[2];
    ok(tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &whole[0], &failure));
    ok(tr_nodes_all(graph, 1, TR_WAIT_FOREVER, &whole[1], &failure));
    for (int as_list = 0; as_list < 2; as_list++) {
        sums[as_list] = 0;
        for (int t = 0; t < 2; t++) {
            size_t count = tr_nodes_count(whole[t]), first = count / 5, half = count / 2;
            assert_true(first > 0);
            parts[t] = take_range(graph, whole[t], first, half, as_list == 1);
            sums[as_list] = sums[as_list] * 31 + digests_of(graph, parts[t], false);
            sums[as_list] = sums[as_list] * 31 + digests_of(graph, parts[t], true);
            struct tr_nodes *inner = take_range(graph, parts[t], half / 3, half / 3, false);
            same_nodes(whole[t], first + half / 3, inner);
            sums[as_list] = sums[as_list] * 31 + digests_of(graph, inner, false);
            tr_nodes_close(inner);
            tr_nodes_close(take_range(graph, whole[t], count, 0, false));
        }
        ok(tr_nodes_join(parts, 2, &joined, &failure));
        tr_nodes_close(parts[0]);
        tr_nodes_close(parts[1]);
        ordered[as_list] = run_epochs(graph, joined, false);
        shuffled[as_list] = run_epochs(graph, joined, true);
        tr_nodes_close(joined);
    }
    tr_nodes_close(whole[0]);
    tr_nodes_close(whole[1]);
    assert_int_equal(sums[0], sums[1]);
    assert_int_equal(ordered[0], ordered[1]);
    assert_int_equal(shuffled[0], shuffled[1]);
    return (sums[0] * 31 + ordered[0]) * 31 + shuffled[0];
}

static void check_refusals(struct tr_session *session, struct tr_graph *graph, const char *path,
                           struct tr_nodes *joined)
{
    struct tr_graph *other;
    struct tr_nodes *first, *again, *foreign, *out;
    struct tr_loader_options options;
    struct tr_loader *loader;
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &other, &failure));
    ok(tr_nodes_all(graph, 0, TR_WAIT_FOREVER, &first, &failure));
    ok(tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &again, &failure));
    ok(tr_nodes_all(other, 1, TR_WAIT_FOREVER, &foreign, &failure));
    refused(tr_nodes_join(NULL, 0, &out, &failure), TR_EINVAL, "no sets");
    assert_null(out);
    refused(tr_nodes_join((struct tr_nodes *[]){ first, again }, 2, &out, &failure), TR_EINVAL,
            "sets 0 and 1 are both of node type");
    refused(tr_nodes_join((struct tr_nodes *[]){ first, foreign }, 2, &out, &failure), TR_EMISMATCH,
            "set 1 belongs to another graph");
    refused(tr_nodes_join(&joined, 1, &out, &failure), TR_EINVAL, "set 0 has several node types");
    struct tr_nodes *other_type, *dealt, *pairs;
    const uint64_t end = 0;
    ok(tr_nodes_all(graph, 1, TR_WAIT_FOREVER, &other_type, &failure));
    refused(tr_nodes_join((struct tr_nodes *[]){ first, other_type, again }, 3, &out, &failure),
            TR_EINVAL, "sets 0 and 2 are both of node type");
    refused(tr_nodes_join((struct tr_nodes *[]){ other_type, first, again }, 3, &out, &failure),
            TR_EINVAL, "sets 1 and 2 are both of node type");
    ok(tr_nodes_deal(again, NULL, 1, 2, TR_WAIT_FOREVER, &dealt, &failure));
    refused(tr_nodes_join((struct tr_nodes *[]){ other_type, dealt }, 2, &out, &failure), TR_EINVAL,
            "set 1 is the group of trainer 1 of 2");
    ok(tr_pairs_listed(graph, 0, &end, &end, 1, &pairs, &failure));
    refused(tr_nodes_join((struct tr_nodes *[]){ other_type, pairs }, 2, &out, &failure), TR_EINVAL,
            "set 1 has pairs of nodes");
    assert_null(out);
    uint64_t ids[2];
    const size_t last = tr_nodes_count(first);
    ok(tr_nodes_ids(first, last - 1, 1, TR_WAIT_FOREVER, ids, &failure));
    ok(tr_nodes_ids(first, last, 0, TR_WAIT_FOREVER, ids, &failure));
    refused(tr_nodes_ids(first, last - 1, 2, TR_WAIT_FOREVER, ids, &failure), TR_ERANGE,
            "of a set that has");
    refused(tr_nodes_ids(first, last + 1, 0, TR_WAIT_FOREVER, ids, &failure), TR_ERANGE,
            "of a set that has");
    refused(tr_nodes_ids(pairs, 0, 1, TR_WAIT_FOREVER, ids, &failure), TR_EINVAL,
            "tr_pairs_ids() gives their ends");
    refused(tr_nodes_range(first, last, 1, &out, &failure), TR_ERANGE, "of a set that has");
    assert_null(out);
    refused(tr_nodes_range(first, last + 1, 0, &out, &failure), TR_ERANGE, "of a set that has");
    refused(tr_nodes_range(first, 1, SIZE_MAX, &out, &failure), TR_ERANGE, "of a set that has");
    refused(tr_nodes_range(first, UINT64_MAX, 1, &out, &failure), TR_ERANGE, "of a set that has");
    refused(tr_nodes_range(dealt, 0, 1, &out, &failure), TR_EINVAL, "trainer 1 of 2");
    refused(tr_nodes_range(pairs, 0, 1, &out, &failure), TR_EINVAL, "pairs of nodes");
    refused(tr_nodes_range(joined, 0, 1, &out, &failure), TR_EINVAL, "several node types");
    tr_nodes_close(other_type);
    tr_nodes_close(dealt);
    tr_nodes_close(pairs);
    refused(tr_nodes_deal(joined, NULL, 0, 2, TR_WAIT_FOREVER, &out, &failure), TR_EINVAL,
            "several node types");
    tr_loader_options_init(&options);
    options.labels = "nothing";
    refused(tr_loader_open(graph, joined, &options, TR_WAIT_FOREVER, &loader, &failure), TR_ENOENT,
            "no feature \"nothing\"");
    tr_nodes_close(first);
    tr_nodes_close(again);
    tr_nodes_close(foreign);
    tr_graph_close(other);
}

/* Two epochs with shuffling and two without, of both sets, on one placement. */
static struct tr_batch *draw(struct tr_graph *graph, const struct tr_sample_options *options)
{
    struct tr_batch *batch;
    ok(tr_sample(graph, options, 30 * SECOND, &batch, &failure));
    return batch;
}

static void refuse_draw(struct tr_graph *graph, struct tr_sample_options options, int code,
                        const char *text)
{
    struct tr_batch *batch;
    assert_int_equal(tr_sample(graph, &options, 30 * SECOND, &batch, &failure), code);
    if (strstr(failure.message, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", failure.message, text);
}

/* A draw of several types has the seeds of each in the order given, also twice, and draws for them what
 * a draw of that type alone does. */
static uint64_t check_draws(struct tr_graph *graph)
{
    static const uint32_t ntypes[] = { 1, 0 };
    static const size_t counts[] = { 40, 30 };
    uint64_t ids[70], digest;
    size_t count;
    struct tr_sample_options options;
    struct tr_sample_spec *spec;
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    ok(tr_sample_spec_set_fanout(spec, 0, TR_EVERY, 2, &failure));
    for (size_t t = 0; t < 2; t++) {
        struct tr_nodes *all;
        uint64_t *of = ids + (t == 0 ? 0 : counts[0]);
        ok(tr_nodes_all(graph, ntypes[t], TR_WAIT_FOREVER, &all, &failure));
        for (size_t i = 0; i < counts[t]; i++)
            ok(tr_nodes_ids(all, (i % 9 == 8 ? i - 3 : i) * 7919 % tr_nodes_count(all), 1,
                            TR_WAIT_FOREVER, &of[i], &failure));
        tr_nodes_close(all);
    }
    tr_sample_options_init(&options);
    options.spec = spec;
    options.seeds = ids;
    options.num_seeds = 70;
    options.ntypes = ntypes;
    options.counts = counts;
    options.num_ntypes = 2;
    options.seed = 5;
    options.labels = "feat";
    options.edge_ids = options.original_ids = true;
    struct tr_batch *both = draw(graph, &options);
    for (size_t t = 0; t < 2; t++) {
        const uint64_t *of = ids + (t == 0 ? 0 : counts[0]);
        assert_int_equal(tr_batch_num_seeds(both, ntypes[t]), counts[t]);
        assert_memory_equal(tr_batch_nodes(both, ntypes[t], &count), of, counts[t] * sizeof *of);
        struct tr_sample_options one = options;
        one.num_ntypes = 0;
        one.ntype = ntypes[t];
        one.seeds = of;
        one.num_seeds = counts[t];
        struct tr_batch *alone = draw(graph, &one);
        for (uint32_t e = 0; e < tr_graph_num_etypes(graph); e++) {
            struct tr_block some = TR_BLOCK_INIT, all = TR_BLOCK_INIT;
            ok(tr_batch_block(alone, 0, e, &some, &failure));
            ok(tr_batch_block(both, 0, e, &all, &failure));
            if (some.num_dst == 0)
                continue;
            assert_int_equal(some.num_edges, all.num_edges);
            assert_memory_equal(some.edge_ids, all.edge_ids, some.num_edges * sizeof *ids);
        }
        tr_batch_release(alone);
    }
    ok(tr_batch_digest(both, &digest, &failure));
    tr_batch_release(both);
    static const uint32_t same[] = { 1, 1 }, beyond[] = { 1, 2 };
    struct tr_sample_options bad = options;
    bad.ntypes = same;
    refuse_draw(graph, bad, TR_EINVAL, "give the seeds of a type together");
    bad.ntypes = beyond;
    refuse_draw(graph, bad, TR_ERANGE, "ntypes[1]: 2");
    bad = options;
    bad.num_seeds = 69;
    refuse_draw(graph, bad, TR_EINVAL, "counts: 70 seeds of all types; num_seeds is 69");
    bad = options;
    bad.counts = NULL;
    refuse_draw(graph, bad, TR_EINVAL, "ntypes or counts is NULL");
    bad = options;
    bad.num_ntypes = 3;
    refuse_draw(graph, bad, TR_ERANGE, "num_ntypes: 3");
    tr_sample_spec_destroy(spec);
    return digest;
}

static uint64_t run_placement(const char *path, int placement)
{
    struct tr_graph *graph;
    struct tr_session *session = placement_open(path, placement, &graph);
    uint64_t sum = 0;
    assert_int_equal(tr_graph_num_ntypes(graph), 2);
    for (uint32_t first = 0; first < 2; first++) {
        struct tr_nodes *nodes = join(graph, first == 0);
        check_pieces(nodes, first);
        uint64_t ordered = run_epochs(graph, nodes, false);
        uint64_t shuffled = run_epochs(graph, nodes, true);
        assert_true(ordered != shuffled);
        sum = (sum * 31 + ordered) * 31 + shuffled;
        check_refusals(session, graph, path, nodes);
        tr_nodes_close(nodes);
    }
    sum = sum * 31 + check_ranges(graph);
    sum = sum * 31 + check_draws(graph);
    tr_graph_close(graph);
    tr_session_close(session);
    return sum;
}

static void several_types_are_seeds_on_every_placement(void **state)
{
    struct sample sample;
    (void)state;
    sample_init(&sample, true, 300, 2000, 5);
    placements_agree(&sample, PLACEMENTS, 2, run_placement);
    sample_fini(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_types_are_seeds_on_every_placement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
