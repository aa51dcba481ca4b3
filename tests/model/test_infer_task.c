/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that ends at any allocation of a start of an inference: nothing is started, and the reason
 * is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/model.h>
#include <troupe/task.h>

#include "tests/short_memory.h"

#define ALLOCATIONS_MAX 100

static struct tr_task *const task_of_nobody = (struct tr_task *)(uintptr_t)8;
static unsigned started;

int __wrap_tr_task_start(const struct tr_task_work *work, void *arg, struct tr_task **out,
                         struct tr_error *error);

/* No thread runs: the work has all that it needs, and is given back. */
int __wrap_tr_task_start(const struct tr_task_work *work, void *arg, struct tr_task **out,
                         struct tr_error *error)
{
    (void)error;
    started++;
    assert_non_null(work->run);
    work->destroy(arg);
    *out = task_of_nobody;
    return 0;
}

static void a_start_without_memory_is_refused(void **state)
{
    int tries = 0;
    bool failed = true;
    (void)state;
    for (; failed && tries < ALLOCATIONS_MAX; tries++) {
        struct tr_infer_options options;
        struct tr_error error = TR_ERROR_INIT;
        struct tr_task *task = NULL;
        tr_infer_options_init(&options);
        options.graph = "/nowhere/g.json";
        options.run = "/nowhere/run";
        allocations_left = tries;
        int rv = tr_infer_start(&options, &task, &error);
        failed = allocations_left < 0;
        allocations_left = -1;
        assert_int_equal(rv, failed ? TR_ENOMEM : 0);
        assert_int_equal(started, !failed);
        assert_ptr_equal(task, failed ? NULL : task_of_nobody);
        if (failed) {
            assert_int_equal(error.code, TR_ENOMEM);
            assert_non_null(strstr(error.message, "memory"));
        }
    }
    assert_false(failed);
    assert_true(tries > 3);
}

static void a_graph_and_a_run_are_needed(void **state)
{
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        struct tr_infer_options options;
        struct tr_error error = TR_ERROR_INIT;
        struct tr_task *task;
        tr_infer_options_init(&options);
        options.graph = missing == 0 ? NULL : "/nowhere/g.json";
        options.run = missing == 1 ? NULL : "/nowhere/run";
        started = 0;
        assert_int_equal(tr_infer_start(&options, &task, &error), TR_EINVAL);
        assert_string_equal(error.message, "tr_infer_options: graph and run are needed");
        assert_null(task);
        assert_int_equal(started, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_without_memory_is_refused),
        cmocka_unit_test(a_graph_and_a_run_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
