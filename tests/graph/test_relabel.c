/* SPDX-License-Identifier: Apache-2.0 */
/* Relabelling against a map that searches the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <troupe/error.h>

#include "graph/key.h"
#include "graph/relabel.h"

#define DRAWN 5000

/* Position of id in list[n], or n. */
static uint32_t plain_find(const uint64_t *list, uint32_t n, uint64_t id)
{
    uint32_t i = 0;
    while (i < n && list[i] != id)
        i++;
    return i;
}

/* Adds DRAWN ids below `range` (times spread) in pieces, and compares. */
static void check_batch(struct relabel *table, uint64_t key, uint64_t range, uint64_t spread,
                        uint32_t hint)
{
    static uint64_t ids[DRAWN], list[DRAWN];
    static uint32_t narrow[DRAWN], positions[DRAWN];
    uint64_t draw = 0;
    uint32_t n = 0, done = 0;
    assert_int_equal(relabel_reset(table, hint), 0);
    for (int i = 0; i < DRAWN; i++) {
        ids[i] = key_below(key, &draw, range) * spread;
        narrow[i] = (uint32_t)ids[i];
    }
    while (done < DRAWN) {
        uint32_t piece = (uint32_t)key_below(key, &draw, 400);
        piece = piece > DRAWN - done ? DRAWN - done : piece;
        int rv = range * spread <= UINT32_MAX && (piece & 1)
                     ? relabel_add_u32(table, narrow + done, piece, positions + done)
                     : relabel_add_u64(table, ids + done, piece, positions + done);
        assert_int_equal(rv, 0);
        done += piece;
    }
    for (int i = 0; i < DRAWN; i++) {
        uint32_t at = plain_find(list, n, ids[i]);
        if (at == n)
            list[n++] = ids[i];
        assert_int_equal(positions[i], at);
    }
    assert_int_equal(table->num_ids, n);
    assert_memory_equal(table->ids, list, n * sizeof *list);
    for (int i = 0; i < 200; i++) {
        uint64_t id = key_below(key, &draw, 2 * range) * spread;
        uint32_t at = plain_find(list, n, id);
        assert_int_equal(relabel_find(table, id), at == n ? UINT32_MAX : at);
    }
}

static void table_equals_the_map(void **state)
{
    (void)state;
    struct relabel table = { 0 };
    for (uint64_t round = 0; round < 12; round++) {
        uint32_t hint = round % 3 == 0 ? 0 : round % 3 == 1 ? 10000 : 1;
        check_batch(&table, round, 1 + round * 1000, 1, hint);
    }
    relabel_fini(&table);
}

/* IDs that differ in their upper half alone share a check word. */
static void wide_ids_are_told_apart(void **state)
{
    (void)state;
    struct relabel table = { 0 };
    check_batch(&table, 3, 2000, UINT64_C(1) << 32, 0);
    check_batch(&table, 4, 2000, UINT64_C(1) << 40, 0);
    check_batch(&table, 5, 9000, (UINT64_C(1) << 33) + 1, 0);
    relabel_fini(&table);
}

/* After 2^32 nodes the stamp wraps; what older batches left must not come back. */
static void stamps_wrap(void **state)
{
    (void)state;
    struct relabel table = { 0 };
    check_batch(&table, 6, 3000, 1, 0);
    table.stamp = UINT32_MAX - RELABEL_NODES_MAX - 4000;
    table.num_ids = 0;
    for (uint64_t round = 0; round < 4; round++)
        check_batch(&table, 7 + round, 3000, 1, 0);
    assert_in_range(table.stamp, 1, 20000);
    relabel_fini(&table);
}

static void bounds_are_kept(void **state)
{
    (void)state;
    struct relabel table = { 0 };
    assert_int_equal(relabel_find(&table, 1), UINT32_MAX);
    assert_int_equal(relabel_reset(&table, RELABEL_NODES_MAX + 1), TR_ETOOBIG);
    assert_int_equal(relabel_add_u32(&table, NULL, 0, NULL), 0);
    assert_int_equal(relabel_reset(&table, 0), 0);
    assert_non_null(table.entries);
    relabel_fini(&table);
    assert_null(table.entries);
    relabel_fini(&table);
}

/* A table keeps its memory: the second equal batch takes none. */
static void memory_is_reused(void **state)
{
    (void)state;
    struct relabel table = { 0 };
    check_batch(&table, 20, 4000, 1, 0);
    const struct relabel_entry *entries = table.entries;
    const uint64_t *ids = table.ids;
    check_batch(&table, 21, 4000, 1, 0);
    assert_ptr_equal(entries, table.entries);
    assert_ptr_equal(ids, table.ids);
    relabel_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_kept),         cmocka_unit_test(table_equals_the_map),
        cmocka_unit_test(wide_ids_are_told_apart), cmocka_unit_test(stamps_wrap),
        cmocka_unit_test(memory_is_reused),
    };
    return cmocka_run_group_tests_name("relabel", tests, NULL, NULL);
}
