/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe split`: masks of training, validation and test nodes, or edges, for a raw graph.
 */
#include <inttypes.h>
#include <stdio.h>

#include <troupe/prepare.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/raw_report.h"

/* Shares are given in per cent, with so many decimals. */
#define DECIMALS 4
#define PER_CENT (TR_SPLIT_WHOLE / 100)

struct split_values {
    const char *ratio, *edges;
    const char *edge_type;
    int pairs;
    const char *type;
    bool by_class;
    const char *labels;
    uint64_t seed;
    bool replace;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct split_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "ratio",
      .kind = OPTION_TEXT,
      .offset = AT(ratio),
      .metavar = "T/V/E",
      .fallback = "60/20/20",
      .help = "per cent of the nodes to train on, to validate with and to test with" },
    { .name = "edges",
      .kind = OPTION_TEXT,
      .offset = AT(edges),
      .metavar = "T/V/E",
      .help = "split edges, by this ratio, in the place of nodes" },
    { .name = "edge-type",
      .field = "etype",
      .kind = OPTION_TEXT,
      .offset = AT(edge_type),
      .metavar = "TYPE",
      .help = "the edge type to split, where there are several" },
    { .name = "pairs",
      .kind = OPTION_CHOICE,
      .offset = AT(pairs),
      .choices = "none|halves|adjacent",
      .fallback = "none",
      .help = "which edges are the two ways of one, and stay together" },
    { .name = "by-class",
      .field = "by_class",
      .kind = OPTION_FLAG,
      .offset = AT(by_class),
      .help = "keep the ratio within each class" },
    { .name = "labels",
      .field = "\"labels\"",
      .kind = OPTION_TEXT,
      .offset = AT(labels),
      .metavar = "NAME",
      .help = "the node feature with the classes; otherwise label, or labels" },
    { .name = "type",
      .field = "ntype",
      .kind = OPTION_TEXT,
      .offset = AT(type),
      .metavar = "TYPE",
      .help = "the node type to split, where there are several" },
    { .name = "seed",
      .kind = OPTION_COUNT,
      .offset = AT(seed),
      .metavar = "S",
      .fallback = "0",
      .help = "seed of the random choice of nodes" },
    { .name = "replace",
      .field = "\"replace\"",
      .kind = OPTION_FLAG,
      .offset = AT(replace),
      .help = "replace the masks where there are some" },
    OPTION_ROW_JSON(struct split_values),
    OPTION_ROW_QUIET(struct split_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe split raw",
    "troupe split raw --ratio 10/10/80 --by-class --seed 1",
    "troupe split raw --edges 80/10/10 --pairs adjacent",
    NULL,
};

/* One share, "60" or "0.25", up to its end; NULL: it is none, or has too many decimals. */
static const char *read_share(const char *text, uint32_t *share)
{
    uint64_t value = 0, unit = PER_CENT;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= TR_SPLIT_WHOLE; at++)
        value = 10 * value + (uint64_t)(*at - '0') * PER_CENT;
    bool digits = at > text;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9' && unit > 1; at++, digits = true) {
            unit /= 10;
            value += (uint64_t)(*at - '0') * unit;
        }
    }
    *share = (uint32_t)value;
    return digits && value <= TR_SPLIT_WHOLE ? at : NULL;
}

static int read_ratio(const char *option, const char *text, struct tr_split_options *options,
                      struct tr_error *error)
{
    uint32_t *const shares[] = { &options->train_share, &options->validation_share,
                                 &options->test_share };
    const char *at = text;
    uint64_t sum = 0;
    for (int i = 0; i < 3 && at != NULL; i++) {
        at = read_share(at, shares[i]);
        sum += *shares[i];
        if (at != NULL)
            at = *at != (i < 2 ? '/' : '\0') ? NULL : i < 2 ? at + 1 : at;
    }
    if (at == NULL)
        return tr_error_set(error, TR_EINVAL,
                            "--%s %s: not three parts of 100 with up to %d decimals, such as "
                            "60/20/20",
                            option, text, DECIMALS);
    if (sum != TR_SPLIT_WHOLE)
        return tr_error_set(error, TR_EINVAL, "--%s %s: the parts add up to %g, not to 100", option,
                            text, (double)sum / PER_CENT);
    if (options->train_share == 0)
        return tr_error_set(error, TR_EINVAL, "--%s %s: no %s would be trained on", option, text,
                            options->edges ? "edge" : "node");
    return 0;
}

/* Nodes have other options than edges. */
static int read_what(const struct split_values *values, struct tr_split_options *options,
                     struct tr_error *error)
{
    const char *wrong = NULL;
    options->edges = values->edges != NULL;
    if (options->edges)
        wrong = values->type != NULL     ? "--type is of nodes; name a type of edges by --edge-type"
                : values->labels != NULL ? "--labels are of nodes; split edges without it"
                : values->by_class       ? "--by-class is of nodes; split edges without it"
                                         : NULL;
    else
        wrong = values->edge_type != NULL ? "--edge-type is of edges; give --edges too"
                : values->pairs != 0      ? "--pairs is of edges; give --edges too"
                                          : NULL;
    if (wrong != NULL)
        return tr_error_set(error, TR_EINVAL, "%s", wrong);
    return options->edges ? read_ratio("edges", values->edges, options, error)
                          : read_ratio("ratio", values->ratio, options, error);
}

static int print_split(const char *path, const struct split_values *values,
                       const struct tr_split_report *made, struct tr_error *error)
{
    struct report report;
    bool edges = values->edges != NULL;
    int rv = raw_report_added(&report, path, edges, edges ? made->etype : made->ntype, values->json,
                              error);
    if (rv != 0)
        return rv;
    if (edges)
        report_count(&report, "edges", "edges", made->num_edges);
    else
        report_count(&report, "nodes", "nodes", made->num_nodes);
    if (values->pairs != 0)
        report_count(&report, "single", "edges whose reverse is not where --pairs says",
                     made->num_single);
    report_count(&report, "train", "to train on", made->num_train);
    report_count(&report, "validation", "to validate with", made->num_validation);
    report_count(&report, "test", "to test with", made->num_test);
    if (values->by_class) {
        report_count(&report, "classes", "classes", made->num_classes);
        report_count(&report, "unlabelled", "without a label, in no mask", made->num_unlabelled);
        report_count(&report, "classes_without_training", "classes without a training node",
                     made->num_without_train);
    }
    if (made->num_single > 0)
        report_text(
            &report, "hint", "hint",
            "where an edge and its reverse are in two sets, a model of links is tested on what "
            "it has seen: `troupe import` with --undirected puts each reverse behind its edge, "
            "for --pairs adjacent");
    rv = raw_report_next(&report, path, error);
    if (rv != 0) {
        report_fini(&report);
        return rv;
    }
    return report_print(&report, error);
}

static int split_start(const void *options, struct tr_task **out, struct tr_error *error)
{
    return tr_split_start(options, out, error);
}

static int split_follow(const char *path, const struct split_values *values,
                        const struct tr_split_options *options, struct tr_error *error)
{
    struct tr_split_report made = TR_SPLIT_REPORT_INIT;
    struct tr_task *task = NULL;
    int rv = follow_task(values->quiet, split_start, options, &task, error);
    if (rv == 0)
        rv = tr_split_result(task, &made, error);
    tr_task_close(task);
    return rv == 0 ? print_split(path, values, &made, error) : rv;
}

static int split_run(const struct invocation *invocation, const void *opaque)
{
    const struct split_values *values = opaque;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_split_options options;
    tr_split_options_init(&options);
    options.raw = invocation->operands[0];
    options.ntype = values->type;
    options.labels = values->labels;
    options.by_class = values->by_class;
    options.replace = values->replace;
    options.seed = values->seed;
    options.etype = values->edge_type;
    options.pairs = (enum tr_split_pairs)values->pairs;
    if (read_what(values, &options, &error) != 0)
        return fail_usage(invocation, &error);
    int rv = split_follow(options.raw, values, &options, &error);
    return rv == 0 ? EXIT_DONE : fail(invocation, &error);
}

const struct command command_split = {
    .name = "split",
    .summary = "Choose training, validation and test nodes, or edges",
    .operands = "RAW",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct split_values),
    .examples = EXAMPLES,
    .run = split_run,
};
