/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/prepare/feature.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "partition/prepare/feature_edges.h"
#include "partition/raw/raw_amend.h"

/* Rows at a time fill about so many bytes. */
#define FEATURE_BYTES_AT_ONCE ((size_t)1 << 20)
/* Draws of generated graphs have the same purpose and hop 0. */
#define FEATURE_HOP 1u
/* sqrt(12): the variance of a uniform number from an interval of length 1 is a twelfth. */
#define UNIFORM_SCALE 3.4641016151377544f

/* ln 2 in two parts, of which the first has so few bits that its products with exponents are
 * exact. */
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW 0x1.a39ef35793c76p-33

double feature_log(double x)
{
    int exponent;
    /* 1 + x = m * 2^exponent with m from 1/sqrt(2) to sqrt(2); frexp is exact. */
    double m = frexp(1 + x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    /* ln m = 2 artanh s, whose series ends where s is 0.172 at most: s^26 is below 2^-65. */
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 25; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * LN2_HIGH + (exponent * LN2_LOW + 2 * s * sum);
}

struct feature_maker {
    const struct feature_options *options;
    struct feature_report *report;
    struct raw_amend *amend;
    struct raw_graph *graph;
    const char *name;
    enum tr_dtype dtype;
    uint64_t num_nodes;
    uint32_t *in, *out; /* degrees */
    double *ranks;      /* of all types, one after the other */
    uint64_t first;     /* where this type's begin */
    uint64_t num_ranks;
    uint64_t random_base;
};

static int maker_check(const struct feature_maker *maker, struct error *error)
{
    const struct feature_options *options = maker->options;
    if (options->kind == FEATURE_RANDOM &&
        (options->width == 0 || options->width > FEATURE_WIDTH_MAX))
        return error_set(error, TR_EINVAL, "width %u: a random feature has 1 to %u columns",
                         options->width, FEATURE_WIDTH_MAX);
    if (options->kind == FEATURE_ONE_HOT && maker->num_nodes > FEATURE_ONE_HOT_MAX)
        return error_set(error, TR_ETOOBIG,
                         "node type '%s' has %" PRIu64
                         " nodes; one column a node is made for %u at most: make a random feature "
                         "instead",
                         maker->graph->types.ntypes[maker->report->ntype], maker->num_nodes,
                         FEATURE_ONE_HOT_MAX);
    if (maker->num_nodes == 0)
        return error_set(error, TR_EINVAL, "node type '%s' has no nodes",
                         maker->graph->types.ntypes[maker->report->ntype]);
    return 0;
}

static uint64_t columns_of(const struct feature_maker *maker)
{
    switch (maker->options->kind) {
    case FEATURE_DEGREE:
        return 2;
    case FEATURE_ONE_HOT:
        return maker->num_nodes;
    case FEATURE_RANDOM:
        return maker->options->width;
    case FEATURE_PAGERANK:
        return 1;
    }
    return 0;
}

/* What has to be known before the first row. */
static int maker_prepare(struct feature_maker *maker, struct error *error)
{
    struct raw_graph *graph = maker->graph;
    const struct feature_options *options = maker->options;
    const struct draw_key key = { .seed = options->seed,
                                  .purpose = KEY_GENERATE,
                                  .hop = FEATURE_HOP,
                                  .type = maker->report->ntype };
    switch (options->kind) {
    case FEATURE_DEGREE:
        return feature_degrees(graph, maker->report->ntype, options, &maker->in, &maker->out,
                               error);
    case FEATURE_PAGERANK:
        for (uint32_t t = 0; t < graph->types.num_ntypes; t++) {
            maker->first += t < maker->report->ntype ? graph->num_nodes[t] : 0;
            maker->num_ranks += graph->num_nodes[t];
        }
        return feature_pagerank(graph, options, &maker->ranks, &maker->report->rounds, error);
    case FEATURE_RANDOM:
        maker->random_base = key_base(&key);
        return 0;
    case FEATURE_ONE_HOT:
        return 0;
    }
    return 0;
}

static void fill_row(const struct feature_maker *maker, uint64_t node, void *row)
{
    float *reals = row;
    uint64_t drawn;
    switch (maker->options->kind) {
    case FEATURE_DEGREE:
        reals[0] = (float)feature_log(maker->in[node]);
        reals[1] = (float)feature_log(maker->out[node]);
        return;
    case FEATURE_PAGERANK:
        reals[0] = (float)feature_log((double)maker->num_ranks * maker->ranks[maker->first + node]);
        return;
    case FEATURE_ONE_HOT:
        memset(row, 0, (size_t)maker->num_nodes);
        ((uint8_t *)row)[node] = 1;
        return;
    case FEATURE_RANDOM:
        drawn = key_node(maker->random_base, node);
        for (uint32_t i = 0; i < maker->options->width; i++)
            reals[i] = (key_float(drawn, i) - 0.5f) * UNIFORM_SCALE;
        return;
    }
}

static int write_rows(struct feature_maker *maker, uint32_t table, struct error *error)
{
    const struct feature_options *options = maker->options;
    size_t row_bytes = (size_t)columns_of(maker) * tr_dtype_size(maker->dtype);
    uint64_t at_once = FEATURE_BYTES_AT_ONCE / row_bytes + 1;
    uint8_t *rows = malloc(at_once * row_bytes);
    int rv = rows == NULL
                 ? error_set(error, TR_ENOMEM, "no memory for rows of %zu bytes", row_bytes)
                 : 0;
    for (uint64_t done = 0; rv == 0 && done < maker->num_nodes;) {
        uint64_t left = maker->num_nodes - done, count = left < at_once ? left : at_once;
        for (uint64_t i = 0; i < count; i++)
            fill_row(maker, done + i, rows + i * row_bytes);
        rv = raw_amend_rows(maker->amend, table, count, rows, error);
        done += count;
        if (options->progress != NULL)
            options->progress(options->progress_arg, "writing features", "nodes", done,
                              maker->num_nodes);
    }
    free(rows);
    return rv;
}

/* Unlike masks, features may have any name. */
static int offer_name(struct error *error)
{
    if (error != NULL) {
        const struct error taken = *error;
        error_set(error, TR_EEXIST, "%s, or give the new one another \"name\"", taken.text);
    }
    return TR_EEXIST;
}

static int maker_run(struct feature_maker *maker, struct error *error)
{
    const struct feature_options *options = maker->options;
    struct feature_report *report = maker->report;
    uint32_t table;
    struct amend_rows_of of;
    int rv = raw_amend_find_type(maker->amend, false, options->ntype, &of, error);
    if (rv != 0)
        return rv;
    report->ntype = of.type;
    maker->num_nodes = report->num_nodes = maker->graph->num_nodes[report->ntype];
    maker->dtype = options->kind == FEATURE_ONE_HOT ? TR_U8 : TR_F32;
    rv = maker_check(maker, error);
    report->width = columns_of(maker);
    /* The table comes before the passes over the edges: a name that is taken is found at once. */
    if (rv == 0)
        rv = raw_amend_add_table(maker->amend, of, maker->name, options->replace, maker->dtype,
                                 report->width, &table, error);
    if (rv == TR_EEXIST)
        rv = offer_name(error);
    if (rv == 0)
        rv = maker_prepare(maker, error);
    if (rv == 0)
        rv = write_rows(maker, table, error);
    return rv;
}

int feature_add(const char *path, const struct feature_options *options,
                struct feature_report *report, struct error *error)
{
    struct feature_maker maker = { .options = options, .report = report };
    *report = (struct feature_report){ 0 };
    maker.name = options->name != NULL ? options->name : "feat";
    int rv = raw_amend_open(path, options->files, options->cancel, &maker.amend, error);
    if (rv != 0)
        return rv;
    maker.graph = raw_amend_graph(maker.amend);
    rv = maker_run(&maker, error);
    if (rv == 0)
        rv = raw_amend_commit(maker.amend, error);
    else
        raw_amend_abort(maker.amend);
    free(maker.in);
    free(maker.out);
    free(maker.ranks);
    return rv;
}
