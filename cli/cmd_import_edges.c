/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import edges`: a file of edges into a raw graph.
 */
#include <troupe/import.h>

#include "cli/cmd_import.h"
#include "cli/lib/raw_report.h"

/* 0 lets the reader take any of them. */
static char delimiter_of(int choice)
{
    static const char DELIMITERS[] = { 0, ',', ';', '\t', ' ' };
    return DELIMITERS[choice];
}

_Static_assert(TR_LOOPS_ERROR == 2 && TR_DUPLICATES_ERROR == 3,
               "IMPORT_LOOPS and IMPORT_DUPLICATES name them in their order");

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
    options.delimiter = delimiter_of(values->delimiter);
    options.source = values->source;
    options.target = values->target;
    options.first_id = values->first_id;
    options.loops = (uint32_t)values->loops;
    options.duplicates = (uint32_t)values->duplicates;
    return raw_report_make(invocation, start, &options, &options, values->out, values->quiet,
                           values->json);
}
