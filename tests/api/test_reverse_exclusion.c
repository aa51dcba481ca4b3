/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that leave out their edges and the reverses of these, through the public API: what each
 * draws is compared with the definition, by the IDs and ends of all edges of the raw graph, on every
 * placement; edges that a program leaves out beside; and what is refused.
 */
#include "partition/build/partition.h"
#include "tests/api/link_checks.h"
#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"
#include "tests/scratch.h"

#define SECOND INT64_C(1000000000)
#define BATCH 24u
#define FANOUT 3
enum { WRITES, CITES, BY };

static struct sample sample; /* the graph, by original IDs */
static bool adjacent;        /* how the edges of type CITES are paired */

/* Edges of "by" reverse those of "writes", but for one of eleven, which has the ID alone. */
static void reverse_by_type(void)
{
    uint64_t count = sample.num_edges[WRITES];
    free(sample.src[BY]);
    free(sample.dst[BY]);
    sample.num_edges[BY] = count;
    sample.src[BY] = malloc(count * 8 + 8);
    sample.dst[BY] = malloc(count * 8 + 8);
    for (uint64_t i = 0; i < count; i++) {
        sample.src[BY][i] = i % 11 == 5 ? (sample.dst[WRITES][i] + 1) % sample.num_nodes[1]
                                        : sample.dst[WRITES][i];
        sample.dst[BY][i] = sample.src[WRITES][i];
    }
}

/* Edges of type `e` get their reverses, behind all of them or each behind its own, where loops stand
 * once; some edges are parallel. */
static void reverse_by_id(uint32_t e)
{
    uint64_t half = sample.num_edges[e] / 2, at = 0;
    uint64_t *src = malloc((2 * half + 1) * 8), *dst = malloc((2 * half + 1) * 8);
    assert_true(src != NULL && dst != NULL);
    for (uint64_t i = 0; i < half; i++) {
        uint64_t from = sample.src[e][i % 9 == 8 ? i - 8 : i];
        uint64_t to = sample.dst[e][i % 9 == 8 ? i - 8 : i];
        to = i % 7 == 6 ? from : to;
        src[adjacent ? at : i] = from;
        dst[adjacent ? at++ : i] = to;
        if (adjacent && from == to)
            continue;
        src[adjacent ? at : i + half] = to;
        dst[adjacent ? at++ : i + half] = from;
    }
    free(sample.src[e]);
    free(sample.dst[e]);
    sample.src[e] = src;
    sample.dst[e] = dst;
    sample.num_edges[e] = adjacent ? at : 2 * half;
}

struct kind {
    uint32_t etype, reverses;
    bool listed; /* edges; else all by rank */
    struct tr_link_options links;
};

static struct kind kind_of(uint32_t number)
{
    struct kind kind = { number % 3, 2 - number % 3, number / 3 % 2 == 0, TR_LINK_OPTIONS_INIT };
    kind.links.num_negatives = number % 2 == 0 ? 2 : 0;
    kind.links.exclude = kind.etype == CITES ? TR_EXCLUDE_REVERSE_ID : TR_EXCLUDE_REVERSE_TYPES;
    kind.links.reverse_ids = adjacent ? TR_REVERSE_ADJACENT : TR_REVERSE_HALVES;
    kind.links.reverse_etype = kind.reverses;
    return kind;
}
#define KINDS 6

static bool may_be_reverse(const struct kind *kind, uint64_t edge, uint64_t other)
{
    uint64_t half = sample.num_edges[kind->etype] / 2;
    if (kind->links.exclude == TR_EXCLUDE_REVERSE_TYPES)
        return edge == other;
    if (adjacent)
        return other == edge + 1 || other + 1 == edge;
    return other == edge + half || edge == other + half;
}

/* Original IDs of a placement's edges. */
static uint64_t *originals[SAMPLE_TYPES];

static void read_originals(const char *path)
{
    struct tr_book *book;
    ok(tr_book_open(path, &book, &failure));
    for (uint32_t e = 0; e < sample.types.num_etypes; e++) {
        originals[e] = malloc(sample.num_edges[e] * 8 + 8);
        assert_non_null(originals[e]);
        ok(tr_book_original_edge_ids(book, e, 0, sample.num_edges[e], originals[e], &failure));
    }
    tr_book_close(book);
}

/* Which edges of each type the batch must not draw, by their original IDs. Returns the reverses. */
static uint64_t find_left_out(const struct tr_batch *batch, const struct kind *kind,
                              bool *left_out[SAMPLE_TYPES])
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    uint64_t reverses = 0;
    ok(tr_batch_pairs(batch, &pairs, &failure));
    for (uint32_t i = 0; i < pairs.count; i++)
        left_out[kind->etype][originals[kind->etype][pairs.edge_ids[i]]] = true;
    for (uint32_t i = 0; i < pairs.count; i++) {
        uint64_t edge = originals[kind->etype][pairs.edge_ids[i]];
        for (uint64_t j = 0; j < sample.num_edges[kind->reverses]; j++) {
            if (!may_be_reverse(kind, edge, j) ||
                sample.src[kind->reverses][j] != sample.dst[kind->etype][edge] ||
                sample.dst[kind->reverses][j] != sample.src[kind->etype][edge])
                continue;
            left_out[kind->reverses][j] = true;
            reverses++;
        }
    }
    return reverses;
}

/* No layer draws one of them, and each draw is as full as the other edges allow. */
static void check_layer(const struct tr_batch *batch, uint32_t layer, uint32_t etype,
                        const bool *left_out, uint64_t fanout)
{
    struct tr_block block = TR_BLOCK_INIT;
    size_t count;
    const uint64_t *nodes = tr_batch_original_ids(batch, sample.types.etypes[etype].dst, &count);
    ok(tr_batch_block(batch, layer, etype, &block, &failure));
    for (uint32_t i = 0; i < block.num_dst; i++) {
        uint64_t left = 0;
        for (uint64_t j = 0; j < sample.num_edges[etype]; j++)
            left += sample.dst[etype][j] == nodes[i] && !left_out[j];
        assert_int_equal(block.index[i + 1] - block.index[i], left < fanout ? left : fanout);
    }
    for (uint32_t e = 0; e < block.num_edges; e++)
        assert_false(left_out[originals[etype][block.edge_ids[e]]]);
}

static void alloc_left_out(bool *left_out[SAMPLE_TYPES])
{
    for (uint32_t e = 0; e < sample.types.num_etypes; e++) {
        left_out[e] = calloc(sample.num_edges[e] + 1, sizeof **left_out);
        assert_non_null(left_out[e]);
    }
}

static void free_left_out(bool *left_out[SAMPLE_TYPES])
{
    for (uint32_t e = 0; e < sample.types.num_etypes; e++)
        free(left_out[e]);
}

static uint64_t check_batch(const struct tr_batch *batch, const struct kind *kind)
{
    bool *left_out[SAMPLE_TYPES];
    alloc_left_out(left_out);
    uint64_t reverses = find_left_out(batch, kind, left_out);
    for (uint32_t layer = 0; layer < 2; layer++)
        for (uint32_t e = 0; e < sample.types.num_etypes; e++)
            check_layer(batch, layer, e, left_out[e], FANOUT);
    free_left_out(left_out);
    return reverses;
}

static struct tr_nodes *make_set(struct tr_graph *graph, const struct kind *kind)
{
    struct tr_nodes *all;
    if (kind->listed)
        return list_some_edges(graph, kind->etype, 60);
    ok(tr_edges_all(graph, kind->etype, &all, &failure));
    return all;
}

static uint64_t run_loader(struct tr_graph *graph, const struct kind *kind)
{
    struct tr_nodes *set = make_set(graph, kind);
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 29, digest, reverses = 0;
    int rv;
    tr_loader_options_init(&options);
    options.num_layers = 2;
    options.fanout[0] = options.fanout[1] = FANOUT;
    options.batch_size = BATCH;
    options.edge_ids = options.original_ids = true;
    options.links = &kind->links;
    ok(tr_loader_open(graph, set, &options, TR_WAIT_FOREVER, &loader, &failure));
    while ((rv = tr_loader_next(loader, 60 * SECOND, &batch, &failure)) == 0) {
        reverses += check_batch(batch, kind);
        ok(tr_batch_digest(batch, &digest, &failure));
        sum = sum * 31 + digest;
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    /* Nearly all edges have a reverse: all of these were left out. */
    assert_true(reverses > tr_nodes_count(set) / 2);
    tr_loader_close(loader);
    tr_nodes_close(set);
    return sum * 31 + reverses;
}

static int draw(struct tr_graph *graph, struct tr_nodes *set, const struct kind *kind,
                struct tr_sample_options *options, struct tr_batch **batch)
{
    struct tr_sample_spec *spec;
    ok(tr_sample_spec_create(graph, 2, &spec, &failure));
    ok(tr_sample_spec_set_fanout(spec, 0, TR_EVERY, FANOUT, &failure));
    ok(tr_sample_spec_set_fanout(spec, 1, TR_EVERY, FANOUT, &failure));
    options->spec = spec;
    options->pairs = set;
    options->links = &kind->links;
    options->original_ids = options->edge_ids = true;
    options->seed = 3;
    int rv = tr_sample(graph, options, 60 * SECOND, batch, &failure);
    tr_sample_spec_destroy(spec);
    return rv;
}

/* Every fifth edge of each type is left out as well, by IDs that are some of the batch's own. */
static uint64_t run_beside_given(struct tr_graph *graph, const struct kind *kind)
{
    struct tr_nodes *set = make_set(graph, kind);
    struct tr_sample_options options;
    struct tr_batch *batch;
    bool *left_out[SAMPLE_TYPES];
    uint64_t excluded[3 * 256], digest;
    uint32_t etypes[3 * 256];
    tr_sample_options_init(&options);
    for (uint32_t e = 0; e < sample.types.num_etypes; e++)
        for (uint64_t id = 0; id < sample.num_edges[e]; id++)
            if (originals[e][id] % 5 == 2 && options.num_excluded < 3 * 256) {
                etypes[options.num_excluded] = e;
                excluded[options.num_excluded++] = id;
            }
    options.excluded = excluded;
    options.excluded_etypes = etypes;
    ok(draw(graph, set, kind, &options, &batch));
    alloc_left_out(left_out);
    for (size_t i = 0; i < options.num_excluded; i++)
        left_out[etypes[i]][originals[etypes[i]][excluded[i]]] = true;
    assert_true(find_left_out(batch, kind, left_out) > 0);
    for (uint32_t layer = 0; layer < 2; layer++)
        for (uint32_t e = 0; e < sample.types.num_etypes; e++)
            check_layer(batch, layer, e, left_out[e], FANOUT);
    free_left_out(left_out);
    ok(tr_batch_digest(batch, &digest, &failure));
    tr_batch_release(batch);
    tr_nodes_close(set);
    return digest;
}

static void refuse(struct tr_graph *graph, const struct kind *kind, int code, const char *text)
{
    struct tr_nodes *set = make_set(graph, kind);
    struct tr_sample_options options;
    struct tr_batch *batch;
    tr_sample_options_init(&options);
    refused(draw(graph, set, kind, &options, &batch), code, text);
    tr_nodes_close(set);
}

static void check_refusals(struct tr_graph *graph)
{
    struct kind kind = kind_of(WRITES);
    kind.links.exclude = (enum tr_exclude)4;
    refuse(graph, &kind, TR_ERANGE, "exclude: 4; give");
    kind.links.exclude = TR_EXCLUDE_REVERSE_ID;
    refuse(graph, &kind, TR_EINVAL, "edges of type writes do not reverse those of");
    kind.links.exclude = TR_EXCLUDE_REVERSE_TYPES;
    kind.links.reverse_etype = CITES;
    refuse(graph, &kind, TR_EINVAL, "reverse_etype: edges of type cites do not");
    kind.links.reverse_etype = 3;
    refuse(graph, &kind, TR_ERANGE, "reverse_etype: 3: types are numbered from 0");
    kind = kind_of(CITES);
    kind.links.reverse_ids = (enum tr_reverse_ids)3;
    refuse(graph, &kind, TR_ERANGE, "reverse_ids: 3; give TR_REVERSE_HALVES");
    kind.links.reverse_ids = TR_REVERSE_LISTED;
    refuse(graph, &kind, TR_EINVAL, "the set does not list the reverses of its edges");
}

static uint64_t run_placement(const char *path, int placement)
{
    struct tr_graph *graph;
    struct tr_session *session = placement_open(path, placement, &graph);
    uint64_t sum = 0;
    read_originals(path);
    for (uint32_t i = 0; i < KINDS; i++) {
        const struct kind kind = kind_of(i);
        if (adjacent && kind.etype != CITES)
            continue;
        sum = sum * 31 + run_loader(graph, &kind);
        if (kind.listed)
            sum = sum * 31 + run_beside_given(graph, &kind);
    }
    check_refusals(graph);
    for (uint32_t e = 0; e < sample.types.num_etypes; e++)
        free(originals[e]);
    tr_graph_close(graph);
    tr_session_close(session);
    return sum;
}

static void run_sample(bool by_neighbour)
{
    adjacent = by_neighbour;
    sample_init(&sample, true, 90, 300, 5);
    reverse_by_type();
    reverse_by_id(CITES);
    placements_agree(&sample, PLACEMENTS, 0, run_placement);
    sample_fini(&sample);
}

static void reverses_in_halves_and_in_other_types_are_left_out(void **state)
{
    (void)state;
    run_sample(false);
}

static void reverses_that_follow_their_edges_are_left_out(void **state)
{
    (void)state;
    run_sample(true);
}

/* Where original IDs were dropped, nothing says which edges are reverses. */
static void partitions_without_original_ids_are_refused(void **state)
{
    char dir[64], path[256];
    (void)state;
    adjacent = false;
    sample_init(&sample, true, 30, 60, 5);
    reverse_by_type();
    assert_non_null(scratch_folder(dir, sizeof dir, "reverse"));
    snprintf(path, sizeof path, "%s/raw", dir);
    struct raw_graph *raw = sample_raw(&sample, path);
    const struct partition_options options = { .name = "g",
                                               .method = PARTITION_RANDOM,
                                               .num_parts = 2,
                                               .halo_hops = 1,
                                               .drop_edge_ids = true };
    struct partition_report report;
    struct error error = { 0 };
    snprintf(path, sizeof path, "%s/p", dir);
    assert_int_equal(partition_graph(raw, &options, path, parallel_serial, NULL, &report, &error),
                     0);
    snprintf(path, sizeof path, "%s/p/g.json", dir);
    struct tr_graph *graph;
    struct tr_session *session = placement_open(path, 0, &graph);
    const struct kind kind = kind_of(WRITES);
    refuse(graph, &kind, TR_EUNSUPPORTED, "partition again without drop_edge_ids");
    uint64_t edge = 0, original;
    assert_int_equal(
        tr_graph_original_edge_ids(graph, 0, &edge, 1, TR_WAIT_FOREVER, &original, &failure),
        TR_EUNSUPPORTED);
    assert_non_null(strstr(failure.message, "partition again without --drop-edge-ids"));
    tr_graph_close(graph);
    tr_session_close(session);
    raw_close(raw);
    sample_fini(&sample);
    assert_int_equal(files_remove_tree(files_posix, dir, NULL), 0);
}

/* Takes what the log has to say about batches: how many lines. */
static uint32_t count_said(struct tr_log *log, char text[TR_LOG_TEXT_MAX])
{
    struct tr_log_line line = TR_LOG_LINE_INIT;
    uint32_t lines = 0;
    while (tr_log_next(log, 0, &line, NULL) == 0) {
        if (strcmp(line.component, "batches") != 0)
            continue;
        strcpy(text, line.text);
        lines++;
    }
    return lines;
}

/* Edges that have no reverse by the rule are in their batches, and the log says so once; where all
 * but self-loops have one there is nothing to say. */
static void edges_without_a_reverse_are_told_once(void **state)
{
    char dir[64], path[256], said[TR_LOG_TEXT_MAX] = "", wanted[64];
    (void)state;
    adjacent = true;
    sample_init(&sample, true, 30, 220, 5);
    reverse_by_type();
    reverse_by_id(CITES);
    assert_non_null(scratch_folder(dir, sizeof dir, "reverse"));
    snprintf(path, sizeof path, "%s/raw", dir);
    struct raw_graph *raw = sample_raw(&sample, path);
    const struct partition_options options = {
        .name = "g", .method = PARTITION_RANDOM, .num_parts = 2, .halo_hops = 1
    };
    struct partition_report report;
    struct error error = { 0 };
    snprintf(path, sizeof path, "%s/p", dir);
    assert_int_equal(partition_graph(raw, &options, path, parallel_serial, NULL, &report, &error),
                     0);
    snprintf(path, sizeof path, "%s/p/g.json", dir);
    struct tr_session_options session_options;
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_log *log;
    ok(tr_log_open(NULL, &log, &failure));
    tr_session_options_init(&session_options);
    session_options.log = log;
    session_options.samplers = 1;
    ok(tr_session_open(&session_options, &session, &failure));
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure));
    read_originals(path);
    const uint32_t paired[] = { CITES, WRITES, WRITES };
    for (size_t i = 0; i < 3; i++) {
        const struct kind kind = kind_of(paired[i]);
        uint64_t single = 0;
        struct tr_nodes *set = make_set(graph, &kind);
        struct tr_sample_options sampled;
        struct tr_batch *batch;
        struct tr_pairs pairs = TR_PAIRS_INIT;
        tr_sample_options_init(&sampled);
        ok(draw(graph, set, &kind, &sampled, &batch));
        ok(tr_batch_pairs(batch, &pairs, &failure));
        for (uint64_t e = 0; e < pairs.count; e++)
            single += originals[WRITES][pairs.edge_ids[e]] % 11 == 5;
        assert_int_equal(count_said(log, said), i == 1);
        snprintf(wanted, sizeof wanted, "%llu of %zu edges of batch 0 have no reverse",
                 (unsigned long long)single, (size_t)pairs.count);
        if (i == 1 && (single == 0 || strstr(said, wanted) != said))
            fail_msg("'%s', not '%s'", said, wanted);
        tr_batch_release(batch);
        tr_nodes_close(set);
    }
    for (uint32_t e = 0; e < sample.types.num_etypes; e++)
        free(originals[e]);
    tr_graph_close(graph);
    tr_session_close(session);
    tr_log_close(log);
    raw_close(raw);
    sample_fini(&sample);
    assert_int_equal(files_remove_tree(files_posix, dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reverses_in_halves_and_in_other_types_are_left_out),
        cmocka_unit_test(reverses_that_follow_their_edges_are_left_out),
        cmocka_unit_test(partitions_without_original_ids_are_refused),
        cmocka_unit_test(edges_without_a_reverse_are_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
