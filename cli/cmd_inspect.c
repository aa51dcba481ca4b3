/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe inspect`: what a raw graph, a partition directory, a training run, a folder of runs
 * or one of checkpoints holds. This file tells by its path which of them it is.
 *
 * Only the heads of files are read, so that a look at a big graph is quick; but for single nodes and
 * edges (inspect_ids.h).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <troupe/checkpoint.h>
#include <troupe/run.h>

#include "cli/inspect_checkpoints.h"
#include "cli/inspect_graph.h"
#include "cli/inspect_ids.h"
#include "cli/inspect_run.h"
#include "cli/inspect_runs.h"
#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/graph_path.h"
#include "cli/lib/report.h"

struct inspect_values {
    bool json;
    struct inspect_ids ids;
};

static const struct option_spec OPTIONS[] = {
    { .name = "nodes",
      .kind = OPTION_COUNTS,
      .offset = offsetof(struct inspect_values, ids.nodes),
      .metavar = "IDS",
      .help = "show these nodes of a partitioned graph, by their global IDs" },
    { .name = "own-ids",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct inspect_values, ids.own_nodes),
      .metavar = "IDS",
      .help = "show nodes by your own IDs: names, or numbers as they were imported" },
    { .name = "node-type",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct inspect_values, ids.node_type),
      .metavar = "TYPE",
      .help = "the type of --nodes, where there are several" },
    { .name = "edges",
      .kind = OPTION_COUNTS,
      .offset = offsetof(struct inspect_values, ids.edges),
      .metavar = "IDS",
      .help = "show these edges of a partitioned graph, by their global IDs" },
    { .name = "edge-type",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct inspect_values, ids.edge_type),
      .metavar = "TYPE",
      .help = "the type of --edges, where there are several" },
    OPTION_ROW_JSON(struct inspect_values),
    OPTION_ROW_END,
};

/* A partition directory is named by its book, DIR/NAME.json; anything else is a raw graph. */
static bool names_book(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    struct stat facts;
    return length > 5 && strcmp(name + length - 5, ".json") == 0 &&
           strcmp(name, "metadata.json") != 0 &&
           !(stat(path, &facts) == 0 && S_ISDIR(facts.st_mode));
}

static int inspect_path(struct report *report, const char *path, struct tr_error *error)
{
    if (tr_checkpoints_named(path))
        return inspect_checkpoints(report, path, error);
    if (tr_run_named(path))
        return inspect_run(report, path, error);
    if (inspect_runs_found(path))
        return inspect_runs(report, path, error);
    char *graph;
    int rv = graph_path_try(path, &graph, error);
    if (rv == 0)
        rv = names_book(graph) ? inspect_book(report, graph, error)
                               : inspect_raw(report, graph, error);
    free(graph);
    return rv;
}

/* Single nodes and edges, of what must be a partitioned graph. */
static int inspect_path_ids(struct report *report, const char *path, const struct inspect_ids *ids,
                            struct tr_error *error)
{
    char *graph;
    int rv = graph_path_find(path, &graph, error);
    if (rv == 0)
        rv = inspect_ids(report, graph, ids, error);
    free(graph);
    return rv;
}

static int cmd_inspect_run(const struct invocation *invocation, const void *opaque)
{
    const struct inspect_values *values = opaque;
    const char *path = invocation->operands[0];
    struct tr_error error = TR_ERROR_INIT;
    struct report report;
    report_init(&report, values->json);
    bool single = values->ids.nodes.count > 0 || values->ids.edges.count > 0 ||
                  values->ids.own_nodes != NULL;
    int rv = single             ? inspect_path_ids(&report, path, &values->ids, &error)
             : names_book(path) ? inspect_book(&report, path, &error)
                                : inspect_path(&report, path, &error);
    if (rv != 0) {
        report_fini(&report);
        return fail(invocation, &error);
    }
    return report_print(&report, &error) != 0 ? fail(invocation, &error) : EXIT_DONE;
}

static const char *const EXAMPLES[] = {
    "troupe inspect raw",
    "troupe inspect parts/graph.json --json",
    "troupe inspect parts --node-type paper --nodes 0,17",
    "troupe inspect parts --edges 5",
    "troupe inspect parts --own-ids alice,bob",
    "troupe inspect run",
    "troupe inspect all",
    "troupe inspect run/checkpoints",
    "troupe inspect run/checkpoints/checkpoint-40",
    NULL,
};

const struct command command_inspect = {
    .name = "inspect",
    .summary = "Show what a raw graph, a partitioned graph, a run or a checkpoint holds",
    .operands = "RAW|DIR|DIR/NAME.json|RUN|CHECKPOINTS",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct inspect_values),
    .examples = EXAMPLES,
    .run = cmd_inspect_run,
};
