/*
 * `troupe import edges`: a file of edges into a raw graph.
 */
#include "cli/fail.h"
#include "cli/import.h"
#include "cli/work.h"
#include "cli/made.h"
#include "partition/raw_write.h"

/* 0 lets the reader take any of them. */
static char delimiter_of(int choice)
{
    static const char DELIMITERS[] = {0, ',', ';', '\t', ' '};
    return DELIMITERS[choice];
}

static int convert(const struct invocation *invocation, const struct import_edges_values *values,
                   const struct work *work, struct error *error)
{
    struct raw_options read = {.undirected = values->undirected,
                               .num_nodes = values->num_nodes,
                               .delimiter = delimiter_of(values->delimiter),
                               .cancel = &work->cancel};
    struct raw_write_options write = {.cancel = &work->cancel, .replace = values->replace};
    struct raw_graph *graph;
    int rc = raw_open(invocation->operands[0], &read, &graph, error);
    if (rc < 0)
        return rc;
    rc = raw_copy(graph, values->out, &write, error);
    raw_close(graph);
    return rc;
}

int import_edges_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_edges_values *values = opaque;
    struct error error = {0};
    struct work work;
    int rc = work_begin(&work, values->quiet, &error);
    if (rc < 0)
        return fail(invocation, &error);
    rc = convert(invocation, values, &work, &error);
    work_end(&work);
    return rc < 0 ? fail(invocation, &error) : made_raw(invocation, values->out, values->json);
}
