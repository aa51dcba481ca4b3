/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact inference: each layer over all nodes and all their in-edges, before the next.
 *
 * Models of relations compute the whole graph as one batch (whole_batch.h); what follows is of sage
 * and gcn, but for this: its results depend on the graph alone, not on its partitioning: rows are
 * computed in blocks of original IDs, and the in-edges of a node stand in the order of their
 * original edge IDs wherever the node lives. A struct exact prepares once what every pass over a
 * graph needs (where each node lives, its features; see exact_features.h) and keeps the memory of a
 * pass for the next one: 12 bytes a node, three matrices of nodes x hidden floats, and two blocks
 * of MATMUL_ROWS rows for each worker.
 *
 * Ownership: the model and the partitions are borrowed and must outlive it; the partitions must
 * cover the graph, original IDs 0 .. N-1, and must not change.
 * Thread rules: called by one thread; uses the model's struct parallel.
 */
#ifndef MODEL_EXACT_H
#define MODEL_EXACT_H

#include "graph/part.h"
#include "model/link_split.h"
#include "model/model.h"
#include "model/scores.h"
#include "model/tensor.h"
#include "runtime/base/cancel.h"

struct exact_graph {
    const struct graph_part *const *parts; /* [num_parts], every partition of the graph */
    uint32_t num_parts;
    const char *features; /* the node feature that the model reads; unused where it has width 0 */
    const char *edge_weight; /* the edge feature that a model with weights reads; else unused */
    const char *draw_by, *draw_mask; /* edges that draws by these leave out do not count; or NULL */
    const struct cancel *cancel;     /* asked before each block of rows, on any worker; or NULL */
    /* A model of links is scored without the edges that it held out; NULL: all edges count. */
    const struct link_split *links;
};

struct exact;

/* TR_EUNSUPPORTED for types that the model does not take, TR_EFORMAT where the partitions do not
 * cover the graph, TR_ENOENT, TR_EMISMATCH and TR_ERANGE where the weights of edges are none,
 * TR_ETOOBIG, TR_ENOMEM. The parts and the name are borrowed; *graph is copied. */
int exact_create(struct exact **exact, struct model *model, const struct exact_graph *graph,
                 struct error *error);
void exact_destroy(struct exact *exact);

/* logits: of each target of the model [num_nodes][classes], by original ID, in memory that the
 * caller owns and frees with tensor_fini (embedded; zeroed before the first use). The first call
 * prepares the features: TR_ENOENT where a partition lacks them, TR_EMISMATCH where they do not
 * fit. TR_ECANCELED, after which the logits are unspecified; TR_ENOMEM. */
int exact_infer(struct exact *exact, struct tensor *logits, struct error *error);

/* The rows of the last hidden layer that exact_infer() filled last, of each target
 * [num_nodes][hidden] by original ID, behind its activation; valid until the next call of it. NULL
 * of a model of one layer. */
const struct tensor *exact_hidden(const struct exact *exact);

/* Scores the nodes with the given original IDs by the label table of that name, from logits of
 * all nodes. TR_ERANGE, TR_ENOENT, TR_EMISMATCH, TR_ENOMEM. */
int exact_scores(struct exact *exact, const struct tensor *logits, const char *labels,
                 const uint64_t *original_ids, size_t count, struct scores *scores,
                 struct error *error);

/* Counts those nodes by class and prediction: counts [classes][classes], a row a class of the
 * labels. With softmax alone. Fails as exact_scores() does. */
int exact_confusion(struct exact *exact, const struct tensor *logits, const char *labels,
                    const uint64_t *original_ids, size_t count, uint64_t *counts,
                    struct error *error);

#endif
