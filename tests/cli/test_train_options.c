/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a training process: the command line goes before the cluster file, both before the
 * default, and 0 is a value of either. */
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

static void the_command_line_goes_before_the_cluster_file(void **unused)
{
    static const struct {
        const char *option, *value;
        uint64_t said_step, said_disk;  /* UINT64_MAX: the file does not say */
        uint64_t step_limit, disk_wait; /* seconds */
    } CASES[] = {
        { NULL, NULL, UINT64_MAX, UINT64_MAX, 600, 600 },
        { "--step-limit", "9", UINT64_MAX, UINT64_MAX, 9, 600 },
        { "--disk-wait", "0", UINT64_MAX, UINT64_MAX, 600, 0 },
        { NULL, NULL, 0, 7, 0, 7 },
        { NULL, NULL, 8, 0, 8, 0 },
        { "--step-limit", "0", 8, 7, 0, 7 },
        { "--disk-wait", "86400", 8, 7, 8, 86400 },
        { "--disk-wait", "600", 8, 7, 8, 600 },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct train_values values = parse((char *)(uintptr_t)CASES[i].option,
                                                 (char *)(uintptr_t)CASES[i].value);
        struct tr_train_options options;
        tr_train_options_init(&options);
        train_choose_limits(&values, CASES[i].said_step, CASES[i].said_disk, &options);
        assert_int_equal(options.step_limit_ns, CASES[i].step_limit * 1000000000u);
        assert_int_equal(options.disk_wait_ns, CASES[i].disk_wait * 1000000000u);
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
        cmocka_unit_test(the_command_line_goes_before_the_cluster_file),
        cmocka_unit_test(a_choice_is_asked_for_by_its_name),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("train_options", tests, NULL, NULL);
}
