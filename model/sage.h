/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GraphSAGE with mean aggregation (Hamilton, Ying, Leskovec: "Inductive Representation
 * Learning on Large Graphs", NIPS 2017): W_self h_v + W_neigh mean(h_u) + b. A node without
 * neighbours has a zero mean. Where edges have weights w the mean is (sum of w h_u) / (sum of w)
 * over the edges drawn, and zero where these weigh 0 together. Where edges are drawn by a feature,
 * w is also how many edges each of them stands for: the mean is then the quotient of two unbiased
 * sums, exact where all rows are equal.
 */
#ifndef MODEL_SAGE_H
#define MODEL_SAGE_H

#include "model/propagate.h"

/* 1 / count, or 0 for none: the scale of a sum that makes it a mean. */
static inline float sage_scale(uint64_t neighbours)
{
    return neighbours == 0 ? 0.0f : 1.0f / (float)neighbours;
}

/* The same of a destination's weights, which may be NULL. */
float sage_mean_scale(const struct propagation *prop, uint32_t dst);

/* Fills the scales of a block whose edges, weights, num_src and num_dst are set; TR_ENOMEM. */
int sage_scales(struct propagation *prop);

#endif
