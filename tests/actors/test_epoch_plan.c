/* SPDX-License-Identifier: Apache-2.0 */
/* Every seed is dealt once an epoch, evenly, in one order that all ranks share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/data/epoch_plan.h"
#include "actors/data/seed_set.h"
#include "graph/key.h"
#include "graph/permute.h"
#include "graph/vec.h"
#include "schemas/messages.h"
#include "tests/graph/statistics.h"
#include "tests/schemas/random.h"

#define SEEDS_MAX 3000u

static struct epoch_plan draw_plan(uint64_t *state)
{
    return (struct epoch_plan){
        .num_seeds = random_below(state, SEEDS_MAX),
        .batch_size = 1 + (uint32_t)random_below(state, 300),
        .world = 1 + (uint32_t)random_below(state, 9),
        .drop_last = random_below(state, 2) == 1,
    };
}

static void steps_share_out_all_seeds_evenly(void **unused)
{
    uint64_t state = 1;
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct epoch_plan plan = draw_plan(&state);
        uint64_t at = 0, size = (uint64_t)plan.batch_size * plan.world;
        for (uint64_t step = 0; step < epoch_plan_steps(&plan); step++) {
            uint32_t least = UINT32_MAX, most = 0, together = 0, step_seeds = 0;
            for (plan.rank = 0; plan.rank < plan.world; plan.rank++) {
                uint64_t begin;
                uint32_t count;
                epoch_plan_step(&plan, step, &begin, &count, &step_seeds);
                assert_int_equal(begin, at);
                at += count;
                together += count;
                least = count < least ? count : least;
                most = count > most ? count : most;
            }
            assert_int_equal(together, step_seeds);
            assert_true(most - least <= 1 && most <= plan.batch_size);
        }
        uint64_t dropped = plan.num_seeds - at;
        assert_int_equal(dropped, plan.drop_last ? plan.num_seeds % size : 0);
    }
}

/* Groups as a deal makes them: lower ranks have the larger shares. */
static uint64_t share_of(uint64_t all, uint32_t rank, uint32_t world)
{
    return all / world + (rank < all % world);
}

static void dealt_seeds_take_as_many_steps_on_every_rank(void **unused)
{
    uint64_t state = 2;
    uint32_t empty = 0;
    (void)unused;
    for (int round = 0; round < 500; round++) {
        struct epoch_plan whole = draw_plan(&state), plan = whole;
        uint64_t all = plan.num_seeds, dealt = 0;
        uint64_t dropped = plan.drop_last ? all % ((uint64_t)plan.batch_size * plan.world) : 0;
        plan.all_seeds = all;
        for (uint64_t step = 0; step < epoch_plan_steps(&whole); step++) {
            uint32_t least = UINT32_MAX, most = 0, together = 0, seeds, count;
            uint64_t begin;
            epoch_plan_step(&whole, step, &begin, &count, &seeds);
            for (plan.rank = 0; plan.rank < plan.world; plan.rank++) {
                uint32_t step_seeds;
                plan.num_seeds = share_of(all, plan.rank, plan.world);
                assert_int_equal(epoch_plan_steps(&plan), epoch_plan_steps(&whole));
                epoch_plan_step(&plan, step, &begin, &count, &step_seeds);
                assert_int_equal(begin, step * plan.batch_size);
                assert_true(begin + count <= plan.num_seeds && count <= plan.batch_size);
                assert_int_equal(step_seeds, seeds);
                empty += count == 0;
                together += count;
                least = count < least ? count : least;
                most = count > most ? count : most;
            }
            assert_int_equal(together, seeds);
            assert_true(most - least <= 1);
            dealt += together;
        }
        assert_int_equal(dealt, all - dropped);
    }
    assert_true(empty > 0);
}

static void uneven_groups_have_no_plan(void **unused)
{
    struct msg_loader_open open = {
        .num_seeds = 4, .all_seeds = 10, .batch_size = 2, .rank = 2, .world = 3
    };
    struct epoch_plan plan;
    (void)unused;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), 0);
    open.num_seeds = 3;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), 0);
    open.num_seeds = 5;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), TR_EINVAL);
    open.num_seeds = 2;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), TR_EINVAL);
    open.num_seeds = 4;
    open.all_seeds = 9;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), TR_EINVAL);
    open.all_seeds = (UINT64_C(1) << 40) + 1;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), TR_ETOOBIG);
    open.all_seeds = 0;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), 0);
    open.rank = 3;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), TR_EINVAL);
}

static void bounds_do_not_overflow(void **unused)
{
    (void)unused;
    struct epoch_plan plan = { .num_seeds = UINT32_MAX,
                               .batch_size = UINT32_MAX,
                               .world = UINT32_MAX,
                               .rank = UINT32_MAX - 1 };
    uint64_t begin;
    uint32_t count, step_seeds;
    assert_int_equal(epoch_plan_steps(&plan), 1);
    epoch_plan_step(&plan, 0, &begin, &count, &step_seeds);
    assert_int_equal(begin, UINT32_MAX - 1);
    assert_int_equal(count, 1);
    assert_int_equal(step_seeds, UINT32_MAX);
    plan.drop_last = true;
    assert_int_equal(epoch_plan_steps(&plan), 0);
}

static void a_step_of_a_huge_set_is_bounded(void **unused)
{
    struct msg_loader_open open = {
        .num_seeds = UINT64_C(1) << 40, .batch_size = 1u << 31, .rank = 1, .world = 2
    };
    struct epoch_plan plan;
    uint64_t begin;
    uint32_t count, step_seeds;
    (void)unused;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), TR_ETOOBIG);
    open.batch_size--;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), 0);
    assert_int_equal(epoch_plan_steps(&plan), 257);
    epoch_plan_step(&plan, 255, &begin, &count, &step_seeds);
    assert_int_equal(begin, 255 * (UINT64_C(1) << 32) - 2 * 255 + ((UINT64_C(1) << 31) - 1));
    assert_int_equal(count, (1u << 31) - 1);
    epoch_plan_step(&plan, 256, &begin, &count, &step_seeds);
    assert_int_equal(step_seeds, 512);
    assert_int_equal(begin + count, open.num_seeds);
    open.num_seeds = 100; /* a step is the whole set, however large it might be */
    open.batch_size = UINT32_MAX;
    assert_int_equal(epoch_plan_init(&plan, &open, NULL), 0);
}

/* order[SEEDS_MAX or less] */
static void make_order(struct epoch_order *order, const struct epoch_plan *plan, uint32_t epoch,
                       uint32_t *out)
{
    assert_int_equal(epoch_order_make(order, plan, epoch), 0);
    assert_true(order->ready && order->epoch == epoch);
    for (uint32_t i = 0; i < SEEDS_MAX; i++)
        out[i] = (uint32_t)epoch_order_at(order, i);
}

static void assert_permutation(const struct epoch_order *order, uint64_t num_seeds)
{
    uint8_t *seen = calloc(num_seeds, 1);
    assert_non_null(seen);
    for (uint64_t i = 0; i < num_seeds; i++) {
        uint64_t seed = epoch_order_at(order, i);
        assert_true(seed < num_seeds && seen[seed] == 0);
        seen[seed] = 1;
    }
    free(seen);
}

static void an_order_is_a_permutation_that_seed_and_epoch_choose(void **unused)
{
    static const uint64_t sizes[] = { SEEDS_MAX, EPOCH_LISTED_MAX - 1, EPOCH_LISTED_MAX,
                                      EPOCH_LISTED_MAX + 1, 200000 };
    static uint32_t last[SEEDS_MAX], made[SEEDS_MAX];
    struct epoch_order order = { 0 };
    (void)unused;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct epoch_plan plan = {
            .num_seeds = sizes[i], .seed = 9, .batch_size = 10, .world = 3, .shuffle = true
        };
        struct epoch_plan other = plan;
        other.rank = 2;
        other.batch_size = 77;
        for (uint32_t epoch = 0; epoch < 3; epoch++) {
            make_order(&order, &plan, epoch, made);
            assert_int_equal(order.listed, sizes[i] < EPOCH_LISTED_MAX);
            assert_permutation(&order, sizes[i]);
            assert_true(epoch == 0 || memcmp(last, made, sizeof last) != 0);
            memcpy(last, made, sizeof last);
            /* Another rank, another batch size: the same order. */
            make_order(&order, &other, epoch, made);
            assert_memory_equal(last, made, sizeof last);
        }
        /* Each rank has an order of its own for dealt seeds; the first one's is that of all. */
        other.all_seeds = 3 * sizes[i];
        make_order(&order, &other, 2, made);
        assert_memory_not_equal(last, made, sizeof last);
        other.rank = 0;
        make_order(&order, &other, 2, made);
        assert_memory_equal(last, made, sizeof last);
        plan.seed++;
        make_order(&order, &plan, 2, made);
        assert_memory_not_equal(last, made, sizeof last);
    }
    epoch_order_fini(&order);
}

/* Sets below 2^16 are shuffled as they always were: by Fisher and Yates with the epoch's key. */
static void small_orders_are_the_shuffled_list(void **unused)
{
    static uint32_t list[EPOCH_LISTED_MAX];
    const struct epoch_plan plan = {
        .num_seeds = EPOCH_LISTED_MAX - 1, .seed = 77, .batch_size = 1, .world = 1, .shuffle = true
    };
    const struct draw_key key = { .seed = 77, .purpose = KEY_SHUFFLE, .epoch = 5 };
    struct epoch_order order = { 0 };
    (void)unused;
    for (uint32_t i = 0; i < plan.num_seeds; i++)
        list[i] = i;
    permute_u32(list, plan.num_seeds, key_base(&key));
    assert_int_equal(epoch_order_make(&order, &plan, 5), 0);
    for (uint32_t i = 0; i < plan.num_seeds; i++)
        assert_int_equal(epoch_order_at(&order, i), list[i]);
    epoch_order_fini(&order);
}

/* In each of ten equal pieces of an epoch a type is expected as often as in any other; a piece that
 * has more of one has less of the others, which the factor accounts for. */
static void several_types_are_mixed_evenly(void **unused)
{
    enum { TYPES = 3, PIECES = 10 };
    static const uint64_t counts[][TYPES] = {
        { 20, 30, 50 }, { 1, 0, 99 }, { 500, 400, 100 }, { 20000, 30000, 20000 }
    };
    (void)unused;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct msg_seed_segment segments[TYPES] = { { 0 } };
        struct msg_loader_open open = { .seeds = MSG_SEEDS_SEVERAL,
                                        .num_segments = TYPES,
                                        .seed = 7,
                                        .batch_size = 10,
                                        .world = 1,
                                        .flags = MSG_LOADER_SHUFFLE };
        uint64_t met[TYPES][PIECES] = { { 0 } };
        struct epoch_order order = { 0 };
        struct epoch_plan plan;
        struct seed_set set;
        for (uint32_t t = 0; t < TYPES; t++) {
            segments[t] = (struct msg_seed_segment){ .ntype = t,
                                                     .seeds = MSG_SEEDS_GIVEN,
                                                     .num_seeds = counts[i][t] };
            open.num_seeds += counts[i][t];
        }
        const uint32_t epochs = open.num_seeds < 10000 ? 400 : 40;
        assert_int_equal(seed_set_init(&set, &open, segments, sizeof segments), 0);
        assert_int_equal(epoch_plan_init(&plan, &open, NULL), 0);
        for (uint32_t epoch = 0; epoch < epochs; epoch++) {
            assert_int_equal(epoch_order_make(&order, &plan, epoch), 0);
            for (uint64_t at = 0; at < open.num_seeds; at++) {
                uint64_t place = epoch_order_at(&order, at);
                met[seed_set_find(&set, place)][at * PIECES / open.num_seeds]++;
            }
        }
        for (uint32_t t = 0; t < TYPES; t++) {
            double all = (double)open.num_seeds, some = (double)counts[i][t];
            if (some > 0)
                assert_uniform_scaled(met[t], PIECES, some * epochs, (all - some) / (all - 1));
        }
        epoch_order_fini(&order);
        seed_set_fini(&set);
    }
}

static void a_vec_keeps_what_it_is_told_to(void **unused)
{
    struct vec vec = { NULL, 0 };
    (void)unused;
    assert_int_equal(vec_reserve(&vec, 0, 8, 0), 0);
    assert_non_null(vec.data);
    for (size_t count = 1; count < 300000; count *= 3) {
        uint32_t *numbers = vec.data;
        size_t kept = count / 3;
        assert_int_equal(vec_reserve(&vec, count, sizeof *numbers, kept * sizeof *numbers), 0);
        assert_true(vec.capacity >= count * sizeof *numbers);
        assert_int_equal((uintptr_t)vec.data % 64, 0);
        numbers = vec.data;
        for (size_t i = 0; i < kept; i++)
            assert_int_equal(numbers[i], i);
        for (size_t i = 0; i < count; i++)
            numbers[i] = (uint32_t)i;
    }
    assert_true(vec_reserve(&vec, SIZE_MAX / 2, 8, 0) < 0);
    assert_true(vec_reserve(&vec, SIZE_MAX / 8, 8, 0) < 0);
    vec_fini(&vec);
    assert_null(vec.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vec_keeps_what_it_is_told_to),
        cmocka_unit_test(bounds_do_not_overflow),
        cmocka_unit_test(steps_share_out_all_seeds_evenly),
        cmocka_unit_test(dealt_seeds_take_as_many_steps_on_every_rank),
        cmocka_unit_test(uneven_groups_have_no_plan),
        cmocka_unit_test(a_step_of_a_huge_set_is_bounded),
        cmocka_unit_test(several_types_are_mixed_evenly),
        cmocka_unit_test(small_orders_are_the_shuffled_list),
        cmocka_unit_test(an_order_is_a_permutation_that_seed_and_epoch_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
