/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments: unbiased draws, files that are held against the graph. */
#include "tests/partition/graph_util.h"

#include "partition/build/assign.h"
#include "partition/store/npy.h"

static void assign_well(struct raw_graph *raw, const struct partition_options *options,
                        struct assignment *assignment)
{
    struct error error = { 0 };
    struct partition_report report = { 0 };
    struct partition_job job = { .raw = raw,
                                 .options = options,
                                 .parallel = parallel_serial,
                                 .files = files_posix,
                                 .report = &report };
    assert_int_equal(assignment_init(assignment, &job, &error), 0);
    int rv = options->method == PARTITION_RANDOM ? assign_random(assignment, &job, &error)
                                                 : assign_file(assignment, &job, &error);
    if (rv != 0)
        fail_msg("%s", error.text);
}

/* Chi-square of 12 cells: 31.3 is p = 1e-3. */
static void random_draws_are_even_and_keyed(void **state)
{
    enum { NODES = 120000, PARTS = 12 };
    struct scratch *scratch = *state;
    struct sample sample;
    struct assignment a, b, c;
    uint64_t counts[PARTS] = { 0 }, differ = 0;
    double chi = 0;
    sample_init(&sample, false, NODES, 10, 1);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    struct partition_options options = { .num_parts = PARTS, .seed = 7 };
    assign_well(raw, &options, &a);
    options.trainers = 2 * PARTS;
    assign_well(raw, &options, &b);
    options.seed = 8;
    assign_well(raw, &options, &c);
    for (uint64_t v = 0; v < NODES; v++) {
        counts[a.parts[0][v]]++;
        differ += a.parts[0][v] != c.parts[0][v];
        /* Naming trainers moves no node. */
        assert_int_equal(a.parts[0][v], b.parts[0][v]);
        assert_int_equal(b.trainers[0][v] / 2, b.parts[0][v]);
    }
    for (int p = 0; p < PARTS; p++) {
        double off = (double)counts[p] - (double)NODES / PARTS;
        chi += off * off / ((double)NODES / PARTS);
    }
    assert_true(chi < 31.3);
    assert_true(differ > NODES / 2);
    assignment_fini(&a);
    assignment_fini(&b);
    assignment_fini(&c);
    raw_close(raw);
    sample_fini(&sample);
}

static void files_of_each_kind_are_read(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    struct assignment assignment;
    struct error error;
    const int32_t wanted[6] = { 1, 0, 2, 2, 0, 1 }; /* authors, then papers */
    uint64_t shape[1] = { 6 };
    char path[128];
    sample_init(&sample, true, 6, 9, 1);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    snprintf(path, sizeof path, "%s/a.npy", scratch->folder);
    assert_int_equal(npy_write(files_posix, path, "<i4", 1, shape, wanted, &error), 0);
    put_text(scratch, "a.txt", "1\n0\r\n 2 \n2\n0\n1");
    assert_int_equal(files_make_folders(files_posix, at(scratch, "a"), &error), 0);
    put_text(scratch, "a/author.txt", "1\n0\n");
    put_text(scratch, "a/paper.txt", "2\n2\n0\n1\n");
    static const char *const names[] = { "a.npy", "a.txt", "a" };
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", scratch->folder, names[i]);
        struct partition_options options = { .method = PARTITION_FILE,
                                             .assignment = path,
                                             .num_parts = 3 };
        assign_well(raw, &options, &assignment);
        for (int v = 0; v < 6; v++)
            assert_int_equal(v < 2 ? assignment.parts[0][v] : assignment.parts[1][v - 2],
                             wanted[v]);
        assignment_fini(&assignment);
    }
    raw_close(raw);
    sample_fini(&sample);
}

static void wrong_files_are_refused(void **state)
{
    static const struct {
        const char *text, *word;
        int code;
    } cases[] = {
        { "0\n1\n0\n", "3 nodes", TR_EMISMATCH },
        { "0\n1\n0\n1\n0\n", "one more", TR_EMISMATCH },
        { "0\n1\n5\n1\n", "line 3", TR_ERANGE },
        { "0\n1\nx\n1\n", "line 3", TR_EFORMAT },
        { "0\n1\n\n1\n", "line 3", TR_EFORMAT },
        { "0\n-1\n1\n1\n", "line 2", TR_EFORMAT },
        { "", "0 nodes", TR_EMISMATCH },
        { "00000000000000000000000000000000000000000000000000000000000000000000000000001\n",
          "line 1", TR_EFORMAT },
    };
    struct scratch *scratch = *state;
    struct sample sample;
    char path[128], out[128];
    sample_init(&sample, false, 4, 9, 1);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    snprintf(path, sizeof path, "%s/a.txt", scratch->folder);
    snprintf(out, sizeof out, "%s/out", scratch->folder);
    struct partition_options options = { .method = PARTITION_FILE,
                                         .assignment = path,
                                         .num_parts = 2 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        put_text(scratch, "a.txt", cases[i].text);
        assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error),
                         cases[i].code);
        assert_says(&error, cases[i].code, cases[i].word);
        assert_says(&error, cases[i].code, "a.txt");
        assert_false(files_exists(files_posix, out));
    }
    raw_close(raw);
    sample_fini(&sample);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(random_draws_are_even_and_keyed),
        SCRATCH(files_of_each_kind_are_read),
        SCRATCH(wrong_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
