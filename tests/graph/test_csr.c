/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse rows are widened to the bytes that a dense table has, in any type and order; an index or a
 * column that is wrong is found before it leads anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/csr.h"
#include "graph/key.h"

#define ROWS 37u
#define WIDTH 50u

struct sample {
    uint64_t index[ROWS + 1];
    uint32_t columns[ROWS * WIDTH];
    unsigned char values[ROWS * WIDTH * 8];
    unsigned char dense[ROWS * WIDTH * 8];
    struct csr_rows csr;
};

/* Some rows are empty, some are full; a stored element may be 0. */
static void make(struct sample *sample, enum tr_dtype dtype, bool ones)
{
    size_t size = tr_dtype_size(dtype);
    struct csr_one one = csr_one(dtype);
    memset(sample, 0, sizeof *sample);
    for (uint32_t r = 0; r < ROWS; r++) {
        uint64_t at = sample->index[r];
        for (uint32_t c = 0; c < WIDTH; c++) {
            uint64_t draw = key_mix((uint64_t)r * 1000 + c + (uint64_t)dtype);
            if (r % 7 == 3 || (r % 7 != 5 && draw % 5 != 0))
                continue;
            sample->columns[at] = c;
            memcpy(sample->values + at * size, &draw, size);
            memcpy(sample->dense + (r * WIDTH + c) * size,
                   ones ? (const void *)one.bytes : (const void *)&draw, size);
            at++;
        }
        sample->index[r + 1] = at;
    }
    sample->csr = (struct csr_rows){ .num_rows = ROWS,
                                     .width = WIDTH,
                                     .dtype = dtype,
                                     .row_nnz_max = WIDTH,
                                     .index = sample->index,
                                     .columns = sample->columns,
                                     .values = ones ? NULL : sample->values };
}

static const enum tr_dtype dtypes[] = { TR_F32, TR_F16, TR_BF16, TR_F64, TR_I8,
                                        TR_U8,  TR_I16, TR_I32,  TR_I64, TR_BOOL };
#define DTYPES (sizeof dtypes / sizeof *dtypes)

static void rows_are_widened_to_dense_bytes(void **state)
{
    (void)state;
    static struct sample sample;
    for (size_t d = 0; d < 2 * DTYPES; d++) {
        make(&sample, dtypes[d / 2], d % 2 == 1);
        size_t row_bytes = csr_row_bytes(&sample.csr);
        assert_int_equal(row_bytes, WIDTH * tr_dtype_size(dtypes[d / 2]));
        unsigned char *out = malloc(2 * ROWS * row_bytes);
        uint32_t rows[2 * ROWS], places[2 * ROWS];
        uint64_t count = 0;
        for (uint32_t i = 0; i < 2 * ROWS; i++) {
            rows[i] = i * 11 % ROWS;
            places[i] = i * 15 % (2 * ROWS);
            count += sample.index[rows[i] + 1] - sample.index[rows[i]];
        }
        assert_int_equal(csr_count(&sample.csr, rows, 2 * (size_t)ROWS), count);
        /* What was there before is gone. */
        memset(out, 0xee, 2 * ROWS * row_bytes);
        csr_widen(&sample.csr, rows, NULL, 2 * (size_t)ROWS, out);
        for (uint32_t i = 0; i < 2 * ROWS; i++)
            assert_memory_equal(out + i * row_bytes, sample.dense + rows[i] * row_bytes, row_bytes);
        memset(out, 0xee, 2 * ROWS * row_bytes);
        csr_widen(&sample.csr, rows, places, 2 * (size_t)ROWS, out);
        for (uint32_t i = 0; i < 2 * ROWS; i++)
            assert_memory_equal(out + places[i] * row_bytes, sample.dense + rows[i] * row_bytes,
                                row_bytes);
        free(out);
    }
}

static void one_is_one(void **state)
{
    (void)state;
    float f32;
    double f64;
    struct csr_one one = csr_one(TR_F32);
    memcpy(&f32, one.bytes, sizeof f32);
    assert_true(f32 == 1);
    one = csr_one(TR_F64);
    memcpy(&f64, one.bytes, sizeof f64);
    assert_true(f64 == 1);
    assert_memory_equal(csr_one(TR_F16).bytes, "\x00\x3c", 2);
    assert_memory_equal(csr_one(TR_BF16).bytes, "\x80\x3f", 2);
    assert_memory_equal(csr_one(TR_I16).bytes, "\x01\x00", 2);
    assert_memory_equal(csr_one(TR_BOOL).bytes, "\x01", 1);
}

static void faults_are_found(void **state)
{
    (void)state;
    static struct sample sample;
    uint64_t at = 0;
    make(&sample, TR_F32, false);
    uint64_t count = sample.index[ROWS];
    assert_int_equal(csr_check_index(&sample.csr, count, &at), CSR_FINE);
    assert_int_equal(csr_check_columns(&sample.csr, 0, ROWS, &at), CSR_FINE);
    assert_int_equal(csr_check_index(&sample.csr, count + 1, &at), CSR_END);
    assert_int_equal(csr_check_index(&sample.csr, count - 1, &at), CSR_END);
    assert_int_equal(at, ROWS);
    /* Row 5 is full: one less is too few, as many are enough. */
    sample.csr.row_nnz_max = WIDTH - 1;
    assert_int_equal(csr_check_index(&sample.csr, count, &at), CSR_LONG);
    assert_int_equal(at, 6);
    sample.csr.row_nnz_max = WIDTH;
    sample.index[0] = 1;
    assert_int_equal(csr_check_index(&sample.csr, count, &at), CSR_BEGIN);
    sample.index[0] = 0;
    uint64_t kept = sample.index[9];
    sample.index[9] = sample.index[8] - 1;
    assert_int_equal(csr_check_index(&sample.csr, count, &at), CSR_ORDER);
    assert_int_equal(at, 9);
    sample.index[9] = kept;
    uint64_t last = sample.index[6] - 1; /* of the full row: column WIDTH - 1 */
    sample.columns[last] = WIDTH;
    assert_int_equal(csr_check_columns(&sample.csr, 0, ROWS, &at), CSR_COLUMN);
    assert_int_equal(at, last);
    sample.columns[last] = WIDTH - 2; /* there again */
    assert_int_equal(csr_check_columns(&sample.csr, 0, ROWS, &at), CSR_COLUMNS);
    assert_int_equal(at, last);
    assert_int_equal(csr_check_columns(&sample.csr, 6, ROWS, &at), CSR_FINE);
    sample.columns[last] = WIDTH - 1;
    assert_int_equal(csr_check_columns(&sample.csr, 0, ROWS, &at), CSR_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_widened_to_dense_bytes),
        cmocka_unit_test(one_is_one),
        cmocka_unit_test(faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
