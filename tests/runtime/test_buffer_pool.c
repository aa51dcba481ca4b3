/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers come in sizes that are powers of two, whole huge pages above them; idle ones wait up to a
 * bound, and all are charged to the account until they are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/hotmem.h"
#include "runtime/core/buffer_pool.h"

#define LEAST ((size_t)1 << BUFFER_CLASS_MIN_SHIFT)
#define LARGEST (LEAST << (BUFFER_CLASSES - 1))

static void sizes_are_rounded_up(void **state)
{
    static const struct {
        size_t bytes, capacity;
    } cases[] = {
        { 0, LEAST },
        { 1, LEAST },
        { LEAST, LEAST },
        { LEAST + 1, 2 * LEAST },
        { 2 * LEAST, 2 * LEAST },
        { 3 * LEAST, 4 * LEAST },
        { 1000000, 1 << 20 },
        { LARGEST, LARGEST },
        { LARGEST + 1, LARGEST + HOTMEM_HUGE_BYTES },
        { LARGEST + HOTMEM_HUGE_BYTES - 1, LARGEST + HOTMEM_HUGE_BYTES },
        { LARGEST + HOTMEM_HUGE_BYTES, LARGEST + HOTMEM_HUGE_BYTES },
        { LARGEST + HOTMEM_HUGE_BYTES + 1, LARGEST + 2 * HOTMEM_HUGE_BYTES },
    };
    struct account account;
    struct buffer_pool pool;
    (void)state;
    account_init(&account, "buffers", SIZE_MAX);
    buffer_pool_init(&pool, &account, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer *buffer = buffer_create_any(&account, cases[i].bytes);
        assert_non_null(buffer);
        assert_int_equal(buffer->capacity, cases[i].capacity);
        assert_int_equal(account_used(&account), cases[i].capacity);
        buffer_destroy_any(buffer);
        assert_int_equal(account_used(&account), 0);
        buffer = buffer_pool_take(&pool, cases[i].bytes);
        assert_non_null(buffer);
        assert_int_equal(buffer->capacity, cases[i].capacity);
        assert_int_equal(account_used(&account), cases[i].capacity);
        buffer_pool_give(&pool, buffer);
        /* Those above the largest size are not kept. */
        assert_int_equal(account_used(&account),
                         cases[i].capacity > LARGEST ? 0 : cases[i].capacity);
        buffer_pool_fini(&pool);
        assert_int_equal(account_used(&account), 0);
    }
    assert_null(buffer_pool_take(&pool, BUFFER_BYTES_MAX + 1));
    assert_null(buffer_create_any(NULL, BUFFER_BYTES_MAX + 1));
    assert_int_equal(account_used(&account), 0);
    account_fini(&account);
}

/* Idle ones of a pool are at most its share of half the account, or the pool's bound. */
static void idle_buffers_wait_up_to_a_bound(void **state)
{
    struct account account;
    struct buffer_pool pool;
    struct buffer *taken[5];
    (void)state;
    account_init(&account, "buffers", 24 * LEAST);
    buffer_pool_init(&pool, &account, 4);
    assert_int_equal(pool.idle_bytes_max, 3 * LEAST);
    for (int i = 0; i < 5; i++)
        assert_non_null(taken[i] = buffer_pool_take(&pool, LEAST));
    assert_int_equal(account_used(&account), 5 * LEAST);
    for (int i = 0; i < 5; i++) {
        buffer_pool_give(&pool, taken[i]);
        assert_int_equal(pool.idle_bytes, (i < 3 ? (size_t)i + 1 : 3) * LEAST);
    }
    assert_int_equal(account_used(&account), 3 * LEAST);
    /* The last that came is the first that goes: it may still be in the cache. */
    struct buffer *again = buffer_pool_take(&pool, LEAST / 2);
    assert_ptr_equal(again, taken[2]);
    assert_int_equal(pool.idle_bytes, 2 * LEAST);
    assert_int_equal(account_used(&account), 3 * LEAST);
    buffer_pool_give(&pool, again);
    buffer_pool_fini(&pool);
    assert_int_equal(account_used(&account), 0);
    account_fini(&account);
    account_init(&account, "buffers", SIZE_MAX);
    buffer_pool_init(&pool, &account, 1);
    assert_int_equal(pool.idle_bytes_max, BUFFER_POOL_IDLE_BYTES_MAX);
    buffer_pool_fini(&pool);
    account_fini(&account);
}

static void idle_buffers_give_way_to_another_size(void **state)
{
    struct account account;
    struct buffer_pool pool;
    (void)state;
    account_init(&account, "buffers", 8 * LEAST);
    buffer_pool_init(&pool, &account, 1);
    struct buffer *small = buffer_pool_take(&pool, LEAST), *other = buffer_pool_take(&pool, LEAST);
    assert_true(small != NULL && other != NULL);
    assert_null(buffer_pool_take(&pool, 8 * LEAST));
    buffer_pool_give(&pool, small);
    assert_int_equal(account_used(&account), 2 * LEAST);
    assert_null(buffer_pool_take(&pool, 8 * LEAST)); /* one is still in use */
    assert_int_equal(account_used(&account), LEAST);
    assert_int_equal(pool.idle_bytes, 0);
    buffer_pool_give(&pool, other);
    struct buffer *large = buffer_pool_take(&pool, 8 * LEAST);
    assert_non_null(large);
    assert_int_equal(account_used(&account), 8 * LEAST);
    assert_null(buffer_create_any(&account, 1));
    buffer_pool_give(&pool, large);
    assert_int_equal(account_used(&account), 0); /* more than its share of idle ones */
    assert_int_equal(counter_get(&pool.taken), 3);
    assert_int_equal(counter_get(&pool.given), 3);
    buffer_pool_fini(&pool);
    account_fini(&account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_rounded_up),
        cmocka_unit_test(idle_buffers_wait_up_to_a_bound),
        cmocka_unit_test(idle_buffers_give_way_to_another_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
