/* SPDX-License-Identifier: Apache-2.0 */
#include "model/batch_view.h"

#include <stdbool.h>
#include <stdlib.h>

#include <troupe/link_prediction.h>
#include <troupe/sample.h>

/* Rows that did not come are none. */
static struct batch_rows show_rows(int rv, const struct tr_rows *rows)
{
    if (rv != 0)
        return (struct batch_rows){ 0 };
    return (struct batch_rows){ .dtype = rows->dtype,
                                .num_rows = (uint32_t)rows->num_rows,
                                .width = rows->width,
                                .row_bytes = rows->row_bytes,
                                .rows = (void *)(uintptr_t)rows->rows };
}

static void show_nodes(struct batch_nodes *nodes, const struct tr_batch *batch, uint32_t ntype)
{
    struct tr_rows features = TR_ROWS_INIT, labels = TR_ROWS_INIT;
    size_t count, originals;
    int has_features = tr_batch_features(batch, ntype, &features, NULL);
    int has_labels = tr_batch_labels(batch, ntype, &labels, NULL);
    *nodes = (struct batch_nodes){
        .ids = tr_batch_nodes(batch, ntype, &count),
        .original_ids = tr_batch_original_ids(batch, ntype, &originals),
        .num_seeds = (uint32_t)tr_batch_num_seeds(batch, ntype),
        .in_degrees = tr_batch_in_degrees(batch, ntype),
        .out_degrees = tr_batch_out_degrees(batch, ntype),
        .features = show_rows(has_features, &features),
        .labels = show_rows(has_labels, &labels),
    };
    nodes->num_nodes = (uint32_t)count;
}

/* The weights that came with each layer's edges. */
static uint32_t show_weights(struct batch_view *view, const struct tr_batch *batch, uint32_t layers,
                             uint32_t number)
{
    uint32_t count = 0;
    for (uint32_t l = 0; number != BATCH_VIEW_NO_TABLE && l < layers; l++) {
        struct tr_rows rows = TR_ROWS_INIT;
        int rv = tr_batch_table(batch, number, l, &rows, NULL);
        view->weights[count++] = (struct batch_table){ .of = TR_OF_EDGES,
                                                       .layer = l,
                                                       .rows = show_rows(rv, &rows) };
    }
    return count;
}

static uint32_t *sources_of(const struct batch_view *view, uint32_t layer)
{
    return view->counts + (size_t)layer * 2 * view->batch.num_ntypes;
}

static uint32_t *destinations_of(const struct batch_view *view, uint32_t layer)
{
    return sources_of(view, layer) + view->batch.num_ntypes;
}

/* The sources of a layer's block: of a type that no edges come from, its destinations alone, which
 * are the sources of the layer above, and of the last one the seeds. */
static void show_layer(struct batch_view *view, const struct tr_batch *batch,
                       const struct model_types *types, uint32_t l)
{
    uint32_t *sources = sources_of(view, l), *destinations = destinations_of(view, l);
    bool last = l + 1 == view->batch.num_layers;
    for (uint32_t t = 0; t < view->batch.num_ntypes; t++)
        sources[t] = destinations[t] = last ? view->nodes[t].num_seeds : sources_of(view, l + 1)[t];
    for (uint32_t e = 0; e < view->batch.num_etypes; e++) {
        struct tr_block block = TR_BLOCK_INIT;
        struct block_edges *edges = &view->edges[(size_t)l * view->batch.num_etypes + e];
        (void)tr_batch_block(batch, l, e, &block, NULL); /* a graph without edges has none */
        *edges = (struct block_edges){ .num_dst = block.num_dst,
                                       .num_edges = block.num_edges,
                                       .index = block.index,
                                       .sources = block.sources,
                                       .edge_ids = block.edge_ids,
                                       .edge_weights = block.edge_weights };
        sources[types == NULL ? 0 : types->etypes[e].src] = block.num_src;
    }
    view->blocks[l] = (struct block){ sources, destinations,
                                      view->edges + (size_t)l * view->batch.num_etypes };
}

/* A loader of edges gives pairs; one of nodes has none. Models learn from edges of one type. Returns
 * how many types there are. */
static uint32_t show_pairs(const struct tr_batch *batch, struct batch_pairs *out)
{
    struct tr_pairs pairs = TR_PAIRS_INIT;
    struct tr_negatives negatives = TR_NEGATIVES_INIT;
    if (tr_batch_pairs(batch, &pairs, NULL) != 0)
        return 0;
    bool has_negatives = tr_batch_negatives(batch, &negatives, NULL) == 0;
    *out = (struct batch_pairs){
        .etype = pairs.etype,
        .count = pairs.count,
        .sources = pairs.sources,
        .destinations = pairs.destinations,
        .edge_ids = pairs.edge_ids,
        .negatives_rule = { .each = has_negatives ? negatives.num_negatives : 0,
                            .of = (uint32_t)negatives.negatives,
                            .ends = (uint32_t)negatives.negative_ends },
        .count_negatives = has_negatives ? negatives.count : 0,
        .count_negative_sources = has_negatives ? negatives.count_sources : 0,
        .negatives = negatives.destinations,
        .negative_sources = negatives.sources,
    };
    return 1;
}

static int batch_view_alloc(struct batch_view *view)
{
    const struct mini_batch *batch = &view->batch;
    size_t layers = batch->num_layers;
    view->nodes = calloc((size_t)batch->num_ntypes + 1, sizeof *view->nodes);
    view->counts = calloc(2 * layers * batch->num_ntypes + 1, sizeof *view->counts);
    view->edges = calloc(layers * batch->num_etypes + 1, sizeof *view->edges);
    return view->nodes != NULL && view->counts != NULL && view->edges != NULL ? 0 : TR_ENOMEM;
}

int batch_view_make(struct batch_view *view, const struct tr_batch *batch,
                    const struct model_types *types, uint32_t weights,
                    const struct mini_batch **out, struct error *error)
{
    uint32_t layers = tr_batch_num_layers(batch);
    layers = layers < BATCH_LAYERS_MAX ? layers : BATCH_LAYERS_MAX;
    const struct mini_batch shape = { .num_ntypes = types == NULL ? 1 : types->num_ntypes,
                                      .num_etypes = types == NULL ? 1 : types->num_etypes,
                                      .num_layers = layers };
    if (view->nodes == NULL || view->batch.num_ntypes != shape.num_ntypes ||
        view->batch.num_etypes != shape.num_etypes || view->batch.num_layers != layers) {
        batch_view_fini(view);
        view->batch = shape;
        if (batch_view_alloc(view) != 0) {
            batch_view_fini(view);
            return error_set(error, TR_ENOMEM, "no memory for a view of a batch");
        }
    }
    for (uint32_t t = 0; t < shape.num_ntypes; t++)
        show_nodes(&view->nodes[t], batch, t);
    for (uint32_t l = layers; l-- > 0;)
        show_layer(view, batch, types, l);
    view->batch = (struct mini_batch){
        .epoch = tr_batch_epoch(batch),
        .rank = tr_batch_rank(batch),
        .index = tr_batch_index(batch),
        .step_seeds = tr_batch_step_seeds(batch),
        .num_ntypes = shape.num_ntypes,
        .num_etypes = shape.num_etypes,
        .num_layers = layers,
        .blocks = view->blocks,
        .nodes = view->nodes,
        .num_tables = show_weights(view, batch, layers, weights),
        .tables = view->weights,
        .num_pair_types = show_pairs(batch, &view->pairs),
        .pairs = &view->pairs,
    };
    *out = &view->batch;
    return 0;
}

void batch_view_fini(struct batch_view *view)
{
    free(view->nodes);
    free(view->counts);
    free(view->edges);
    *view = (struct batch_view){ 0 };
}
