/*
 * `troupe verify`: proves that a directory of partitions holds exactly the graph it was made of.
 */
#include <stddef.h>

#include "cli/command.h"
#include "cli/fail.h"
#include "cli/report.h"
#include "cli/work.h"
#include "partition/verify.h"

struct verify_values {
    bool undirected;
    uint64_t num_nodes;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct verify_values, field)

static const struct option_spec OPTIONS[] = {
    {.name = "undirected", .kind = OPTION_FLAG, .offset = AT(undirected),
     .help = "of an edge list: as it was partitioned"},
    {.name = "num-nodes", .kind = OPTION_COUNT, .offset = AT(num_nodes), .metavar = "N", .min = 1,
     .help = "of an edge list: as it was partitioned"},
    OPTION_ROW_JSON(struct verify_values),
    OPTION_ROW_QUIET(struct verify_values),
    OPTION_ROW_END,
};

static void show_stage(void *arg, const char *stage, uint64_t done, uint64_t total)
{
    progress_step(arg, stage, "", done, total);
}

static int compare(const struct invocation *invocation, const struct verify_values *values,
                   struct work *work, struct verify_report *result, struct error *error)
{
    struct raw_options read = {.undirected = values->undirected,
                               .num_nodes = values->num_nodes,
                               .cancel = &work->cancel};
    struct partition_hooks hooks = {
        .progress = show_stage, .arg = &work->progress, .cancel = &work->cancel};
    struct raw_graph *raw;
    int rc = raw_open(invocation->operands[1], &read, &raw, error);
    if (rc < 0)
        return rc;
    rc = verify_directory(invocation->operands[0], raw, &hooks, result, error);
    raw_close(raw);
    return rc;
}

static int run(const struct invocation *invocation, const void *opaque)
{
    const struct verify_values *values = opaque;
    struct verify_report result;
    struct error error = {0};
    struct work work;
    int rc = work_begin(&work, values->quiet, &error);
    if (rc < 0)
        return fail(invocation, &error);
    rc = compare(invocation, values, &work, &result, &error);
    work_end(&work);
    if (rc < 0)
        return fail(invocation, &error);
    struct report report;
    report_init(&report, values->json);
    report_flag(&report, "equal", "equal", true);
    report_count(&report, "nodes", "nodes", result.num_nodes);
    report_count(&report, "edges", "edges", result.num_edges);
    report_count(&report, "rows", "feature rows", result.num_rows);
    report_count(&report, "halos", "halo entries", result.num_halos);
    report_seconds(&report, "seconds", "time", result.seconds);
    return report_print(&report, &error) < 0 ? fail(invocation, &error) : EXIT_DONE;
}

static const char *const EXAMPLES[] = {
    "troupe verify parts/graph.json raw",
    NULL,
};

const struct command command_verify = {
    .name = "verify",
    .summary = "Prove that a partitioned graph equals its raw graph",
    .operands = "DIR/NAME.json RAW|FILE",
    .operands_min = 2,
    .operands_max = 2,
    .options = OPTIONS,
    .values_size = sizeof(struct verify_values),
    .examples = EXAMPLES,
    .run = run,
};
