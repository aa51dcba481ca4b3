/* SPDX-License-Identifier: Apache-2.0 */
/* Gather and scatter of rows of any width, against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/error.h>

#include "graph/gather.h"
#include "graph/key.h"
#include "graph/permute.h"

#define TABLE_ROWS 500
#define N_MAX 300

struct job {
    uint32_t rows[N_MAX], places[N_MAX];
    unsigned char *table, *to;
};

static void check_way(struct job *job, size_t row_bytes, size_t n, int way)
{
    size_t bytes = n * row_bytes;
    memset(job->to, 0xee, bytes + 1);
    if (way == 0)
        gather_rows(job->to, job->table, row_bytes, job->rows, n);
    else if (way == 1)
        gather_rows_to(job->to, job->places, job->table, row_bytes, job->rows, n);
    else
        scatter_rows(job->to, job->places, job->table, row_bytes, n);
    for (size_t i = 0; i < n; i++) {
        size_t place = way >= 1 ? job->places[i] : i, row = way == 2 ? i : job->rows[i];
        assert_memory_equal(job->to + place * row_bytes, job->table + row * row_bytes, row_bytes);
    }
    assert_int_equal(job->to[bytes], 0xee);
}

static void check_width(size_t row_bytes)
{
    static const size_t sizes[] = { 0, 1, 2, 7, 64, 65, N_MAX };
    struct job *job = malloc(sizeof *job);
    /* Exact sizes, so that a sanitizer sees a byte too many. */
    job->table = malloc(TABLE_ROWS * row_bytes + 1);
    for (size_t i = 0; i < TABLE_ROWS * row_bytes; i++)
        job->table[i] = (unsigned char)key_mix(i);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        job->to = malloc(n * row_bytes + 1);
        for (uint32_t i = 0; i < n; i++) {
            job->rows[i] = (uint32_t)(key_mix(i + n) % TABLE_ROWS);
            job->places[i] = i;
        }
        permute_u32(job->places, n, row_bytes);
        for (int way = 0; way < 3; way++)
            check_way(job, row_bytes, n, way);
        free(job->to);
    }
    free(job->table);
    free(job);
}

static void rows_of_any_width_arrive(void **state)
{
    (void)state;
    static const size_t widths[] = { 0, 1, 2, 3, 4, 8, 12, 16, 60, 64, 65, 400, 1024, 4100, 9000 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        check_width(widths[i]);
}

static void rows_are_checked(void **state)
{
    (void)state;
    uint32_t rows[3] = { 0, 9, 3 };
    assert_int_equal(gather_check(rows, 3, 10), 0);
    assert_int_equal(gather_check(rows, 3, 9), TR_ERANGE);
    assert_int_equal(gather_check(rows, 0, 0), 0);
    assert_int_equal(gather_check(rows, 1, 0), TR_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_checked),
        cmocka_unit_test(rows_of_any_width_arrive),
    };
    return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
