/* SPDX-License-Identifier: Apache-2.0 */
#include "model/block_weights.h"

#include <inttypes.h>

#include <troupe/sample.h>

#include "model/edge_weights.h"
#include "model/features.h"

/* The rows of weights that came with a layer's block, or NULL. */
static const struct batch_rows *find_weights(const struct mini_batch *batch, uint32_t layer)
{
    for (uint32_t t = 0; t < batch->num_tables; t++) {
        const struct batch_table *table = &batch->tables[t];
        if (table->of == TR_OF_EDGES && table->type == 0 && table->layer == layer)
            return &table->rows;
    }
    return NULL;
}

static int reserve_copy(struct propagation *prop, uint32_t num_edges, struct error *error)
{
    if (storage_reserve(&prop->converted, num_edges, sizeof(float)) == 0)
        return 0;
    return error_set(error, TR_ENOMEM, "model: no memory for the weights of %u edges", num_edges);
}

static int check_weights(const struct block_edges *edges, const float *weights, struct error *error)
{
    for (uint32_t e = 0; e < edges->num_edges; e++) {
        if (edge_weight_is_valid(weights[e]))
            continue;
        return error_set(error, TR_ERANGE,
                         "the edge with the global ID %" PRIu64 " weighs %g; options.edge_weight "
                         "takes weights from 0 to %g",
                         edges->edge_ids == NULL ? e : edges->edge_ids[e], (double)weights[e],
                         (double)EDGE_WEIGHT_MAX);
    }
    return 0;
}

/* The weights of the batch where they are float32, else a converted copy. */
static int read_weights(struct propagation *prop, const struct mini_batch *batch, uint32_t layer,
                        struct error *error)
{
    const struct block_edges *edges = &batch->blocks[layer].edges[0];
    const struct batch_rows *rows = find_weights(batch, layer);
    if (rows == NULL || rows->width != 1 || rows->num_rows < edges->num_edges ||
        rows->row_bytes != tr_dtype_size(rows->dtype) || rows->rows == NULL)
        return error_set(error, TR_EMISMATCH,
                         "batch: weights of %u of %u edges in layer %u; fetch a table of one "
                         "number an edge with the batch",
                         rows == NULL ? 0 : rows->num_rows, edges->num_edges, layer);
    prop->weights = rows->rows;
    if (rows->dtype != TR_F32) {
        int rv = reserve_copy(prop, edges->num_edges, error);
        if (rv != 0)
            return rv;
        features_convert(rows->dtype, rows->rows, edges->num_edges, prop->converted.data);
        prop->weights = prop->converted.data;
    }
    return check_weights(edges, prop->weights, error);
}

int block_weights_take(struct propagation *prop, const struct mini_batch *batch, uint32_t layer,
                       bool weighed, struct error *error)
{
    const struct block_edges *edges = &batch->blocks[layer].edges[0];
    prop->weights = edges->edge_weights;
    if (edges->num_edges == 0 || !weighed)
        return 0;
    int rv = read_weights(prop, batch, layer, error);
    if (rv != 0 || edges->edge_weights == NULL)
        return rv;
    rv = reserve_copy(prop, edges->num_edges, error);
    if (rv != 0)
        return rv;
    float *products = prop->converted.data;
    for (uint32_t e = 0; e < edges->num_edges; e++)
        products[e] = prop->weights[e] * edges->edge_weights[e];
    prop->weights = products;
    return 0;
}
