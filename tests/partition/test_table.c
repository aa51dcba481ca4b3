/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables come back as they were written, whatever is in their fields; names get the numbers of
 * their first appearance; columns become what table_import.h says; and what nobody means is
 * refused with its line.
 */
#include "tests/partition/raw_util.h"

#include <math.h>

#include "graph/key.h"
#include "partition/raw/raw.h"
#include "partition/store/name_list.h"
#include "partition/table/id_map.h"
#include "partition/table/plain_rows.h"
#include "partition/table/table_import.h"
#include "tests/partition/equal_hash.h"

#define ROWS 60000u /* more than a block of text */
#define COLUMNS 4u

/* A field of some of the characters that matter. */
static size_t draw_field(uint64_t key, char *text)
{
    static const char alphabet[] = "ab,;\t\"\n .#";
    uint64_t draw = key_draw(9, key);
    size_t length = draw % 7, kept = 0;
    for (size_t i = 0; i < length; i++)
        text[kept++] = alphabet[(draw >> (8 + 5 * i)) % (sizeof alphabet - 1)];
    /* Blanks around a field are not part of it where nothing quotes it; here all have a letter at
     * both ends. */
    text[0] = 'x';
    text[kept == 0 ? 0 : kept - 1] = 'y';
    kept = kept == 0 ? 1 : kept;
    text[kept] = '\0';
    return kept;
}

static void put_field(FILE *file, const char *text, size_t length, char delimiter, bool always)
{
    bool quote = always || strchr(text, delimiter) != NULL || strpbrk(text, "\"\n\t ,;") != NULL;
    if (quote)
        fputc('"', file);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            fputc('"', file);
        fputc(text[i], file);
    }
    if (quote)
        fputc('"', file);
}

static void rows_come_back_as_they_were_written(void **state)
{
    static const char delimiters[] = ",;\t| ";
    for (const char *d = delimiters; *d != '\0'; d++) {
        FILE *file = fopen(at(*state, "t.csv"), "w");
        struct table_reader reader;
        struct error error = { 0 };
        char text[16];
        uint64_t taken = 0;
        assert_non_null(file);
        for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
            size_t length = i < COLUMNS ? (size_t)sprintf(text, "c%d", (int)i)
                                        : draw_field(i, text);
            put_field(file, text, length, *d, i % 11 == 0);
            fputs(i % COLUMNS < COLUMNS - 1 ? (char[]){ *d, '\0' }
                  : i % 3 == 0              ? "\r\n"
                                            : "\n",
                  file);
        }
        assert_int_equal(fclose(file), 0);
        assert_int_equal(
            table_reader_open(&reader, files_posix, at(*state, "t.csv"), *d, NULL, &error), 0);
        assert_int_equal(reader.names.count, COLUMNS);
        assert_int_equal(table_reader_skip_header(&reader), 0);
        /* Plain rows are taken where there are some, any number at a time, none too. */
        for (uint64_t row = 1, some; row < ROWS; row += some) {
            struct table_field plain[3 * COLUMNS];
            some = table_reader_take_plain(&reader, plain, (uint32_t)(row % 4));
            taken += some;
            const struct table_field *fields = some > 0 ? plain : reader.fields;
            if (some == 0 && table_reader_next(&reader) != 0)
                fail_msg("delimiter '%c': %s", *d, error.text);
            some = some > 0 ? some : 1;
            assert_true(row + some <= ROWS);
            for (uint64_t c = 0; c < some * COLUMNS; c++) {
                size_t length = draw_field(row * COLUMNS + c, text);
                assert_int_equal(fields[c].length, length);
                assert_memory_equal(fields[c].at, text, length);
            }
        }
        assert_true(taken > 0 || *d == ' ');
        assert_int_equal(table_reader_next(&reader), TR_EEND);
        table_reader_close(&reader);
    }
}

/* Whether the row behind the line end that the text begins with is a plain one, of two fields. */
static bool is_plain_row(const char *text, size_t length, char delimiter)
{
    struct text bytes;
    struct table_field fields[2] = { 0 };
    const struct plain_rows rows = { fields, 2, 1 };
    uint64_t line = 0;
    text_of_bytes(&bytes, (const uint8_t *)text, (const uint8_t *)text + length);
    if (plain_rows_take(&rows, &bytes, delimiter, &line) == 0) {
        assert_ptr_equal(bytes.at, text);
        return false;
    }
    assert_ptr_equal(bytes.at, text + length - 1);
    assert_ptr_equal(fields[0].at, text + 1);
    assert_ptr_equal(fields[1].at, text + 1 + fields[0].length + 1);
    assert_int_equal(1 + fields[0].length + 1 + fields[1].length + 1, length);
    return true;
}

/* Each byte at each place of the first field, before and behind the words that are read at once. */
static void plain_rows_are_of_printable_ascii(void **state)
{
    const char delimiter = ';';
    (void)state;
    for (size_t length = 1; length <= 19; length++) {
        for (size_t place = 0; place < length; place++) {
            for (int byte = 0; byte < 256; byte++) {
                char text[32] = "\n";
                memset(text + 1, 'a', length);
                memcpy(text + 1 + length, ";b\n", 3);
                text[1 + place] = (char)byte;
                bool edge = place == 0 || place + 1 == length;
                bool plain = byte >= ' ' && byte < 0x7f && byte != '"' && byte != delimiter &&
                             !(byte == ' ' && edge);
                if (is_plain_row(text, length + 4, delimiter) != plain)
                    fail_msg("byte %d at %zu of %zu", byte, place, length);
            }
        }
    }
}

/* Imports tables of these texts; nodes NULL: none. */
static int import_texts(struct scratch *scratch, const char *edges, const char *nodes,
                        struct table_options options, struct table_found *found,
                        struct error *error)
{
    char edges_path[256], nodes_path[256], out[256];
    const struct raw_write_options write = { .replace = true };
    put_text(scratch, "edges.csv", edges);
    strcpy(edges_path, at(scratch, "edges.csv"));
    if (nodes != NULL)
        put_text(scratch, "nodes.csv", nodes);
    strcpy(nodes_path, at(scratch, "nodes.csv"));
    strcpy(out, at(scratch, "raw"));
    options.edges = edges_path;
    options.nodes = nodes != NULL ? nodes_path : NULL;
    return table_import(&options, out, &write, found, error);
}

static struct raw_graph *import_well(struct scratch *scratch, const char *edges, const char *nodes,
                                     struct table_options options, struct table_found *found)
{
    struct error error = { 0 };
    struct raw_graph *raw;
    if (import_texts(scratch, edges, nodes, options, found, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(raw_open(at(scratch, "raw"), NULL, &raw, &error), 0);
    return raw;
}

/* The names of a list, with a line end behind each. */
static char *read_names(struct scratch *scratch, const char *stem, uint64_t count)
{
    struct name_list list;
    struct error error = { 0 };
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    if (name_list_open(&list, files_posix, at(scratch, stem), count, &error) != 0 ||
        name_list_offsets(&list, 0, count, offsets, &error) != 0)
        fail_msg("%s", error.text);
    char *text = malloc(offsets[count] + 1);
    assert_int_equal(name_list_text(&list, offsets, count, text, &error), 0);
    text[offsets[count]] = '\0';
    name_list_close(&list);
    free(offsets);
    return text;
}

static void expect_names(struct scratch *scratch, const char *stem, uint64_t count,
                         const char *expected)
{
    char *text = read_names(scratch, stem, count);
    assert_string_equal(text, expected);
    free(text);
}

static void names_get_the_numbers_of_their_first_appearance(void **state)
{
    struct table_found found;
    uint64_t src[8], dst[8];
    struct raw_graph *raw = import_well(
        *state, "a,b\nb,\"c, d\"\nz,a\na,b\n", "id\nb\nq\n",
        (struct table_options){ .header = TABLE_HEADER_NO, .unknown = TABLE_UNKNOWN_ADD }, &found);
    assert_true(raw->num_nodes[0] == 6 && raw->num_edges[0] == 4);
    assert_int_equal(raw_read_edges(raw, 0, 0, 4, src, dst, NULL), 0);
    raw_close(raw);
    /* "id" is a row of a table without a header. */
    expect_names(*state, "raw/names/_N/nodes", 6, "id\nb\nq\na\nc, d\nz\n");
    static const uint64_t sources[] = { 3, 1, 5, 3 }, targets[] = { 1, 4, 3, 1 };
    assert_memory_equal(src, sources, sizeof sources);
    assert_memory_equal(dst, targets, sizeof targets);
    assert_true(found.added_nodes == 3 && found.node_rows == 3);
    table_found_fini(&found);
}

/* Many rows, whose names are numbers so that a plain reader knows their order. */
static void many_names_are_numbered_as_one_by_one(void **state)
{
    /* More than a block of text. */
    enum { NAMES = 5000, EDGES = 150000 };
    /* Plain rows, and such that are not: with blanks, quotation marks, an empty line, a line end of
     * Windows. */
    static const struct {
        const char *before, *between, *after;
    } STYLES[] = { { "", "\t", "\n" },   { "", "\t", "\n" },   { "", "\t", "\n" },
                   { "", "\t", "\r\n" }, { " ", " \t", "\n" }, { "\"", "\"\t\"", "\"\n" },
                   { "", "\t", " \n\n" } };
    static uint64_t number_of[NAMES], name_of[NAMES], src[EDGES], dst[EDGES];
    struct table_found found;
    uint64_t known = 0, length = 0;
    char *text = malloc(EDGES * 32 + 32);
    memset(number_of, 0xff, sizeof number_of);
    length += (uint64_t)sprintf(text, "source\ttarget\n");
    for (uint64_t i = 0; i < EDGES; i++) {
        uint64_t ends[] = { key_draw(4, i) % NAMES, key_draw(5, i) % (i / 8 % NAMES + 1) };
        for (int e = 0; e < 2; e++) {
            if (number_of[ends[e]] == UINT64_MAX) {
                name_of[known] = ends[e];
                number_of[ends[e]] = known++;
            }
        }
        size_t style = key_draw(6, i / (1 + i / 1000 % 50)) % 7;
        length += (uint64_t)sprintf(text + length, "%sn%llu%sn%llu%s", STYLES[style].before,
                                    (unsigned long long)ends[0], STYLES[style].between,
                                    (unsigned long long)ends[1], STYLES[style].after);
    }
    struct raw_graph *raw = import_well(*state, text, NULL, (struct table_options){ 0 }, &found);
    assert_true(raw->num_nodes[0] == known && raw->num_edges[0] == EDGES);
    assert_int_equal(raw_read_edges(raw, 0, 0, EDGES, src, dst, NULL), 0);
    for (uint64_t i = 0; i < EDGES; i++) {
        assert_true(src[i] == number_of[key_draw(4, i) % NAMES]);
        assert_true(dst[i] == number_of[key_draw(5, i) % (i / 8 % NAMES + 1)]);
    }
    raw_close(raw);
    char *names = read_names(*state, "raw/names/_N/nodes", known), *at_name = names;
    for (uint64_t i = 0; i < known; i++) {
        assert_true(strtoull(at_name + 1, &at_name, 10) == name_of[i] && *at_name++ == '\n');
    }
    free(names);
    free(text);
    table_found_fini(&found);
}

static void expect_rows(struct raw_graph *raw, bool on_edges, const char *name, uint64_t count,
                        size_t size, const void *expected)
{
    char rows[1024];
    int table = raw_find_table(raw, on_edges, 0, name);
    assert_true(table >= 0);
    assert_int_equal(raw->tables[table].row_bytes * count, size);
    assert_int_equal(raw_read_rows(raw, (uint32_t)table, 0, count, rows, NULL), 0);
    assert_memory_equal(rows, expected, size);
}

#define EXPECT_ROWS(raw, on_edges, name, count, expected) \
    expect_rows(raw, on_edges, name, count, sizeof expected, expected)

static const char PEOPLE[] = "id,age,score,city,label,split\n"
                             "a,10,1.5,Rome,cat,train\n"
                             "b,30,,Bern,dog,val\n"
                             "c,20,2.5,NA,,test\n"
                             "d,20,-2,Rome,cat,\n";

static void columns_become_features_labels_and_masks(void **state)
{
    struct table_found found;
    struct raw_graph *raw = import_well(
        *state, "src,dst,w,t\na,b,1.5,-7\nb,e,2,9\n", PEOPLE,
        (struct table_options){ .edge_names = { .weight = "w", .time = "t" },
                                .undirected = true,
                                .missing = TABLE_MISSING_MEAN,
                                .unknown = TABLE_UNKNOWN_ADD },
        &found);
    const float mean = (1.5f + 2.5f - 2.0f) / 3;
    const float feat[] = { (float)(-10 / sqrt(50)),
                           1.5f,
                           0,
                           1,
                           (float)(10 / sqrt(50)),
                           mean,
                           1,
                           0,
                           0,
                           2.5f,
                           0,
                           0,
                           0,
                           -2,
                           0,
                           1,
                           0,
                           0,
                           0,
                           0 };
    const int64_t label[] = { 0, 1, -1, 0, -1 }, time[] = { -7, -7, 9, 9 };
    const uint8_t train[] = { 1, 0, 0, 0, 0 }, test[] = { 0, 0, 1, 0, 0 };
    const float weight[] = { 1.5f, 1.5f, 2, 2 };
    EXPECT_ROWS(raw, false, "feat", 5, feat);
    EXPECT_ROWS(raw, false, "label", 5, label);
    EXPECT_ROWS(raw, false, "train_mask", 5, train);
    EXPECT_ROWS(raw, false, "test_mask", 5, test);
    EXPECT_ROWS(raw, true, "weight", 4, weight);
    EXPECT_ROWS(raw, true, "time", 4, time);
    raw_close(raw);
    expect_names(*state, "raw/names/_N/values~label", 2, "cat\ndog\n");
    expect_names(*state, "raw/names/_N/columns~feat", 4, "age\nscore\ncity=Bern\ncity=Rome\n");
    assert_true(found.num_columns == 10 && found.num_features == 4 && found.num_classes == 2);
    assert_true(found.columns[5].scaled && !found.columns[6].scaled);
    assert_true(found.columns[6].missing == 1 && found.columns[7].values == 2);
    table_found_fini(&found);
}

static void missing_numbers_may_be_zero(void **state)
{
    struct table_found found;
    struct raw_graph *raw = import_well(
        *state, "src,dst\na,b\n", PEOPLE,
        (struct table_options){ .missing = TABLE_MISSING_ZERO,
                                .node_names = { .features = "score", .labels = "age" } },
        &found);
    const float feat[] = { 1.5f, 0, 2.5f, -2 };
    const int64_t label[] = { 0, 2, 1, 1 };
    EXPECT_ROWS(raw, false, "feat", 4, feat);
    EXPECT_ROWS(raw, false, "label", 4, label);
    raw_close(raw);
    expect_names(*state, "raw/names/_N/values~label", 3, "10\n20\n30\n");
    assert_int_equal(found.columns[5].role, TABLE_DROPPED);
    table_found_fini(&found);
}

/* Programs' words for no value count as none; people's are values until somebody says that they are
 * none, and are named until then. */
static void words_stand_for_no_value(void **state)
{
    static const char NODES[] = "id,size,city,label\na,1.5,Rome,cat\nb,?,-,unknown\n"
                                "c,Missing,\\N,Dog\nd,2.5,#N/A,UNKNOWN\n";
    static const float mean[] = { 1.5f, 1, 2, 0, 2, 0, 2.5f, 0 };
    struct table_found found;
    struct error error = { 0 };
    struct raw_graph *raw = import_well(*state, "src,dst\na,b\n", NODES,
                                        (struct table_options){ .missing = TABLE_MISSING_MEAN },
                                        &found);
    raw_close(raw);
    expect_names(*state, "raw/names/_N/values~label", 4, "Dog\nUNKNOWN\ncat\nunknown\n");
    assert_true(found.columns[3].missing == 1 && found.columns[4].missing == 2);
    assert_string_equal(found.columns[3].doubted, "Missing");
    assert_string_equal(found.columns[4].doubted, "-");
    assert_string_equal(found.columns[5].doubted, "unknown");
    assert_true(found.columns[5].doubted_line == 3 && found.columns[5].doubted_rows == 2);
    table_found_fini(&found);
    raw = import_well(
        *state, "src,dst\na,b\n", NODES,
        (struct table_options){ .missing = TABLE_MISSING_MEAN, .no_value = " unknown,-, missing" },
        &found);
    const int64_t label[] = { 1, -1, 0, -1 };
    EXPECT_ROWS(raw, false, "feat", 4, mean);
    EXPECT_ROWS(raw, false, "label", 4, label);
    raw_close(raw);
    for (uint32_t i = 0; i < found.num_columns; i++)
        assert_string_equal(found.columns[i].doubted, "");
    table_found_fini(&found);
    /* All are values, those of programs too. */
    raw = import_well(*state, "src,dst\na,b\n", NODES, (struct table_options){ .no_value = "" },
                      &found);
    raw_close(raw);
    assert_true(found.columns[3].values == 4 && found.columns[3].missing == 0);
    assert_string_equal(found.columns[5].doubted, "");
    table_found_fini(&found);
    /* -1 is no label among numbers, and a class among texts. */
    raw = import_well(*state, "src,dst\na,b\n", "id,label\na,cat\nb,-1\nc,dog\n",
                      (struct table_options){ 0 }, &found);
    raw_close(raw);
    assert_string_equal(found.columns[3].doubted, "-1");
    assert_true(found.columns[3].doubted_line == 3 && found.columns[3].doubted_rows == 1);
    table_found_fini(&found);
    /* As an end of an edge, such a word is a node, of which there is a line; or it is refused. */
    raw = import_well(*state, "child,parent\na,NULL\nb,NULL\nc,a\nd,-\n", NULL,
                      (struct table_options){ 0 }, &found);
    raw_close(raw);
    assert_string_equal(found.doubted_end, "NULL");
    assert_int_equal(found.doubted_end_edges, 2);
    table_found_fini(&found);
    assert_int_equal(import_texts(*state, "child,parent\na,b\nb,NULL\n", NULL,
                                  (struct table_options){ .no_value = "null" }, &found, &error),
                     TR_EFORMAT);
    assert_non_null(strstr(error.text, "line 3: the source 'NULL' stands for no value"));
}

/* Row numbers, which pandas writes in front, say nothing about nodes. */
static void row_numbers_are_no_features(void **state)
{
    static const char *const NODES[] = { ",id,x\n0,a,7\n1,b,8\n",
                                         "Unnamed: 0,id,x\n0,a,7\n1,b,8\n" };
    static const float feat[] = { 7, 8 };
    for (int i = 0; i < 2; i++) {
        struct table_found found;
        struct raw_graph *raw = import_well(*state, ",src,dst\n0,a,b\n", NODES[i],
                                            (struct table_options){ 0 }, &found);
        EXPECT_ROWS(raw, false, "feat", 2, feat);
        assert_true(found.columns[3].role == TABLE_DROPPED && found.num_features == 1);
        raw_close(raw);
        table_found_fini(&found);
    }
}

/* R, Python and JSON write them in other letters. */
static void true_is_one_value(void **state)
{
    static const int64_t label[] = { 1, 0, 0, 1 };
    struct table_found found;
    struct raw_graph *raw = import_well(*state, "src,dst\na,b\n",
                                        "id,on,label\na,true,yes\nb,FALSE,FALSE\nc,True,false\n"
                                        "d,TRUE,yes\n",
                                        (struct table_options){ 0 }, &found);
    const float feat[] = { 0, 1, 1, 0, 0, 1, 0, 1 };
    EXPECT_ROWS(raw, false, "feat", 4, feat);
    EXPECT_ROWS(raw, false, "label", 4, label);
    raw_close(raw);
    expect_names(*state, "raw/names/_N/columns~feat", 2, "on=FALSE\non=TRUE\n");
    expect_names(*state, "raw/names/_N/values~label", 2, "FALSE\nyes\n");
    assert_true(found.columns[3].values == 2 && found.columns[4].values == 2);
    table_found_fini(&found);
}

static void labels_that_may_be_amounts_are_told(void **state)
{
    static const struct {
        const char *nodes;
        bool amounts;
    } CASES[] = { { "id,label\na,31\nb,32\n", true },
                  { "id,label\na,1\nb,0\n", false },
                  { "id,label\na,x\nb,y\n", false } };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct table_found found;
        raw_close(import_well(*state, "src,dst\na,b\n", CASES[i].nodes, (struct table_options){ 0 },
                              &found));
        assert_int_equal(found.columns[3].amounts, CASES[i].amounts);
        table_found_fini(&found);
    }
}

/* Whatever brackets and blanks are around them, and in JSON lines. */
static void lists_of_numbers_are_features(void **state)
{
    static const char *const FORMS[] = {
        "id,feat,y\na,\"0.5, 1,-2\",7\nb,,8\nc,\"1.5,3,1\",9\n",
        "id;feat;y\na;\"[0.5 1\n -2]\";7\nb;nan;8\nc;[1.5, 3, 1];9\n",
        "id\tfeat\ty\na\t(0.5, 1, -2)\t7\nb\tNone\t8\nc\t 1.5 , 3 , 1 \t9\n",
        ("{\"id\":\"a\",\"feat\":[0.5,1,-2],\"y\":7}\n{\"id\":\"b\",\"feat\":null,\"y\":8}\n"
         "{\"id\":\"c\",\"feat\":[1.5,3,1],\"y\":9}\n"),
    };
    static const float feat[] = { 0.5f, 1, -2, 7, 1, 2, -0.5f, 8, 1.5f, 3, 1, 9 };
    struct table_found found;
    struct raw_graph *raw;
    for (int i = 0; i < 4; i++) {
        raw = import_well(*state, "src,dst\na,b\n", FORMS[i],
                          (struct table_options){ .missing = TABLE_MISSING_MEAN }, &found);
        EXPECT_ROWS(raw, false, "feat", 3, feat);
        raw_close(raw);
        expect_names(*state, "raw/names/_N/columns~feat", 4, "feat[0]\nfeat[1]\nfeat[2]\ny\n");
        assert_true(found.columns[3].role == TABLE_VECTORS && found.columns[3].values == 3);
        assert_true(found.columns[3].missing == 1 && found.num_features == 4);
        table_found_fini(&found);
    }
    /* Each place is scaled by itself, and sets what it has no value to 0. */
    static const float scaled[] = { -1, 2, 0, 0, 1, 4 };
    raw = import_well(*state, "src,dst\na,b\n", "id,feat\na,\"100, 2\"\nb,\nc,\"300, 4\"\n",
                      (struct table_options){ .missing = TABLE_MISSING_ZERO }, &found);
    EXPECT_ROWS(raw, false, "feat", 3, scaled);
    assert_true(found.columns[3].scaled);
    raw_close(raw);
    table_found_fini(&found);
    /* What may be numbers with decimal commas are no lists, and no list is one of texts. */
    static const char *const OTHERS[] = { "id,x\na,\"1,5\"\nb,\"2,75\"\n",
                                          "id,x\na,\"1,234\"\nb,\"5,678\"\n",
                                          "id,x\na,1_234\nb,5_678\n",
                                          "id,x\na,\"Rome, 5\"\nb,\"Bern, 6\"\n" };
    for (int i = 0; i < 4; i++) {
        raw = import_well(*state, "src,dst\na,b\n", OTHERS[i], (struct table_options){ 0 }, &found);
        assert_int_equal(found.columns[3].role, TABLE_CATEGORIES);
        assert_true(found.columns[3].odd_line == (i < 3 ? 2 : 0));
        raw_close(raw);
        table_found_fini(&found);
    }
}

static void lists_of_other_lengths_are_refused(void **state)
{
    static const struct {
        const char *nodes, *message;
    } CASES[] = {
        { "id,x\na,\"0.5, 1\"\nb,\"1, 2, 3\"\n",
          "line 3: column 2, x, has a list of 3 numbers, and one of 2" },
        { "id,x\na,7\nb,\"1, 2, 3\"\n",
          "line 3: column 2, x, has a list of 3 numbers, and one of 1" },
        { "id,x\na,\"1, 2\"\nb,7\n", "line 3: column 2, x, has a list of 1 number, and one of 2" },
        { "id,x\na,[1]\nb,[]\n", "line 3: column 2, x, has a list of 0 numbers, and one of 1" },
        { "id,x\na,[]\nb,[]\n", "column 2, x, has lists of no number" },
        { "id,x,label\na,1,\"0, 2\"\nb,1,1\n", "line 2: the label is a list of numbers" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct table_found found;
        struct error error = { 0 };
        assert_true(import_texts(*state, "src,dst\na,b\n", CASES[i].nodes,
                                 (struct table_options){ 0 }, &found, &error) < 0);
        if (strstr(error.text, CASES[i].message) == NULL)
            fail_msg("case %zu: '%s'", i, error.text);
    }
}

/* Times of this century differ by less than floats of them do. */
static void large_numbers_keep_their_differences(void **state)
{
    static const enum table_missing RULES[] = { TABLE_MISSING_MEAN, TABLE_MISSING_ZERO };
    const float feat[] = { -1, 0, 1, 0, 0, 0 };
    for (int i = 0; i < 2; i++) {
        struct table_found found;
        struct raw_graph *raw = import_well(*state, "src,dst\na,b\nb,c\n",
                                            "id,t,one\na,1700000000,1e39\nb,1700000001,1e39\n"
                                            "c,,1e39\n",
                                            (struct table_options){ .missing = RULES[i] }, &found);
        EXPECT_ROWS(raw, false, "feat", 3, feat);
        assert_true(found.columns[3].scaled && found.columns[4].scaled);
        raw_close(raw);
        table_found_fini(&found);
    }
}

static void labels_that_count_stay(void **state)
{
    struct table_found found;
    struct raw_graph *raw = import_well(
        *state, "1,2\n2,3\n", "id,label,train,val\n3,2.0,1,0\n1,0,no,TRUE\n2,1,,\n4,-1,1,0\n",
        (struct table_options){ 0 }, &found);
    const int64_t label[] = { 2, 0, 1, -1 };
    const uint8_t train[] = { 1, 0, 0, 1 }, val[] = { 0, 1, 0, 0 };
    EXPECT_ROWS(raw, false, "label", 4, label);
    EXPECT_ROWS(raw, false, "train_mask", 4, train);
    EXPECT_ROWS(raw, false, "val_mask", 4, val);
    assert_true(raw_find_table(raw, false, 0, "test_mask") < 0);
    raw_close(raw);
    assert_false(files_exists(files_posix, at(*state, "raw/names/_N/values~label.text.npy")));
    table_found_fini(&found);
}

/* What is not known of a node is -1: of a label in its column, of all where nothing is there. */
static void several_columns_of_labels_are_rows_of_flags(void **state)
{
    struct table_found found;
    struct raw_graph *raw = import_well(
        *state, "src,dst\np,q\nr,s\n",
        "id,red,x,label,blue\np,1,5,7,0\nq,,6,8,1.0\nr,-1,7,9,true\n",
        (struct table_options){ .node_names = { .labels = "red,blue" },
                                .unknown = TABLE_UNKNOWN_ADD },
        &found);
    const int8_t label[] = { 1, 0, -1, 1, -1, 1, -1, -1 };
    const float feat[] = { 5, 7, 6, 8, 7, 9, 0, 0 };
    EXPECT_ROWS(raw, false, "label", 4, label);
    EXPECT_ROWS(raw, false, "feat", 4, feat);
    raw_close(raw);
    expect_names(*state, "raw/names/_N/values~label", 2, "red\nblue\n");
    assert_true(found.num_classes == 2 && found.columns[3].role == TABLE_LABEL_FLAG);
    assert_true(found.columns[3].missing == 1 && found.columns[5].role == TABLE_NUMBERS);
    table_found_fini(&found);
}

/* A separator alone says that a node has none of them, an empty field that nothing is known. */
static void a_node_may_have_several_labels_in_a_column(void **state)
{
    struct table_found found;
    struct raw_graph *raw = import_well(
        *state, "src,dst\np,q\ns,t\n",
        "id,topics\np,red;blue\nq,;\nr,\ns,\" blue ; blue;green \"\n",
        (struct table_options){ .node_names = { .labels = "topics" },
                                .label_separator = ';',
                                .unknown = TABLE_UNKNOWN_ADD },
        &found);
    const int8_t label[] = { 1, 0, 1, 0, 0, 0, -1, -1, -1, 1, 1, 0, -1, -1, -1 };
    EXPECT_ROWS(raw, false, "label", 5, label);
    raw_close(raw);
    expect_names(*state, "raw/names/_N/values~label", 3, "blue\ngreen\nred\n");
    assert_true(found.num_classes == 3 && found.columns[3].role == TABLE_LABEL_SETS);
    assert_true(found.columns[3].values == 3 && found.columns[3].missing == 1);
    table_found_fini(&found);
}

/* One more class than a model has outputs, and one more value than a column of classes has. */
static void labels_without_end_are_refused(void **state)
{
    size_t room = (TABLE_CATEGORIES_MAX + 2) * 20, length = 0;
    char *nodes = malloc(room);
    struct table_found found;
    struct error error = { 0 };
    assert_non_null(nodes);
    length = (size_t)sprintf(nodes, "id,label\na,");
    for (unsigned i = 0; i <= TABLE_LABEL_SETS_MAX; i++)
        length += (size_t)sprintf(nodes + length, "%sc%u", i > 0 ? ";" : "", i);
    sprintf(nodes + length, "\n");
    assert_int_equal(import_texts(*state, "src,dst\na,a\n", nodes,
                                  (struct table_options){ .label_separator = ';' }, &found, &error),
                     TR_ETOOBIG);
    assert_non_null(strstr(error.text, "line 2: more than 4096 different labels; name"));
    length = (size_t)sprintf(nodes, "id,label\n");
    for (unsigned i = 0; i <= TABLE_CATEGORIES_MAX; i++)
        length += (size_t)sprintf(nodes + length, "n%u,%u\n", i, 3 * i);
    assert_int_equal(import_texts(*state, "src,dst\nn0,n1\n", nodes, (struct table_options){ 0 },
                                  &found, &error),
                     TR_ETOOBIG);
    assert_non_null(strstr(error.text, "line 65538: more than 65536 different labels, all whole "
                                       "numbers, which may be amounts and not classes"));
    free(nodes);
}

/* Categories of features are no error: a column of so many is left out, and said to be. */
static void categories_without_end_are_left_out(void **state)
{
    char *nodes = malloc((TABLE_CATEGORIES_MAX + 2) * 20);
    size_t length = (size_t)sprintf(nodes, "id,k,x\n");
    struct table_found found;
    for (unsigned i = 0; i <= TABLE_CATEGORIES_MAX; i++)
        length += (size_t)sprintf(nodes + length, "n%u,v%u,1\n", i, i);
    struct raw_graph *raw = import_well(*state, "src,dst\nn0,n1\n", nodes,
                                        (struct table_options){ 0 }, &found);
    assert_true(raw_find_table(raw, false, 0, "k") < 0 && found.num_features == 1);
    assert_int_equal(found.columns[3].role, TABLE_DROPPED);
    raw_close(raw);
    table_found_fini(&found);
    free(nodes);
}

/* One more value than columns of 0 and 1 are made of. */
static void many_values_become_codes(void **state)
{
    char nodes[4096], edges[] = "src,dst\nn0,n1\n";
    size_t length = (size_t)sprintf(nodes, "id,k\n");
    int32_t codes[TABLE_ONE_HOT_MAX + 1];
    struct table_found found;
    for (int i = (int)TABLE_ONE_HOT_MAX; i >= 0; i--) {
        length += (size_t)sprintf(nodes + length, "n%d,v%02d\n", (int)TABLE_ONE_HOT_MAX - i, i);
        codes[TABLE_ONE_HOT_MAX - (unsigned)i] = i;
    }
    struct raw_graph *raw = import_well(*state, edges, nodes, (struct table_options){ 0 }, &found);
    EXPECT_ROWS(raw, false, "k", TABLE_ONE_HOT_MAX + 1, codes);
    assert_true(raw_find_table(raw, false, 0, "feat") < 0);
    raw_close(raw);
    assert_int_equal(found.columns[3].role, TABLE_CODES);
    table_found_fini(&found);
}

/* Whatever columns are called, each table of codes has a name of its own. */
static void codes_have_names_of_their_own(void **state)
{
    static const char *const TABLES[] = { "a_b", "column3", "column5", "column5_2", "_k" };
    enum { TABLES_COUNT = sizeof TABLES / sizeof *TABLES, VALUES = TABLE_ONE_HOT_MAX + 1 };
    char nodes[4096];
    size_t length = (size_t)sprintf(nodes, "id,a/b,a_b,column5,feat,.k\n");
    struct table_found found;
    for (int i = 0; i < (int)VALUES; i++) {
        length += (size_t)sprintf(nodes + length, "n%d", i);
        for (int c = 0; c < (int)TABLES_COUNT; c++)
            length += (size_t)sprintf(nodes + length, ",%c%02d", 'a' + c, i);
        length += (size_t)sprintf(nodes + length, "\n");
    }
    struct raw_graph *raw = import_well(*state, "src,dst\nn0,n1\n", nodes,
                                        (struct table_options){ 0 }, &found);
    for (int c = 0; c < (int)TABLES_COUNT; c++) {
        char stem[64];
        sprintf(stem, "raw/names/_N/values~%s", TABLES[c]);
        assert_true(raw_find_table(raw, false, 0, TABLES[c]) >= 0);
        char *names = read_names(*state, stem, VALUES);
        assert_true(names[0] == 'a' + c);
        free(names);
    }
    raw_close(raw);
    table_found_fini(&found);
}

/* As some programs write one. */
static void a_header_may_stand_behind_a_number_sign(void **state)
{
    struct table_found found;
    const float feat[] = { 5, 7 }, weight[] = { 2, 3 };
    struct raw_graph *raw = import_well(
        *state, "# of links, mostly\n# to\tweight\tfrom\r\nb\t2\ta\na\t3\tb\n",
        "#label,\"id\",x\n0,a,5\n1,b,7\n",
        (struct table_options){ .edge_names = { .weight = "weight" } }, &found);
    uint64_t src[2], dst[2];
    EXPECT_ROWS(raw, false, "feat", 2, feat);
    EXPECT_ROWS(raw, true, "weight", 2, weight);
    assert_int_equal(raw_read_edges(raw, 0, 0, 2, src, dst, NULL), 0);
    assert_true(src[0] == 0 && src[1] == 1 && dst[0] == 1 && dst[1] == 0);
    assert_true(found.edges_header_line == 2 && found.nodes_header_line == 1);
    raw_close(raw);
    table_found_fini(&found);
    /* The line behind it is one, or it has not as many names, or the user says that there is none. */
    raw = import_well(*state, "# from, to\n1,2\n", "# key, x, id\nid,label,x\n1,0,5\n2,1,7\n",
                      (struct table_options){ 0 }, &found);
    EXPECT_ROWS(raw, false, "feat", 2, feat);
    assert_true(found.edges_header_line == 1 && found.nodes_header_line == 2);
    raw_close(raw);
    table_found_fini(&found);
    raw = import_well(*state, "# from, to\n1,2\n", "# id, x, y\n1,0,5\n2,1,7\n",
                      (struct table_options){ .header = TABLE_HEADER_NO }, &found);
    assert_true(found.edges_header_line == 0 && found.nodes_header_line == 0);
    assert_int_equal(found.num_features, 2);
    raw_close(raw);
    table_found_fini(&found);
}

static void json_lines_are_tables_too(void **state)
{
    struct table_found found;
    struct raw_graph *raw = import_well(
        *state,
        "{\"source\":\"a\",\"target\":7,\"weight\":1.5}\n"
        "{\"target\":\"\\u00fc\\\"x\",\"weight\":-2e3,\"source\":\"a\"}\n",
        "{\"id\":\"\\u00fc\\\"x\",\"x\":1,\"c\":\"p\",\"label\":true}\n"
        "{\"id\":7,\"x\":null,\"c\":\"q\",\"label\":false}\n{\"id\":\"a\",\"c\":\"p\"}\n",
        (struct table_options){ .edge_names = { .weight = "weight" },
                                .missing = TABLE_MISSING_ZERO },
        &found);
    const float weight[] = { 1.5f, -2000 }, feat[] = { 1, 1, 0, 0, 0, 1, 0, 1, 0 };
    const int64_t label[] = { 1, 0, -1 };
    EXPECT_ROWS(raw, true, "weight", 2, weight);
    EXPECT_ROWS(raw, false, "feat", 3, feat);
    EXPECT_ROWS(raw, false, "label", 3, label);
    raw_close(raw);
    expect_names(*state, "raw/names/_N/nodes", 3, "\303\274\"x\n7\na\n");
    expect_names(*state, "raw/names/_N/values~label", 2, "false\ntrue\n");
    table_found_fini(&found);
}

static void expect_edges(struct scratch *scratch, const char *edges, const char *nodes,
                         uint64_t num_nodes, uint64_t num_edges, const char *names)
{
    struct table_found found;
    struct raw_graph *raw = import_well(scratch, edges, nodes, (struct table_options){ 0 }, &found);
    assert_int_equal(raw->num_nodes[0], num_nodes);
    assert_int_equal(raw->num_edges[0], num_edges);
    char *text = read_names(scratch, "raw/names/_N/nodes", num_nodes);
    assert_string_equal(text, names);
    free(text);
    raw_close(raw);
    table_found_fini(&found);
}

static void headers_of_databases_are_headers(void **state)
{
    expect_edges(*state, ":START_ID,:END_ID,:TYPE\np,q,KNOWS\n", NULL, 2, 1, "p\nq\n");
    expect_edges(*state, ":START_ID(Person),since:int,:END_ID(Person),:TYPE\np,1999,q,KNOWS\n",
                 NULL, 2, 1, "p\nq\n");
    expect_edges(*state, "~id,~from,~to,~label\n1,p,q,KNOWS\n", NULL, 2, 1, "p\nq\n");
    expect_edges(*state, "_key,_from,_to\n1,p,q\n", NULL, 2, 1, "p\nq\n");
    /* The key of the nodes stands where it stands. */
    expect_edges(*state, ":START_ID,:END_ID\np,q\n", "age:int,nodeKey:ID(Person)\n3,p\n4,q\n5,r\n",
                 3, 1, "p\nq\nr\n");
}

static void rows_of_empty_cells_are_skipped(void **state)
{
    expect_edges(*state, "from,to,,\n,,,\na,b,,\n , ,,\nb,c,,\r\n,,,\r\n,,,", NULL, 3, 2,
                 "a\nb\nc\n");
    expect_edges(*state, "from\tto\na\tb\n\t\n", "id;x;;\na;1;;\nb;2;;\n;;;\n;;;\n", 2, 1,
                 "a\nb\n");
}

static void rules_of_edges_hold(void **state)
{
    static const char edges[] = "src,dst,w\na,b,1\na,a,2\na,b,3\nb,a,4\n";
    struct table_found found;
    struct table_options options = { .edge_names = { .weight = "w" },
                                     .loops = RAW_LOOPS_DROP,
                                     .duplicates = RAW_DUPLICATES_MERGE };
    struct raw_graph *raw = import_well(*state, edges, NULL, options, &found);
    const float weight[] = { 1, 4 };
    assert_true(raw->num_edges[0] == 2);
    EXPECT_ROWS(raw, true, "weight", 2, weight);
    raw_close(raw);
    assert_true(found.self_loops == 1 && found.duplicates == 1 && found.edge_rows == 4);
    table_found_fini(&found);
    struct error error = { 0 };
    options.duplicates = RAW_DUPLICATES_ERROR;
    assert_int_equal(import_texts(*state, edges, NULL, options, &found, &error), TR_EFORMAT);
    assert_non_null(strstr(error.text, "from 'a' to 'b' is there more than once"));
    options.loops = RAW_LOOPS_ERROR;
    assert_int_equal(import_texts(*state, edges, NULL, options, &found, &error), TR_EFORMAT);
    assert_non_null(strstr(error.text, "line 3: 'a' leads to itself"));
}

/* A bar separates where nothing else does. */
static void bars_are_found(void **state)
{
    static const char *const tables[] = { "src|dst|w\na|b|1\nb|a|2\n",
                                          "src | dst | w\na | b | 1\nb | a | 2\n",
                                          "src|\"dst x\"|w\na|b|1\nb|a|2\n" };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct table_found found;
        struct table_options options = {
            .edge_names = { .source = "src", .target = i == 2 ? "dst x" : "dst", .weight = "w" }
        };
        struct raw_graph *raw = import_well(*state, tables[i], NULL, options, &found);
        const float weight[] = { 1, 2 };
        assert_true(raw->num_nodes[0] == 2 && raw->num_edges[0] == 2);
        EXPECT_ROWS(raw, true, "weight", 2, weight);
        raw_close(raw);
        table_found_fini(&found);
    }
    /* A comma goes before it. */
    struct table_found found;
    struct table_options options = { 0 };
    struct raw_graph *raw = import_well(*state, "src,dst\na|b,c\n", NULL, options, &found);
    assert_true(raw->num_nodes[0] == 2 && raw->num_edges[0] == 1);
    raw_close(raw);
    table_found_fini(&found);
}

/* Numbers that are IDs of users and of films are counted; those of two ends of one kind are not. */
static void numbers_of_two_kinds_are_counted(void **state)
{
    static const struct {
        const char *header;
        uint64_t shared;
    } cases[] = {
        { "userId,movieId", 2 },    { "user_id,Movie ID", 2 },  { "from_id,to_id", 0 },
        { "source_id,film_id", 0 }, { "user_id,user_id_2", 0 }, { "user,movie", 2 },
        { "user,page", 0 },         { "user,item", 2 },         { "personId,personID ", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table_found found;
        struct table_options options = { .edge_names = { .source = "1", .target = "2" },
                                         .header = TABLE_HEADER_YES };
        char text[200];
        snprintf(text, sizeof text, "%s\n1,1\n2,7\n8,2\n9,x\nx,11\n1,2\n", cases[i].header);
        struct raw_graph *raw = import_well(*state, text, NULL, options, &found);
        if (found.shared_ids != cases[i].shared)
            fail_msg("%s: %d", cases[i].header, (int)found.shared_ids);
        raw_close(raw);
        table_found_fini(&found);
    }
}

/* A first line of words over numbers is a header, whatever the words are; two columns of other names
 * are the ends, and known names are found in longer ones. */
static void words_over_numbers_are_a_header(void **state)
{
    static const struct {
        const char *edges, *nodes;
        uint64_t num_nodes, header_line;
    } cases[] = {
        { "alpha,beta\n1,2\n2,3\n", NULL, 3, 1 },
        { "txId1,txId2\n230425980,5530458\n", NULL, 2, 1 },
        { "protein1 protein2 combined_score\nx.P1 x.P2 490\n", NULL, 2, 1 },
        { "Interactor A\tInteractor B\tscore\na\tb\t0.5\n", NULL, 2, 1 },
        { "value,from_address,to_address\n9,0xa,0xb\n8,0xb,0xa\n", NULL, 2, 1 },
        { "srcip,sport,dstip,dsport\n10.0.0.1,80,10.0.0.2,99\n", NULL, 2, 1 },
        { "w,child,parent\n1,c,p\n2,c,q\n", NULL, 3, 1 },
        { "userId,movieId,rating\n1,a,4.5\n", NULL, 2, 1 },
        { "user,item,rating\n1,a,4.5\n", NULL, 2, 1 },
        { "src,dst\n7,8\n", "7,x,2\n8,y,3\n", 2, 1 },
        { "1 2\t0.5\n2 3\t0.5\n", NULL, 3, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table_found found;
        const struct table_options options = { 0 };
        struct raw_graph *raw = import_well(*state, cases[i].edges, cases[i].nodes, options,
                                            &found);
        if (raw->num_nodes[0] != cases[i].num_nodes ||
            found.edges_header_line != cases[i].header_line)
            fail_msg("'%s': %d nodes, header %d", cases[i].edges, (int)raw->num_nodes[0],
                     (int)found.edges_header_line);
        raw_close(raw);
        table_found_fini(&found);
    }
}

/* Features f1, f2, f3 are no ends, and of two pairs of known names none is. */
static void ends_are_not_guessed(void **state)
{
    static const char *const tables[] = { "user1,user2,user3\na,b,c\n",
                                          "src_ip,dst_ip,src_host,dst_host\na,b,c,d\n",
                                          "x1,x2,y\n1,2,3\n" };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct table_found found;
        struct error error = { 0 };
        const struct table_options options = { .header = TABLE_HEADER_YES };
        assert_int_equal(import_texts(*state, tables[i], NULL, options, &found, &error),
                         TR_EFORMAT);
        assert_non_null(strstr(error.text, "are the ends of an edge is not known"));
    }
}

/* A word of eight letters. */
static uint64_t letters_of(uint64_t number)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++, number /= 26)
        word = word << 8 | (uint64_t)('a' + number % 26);
    return word;
}

/* Printable ASCII that no reader takes for anything but a name. */
static bool is_plain_name(const char *name)
{
    size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "!$&()*./:;<=>?@[]^_`{|}~");
    return plain == 16;
}

static const struct refusal {
    const char *edges, *nodes, *says;
    struct table_options options;
} REFUSALS[] = {
    { "alice,bob\n",
      NULL,
      "line 1: begins with 'alice', which may be the name of a column or of a node; say \"header\" "
      "yes, or \"header\" no where it is a row",
      { 0 } },
    { "alice,bob,likes\nbob,eve,likes\n",
      NULL,
      "say \"header\" yes, and by \"source\" and \"target\" which columns are meant, or",
      { 0 } },
    { "src,dst\na,b\n",
      "a,x\nb,y\n",
      "say \"header\" yes, and by \"id\" which column has the IDs, or",
      { 0 } },
    /* Words over numbers are a header; words that may be IDs are not, whatever stands below. */
    { "step,payer,payee\n1,C1,M1\n1,C2,M2\n",
      NULL,
      "line 1: which of the columns 'step', 'payer', 'payee' are the ends of an edge is not known; "
      "name them by \"source\" and \"target\"",
      { 0 } },
    { "alice,bob,NA\nbob,eve,3\n", NULL, "begins with 'alice', which may be", { 0 } },
    { "ab12,ff00\n1234,aa00\nff,aa\n", NULL, "begins with 'ab12', which may be", { 0 } },
    { "src,dst\na,b\nsrc,dst\nc,d\n",
      NULL,
      "line 3: repeats the header of line 1; remove it there",
      { 0 } },
    { "src,dst\na,b\n\"src\",dst\n", NULL, "line 3: repeats the header of line 1", { 0 } },
    { "src,dst\na,b\n", "id,x\na,1\nid,x\nb,2\n", "line 3: repeats the header of line 1", { 0 } },
    { "1600000000 1 2\n1600000001 2 3\n",
      NULL,
      "column 1 holds what looks like times, no names of nodes; name the columns of the ends by "
      "\"source\" and \"target\"",
      { 0 } },
    { "user,when\n7,1600000000000\n8,1600000001000\n",
      NULL,
      "column 2, when, holds what looks like",
      { 0 } },
    { "src,dst\n\n1.5,a\n2.5,b\n",
      NULL,
      "line 3: column 1, src, holds numbers with a fraction",
      { 0 } },
    { "\303\211metteur,R\303\251cepteur\na,b\n",
      NULL,
      "which may be the name of a column or of a node",
      { 0 } },
    { "*Vertices 3\n1 a\n", NULL, "looks like a Pajek network, not like text; save its", { 0 } },
    { "*network x\n*vertices 3\n", NULL, "looks like a Pajek network", { 0 } },
    { "graph [\n node [ id 0 ]\n]\n", NULL, "looks like GML, not like text; save its", { 0 } },
    { "Creator \"x\"\nVersion 1\ngraph\n[\n", NULL, "looks like GML, not like text", { 0 } },
    { "<!-- x -->\n<graphml>\n", NULL, "looks like XML, not like text", { 0 } },
    { "graph,x\na,b\n", NULL, "which may be the name of a column or of a node", { 0 } },
    { "src,dst\na,b\ncaf\351,b\n",
      NULL,
      "line 3: the source 'caf?' holds bytes that are not UTF-8; convert the table (iconv",
      { 0 } },
    { "src,dst\na,b\n",
      "id,x\na,1\ncaf\351,2\n",
      "line 3: the ID 'caf?' holds bytes that are not UTF-8; convert the table (iconv",
      { 0 } },
    { "1::2::3\n", NULL, "line 1: has one column; an edge needs two, ", { 0 } },
    { "a|b c|d\n", NULL, "begins with 'a|b', which may be", { 0 } },
    { "<?xml version=\"1.0\" x=\"y\"?>\n<graphml><graph>\n",
      NULL,
      "looks like XML, not like text",
      { 0 } },
    { "src,dst\na,b\n,c\n", NULL, "line 3: the source is missing", { 0 } },
    { "", NULL, "edges.csv: holds no edge", { 0 } },
    { "src,dst\n", NULL, "edges.csv: holds no edge, only a header", { 0 } },
    { "src,dst\na,b\na\n", NULL, "line 3: has 1 column, the first line has 2", { 0 } },
    { "src,dst\na,b\na,b,c\n", NULL, "line 3: has more than 2 columns", { 0 } },
    { "src,dst\na,\n", NULL, "line 2: the target is missing", { 0 } },
    { "src,dst\na,\"b\nc\"\n", NULL, "line 2: the target 'b?c' cannot be kept as a name", { 0 } },
    { "src,dst\na,\377\n", NULL, "line 2: the target '?' holds bytes that are not UTF-8", { 0 } },
    { "src,dst\n\"a\",\"b\"c\n",
      NULL,
      "line 2: column 2, dst, goes on behind its quotation mark",
      { 0 } },
    { "src,dst\na,b\na,\"b\n\n", NULL, "line 3: a quotation mark is not closed", { 0 } },
    { "src,dst,w\na,b,1\na,b,x\n",
      NULL,
      "line 3: the weight 'x' is not a number",
      { .edge_names = { .weight = "w" } } },
    { "src,dst,w\na,b,1\na,b,1.5\n",
      NULL,
      "line 3: the time '1.5' is not a whole number",
      { .edge_names = { .time = "w" } } },
    { "a,b,c\n1,2,3\n",
      NULL,
      "are the ends of an edge is not known",
      { .header = TABLE_HEADER_YES } },
    { "1.5,a\n2.5,b\n", NULL, "column 1 holds numbers with a fraction", { 0 } },
    { "[1,2]\n", NULL, "line 1: is a JSON array", { 0 } },
    { "{\"src\":1,\"dst\":2}\n{\"src\":1,\"dst\":[2]}\n", NULL, "line 2: 'dst' is a list", { 0 } },
    { "{\"src\":1,\"dst\":2}\n{\"src\":1,\"to\":2,\"dst\":3}\n",
      NULL,
      "line 2: has a key that the first line lacks",
      { 0 } },
    { "{\"src\":1,\"dst\":2}\nno\n", NULL, "line 2: is not a JSON object", { 0 } },
    { "{\"src\":1,\"dst\":2,\"src\":3}\n",
      NULL,
      "line 1: column 22: the key 'src' is there twice; correct it",
      { 0 } },
    { "{\"src\":1,\"dst\":\"a\\u0000b\"}\n",
      NULL,
      "\\u0000 stands for the character NUL, which no text may have; correct it",
      { 0 } },
    { "{\"src\":1,\"dst\":\"caf\351\"}\n",
      NULL,
      "the text has bytes that are not UTF-8 (iconv -f LATIN1 -t UTF-8 converts them); correct it",
      { 0 } },
    { "{\"src\":\"a\",\"dst\":\"b\"}\n",
      "{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"x\":null}\n",
      "line 2: key 'x' has no value, as in 1 row;",
      { 0 } },
    { "PAR1\001\002", NULL, "looks like a Parquet file", { 0 } },
    { "src,dst\na,b\nb,c\n", "id,x\na,1\nb,2\n", "line 3: 'c' is in no row of ", { 0 } },
    { "src,dst\na,b\n",
      "id,x\na,1\nb,2\na,3\n",
      "line 4: the ID 'a' is that of an earlier row",
      { 0 } },
    { "src,dst\na,b\n",
      "id,x\na,1\nb,\n",
      "line 3: column 2, x, has no value, as in 1 row;",
      { 0 } },
    { "src,dst\na,b\n", "id,label\na,1\nb,0.5\n", "line 3: the label has a fraction", { 0 } },
    { "src,dst\na,b\n",
      "id,split\na,train\nb,maybe\n",
      "line 3: the split 'maybe' is not train, val or",
      { 0 } },
    { "src,dst\na,b\n", "id,train\na,1\nb,maybe\n", "line 3: 'maybe' does not say whether", { 0 } },
    { "src,dst\na,b\n", "label,x\na,1\n", "no column is called as IDs are", { 0 } },
    { "src,dst\na,b\n",
      "id,x\na,1\n",
      "no column is named 'y'",
      { .node_names = { .labels = "y" } } },
    { "src,dst\na,b\n",
      "id,x\na,1\n",
      "column 2, x, is asked for twice",
      { .node_names = { .labels = "x", .features = "x" } } },
    { "src,dst\na,b\n",
      "id,country\na,DE\nb,NA\n",
      "line 3: column 2, country, has no value but 'NA'",
      { 0 } },
    { "src,dst\na,b\n",
      "id,label\na,x\nb,caf\351\n",
      "line 3: the label holds bytes that are not UTF-8; convert the table (iconv",
      { 0 } },
    { "src,dst\na,b\n",
      "id,label\na,x\nb,\"y\nz\"\n",
      "line 3: the label cannot be kept as a name",
      { 0 } },
    { "src,dst\na,b\n",
      "id,label\na,1\nb,99999999999999999999\n",
      "line 3: the label is a number beyond 2^53",
      { 0 } },
    { "src,dst\na,b\n",
      "id,c,d\na,x,1\nb,caf\351,2\n",
      "line 3: column 2, c, holds bytes that are not UTF-8",
      { 0 } },
    { "src,dst\na,b\n",
      "\"id,label,x\na,0,1\n",
      "nodes.csv: line 1: a quotation mark is not closed in the first line",
      { .header = TABLE_HEADER_YES, .unknown = TABLE_UNKNOWN_ADD } },
    { "src,dst\na,b\n",
      "\"id\nx\",label\na,0\n",
      "nodes.csv: line 1: a quotation mark is not closed in the first line",
      { .header = TABLE_HEADER_YES } },
    { "src,dst\na,b\n",
      "id,x\na,1e300\nb,-1e300\n",
      "line 2: column 2, x, has a number that is too",
      { 0 } },
    { "src,dst\na,b\n",
      "id,x\na,1\nb,1e400\n",
      "line 3: column 2, x, has a number that is too large for a feature",
      { 0 } },
    { "src,dst\na,b\n",
      "id,label\na,1e400\nb,1\n",
      "line 2: the label is a number beyond 2^53",
      { 0 } },
    { "src,dst\na,b\n",
      "id,x,y\na,1,0\nb,0,2\n",
      "line 3: column 3, y, has the label '2', which is neither 0 nor 1",
      { .node_names = { .labels = "x,y" } } },
    { "src,dst\na,b\n",
      "id,x,y\na,1,0\n",
      "column 2, x, is asked for twice",
      { .node_names = { .labels = "x,y,x" } } },
    { "src,dst\na,b\n",
      "id,x,y\na,1,0\n",
      "a separator of labels is for one column",
      { .node_names = { .labels = "x,y" }, .label_separator = ';' } },
    { "src,dst\na,b\n",
      "id,x\na,1\n",
      "a separator of labels is for one column",
      { .label_separator = ';' } },
    { "src,dst\na,b\n",
      "id,label\na,x\nb,x;caf\351\n",
      "line 3: the label 'caf?' holds bytes that are not UTF-8; convert the table (iconv",
      { .label_separator = ';' } },
    { "src,dst\na,b\nb,a\342\200\256c\n",
      "id,x\na,1\nb,1\n",
      "line 3: 'a???c' is in no row of ",
      { 0 } },
};

static void what_nobody_means_is_refused(void **state)
{
    for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++) {
        const struct refusal *refusal = &REFUSALS[i];
        struct table_found found;
        struct error error = { 0 };
        int rv = import_texts(*state, refusal->edges, refusal->nodes, refusal->options, &found,
                              &error);
        if (rv >= 0 || error.code != rv || strstr(error.text, refusal->says) == NULL)
            fail_msg("refusal %zu: '%s', not '%s'", i, error.text, refusal->says);
        assert_true(found.num_columns == 0);
        assert_false(files_exists(files_posix, at(*state, "raw")));
    }
}

/* Names of one hash are more than their page holds, and this is what the message says, of the last row
 * that was read: the table has no line behind it. */
static void what_there_is_no_room_for_is_said(void **state)
{
    char *edges = malloc(ID_PAGE_SLOTS * 40), *nodes = malloc(ID_PAGE_SLOTS * 40);
    size_t edges_used = (size_t)sprintf(edges, "src,dst\n"),
           nodes_used = (size_t)sprintf(nodes, "id,x\n");
    char name[17] = "", says[64];
    uint64_t draw = 0;
    for (uint32_t i = 0; i < ID_PAGE_SLOTS; i++) {
        /* The first word is of letters, the second one what it makes it. */
        do
            equal_hash_text(letters_of(draw++), name);
        while (!is_plain_name(name));
        edges_used += (size_t)sprintf(edges + edges_used, "%s,%s\n", name, name);
        nodes_used += (size_t)sprintf(nodes + nodes_used, "%s,1\n", name);
    }
    snprintf(says, sizeof says, "line %u: names that were made so that their hashes are equal",
             ID_PAGE_SLOTS + 1);
    for (int of_nodes = 0; of_nodes < 2; of_nodes++) {
        struct table_found found;
        struct error error = { 0 };
        int rv = import_texts(*state, of_nodes ? "src,dst\na,b\n" : edges, of_nodes ? nodes : NULL,
                              (struct table_options){ 0 }, &found, &error);
        if (rv != TR_ETOOBIG || strstr(error.text, says) == NULL)
            fail_msg("'%s', not '%s'", error.text, says);
    }
    free(edges);
    free(nodes);
}

/* A row of several lines may be as long as a line; a longer one is not said to stay open. */
static void the_longest_row_is_a_row(void **state)
{
    static const char BEGIN[] = "id,x\n", ROW[] = "a,\"", END[] = "\"\nb,y\n";
    char *nodes = malloc(TEXT_LINE_MAX + 128);
    for (size_t more = 0; more < 2; more++) {
        struct table_found found;
        struct error error = { 0 };
        size_t length = (size_t)sprintf(nodes, "%s%s", BEGIN, ROW);
        const size_t end = sizeof BEGIN - 1 + TEXT_LINE_MAX + more - 1;
        for (; length < end; length++)
            nodes[length] = length % 100 == 0 ? '\n' : 'x';
        strcpy(nodes + length, END);
        int rv = import_texts(*state, "src,dst\na,b\n", nodes, (struct table_options){ 0 }, &found,
                              &error);
        if (more > 0 ? strstr(error.text, "line 2: the row goes on for more than") == NULL
                     : rv != 0)
            fail_msg("%zu: '%s'", more, error.text);
        assert_int_equal(rv, more > 0 ? TR_EFORMAT : 0);
        table_found_fini(&found);
    }
    free(nodes);
}

/* Writes a table anew before it is opened for the second time. */
struct changing_files {
    struct files files;
    const char *text;
    int opened;
};

static int open_changing(struct files *self, const char *path, int flags, int mode)
{
    struct changing_files *changing = (struct changing_files *)self;
    const char *end = strstr(path, "/nodes.csv");
    if (end != NULL && ++changing->opened == 2) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(changing->text, file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    return files_posix->open(files_posix, path, flags, mode);
}

/* Its second pass takes no row for another one, and no value for one that the first pass saw. */
static void a_table_that_changes_while_it_is_read_is_refused(void **state)
{
    static const char *const CHANGES[][2] = {
        { "id,x\na,1\nb,2\n", "id,x\nb,2\na,1\n" },
        { "id,x,y\na,1,2\nb,2,1\n", "id,y,x\na,1,2\nb,2,1\n" },
        { "id,x\na,1\nb,2\n", "id,x\na,1\nb,3\n" },
        { "id,x\na,1\nb,2\n", "id,x\na,1\nb,z\n" },
        { "id,x\na,1\nb,2\n", "id,x\na,1\n" },
        { "id,x\na,1\nb,2\n", "id,x\na,1\nb,2\nc,3\n" },
        { "id,x\na,1\nb,2\n", "id,x,y\na,1,2\nb,2,1\n" },
        { "id,label\na,1\nb,0\n", "id,label\na,1\nb,1e300\n" },
        { "id,label\na,1\nb,0\n", "id,label\na,1\nb,0.5\n" },
        { "id,label\na,1\nb,0\n", "id,label\na,1\nb,no\n" },
        { "#id,x\na,1\nb,2\n", "#id;x\na,1\nb,2\n" },
        { "id,split\na,val\nb,val\n", "id,split\na,val\nb,train\n" },
        { "{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\"}\n", "{\"id\":\"a\",\"y\":1}\n{\"id\":\"b\"}\n" },
    };
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        struct changing_files changing = { .files = *files_posix, .text = CHANGES[i][1] };
        struct table_found found;
        struct error error = { 0 };
        changing.files.open = open_changing;
        int rv = import_texts(
            *state, "src,dst\na,b\n", CHANGES[i][0],
            (struct table_options){ .files = &changing.files, .missing = TABLE_MISSING_ZERO },
            &found, &error);
        if (rv != TR_EMISMATCH || strstr(error.text, "changed while it was read") == NULL)
            fail_msg("change %zu: '%s'", i, error.text);
        assert_int_equal(changing.opened, 2);
        assert_false(files_exists(files_posix, at(*state, "raw")));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rows_come_back_as_they_were_written),
        cmocka_unit_test(plain_rows_are_of_printable_ascii),
        TEST(names_get_the_numbers_of_their_first_appearance),
        TEST(many_names_are_numbered_as_one_by_one),
        TEST(columns_become_features_labels_and_masks),
        TEST(missing_numbers_may_be_zero),
        TEST(words_stand_for_no_value),
        TEST(row_numbers_are_no_features),
        TEST(true_is_one_value),
        TEST(labels_that_may_be_amounts_are_told),
        TEST(lists_of_numbers_are_features),
        TEST(lists_of_other_lengths_are_refused),
        TEST(large_numbers_keep_their_differences),
        TEST(labels_that_count_stay),
        TEST(several_columns_of_labels_are_rows_of_flags),
        TEST(a_node_may_have_several_labels_in_a_column),
        TEST(labels_without_end_are_refused),
        TEST(categories_without_end_are_left_out),
        TEST(many_values_become_codes),
        TEST(codes_have_names_of_their_own),
        TEST(a_header_may_stand_behind_a_number_sign),
        TEST(json_lines_are_tables_too),
        TEST(headers_of_databases_are_headers),
        TEST(rows_of_empty_cells_are_skipped),
        TEST(rules_of_edges_hold),
        TEST(bars_are_found),
        TEST(numbers_of_two_kinds_are_counted),
        TEST(words_over_numbers_are_a_header),
        TEST(ends_are_not_guessed),
        TEST(what_nobody_means_is_refused),
        TEST(what_there_is_no_room_for_is_said),
        TEST(the_longest_row_is_a_row),
        TEST(a_table_that_changes_while_it_is_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
