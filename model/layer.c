/* SPDX-License-Identifier: Apache-2.0 */
#include "model/layer.h"

#include <stdlib.h>
#include <string.h>

#include "model/attention.h"
#include "model/batch_norm.h"
#include "model/layer_norm.h"
#include "model/matmul.h"

struct layer_job {
    struct layer *layer;
    struct layer_tools *tools;
    const float *out_grads;
    const float *const *rows;
    const float *weights;
    float *grads;
    struct lanes lanes;
};

/* Weights whose partial sums a worker adds up at once. */
#define REDUCE_CHUNK ((size_t)8192)

void layer_fini(struct layer *layer)
{
    for (uint32_t t = 0; layer->params != NULL && t < layer->params->num_terms; t++)
        term_fini(&layer->terms[t]);
    free(layer->readers.terms);
    tensor_fini(&layer->out);
    tensor_fini(&layer->self_grads);
    tensor_fini(&layer->normed);
    tensor_fini(&layer->inverses);
    storage_fini(&layer->column_sums);
    tensor_fini(&layer->columns);
    tensor_fini(&layer->out_grads);
}

void layer_tools_fini(struct layer_tools *tools)
{
    tensor_fini(&tools->row_grads);
    tensor_fini(&tools->spare);
    tensor_fini(&tools->aggregates);
    tensor_fini(&tools->products);
    tensor_fini(&tools->partials);
}

static size_t block_rows(const struct layer *layer, size_t begin)
{
    size_t rest = layer->num_dst - begin;
    return rest < MATMUL_ROWS ? rest : MATMUL_ROWS;
}

/* The normed row is kept for the way back. */
static void norm_row(const struct layer *layer, const float *scale, size_t row)
{
    size_t width = layer->params->out;
    float *out = tensor_row(&layer->out, row);
    *tensor_row(&layer->inverses, row) = layer_norm(out, width);
    memcpy(tensor_row(&layer->normed, row), out, width * sizeof *out);
    layer_norm_scale(out, scale, width);
}

static bool norms_by_batch(const struct layer *layer)
{
    return layer->params->batch_normed && layer->training;
}

static struct batch_columns columns_of(const struct layer *layer)
{
    return (struct batch_columns){ .mean = tensor_row(&layer->columns, 0),
                                   .variance = tensor_row(&layer->columns, 1),
                                   .inverse = tensor_row(&layer->columns, 2),
                                   .grad = tensor_row(&layer->columns, 3),
                                   .along = tensor_row(&layer->columns, 4) };
}

/* The sums of a block's columns; the second row of them. */
static double *block_sums(const struct layer *layer, size_t block, size_t second)
{
    return (double *)layer->column_sums.data + (2 * block + second) * layer->params->out;
}

/* The same, by the statistics of all rows. */
static void norm_row_of_batch(const struct layer *layer, const float *scale, size_t row)
{
    const struct batch_columns columns = columns_of(layer);
    size_t width = layer->params->out;
    float *out = tensor_row(&layer->out, row);
    batch_norm(out, &columns, width);
    memcpy(tensor_row(&layer->normed, row), out, width * sizeof *out);
    layer_norm_scale(out, scale, width);
}

static void finish_row(const struct layer *layer, const struct kernels *kernels,
                       const float *weights, size_t row)
{
    float *out = tensor_row(&layer->out, row);
    const float *bias = weights + layer->params->bias;
    if (layer->params->normed)
        norm_row(layer, weights + layer->params->scale, row);
    else if (norms_by_batch(layer))
        norm_row_of_batch(layer, weights + layer->params->scale, row);
    else if (layer->params->batch_normed)
        batch_norm_infer(out, weights + layer->params->running, weights + layer->params->scale,
                         layer->params->out);
    if (layer->last)
        kernels->axpy(out, bias, 1.0f, layer->params->out);
    else
        kernels->activate(out, bias, layer->params->out, &layer->dropout, row);
}

/* One term has an aggregate for every destination. */
static bool has_whole_term(const struct layer *layer)
{
    return layer->params->num_terms == 1 && layer->terms[0].attention == NULL &&
           layer->terms[0].rows == NULL;
}

static const float *own_rows(const struct layer_job *job, size_t begin)
{
    const struct layer_params *p = job->layer->params;
    return job->rows[p->ntype] + begin * p->in;
}

static void multiply_whole(const struct layer_job *job, size_t begin, size_t count, float *out)
{
    const struct layer_params *p = job->layer->params;
    struct term *term = &job->layer->terms[0];
    size_t in = term->params->in;
    float *aggregate = tensor_row(&term->aggregate, begin);
    for (size_t i = 0; i < count; i++)
        propagate(&term->prop, job->tools->kernels, (uint32_t)(begin + i), in,
                  job->rows[term->params->src], aggregate + i * in);
    matmul_forward(count, in, p->out, aggregate, job->weights + term->params->weight, 0, out);
    if (p->has_self)
        matmul_forward(count, p->in, p->out, own_rows(job, begin), job->weights + p->self, 1, out);
}

/* Training keeps the aggregates for the way back. */
static float *block_aggregates(const struct layer_job *job, const struct term *term, size_t first,
                               size_t worker)
{
    return job->layer->training ? tensor_row(&term->aggregate, first)
                                : tensor_row(&job->tools->aggregates, worker * MATMUL_ROWS);
}

/* Adds the mean of the matrix's rows of the sources. */
static void add_one_hot(const struct layer_job *job, const struct term *term, size_t block,
                        size_t worker, float *out)
{
    const struct term_params *params = term->params;
    const struct kernels *kernels = job->tools->kernels;
    float *row = tensor_row(&job->tools->products, worker * MATMUL_ROWS);
    for (size_t i = term->begins[block]; i < term->begins[block + 1]; i++) {
        propagate(&term->prop, kernels, (uint32_t)i, params->width, job->weights + params->weight,
                  row);
        kernels->axpy(out + (term->rows[i] - block * MATMUL_ROWS) * params->width, row, 1.0f,
                      params->width);
    }
}

/* Adds the term's products to the rows of a block that have any. */
static void add_products(const struct layer_job *job, const struct term *term, size_t block,
                         size_t worker, float *out)
{
    const struct term_params *params = term->params;
    const struct kernels *kernels = job->tools->kernels;
    size_t first = term->begins[block], count = term->begins[block + 1] - first;
    float *aggregate = block_aggregates(job, term, first, worker);
    float *products = tensor_row(&job->tools->products, worker * MATMUL_ROWS);
    for (size_t i = 0; i < count; i++)
        propagate(&term->prop, kernels, (uint32_t)(first + i), params->in, job->rows[params->src],
                  aggregate + i * params->in);
    matmul_forward(count, params->in, params->width, aggregate, job->weights + params->weight, 0,
                   products);
    for (size_t i = 0; i < count; i++)
        kernels->axpy(out + (term->rows[first + i] - block * MATMUL_ROWS) * params->width,
                      products + i * params->width, 1.0f, params->width);
}

static void multiply_terms(const struct layer_job *job, size_t block, size_t count, size_t worker,
                           float *out)
{
    const struct layer *layer = job->layer;
    const struct layer_params *p = layer->params;
    size_t begin = block * MATMUL_ROWS;
    if (p->has_self)
        matmul_forward(count, p->in, p->out, own_rows(job, begin), job->weights + p->self, 0, out);
    else
        memset(out, 0, count * p->out * sizeof *out);
    for (size_t i = 0; p->own_one_hot && i < count; i++)
        memcpy(out + i * p->out, job->weights + p->own_rows + layer->own_ids[begin + i] * p->out,
               p->out * sizeof *out);
    for (uint32_t t = 0; t < p->num_terms; t++) {
        const struct term *term = &layer->terms[t];
        if (term->params->one_hot) {
            add_one_hot(job, term, block, worker, out);
            continue;
        }
        if (term->attention == NULL) {
            add_products(job, term, block, worker, out);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            attention_add(term->attention, job->tools->kernels, (uint32_t)(begin + i),
                          out + i * p->out, p->out);
    }
}

static void forward_block(void *arg, size_t block, size_t worker)
{
    struct layer_job *job = arg;
    struct layer *layer = job->layer;
    const struct layer_params *p = layer->params;
    const struct kernels *kernels = job->tools->kernels;
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    float *out = tensor_row(&layer->out, begin);
    if (cancel_asked(job->tools->cancel))
        return;
    if (has_whole_term(layer))
        multiply_whole(job, begin, count, out);
    else
        multiply_terms(job, block, count, worker, out);
    /* The sums are whole before they are normalised. */
    for (size_t i = 0; p->residual && i < count; i++)
        kernels->axpy(out + i * p->out, own_rows(job, begin + i), 1.0f, p->out);
    if (norms_by_batch(layer))
        batch_norm_sum(out, count, p->out, block_sums(layer, block, 0));
    for (size_t i = 0; !norms_by_batch(layer) && i < count; i++)
        finish_row(layer, kernels, job->weights, begin + i);
}

static void square_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct layer *layer = ((struct layer_job *)arg)->layer;
    size_t begin = block * MATMUL_ROWS;
    batch_norm_squares(tensor_row(&layer->out, begin), block_rows(layer, begin), layer->params->out,
                       tensor_row(&layer->columns, 0), block_sums(layer, block, 0));
}

static void finish_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct layer_job *job = arg;
    size_t begin = block * MATMUL_ROWS, count = block_rows(job->layer, begin);
    for (size_t i = 0; i < count; i++)
        finish_row(job->layer, job->tools->kernels, job->weights, begin + i);
}

/* The means are known before the squares, these before the first row is normalised. */
static void norm_batch(struct layer_job *job)
{
    struct layer *layer = job->layer;
    size_t num_dst = layer->num_dst, blocks = matmul_blocks(num_dst), width = layer->params->out;
    batch_norm_means(layer->column_sums.data, blocks, 2 * width, num_dst, width,
                     tensor_row(&layer->columns, 0));
    parallel_for(job->tools->parallel, blocks, square_block, job);
    batch_norm_means(layer->column_sums.data, blocks, 2 * width, num_dst, width,
                     tensor_row(&layer->columns, 1));
    batch_norm_inverses(tensor_row(&layer->columns, 1), width, tensor_row(&layer->columns, 2));
    parallel_for(job->tools->parallel, blocks, finish_block, job);
}

static int reserve_batch_norm(struct layer *layer)
{
    size_t num_dst = layer->num_dst, width = layer->params->out;
    int rc = tensor_resize(&layer->normed, num_dst, width);
    if (rc == 0)
        rc = tensor_resize(&layer->columns, 5, width);
    if (rc == 0)
        rc = storage_reserve(&layer->column_sums, 2 * matmul_blocks(num_dst) * width + 1,
                             sizeof(double));
    return rc;
}

static int reserve_terms(struct layer *layer, struct layer_tools *tools)
{
    size_t workers = tools->parallel->workers, widest = 0;
    bool whole = has_whole_term(layer);
    int rc = 0;
    for (uint32_t t = 0; rc == 0 && t < layer->params->num_terms; t++) {
        struct term *term = &layer->terms[t];
        if (term->attention != NULL || term->params->one_hot)
            continue;
        widest = term->params->in > widest ? term->params->in : widest;
        if (whole || layer->training)
            rc = tensor_resize(&term->aggregate, term->prop.num_dst, term->params->in);
    }
    if (rc == 0 && !whole && !layer->training)
        rc = tensor_resize(&tools->aggregates, workers * MATMUL_ROWS, widest);
    if (rc == 0 && !whole)
        rc = tensor_resize(&tools->products, workers * MATMUL_ROWS, layer->params->out);
    return rc;
}

int layer_forward(struct layer *layer, struct layer_tools *tools, const float *weights,
                  const float *const *rows)
{
    const struct layer_params *p = layer->params;
    size_t num_dst = layer->num_dst;
    int rc = reserve_terms(layer, tools);
    if (rc == 0)
        rc = tensor_resize(&layer->out, num_dst, p->out);
    if (rc == 0 && p->normed)
        rc = tensor_resize(&layer->normed, num_dst, p->out);
    if (rc == 0 && p->normed)
        rc = tensor_resize(&layer->inverses, num_dst, 1);
    if (rc == 0 && norms_by_batch(layer))
        rc = reserve_batch_norm(layer);
    /* All products of sources are there before the first destination attends to them. */
    for (uint32_t t = 0; rc == 0 && t < p->num_terms; t++)
        if (layer->terms[t].attention != NULL)
            rc = attention_forward(&layer->terms[t], layer, tools, weights, rows);
    if (rc != 0)
        return rc;
    struct layer_job job = { .layer = layer, .tools = tools, .rows = rows, .weights = weights };
    parallel_for(tools->parallel, matmul_blocks(num_dst), forward_block, &job);
    if (norms_by_batch(layer))
        norm_batch(&job);
    return 0;
}

/* Does the layer read the rows of its destinations beside what it aggregates? */
static bool reads_own(const struct layer_params *params)
{
    return params->has_self || params->residual;
}

void readers_gradient(const struct readers *readers, const struct kernels *kernels, uint32_t row,
                      size_t width, float *grad, float *spare)
{
    if (readers->num_terms == 0)
        memset(grad, 0, width * sizeof *grad);
    for (uint32_t t = 0; t < readers->num_terms; t++) {
        term_gradient(readers->terms[t], kernels, row, width, t == 0 ? grad : spare);
        if (t > 0)
            kernels->axpy(grad, spare, 1.0f, width);
    }
    const struct layer *own = readers->own;
    if (own != NULL && reads_own(own->params) && row < own->num_dst)
        kernels->axpy(grad, tensor_row(&own->self_grads, row), 1.0f, width);
}

/* The gradient before relu of one block of rows, in the worker's memory, but for the last layer,
 * whose is the loss's. */
static float *block_grads(const struct layer_job *job, size_t begin, size_t count, size_t worker)
{
    const struct layer *layer = job->layer;
    size_t width = layer->params->out;
    if (layer->last)
        return (float *)(uintptr_t)job->out_grads + begin * width;
    const struct kernels *kernels = job->tools->kernels;
    float *grads = tensor_row(&job->tools->row_grads, worker * MATMUL_ROWS);
    for (size_t i = 0; i < count; i++) {
        size_t row = begin + i;
        float *grad = grads + i * width;
        readers_gradient(&layer->readers, kernels, (uint32_t)row, width, grad,
                         tensor_row(&job->tools->spare, worker));
        kernels->deactivate(grad, tensor_row(&layer->out, row), layer->dropout.scale, width);
    }
    return grads;
}

/* Are the gradients of all rows there before the first is used? */
static bool stores_grads(const struct layer *layer)
{
    return layer->params->batch_normed ||
           (layer->params->num_terms > 0 && layer->terms[0].attention != NULL);
}

static void term_back(const struct layer_job *job, const struct term *term, size_t block,
                      size_t worker, const float *grads, float *partial)
{
    const struct term_params *params = term->params;
    size_t first = term->begins[block], count = term->begins[block + 1] - first;
    size_t width = params->width, weight = params->weight;
    float *some = params->one_hot ? tensor_row(&term->aggregate_grads, first)
                                  : tensor_row(&job->tools->products, worker * MATMUL_ROWS);
    for (size_t i = 0; i < count; i++)
        memcpy(some + i * width, grads + (term->rows[first + i] - block * MATMUL_ROWS) * width,
               width * sizeof *some);
    if (params->one_hot) /* its matrix's rows gather these when all are there */
        return;
    matmul_gradient(count, params->in, width, some, tensor_row(&term->aggregate, first), 1,
                    partial + (weight - job->layer->params->self));
    if (term->with_input)
        matmul_backward(count, params->in, width, some, job->weights + weight,
                        tensor_row(&term->aggregate_grads, first));
}

static void whole_term_back(const struct layer_job *job, size_t begin, size_t count, float beta,
                            const float *grads, float *partial)
{
    const struct term *term = &job->layer->terms[0];
    size_t in = term->params->in, out = term->params->width, weight = term->params->weight;
    matmul_gradient(count, in, out, grads, tensor_row(&term->aggregate, begin), beta,
                    partial + (weight - job->layer->params->self));
    if (term->with_input)
        matmul_backward(count, in, out, grads, job->weights + weight,
                        tensor_row(&term->aggregate_grads, begin));
}

static void own_back(const struct layer_job *job, size_t begin, size_t count, float beta,
                     const float *grads, float *partial)
{
    const struct layer *layer = job->layer;
    const struct layer_params *p = layer->params;
    if (p->has_self)
        matmul_gradient(count, p->in, p->out, grads, own_rows(job, begin), beta, partial);
    /* A node stands once in a batch, so each row has one writer. */
    for (size_t i = 0; p->own_one_hot && i < count; i++)
        memcpy(job->grads + p->own_rows + layer->own_ids[begin + i] * p->out, grads + i * p->out,
               p->out * sizeof *grads);
    if (!layer->with_own)
        return;
    float *own = reads_own(p) ? tensor_row(&layer->self_grads, begin) : NULL;
    if (p->has_self)
        matmul_backward(count, p->in, p->out, grads, job->weights + p->self, own);
    else if (p->residual)
        memset(own, 0, count * p->in * sizeof *own);
    if (p->residual)
        job->tools->kernels->axpy(own, grads, 1.0f, count * p->in);
}

static void backward_block(const struct layer_job *job, size_t block, size_t worker, float beta,
                           float *partial)
{
    struct layer *layer = job->layer;
    const struct layer_params *p = layer->params;
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    float *grads = stores_grads(layer) ? tensor_row(&layer->out_grads, begin)
                                       : block_grads(job, begin, count, worker);
    const struct batch_columns columns = p->batch_normed ? columns_of(layer)
                                                         : (struct batch_columns){ 0 };
    /* Partials are laid out as the part's weights are, without the parts before. */
    float *bias = partial + (p->bias - p->self);
    for (size_t i = 0; i < count; i++)
        job->tools->kernels->axpy(bias, grads + i * p->out, 1.0f, p->out);
    /* The bias stands behind the normalisation, the products before it. */
    for (size_t i = 0; p->normed && i < count; i++)
        layer_norm_back(grads + i * p->out, tensor_row(&layer->normed, begin + i),
                        *tensor_row(&layer->inverses, begin + i), job->weights + p->scale,
                        partial + (p->scale - p->self), p->out);
    for (size_t i = 0; p->batch_normed && i < count; i++)
        batch_norm_back(grads + i * p->out, tensor_row(&layer->normed, begin + i), &columns,
                        job->weights + p->scale, partial + (p->scale - p->self), p->out);
    if (has_whole_term(layer))
        whole_term_back(job, begin, count, beta, grads, partial);
    else
        for (uint32_t t = 0; t < p->num_terms; t++)
            if (layer->terms[t].attention == NULL)
                term_back(job, &layer->terms[t], block, worker, grads, partial);
    own_back(job, begin, count, beta, grads, partial);
}

static void backward_lane(void *arg, size_t lane, size_t worker)
{
    struct layer_job *job = arg;
    const struct layer_params *p = job->layer->params;
    float *partial = tensor_row(&job->tools->partials, lane);
    /* The first block of a lane writes its products, but of terms that may have none there. */
    size_t zeroed = has_whole_term(job->layer) ? p->bias : p->self;
    memset(partial + (zeroed - p->self), 0, (p->end - zeroed) * sizeof *partial);
    size_t first = lane * job->lanes.blocks_per_lane;
    for (size_t b = first; b < first + job->lanes.blocks_per_lane && b < job->lanes.blocks; b++)
        backward_block(job, b, worker, b == first ? 0.0f : 1.0f, partial);
}

struct reduce_job {
    const struct layer_tools *tools;
    size_t num_lanes, count;
    float *grads;
    bool zeroed;
};

static void reduce_chunk(void *arg, size_t chunk, size_t worker)
{
    (void)worker;
    const struct reduce_job *job = arg;
    size_t begin = chunk * REDUCE_CHUNK, rest = job->count - begin;
    size_t count = rest < REDUCE_CHUNK ? rest : REDUCE_CHUNK;
    float *grads = job->grads + begin;
    if (job->zeroed)
        memset(grads, 0, count * sizeof *grads);
    for (size_t lane = 0; lane < job->num_lanes; lane++)
        job->tools->kernels->axpy(grads, tensor_row(&job->tools->partials, lane) + begin, 1.0f,
                                  count);
}

void layer_reduce(struct layer_tools *tools, size_t num_lanes, float *grads, size_t count,
                  bool zeroed)
{
    struct reduce_job job = { tools, num_lanes, count, grads, zeroed };
    parallel_for(tools->parallel, (count + REDUCE_CHUNK - 1) / REDUCE_CHUNK, reduce_chunk, &job);
}

/* The gradients of all rows come first: each row's depends on their means. */
static void sum_grads_block(void *arg, size_t block, size_t worker)
{
    const struct layer_job *job = arg;
    const struct layer *layer = job->layer;
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    size_t width = layer->params->out;
    float *grads = tensor_row(&layer->out_grads, begin);
    memcpy(grads, block_grads(job, begin, count, worker), count * width * sizeof *grads);
    if (!layer->params->batch_normed)
        return;
    batch_norm_sum_back(grads, tensor_row(&layer->normed, begin), count, width,
                        block_sums(layer, block, 0), block_sums(layer, block, 1));
}

static void sum_grads(struct layer_job *job)
{
    struct layer *layer = job->layer;
    size_t num_dst = layer->num_dst, blocks = matmul_blocks(num_dst), width = layer->params->out;
    parallel_for(job->tools->parallel, blocks, sum_grads_block, job);
    if (!layer->params->batch_normed)
        return;
    batch_norm_means(layer->column_sums.data, blocks, 2 * width, num_dst, width,
                     tensor_row(&layer->columns, 3));
    batch_norm_means((double *)layer->column_sums.data + width, blocks, 2 * width, num_dst, width,
                     tensor_row(&layer->columns, 4));
    const struct batch_columns columns = columns_of(layer);
    batch_norm_offer(&columns, num_dst, width, job->grads + layer->params->running);
}

static int reserve_backward(struct layer_job *job)
{
    struct layer *layer = job->layer;
    struct layer_tools *tools = job->tools;
    const struct layer_params *p = layer->params;
    size_t num_dst = layer->num_dst, workers = tools->parallel->workers;
    int rc = tensor_resize(&tools->partials, job->lanes.count, p->end - p->self);
    if (rc == 0)
        rc = tensor_resize(&tools->row_grads, workers * MATMUL_ROWS, p->out);
    if (rc == 0)
        rc = tensor_resize(&tools->spare, workers, p->out);
    if (rc == 0 && !has_whole_term(layer))
        rc = tensor_resize(&tools->products, workers * MATMUL_ROWS, p->out);
    for (uint32_t t = 0; rc == 0 && t < p->num_terms; t++) {
        struct term *term = &layer->terms[t];
        if (term->params->one_hot) {
            rc = tensor_resize(&term->aggregate_grads, term->prop.num_dst, term->params->width);
            if (rc == 0)
                rc = propagation_transpose(&term->prop);
            continue;
        }
        if (term->with_input && term->attention == NULL)
            rc = tensor_resize(&term->aggregate_grads, term->prop.num_dst, term->params->in);
        if (rc == 0 && term->with_input && term->attention == NULL)
            rc = propagation_transpose(&term->prop);
    }
    if (rc == 0 && layer->with_own && reads_own(p))
        rc = tensor_resize(&layer->self_grads, num_dst, p->in);
    if (rc == 0 && stores_grads(layer))
        rc = tensor_resize(&layer->out_grads, num_dst, p->out);
    return rc;
}

struct one_hot_job {
    const struct layer_tools *tools;
    const struct term *term;
    float *grads; /* of its matrix */
};

static void one_hot_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct one_hot_job *job = arg;
    const struct term_params *params = job->term->params;
    size_t end = (block + 1) * MATMUL_ROWS;
    for (size_t row = block * MATMUL_ROWS; row < end && row < params->in; row++)
        propagate_back(&job->term->prop, job->tools->kernels, (uint32_t)row, params->width,
                       job->term->aggregate_grads.data, job->grads + row * params->width);
}

int layer_backward(struct layer *layer, struct layer_tools *tools, const float *out_grads,
                   const float *const *rows, const float *weights, float *grads)
{
    const struct layer_params *p = layer->params;
    struct layer_job job = {
        layer, tools, out_grads, rows, weights, grads, matmul_lanes(layer->num_dst)
    };
    int rc = reserve_backward(&job);
    if (rc != 0)
        return rc;
    if (stores_grads(layer))
        sum_grads(&job);
    if (p->own_one_hot) /* nodes that the batch does not have */
        memset(grads + p->own_rows, 0, (size_t)p->in * p->out * sizeof *grads);
    parallel_for(tools->parallel, job.lanes.count, backward_lane, &job);
    layer_reduce(tools, job.lanes.count, grads + p->self, p->end - p->self, true);
    for (uint32_t t = 0; t < p->num_terms; t++) {
        struct one_hot_job matrix = { tools, &layer->terms[t], grads + p->terms[t].weight };
        if (p->terms[t].one_hot)
            parallel_for(tools->parallel, matmul_blocks(p->terms[t].in), one_hot_block, &matrix);
    }
    /* These add to what was just set to 0, and read gradients that went through the norm. */
    for (uint32_t t = 0; rc == 0 && t < p->num_terms; t++)
        if (layer->terms[t].attention != NULL)
            rc = attention_backward(&layer->terms[t], layer, tools, rows, weights, grads);
    return rc;
}
