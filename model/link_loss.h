/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loss of a model of links, and its gradient: the score of a pair of nodes is the dot product of
 * their outputs, and the loss of a pair the mean of the binary cross-entropies of its own score as an
 * edge and of those of its negatives as none.
 *
 * Thread rules: computed on the struct parallel that is given. Losses are summed in blocks of a fixed
 * size, whose sums are added in order; the gradient of a row is summed in the order of the pairs.
 */
#ifndef MODEL_LINK_LOSS_H
#define MODEL_LINK_LOSS_H

#include "graph/batch.h"
#include "model/loss.h"
#include "runtime/base/error.h"
#include "runtime/base/parallel.h"

/* That a batch has pairs, each with negatives of its own, whose ends are among so many seeds: 0, or
 * TR_EMISMATCH. */
int link_loss_check(const struct mini_batch *batch, uint32_t sources, uint32_t destinations,
                    struct error *error);

/* The seeds that sources, or destinations, of pairs are among: those of a node type. */
struct link_ends {
    const float *outputs; /* [seeds][width] */
    float *grads;         /* the same */
    uint32_t seeds;
};

/* The loss of a batch that link_loss_check() passed. result->labelled is the number of pairs. grads get
 * the gradient of sum / divisor. Where both ends have one node type, sources and destinations are
 * equal. TR_ENOMEM. */
int link_loss_compute(struct parallel *parallel, const struct link_ends *sources,
                      const struct link_ends *destinations, uint32_t width,
                      const struct batch_pairs *pairs, double divisor, struct loss_sum *result);

/* The dot product of two rows, in float64 and always in the same order. */
double link_score(const float *a, const float *b, uint32_t width);

/* The cross-entropy of a score as an edge, or as none. */
double link_entropy(double score, bool edge);

#endif
