/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe generate`: graphs of any size from a seed.
 */
#include <stddef.h>
#include <string.h>

#include <troupe/generate.h>

#include "cli/lib/command.h"
#include "cli/lib/raw_report.h"

struct generate_values {
    const char *out;
    uint64_t nodes;
    uint64_t edges;
    uint64_t features;
    uint64_t classes;
    uint64_t seed;
    double signal;
    double inside;       /* sbm */
    double quadrants[4]; /* rmat */
    bool replace;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct generate_values, field)

/* Bounds repeat those of the generators, so that the message names the option. */
#define COMMON_ROWS                                                                        \
    { .name = "nodes",                                                                     \
      .field = "num_nodes",                                                                \
      .kind = OPTION_COUNT,                                                                \
      .offset = AT(nodes),                                                                 \
      .metavar = "N",                                                                      \
      .required = true,                                                                    \
      .min = 1,                                                                            \
      .max = (double)TR_GENERATE_NODES_MAX,                                                \
      .help = "nodes" },                                                                   \
        { .name = "edges",                                                                 \
          .field = "num_edges",                                                            \
          .kind = OPTION_COUNT,                                                            \
          .offset = AT(edges),                                                             \
          .metavar = "E",                                                                  \
          .required = true,                                                                \
          .max = (double)TR_GENERATE_EDGES_MAX,                                            \
          .help = "directed edges" },                                                      \
        { .name = "features",                                                              \
          .field = "num_features",                                                         \
          .kind = OPTION_COUNT,                                                            \
          .offset = AT(features),                                                          \
          .metavar = "F",                                                                  \
          .fallback = "16",                                                                \
          .max = TR_GENERATE_FEATURES_MAX,                                                 \
          .help = "float32 features of a node" },                                          \
        { .name = "classes",                                                               \
          .field = "num_classes",                                                          \
          .kind = OPTION_COUNT,                                                            \
          .offset = AT(classes),                                                           \
          .metavar = "C",                                                                  \
          .fallback = "8",                                                                 \
          .max = TR_GENERATE_CLASSES_MAX,                                                  \
          .help = "classes of the labels" },                                               \
        { .name = "signal",                                                                \
          .kind = OPTION_REAL,                                                             \
          .offset = AT(signal),                                                            \
          .metavar = "X",                                                                  \
          .fallback = "0.5",                                                               \
          .min = 1e-6,                                                                     \
          .max = 1e6,                                                                      \
          .help = "how far classes are apart in the features, in units of the noise" },    \
        { .name = "seed",                                                                  \
          .kind = OPTION_COUNT,                                                            \
          .offset = AT(seed),                                                              \
          .metavar = "S",                                                                  \
          .fallback = "0",                                                                 \
          .help = "seed of all random choices" },                                          \
        { .name = "out",                                                                   \
          .kind = OPTION_TEXT,                                                             \
          .offset = AT(out),                                                               \
          .metavar = "RAW",                                                                \
          .made = true,                                                                    \
          .required = true,                                                                \
          .help = "the folder to make" },                                                  \
        { .name = "replace",                                                               \
          .kind = OPTION_FLAG,                                                             \
          .offset = AT(replace),                                                           \
          .help = "replace RAW where it is there" },                                       \
        OPTION_ROW_JSON(struct generate_values), OPTION_ROW_QUIET(struct generate_values), \
        OPTION_ROW_END

static const struct option_spec SKEW_OPTIONS[] = { COMMON_ROWS };

static const struct option_spec SBM_OPTIONS[] = {
    { .name = "inside",
      .field = "\"inside\"",
      .kind = OPTION_REAL,
      .offset = AT(inside),
      .metavar = "SHARE",
      .fallback = "0.8",
      .max = 1,
      .help = "share of edges inside blocks" },
    COMMON_ROWS,
};

#define QUADRANT(letter, position, value)                                                       \
    {                                                                                           \
        .name = letter, .kind = OPTION_REAL, .offset = AT(quadrants[position]), .metavar = "P", \
        .fallback = value, .max = 1, .help = "probability of quadrant " letter                  \
    }

static const struct option_spec RMAT_OPTIONS[] = {
    QUADRANT("a", 0, "0.57"),
    QUADRANT("b", 1, "0.19"),
    QUADRANT("c", 2, "0.19"),
    QUADRANT("d", 3, "0.05"),
    COMMON_ROWS,
};

static int generate_start(const void *arg, struct tr_task **out, struct tr_error *error)
{
    return tr_generate_start(arg, out, error);
}

static int generate_make(const struct invocation *invocation, const struct generate_values *values,
                         enum tr_generate_kind kind)
{
    struct tr_generate_options options;
    tr_generate_options_init(&options);
    options.kind = kind;
    options.out = values->out;
    options.replace = values->replace;
    options.num_nodes = values->nodes;
    options.num_edges = values->edges;
    options.num_features = (uint32_t)values->features;
    options.num_classes = (uint32_t)values->classes;
    options.seed = values->seed;
    options.signal = values->signal;
    options.inside = values->inside;
    memcpy(options.quadrants, values->quadrants, sizeof options.quadrants);
    return raw_report_make(invocation, &(struct raw_report){ .start = generate_start,
                                                             .options = &options,
                                                             .out = values->out,
                                                             .quiet = values->quiet,
                                                             .json = values->json });
}

static int run_skew(const struct invocation *invocation, const void *values)
{
    return generate_make(invocation, values, TR_GENERATE_SKEW);
}

static int run_sbm(const struct invocation *invocation, const void *values)
{
    return generate_make(invocation, values, TR_GENERATE_SBM);
}

static int run_rmat(const struct invocation *invocation, const void *values)
{
    return generate_make(invocation, values, TR_GENERATE_RMAT);
}

static const char *const SKEW_EXAMPLES[] = {
    "troupe generate skew --nodes 2449029 --edges 123718280 --features 100 --out big",
    NULL,
};
static const char *const SBM_EXAMPLES[] = {
    "troupe generate sbm --nodes 10k --edges 100k --classes 4 --out blocks",
    NULL,
};
static const char *const RMAT_EXAMPLES[] = {
    "troupe generate rmat --nodes 1M --edges 16M --out rmat",
    NULL,
};

static const struct command KINDS[] = {
    { .name = "skew",
      .summary = "Degrees as skewed as those of co-purchases",
      .operands = "",
      .options = SKEW_OPTIONS,
      .values_size = sizeof(struct generate_values),
      .examples = SKEW_EXAMPLES,
      .run = run_skew },
    { .name = "rmat",
      .summary = "A recursive matrix (R-MAT)",
      .operands = "",
      .options = RMAT_OPTIONS,
      .values_size = sizeof(struct generate_values),
      .examples = RMAT_EXAMPLES,
      .run = run_rmat },
    { .name = "sbm",
      .summary = "A stochastic block model, whose blocks are the labels",
      .operands = "",
      .options = SBM_OPTIONS,
      .values_size = sizeof(struct generate_values),
      .examples = SBM_EXAMPLES,
      .run = run_sbm },
    { .name = NULL },
};

const struct command command_generate = {
    .name = "generate",
    .summary = "Make a synthetic raw graph",
    .kinds = KINDS,
};
