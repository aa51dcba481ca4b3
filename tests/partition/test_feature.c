/* SPDX-License-Identifier: Apache-2.0 */
/* Features are what they are said to be, and have the same bits on every machine. */
#include "tests/partition/raw_util.h"

#include <math.h>

#include "partition/generate/generate.h"
#include "partition/prepare/feature.h"
#include "partition/raw/raw_write.h"
#include "runtime/base/crc32c.h"

#define NODES 500u
#define EDGES 3000u

static void logarithms_are_those_of_the_library(void **state)
{
    (void)state;
    assert_true(feature_log(0) == 0);
    for (double x = 1e-3; x < 1e12; x *= 1.01) {
        double expected = log1p(x);
        assert_true(fabs(feature_log(x) - expected) <= 1e-12 * expected);
    }
}

/* The table of a name, in doubles: [rows][width]. */
static double *read_table(struct scratch *scratch, uint32_t ntype, const char *name,
                          uint64_t *width, uint32_t *digest)
{
    struct raw_graph *graph;
    struct error error = { 0 };
    assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
    int index = raw_find_table(graph, false, ntype, name);
    assert_true(index >= 0);
    const struct raw_table *table = &graph->tables[index];
    *width = table->width;
    uint8_t *rows = malloc(table->num_rows * table->row_bytes);
    double *values = malloc(table->num_rows * table->width * sizeof *values);
    assert_int_equal(raw_read_rows(graph, (uint32_t)index, 0, table->num_rows, rows, &error), 0);
    *digest = crc32c(0, rows, table->num_rows * table->row_bytes);
    for (uint64_t i = 0; i < table->num_rows * table->width; i++)
        values[i] = table->dtype == TR_U8 ? rows[i] : (double)((float *)rows)[i];
    free(rows);
    raw_close(graph);
    return values;
}

static void add(struct scratch *scratch, const struct feature_options *options,
                struct feature_report *report)
{
    struct error error = { 0 };
    if (feature_add(at(scratch, "g"), options, report, &error) != 0)
        fail_msg("%s", error.text);
}

static void make_graph(struct scratch *scratch)
{
    const struct generate_options sizes = { .num_nodes = NODES, .num_edges = EDGES, .seed = 4 };
    const struct raw_write_options replace = { .replace = true };
    struct error error = { 0 };
    assert_int_equal(generate_skew(at(scratch, "g"), &sizes, &replace, &error), 0);
}

static void read_edges(struct scratch *scratch, uint64_t src[EDGES], uint64_t dst[EDGES])
{
    struct raw_graph *graph;
    struct error error = { 0 };
    assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_edges(graph, 0, 0, EDGES, src, dst, &error), 0);
    raw_close(graph);
}

static void degrees_are_counted(void **state)
{
    struct scratch *scratch = *state;
    const struct feature_options options = { .kind = FEATURE_DEGREE };
    struct feature_report report;
    uint64_t src[EDGES], dst[EDGES], width, in[NODES] = { 0 }, out[NODES] = { 0 };
    uint32_t digest;
    make_graph(scratch);
    add(scratch, &options, &report);
    double *values = read_table(scratch, 0, "feat", &width, &digest);
    assert_int_equal(width, 2);
    read_edges(scratch, src, dst);
    for (unsigned i = 0; i < EDGES; i++) {
        out[src[i]]++;
        in[dst[i]]++;
    }
    for (unsigned v = 0; v < NODES; v++) {
        assert_true(fabs(values[2 * v] - log1p((double)in[v])) < 1e-6);
        assert_true(fabs(values[2 * v + 1] - log1p((double)out[v])) < 1e-6);
    }
    free(values);
}

/* The definition, with twice as many rounds as are allowed, in long doubles. */
static void walk_plainly(const uint64_t src[EDGES], const uint64_t dst[EDGES],
                         long double ranks[NODES])
{
    static long double next[NODES];
    uint64_t out[NODES] = { 0 };
    for (unsigned i = 0; i < EDGES; i++)
        out[src[i]]++;
    for (unsigned v = 0; v < NODES; v++)
        ranks[v] = 1.0L / NODES;
    for (unsigned round = 0; round < 2 * FEATURE_ROUNDS_MAX; round++) {
        long double stuck = 0;
        memset(next, 0, sizeof next);
        for (unsigned v = 0; v < NODES; v++)
            stuck += out[v] == 0 ? ranks[v] : 0;
        for (unsigned i = 0; i < EDGES; i++)
            next[dst[i]] += ranks[src[i]] / (long double)out[src[i]];
        for (unsigned v = 0; v < NODES; v++)
            ranks[v] = 0.15L / NODES + 0.85L * (next[v] + stuck / NODES);
    }
}

static void pagerank_is_that_of_the_definition(void **state)
{
    struct scratch *scratch = *state;
    const struct feature_options options = { .kind = FEATURE_PAGERANK };
    struct feature_report report;
    static long double ranks[NODES];
    uint64_t src[EDGES], dst[EDGES], width;
    uint32_t digest;
    make_graph(scratch);
    add(scratch, &options, &report);
    assert_true(report.rounds > 1 && report.rounds < FEATURE_ROUNDS_MAX);
    double *values = read_table(scratch, 0, "feat", &width, &digest);
    assert_int_equal(width, 1);
    read_edges(scratch, src, dst);
    walk_plainly(src, dst, ranks);
    double sum = 0;
    for (unsigned v = 0; v < NODES; v++) {
        sum += expm1(values[v]) / NODES;
        assert_true(fabs(values[v] - (double)log1pl(NODES * ranks[v])) < 4e-6);
    }
    assert_true(fabs(sum - 1) < 1e-4);
    free(values);
}

/* Two types, edges from one to the other, and nodes that no edge leaves. */
static void walks_go_through_all_types(void **state)
{
    struct scratch *scratch = *state;
    struct graph_types types = { 0 };
    struct raw_writer *writer;
    struct error error = { 0 };
    const uint64_t num_nodes[] = { 2, 3 }, src[] = { 0, 1, 1 }, dst[] = { 2, 2, 0 };
    assert_int_equal(graph_types_add_ntype(&types, "user", &error), 0);
    assert_int_equal(graph_types_add_ntype(&types, "item", &error), 0);
    assert_int_equal(graph_types_add_etype(&types, "user:buys:item", &error), 0);
    assert_int_equal(graph_types_add_etype(&types, "item:of:user", &error), 0);
    assert_int_equal(
        raw_writer_open(at(scratch, "g"), NULL, "g", &types, num_nodes, &writer, &error), 0);
    graph_types_fini(&types);
    assert_int_equal(raw_writer_edges(writer, 0, 3, src, dst, &error), 0);
    assert_int_equal(raw_writer_edges(writer, 1, 1, src, src, &error), 0);
    assert_int_equal(raw_writer_commit(writer, &error), 0);
    struct feature_options options = { .kind = FEATURE_PAGERANK };
    struct feature_report report;
    assert_int_equal(feature_add(at(scratch, "g"), &options, &report, &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "'user', 'item'");
    double sum = 0, user0 = 0;
    uint64_t width;
    uint32_t digest;
    for (uint32_t t = 0; t < 2; t++) {
        options.ntype = t == 0 ? "user" : "item";
        options.kind = FEATURE_PAGERANK;
        options.name = "rank";
        add(scratch, &options, &report);
        assert_int_equal(report.ntype, t);
        double *values = read_table(scratch, t, "rank", &width, &digest);
        for (uint64_t v = 0; v < num_nodes[t]; v++)
            sum += expm1(values[v]) / 5;
        user0 = t == 0 ? expm1(values[0]) / 5 : user0;
        /* Item 0 leads to user 0 alone, which no other edge reaches. */
        if (t == 1)
            assert_true(user0 > expm1(values[1]) / 5);
        free(values);
        options.kind = FEATURE_DEGREE;
        options.name = "degree";
        add(scratch, &options, &report);
        values = read_table(scratch, t, "degree", &width, &digest);
        assert_true(fabs(values[1] - log(2)) < 1e-6);
        assert_true(fabs(values[2 * num_nodes[t] - 2] - log1p(t == 0 ? 0 : 2)) < 1e-6);
        free(values);
    }
    assert_true(fabs(sum - 1) < 1e-5);
}

static void one_hot_rows_are_a_unit_matrix(void **state)
{
    struct scratch *scratch = *state;
    const struct feature_options options = { .kind = FEATURE_ONE_HOT };
    struct feature_report report;
    uint64_t width;
    uint32_t digest;
    make_graph(scratch);
    add(scratch, &options, &report);
    double *values = read_table(scratch, 0, "feat", &width, &digest);
    assert_int_equal(width, NODES);
    for (unsigned v = 0; v < NODES; v++)
        for (unsigned c = 0; c < NODES; c++)
            assert_true(values[v * NODES + c] == (v == c));
    free(values);
}

static void random_rows_have_mean_0_and_variance_1(void **state)
{
    struct scratch *scratch = *state;
    const struct feature_options options = { .kind = FEATURE_RANDOM, .width = 64, .seed = 3 };
    struct feature_report report;
    uint64_t width;
    uint32_t digest;
    make_graph(scratch);
    add(scratch, &options, &report);
    double *values = read_table(scratch, 0, "feat", &width, &digest);
    double mean = 0, variance = 0, n = NODES * 64;
    for (unsigned i = 0; i < NODES * 64; i++) {
        mean += values[i] / n;
        variance += values[i] * values[i] / n;
        assert_true(fabs(values[i]) <= sqrt(3) + 1e-6);
    }
    /* Six standard deviations of either. */
    assert_true(fabs(mean) < 6 / sqrt(n) && fabs(variance - 1) < 6 * sqrt(0.8 / n));
    free(values);
}

static void the_bits_stay_what_they_are(void **state)
{
    struct scratch *scratch = *state;
    static const struct {
        enum feature_kind kind;
        uint64_t seed;
        uint32_t digest;
    } cases[] = {
        { FEATURE_DEGREE, 0, 0x53b224b3 },
        { FEATURE_RANDOM, 0, 0x6ccb4533 },
        { FEATURE_RANDOM, 1, 0xebeb34d6 },
        { FEATURE_PAGERANK, 0, 0xbe3217c7 },
    };
    make_graph(scratch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct feature_options options = {
            .kind = cases[i].kind, .width = 5, .seed = cases[i].seed, .replace = true
        };
        struct feature_report report;
        uint64_t width;
        uint32_t digest;
        add(scratch, &options, &report);
        free(read_table(scratch, 0, "feat", &width, &digest));
        assert_int_equal(digest, cases[i].digest);
    }
}

static bool always(void *arg)
{
    (void)arg;
    return true;
}

static void what_cannot_be_is_refused_by_name(void **state)
{
    struct scratch *scratch = *state;
    const struct cancel cancel = { always, NULL };
    struct feature_options options = { .kind = FEATURE_RANDOM };
    struct feature_report report;
    struct error error = { 0 };
    make_graph(scratch);
    assert_int_equal(feature_add(at(scratch, "g"), &options, &report, &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "1 to 1048576 columns");
    options.kind = FEATURE_PAGERANK;
    options.cancel = &cancel;
    assert_int_equal(feature_add(at(scratch, "g"), &options, &report, &error), TR_ECANCELED);
    options.cancel = NULL;
    options.name = "a/b";
    assert_int_equal(feature_add(at(scratch, "g"), &options, &report, &error), TR_EINVAL);
    options.name = NULL;
    add(scratch, &options, &report);
    assert_int_equal(feature_add(at(scratch, "g"), &options, &report, &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "'feat' already");
    const struct generate_options many = { .num_nodes = FEATURE_ONE_HOT_MAX + 1, .num_edges = 1 };
    const struct raw_write_options replace = { .replace = true };
    assert_int_equal(generate_skew(at(scratch, "g"), &many, &replace, &error), 0);
    options.kind = FEATURE_ONE_HOT;
    assert_int_equal(feature_add(at(scratch, "g"), &options, &report, &error), TR_ETOOBIG);
    assert_says(&error, TR_ETOOBIG, "for 16384 at most");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_those_of_the_library),
        cmocka_unit_test_setup_teardown(degrees_are_counted, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(pagerank_is_that_of_the_definition, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(walks_go_through_all_types, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(one_hot_rows_are_a_unit_matrix, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(random_rows_have_mean_0_and_variance_1, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_bits_stay_what_they_are, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused_by_name, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
