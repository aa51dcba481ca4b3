/* SPDX-License-Identifier: Apache-2.0 */
/* What samplers and clients ask of tables that partitions keep sparse. Thread rules: pure. */
#ifndef ACTORS_DATA_SPARSE_REPLY_H
#define ACTORS_DATA_SPARSE_REPLY_H

#include "graph/graph_meta.h"
#include "schemas/body.h"

/* What a reply brings of such a table. */
static inline struct sparse_form feature_sparse_form(const struct feature_meta *meta)
{
    return (struct sparse_form){ .width = meta->width,
                                 .element_bytes = (uint32_t)tr_dtype_size(meta->dtype),
                                 .row_max = meta->row_nnz_max,
                                 .has_values = meta->has_values };
}

#endif
