/* SPDX-License-Identifier: Apache-2.0 */
#include "model/batch_view.h"

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

static void show_nodes(struct batch_nodes *nodes, const struct tr_batch *batch)
{
    struct tr_rows features = TR_ROWS_INIT, labels = TR_ROWS_INIT;
    size_t count, originals;
    int has_features = tr_batch_features(batch, 0, &features, NULL);
    int has_labels = tr_batch_labels(batch, 0, &labels, NULL);
    *nodes = (struct batch_nodes){
        .ids = tr_batch_nodes(batch, 0, &count),
        .original_ids = tr_batch_original_ids(batch, 0, &originals),
        .num_seeds = (uint32_t)tr_batch_num_seeds(batch, 0),
        .in_degrees = tr_batch_in_degrees(batch, 0),
        .out_degrees = tr_batch_out_degrees(batch, 0),
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

const struct mini_batch *batch_view_make(struct batch_view *view, const struct tr_batch *batch,
                                         uint32_t weights)
{
    uint32_t layers = tr_batch_num_layers(batch);
    layers = layers < BATCH_LAYERS_MAX ? layers : BATCH_LAYERS_MAX;
    show_nodes(&view->nodes, batch);
    for (uint32_t l = 0; l < layers; l++) {
        struct tr_block block = TR_BLOCK_INIT;
        (void)tr_batch_block(batch, l, 0, &block, NULL); /* a graph without edges has none */
        view->num_src[l] = block.num_src;
        view->num_dst[l] = block.num_dst;
        view->edges[l] = (struct block_edges){ .num_dst = block.num_dst,
                                               .num_edges = block.num_edges,
                                               .index = block.index,
                                               .sources = block.sources,
                                               .edge_ids = block.edge_ids };
        view->blocks[l] = (struct block){ &view->num_src[l], &view->num_dst[l], &view->edges[l] };
    }
    view->batch = (struct mini_batch){
        .epoch = tr_batch_epoch(batch),
        .rank = tr_batch_rank(batch),
        .index = tr_batch_index(batch),
        .step_seeds = tr_batch_step_seeds(batch),
        .num_ntypes = tr_batch_num_ntypes(batch),
        .num_etypes = tr_batch_num_etypes(batch),
        .num_layers = layers,
        .blocks = view->blocks,
        .nodes = &view->nodes,
        .num_tables = show_weights(view, batch, layers, weights),
        .tables = view->weights,
    };
    return &view->batch;
}
