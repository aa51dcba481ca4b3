/* SPDX-License-Identifier: Apache-2.0 */
/* What a training of a program takes of its options and what of the cluster file, as its process
 * does of a cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/training.h"
#include "tests/api/api_world.h"

#define SECOND INT64_C(1000000000)
#define UNSAID TR_TRAIN_LIMIT_UNSAID

static struct world world;
static char graph[256];

/* host, limits: fields of the host and of the limits, with a comma before them, or "". */
static struct tr_process *open_process(const char *host, const char *limits)
{
    struct tr_process_options options = TR_PROCESS_OPTIONS_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_process *process;
    char path[128];
    snprintf(path, sizeof path, "%s/c.json", world.dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"name\": \"job\", \"graph\": \"%s\", \"limits\": {\"call\": 10%s}, \"hosts\": "
            "[{\"name\": \"a\", "
            "\"unix\": \"%s/s\", \"trainers\": 2%s}]}",
            graph, limits, world.dir, host);
    assert_int_equal(fclose(file), 0);
    options.cluster = path;
    options.process = 0;
    if (tr_process_open(&options, SECOND, &process, &error) != 0)
        fail_msg("%s", error.message);
    return process;
}

static void read_options(const struct tr_train_options *options, struct training *t)
{
    struct tr_error error = TR_ERROR_INIT;
    *t = (struct training){ 0 };
    if (training_read_options(t, options, &error) != 0)
        fail_msg("%s", error.message);
}

static struct tr_train_options options_of(struct tr_process *process)
{
    struct tr_train_options options;
    tr_train_options_init(&options);
    options.graph = graph;
    options.run = "run";
    options.process = process;
    return options;
}

static void a_program_s_limit_goes_before_the_cluster_file_s_and_that_before_the_default(
    void **state)
{
    static const struct {
        bool in_cluster;
        const char *limits;
        int64_t step, disk;       /* of the program */
        int64_t step_ns, disk_ns; /* that hold */
    } CASES[] = {
        { false, "", UNSAID, UNSAID, 600 * SECOND, 600 * SECOND },
        { false, "", 0, 7 * SECOND, 0, 7 * SECOND },
        { true, "", UNSAID, UNSAID, 600 * SECOND, 600 * SECOND },
        { true, ", \"step_limit\": 5, \"disk_wait\": 0", UNSAID, UNSAID, 5 * SECOND, 0 },
        { true, ", \"step_limit\": 0, \"disk_wait\": 86400", UNSAID, 1, 0, 1 },
        { true, ", \"step_limit\": 5, \"disk_wait\": 86400", 0, UNSAID, 0, 86400 * SECOND },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct training t;
        struct tr_process *process = CASES[i].in_cluster ? open_process("", CASES[i].limits) : NULL;
        struct tr_train_options options = options_of(process);
        assert_int_equal(options.step_limit_ns, UNSAID);
        assert_int_equal(options.disk_wait_ns, UNSAID);
        options.step_limit_ns = CASES[i].step;
        options.disk_wait_ns = CASES[i].disk;
        read_options(&options, &t);
        assert_int_equal(t.options.step_limit_ns, CASES[i].step_ns);
        assert_int_equal(t.options.disk_wait_ns, CASES[i].disk_ns);
        training_free_options(&t);
        tr_process_close(process);
    }
}

static void no_limit_is_shorter_than_nothing(void **state)
{
    struct training t = { 0 };
    struct tr_error error = TR_ERROR_INIT;
    struct tr_train_options options = options_of(NULL);
    (void)state;
    options.step_limit_ns = UNSAID - 1;
    assert_int_equal(training_read_options(&t, &options, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "step_limit_ns"));
    options = options_of(NULL);
    options.disk_wait_ns = INT64_MIN;
    assert_int_equal(training_read_options(&t, &options, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "disk_wait_ns"));
}

/* Those of the file are each trainer's, those of the program all trainers'. */
static void threads_are_the_program_s_where_the_cluster_file_names_none(void **state)
{
    struct training t;
    struct tr_process *process = open_process("", "");
    struct tr_train_options options = options_of(process);
    (void)state;
    options.threads = 6;
    read_options(&options, &t);
    assert_int_equal(t.layout.threads, 6);
    training_free_options(&t);
    options.threads = 0; /* one a processor elsewhere */
    read_options(&options, &t);
    assert_int_equal(t.layout.threads, t.process.num_trainers);
    training_free_options(&t);
    tr_process_close(process);
    options.threads = 6;
    process = open_process(", \"threads\": 2", "");
    options.process = process;
    read_options(&options, &t);
    assert_int_equal(t.layout.threads, 2 * t.process.num_trainers);
    training_free_options(&t);
    tr_process_close(process);
}

static int setup(void **state)
{
    (void)state;
    world_init(&world);
    world_partition(&world, PARTITION_RANDOM, 2, graph);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_fini(&world);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_program_s_limit_goes_before_the_cluster_file_s_and_that_before_the_default),
        cmocka_unit_test(no_limit_is_shorter_than_nothing),
        cmocka_unit_test(threads_are_the_program_s_where_the_cluster_file_names_none),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("training_options", tests, setup, teardown);
}
