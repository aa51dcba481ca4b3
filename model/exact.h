/*
 * Exact inference: each layer over all nodes and all their in-edges, before the next.
 *
 * What it computes depends on the graph alone, not on its partitioning: rows are computed in
 * blocks of original IDs, and the in-edges of a node stand in the order of their original edge
 * IDs wherever the node lives. It holds two matrices of nodes x hidden floats; features are
 * read where they lie, or, if they are to be converted or normalised, from a copy in the
 * second of these matrices.
 *
 * Ownership: the partitions are borrowed and must cover the graph, original IDs 0 .. N-1.
 * Thread rules: called by one thread; uses the model's struct parallel.
 */
#ifndef MODEL_EXACT_H
#define MODEL_EXACT_H

#include "graph/part.h"
#include "model/metrics.h"
#include "model/model.h"
#include "model/tensor.h"

struct exact_graph {
    const struct graph_part *const *parts; /* [num_parts], every partition of the graph */
    uint32_t num_parts;
    const char *features; /* the node feature that the model reads; unused where it has width 0 */
};

/* logits [num_nodes][classes], by original ID, in memory that the caller owns and frees with
 * tensor_fini (embedded; zeroed before the first use).
 * TR_EUNSUPPORTED for several types, TR_EMISMATCH for features that do not fit, TR_EFORMAT where
 * the partitions do not cover the graph, TR_ETOOBIG, TR_ENOMEM. */
int exact_infer(struct model *model, const struct exact_graph *graph, struct tensor *logits,
                struct error *error);

/* Scores the nodes with the given original IDs by the label table of that name; the result of
 * exact_infer is logits. */
int exact_scores(struct model *model, const struct exact_graph *graph, const struct tensor *logits,
                 const char *labels, const uint64_t *original_ids, size_t count,
                 struct scores *scores, struct error *error);

#endif
