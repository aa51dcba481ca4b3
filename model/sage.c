/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sage.h"

int sage_scales(struct propagation *prop)
{
    int rc = storage_reserve(&prop->scales, prop->num_dst, sizeof(float));
    if (rc != 0)
        return rc;
    float *scale = prop->scales.data;
    for (uint32_t d = 0; d < prop->num_dst; d++)
        scale[d] = sage_scale(prop->edges->index[d + 1] - prop->edges->index[d]);
    prop->dst_scale = scale;
    prop->src_scale = NULL;
    prop->self_scale = NULL;
    prop->skip_self = false;
    return 0;
}
