/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import edges`: a file of edges into a raw graph.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <troupe/import.h>

#include "cli/cmd_import.h"
#include "cli/lib/fail.h"
#include "cli/lib/raw_report.h"

int import_delimiter_parse(const char *text, char *delimiter, struct tr_error *error)
{
    static const struct {
        const char *word;
        char delimiter;
    } WORDS[] = { { "any", 0 },    { "comma", ',' }, { "semicolon", ';' },
                  { "tab", '\t' }, { "space", ' ' }, { "bar", '|' } };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strcmp(text, WORDS[i].word) == 0) {
            *delimiter = WORDS[i].delimiter;
            return 0;
        }
    }
    /* What stands in numbers, names and quotation marks separates none of them. */
    if (text[1] != '\0' || (strchr("!#$%&,:;|~^ \t", text[0]) == NULL))
        return tr_error_set(error, TR_EINVAL,
                            "--delimiter %s: not a delimiter; give a word (any, comma, semicolon, "
                            "tab, space, bar) or one of ! # $ %% & , : ; | ~ ^",
                            text);
    *delimiter = text[0];
    return 0;
}

_Static_assert(TR_LOOPS_ERROR == 2 && TR_DUPLICATES_ERROR == 3,
               "IMPORT_LOOPS and IMPORT_DUPLICATES name them in their order");

static void report_column(struct report *report, const char *key, const char *name_key,
                          const char *label, uint32_t column, const char *name)
{
    report_count(report, key, label, column);
    if (name != NULL)
        report_text(report, name_key, "its name", name);
}

/* What the text was taken for, so that a wrong guess is seen. */
static void report_columns(struct report *report, const struct tr_import_edges_report *found)
{
    if (found->header_line != 0)
        report_count(report, "header_line", "line skipped as a header", found->header_line);
    if (found->source_column == 0)
        return;
    report_column(report, "source_column", "source_name", "column of sources", found->source_column,
                  found->source_name);
    report_column(report, "target_column", "target_name", "column of destinations",
                  found->target_column, found->target_name);
    if (found->num_columns > 2)
        report_count(report, "columns_dropped", "columns not read", found->num_columns - 2);
    if (found->self_loops > 0)
        report_count(report, "self_loops", "self-loops in the text", found->self_loops);
}

void import_hint_at_undirected(struct report *report, bool said)
{
    if (said)
        report_text(report, "hint", "hint",
                    "the file says that its edges are undirected: where each stands once, import "
                    "with --undirected");
}

void import_hint_at_matrix(struct report *report, bool header, uint64_t rows, uint64_t columns)
{
    char hint[300];
    if (header || rows != columns || rows < 3)
        return;
    snprintf(hint, sizeof hint,
             "%" PRIu64 " rows of %" PRIu64
             " columns may be an adjacency matrix, of which two columns were read: write its edges "
             "(numpy.argwhere(numpy.loadtxt(FILE, delimiter=\",\")) are two columns of them)",
             rows, columns);
    report_text(report, "hint", "hint", hint);
}

void import_hint_at_maybe_two_kinds(struct report *report, bool maybe, const char *remedy)
{
    char hint[300];
    if (!maybe)
        return;
    snprintf(hint, sizeof hint,
             "the numbers of columns 1 and 2 look like those of two kinds of things, as users and "
             "films, and things of the same number became one node: where they are two kinds, "
             "import with %s",
             remedy);
    report_text(report, "hint", "hint", hint);
}

/* One user and one film of the same number became one node. */
static void hint_at_two_kinds(struct report *report, const struct tr_import_edges_report *found)
{
    char hint[400];
    if (!found->two_kinds)
        return;
    snprintf(hint, sizeof hint,
             "columns %" PRIu32 " and %" PRIu32
             " number two kinds of things, and things of the same number became one node: import "
             "with `troupe import table --edges FILE --source-prefix u`",
             found->source_column, found->target_column);
    report_text(report, "hint", "hint", hint);
}

/* Of a file that is no edge list only what another file brings. */
static int report_edges(const void *arg, struct tr_task *task, struct report *report,
                        struct tr_error *error)
{
    const struct tr_import_edges_options *options = arg;
    struct tr_import_edges_report of_task = TR_IMPORT_EDGES_REPORT_INIT, *found = &of_task;
    char hint[160];
    int rv = tr_import_edges_result(task, found, error);
    if (rv != 0)
        return rv;
    report_columns(report, found);
    if (options->duplicates != TR_DUPLICATES_KEEP && found->source_column != 0)
        report_count(report, "duplicates",
                     options->duplicates == TR_DUPLICATES_MERGE ? "duplicates merged"
                                                                : "duplicates",
                     found->duplicates);
    if (options->node_features != NULL) {
        struct tr_import_features_report features = TR_IMPORT_FEATURES_REPORT_INIT;
        rv = tr_import_edges_features(task, &features, error);
        if (rv != 0)
            return rv;
        import_report_features(report, &features);
    }
    if (options->undirected)
        import_hint_at_directions(
            report, &(struct import_directions){ found->pairs_seen, found->pairs_mutual, true, true,
                                                 options->duplicates == TR_DUPLICATES_MERGE });
    hint_at_two_kinds(report, found);
    import_hint_at_maybe_two_kinds(report, found->maybe_two_kinds && !found->two_kinds,
                                   "`troupe import table --edges FILE --source-prefix u`");
    import_hint_at_undirected(report, found->says_undirected && !options->undirected);
    import_hint_at_matrix(report, found->header_line != 0, found->num_lines, found->num_columns);
    if (found->source_column == 0 || options->first_id != 0 || found->smallest_id != 1)
        return 0;
    snprintf(hint, sizeof hint,
             "node 0 has no edge and the largest ID is %" PRIu64
             ": where IDs begin at 1, import with --first-id 1",
             found->largest_id);
    report_text(report, "hint", "hint", hint);
    return 0;
}

static int start(const void *arg, struct tr_task **out, struct tr_error *error)
{
    return tr_import_edges_start(arg, out, error);
}

int import_edges_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_edges_values *values = opaque;
    struct tr_import_edges_options options = TR_IMPORT_EDGES_OPTIONS_INIT;
    options.path = invocation->operands[0];
    options.out = values->out;
    options.replace = values->replace;
    options.undirected = values->undirected;
    options.num_nodes = values->num_nodes;
    options.reverse_types = values->reverse_types;
    struct tr_error error = TR_ERROR_INIT;
    if (import_delimiter_parse(values->delimiter, &options.delimiter, &error) != 0)
        return fail_usage(invocation, &error);
    options.source = values->source;
    options.target = values->target;
    options.first_id = values->first_id;
    options.loops = (uint32_t)values->loops;
    options.duplicates = (uint32_t)values->duplicates;
    options.node_features = values->node_features;
    options.feature_base = (uint32_t)values->feature_base;
    options.rows = (uint32_t)values->rows;
    return raw_report_make(invocation, &(struct raw_report){ .start = start,
                                                             .options = &options,
                                                             .add = report_edges,
                                                             .out = values->out,
                                                             .quiet = values->quiet,
                                                             .json = values->json });
}
