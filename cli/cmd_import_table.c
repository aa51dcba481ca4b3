/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import table`: tables of edges and nodes into a raw graph. Its report says what became of
 * every column.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <troupe/import.h>

#include "cli/cmd_import.h"
#include "cli/lib/fail.h"
#include "cli/lib/raw_report.h"

_Static_assert(TR_TABLE_HEADER_NO == 2 && TR_TABLE_MISSING_ZERO == 2 && TR_TABLE_UNKNOWN_ADD == 1,
               "IMPORT_HEADERS, IMPORT_MISSING and IMPORT_UNKNOWN name them in their order");

static const char *const USES[] = {
    [TR_TABLE_DROPPED] = "not read",
    [TR_TABLE_SOURCE] = "sources",
    [TR_TABLE_TARGET] = "destinations",
    [TR_TABLE_WEIGHT] = "weights",
    [TR_TABLE_TIME] = "times",
    [TR_TABLE_ID] = "IDs",
    [TR_TABLE_NUMBERS] = "feature",
    [TR_TABLE_CATEGORIES] = "a feature for each value",
    [TR_TABLE_CODES] = "numbers of its values, no feature",
    [TR_TABLE_LABELS] = "labels",
    [TR_TABLE_SPLIT] = "split",
    [TR_TABLE_MASK] = "mask",
    [TR_TABLE_LABEL_FLAG] = "one of several labels",
    [TR_TABLE_LABEL_SETS] = "several labels a node",
    [TR_TABLE_VECTORS] = "a feature for each place",
    [TR_TABLE_GRAPH] = "the graph of a row",
};

/* Different values are counted of texts, labels, lists and numbers that may stand for kinds. */
static bool has_values(const struct tr_import_table_column *column)
{
    return column->values > 0 || column->use == TR_TABLE_CATEGORIES ||
           column->use == TR_TABLE_CODES || column->use == TR_TABLE_LABELS ||
           column->use == TR_TABLE_LABEL_SETS;
}

static void report_count_of(struct report *report, const char *name, bool counted, uint64_t count)
{
    if (counted)
        report_count(report, name, name, count);
    else
        report_absent(report, name, name);
}

static void report_column(struct report *report, const struct tr_import_table_column *column)
{
    report_row(report, "columns");
    report_text(report, "table", "table", column->of_nodes ? "nodes" : "edges");
    report_count(report, "column", "column", column->column);
    report_text(report, "name", "name", column->name != NULL ? column->name : "");
    const bool list = column->use == TR_TABLE_VECTORS;
    report_text(report, "use", "use",
                !column->scaled ? USES[column->use]
                : list          ? "a feature for each place, to mean 0 and deviation 1"
                                : "feature, to mean 0 and deviation 1");
    report_count_of(report, "values", has_values(column), column->values);
    /* Missing values are counted in columns that are read, and in texts. */
    report_count_of(report, "missing", column->use != TR_TABLE_DROPPED || column->prose,
                    column->missing);
}

/* More than a label for every tenth node is rarely a class. */
#define MANY_LABELS 64u
#define NODES_A_LABEL 10u

static void hint_at_many_labels(struct report *report, const struct tr_import_table_report *found)
{
    char hint[200];
    const bool many = found->num_classes > MANY_LABELS &&
                      found->num_classes * NODES_A_LABEL >= found->node_rows;
    /* Gephi calls so what a node is called: no two nodes have the same. */
    const bool names = found->num_classes > 2 && found->num_classes == found->node_rows;
    if (!many && !names)
        return;
    snprintf(hint, sizeof hint,
             "%" PRIu64 " different labels for %" PRIu64
             " nodes: are they classes? Write ranges of amounts, or name another column by "
             "--labels",
             found->num_classes, found->node_rows);
    report_text(report, "hint", "hint", hint);
}

#define NAME_SHOWN 110

/* ", NAME,", for what stands behind a column's number; nothing where the column has no name. */
static const char *named_in(const struct tr_import_table_column *column, char text[NAME_SHOWN])
{
    text[0] = '\0';
    if (column->name != NULL)
        snprintf(text, NAME_SHOWN, ", %.100s,", column->name);
    return text;
}

static void hint_at_text_lists(struct report *report, const struct tr_import_table_column *column)
{
    char name[NAME_SHOWN], hint[300];
    if (!column->text_lists)
        return;
    snprintf(hint, sizeof hint,
             "column %" PRIu32 " of the nodes%s has lists of texts, each of which is one text "
             "here: give each value a column of 0 and 1, or leave it out by --features",
             column->column, named_in(column, name));
    report_text(report, "hint", "hint", hint);
}

/* "Movie;Sci" beside "Sci" is a class, or a category, of its own. */
static void hint_at_several(struct report *report, const struct tr_import_table_column *column)
{
    char name[NAME_SHOWN], hint[500], remedy[80];
    if (column->separator == '\0')
        return;
    snprintf(remedy, sizeof remedy, "for several labels a node import with --label-separator '%c'",
             column->separator);
    snprintf(hint, sizeof hint,
             "column %" PRIu32 " of the nodes%s has texts that seem to be several with '%c' "
             "between them (%s), and each is one %s: %s",
             column->column, named_in(column, name), column->separator, column->several,
             column->use == TR_TABLE_LABELS ? "class" : "value",
             column->use == TR_TABLE_LABELS
                 ? remedy
                 : "give each of them a column of 0 and 1, or leave the column out by --features");
    report_text(report, "hint", "hint", hint);
}

/* Texts that nearly every node has its own of say nothing by their numbers. */
#define ROWS_A_TEXT 2u
#define TEXT_REMEDY                                                                            \
    "give in its place a list of numbers a node, as '[0.1 0.2]', such as an embedding of the " \
    "text, or a column of 0 and 1 for each word that matters"

/* A model does not learn from a column that is no feature, which the user may have expected. */
static void hint_at_no_feature(struct report *report, const struct tr_import_table_column *column,
                               uint64_t rows)
{
    char name[NAME_SHOWN], hint[500];
    if (column->prose) {
        snprintf(hint, sizeof hint,
                 "column %" PRIu32 " of the nodes%s has texts that are too long, or too many, for "
                 "categories, and is not read: to learn from it " TEXT_REMEDY,
                 column->column, named_in(column, name));
    } else if (column->use == TR_TABLE_CODES) {
        snprintf(hint, sizeof hint,
                 "column %" PRIu32 " of the nodes%s has %" PRIu64
                 " different values, too many for a feature each, and is no feature: to learn from "
                 "it %s",
                 column->column, named_in(column, name), column->values,
                 column->values * ROWS_A_TEXT > rows
                     ? TEXT_REMEDY
                     : "write the rarer ones alike, as 'other', until at most 64 are left, or "
                       "give a list of numbers a node, as '[0.1 0.2]', in their place");
    } else {
        return;
    }
    report_text(report, "hint", "hint", hint);
}

/* Weights and times are used where they are asked for. */
static void hint_at_unread(struct report *report, const struct tr_import_table_column *column)
{
    static const char *const NAMES[][2] = {
        { "weight", "weight" }, { "weights", "weight" }, { "edge_weight", "weight" },
        { "time", "time" },     { "timestamp", "time" },
    };
    char hint[300];
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (column->of_nodes || column->use != TR_TABLE_DROPPED || column->name == NULL ||
            strcasecmp(column->name, NAMES[i][0]) != 0)
            continue;
        snprintf(hint, sizeof hint,
                 "column %" PRIu32
                 " of the edges, %s, is not read: --%s %s takes it for the %ss of "
                 "the edges",
                 column->column, column->name, NAMES[i][1], column->name, NAMES[i][1]);
        report_text(report, "hint", "hint", hint);
    }
}

static void hint_at_alike(struct report *report, const struct tr_import_table_column *column)
{
    char name[NAME_SHOWN], hint[400];
    if (column->alike == NULL)
        return;
    snprintf(hint, sizeof hint,
             "column %" PRIu32
             " of the nodes%s has values that differ in small and capital letters alone (%s), "
             "and each is a value of its own: write them alike",
             column->column, named_in(column, name), column->alike);
    report_text(report, "hint", "hint", hint);
}

/* More of them are rarely classes where they do not count from 0. */
#define AMOUNTS_MAX 10u

static void hint_at_amounts(struct report *report, const struct tr_import_table_column *column)
{
    char hint[300];
    if (!column->amounts || column->values <= AMOUNTS_MAX)
        return;
    snprintf(
        hint, sizeof hint,
        "the labels are %" PRIu64
        " different whole numbers that do not count from 0, and each is a class: where they are "
        "amounts, such as ages or years, write ranges of them",
        column->values);
    report_text(report, "hint", "hint", hint);
}

/* Whether a name may stand in a command as it is. */
static bool is_plain_word(const char *name)
{
    return name != NULL && name[0] != '\0' && strlen(name) < NAME_SHOWN &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
               strlen(name) &&
           strspn(name, "0123456789") < strlen(name);
}

/* A number that stands for a kind is no amount: kind 3 is not three times kind 1. */
static void hint_at_kinds(struct report *report, const struct tr_import_table_column *column)
{
    char name[NAME_SHOWN], number[24], hint[400];
    if (column->use != TR_TABLE_NUMBERS || !column->of_nodes || column->values == 0)
        return;
    snprintf(number, sizeof number, "%" PRIu32, column->column);
    snprintf(hint, sizeof hint,
             "column %" PRIu32 " of the nodes%s has %" PRIu64
             " different whole numbers, which are read as amounts: where they stand for kinds, "
             "import with --categories %s",
             column->column, named_in(column, name), column->values,
             is_plain_word(column->name) ? column->name : number);
    report_text(report, "hint", "hint", hint);
}

static void hint_at_odd_numbers(struct report *report, const struct tr_import_table_column *column)
{
    char name[NAME_SHOWN], hint[400];
    snprintf(hint, sizeof hint,
             "column %" PRIu32 " of the nodes%s looks like numbers, and is read as texts because "
             "of line %" PRIu64
             ": write numbers as 1234.5, without other signs, and leave a field without a value "
             "empty",
             column->column, named_in(column, name), column->odd_line);
    report_text(report, "hint", "hint", hint);
}

/* "unknown" became a class, or a category like others. */
static void hint_at_doubted_values(struct report *report,
                                   const struct tr_import_table_column *column)
{
    char name[NAME_SHOWN], hint[600];
    const bool labels = column->use == TR_TABLE_LABELS || column->use == TR_TABLE_LABEL_SETS;
    snprintf(hint, sizeof hint,
             "column %" PRIu32 " of the nodes%s has '%s' in %" PRIu64 " row%s from line %" PRIu64
             " on, which %s: where that stands for no value, import with --no-value '%s'",
             column->column, named_in(column, name), column->doubted, column->doubted_rows,
             column->doubted_rows == 1 ? "" : "s", column->doubted_line,
             labels ? "counts as a class" : "counts as a text like others", column->doubted);
    report_text(report, "hint", "hint", hint);
}

/* All that have no end in that column are the neighbours of one node. */
static void hint_at_doubted_end(struct report *report, const struct tr_import_table_report *found)
{
    char hint[300];
    snprintf(hint, sizeof hint,
             "'%s' is taken for a node, with %" PRIu64
             " edge%s: where it stands for no node, leave these rows out (import with --no-value "
             "'%s' names the first)",
             found->doubted_end, found->doubted_end_edges, found->doubted_end_edges == 1 ? "" : "s",
             found->doubted_end);
    report_text(report, "hint", "hint", hint);
}

static void hint_at_spellings(struct report *report, const struct tr_import_table_report *found)
{
    char hint[300];
    if (found->spelling == NULL)
        return;
    snprintf(hint, sizeof hint,
             "%s are two nodes, and %" PRIu64 " ID%s such a second spelling: where they mean one "
             "node, write IDs alike",
             found->spelling, found->spellings, found->spellings == 1 ? " is" : "s are");
    report_text(report, "hint", "hint", hint);
}

static const char *name_of(const struct tr_import_table_column *column)
{
    return column->name != NULL ? column->name : "";
}

/* One user and one film of the same number became one node. */
static int hint_at_two_kinds(struct report *report, struct tr_task *task,
                             const struct tr_import_table_report *found, struct tr_error *error)
{
    struct tr_import_table_column source = TR_IMPORT_TABLE_COLUMN_INIT, target = source, column;
    char hint[500], columns[160];
    for (uint32_t i = 0; i < found->num_columns; i++) {
        column = (struct tr_import_table_column)TR_IMPORT_TABLE_COLUMN_INIT;
        int rv = tr_import_table_column(task, i, &column, error);
        if (rv != 0)
            return rv;
        if (column.use == TR_TABLE_SOURCE)
            source = column;
        if (column.use == TR_TABLE_TARGET)
            target = column;
    }
    if (source.name == NULL)
        snprintf(columns, sizeof columns, "columns %" PRIu32 " and %" PRIu32, source.column,
                 target.column);
    else
        snprintf(columns, sizeof columns, "'%.60s' and '%.60s'", source.name, name_of(&target));
    snprintf(hint, sizeof hint,
             "%" PRIu64 " number%s in both %s, and each is one node: where these are two kinds of "
             "things, import again with --source-prefix u, which makes the source 5 the node u5",
             found->shared_ids, found->shared_ids == 1 ? " is" : "s are", columns);
    report_text(report, "hint", "hint", hint);
    return 0;
}

/* Lines of both tables; *labels: a file of features has brought some. */
static int report_totals(struct report *report, struct tr_task *task,
                         const struct tr_import_table_options *options,
                         const struct tr_import_table_report *found, bool *labels,
                         struct tr_error *error)
{
    if (found->edges_header_line != 0)
        report_count(report, "edges_header_line", "line of the edges skipped as a header",
                     found->edges_header_line);
    if (found->nodes_header_line != 0)
        report_count(report, "nodes_header_line", "line of the nodes skipped as a header",
                     found->nodes_header_line);
    if (options->nodes != NULL) {
        report_count(report, "feature_width", "numbers in a node's features", found->num_features);
        report_count(report, "classes", "classes", found->num_classes);
        report_count(report, "added_nodes", "nodes of edges alone", found->added_nodes);
        hint_at_many_labels(report, found);
    }
    if (found->self_loops > 0)
        report_count(report, "self_loops", "self-loops in the table", found->self_loops);
    if (options->duplicates != TR_DUPLICATES_KEEP)
        report_count(report, "duplicates",
                     options->duplicates == TR_DUPLICATES_MERGE ? "duplicates merged"
                                                                : "duplicates",
                     found->duplicates);
    *labels = false;
    if (options->node_features == NULL)
        return 0;
    struct tr_import_features_report features = TR_IMPORT_FEATURES_REPORT_INIT;
    int rv = tr_import_table_features(task, &features, error);
    if (rv != 0)
        return rv;
    *labels = features.labels == TR_FILE_LABELS_WRITTEN;
    import_report_features(report, &features);
    return 0;
}

static bool is_of_labels(const struct tr_import_table_column *column)
{
    return column->use == TR_TABLE_LABELS || column->use == TR_TABLE_LABEL_FLAG ||
           column->use == TR_TABLE_LABEL_SETS;
}

/* A row a column; of how many the edges have, and whether one has labels. */
static int report_table_columns(struct report *report, struct tr_task *task, uint32_t count,
                                uint32_t *of_edges, bool *labels, struct tr_error *error)
{
    *of_edges = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct tr_import_table_column column = TR_IMPORT_TABLE_COLUMN_INIT;
        int rv = tr_import_table_column(task, i, &column, error);
        if (rv != 0)
            return rv;
        report_column(report, &column);
        *of_edges += !column.of_nodes;
        *labels = *labels || is_of_labels(&column);
    }
    report_rows_end(report);
    return 0;
}

/* What may be meant otherwise than it was read, column by column. */
static int hint_at_columns(struct report *report, struct tr_task *task,
                           const struct tr_import_table_report *found, struct tr_error *error)
{
    const uint64_t rows = found->node_rows;
    for (uint32_t i = 0; i < found->num_columns; i++) {
        struct tr_import_table_column column = TR_IMPORT_TABLE_COLUMN_INIT;
        int rv = tr_import_table_column(task, i, &column, error);
        if (rv != 0)
            return rv;
        if (column.odd_line != 0)
            hint_at_odd_numbers(report, &column);
        hint_at_amounts(report, &column);
        hint_at_kinds(report, &column);
        hint_at_text_lists(report, &column);
        hint_at_no_feature(report, &column, rows);
        hint_at_alike(report, &column);
        hint_at_several(report, &column);
        hint_at_unread(report, &column);
        if (column.doubted != NULL)
            hint_at_doubted_values(report, &column);
    }
    return 0;
}

/* The same of the edges and their ends. */
static int hint_at_edges(struct report *report, struct tr_task *task,
                         const struct tr_import_table_options *options,
                         const struct tr_import_table_report *found, uint32_t edge_columns,
                         struct tr_error *error)
{
    if (found->doubted_end != NULL)
        hint_at_doubted_end(report, found);
    hint_at_spellings(report, found);
    import_hint_at_undirected(report, found->says_undirected && !options->undirected);
    import_hint_at_matrix(report, found->edges_header_line != 0, found->edge_rows, edge_columns);
    if (found->triples)
        report_text(report, "hint", "hint",
                    "column 3 of the edges has words too and is not read: where column 2 is a "
                    "relation, import with --source 1 --target 3");
    if (found->shared_ids > 0)
        return hint_at_two_kinds(report, task, found, error);
    import_hint_at_maybe_two_kinds(report, found->maybe_two_kinds, "--source-prefix u");
    return 0;
}

static int report_tables(const void *arg, struct tr_task *task, struct report *report,
                         struct tr_error *error)
{
    const struct tr_import_table_options *options = arg;
    struct tr_import_table_report found = TR_IMPORT_TABLE_REPORT_INIT;
    uint32_t edge_columns = 0;
    bool labels = false;
    int rv = tr_import_table_result(task, &found, error);
    if (rv == 0)
        rv = report_totals(report, task, options, &found, &labels, error);
    if (rv == 0 && options->undirected)
        import_hint_at_directions(
            report, &(struct import_directions){ found.pairs_seen, found.pairs_mutual, true, true,
                                                 options->duplicates == TR_DUPLICATES_MERGE });
    if (rv == 0)
        rv = report_table_columns(report, task, found.num_columns, &edge_columns, &labels, error);
    if (rv == 0)
        rv = hint_at_columns(report, task, &found, error);
    if (rv == 0)
        rv = hint_at_edges(report, task, options, &found, edge_columns, error);
    if (rv == 0 && options->nodes != NULL && !labels)
        report_text(report, "hint", "hint",
                    "no column of the nodes is taken for labels: to train a model, import with "
                    "--labels COLUMN");
    return rv;
}

static int start_import(const void *arg, struct tr_task **out, struct tr_error *error)
{
    return tr_import_table_start(arg, out, error);
}

int import_table_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_table_values *values = opaque;
    struct tr_import_table_options options = TR_IMPORT_TABLE_OPTIONS_INIT;
    options.edges = values->edges;
    options.nodes = values->nodes;
    options.out = values->out;
    options.replace = values->replace;
    options.undirected = values->undirected;
    struct tr_error error = TR_ERROR_INIT;
    if (import_delimiter_parse(values->delimiter, &options.delimiter, &error) != 0)
        return fail_usage(invocation, &error);
    options.header = (uint32_t)values->header;
    options.source = values->source;
    options.target = values->target;
    options.weight = values->weight;
    options.time = values->time;
    options.id = values->id;
    options.features = values->features;
    options.categories = values->categories;
    options.labels = values->labels;
    options.split = values->split;
    /* The library refuses what is no separator, and a text of several characters is none. */
    if (values->label_separator != NULL)
        options.label_separator = strlen(values->label_separator) == 1 ? values->label_separator[0]
                                                                       : '?';
    options.loops = (uint32_t)values->loops;
    options.duplicates = (uint32_t)values->duplicates;
    options.missing = (uint32_t)values->missing;
    options.no_value = values->no_value;
    options.source_prefix = values->source_prefix;
    options.target_prefix = values->target_prefix;
    options.graph = values->graph;
    options.unknown = (uint32_t)values->unknown;
    options.node_features = values->node_features;
    options.feature_base = (uint32_t)values->feature_base;
    options.rows = (uint32_t)values->rows;
    return raw_report_make(invocation, &(struct raw_report){ .start = start_import,
                                                             .options = &options,
                                                             .add = report_tables,
                                                             .out = values->out,
                                                             .quiet = values->quiet,
                                                             .json = values->json });
}
