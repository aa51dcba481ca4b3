/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe verify`: proves that a directory of partitions holds exactly the graph it was made of,
 * that its files are those that were written, or that checkpoints are whole.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/checkpoint.h>
#include <troupe/verify.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/follow.h"
#include "cli/lib/graph_path.h"
#include "cli/lib/report.h"

struct verify_values {
    bool undirected;
    uint64_t num_nodes;
    bool some;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct verify_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "undirected",
      .field = "\"undirected\"",
      .kind = OPTION_FLAG,
      .offset = AT(undirected),
      .help = "the edge list was partitioned with --undirected" },
    { .name = "num-nodes",
      .field = "num_nodes",
      .kind = OPTION_COUNT,
      .offset = AT(num_nodes),
      .metavar = "N",
      .min = 1,
      .help = "the number that the edge list was partitioned with" },
    { .name = "some",
      .kind = OPTION_FLAG,
      .offset = AT(some),
      .help = "accept missing partitions or checkpoint parts, which other hosts have" },
    OPTION_ROW_JSON(struct verify_values),
    OPTION_ROW_QUIET(struct verify_values),
    OPTION_ROW_END,
};

static int show(const struct verify_values *values, const struct tr_verify_report *result,
                struct tr_error *error)
{
    struct report report;
    report_init(&report, values->json);
    switch (result->kind) {
    case TR_VERIFY_GRAPH:
        report_flag(&report, "equal", "equal", true);
        report_count(&report, "nodes", "nodes", result->num_nodes);
        report_count(&report, "edges", "edges", result->num_edges);
        report_count(&report, "rows", "feature rows", result->num_rows);
        report_count(&report, "halos", "halo entries", result->num_halos);
        report_seconds(&report, "seconds", "time", result->seconds);
        break;
    case TR_VERIFY_FILES:
        report_flag(&report, "whole", "whole", true);
        report_count(&report, "files", "files", result->num_files);
        report_count(&report, "elsewhere", "partitions not here", result->elsewhere);
        report_bytes(&report, "bytes", "read", result->bytes);
        break;
    case TR_VERIFY_CHECKPOINTS:
        report_flag(&report, "whole", "whole", true);
        report_count(&report, "checkpoints", "checkpoints", result->num_checkpoints);
        report_count(&report, "unfinished", "without a manifest", result->unfinished);
        report_count(&report, "parts", "parts", result->num_parts);
        report_count(&report, "elsewhere", "parts not here", result->elsewhere);
        report_bytes(&report, "bytes", "read", result->bytes);
        break;
    }
    return report_print(&report, error);
}

/* Checks options against each other, in their own names. */
static int check_operands(const struct invocation *invocation, const struct verify_values *values,
                          struct tr_error *error)
{
    const char *path = invocation->operands[0];
    bool alone = invocation->num_operands == 1;
    if (!alone && tr_checkpoints_named(path))
        return tr_error_set(
            error, TR_EINVAL,
            "%s: checkpoints are compared with nothing else; leave the second path out", path);
    if (alone && (values->undirected || values->num_nodes != 0))
        return tr_error_set(error, TR_EINVAL,
                            "%s: --undirected and --num-nodes say how an edge list is read; name "
                            "the edge list that the graph was made of",
                            path);
    if (!alone && values->some)
        return tr_error_set(
            error, TR_EINVAL,
            "%s: a graph is compared with its raw graph as a whole; leave --some out", path);
    return 0;
}

static int verify_start(const void *options, struct tr_task **out, struct tr_error *error)
{
    return tr_verify_start(options, out, error);
}

static int verify(const struct invocation *invocation, const struct verify_values *values,
                  struct tr_verify_report *result, struct tr_error *error)
{
    struct tr_verify_options options = TR_VERIFY_OPTIONS_INIT;
    struct tr_task *task = NULL;
    char *path;
    int rv = graph_path_try(invocation->operands[0], &path, error);
    if (rv != 0)
        return rv;
    options.path = path;
    options.raw = invocation->num_operands == 2 ? invocation->operands[1] : NULL;
    options.some = values->some;
    options.undirected = values->undirected;
    options.num_nodes = values->num_nodes;
    rv = follow_task(values->quiet, verify_start, &options, &task, error);
    if (rv == 0)
        rv = tr_verify_result(task, result, error);
    tr_task_close(task);
    free(path);
    return rv;
}

static int run(const struct invocation *invocation, const void *opaque)
{
    const struct verify_values *values = opaque;
    struct tr_verify_report result = TR_VERIFY_REPORT_INIT;
    struct tr_error error = TR_ERROR_INIT;
    if (check_operands(invocation, values, &error) != 0)
        return fail_usage(invocation, &error);
    int rv = verify(invocation, values, &result, &error);
    if (rv == 0)
        rv = show(values, &result, &error);
    return rv != 0 ? fail(invocation, &error) : EXIT_DONE;
}

static const char *const EXAMPLES[] = {
    "troupe verify parts/graph.json raw",
    "troupe verify parts/graph.json",
    "troupe verify run/checkpoints",
    NULL,
};

const struct command command_verify = {
    .name = "verify",
    .summary = "Prove that a partitioned graph equals its raw graph, or that files are whole",
    .operands = "DIR|DIR/NAME.json [RAW|FILE], or CHECKPOINTS",
    .operands_min = 1,
    .operands_max = 2,
    .options = OPTIONS,
    .values_size = sizeof(struct verify_values),
    .examples = EXAMPLES,
    .run = run,
};
