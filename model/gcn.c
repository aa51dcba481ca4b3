/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gcn.h"

#include <math.h>

float gcn_norm(uint64_t degree)
{
    return 1.0f / sqrtf((float)(degree + 1));
}

int gcn_scales(struct propagation *prop, const struct batch_nodes *nodes,
               const struct weighted_norms *norms)
{
    int rc = storage_reserve(&prop->scales, (size_t)prop->num_src + 2 * (size_t)prop->num_dst,
                             sizeof(float));
    if (rc != 0)
        return rc;
    float *src_scale = prop->scales.data;
    float *dst_scale = src_scale + prop->num_src;
    float *self_scale = dst_scale + prop->num_dst;
    for (uint32_t s = 0; s < prop->num_src; s++)
        src_scale[s] = norms != NULL ? norms->out[nodes->ids[s]] : gcn_norm(nodes->out_degrees[s]);
    for (uint32_t d = 0; d < prop->num_dst; d++) {
        uint32_t drawn = prop->edges->index[d + 1] - prop->edges->index[d];
        float norm = norms != NULL ? norms->in[nodes->ids[d]] : gcn_norm(nodes->in_degrees[d]);
        float each = prop->edges->edge_weights != NULL ? 1.0f
                     : drawn == 0                      ? 0.0f
                                                       : (float)nodes->in_degrees[d] / (float)drawn;
        dst_scale[d] = norm * each;
        self_scale[d] = norm * src_scale[d];
    }
    prop->src_scale = src_scale;
    prop->dst_scale = dst_scale;
    prop->self_scale = self_scale;
    prop->skip_self = true;
    return 0;
}
