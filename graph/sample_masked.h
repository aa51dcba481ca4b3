/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform draws of the edges that a mask allows: those at which it is not 0.
 *
 * The mask counts before anything is drawn, so a row of n allowed edges draws as a row that has
 * these alone: min(k, n) of them without replacement, k with it where n > 0, all for SAMPLE_ALL.
 *
 * Short rows are read whole. In long ones positions are drawn among all, and those that are not
 * allowed, or drawn already, are refused; after some attempts the row is read, and the rest is drawn
 * among the allowed that are left. What was drawn before stays. Each accepted draw is uniform among
 * the allowed edges that were left, however many were refused before it, so where the attempts end
 * changes no probability; a row that began again would prefer sets that are found early.
 *
 * Thread rules: as in graph/sample.h.
 */
#ifndef GRAPH_SAMPLE_MASKED_H
#define GRAPH_SAMPLE_MASKED_H

#include "graph/sample.h"

/* Draws for a request with a mask. */
int sample_masked(struct sample_space *space, const struct sample_request *request,
                  struct sample_result *result);

#endif
