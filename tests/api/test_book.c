/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph at rest through the public API: a book agrees with the files beside it and with the raw
 * graph that it was made of, homogeneous IDs are a numbering without gaps, and what is not there is
 * refused with a message.
 */
#include "tests/partition/graph_util.h"
#include "tests/scratch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <troupe/troupe.h>

#define PARTS 5u
#define NODES 300u
#define EDGES 2000u

struct at_rest {
    char dir[64];
    char raw[128];
    char book[128];
    struct sample sample;
};

static void make(struct at_rest *rest, bool hetero, uint64_t nodes, uint64_t edges, bool drop_ids)
{
    struct error error = { 0 };
    struct partition_report report;
    const struct partition_options options = { .name = "g",
                                               .method = PARTITION_RANDOM,
                                               .num_parts = PARTS,
                                               .seed = 7,
                                               .halo_hops = 1,
                                               .drop_edge_ids = drop_ids };
    assert_non_null(scratch_folder(rest->dir, sizeof rest->dir, "book"));
    snprintf(rest->raw, sizeof rest->raw, "%s/raw", rest->dir);
    sample_init(&rest->sample, hetero, nodes, edges, 5);
    struct raw_graph *raw = sample_raw(&rest->sample, rest->raw);
    snprintf(rest->book, sizeof rest->book, "%s/parts", rest->dir);
    if (partition_graph(raw, &options, rest->book, parallel_serial, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    snprintf(rest->book, sizeof rest->book, "%s/parts/g.json", rest->dir);
    raw_close(raw);
}

static void discard(struct at_rest *rest)
{
    char command[100];
    sample_fini(&rest->sample);
    snprintf(command, sizeof command, "rm -rf %s", rest->dir);
    assert_int_equal(system(command), 0);
}

static struct tr_book *open_book(const char *path)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_book *book;
    if (tr_book_open(path, &book, &error) != 0)
        fail_msg("%s", error.message);
    return book;
}

static void ok(int rv, const struct tr_error *error)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), error->message);
}

/* Every ID of every type: in the range of its owner, and back from its homogeneous ID; those number
 * all without a gap. */
static uint64_t check_numbering(const struct tr_book *book, bool edges, uint32_t type,
                                uint64_t count, bool *taken)
{
    struct tr_error error = TR_ERROR_INIT;
    for (uint64_t id = 0; id < count; id++) {
        uint32_t part, again, back_type;
        uint64_t whole, back;
        struct tr_range range;
        if (edges) {
            ok(tr_book_edge_owners(book, type, &id, 1, &part, &error), &error);
            ok(tr_book_edge_range(book, type, part, &range, &error), &error);
            ok(tr_book_edge_homogeneous(book, type, &id, 1, &whole, &error), &error);
            ok(tr_book_edge_owners(book, TR_ALL_TYPES, &whole, 1, &again, &error), &error);
            ok(tr_book_edge_typed(book, &whole, 1, &back_type, &back, &error), &error);
        } else {
            ok(tr_book_node_owners(book, type, &id, 1, &part, &error), &error);
            ok(tr_book_node_range(book, type, part, &range, &error), &error);
            ok(tr_book_node_homogeneous(book, type, &id, 1, &whole, &error), &error);
            ok(tr_book_node_owners(book, TR_ALL_TYPES, &whole, 1, &again, &error), &error);
            ok(tr_book_node_typed(book, &whole, 1, &back_type, &back, &error), &error);
        }
        assert_in_range(id, range.begin, range.end - 1);
        assert_int_equal(again, part);
        assert_int_equal(back_type, type);
        assert_int_equal(back, id);
        assert_false(taken[whole]);
        taken[whole] = true;
    }
    return count;
}

static void ids_are_owned_and_numbered(void **state)
{
    (void)state;
    for (int hetero = 0; hetero < 2; hetero++) {
        struct at_rest rest;
        struct tr_book_info info = TR_BOOK_INFO_INIT;
        struct tr_error error = TR_ERROR_INIT;
        make(&rest, hetero, NODES, EDGES, false);
        struct tr_book *book = open_book(rest.book);
        ok(tr_book_info(book, &info, &error), &error);
        bool *nodes = calloc(info.num_nodes, 1), *edges = calloc(info.num_edges, 1);
        uint64_t seen_nodes = 0, seen_edges = 0;
        for (uint32_t t = 0; t < info.num_ntypes; t++)
            seen_nodes += check_numbering(book, false, t, rest.sample.num_nodes[t], nodes);
        for (uint32_t e = 0; e < info.num_etypes; e++)
            seen_edges += check_numbering(book, true, e, rest.sample.num_edges[e], edges);
        assert_int_equal(seen_nodes, info.num_nodes);
        assert_int_equal(seen_edges, info.num_edges);
        free(edges);
        free(nodes);
        tr_book_close(book);
        discard(&rest);
    }
}

static void original_ids_are_those_of_the_raw_graph(void **state)
{
    (void)state;
    struct at_rest rest;
    struct tr_error error = TR_ERROR_INIT;
    make(&rest, true, NODES, EDGES, false);
    struct tr_book *book = open_book(rest.book);
    for (uint32_t t = 0; t < rest.sample.types.num_ntypes + rest.sample.types.num_etypes; t++) {
        bool of_edges = t >= rest.sample.types.num_ntypes;
        uint32_t type = of_edges ? t - rest.sample.types.num_ntypes : t;
        uint64_t count = of_edges ? rest.sample.num_edges[type] : rest.sample.num_nodes[type];
        int (*read)(const struct tr_book *, uint32_t, uint64_t, size_t, uint64_t *,
                    struct tr_error *) = of_edges ? tr_book_original_edge_ids
                                                  : tr_book_original_node_ids;
        uint64_t *all = malloc(count * 8), *piece = malloc(count * 8);
        bool *seen = calloc(count, 1);
        ok(read(book, type, 0, count, all, &error), &error);
        for (uint64_t i = 0; i < count; i++) {
            assert_true(all[i] < count);
            assert_false(seen[all[i]]);
            seen[all[i]] = true;
        }
        /* A piece that begins and ends inside of partitions is the same as that of the whole. */
        ok(read(book, type, 1, count - 2, piece, &error), &error);
        assert_memory_equal(piece, all + 1, (count - 2) * 8);
        ok(read(book, type, count, 0, piece, &error), &error);
        assert_int_equal(read(book, type, 1, count, piece, &error), TR_ERANGE);
        assert_int_equal(error.code, TR_ERANGE);
        assert_non_null(strstr(error.message, "g.json"));
        free(seen);
        free(piece);
        free(all);
    }
    tr_book_close(book);
    discard(&rest);
}

static void edges_of_the_book_are_edges_of_the_raw_graph(void **state)
{
    (void)state;
    struct at_rest rest;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_raw *raw;
    struct tr_raw_info info = TR_RAW_INFO_INIT;
    make(&rest, true, NODES, EDGES, false);
    ok(tr_raw_open(rest.raw, NULL, &raw, &error), &error);
    ok(tr_raw_info(raw, &info, &error), &error);
    assert_int_equal(info.num_ntypes, 2);
    assert_int_equal(info.num_etypes, 3);
    assert_int_equal(info.num_nodes, NODES);
    for (uint32_t e = 0; e < info.num_etypes; e++) {
        struct tr_etype_info type = TR_ETYPE_INFO_INIT;
        ok(tr_raw_etype(raw, e, &type, &error), &error);
        assert_int_equal(type.num_edges, rest.sample.num_edges[e]);
        uint64_t *src = malloc(type.num_edges * 8), *dst = malloc(type.num_edges * 8);
        ok(tr_raw_edges(raw, e, 0, type.num_edges, src, dst, &error), &error);
        assert_memory_equal(src, rest.sample.src[e], type.num_edges * 8);
        assert_memory_equal(dst, rest.sample.dst[e], type.num_edges * 8);
        assert_int_equal(tr_raw_edges(raw, e, 1, type.num_edges, src, dst, &error), TR_ERANGE);
        free(dst);
        free(src);
    }
    for (uint32_t i = 0; i < info.num_tables; i++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        ok(tr_raw_table(raw, i, &table, &error), &error);
        if (strcmp(table.name, "feat") != 0)
            continue;
        float rows[6];
        assert_int_equal(table.row_bytes, 12);
        assert_int_equal(table.width, 3);
        ok(tr_raw_rows(raw, i, 4, 2, rows, &error), &error);
        for (uint32_t j = 0; j < 6; j++)
            assert_true(rows[j] == sample_value(table.type, 4 + j / 3, j % 3));
    }
    assert_int_equal(tr_raw_rows(raw, info.num_tables, 0, 1, NULL, &error), TR_ERANGE);
    tr_raw_close(raw);
    discard(&rest);
}

static void book_describes_its_partitions(void **state)
{
    (void)state;
    struct at_rest rest;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    make(&rest, true, NODES, EDGES, false);
    struct tr_book *book = open_book(rest.book);
    ok(tr_book_info(book, &info, &error), &error);
    assert_string_equal(info.graph_name, "g");
    assert_string_equal(info.method, "random");
    assert_int_equal(info.num_parts, PARTS);
    assert_int_equal(info.seed, 7);
    assert_true(info.checksums);
    assert_true(info.original_edge_ids);
    uint64_t nodes = 0, edges = 0, largest = 0;
    for (uint32_t p = 0; p < PARTS; p++) {
        struct tr_part_info part = TR_PART_INFO_INIT;
        ok(tr_book_part(book, p, &part, &error), &error);
        nodes += part.num_nodes;
        edges += part.num_edges;
        largest = part.num_nodes > largest ? part.num_nodes : largest;
        assert_true(part.file_bytes > part.feature_bytes);
    }
    assert_int_equal(nodes, info.num_nodes);
    assert_int_equal(edges, info.num_edges);
    assert_true(info.node_balance == (double)largest * PARTS / (double)nodes);

    struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
    uint32_t found;
    ok(tr_book_etype(book, 1, &etype, &error), &error);
    assert_string_equal(etype.name, "paper:cites:paper");
    assert_string_equal(etype.relation, "cites");
    ok(tr_book_find_etype(book, "cites", &found, &error), &error);
    assert_int_equal(found, 1);
    ok(tr_book_find_ntype(book, "paper", &found, &error), &error);
    assert_int_equal(found, etype.dst_ntype);
    uint32_t weights = 0;
    for (uint32_t i = 0; i < info.num_tables; i++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        ok(tr_book_table(book, i, &table, &error), &error);
        weights += table.on_edges && strcmp(table.name, "weight") == 0 && table.row_bytes == 8;
    }
    assert_int_equal(weights, 3);
    tr_book_close(book);
    discard(&rest);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    struct at_rest rest;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_book *none = (struct tr_book *)&rest;
    uint64_t id = UINT64_MAX, homogeneous;
    uint32_t part, type;
    make(&rest, true, NODES, EDGES, true);
    assert_int_equal(tr_book_open("/nowhere/g.json", &none, &error), TR_ENOENT);
    assert_null(none);
    assert_non_null(strstr(error.message, "/nowhere/g.json"));
    assert_int_equal(tr_book_open(NULL, &none, NULL), TR_EINVAL);
    struct tr_book *book = open_book(rest.book);
    assert_int_equal(tr_book_node_owners(book, 0, &id, 1, &part, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "18446744073709551615"));
    id = NODES;
    assert_int_equal(tr_book_node_owners(book, TR_ALL_TYPES, &id, 1, &part, &error), TR_ERANGE);
    assert_int_equal(tr_book_node_typed(book, &id, 1, &type, NULL, &error), TR_ERANGE);
    assert_int_equal(tr_book_node_owners(book, 2, &id, 1, &part, &error), TR_ERANGE);
    assert_int_equal(tr_book_node_homogeneous(book, 2, &id, 1, &homogeneous, &error), TR_ERANGE);
    assert_int_equal(tr_book_find_ntype(book, "reader", &type, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "reader"));
    id = 0;
    assert_int_equal(tr_book_original_edge_ids(book, 0, 0, 1, &id, &error), TR_ENOENT);
    struct tr_part_info facts = TR_PART_INFO_INIT;
    assert_int_equal(tr_book_part(book, PARTS, &facts, &error), TR_ERANGE);
    struct tr_range range;
    assert_int_equal(tr_book_node_range(book, 0, PARTS - 1, &range, &error), 0);
    assert_int_equal(tr_book_node_range(book, 0, PARTS, &range, &error), TR_ERANGE);
    assert_int_equal(tr_book_edge_range(book, 0, PARTS, &range, &error), TR_ERANGE);
    struct tr_ntype_info uninitialised = { 0 };
    assert_int_equal(tr_book_ntype(book, 0, &uninitialised, &error), TR_EINVAL);
    assert_int_equal(tr_book_ntype(book, 2, &uninitialised, &error), TR_ERANGE);
    struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
    ok(tr_book_etype(book, 2, &etype, &error), &error);
    assert_int_equal(tr_book_etype(book, 3, &etype, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "edge type 3"));
    assert_int_equal(tr_book_etype(book, UINT32_MAX, &etype, &error), TR_ERANGE);
    char command[160];
    snprintf(command, sizeof command, "rm -r %s/parts/part2", rest.dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(tr_book_part(book, 2, &facts, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "part2"));
    ok(tr_book_part(book, 1, &facts, &error), &error);
    tr_book_close(book);
    discard(&rest);
}

/* An older program knows the first members of a struct, a newer one more than the library. */
static void structs_of_other_sizes_are_served(void **state)
{
    (void)state;
    struct at_rest rest;
    struct tr_error error = TR_ERROR_INIT;
    make(&rest, false, NODES, EDGES, false);
    struct tr_book *book = open_book(rest.book);
    struct {
        struct tr_book_info info;
        uint64_t more;
    } grown = { .info = { .size = sizeof grown }, .more = 1 };
    ok(tr_book_info(book, &grown.info, &error), &error);
    assert_int_equal(grown.info.num_nodes, NODES);
    assert_int_equal(grown.more, 0);
    struct tr_book_info old = { .size = offsetof(struct tr_book_info, num_parts), .num_parts = 77 };
    ok(tr_book_info(book, &old, &error), &error);
    assert_string_equal(old.graph_name, "g");
    assert_int_equal(old.num_parts, 77);
    struct {
        struct tr_raw_options options;
        uint64_t more;
    } asked = { .options = { .size = sizeof asked }, .more = 1 };
    struct tr_raw *raw;
    assert_int_equal(tr_raw_open(rest.raw, &asked.options, &raw, &error), TR_EUNSUPPORTED);
    assert_null(raw);
    tr_book_close(book);
    discard(&rest);
}

static void child_of_a_fork_uses_its_copy(void **state)
{
    (void)state;
    struct at_rest rest;
    make(&rest, false, NODES, EDGES, false);
    struct tr_book *book = open_book(rest.book);
    pid_t child = fork();
    if (child == 0) {
        uint64_t id = NODES - 1;
        uint32_t part;
        int rv = tr_book_node_owners(book, 0, &id, 1, &part, NULL);
        if (rv == 0)
            rv = tr_book_original_node_ids(book, 0, 0, 1, &id, NULL);
        tr_book_close(book);
        _exit(rv == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tr_book_close(book);
    discard(&rest);
}

static void graph_without_nodes_has_a_book(void **state)
{
    (void)state;
    struct at_rest rest;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    uint64_t id = 0;
    uint32_t part;
    make(&rest, true, 0, 0, false);
    struct tr_book *book = open_book(rest.book);
    ok(tr_book_info(book, &info, &error), &error);
    assert_int_equal(info.num_nodes + info.num_edges, 0);
    assert_true(info.node_balance == 0);
    ok(tr_book_original_node_ids(book, 0, 0, 0, NULL, &error), &error);
    assert_int_equal(tr_book_node_owners(book, TR_ALL_TYPES, &id, 1, &part, &error), TR_ERANGE);
    assert_int_equal(tr_book_node_owners(book, 1, &id, 1, &part, &error), TR_ERANGE);
    tr_book_close(book);
    discard(&rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(ids_are_owned_and_numbered),
        cmocka_unit_test(original_ids_are_those_of_the_raw_graph),
        cmocka_unit_test(edges_of_the_book_are_edges_of_the_raw_graph),
        cmocka_unit_test(book_describes_its_partitions),
        cmocka_unit_test(structs_of_other_sizes_are_served),
        cmocka_unit_test(child_of_a_fork_uses_its_copy),
        cmocka_unit_test(graph_without_nodes_has_a_book),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
