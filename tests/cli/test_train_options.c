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
        bool in_cluster;
        struct cluster_limits said;
        struct train_limits chosen;
    } CASES[] = {
        { NULL, NULL, false, { 0 }, { 600, 600 } },
        { "--step-limit", "9", false, { 0 }, { 9, 600 } },
        { "--disk-wait", "0", false, { 0 }, { 600, 0 } },
        { NULL,
          NULL,
          true,
          { .step_limit = CLUSTER_UNSAID, .disk_wait = CLUSTER_UNSAID },
          { 600, 600 } },
        { NULL, NULL, true, { .step_limit = 0, .disk_wait = 7 }, { 0, 7 } },
        { NULL, NULL, true, { .step_limit = 8, .disk_wait = 0 }, { 8, 0 } },
        { "--step-limit", "0", true, { .step_limit = 8, .disk_wait = 7 }, { 0, 7 } },
        { "--disk-wait", "86400", true, { .step_limit = 8, .disk_wait = 7 }, { 8, 86400 } },
        { "--disk-wait", "600", true, { .step_limit = 8, .disk_wait = 7 }, { 8, 600 } },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct train_values values = parse((char *)(uintptr_t)CASES[i].option,
                                                 (char *)(uintptr_t)CASES[i].value);
        struct train_limits chosen = train_choose_limits(
            &values, CASES[i].in_cluster ? &CASES[i].said : NULL);
        assert_int_equal(chosen.step_limit, CASES[i].chosen.step_limit);
        assert_int_equal(chosen.disk_wait, CASES[i].chosen.disk_wait);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_line_goes_before_the_cluster_file),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("train_options", tests, NULL, NULL);
}
