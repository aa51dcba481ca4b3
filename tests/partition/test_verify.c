/* SPDX-License-Identifier: Apache-2.0 */
/* Verification passes what partitioning wrote, and finds a changed byte in every file of it. */
#include <inttypes.h>
#include <unistd.h>

#include "tests/partition/graph_util.h"

#include "partition/build/verify.h"
#include "partition/store/book_json.h"
#include "partition/store/inspect.h"
#include "partition/store/npy.h"

struct made {
    struct sample sample;
    struct raw_graph *raw;
    char out[128];
    char json[160];
};

static void make(struct made *made, struct scratch *scratch, bool hetero,
                 struct partition_options options)
{
    static int round;
    char raw_path[160];
    struct error error = { 0 };
    snprintf(raw_path, sizeof raw_path, "%s/raw%d", scratch->folder, round);
    snprintf(made->out, sizeof made->out, "%s/out%d", scratch->folder, round++);
    snprintf(made->json, sizeof made->json, "%s/sample.json", made->out);
    sample_init(&made->sample, hetero, 90, 300, 4);
    made->raw = sample_raw(&made->sample, raw_path);
    if (partition_graph(made->raw, &options, made->out, NULL, NULL, NULL, &error) != 0)
        fail_msg("%s", error.text);
}

static void unmake(struct made *made)
{
    raw_close(made->raw);
    sample_fini(&made->sample);
}

static void what_was_written_passes(void **state)
{
    for (uint32_t parts = 1; parts < 6; parts += 2) {
        struct made made;
        struct error error = { 0 };
        struct verify_report report;
        struct partition_options options = { .method = PARTITION_RANDOM,
                                             .num_parts = parts,
                                             .halo_hops = 3,
                                             .trainers = parts - 1,
                                             .drop_edge_ids = parts == 3,
                                             .out_edges = parts < 5,
                                             .columns_max = parts == 5 ? 20 : 0 };
        make(&made, *state, parts != 3, options);
        if (verify_directory(made.json, made.raw, NULL, NULL, &report, &error) != 0)
            fail_msg("%s", error.text);
        assert_int_equal(report.num_nodes, 90);
        assert_true(report.num_edges >= 300);
        unmake(&made);
    }
}

/* More partitions than are written at once, and all that is counted on the way. */
static void many_partitions_pass_and_are_counted(void **state)
{
    struct made made;
    struct error error = { 0 };
    struct verify_report report;
    struct store *store;
    uint64_t rows = 0, edges = 0, halos = 0;
    const struct partition_options options = { .method = PARTITION_RANDOM,
                                               .num_parts = 40,
                                               .halo_hops = 2,
                                               .trainers = 7,
                                               .out_edges = true };
    make(&made, *state, true, options);
    if (verify_directory(made.json, made.raw, NULL, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < made.raw->num_tables; i++)
        if (made.raw->tables[i].row_bytes > 0)
            rows += made.raw->tables[i].num_rows;
    for (uint32_t e = 0; e < 3; e++)
        edges += made.sample.num_edges[e];
    assert_int_equal(store_open(made.json, &store, &error), 0);
    for (uint32_t p = 0; p < 40; p++)
        for (uint32_t t = 0; t < 2; t++)
            for (uint32_t hop = 1; hop <= 2; hop++) {
                uint64_t *ids, count;
                assert_int_equal(store_read_halo(store, p, t, hop, &ids, &count, &error), 0);
                halos += count;
                free(ids);
            }
    store_close(store);
    assert_int_equal(report.num_nodes, 90);
    assert_int_equal(report.num_edges, edges);
    assert_int_equal(report.num_rows, rows);
    assert_int_equal(report.num_halos, halos);
    assert_true(halos > 40);
    assert_true(report.seconds > 0);
    unmake(&made);
}

/* A directory as older versions wrote it: nothing but the comparison notices what differs. */
static void drop_checksums(const struct made *made)
{
    struct book_file file;
    struct error error = { 0 };
    assert_int_equal(book_file_read(&file, files_posix, made->json, &error), 0);
    checksums_fini(&file.checksums);
    assert_int_equal(remove(made->json), 0);
    if (book_file_write(&file, files_posix, made->json, &error) != 0)
        fail_msg("%s", error.text);
    book_file_fini(&file);
}

/* An element of a file of the second of two partitions is another than the input says: the message
 * names the file, the element, what stands there and what should. */
static void what_differs_is_named_with_both_values(void **state)
{
    static const struct {
        const char *file, *what;
        uint32_t bytes;   /* of an element */
        uint32_t each;    /* elements in a row of the file */
        uint64_t element; /* from the first one */
        int64_t change;
        uint64_t step; /* what the message counts by: elements of so many */
    } lies[] = {
        { "node~_N~in_degrees", "element", 4, 1, 3, 5, 1 },
        { "node~_N~out_degrees", "element", 4, 1, 4, 1, 1 },
        { "edge~_N:_E:_N~indices", "the source of edge", 4, 1, 6, 1, 1 },
        { "edge~_N:_E:_N~original_ids", "element", 8, 1, 7, 100, 1 },
        { "edge~_N:_E:_N~edge_rank", "element", 8, 1, 2, 3, 1 },
        { "edge~_N:_E:_N~edge_runs", "element", 8, 2, 5, 1, 1 },
        { "edge~_N:_E:_N~out_destinations", "element", 4, 1, 3, 1, 1 },
        { "edge~_N:_E:_N~out_edge_ids", "element", 8, 1, 6, 1, 1 },
        { "node~_N~halo1", "element", 8, 1, 1, 1, 1 },
        { "node~_N~ranks", "element", 8, 1, 0, 1, 1 },
        { "node~_N~ranks~train_mask", "element", 8, 1, 2, 1, 1 },
        { "node~_N~feature~feat", "a byte of row", 1, 12, 31, 1, 12 },
        { "edge~_N:_E:_N~feature~weight", "a byte of row", 1, 8, 41, 1, 8 },
    };
    struct made made;
    const struct partition_options options = {
        .method = PARTITION_RANDOM, .num_parts = 2, .halo_hops = 1, .out_edges = true
    };
    make(&made, *state, false, options);
    drop_checksums(&made);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct error error = { 0 };
        struct npy npy;
        char path[256], text[400];
        uint64_t value = 0, wrong;
        snprintf(path, sizeof path, "%s/part1/%s.npy", made.out, lies[i].file);
        if (npy_open(&npy, files_posix, path, &error) != 0)
            fail_msg("%s", error.text);
        assert_true(npy.num_rows * lies[i].each > lies[i].element);
        long at = -(long)((npy.num_rows * lies[i].each - lies[i].element) * lies[i].bytes);
        npy_close(&npy);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        assert_int_equal(fread(&value, lies[i].bytes, 1, file), 1);
        /* Bytes and columns stay within their range. */
        wrong = value + (uint64_t)lies[i].change;
        if (lies[i].bytes == 1 || strstr(lies[i].what, "source") != NULL)
            wrong = value ^ 1;
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        assert_int_equal(fwrite(&wrong, lies[i].bytes, 1, file), 1);
        assert_int_equal(fflush(file), 0);
        int rv = verify_directory(made.json, made.raw, NULL, NULL, NULL, &error);
        snprintf(text, sizeof text,
                 "%s: %s %" PRIu64 " is %" PRIu64 ", the input says %" PRIu64 "; partition again",
                 path, lies[i].what, lies[i].element / lies[i].step, wrong, value);
        assert_string_equal(error.text, text);
        assert_int_equal(rv, TR_EMISMATCH);
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        assert_int_equal(fwrite(&value, lies[i].bytes, 1, file), 1);
        assert_int_equal(fclose(file), 0);
    }
    unmake(&made);
}

/* The book's types and tables are held against the input, each by what it is. */
static void another_schema_is_told_apart(void **state)
{
    enum { NAME, ON_EDGES, TYPE, DTYPE, NDIM, SHAPE, MISSING, NODES, EDGES, ENDS, WAYS };
    static const char *const texts[WAYS] = {
        "table 'other' is not as in the input; was it made of another graph?",
        "table 'feat' is not",
        "table 'feat' is not",
        "table 'feat' is not",
        "table 'feat' is not",
        "table 'feat' is not",
        "the number of tables of 'sample' is not",
        "the number of nodes of 'paper' is not",
        "the number of edges of 'cites' is not",
        "edge type 'cites' is not",
    };
    struct made made;
    const struct partition_options options = { .method = PARTITION_RANDOM,
                                               .num_parts = 2,
                                               .trainers = 2 };
    make(&made, *state, true, options);
    for (int way = 0; way < WAYS; way++) {
        struct raw_graph *raw = made.raw;
        struct raw_table *table = &raw->tables[0], kept = *table;
        struct graph_etype *etype = &raw->types.etypes[1], kept_etype = *etype;
        struct error error = { 0 };
        char other[] = "other";
        uint64_t *count = way == NODES ? &raw->num_nodes[1] : &raw->num_edges[1], was = *count;
        assert_string_equal(table->name, "feat");
        table->name = way == NAME ? other : table->name;
        table->on_edges = way == ON_EDGES || table->on_edges;
        table->type += way == TYPE ? 2 : 0; /* no type has a table twice */
        table->dtype = way == DTYPE ? TR_I32 : table->dtype;
        table->ndim += way == NDIM;
        table->shape[0] += way == SHAPE;
        raw->num_tables -= way == MISSING;
        *count += way == NODES || way == EDGES;
        etype->src = way == ENDS ? 0 : etype->src;
        assert_int_equal(verify_directory(made.json, raw, NULL, NULL, NULL, &error), TR_EMISMATCH);
        assert_says(&error, TR_EMISMATCH, texts[way]);
        *table = kept;
        *etype = kept_etype;
        *count = was;
        raw->num_tables += way == MISSING;
    }
    unmake(&made);
}

/* Flips one bit at an offset from the end, or from the start if negative; gives what was there
 * back. */
static bool flip(const char *path, long from_end)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    bool possible = size - from_end >= 256; /* behind the head of a .npy */
    if (possible) {
        assert_int_equal(fseek(file, size - from_end, SEEK_SET), 0);
        int byte = fgetc(file);
        assert_int_equal(fseek(file, size - from_end, SEEK_SET), 0);
        fputc(byte ^ 1, file);
    }
    assert_int_equal(fclose(file), 0);
    return possible;
}

struct flipping {
    struct made *made;
    const char *folder;
    int files, found;
};

static int flip_and_verify(void *arg, const char *name)
{
    struct flipping *flipping = arg;
    static const long places[] = { 1, 8, 24 };
    char path[400];
    snprintf(path, sizeof path, "%s/%s", flipping->folder, name);
    /* Which trainer of its partition a node has is the partitioner's choice, as its partition
     * is. */
    if (strstr(name, ".npy") == NULL || strstr(name, "trainer_id") != NULL)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        struct error error = { 0 };
        if (!flip(path, places[i]))
            continue;
        flipping->files++;
        int rv = verify_directory(flipping->made->json, flipping->made->raw, NULL, NULL, NULL,
                                  &error);
        if (rv == 0)
            fail_msg("%s: byte %ld from the end was changed, nobody noticed", path, places[i]);
        assert_true(rv == TR_EMISMATCH || rv == TR_EFORMAT);
        assert_non_null(strstr(error.text, ".npy"));
        flip(path, places[i]);
    }
    return 0;
}

static void a_changed_byte_is_found_in_every_file(void **state)
{
    struct made made;
    struct error error = { 0 };
    struct partition_options options = {
        .method = PARTITION_RANDOM, .num_parts = 2, .halo_hops = 2, .trainers = 2, .columns_max = 40
    };
    make(&made, *state, true, options);
    struct flipping flipping = { .made = &made };
    char folder[160];
    for (int i = 0; i < 3; i++) {
        snprintf(folder, sizeof folder, i == 2 ? "%s" : "%s/part%d", made.out, i);
        flipping.folder = folder;
        assert_int_equal(files_posix->list(files_posix, folder, flip_and_verify, &flipping), 0);
    }
    assert_true(flipping.files > 100);
    if (verify_directory(made.json, made.raw, NULL, NULL, NULL, &error) != 0)
        fail_msg("%s", error.text);
    unmake(&made);
}

struct watch {
    uint64_t sums_seen; /* steps */
};

/* In the middle of the checksums. */
static bool seen_enough(void *arg)
{
    return ((const struct watch *)arg)->sums_seen == 2;
}

static void watch_sums(void *arg, const char *stage, const char *unit, uint64_t done,
                       uint64_t total)
{
    (void)unit;
    struct watch *watch = arg;
    if (strcmp(stage, "checksums") != 0)
        return;
    assert_int_equal(total, 3);
    assert_int_equal(done, watch->sums_seen++);
}

static void comparing_checksums_is_seen_and_ends_when_cancelled(void **state)
{
    struct made made;
    struct error error = { 0 };
    struct watch watch = { .sums_seen = 0 };
    const struct cancel cancel = { .asked = seen_enough, .arg = &watch };
    struct partition_hooks hooks = { .progress = watch_sums, .arg = &watch, .cancel = &cancel };
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 3 };
    make(&made, *state, true, options);
    assert_int_equal(verify_directory(made.json, made.raw, NULL, &hooks, NULL, &error),
                     TR_ECANCELED);
    assert_string_equal(error.text, "verifying was cancelled");
    assert_int_equal(watch.sums_seen, 2);
    unmake(&made);
}

static void another_graph_is_told_apart(void **state)
{
    struct made made, other;
    struct error error;
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 2 };
    make(&made, *state, false, options);
    make(&other, *state, true, options);
    assert_int_equal(verify_directory(made.json, other.raw, NULL, NULL, NULL, &error),
                     TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH, "another graph");
    unmake(&made);
    unmake(&other);
}

/* The last edge of the input ends elsewhere than when it was partitioned: that row is named with
 * the edges that it has and those that the input has for it. */
static void a_row_short_of_an_edge_is_named_with_both_counts(void **state)
{
    struct scratch *scratch = *state;
    struct made made;
    struct error error;
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 1 };
    char message[128];
    make(&made, scratch, false, options);
    uint64_t last = made.sample.num_edges[0] - 1, row = (made.sample.dst[0][last] + 1) % 90,
             held = 0;
    for (uint64_t e = 0; e < last; e++)
        held += made.sample.dst[0][e] == row;
    made.sample.dst[0][last] = row;
    struct raw_graph *raw = sample_raw(&made.sample, at(scratch, "moved"));
    snprintf(message, sizeof message,
             "the number of in-edges of row %" PRIu64 " is %" PRIu64 ", the input says %" PRIu64,
             row, held, held + 1);
    assert_int_equal(verify_directory(made.json, raw, NULL, NULL, NULL, &error), TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH, message);
    raw_close(raw);
    unmake(&made);
}

static void cut_off_and_missing_files_are_told(void **state)
{
    struct made made;
    struct error error;
    struct store *store;
    struct graph_part *part;
    struct partition_load load = { 0 };
    char path[300];
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 2 };
    make(&made, *state, false, options);
    assert_int_equal(store_open(made.json, &store, &error), 0);
    snprintf(path, sizeof path, "%s/part0/edge~_N:_E:_N~indices.npy", made.out);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 300), 0);
    fclose(file);
    assert_int_equal(store_load(store, 0, &load, &part, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "indices.npy");
    assert_int_equal(store_load(store, 1, &load, &part, &error), 0);
    store_unload(store, part);
    assert_int_equal(remove(path), 0);
    assert_int_equal(store_load(store, 0, &load, &part, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "indices.npy");
    assert_int_equal(store_load(store, 2, &load, &part, &error), TR_ERANGE);
    store_close(store);
    unmake(&made);
}

/* Also where no checksum is compared, what an index says is looked at. */
static void an_index_that_lies_is_named(void **state)
{
    static const struct {
        long from_end; /* elements, the last is 1; 0: the first */
        int64_t change;
        const char *rule;
    } lies[] = {
        { 0, 1, "element 0 is 1, but an index begins with 0" },
        { 2, 100000, "an index never decreases" },
        { 1, 1, "an index ends with the number of edges" },
    };
    struct made made;
    struct error error = { 0 };
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 1 };
    const struct partition_load load = { .check = PARTITION_CHECK_NONE };
    char path[200];
    make(&made, *state, false, options);
    snprintf(path, sizeof path, "%s/part0/edge~_N:_E:_N~index.npy", made.out);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct store *store;
        struct graph_part *part = NULL;
        int64_t value, wrong;
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        /* An index of 90 rows ends with the file. */
        long at = -8 * (lies[i].from_end != 0 ? lies[i].from_end : 91);
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        assert_int_equal(fread(&value, sizeof value, 1, file), 1);
        wrong = value + lies[i].change;
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        assert_int_equal(fwrite(&wrong, sizeof wrong, 1, file), 1);
        assert_int_equal(fflush(file), 0);
        assert_int_equal(store_open(made.json, &store, &error), 0);
        assert_int_equal(store_load(store, 0, &load, &part, &error), TR_EFORMAT);
        if (strstr(error.text, lies[i].rule) == NULL || strstr(error.text, path) == NULL)
            fail_msg("%s", error.text);
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(store_load(store, 0, &load, &part, &error), 0);
        store_unload(store, part);
        store_close(store);
    }
    unmake(&made);
}

static int count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    int lines = 0, c;
    assert_non_null(file);
    while ((c = fgetc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* Linux gives a process 65530 mappings; a graph of thousands of partitions has more files. */
static void many_small_files_are_not_mapped(void **state)
{
    enum { PARTS = 300 };
    struct made made;
    struct error error;
    struct store *store;
    struct graph_part *parts[PARTS];
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = PARTS };
    struct partition_load load = { .mode = PARTITION_MAP, .features = true, .degrees = true };
    make(&made, *state, false, options);
    assert_int_equal(store_open(made.json, &store, &error), 0);
    int before = count_mappings();
    for (uint32_t p = 0; p < PARTS; p++)
        assert_int_equal(store_load(store, p, &load, &parts[p], &error), 0);
    assert_true(count_mappings() - before < PARTS);
    for (uint32_t p = 0; p < PARTS; p++)
        store_unload(store, parts[p]);
    store_close(store);
    unmake(&made);
}

static void facts_add_up(void **state)
{
    struct made made;
    struct error error;
    struct store *store;
    struct partition_options options = { .method = PARTITION_RANDOM,
                                         .num_parts = 3,
                                         .halo_hops = 1 };
    make(&made, *state, true, options);
    assert_int_equal(store_open(made.json, &store, &error), 0);
    uint64_t num_nodes = 0;
    for (uint32_t p = 0; p < 3; p++) {
        struct inspect_part facts;
        assert_int_equal(inspect_look(store, p, &facts, &error), 0);
        assert_true(facts.file_bytes > facts.topology_bytes + facts.feature_bytes);
        /* A number for each node, its row's beginning, and a column for each edge. */
        assert_true(facts.topology_bytes >= facts.num_nodes * 8 + facts.num_edges * 4);
        num_nodes += facts.num_nodes;
    }
    assert_int_equal(num_nodes, 90);
    store_close(store);
    unmake(&made);
}

#define CHAIN_NODES 50000
#define CHAINS 300
#define CHAIN_LENGTH 4

/* Short chains far apart: of the words of bits that a hop looks through most are empty. */
static void sparse_halos_are_whole(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    char out[160], json[200];
    struct partition_options options = { .method = PARTITION_RANDOM,
                                         .num_parts = 2,
                                         .halo_hops = 3 };
    struct verify_report report;
    struct error error = { 0 };
    sample_init(&sample, false, CHAIN_NODES, CHAINS * CHAIN_LENGTH, 8);
    for (uint64_t c = 0, e = 0; c < CHAINS; c++) {
        uint64_t node = sample_random(&sample) % CHAIN_NODES;
        for (uint64_t i = 0; i < CHAIN_LENGTH; i++, e++) {
            sample.dst[0][e] = node;
            node = sample_random(&sample) % CHAIN_NODES;
            sample.src[0][e] = node;
        }
    }
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "chains"));
    snprintf(out, sizeof out, "%s/chained", scratch->folder);
    snprintf(json, sizeof json, "%s/sample.json", out);
    if (partition_graph(raw, &options, out, NULL, NULL, NULL, &error) != 0 ||
        verify_directory(json, raw, NULL, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    /* Two of a chain's first three hops are in another partition than its head, on average; those
     * of the later hops count. */
    assert_true(report.num_halos > CHAINS);
    raw_close(raw);
    sample_fini(&sample);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(what_was_written_passes),
        SCRATCH(many_partitions_pass_and_are_counted),
        SCRATCH(what_differs_is_named_with_both_values),
        SCRATCH(another_schema_is_told_apart),
        SCRATCH(a_changed_byte_is_found_in_every_file),
        SCRATCH(comparing_checksums_is_seen_and_ends_when_cancelled),
        SCRATCH(another_graph_is_told_apart),
        SCRATCH(a_row_short_of_an_edge_is_named_with_both_counts),
        SCRATCH(cut_off_and_missing_files_are_told),
        SCRATCH(an_index_that_lies_is_named),
        SCRATCH(many_small_files_are_not_mapped),
        SCRATCH(facts_add_up),
        SCRATCH(sparse_halos_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
