/* SPDX-License-Identifier: Apache-2.0 */
#include "model/layer.h"

#include <assert.h>
#include <string.h>

#include "model/batch_norm.h"
#include "model/layer_norm.h"
#include "model/matmul.h"

struct layer_job {
    struct layer *layer;
    struct layer_tools *tools;
    const struct layer *above;
    const float *out_grads;
    const float *rows;
    bool with_input;
    const float *weights;
    float *grads;
    struct lanes lanes;
};

/* Weights whose partial sums a worker adds up at once. */
#define REDUCE_CHUNK ((size_t)8192)

void layer_fini(struct layer *layer)
{
    propagation_fini(&layer->prop);
    tensor_fini(&layer->aggregate);
    tensor_fini(&layer->out);
    tensor_fini(&layer->aggregate_grads);
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
    tensor_fini(&tools->partials);
}

static size_t block_rows(const struct layer *layer, size_t begin)
{
    size_t rest = layer->prop.num_dst - begin;
    return rest < MATMUL_ROWS ? rest : MATMUL_ROWS;
}

/* The normed row is kept for the way back. */
static void norm_row(const struct layer *layer, const float *scale, size_t row)
{
    size_t width = layer->params.out;
    float *out = tensor_row(&layer->out, row);
    *tensor_row(&layer->inverses, row) = layer_norm(out, width);
    memcpy(tensor_row(&layer->normed, row), out, width * sizeof *out);
    layer_norm_scale(out, scale, width);
}

static bool norms_by_batch(const struct layer *layer)
{
    return layer->params.batch_normed && layer->training;
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
    return (double *)layer->column_sums.data + (2 * block + second) * layer->params.out;
}

/* The same, by the statistics of all rows. */
static void norm_row_of_batch(const struct layer *layer, const float *scale, size_t row)
{
    const struct batch_columns columns = columns_of(layer);
    size_t width = layer->params.out;
    float *out = tensor_row(&layer->out, row);
    batch_norm(out, &columns, width);
    memcpy(tensor_row(&layer->normed, row), out, width * sizeof *out);
    layer_norm_scale(out, scale, width);
}

static void finish_row(const struct layer *layer, const struct kernels *kernels,
                       const float *weights, size_t row)
{
    float *out = tensor_row(&layer->out, row);
    const float *bias = weights + layer->params.bias;
    if (layer->params.normed)
        norm_row(layer, weights + layer->params.scale, row);
    else if (norms_by_batch(layer))
        norm_row_of_batch(layer, weights + layer->params.scale, row);
    else if (layer->params.batch_normed)
        batch_norm_infer(out, weights + layer->params.running, weights + layer->params.scale,
                         layer->params.out);
    if (layer->last)
        kernels->axpy(out, bias, 1.0f, layer->params.out);
    else
        kernels->activate(out, bias, layer->params.out, &layer->dropout, row);
}

static void forward_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    struct layer_job *job = arg;
    struct layer *layer = job->layer;
    const struct layer_params *p = &layer->params;
    const struct kernels *kernels = job->tools->kernels;
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    float *aggregate = tensor_row(&layer->aggregate, begin);
    for (size_t i = 0; i < count; i++)
        propagate(&layer->prop, kernels, (uint32_t)(begin + i), p->in, job->rows,
                  aggregate + i * p->in);
    float *out = tensor_row(&layer->out, begin);
    matmul_forward(count, p->in, p->out, aggregate, job->weights + p->neigh, 0, out);
    if (p->has_self)
        matmul_forward(count, p->in, p->out, job->rows + begin * p->in, job->weights + p->self, 1,
                       out);
    /* The sums are whole before they are normalised. */
    for (size_t i = 0; p->residual && i < count; i++)
        kernels->axpy(out + i * p->out, job->rows + (begin + i) * p->in, 1.0f, p->out);
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
    batch_norm_squares(tensor_row(&layer->out, begin), block_rows(layer, begin), layer->params.out,
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
    size_t num_dst = layer->prop.num_dst, blocks = matmul_blocks(num_dst),
           width = layer->params.out;
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
    size_t num_dst = layer->prop.num_dst, width = layer->params.out;
    int rc = tensor_resize(&layer->normed, num_dst, width);
    if (rc == 0)
        rc = tensor_resize(&layer->columns, 5, width);
    if (rc == 0)
        rc = storage_reserve(&layer->column_sums, 2 * matmul_blocks(num_dst) * width + 1,
                             sizeof(double));
    return rc;
}

int layer_forward(struct layer *layer, struct layer_tools *tools, const float *weights,
                  const float *rows)
{
    size_t num_dst = layer->prop.num_dst;
    int rc = tensor_resize(&layer->aggregate, num_dst, layer->params.in);
    if (rc == 0)
        rc = tensor_resize(&layer->out, num_dst, layer->params.out);
    if (rc == 0 && layer->params.normed)
        rc = tensor_resize(&layer->normed, num_dst, layer->params.out);
    if (rc == 0 && layer->params.normed)
        rc = tensor_resize(&layer->inverses, num_dst, 1);
    if (rc == 0 && norms_by_batch(layer))
        rc = reserve_batch_norm(layer);
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

/* The gradient before relu of one block of rows, in the worker's memory, but for the last layer,
 * whose is the loss's. */
static float *block_grads(const struct layer_job *job, size_t begin, size_t count, size_t worker)
{
    const struct layer *layer = job->layer, *above = job->above;
    size_t width = layer->params.out;
    if (above == NULL)
        return (float *)(uintptr_t)job->out_grads + begin * width;
    const struct kernels *kernels = job->tools->kernels;
    float *grads = tensor_row(&job->tools->row_grads, worker * MATMUL_ROWS);
    for (size_t i = 0; i < count; i++) {
        size_t row = begin + i;
        float *grad = grads + i * width;
        propagate_back(&above->prop, kernels, (uint32_t)row, width, above->aggregate_grads.data,
                       grad);
        if (reads_own(&above->params) && row < above->prop.num_dst)
            kernels->axpy(grad, tensor_row(&above->self_grads, row), 1.0f, width);
        kernels->deactivate(grad, tensor_row(&layer->out, row), layer->dropout.scale, width);
    }
    return grads;
}

static void backward_block(const struct layer_job *job, size_t block, size_t worker, float beta,
                           float *partial)
{
    struct layer *layer = job->layer;
    const struct layer_params *p = &layer->params;
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    float *grads = p->batch_normed ? tensor_row(&layer->out_grads, begin)
                                   : block_grads(job, begin, count, worker);
    const struct batch_columns columns = p->batch_normed ? columns_of(layer)
                                                         : (struct batch_columns){ 0 };
    /* Partials are laid out as the layer's weights are, without the layers before. */
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
    matmul_gradient(count, p->in, p->out, grads, tensor_row(&layer->aggregate, begin), beta,
                    partial + (p->neigh - p->self));
    if (p->has_self)
        matmul_gradient(count, p->in, p->out, grads, job->rows + begin * p->in, beta, partial);
    if (!job->with_input)
        return;
    matmul_backward(count, p->in, p->out, grads, job->weights + p->neigh,
                    tensor_row(&layer->aggregate_grads, begin));
    float *own = reads_own(p) ? tensor_row(&layer->self_grads, begin) : NULL;
    if (p->has_self)
        matmul_backward(count, p->in, p->out, grads, job->weights + p->self, own);
    else if (p->residual)
        memset(own, 0, count * p->in * sizeof *own);
    if (p->residual)
        job->tools->kernels->axpy(own, grads, 1.0f, count * p->in);
}

static void backward_lane(void *arg, size_t lane, size_t worker)
{
    struct layer_job *job = arg;
    const struct layer_params *p = &job->layer->params;
    float *partial = tensor_row(&job->tools->partials, lane);
    memset(partial + (p->bias - p->self), 0, (p->end - p->bias) * sizeof *partial);
    size_t first = lane * job->lanes.blocks_per_lane;
    for (size_t b = first; b < first + job->lanes.blocks_per_lane && b < job->lanes.blocks; b++)
        backward_block(job, b, worker, b == first ? 0.0f : 1.0f, partial);
}

static void reduce_chunk(void *arg, size_t chunk, size_t worker)
{
    (void)worker;
    struct layer_job *job = arg;
    const struct layer_params *p = &job->layer->params;
    size_t begin = chunk * REDUCE_CHUNK, size = p->end - p->self;
    size_t count = size - begin < REDUCE_CHUNK ? size - begin : REDUCE_CHUNK;
    float *grads = job->grads + p->self + begin;
    memset(grads, 0, count * sizeof *grads);
    for (size_t lane = 0; lane < job->lanes.count; lane++)
        job->tools->kernels->axpy(grads, tensor_row(&job->tools->partials, lane) + begin, 1.0f,
                                  count);
}

/* The gradients of all rows come first: each row's depends on their means. */
static void sum_grads_block(void *arg, size_t block, size_t worker)
{
    const struct layer_job *job = arg;
    const struct layer *layer = job->layer;
    size_t begin = block * MATMUL_ROWS, count = block_rows(layer, begin);
    size_t width = layer->params.out;
    float *grads = tensor_row(&layer->out_grads, begin);
    memcpy(grads, block_grads(job, begin, count, worker), count * width * sizeof *grads);
    batch_norm_sum_back(grads, tensor_row(&layer->normed, begin), count, width,
                        block_sums(layer, block, 0), block_sums(layer, block, 1));
}

static void sum_grads(struct layer_job *job)
{
    struct layer *layer = job->layer;
    size_t num_dst = layer->prop.num_dst, blocks = matmul_blocks(num_dst),
           width = layer->params.out;
    parallel_for(job->tools->parallel, blocks, sum_grads_block, job);
    batch_norm_means(layer->column_sums.data, blocks, 2 * width, num_dst, width,
                     tensor_row(&layer->columns, 3));
    batch_norm_means((double *)layer->column_sums.data + width, blocks, 2 * width, num_dst, width,
                     tensor_row(&layer->columns, 4));
    const struct batch_columns columns = columns_of(layer);
    batch_norm_offer(&columns, num_dst, width, job->grads + layer->params.running);
}

static int reserve_backward(struct layer_job *job)
{
    struct layer *layer = job->layer;
    const struct layer_params *p = &layer->params;
    size_t num_dst = layer->prop.num_dst;
    int rc = tensor_resize(&job->tools->partials, job->lanes.count, p->end - p->self);
    if (rc == 0)
        rc = tensor_resize(&job->tools->row_grads, job->tools->parallel->workers * MATMUL_ROWS,
                           p->out);
    if (rc == 0 && job->with_input)
        rc = tensor_resize(&layer->aggregate_grads, num_dst, p->in);
    if (rc == 0 && job->with_input && reads_own(p))
        rc = tensor_resize(&layer->self_grads, num_dst, p->in);
    if (rc == 0 && p->batch_normed)
        rc = tensor_resize(&layer->out_grads, num_dst, p->out);
    return rc;
}

int layer_backward(struct layer *layer, struct layer_tools *tools, const struct layer *above,
                   const float *out_grads, const float *rows, bool with_input, const float *weights,
                   float *grads)
{
    assert(above == NULL || above->prop.num_src == layer->prop.num_dst);
    struct layer_job job = { layer,     tools, above,
                             out_grads, rows,  with_input,
                             weights,   grads, matmul_lanes(layer->prop.num_dst) };
    int rc = reserve_backward(&job);
    if (rc != 0)
        return rc;
    if (layer->params.batch_normed)
        sum_grads(&job);
    parallel_for(tools->parallel, job.lanes.count, backward_lane, &job);
    size_t size = layer->params.end - layer->params.self;
    parallel_for(tools->parallel, (size + REDUCE_CHUNK - 1) / REDUCE_CHUNK, reduce_chunk, &job);
    return 0;
}
