/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a training run, and what each failure means: as trainers and the simulator go by it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/training_loop.h"
#include "runtime/base/error.h"

#define STEPS 5 /* of an epoch */
#define SECOND UINT64_C(1000000000)

static const struct training_loop_plan whole = {
    .epochs = 3,
    .save_every = 4,
    .patience_ns = 10 * SECOND,
    .evaluates = true,
    .keeps = true,
    .grouped = true,
    .finishes = true,
};

/* The progress of a run, as its driver sees it. */
struct driver {
    struct training_loop loop;
    uint64_t now_ns;
    uint32_t counts[TRAINING_FAILED + 1];
};

/* The clock begins at 0, a time like any other. */
static void begin(struct driver *driver, const struct training_loop_plan *plan)
{
    *driver = (struct driver){ .now_ns = 0 };
    training_loop_init(&driver->loop, plan);
}

static bool is_over(const struct driver *driver)
{
    return driver->loop.operation == TRAINING_DONE || driver->loop.operation == TRAINING_FAILED;
}

static void end(struct driver *driver, int code)
{
    static const struct training_position start = { 0 };
    struct training_loop *loop = &driver->loop;
    driver->counts[loop->operation]++;
    if (loop->operation == TRAINING_RESTORE && code == 0)
        training_loop_restored(loop, &start);
    if (loop->operation == TRAINING_SHARE && code == 0)
        training_loop_scored(loop, loop->at.epoch < 2);
    training_loop_done(loop, code, driver->now_ns);
}

/* The answer of a sound world to the operation. */
static int sound(const struct driver *driver)
{
    const struct training_loop *loop = &driver->loop;
    return loop->operation == TRAINING_STEP && loop->at.step == STEPS ? TR_EEND : 0;
}

static void go_to(struct driver *driver, enum training_operation operation)
{
    while (!is_over(driver) && driver->loop.operation != operation)
        end(driver, sound(driver));
    assert_int_equal(driver->loop.operation, operation);
}

static void a_run_goes_in_order(void **state)
{
    (void)state;
    struct driver driver;
    begin(&driver, &whole);
    go_to(&driver, TRAINING_DONE);
    assert_int_equal(driver.counts[TRAINING_RESTORE], 1);
    assert_int_equal(driver.counts[TRAINING_BEGIN], 3);
    assert_int_equal(driver.counts[TRAINING_REDUCE], 3 * STEPS);
    assert_int_equal(driver.counts[TRAINING_SAVE], 3 * STEPS / 4);
    assert_int_equal(driver.counts[TRAINING_SHARE], 3);
    assert_int_equal(driver.counts[TRAINING_KEEP_BEST], 2); /* the third was no better */
    assert_int_equal(driver.counts[TRAINING_REPORT], 3);
    assert_int_equal(driver.counts[TRAINING_KEEP], 1);
    assert_int_equal(driver.counts[TRAINING_FINISH], 1);
    struct training_loop_plan bare = { .epochs = 2 };
    begin(&driver, &bare);
    go_to(&driver, TRAINING_DONE);
    assert_int_equal(driver.counts[TRAINING_SAVE] + driver.counts[TRAINING_EVALUATE] +
                         driver.counts[TRAINING_KEEP] + driver.counts[TRAINING_FINISH],
                     0);
}

/* From anywhere, and whatever was under way. */
static void a_rollback_goes_to_the_last_checkpoint(void **state)
{
    (void)state;
    for (int operation = TRAINING_RESTORE; operation < TRAINING_DONE; operation++) {
        struct driver driver;
        begin(&driver, &whole);
        go_to(&driver, (enum training_operation)operation);
        end(&driver, TR_EROLLBACK);
        assert_int_equal(driver.loop.operation, TRAINING_RESTORE);
        assert_int_equal(driver.loop.wait_ns, 0);
        go_to(&driver, TRAINING_DONE);
        struct training_loop_plan alone = whole;
        alone.grouped = false;
        begin(&driver, &alone);
        go_to(&driver, (enum training_operation)operation);
        end(&driver, TR_EROLLBACK);
        assert_int_equal(driver.loop.operation, TRAINING_FAILED);
        assert_int_equal(driver.loop.code, TR_EROLLBACK);
    }
}

static bool is_gone_on_without(enum training_operation operation)
{
    return operation == TRAINING_SAVE || operation == TRAINING_KEEP_BEST ||
           operation == TRAINING_REPORT;
}

static bool is_waited_for(enum training_operation operation)
{
    return operation == TRAINING_RESTORE || operation == TRAINING_REWIND ||
           operation == TRAINING_KEEP;
}

/* A disk that takes nothing costs what it refused and no more; what cannot be gone on without is
 * waited for, up to the bound and not beyond. */
static void a_disk_ends_no_run_before_its_time(void **state)
{
    (void)state;
    const int codes[] = { TR_ENOSPC, TR_EPERM, TR_EIO, TR_ENOENT };
    for (int o = TRAINING_RESTORE; o < TRAINING_DONE; o++) {
        enum training_operation operation = (enum training_operation)o;
        struct driver driver;
        begin(&driver, &whole);
        go_to(&driver, operation);
        uint32_t before = driver.counts[operation];
        end(&driver, codes[o % 4]);
        if (is_waited_for(operation)) {
            for (uint64_t waited = 0; waited < whole.patience_ns; waited += SECOND) {
                assert_int_equal(driver.loop.operation, operation);
                assert_true(driver.loop.wait_ns > 0);
                driver.now_ns += SECOND;
                end(&driver, codes[o % 4]);
            }
            assert_int_equal(driver.loop.operation, TRAINING_FAILED);
            assert_int_equal(driver.loop.code, codes[o % 4]);
        } else if (is_gone_on_without(operation)) {
            assert_int_not_equal(driver.loop.operation, operation);
            assert_int_equal(driver.loop.wait_ns, 0);
            assert_int_equal(driver.counts[operation], before + 1);
            go_to(&driver, TRAINING_DONE);
        } else {
            assert_int_equal(driver.loop.operation, TRAINING_FAILED);
        }
    }
}

/* One long wait does not use up the next one's time. */
static void patience_is_of_each_operation(void **state)
{
    (void)state;
    struct driver driver;
    begin(&driver, &whole);
    for (int times = 0; times < 3; times++) {
        go_to(&driver, TRAINING_REWIND);
        end(&driver, TR_ENOSPC);
        driver.now_ns += whole.patience_ns - 1;
        end(&driver, TR_ENOSPC);
        assert_int_equal(driver.loop.operation, TRAINING_REWIND);
        end(&driver, 0);
        end(&driver, TR_EROLLBACK);
    }
}

/* A better model that could not be written is written with the next evaluation, or at the end. */
static void the_best_model_is_written_later(void **state)
{
    (void)state;
    struct driver driver;
    begin(&driver, &whole);
    for (int epoch = 0; epoch < 3; epoch++) { /* the third is no better, and writes the second's */
        go_to(&driver, TRAINING_KEEP_BEST);
        end(&driver, TR_ENOSPC);
        assert_true(driver.loop.best_unkept);
    }
    go_to(&driver, TRAINING_KEEP);
    assert_true(driver.loop.best_unkept);
    end(&driver, 0);
    assert_false(driver.loop.best_unkept);
}

static void a_call_that_timed_out_is_made_again(void **state)
{
    (void)state;
    const enum training_operation calls[] = { TRAINING_RESTORE, TRAINING_REDUCE, TRAINING_SAVE,
                                              TRAINING_SUM,     TRAINING_SHARE,  TRAINING_MEET,
                                              TRAINING_FINISH };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct driver driver;
        begin(&driver, &whole);
        go_to(&driver, calls[i]);
        struct training_position before = driver.loop.at;
        for (int times = 0; times < 100; times++)
            end(&driver, TR_ETIMEDOUT);
        assert_int_equal(driver.loop.operation, calls[i]);
        assert_memory_equal(&driver.loop.at, &before, sizeof before);
        end(&driver, 0);
        go_to(&driver, TRAINING_DONE);
    }
}

/* An end of the batches elsewhere, and what no one can mend, end the run. */
static void other_failures_are_the_end(void **state)
{
    (void)state;
    const int codes[] = { TR_EINVAL, TR_EMISMATCH, TR_ECANCELED, TR_ECLOSED, TR_EEND, TR_ETOOBIG };
    for (int o = TRAINING_RESTORE; o < TRAINING_DONE; o++)
        for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
            struct driver driver;
            if (o == TRAINING_STEP && codes[c] == TR_EEND)
                continue;
            begin(&driver, &whole);
            go_to(&driver, (enum training_operation)o);
            end(&driver, codes[c]);
            assert_int_equal(driver.loop.operation, TRAINING_FAILED);
            assert_int_equal(driver.loop.code, codes[c]);
        }
}

static void a_restored_run_goes_on_where_it_was(void **state)
{
    (void)state;
    const struct training_position there = { .epoch = 1, .step = 3, .steps = 8, .has_best = true };
    struct driver driver;
    begin(&driver, &whole);
    training_loop_restored(&driver.loop, &there);
    training_loop_done(&driver.loop, 0, 1);
    go_to(&driver, TRAINING_SUM);
    assert_int_equal(driver.counts[TRAINING_REDUCE], STEPS - 3);
    assert_true(driver.loop.best_unkept); /* the disk may have another era's */
    go_to(&driver, TRAINING_DONE);
    assert_int_equal(driver.counts[TRAINING_BEGIN], 2);
}

static void patience_with_scores_ends_it_early(void **state)
{
    (void)state;
    struct training_loop_plan plan = whole;
    plan.epochs = 50;
    plan.patience = 4;
    struct driver driver;
    begin(&driver, &plan);
    go_to(&driver, TRAINING_DONE);
    assert_true(driver.loop.stopped_early);
    assert_int_equal(driver.counts[TRAINING_BEGIN], 2 + 4);
}

/* A run that leaves saves where it stands, behind a step or an epoch's steps, and ends; also where
 * the disk does not take it. Another era knows nothing of that. */
static void a_run_that_leaves_saves_first(void **state)
{
    static const enum training_operation places[] = { TRAINING_REDUCE, TRAINING_SUM };
    static const int codes[] = { 0, TR_ENOSPC, TR_EROLLBACK };
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct training_loop_plan plan = whole;
        struct driver driver;
        plan.save_every = 0;
        begin(&driver, &plan);
        go_to(&driver, places[i % 2]);
        struct training_position at = driver.loop.at;
        training_loop_leave(&driver.loop);
        end(&driver, 0);
        assert_int_equal(driver.loop.operation, TRAINING_SAVE);
        assert_int_equal(driver.loop.at.epoch, at.epoch);
        assert_int_equal(driver.loop.at.steps, at.steps + (i % 2 == 0));
        end(&driver, TR_ETIMEDOUT); /* the others are on their way */
        assert_int_equal(driver.loop.operation, TRAINING_SAVE);
        end(&driver, codes[i / 2]);
        if (codes[i / 2] == TR_EROLLBACK) {
            go_to(&driver, TRAINING_DONE);
            continue;
        }
        assert_int_equal(driver.loop.operation, TRAINING_FAILED);
        assert_int_equal(driver.loop.code, TR_ECANCELED);
        assert_int_equal(driver.counts[TRAINING_EVALUATE], 0);
    }
}

/* The largest of all wishes comes out of their sum. */
static void a_wish_travels_in_a_sum(void **unused)
{
    const enum training_wish wishes[] = { TRAINING_GOES_ON, TRAINING_ORPHANED, TRAINING_ASKED };
    const float none = training_wish_write(TRAINING_GOES_ON);
    (void)unused;
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        assert_int_equal(training_wish_read(none + training_wish_write(wishes[i]) + none),
                         wishes[i]);
    float sum = none;
    for (uint32_t rank = 0; rank < (1u << 20) - 1; rank++)
        sum += training_wish_write(TRAINING_ORPHANED);
    assert_int_equal(training_wish_read(sum), TRAINING_ORPHANED);
    assert_int_equal(training_wish_read(sum + training_wish_write(TRAINING_ASKED)), TRAINING_ASKED);
    for (uint32_t rank = 1; rank < 1u << 20; rank++)
        sum += training_wish_write(TRAINING_ASKED);
    assert_int_equal(training_wish_read(sum), TRAINING_ASKED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wish_travels_in_a_sum),
        cmocka_unit_test(a_run_goes_in_order),
        cmocka_unit_test(a_rollback_goes_to_the_last_checkpoint),
        cmocka_unit_test(a_disk_ends_no_run_before_its_time),
        cmocka_unit_test(patience_is_of_each_operation),
        cmocka_unit_test(the_best_model_is_written_later),
        cmocka_unit_test(a_call_that_timed_out_is_made_again),
        cmocka_unit_test(other_failures_are_the_end),
        cmocka_unit_test(a_restored_run_goes_on_where_it_was),
        cmocka_unit_test(patience_with_scores_ends_it_early),
        cmocka_unit_test(a_run_that_leaves_saves_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
