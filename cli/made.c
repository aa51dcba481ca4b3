#include "cli/made.h"

#include "cli/fail.h"
#include "cli/report.h"
#include "partition/raw.h"

static uint64_t sum(const uint64_t *counts, uint32_t count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += counts[i];
    return total;
}

int made_raw(const struct invocation *invocation, const char *path, bool json)
{
    struct error error = {0};
    struct raw_graph *graph;
    if (raw_open(path, NULL, &graph, &error) < 0)
        return fail(invocation, &error);
    struct report report;
    report_init(&report, json);
    report_text(&report, "out", "raw graph", path);
    report_count(&report, "nodes", "nodes", sum(graph->num_nodes, graph->types.num_ntypes));
    report_count(&report, "edges", "edges", sum(graph->num_edges, graph->types.num_etypes));
    report_count(&report, "node_types", "node types", graph->types.num_ntypes);
    report_count(&report, "edge_types", "edge types", graph->types.num_etypes);
    report_count(&report, "features", "features", graph->num_tables);
    raw_close(graph);
    return report_print(&report, &error) < 0 ? fail(invocation, &error) : EXIT_DONE;
}
