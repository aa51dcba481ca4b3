/* SPDX-License-Identifier: Apache-2.0 */
#include "model/edge_weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/node_map.h"

/* Rows between two looks at whether the task is cancelled. */
#define ROWS_AT_ONCE 65536u

int edge_weights_find(const struct graph_part *part, const char *name, struct weight_rows *weights,
                      struct error *error)
{
    const struct feature_table *table = edge_part_feature(&part->edges[0], name);
    if (table == NULL)
        return error_set(error, TR_ENOENT, "the edges have no feature '%s' (options.edge_weight)",
                         name);
    if (table->width != 1)
        return error_set(
            error, TR_EMISMATCH,
            "edge feature '%s' has %" PRIu64
            " numbers an edge; options.edge_weight needs a feature with one number an edge",
            name, table->width);
    *weights = (struct weight_rows){ table->dtype, table->rows };
    return 0;
}

static int check_canceled(const struct cancel *cancel, uint64_t row, struct error *error)
{
    if (row % ROWS_AT_ONCE != 0 || !cancel_asked(cancel))
        return 0;
    return error_set(error, TR_ECANCELED, "interrupted");
}

/* A node by its original ID, where the partition that has it is here. */
static void name_node(const struct graph_part *const *parts, uint32_t num_parts, uint64_t global,
                      char *text, size_t size)
{
    for (uint32_t p = 0; p < num_parts; p++) {
        const struct node_part *nodes = parts[p] == NULL ? NULL : &parts[p]->nodes[0];
        if (nodes == NULL || global < nodes->global_begin ||
            global - nodes->global_begin >= nodes->num_nodes)
            continue;
        snprintf(text, size, "node %" PRIu64, nodes->original_ids[global - nodes->global_begin]);
        return;
    }
    snprintf(text, size, "the node with the global ID %" PRIu64, global);
}

static int refuse_weight(const struct graph_part *const *parts, uint32_t num_parts, uint32_t part,
                         uint64_t row, uint64_t edge, const char *name, float weight,
                         struct error *error)
{
    const struct csc *csc = &parts[part]->edges[0].csc;
    uint32_t column = csc->indices[edge];
    char source[64], destination[64];
    name_node(parts, num_parts, csc->column_global == NULL ? column : csc->column_global[column],
              source, sizeof source);
    name_node(parts, num_parts, parts[part]->nodes[0].global_begin + row, destination,
              sizeof destination);
    return error_set(error, TR_ERANGE,
                     "edge feature '%s': the edge from %s to %s weighs %g; options.edge_weight "
                     "takes weights from 0 to %g",
                     name, source, destination, (double)weight, (double)EDGE_WEIGHT_MAX);
}

int edge_weights_check(const struct graph_part *const *parts, uint32_t num_parts, const char *name,
                       const struct cancel *cancel, struct error *error)
{
    for (uint32_t p = 0; p < num_parts; p++) {
        struct weight_rows weights;
        if (parts[p] == NULL)
            continue;
        int rv = edge_weights_find(parts[p], name, &weights, error);
        const struct csc *csc = &parts[p]->edges[0].csc;
        for (uint64_t row = 0; rv == 0 && row < csc->num_rows; row++) {
            rv = check_canceled(cancel, row, error);
            for (uint64_t e = csc->index[row]; rv == 0 && e < csc->index[row + 1]; e++) {
                float weight = weight_rows_at(&weights, e);
                if (!edge_weight_is_valid(weight))
                    rv = refuse_weight(parts, num_parts, p, row, e, name, weight, error);
            }
        }
        if (rv != 0)
            return rv;
    }
    return 0;
}

struct weight_totals {
    struct node_map map;
    struct weight_rows *weights; /* [num_parts] */
    double *in, *out;            /* [num_nodes], by global ID */
};

/* Destinations in the order of their original IDs, whatever partition has them. */
static int add_weights(struct weight_totals *sums, const struct graph_part *const *parts,
                       const struct cancel *cancel, struct error *error)
{
    for (uint32_t v = 0; v < sums->map.num_nodes; v++) {
        int rv = check_canceled(cancel, v, error);
        if (rv != 0)
            return rv;
        struct node_place place = sums->map.places[v];
        const struct csc *csc = &parts[place.part]->edges[0].csc;
        const struct weight_rows *weights = &sums->weights[place.part];
        double in = 0;
        for (uint64_t e = csc->index[place.row]; e < csc->index[place.row + 1]; e++) {
            double weight = (double)weight_rows_at(weights, e);
            uint32_t column = csc->indices[e];
            in += weight;
            sums->out[csc->column_global == NULL ? column : csc->column_global[column]] += weight;
        }
        sums->in[parts[place.part]->nodes[0].global_begin + place.row] = in;
    }
    return 0;
}

/* The node's self-loop weighs 1. */
static float norm_of(double sum)
{
    return 1.0f / sqrtf((float)(sum + 1));
}

static int sum_weights(struct weight_totals *sums, struct weighted_norms *norms,
                       const struct graph_part *const *parts, uint32_t num_parts, const char *name,
                       const struct cancel *cancel, struct error *error)
{
    size_t nodes = sums->map.num_nodes;
    sums->weights = calloc((size_t)num_parts + 1, sizeof *sums->weights);
    sums->in = calloc(nodes + 1, sizeof *sums->in);
    sums->out = calloc(nodes + 1, sizeof *sums->out);
    norms->in = malloc((nodes + 1) * sizeof *norms->in);
    norms->out = malloc((nodes + 1) * sizeof *norms->out);
    if (sums->weights == NULL || sums->in == NULL || sums->out == NULL || norms->in == NULL ||
        norms->out == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the weighted degrees of %zu nodes",
                         nodes);
    int rv = 0;
    for (uint32_t p = 0; rv == 0 && p < num_parts; p++)
        rv = edge_weights_find(parts[p], name, &sums->weights[p], error);
    if (rv == 0)
        rv = add_weights(sums, parts, cancel, error);
    for (size_t v = 0; rv == 0 && v < nodes; v++) {
        norms->in[v] = norm_of(sums->in[v]);
        norms->out[v] = norm_of(sums->out[v]);
    }
    norms->num_nodes = nodes;
    return rv;
}

int weighted_norms_init(struct weighted_norms *norms, const struct graph_part *const *parts,
                        uint32_t num_parts, const char *name, const struct cancel *cancel,
                        struct error *error)
{
    struct weight_totals sums = { .weights = NULL };
    *norms = (struct weighted_norms){ 0 };
    /* The weights are checked before they are added up, so that the message names an edge. */
    int rv = edge_weights_check(parts, num_parts, name, cancel, error);
    if (rv == 0)
        rv = node_map_init(&sums.map, parts, num_parts, 0, error);
    if (rv != 0)
        return rv;
    rv = sum_weights(&sums, norms, parts, num_parts, name, cancel, error);
    free(sums.in);
    free(sums.out);
    free(sums.weights);
    node_map_fini(&sums.map);
    if (rv != 0)
        weighted_norms_fini(norms);
    return rv;
}

void weighted_norms_fini(struct weighted_norms *norms)
{
    free(norms->in);
    free(norms->out);
    *norms = (struct weighted_norms){ 0 };
}
