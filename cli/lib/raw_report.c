/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/raw_report.h"

#include <string.h>

#include "cli/lib/inside.h"
#include "cli/lib/report.h"
#include "partition/raw/raw.h"

static void show(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct raw_report *making = arg;
    bool edges = strcmp(what, "edges") == 0;
    progress_step(&making->work.progress, what, edges ? "edges" : "bytes", done,
                  edges ? making->num_edges : total);
}

int raw_report_begin(struct raw_report *making, bool quiet, bool replace, struct error *error)
{
    making->num_edges = 0;
    making->options = (struct raw_write_options){
        .cancel = &making->work.cancel, .replace = replace, .progress = show, .progress_arg = making
    };
    return work_begin(&making->work, quiet, error);
}

void raw_report_end(struct raw_report *making)
{
    work_end(&making->work);
}

static uint64_t sum(const uint64_t *counts, uint32_t count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += counts[i];
    return total;
}

static int print(const char *path, bool json, struct error *error)
{
    struct raw_graph *graph;
    int rc = raw_open(path, NULL, &graph, error);
    if (rc < 0)
        return rc;
    struct report report;
    report_init(&report, json);
    report_text(&report, "out", "raw graph", path);
    report_count(&report, "nodes", "nodes", sum(graph->num_nodes, graph->types.num_ntypes));
    report_count(&report, "edges", "edges", sum(graph->num_edges, graph->types.num_etypes));
    report_count(&report, "node_types", "node types", graph->types.num_ntypes);
    report_count(&report, "edge_types", "edge types", graph->types.num_etypes);
    report_count(&report, "features", "features", graph->num_tables);
    raw_close(graph);
    return report_print_inside(&report, error);
}

int raw_report_report(struct raw_report *making, const struct invocation *invocation, int rc,
                      const char *path, bool json, struct error *error)
{
    raw_report_end(making);
    if (rc == 0)
        rc = print(path, json, error);
    return rc < 0 ? fail_inside(invocation, error) : EXIT_DONE;
}
