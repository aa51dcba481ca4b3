/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/raw_report.h"

#include <troupe/import.h>
#include <troupe/raw.h>

#include "cli/lib/fail.h"
#include "cli/lib/follow.h"
#include "cli/lib/report.h"

static int print(const char *path, uint64_t header_line, bool json, struct tr_error *error)
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
    if (header_line != 0)
        report_count(&report, "header_line", "line skipped as a header", header_line);
    return report_print(&report, error);
}

int raw_report_make(const struct invocation *invocation, raw_start *start, const void *arg,
                    const char *out, bool quiet, bool json)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_import_edges_report imported = TR_IMPORT_EDGES_REPORT_INIT;
    struct tr_task *task = NULL;
    struct follow follow;
    int rv = follow_begin(&follow, quiet, &error);
    if (rv != 0)
        return fail(invocation, &error);
    rv = start(arg, &task, &error);
    if (rv == 0)
        rv = follow_task(&follow, task, &error);
    /* Other tasks have no such report, which leaves it as it is. */
    if (rv == 0)
        (void)tr_import_edges_result(task, &imported, NULL);
    tr_task_close(task);
    follow_end(&follow);
    if (rv == 0)
        rv = print(out, imported.header_line, json, &error);
    return rv != 0 ? fail(invocation, &error) : EXIT_DONE;
}
