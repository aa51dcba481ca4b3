/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory may end at any allocation of reading, copying, importing, partitioning, verifying and
 * loading a graph: each then fails with TR_ENOMEM and says so, gives nothing, and succeeds where
 * the memory is there.
 */
#include "tests/partition/graph_util.h"

#include <jansson.h>
#include <zlib.h>

#include "partition/build/verify.h"
#include "partition/import/debian.h"
#include "partition/import/npz_import.h"
#include "partition/import/ogb_import.h"
#include "partition/store/book_paths.h"
#include "partition/store/npy.h"
#include "partition/store/seed_split.h"
#include "partition/table/table_import.h"
#include "tests/npz_files.h"
#include "tests/short_memory.h"

#define ALLOCATIONS_MAX 100000
#define BOOK_BYTES_MAX ((size_t)1 << 16)

/* The call that is tried; everything that a try leaves is removed before the next one. */
struct attempt {
    struct scratch *scratch;
    const char *name; /* of the input in the scratch folder */
    struct raw_graph *raw;
    enum partition_mode mode;
    bool keep;  /* the partitions */
    bool typed; /* an archive */
    const struct book_file *book;
    char *document; /* the book's, as it has to be written */
};

/* Thousands of folders are written, and none has to outlive a power cut. */
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

typedef int attempted(const struct attempt *attempt, struct error *error);

/* Fails one allocation of `step`, each once; returns how many there are. */
static int fail_each(attempted *try, const struct attempt *attempt, int step)
{
    int rv = TR_ENOMEM, tries = 0;
    for (; rv != 0 && tries < ALLOCATIONS_MAX; tries += step) {
        struct error error = { 0 };
        allocations_left = tries;
        rv = try(attempt, &error);
        bool failed = allocations_left < 0;
        allocations_left = -1;
        if (rv != 0 && !failed)
            fail_msg("%s: %s, though no allocation failed", attempt->name, error.text);
        if (rv != 0 && error.code != 0 && (error.code != rv || error.text[0] == '\0'))
            fail_msg("%s after %d allocations: %s, but says '%s'", attempt->name, tries,
                     tr_error_name(rv), error.text);
        if (rv != 0 && rv != TR_ENOMEM)
            fail_msg("%s after %d allocations: %s", attempt->name, tries, error.text);
        if (rv == 0 && failed)
            rv = 1; /* it did without */
    }
    assert_int_equal(rv, 0);
    return tries;
}

static int open_raw(const struct attempt *attempt, struct error *error)
{
    struct raw_graph *graph = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s/%s", attempt->scratch->folder, attempt->name);
    /* The IDs of b.txt are large for their number. */
    const struct raw_options options = { .num_nodes = UINT64_C(1) << 34,
                                         .duplicates = RAW_DUPLICATES_COUNT };
    bool list = strcmp(attempt->name, "a.txt") == 0 || strcmp(attempt->name, "b.txt") == 0;
    int rv = raw_open(path, list ? &options : NULL, &graph, error);
    assert_int_equal(graph != NULL, rv == 0);
    raw_close(graph);
    return rv;
}

/* Long enough for each list to grow more than once. */
static void put_long(struct scratch *scratch, const char *name, const char *head,
                     const char *(*line)(int i, char *text), int count)
{
    FILE *file = fopen(at(scratch, name), "w");
    char text[64];
    assert_non_null(file);
    fputs(head, file);
    for (int i = 0; i < count; i++)
        fputs(line(i, text), file);
    assert_int_equal(fclose(file), 0);
}

static const char *edge_line(int i, char *text)
{
    snprintf(text, 64, "%d %d\n", i, (i + 1) % 4000);
    return text;
}

static const char *wide_edge_line(int i, char *text)
{
    snprintf(text, 64, "%d %s%d\n", i, i > 10 ? "100000000" : "", i);
    return text;
}

static const char *entry_line(int i, char *text)
{
    snprintf(text, 64, "%d %d 1\n", i + 1, (i + 1) % 4000 + 1);
    return text;
}

static const char *ring_line(int i, char *text)
{
    snprintf(text, 64, "1 2 %d 3 %d 3\n", (i + 3999) % 4000 + 1, (i + 1) % 4000 + 1);
    return text;
}

static const char *row_line(int i, char *text)
{
    snprintf(text, 64, "%d,%d\n", i, i * i);
    return text;
}

static void readers(void **state)
{
    struct scratch *scratch = *state;
    const char *const names[] = { "a.txt",   "b.txt", "a.mtx", "a.graph", "a.gz",
                                  "long.gz", "a.npy", "f",     "c" };
    int64_t pairs[4] = { 0, 1, 1, 2 };
    uint64_t edges[] = { 2, 2 }, rows[] = { 3, 2 }, nodes[] = { 3 }, packed[] = { 10, 1 };
    float feat[6] = { 0 };
    uint8_t bits[10] = { 0 };
    put_long(scratch, "a.txt", "", edge_line, 4000);
    put_long(scratch, "b.txt", "", wide_edge_line, 20);
    put_long(scratch, "a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4000 4000 4000\n",
             entry_line, 4000);
    put_long(scratch, "a.graph", "4000 4000 111\n", ring_line, 4000);
    gzFile file = gzopen(at(scratch, "a.gz"), "wb");
    assert_int_equal(gzwrite(file, "0 1\n1 2\n", 8), 8);
    assert_int_equal(gzclose(file), Z_OK);
    /* Several blocks of the reader, which a thread unpacks. */
    file = gzopen(at(scratch, "long.gz"), "wb1");
    for (int i = 0; i < 300000; i++)
        assert_int_equal(gzprintf(file, "%d 2\n", i) > 0, 1);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(npy_write(files_posix, at(scratch, "a.npy"), "<i8", 2, edges, pairs, NULL), 0);
    assert_int_equal(files_make_folders(files_posix, at(scratch, "f"), NULL), 0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "f/edges.npy"), "<i8", 2, edges, pairs, NULL), 0);
    assert_int_equal(npy_write(files_posix, at(scratch, "f/feat.npy"), "<f4", 2, rows, feat, NULL),
                     0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "f/label.npy"), "<i8", 1, nodes, pairs, NULL), 0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "f/val_masks_all10.npy"), "|u1", 2, packed, bits, NULL),
        0);
    put_text(scratch, "f/meta.json", "{\"num_nodes\": 3}");
    assert_int_equal(files_make_folders(files_posix, at(scratch, "c"), NULL), 0);
    put_text(scratch, "c/a.csv", "0 1\n");
    put_text(scratch, "c/b.csv", "1 2\n");
    put_long(scratch, "c/x.csv", "x,y\n", row_line, 3000);
    put_text(scratch, "c/metadata.json",
             "{\"graph_name\": \"g\", \"node_type\": [\"n\"], \"edge_type\": [\"n:e:n\"],"
             "\"num_nodes_per_chunk\": [[3000]], \"num_edges_per_chunk\": [[1, 1]],"
             "\"edges\": {\"n:e:n\": {\"format\": {\"name\": \"csv\", \"delimiter\": \" \"},"
             "\"data\": [\"a.csv\", \"b.csv\"]}}, \"node_data\": {\"n\": {\"x\": {\"format\":"
             "{\"name\": \"csv\", \"delimiter\": \",\"}, \"data\": [\"x.csv\"]}}}}");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct attempt attempt = { .scratch = scratch, .name = names[i] };
        assert_true(fail_each(open_raw, &attempt, 1) > 5);
    }
}

static int copy_raw(const struct attempt *attempt, struct error *error)
{
    char path[256];
    snprintf(path, sizeof path, "%s/copy", attempt->scratch->folder);
    struct files files = quick_files();
    const struct raw_write_options options = { .files = &files };
    int rv = raw_copy(attempt->raw, path, &options, error), left = allocations_left;
    allocations_left = -1;
    assert_int_equal(files_exists(files_posix, path), rv == 0);
    (void)files_remove_tree(files_posix, path, NULL);
    allocations_left = left;
    return rv;
}

/* malloc'd. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, BOOK_BYTES_MAX);
    assert_non_null(text);
    size_t length = fread(text, 1, BOOK_BYTES_MAX - 1, file);
    assert_true(length > 0 && feof(file));
    fclose(file);
    return text;
}

static int make_parts(const struct attempt *attempt, struct error *error)
{
    struct files files = quick_files();
    const struct partition_options options = {
        .num_parts = 2, .seed = 1, .halo_hops = 2, .trainers = 2, .files = &files
    };
    char path[256];
    snprintf(path, sizeof path, "%s/parts", attempt->scratch->folder);
    int rv = partition_graph(attempt->raw, &options, path, NULL, NULL, NULL, error);
    int left = allocations_left;
    allocations_left = -1;
    assert_int_equal(files_exists(files_posix, path), rv == 0);
    if (!attempt->keep)
        (void)files_remove_tree(files_posix, path, NULL);
    allocations_left = left;
    return rv;
}

static int verify_parts(const struct attempt *attempt, struct error *error)
{
    char path[256];
    snprintf(path, sizeof path, "%s/parts/sample.json", attempt->scratch->folder);
    return verify_directory(path, attempt->raw, NULL, NULL, NULL, error);
}

static int load_part(const struct attempt *attempt, struct error *error)
{
    const struct partition_load load = { .mode = attempt->mode,
                                         .features = true,
                                         .degrees = true,
                                         .edge_rank = true,
                                         .ranks = true,
                                         .original_edge_ids = true };
    char path[256];
    struct store *store = NULL;
    struct graph_part *part = NULL;
    int32_t *trainers = NULL;
    snprintf(path, sizeof path, "%s/parts/sample.json", attempt->scratch->folder);
    int rv = store_open(path, &store, error);
    if (rv != 0)
        return rv;
    rv = store_load(store, 1, &load, &part, error);
    if (rv == 0) {
        store_unload(store, part);
        rv = store_read_deal(store, 0, &trainers, error);
        assert_int_equal(trainers != NULL, rv == 0);
        free(trainers);
    }
    store_close(store);
    return rv;
}

static int read_deal(const struct attempt *attempt, struct error *error)
{
    char path[256];
    struct seed_split deal;
    snprintf(path, sizeof path, "%s/%s", attempt->scratch->folder, attempt->name);
    int rv = seed_split_read(&deal, files_posix, path, 4, 2, NULL, error);
    assert_int_equal(deal.trainers != NULL, rv == 0);
    seed_split_fini(&deal);
    return rv;
}

static void a_deal(void **state)
{
    const struct attempt attempt = { .scratch = *state, .name = "deal.npy" };
    const uint64_t nodes[] = { 4 };
    const int32_t trainers[] = { 0, 1, -1, 1 };
    assert_int_equal(
        npy_write(files_posix, at(*state, "deal.npy"), "<i4", 1, nodes, trainers, NULL), 0);
    assert_true(fail_each(read_deal, &attempt, 1) > 1);
}

static int count_path(void *arg, const char *path)
{
    assert_non_null(path);
    ++*(uint32_t *)arg;
    return 0;
}

static int list_paths(const struct attempt *attempt, struct error *error)
{
    char path[256];
    struct book_file file;
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s/parts/sample.json", attempt->scratch->folder);
    int left = allocations_left;
    allocations_left = -1;
    assert_int_equal(book_file_read(&file, files_posix, path, error), 0);
    allocations_left = left;
    int rv = book_paths(&file, path, NULL, count_path, &count);
    /* The document, the deals of two node types, and two folders. */
    if (rv == 0)
        assert_int_equal(count, 5);
    left = allocations_left;
    allocations_left = -1;
    book_file_fini(&file);
    allocations_left = left;
    return rv;
}

/* What is written although an allocation failed has left nothing out. */
static int write_book(const struct attempt *attempt, struct error *error)
{
    char path[256];
    snprintf(path, sizeof path, "%s/parts/sample.json", attempt->scratch->folder);
    struct files files = quick_files();
    int rv = book_file_write(attempt->book, &files, path, error), left = allocations_left;
    allocations_left = -1;
    char *text = read_text(path);
    assert_string_equal(text, attempt->document);
    free(text);
    allocations_left = left;
    return rv;
}

/* jansson's allocations fail among the others while a document is written. Where they fail while
 * one is read, it speaks of the text instead. */
static void documents(struct attempt *attempt)
{
    struct book_file file;
    const char *path = at(attempt->scratch, "parts/sample.json");
    attempt->document = read_text(path);
    assert_int_equal(book_file_read(&file, files_posix, path, NULL), 0);
    attempt->book = &file;
    json_set_alloc_funcs(malloc, free);
    assert_true(fail_each(write_book, attempt, 1) > 100);
    json_set_alloc_funcs(__real_malloc, free);
    book_file_fini(&file);
    attempt->book = NULL;
    free(attempt->document);
}

static void partitions(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    char path[256];
    snprintf(path, sizeof path, "%s/raw", scratch->folder);
    sample_init(&sample, true, 24, 60, 7);
    struct attempt attempt = { .scratch = scratch,
                               .name = "sample",
                               .raw = sample_raw(&sample, path) };
    assert_true(fail_each(copy_raw, &attempt, 3) > 20);
    assert_true(fail_each(make_parts, &attempt, 3) > 50);
    attempt.keep = true;
    assert_int_equal(make_parts(&attempt, NULL), 0);
    documents(&attempt);
    for (attempt.mode = PARTITION_COPY; attempt.mode <= PARTITION_MAP; attempt.mode++)
        assert_true(fail_each(load_part, &attempt, 1) > 10);
    assert_true(fail_each(verify_parts, &attempt, 1) > 20);
    assert_true(fail_each(list_paths, &attempt, 1) > 5);
    raw_close(attempt.raw);
    sample_fini(&sample);
}

static int import_debian(const struct attempt *attempt, struct error *error)
{
    static const char archive[] = "Package: a\nSection: libs\nDepends: b | c, d\nTag: x::y\n\n"
                                  "Package: b\nProvides: c, e (= 1)\nSection: mail\n\n"
                                  "Package: d\nRecommends: e\nSection: libs\n"
                                  "Tag: role::z, x::y\nBuild-Depends: a, e\n";
    char path[256];
    struct debian_facts facts;
    snprintf(path, sizeof path, "%s/d", attempt->scratch->folder);
    struct files files = quick_files();
    const struct raw_write_options options = { .files = &files };
    FILE *input = fmemopen((void *)(uintptr_t)archive, sizeof archive - 1, "r");
    FILE *again = fmemopen((void *)(uintptr_t)archive, sizeof archive - 1, "r");
    assert_true(input != NULL && again != NULL);
    struct debian_input all = { .packages = input, .name = "the archive", .typed = attempt->typed };
    /* The same text is the index of sources too. */
    if (attempt->typed)
        all.sources = again;
    all.sources_name = "the sources";
    int rv = debian_import(&all, path, &options, &facts, error);
    int left = allocations_left;
    allocations_left = -1;
    fclose(input);
    fclose(again);
    assert_int_equal(files_exists(files_posix, path), rv == 0);
    (void)files_remove_tree(files_posix, path, NULL);
    allocations_left = left;
    return rv;
}

static int import_npz(const struct attempt *attempt, struct error *error)
{
    static const struct npz_import_options options = { .undirected = true,
                                                       .duplicates = RAW_DUPLICATES_COUNT };
    char from[256], path[256];
    struct npz_facts facts;
    snprintf(from, sizeof from, "%s/a.npz", attempt->scratch->folder);
    snprintf(path, sizeof path, "%s/n", attempt->scratch->folder);
    struct files files = quick_files();
    const struct raw_write_options write = { .files = &files };
    int rv = npz_import(from, &options, path, &write, &facts, error);
    int left = allocations_left;
    allocations_left = -1;
    if (rv == 0)
        npz_facts_fini(&facts);
    assert_int_equal(files_exists(files_posix, path), rv == 0);
    (void)files_remove_tree(files_posix, path, NULL);
    allocations_left = left;
    return rv;
}

static void arrays(void **state)
{
    static const int32_t indptr[] = { 0, 1, 2 }, indices[] = { 1, 0 };
    static const int64_t shape[] = { 2, 2 };
    static const float data[] = { 1, 2 }, turned[] = { 1, 2, 3, 4 };
    static const uint8_t mask[] = { 1, 0 };
    const struct attempt attempt = { .scratch = *state, .name = "the arrays" };
    struct archive *npz = npz_begin(at(*state, "a.npz"));
    npz_add(npz, "adj_data", "<f4", "False", "(2,)", data, sizeof data);
    npz_add(npz, "adj_indices", "<i4", "False", "(2,)", indices, sizeof indices);
    npz_add(npz, "adj_indptr", "<i4", "False", "(3,)", indptr, sizeof indptr);
    npz_add(npz, "adj_shape", "<i8", "False", "(2,)", shape, sizeof shape);
    npz_add(npz, "features", "<f4", "True", "(2, 2)", turned, sizeof turned);
    npz_add(npz, "labels", "<i8", "False", "(2,)", shape, sizeof shape);
    npz_add(npz, "train_mask", "|b1", "False", "(2,)", mask, sizeof mask);
    npz_add(npz, "other", "|b1", "False", "(2,)", mask, sizeof mask);
    npz_end(npz);
    assert_true(fail_each(import_npz, &attempt, 1) > 50);
}

static int import_ogb(const struct attempt *attempt, struct error *error)
{
    const struct ogb_import_options options = { .undirected = attempt->keep };
    char from[256], path[256];
    struct ogb_facts facts;
    snprintf(from, sizeof from, "%s/%s", attempt->scratch->folder, attempt->name);
    snprintf(path, sizeof path, "%s/o", attempt->scratch->folder);
    struct files files = quick_files();
    const struct raw_write_options write = { .files = &files };
    int rv = ogb_import(from, &options, path, &write, &facts, error), left = allocations_left;
    allocations_left = -1;
    if (rv == 0)
        ogb_facts_fini(&facts);
    assert_int_equal(files_exists(files_posix, path), rv == 0);
    (void)files_remove_tree(files_posix, path, NULL);
    allocations_left = left;
    return rv;
}

static void put_ogb(struct scratch *scratch, const char *const *files, size_t count)
{
    char folder[256];
    for (size_t i = 0; i < count; i += 2) {
        snprintf(folder, sizeof folder, "%s", at(scratch, files[i]));
        *strrchr(folder, '/') = '\0';
        assert_int_equal(files_make_folders(files_posix, folder, NULL), 0);
        put_text(scratch, files[i], files[i + 1]);
    }
}

/* Folders of the Open Graph Benchmark: of one type, with a self-loop and a split that is a pickle;
 * of several types; of arrays. */
static void benchmark_folders(void **state)
{
    static const char *const one[] = {
        "one/raw/edge.csv",
        "0,1\n1,1\n1,2\n",
        "one/raw/num-node-list.csv",
        "3\n",
        "one/raw/num-edge-list.csv",
        "3\n",
        "one/raw/node-feat.csv",
        "1,2\n3,4\n5,6\n",
        "one/raw/node-label.csv",
        "0\n1\n1\n",
        "one/raw/edge_weight.csv",
        "1\n2\n3\n",
        "one/split/time/a_dict.pt",
        "",
        "one/split/time/split_dict.pt",
        "",
        "one/mapping/README.md",
        "",
    };
    static const char *const several[] = {
        "several/raw/num-node-dict.csv",
        "a,b\n2,2\n",
        "several/raw/triplet-type-list.csv",
        "a,to,b\n",
        "several/raw/relations/a___to___b/edge.csv",
        "0,1\n1,0\n",
        "several/raw/relations/a___to___b/num-edge-list.csv",
        "2\n",
        "several/raw/relations/a___to___b/edge_kind.csv",
        "2\n3\n",
        "several/raw/node-feat/a/node_year.csv",
        "2000\n2001\n",
        "several/raw/node-label/a/node-label.csv",
        "0\n1\n",
        "several/split/time/a/train.csv",
        "0\n",
    };
    static const int64_t edges[2][2] = { { 0, 1 }, { 1, 0 } }, two[] = { 2 };
    struct attempt attempt = { .scratch = *state, .name = "one", .keep = true };
    put_ogb(*state, one, sizeof one / sizeof *one);
    put_ogb(*state, several, sizeof several / sizeof *several);
    assert_true(fail_each(import_ogb, &attempt, 1) > 50);
    attempt.keep = false;
    attempt.name = "several";
    assert_true(fail_each(import_ogb, &attempt, 1) > 50);
    assert_int_equal(files_make_folders(files_posix, at(*state, "arrays/raw"), NULL), 0);
    struct archive *npz = npz_begin(at(*state, "arrays/raw/data.npz"));
    npz_add(npz, "edge_index", "<i8", "False", "(2, 2)", edges, sizeof edges);
    npz_add(npz, "num_nodes_list", "<i8", "False", "(1,)", two, sizeof two);
    npz_add(npz, "num_edges_list", "<i8", "False", "(1,)", two, sizeof two);
    npz_add(npz, "node_year", "<i8", "False", "(2, 1)", edges, sizeof *edges);
    npz_end(npz);
    attempt.name = "arrays";
    assert_true(fail_each(import_ogb, &attempt, 1) > 50);
}

static void an_archive(void **state)
{
    struct attempt attempt = { .scratch = *state, .name = "the archive" };
    assert_true(fail_each(import_debian, &attempt, 1) > 20);
    attempt.typed = true;
    assert_true(fail_each(import_debian, &attempt, 1) > 30);
}

static int import_tables_with(const struct attempt *attempt, const char *features_name,
                              struct error *error)
{
    char path[256], edges[256], nodes[256], features[256];
    struct table_found found;
    snprintf(path, sizeof path, "%s/t", attempt->scratch->folder);
    snprintf(edges, sizeof edges, "%s/%s", attempt->scratch->folder, attempt->name);
    snprintf(nodes, sizeof nodes, "%s/nodes.csv", attempt->scratch->folder);
    snprintf(features, sizeof features, "%s/%s", attempt->scratch->folder,
             features_name != NULL ? features_name : "");
    struct files files = quick_files();
    const struct raw_write_options write = { .files = &files };
    const struct table_options options = { .edges = edges,
                                           .nodes = nodes,
                                           .edge_names = { .weight = "w", .time = "t" },
                                           .node_names = { .features = "x,c,k" },
                                           .node_features = features_name != NULL ? features : NULL,
                                           .rows = RAW_ROWS_SPARSE,
                                           .missing = TABLE_MISSING_MEAN,
                                           .duplicates = RAW_DUPLICATES_MERGE };
    int rv = table_import(&options, path, &write, &found, error), left = allocations_left;
    allocations_left = -1;
    assert_int_equal(files_exists(files_posix, path), rv == 0);
    if (rv == 0)
        table_found_fini(&found);
    (void)files_remove_tree(files_posix, path, NULL);
    allocations_left = left;
    return rv;
}

static int import_tables(const struct attempt *attempt, struct error *error)
{
    return import_tables_with(attempt, NULL, error);
}

static int import_texts(const struct attempt *attempt, struct error *error)
{
    return import_tables_with(attempt, "f.svm", error);
}

static int import_archive(const struct attempt *attempt, struct error *error)
{
    return import_tables_with(attempt, "f.npz", error);
}

/* Features in a file of their own, whose labels count. */
static void features_of_files(void **state)
{
    static const int64_t indptr[] = { 0, 2, 3 }, indices[] = { 2, 0, 1 }, shape[] = { 2, 3 };
    static const float data[] = { 1, 2, 3 };
    const struct attempt attempt = { .scratch = *state, .name = "edges.csv" };
    put_text(*state, "edges.csv", "src,dst,w,t\na,b,1,2\n");
    put_text(*state, "nodes.csv", "id\na\nb\n");
    put_text(*state, "f.svm", "3 2:1 1:2\n5 3:1\n");
    assert_true(fail_each(import_texts, &attempt, 1) > 40);
    struct archive *npz = npz_begin(at(*state, "f.npz"));
    npz_add(npz, "indptr", "<i8", "False", "(3,)", indptr, sizeof indptr);
    npz_add(npz, "indices", "<i8", "False", "(3,)", indices, sizeof indices);
    npz_add(npz, "shape", "<i8", "False", "(2,)", shape, sizeof shape);
    npz_add(npz, "data", "<f4", "False", "(3,)", data, sizeof data);
    npz_add(npz, "format", "<U3", "False", "()", "c\0\0\0s\0\0\0r\0\0", 12);
    npz_end(npz);
    assert_true(fail_each(import_archive, &attempt, 1) > 40);
}

static void tables(void **state)
{
    struct attempt attempt = { .scratch = *state, .name = "edges.csv" };
    put_text(*state, "edges.jsonl", "{\"src\":\"a\",\"dst\":\"b\",\"w\":1,\"t\":7}\n");
    put_text(*state, "edges.csv", "src,dst,w,t\na,b,1,2\nb,c,2,3\na,b,2,2\n\"e\"\"\",a,1,1\n");
    char nodes[4096];
    int end = sprintf(nodes, "id,x,c,k,label,split\na,1,u,v0,cat,train\nb,,w,v1,dog,val\n"
                             "c,300,u,v2,cat,test\n\"e\"\"\",4,u,v3,-1,\n");
    for (int i = 4; i < 70; i++)
        end += sprintf(nodes + end, "n%d,%d,u,v%d,cat,train\n", i, i, i);
    put_text(*state, "nodes.csv", nodes);
    assert_true(fail_each(import_tables, &attempt, 1) > 40);
    attempt.name = "edges.jsonl";
    assert_true(fail_each(import_tables, &attempt, 1) > 40);
    /* Names are read with the graph, and copied to its partitions. */
    struct table_found found;
    char edges[256], nodes_path[256], path[256];
    put_text(*state, "sample.csv", "src,dst\na,b\nb,c\nc,a\n");
    strcpy(edges, at(*state, "sample.csv"));
    strcpy(nodes_path, at(*state, "nodes.csv"));
    strcpy(path, at(*state, "named"));
    const struct table_options options = { .edges = edges,
                                           .nodes = nodes_path,
                                           .missing = TABLE_MISSING_ZERO };
    assert_int_equal(table_import(&options, path, NULL, &found, NULL), 0);
    table_found_fini(&found);
    attempt.name = "named";
    assert_true(fail_each(open_raw, &attempt, 1) > 20);
    assert_int_equal(raw_open(path, NULL, &attempt.raw, NULL), 0);
    assert_true(fail_each(make_parts, &attempt, 3) > 50);
    raw_close(attempt.raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(readers, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(partitions, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_deal, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(arrays, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(benchmark_folders, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(an_archive, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(tables, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(features_of_files, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
