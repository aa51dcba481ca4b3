/* SPDX-License-Identifier: Apache-2.0 */
/* Masks have the sizes that were asked for, within classes too, and follow from the seed alone. */
#include "tests/partition/raw_util.h"

#include <math.h>

#include "graph/key.h"
#include "partition/prepare/mask_split.h"
#include "partition/raw/raw_write.h"
#include "runtime/base/crc32c.h"

#define NODES 70001u /* more than a piece */
#define CLASSES 7u

static const uint32_t shares[][MASK_SETS] = {
    { 600000, 200000, 200000 }, { 100000, 100000, 800000 }, { 1000000, 0, 0 },
    { 333333, 333333, 333334 }, { 1, 999999, 0 },           { 500000, 500000, 0 },
};
#define SHARES (sizeof shares / sizeof *shares)

static void sizes_are_the_shares(void **state)
{
    (void)state;
    for (uint64_t draw = 0; draw < 2000; draw++) {
        uint64_t n = draw < 300 ? draw : key_draw(7, draw) >> (24 + draw % 40);
        for (size_t s = 0; s < SHARES; s++) {
            uint64_t size[MASK_SETS], sum = 0;
            mask_split_sizes(n, shares[s], size);
            for (int i = 0; i < MASK_SETS; i++) {
                unsigned __int128 exact = (unsigned __int128)n * shares[s][i];
                unsigned __int128 given = (unsigned __int128)size[i] * MASK_SPLIT_WHOLE;
                assert_true(given < exact + MASK_SPLIT_WHOLE && given + MASK_SPLIT_WHOLE > exact);
                sum += size[i];
            }
            assert_true(sum == n);
        }
    }
}

/* A graph of one edge, whose nodes have these labels; count 0: no table of labels. */
static void make_labelled(struct scratch *scratch, const char *name, enum tr_dtype dtype,
                          uint32_t count, const void *labels)
{
    struct graph_types types;
    struct raw_writer *writer;
    struct error error = { 0 };
    const struct raw_write_options replace = { .replace = true };
    const uint64_t num_nodes = NODES, first = 0, last = NODES - 1, width = 2;
    uint32_t table;
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(
        raw_writer_open(at(scratch, "g"), &replace, "g", &types, &num_nodes, &writer, &error), 0);
    graph_types_fini(&types);
    assert_int_equal(raw_writer_edges(writer, 0, 1, &first, &last, &error), 0);
    if (count > 0) {
        assert_int_equal(
            raw_writer_add_table(writer, name, false, 0, dtype, count > 1, &width, &table, &error),
            0);
        assert_int_equal(raw_writer_rows(writer, table, NODES, labels, &error), 0);
    }
    assert_int_equal(raw_writer_commit(writer, &error), 0);
}

/* Node v's class, -1 for some; classes are of very different sizes. */
static int64_t class_of(uint64_t v)
{
    uint64_t draw = key_draw(3, v);
    if (draw % 11 == 0)
        return -1;
    return (int64_t)((draw >> 8) % 100 < 80 ? 0 : (draw >> 20) % CLASSES);
}

static void make_classes(struct scratch *scratch, enum tr_dtype dtype, const char *name)
{
    int64_t *wide = malloc(NODES * sizeof *wide);
    float *real = malloc(NODES * sizeof *real);
    for (uint64_t v = 0; v < NODES; v++) {
        wide[v] = class_of(v);
        real[v] = class_of(v) < 0 ? NAN : (float)class_of(v);
    }
    make_labelled(scratch, name, dtype, 1, dtype == TR_F32 ? (void *)real : wide);
    free(wide);
    free(real);
}

static struct mask_split_options ask(const uint32_t share[MASK_SETS], bool by_class, uint64_t seed)
{
    struct mask_split_options options = { .by_class = by_class, .replace = true, .seed = seed };
    memcpy(options.share, share, sizeof options.share);
    return options;
}

/* Splits, and reads the set of each node: MASK_SETS for none. A node is in one at most. */
static void split(struct scratch *scratch, const struct mask_split_options *options,
                  struct mask_split_report *report, uint8_t sets[NODES])
{
    static const char *const names[] = { "train_mask", "val_mask", "test_mask" };
    struct error error = { 0 };
    struct raw_graph *graph;
    uint8_t *mask = malloc(NODES);
    if (mask_split(at(scratch, "g"), options, report, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
    memset(sets, MASK_SETS, NODES);
    for (uint8_t i = 0; i < MASK_SETS; i++) {
        int table = raw_find_table(graph, false, 0, names[i]);
        uint64_t marked = 0;
        assert_true(table >= 0 && graph->tables[table].dtype == TR_U8);
        assert_int_equal(raw_read_rows(graph, (uint32_t)table, 0, NODES, mask, &error), 0);
        for (uint64_t v = 0; v < NODES; v++) {
            assert_true(mask[v] <= 1 && (!mask[v] || sets[v] == MASK_SETS));
            sets[v] = mask[v] ? i : sets[v];
            marked += mask[v];
        }
        assert_int_equal(marked, report->size[i]);
    }
    raw_close(graph);
    free(mask);
}

static void all_nodes_are_split_once(void **state)
{
    struct scratch *scratch = *state;
    uint8_t *sets = malloc(NODES);
    make_labelled(scratch, "", TR_U8, 0, NULL);
    for (size_t s = 0; s < SHARES; s++) {
        struct mask_split_options options = ask(shares[s], false, s);
        struct mask_split_report report;
        uint64_t size[MASK_SETS];
        split(scratch, &options, &report, sets);
        mask_split_sizes(NODES, shares[s], size);
        assert_memory_equal(size, report.size, sizeof size);
        assert_null(memchr(sets, MASK_SETS, NODES));
        assert_int_equal(report.num_nodes, NODES);
        assert_int_equal(report.num_unlabelled + report.num_classes, 0);
    }
    free(sets);
}

static void each_class_is_split_by_itself(void **state)
{
    struct scratch *scratch = *state;
    uint8_t *sets = malloc(NODES), *first = malloc(NODES);
    static const struct {
        enum tr_dtype dtype;
        const char *name;
    } tables[] = { { TR_I64, "label" }, { TR_F32, "labels" } };
    for (size_t s = 0; s < SHARES; s++) {
        for (size_t t = 0; t < 2; t++) {
            struct mask_split_options options = ask(shares[s], true, 9);
            struct mask_split_report report;
            uint64_t counts[CLASSES][MASK_SETS] = { { 0 } }, unlabelled = 0, without = 0;
            make_classes(scratch, tables[t].dtype, tables[t].name);
            split(scratch, &options, &report, sets);
            for (uint64_t v = 0; v < NODES; v++) {
                int64_t class = class_of(v);
                unlabelled += class < 0;
                assert_int_equal(class < 0, sets[v] == MASK_SETS);
                if (class >= 0)
                    counts[class][sets[v]]++;
            }
            for (uint32_t c = 0; c < CLASSES; c++) {
                uint64_t size[MASK_SETS];
                mask_split_sizes(counts[c][0] + counts[c][1] + counts[c][2], shares[s], size);
                assert_memory_equal(size, counts[c], sizeof size);
                without += size[MASK_TRAIN] == 0;
            }
            assert_int_equal(report.num_unlabelled, unlabelled);
            assert_int_equal(report.num_classes, CLASSES);
            assert_int_equal(report.num_without_train, without);
            /* The type of the labels changes nothing. */
            if (t == 0)
                memcpy(first, sets, NODES);
            assert_memory_equal(first, sets, NODES);
        }
    }
    free(first);
    free(sets);
}

/* Of each sixteenth of the nodes as many are trained on as the share says, within seven standard
 * deviations: the order of IDs says nothing about the sets. */
static void sets_do_not_follow_the_ids(void **state)
{
    struct scratch *scratch = *state;
    uint8_t *sets = malloc(NODES);
    make_classes(scratch, TR_I64, "label");
    for (int by_class = 0; by_class < 2; by_class++) {
        struct mask_split_options options = ask(shares[0], by_class, 5);
        struct mask_split_report report;
        split(scratch, &options, &report, sets);
        for (uint64_t piece = 0; piece < 16; piece++) {
            double labelled = 0, trained = 0;
            for (uint64_t v = piece * (NODES / 16); v < (piece + 1) * (NODES / 16); v++) {
                labelled += sets[v] != MASK_SETS;
                trained += sets[v] == MASK_TRAIN;
            }
            assert_true(fabs(trained - 0.6 * labelled) < 7 * sqrt(0.24 * labelled));
        }
    }
    free(sets);
}

static void the_seed_alone_decides(void **state)
{
    struct scratch *scratch = *state;
    /* Of the sets of all nodes, with seeds 1 and 2, without classes and by class: what a seed gives
     * stays what it is. */
    static const uint32_t golden[2][2] = { { 0x9bfa5d99, 0xc1fa2f8e }, { 0x5959c564, 0x7b5b4e22 } };
    uint8_t *sets = malloc(NODES);
    make_classes(scratch, TR_I64, "label");
    for (int by_class = 0; by_class < 2; by_class++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            struct mask_split_options options = ask(shares[0], by_class, seed);
            struct mask_split_report report;
            for (int again = 0; again < 2; again++) {
                split(scratch, &options, &report, sets);
                assert_int_equal(crc32c(0, sets, NODES), golden[by_class][seed - 1]);
            }
        }
    }
    free(sets);
}

static void refuse(struct scratch *scratch, const struct mask_split_options *options, int code,
                   const char *says)
{
    struct mask_split_report report;
    struct error error = { 0 };
    assert_int_equal(mask_split(at(scratch, "g"), options, &report, &error), code);
    assert_says(&error, code, says);
}

static void what_cannot_be_is_refused_by_name(void **state)
{
    struct scratch *scratch = *state;
    struct mask_split_options options = ask(shares[0], true, 1), wrong = options;
    double *values = malloc(2 * NODES * sizeof *values);
    make_labelled(scratch, "", TR_U8, 0, NULL);
    refuse(scratch, &options, TR_ENOENT, "has no table 'label'");
    wrong.labels = "colour";
    refuse(scratch, &wrong, TR_ENOENT, "has no table 'colour'");
    wrong = options;
    wrong.ntype = "user";
    refuse(scratch, &wrong, TR_ENOENT, "'user'");
    wrong = options;
    wrong.share[MASK_TEST]--;
    refuse(scratch, &wrong, TR_EINVAL, "add up to 999999");
    wrong = ask((const uint32_t[]){ 0, 500000, 500000 }, false, 1);
    refuse(scratch, &wrong, TR_EINVAL, "training nodes is 0");
    for (unsigned i = 0; i < 2 * NODES; i++)
        values[i] = -1;
    make_labelled(scratch, "label", TR_F64, 2, values);
    refuse(scratch, &options, TR_EUNSUPPORTED, "a class is one whole number a node");
    make_labelled(scratch, "label", TR_F64, 1, values);
    refuse(scratch, &options, TR_EINVAL, "no node with a label");
    values[NODES - 1] = 0.5;
    make_labelled(scratch, "label", TR_F64, 1, values);
    refuse(scratch, &options, TR_ERANGE, "node 70000 has 0.5");
    values[NODES - 1] = MASK_SPLIT_CLASSES_MAX;
    make_labelled(scratch, "label", TR_F64, 1, values);
    refuse(scratch, &options, TR_ERANGE, "whole numbers from 0");
    values[NODES - 1] = MASK_SPLIT_CLASSES_MAX - 1;
    make_labelled(scratch, "label", TR_F64, 1, values);
    struct mask_split_report report;
    struct error error = { 0 };
    options.replace = false;
    assert_int_equal(mask_split(at(scratch, "g"), &options, &report, &error), 0);
    assert_int_equal(report.size[MASK_TRAIN], 1);
    refuse(scratch, &options, TR_EEXIST, "has 'train_mask' already");
    free(values);
}

#define PAIRED 80000u /* edges at most, more than a piece */

/* Two edge types of the same edges: an edge, and behind it its reverse, if it is no loop and not one
 * of those that have none. units[i] is the number of the i-th edge's pair. */
static uint64_t make_paired(struct scratch *scratch, uint64_t *src, uint64_t *dst, uint64_t *units)
{
    struct graph_types types = { 0 };
    struct raw_writer *writer;
    struct error error = { 0 };
    const struct raw_write_options replace = { .replace = true };
    const uint64_t num_nodes = NODES;
    uint64_t count = 0;
    for (uint64_t u = 0; count + 1 < PAIRED; u++) {
        uint64_t from = key_draw(5, u) % 50, to = key_draw(6, u) % 50;
        src[count] = from;
        dst[count] = to;
        units[count++] = u;
        if (from == to || u % 9 == 4)
            continue;
        src[count] = to;
        dst[count] = from;
        units[count++] = u;
    }
    /* An edge without a reverse that the next one goes back by chance is a pair with it: numbers are
     * given again by the rule, from the front. */
    bool alone = false;
    for (uint64_t i = 0, unit = 0; i < count; i++) {
        bool pair = alone && src[i] != dst[i] && src[i] == dst[i - 1] && dst[i] == src[i - 1];
        unit += i > 0 && !pair;
        alone = !pair;
        units[i] = unit;
    }
    assert_int_equal(graph_types_add_ntype(&types, "a", &error), 0);
    assert_int_equal(graph_types_add_etype(&types, "a:x:a", &error), 0);
    assert_int_equal(graph_types_add_etype(&types, "a:y:a", &error), 0);
    assert_int_equal(
        raw_writer_open(at(scratch, "g"), &replace, "g", &types, &num_nodes, &writer, &error), 0);
    graph_types_fini(&types);
    assert_int_equal(raw_writer_edges(writer, 0, count, src, dst, &error), 0);
    assert_int_equal(raw_writer_edges(writer, 1, count, dst, src, &error), 0);
    assert_int_equal(raw_writer_commit(writer, &error), 0);
    return count;
}

static void split_edges(struct scratch *scratch, const struct mask_split_options *options,
                        uint64_t count, uint64_t single, uint8_t *sets)
{
    static const char *const names[] = { "train_mask", "val_mask", "test_mask" };
    struct mask_split_report report;
    struct error error = { 0 };
    struct raw_graph *graph;
    uint8_t *mask = malloc(count);
    if (mask_split(at(scratch, "g"), options, &report, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(report.num_edges, count);
    assert_int_equal(report.num_single, single);
    assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
    memset(sets, MASK_SETS, count);
    for (uint8_t i = 0; i < MASK_SETS; i++) {
        int table = raw_find_table(graph, true, report.etype, names[i]);
        uint64_t marked = 0;
        assert_true(table >= 0);
        assert_int_equal(raw_read_rows(graph, (uint32_t)table, 0, count, mask, &error), 0);
        for (uint64_t e = 0; e < count; e++) {
            assert_true(!mask[e] || sets[e] == MASK_SETS);
            sets[e] = mask[e] ? i : sets[e];
            marked += mask[e];
        }
        assert_int_equal(marked, report.size[i]);
    }
    assert_null(memchr(sets, MASK_SETS, count));
    raw_close(graph);
    free(mask);
}

/* All pairs are in one set, and the sets have so many pairs as their shares say. */
static void check_pairs(const uint64_t *units, uint64_t count, uint64_t num_units,
                        const uint32_t share[MASK_SETS], const uint8_t *sets)
{
    uint64_t wanted[MASK_SETS], size[MASK_SETS] = { 0 };
    uint8_t *of = malloc(num_units);
    memset(of, MASK_SETS, num_units);
    for (uint64_t e = 0; e < count; e++) {
        assert_true(of[units[e]] == MASK_SETS || of[units[e]] == sets[e]);
        size[sets[e]] += of[units[e]] == MASK_SETS;
        of[units[e]] = sets[e];
    }
    mask_split_sizes(num_units, share, wanted);
    assert_memory_equal(size, wanted, sizeof size);
    free(of);
}

static void edges_are_split_and_reverses_with_them(void **state)
{
    struct scratch *scratch = *state;
    uint64_t *src = malloc(PAIRED * 8), *dst = malloc(PAIRED * 8), *units = malloc(PAIRED * 8);
    uint8_t *sets = malloc(PAIRED), *other = malloc(PAIRED);
    uint64_t count = make_paired(scratch, src, dst, units);
    struct mask_split_options options = ask(shares[0], false, 5);
    struct mask_split_report report;
    struct error error = { 0 };
    options.edges = true;
    options.etype = "x";
    options.pairs = MASK_PAIRS_ADJACENT;
    uint64_t single = 0;
    for (uint64_t e = 0; e < count; e++)
        single += src[e] != dst[e] && (e == 0 || units[e] != units[e - 1]) &&
                  (e + 1 == count || units[e] != units[e + 1]);
    assert_true(single > 1000);
    split_edges(scratch, &options, count, single, sets);
    check_pairs(units, count, units[count - 1] + 1, options.share, sets);
    /* The same seed splits a type of as many edges alike. */
    options.etype = "a:y:a";
    split_edges(scratch, &options, count, single, other);
    assert_memory_equal(sets, other, count);
    options.pairs = MASK_PAIRS_NONE;
    for (uint64_t e = 0; e < count; e++)
        units[e] = e;
    split_edges(scratch, &options, count, 0, sets);
    check_pairs(units, count, count, options.share, sets);
    options.pairs = MASK_PAIRS_HALVES;
    for (uint64_t e = 0; e < count; e++)
        units[e] = e % (count / 2);
    if (count % 2 == 0) {
        single = 0;
        for (uint64_t e = 0; e < count; e++) {
            const uint64_t other_edge = (e + count / 2) % count;
            single += src[e] != dst[e] && (src[e] != dst[other_edge] || dst[e] != src[other_edge]);
        }
        split_edges(scratch, &options, count, single, sets);
        check_pairs(units, count, count / 2, options.share, sets);
    } else {
        assert_int_equal(mask_split(at(scratch, "g"), &options, &report, &error), TR_EINVAL);
    }
    options.by_class = true;
    assert_int_equal(mask_split(at(scratch, "g"), &options, &report, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "edges have no classes"));
    options.by_class = false;
    options.etype = NULL;
    assert_int_equal(mask_split(at(scratch, "g"), &options, &report, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "say by etype which one is meant: 'a:x:a', 'a:y:a'"));
    options.edges = false;
    assert_int_equal(mask_split(at(scratch, "g"), &options, &report, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "nodes are split, which are no pairs"));
    free(src);
    free(dst);
    free(units);
    free(sets);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_the_shares),
        cmocka_unit_test_setup_teardown(all_nodes_are_split_once, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(each_class_is_split_by_itself, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(sets_do_not_follow_the_ids, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_seed_alone_decides, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(edges_are_split_and_reverses_with_them, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused_by_name, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
