/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces below a layer against plain loops: products, conversions, masks, gathering. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <cmocka.h>

#include "config.h"
#include "graph/key.h"
#include "model/features.h"
#include "model/kernels.h"
#include "model/matmul.h"
#include "model/tensor.h"

static void fill(float *values, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = 2 * key_float(key_mix(seed), i) - 1;
}

static void test_products(void **state)
{
    (void)state;
    enum { ROWS = 33, IN = 7, OUT = 5 };
    float x[ROWS * IN], w[OUT * IN], y[ROWS * OUT], dx[ROWS * IN], dw[OUT * IN];
    fill(x, ROWS * IN, 1);
    fill(w, OUT * IN, 2);
    matmul_single_threaded();
    matmul_forward(ROWS, IN, OUT, x, w, 0, y);
    for (int r = 0; r < ROWS; r++) {
        for (int o = 0; o < OUT; o++) {
            double sum = 0;
            for (int i = 0; i < IN; i++)
                sum += (double)x[r * IN + i] * (double)w[o * IN + i];
            assert_true(fabs(sum - (double)y[r * OUT + o]) < 1e-5);
        }
    }
    matmul_backward(ROWS, IN, OUT, y, w, dx);
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < IN; i++) {
            double sum = 0;
            for (int o = 0; o < OUT; o++)
                sum += (double)y[r * OUT + o] * (double)w[o * IN + i];
            assert_true(fabs(sum - (double)dx[r * IN + i]) < 1e-5);
        }
    }
    fill(dw, OUT * IN, 3);
    float before = dw[OUT * IN - 1];
    matmul_gradient(ROWS, IN, OUT, y, x, 1, dw);
    double sum = (double)before;
    for (int r = 0; r < ROWS; r++)
        sum += (double)y[r * OUT + OUT - 1] * (double)x[r * IN + IN - 1];
    assert_true(fabs(sum - (double)dw[OUT * IN - 1]) < 1e-4);
}

static void test_products_over_nothing_are_zero(void **state)
{
    (void)state;
    float y[6] = { 1, 2, 3, 4, 5, 6 }, none = 0;
    matmul_forward(2, 0, 3, &none, &none, 1, y);
    assert_true(y[5] == 6);
    matmul_forward(2, 0, 3, &none, &none, 0, y);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == 0);
    y[0] = 7;
    matmul_gradient(0, 2, 3, &none, &none, 0, y);
    assert_true(y[0] == 0);
    matmul_forward(0, 2, 3, &none, &none, 0, y);
}

static void test_lanes_cover_every_block_once(void **state)
{
    (void)state;
    for (size_t rows = 0; rows < 60000; rows += 509) {
        struct lanes lanes = matmul_lanes(rows);
        assert_true(lanes.count <= MATMUL_LANES_MAX);
        assert_true(lanes.count * lanes.blocks_per_lane >= lanes.blocks);
        assert_true(lanes.count == 0 || (lanes.count - 1) * lanes.blocks_per_lane < lanes.blocks);
        assert_true(lanes.blocks * MATMUL_ROWS >= rows);
    }
    /* As many blocks as lanes, or twice as many, fill all lanes; one more does not fit. */
    for (size_t each = 1; each < 4; each++) {
        assert_int_equal(matmul_lanes(MATMUL_LANES_MAX * MATMUL_ROWS * each).blocks_per_lane, each);
        assert_int_equal(matmul_lanes(MATMUL_LANES_MAX * MATMUL_ROWS * each).count,
                         MATMUL_LANES_MAX);
        assert_int_equal(matmul_lanes(MATMUL_LANES_MAX * MATMUL_ROWS * each + 1).blocks_per_lane,
                         each + 1);
    }
}

static void test_conversions(void **state)
{
    (void)state;
    const uint16_t half[] = { 0x3c00, 0xc000, 0x0001, 0x7bff, 0x8000, 0x7c00, 0xfc00 };
    const float half_values[] = { 1, -2, 0x1p-24f, 65504, -0.0f, INFINITY, -INFINITY };
    float out[7];
    features_convert(TR_F16, half, 7, out);
    assert_memory_equal(out, half_values, sizeof out);
    const uint16_t nan_half = 0x7e00;
    features_convert(TR_F16, &nan_half, 1, out);
    assert_true(isnan(out[0]));
    const uint16_t brain[] = { 0x3f80, 0xc000 };
    features_convert(TR_BF16, brain, 2, out);
    assert_true(out[0] == 1 && out[1] == -2);
    const int64_t wide[] = { -5, INT64_C(1) << 40 };
    features_convert(TR_I64, wide, 2, out);
    assert_true(out[0] == -5 && out[1] == 0x1p40f);
    const uint8_t bytes[] = { 0, 7 };
    features_convert(TR_BOOL, bytes, 2, out);
    assert_true(out[0] == 0 && out[1] == 1);
    features_convert(TR_U8, bytes, 2, out);
    assert_true(out[1] == 7);
    const double real[] = { 0.1 };
    features_convert(TR_F64, real, 1, out);
    assert_true(out[0] == 0.1f);
}

static void test_normalising(void **state)
{
    (void)state;
    enum { WIDTH = 37 };
    float row[WIDTH] = { 1, -3, 0, 4 }, zeros[] = { 0, -0.0f };
    for (size_t v = 0; kernels_variant(v) != NULL; v++) {
        const struct kernels *kernels = kernels_variant(v);
        assert_true(features_norm(kernels, row, 4) == 0.125f);
        assert_true(features_norm(kernels, zeros, 2) == 1);
        assert_true(features_norm(kernels, zeros, 0) == 1);
    }
    for (int i = 0; i < WIDTH; i++)
        row[i] = (i % 2 ? -1.0f : 1.0f) * (float)(i + 1) / 7;
    for (size_t width = 1; width <= WIDTH; width++) {
        double sum = (double)width * (double)(width + 1) / 14;
        float norm = features_norm(kernels_variant(0), row, width);
        assert_true(fabs((double)norm * sum - 1) < 1e-6);
        for (size_t v = 1; kernels_variant(v) != NULL; v++)
            assert_true(features_norm(kernels_variant(v), row, width) == norm);
    }
}

/* The mask is key_draw's bits, about the right number of elements goes, and the mean stays. */
static void test_dropout(void **state)
{
    (void)state;
    enum { WIDTH = 301, ROWS = 200 };
    struct dropout dropout = dropout_make(0.3f, 12345);
    float ones[WIDTH], out[WIDTH];
    size_t kept = 0;
    for (int i = 0; i < WIDTH; i++)
        ones[i] = 1;
    for (size_t row = 0; row < ROWS; row++) {
        kernels_best()->drop(out, ones, WIDTH, &dropout, row);
        for (size_t i = 0; i < WIDTH; i++) {
            uint64_t word = key_draw(12345, row * ((WIDTH + 3) / 4) + i / 4);
            bool expected = (word >> (16 * (i % 4)) & 0xffff) >= dropout.threshold;
            assert_true(out[i] == (expected ? dropout.scale : 0.0f));
            kept += expected;
        }
    }
    double n = WIDTH * ROWS, deviation = ((double)kept - 0.7 * n) / sqrt(n * 0.3 * 0.7);
    assert_true(fabs(deviation) < 4);
    assert_true(fabs((double)dropout.scale - 1 / 0.7) < 1e-4);
    assert_int_equal(dropout_make(0, 1).threshold, 0);
}

static void test_gather_and_its_exceptions(void **state)
{
    (void)state;
    enum { WIDTH = 39, ROWS = 50 };
    const uint32_t ids[] = { 3, 49, 3, 7, 0, 12, 7 };
    float rows[ROWS * WIDTH], scales[ROWS], weights[7], out[WIDTH];
    fill(rows, ROWS * WIDTH, 4);
    fill(scales, ROWS, 5);
    fill(weights, 7, 6);
    for (size_t v = 0; kernels_variant(v) != NULL; v++) {
        struct gather_list list = {
            .ids = ids, .count = 7, .readable = 7, .scales = scales, .skip = 7
        };
        for (int weighted = 0; weighted < 2; weighted++) {
            list.weights = weighted ? weights : NULL;
            kernels_variant(v)->gather(out, WIDTH, rows, &list);
            for (int i = 0; i < WIDTH; i++) {
                float sum = 0;
                for (int e = 0; e < 7; e++) {
                    float factor = scales[ids[e]] * (weighted ? weights[e] : 1);
                    sum += ids[e] == 7 ? 0 : rows[ids[e] * WIDTH + (uint32_t)i] * factor;
                }
                assert_true(out[i] == sum);
            }
        }
        list = (struct gather_list){ .ids = ids, .readable = 7, .skip = KERNELS_NO_ID };
        kernels_variant(v)->gather(out, WIDTH, rows, &list);
        assert_true(out[0] == 0 && out[WIDTH - 1] == 0);
    }
}

static void test_relu_lets_nan_through(void **state)
{
    (void)state;
    float row[20], bias[20] = { 0 };
    struct dropout none = dropout_make(0, 0);
    for (int i = 0; i < 20; i++)
        row[i] = i % 3 == 0 ? nanf("") : (float)(i % 3) - 1.5f;
    kernels_best()->activate(row, bias, 20, &none, 0);
    for (int i = 0; i < 20; i++)
        assert_true(i % 3 == 0 ? isnan(row[i]) : row[i] == (i % 3 == 2 ? 0.5f : 0.0f));
}

#define WIDTH_MOST 70

/* A loop makes the right value of each element, and leaves alone the one behind the last. */
static void assert_loop(const float *is, const float *should, size_t width, float behind)
{
    for (size_t i = 0; i < width; i++)
        assert_true(is[i] == should[i]);
    assert_true(is[width] == behind);
}

/* Vectors, halves of them and single elements: each width has its own split. */
static void test_loops_are_their_definitions_at_every_width(void **state)
{
    (void)state;
    float x[WIDTH_MOST + 1], y[WIDTH_MOST + 1], to[WIDTH_MOST + 1], want[WIDTH_MOST + 1];
    const struct dropout none = dropout_make(0, 0), some = dropout_make(0.4f, 77);
    fill(x, WIDTH_MOST + 1, 6);
    fill(y, WIDTH_MOST + 1, 7);
    for (size_t i = 0; i < WIDTH_MOST; i += 5)
        y[i] = 0; /* no more let through than what is below */
    for (size_t v = 0; kernels_variant(v) != NULL; v++) {
        const struct kernels *kernels = kernels_variant(v);
        for (size_t width = 0; width <= WIDTH_MOST; width++) {
            float last = y[width];
            memcpy(to, y, sizeof to);
            kernels->axpy(to, x, 0.5f, width);
            for (size_t i = 0; i < width; i++)
                want[i] = y[i] + x[i] * 0.5f;
            assert_loop(to, want, width, last);
            memcpy(to, y, sizeof to);
            kernels->scale(to, -3, width);
            for (size_t i = 0; i < width; i++)
                want[i] = y[i] * -3;
            assert_loop(to, want, width, last);
            memcpy(to, x, sizeof to);
            kernels->deactivate(to, y, 1.5f, width);
            for (size_t i = 0; i < width; i++)
                want[i] = y[i] > 0 ? x[i] * 1.5f : 0;
            assert_loop(to, want, width, x[width]);
            memcpy(to, y, sizeof to);
            kernels->activate(to, x, width, &none, 3);
            for (size_t i = 0; i < width; i++)
                want[i] = y[i] + x[i] > 0 ? y[i] + x[i] : 0;
            assert_loop(to, want, width, last);
            memcpy(to, y, sizeof to);
            kernels->activate(to, x, width, &some, 3);
            for (size_t i = 0; i < width; i++) {
                uint64_t word = key_draw(77, 3 * ((width + 3) / 4) + i / 4);
                if ((word >> (16 * (i % 4)) & 0xffff) < some.threshold)
                    want[i] = 0;
                want[i] *= some.scale;
            }
            assert_loop(to, want, width, last);
        }
    }
}

/* The share that goes is rounded to a 65536th, and never all. */
static void test_dropout_rates_at_their_ends(void **state)
{
    (void)state;
    static const struct {
        float rate;
        uint32_t threshold;
    } cases[] = {
        { 0.25f / 65536, 0 }, { 0.75f / 65536, 1 },        { 1.25f / 65536, 1 },
        { 0.5f, 32768 },      { 65534.0f / 65536, 65534 }, { 65535.0f / 65536, 65535 },
        { 1, 65535 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dropout dropout = dropout_make(cases[i].rate, 5);
        assert_int_equal(dropout.threshold, cases[i].threshold);
        assert_true(dropout.scale == 65536.0f / (65536.0f - (float)cases[i].threshold));
        assert_int_equal(dropout.key, 5);
    }
}

/* The best is the last of those that there are. */
static void test_variants_are_counted_to_the_last(void **state)
{
    (void)state;
    size_t count = 0;
    while (kernels_variant(count) != NULL)
        count++;
    assert_true(count >= 1);
    assert_ptr_equal(kernels_best(), kernels_variant(count - 1));
    assert_string_equal(kernels_variant(0)->name, "baseline");
}

static void test_memory_is_kept_and_bounded(void **state)
{
    (void)state;
    struct tensor tensor = { 0 };
    assert_int_equal(tensor_resize(&tensor, 100, 30), 0);
    const float *data = tensor.data;
    assert_int_equal(tensor_resize(&tensor, 110, 30), 0);
    assert_ptr_equal(tensor.data, data);
    assert_int_equal(tensor_resize(&tensor, SIZE_MAX / 2, 3), TR_ETOOBIG);
    assert_int_equal(tensor_resize(&tensor, SIZE_MAX / 4, 1), TR_ETOOBIG);
    assert_int_equal(tensor_resize(&tensor, SIZE_MAX / 16, 1), TR_ENOMEM);
    assert_int_equal(tensor.rows, 110);
    tensor_fini(&tensor);
}

#ifdef HAVE_OPENBLAS
/* Others' products have their threads again when the last that held them releases them. */
static void test_held_threads_are_given_back(void **state)
{
    (void)state;
    openblas_set_num_threads(2);
    int before = openblas_get_num_threads(); /* 1 where OpenBLAS was built without threads */
    matmul_hold_single_threaded();
    assert_int_equal(openblas_get_num_threads(), 1);
    matmul_hold_single_threaded();
    matmul_release_threads();
    assert_int_equal(openblas_get_num_threads(), 1);
    matmul_release_threads();
    assert_int_equal(openblas_get_num_threads(), before);
    matmul_hold_single_threaded();
    matmul_single_threaded();
    matmul_release_threads();
    assert_int_equal(openblas_get_num_threads(), 1);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_kept_and_bounded),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_products_over_nothing_are_zero),
        cmocka_unit_test(test_lanes_cover_every_block_once),
#ifdef HAVE_OPENBLAS
        cmocka_unit_test(test_held_threads_are_given_back),
#endif
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_normalising),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_gather_and_its_exceptions),
        cmocka_unit_test(test_relu_lets_nan_through),
        cmocka_unit_test(test_loops_are_their_definitions_at_every_width),
        cmocka_unit_test(test_dropout_rates_at_their_ends),
        cmocka_unit_test(test_variants_are_counted_to_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
