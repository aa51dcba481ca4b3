/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers' propagation (propagate.h) for programs that compute the rest of a model themselves.
 *
 * What a program passes is checked once, when the aggregation is made; the loops then trust it.
 */
#include <stdlib.h>

#include "model/aggregation.h"
#include "model/kernels.h"
#include "model/row_loop.h"
#include "model/sage.h"

struct tr_model_aggregation {
    struct propagation prop;
    struct block_edges edges;
    struct storage means;
    bool transposed;
};

struct aggregation_job {
    const struct propagation *prop;
    const struct kernels *kernels;
    size_t width, count; /* of the rows that are written */
    const float *from;
    const float *added;
    size_t num_added;
    float *to;
};

static int check_edges(uint32_t num_src, uint32_t num_dst, uint32_t num_edges,
                       const uint32_t *index, const uint32_t *sources, struct tr_error *error)
{
    if (index == NULL || (sources == NULL && num_edges > 0))
        return tr_error_set(error, TR_EINVAL, "index or sources are NULL");
    if (index[0] != 0 || index[num_dst] != num_edges)
        return tr_error_set(error, TR_EINVAL,
                            "index goes from %u to %u; it goes from 0 to the number of edges, %u",
                            index[0], index[num_dst], num_edges);
    for (uint32_t d = 0; d < num_dst; d++)
        if (index[d] > index[d + 1])
            return tr_error_set(error, TR_EINVAL, "index falls from %u to %u at destination %u",
                                index[d], index[d + 1], d);
    uint32_t most = 0;
    for (uint32_t e = 0; e < num_edges; e++)
        most = sources[e] > most ? sources[e] : most;
    if (num_edges > 0 && most >= num_src)
        return tr_error_set(error, TR_EINVAL, "an edge is from source %u; there are %u, from 0",
                            most, num_src);
    return 0;
}

int tr_model_aggregation_create(uint32_t num_src, uint32_t num_dst, uint32_t num_edges,
                                const uint32_t *index, const uint32_t *sources,
                                struct tr_model_aggregation **out, struct tr_error *error)
{
    *out = NULL;
    int rv = check_edges(num_src, num_dst, num_edges, index, sources, error);
    if (rv != 0)
        return rv;
    struct tr_model_aggregation *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for an aggregation");
    made->edges = (struct block_edges){
        .num_dst = num_dst, .num_edges = num_edges, .index = index, .sources = sources
    };
    made->prop.edges = &made->edges;
    made->prop.num_src = num_src;
    made->prop.num_dst = num_dst;
    *out = made;
    return 0;
}

void tr_model_aggregation_destroy(struct tr_model_aggregation *aggregation)
{
    if (aggregation == NULL)
        return;
    propagation_fini(&aggregation->prop);
    storage_fini(&aggregation->means);
    free(aggregation);
}

int tr_model_aggregation_set_weights(struct tr_model_aggregation *aggregation, const float *weights,
                                     size_t count, struct tr_error *error)
{
    if (weights != NULL && count != aggregation->edges.num_edges)
        return tr_error_set(error, TR_EINVAL, "%zu weights of %u edges", count,
                            aggregation->edges.num_edges);
    aggregation->prop.weights = weights;
    aggregation->transposed = false; /* it has a copy of them */
    return 0;
}

int tr_model_aggregation_set_scales(struct tr_model_aggregation *aggregation, const float *from,
                                    const float *to, const float *own, bool without_loops,
                                    struct tr_error *error)
{
    struct propagation *prop = &aggregation->prop;
    if ((own != NULL || without_loops) && prop->num_dst > prop->num_src)
        return tr_error_set(error, TR_EINVAL,
                            "%u destinations are not the first of %u sources, so they have no rows "
                            "of their own",
                            prop->num_dst, prop->num_src);
    prop->src_scale = from;
    prop->dst_scale = to;
    prop->self_scale = own;
    prop->skip_self = without_loops;
    return 0;
}

int tr_model_aggregation_set_mean(struct tr_model_aggregation *aggregation, struct tr_error *error)
{
    struct propagation *prop = &aggregation->prop;
    int rv = storage_reserve(&aggregation->means, prop->num_dst, sizeof(float));
    if (rv != 0)
        return tr_error_set(error, rv, "no memory for the means of %u destinations", prop->num_dst);
    float *means = aggregation->means.data;
    for (uint32_t d = 0; d < prop->num_dst; d++)
        means[d] = sage_mean_scale(prop, d);
    prop->dst_scale = means;
    return 0;
}

static void forward_chunk(void *arg, size_t chunk, size_t worker)
{
    (void)worker;
    const struct aggregation_job *job = arg;
    size_t begin = chunk * ROW_LOOP_ROWS, end = row_loop_end(begin, job->count);
    for (size_t d = begin; d < end; d++)
        propagate(job->prop, job->kernels, (uint32_t)d, job->width, job->from,
                  job->to + d * job->width);
}

static void backward_chunk(void *arg, size_t chunk, size_t worker)
{
    (void)worker;
    const struct aggregation_job *job = arg;
    size_t begin = chunk * ROW_LOOP_ROWS, end = row_loop_end(begin, job->count);
    for (size_t s = begin; s < end; s++) {
        float *to = job->to + s * job->width;
        propagate_back(job->prop, job->kernels, (uint32_t)s, job->width, job->from, to);
        if (s < job->num_added)
            job->kernels->axpy(to, job->added + s * job->width, 1.0f, job->width);
    }
}

const struct propagation *aggregation_prop(const struct tr_model_aggregation *aggregation)
{
    return &aggregation->prop;
}

int aggregation_check_shapes(const struct tr_model_aggregation *aggregation, const void *rows,
                             size_t num_rows, const void *out, size_t num_out,
                             struct tr_error *error)
{
    const struct propagation *prop = &aggregation->prop;
    if (num_rows != prop->num_src || num_out != prop->num_dst)
        return tr_error_set(error, TR_EINVAL,
                            "%zu rows of sources and %zu of destinations; the block has %u and %u",
                            num_rows, num_out, prop->num_src, prop->num_dst);
    if ((rows == NULL && num_rows > 0) || (out == NULL && num_out > 0))
        return tr_error_set(error, TR_EINVAL, "the rows are NULL");
    return 0;
}

int tr_model_aggregation_forward(const struct tr_model_aggregation *aggregation,
                                 struct tr_model_threads *threads, size_t width, const float *rows,
                                 size_t num_rows, float *out, size_t num_out,
                                 struct tr_error *error)
{
    const struct propagation *prop = &aggregation->prop;
    int rv = aggregation_check_shapes(aggregation, rows, num_rows, out, num_out, error);
    if (rv != 0 || width == 0)
        return rv;
    struct aggregation_job job = { .prop = prop,
                                   .kernels = kernels_best(),
                                   .width = width,
                                   .count = num_out,
                                   .from = rows,
                                   .to = out };
    row_loop(threads, job.count, forward_chunk, &job);
    return 0;
}

int tr_model_aggregation_backward(struct tr_model_aggregation *aggregation,
                                  struct tr_model_threads *threads, size_t width,
                                  const float *out_grads, size_t num_out, const float *added,
                                  size_t num_added, float *row_grads, size_t num_rows,
                                  struct tr_error *error)
{
    struct propagation *prop = &aggregation->prop;
    int rv = aggregation_check_shapes(aggregation, row_grads, num_rows, out_grads, num_out, error);
    if (rv == 0 && added != NULL && num_added > num_rows)
        rv = tr_error_set(error, TR_EINVAL, "%zu rows are to be added to %zu", num_added, num_rows);
    if (rv == 0 && !aggregation->transposed) {
        rv = propagation_transpose(prop);
        if (rv != 0)
            return tr_error_set(error, rv, "no memory for %u edges by source",
                                aggregation->edges.num_edges);
        aggregation->transposed = true;
    }
    if (rv != 0 || width == 0)
        return rv;
    struct aggregation_job job = { .prop = prop,
                                   .kernels = kernels_best(),
                                   .width = width,
                                   .count = num_rows,
                                   .from = out_grads,
                                   .added = added,
                                   .num_added = added == NULL ? 0 : num_added,
                                   .to = row_grads };
    row_loop(threads, job.count, backward_chunk, &job);
    return 0;
}
