/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that ends at any allocation of opening a launch, of making a command line and of beginning
 * to run the processes: each fails with TR_ENOMEM and says so, gives nothing, and no process is
 * started.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "launch/launch_plan.h"
#include "tests/api/api_world.h"
#include "tests/short_memory.h"

#define ALLOCATIONS_MAX 5000
#define PROCESSES 3u

static char graph[256], cluster[160];
static char *words[] = { (char[]){ "--epochs" }, (char[]){ "2" } };

void __wrap_tr_task_report(struct tr_task *task, const char *phase, const char *unit, uint64_t done,
                           uint64_t total);

void __wrap_tr_task_report(struct tr_task *task, const char *phase, const char *unit, uint64_t done,
                           uint64_t total)
{
    (void)task, (void)phase, (void)unit, (void)done, (void)total;
}

static struct tr_launch_options options_of(void)
{
    struct tr_launch_options options = TR_LAUNCH_OPTIONS_INIT;
    options.cluster = cluster;
    options.program = "/bin/true";
    options.arguments = (const char *const *)words;
    options.num_arguments = 2;
    return options;
}

/* A try of one thing; what it gave is taken back. */
typedef int attempted(void *arg, struct tr_error *error);

static int fail_each(attempted *attempt, void *arg, int ends_with)
{
    int tries = 0;
    bool failed = true;
    for (; failed && tries < ALLOCATIONS_MAX; tries++) {
        struct tr_error error = TR_ERROR_INIT;
        allocations_left = tries;
        int rv = attempt(arg, &error);
        failed = allocations_left < 0;
        allocations_left = -1;
        if (rv != (failed ? TR_ENOMEM : ends_with))
            fail_msg("after %d allocations: %s: %s", tries, tr_error_name(rv), error.message);
        if (failed && strstr(error.message, "memory") == NULL)
            fail_msg("after %d allocations: %s", tries, error.message);
    }
    assert_false(failed);
    return tries;
}

static int make_command(void *arg, struct tr_error *error)
{
    static char before[4096];
    char text[4096] = "untouched";
    size_t needed = 7;
    int rv = tr_launch_command(arg, PROCESSES - 1, text, sizeof text, &needed, error);
    int left = allocations_left;
    allocations_left = -1;
    if (rv != 0) {
        assert_string_equal(text, "untouched");
        assert_int_equal(needed, 7);
    } else {
        assert_int_equal(needed, strlen(text) + 1);
        assert_non_null(strstr(text, "--epochs 2"));
        assert_true(before[0] == '\0' || strcmp(before, text) == 0);
        snprintf(before, sizeof before, "%s", text);
    }
    allocations_left = left;
    return rv;
}

static void a_command_without_memory_is_refused(void **state)
{
    const struct tr_launch_options options = options_of();
    struct tr_error error = TR_ERROR_INIT;
    struct tr_launch *launch;
    (void)state;
    assert_int_equal(tr_launch_open(&options, &launch, &error), 0);
    assert_true(fail_each(make_command, launch, 0) > 5);
    tr_launch_close(launch);
}

static int run_stopped(void *arg, struct tr_error *error)
{
    struct launch_job *job = arg;
    struct error inner = { 0 };
    int rv = launch_run(job, &inner);
    snprintf(error->message, sizeof error->message, "%s", inner.text);
    return rv;
}

/* A stop was asked before: with all its memory the launch begins, starts nothing and ends. */
static void a_run_without_memory_is_refused(void **state)
{
    struct launch_plan plan;
    struct launch_job job = { .plan = &plan };
    struct error error = { 0 };
    struct launch_request request = { .master_port = TR_LAUNCH_MASTER_PORT };
    (void)state;
    request.cluster = strdup(cluster);
    request.program = strdup("/bin/true");
    if (launch_plan_init(&plan, &request, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(plan.plan.plan.num_processes, PROCESSES);
    job.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_int_equal(launch_events_init(&job.events, true, job.wake, &error), 0);
    atomic_init(&job.stops, 1);
    atomic_init(&job.hurried, 0);
    assert_true(fail_each(run_stopped, &job, TR_ECANCELED) > 2);
    launch_events_fini(&job.events);
    close(job.wake);
    launch_plan_fini(&plan);
}

static void an_observer_without_memory_is_refused(void **state)
{
    struct tr_observer_options options = TR_OBSERVER_OPTIONS_INIT;
    struct tr_observer *observer = (void *)&options;
    struct tr_error error = TR_ERROR_INIT;
    (void)state;
    options.cluster = cluster;
    allocations_left = 0;
    int rv = tr_observer_open(&options, TR_WAIT_FOREVER, &observer, &error);
    allocations_left = -1;
    assert_int_equal(rv, TR_ENOMEM);
    assert_int_equal(error.code, TR_ENOMEM);
    assert_string_equal(error.message, "no memory for an observer");
    assert_null(observer);
}

static int set_up(void **state)
{
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, graph);
    snprintf(cluster, sizeof cluster, "%s/c.json", world_folder());
    FILE *to = fopen(cluster, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"hosts\": [{\"name\": \"a\", \"address\": "
            "\"127.0.0.1\", \"port\": 7000, \"servers\": 1, \"samplers\": 1, \"trainers\": 1, "
            "\"processes\": \"role\"}]}",
            graph);
    assert_int_equal(fclose(to), 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_without_memory_is_refused),
        cmocka_unit_test(a_run_without_memory_is_refused),
        cmocka_unit_test(an_observer_without_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, world_teardown);
}
