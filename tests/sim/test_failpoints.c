/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes of a simulated cluster die at fail-points: at each alone, and at all pairs of them,
 * every job ends with the batches and sums of an undisturbed run.
 *
 * TROUPE_SEEDS=N tries N seeds for each pair, TROUPE_SEED=S that one alone; "troupe simulate
 * --seeds S --die-at A,B" replays one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fleet_run.h"
#include "tests/seeds.h"

#define SEEDS 4

/* The nth seed of a cluster. */
static uint64_t cluster_seed(uint64_t n)
{
    uint64_t seed = 0;
    for (;; seed++)
        if (fleet_run_is_for(seed) && n-- == 0)
            return seed;
}

struct sum {
    uint64_t runs, failed, struck, both;
};

static void run_pair(uint64_t seed, enum failpoint one, enum failpoint other, struct sum *sum)
{
    const struct sim_failpoints die_at = { .points = { one, other },
                                           .count = one == other ? 1 : 2 };
    struct sim_result result;
    sim_run_failpoints(seed, &die_at, NULL, &result);
    sum->runs++;
    sum->struck |= result.struck;
    sum->both += result.struck == (UINT64_C(1) << one | UINT64_C(1) << other);
    if (result.error.code == 0)
        return;
    sum->failed++;
    fprintf(stderr,
            "# %s, %s, seed %" PRIu64 ": %s\n# replay: troupe simulate --seeds %" PRIu64
            " --die-at %s,%s --verbose\n",
            failpoint_name(one), failpoint_name(other), seed, result.error.text, seed,
            failpoint_name(one), failpoint_name(other));
}

/* Each pair has seeds of its own, so that many clusters and jobs are tried. */
static void all_pairs_of_deaths_are_survived(void **state)
{
    struct seeds wanted = seeds_wanted_tenth(SEEDS);
    uint64_t per_pair = wanted.end - wanted.begin, next = wanted.begin;
    struct sum sum = { 0 };
    (void)state;
    for (enum failpoint one = 0; one < FAILPOINTS_COUNT; one++)
        for (enum failpoint other = one; other < FAILPOINTS_COUNT; other++) {
            if (!failpoint_is_simulated(one) || !failpoint_is_simulated(other))
                continue;
            for (uint64_t i = 0; i < per_pair; i++)
                run_pair(getenv("TROUPE_SEED") != NULL ? wanted.begin : cluster_seed(next++), one,
                         other, &sum);
        }
    fprintf(stderr, "# %" PRIu64 " runs, both deaths came in %" PRIu64 "\n", sum.runs, sum.both);
    assert_int_equal(sum.failed, 0);
    if (getenv("TROUPE_SEED") != NULL)
        return;
    /* A point that no run passes tests nothing. */
    for (enum failpoint point = 0; point < FAILPOINTS_COUNT; point++)
        if (failpoint_is_simulated(point) && (sum.struck >> point & 1) == 0)
            fail_msg("no process died at %s", failpoint_name(point));
    assert_true(sum.both > sum.runs / 8);
}

/* A coordinator died when it had answered the restore of some ranks, and the next one waited with
 * those for the others, which waited to be restored. */
static void deaths_that_once_stopped_a_job_are_survived(void **state)
{
    static const uint64_t seeds[] = { 430, 658, 3150 };
    struct sum sum = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        run_pair(seeds[i], FAILPOINT_CHECKPOINT_FILE_WRITTEN, FAILPOINT_ERA_RESTORED, &sum);
    assert_int_equal(sum.failed, 0);
    assert_int_equal(sum.both, sum.runs);
}

static void names_find_their_points(void **state)
{
    (void)state;
    for (enum failpoint point = 0; point < FAILPOINTS_COUNT; point++) {
        const char *name = failpoint_name(point);
        assert_int_equal(failpoint_find(name, strlen(name)), point);
        assert_int_equal(failpoint_find(name, strlen(name) - 1), FAILPOINTS_COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_deaths_are_survived),
        cmocka_unit_test(deaths_that_once_stopped_a_job_are_survived),
        cmocka_unit_test(names_find_their_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
