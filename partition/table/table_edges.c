/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/table_edges.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/duplicates.h"
#include "partition/table/end_kinds.h"
#include "partition/table/end_names.h"
#include "partition/table/row_graph.h"
#include "partition/table/table_values.h"

/* Rows whose names are looked for at once, and fields of plain ones. */
#define ROWS_AT_ONCE 128u
#define FIELDS_AT_ONCE 1024u
#define TEXTS_BYTES ((size_t)1 << 16)
/* What a row puts there: two names, each of which may be a byte too long. */
#define ROW_TEXTS_MAX (2 * ((size_t)ID_TEXT_MAX + 1))
/* Seconds and nanoseconds of any calendar are below, and doubles hold whole numbers exactly. */
#define TIME_MAX 9007199254740992.0

_Static_assert(TEXTS_BYTES >= ROW_TEXTS_MAX, "a row's names have room");

struct edge_reading {
    struct table_edges *edges;
    const struct table_options *options;
    struct table_reader reader;
    struct table_roles roles;
    struct value_reader values;
    struct id_map *ids;
    struct table_found *found;
    bool two_kinds; /* the ends' columns are called as IDs of two kinds of things */
    struct end_kinds kinds;
    /* Rows that wait for their numbers: their names, the lines where they begin, and the bytes of
     * `texts` that names take which had to be copied. */
    uint32_t count;
    size_t texts_used;
    struct id_text names[2 * ROWS_AT_ONCE];
    uint64_t lines[ROWS_AT_ONCE];
    uint32_t graphs[ROWS_AT_ONCE]; /* where a column says it */
    struct node_graphs node_graphs;
    struct end_names end_names;
    float weights[ROWS_AT_ONCE];
    int64_t row_times[ROWS_AT_ONCE];
    char texts[TEXTS_BYTES];
    struct table_field fields[FIELDS_AT_ONCE]; /* of plain rows */
};

void table_edges_fini(struct table_edges *edges)
{
    pairs_fini(&edges->pairs);
    free(edges->weights);
    free(edges->times);
    *edges = (struct table_edges){ 0 };
}

static int edges_no_memory(struct edge_reading *reading)
{
    return table_reader_fail(&reading->reader, TR_ENOMEM, "no memory for %" PRIu64 " edges",
                             reading->edges->pairs.count);
}

/* Room for the values of two edges more. */
static int edges_make_room(struct edge_reading *reading)
{
    struct table_edges *edges = reading->edges;
    if (edges->pairs.count + 2 <= edges->values_room)
        return 0;
    uint64_t room = edges->values_room == 0 ? 1024 : edges->values_room + edges->values_room / 2;
    if (reading->roles.weight != 0) {
        float *grown = realloc(edges->weights, room * sizeof *grown);
        if (grown == NULL)
            return edges_no_memory(reading);
        edges->weights = grown;
    }
    if (reading->roles.time != 0) {
        int64_t *grown = realloc(edges->times, room * sizeof *grown);
        if (grown == NULL)
            return edges_no_memory(reading);
        edges->times = grown;
    }
    edges->values_room = room;
    return 0;
}

static int edges_put(struct edge_reading *reading, uint32_t row, uint64_t src, uint64_t dst)
{
    struct table_edges *edges = reading->edges;
    uint64_t at = edges->pairs.count;
    if (edges->weights != NULL)
        edges->weights[at] = reading->weights[row];
    if (edges->times != NULL)
        edges->times[at] = reading->row_times[row];
    return pairs_add(&edges->pairs, src, dst) == 0 ? 0 : edges_no_memory(reading);
}

static int edges_add(struct edge_reading *reading, uint32_t row, uint64_t src, uint64_t dst)
{
    const struct table_options *options = reading->options;
    if (src == dst) {
        reading->found->self_loops++;
        if (options->loops == RAW_LOOPS_DROP)
            return 0;
        if (options->loops == RAW_LOOPS_ERROR) {
            char shown[VALUE_SHOWN];
            const struct id_text *name = &reading->names[2 * row];
            const struct table_field field = { name->at, name->length };
            reading->reader.line = reading->lines[row];
            return table_reader_fail(&reading->reader, TR_EFORMAT,
                                     "'%s' leads to itself, and \"loops\" refuses that",
                                     value_show(&field, shown));
        }
    }
    int rv = reading->roles.weight != 0 || reading->roles.time != 0 ? edges_make_room(reading) : 0;
    if (rv == 0)
        rv = edges_put(reading, row, src, dst);
    if (rv == 0 && options->undirected && src != dst)
        rv = edges_put(reading, row, dst, src);
    return rv;
}

static int fail_unknown_name(struct edge_reading *reading, uint32_t name)
{
    char shown[VALUE_SHOWN];
    const struct table_field field = { reading->names[name].at, reading->names[name].length };
    reading->reader.line = reading->lines[name / 2];
    return table_reader_fail(&reading->reader, TR_EFORMAT,
                             "'%s' is in no row of %s; correct it, or let such nodes be added "
                             "without features (\"unknown\")",
                             value_show(&field, shown), reading->options->nodes);
}

/* Takes it that both ends of a row that waits are of its graph. */
static int edges_note_graph(struct edge_reading *reading, uint32_t row, const uint64_t numbers[2])
{
    for (uint32_t end = 0; end < 2; end++) {
        int rv = node_graphs_note(&reading->node_graphs, numbers[end], reading->graphs[row]);
        if (rv == TR_ENOMEM)
            return edges_no_memory(reading);
        if (rv == 0)
            continue;
        char shown[VALUE_SHOWN];
        const struct id_text *name = &reading->names[2 * row + end];
        reading->reader.line = reading->lines[row];
        return table_reader_fail(
            &reading->reader, TR_EFORMAT,
            "node '%s' has edges in another graph too, by column %u (%s); each graph seems to "
            "number "
            "its nodes anew: import one of them by \"graph\", or write which graph into the IDs",
            value_show(&(struct table_field){ name->at, name->length }, shown),
            reading->roles.graph, reading->reader.names.names[reading->roles.graph - 1]);
    }
    return 0;
}

/* The rows that wait get their numbers and become edges. */
static int edges_flush(struct edge_reading *reading)
{
    uint64_t numbers[2 * ROWS_AT_ONCE];
    char fault[ID_MAP_FAULT_MAX];
    const uint32_t count = reading->count;
    bool known = reading->options->nodes != NULL &&
                 reading->options->unknown == TABLE_UNKNOWN_ERROR;
    int rv = 0;
    /* Behind plain rows the reader counts on to the next line; what fails here is of the last row. */
    if (count > 0)
        reading->reader.line = reading->lines[count - 1];
    if (known)
        id_map_find(reading->ids, reading->names, 2 * (size_t)count, numbers);
    else
        rv = id_map_add(reading->ids, reading->names, 2 * (size_t)count, numbers);
    if (rv != 0)
        return table_reader_fail(&reading->reader, rv, "%s", id_map_fault(reading->ids, rv, fault));
    for (uint32_t row = 0; rv == 0 && row < count; row++) {
        if (known && (numbers[2 * row] == ID_NONE || numbers[2 * row + 1] == ID_NONE))
            return fail_unknown_name(reading, 2 * row + (numbers[2 * row] != ID_NONE));
        if (reading->roles.graph != 0)
            rv = edges_note_graph(reading, row, &numbers[2 * row]);
        if (rv == 0)
            rv = edges_add(reading, row, numbers[2 * row], numbers[2 * row + 1]);
        if (rv == 0 && reading->two_kinds &&
            end_kinds_note(&reading->kinds, &reading->names[2 * row], &numbers[2 * row]) != 0)
            rv = edges_no_memory(reading);
    }
    reading->edges->rows += count;
    reading->count = 0;
    reading->texts_used = 0;
    return rv;
}

/* The name with what stands before it, among the texts of rows that wait. */
static struct table_field edges_put_prefix(struct edge_reading *reading, const char *prefix,
                                           const struct table_field *field)
{
    char *to = reading->texts + reading->texts_used;
    const uint32_t before = (uint32_t)strlen(prefix), room = ID_TEXT_MAX + 1 - before;
    memcpy(to, prefix, before);
    /* What is too long for a name stays so, whether or not a character is cut. */
    const uint32_t length = field->length < room ? field->length : room;
    memcpy(to + before, field->at, length);
    return (struct table_field){ to, before + length };
}

/* A name that stays until the numbers are known: it is copied, unless it is of a plain row. */
static int edges_take_name(struct edge_reading *reading, const struct table_field *fields,
                           uint32_t column, const char *what, bool plain, struct id_text *name)
{
    const struct table_field *field = &fields[column - 1];
    const bool target = column == reading->roles.target;
    const char *prefix = target ? reading->options->target_prefix : reading->options->source_prefix;
    struct table_field longer;
    char shown[VALUE_SHOWN];
    if (field->length == 0)
        return table_reader_fail(&reading->reader, TR_EFORMAT, "the %s is missing", what);
    if (!plain && !value_is_utf8(field))
        return table_reader_fail(&reading->reader, TR_EFORMAT,
                                 "the %s '%s' holds bytes that are not UTF-8; convert the table "
                                 "(iconv -f LATIN1 -t UTF-8)",
                                 what, value_show(field, shown));
    /* What the table has: no word of the list has what is put before it. */
    if (reading->options->no_value != NULL && value_is_listed(&reading->values, field))
        return table_reader_fail(
            &reading->reader, TR_EFORMAT,
            "the %s '%s' stands for no value (\"no_value\"); leave the row out", what,
            value_show(field, shown));
    if (prefix != NULL) {
        longer = edges_put_prefix(reading, prefix, field);
        field = &longer;
    }
    if (plain ? field->length > ID_TEXT_MAX : !value_is_name(field))
        return table_reader_fail(
            &reading->reader, TR_EFORMAT,
            "the %s '%s' cannot be kept as a name: names are UTF-8 of at most %u bytes, without "
            "line ends and other control characters; write it so",
            what, value_show(field, shown), ID_TEXT_MAX);
    *name = (struct id_text){ field->at, field->length };
    if (plain)
        return 0;
    char *to = reading->texts + reading->texts_used;
    memmove(to, field->at, field->length);
    name->at = to;
    reading->texts_used += field->length;
    return 0;
}

static int edges_take_values(struct edge_reading *reading, const struct table_field *fields)
{
    struct table_reader *reader = &reading->reader;
    char shown[VALUE_SHOWN];
    double number;
    if (reading->roles.weight != 0) {
        const struct table_field *field = &fields[reading->roles.weight - 1];
        if (!value_is_number(&reading->values, field, &number) || !isfinite((float)number))
            return table_reader_fail(reader, TR_EFORMAT,
                                     "the weight '%s' is not a number such as 1.5 or 2e-3",
                                     value_show(field, shown));
        reading->weights[reading->count] = (float)number;
    }
    if (reading->roles.time != 0) {
        const struct table_field *field = &fields[reading->roles.time - 1];
        if (!value_is_number(&reading->values, field, &number) || number != trunc(number) ||
            fabs(number) > TIME_MAX)
            return table_reader_fail(
                reader, TR_EFORMAT,
                "the time '%s' is not a whole number; write seconds, for example",
                value_show(field, shown));
        reading->row_times[reading->count] = (int64_t)number;
    }
    return 0;
}

/* Gephi writes the kind of each edge: "Undirected". */
static void edges_look_at_first(struct edge_reading *reading, const struct table_field *fields)
{
    for (uint32_t i = 0; i < reading->reader.names.count; i++)
        reading->found->says_undirected = reading->found->says_undirected ||
                                          (reading->roles.roles[i] == TABLE_DROPPED &&
                                           value_is_word(&fields[i], "undirected"));
}

/* Takes the row of reader->line. */
static int edges_take_row(struct edge_reading *reading, const struct table_field *fields,
                          bool plain)
{
    struct id_text *names = &reading->names[2 * reading->count];
    int rv = table_reader_refuse_header(&reading->reader, fields);
    if (rv == 0 && !row_graph_is_wanted(fields, reading->roles.graph, reading->options->graph))
        return 0;
    end_names_note(&reading->end_names, &reading->reader, &reading->roles, fields,
                   reading->edges->rows < END_NAMES_ROWS);
    if (reading->roles.graph != 0)
        reading->graphs[reading->count] = row_graph_number(&fields[reading->roles.graph - 1]);
    if (rv == 0)
        rv = edges_take_name(reading, fields, reading->roles.source, "source", plain, &names[0]);
    if (rv == 0)
        rv = edges_take_name(reading, fields, reading->roles.target, "target", plain, &names[1]);
    if (rv == 0 && (reading->roles.weight != 0 || reading->roles.time != 0))
        rv = edges_take_values(reading, fields);
    if (rv == 0 && reading->edges->rows + reading->count == 0)
        edges_look_at_first(reading, fields);
    if (rv == 0)
        reading->lines[reading->count++] = reading->reader.line;
    return rv;
}

/* Takes rows whose names stand where the table was loaded. They get their numbers before more of it
 * is loaded. *rows: how many; 0: the next row is for edges_take_next(). */
static int edges_take_plain(struct edge_reading *reading, uint32_t *rows)
{
    const uint32_t columns = reading->reader.names.count;
    uint32_t room = ROWS_AT_ONCE - reading->count, most = FIELDS_AT_ONCE / columns;
    /* What is put before a name needs room, of which each next row has some. */
    const bool prefixed = reading->options->source_prefix != NULL ||
                          reading->options->target_prefix != NULL;
    *rows = prefixed ? 0
                     : table_reader_take_plain(&reading->reader, reading->fields,
                                               room < most ? room : most);
    int rv = 0;
    for (uint32_t row = 0; rv == 0 && row < *rows; row++, reading->reader.line++)
        rv = edges_take_row(reading, reading->fields + (size_t)row * columns, true);
    return rv == 0 && *rows > 0 ? edges_flush(reading) : rv;
}

/* Takes the next row, whatever it is. */
static int edges_take_next(struct edge_reading *reading)
{
    int rv = table_reader_next(&reading->reader);
    if (rv == 0)
        rv = edges_take_row(reading, reading->reader.fields, false);
    if (rv == 0 &&
        (reading->count == ROWS_AT_ONCE || TEXTS_BYTES - reading->texts_used < ROW_TEXTS_MAX))
        rv = edges_flush(reading);
    return rv;
}

static int edges_check_names(struct edge_reading *reading)
{
    return end_names_check(&reading->end_names, &reading->reader, &reading->roles,
                           reading->edges->rows);
}

static int edges_read_rows(struct edge_reading *reading)
{
    bool checked = false;
    uint32_t plain;
    int rv;
    do {
        rv = edges_take_plain(reading, &plain);
        if (rv == 0 && plain == 0)
            rv = edges_take_next(reading);
        if (rv == 0 && !checked && reading->edges->rows >= END_NAMES_ROWS) {
            checked = true;
            rv = edges_check_names(reading);
        }
    } while (rv == 0);
    if (rv == TR_EEND)
        rv = edges_flush(reading);
    if (rv == 0 && !checked)
        rv = edges_check_names(reading);
    return rv != 0 ? rv
                   : end_names_check_signs(&reading->end_names, &reading->reader, reading->options,
                                           reading->found);
}

/* Values of edges that were taken out go too. */
static void edges_take_out(struct table_edges *edges, const uint8_t *repeated, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        if ((repeated[i / 8] >> i % 8 & 1) != 0)
            continue;
        if (edges->weights != NULL)
            edges->weights[kept] = edges->weights[i];
        if (edges->times != NULL)
            edges->times[kept] = edges->times[i];
        kept++;
    }
}

static int edges_find_duplicates(struct edge_reading *reading, struct error *error)
{
    struct table_edges *edges = reading->edges;
    const struct table_options *options = reading->options;
    uint64_t count = edges->pairs.count;
    struct duplicate one;
    uint8_t *repeated = NULL;
    bool merge = options->duplicates == RAW_DUPLICATES_MERGE;
    if (options->duplicates == RAW_DUPLICATES_KEEP)
        return 0;
    int rv = duplicates_find(&edges->pairs, merge, options->cancel, &reading->found->duplicates,
                             &one, &repeated);
    if (rv == TR_ECANCELED)
        return error_set(error, rv, "%s: interrupted among duplicates", options->edges);
    if (rv != 0)
        return error_set(error, rv, "%s: no memory to look for duplicates", options->edges);
    if (merge)
        edges_take_out(edges, repeated, count);
    free(repeated);
    if (reading->found->duplicates == 0 || options->duplicates != RAW_DUPLICATES_ERROR)
        return 0;
    char source[VALUE_SHOWN], target[VALUE_SHOWN];
    struct id_text ends[] = { id_map_text(reading->ids, one.src),
                              id_map_text(reading->ids, one.dst) };
    return error_set(error, TR_EFORMAT,
                     "%s: the edge from '%s' to '%s' is there more than once, as are %" PRIu64
                     " edges in all, and \"duplicates\" refuses that",
                     options->edges,
                     value_show(&(struct table_field){ ends[0].at, ends[0].length }, source),
                     value_show(&(struct table_field){ ends[1].at, ends[1].length }, target),
                     reading->found->duplicates);
}

/* What other commands read, by its name, would be taken for a table with blanks. */
static int refuse_format(const char *path, struct error *error)
{
    static const struct {
        const char *ending, *format, *command;
    } OTHERS[] = {
        { ".graph", "a METIS graph", "edges" },
        { ".metis", "a METIS graph", "edges" },
        { ".npy", "a NumPy array", "edges" },
        { ".npz", "an archive of NumPy arrays", "npz" },
    };
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        const size_t ending = strlen(OTHERS[i].ending);
        if (length > ending && strcmp(path + length - ending, OTHERS[i].ending) == 0)
            return error_set(error, TR_EUNSUPPORTED,
                             "%s: by its name it is %s, no table; `troupe import %s` reads it",
                             path, OTHERS[i].format, OTHERS[i].command);
    }
    return 0;
}

/* Whether a row has words in its first three columns, as "head, relation, tail" has. */
static bool edges_look_like_triples(const struct column_names *row)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (i >= row->count || strspn(row->names[i], "+-.eE0123456789") == strlen(row->names[i]))
            return false;
    }
    return true;
}

static int edges_begin(struct edge_reading *reading, struct error *error)
{
    const struct table_options *options = reading->options;
    if (refuse_format(options->edges, error) != 0)
        return TR_EUNSUPPORTED;
    int rv = table_reader_open(&reading->reader, options->files, options->edges, options->delimiter,
                               options->cancel, error);
    if (rv != 0)
        return rv;
    if (reading->reader.names.count == 0)
        return error_set(error, TR_EFORMAT, "%s: holds no edge", options->edges);
    rv = table_roles_of_edges(&reading->roles, &reading->reader, options->header,
                              &options->edge_names);
    if (rv == 0 &&
        table_found_add(reading->found, false, &reading->reader.names, &reading->roles) != 0)
        rv = table_reader_fail(&reading->reader, TR_ENOMEM, "no memory for its columns");
    if (rv == 0 && value_reader_init(&reading->values, options->no_value) != 0)
        rv = table_reader_fail(&reading->reader, TR_ENOMEM, "no memory to read numbers");
    if (rv == 0 && reading->roles.header)
        rv = table_reader_skip_header(&reading->reader);
    reading->found->edges_header_line = reading->reader.header_line;
    const bool guessed = rv == 0 && options->edge_names.source == NULL &&
                         options->edge_names.target == NULL &&
                         !(reading->roles.header && edge_columns_are_named(&reading->reader.names));
    if (rv == 0 && end_names_init(&reading->end_names, guessed, reading->roles.header) != 0)
        rv = table_reader_fail(&reading->reader, TR_ENOMEM, "no memory to look at its edges");
    if (rv == 0 && options->graph != NULL && reading->roles.graph == 0)
        rv = table_reader_fail(&reading->reader, TR_EINVAL,
                               "\"graph\" takes the rows of one graph, and no column called "
                               "graph_id says of which each is");
    const struct edge_columns ends = { reading->roles.source, reading->roles.target };
    reading->two_kinds = rv == 0 && (reading->reader.bipartite ||
                                     (reading->roles.header &&
                                      edge_columns_are_two_kinds(&reading->reader.names, ends)));
    reading->found->says_undirected = rv == 0 && reading->reader.undirected;
    reading->found->triples = rv == 0 && !reading->roles.header && guessed &&
                              edges_look_like_triples(&reading->reader.names);
    return rv;
}

/* The number of the node of edges alone that a word became behind a prefix; ID_NONE: there is none. */
static uint64_t edges_find_word(const struct edge_reading *reading, const char *prefix,
                                const char *word, uint64_t known)
{
    char name[ID_TEXT_MAX + 1];
    uint64_t number;
    const int length = snprintf(name, sizeof name, "%s%s", prefix != NULL ? prefix : "", word);
    if (length < 0 || (size_t)length >= sizeof name)
        return ID_NONE;
    const struct id_text text = { name, (uint32_t)length };
    id_map_find(reading->ids, &text, 1, &number);
    return number != ID_NONE && number >= known ? number : ID_NONE;
}

/* Looks for a node that edges alone have, and whose name in the table is what people and programs
 * write for no value: a hub of all that have none. */
static void edges_doubt_ends(struct edge_reading *reading, uint64_t known)
{
    static const char *const WORDS[] = {
        "NULL", "null",      "Null",    "None", "none", "NA",      "N/A",     "n/a",
        "nan",  "NaN",       "\\N",     "?",    "---",  "-",       "--",      "<NA>",
        "#N/A", "undefined", "missing", "nil",  "NIL",  "UNKNOWN", "unknown", "Unknown",
    };
    const struct pairs *pairs = &reading->edges->pairs;
    const struct table_options *options = reading->options;
    for (size_t w = 0; w < sizeof WORDS / sizeof *WORDS; w++) {
        const uint64_t as_source = edges_find_word(reading, options->source_prefix, WORDS[w],
                                                   known);
        const uint64_t as_target = edges_find_word(reading, options->target_prefix, WORDS[w],
                                                   known);
        uint64_t src, dst, count = 0;
        if (as_source == ID_NONE && as_target == ID_NONE)
            continue;
        /* Either may be at either end, since edges may have been reversed too. */
        for (uint64_t i = 0; i < pairs->count; i++) {
            pairs_read(pairs, i, 1, &src, &dst);
            count += src == as_source || dst == as_source || src == as_target || dst == as_target;
        }
        if (count <= reading->found->doubted_end_edges)
            continue;
        reading->found->doubted_end_edges = count;
        snprintf(reading->found->doubted_end, sizeof reading->found->doubted_end, "%s", WORDS[w]);
    }
}

int table_edges_read(struct table_edges *edges, const struct table_options *options,
                     struct id_map *ids, struct table_found *found, struct error *error)
{
    struct edge_reading *reading = calloc(1, sizeof *reading);
    *edges = (struct table_edges){ 0 };
    if (reading == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", options->edges);
    reading->edges = edges;
    reading->options = options;
    reading->ids = ids;
    reading->found = found;
    const uint64_t known = ids->count;
    int rv = edges_begin(reading, error);
    if (rv == 0)
        rv = edges_read_rows(reading);
    found->edge_rows = edges->rows;
    found->shared_ids = reading->kinds.shared;
    if (rv == 0 && edges->rows == 0 && options->graph != NULL)
        rv = error_set(error, TR_EFORMAT, "%s: no edge is of graph '%s'", options->edges,
                       options->graph);
    if (rv == 0 && edges->rows == 0)
        rv = error_set(error, TR_EFORMAT, "%s: holds no edge, only a header", options->edges);
    if (rv == 0 && edges->pairs.count == 0)
        rv = error_set(error, TR_EFORMAT, "%s: holds no edge but self-loops, which \"loops\" drops",
                       options->edges);
    if (rv == 0)
        rv = edges_find_duplicates(reading, error);
    if (rv == 0 && (options->no_value == NULL || options->no_value[0] != '\0'))
        edges_doubt_ends(reading, known);
    if (rv == 0)
        end_names_find_spellings(ids, &found->spellings, found->spelling);
    end_kinds_fini(&reading->kinds);
    end_names_fini(&reading->end_names);
    node_graphs_fini(&reading->node_graphs);
    value_reader_fini(&reading->values);
    table_roles_fini(&reading->roles);
    if (reading->reader.text.path != NULL)
        table_reader_close(&reading->reader);
    free(reading);
    return rv;
}
