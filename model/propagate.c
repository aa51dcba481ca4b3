/* SPDX-License-Identifier: Apache-2.0 */
#include "model/propagate.h"

#include <string.h>

#include <troupe/error.h>

void propagation_fini(struct propagation *prop)
{
    storage_fini(&prop->scales);
    storage_fini(&prop->transposed);
    storage_fini(&prop->transposed_weights);
    storage_fini(&prop->converted);
}

int propagation_transpose(struct propagation *prop)
{
    const struct block_edges *edges = prop->edges;
    int rc = storage_reserve(&prop->transposed, (size_t)prop->num_src + 2 + edges->num_edges,
                             sizeof(uint32_t));
    if (rc == 0 && prop->weights != NULL)
        rc = storage_reserve(&prop->transposed_weights, edges->num_edges, sizeof(float));
    if (rc != 0)
        return rc;
    float *out_weights = prop->weights == NULL ? NULL : prop->transposed_weights.data;
    /* A counting sort; counts stand one place to the right, so that filling leaves begins. */
    uint32_t *index = prop->transposed.data;
    uint32_t *targets = index + prop->num_src + 2;
    memset(index, 0, ((size_t)prop->num_src + 2) * sizeof *index);
    for (uint32_t e = 0; e < edges->num_edges; e++)
        index[edges->sources[e] + 2]++;
    for (uint32_t s = 0; s < prop->num_src; s++)
        index[s + 2] += index[s + 1];
    for (uint32_t d = 0; d < prop->num_dst; d++) {
        for (uint32_t e = edges->index[d]; e < edges->index[d + 1]; e++) {
            uint32_t to = index[edges->sources[e] + 1]++;
            targets[to] = d;
            if (out_weights != NULL)
                out_weights[to] = prop->weights[e];
        }
    }
    prop->out_index = index;
    prop->targets = targets;
    prop->out_weights = out_weights;
    return 0;
}

void propagate(const struct propagation *prop, const struct kernels *kernels, uint32_t dst,
               size_t width, const float *rows, float *aggregate)
{
    const struct block_edges *edges = prop->edges;
    uint32_t begin = edges->index[dst];
    struct gather_list list = { .ids = edges->sources + begin,
                                .count = edges->index[dst + 1] - begin,
                                .readable = edges->num_edges - begin,
                                .scales = prop->src_scale,
                                .weights = prop->weights == NULL ? NULL : prop->weights + begin,
                                .skip = prop->skip_self ? dst : KERNELS_NO_ID };
    kernels->gather(aggregate, width, rows, &list);
    if (prop->dst_scale != NULL)
        kernels->scale(aggregate, prop->dst_scale[dst], width);
    if (prop->self_scale != NULL)
        kernels->axpy(aggregate, rows + (size_t)dst * width, prop->self_scale[dst], width);
}

void propagate_back(const struct propagation *prop, const struct kernels *kernels, uint32_t src,
                    size_t width, const float *aggregate_grads, float *row_grad)
{
    uint32_t begin = prop->out_index[src];
    struct gather_list list = { .ids = prop->targets + begin,
                                .count = prop->out_index[src + 1] - begin,
                                .readable = prop->edges->num_edges - begin,
                                .scales = prop->dst_scale,
                                .weights = prop->out_weights == NULL ? NULL
                                                                     : prop->out_weights + begin,
                                .skip = prop->skip_self ? src : KERNELS_NO_ID };
    kernels->gather(row_grad, width, aggregate_grads, &list);
    if (prop->src_scale != NULL)
        kernels->scale(row_grad, prop->src_scale[src], width);
    if (prop->self_scale != NULL && src < prop->num_dst)
        kernels->axpy(row_grad, aggregate_grads + (size_t)src * width, prop->self_scale[src],
                      width);
}
