/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe feature`: features for a raw graph that has none.
 */
#include <troupe/prepare.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/raw_report.h"

struct feature_values {
    bool degree;
    bool one_hot;
    uint64_t random;
    bool pagerank;
    const char *name;
    const char *type;
    uint64_t seed;
    bool replace;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct feature_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "degree",
      .kind = OPTION_FLAG,
      .offset = AT(degree),
      .help = "log(1 + in-degree) and log(1 + out-degree)" },
    { .name = "one-hot",
      .kind = OPTION_FLAG,
      .offset = AT(one_hot),
      .help = "a column for each node, for graphs of up to 16384 nodes" },
    { .name = "random",
      .kind = OPTION_COUNT,
      .offset = AT(random),
      .metavar = "K",
      .min = 1,
      .max = TR_FEATURE_WIDTH_MAX,
      .help = "K uniform random numbers of mean 0 and variance 1" },
    { .name = "pagerank",
      .kind = OPTION_FLAG,
      .offset = AT(pagerank),
      .help = "log(1 + PageRank / mean PageRank)" },
    { .name = "name",
      .field = "\"name\"",
      .kind = OPTION_TEXT,
      .offset = AT(name),
      .metavar = "NAME",
      .fallback = "feat",
      .help = "name of the feature" },
    { .name = "type",
      .field = "ntype",
      .kind = OPTION_TEXT,
      .offset = AT(type),
      .metavar = "TYPE",
      .help = "the node type that gets it, where there are several" },
    { .name = "seed",
      .kind = OPTION_COUNT,
      .offset = AT(seed),
      .metavar = "S",
      .fallback = "0",
      .help = "seed of the random numbers" },
    { .name = "replace",
      .field = "\"replace\"",
      .kind = OPTION_FLAG,
      .offset = AT(replace),
      .help = "replace the feature where there is one of that name" },
    OPTION_ROW_JSON(struct feature_values),
    OPTION_ROW_QUIET(struct feature_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe feature raw --degree",
    "troupe feature raw --random 64 --seed 1 --name noise",
    NULL,
};

static int choose_kind(const struct feature_values *values, struct tr_feature_options *options,
                       struct tr_error *error)
{
    if (values->degree + values->one_hot + (values->random > 0) + values->pagerank != 1)
        return tr_error_set(error, TR_EINVAL,
                            "give one of --degree, --one-hot, --random K and --pagerank");
    options->kind = values->degree    ? TR_FEATURE_DEGREE
                    : values->one_hot ? TR_FEATURE_ONE_HOT
                    : values->random  ? TR_FEATURE_RANDOM
                                      : TR_FEATURE_PAGERANK;
    options->width = (uint32_t)values->random;
    return 0;
}

static int print_feature(const char *path, const struct feature_values *values,
                         const struct tr_feature_report *made, struct tr_error *error)
{
    struct report report;
    int rv = raw_report_added(&report, path, false, made->ntype, values->json, error);
    if (rv != 0)
        return rv;
    report_text(&report, "feature", "feature", values->name);
    report_count(&report, "nodes", "nodes", made->num_nodes);
    report_count(&report, "width", "columns", made->width);
    if (values->pagerank)
        report_count(&report, "rounds", "rounds", made->rounds);
    rv = raw_report_next(&report, path, error);
    if (rv != 0) {
        report_fini(&report);
        return rv;
    }
    return report_print(&report, error);
}

static int feature_start(const void *options, struct tr_task **out, struct tr_error *error)
{
    return tr_feature_start(options, out, error);
}

static int feature_follow(const char *path, const struct feature_values *values,
                          const struct tr_feature_options *options, struct tr_error *error)
{
    struct tr_feature_report made = TR_FEATURE_REPORT_INIT;
    struct tr_task *task = NULL;
    int rv = follow_task(values->quiet, feature_start, options, &task, error);
    if (rv == 0)
        rv = tr_feature_result(task, &made, error);
    tr_task_close(task);
    return rv == 0 ? print_feature(path, values, &made, error) : rv;
}

static int feature_run(const struct invocation *invocation, const void *opaque)
{
    const struct feature_values *values = opaque;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_feature_options options = TR_FEATURE_OPTIONS_INIT;
    options.raw = invocation->operands[0];
    options.ntype = values->type;
    options.name = values->name;
    options.seed = values->seed;
    options.replace = values->replace;
    if (choose_kind(values, &options, &error) != 0)
        return fail_usage(invocation, &error);
    int rv = feature_follow(options.raw, values, &options, &error);
    return rv == 0 ? EXIT_DONE : fail(invocation, &error);
}

const struct command command_feature = {
    .name = "feature",
    .summary = "Make features for a graph that has none",
    .operands = "RAW",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct feature_values),
    .examples = EXAMPLES,
    .run = feature_run,
};
