/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How alike neighbours are, as far as training may know.
 *
 * Their labels: over the edges that join two nodes of which both are trained on or validated with.
 * Test nodes are not looked at.
 *
 * The share of edges whose ends have one class says little by itself, since of two classes, or of one
 * that most nodes have, chance alone gives much of it. So 0 is what chance gives, and 1 is every
 * edge: adjusted homophily (Platonov et al., "Characterizing Graph Datasets for Node
 * Classification", NeurIPS 2023).
 *
 * Their features, where too few such edges are known: the correlation of a column over the two ends
 * of edges, and the mean of it over columns, which is 0 by chance (assortativity: Newman, "Mixing
 * patterns in networks", Physical Review E, 2003).
 *
 * Invariant: every process of a job, and every seed of a training, measures the same: the nodes are
 * taken in the order of original IDs, and their neighbours are drawn by one fixed seed.
 */
#include <math.h>
#include <stdlib.h>

#include <troupe/batch.h>
#include <troupe/sample.h>

#include "model/features.h"
#include "model/labels.h"
#include "model/run_job_inside.h"

/* Nodes that are looked at, neighbours drawn for each, and the pieces that nodes of a mask which has
 * more are taken in. */
#define NODES_MOST 4096u
#define NEIGHBOURS 16
#define PIECES 64u
/* With fewer edges the share is mostly chance. */
#define EDGES_LEAST 20u
/* Numbers of features that are read at once: of wide rows fewer nodes. */
#define NUMBERS_MOST ((uint64_t)1 << 24)
/* A correlation by chance has the deviation 1 / sqrt(edges) at most; this many below 0 are none. */
#define DOUBTLESS 3
/* Of the draw: the same for all seeds of trainings. */
#define DRAW_SEED 1u

struct homophily {
    struct run_job *job;
    uint64_t *ids; /* [most] */
    size_t count, most;
    const char *labels, *features; /* that are drawn with the nodes; NULL: none */
    struct tr_batch *batch;
    uint64_t edges, alike;
    uint64_t *classes; /* [classes] ends of the edges with the label */
};

/* Adds nodes of the set while there is room: all of them, or pieces evenly over it. */
static int homophily_add_nodes(struct homophily *h, struct tr_nodes *nodes, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    uint64_t all = tr_nodes_count(nodes);
    size_t room = h->most - h->count;
    uint64_t pieces = all <= room ? 1 : PIECES, each = all <= room ? all : room / PIECES;
    for (uint64_t piece = 0; piece < pieces && each > 0; piece++) {
        int rv = tr_nodes_ids(nodes, piece * (all / pieces), (size_t)each, TR_WAIT_FOREVER,
                              h->ids + h->count, &why);
        if (rv != 0)
            return session_failed(&why, rv, error);
        h->count += (size_t)each;
    }
    return 0;
}

static int homophily_add_validation(struct homophily *h, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_nodes *nodes;
    const char *mask = h->job->config->val_mask;
    if (mask == NULL || mask[0] == '\0')
        return 0;
    int rv = tr_nodes_masked(h->job->graph, 0, mask, TR_WAIT_FOREVER, &nodes, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    rv = homophily_add_nodes(h, nodes, error);
    tr_nodes_close(nodes);
    return rv;
}

static int homophily_draw(struct homophily *h, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_sample_spec *spec = NULL;
    struct tr_sample_options options;
    int rv = tr_sample_spec_create(h->job->graph, 1, &spec, &why);
    if (rv == 0)
        rv = tr_sample_spec_set_fanout(spec, 0, 0, NEIGHBOURS, &why);
    if (rv == 0) {
        tr_sample_options_init(&options);
        options.spec = spec;
        options.seeds = h->ids;
        options.num_seeds = h->count;
        options.seed = DRAW_SEED;
        options.ntype = h->job->ntype;
        options.labels = h->labels;
        options.features = h->features;
        rv = tr_sample(h->job->graph, &options, TR_WAIT_FOREVER, &h->batch, &why);
    }
    tr_sample_spec_destroy(spec);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

/* The seeds come first among the nodes of a batch, so a source below their number is one of them. */
static int homophily_count(struct homophily *h, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_block block = TR_BLOCK_INIT;
    struct tr_rows rows = TR_ROWS_INIT;
    int rv = tr_batch_block(h->batch, 0, 0, &block, &why);
    if (rv == 0)
        rv = tr_batch_labels(h->batch, 0, &rows, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    struct batch_rows labels = { .dtype = rows.dtype,
                                 .num_rows = (uint32_t)rows.num_rows,
                                 .width = rows.width,
                                 .row_bytes = rows.row_bytes,
                                 .rows = (void *)(uintptr_t)rows.rows };
    rv = labels_check(&labels, h->count, &h->job->config->model, error);
    for (uint32_t node = 0; node < h->count && rv == 0; node++)
        for (uint32_t e = block.index[node]; e < block.index[node + 1]; e++) {
            uint32_t neighbour = block.sources[e];
            if (neighbour >= h->count || neighbour == node)
                continue;
            int64_t here = labels_class(&labels, node), there = labels_class(&labels, neighbour);
            if (here == LABEL_NONE || there == LABEL_NONE)
                continue;
            h->edges++;
            h->alike += here == there;
            h->classes[here]++;
            h->classes[there]++;
        }
    return rv;
}

static double homophily_adjust(const struct homophily *h)
{
    double chance = 0, edges = (double)h->edges;
    if (h->edges < EDGES_LEAST)
        return (double)NAN;
    for (uint32_t c = 0; c < h->job->config->model.classes; c++) {
        double share = (double)h->classes[c] / (2 * edges);
        chance += share * share;
    }
    return chance < 1 ? ((double)h->alike / edges - chance) / (1 - chance) : (double)NAN;
}

int run_job_homophily(struct run_job *job, struct tr_nodes *train, double *homophily,
                      struct error *error)
{
    struct homophily h = { .job = job,
                           .most = NODES_MOST,
                           .labels = job->config->labels,
                           .ids = malloc(NODES_MOST * sizeof *h.ids),
                           .classes = calloc(job->config->model.classes, sizeof *h.classes) };
    int rv = h.ids == NULL || h.classes == NULL
                 ? error_set(error, TR_ENOMEM, "no memory to look at the labels of neighbours")
                 : homophily_add_nodes(&h, train, error);
    *homophily = (double)NAN;
    if (rv == 0)
        rv = homophily_add_validation(&h, error);
    if (rv == 0 && h.count > 0) {
        rv = homophily_draw(&h, error);
        if (rv == 0)
            rv = homophily_count(&h, error);
        if (rv == 0)
            *homophily = homophily_adjust(&h);
        tr_batch_release(h.batch);
    }
    free(h.ids);
    free(h.classes);
    return rv;
}

/* Sums over edges of a column at their sources, a, and their destinations, b. */
struct column_ends {
    double a, b, aa, bb, ab;
};

static double ends_correlation(const struct column_ends *ends, double edges)
{
    double a = ends->a / edges, b = ends->b / edges;
    double spread = (ends->aa / edges - a * a) * (ends->bb / edges - b * b);
    return spread > 0 ? (ends->ab / edges - a * b) / sqrt(spread) : (double)NAN;
}

static void read_row(const struct tr_rows *rows, size_t row, float *to)
{
    features_convert(rows->dtype, (const char *)rows->rows + row * rows->row_bytes, rows->width,
                     to);
    for (size_t i = 0; i < rows->width; i++)
        to[i] = isfinite(to[i]) ? to[i] : 0;
}

/* scratch: two rows. */
static void ends_add(struct column_ends *ends, const struct tr_rows *rows,
                     const struct tr_block *block, float *scratch)
{
    float *source = scratch, *destination = scratch + rows->width;
    for (uint32_t node = 0; node < block->num_dst; node++) {
        read_row(rows, node, destination);
        for (uint32_t e = block->index[node]; e < block->index[node + 1]; e++) {
            read_row(rows, block->sources[e], source);
            for (size_t i = 0; i < rows->width; i++) {
                double a = (double)source[i], b = (double)destination[i];
                ends[i].a += a;
                ends[i].b += b;
                ends[i].aa += a * a;
                ends[i].bb += b * b;
                ends[i].ab += a * b;
            }
        }
    }
}

/* *correlation: NaN where no column differs from node to node. */
static int homophily_of_features(struct homophily *h, double *correlation, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_block block = TR_BLOCK_INIT;
    struct tr_rows rows = TR_ROWS_INIT;
    double sum = 0, columns = 0;
    int rv = tr_batch_block(h->batch, 0, 0, &block, &why);
    if (rv == 0)
        rv = tr_batch_features(h->batch, h->job->ntype, &rows, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    struct column_ends *ends = calloc(rows.width + 1, sizeof *ends);
    float *scratch = malloc((2 * rows.width + 1) * sizeof *scratch);
    if (ends == NULL || scratch == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory to look at the features of neighbours");
    else
        ends_add(ends, &rows, &block, scratch);
    h->edges = block.num_edges;
    for (size_t i = 0; i < rows.width && rv == 0 && h->edges > 0; i++) {
        double one = ends_correlation(&ends[i], (double)h->edges);
        sum += isnan(one) ? 0 : one;
        columns += !isnan(one);
    }
    *correlation = columns > 0 ? sum / columns : (double)NAN;
    free(ends);
    free(scratch);
    return rv;
}

static int homophily_add_all(struct homophily *h, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_nodes *nodes;
    int rv = tr_nodes_all(h->job->graph, h->job->ntype, TR_WAIT_FOREVER, &nodes, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    rv = homophily_add_nodes(h, nodes, error);
    tr_nodes_close(nodes);
    return rv;
}

int run_job_neighbours_differ(struct run_job *job, bool *differ, struct error *error)
{
    uint64_t width = job->config->model.inputs;
    uint64_t most = width == 0 ? 0 : NUMBERS_MOST / (width * (NEIGHBOURS + 1));
    struct homophily h = { .job = job,
                           .most = most < NODES_MOST ? (size_t)most : NODES_MOST,
                           .features = job->config->features };
    double correlation = (double)NAN;
    *differ = false;
    if (h.most < PIECES)
        return 0;
    h.ids = malloc(h.most * sizeof *h.ids);
    int rv = h.ids == NULL
                 ? error_set(error, TR_ENOMEM, "no memory to look at the features of neighbours")
                 : homophily_add_all(&h, error);
    if (rv == 0 && h.count > 0) {
        rv = homophily_draw(&h, error);
        if (rv == 0)
            rv = homophily_of_features(&h, &correlation, error);
        tr_batch_release(h.batch);
    }
    *differ = rv == 0 && correlation < -DOUBTLESS / sqrt((double)h.edges + 1);
    free(h.ids);
    return rv;
}
