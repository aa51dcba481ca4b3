/* METIS gives balanced partitions of any graph, and what goes wrong in its process stays there. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/partition/graph_util.h"

struct run {
    struct sample sample;
    struct raw_graph *raw;
    struct partition_report report;
    struct error error;
    char out[128];
    char json[160];
};

static void run_setup(struct run *run, struct scratch *scratch, bool hetero, uint64_t nodes,
                      uint64_t edges)
{
    char raw_path[160];
    static int round;
    *run = (struct run){ 0 };
    snprintf(raw_path, sizeof raw_path, "%s/raw%d", scratch->folder, round);
    snprintf(run->out, sizeof run->out, "%s/out%d", scratch->folder, round++);
    snprintf(run->json, sizeof run->json, "%s/sample.json", run->out);
    sample_init(&run->sample, hetero, nodes, edges, nodes + edges);
    run->raw = sample_raw(&run->sample, raw_path);
}

static void run_teardown(struct run *run)
{
    raw_close(run->raw);
    sample_fini(&run->sample);
}

static void run_well(struct run *run, const struct partition_options *options)
{
    if (partition_graph(run->raw, options, run->out, NULL, NULL, &run->report, &run->error) != 0)
        fail_msg("%s", run->error.text);
}

static void any_graph_and_number_of_parts(void **state)
{
    static const uint32_t parts[] = { 1, 2, 3, 8, 60 };
    static const uint64_t sizes[][2] = { { 150, 700 }, { 40, 0 }, { 0, 0 }, { 6, 30 } };
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 4; j++) {
            struct run run;
            struct partition_options options = { .method = PARTITION_METIS,
                                                 .num_parts = parts[i],
                                                 .halo_hops = 1,
                                                 .volume = i % 2 == 1 };
            run_setup(&run, *state, (i + j) % 2 == 0, sizes[j][0], sizes[j][1]);
            run_well(&run, &options);
            check_directory(&run.sample, run.json, PARTITION_COPY);
            run_teardown(&run);
        }
    }
}

/* Cliques joined by a ring: METIS must find them, random partitions cut most edges. */
static void cuts_less_than_chance(void **state)
{
    enum { CLIQUES = 16, SIZE = 20 };
    struct run run;
    struct partition_options options = { .method = PARTITION_METIS, .num_parts = 4 };
    run_setup(&run, *state, false, CLIQUES * SIZE, CLIQUES * SIZE * SIZE);
    raw_close(run.raw);
    uint64_t at = 0;
    for (uint64_t c = 0; c < CLIQUES; c++) {
        for (uint64_t i = 0; i < SIZE * SIZE; i++, at++) {
            run.sample.src[0][at] = c * SIZE + i / SIZE;
            run.sample.dst[0][at] = c * SIZE + i % SIZE;
        }
    }
    char raw_path[160];
    snprintf(raw_path, sizeof raw_path, "%s-cliques", run.out);
    run.raw = sample_raw(&run.sample, raw_path);
    run_well(&run, &options);
    assert_int_equal(run.report.cut_edges, 0);
    assert_true(run.report.node_balance < 1.05);
    assert_true(run.report.metis_seconds > 0);
    run_teardown(&run);
}

static void classes_and_edges_are_balanced(void **state)
{
    static const char *const tables[] = { "train_mask" };
    struct run run;
    struct partition_options options = { .method = PARTITION_METIS,
                                         .num_parts = 2,
                                         .balance_tables = tables,
                                         .num_balance_tables = 1,
                                         .balance_edges = true };
    run_setup(&run, *state, false, 4000, 12000);
    run_well(&run, &options);
    assert_int_equal(run.report.num_classes, 2);
    assert_true(run.report.class_balance[0] < 1.1);
    assert_true(run.report.class_balance[1] < 1.1);
    assert_true(run.report.train_balance < 1.1);
    assert_true(run.report.edge_balance < 1.1);
    run_teardown(&run);
}

/* A sanitizer maps terabytes, so a limit of the address space means nothing there: the test is
 * then not part of the program. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ADDRESS_SPACE_IS_TAKEN
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ADDRESS_SPACE_IS_TAKEN
#endif

#ifndef ADDRESS_SPACE_IS_TAKEN
/* In a process of its own whose memory ends a number of bytes above what it has: what happened. */
static int run_within(struct run *run, size_t bytes, struct error *error)
{
    struct partition_options options = { .method = PARTITION_METIS, .num_parts = 4 };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = { 0 };
        unsigned long pages = 0;
        FILE *status = fopen("/proc/self/statm", "r");
        if (status == NULL || fscanf(status, "%lu", &pages) != 1)
            _exit(1);
        fclose(status);
        limit.rlim_cur = limit.rlim_max = pages * (size_t)sysconf(_SC_PAGESIZE) + bytes;
        setrlimit(RLIMIT_AS, &limit);
        partition_graph(run->raw, &options, run->out, NULL, NULL, NULL, error);
        _exit(write(ends[1], error, sizeof *error) == (ssize_t)sizeof *error ? 0 : 1);
    }
    int how;
    close(ends[1]);
    assert_int_equal(read(ends[0], error, sizeof *error), sizeof *error);
    close(ends[0]);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    return error->code;
}

/* However little there is, what wanted it is told, and nothing is left behind. */
static void memory_may_end_anywhere(void **state)
{
    struct run run;
    int of_ours = 0, of_metis = 0, rv = TR_ENOMEM;
    run_setup(&run, *state, false, 20000, 300000);
    for (size_t bytes = 0; rv != 0 && bytes < (size_t)1 << 30; bytes += (size_t)2 << 20) {
        struct error error = { 0 };
        rv = run_within(&run, bytes, &error);
        if (rv == 0)
            break;
        assert_true(rv == TR_ENOMEM || rv == TR_ECHILD);
        assert_says(&error, rv, "memory");
        assert_false(files_exists(files_posix, run.out));
        of_ours += rv == TR_ENOMEM;
        of_metis += rv == TR_ECHILD;
    }
    assert_int_equal(rv, 0);
    assert_true(of_ours > 0 && of_metis > 0);
    run_teardown(&run);
}
#endif

static void unknown_class_tables_are_refused(void **state)
{
    static const char *const missing[] = { "nothing" }, *const floats[] = { "feat" };
    struct run run;
    struct partition_options options = { .method = PARTITION_METIS,
                                         .num_parts = 2,
                                         .balance_tables = missing,
                                         .num_balance_tables = 1 };
    run_setup(&run, *state, false, 40, 100);
    assert_int_equal(partition_graph(run.raw, &options, run.out, NULL, NULL, NULL, &run.error),
                     TR_ENOENT);
    assert_says(&run.error, TR_ENOENT, "nothing");
    options.balance_tables = floats;
    assert_int_equal(partition_graph(run.raw, &options, run.out, NULL, NULL, NULL, &run.error),
                     TR_EUNSUPPORTED);
    assert_says(&run.error, TR_EUNSUPPORTED, "feat");
    assert_false(files_exists(files_posix, run.out));
    run_teardown(&run);
}

/* Trainer t stands in partition t / T, the deal is even and names training nodes only. */
static void trainers_are_dealt_evenly(void **state)
{
    static const enum partition_method methods[] = { PARTITION_METIS, PARTITION_RANDOM };
    for (int m = 0; m < 2; m++) {
        struct run run;
        struct store *store;
        struct graph_part *part;
        int32_t *deal;
        uint64_t counts[6] = { 0 };
        struct partition_load load = { .features = true };
        struct partition_options options = { .method = methods[m], .num_parts = 2, .trainers = 6 };
        run_setup(&run, *state, false, 1000, 4000);
        run_well(&run, &options);
        assert_int_equal(store_open(run.json, &store, &run.error), 0);
        assert_int_equal(store_read_deal(store, 0, &deal, &run.error), 0);
        for (uint64_t v = 0; v < 1000; v++) {
            assert_true(v % 4 == 0 ? deal[v] >= 0 && deal[v] < 6 : deal[v] == -1);
            if (deal[v] >= 0)
                counts[deal[v]]++;
        }
        for (int t = 0; t < 6; t++)
            assert_true(counts[t] == 250 / 6 || counts[t] == 250 / 6 + 1);
        for (uint32_t p = 0; p < 2; p++) {
            assert_int_equal(store_load(store, p, &load, &part, &run.error), 0);
            const struct feature_table *ids = node_part_feature(&part->nodes[0], "trainer_id");
            assert_non_null(ids);
            for (uint64_t i = 0; i < ids->num_rows; i++)
                assert_int_equal(((const int32_t *)ids->rows)[i] / 3, p);
            store_unload(store, part);
        }
        free(deal);
        store_close(store);
        run_teardown(&run);
    }
}

/* Nodes that were dealt to a trainer beside the partition that owns them. */
static uint64_t count_beside(struct run *run, struct store *store, const int32_t *deal)
{
    uint32_t num_parts = store_book(store)->num_parts;
    uint64_t beside = 0;
    for (uint32_t p = 0; p < num_parts; p++) {
        struct partition_load load = { .mode = PARTITION_COPY };
        struct graph_part *part;
        uint32_t trainers = store_book_file(store)->num_trainers;
        int32_t first = (int32_t)(p * trainers / num_parts);
        int32_t last = (int32_t)(((p + 1) * trainers - 1) / num_parts);
        assert_int_equal(store_load(store, p, &load, &part, &run->error), 0);
        const struct node_part *nodes = &part->nodes[0];
        for (uint64_t v = 0; v < nodes->num_nodes; v++) {
            int32_t trainer = deal[nodes->original_ids[v]];
            beside += trainer >= first && trainer <= last;
        }
        store_unload(store, part);
    }
    return beside;
}

/* Any number of trainers beside any number of partitions: nearly all of a trainer's nodes are of
 * the partitions beside it. */
static void trainers_stand_beside_their_partitions(void **state)
{
    static const uint32_t shapes[][2] = { { 4, 2 }, { 4, 3 }, { 3, 4 }, { 2, 5 }, { 5, 1 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        uint32_t num_parts = shapes[i][0], trainers = shapes[i][1];
        struct run run;
        struct store *store;
        int32_t *deal;
        uint64_t counts[5] = { 0 };
        struct partition_options options = { .method = PARTITION_METIS,
                                             .num_parts = num_parts,
                                             .trainers = trainers };
        run_setup(&run, *state, false, 1000, 4000);
        run_well(&run, &options);
        assert_int_equal(store_open(run.json, &store, &run.error), 0);
        assert_int_equal(store_book_file(store)->num_trainers, trainers);
        assert_int_equal(store_read_deal(store, 0, &deal, &run.error), 0);
        for (uint64_t v = 0; v < 1000; v++) {
            assert_true(v % 4 == 0 ? deal[v] >= 0 && deal[v] < (int32_t)trainers : deal[v] == -1);
            if (deal[v] >= 0)
                counts[deal[v]]++;
        }
        for (uint32_t t = 0; t < trainers; t++)
            assert_int_equal(counts[t], 250 / trainers + (t < 250 % trainers));
        assert_in_range(count_beside(&run, store, deal), 200, 250);
        free(deal);
        store_close(store);
        run_teardown(&run);
    }
}

static void same_seed_same_partition(void **state)
{
    struct run run;
    struct partition_options options = {
        .method = PARTITION_METIS, .num_parts = 3, .seed = 9, .replace = true
    };
    run_setup(&run, *state, false, 2000, 9000);
    run_well(&run, &options);
    uint64_t cut = run.report.cut_edges;
    int64_t objective = run.report.metis_objective;
    run_well(&run, &options);
    assert_int_equal(run.report.cut_edges, cut);
    assert_int_equal(run.report.metis_objective, objective);
    run_teardown(&run);
}

/* A graph that is only claimed: nothing may be read of it before it is refused. */
static void a_graph_too_big_is_refused_with_a_way_out(void **state)
{
    struct run run;
    struct partition_options options = { .method = PARTITION_METIS, .num_parts = 2 };
    run_setup(&run, *state, false, 40, 100);
    uint64_t edges = run.raw->num_edges[0];
    run.raw->num_edges[0] = UINT64_C(1) << 30;
    assert_int_equal(partition_graph(run.raw, &options, run.out, NULL, NULL, NULL, &run.error),
                     TR_ETOOBIG);
    assert_says(&run.error, TR_ETOOBIG, "1073741824");
    assert_says(&run.error, TR_ETOOBIG, "--method random");
    assert_false(files_exists(files_posix, run.out));
    run.raw->num_edges[0] = edges;
    run_teardown(&run);
}

/* The processes whose parent we are: those of the thread that asks. */
static int kill_children(void)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    int child = atoi(text);
    return child > 0 ? kill(child, SIGKILL) == 0 : 0;
}

static void kill_at_metis(void *arg, const char *stage, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    if (strcmp(stage, "METIS") == 0 && !*(int *)arg)
        *(int *)arg = kill_children();
}

static void a_killed_child_is_told(void **state)
{
    struct run run;
    int killed = 0;
    struct partition_options options = { .method = PARTITION_METIS, .num_parts = 16 };
    struct partition_hooks hooks = { .progress = kill_at_metis, .arg = &killed };
    run_setup(&run, *state, false, 30000, 120000);
    assert_int_equal(partition_graph(run.raw, &options, run.out, NULL, &hooks, NULL, &run.error),
                     TR_ECHILD);
    assert_true(killed);
    assert_says(&run.error, TR_ECHILD, "killed");
    assert_false(files_exists(files_posix, run.out));
    run_teardown(&run);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(any_graph_and_number_of_parts),  SCRATCH(cuts_less_than_chance),
        SCRATCH(classes_and_edges_are_balanced), SCRATCH(unknown_class_tables_are_refused),
        SCRATCH(trainers_are_dealt_evenly),      SCRATCH(trainers_stand_beside_their_partitions),
        SCRATCH(same_seed_same_partition),       SCRATCH(a_graph_too_big_is_refused_with_a_way_out),
        SCRATCH(a_killed_child_is_told),
#ifndef ADDRESS_SPACE_IS_TAKEN
        SCRATCH(memory_may_end_anywhere),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
