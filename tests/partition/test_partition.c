/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts that a partitioning gives of itself: its report is what can be counted, its book says
 * how it was made, its steps lead from beginning to end, and what no directory can hold is refused
 * before anything is made.
 */
#include <inttypes.h>
#include <math.h>

#include "tests/partition/graph_util.h"

#include "partition/build/check.h"
#include "partition/store/book_json.h"

#define PARTS 3u
#define CLASSES 4u
#define NEAR 1e-12

/* No directory here has to outlive a power cut. */
static int sync_nothing(struct files *self, int fd)
{
    (void)self, (void)fd;
    return 0;
}

static struct files quick_files(void)
{
    struct files files = *files_posix;
    files.fsync = sync_nothing;
    files.syncfs = NULL;
    return files;
}

struct made {
    struct sample sample;
    struct raw_graph *raw;
    struct partition_report report;
    char out[128], json[200], given[160];
    uint32_t *parts[SAMPLE_TYPES]; /* of the assignment file */
};

/* A graph, and a file that shares its nodes out unevenly. */
static void make_graph(struct made *made, struct scratch *scratch, bool hetero, uint64_t nodes,
                       uint64_t edges)
{
    char path[160];
    *made = (struct made){ 0 };
    snprintf(path, sizeof path, "%s/raw", scratch->folder);
    snprintf(made->out, sizeof made->out, "%s/out", scratch->folder);
    snprintf(made->given, sizeof made->given, "%s/parts.txt", scratch->folder);
    sample_init(&made->sample, hetero, nodes, edges, 11);
    made->raw = sample_raw(&made->sample, path);
    FILE *file = fopen(made->given, "w");
    assert_non_null(file);
    for (uint32_t t = 0; t < made->sample.types.num_ntypes; t++) {
        made->parts[t] = calloc(made->sample.num_nodes[t] + 1, sizeof **made->parts);
        for (uint64_t v = 0; v < made->sample.num_nodes[t]; v++) {
            uint32_t one = (uint32_t)(sample_random(&made->sample) % PARTS);
            uint32_t other = (uint32_t)(sample_random(&made->sample) % PARTS);
            made->parts[t][v] = one < other ? one : other;
            fprintf(file, "%" PRIu32 "\n", made->parts[t][v]);
        }
    }
    assert_int_equal(fclose(file), 0);
}

static void free_graph(struct made *made)
{
    for (uint32_t t = 0; t < SAMPLE_TYPES; t++)
        free(made->parts[t]);
    raw_close(made->raw);
    sample_fini(&made->sample);
}

static void partition_well(struct made *made, const struct partition_options *wanted)
{
    struct partition_options quick = *wanted, *options = &quick;
    struct files files = quick_files();
    struct error error = { 0 };
    quick.files = &files;
    snprintf(made->json, sizeof made->json, "%s/%s.json", made->out,
             options->name != NULL ? options->name : "sample");
    if (partition_graph(made->raw, options, made->out, NULL, NULL, &made->report, &error) != 0)
        fail_msg("%s", error.text);
}

/* Largest over mean. */
static double evenness(const uint64_t *counts)
{
    uint64_t largest = 0, total = 0;
    for (uint32_t p = 0; p < PARTS; p++) {
        largest = counts[p] > largest ? counts[p] : largest;
        total += counts[p];
    }
    return (double)largest / ((double)total / PARTS);
}

static uint64_t count_halo(const struct made *made, uint32_t part)
{
    const struct sample *sample = &made->sample;
    uint64_t count = 0;
    for (uint32_t t = 0; t < sample->types.num_ntypes; t++)
        for (uint64_t v = 0; v < sample->num_nodes[t]; v++) {
            bool seen = false;
            for (uint32_t e = 0; e < sample->types.num_etypes; e++)
                for (uint64_t i = 0; sample->types.etypes[e].src == t && i < sample->num_edges[e];
                     i++)
                    seen = seen ||
                           (sample->src[e][i] == v &&
                            made->parts[sample->types.etypes[e].dst][sample->dst[e][i]] == part);
            count += seen && made->parts[t][v] != part;
        }
    return count;
}

static void the_report_is_what_can_be_counted(void **state)
{
    static const char *const masks[] = { "train_mask" };
    struct made made;
    make_graph(&made, *state, true, 120, 150);
    const struct partition_options options = { .method = PARTITION_FILE,
                                               .assignment = made.given,
                                               .num_parts = PARTS,
                                               .balance_tables = masks,
                                               .num_balance_tables = 1,
                                               .halo_hops = 2 };
    partition_well(&made, &options);
    const struct sample *sample = &made.sample;
    const struct partition_report *report = &made.report;
    uint64_t nodes[PARTS] = { 0 }, edges[PARTS] = { 0 }, trained[PARTS] = { 0 };
    uint64_t classes[CLASSES][PARTS] = { { 0 } }, cut = 0, halo = 0, all_edges = 0;
    for (uint32_t t = 0; t < 2; t++)
        for (uint64_t v = 0; v < sample->num_nodes[t]; v++) {
            /* The first node of each type trains, so the classes of those keep their types'
             * numbers, and the others come in the order of types. */
            nodes[made.parts[t][v]]++;
            trained[made.parts[t][v]] += v % 4 == 0;
            classes[v % 4 == 0 ? t : 2 + t][made.parts[t][v]]++;
        }
    for (uint32_t e = 0; e < 3; e++)
        for (uint64_t i = 0; i < sample->num_edges[e]; i++, all_edges++) {
            uint32_t from = made.parts[sample->types.etypes[e].src][sample->src[e][i]];
            uint32_t to = made.parts[sample->types.etypes[e].dst][sample->dst[e][i]];
            edges[to]++;
            cut += from != to;
        }
    for (uint32_t p = 0; p < PARTS; p++)
        halo += count_halo(&made, p);
    assert_true(cut > 0 && halo > 0 && halo < cut);
    assert_int_equal(report->num_nodes, 120);
    assert_int_equal(report->num_edges, all_edges);
    assert_int_equal(report->cut_edges, cut);
    assert_int_equal(report->halo_nodes, halo);
    assert_true(fabs(report->cut_share - (double)cut / (double)all_edges) < NEAR);
    assert_true(fabs(report->halo_share - (double)halo / (double)(120 + halo)) < NEAR);
    assert_true(fabs(report->node_balance - evenness(nodes)) < NEAR);
    assert_true(fabs(report->edge_balance - evenness(edges)) < NEAR);
    assert_true(fabs(report->train_balance - evenness(trained)) < NEAR);
    assert_int_equal(report->num_classes, CLASSES);
    for (uint32_t c = 0; c < CLASSES; c++)
        assert_true(fabs(report->class_balance[c] - evenness(classes[c])) < NEAR);
    assert_int_equal(report->metis_objective, 0);
    assert_true(report->metis_seconds == 0);
    assert_int_equal(report->metis_peak_bytes, 0);
    assert_null(report->metis_unasked);
    assert_true(report->total_seconds > 0);
    assert_in_range(report->peak_bytes, 1 << 20, UINT64_C(1) << 40);
    free_graph(&made);
}

/* As many nodes beside the partitions as in them. */
static void halves_are_shares(void **state)
{
    struct sample sample;
    struct partition_report report;
    struct error error = { 0 };
    struct files files = quick_files();
    char given[256], out[256];
    sample_init(&sample, false, 2, 2, 1);
    for (uint64_t i = 0; i < 2; i++) {
        sample.src[0][i] = i;
        sample.dst[0][i] = 1 - i;
    }
    struct raw_graph *raw = sample_raw(&sample, at(*state, "raw"));
    put_text(*state, "parts.txt", "0\n1\n");
    snprintf(given, sizeof given, "%s", at(*state, "parts.txt"));
    snprintf(out, sizeof out, "%s", at(*state, "out"));
    const struct partition_options options = {
        .method = PARTITION_FILE, .assignment = given, .num_parts = 2, .files = &files
    };
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, &report, &error), 0);
    assert_int_equal(report.halo_nodes, 2);
    assert_true(report.halo_share == 0.5);
    assert_true(report.cut_share == 1);
    raw_close(raw);
    sample_fini(&sample);
}

/* The path 0 -> 1 -> 2 -> 3, whose last node is a partition: each further hop lists one node. */
static void each_hop_is_reported(void **state)
{
    for (uint32_t hops = 0; hops <= 4; hops++) {
        struct sample sample;
        struct partition_report report;
        struct error error = { 0 };
        struct files files = quick_files();
        char given[256], out[256], name[16];
        sample_init(&sample, false, 4, 3, 1);
        for (uint64_t i = 0; i < 3; i++) {
            sample.src[0][i] = i;
            sample.dst[0][i] = i + 1;
        }
        snprintf(name, sizeof name, "raw%u", hops);
        struct raw_graph *raw = sample_raw(&sample, at(*state, name));
        put_text(*state, "parts.txt", "0\n0\n0\n1\n");
        snprintf(given, sizeof given, "%s", at(*state, "parts.txt"));
        snprintf(name, sizeof name, "out%u", hops);
        snprintf(out, sizeof out, "%s", at(*state, name));
        const struct partition_options options = { .method = PARTITION_FILE,
                                                   .assignment = given,
                                                   .num_parts = 2,
                                                   .halo_hops = hops,
                                                   .files = &files };
        assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, &report, &error), 0);
        /* The first hop is counted whether or not it is listed. */
        assert_int_equal(report.halo_nodes, 1);
        for (uint32_t hop = 0; hop < BOOK_HALO_HOPS_MAX; hop++)
            assert_int_equal(report.hop_halo_nodes[hop], hop < hops && hop < 3);
        assert_int_equal(report.listed_halo_nodes, hops < 3 ? hops : 3);
        assert_int_equal(report.listed_halo_max, hops < 3 ? hops : 3);
        raw_close(raw);
        sample_fini(&sample);
    }
}

static void nothing_is_even(void **state)
{
    struct made made;
    make_graph(&made, *state, false, 0, 0);
    const struct partition_options options = { .num_parts = 2 };
    made.report.node_balance = made.report.cut_share = 7;
    partition_well(&made, &options);
    assert_int_equal(made.report.num_nodes, 0);
    assert_true(made.report.node_balance == 0 && made.report.edge_balance == 0);
    assert_true(made.report.train_balance == 0 && made.report.cut_share == 0);
    assert_true(made.report.halo_share == 0);
    assert_int_equal(made.report.num_classes, 0);
    free_graph(&made);
}

static void expect_table(const struct book_file *file, const struct raw_table *wanted)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < file->num_tables; i++) {
        const struct book_table *table = &file->tables[i];
        if (strcmp(table->name, wanted->name) != 0 || table->on_edges != wanted->on_edges ||
            table->type != wanted->type)
            continue;
        found++;
        assert_int_equal(table->dtype, wanted->dtype);
        assert_int_equal(table->ndim, wanted->ndim);
        assert_memory_equal(table->shape, wanted->shape, wanted->ndim * sizeof *wanted->shape);
    }
    assert_int_equal(found, 1);
}

static void check_book_tables(const struct made *made, const struct book_file *file, bool trainers)
{
    const struct raw_graph *raw = made->raw;
    char name[] = "trainer_id";
    uint32_t ntypes = trainers ? raw->types.num_ntypes : 0;
    assert_int_equal(file->num_tables, raw->num_tables + ntypes);
    for (uint32_t i = 0; i < raw->num_tables; i++)
        expect_table(file, &raw->tables[i]);
    for (uint32_t t = 0; t < ntypes; t++) {
        const struct raw_table ids = { .name = name, .type = t, .dtype = TR_I32 };
        expect_table(file, &ids);
    }
}

static void the_book_says_how_it_was_made(void **state)
{
    struct made made;
    make_graph(&made, *state, true, 60, 90);
    const struct {
        struct partition_options options;
        const char *name, *method, *mask;
    } cases[] = {
        /* Without trainers nodes are dealt to nobody, whatever mask is named. */
        { { .num_parts = 2, .seed = 5, .train_mask = "train_mask" }, "sample", "random", NULL },
        { { .num_parts = PARTS,
            .name = "given",
            .method = PARTITION_FILE,
            .assignment = made.given,
            .trainers = 2,
            .train_mask = "train_mask",
            .drop_edge_ids = true,
            .halo_hops = 2,
            .columns_max = 30 },
          "given",
          "file",
          "train_mask" },
        { { .num_parts = 2, .method = PARTITION_METIS, .trainers = 1 }, "sample", "metis", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct partition_options options = cases[i].options;
        struct book_file file;
        struct error error = { 0 };
        options.replace = i > 0;
        partition_well(&made, &options);
        if (book_file_read(&file, files_posix, made.json, &error) != 0)
            fail_msg("%s", error.text);
        assert_string_equal(file.book.graph_name, cases[i].name);
        assert_string_equal(file.book.part_method, cases[i].method);
        assert_int_equal(file.book.num_parts, options.num_parts);
        assert_int_equal(file.book.halo_hops, options.halo_hops);
        assert_true(file.book.edge_runs);
        assert_int_equal(file.seed, options.seed);
        assert_int_equal(file.num_trainers, options.trainers);
        assert_int_equal(file.original_edge_ids, !options.drop_edge_ids);
        if (cases[i].mask == NULL)
            assert_null(file.train_mask);
        else
            assert_string_equal(file.train_mask, cases[i].mask);
        for (uint32_t p = 0; p < options.num_parts; p++) {
            char folder[16];
            snprintf(folder, sizeof folder, "part%" PRIu32, p);
            assert_string_equal(file.part_folders[p], folder);
        }
        /* 20 authors are fewer than the limit, 40 papers are more. */
        for (uint32_t e = 0; e < file.book.types.num_etypes; e++)
            assert_int_equal(file.column_tables[e],
                             options.columns_max != 0 && file.book.types.etypes[e].src == 1);
        check_book_tables(&made, &file, options.trainers > 0);
        book_file_fini(&file);
    }
    free_graph(&made);
}

/* Columns are global IDs up to the limit, and numbers in a table beyond it. */
static void columns_are_local_above_their_limit(void **state)
{
    enum { NODES = 150 };
    struct made made;
    make_graph(&made, *state, false, NODES, 700);
    for (uint64_t limit = NODES - 1; limit <= NODES + 1; limit++) {
        struct partition_options options = { .num_parts = 3,
                                             .columns_max = limit,
                                             .replace = limit >= NODES };
        const struct partition_load load = { .mode = PARTITION_COPY };
        struct error error = { 0 };
        struct store *store;
        struct graph_part *part;
        partition_well(&made, &options);
        check_directory(&made.sample, made.json, PARTITION_COPY);
        assert_int_equal(store_open(made.json, &store, &error), 0);
        assert_int_equal(store_load(store, 1, &load, &part, &error), 0);
        assert_int_equal(part->edges[0].csc.column_global != NULL, limit < NODES);
        store_unload(store, part);
        store_close(store);
    }
    free_graph(&made);
}

static void add_bytes(struct raw_writer *writer, const char *name, bool on_edges,
                      enum tr_dtype dtype, uint32_t width, uint64_t rows, const uint8_t *values)
{
    const uint64_t shape[] = { width };
    struct error error = { 0 };
    uint32_t table;
    assert_int_equal(
        raw_writer_add_table(writer, name, on_edges, 0, dtype, width > 1, shape, &table, &error),
        0);
    assert_int_equal(raw_writer_rows(writer, table, rows, values, &error), 0);
}

/* Rows of bytes that are 0 or 1 are a set of nodes, whose members have ranks; labels are none, nor
 * are rows of several bytes, other integers, and what edges have. */
static void masks_have_ranks(void **state)
{
    enum { NODES = 10, EDGES = 6 };
    static const uint8_t ones[2 * NODES] = { 0, 1, 1, 0, 0, 1, 0, 0, 1, 1 };
    static const uint8_t small[NODES] = { 0, 1, 2, 0, 1, 1, 0, 0, 1, 1 };
    static const uint64_t src[EDGES] = { 0, 1, 2, 3, 4, 5 }, dst[EDGES] = { 9, 8, 7, 6, 5, 5 };
    static const uint64_t num_nodes[] = { NODES };
    struct scratch *scratch = *state;
    struct graph_types types;
    struct raw_writer *writer;
    struct raw_graph *raw;
    struct error error = { 0 };
    char path[128];
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(
        raw_writer_open(at(scratch, "raw"), NULL, "sample", &types, num_nodes, &writer, &error), 0);
    assert_int_equal(raw_writer_edges(writer, 0, EDGES, src, dst, &error), 0);
    add_bytes(writer, "flags", true, TR_BOOL, 1, EDGES, ones);
    add_bytes(writer, "labels", false, TR_U8, 1, NODES, small);
    add_bytes(writer, "flags", false, TR_BOOL, 1, NODES, ones);
    add_bytes(writer, "pairs", false, TR_U8, 2, NODES, ones);
    add_bytes(writer, "signed", false, TR_I8, 1, NODES, ones);
    add_bytes(writer, "ones", false, TR_U8, 1, NODES, ones);
    assert_int_equal(raw_writer_commit(writer, &error), 0);
    assert_int_equal(raw_open(at(scratch, "raw"), NULL, &raw, &error), 0);
    snprintf(path, sizeof path, "%s/out", scratch->folder);
    for (uint32_t parts = 1; parts < 3; parts++) {
        const struct partition_options options = {
            .num_parts = parts, .seed = 1, .trainers = 2, .train_mask = "ones", .replace = parts > 1
        };
        struct partition_report report;
        struct book_file file;
        char json[160];
        if (partition_graph(raw, &options, path, NULL, NULL, &report, &error) != 0)
            fail_msg("%s", error.text);
        snprintf(json, sizeof json, "%s/sample.json", path);
        assert_int_equal(book_file_read(&file, files_posix, json, &error), 0);
        const struct rank_table *ranks = file.book.ranks;
        assert_int_equal(file.book.num_ranks, 4);
        assert_int_equal(ranks[0].set, RANKS_ALL);
        assert_int_equal(ranks[0].num_ranks, NODES);
        /* In one partition a node's ID is its rank already. */
        assert_int_equal(ranks[0].stored, parts > 1);
        for (int i = 1; i < 3; i++) {
            assert_int_equal(ranks[i].set, RANKS_MASK);
            assert_string_equal(ranks[i].mask, i == 1 ? "flags" : "ones");
            assert_int_equal(ranks[i].num_ranks, 5);
            assert_true(ranks[i].stored);
        }
        assert_int_equal(ranks[3].set, RANKS_DEAL);
        assert_int_equal(ranks[3].num_ranks, 5);
        assert_true(ranks[3].stored);
        assert_true(ranks[3].deal_hash != 0);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(ranks[i].ntype, 0);
        assert_true(report.train_balance >= 1);
        book_file_fini(&file);
    }
    raw_close(raw);
    graph_types_fini(&types);
}

struct steps {
    char *text;
    size_t size;
    FILE *out;
    char last[64];
};

static void note_step(void *arg, const char *stage, const char *unit, uint64_t done, uint64_t total)
{
    struct steps *steps = arg;
    bool same = strcmp(steps->last, stage) == 0;
    fprintf(steps->out, "%s%s %" PRIu64 "/%" PRIu64 "%s%s", same ? "," : "\n", same ? "" : stage,
            done, total, unit[0] != '\0' ? " " : "", unit);
    snprintf(steps->last, sizeof steps->last, "%s", stage);
}

/* 32 of 40 partitions are written at once; all else here is one piece. */
static void steps_lead_from_beginning_to_end(void **state)
{
    static const char wanted[] = "\nassign 0/1"
                                 "\ncount edges 0/700 edges"
                                 "\nindex 0/150, 0/150"
                                 "\nedge runs 0/150, 0/150"
                                 "\nplace edges 0/700 edges"
                                 "\nwrite edges 0/40, 32/40"
                                 "\nweight 0/700"
                                 "\nnodes 0/150, 0/150"
                                 "\nfeat 0/150, 0/150"
                                 "\nnone 0/150, 0/150"
                                 "\nwords 0/300, 150/300, 150/300"
                                 "\nflags 0/300, 150/300, 150/300"
                                 "\ntrain_mask 0/150, 0/150"
                                 "\nranks 0/150, 0/150, 0/150"
                                 "\nhalo 0/40, 32/40"
                                 "\ndeal 0/1"
                                 "\nwriting to disk 0/0";
    struct made made;
    struct steps steps = { 0 };
    struct error error = { 0 };
    make_graph(&made, *state, false, 150, 700);
    const struct partition_options options = { .num_parts = 40, .trainers = 3, .halo_hops = 1 };
    const struct partition_hooks hooks = { .progress = note_step, .arg = &steps };
    steps.out = open_memstream(&steps.text, &steps.size);
    assert_non_null(steps.out);
    if (partition_graph(made.raw, &options, made.out, NULL, &hooks, NULL, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(fclose(steps.out), 0);
    assert_string_equal(steps.text, wanted);
    free(steps.text);
    free_graph(&made);
}

/* Only what partition_check() reads. */
struct claim {
    struct raw_graph raw;
    struct partition_options options;
};

static void claim_types(struct claim *claim, uint32_t ntypes, uint32_t etypes)
{
    char name[32];
    *claim = (struct claim){ .options = { .num_parts = 1 } };
    for (uint32_t t = 0; t < ntypes; t++) {
        snprintf(name, sizeof name, "n%" PRIu32, t);
        assert_int_equal(graph_types_add_ntype(&claim->raw.types, name, NULL), 0);
    }
    for (uint32_t e = 0; e < etypes; e++) {
        snprintf(name, sizeof name, "n0:e%" PRIu32 ":n0", e);
        assert_int_equal(graph_types_add_etype(&claim->raw.types, name, NULL), 0);
    }
}

static void expect_claim(const struct claim *claim, int code, const char *text)
{
    struct error error = { 0 };
    int rv = partition_check(&claim->raw, &claim->options, &error);
    if (rv != code)
        fail_msg("%s instead of %s: %s", tr_error_name(rv), tr_error_name(code), error.text);
    if (code != 0)
        assert_says(&error, code, text);
}

static void numbers_are_bounded(void **state)
{
    struct claim claim;
    (void)state;
    claim_types(&claim, 1, 1);
    claim.options.num_parts = 0;
    expect_claim(&claim, TR_EINVAL, "0 partitions were asked for: 1 to 65536 are possible");
    claim.options.num_parts = BOOK_PARTS_MAX;
    expect_claim(&claim, 0, "");
    claim.options.num_parts = BOOK_PARTS_MAX + 1;
    expect_claim(&claim, TR_EINVAL, "65537 partitions were asked for: 1 to 65536 are possible");
    claim.options = (struct partition_options){ .num_parts = 1, .trainers = BOOK_TRAINERS_MAX };
    expect_claim(&claim, 0, "");
    claim.options.trainers++;
    expect_claim(&claim, TR_EINVAL, "2147483648 trainers were asked for: 1 to 2147483647");
    claim.options = (struct partition_options){ .num_parts = 1, .halo_hops = BOOK_HALO_HOPS_MAX };
    expect_claim(&claim, 0, "");
    claim.options.halo_hops++;
    expect_claim(&claim, TR_EINVAL, "9 halo hops were asked for: 0 to 8 are possible");
    graph_types_fini(&claim.raw.types);
}

/* Ranges of partitions by types, and the bytes of the document that lists them and each array's
 * sum: four arrays of a node type and one for each hop, five of an edge type, one of a table. */
static void the_book_is_bounded(void **state)
{
    struct claim claim;
    struct raw_table tables[3] = { { .name = (char[]){ "a" } },
                                   { .name = (char[]){ "b" } },
                                   { .name = (char[]){ "c" } } };
    (void)state;
    claim_types(&claim, 40, 25);
    claim.options.num_parts = BOOK_PARTS_MAX;
    expect_claim(&claim, TR_ETOOBIG,
                 "65536 partitions of 65 types: 4259840 ranges, at most 4194304");
    graph_types_fini(&claim.raw.types);
    /* At their bound, ranges are few enough; the sums of four arrays of each are then too many. */
    claim_types(&claim, 64, 0);
    claim.options.num_parts = BOOK_PARTS_MAX;
    expect_claim(&claim, TR_ETOOBIG, "65536 partitions of 256 arrays each");
    graph_types_fini(&claim.raw.types);
    /* 20 node types and 264 tables: a partition takes 4096 bytes, and 65536 are all there is. */
    enum { MOST = 264 };
    struct raw_table *many = calloc(MOST + 1, sizeof *many);
    assert_non_null(many);
    for (uint32_t i = 0; i <= MOST; i++)
        many[i] = tables[0];
    claim_types(&claim, 20, 0);
    claim.options.num_parts = BOOK_PARTS_MAX;
    claim.raw.tables = many;
    for (claim.raw.num_tables = MOST; claim.raw.num_tables <= MOST + 1; claim.raw.num_tables++)
        expect_claim(&claim, claim.raw.num_tables == MOST ? 0 : TR_ETOOBIG,
                     "65536 partitions of 345 arrays each");
    graph_types_fini(&claim.raw.types);
    free(many);
    /* 50 node types with 8 hops, 10 edge types and 3 tables: a partition has 60 ranges of 50 bytes
     * and 653 sums of 9. */
    claim_types(&claim, 50, 10);
    claim.raw.num_tables = 3;
    claim.raw.tables = tables;
    claim.options.halo_hops = 8;
    claim.options.num_parts = (uint32_t)(JSON_FILE_BYTES_MAX / 8877);
    expect_claim(&claim, 0, "");
    claim.options.num_parts++;
    expect_claim(&claim, TR_ETOOBIG,
                 "30240 partitions of 653 arrays each: the partition book would have 268440480 "
                 "bytes, at most 268435456 are possible; use fewer partitions");
    graph_types_fini(&claim.raw.types);
}

static void tables_are_checked(void **state)
{
    static const struct {
        const char *name;
        struct raw_table table;
        const char *mask;
        uint32_t trainers;
        int code;
        const char *text;
    } cases[] = {
        { "m", { .width = 1 }, "m", 0, 0, "" },
        { "m", { .width = 1 }, "other", 0, TR_ENOENT, "no table 'other' that names" },
        { "m", { .width = 1, .on_edges = true }, "m", 0, TR_ENOENT, "no table 'm'" },
        { "trainer_id", { .width = 1 }, NULL, 0, 0, "" },
        { "trainer_id", { .width = 1 }, NULL, 1, TR_EEXIST, "a table 'trainer_id'" },
        { "trainer_id", { .width = 1, .on_edges = true }, NULL, 1, 0, "" },
        { "f", { .width = INT32_MAX }, NULL, 0, 0, "" },
        { "f",
          { .width = (uint64_t)INT32_MAX + 1 },
          NULL,
          0,
          TR_ETOOBIG,
          "feature 'f': rows of 2147483648 elements; at most 2147483647 are possible" },
        { "f", { .ndim = 2, .shape = { 0, INT32_MAX } }, NULL, 0, 0, "" },
        { "f",
          { .ndim = 2, .shape = { 0, (uint64_t)INT32_MAX + 1 } },
          NULL,
          0,
          TR_ETOOBIG,
          "rows of 2147483648 elements" },
        /* A number behind its dimensions is no dimension. */
        { "f", { .ndim = 1, .shape = { 3, UINT64_MAX } }, NULL, 0, 0, "" },
    };
    struct claim claim;
    (void)state;
    claim_types(&claim, 1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct raw_table table = cases[i].table;
        char name[16];
        snprintf(name, sizeof name, "%s", cases[i].name);
        table.name = name;
        claim.raw.tables = &table;
        claim.raw.num_tables = 1;
        claim.options.train_mask = cases[i].mask;
        claim.options.trainers = cases[i].trainers;
        expect_claim(&claim, cases[i].code, cases[i].text);
    }
    graph_types_fini(&claim.raw.types);
}

/* As many as the book has place for, beside one of trainers for each node type. */
static void tables_are_counted(void **state)
{
    enum { MOST = BOOK_TABLES_MAX - 2 };
    struct raw_table *tables = calloc(MOST + 1, sizeof *tables);
    struct claim claim;
    char name[] = "x";
    (void)state;
    assert_non_null(tables);
    claim_types(&claim, 2, 1);
    for (uint32_t i = 0; i <= MOST; i++)
        tables[i] = (struct raw_table){ .name = name, .width = 1 };
    claim.raw.tables = tables;
    claim.raw.num_tables = MOST;
    expect_claim(&claim, 0, "");
    claim.raw.num_tables++;
    expect_claim(&claim, TR_ETOOBIG, "65535 features; at most 65534 are possible");
    graph_types_fini(&claim.raw.types);
    free(tables);
}

/* 255 bytes are a name, 256 are none; the message begins with what is too long. */
static void names_of_files_are_bounded(void **state)
{
    char text[300];
    struct claim claim;
    struct raw_table table = { .width = 1 };
    (void)state;
    claim_types(&claim, 1, 1);
    claim.raw.tables = &table;
    claim.raw.num_tables = 1;
    /* node~n0~feature~NAME.npy */
    for (size_t length = 234; length <= 236; length++) {
        memset(text, 'x', sizeof text);
        text[length] = '\0';
        table.name = text;
        expect_claim(
            &claim, length <= 235 ? 0 : TR_ETOOBIG,
            "feature 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxx' would make a file's name of 256 bytes, at most 255 are possible");
    }
    graph_types_fini(&claim.raw.types);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(the_report_is_what_can_be_counted),
        SCRATCH(halves_are_shares),
        SCRATCH(each_hop_is_reported),
        SCRATCH(nothing_is_even),
        SCRATCH(the_book_says_how_it_was_made),
        SCRATCH(columns_are_local_above_their_limit),
        SCRATCH(masks_have_ranks),
        SCRATCH(steps_lead_from_beginning_to_end),
        cmocka_unit_test(numbers_are_bounded),
        cmocka_unit_test(the_book_is_bounded),
        cmocka_unit_test(tables_are_checked),
        cmocka_unit_test(tables_are_counted),
        cmocka_unit_test(names_of_files_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
