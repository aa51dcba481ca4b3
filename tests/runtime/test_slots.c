/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of a loop: each address is given once, actors stay where they are while the table grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/base/error.h"
#include "runtime/core/address.h"
#include "runtime/core/slots.h"

#define MANY 100u /* the table grows several times */

/* Addresses of things that are no actors: slots only keep them. */
static struct actor *thing(uint32_t i)
{
    static char things[MANY];
    return (struct actor *)(void *)&things[i];
}

static void low_slots_are_handed_out_first(void **state)
{
    struct slots slots = { 0 };
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t index = 77, generation = 77;
        assert_int_equal(slots_claim(&slots, &index, &generation), 0);
        assert_int_equal(index, i);
        assert_int_equal(generation, 1);
        slots_put(&slots, index, thing(i));
        for (uint32_t j = 0; j <= i; j++)
            assert_ptr_equal(slots.actors[j], thing(j));
    }
    assert_true(slots.actors_capacity >= MANY && slots.actors_capacity < 2 * MANY);
    for (uint32_t i = MANY; i < slots.actors_capacity; i++)
        assert_null(slots.actors[i]);
    slots_fini(&slots);
    assert_null(slots.actors);
}

/* Several are claimed, and the table grows, before the loop puts the first of them. */
static void a_loop_takes_over_what_grew_twice(void **state)
{
    struct slots slots = { 0 };
    (void)state;
    for (uint32_t i = 0, index, generation; i < 10; i++) {
        assert_int_equal(slots_claim(&slots, &index, &generation), 0);
        slots_put(&slots, index, thing(index));
    }
    for (uint32_t i = 10, index, generation; i < MANY; i++)
        assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    for (uint32_t i = 10; i < MANY; i++)
        slots_put(&slots, i, thing(i));
    for (uint32_t i = 0; i < MANY; i++)
        assert_ptr_equal(slots.actors[i], thing(i));
    slots_fini(&slots);
}

static void each_life_has_a_generation_of_its_own(void **state)
{
    struct slots slots = { 0 };
    uint32_t index, generation;
    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    slots_free(&slots, 3);
    slots_free(&slots, 7);
    assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    assert_int_equal(index, 7);
    assert_int_equal(generation, 2);
    assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    assert_int_equal(index, 3);
    assert_int_equal(generation, 2);
    slots_free(&slots, 3);
    assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    assert_int_equal(generation, 3);
    /* The generations outlive the growth of the table. */
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    slots_free(&slots, 3);
    assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    assert_int_equal(index, 3);
    assert_int_equal(generation, 4);
    /* The last generation of a slot is not followed by the first one. */
    slots.generations[3] = UINT32_MAX - 1;
    slots_free(&slots, 3);
    assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    assert_int_equal(index, 3);
    assert_true(generation == UINT32_MAX);
    slots_free(&slots, 3);
    assert_int_equal(slots_claim(&slots, &index, &generation), 0);
    assert_int_not_equal(index, 3);
    slots_fini(&slots);
}

static void a_full_table_refuses(void **state)
{
    struct slots slots = { .capacity = ADDRESS_SLOTS_MAX };
    uint32_t index, generation;
    (void)state;
    assert_int_equal(slots_claim(&slots, &index, &generation), TR_EFULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_slots_are_handed_out_first),
        cmocka_unit_test(a_loop_takes_over_what_grew_twice),
        cmocka_unit_test(each_life_has_a_generation_of_its_own),
        cmocka_unit_test(a_full_table_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
