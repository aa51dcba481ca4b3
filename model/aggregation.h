/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a program's aggregation (troupe/aggregate.h) the products over it read.
 *
 * Thread rules: as of the aggregation.
 */
#ifndef MODEL_AGGREGATION_H
#define MODEL_AGGREGATION_H

#include <troupe/aggregate.h>

#include "model/propagate.h"

const struct propagation *aggregation_prop(const struct tr_model_aggregation *aggregation);

/* TR_EINVAL where these are not as many rows as the block has, or where they are NULL. */
int aggregation_check_shapes(const struct tr_model_aggregation *aggregation, const void *rows,
                             size_t num_rows, const void *out, size_t num_out,
                             struct tr_error *error);

#endif
