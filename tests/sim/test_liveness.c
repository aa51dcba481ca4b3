/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of liveness: what counts as getting on, and when it is missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fleet.h"

#define BEGIN_NS ENV_SECOND_NS
#define STEPS 10

static struct fleet *begin(void)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    fleet->plan.dead_ns = 5 * ENV_SECOND_NS;
    fleet->plan.steps = STEPS;
    fleet->plan.think_ns = ENV_SECOND_NS / 100;
    fleet_liveness_init(&fleet->liveness, &fleet->plan, BEGIN_NS);
    return fleet;
}

static bool fails_at(struct fleet *fleet, uint64_t now_ns)
{
    fleet_liveness_check(fleet, now_ns);
    return fleet->error.code != 0;
}

static void who_gets_on_is_left_alone(void **state)
{
    struct fleet *fleet = begin();
    uint64_t now_ns = BEGIN_NS, bound_ns = fleet->liveness.progress_ns;
    (void)state;
    for (uint64_t step = 1; step <= STEPS; step++) {
        now_ns += bound_ns - 1;
        assert_false(fails_at(fleet, now_ns));
        fleet->furthest = step;
        fleet_liveness_note(fleet, now_ns);
        assert_int_equal(fleet_liveness_due_ns(&fleet->liveness), now_ns + bound_ns);
    }
    fleet->committed = 4;
    assert_false(fails_at(fleet, now_ns + bound_ns));
    assert_true(fails_at(fleet, now_ns + 2 * bound_ns));
    assert_non_null(strstr(fleet->error.text, "step 10 of 10"));
    free(fleet);
}

/* A step that was done before, by whomever, is not new. */
static void who_goes_back_for_ever_is_found(void **state)
{
    struct fleet *fleet = begin();
    (void)state;
    fleet->furthest = 3;
    fleet_liveness_note(fleet, 2 * BEGIN_NS);
    uint64_t due_ns = fleet_liveness_due_ns(&fleet->liveness);
    for (uint64_t now_ns = 2 * BEGIN_NS; now_ns < due_ns; now_ns += ENV_SECOND_NS) {
        fleet->tally.steps++;
        fleet->tally.restores++;
        assert_false(fails_at(fleet, now_ns));
    }
    assert_true(fails_at(fleet, due_ns));
    free(fleet);
}

static void a_fault_that_lasts_is_waited_for(void **state)
{
    struct fleet *fleet = begin();
    uint64_t over_ns = BEGIN_NS + 20 * ENV_SECOND_NS, bound_ns = fleet->liveness.progress_ns;
    (void)state;
    fleet_liveness_fault(&fleet->liveness, over_ns);
    fleet_liveness_fault(&fleet->liveness, over_ns - 1); /* a shorter one beside it */
    assert_false(fails_at(fleet, over_ns + bound_ns - 1));
    assert_true(fails_at(fleet, over_ns + bound_ns));
    free(fleet);
}

static void all_end_once_the_result_is_written(void **state)
{
    struct fleet *fleet = begin();
    (void)state;
    fleet->complete = true;
    fleet_liveness_note(fleet, 3 * BEGIN_NS);
    uint64_t due_ns = 3 * BEGIN_NS + fleet->liveness.end_ns;
    assert_int_equal(fleet_liveness_due_ns(&fleet->liveness), due_ns);
    assert_false(fails_at(fleet, due_ns - 1));
    assert_true(fails_at(fleet, due_ns));
    assert_non_null(strstr(fleet->error.text, "the result is written"));
    free(fleet);
}

/* Who does not end is killed: no fault lengthens that. */
static void a_job_that_is_to_stop_has_its_time(void **state)
{
    struct fleet *fleet = begin();
    (void)state;
    fleet_liveness_fault(&fleet->liveness, BEGIN_NS + 500 * ENV_SECOND_NS);
    fleet_liveness_stop(&fleet->liveness, 2 * BEGIN_NS);
    uint64_t due_ns = 2 * BEGIN_NS + fleet->liveness.stopped_ns;
    assert_int_equal(fleet_liveness_due_ns(&fleet->liveness), due_ns);
    assert_false(fails_at(fleet, due_ns - 1));
    assert_true(fails_at(fleet, due_ns));
    assert_non_null(strstr(fleet->error.text, "was to stop"));
    free(fleet);
}

/* While no launcher lives, and then until what the last one left has ended, nothing is missed. */
static void a_job_without_a_launcher_is_waited_for(void **state)
{
    struct fleet *fleet = begin();
    uint64_t bound_ns = fleet->liveness.progress_ns, until_ns = 40 * BEGIN_NS;
    (void)state;
    fleet_liveness_stop(&fleet->liveness, 2 * BEGIN_NS);
    fleet_liveness_down(&fleet->liveness, until_ns);
    assert_false(fails_at(fleet, until_ns + FLEET_STOP_NS + bound_ns - 1));
    assert_true(fails_at(fleet, until_ns + FLEET_STOP_NS + bound_ns));
    assert_non_null(strstr(fleet->error.text, "did not get on"));
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_gets_on_is_left_alone),
        cmocka_unit_test(who_goes_back_for_ever_is_found),
        cmocka_unit_test(a_fault_that_lasts_is_waited_for),
        cmocka_unit_test(all_end_once_the_result_is_written),
        cmocka_unit_test(a_job_that_is_to_stop_has_its_time),
        cmocka_unit_test(a_job_without_a_launcher_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
