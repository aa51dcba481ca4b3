/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds on several workers: each is run once, and one that ends its worker has failed alone. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/seed_workers.h"

#define FIRST 1000u
#define SEEDS 23u
#define WRONG (FIRST + 4)
#define EXITS (FIRST + 9)
#define DIES (FIRST + 14)
#define LAST_EXITS (FIRST + SEEDS - 1)

void __wrap_sim_run(uint64_t seed, FILE *verbose, struct sim_result *result);

void __wrap_sim_run(uint64_t seed, FILE *verbose, struct sim_result *result)
{
    (void)verbose;
    *result = (struct sim_result){ .seed = seed, .steps = seed * 3 };
    if (seed == WRONG)
        error_set(&result->error, TR_EMISMATCH, "a batch is wrong");
    if (seed == EXITS || seed == LAST_EXITS)
        _exit(7);
    if (seed == DIES)
        raise(SIGKILL);
}

static struct sim_result results[SEEDS];
static uint32_t told[SEEDS];

static void note(void *arg, const struct sim_result *result)
{
    (void)arg;
    assert_in_range(result->seed, FIRST, FIRST + SEEDS - 1);
    results[result->seed - FIRST] = *result;
    told[result->seed - FIRST]++;
}

static void run(const struct seed_workers_options *options)
{
    struct error error = { 0 };
    memset(results, 0, sizeof results);
    memset(told, 0, sizeof told);
    assert_int_equal(seed_workers_run(options, note, NULL, &error), 0);
    for (uint32_t i = 0; i < SEEDS; i++)
        assert_int_equal(told[i], 1);
}

static void expect(uint64_t seed, int code, const char *says)
{
    const struct sim_result *result = &results[seed - FIRST];
    assert_int_equal(result->error.code, code);
    assert_string_equal(result->error.text, says);
}

static void a_seed_that_ends_its_worker_fails_alone(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 5; workers += 2) {
        const struct seed_workers_options options = { .first_seed = FIRST,
                                                      .num_seeds = SEEDS,
                                                      .workers = workers };
        run(&options);
        expect(WRONG, TR_EMISMATCH, "a batch is wrong");
        expect(EXITS, TR_EINTERNAL, "the run ended its process with status 7");
        expect(LAST_EXITS, TR_EINTERNAL, "the run ended its process with status 7");
        expect(DIES, TR_EINTERNAL, "the run died: Killed");
        for (uint64_t seed = FIRST; seed < FIRST + SEEDS; seed++) {
            if (seed == WRONG || seed == EXITS || seed == DIES || seed == LAST_EXITS)
                continue;
            expect(seed, 0, "");
            assert_int_equal(results[seed - FIRST].steps, seed * 3);
        }
    }
}

/* More workers than seeds, and seeds of a list in any order. */
static void seeds_of_a_list_are_run_once(void **state)
{
    static const uint64_t list[] = { FIRST + 20, FIRST + 3, FIRST + 11 };
    const struct seed_workers_options options = { .seeds = list, .num_seeds = 3, .workers = 8 };
    struct error error = { 0 };
    uint32_t all = 0;
    (void)state;
    memset(told, 0, sizeof told);
    assert_int_equal(seed_workers_run(&options, note, NULL, &error), 0);
    for (uint32_t i = 0; i < SEEDS; i++)
        all += told[i];
    assert_int_equal(all, 3);
    assert_true(told[20] == 1 && told[3] == 1 && told[11] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_that_ends_its_worker_fails_alone),
        cmocka_unit_test(seeds_of_a_list_are_run_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
