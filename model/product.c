/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of a layer over a program's aggregation (troupe/aggregate.h).
 *
 * It is the layer of the built-in models (layer.c) with one relation over all destinations: the same
 * blocks of rows, each multiplied by one thread while its sums are in the cache, the same order of
 * terms, and weight gradients summed in the same lanes. So its bits are theirs, and do not depend on
 * the number of threads.
 */
#include <stdlib.h>

#include "model/aggregation.h"
#include "model/layer.h"
#include "model/matmul.h"
#include "model/row_loop.h"

struct tr_model_product {
    struct tr_model_aggregation *aggregation;
    size_t in, out;
    const float *neigh, *own, *bias;
    float *neigh_grads, *own_grads, *bias_grads;
};

struct product_job {
    const struct tr_model_product *product;
    const struct propagation *prop;
    const struct kernels *kernels;
    const float *rows;
    float *sums, *out;
    /* On the way back. */
    const float *kept_sums, *out_grads;
    struct lanes lanes;
    struct tensor partials; /* [lanes.count][those of neigh, own, bias] */
    float *sum_grads;       /* [num_dst][in], or NULL */
    float *own_row_grads;   /* [num_dst][in], or NULL */
};

int tr_model_product_create(struct tr_model_aggregation *aggregation, size_t width,
                            size_t out_width, struct tr_model_product **out, struct tr_error *error)
{
    *out = NULL;
    /* So many weights are a few gigabytes; beyond them sizes could overflow. */
    const size_t most = (size_t)1 << 15;
    if (width == 0 || width > most || out_width == 0 || out_width > most)
        return tr_error_set(error, TR_EINVAL, "rows of %zu and %zu numbers; give from 1 to %zu",
                            width, out_width, most);
    struct tr_model_product *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a product");
    *made = (struct tr_model_product){ .aggregation = aggregation, .in = width, .out = out_width };
    *out = made;
    return 0;
}

void tr_model_product_destroy(struct tr_model_product *product)
{
    free(product);
}

int tr_model_product_set_weights(struct tr_model_product *product, const float *neigh,
                                 const float *own, const float *bias, struct tr_error *error)
{
    const struct propagation *prop = aggregation_prop(product->aggregation);
    if (neigh == NULL)
        return tr_error_set(error, TR_EINVAL, "the weights of neighbours are NULL");
    if (own != NULL && prop->num_dst > prop->num_src)
        return tr_error_set(error, TR_EINVAL,
                            "%u destinations are not the first of %u sources, so they have no rows "
                            "of their own",
                            prop->num_dst, prop->num_src);
    product->neigh = neigh;
    product->own = own;
    product->bias = bias;
    if (own == NULL)
        product->own_grads = NULL;
    return 0;
}

int tr_model_product_set_gradients(struct tr_model_product *product, float *neigh_grads,
                                   float *own_grads, float *bias_grads, struct tr_error *error)
{
    if (own_grads != NULL && product->own == NULL)
        return tr_error_set(error, TR_EINVAL, "gradients of own rows' weights, which it has not");
    product->neigh_grads = neigh_grads;
    product->own_grads = own_grads;
    product->bias_grads = bias_grads;
    return 0;
}

static int product_check(const struct tr_model_product *product, const void *rows, size_t num_rows,
                         const void *sums, const void *out, size_t num_out, struct tr_error *error)
{
    if (product->neigh == NULL)
        return tr_error_set(error, TR_EINVAL,
                            "the product has no weights; call tr_model_product_set_weights()");
    if (sums == NULL && num_out > 0)
        return tr_error_set(error, TR_EINVAL, "the sums are NULL");
    return aggregation_check_shapes(product->aggregation, rows, num_rows, out, num_out, error);
}

static size_t rows_of_block(const struct propagation *prop, size_t begin)
{
    size_t rest = prop->num_dst - begin;
    return rest < MATMUL_ROWS ? rest : MATMUL_ROWS;
}

static void product_forward_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct product_job *job = arg;
    const struct tr_model_product *product = job->product;
    size_t in = product->in, width = product->out;
    size_t begin = block * MATMUL_ROWS, count = rows_of_block(job->prop, begin);
    float *sums = job->sums + begin * in, *out = job->out + begin * width;
    for (size_t i = 0; i < count; i++)
        propagate(job->prop, job->kernels, (uint32_t)(begin + i), in, job->rows, sums + i * in);
    matmul_forward(count, in, width, sums, product->neigh, 0, out);
    if (product->own != NULL)
        matmul_forward(count, in, width, job->rows + begin * in, product->own, 1, out);
    for (size_t i = 0; product->bias != NULL && i < count; i++)
        job->kernels->axpy(out + i * width, product->bias, 1.0f, width);
}

int tr_model_product_forward(struct tr_model_product *product, struct tr_model_threads *threads,
                             const float *rows, size_t num_rows, float *sums, float *out,
                             size_t num_out, struct tr_error *error)
{
    int rv = product_check(product, rows, num_rows, sums, out, num_out, error);
    if (rv != 0)
        return rv;
    struct product_job job = { .product = product,
                               .prop = aggregation_prop(product->aggregation),
                               .kernels = kernels_best(),
                               .rows = rows,
                               .sums = sums,
                               .out = out };
    struct parallel *parallel = row_loop_take(threads);
    matmul_hold_single_threaded();
    parallel_for(parallel, matmul_blocks(num_out), product_forward_block, &job);
    matmul_release_threads();
    row_loop_return(threads, parallel);
    return 0;
}

static void product_back_block(const struct product_job *job, size_t block, float beta,
                               float *partial)
{
    const struct tr_model_product *product = job->product;
    size_t in = product->in, width = product->out, weights = in * width;
    size_t begin = block * MATMUL_ROWS, count = rows_of_block(job->prop, begin);
    const float *grads = job->out_grads + begin * width;
    for (size_t i = 0; product->bias_grads != NULL && i < count; i++)
        job->kernels->axpy(partial + 2 * weights, grads + i * width, 1.0f, width);
    if (product->neigh_grads != NULL)
        matmul_gradient(count, in, width, grads, job->kept_sums + begin * in, beta, partial);
    if (job->sum_grads != NULL)
        matmul_backward(count, in, width, grads, product->neigh, job->sum_grads + begin * in);
    if (product->own_grads != NULL)
        matmul_gradient(count, in, width, grads, job->rows + begin * in, beta, partial + weights);
    if (job->own_row_grads != NULL)
        matmul_backward(count, in, width, grads, product->own, job->own_row_grads + begin * in);
}

static void product_back_lane(void *arg, size_t lane, size_t worker)
{
    (void)worker;
    const struct product_job *job = arg;
    float *partial = tensor_row(&job->partials, lane);
    for (size_t i = 0; i < job->product->out; i++)
        partial[2 * job->product->in * job->product->out + i] = 0;
    size_t first = lane * job->lanes.blocks_per_lane;
    /* The first block of a lane writes its products. */
    for (size_t b = first; b < first + job->lanes.blocks_per_lane && b < job->lanes.blocks; b++)
        product_back_block(job, b, b == first ? 0.0f : 1.0f, partial);
}

/* malloc() gives the memory, and keeps it between calls where the process has tuned it so. */
static int product_reserve_back(struct product_job *job, bool wants_rows)
{
    size_t in = job->product->in, num_dst = job->prop->num_dst;
    job->partials.rows = job->lanes.count;
    job->partials.cols = (2 * in + 1) * job->product->out;
    /* One more, since there may be none. */
    job->partials.data = malloc((job->partials.rows * job->partials.cols + 1) * sizeof(float));
    if (wants_rows)
        job->sum_grads = malloc((num_dst * in + 1) * sizeof(float));
    if (wants_rows && job->product->own != NULL)
        job->own_row_grads = malloc((num_dst * in + 1) * sizeof(float));
    bool whole = job->partials.data != NULL && (!wants_rows || job->sum_grads != NULL) &&
                 (!wants_rows || job->product->own == NULL || job->own_row_grads != NULL);
    return whole ? 0 : TR_ENOMEM;
}

static void product_sum_lanes(const struct product_job *job, struct parallel *parallel, size_t at,
                              float *grads, size_t count)
{
    struct layer_tools tools = { .parallel = parallel,
                                 .kernels = job->kernels,
                                 .partials = job->partials };
    tools.partials.data += at;
    if (grads != NULL)
        layer_reduce(&tools, job->lanes.count, grads, count, true);
}

static void product_back_weights(struct product_job *job, struct tr_model_threads *threads)
{
    const struct tr_model_product *product = job->product;
    size_t weights = product->in * product->out;
    struct parallel *parallel = row_loop_take(threads);
    matmul_hold_single_threaded();
    parallel_for(parallel, job->lanes.count, product_back_lane, job);
    matmul_release_threads();
    product_sum_lanes(job, parallel, 0, product->neigh_grads, weights);
    product_sum_lanes(job, parallel, weights, product->own_grads, weights);
    product_sum_lanes(job, parallel, 2 * weights, product->bias_grads, product->out);
    row_loop_return(threads, parallel);
}

int tr_model_product_backward(struct tr_model_product *product, struct tr_model_threads *threads,
                              const float *rows, size_t num_rows, const float *sums,
                              const float *out_grads, size_t num_out, float *row_grads,
                              struct tr_error *error)
{
    int rv = product_check(product, rows, num_rows, sums, out_grads, num_out, error);
    if (rv != 0)
        return rv;
    struct product_job job = { .product = product,
                               .prop = aggregation_prop(product->aggregation),
                               .kernels = kernels_best(),
                               .rows = rows,
                               .kept_sums = sums,
                               .out_grads = out_grads,
                               .lanes = matmul_lanes(num_out) };
    rv = product_reserve_back(&job, row_grads != NULL);
    if (rv != 0) {
        tr_error_set(error, rv, "no memory for the gradients of %zu destinations", num_out);
        goto free_memory;
    }
    product_back_weights(&job, threads);
    if (row_grads != NULL)
        rv = tr_model_aggregation_backward(
            product->aggregation, threads, product->in, job.sum_grads, num_out, job.own_row_grads,
            product->own == NULL ? 0 : num_out, row_grads, num_rows, error);
free_memory:
    free(job.partials.data);
    free(job.sum_grads);
    free(job.own_row_grads);
    return rv;
}
