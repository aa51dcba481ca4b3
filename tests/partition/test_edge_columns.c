/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two columns of an edge list are found by their names, or are asked for: no file makes another
 * graph than the one that its owner means without a word.
 */
#include "tests/partition/raw_util.h"

#include "partition/raw/column_roles.h"
#include "partition/raw/duplicates.h"
#include "partition/raw/raw.h"

#define EDGES_MAX 8

/* Reads the text and compares its edges with "0-1 1-2 ..."; or, where that begins with '!', the
 * failure with what follows. */
static struct raw_graph *expect_edges(struct scratch *scratch, const char *text,
                                      const struct raw_options *options, const char *wanted)
{
    struct raw_graph *graph = NULL;
    struct error error = { 0 };
    char got[256] = "";
    put_text(scratch, "a.csv", text);
    int rv = raw_open(at(scratch, "a.csv"), options, &graph, &error);
    if (wanted[0] == '!') {
        if (rv == 0 || strstr(error.text, wanted + 1) == NULL ||
            strstr(error.text, "a.csv") == NULL)
            fail_msg("'%s': %d '%s' does not say '%s'", text, rv, error.text, wanted + 1);
        return NULL;
    }
    if (rv != 0)
        fail_msg("'%s': %s", text, error.text);
    uint64_t src[EDGES_MAX], dst[EDGES_MAX], count = graph->num_edges[0];
    assert_true(count <= EDGES_MAX);
    assert_int_equal(raw_read_edges(graph, 0, 0, count, src, dst, &error), 0);
    for (uint64_t i = 0; i < count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%llu-%llu", i > 0 ? " " : "",
                 (unsigned long long)src[i], (unsigned long long)dst[i]);
    if (strcmp(got, wanted) != 0)
        fail_msg("'%s' gives '%s', not '%s'", text, got, wanted);
    return graph;
}

static void check_edges(struct scratch *scratch, const char *text,
                        const struct raw_options *options, const char *wanted)
{
    raw_close(expect_edges(scratch, text, options, wanted));
}

static void the_ends_are_found_by_their_names(void **state)
{
    static const char *const cases[][2] = {
        { "weight,src,dst\n7,0,1\n8,1,2\n", "0-1 1-2" },
        { "time,src,dst\n1600000000,0,1\n1600000001,1,2\n", "0-1 1-2" },
        { "dst,src\n0,1\n1,2\n", "1-0 2-1" },
        { "Source;Type;Target\n0;Directed;1\n", "0-1" },
        { "\"from\",\"to\"\n0,1\n", "0-1" },
        { "\"To\",\"a, b\",\"From\"\n5,\"x, \"\"y\"\"\",6\n", "6-5" },
        { ",u,v\n0,3,4\n1,4,5\n", "3-4 4-5" },
        { "id\tSource_ID\ttarget id\tname of it\n0\t3\t4\tan edge\n1\t\"4\"\t5\t\n", "3-4 4-5" },
        { "# FromNodeId ToNodeId\n0 1\n", "0-1" },
        { "w fromNodeId toNodeId\n9 0 1\n", "0-1" },
        { "id_1,id_2\n2,3\n", "2-3" },
        { "alpha,beta\n2,3\n", "2-3" },
        { "a,source,destination\n\n# none\n1.5,2,3\n", "2-3" },
        { "name,src,dst\n\"two\nlines\",2,3\n", "2-3" },
        { "\"0\",\"1\"\n\"2\",\"3\"\n", "0-1 2-3" },
        { "0,1,x\n2,3,y\n", "0-1 2-3" },
        { "ORCID,source,target\n7,0,1\n", "0-1" },
        { ":START_ID,since:int,:END_ID,:TYPE\n0,1999,1,KNOWS\n", "0-1" },
        { "from:START_ID(Person),to:END_ID(Person2),:TYPE\n0,1,KNOWS\n", "0-1" },
        { "~id,~from,~to\n9,0,1\n", "0-1" },
        { "Source (key),Target (key),x\n0,1,2\n", "0-1" },
        { "\303\211metteur,R\303\251cepteur\n0,1\n", "0-1" },
        { "(0,1)\n(1,2)\n", "!line 1: the source ID is needed, '(0'" },
        { "\302\2400,1\n1,2\n", "!line 1: the source ID is needed" },
        { "a,b,c\n0,1,2\n", "!line 1: which of the columns 'a', 'b', 'c' are the ends" },
        { "src,dst,from,to\n0,1,2,3\n", "!which of the columns 'src', 'dst', 'from', 'to'" },
        { "src,src,dst\n0,1,2\n", "!which of the columns 'src', 'src', 'dst' are" },
        { "source\n0\n", "!line 1: has one column; an edge needs two" },
        { "src,dst\n0,1,2\n", "!line 2: has 3 columns, the header has 2" },
        { "w,src,dst\n0,1\n", "!line 2: the destination ID is missing" },
        { "w,src,dst\n0,1,\n", "!line 2: the destination ID is missing" },
        { "src,dst\n1,\n", "!line 2: the destination ID is missing" },
        { "src,dst\nalice,bob\n",
          "!line 2: the source ID is needed, 'alice' is not a whole number; `troupe import table` "
          "reads names" },
        { "src,dst\n0,1\n1,9999999999999\n", "!1099511627776; `troupe import table` reads names" },
        { "src,dst\n\"alice\",1\n", "!line 2: the source ID is needed, 'alice' is not a whole" },
        { "src,dst\n0,1\"2\n", "!line 2: '\"' follows a column where a delimiter is needed" },
        { "src,dst\n1.0,2.0\n", "!line 2: the source ID is needed, '1.0' is not a whole" },
        { "src,dst\n0,2020-01-02\n", "!line 2: the destination ID is needed, '2020-01-02'" },
        { "src,dst\n\"0,1\n", "!line 2: the source ID has a quotation mark that is not closed" },
        { "w,src,dst\n\"0,1,2\n", "!line 2: a quotation mark is not closed" },
        { "{\"edges\": []}\n", "!line 1: looks like JSON, not like edges" },
        { "{\"src\": 1, \"dst\": 2}\n", "!`troupe import table` reads an object a line" },
        { "<?xml version=\"1.0\"?><graphml>\n", "!looks like XML, not like text; save its edges" },
        { "<!DOCTYPE html><html>\n", "!looks like a web page, not like text; get the file itself" },
        { "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 5\n",
          "!line 1: is that of a Matrix Market file; give its name the end .mtx" },
        { "", "!holds no edge" },
        { "# nothing\n\n", "!holds no edge" },
        { "src,dst\n", "!holds no edge, only a header" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_edges(*state, cases[i][0], NULL, cases[i][1]);
}

static void columns_are_named_by_the_user(void **state)
{
    static const struct {
        const char *text, *source, *target, *wanted;
    } cases[] = {
        { "a,b,c\n0,1,2\n", "b", "c", "1-2" },
        { "a,b,c\n0,1,2\n", "C", "a", "2-0" },
        { "a,b,c\n0,1,2\n", "3", "2", "2-1" },
        { "3,1\n0,1\n", "1", "2", "3-1 0-1" },
        { "x,0,1\n", "2", "3", "!holds no edge, only a header" },
        { "9 0 1\n9 1 2\n", "2", "3", "0-1 1-2" },
        { "7 8 9,0,1\n7,1,2\n", "2", "3", "0-1 1-2" },
        { "src,dst,other\n0,1,2\n", NULL, "other", "0-2" },
        { "src,dst,other\n0,1,2\n", "other", NULL, "2-1" },
        { "a,A,b\n0,1,2\n", "A", "b", "1-2" },
        { "a,a,b\n0,1,2\n", "a", "b", "!2 columns are named 'a'; give the number" },
        { "a,a,b\n0,1,2\n", "2", "b", "1-2" },
        { "a,b,c\n0,1,2\n", "d", "b", "!no column is named 'd'; there are 'a', 'b', 'c'" },
        { "a,b,c\n0,1,2\n", "0", "b", "!no column is named '0'" },
        { "a,b,c\n0,1,2\n", "4", "b", "!no column is named '4'" },
        { "a,b,c\n0,1,2\n", "b", "2", "!are the same column, 2" },
        { "a,b,c\n0,1,2\n", "b", NULL, "!\"source\" is given alone" },
        { "0 1 2\n", NULL, "3", "!\"target\" is given alone" },
        { "0 1 2\n", "x", "3",
          "!there is no header, so 'x' names no column; give a number from 1" },
        { "a,b,c,d,e,f,g\n0,1,2,3,4,5,6\n", "z", "a", "!'e' and 2 more" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct raw_options options = { .source = cases[i].source, .target = cases[i].target };
        check_edges(*state, cases[i].text, &options, cases[i].wanted);
    }
}

/* The names stand one after the other in the arena, and end in it. */
static void check_split(const char *line, size_t length, char delimiter)
{
    struct column_names columns;
    assert_int_equal(column_names_split(&columns, line, length, delimiter), 0);
    if (columns.count == 0 || columns.count > length + 1)
        fail_msg("'%.*s' by %d: %u names", (int)length, line, delimiter, columns.count);
    const char *next = columns.arena;
    for (uint32_t i = 0; i < columns.count; i++) {
        assert_ptr_equal(columns.names[i], next);
        next += strlen(next) + 1;
    }
    if ((size_t)(next - columns.arena) > 2 * length + 2)
        fail_msg("'%.*s' by %d: the names go beyond their arena", (int)length, line, delimiter);
    column_names_fini(&columns);
}

/* Every short line of separators, quotation marks and letters, by every delimiter. */
static void names_of_any_line_fit(void **state)
{
    static const char letters[] = { ' ', '\t', '\r', ',', ';', '|', '"', 'a' };
    static const char delimiters[] = { '\0', ' ', '\t', '\r', '\n', ',', ';', '|', '"', 'a' };
    enum { LETTERS = sizeof letters, LENGTH_MAX = 5 };
    (void)state;
    for (size_t d = 0; d < sizeof delimiters; d++) {
        for (size_t length = 0, lines = 1; length <= LENGTH_MAX; length++, lines *= LETTERS) {
            for (size_t which = 0; which < lines; which++) {
                char *line = malloc(length + 1);
                assert_non_null(line);
                for (size_t i = 0, rest = which; i < length; i++, rest /= LETTERS)
                    line[i] = letters[rest % LETTERS];
                check_split(line, length, delimiters[d]);
                free(line);
            }
        }
    }
}

/* A delimiter that is asked for is the only one, and blanks stand for a blank. */
static void a_delimiter_that_is_asked_for_is_the_only_one(void **state)
{
    static const struct {
        const char *text, *wanted;
        char delimiter;
    } cases[] = {
        { "1,2\n3,4\n", "!line 1: ',' follows a column where a delimiter is needed", ' ' },
        { "1;2\n", "!line 1: ';' follows a column where a delimiter is needed", ' ' },
        { "a,b;c src dst\n0 1 2\n", "1-2", ' ' },
        { "src  dst\t\r\n0\t1\r\n", "0-1", ' ' },
        { "src,dst\n0,1\n", "!line 1: has one column; an edge needs two", ' ' },
        { "w\tsrc of it\tdst\n0\t1\t2\n", "!line 1: which of the columns 'w', 'src of it', 'dst'",
          '\t' },
        { "a,b|src|dst\n0|1|2\n", "1-2", '|' },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct raw_options options = { .delimiter = cases[i].delimiter };
        check_edges(*state, cases[i].text, &options, cases[i].wanted);
    }
}

/* What was found stands in the graph, for the report. */
static void what_was_found_is_kept(void **state)
{
    struct raw_graph *graph = expect_edges(*state, "w,To,From\n1,5,3\n1,4,4\n", NULL, "3-5 4-4");
    assert_int_equal(graph->found.header_line, 1);
    assert_int_equal(graph->found.num_columns, 3);
    assert_int_equal(graph->found.source_column, 3);
    assert_int_equal(graph->found.target_column, 2);
    assert_string_equal(graph->found.source_name, "From");
    assert_string_equal(graph->found.target_name, "To");
    assert_int_equal(graph->found.smallest_id, 3);
    assert_int_equal(graph->found.largest_id, 5);
    assert_int_equal(graph->found.self_loops, 1);
    raw_close(graph);
    graph = expect_edges(*state, "0 1\n", NULL, "0-1");
    assert_int_equal(graph->found.header_line, 0);
    assert_int_equal(graph->found.num_columns, 2);
    assert_null(graph->found.source_name);
    raw_close(graph);
}

/* A header may hold anything; what is shown of it steers no terminal. */
static void names_are_shown_printable(void **state)
{
    struct raw_graph *graph = expect_edges(*state, "a\x1b[2J\xc2\x9b,\xe4\xc3\xa4\n0,1\n", NULL,
                                           "0-1");
    assert_string_equal(graph->found.source_name, "a?[2J??");
    assert_string_equal(graph->found.target_name, "?\xc3\xa4");
    raw_close(graph);
    check_edges(*state, "a\x1b[2J,b,c\n0,1,2\n", NULL, "!columns 'a?[2J', 'b', 'c' are the ends");
    const struct raw_options options = { .source = "z\x1b", .target = "b" };
    check_edges(*state, "a\x1b[2J,b\n0,1\n", &options,
                "!no column is named 'z?'; there are 'a?[2J', 'b'");
}

static void ids_may_begin_at_another_number(void **state)
{
    struct raw_options options = { .first_id = 1 };
    struct raw_graph *graph = expect_edges(*state, "1 2\n2 3\n", &options, "0-1 1-2");
    assert_int_equal(graph->num_nodes[0], 3);
    assert_int_equal(graph->found.largest_id, 3);
    raw_close(graph);
    check_edges(*state, "1 2\n0 3\n", &options, "!line 2: the source ID is 0, but first_id is 1");
    options.num_nodes = 3;
    check_edges(*state, "1 2\n2 3\n", &options, "0-1 1-2");
    check_edges(*state, "1 2\n2 4\n", &options,
                "!line 2: the destination ID is 4, it must be below 4");
    options.first_id = 0;
    check_edges(*state, "1 2\n2 3\n", &options,
                "!the destination ID is 3, it must be below 3; where IDs begin at 1, set first_id");
    options = (struct raw_options){ .first_id = RAW_NODES_MAX };
    check_edges(*state, "1 2\n", &options, "!first_id");
}

static void loops_and_duplicates_follow_a_rule(void **state)
{
    static const char text[] = "0 1\n2 2\n0 1\n1 0\n3 3\n0 1\n2 2\n";
    static const struct {
        struct raw_options options;
        const char *wanted;
        uint64_t duplicates;
    } cases[] = {
        { { 0 }, "0-1 2-2 0-1 1-0 3-3 0-1 2-2", 0 },
        { { .duplicates = RAW_DUPLICATES_COUNT }, "0-1 2-2 0-1 1-0 3-3 0-1 2-2", 3 },
        { { .duplicates = RAW_DUPLICATES_MERGE }, "0-1 2-2 1-0 3-3", 3 },
        { { .loops = RAW_LOOPS_DROP }, "0-1 0-1 1-0 0-1", 0 },
        { { .loops = RAW_LOOPS_DROP, .duplicates = RAW_DUPLICATES_MERGE }, "0-1 1-0", 2 },
        { { .undirected = true, .duplicates = RAW_DUPLICATES_MERGE }, "0-1 1-0 2-2 3-3", 7 },
        { { .loops = RAW_LOOPS_ERROR }, "!line 2: 2 leads to itself, and \"loops\" refuses", 0 },
        { { .duplicates = RAW_DUPLICATES_ERROR },
          "!is there more than once, as are 3 edges in all, and \"duplicates\" refuses that",
          0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct raw_graph *graph = expect_edges(*state, text, &cases[i].options, cases[i].wanted);
        if (graph == NULL)
            continue;
        assert_int_equal(graph->found.duplicates, cases[i].duplicates);
        assert_int_equal(graph->found.self_loops, 3);
        /* A node whose only edge was dropped is still one. */
        assert_int_equal(graph->num_nodes[0], 4);
        raw_close(graph);
    }
    const struct raw_options options = { .loops = RAW_LOOPS_DROP };
    check_edges(*state, "0 0\n1 1\n", &options, "!holds no edge but self-loops");
}

/* Numbers that leave most nodes without an edge are no IDs, unless that is said. */
static void times_are_no_ids(void **state)
{
    static const struct {
        const char *text, *wanted;
        uint64_t num_nodes;
    } cases[] = {
        { "1600000000 0\n1600000007 1\n",
          "!column 1 runs from 1600000000 to 1600000007, column 2 from 0 to 1, in 2 edges", 0 },
        { "0 1600000000\n", "!if these are times, name other columns by \"source\"", 0 },
        { "0 1600000000\n", "0-1600000000", 1600000001 },
        { "0 1048575\n", "0-1048575", 0 },
        { "0 1048576\n", "!number the nodes from 0, or set num_nodes", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct raw_options options = { .num_nodes = cases[i].num_nodes };
        check_edges(*state, cases[i].text, &options, cases[i].wanted);
    }
    /* Many edges do not help where one column lies behind all numbers of the other. */
    struct raw_graph *graph;
    struct error error = { 0 };
    FILE *file = fopen(at(*state, "t"), "w");
    for (int i = 0; i < 200000; i++)
        fprintf(file, "%d %d\n", 2000000 + i, i % 1000);
    fclose(file);
    assert_int_equal(raw_open(at(*state, "t"), NULL, &graph, &error), TR_ERANGE);
    /* Users and items, numbered one after the other, are such a graph and have no such gap. */
    file = fopen(at(*state, "t"), "w");
    for (int i = 0; i < 200000; i++)
        fprintf(file, "%d %d\n", i * 10, 2000000 + i % 1000);
    fclose(file);
    assert_int_equal(raw_open(at(*state, "t"), NULL, &graph, &error), 0);
    raw_close(graph);
}

/* Those who cannot name columns are not asked to. */
static void a_remedy_is_one_of_the_reader(void **state)
{
    static const struct {
        const char *text, *wanted;
        struct raw_options options;
    } cases[] = {
        { "payer,payee,amount\n0,1,2\n",
          "!not known; name them by \"source\" and \"target\"",
          { 0 } },
        { "payer,payee,amount\n0,1,2\n",
          "!not known; import it first: troupe import edges FILE --source NAME --target NAME",
          { .remedy = RAW_REMEDY_IMPORT } },
        { "0 1600000000\n",
          "!times, import other columns: troupe import edges FILE --source NAME --target NAME; "
          "number",
          { .remedy = RAW_REMEDY_IMPORT } },
        { "1 2\n2 3\n",
          "!must be below 3; where IDs begin at 1, import it first: troupe import edges FILE "
          "--first-id 1",
          { .remedy = RAW_REMEDY_IMPORT, .num_nodes = 3 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_edges(*state, cases[i].text, &cases[i].options, cases[i].wanted);
}

/* Options of edge lists are not passed over by other readers. */
static void options_of_edge_lists_are_refused_elsewhere(void **state)
{
    static const struct raw_options given[] = { { .source = "1" },
                                                { .target = "2" },
                                                { .first_id = 1 },
                                                { .loops = RAW_LOOPS_DROP },
                                                { .duplicates = RAW_DUPLICATES_MERGE } };
    struct raw_graph *graph;
    put_text(*state, "a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n");
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct error error = { 0 };
        assert_int_equal(raw_open(at(*state, "a.mtx"), &given[i], &graph, &error), TR_EUNSUPPORTED);
        assert_says(&error, TR_EUNSUPPORTED, "is for edge lists that are text");
    }
}

/* A header, a comment or a line may be cut by the end of the reader's block. */
static void a_first_line_may_be_cut_anywhere(void **state)
{
    const size_t block = (size_t)1 << 20;
    char *text = malloc(2 * block);
    assert_non_null(text);
    for (size_t before = block - 20; before <= block + 2; before++) {
        struct raw_graph *graph;
        struct error error = { 0 };
        memset(text, 'c', before);
        text[0] = '#';
        text[before - 1] = '\n';
        strcpy(text + before, "weight,src,dst\n5,1,2\n6,2,0\n");
        put_text(*state, "a.csv", text);
        if (raw_open(at(*state, "a.csv"), NULL, &graph, &error) != 0)
            fail_msg("%zu: %s", before, error.text);
        assert_int_equal(graph->found.header_line, 2);
        assert_int_equal(graph->num_edges[0], 2);
        assert_int_equal(graph->num_nodes[0], 3);
        raw_close(graph);
        strcpy(text + before, "1 2\n2 x\n");
        put_text(*state, "a.csv", text);
        assert_int_equal(raw_open(at(*state, "a.csv"), NULL, &graph, &error), TR_EFORMAT);
        assert_says(&error, TR_EFORMAT, "line 3: the destination ID is needed, 'x'");
    }
    memset(text, 'h', 2 * block - 1);
    text[2 * block - 1] = '\0';
    check_edges(*state, text, NULL, "!line 1: is longer than 1048576 bytes");
    free(text);
}

/* The plain reader beside the one that a third column asks for: the same edges of any text. */
static void both_ways_of_reading_agree(void **state)
{
    uint64_t random = 7;
    struct error error = { 0 };
    for (int round = 0; round < 20; round++) {
        FILE *plain = fopen(at(*state, "p"), "w"), *third = fopen(at(*state, "q"), "w");
        const int count = 500;
        for (int i = 0; i < count; i++) {
            static const char *const gaps[] = { " ", "\t", ",", ";", " , ", "  " };
            static const char *const ends[] = { "\n", "\r\n", "\n\n", "\n# c\n", " \n" };
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            unsigned src = (unsigned)(random >> 33) % 1000, dst = (unsigned)(random >> 43) % 1000;
            const char *gap = gaps[(random >> 53) % 6], *end = ends[(random >> 57) % 5];
            fprintf(plain, "%u%s%u%s", src, gap, dst, end);
            fprintf(third, "%u%s%u x%s", src, gap, dst, end);
        }
        fclose(plain);
        fclose(third);
        struct raw_graph *one, *other;
        uint64_t src[2][500], dst[2][500];
        const struct raw_options options = { .num_nodes = 1000 };
        assert_int_equal(raw_open(at(*state, "p"), &options, &one, &error), 0);
        if (raw_open(at(*state, "q"), &options, &other, &error) != 0)
            fail_msg("%s", error.text);
        assert_int_equal(one->num_edges[0], count);
        assert_int_equal(other->num_edges[0], count);
        assert_int_equal(raw_read_edges(one, 0, 0, count, src[0], dst[0], &error), 0);
        assert_int_equal(raw_read_edges(other, 0, 0, count, src[1], dst[1], &error), 0);
        assert_memory_equal(src[0], src[1], sizeof src[0]);
        assert_memory_equal(dst[0], dst[1], sizeof dst[0]);
        raw_close(one);
        raw_close(other);
    }
}

/* Against a plain search: many repeats, of IDs of both sizes, over many groups. */
static void duplicates_are_those_that_a_plain_search_finds(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const uint64_t nodes = 300, count = 100000, beyond = wide ? (uint64_t)1 << 33 : 0;
        uint8_t *seen = calloc(nodes * nodes, 1);
        struct pairs pairs = { 0 };
        struct duplicate one;
        uint64_t random = 3, kept = 0, found;
        uint64_t *order = malloc(count * sizeof *order);
        for (uint64_t i = 0; i < count; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            uint64_t src = (random >> 33) % nodes, dst = (random >> 45) % nodes;
            assert_int_equal(pairs_add(&pairs, src + beyond, dst), 0);
            if (seen[src * nodes + dst]++ == 0)
                order[kept++] = src * nodes + dst;
        }
        assert_int_equal(duplicates_find(&pairs, false, NULL, &found, &one, NULL), 0);
        assert_int_equal(found, count - kept);
        assert_int_equal(pairs.count, count);
        assert_true(seen[(one.src - beyond) * nodes + one.dst] > 1);
        assert_int_equal(duplicates_find(&pairs, true, NULL, &found, &one, NULL), 0);
        assert_int_equal(pairs.count, kept);
        for (uint64_t i = 0; i < kept; i++) {
            uint64_t src, dst;
            pairs_read(&pairs, i, 1, &src, &dst);
            assert_int_equal((src - beyond) * nodes + dst, order[i]);
        }
        assert_int_equal(duplicates_find(&pairs, true, NULL, &found, &one, NULL), 0);
        assert_int_equal(found, 0);
        pairs_fini(&pairs);
        free(order);
        free(seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_ends_are_found_by_their_names, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(columns_are_named_by_the_user, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(names_of_any_line_fit),
        cmocka_unit_test_setup_teardown(a_delimiter_that_is_asked_for_is_the_only_one,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_was_found_is_kept, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(names_are_shown_printable, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ids_may_begin_at_another_number, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(loops_and_duplicates_follow_a_rule, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(times_are_no_ids, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_remedy_is_one_of_the_reader, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(options_of_edge_lists_are_refused_elsewhere, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_first_line_may_be_cut_anywhere, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(both_ways_of_reading_agree, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(duplicates_are_those_that_a_plain_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
