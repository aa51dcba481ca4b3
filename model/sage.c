/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sage.h"

#include "model/edge_weights.h"

float sage_mean_scale(const struct propagation *prop, uint32_t dst)
{
    uint32_t begin = prop->edges->index[dst], end = prop->edges->index[dst + 1];
    double sum = 0;
    if (prop->weights == NULL)
        return sage_scale(end - begin);
    for (uint32_t e = begin; e < end; e++)
        sum += (double)prop->weights[e];
    return edge_weights_scale(sum);
}

int sage_scales(struct propagation *prop)
{
    int rc = storage_reserve(&prop->scales, prop->num_dst, sizeof(float));
    if (rc != 0)
        return rc;
    float *scale = prop->scales.data;
    for (uint32_t d = 0; d < prop->num_dst; d++)
        scale[d] = sage_mean_scale(prop, d);
    prop->dst_scale = scale;
    prop->src_scale = NULL;
    prop->self_scale = NULL;
    prop->skip_self = false;
    return 0;
}
