/* SPDX-License-Identifier: Apache-2.0 */
/* The task that makes a raw graph of a user's tables: partition/table/ behind the public API. */
#include <stdlib.h>
#include <string.h>

#include <troupe/import.h>

#include "api/features_report.h"
#include "api/open_raw.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "partition/store/replace.h"
#include "partition/table/table_import.h"

_Static_assert((int)TR_TABLE_HEADER_NO == (int)TABLE_HEADER_NO &&
                   (int)TR_TABLE_MISSING_ZERO == (int)TABLE_MISSING_ZERO &&
                   (int)TR_TABLE_UNKNOWN_ADD == (int)TABLE_UNKNOWN_ADD &&
                   (int)TR_TABLE_GRAPH == (int)TABLE_GRAPH,
               "callers and readers have the same rules and roles");

/* Texts of the options. */
#define TEXTS 17
/* Names have 4096 bytes at most. */
#define PREFIX_MAX 64u

struct table_making {
    struct tr_task *task;
    char *texts[TEXTS];
    const char *out;
    bool replace;
    struct table_options options;
    struct cancel cancel;
    struct table_found found;
};

static void table_making_destroy(void *arg)
{
    struct table_making *making = arg;
    for (int i = 0; i < TEXTS; i++)
        free(making->texts[i]);
    table_found_fini(&making->found);
    free(making);
}

static void report_written(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct table_making *making = arg;
    tr_task_report(making->task, what, strcmp(what, "edges") == 0 ? "edges" : "bytes", done, total);
}

static int run_table(struct tr_task *task, void *arg, struct error *error)
{
    struct table_making *making = arg;
    making->task = task;
    making->cancel = task_cancel(task);
    making->options.cancel = &making->cancel;
    const struct raw_write_options write = { .cancel = &making->cancel,
                                             .replace = making->replace,
                                             .progress = report_written,
                                             .progress_arg = making };
    const char *const inputs[] = { making->options.edges, making->options.nodes,
                                   making->options.node_features };
    int rv = 0;
    for (size_t i = 0; making->replace && rv == 0 && i < sizeof inputs / sizeof *inputs; i++)
        rv = replace_check_input(files_posix, making->out, inputs[i], error);
    return rv != 0 ? rv
                   : table_import(&making->options, making->out, &write, &making->found, error);
}

static const struct task_work IMPORT_TABLE_WORK = { "import table", run_table, NULL,
                                                    table_making_destroy, NULL };

/* Copies the texts; the places that are filled point to the copies. */
static int copy_texts(struct table_making *making, const struct tr_import_table_options *options)
{
    struct table_options *to = &making->options;
    const struct {
        const char *given;
        const char **place;
    } texts[TEXTS] = {
        { options->edges, &to->edges },
        { options->nodes, &to->nodes },
        { options->out, &making->out },
        { options->source, &to->edge_names.source },
        { options->target, &to->edge_names.target },
        { options->weight, &to->edge_names.weight },
        { options->time, &to->edge_names.time },
        { options->id, &to->node_names.id },
        { options->features, &to->node_names.features },
        { options->categories, &to->node_names.categories },
        { options->labels, &to->node_names.labels },
        { options->split, &to->node_names.split },
        { options->node_features, &to->node_features },
        { options->no_value, &to->no_value },
        { options->source_prefix, &to->source_prefix },
        { options->target_prefix, &to->target_prefix },
        { options->graph, &to->graph },
    };
    for (int i = 0; i < TEXTS; i++) {
        making->texts[i] = texts[i].given != NULL ? strdup(texts[i].given) : NULL;
        if (texts[i].given != NULL && making->texts[i] == NULL)
            return TR_ENOMEM;
        *texts[i].place = making->texts[i];
    }
    return 0;
}

/* 0, or TR_EINVAL. */
static int check_prefix(const char *option, const char *prefix, struct tr_error *error)
{
    if (prefix == NULL || strlen(prefix) <= PREFIX_MAX)
        return 0;
    return tr_error_set(error, TR_EINVAL, "\"%s\": it has more than %u bytes", option, PREFIX_MAX);
}

static int check_table_options(const struct tr_import_table_options *options,
                               struct tr_error *error)
{
    if (options->edges == NULL || options->edges[0] == '\0')
        return tr_error_set(error, TR_EINVAL, "edges: the table of edges is not named");
    if (options->out == NULL || options->out[0] == '\0')
        return tr_error_set(error, TR_EINVAL, "out: the folder to make is not named");
    if (options->nodes == NULL &&
        (options->id != NULL || options->features != NULL || options->labels != NULL ||
         options->split != NULL || options->categories != NULL))
        return tr_error_set(
            error, TR_EINVAL,
            "id, features, categories, labels and split are columns of a table of nodes: give "
            "\"nodes\" too");
    if (options->header > TR_TABLE_HEADER_NO)
        return tr_error_set(error, TR_EINVAL, "header: %u is not a value of enum tr_table_header",
                            options->header);
    if (options->missing > TR_TABLE_MISSING_ZERO)
        return tr_error_set(error, TR_EINVAL, "missing: %u is not a value of enum tr_table_missing",
                            options->missing);
    if (options->unknown > TR_TABLE_UNKNOWN_ADD)
        return tr_error_set(error, TR_EINVAL, "unknown: %u is not a value of enum tr_table_unknown",
                            options->unknown);
    if (options->delimiter != '\0' && strchr("0123456789\"\n\r", options->delimiter) != NULL)
        return tr_error_set(error, TR_EINVAL,
                            "delimiter: it may not be a digit, a quotation mark or a line end");
    if (check_prefix("source_prefix", options->source_prefix, error) != 0 ||
        check_prefix("target_prefix", options->target_prefix, error) != 0)
        return TR_EINVAL;
    if (options->label_separator != '\0' && strchr(",;|/+: \t", options->label_separator) == NULL)
        return tr_error_set(error, TR_EINVAL,
                            "label_separator: it is one of , ; | / + : blank and tab");
    if (options->label_separator != '\0' && options->nodes == NULL)
        return tr_error_set(
            error, TR_EINVAL,
            "label_separator is for labels of a table of nodes: give \"nodes\" too");
    if (options->node_features != NULL && options->nodes == NULL)
        return tr_error_set(error, TR_EINVAL,
                            "\"node_features\" has a row for each row of a table of nodes: give "
                            "\"nodes\" too; where nodes are numbers, `troupe import edges` takes "
                            "such a file alone");
    if (options->node_features != NULL &&
        ((options->features != NULL && options->features[0] != '\0') ||
         options->categories != NULL))
        return tr_error_set(error, TR_EINVAL,
                            "\"node_features\" stands for the features of columns; leave out "
                            "\"%s\"",
                            options->categories != NULL ? "categories" : "features");
    return features_options_check(options->node_features, options->feature_base, options->rows,
                                  error);
}

int tr_import_table_start(const struct tr_import_table_options *caller, struct tr_task **out,
                          struct tr_error *error)
{
    struct tr_import_table_options options = TR_IMPORT_TABLE_OPTIONS_INIT;
    struct error inner = { 0 };
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_import_table_options", error);
    if (rv == 0)
        rv = check_table_options(&options, error);
    if (rv != 0)
        return rv;
    const struct raw_options rules = { .loops = (enum raw_loops)options.loops,
                                       .duplicates = (enum raw_duplicates)options.duplicates };
    if (raw_options_check(&rules, &inner) != 0)
        return error_give(&inner, error);
    struct table_making *making = calloc(1, sizeof *making);
    if (making == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.out);
    making->replace = options.replace;
    making->options = (struct table_options){
        .undirected = options.undirected,
        .delimiter = options.delimiter,
        .header = (enum table_header)options.header,
        .loops = rules.loops,
        .duplicates = rules.duplicates,
        .missing = (enum table_missing)options.missing,
        .unknown = (enum table_unknown)options.unknown,
        .label_separator = options.label_separator,
        .feature_base = (enum svmlight_base)options.feature_base,
        .rows = (enum raw_rows)options.rows
    };
    if (copy_texts(making, &options) != 0) {
        table_making_destroy(making);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.out);
    }
    return task_start(&IMPORT_TABLE_WORK, making, out, error);
}

int tr_import_table_result(struct tr_task *task, struct tr_import_table_report *report,
                           struct tr_error *error)
{
    void *making;
    int rv = task_enter_ended(task, &IMPORT_TABLE_WORK, "import of tables", &making, error);
    if (rv != 0)
        return rv;
    const struct table_found *found = &((const struct table_making *)making)->found;
    const struct tr_import_table_report known = {
        .edge_rows = found->edge_rows,
        .node_rows = found->node_rows,
        .edges_header_line = found->edges_header_line,
        .nodes_header_line = found->nodes_header_line,
        .added_nodes = found->added_nodes,
        .self_loops = found->self_loops,
        .duplicates = found->duplicates,
        .num_features = found->num_features,
        .num_classes = found->num_classes,
        .num_columns = found->num_columns,
        .pairs_seen = found->pairs_seen,
        .pairs_mutual = found->pairs_mutual,
        .shared_ids = found->shared_ids,
        .triples = found->triples,
        .says_undirected = found->says_undirected,
        .maybe_two_kinds = found->maybe_two_kinds,
        .doubted_end = found->doubted_end[0] != '\0' ? found->doubted_end : NULL,
        .doubted_end_edges = found->doubted_end_edges,
        .spellings = found->spellings,
        .spelling = found->spellings > 0 ? found->spelling : NULL
    };
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_import_table_report", error);
}

int tr_import_table_features(struct tr_task *task, struct tr_import_features_report *report,
                             struct tr_error *error)
{
    void *making;
    int rv = task_enter_ended(task, &IMPORT_TABLE_WORK, "import of tables", &making, error);
    if (rv != 0)
        return rv;
    struct node_features_found found = ((const struct table_making *)making)->found.features;
    tr_task_leave(task);
    return features_report_write(&found, report, error);
}

int tr_import_table_column(struct tr_task *task, uint32_t number,
                           struct tr_import_table_column *column, struct tr_error *error)
{
    struct tr_import_table_column known = TR_IMPORT_TABLE_COLUMN_INIT;
    void *making;
    int rv = task_enter_ended(task, &IMPORT_TABLE_WORK, "import of tables", &making, error);
    if (rv != 0)
        return rv;
    const struct table_found *found = &((const struct table_making *)making)->found;
    uint32_t count = found->num_columns;
    if (number < count) {
        const struct table_column *of = &found->columns[number];
        known.name = of->name;
        known.of_nodes = of->of_nodes;
        known.scaled = of->scaled;
        known.amounts = of->amounts;
        known.prose = of->prose;
        known.text_lists = of->text_lists;
        known.column = of->column;
        known.use = (uint32_t)of->role;
        known.values = of->values;
        known.missing = of->missing;
        known.odd_line = of->odd_line;
        known.doubted = of->doubted[0] != '\0' ? of->doubted : NULL;
        known.alike = of->alike[0] != '\0' ? of->alike : NULL;
        known.separator = of->separator;
        known.several = of->separator != '\0' ? of->several : NULL;
        known.doubted_line = of->doubted_line;
        known.doubted_rows = of->doubted_rows;
    }
    tr_task_leave(task);
    if (number >= count)
        return tr_error_set(error, TR_ERANGE, "column %u: there are %u", number, count);
    return sized_write(column, &known, sizeof known, "tr_import_table_column", error);
}
