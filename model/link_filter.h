/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes out of a batch the edges that a model of links may not see: those that are held out
 * (link_split.h), and in training those between the ends of a pair that it is to learn, in either
 * direction. A model that read from its input that an edge is there would not learn to expect it.
 *
 * The rule is of the ends, so it holds however reverses are numbered, and for edges beside each other.
 * It is applied to what was drawn: a node of more neighbours than its fanout has fewer of them than
 * that, in the mean as many as edges are kept.
 *
 * Ownership: embedded; owns the kept edges, which the blocks of a view then show until the next batch.
 * All zero: empty. Thread rules: one thread.
 */
#ifndef MODEL_LINK_FILTER_H
#define MODEL_LINK_FILTER_H

#include "model/batch_view.h"
#include "model/link_split.h"
#include "model/tensor.h"

/* The edge type that is scored, and the one that has its reverses. */
#define LINK_WAYS 2u

struct link_filter {
    struct storage kept[BATCH_LAYERS_MAX][LINK_WAYS]; /* index and sources of each layer */
    struct storage table;   /* pairs of the batch, by the positions of their ends */
    struct storage degrees; /* [2][nodes of the batch] */
};

/* The view has the original IDs of its nodes. Degrees, where a graph of one type has some, become
 * those of the split. TR_ENOMEM. */
int link_filter_batch(struct link_filter *filter, const struct link_split *split,
                      struct batch_view *view, struct error *error);
void link_filter_fini(struct link_filter *filter);

#endif
