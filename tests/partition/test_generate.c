/* SPDX-License-Identifier: Apache-2.0 */
/* Generated graphs: a function of the options alone, with the statistics that they state. */
#include "tests/partition/raw_util.h"

#include <math.h>

#include "partition/generate/generate.h"
#include "partition/generate/generate_draw.h"
#include "partition/raw/raw.h"

static const struct generate_options small = { .num_nodes = 1003,
                                               .num_edges = 40000,
                                               .num_features = 6,
                                               .num_classes = 5,
                                               .seed = 7,
                                               .inside = -1 };

typedef int (*generator)(const char *, const struct generate_options *,
                         const struct raw_write_options *, struct error *);

static const generator generators[] = { generate_rmat, generate_sbm, generate_skew };

static uint64_t hash_file(struct scratch *scratch, const char *name)
{
    char *data;
    size_t size;
    uint64_t hash = 0;
    assert_int_equal(files_read_all(files_posix, at(scratch, name), 1 << 24, &data, &size, NULL),
                     0);
    for (size_t i = 0; i < size; i++)
        hash = key_mix(hash + (uint8_t)data[i] + KEY_STEP);
    free(data);
    return hash;
}

static void same_seed_same_bytes(void **state)
{
    struct scratch *scratch = *state;
    static const char *const files[] = { "edges/_N:_E:_N.npy", "node_data/_N/feat.npy",
                                         "node_data/_N/label.npy", "node_data/_N/val_mask.npy" };
    for (int g = 0; g < 3; g++) {
        struct error error = { 0 };
        struct generate_options other = small;
        struct raw_write_options replace = { .replace = true };
        other.seed++;
        assert_int_equal(generators[g](at(scratch, "a"), &small, &replace, &error), 0);
        assert_int_equal(generators[g](at(scratch, "b"), &small, &replace, &error), 0);
        assert_int_equal(generators[g](at(scratch, "c"), &other, &replace, &error), 0);
        for (int f = 0; f < 4; f++) {
            char a[64], b[64], c[64];
            snprintf(a, sizeof a, "a/%s", files[f]);
            snprintf(b, sizeof b, "b/%s", files[f]);
            snprintf(c, sizeof c, "c/%s", files[f]);
            uint64_t hash = hash_file(scratch, a);
            assert_int_equal(hash, hash_file(scratch, b));
            if (!(g == 1 && f == 2)) /* a block has the same nodes whatever the seed */
                assert_int_not_equal(hash, hash_file(scratch, c));
        }
    }
}

static void all_are_valid_graphs(void **state)
{
    struct scratch *scratch = *state;
    struct raw_write_options replace = { .replace = true };
    uint64_t *src = malloc(2 * 40000 * sizeof *src);
    for (int g = 0; g < 3; g++) {
        struct error error = { 0 };
        struct raw_graph *graph;
        assert_int_equal(generators[g](at(scratch, "a"), &small, &replace, &error), 0);
        assert_int_equal(raw_open(at(scratch, "a"), NULL, &graph, &error), 0);
        assert_int_equal(graph->num_nodes[0], 1003);
        assert_int_equal(graph->num_edges[0], 40000);
        assert_int_equal(raw_read_edges(graph, 0, 0, 40000, src, src + 40000, &error), 0);
        int parts = 0;
        uint8_t masks[3][1003];
        static const char *const names[] = { "train_mask", "val_mask", "test_mask" };
        for (int m = 0; m < 3; m++)
            assert_int_equal(raw_read_rows(graph,
                                           (uint32_t)raw_find_table(graph, false, 0, names[m]), 0,
                                           1003, masks[m], &error),
                             0);
        for (int i = 0; i < 1003; i++) {
            assert_int_equal(masks[0][i] + masks[1][i] + masks[2][i], 1);
            parts += masks[0][i];
        }
        /* Half of 1003 in training, within 5 standard deviations of sqrt(1003 / 4). */
        assert_in_range(parts, 501 - 80, 501 + 80);
        raw_close(graph);
    }
    free(src);
}

static void scatter_is_a_bijection(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 2, 3, 4, 10, 97, 1024, 65537 };
    for (size_t s = 0; s < 8; s++) {
        struct scatter_bijection scatter;
        scatter_init(&scatter, sizes[s]);
        for (uint64_t i = 0; i < sizes[s]; i++)
            assert_int_equal(scatter_invert(&scatter, scatter_apply(&scatter, i)), i);
    }
    struct scatter_bijection shared;
    scatter_init(&shared, UINT64_C(2654435761) * 6); /* shares the factor */
    assert_int_equal(scatter_invert(&shared, scatter_apply(&shared, 123456789)), 123456789);
    /* The first odd number from there on that shares nothing: graphs of a seed stay the same. */
    assert_int_equal(shared.factor, UINT64_C(2654435765));
}

static void blocks_hold_the_stated_share(void **state)
{
    (void)state;
    struct generate_options options = small;
    options.inside = 0.7;
    struct generate_draws draws;
    draws_init(&draws, &options);
    uint64_t *src = malloc(2 * 40000 * sizeof *src), *dst = src + 40000;
    draw_sbm(&draws, 0, 40000, src, dst);
    int inside = 0, sizes[5] = { 0 };
    for (int i = 0; i < 40000; i += 2) {
        assert_int_equal(src[i], dst[i + 1]);
        assert_int_equal(dst[i], src[i + 1]);
        inside += block_of(&draws, src[i]) == block_of(&draws, dst[i]);
    }
    /* 14,000 of 20,000, within 5 standard deviations of 65. */
    assert_in_range(inside, 14000 - 325, 14000 + 325);
    for (uint64_t i = 0; i < options.num_nodes; i++)
        sizes[block_of(&draws, i)]++;
    for (int b = 0; b < 5; b++)
        assert_in_range(sizes[b], 200, 201);
    free(src);
}

static void skew_is_the_square_of_a_uniform(void **state)
{
    (void)state;
    struct generate_draws draws;
    draws_init(&draws, &small);
    uint64_t *src = malloc(2 * 40000 * sizeof *src), *dst = src + 40000;
    draw_skew(&draws, 0, 40000, src, dst);
    int low = 0, low_sources = 0;
    for (int i = 0; i < 40000; i++) {
        low += dst[i] * 4 < small.num_nodes;
        low_sources += scatter_invert(&draws.scatter, src[i]) * 4 < small.num_nodes;
    }
    /* N u^2 < N / 4 has probability 1/2; 5 standard deviations are 500. */
    assert_in_range(low, 20000 - 520, 20000 + 520);
    assert_in_range(low_sources, 20000 - 520, 20000 + 520);
    free(src);
}

static void rmat_quadrants_have_their_shares(void **state)
{
    (void)state;
    struct generate_options options = small;
    options.num_nodes = 1024;
    options.a = 0.5, options.b = 0.2, options.c = 0.2, options.d = 0.1;
    struct generate_draws draws;
    draws_init(&draws, &options);
    uint64_t *src = malloc(2 * 40000 * sizeof *src), *dst = src + 40000;
    draw_rmat(&draws, 0, 40000, src, dst);
    int quadrants[4] = { 0 };
    for (int i = 0; i < 40000; i++) {
        bool low = scatter_invert(&draws.scatter, src[i]) >= 512;
        bool right = scatter_invert(&draws.scatter, dst[i]) >= 512;
        quadrants[2 * low + right]++;
    }
    static const int want[] = { 20000, 8000, 8000, 4000 };
    for (int q = 0; q < 4; q++)
        assert_in_range(quadrants[q], want[q] - 520, want[q] + 520);
    free(src);
}

static void features_tell_the_class(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_graph *graph;
    struct generate_options options = small;
    options.signal = 4;
    assert_int_equal(generate_sbm(at(scratch, "a"), &options, NULL, &error), 0);
    assert_int_equal(raw_open(at(scratch, "a"), NULL, &graph, &error), 0);
    static float rows[1003][6];
    static int64_t labels[1003];
    double means[5][6] = { { 0 } }, spread = 0;
    int counts[5] = { 0 };
    assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, false, 0, "feat"), 0,
                                   1003, rows, &error),
                     0);
    assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, false, 0, "label"), 0,
                                   1003, labels, &error),
                     0);
    for (int i = 0; i < 1003; i++, counts[labels[i - 1]]++)
        for (int f = 0; f < 6; f++)
            means[labels[i]][f] += rows[i][f];
    for (int i = 0; i < 1003; i++)
        for (int f = 0; f < 6; f++)
            spread += pow(rows[i][f] - means[labels[i]][f] / counts[labels[i]], 2) / (1003 * 6);
    /* Around its class's mean a feature has the variance of the noise, 1. */
    assert_true(spread > 0.9 && spread < 1.1);
    /* Each class has a mean of its own, drawn with a deviation of signal. */
    double apart = 0;
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < a; b++)
            for (int f = 0; f < 6; f++)
                apart += pow(means[a][f] / counts[a] - means[b][f] / counts[b], 2) / (10 * 6);
    assert_true(apart > 4 * 4 && apart < 8 * 8);
    raw_close(graph);
}

static void odd_sizes_work(void **state)
{
    struct scratch *scratch = *state;
    static const struct generate_options sizes[] = {
        { .num_nodes = 1, .num_edges = 3, .num_classes = 1, .inside = -1 },
        { .num_nodes = 2, .num_edges = 1, .num_classes = 2, .num_features = 1, .inside = -1 },
        { .num_nodes = 5, .num_edges = 0, .num_classes = 1, .num_features = 3, .inside = -1 },
        { .num_nodes = 0, .num_edges = 0, .inside = -1 },
    };
    struct raw_write_options replace = { .replace = true };
    for (int g = 0; g < 3; g++) {
        for (size_t s = 0; s < 4; s++) {
            struct error error = { 0 };
            struct raw_graph *graph;
            assert_int_equal(generators[g](at(scratch, "a"), &sizes[s], &replace, &error), 0);
            assert_int_equal(raw_open(at(scratch, "a"), NULL, &graph, &error), 0);
            assert_int_equal(graph->num_edges[0], sizes[s].num_edges);
            raw_close(graph);
        }
    }
}

static void wrong_sizes_are_refused(void **state)
{
    struct scratch *scratch = *state;
    struct error error;
    struct generate_options options = small;
    options.num_nodes = 0;
    assert_int_equal(generate_skew(at(scratch, "a"), &options, NULL, &error), TR_EINVAL);
    options = small;
    options.num_classes = 2000;
    assert_int_equal(generate_sbm(at(scratch, "a"), &options, NULL, &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "num_classes 2000");
    options.num_classes = 0;
    assert_int_equal(generate_sbm(at(scratch, "a"), &options, NULL, &error), TR_EINVAL);
    options = small;
    options.a = 0.9;
    assert_int_equal(generate_rmat(at(scratch, "a"), &options, NULL, &error), TR_EINVAL);
    options.a = NAN;
    assert_int_equal(generate_rmat(at(scratch, "a"), &options, NULL, &error), TR_EINVAL);
    options = small;
    options.num_nodes = UINT64_MAX;
    assert_int_equal(generate_rmat(at(scratch, "a"), &options, NULL, &error), TR_ETOOBIG);
    assert_int_equal(count_names(scratch), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_seed_same_bytes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(all_are_valid_graphs, scratch_setup, scratch_teardown),
        cmocka_unit_test(scatter_is_a_bijection),
        cmocka_unit_test(blocks_hold_the_stated_share),
        cmocka_unit_test(skew_is_the_square_of_a_uniform),
        cmocka_unit_test(rmat_quadrants_have_their_shares),
        cmocka_unit_test_setup_teardown(features_tell_the_class, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(odd_sizes_work, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(wrong_sizes_are_refused, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
