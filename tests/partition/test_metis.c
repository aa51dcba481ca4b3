/* SPDX-License-Identifier: Apache-2.0 */
/* METIS gives balanced partitions of any graph, and what goes wrong in its process stays there: no
 * ending of troupe-metis leaves a descriptor, a process or a partition directory behind. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/partition/graph_util.h"

/* Hashes of partitions that the library gave while METIS was linked into it. */
#define GOLDEN0 UINT64_C(0xc70f0981cb52fc47)
#define GOLDEN1 UINT64_C(0x55e719fa936102a2)
#define GOLDEN2 UINT64_C(0xc58a074f26332ed4)
#define GOLDEN3 UINT64_C(0xa20b9807558c1d0b)

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
    /* Edges alone: nodes are balanced all the same. */
    options.num_balance_tables = 0;
    options.num_parts = 3;
    run_setup(&run, *state, false, 4000, 12000);
    run_well(&run, &options);
    assert_int_equal(run.report.num_classes, 0);
    assert_true(run.report.node_balance < 1.1);
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

/* However little there is, the caller gets an error, and nothing is left behind. */
static void memory_may_end_anywhere(void **state)
{
    struct run run;
    int of_ours = 0, rv = TR_ENOMEM;
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
    }
    assert_int_equal(rv, 0);
    assert_true(of_ours > 0);
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
    assert_says(&run.error, TR_ETOOBIG, "\"method\" random");
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

static void kill_at_metis(void *arg, const char *stage, const char *unit, uint64_t done,
                          uint64_t total)
{
    (void)unit;
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

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* Which nodes each partition owns, in one number. */
static uint64_t hash_partitions(struct run *run)
{
    struct partition_load load = { .mode = PARTITION_COPY };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct store *store;
    assert_int_equal(store_open(run->json, &store, &run->error), 0);
    for (uint32_t p = 0; p < store_book(store)->num_parts; p++) {
        struct graph_part *part;
        assert_int_equal(store_load(store, p, &load, &part, &run->error), 0);
        for (uint32_t t = 0; t < run->sample.types.num_ntypes; t++) {
            const struct node_part *nodes = &part->nodes[t];
            hash = hash_bytes(hash, &nodes->num_nodes, sizeof nodes->num_nodes);
            hash = hash_bytes(hash, nodes->original_ids,
                              nodes->num_nodes * sizeof *nodes->original_ids);
        }
        store_unload(store, part);
    }
    store_close(store);
    return hash;
}

/* The partitions that METIS 5.1.0 gave when it was a part of the library, for each kind of
 * question: plain, volume, several node types, columns of weights. */
static void partitions_are_those_of_before(void **state)
{
    static const char *const tables[] = { "train_mask" };
    static const struct {
        bool hetero;
        struct partition_options options;
        uint64_t hash;
    } cases[] = {
        { false, { .method = PARTITION_METIS, .num_parts = 4 }, GOLDEN0 },
        { false,
          { .method = PARTITION_METIS, .num_parts = 7, .volume = true, .seed = 11 },
          GOLDEN1 },
        { true, { .method = PARTITION_METIS, .num_parts = 3, .seed = UINT64_C(1) << 40 }, GOLDEN2 },
        { false,
          { .method = PARTITION_METIS,
            .num_parts = 5,
            .balance_tables = tables,
            .num_balance_tables = 1,
            .balance_edges = true },
          GOLDEN3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        run_setup(&run, *state, cases[i].hetero, 3000, 15000);
        run_well(&run, &cases[i].options);
        uint64_t hash = hash_partitions(&run);
        if (hash != cases[i].hash)
            fail_msg("case %zu: 0x%016llx", i, (unsigned long long)hash);
        run_teardown(&run);
    }
}

/* Descriptors that are open, and whether a child is left that nobody waited for. */
static int count_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static void assert_nothing_left(const struct run *run, int descriptors)
{
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    if (run->error.code != 0)
        assert_false(files_exists(files_posix, run->out));
}

/* A program that stands where troupe-metis would; the rest of the line is what it does. */
static void stand_in(const struct run *run, const char *script)
{
    char path[192];
    snprintf(path, sizeof path, "%s-metis", run->out);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "#!/bin/sh\n%s\n", script) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(setenv("TROUPE_METIS", path, 1), 0);
}

/* Numbers of the head (metis_exchange.h): `answered`, `status`; and the array of parts. */
#define SAY_OK                                             \
    "printf '\\001\\000\\000\\000\\001\\000\\000\\000' | " \
    "dd of=/proc/self/fd/3 bs=1 seek=48 conv=notrunc 2>/dev/null; "

static void whatever_the_helper_does_is_told(void **state)
{
    const char *given = getenv("TROUPE_METIS");
    char *helper = strdup(given != NULL ? given : "");
    char scarce[300], rubbish[300];
    /* Far too little for METIS, and for the program itself. */
    snprintf(scarce, sizeof scarce, "ulimit -v 1000; exec %s", helper);
    snprintf(rubbish, sizeof rubbish,
             "head -c 128 /dev/urandom | dd of=/proc/self/fd/3 bs=1 conv=notrunc 2>/dev/null; "
             "exec %s 3<&3",
             helper);
    const struct {
        const char *script, *word;
    } cases[] = {
        { "kill -9 $$", "killed" },
        { "kill -SEGV $$", "signal 11" },
        { "exit 0", "exit 0" },
        { "exit 2", "another release" },
        { "exit 127", "exit 127" },
        { scarce, "memory" },
        { rubbish, "another release" },
        { "exec 3>&-; exit 0", "exit 0" },
        { "truncate -s 0 /proc/self/fd/3; exit 9", "exit 9" },
        { SAY_OK "exit 1", "exit 1" },
        { SAY_OK "printf '\\377\\377\\377\\377' | dd of=/proc/self/fd/3 bs=1 "
                 "seek=$(($(stat -L -c %s /proc/self/fd/3) - 64)) conv=notrunc 2>/dev/null",
          "to partition 4294967295 of 4" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct partition_options options = { .method = PARTITION_METIS, .num_parts = 4 };
        int descriptors = count_descriptors();
        run_setup(&run, *state, false, 400, 2000);
        stand_in(&run, cases[i].script);
        assert_int_equal(partition_graph(run.raw, &options, run.out, NULL, NULL, NULL, &run.error),
                         TR_ECHILD);
        if (strstr(run.error.text, cases[i].word) == NULL)
            fail_msg("%s: %s", cases[i].script, run.error.text);
        raw_close(run.raw);
        run.raw = NULL;
        assert_nothing_left(&run, descriptors);
        sample_fini(&run.sample);
    }
    assert_int_equal(setenv("TROUPE_METIS", helper, 1), 0);
    free(helper);
}

static void a_missing_helper_is_told(void **state)
{
    struct run run;
    char *helper = strdup(getenv("TROUPE_METIS"));
    struct partition_options options = { .method = PARTITION_METIS, .num_parts = 2 };
    run_setup(&run, *state, false, 40, 100);
    assert_int_equal(setenv("TROUPE_METIS", "/nowhere/metis", 1), 0);
    assert_int_equal(partition_graph(run.raw, &options, run.out, NULL, NULL, NULL, &run.error),
                     TR_ENOENT);
    assert_says(&run.error, TR_ENOENT, "TROUPE_METIS names /nowhere/metis");
    assert_int_equal(setenv("TROUPE_METIS", helper, 1), 0);
    free(helper);
    run_teardown(&run);
}

struct cancelling {
    bool asked;
    char pid[192]; /* the file with the helper's number */
};

static bool is_asked(void *arg)
{
    return ((struct cancelling *)arg)->asked;
}

/* Once the helper runs: its number is in the file. */
static void cancel_at_metis(void *arg, const char *stage, const char *unit, uint64_t done,
                            uint64_t total)
{
    (void)unit;
    struct cancelling *cancelling = arg;
    (void)done;
    (void)total;
    char line[32] = "";
    FILE *file = strcmp(stage, "METIS") == 0 ? fopen(cancelling->pid, "r") : NULL;
    if (file != NULL && fgets(line, sizeof line, file) != NULL && isdigit((unsigned char)*line))
        cancelling->asked = strchr(line, '\n') != NULL;
    if (file != NULL)
        fclose(file);
}

/* A helper that would run for ever is killed, whichever way it is cancelled. */
static void cancel_kills_the_helper(void **state)
{
    struct run run;
    struct cancelling cancelling = { 0 };
    char *helper = strdup(getenv("TROUPE_METIS")), script[300], line[32] = "";
    struct cancel cancel = { .asked = is_asked, .arg = &cancelling };
    struct partition_options options = { .method = PARTITION_METIS, .num_parts = 4 };
    struct partition_hooks hooks = { .progress = cancel_at_metis,
                                     .arg = &cancelling,
                                     .cancel = &cancel };
    int descriptors = count_descriptors();
    run_setup(&run, *state, false, 400, 2000);
    snprintf(cancelling.pid, sizeof cancelling.pid, "%s-pid", run.out);
    snprintf(script, sizeof script, "echo $$ >%s; exec sleep 1000", cancelling.pid);
    stand_in(&run, script);
    assert_int_equal(partition_graph(run.raw, &options, run.out, NULL, &hooks, NULL, &run.error),
                     TR_ECANCELED);
    FILE *file = fopen(cancelling.pid, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_int_equal(kill(atoi(line), 0), -1);
    assert_int_equal(errno, ESRCH);
    raw_close(run.raw);
    assert_nothing_left(&run, descriptors);
    sample_fini(&run.sample);
    assert_int_equal(setenv("TROUPE_METIS", helper, 1), 0);
    free(helper);
}

/* A program that ignores SIGCHLD has no status of the helper: the answer is taken all the same. */
static void a_program_may_ignore_its_children(void **state)
{
    struct run run;
    struct partition_options options = { .method = PARTITION_METIS, .num_parts = 4 };
    int descriptors = count_descriptors();
    run_setup(&run, *state, false, 3000, 15000);
    signal(SIGCHLD, SIG_IGN);
    run_well(&run, &options);
    assert_int_equal(hash_partitions(&run), GOLDEN0);
    signal(SIGCHLD, SIG_DFL);
    raw_close(run.raw);
    assert_nothing_left(&run, descriptors);
    sample_fini(&run.sample);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(any_graph_and_number_of_parts),
        SCRATCH(cuts_less_than_chance),
        SCRATCH(classes_and_edges_are_balanced),
        SCRATCH(unknown_class_tables_are_refused),
        SCRATCH(trainers_are_dealt_evenly),
        SCRATCH(trainers_stand_beside_their_partitions),
        SCRATCH(same_seed_same_partition),
        SCRATCH(a_graph_too_big_is_refused_with_a_way_out),
        SCRATCH(a_killed_child_is_told),
        SCRATCH(partitions_are_those_of_before),
        SCRATCH(whatever_the_helper_does_is_told),
        SCRATCH(a_missing_helper_is_told),
        SCRATCH(cancel_kills_the_helper),
        SCRATCH(a_program_may_ignore_its_children),
#ifndef ADDRESS_SPACE_IS_TAKEN
        SCRATCH(memory_may_end_anywhere),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
