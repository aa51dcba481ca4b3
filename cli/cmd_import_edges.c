/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import edges`: a file of edges into a raw graph.
 */
#include "cli/cmd_import.h"
#include "cli/lib/inside.h"
#include "cli/lib/raw_report.h"

/* 0 lets the reader take any of them. */
static char delimiter_of(int choice)
{
    static const char DELIMITERS[] = { 0, ',', ';', '\t', ' ' };
    return DELIMITERS[choice];
}

static int convert(const struct invocation *invocation, const struct import_edges_values *values,
                   struct raw_report *making, struct error *error)
{
    struct raw_options read = { .undirected = values->undirected,
                                .num_nodes = values->num_nodes,
                                .delimiter = delimiter_of(values->delimiter),
                                .cancel = making->options.cancel };
    struct raw_graph *graph;
    int rc = raw_open(invocation->operands[0], &read, &graph, error);
    if (rc < 0)
        return rc;
    for (uint32_t t = 0; t < graph->types.num_etypes; t++)
        making->num_edges += graph->num_edges[t];
    rc = raw_copy(graph, values->out, &making->options, error);
    raw_close(graph);
    return rc;
}

int import_edges_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_edges_values *values = opaque;
    struct error error = { 0 };
    struct raw_report making;
    int rc = raw_report_begin(&making, values->quiet, values->replace, &error);
    if (rc < 0)
        return fail_inside(invocation, &error);
    rc = convert(invocation, values, &making, &error);
    return raw_report_report(&making, invocation, rc, values->out, values->json, &error);
}
