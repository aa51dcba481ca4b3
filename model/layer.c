/* SPDX-License-Identifier: Apache-2.0 */
#include "model/layer.h"

#include <assert.h>
#include <string.h>

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

static void finish_row(const struct layer *layer, const struct kernels *kernels,
                       const float *weights, const float *own, size_t row)
{
    float *out = tensor_row(&layer->out, row);
    const float *bias = weights + layer->params.bias;
    /* The sum is whole before it is normalised. */
    if (layer->params.residual)
        kernels->axpy(out, own, 1.0f, layer->params.out);
    if (layer->params.normed)
        norm_row(layer, weights + layer->params.scale, row);
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
    for (size_t i = 0; i < count; i++)
        finish_row(layer, kernels, job->weights, job->rows + (begin + i) * p->in, begin + i);
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
    if (rc != 0)
        return rc;
    struct layer_job job = { .layer = layer, .tools = tools, .rows = rows, .weights = weights };
    parallel_for(tools->parallel, matmul_blocks(num_dst), forward_block, &job);
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
    float *grads = block_grads(job, begin, count, worker);
    /* Partials are laid out as the layer's weights are, without the layers before. */
    float *bias = partial + (p->bias - p->self);
    for (size_t i = 0; i < count; i++)
        job->tools->kernels->axpy(bias, grads + i * p->out, 1.0f, p->out);
    /* The bias stands behind the normalisation, the products before it. */
    for (size_t i = 0; p->normed && i < count; i++)
        layer_norm_back(grads + i * p->out, tensor_row(&layer->normed, begin + i),
                        *tensor_row(&layer->inverses, begin + i), job->weights + p->scale,
                        partial + (p->scale - p->self), p->out);
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
    parallel_for(tools->parallel, job.lanes.count, backward_lane, &job);
    size_t size = layer->params.end - layer->params.self;
    parallel_for(tools->parallel, (size + REDUCE_CHUNK - 1) / REDUCE_CHUNK, reduce_chunk, &job);
    return 0;
}
