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
    int rv = options->method == PARTITION_RANDOM  ? assign_random(assignment, &job, &error)
             : options->method == PARTITION_METIS ? assign_metis(assignment, &job, &error)
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

/* The first nodes of two types; a seed gives for ever what it gave once. */
static void draws_are_those_of_before(void **state)
{
    enum { NODES = 20 };
    static const uint32_t parts[2][NODES] = {
        { 2, 1, 3, 2, 1, 1, 2, 0, 4, 1, 0, 4, 4, 6, 4, 5, 6, 2, 2, 1 },
        { 4, 4, 1, 6, 3, 2, 6, 4, 3, 4, 6, 5, 2, 1, 2, 5, 0, 6, 3, 1 }
    };
    static const uint32_t trainers[2][NODES] = {
        { 1, 0, 2, 1, 1, 0, 1, 0, 3, 1, 0, 3, 3, 4, 3, 4, 4, 1, 1, 0 },
        { 3, 3, 1, 4, 2, 1, 4, 3, 2, 3, 4, 4, 1, 1, 1, 4, 0, 4, 2, 0 }
    };
    struct sample sample;
    struct assignment assignment;
    sample_init(&sample, true, 3 * NODES, 10, 1);
    struct raw_graph *raw = sample_raw(&sample, at(*state, "raw"));
    const struct partition_options options = { .num_parts = 7, .seed = 41, .trainers = 5 };
    assign_well(raw, &options, &assignment);
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t v = 0; v < NODES; v++)
            if (assignment.parts[t][v] != parts[t][v] ||
                assignment.trainers[t][v] != trainers[t][v])
                fail_msg("type %u, node %u: partition %u, trainer %u", t, v, assignment.parts[t][v],
                         assignment.trainers[t][v]);
    assignment_fini(&assignment);
    raw_close(raw);
    sample_fini(&sample);
}

/* Partitions and trainers divide the same stretch evenly: those that overlap stand beside each
 * other. */
static void trainers_stand_where_their_stretch_overlaps(void **state)
{
    (void)state;
    for (uint32_t parts = 1; parts <= 12; parts++)
        for (uint32_t trainers = 1; trainers <= 12; trainers++)
            for (uint32_t part = 0; part < parts; part++) {
                struct trainer_range found = assign_part_trainers(part, parts, trainers);
                assert_in_range(found.last, found.first, trainers - 1);
                for (uint32_t t = 0; t < trainers; t++) {
                    bool overlaps = t * parts < (part + 1) * trainers &&
                                    part * trainers < (t + 1) * parts;
                    assert_int_equal(t >= found.first && t <= found.last, overlaps);
                }
            }
    /* The largest numbers that a book may have. */
    struct trainer_range last = assign_part_trainers(65535, 65536, INT32_MAX);
    assert_int_equal(last.last, INT32_MAX - 1);
    assert_int_equal(last.first, (UINT64_C(65535) * INT32_MAX) / 65536);
}

/* Without edges nodes are dealt out in turn, class by class; so few that each has a partition of
 * its own are numbered. METIS is asked in neither case. */
static void nodes_that_nothing_joins_are_dealt_out(void **state)
{
    static const char *const masks[] = { "train_mask" };
    static const struct {
        uint64_t nodes;
        uint32_t parts, trainers;
        bool by_mask;
    } cases[] = {
        { 30, 1, 0, false }, { 30, 1, 2, false }, { 30, 4, 0, false }, { 30, 4, 0, true },
        { 30, 4, 8, true },  { 9, 8, 0, false },  { 9, 9, 0, false },  { 9, 12, 0, false },
        { 30, 5, 3, false }, { 30, 1, 1, false }, { 9, 9, 0, true },   { 9, 8, 0, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        struct sample sample;
        struct assignment assignment;
        snprintf(name, sizeof name, "raw%zu", i);
        sample_init(&sample, true, cases[i].nodes, 0, 1);
        struct raw_graph *raw = sample_raw(&sample, at(*state, name));
        const struct partition_options options = { .method = PARTITION_METIS,
                                                   .num_parts = cases[i].parts,
                                                   .trainers = cases[i].trainers,
                                                   .balance_tables = masks,
                                                   .num_balance_tables = cases[i].by_mask };
        assign_well(raw, &options, &assignment);
        bool split = cases[i].trainers > 0 && cases[i].trainers % cases[i].parts == 0;
        uint32_t ids = split ? cases[i].trainers : cases[i].parts, next[4] = { 0 };
        for (uint32_t t = 0; t < 2; t++)
            for (uint64_t v = 0; v < sample.num_nodes[t]; v++) {
                bool numbered = !cases[i].by_mask || cases[i].nodes <= ids;
                uint32_t *turn = &next[numbered ? 0 : 2 * t + (v % 4 == 0)];
                uint32_t id = (*turn)++ % ids;
                if (!split || cases[i].parts == 1)
                    assert_int_equal(assignment.parts[t][v], cases[i].parts == 1 ? 0 : id);
                else
                    assert_int_equal(assignment.parts[t][v], id / (ids / cases[i].parts));
                if (split)
                    assert_int_equal(assignment.trainers[t][v], id);
                else if (cases[i].trainers > 0)
                    assert_in_range(assignment.trainers[t][v], 0, cases[i].trainers - 1);
                else
                    assert_null(assignment.trainers);
            }
        assignment_fini(&assignment);
        raw_close(raw);
        sample_fini(&sample);
    }
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

/* More than is read at once, of arrays and of text: no node gets another's partition. */
static void long_files_are_read_in_pieces(void **state)
{
    enum { NODES = 70001, PARTS = 11 };
    struct scratch *scratch = *state;
    struct sample sample;
    struct error error;
    const uint64_t shape[] = { NODES };
    char path[128];
    sample_init(&sample, false, NODES, 3, 1);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    int64_t *wanted = malloc(NODES * sizeof *wanted);
    assert_non_null(wanted);
    snprintf(path, sizeof path, "%s/a.txt", scratch->folder);
    FILE *text = fopen(path, "w");
    assert_non_null(text);
    for (int64_t v = 0; v < NODES; v++) {
        wanted[v] = v * v % 1009 % PARTS;
        /* Lines of all lengths that there may be, up to 63 bytes without their end. */
        assert_true(fprintf(text, "%*d\n", 1 + (int)(v % 63), (int)wanted[v]) > 0);
    }
    assert_true(ftell(text) > 2 << 20);
    assert_int_equal(fclose(text), 0);
    snprintf(path, sizeof path, "%s/a.npy", scratch->folder);
    assert_int_equal(npy_write(files_posix, path, "<i8", 1, shape, wanted, &error), 0);
    for (int kind = 0; kind < 2; kind++) {
        struct assignment assignment;
        snprintf(path, sizeof path, "%s/%s", scratch->folder, kind == 0 ? "a.npy" : "a.txt");
        const struct partition_options options = {
            .method = PARTITION_FILE, .assignment = path, .num_parts = PARTS, .trainers = 3 * PARTS
        };
        assign_well(raw, &options, &assignment);
        for (int64_t v = 0; v < NODES; v++) {
            assert_int_equal(assignment.parts[0][v], wanted[v]);
            assert_int_equal(assignment.trainers[0][v] / 3, wanted[v]);
        }
        assignment_fini(&assignment);
    }
    free(wanted);
    raw_close(raw);
    sample_fini(&sample);
}

static void wrong_arrays_are_refused(void **state)
{
    static const struct {
        uint32_t ndim;
        uint64_t shape[2];
        int32_t ids[6];
        int code;
        const char *word;
    } cases[] = {
        { 1, { 3 }, { 0, 1, 0 }, TR_EMISMATCH, "a.npy: partitions of 3 nodes, the graph has 4" },
        { 1, { 5 }, { 0 }, TR_EMISMATCH, "a.npy: partitions of 5 nodes, the graph has 4" },
        { 2, { 4, 1 }, { 0 }, TR_EMISMATCH, "a.npy: partitions of 4 nodes, the graph has 4" },
        { 1,
          { 4 },
          { 0, 1, 2, 1 },
          TR_ERANGE,
          "a.npy: element 2: partition 2 is not below 2; correct the file or num_parts" },
    };
    struct scratch *scratch = *state;
    struct sample sample;
    char path[128], out[128];
    sample_init(&sample, false, 4, 9, 1);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    snprintf(path, sizeof path, "%s/a.npy", scratch->folder);
    snprintf(out, sizeof out, "%s/out", scratch->folder);
    const struct partition_options options = { .method = PARTITION_FILE,
                                               .assignment = path,
                                               .num_parts = 2 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        (void)remove(path);
        assert_int_equal(npy_write(files_posix, path, "<i4", cases[i].ndim, cases[i].shape,
                                   cases[i].ids, &error),
                         0);
        assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error),
                         cases[i].code);
        assert_says(&error, cases[i].code, cases[i].word);
        assert_false(files_exists(files_posix, out));
    }
    raw_close(raw);
    sample_fini(&sample);
}

/* An array is read where there are both; each type's text has lines of its own. */
static void folders_have_a_file_for_each_type(void **state)
{
    static const int32_t authors[] = { 1, 1 };
    static const uint64_t shape[] = { 2 };
    struct scratch *scratch = *state;
    struct sample sample;
    struct assignment assignment;
    struct error error = { 0 };
    char path[128], out[128];
    sample_init(&sample, true, 6, 9, 1);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    assert_int_equal(files_make_folders(files_posix, at(scratch, "a"), &error), 0);
    put_text(scratch, "a/author.txt", "0\n0\n");
    put_text(scratch, "a/paper.txt", "0\n1\n0\n0\n");
    assert_int_equal(
        npy_write(files_posix, at(scratch, "a/author.npy"), "<i4", 1, shape, authors, &error), 0);
    snprintf(path, sizeof path, "%s/a", scratch->folder);
    snprintf(out, sizeof out, "%s/out", scratch->folder);
    const struct partition_options options = { .method = PARTITION_FILE,
                                               .assignment = path,
                                               .num_parts = 2 };
    assign_well(raw, &options, &assignment);
    assert_int_equal(assignment.parts[0][0] + assignment.parts[0][1], 2);
    assert_int_equal(assignment.parts[1][1], 1);
    assert_int_equal(assignment.parts[1][0] + assignment.parts[1][2] + assignment.parts[1][3], 0);
    assignment_fini(&assignment);
    put_text(scratch, "a/paper.txt", "0\n1\n2\n0\n");
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), TR_ERANGE);
    assert_says(&error, TR_ERANGE, "a/paper.txt: line 3: partition 2 is not below 2");
    assert_int_equal(remove(at(scratch, "a/paper.txt")), 0);
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "a/paper.txt");
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
        { "", "a.txt: partitions of 0 nodes, the graph has 4; it must hold one", TR_EMISMATCH },
        { "0\n2\n1\n1\n", "line 2: partition 2 is not below 2; correct the file", TR_ERANGE },
        { "0\n1\n1\n1\n1", "line 5 is one more than the 4 nodes of the graph", TR_EMISMATCH },
        { "1\n1 0\n1\n1\n", "line 2: '1 0' is not the number of a partition", TR_EFORMAT },
        { "1\n 18446744073709551616\n", "line 2: ' 18446744073709551616' is not", TR_EFORMAT },
        { "1\n+1\n", "line 2: '+1' is not", TR_EFORMAT },
        { "1\n                                                               1\n1\n1\n",
          "line 2: more than 64 bytes", TR_EFORMAT },
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
        SCRATCH(draws_are_those_of_before),
        cmocka_unit_test(trainers_stand_where_their_stretch_overlaps),
        SCRATCH(nodes_that_nothing_joins_are_dealt_out),
        SCRATCH(files_of_each_kind_are_read),
        SCRATCH(long_files_are_read_in_pieces),
        SCRATCH(wrong_arrays_are_refused),
        SCRATCH(folders_have_a_file_for_each_type),
        SCRATCH(wrong_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
