/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe verify`: proves that a directory of partitions holds exactly the graph it was made of, that
 * its files are those that were written, or that checkpoints are whole.
 */
#include <stddef.h>
#include <string.h>

#include "cli/lib/checkpoint_list.h"
#include "cli/lib/command.h"
#include "cli/lib/inside.h"
#include "cli/lib/report.h"
#include "cli/lib/work.h"
#include "partition/build/verify.h"
#include "partition/store/store.h"
#include "runtime/core/crew.h"

/* Threads that sum beside the first: files come no faster than a few can sum them. */
#define SUMMING_THREADS 3

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
      .kind = OPTION_FLAG,
      .offset = AT(undirected),
      .help = "of an edge list: as it was partitioned" },
    { .name = "num-nodes",
      .kind = OPTION_COUNT,
      .offset = AT(num_nodes),
      .metavar = "N",
      .min = 1,
      .help = "of an edge list: as it was partitioned" },
    { .name = "some",
      .kind = OPTION_FLAG,
      .offset = AT(some),
      .help = "what is not here of partitions or checkpoints is on other hosts" },
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
    struct raw_options read = { .undirected = values->undirected,
                                .num_nodes = values->num_nodes,
                                .cancel = &work->cancel };
    struct partition_hooks hooks = { .progress = show_stage,
                                     .arg = &work->progress,
                                     .cancel = &work->cancel };
    struct raw_graph *raw;
    int rc = raw_open(invocation->operands[1], &read, &raw, error);
    if (rc < 0)
        return rc;
    struct parallel *parallel = crew_parallel_create(SUMMING_THREADS);
    rc = verify_directory(invocation->operands[0], raw, parallel, &hooks, result, error);
    crew_parallel_destroy(parallel);
    raw_close(raw);
    return rc;
}

static int show_graph(const struct verify_values *values, const struct verify_report *result,
                      struct error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_flag(&report, "equal", "equal", true);
    report_count(&report, "nodes", "nodes", result->num_nodes);
    report_count(&report, "edges", "edges", result->num_edges);
    report_count(&report, "rows", "feature rows", result->num_rows);
    report_count(&report, "halos", "halo entries", result->num_halos);
    report_seconds(&report, "seconds", "time", result->seconds);
    return report_print_inside(&report, error);
}

struct summing {
    struct work *work;
    uint32_t num_parts;
};

static int show_part(void *arg, uint32_t part, struct error *error)
{
    struct summing *summing = arg;
    if (cancel_asked(&summing->work->cancel))
        return error_set(error, TR_ECANCELED, "verifying was cancelled");
    progress_step(&summing->work->progress, "checksums", "", part, summing->num_parts);
    return 0;
}

static int check_sums(const struct invocation *invocation, const struct verify_values *values,
                      struct work *work, struct store_checked *checked, struct error *error)
{
    struct store *store;
    int rc = store_open(invocation->operands[0], &store, error);
    if (rc < 0)
        return rc;
    struct summing summing = { .work = work, .num_parts = store_book(store)->num_parts };
    struct parallel *parallel = crew_parallel_create(SUMMING_THREADS);
    rc = store_check_files(store, values->some, parallel, show_part, &summing, checked, error);
    crew_parallel_destroy(parallel);
    store_close(store);
    return rc;
}

static int show_sums(const struct verify_values *values, const struct store_checked *checked,
                     struct error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_flag(&report, "whole", "whole", true);
    report_count(&report, "files", "files", checked->num_files);
    report_count(&report, "elsewhere", "partitions not here", checked->elsewhere);
    report_bytes(&report, "bytes", "read", checked->bytes);
    return report_print_inside(&report, error);
}

static int show_checkpoints(const struct verify_values *values,
                            const struct checkpoints_found *found, struct error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_flag(&report, "whole", "whole", true);
    report_count(&report, "checkpoints", "checkpoints", found->checkpoints);
    report_count(&report, "unfinished", "without a manifest", found->unfinished);
    report_count(&report, "parts", "parts", found->parts);
    report_count(&report, "elsewhere", "parts not here", found->elsewhere);
    report_bytes(&report, "bytes", "read", found->bytes);
    return report_print_inside(&report, error);
}

static int verify_graph(const struct invocation *invocation, const struct verify_values *values,
                        struct work *work, struct error *error)
{
    struct verify_report result;
    int rc = compare(invocation, values, work, &result, error);
    progress_end(&work->progress);
    return rc == 0 ? show_graph(values, &result, error) : rc;
}

static int verify_sums(const struct invocation *invocation, const struct verify_values *values,
                       struct work *work, struct error *error)
{
    struct store_checked checked;
    int rc = check_sums(invocation, values, work, &checked, error);
    progress_end(&work->progress);
    return rc == 0 ? show_sums(values, &checked, error) : rc;
}

static int verify_checkpoints(const struct invocation *invocation,
                              const struct verify_values *values, struct work *work,
                              struct error *error)
{
    struct checkpoints_found found;
    int rc = checkpoints_verify(invocation->operands[0], values->some, work, &found, error);
    progress_end(&work->progress);
    return rc == 0 ? show_checkpoints(values, &found, error) : rc;
}

/* A partitioned graph is named by its book, anything else that stands alone is checkpoints. */
static bool names_book(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static int check_operands(const struct invocation *invocation, const struct verify_values *values,
                          struct error *error)
{
    const char *path = invocation->operands[0];
    bool alone = invocation->num_operands == 1;
    if (!alone && checkpoints_named(path))
        return error_set(error, TR_EINVAL, "%s: checkpoints are verified alone", path);
    if (alone && (values->undirected || values->num_nodes != 0))
        return error_set(error, TR_EINVAL,
                         "%s: --undirected and --num-nodes are of edge lists; "
                         "give the one that it was made of",
                         path);
    if (!alone && values->some)
        return error_set(error, TR_EINVAL,
                         "%s: --some is of what is verified alone; a graph is "
                         "compared as a whole",
                         path);
    return 0;
}

static int run(const struct invocation *invocation, const void *opaque)
{
    const struct verify_values *values = opaque;
    struct error error = { 0 };
    struct work work;
    int rc = check_operands(invocation, values, &error);
    if (rc < 0)
        return fail_usage_inside(invocation, &error);
    rc = work_begin(&work, values->quiet, &error);
    if (rc < 0)
        return fail_inside(invocation, &error);
    if (invocation->num_operands == 2)
        rc = verify_graph(invocation, values, &work, &error);
    else if (names_book(invocation->operands[0]))
        rc = verify_sums(invocation, values, &work, &error);
    else
        rc = verify_checkpoints(invocation, values, &work, &error);
    work_end(&work);
    return rc < 0 ? fail_inside(invocation, &error) : EXIT_DONE;
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
    .operands = "DIR/NAME.json [RAW|FILE], or CHECKPOINTS",
    .operands_min = 1,
    .operands_max = 2,
    .options = OPTIONS,
    .values_size = sizeof(struct verify_values),
    .examples = EXAMPLES,
    .run = run,
};
