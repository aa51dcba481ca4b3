/* SPDX-License-Identifier: Apache-2.0 */
/* Slabs of messages: what a flood took is given back when it drained, and may be taken again. */
#include "tests/runtime/support.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/message_pool.h"

#define BOUND ((size_t)64 << 20)
#define HEADS_MAX (BOUND / MESSAGE_CELL_MIN)

static const size_t heads[] = { 8, 100, 300, 700, 1500, 3000, KIND_HEAD_BYTES_MAX };

/* While it is set the system refuses to unmap, as at the most mappings that a process may have. */
static bool unmap_fails;

int munmap(void *base, size_t bytes)
{
    if (unmap_fails) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_munmap, base, bytes);
}

struct flood {
    struct message **messages;
    size_t count;
};

/* Takes until there is no more. */
static void fill(struct flood *flood, struct message_pool *pool, size_t head_bytes)
{
    struct message *message;
    while ((message = message_pool_take(pool, head_bytes)) != NULL) {
        assert_true(flood->count < HEADS_MAX);
        memset(message->head, 0xaa, head_bytes);
        flood->messages[flood->count++] = message;
    }
}

/* Gives all back in an order that no slab has. */
static void drain(struct flood *flood, struct message_pool *pool)
{
    uint64_t random = flood->count;
    while (flood->count > 0) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t at = (size_t)(random >> 33) % flood->count;
        struct message *message = flood->messages[at];
        flood->messages[at] = flood->messages[--flood->count];
        counter_add(&pool->given, 1);
        message_pool_give(pool, message);
    }
}

/* The bytes that a pool may keep when nothing is in use. */
static size_t idle_max(const struct account *account, uint32_t num_pools)
{
    size_t share = account->bound_bytes / 8 / num_pools;
    size_t most = share < MESSAGE_POOL_IDLE_BYTES_MAX ? share : MESSAGE_POOL_IDLE_BYTES_MAX;
    return most + MESSAGE_CELL_CLASSES * MESSAGE_SLAB_BYTES;
}

static void a_flood_is_given_back_when_it_has_drained(void **state)
{
    struct account account;
    struct message_pool pool;
    struct flood flood = { .messages = malloc(HEADS_MAX * sizeof *flood.messages) };
    (void)state;
    account_init(&account, "messages", BOUND);
    message_pool_init(&pool, &account, 1);
    for (int again = 0; again < 3; again++) {
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
            fill(&flood, &pool, heads[i]);
            /* All of the account, whatever sizes came before. */
            assert_int_equal(account_used(&account), BOUND);
            assert_true(flood.count >= (BOUND - BOUND / 8) / (MESSAGE_CELL_MIN << i));
            drain(&flood, &pool);
            assert_true(account_used(&account) <= idle_max(&account, 1));
        }
    }
    message_pool_fini(&pool);
    assert_int_equal(account_used(&account), 0);
    account_fini(&account);
    free(flood.messages);
}

static void what_one_loop_gave_back_another_can_take(void **state)
{
    struct account account;
    struct message_pool pools[4];
    struct flood flood = { .messages = malloc(HEADS_MAX * sizeof *flood.messages) };
    (void)state;
    account_init(&account, "messages", BOUND);
    for (size_t i = 0; i < 4; i++)
        message_pool_init(&pools[i], &account, 4);
    for (size_t i = 0; i < 12; i++) {
        fill(&flood, &pools[i % 4], heads[i % 7]);
        size_t left = account_used(&account) - flood.count * (MESSAGE_CELL_MIN << i % 7);
        assert_true(left < BOUND / 3); /* the others' idle slabs, and ends of slabs */
        drain(&flood, &pools[i % 4]);
    }
    for (size_t i = 0; i < 4; i++)
        message_pool_fini(&pools[i]);
    account_fini(&account);
    free(flood.messages);
}

/* However few slabs are kept, one message to and fro does not make and free one each time: the
 * account, which is charged for each that is made, refuses to make any. */
static void to_and_fro_makes_no_slab(void **state)
{
    struct account account;
    struct message_pool pool;
    (void)state;
    account_init(&account, "messages", MESSAGE_CELL_CLASSES * MESSAGE_SLAB_BYTES);
    message_pool_init(&pool, &account, 100);
    assert_int_equal(pool.num_empty_max, 0);
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
            struct message *message = message_pool_take(&pool, heads[i]);
            assert_non_null(message);
            size_t used = account_used(&account);
            counter_add(&pool.given, 1);
            message_pool_give(&pool, message);
            assert_int_equal(account_used(&account), used);
        }
    }
    message_pool_fini(&pool);
    account_fini(&account);
}

/* Slabs that cannot be unmapped stay charged and are used again, and go when they can be. */
static void slabs_that_stay_mapped_stay_charged(void **state)
{
    struct account account;
    struct message_pool pool;
    struct flood flood = { .messages = malloc(HEADS_MAX * sizeof *flood.messages) };
    (void)state;
    account_init(&account, "messages", BOUND);
    message_pool_init(&pool, &account, 1);
    fill(&flood, &pool, heads[0]);
    size_t count = flood.count;
    unmap_fails = true;
    drain(&flood, &pool);
    assert_int_equal(account_used(&account), BOUND);
    fill(&flood, &pool, heads[3]); /* of another size: nothing comes free for it */
    assert_int_equal(flood.count, 0);
    fill(&flood, &pool, heads[0]);
    assert_int_equal(flood.count, count);
    unmap_fails = false;
    drain(&flood, &pool);
    assert_true(account_used(&account) <= idle_max(&account, 1));
    unmap_fails = true;
    message_pool_fini(&pool);
    unmap_fails = false;
    assert_int_equal(account_used(&account), 0);
    account_fini(&account);
    free(flood.messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_is_given_back_when_it_has_drained),
        cmocka_unit_test(what_one_loop_gave_back_another_can_take),
        cmocka_unit_test(to_and_fro_makes_no_slab),
        cmocka_unit_test(slabs_that_stay_mapped_stay_charged),
    };
    return cmocka_run_group_tests_name("message_pool", tests, NULL, NULL);
}
