/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/raw_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/raw.h>

#include "cli/lib/fail.h"
#include "cli/lib/next_step.h"

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

/* Nothing of a file that is no edge list. */
static void report_edges(struct report *report, const struct tr_import_edges_options *options,
                         const struct tr_import_edges_report *found)
{
    char hint[160];
    report_columns(report, found);
    if (options->duplicates != TR_DUPLICATES_KEEP && found->source_column != 0)
        report_count(report, "duplicates",
                     options->duplicates == TR_DUPLICATES_MERGE ? "duplicates merged"
                                                                : "duplicates",
                     found->duplicates);
    if (found->source_column == 0 || options->first_id != 0 || found->smallest_id != 1)
        return;
    snprintf(hint, sizeof hint,
             "node 0 has no edge and the largest ID is %" PRIu64
             ": where IDs begin at 1, import with --first-id 1",
             found->largest_id);
    report_text(report, "hint", "hint", hint);
}

/* Two partitions are enough to look at, and one node cannot be in two. */
static void report_next(struct report *report, const char *path, uint64_t num_nodes)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *parts = malloc(length + sizeof "-parts");
    if (parts == NULL) {
        report->failed = true;
        return;
    }
    sprintf(parts, "%.*s-parts", (int)length, path);
    const char *const words[] = { "troupe", "partition", path, "--parts", num_nodes > 1 ? "2" : "1",
                                  "--out",  parts,       NULL };
    next_step(report, words);
    free(parts);
}

static int print(const char *path, const struct tr_import_edges_options *options,
                 const struct tr_import_edges_report *found, bool json, struct tr_error *error)
{
    struct tr_raw_info info = TR_RAW_INFO_INIT;
    struct tr_raw *raw;
    int rv = tr_raw_open(path, NULL, &raw, error);
    if (rv != 0)
        return rv;
    rv = tr_raw_info(raw, &info, error);
    tr_raw_close(raw);
    if (rv != 0)
        return rv;
    struct report report;
    report_init(&report, json);
    report_text(&report, "out", "raw graph", path);
    report_count(&report, "nodes", "nodes", info.num_nodes);
    report_count(&report, "edges", "edges", info.num_edges);
    report_count(&report, "node_types", "node types", info.num_ntypes);
    report_count(&report, "edge_types", "edge types", info.num_etypes);
    report_count(&report, "features", "features", info.num_tables);
    if (options != NULL)
        report_edges(&report, options, found);
    report_next(&report, path, info.num_nodes);
    return report_print(&report, error);
}

int raw_report_make(const struct invocation *invocation, follow_start *start, const void *arg,
                    const struct tr_import_edges_options *edges, const char *out, bool quiet,
                    bool json)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_import_edges_report found = TR_IMPORT_EDGES_REPORT_INIT;
    struct tr_task *task = NULL;
    int rv = follow_task(quiet, start, arg, &task, &error);
    if (rv == 0 && edges != NULL)
        rv = tr_import_edges_result(task, &found, &error);
    /* The names of columns are the task's. */
    if (rv == 0)
        rv = print(out, edges, &found, json, &error);
    tr_task_close(task);
    return rv != 0 ? fail(invocation, &error) : EXIT_DONE;
}

int raw_report_added(struct report *report, const char *path, uint32_t ntype, bool json,
                     struct tr_error *error)
{
    struct tr_ntype_info type = TR_NTYPE_INFO_INIT;
    struct tr_raw *raw;
    int rv = tr_raw_open(path, NULL, &raw, error);
    if (rv != 0)
        return rv;
    rv = tr_raw_ntype(raw, ntype, &type, error);
    if (rv == 0) {
        report_init(report, json);
        report_text(report, "raw", "raw graph", path);
        /* The type's name is the graph's. */
        report_text(report, "type", "node type", type.name);
    }
    tr_raw_close(raw);
    return rv;
}
