/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a training process: a limit that the command line does not name is left to the cluster
 * file and the default (tests/model/test_training_options.c), and 0 is a value of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Before cmocka.h, which has a macro named as a function of the commands. */
#include "cli/train/train.h"

#include <cmocka.h>

#include "cli/lib/options.h"

static struct train_values parse(char *option, char *value)
{
    struct train_values values;
    struct tr_error error = TR_ERROR_INIT;
    char run[] = "--run=x";
    char *argv[] = { run, option, value };
    bool help;
    assert_int_equal(options_parse(train_options, &values, sizeof values, option == NULL ? 1 : 3,
                                   argv, &help, &error),
                     0);
    return values;
}

static void a_limit_that_is_not_given_is_left_to_the_cluster_file(void **unused)
{
    static const struct {
        const char *option, *value;
        int64_t step_limit_ns, disk_wait_ns;
    } CASES[] = {
        { NULL, NULL, TR_TRAIN_LIMIT_UNSAID, TR_TRAIN_LIMIT_UNSAID },
        { "--step-limit", "9", INT64_C(9000000000), TR_TRAIN_LIMIT_UNSAID },
        { "--step-limit", "0", 0, TR_TRAIN_LIMIT_UNSAID },
        { "--disk-wait", "0", TR_TRAIN_LIMIT_UNSAID, 0 },
        { "--disk-wait", "86400", TR_TRAIN_LIMIT_UNSAID, INT64_C(86400000000000) },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct train_values values = parse((char *)(uintptr_t)CASES[i].option,
                                                 (char *)(uintptr_t)CASES[i].value);
        struct tr_train_options options;
        assert_int_equal(train_configure(&values, &options, NULL), 0);
        assert_int_equal(options.step_limit_ns, CASES[i].step_limit_ns);
        assert_int_equal(options.disk_wait_ns, CASES[i].disk_wait_ns);
    }
}

/* Each number of a choice has the name that the table shows at its place. */
static void a_choice_is_asked_for_by_its_name(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        static const char *const NAMES[] = { "constant", "steps", "cosine" };
        char option[] = "--schedule";
        struct train_values values = parse(option, (char *)(uintptr_t)NAMES[i]);
        struct tr_train_options options;
        assert_int_equal(train_configure(&values, &options, NULL), 0);
        assert_string_equal(options.schedule, NAMES[i]);
        assert_string_equal(options.metric, "accuracy");
        assert_string_equal(options.evaluation, "exact");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_that_is_not_given_is_left_to_the_cluster_file),
        cmocka_unit_test(a_choice_is_asked_for_by_its_name),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("train_options", tests, NULL, NULL);
}
