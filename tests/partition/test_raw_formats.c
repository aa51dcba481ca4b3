/* SPDX-License-Identifier: Apache-2.0 */
/* Readers: one graph in every format gives the same edges, and errors say what is wrong. */
#include "tests/partition/raw_util.h"

#include <sys/stat.h>
#include <zlib.h>

#include "partition/raw/raw.h"
#include "partition/store/npy.h"

#define EDGES 6

/* Each edge with its reverse, in the order of an adjacency list, so that METIS can say it too. */
static const uint64_t srcs[EDGES] = { 0, 0, 1, 2, 2, 3 };
static const uint64_t dsts[EDGES] = { 1, 2, 0, 0, 3, 2 };

static void assert_graph(const char *path, const struct raw_options *options)
{
    struct error error = { 0 };
    struct raw_graph *graph = NULL;
    uint64_t src[EDGES], dst[EDGES];
    if (raw_open(path, options, &graph, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(graph->num_edges[0], EDGES);
    assert_int_equal(graph->num_nodes[0], 4);
    assert_int_equal(raw_read_edges(graph, 0, 0, EDGES, src, dst, &error), 0);
    assert_memory_equal(src, srcs, sizeof src);
    assert_memory_equal(dst, dsts, sizeof dst);
    assert_int_equal(raw_read_edges(graph, 0, 4, 2, src, dst, &error), 0);
    assert_int_equal(src[1], 3);
    raw_close(graph);
}

static void put_gzip(struct scratch *scratch, const char *name, const char *text)
{
    gzFile file = gzopen(at(scratch, name), "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static void every_format_gives_the_same_edges(void **state)
{
    struct scratch *scratch = *state;
    static const struct {
        const char *name, *text;
    } files[] = {
        { "a.txt", "0 1\n0 2\n1 0\n2 0\n2 3\n3 2\n" },
        { "b.tsv", "# a comment\n\n0\t1\r\n0\t2\r\n1\t0\r\n%x\n2\t0\r\n2\t3\r\n3\t2" },
        { "c.csv", "src,dst,weight\n0,1,0.5\n0 , 2, 1\n1,0,\n2,0,x\n2,3,7\n3,2,9\n" },
        { "d", "0;1\n0;2\n1;0\n2;0\n2;3\n3;2\n" },
        { "e.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n4 4 6\n1 2\n1 3\n2 1\n3 "
                   "1\n3 4\n4 3\n" },
        { "f.mtx",
          "%%MatrixMarket matrix coordinate real general\n4 4 6\n1 2 .5\n1 3 1e3\n2 1 1\n3 "
          "1 1\n3 4 1\n4 3 -1\n\n" },
        { "g.graph", "% c\n4 3\n2 3\n1\n% c\n1 4\n3\n" },
        { "h.graph", "4 3 111 2\n9 1 1 2 5 3 5\n9 1 1 1 5\n9 1 1 1 5 4 5\n9 1 1 3 5\n" },
        { "i.graph", "4 3 001\n2 5 3 5\n1 5\n1 5 4 5\n3 5" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[32];
        put_text(scratch, files[i].name, files[i].text);
        assert_graph(at(scratch, files[i].name), NULL);
        snprintf(name, sizeof name, "%s.gz", files[i].name);
        put_gzip(scratch, name, files[i].text);
        assert_graph(at(scratch, name), NULL);
    }
    int32_t pairs[EDGES][2];
    uint8_t columns[2][EDGES];
    for (int i = 0; i < EDGES; i++) {
        pairs[i][0] = (int32_t)srcs[i], pairs[i][1] = (int32_t)dsts[i];
        columns[0][i] = (uint8_t)srcs[i], columns[1][i] = (uint8_t)dsts[i];
    }
    uint64_t rows[] = { EDGES, 2 }, flat[] = { 2, EDGES };
    assert_int_equal(npy_write(files_posix, at(scratch, "j.npy"), "<i4", 2, rows, pairs, NULL), 0);
    assert_graph(at(scratch, "j.npy"), NULL);
    assert_int_equal(npy_write(files_posix, at(scratch, "k.npy"), "|u1", 2, flat, columns, NULL),
                     0);
    assert_graph(at(scratch, "k.npy"), NULL);
}

static void options_of_edge_lists(void **state)
{
    struct scratch *scratch = *state;
    struct error error;
    struct raw_graph *graph;
    uint64_t src[5], dst[5];
    put_text(scratch, "a", "0 1\n1 1\n1 2\n");
    struct raw_options options = { .undirected = true, .num_nodes = 10 };
    assert_int_equal(raw_open(at(scratch, "a"), &options, &graph, &error), 0);
    assert_int_equal(graph->num_nodes[0], 10);
    assert_int_equal(graph->num_edges[0], 5);
    assert_int_equal(raw_read_edges(graph, 0, 0, 5, src, dst, &error), 0);
    const uint64_t src_want[] = { 0, 1, 1, 1, 2 }, dst_want[] = { 1, 0, 1, 2, 1 };
    assert_memory_equal(src, src_want, sizeof src);
    assert_memory_equal(dst, dst_want, sizeof dst);
    raw_close(graph);
    put_text(scratch, "b", "0|1\n0 | 2|x y\n1|0\n2|0\n2|3\n3|2\n");
    options = (struct raw_options){ .delimiter = '|' };
    assert_int_equal(raw_open(at(scratch, "b"), &options, &graph, &error), TR_EFORMAT);
    put_text(scratch, "b", "0|1\n0 | 2\n1|0\n2|0\n2|3\n3|2\n");
    assert_graph(at(scratch, "b"), &options);
}

/* Blanks of each kind stand between columns as well as around a delimiter, on any line. */
static void columns_stand_apart_by_any_blanks(void **state)
{
    static const struct {
        const char *text;
        char delimiter;
        const char *refused; /* NULL: two edges are read */
    } cases[] = {
        { "0\t1\t5\n1 2 5\n", '\0', NULL },
        { "0 1 5\n1\t2\t5\n", '\0', NULL },
        { "0 1,5\n1 2\t5\n", '\0', NULL },
        { "0 1\r5\n1 2 5\n", '\0', NULL },
        { "0 1 \r\n1 2\n", '\0', NULL },
        { "0\t1\n1 2\n", ',', NULL },
        { "0\t,\t1\n1 , 2\n", ',', NULL },
        { "0 1 5\n1 2\n", '\0', "line 2: has 2 columns, the first edge has 3" },
        { "0 1\n1 2\t\t5\n", '\0', "line 2: has 3 columns, the first edge has 2" },
        { "0 1\n1 2,\n", '\0', "line 2: has 3 columns" },
    };
    struct scratch *scratch = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        struct raw_graph *graph = NULL;
        uint64_t src[2], dst[2];
        put_text(scratch, "a.txt", cases[i].text);
        const struct raw_options options = { .delimiter = cases[i].delimiter };
        int rv = raw_open(at(scratch, "a.txt"), &options, &graph, &error);
        if (rv != (cases[i].refused == NULL ? 0 : TR_EFORMAT))
            fail_msg("case %zu: %s", i, error.text);
        if (rv != 0) {
            assert_says(&error, TR_EFORMAT, cases[i].refused);
            continue;
        }
        assert_int_equal(graph->num_edges[0], 2);
        assert_int_equal(raw_read_edges(graph, 0, 0, 2, src, dst, &error), 0);
        assert_true(src[0] == 0 && dst[0] == 1 && src[1] == 1 && dst[1] == 2);
        raw_close(graph);
    }
}

/* A word fits with 63 bytes, and is cut short in what is said of a longer one. */
static void words_are_bounded(void **state)
{
    struct scratch *scratch = *state;
    for (size_t length = 62; length <= 65; length++) {
        struct error error = { 0 };
        struct raw_graph *graph = NULL;
        char word[80] = "", text[200];
        memset(word, 'w', length);
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate %s general\n3 3 0\n", word);
        put_text(scratch, "a.mtx", text);
        assert_true(raw_open(at(scratch, "a.mtx"), NULL, &graph, &error) != 0);
        assert_null(graph);
        assert_int_equal(strstr(error.text, "'wwwwwwwwwwwwwwwwwwww...' is too long") != NULL,
                         length > 63);
        assert_int_equal(error.code, length > 63 ? TR_EFORMAT : TR_EUNSUPPORTED);
    }
}

static void ids_above_32_bits_are_kept(void **state)
{
    struct scratch *scratch = *state;
    struct error error;
    struct raw_graph *graph;
    uint64_t src[2], dst[2];
    put_text(scratch, "a", "1 2\n5000000000 4294967295\n");
    const struct raw_options options = { .num_nodes = 5000000001 };
    assert_int_equal(raw_open(at(scratch, "a"), &options, &graph, &error), 0);
    assert_int_equal(graph->num_nodes[0], 5000000001);
    assert_int_equal(raw_read_edges(graph, 0, 0, 2, src, dst, &error), 0);
    assert_int_equal(src[0], 1);
    assert_int_equal(src[1], 5000000000);
    assert_int_equal(dst[1], 4294967295);
    raw_close(graph);
}

static void files_that_say_so_are_empty_graphs(void **state)
{
    struct scratch *scratch = *state;
    static const struct {
        const char *name, *text;
        uint64_t nodes;
    } files[] = { { "c.graph", "0 0\n", 0 },
                  { "d.graph", "2 0\n\n\n", 2 },
                  { "e.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", 3 } };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct raw_graph *graph;
        struct error error;
        put_text(scratch, files[i].name, files[i].text);
        assert_int_equal(raw_open(at(scratch, files[i].name), NULL, &graph, &error), 0);
        assert_int_equal(graph->num_nodes[0], files[i].nodes);
        assert_int_equal(graph->num_edges[0], 0);
        raw_close(graph);
    }
}

static void weights_are_kept(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct error error;
    float weights[3];
    int64_t pair[2];
    put_text(scratch, "a.mtx",
             "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 0.5\n3 3 2\n");
    assert_int_equal(raw_open(at(scratch, "a.mtx"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, true, 0, "weight"), 0, 3,
                                   weights, &error),
                     0);
    assert_true(weights[0] == 0.5f && weights[1] == -0.5f && weights[2] == 2);
    raw_close(graph);
    put_text(scratch, "b.mtx",
             "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 nan\n3 3 2\n");
    assert_int_equal(raw_open(at(scratch, "b.mtx"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_rows(graph, 0, 0, 2, weights, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "edge 0, column 0: value nan");
    raw_close(graph);
    put_text(scratch, "c.graph", "2 1 11 2\n7 8 2 5\n9 10 1 5\n");
    assert_int_equal(raw_open(at(scratch, "c.graph"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, false, 0, "weight"), 1, 1,
                                   pair, &error),
                     0);
    assert_int_equal(pair[0], 9);
    assert_int_equal(pair[1], 10);
    assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, true, 0, "weight"), 1, 1,
                                   pair, &error),
                     0);
    assert_int_equal(pair[0], 5);
    raw_close(graph);
}

#define MTX "%%MatrixMarket matrix coordinate pattern general\n"

static void wrong_text_is_told_by_its_line(void **state)
{
    struct scratch *scratch = *state;
    static const struct {
        const char *name, *text;
        int code;
        const char *says;
    } cases[] = {
        { "a.txt", "0 1\n-1 2\n", TR_ERANGE, "a.txt: line 2: the source ID '-1' is negative" },
        { "a.txt", "0 1\n1 x\n", TR_EFORMAT, "line 2: the destination ID is needed, 'x'" },
        { "a.txt", "0 1\n1\n", TR_EFORMAT, "line 2: the destination ID is missing" },
        { "a.txt", "0 1\n1", TR_EFORMAT, "line 2: the destination ID is missing" },
        { "a.txt", "0 1\n\n1.5 2\n", TR_EFORMAT, "line 3" },
        { "a.txt", "0 1\n99999999999999999999999 2\n", TR_ERANGE,
          "line 2: the source ID begins with" },
        { "a.txt", "0 1\n1 2 3\n", TR_EFORMAT, "line 2: has 3 columns, the first edge has 2" },
        { "a.txt", "0,,1\n", TR_EFORMAT, "line 1" },
        { "a.txt", "0 1\nfrom to\n", TR_EFORMAT, "line 2" },
        { "a.txt", "\xff\xfe\x00\x01", TR_EUNSUPPORTED, "a.txt: looks like UTF-16 text" },
        { "a.txt", "PAR1", TR_EUNSUPPORTED, "a.txt: looks like a Parquet file" },
        { "a.mtx", "", TR_EFORMAT, "line 1" },
        { "a.mtx", "%%MatrixMarket matrix array real general\n", TR_EUNSUPPORTED, "coordinate" },
        { "a.mtx", "%%MatrixMarket matrix coordinate complex general\n", TR_EUNSUPPORTED,
          "complex" },
        { "a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n", TR_EUNSUPPORTED,
          "hermitian" },
        { "a.mtx", MTX "3 4 1\n1 1\n", TR_EUNSUPPORTED, "line 2: a matrix of 3 x 4" },
        { "a.mtx", MTX "3 3 2\n1 1\n   \n", TR_EFORMAT, "1 of 2 entries" },
        { "a.mtx", MTX "3 3 1\n1 1\n2 2\n", TR_EFORMAT, "more than the 1 entries" },
        { "a.mtx", MTX "3 3 1\n4 1\n", TR_ERANGE, "line 3: the row" },
        { "a.mtx", MTX "3 3 1\n0 1\n", TR_ERANGE, "numbers from 1" },
        { "a.mtx", MTX "3 3 1\n1 1 7\n", TR_EFORMAT, "line 3: has more than is needed" },
        { "a.mtx", MTX "3 3 900000000000\n1 1\n", TR_EFORMAT, "truncated" },
        { "a.mtx", MTX "3 3\n", TR_EFORMAT, "entries is missing" },
        { "a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 abc\n", TR_EFORMAT,
          "'abc'" },
        { "a.graph", "", TR_EFORMAT, "number of nodes is missing" },
        { "a.graph", "3 1\n2\n", TR_EFORMAT, "1 of 3 nodes" },
        { "a.graph", "2 1\n2\n", TR_EFORMAT, "1 neighbours are listed" },
        { "a.graph", "4 2\n2\n1 3\n", TR_EFORMAT, "after the last line, 3: ends after 2 of 4" },
        { "a.graph", "4 2\n2\n1 3", TR_EFORMAT, "line 3: ends after 2 of 4 nodes" },
        { "a.graph", "2 1\n2\n2 1\n", TR_EFORMAT, "more neighbours" },
        { "a.graph", "2 1\n2\n\n", TR_EFORMAT, "neighbours are listed" },
        { "a.graph", "2 1\n2\n1\n1\n", TR_EFORMAT, "more lines" },
        { "a.graph", "2 1\n0\n1\n", TR_ERANGE, "numbers from 1" },
        { "a.graph", "2 1\n3\n1\n", TR_ERANGE, "line 2: a neighbour" },
        { "a.graph", "2 1 002\n", TR_EFORMAT, "format" },
        { "a.graph", "2 1 0 3\n", TR_EFORMAT, "no weights" },
        { "a.graph", "2 1 1\n2\n1 1\n", TR_EFORMAT, "edge weight is missing" },
        { "a.graph", "900000000000 1\n", TR_EFORMAT, "truncated" },
        { "a.mtx", "%%MatrixMarket vector coordinate real general\n", TR_EFORMAT,
          "not '%%matrixmarket vector'" },
        { "a.mtx", "%%Matrix matrix coordinate real general\n", TR_EFORMAT,
          "not '%%matrix matrix'" },
        { "a.mtx", MTX "3 3 1 1\n1 1\n", TR_EFORMAT, "line 2: has more than is needed, from '1'" },
        { "a.mtx", MTX "3 3 1\n1 4\n", TR_ERANGE, "line 3: the column" },
        { "a.mtx", MTX "3 3 1\n1 0\n", TR_ERANGE, "numbers from 1" },
        { "a.mtx", MTX "3 3 15\n1 1\n", TR_EFORMAT, "1 of 15 entries" }, /* 4 bytes each */
        { "a.mtx", MTX "3 3 16\n1 1\n", TR_EFORMAT, "16 entries do not fit the 60 bytes" },
        { "a.graph", "2 1 111 64\n", TR_EFORMAT, "0 of 2 nodes" },
        { "a.graph", "2 1 111 65\n", TR_ERANGE, "the number of constraints" },
        { "a.graph", "2 1 112\n", TR_ERANGE, "the format" },
        { "a.graph", "2 1 020\n", TR_EFORMAT, "format 020; three digits" },
        { "a.graph", "2 1 10 1\n4294967296 2\n1 1\n", TR_ERANGE, "a node weight" },
        { "a.graph", "2 1 1\n2 4294967296\n1 1\n", TR_ERANGE, "an edge weight" },
        { "a.graph", "8 3\n", TR_EFORMAT, "8 nodes and 3 edges do not fit the 4 bytes" },
        { "a.graph", "1 3\n", TR_EFORMAT, "1 nodes and 3 edges do not fit the 4 bytes" },
        { "a.graph", "5 2\n", TR_EFORMAT, "0 of 5 nodes" },
        { "a.txt", "0 1\n1 2x\n", TR_EFORMAT, "the destination ID is needed, '2x'" },
        { "a.txt", "1152921504606846976 0\n", TR_ERANGE, "the source ID begins with" },
        { "a.parquet", "PAR1", TR_EUNSUPPORTED, "pandas.read_parquet('FILE').to_csv(" },
        { "a.dgl", "", TR_EUNSUPPORTED, "numpy.save" },
        { "a.bin", "", TR_EUNSUPPORTED, "numpy.save" },
        { "a.npz", "", TR_EUNSUPPORTED, "numpy.save" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        struct raw_graph *graph = NULL;
        put_text(scratch, cases[i].name, cases[i].text);
        int rv = raw_open(at(scratch, cases[i].name), NULL, &graph, &error);
        if (rv != cases[i].code)
            fail_msg("case %zu '%s': %d %s", i, cases[i].text, rv, error.text);
        assert_null(graph);
        assert_says(&error, cases[i].code, cases[i].says);
    }
}

static void damaged_gzip_is_told(void **state)
{
    struct scratch *scratch = *state;
    struct error error;
    struct raw_graph *graph;
    char *data;
    size_t size;
    char text[500 * 8 + 1];
    for (int i = 0; i < 500; i++)
        snprintf(text + 8 * i, 9, "%3d %3d\n", i, i * i % 499);
    put_gzip(scratch, "a.gz", text);
    assert_int_equal(
        files_read_all(files_posix, at(scratch, "a.gz"), 1 << 20, &data, &size, &error), 0);
    put(scratch, "b.gz", data, size - 20);
    assert_int_equal(raw_open(at(scratch, "b.gz"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "truncated");
    data[size - 6] ^= 1; /* the checksum */
    put(scratch, "b.gz", data, size);
    assert_int_equal(raw_open(at(scratch, "b.gz"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "damaged");
    free(data);
}

/* Numbers and lines that a block of the reader cuts in two are read like others. */
static void blocks_may_cut_anywhere(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct error error;
    const int count = 300000;
    FILE *file = fopen(at(scratch, "a"), "w");
    for (int i = 0; i < count; i++)
        fprintf(file, "%d %d\n", i, count - i);
    fclose(file);
    assert_int_equal(raw_open(at(scratch, "a"), NULL, &graph, &error), 0);
    assert_int_equal(graph->num_edges[0], count);
    uint64_t *src = malloc(2 * (size_t)count * sizeof *src), *dst = src + count;
    assert_int_equal(raw_read_edges(graph, 0, 0, (uint64_t)count, src, dst, &error), 0);
    for (int i = 0; i < count; i++) {
        assert_int_equal(src[i], i);
        assert_int_equal(dst[i], count - i);
    }
    free(src);
    raw_close(graph);
}

static bool yes(void *arg)
{
    (void)arg;
    return true;
}

static void an_interrupt_ends_parsing(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct error error;
    struct cancel cancel = { yes, NULL };
    struct raw_options options = { .cancel = &cancel };
    put_text(scratch, "a", "0 1\n");
    assert_int_equal(raw_open(at(scratch, "a"), &options, &graph, &error), TR_ECANCELED);
}

/* Any byte may be wrong: the reader answers, and a graph that it gives can be read. */
static void any_byte_may_be_wrong(void **state)
{
    struct scratch *scratch = *state;
    static const struct {
        const char *name, *text;
    } files[] = {
        { "a.txt", "0 1\n2 0\n" },
        { "a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 1 .5\n" },
        { "a.graph", "3 2 111 1\n1 1 2 1 3 1\n1 1 1 1\n1 1 1 1\n" },
    };
    static const char bytes[] = "09-. \n,%#z\xff";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t length = strlen(files[i].text);
        int read = 0;
        for (size_t at_byte = 0; at_byte < length; at_byte++) {
            for (size_t b = 0; b < sizeof bytes; b++) {
                char text[128];
                struct error error = { 0 };
                struct raw_graph *graph;
                uint64_t src[16], dst[16];
                memcpy(text, files[i].text, length);
                text[at_byte] = bytes[b];
                put(scratch, files[i].name, text, length);
                if (raw_open(at(scratch, files[i].name), NULL, &graph, &error) != 0) {
                    assert_true(error.code < 0 && strstr(error.text, files[i].name) != NULL);
                    continue;
                }
                read++;
                assert_true(graph->num_edges[0] <= 16);
                assert_int_equal(raw_read_edges(graph, 0, 0, graph->num_edges[0], src, dst, &error),
                                 0);
                raw_close(graph);
            }
        }
        assert_true(read > 0);
    }
}

static void make_folder(struct scratch *scratch)
{
    int64_t pairs[] = { 0, 1, 1, 2 };
    uint64_t edges[] = { 2, 2 }, rows[] = { 3, 2 }, nodes[] = { 3 }, packed[] = { 10, 1 };
    float feat[6] = { 1, 2, 3, 4, 5, 6 };
    int64_t label[] = { 0, -1, 1 };
    uint8_t bits[10] = { 0xa0, 0x40 };
    assert_int_equal(files_make_folders(files_posix, at(scratch, "f"), NULL), 0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "f/edges.npy"), "<i8", 2, edges, pairs, NULL), 0);
    assert_int_equal(npy_write(files_posix, at(scratch, "f/feat.npy"), "<f4", 2, rows, feat, NULL),
                     0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "f/label.npy"), "<i8", 1, nodes, label, NULL), 0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "f/val_masks_all10.npy"), "|u1", 2, packed, bits, NULL),
        0);
}

static void a_folder_of_arrays(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct error error = { 0 };
    uint8_t mask[3];
    make_folder(scratch);
    assert_int_equal(raw_open(at(scratch, "f"), NULL, &graph, &error), 0);
    assert_string_equal(graph->name, "f");
    assert_int_equal(graph->num_nodes[0], 3);
    assert_int_equal(graph->num_tables, 12);
    int table = raw_find_table(graph, false, 0, "val_mask_0");
    assert_int_equal(raw_read_rows(graph, (uint32_t)table, 0, 3, mask, &error), 0);
    assert_true(mask[0] == 1 && mask[1] == 0 && mask[2] == 1);
    assert_int_equal(raw_read_rows(graph, (uint32_t)table + 1, 1, 1, mask, &error), 0);
    assert_int_equal(mask[0], 1);
    raw_close(graph);
    put_text(scratch, "f/meta.json", "{\"num_nodes\": 4}");
    assert_int_equal(raw_open(at(scratch, "f"), NULL, &graph, &error), TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH, "feat.npy: shape: 3 rows for 4 nodes");
    put_text(scratch, "f/meta.json", "{\"num_nodes\": \"4\"}");
    assert_int_equal(raw_open(at(scratch, "f"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "meta.json: num_nodes");
}

#define HEAD                                                                                     \
    "{\"graph_name\": \"g\", \"node_type\": [\"n\"], \"edge_type\": [\"n:e:n\"],"                \
    "\"num_nodes_per_chunk\": [[3]], \"num_edges_per_chunk\": [[1, 1]], \"edges\": {\"n:e:n\": " \
    "{\"format\": "                                                                              \
    "{\"name\": \"csv\", \"delimiter\": \" \"}, \"data\": [\"a.csv\", \"b.csv\"]}}"

static void ids_of_arrays_are_bounded(void **state)
{
    struct scratch *scratch = *state;
    const uint64_t edges[] = { 2, 2 };
    for (int beyond = 0; beyond < 2; beyond++)
        for (int place = 0; place < 4; place++) {
            struct raw_graph *graph = NULL;
            struct error error = { 0 };
            int64_t pairs[4] = { 0, 1, 1, 0 };
            pairs[place] = (int64_t)RAW_NODES_MAX - 1 + beyond;
            assert_int_equal(
                npy_write(files_posix, at(scratch, "l.npy"), "<i8", 2, edges, pairs, NULL), 0);
            int rv = raw_open(at(scratch, "l.npy"), NULL, &graph, &error);
            if (rv != (beyond ? TR_ERANGE : 0))
                fail_msg("%s", error.text);
            if (beyond)
                assert_says(&error, TR_ERANGE, "IDs must be below");
            else
                assert_int_equal(graph->num_nodes[0], RAW_NODES_MAX);
            raw_close(graph);
            assert_int_equal(files_remove_tree(files_posix, at(scratch, "l.npy"), NULL), 0);
        }
}

static void chunked_format_with_csv(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct error error = { 0 };
    uint64_t src[2], dst[2];
    float rows[6];
    assert_int_equal(files_make_folders(files_posix, at(scratch, "c"), NULL), 0);
    put_text(scratch, "c/a.csv", "0 1\n");
    put_text(scratch, "c/b.csv", "1 2\n");
    put_text(scratch, "c/x.csv", "0.5|1\n2|3\n4|5\n");
    put_text(scratch, "c/metadata.json",
             HEAD ", \"node_data\": {\"n\": {\"x\": {\"format\": {\"name\": \"csv\", "
                  "\"delimiter\": \"|\"}, \"data\": [\"x.csv\"]}}}}");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_edges(graph, 0, 0, 2, src, dst, &error), 0);
    assert_true(src[0] == 0 && dst[0] == 1 && src[1] == 1 && dst[1] == 2);
    assert_int_equal(graph->tables[0].dtype, TR_F32);
    assert_int_equal(graph->tables[0].width, 2);
    assert_int_equal(raw_read_rows(graph, 0, 0, 3, rows, &error), 0);
    assert_true(rows[0] == 0.5f && rows[5] == 5);
    raw_close(graph);
    put_text(scratch, "c/x.csv", "0.5|1\n2\n4|5\n");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "x.csv: line 2: has 1 columns");
    put_text(scratch, "c/x.csv", "0.5|1\n2|\"3\"\n4|5\n");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "x.csv: line 2: a number is needed, not '\"3\"'");
    put_text(scratch, "c/x.csv", "0.5|1\n2\"3|4\n4|5\n");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "x.csv: line 2: a number is needed, not '2\"3'");
    put_text(scratch, "c/x.csv", "0.5|1\n2|y\n4|5\n");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "node_data.n.x.data[0]");
    put_text(scratch, "c/b.csv", "1 9\n");
    put_text(scratch, "c/metadata.json", HEAD "}");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_edges(graph, 0, 0, 2, src, dst, &error), TR_ERANGE);
    assert_says(&error, TR_ERANGE, "b.csv: edge 0: destination 9");
    raw_close(graph);
}

/* A header of a piece is skipped, which is counted and said; one that was none is missed. */
static void headers_of_pieces_are_counted(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct error error = { 0 };
    assert_int_equal(files_make_folders(files_posix, at(scratch, "c"), NULL), 0);
    put_text(scratch, "c/a.csv", "from to\n0 1\n");
    put_text(scratch, "c/b.csv", "1 2\n");
    put_text(scratch, "c/x.csv", "height|width\n0.5|1\n2|3\n4|5\n");
    put_text(scratch, "c/metadata.json",
             HEAD ", \"node_data\": {\"n\": {\"x\": {\"format\": {\"name\": \"csv\", "
                  "\"delimiter\": \"|\"}, \"data\": [\"x.csv\"]}}}}");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), 0);
    assert_int_equal(graph->header_files, 2);
    raw_close(graph);
    put_text(scratch, "c/a.csv", "n0 n1\n");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH,
                "the files hold 1 edges (first lines skipped as headers: 1), the counts say 2");
    put_text(scratch, "c/a.csv", "0 1\n");
    put_text(scratch, "c/x.csv", "a|b\n2|3\n4|5\n");
    assert_int_equal(raw_open(at(scratch, "c"), NULL, &graph, &error), TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH,
                "the files hold 2 rows (first lines skipped as headers: 1), the type has 3 nodes");
}

/* Of a piece with a header the ends are the columns that it names, or its only two. */
static void columns_of_pieces_are_found(void **state)
{
    static const char *const pieces[] = { "user item\n0 1\n", "w from to\n9 0 1\n",
                                          "old new rating\n0 1 9\n" };
    struct scratch *scratch = *state;
    assert_int_equal(files_make_folders(files_posix, at(scratch, "c"), NULL), 0);
    put_text(scratch, "c/b.csv", "1 2\n");
    put_text(scratch, "c/metadata.json", HEAD "}");
    for (int i = 0; i < 3; i++) {
        struct raw_graph *graph;
        struct error error = { 0 };
        uint64_t src[2], dst[2];
        put_text(scratch, "c/a.csv", pieces[i]);
        int rv = raw_open(at(scratch, "c"), NULL, &graph, &error);
        if (i == 2) {
            assert_int_equal(rv, TR_EFORMAT);
            assert_says(&error, TR_EFORMAT, "a.csv: line 1: which of the columns 'old', 'new', ");
            assert_says(&error, TR_EFORMAT, "; leave the two columns of IDs alone in the file");
            return;
        }
        if (rv != 0)
            fail_msg("'%s': %s", pieces[i], error.text);
        assert_int_equal(raw_read_edges(graph, 0, 0, 2, src, dst, &error), 0);
        assert_true(src[0] == 0 && dst[0] == 1 && src[1] == 1 && dst[1] == 2);
        raw_close(graph);
    }
}

/* The bytes around what a reader asks for, and edges and rows that are not there. */
static void what_is_read_ends_at_its_bounds(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct error error = { 0 };
    uint64_t src[4] = { 9, 9, 9, 9 }, dst[4] = { 9, 9, 9, 9 };
    float rows[9];
    put_text(scratch, "a.mtx",
             "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 5\n2 3 6\n3 1 7\n");
    assert_int_equal(raw_open(at(scratch, "a.mtx"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_edges(graph, 0, 3, 0, src, dst, &error), 0);
    assert_int_equal(raw_read_edges(graph, 0, 1, 2, src, dst, &error), 0);
    assert_true(src[0] == 1 && dst[0] == 2 && src[1] == 2 && dst[1] == 0 && src[2] == 9);
    static const struct {
        uint32_t which;
        uint64_t begin, count;
    } outside[] = { { 1, 0, 0 }, { 1, 0, 1 }, { 0, 4, 0 },
                    { 0, 3, 1 }, { 0, 0, 4 }, { 0, 1, UINT64_MAX } };
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_int_equal(raw_read_edges(graph, outside[i].which, outside[i].begin, outside[i].count,
                                        src, dst, &error),
                         TR_ERANGE);
        assert_says(&error, TR_ERANGE, "a: edges");
    }
    assert_int_equal(raw_read_rows(graph, 0, 3, 0, rows, &error), 0);
    assert_int_equal(raw_read_rows(graph, 0, 1, 2, rows, &error), 0);
    assert_true(rows[0] == 6 && rows[1] == 7);
    for (size_t i = 2; i < sizeof outside / sizeof *outside; i++)
        assert_int_equal(raw_read_rows(graph, 0, outside[i].begin, outside[i].count, rows, &error),
                         TR_ERANGE);
    raw_close(graph);
    assert_int_equal(raw_open(at(scratch, "none"), NULL, &graph, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "none: no such file or folder");
}

/* Each float kind is looked through to its last element, and the value is spelt. */
static void values_that_are_not_finite_are_found(void **state)
{
    static const struct {
        const char *descr;
        size_t bytes;
        uint64_t bits, largest; /* not finite; the largest that is */
        const char *says;
    } kinds[] = {
        { "<f2", 2, 0x7c00, 0x7bff, "value inf of feature 'feat'" },
        { "<f2", 2, 0xfe00, 0xfbff, "value nan" },
        { "<f4", 4, 0xff800000, 0xff7fffff, "value -inf" },
        { "<f4", 4, 0x7f800001, 0x7f7fffff, "value nan" },
        { "<f8", 8, UINT64_C(0x7ff0000000000000), UINT64_C(0x7fefffffffffffff), "value inf" },
        { "<f8", 8, UINT64_C(0xfff8000000000000), UINT64_C(0xffefffffffffffff), "value nan" },
    };
    enum { ROWS = 200, WIDTH = 3, ITEMS = ROWS * WIDTH };
    static const uint64_t places[] = { 0, 4, 255, 256, 511, 512, ITEMS - 1 };
    struct scratch *scratch = *state;
    int64_t pairs[] = { 0, ROWS - 1 };
    uint64_t edges[] = { 1, 2 }, rows[] = { ROWS, WIDTH };
    char path[256];
    assert_int_equal(files_make_folders(files_posix, at(scratch, "f"), NULL), 0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "f/edges.npy"), "<i8", 2, edges, pairs, NULL), 0);
    snprintf(path, sizeof path, "%s", at(scratch, "f/feat.npy"));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t p = 0; p <= sizeof places / sizeof *places; p++) {
            bool bad = p < sizeof places / sizeof *places;
            uint64_t place = bad ? places[p] : 1;
            unsigned char data[ITEMS * 8] = { 0 }, got[ITEMS * 8];
            char says[64];
            struct raw_graph *graph;
            struct error error = { 0 };
            memcpy(data + place * kinds[k].bytes, bad ? &kinds[k].bits : &kinds[k].largest,
                   kinds[k].bytes);
            (void)remove(path);
            assert_int_equal(npy_write(files_posix, path, kinds[k].descr, 2, rows, data, NULL), 0);
            assert_int_equal(raw_open(at(scratch, "f"), NULL, &graph, &error), 0);
            int table = raw_find_table(graph, false, 0, "feat");
            int rv = raw_read_rows(graph, (uint32_t)table, 0, ROWS, got, &error);
            assert_int_equal(rv, bad ? TR_EFORMAT : 0);
            if (bad) {
                snprintf(says, sizeof says, "feat.npy: row %d, column %d: value",
                         (int)(place / WIDTH), (int)(place % WIDTH));
                assert_says(&error, TR_EFORMAT, says);
                assert_says(&error, TR_EFORMAT, kinds[k].says);
            } else {
                assert_memory_equal(got, data, ITEMS * kinds[k].bytes);
            }
            raw_close(graph);
        }
    }
}

/* A header is any line that begins with a letter, '_' or '"'; a column of whole numbers is
 * integers, and the delimiter of blanks may be repeated. */
static void tables_of_text_and_their_headers(void **state)
{
    static const struct {
        const char *head, *rows;
        enum tr_dtype dtype;
        double first;
    } cases[] = {
        { "", "1\n2\n3\n", TR_I64, 1 },
        { "a\n", "1\n2\n3\n", TR_I64, 1 },
        { "z\n", "1\n2\n3\n", TR_I64, 1 },
        { "A\n", "1\n2\n3\n", TR_I64, 1 },
        { "Z\n", "1\n2\n3\n", TR_I64, 1 },
        { "_\n", "1\n2\n3\n", TR_I64, 1 },
        { "\"x y\"\n", "1\n2\n3\n", TR_I64, 1 },
        { "# c\n\n% d\nid\n# e\n\n", "-1\n\n2\n# f\n3\n# g\n", TR_I64, -1 },
        { "", "1\n2.5\n3\n", TR_F32, 1 },
        { "", "9007199254740992\n2\n3\n", TR_I64, 9007199254740992.0 },
        { "", "-9007199254740992\n2\n3\n", TR_I64, -9007199254740992.0 },
        { "", "9007199254740994\n2\n3\n", TR_F32, 9007199254740992.0 },
    };
    struct scratch *scratch = *state;
    assert_int_equal(files_make_folders(files_posix, at(scratch, "c"), NULL), 0);
    put_text(scratch, "c/a.csv", "0 1\n");
    put_text(scratch, "c/b.csv", "1 2\n");
    put_text(scratch, "c/metadata.json",
             HEAD ", \"node_data\": {\"n\": {\"x\": {\"format\": {\"name\": \"csv\", "
                  "\"delimiter\": \"|\"}, \"data\": [\"x.csv\"]}}}}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        union {
            int64_t whole[3];
            float real[3];
        } rows;
        struct raw_graph *graph;
        struct error error = { 0 };
        snprintf(text, sizeof text, "%s%s", cases[i].head, cases[i].rows);
        put_text(scratch, "c/x.csv", text);
        if (raw_open(at(scratch, "c"), NULL, &graph, &error) != 0)
            fail_msg("case %zu: %s", i, error.text);
        assert_int_equal(graph->tables[0].dtype, cases[i].dtype);
        assert_int_equal(graph->tables[0].ndim, 0);
        assert_int_equal(raw_read_rows(graph, 0, 0, 3, &rows, &error), 0);
        bool whole = cases[i].dtype == TR_I64;
        assert_true((whole ? (double)rows.whole[0] : rows.real[0]) == cases[i].first);
        assert_true((whole ? (double)rows.whole[2] : rows.real[2]) == 3);
        raw_close(graph);
    }
}

/* Blanks may stand before and behind a delimiter, and are the delimiter where there is no other. */
static void columns_of_tables_stand_apart(void **state)
{
    static const char *const texts[][2] = {
        { ",", "1,2\n3,4\n5,6\n" },        { ",", "1 ,2\n3\t,4\n5 , 6\n" },
        { ",", "1, 2 \n 3,4\r\n5,\t6\n" }, { "|", "1 | 2\n3|4\n5 |6\n" },
        { " ", "1 2\n3  4\n5\t6\n" },
    };
    struct scratch *scratch = *state;
    assert_int_equal(files_make_folders(files_posix, at(scratch, "c"), NULL), 0);
    put_text(scratch, "c/a.csv", "0 1\n");
    put_text(scratch, "c/b.csv", "1 2\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        static const int64_t wanted[6] = { 1, 2, 3, 4, 5, 6 };
        char document[1024];
        int64_t rows[6];
        struct raw_graph *graph;
        struct error error = { 0 };
        snprintf(document, sizeof document,
                 HEAD ", \"node_data\": {\"n\": {\"x\": {\"format\": {\"name\": \"csv\", "
                      "\"delimiter\": \"%s\"}, \"data\": [\"x.csv\"]}}}}",
                 texts[i][0]);
        put_text(scratch, "c/metadata.json", document);
        put_text(scratch, "c/x.csv", texts[i][1]);
        if (raw_open(at(scratch, "c"), NULL, &graph, &error) != 0)
            fail_msg("case %zu: %s", i, error.text);
        assert_int_equal(graph->tables[0].ndim, 1);
        assert_int_equal(graph->tables[0].shape[0], 2);
        assert_int_equal(raw_read_rows(graph, 0, 0, 3, rows, &error), 0);
        assert_memory_equal(rows, wanted, sizeof wanted);
        raw_close(graph);
    }
}

/* Texts as Excel, PowerShell and pipes hand them over. */
static void texts_of_other_systems(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_graph *graph = NULL;
    put_text(scratch, "bom.csv",
             "\xef\xbb\xbf"
             "0,1\r\n0,2\r\n1,0\r\n2,0\r\n2,3\r\n3,2\r\n");
    assert_graph(at(scratch, "bom.csv"), NULL);
    put_gzip(scratch, "bom.gz", "\xef\xbb\xbfsrc,dst\n0,1\n0,2\n1,0\n2,0\n2,3\n3,2\n");
    assert_graph(at(scratch, "bom.gz"), NULL);
    put(scratch, "only.csv", "\xef\xbb\xbf", 3);
    assert_int_equal(raw_open(at(scratch, "only.csv"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "only.csv: holds no edge");
    put(scratch, "zero.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1\0002\n",
        60);
    assert_int_equal(raw_open(at(scratch, "zero.mtx"), NULL, &graph, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "zero.mtx: line 3: holds a byte 0");
    assert_int_equal(mkfifo(at(scratch, "pipe"), 0600), 0);
    assert_int_equal(raw_open(at(scratch, "pipe"), NULL, &graph, &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "pipe: not a regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_format_gives_the_same_edges, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(options_of_edge_lists, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ids_above_32_bits_are_kept, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(files_that_say_so_are_empty_graphs, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(weights_are_kept, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(wrong_text_is_told_by_its_line, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(damaged_gzip_is_told, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(blocks_may_cut_anywhere, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_ends_parsing, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(any_byte_may_be_wrong, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(columns_stand_apart_by_any_blanks, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(words_are_bounded, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(columns_of_tables_stand_apart, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(texts_of_other_systems, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_read_ends_at_its_bounds, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(values_that_are_not_finite_are_found, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(tables_of_text_and_their_headers, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_folder_of_arrays, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ids_of_arrays_are_bounded, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(chunked_format_with_csv, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(headers_of_pieces_are_counted, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(columns_of_pieces_are_found, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
