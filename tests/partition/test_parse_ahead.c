/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An edge list gives the same edges, the same facts and the same failure, with its line, for any
 * number of threads and any size of blocks; threads hold no more than they may, and end with it.
 */
#include "tests/partition/raw_util.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>

#include "partition/raw/raw.h"
#include "partition/raw/read_ahead.h"
#include "tests/schemas/random.h"
#include "tests/seeds.h"

#define TEXT_BYTES ((size_t)4096)
/* An edge takes four bytes at least, and may have its reverse. */
#define EDGES_MAX (TEXT_BYTES / 2)

static const size_t BLOCKS[] = { 16, 61, 256, 4096 };
#define NUM_BLOCKS (sizeof BLOCKS / sizeof *BLOCKS)
static const uint32_t THREADS[] = { 2, 3, 8 };
#define NUM_THREADS (sizeof THREADS / sizeof *THREADS)

/* All that reading a text gives. */
struct outcome {
    int rv;
    struct error error;
    struct raw_edges_found found; /* without the names, which are in the error's place */
    uint64_t num_nodes, num_edges;
    uint64_t ends[2 * EDGES_MAX];
};

static void read_edges(const char *path, const struct raw_options *options, struct outcome *outcome)
{
    struct raw_graph *graph;
    memset(outcome, 0, sizeof *outcome);
    outcome->rv = raw_open(path, options, &graph, &outcome->error);
    if (outcome->rv != 0)
        return;
    outcome->error = (struct error){ 0 };
    outcome->found = graph->found;
    snprintf(outcome->error.text, sizeof outcome->error.text, "%s %s",
             graph->found.source_name != NULL ? graph->found.source_name : "-",
             graph->found.target_name != NULL ? graph->found.target_name : "-");
    outcome->found.source_name = outcome->found.target_name = NULL;
    outcome->num_nodes = graph->num_nodes[0];
    outcome->num_edges = graph->num_edges[0];
    assert_true(outcome->num_edges <= EDGES_MAX);
    struct error error = { 0 };
    assert_int_equal(raw_read_edges(graph, 0, 0, outcome->num_edges, outcome->ends,
                                    outcome->ends + EDGES_MAX, &error),
                     0);
    raw_close(graph);
}

static void assert_same(const struct outcome *one, const struct outcome *other, const char *what,
                        size_t block_bytes, uint32_t threads)
{
    if (one->rv != other->rv || strcmp(one->error.text, other->error.text) != 0)
        fail_msg("%s: blocks of %zu, %u threads: %d '%s', alone %d '%s'", what, block_bytes,
                 threads, other->rv, other->error.text, one->rv, one->error.text);
    if (memcmp(one, other, sizeof *one) != 0)
        fail_msg("%s: blocks of %zu, %u threads: another graph", what, block_bytes, threads);
}

/* Reads the file "a.txt" in every way; gives what one thread with large blocks gives. */
static void check_all_ways(struct scratch *scratch, const struct raw_options *given,
                           const char *what, struct outcome *first)
{
    static struct outcome alone, other;
    struct raw_options options = *given;
    for (size_t b = 0; b < NUM_BLOCKS; b++) {
        options.reading = (struct text_reading){ 1, BLOCKS[b] };
        read_edges(at(scratch, "a.txt"), &options, &alone);
        for (size_t t = 0; t < NUM_THREADS; t++) {
            options.reading.threads = THREADS[t];
            read_edges(at(scratch, "a.txt"), &options, &other);
            assert_same(&alone, &other, what, BLOCKS[b], THREADS[t]);
        }
        if (first != NULL)
            *first = alone;
    }
}

/* Rows of the same kind; row `odd` is the given one. */
static void put_rows(struct scratch *scratch, const char *head, const char *pattern, int count,
                     int odd, const char *row)
{
    FILE *file = fopen(at(scratch, "a.txt"), "w");
    assert_non_null(file);
    fputs(head, file);
    for (int i = 0; i < count; i++) {
        if (i == odd)
            fputs(row, file);
        else
            put_row(file, pattern, (unsigned)i % 97, (unsigned)(i * 31) % 89);
    }
    assert_int_equal(fclose(file), 0);
}

struct kind {
    const char *head, *pattern;
    struct raw_options options;
};

static const struct kind KINDS[] = {
    { "", "@ @\n", { .num_nodes = 0 } },
    { "", "@\t@\r\n", { .undirected = true } },
    { "", "@,@\n", { .loops = RAW_LOOPS_DROP, .duplicates = RAW_DUPLICATES_MERGE } },
    { "# a comment\n\nsrc,dst\n", "@,@\n", { .first_id = 0, .num_nodes = 100 } },
    { "weight;from;to\n", "0.5;@;@\n", { .duplicates = RAW_DUPLICATES_COUNT } },
    { "", "  \"@\" , \"@\"  \n# a comment\n\n", { .undirected = true } },
    { "note,u,v\n", "\"a note, of\n two lines\n1,2,3\n\",@,@\n", { .num_nodes = 0 } },
    { "", "9999999999@ 1234567890@\n", { .num_nodes = RAW_NODES_MAX } },
    { "", "@|@\n", { .delimiter = '|' } },
};
#define NUM_KINDS (sizeof KINDS / sizeof *KINDS)

static void any_number_of_threads_reads_the_same(void **state)
{
    static struct outcome outcome;
    for (size_t i = 0; i < NUM_KINDS; i++) {
        put_rows(*state, KINDS[i].head, KINDS[i].pattern, 700, -1, "");
        check_all_ways(*state, &KINDS[i].options, KINDS[i].pattern, &outcome);
        if (outcome.rv != 0)
            fail_msg("%s: %s", KINDS[i].pattern, outcome.error.text);
        assert_true(outcome.num_edges > 500);
    }
}

/* What is wrong is found in its line, whichever block that is in. */
static void a_wrong_row_is_named_by_its_line(void **state)
{
    static const struct {
        const char *row, *says;
    } rows[] = {
        { "5\n", "the destination ID is missing" },
        { "5 x\n", "the destination ID is needed, 'x'" },
        { "5 6 7\n", "has 3 columns" },
        { "-1 6\n", "the source ID '-1' is negative" },
        { "5 99999999999999999999\n", "the destination ID begins with" },
        { "5 5\n", "5 leads to itself" },
        { "\"5 6\n", "the source ID has a quotation mark" },
    };
    static struct outcome outcome;
    const struct raw_options options = { .loops = RAW_LOOPS_ERROR };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int odd = 1; odd < 400; odd += odd < 8 ? 1 : 57) {
            char says[80];
            /* Rows without a loop. */
            FILE *file = fopen(at(*state, "a.txt"), "w");
            assert_non_null(file);
            for (int i = 0; i < 400; i++) {
                if (i == odd)
                    fputs(rows[r].row, file);
                else
                    fprintf(file, "%d %d\n", i, i + 1);
            }
            assert_int_equal(fclose(file), 0);
            check_all_ways(*state, &options, rows[r].row, &outcome);
            snprintf(says, sizeof says, "line %d: %s", odd + 1, rows[r].says);
            assert_true(outcome.rv != 0);
            assert_says(&outcome.error, outcome.rv, says);
        }
    }
}

/* A byte 0 lies in any block, and a row before it is not read in its block. */
static void a_byte_0_is_found(void **state)
{
    static struct outcome outcome;
    char text[4000];
    const struct raw_options options = { .num_nodes = 0 };
    for (size_t zero = 1; zero < 3900; zero += 211) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = "1 2\n"[i % 4];
        text[zero] = '\0';
        put(*state, "a.txt", text, sizeof text);
        check_all_ways(*state, &options, "a byte 0", &outcome);
        assert_says(&outcome.error, TR_EFORMAT, "holds a byte 0");
    }
}

/* Pieces of texts: first those of nearly every line, then all that a text may hold, right or wrong. */
static const char *const PIECES[] = {
    "1 2\n",
    "3\t4\n",
    "5,6\r\n",
    "70;81\n",
    "12345 67890\n",
    "0 9\n",
    "\n",
    "# x\n",
    "\"7\" 8\n",
    " 7 8 ",
    "% 1 2\n",
    "1 1\n",
    "4294967296 3\n",
    "2 3 4\n",
    "\"",
    "\"a\nb\" 1\n",
    "-",
    "a\n",
    "\r\n",
    "\t",
    "#",
    "5",
    "\xc3\xa4",
    "\"\"",
};
#define NUM_PIECES (sizeof PIECES / sizeof *PIECES)
#define PLAIN_PIECES 8

/* One text in four is plain lines alone, the others have up to a tenth of anything. */
static size_t draw_text(uint64_t *random, char *text)
{
    const uint64_t odds = random_below(random, 4) * 30;
    size_t used = 0, size = 64 + random_below(random, TEXT_BYTES - 128);
    while (used < size) {
        bool odd = odds > 0 && random_below(random, 10 + odds) == 0;
        const char *piece = PIECES[random_below(random, odd ? NUM_PIECES : PLAIN_PIECES)];
        memcpy(text + used, piece, strlen(piece));
        used += strlen(piece);
    }
    return used;
}

static void any_text_reads_the_same(void **state)
{
    static char text[TEXT_BYTES];
    const struct seeds seeds = seeds_wanted(150);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        uint64_t random = seed;
        char what[40];
        put(*state, "a.txt", text, draw_text(&random, text));
        uint64_t choice = random_next(&random);
        const struct raw_options options = {
            .undirected = choice & 1,
            .num_nodes = choice & 2 ? UINT64_C(1) << 33 : 0,
            .delimiter = choice & 4 ? ',' : '\0',
            .first_id = choice >> 3 & 1,
            .loops = (enum raw_loops)((choice >> 4 & 3) % 3),
            .duplicates = choice & 64 ? RAW_DUPLICATES_COUNT : RAW_DUPLICATES_KEEP,
            .source = choice >> 7 & 7 ? NULL : "2",
            .target = choice >> 7 & 7 ? NULL : "1",
        };
        snprintf(what, sizeof what, "seed %" PRIu64, seed);
        check_all_ways(*state, &options, what, NULL);
    }
}

/* Files whose reads are counted, and fail from one of them on. */
struct counted {
    struct files files;
    atomic_int reads;
    int fails_from;
};

static ssize_t counted_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    struct counted *counted = (struct counted *)(void *)self;
    if (atomic_fetch_add(&counted->reads, 1) >= counted->fails_from)
        return -EIO;
    return files_posix->pread(files_posix, fd, data, size, offset);
}

static void a_read_that_fails_is_reported(void **state)
{
    static struct outcome alone, other;
    struct counted counted = { .files = *files_posix };
    counted.files.pread = counted_pread;
    put_rows(*state, "", "@ @\n", 600, -1, "");
    for (int from = 0; from < 14; from++) {
        struct raw_options options = { .files = &counted.files };
        counted.fails_from = from;
        atomic_store(&counted.reads, 0);
        options.reading = (struct text_reading){ 1, 256 };
        read_edges(at(*state, "a.txt"), &options, &alone);
        assert_says(&alone.error, TR_EIO, "a.txt");
        for (size_t t = 0; t < NUM_THREADS; t++) {
            atomic_store(&counted.reads, 0);
            options.reading.threads = THREADS[t];
            read_edges(at(*state, "a.txt"), &options, &other);
            assert_same(&alone, &other, "a failing read", 256, THREADS[t]);
            /* Nothing reads on behind the failure. */
            assert_int_equal(atomic_load(&counted.reads), from + 1);
        }
    }
}

static bool asked_after(void *arg)
{
    return --*(int *)arg < 0;
}

/* Cancelled between blocks: at once, with the line, and the threads are gone. */
static void a_cancelled_reading_ends_at_once(void **state)
{
    static struct outcome alone, other;
    struct counted counted = { .files = *files_posix, .fails_from = INT_MAX };
    counted.files.pread = counted_pread;
    put_rows(*state, "", "@ @\n", 700, -1, "");
    for (int after = 0; after < 16; after++) {
        int left = after;
        const struct cancel cancel = { asked_after, &left };
        struct raw_options options = { .cancel = &cancel, .files = &counted.files };
        options.reading = (struct text_reading){ 1, 256 };
        read_edges(at(*state, "a.txt"), &options, &alone);
        assert_says(&alone.error, TR_ECANCELED, "interrupted at line");
        for (size_t t = 0; t < NUM_THREADS; t++) {
            left = after;
            atomic_store(&counted.reads, 0);
            options.reading.threads = THREADS[t];
            read_edges(at(*state, "a.txt"), &options, &other);
            assert_same(&alone, &other, "cancelled", 256, THREADS[t]);
            /* What was read ahead of the block that is parsed is bounded. */
            const int reads = atomic_load(&counted.reads);
            assert_true(reads <= after + 2 + 2 * (int)THREADS[t] + 1);
            assert_int_equal(reads, atomic_load(&counted.reads));
        }
    }
}

/* What lies ahead, seen from its source and its parser. */
struct watched {
    atomic_uint filled, inside_fill, created, parsed;
    atomic_uint taken;
    uint32_t blocks, blocks_max, most_ahead;
};

static int watched_fill(void *arg, void *data, size_t size, size_t *got, struct error *error)
{
    struct watched *watched = arg;
    (void)error;
    /* One thread at a time. */
    assert(atomic_fetch_add(&watched->inside_fill, 1) == 0);
    uint32_t number = atomic_fetch_add(&watched->filled, 1);
    uint32_t ahead = number + 1 - atomic_load(&watched->taken);
    watched->most_ahead = ahead > watched->most_ahead ? ahead : watched->most_ahead;
    memset(data, (int)(number % 251), size);
    *got = number < watched->blocks ? size : 0;
    atomic_fetch_sub(&watched->inside_fill, 1);
    return 0;
}

static void *watched_create(void *arg)
{
    atomic_fetch_add(&((struct watched *)arg)->created, 1);
    return calloc(1, 1);
}

static void watched_parse(void *arg, const uint8_t *block, size_t size, void *parsed)
{
    atomic_fetch_add(&((struct watched *)arg)->parsed, 1);
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + block[i]);
    *(uint8_t *)parsed = sum;
}

/* Blocks come in order, each with what was parsed of it, and never more of them than may be. */
static void what_lies_ahead_is_bounded(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= READ_AHEAD_THREADS_MAX + 1; threads += 3) {
        for (int slow = 0; slow < 2; slow++) {
            struct watched watched = { .blocks = 300 };
            struct read_ahead ahead;
            const struct block_source source = { watched_fill, &watched, slow != 0 };
            const struct block_parser parser = { watched_create, watched_parse, free, &watched };
            struct error error = { 0 };
            assert_int_equal(read_ahead_start(&ahead, &source, &parser, 64, threads, &error), 0);
            uint32_t count = 0;
            for (;; count++) {
                const uint8_t *block;
                const void *parsed;
                size_t got;
                assert_int_equal(read_ahead_next(&ahead, &block, &got, &parsed, &error), 0);
                if (got == 0)
                    break;
                atomic_store(&watched.taken, count + 1);
                assert_int_equal(got, 64);
                assert_int_equal(block[0], count % 251);
                assert_int_equal(block[63], count % 251);
                assert_int_equal(*(const uint8_t *)parsed, (uint8_t)(64 * (count % 251)));
            }
            read_ahead_stop(&ahead);
            assert_int_equal(count, 300);
            assert_int_equal(atomic_load(&watched.parsed), 300);
            assert_true(atomic_load(&watched.created) <= READ_AHEAD_BLOCKS_MAX);
            /* The one that is read counts among them. */
            assert_true(watched.most_ahead <= READ_AHEAD_BLOCKS_MAX);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_number_of_threads_reads_the_same, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_wrong_row_is_named_by_its_line, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_byte_0_is_found, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(any_text_reads_the_same, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_read_that_fails_is_reported, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_cancelled_reading_ends_at_once, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(what_lies_ahead_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
