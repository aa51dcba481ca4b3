/* SPDX-License-Identifier: Apache-2.0 */
#include "model/exact_layer.h"

#include <string.h>

#include "model/batch_norm.h"
#include "model/gcn.h"
#include "model/layer_norm.h"
#include "model/matmul.h"
#include "model/sage.h"

/* Rows on their way while one is added, and how much of each; see kernels.c. */
#define AHEAD 6
#define AHEAD_FLOATS 256

static bool is_gcn(const struct exact_layer *layer)
{
    return model_configuration(layer->model)->kind == MODEL_GCN;
}

static void prefetch_row(const struct exact_rows *rows, uint32_t original)
{
    const float *row = exact_row(rows, original);
    for (size_t i = 0; i < rows->width && i < AHEAD_FLOATS; i += 16)
        __builtin_prefetch(row + i);
}

/* Of gcn: of the edges into a node or out of it. */
static float node_norm(const struct exact_layer *layer, struct node_place place, bool in)
{
    const struct node_part *nodes = &layer->parts[place.part]->nodes[0];
    if (layer->links != NULL)
        return gcn_norm((in ? layer->links->in_degrees
                            : layer->links->out_degrees)[nodes->original_ids[place.row]]);
    if (layer->weights == NULL)
        return gcn_norm(in ? nodes->in_degrees[place.row] : nodes->out_degrees[place.row]);
    const struct weighted_norms *norms = model_norms(layer->model);
    return (in ? norms->in : norms->out)[nodes->global_begin + place.row];
}

static float source_scale(const struct exact_layer *layer, uint32_t original)
{
    if (!is_gcn(layer))
        return 1;
    return node_norm(layer, layer->map->places[original], false);
}

/* Adds the weighted rows of the sources, and returns the sum of the weights; edges that do not count
 * weigh 0. */
static double add_sources(const struct exact_layer *layer, const struct exact_rows *rows,
                          uint32_t original, struct node_place place, float *aggregate)
{
    bool skip_self = is_gcn(layer);
    const struct csc *csc = &layer->parts[place.part]->edges[0].csc;
    const struct weight_rows *weights = layer->weights == NULL ? NULL : &layer->weights[place.part];
    const struct kernels *kernels = model_kernels(layer->model);
    uint64_t end = csc->index[place.row + 1];
    double sum = 0;
    for (uint64_t e = csc->index[place.row]; e < end; e++) {
        if (e + AHEAD < csc->num_edges)
            prefetch_row(rows, node_map_source(layer->map, csc, csc->indices[e + AHEAD]));
        uint32_t source = node_map_source(layer->map, csc, csc->indices[e]);
        float weight = weights == NULL ? 1.0f : weight_rows_at(weights, e);
        if (layer->links != NULL && !link_split_joins(layer->links, source, original))
            continue;
        if (layer->drawn != NULL && !drawn_edges_pass(&layer->drawn[place.part], e))
            continue;
        sum += (double)weight;
        if (skip_self && source == original)
            continue;
        kernels->axpy(aggregate, exact_row(rows, source), weight * source_scale(layer, source),
                      rows->width);
    }
    return sum;
}

static void aggregate_row(const struct exact_layer *layer, const struct exact_rows *rows,
                          uint32_t original, float *aggregate)
{
    struct node_place place = layer->map->places[original];
    const struct kernels *kernels = model_kernels(layer->model);
    memset(aggregate, 0, rows->width * sizeof *aggregate);
    double sum = add_sources(layer, rows, original, place, aggregate);
    if (!is_gcn(layer)) {
        /* Of edges that weigh 1 each the sum is their number, which float64 has exactly. */
        kernels->scale(aggregate,
                       layer->weights != NULL ? edge_weights_scale(sum) : sage_scale((uint64_t)sum),
                       rows->width);
        return;
    }
    float norm = node_norm(layer, place, true);
    kernels->scale(aggregate, norm, rows->width);
    kernels->axpy(aggregate, exact_row(rows, original), norm * source_scale(layer, original),
                  rows->width);
}

static void finish_row(const struct exact_layer *layer, uint32_t original)
{
    struct dropout none = dropout_make(0, 0);
    const struct layer_params *p = layer->params;
    const struct kernels *kernels = model_kernels(layer->model);
    const float *weights = model_weights(layer->model);
    const float *bias = weights + p->bias;
    float *out = tensor_row(layer->out, original);
    if (p->residual)
        kernels->axpy(out, exact_row(&layer->in, original), 1.0f, p->out);
    if (p->normed) {
        (void)layer_norm(out, p->out);
        layer_norm_scale(out, weights + p->scale, p->out);
    }
    if (p->batch_normed)
        batch_norm_infer(out, weights + p->running, weights + p->scale, p->out);
    if (layer->last)
        kernels->axpy(out, bias, 1.0f, p->out);
    else
        kernels->activate(out, bias, p->out, &none, original);
}

static size_t block_rows(const struct exact_layer *layer, size_t begin)
{
    size_t rest = layer->map->num_nodes - begin;
    return rest < MATMUL_ROWS ? rest : MATMUL_ROWS;
}

/* The input rows of a block side by side, where they lie or copied to memory. */
static const float *own_rows(const struct exact_layer *layer, size_t begin, size_t count,
                             float *memory)
{
    size_t width = layer->in.width;
    if (layer->in.dense != NULL)
        return layer->in.dense + begin * width;
    for (size_t i = 0; width > 0 && i < count; i++)
        memcpy(memory + i * width, exact_row(&layer->in, (uint32_t)(begin + i)),
               width * sizeof *memory);
    return memory;
}

static void aggregate_first(void *arg, size_t block, size_t worker)
{
    const struct exact_layer *layer = arg;
    if (cancel_asked(layer->cancel))
        return;
    const struct layer_params *p = layer->params;
    const float *weights = model_weights(layer->model);
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    float *aggregates = layer->scratch[worker].data;
    for (size_t i = 0; p->in > 0 && i < count; i++)
        aggregate_row(layer, &layer->in, (uint32_t)(begin + i), aggregates + i * p->in);
    float *out = tensor_row(layer->out, begin);
    matmul_forward(count, p->in, p->out, aggregates, weights + p->terms[0].weight, 0, out);
    if (p->has_self)
        matmul_forward(count, p->in, p->out,
                       own_rows(layer, begin, count, aggregates + MATMUL_ROWS * p->in),
                       weights + p->self, 1, out);
    for (size_t i = 0; i < count; i++)
        finish_row(layer, (uint32_t)(begin + i));
}

static void sparse_product(const struct exact_layer *layer, size_t row, const float *transposed,
                           float *product)
{
    const struct kernels *kernels = model_kernels(layer->model);
    const struct sparse_rows *in = layer->in.sparse;
    size_t width = layer->params->out;
    memset(product, 0, width * sizeof *product);
    for (uint64_t e = in->index[row]; e < in->index[row + 1]; e++)
        kernels->axpy(product, transposed + in->columns[e] * width, in->values[e], width);
}

static void multiply_sparse(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct exact_layer *layer = arg;
    if (cancel_asked(layer->cancel))
        return;
    const struct layer_params *p = layer->params;
    size_t begin = block * MATMUL_ROWS, end = begin + block_rows(layer, begin);
    for (size_t row = begin; row < end; row++) {
        sparse_product(layer, row, layer->transposed->data, tensor_row(layer->products, row));
        if (p->has_self)
            sparse_product(layer, row, tensor_row(layer->transposed, 1),
                           tensor_row(layer->out, row));
    }
}

static void multiply_dense(void *arg, size_t block, size_t worker)
{
    const struct exact_layer *layer = arg;
    if (cancel_asked(layer->cancel))
        return;
    const struct layer_params *p = layer->params;
    const float *weights = model_weights(layer->model);
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    const float *rows = own_rows(layer, begin, count, layer->scratch[worker].data);
    matmul_forward(count, p->in, p->out, rows, weights + p->terms[0].weight, 0,
                   tensor_row(layer->products, begin));
    if (p->has_self)
        matmul_forward(count, p->in, p->out, rows, weights + p->self, 0,
                       tensor_row(layer->out, begin));
}

/* out holds the own products where there are any; the aggregate of products joins them. */
static void aggregate_products(void *arg, size_t block, size_t worker)
{
    const struct exact_layer *layer = arg;
    if (cancel_asked(layer->cancel))
        return;
    const struct exact_rows products = { .width = layer->params->out,
                                         .dense = layer->products->data };
    const struct kernels *kernels = model_kernels(layer->model);
    float *aggregate = layer->scratch[worker].data;
    size_t begin = block * MATMUL_ROWS, end = begin + block_rows(layer, begin);
    for (size_t row = begin; row < end; row++) {
        float *out = tensor_row(layer->out, row);
        if (layer->params->has_self) {
            aggregate_row(layer, &products, (uint32_t)row, aggregate);
            kernels->axpy(out, aggregate, 1.0f, products.width);
        } else {
            aggregate_row(layer, &products, (uint32_t)row, out);
        }
        finish_row(layer, (uint32_t)row);
    }
}

static void exact_layer_transpose(const float *weight, size_t in, size_t out, float *to)
{
    for (size_t o = 0; o < out; o++) {
        for (size_t i = 0; i < in; i++)
            to[i * out + o] = weight[o * in + i];
    }
}

static int transpose_weights(const struct exact_layer *layer)
{
    const struct layer_params *p = layer->params;
    const float *weights = model_weights(layer->model);
    size_t count;
    if (__builtin_mul_overflow((size_t)p->in, (size_t)p->out, &count))
        return TR_ETOOBIG;
    int rc = tensor_resize(layer->transposed, 2, count);
    if (rc != 0)
        return rc;
    exact_layer_transpose(weights + p->terms[0].weight, p->in, p->out, layer->transposed->data);
    if (p->has_self)
        exact_layer_transpose(weights + p->self, p->in, p->out, tensor_row(layer->transposed, 1));
    return 0;
}

/* Scratch: a block of aggregates and one of own rows, as far as this layer needs them. */
static int exact_layer_reserve(const struct exact_layer *layer)
{
    const struct layer_params *p = layer->params;
    bool multiplies_first = exact_multiplies_first(p);
    bool copies = layer->in.dense == NULL && layer->in.sparse == NULL;
    size_t blocks = (size_t)copies + (size_t)!multiplies_first;
    int rc = tensor_resize(layer->out, layer->map->num_nodes, p->out);
    if (rc == 0 && multiplies_first)
        rc = tensor_resize(layer->products, layer->map->num_nodes, p->out);
    for (size_t w = 0; rc == 0 && w < model_parallel(layer->model)->workers; w++)
        rc = tensor_resize(&layer->scratch[w], 1, blocks * MATMUL_ROWS * p->in + p->out);
    return rc;
}

/* A cancelled pass skips the rest of its blocks. */
static int run_pass(struct exact_layer *layer, void (*body)(void *arg, size_t block, size_t worker))
{
    parallel_for(model_parallel(layer->model), matmul_blocks(layer->map->num_nodes), body, layer);
    return cancel_asked(layer->cancel) ? TR_ECANCELED : 0;
}

int exact_layer_run(struct exact_layer *layer)
{
    int rc = exact_layer_reserve(layer);
    if (rc == 0 && layer->in.sparse != NULL)
        rc = transpose_weights(layer);
    if (rc != 0)
        return rc;
    if (!exact_multiplies_first(layer->params))
        return run_pass(layer, aggregate_first);
    /* All products are made before the first is aggregated: the sources of a row lie in any
     * block. */
    rc = run_pass(layer, layer->in.sparse != NULL ? multiply_sparse : multiply_dense);
    return rc == 0 ? run_pass(layer, aggregate_products) : rc;
}
