/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well a model of links tells edges from other pairs, by the outputs of all nodes.
 *
 * Each held-out pair has LINK_NEGATIVES negatives: its source and a node that is drawn by the key
 * of the pair's place, each node as likely as the others, so they are the same in every run on the
 * graph and on any placement. With the first of them, as many negatives as pairs: ROC AUC is of the
 * scores of all together, ties count half; accuracy is the share of pairs on the right side of 0,
 * and macro-F1 the mean over edges and others; the loss is that of training. MRR is the mean over
 * pairs of 1 / the place of the pair among all its negatives, where pairs with one score have the
 * middle of their places.
 *
 * Thread rules: computed on the struct parallel that is given, in blocks of a fixed size.
 */
#ifndef MODEL_LINK_SCORES_H
#define MODEL_LINK_SCORES_H

#include "model/link_edges.h"
#include "model/scores.h"
#include "model/tensor.h"
#include "runtime/base/parallel.h"

#define LINK_NEGATIVES 100u

/* Outputs of the nodes of both ends, [nodes][width] by original ID, which are the same within a
 * type; part: which the pairs are, so that each has negatives of its own. TR_ENOMEM. */
int link_scores_of(struct parallel *parallel, const struct tensor *sources,
                   const struct tensor *destinations, const struct link_pairs *pairs,
                   enum link_split_part part, struct scores *scores);

#endif
