/* SPDX-License-Identifier: Apache-2.0 */
/* NAME.json that lies or is broken is refused with the path of the field. */
#include "tests/partition/graph_util.h"

#include <sys/stat.h>
#include <unistd.h>

#include "partition/store/numbering.h"
#include "partition/store/replace.h"
#include "partition/store/store_private.h"

static const char whole[] =
    "{\"graph_name\": \"g\", \"num_nodes\": 5, \"num_edges\": 3, \"part_method\": \"random\","
    " \"num_parts\": 2, \"halo_hops\": 1,"
    " \"node_map\": {\"_N\": [[0, 2], [2, 5]]}, \"edge_map\": {\"_N:_E:_N\": [[0, 1], [1, 3]]},"
    " \"ntypes\": {\"_N\": 0}, \"etypes\": {\"_N:_E:_N\": 0},"
    " \"part-0\": {\"node_feats\": \"p\", \"edge_feats\": \"p\", \"part_graph\": \"p\"},"
    " \"part-1\": {\"node_feats\": \"q\", \"edge_feats\": \"q\", \"part_graph\": \"q\"},"
    " \"troupe\": {\"format\": 1, \"seed\": \"18446744073709551615\", \"num_trainers\": 0,"
    " \"original_edge_ids\": true, \"column_tables\": [],"
    " \"node_data\": {\"_N\": {\"x\": {\"dtype\": \"float32\", \"shape\": [4]}}},"
    " \"edge_data\": {}}}";

/* The document with one text replaced by another. */
static void put_changed(struct scratch *scratch, const char *from, const char *to)
{
    char text[sizeof whole + 600];
    const char *at = strstr(whole, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
    put_text(scratch, "g.json", text);
}

static void a_whole_document_is_read(void **state)
{
    struct scratch *scratch = *state;
    struct store *store;
    struct error error;
    put_text(scratch, "g.json", whole);
    assert_int_equal(store_open(at(scratch, "g.json"), &store, &error), 0);
    const struct book_file *file = store_book_file(store);
    assert_int_equal(file->book.num_nodes[0], 5);
    assert_int_equal(file->book.num_edges[0], 3);
    assert_int_equal(book_node_owner(&file->book, 0, 1), 0);
    assert_int_equal(book_node_owner(&file->book, 0, 2), 1);
    assert_int_equal(book_node_owner(&file->book, 0, 5), TR_ERANGE);
    assert_true(file->seed == UINT64_MAX);
    assert_int_equal(file->num_tables, 1);
    assert_int_equal(file->tables[0].shape[0], 4);
    /* A book that is read is written and read the same. */
    assert_int_equal(book_file_write(file, files_posix, at(scratch, "h.json"), &error), 0);
    store_close(store);
    assert_int_equal(store_open(at(scratch, "h.json"), &store, &error), 0);
    assert_int_equal(store_book(store)->num_parts, 2);
    assert_true(store_book_file(store)->seed == UINT64_MAX);
    store_close(store);
}

/* It is not taken for a broken one. */
static void a_document_that_is_not_there_is_named(void **state)
{
    struct scratch *scratch = *state;
    struct store *store;
    struct error error = { 0 };
    assert_int_equal(store_open(at(scratch, "none.json"), &store, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "none.json");
}

static void each_lie_is_named(void **state)
{
    static const struct {
        const char *from, *to, *word;
        int code;
    } lies[] = {
        { "\"num_nodes\": 5", "\"num_nodes\": 6", "node_map", TR_EFORMAT },
        { "\"num_nodes\": 5", "\"num_nodes\": -5", "num_nodes", TR_EFORMAT },
        { "\"num_parts\": 2", "\"num_parts\": 0", "num_parts", TR_ERANGE },
        { "\"num_parts\": 2", "\"num_parts\": 3", "node_map", TR_EFORMAT },
        { "\"num_parts\": 2", "\"num_parts\": 99999999", "num_parts", TR_ETOOBIG },
        { "\"num_parts\": 2", "\"num_parts\": \"2\"", "num_parts", TR_EFORMAT },
        { "[[0, 2], [2, 5]]", "[[0, 2], [3, 5]]", "node_map", TR_EFORMAT },
        { "[[0, 2], [2, 5]]", "[[0, 2], [5, 2]]", "node_map", TR_EFORMAT },
        { "[[0, 2], [2, 5]]", "[[0, 2], [2]]", "node_map", TR_EFORMAT },
        { "[[0, 2], [2, 5]]", "[[0, 2], [2, 9223372036854775807]]", "node_map", TR_EFORMAT },
        { "[[0, 1], [1, 3]]", "[[0, 1], [1, 4]]", "edge_map", TR_EFORMAT },
        { "\"ntypes\": {\"_N\": 0}", "\"ntypes\": {\"_N\": 1}", "ntypes", TR_EFORMAT },
        { "\"ntypes\": {\"_N\": 0}", "\"ntypes\": {\"a/b\": 0}", "ntypes", TR_EINVAL },
        { "\"etypes\": {\"_N:_E:_N\": 0}", "\"etypes\": {\"_N:_E:_M\": 0}", "etypes", TR_EINVAL },
        { "\"part-1\"", "\"part-2\"", "part-1", TR_EFORMAT },
        { "\"part_graph\": \"q\"", "\"part_graph\": 4", "part_graph", TR_EFORMAT },
        { "\"format\": 1", "\"format\": 2", "format", TR_EUNSUPPORTED },
        { "\"troupe\"", "\"trouper\"", "troupe", TR_EUNSUPPORTED },
        { "\"18446744073709551615\"", "\"x\"", "seed", TR_EFORMAT },
        { "\"original_edge_ids\": true", "\"original_edge_ids\": 1", "original_edge_ids",
          TR_EFORMAT },
        { "float32", "float33", "dtype", TR_EFORMAT },
        { "[4]", "[4, -1]", "shape", TR_EFORMAT },
        { "[4]", "[2147483647, 2147483647]", "shape", TR_ETOOBIG },
        { "[4]", "[1, 1, 1, 1, 1]", "shape", TR_ETOOBIG },
        { "\"node_data\": {\"_N\"", "\"node_data\": {\"_M\"", "node_data", TR_EFORMAT },
        { "\"column_tables\": []", "\"column_tables\": [\"x\"]", "column_tables", TR_EFORMAT },
        { "}}}", "}}", "JSON", TR_EFORMAT },
    };
    struct scratch *scratch = *state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct store *store;
        struct error error = { 0 };
        put_changed(scratch, lies[i].from, lies[i].to);
        int rv = store_open(at(scratch, "g.json"), &store, &error);
        if (rv != lies[i].code || error.code != rv || error.code != rv ||
            strstr(error.text, lies[i].word) == NULL)
            fail_msg("%s -> %s: %d '%s'", lies[i].from, lies[i].to, rv, error.text);
        assert_non_null(strstr(error.text, "g.json"));
    }
}

/* Values at the bounds of their fields, and tables of ranks: read, or refused by their place. */
static void fields_end_at_their_bounds(void **state)
{
#define RANKS(list) "\"column_tables\": [], \"ranks\": [" list "]"
#define SET(set, rest) "{\"set\": \"" set "\", \"ntype\": \"_N\", " rest "}"
#define ALL SET("all", "\"count\": 5, \"stored\": false")
#define MASK(name, count) \
    SET("mask", "\"count\": " count ", \"stored\": true, \"mask\": \"" name "\"")
#define DEAL(hash) SET("deal", "\"count\": 4, \"stored\": true, \"hash\": \"" hash "\"")
    static const struct {
        const char *from, *to;
        int rv;
        const char *says;
    } cases[] = {
        { "\"halo_hops\": 1", "\"halo_hops\": 8", 0, "" },
        { "\"halo_hops\": 1", "\"halo_hops\": 9", TR_ETOOBIG, "9 is more than 8" },
        { "\"num_trainers\": 0", "\"num_trainers\": 2147483647", 0, "" },
        { "\"num_trainers\": 0", "\"num_trainers\": 2147483648", TR_ETOOBIG, "num_trainers" },
        { "\"num_parts\": 2", "\"num_parts\": 65536", TR_EFORMAT, "2 ranges for 65536" },
        { "\"num_parts\": 2", "\"num_parts\": 65537", TR_ETOOBIG, "more than 65536" },
        { "[4]", "[2147483647]", 0, "" },
        { "[4]", "[2147483648]", TR_ETOOBIG, "a row of 2^31 elements or more" },
        { "[4]", "[2, 1, 1, 3]", 0, "" },
        { "[4]", "[]", 0, "" },
        { "[4]", "[65536, 32768]", TR_ETOOBIG, "a row of 2^31 elements or more" },
        { "[[0, 2], [2, 5]]", "[[0, 2], [2, 2]]", TR_EFORMAT, "2 IDs, the file claims 5" },
        { "[[0, 2], [2, 5]]", "[[0, 0], [0, 5]]", 0, "" },
        { "\"node_map\": {", "\"node_map\": {\"x\": [], ", TR_EFORMAT,
          "2 types, the file lists 1" },
        { "\"18446744073709551615\"", "\"18446744073709551616\"", TR_EFORMAT, "seed" },
        { "\"18446744073709551615\"", "\"-1\"", TR_EFORMAT, "is not a number below 2^64" },
        { "\"18446744073709551615\"", "\"7 \"", TR_EFORMAT, "is not a number below 2^64" },
        { "\"column_tables\": []", "\"column_tables\": [\"_E\"]", 0, "" },
        { "\"column_tables\": []",
          RANKS(ALL ", " MASK("a", "5") ", " MASK("b", "0") ", " DEAL("0123456789abcdef")), 0, "" },
        { "\"column_tables\": []", RANKS(SET("some", "\"count\": 5")), TR_EFORMAT,
          "ranks[0].set: 'some' is not all, mask or deal" },
        { "\"column_tables\": []", RANKS(SET("all", "\"count\": 4, \"stored\": false")), TR_EFORMAT,
          "4 ranks of a type with 5 nodes" },
        { "\"column_tables\": []", RANKS(MASK("a", "6")), TR_EFORMAT,
          "6 ranks of a type with 5 nodes" },
        { "\"column_tables\": []",
          RANKS(SET("mask", "\"count\": 5, \"stored\": false, \"mask\": \"a\"")), TR_EFORMAT,
          "only the ranks of all nodes may be left out" },
        { "\"column_tables\": []", RANKS(SET("mask", "\"count\": 5, \"stored\": true")), TR_EFORMAT,
          "ranks[0]" },
        { "\"column_tables\": []", RANKS("{\"set\": \"all\", \"ntype\": \"_M\"}"), TR_EFORMAT,
          "the type is not listed" },
        { "\"column_tables\": []", RANKS(ALL ", " ALL), TR_EFORMAT,
          "ranks[1]: the ranks of this set are listed twice" },
        { "\"column_tables\": []", RANKS(MASK("a", "1") ", " MASK("a", "2")), TR_EFORMAT,
          "the ranks of this set are listed twice" },
        { "\"column_tables\": []", RANKS(DEAL("0123456789abcde")), TR_EFORMAT,
          "is not a hash of 16 digits" },
        { "\"column_tables\": []", RANKS(DEAL("0123456789abcdef0")), TR_EFORMAT,
          "is not a hash of 16 digits" },
        { "\"column_tables\": []", RANKS(DEAL("0123456789abcdeg")), TR_EFORMAT,
          "is not a hash of 16 digits" },
    };
    struct scratch *scratch = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct store *store;
        struct error error = { 0 };
        put_changed(scratch, cases[i].from, cases[i].to);
        int rv = store_open(at(scratch, "g.json"), &store, &error);
        if (rv != cases[i].rv || error.code != rv || strstr(error.text, cases[i].says) == NULL)
            fail_msg("%s: %d '%s'", cases[i].to, rv, error.text);
        if (rv == 0)
            store_close(store);
    }
}

/* Tables of ranks, columns and flags are those of the document. */
static void what_is_optional_is_read(void **state)
{
    struct scratch *scratch = *state;
    struct store *store;
    struct error error = { 0 };
    put_changed(scratch, "\"column_tables\": []",
                RANKS(ALL ", " MASK("a", "3") ", " DEAL("00000000000000ff")));
    assert_int_equal(store_open(at(scratch, "g.json"), &store, &error), 0);
    const struct book_file *file = store_book_file(store);
    assert_int_equal(file->book.num_ranks, 3);
    static const struct rank_table wanted[] = {
        { .set = RANKS_ALL, .num_ranks = 5 },
        { .set = RANKS_MASK, .num_ranks = 3, .stored = true },
        { .set = RANKS_DEAL, .num_ranks = 4, .stored = true, .deal_hash = 255 },
    };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(file->book.ranks[i].set, wanted[i].set);
        assert_int_equal(file->book.ranks[i].num_ranks, wanted[i].num_ranks);
        assert_int_equal(file->book.ranks[i].stored, wanted[i].stored);
        assert_int_equal(file->book.ranks[i].deal_hash, wanted[i].deal_hash);
    }
    assert_string_equal(file->book.ranks[1].mask, "a");
    assert_false(file->column_tables[0]);
    assert_true(file->original_edge_ids);
    assert_int_equal(file->book.halo_hops, 1);
    assert_string_equal(file->book.part_method, "random");
    assert_string_equal(file->book.graph_name, "g");
    assert_string_equal(file->part_folders[1], "q");
    assert_int_equal(file->book.edge_extents[0][1].begin, 1);
    store_close(store);
    put_changed(scratch, "\"column_tables\": []", "\"column_tables\": [\"_N:_E:_N\"]");
    assert_int_equal(store_open(at(scratch, "g.json"), &store, &error), 0);
    assert_true(store_book_file(store)->column_tables[0]);
    store_close(store);
    put_changed(scratch, "\"original_edge_ids\": true", "\"original_edge_ids\": false");
    assert_int_equal(store_open(at(scratch, "g.json"), &store, &error), 0);
    assert_false(store_book_file(store)->original_edge_ids);
    store_close(store);
}

/* The flag behind a wrong field does not hide it, whichever it is. */
static void a_wrong_field_is_not_hidden_by_the_next(void **state)
{
    static const char *const wrong[] = {
        "\"num_trainers\": 2147483648, \"original_edge_ids\": false",
        "\"num_trainers\": 0, \"train_mask\": 3, \"original_edge_ids\": false",
    };
    struct scratch *scratch = *state;
    for (int i = 0; i < 2; i++) {
        struct store *store;
        struct error error = { 0 };
        put_changed(scratch, "\"num_trainers\": 0, \"original_edge_ids\": true", wrong[i]);
        int rv = store_open(at(scratch, "g.json"), &store, &error);
        assert_int_equal(rv, i == 0 ? TR_ETOOBIG : TR_EFORMAT);
        assert_says(&error, rv, i == 0 ? "num_trainers" : "train_mask");
    }
}

static void owners_skip_empty_partitions(void **state)
{
    (void)state;
    struct graph_types types;
    struct book book;
    const uint64_t nodes[] = { 0, 3, 0, 0, 2, 0 }, edges[6] = { 0 };
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(book_init(&book, "g", &types, 6, nodes, edges), 0);
    for (uint64_t id = 0; id < 5; id++)
        assert_int_equal(book_node_owner(&book, 0, id), id < 3 ? 1 : 4);
    assert_int_equal(book_node_owner(&book, 0, 5), TR_ERANGE);
    assert_int_equal(book_edge_owner(&book, 0, 0), TR_ERANGE);
    book_fini(&book);
    const uint64_t huge[] = { INT64_MAX, 1 };
    assert_int_equal(book_init(&book, "g", &types, 2, huge, edges), TR_ENOMEM);
    assert_int_equal(book_init(&book, "g", &types, 0, huge, edges), TR_ERANGE);
    graph_types_fini(&types);
}

/* Partitions and tables of ranks up to their bounds; one partition's version is its extents'. */
static void books_end_at_their_bounds(void **state)
{
    (void)state;
    struct graph_types types;
    struct book book;
    uint64_t *counts = calloc(BOOK_PARTS_MAX + 1, sizeof *counts);
    assert_non_null(counts);
    counts[BOOK_PARTS_MAX - 1] = INT64_MAX;
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(book_init(&book, "g", &types, BOOK_PARTS_MAX + 1, counts, counts), TR_ERANGE);
    assert_int_equal(book_init(&book, "g", &types, BOOK_PARTS_MAX, counts, counts), 0);
    assert_true(book.num_nodes[0] == INT64_MAX && book.num_edges[0] == INT64_MAX);
    assert_int_equal(book_node_owner(&book, 0, INT64_MAX - 1), BOOK_PARTS_MAX - 1);
    book.node_extents[0][3].version = 8;
    assert_int_equal(book_part_version(&book, 3), 8);
    assert_int_equal(book_part_version(&book, 2), 0);
    char train[] = "train", val[] = "val";
    const struct rank_table tables[] = {
        { .set = RANKS_ALL, .ntype = 0 },
        { .set = RANKS_MASK, .ntype = 0, .mask = train },
        { .set = RANKS_MASK, .ntype = 1, .mask = train },
        { .set = RANKS_DEAL, .ntype = 1 },
        { .set = RANKS_MASK, .ntype = 0, .mask = val },
    };
    for (int i = 0; i < 5; i++)
        assert_int_equal(book_add_ranks(&book, &tables[i]), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(book_find_ranks(&book, tables[i].set, tables[i].ntype, tables[i].mask), i);
    assert_int_equal(book_find_ranks(&book, RANKS_MASK, 1, "val"), -1);
    assert_int_equal(book_find_ranks(&book, RANKS_ALL, 1, NULL), -1);
    assert_int_equal(book_find_ranks(&book, RANKS_DEAL, 0, NULL), -1);
    while (book.num_ranks < BOOK_RANKS_MAX)
        assert_int_equal(book_add_ranks(&book, &tables[0]), 0);
    assert_int_equal(book_add_ranks(&book, &tables[0]), TR_ETOOBIG);
    assert_int_equal(book.num_ranks, BOOK_RANKS_MAX);
    book_fini(&book);
    graph_types_fini(&types);
    free(counts);
}

/* Whatever says where a node or edge is, or how it is asked for, changes the hash, and nothing
 * else. */
static void a_hash_tells_books_apart(void **state)
{
    (void)state;
    struct graph_types types = { 0 };
    struct error error = { 0 };
    const uint64_t nodes[] = { 2, 3, 1, 4 }, edges[] = { 5, 6 };
    struct book book, twin;
    assert_int_equal(graph_types_add_ntype(&types, "a", &error), 0);
    assert_int_equal(graph_types_add_ntype(&types, "b", &error), 0);
    assert_int_equal(graph_types_add_etype(&types, "a:to:b", &error), 0);
    assert_int_equal(book_init(&book, "g", &types, 2, nodes, edges), 0);
    assert_int_equal(book_init(&twin, "g", &types, 2, nodes, edges), 0);
    const struct rank_table all = { .set = RANKS_ALL, .ntype = 1, .num_ranks = 5 };
    assert_int_equal(book_add_ranks(&book, &all), 0);
    const uint64_t hash = book_hash(&book);
    assert_true(book_hash(&twin) != hash);
    assert_int_equal(book_add_ranks(&twin, &all), 0);
    assert_true(book_hash(&twin) == hash);

    uint64_t *const wide[] = { &twin.node_extents[0][1].end, &twin.node_extents[1][0].begin,
                               &twin.edge_extents[0][1].end, &twin.edge_extents[0][1].begin,
                               &twin.ranks[0].num_ranks };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        ++*wide[i];
        assert_true(book_hash(&twin) != hash);
        --*wide[i];
    }
    uint32_t *const narrow[] = { &twin.types.etypes[0].src, &twin.types.etypes[0].dst,
                                 &twin.ranks[0].ntype };
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        *narrow[i] ^= 1;
        assert_true(book_hash(&twin) != hash);
        *narrow[i] ^= 1;
    }
    char *const names[] = { twin.graph_name, twin.types.ntypes[1], twin.types.etypes[0].name };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        names[i][0]++;
        assert_true(book_hash(&twin) != hash);
        names[i][0]--;
    }
    twin.ranks[0].set = RANKS_DEAL;
    assert_true(book_hash(&twin) != hash);
    twin.ranks[0].set = RANKS_ALL;
    twin.halo_hops++;
    assert_true(book_hash(&twin) == hash);
    book_fini(&twin);
    book_fini(&book);
    graph_types_fini(&types);
}

/* Numbers over all types go partition by partition, and in each type by type; both ways agree. */
static void numbers_over_all_types_have_no_gaps(void **state)
{
    (void)state;
    struct extent a[] = { { 0, 2, 0, 0 }, { 2, 2, 1, 0 }, { 2, 5, 2, 0 } };
    struct extent b[] = { { 0, 0, 0, 0 }, { 0, 3, 1, 0 }, { 3, 4, 2, 0 } };
    struct extent *const extents[] = { a, b };
    static const struct numbered wanted[] = { { 0, 0, 0 }, { 0, 0, 1 }, { 1, 1, 0 },
                                              { 1, 1, 1 }, { 1, 1, 2 }, { 2, 0, 2 },
                                              { 2, 0, 3 }, { 2, 0, 4 }, { 2, 1, 3 } };
    struct numbering numbering;
    struct numbered found;
    uint64_t number;
    assert_int_equal(numbering_init(&numbering, extents, 2, 3), 0);
    for (uint64_t i = 0; i < 9; i++) {
        assert_int_equal(numbering_find(&numbering, i, &found), 0);
        assert_int_equal(found.part, wanted[i].part);
        assert_int_equal(found.type, wanted[i].type);
        assert_int_equal(found.id, wanted[i].id);
        assert_int_equal(numbering_number(&numbering, found.type, found.id, &number), 0);
        assert_int_equal(number, i);
    }
    assert_int_equal(numbering_find(&numbering, 9, &found), TR_ERANGE);
    assert_int_equal(numbering_find(&numbering, 10, &found), TR_ERANGE);
    assert_int_equal(numbering_number(&numbering, 0, 5, &number), TR_ERANGE);
    assert_int_equal(numbering_number(&numbering, 1, 4, &number), TR_ERANGE);
    numbering_fini(&numbering);
}

/* A file's sum is compared by the file's name in its partition; a folder without sums has none to
 * compare. */
static void sums_of_files_are_compared(void **state)
{
    struct store store = { .path = (char[]){ "f/g.json" } };
    struct error error = { 0 };
    (void)state;
    assert_int_equal(store_check_sum(&store, 1, "f/part1/a.npy", 7, &error), 0);
    assert_int_equal(checksums_set(&store.file.checksums, 2, 1, "a.npy", 0xabcd), 0);
    assert_int_equal(store_check_sum(&store, 1, "f/part1/a.npy", 0xabcd, &error), 0);
    assert_int_equal(store_check_sum(&store, 1, "a.npy", 0xabcd, &error), 0);
    assert_int_equal(error.code, 0);
    assert_int_equal(store_check_sum(&store, 1, "f/part1/a.npy", 0xabce, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT,
                "f/part1/a.npy: its checksum is 0000abce, f/g.json says 0000abcd: ");
    assert_int_equal(store_check_sum(&store, 1, "f/part1/b.npy", 7, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "f/part1/b.npy: f/g.json has no checksum of it");
    checksums_fini(&store.file.checksums);
}

/* A folder of the kind, an empty one, or nothing may be replaced; whatever else is there stays. */
static void only_folders_of_the_kind_are_replaced(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    const char *path = at(scratch, "out");
    assert_int_equal(replace_check(files_posix, path, "mark", "a raw graph", &error), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(replace_check(files_posix, path, "mark", "a raw graph", &error), 0);
    put_text(scratch, "out/other", "x");
    path = at(scratch, "out");
    assert_int_equal(replace_check(files_posix, path, "mark", "a raw graph", &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "out: is not a raw graph (it holds no mark) nor empty");
    put_text(scratch, "out/mark", "x");
    path = at(scratch, "out");
    assert_int_equal(replace_check(files_posix, path, "mark", "a raw graph", &error), 0);
    path = at(scratch, "out/other");
    assert_int_equal(replace_check(files_posix, path, "mark", "a raw graph", &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "out/other: is not a folder");
    char link_path[300];
    snprintf(link_path, sizeof link_path, "%s", at(scratch, "link"));
    assert_int_equal(symlink("out", link_path), 0);
    for (int i = 0; i < 2; i++) {
        int rv = replace_check(files_posix, link_path, "mark", "a raw graph", &error);
        assert_int_equal(rv, TR_EEXIST);
        assert_says(&error, TR_EEXIST, ": is a link, whose place a folder would take");
        strcat(link_path, "/");
    }
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(a_whole_document_is_read),
        SCRATCH(a_document_that_is_not_there_is_named),
        SCRATCH(each_lie_is_named),
        SCRATCH(fields_end_at_their_bounds),
        SCRATCH(what_is_optional_is_read),
        SCRATCH(a_wrong_field_is_not_hidden_by_the_next),
        cmocka_unit_test(owners_skip_empty_partitions),
        cmocka_unit_test(sums_of_files_are_compared),
        cmocka_unit_test(books_end_at_their_bounds),
        cmocka_unit_test(a_hash_tells_books_apart),
        cmocka_unit_test(numbers_over_all_types_have_no_gaps),
        SCRATCH(only_folders_of_the_kind_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
