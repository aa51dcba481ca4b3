/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Specs, which say what to draw where edge types or layers differ; and drawing once, without a
 * loader.
 *
 * A spec has for each (layer, edge type) a fanout, a direction, and whether it draws with
 * replacement. A loader takes one in its options in the place of a fanout a layer. Layers are listed
 * from input to output: the seeds draw the last. It also lists the tables that a batch brings along,
 * of nodes and of edges.
 *
 * Thread rules: one thread at a time changes a spec; tr_sample() may be called by any threads at
 * once. Ownership: a spec is the caller's, and is read during the call that it is given to; it
 * outlives neither its graph nor the session. In a child of fork() calls on it give TR_EFORKED, and
 * to destroy it does nothing.
 */
#ifndef TROUPE_SAMPLE_H
#define TROUPE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_batch;
struct tr_graph;
struct tr_link_options;
struct tr_sample_spec;

/* In the place of a layer or an edge type: every one. */
#define TR_EVERY UINT32_MAX

/* Ways to draw the edges of a node. */
enum tr_sampler {
    /* Each edge as likely as the others or, where weights are set, as they say. */
    TR_SAMPLER_NEIGHBORS = 0,
    /* LABOR-0 (Balin and Catalyurek, NeurIPS 2023): each source node has a random number in a hop, and
     * a node keeps the edges with the smallest ones. So nodes of a batch prefer the same neighbours,
     * and the batch has fewer of them; each node's draw alone is even. Without replacement or
     * weights. */
    TR_SAMPLER_LABOR = 1,
    /* The same, but a node of d edges keeps each whose number is below fanout / d: so many in the
     * mean. */
    TR_SAMPLER_LABOR_POISSON = 2
};

/* The edges of a node that it draws. */
enum tr_direction { TR_IN_EDGES = 0, TR_OUT_EDGES = 1 };

/* Even draws in num_layers layers (1 .. TR_LAYERS_MAX), every fanout 0, without replacement.
 * TR_ERANGE: not so many layers; TR_ETOOBIG: too many edge types for so many layers. */
TR_API int tr_sample_spec_create(struct tr_graph *graph, uint32_t num_layers,
                                 struct tr_sample_spec **out, struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_sample_spec_destroy(struct tr_sample_spec *spec);

/* fanout: TR_FANOUT_ALL (-1) takes every neighbour, 0 none. TR_ERANGE names a layer, an edge type
 * or a fanout that there is not, and changes nothing. */
TR_API int tr_sample_spec_set_fanout(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                                     int32_t fanout, struct tr_error *error);
TR_API int tr_sample_spec_set_replace(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                                      bool replace, struct tr_error *error);

/* TR_IN_EDGES until it is set. Along out-edges the nodes of the edge type's source type draw, of
 * their edges of that type, and their neighbours are the destinations; troupe/batch.h says what
 * such a block is. They are drawn evenly, with or without replacement, or all, but for excluded
 * edges. Features of an edge lie with its destination, so TR_EUNSUPPORTED of what draws by the spec
 * where the term has weights or a mask too, or the sampler is LABOR: import the graph with reverse
 * edge types, which have the features, and draw along their in-edges. TR_EUNSUPPORTED here: the
 * partitions were written without out-edges; partition again with out_edges (`--out-edges`).
 * TR_ERANGE: there is no such direction; nothing changed. */
TR_API int tr_sample_spec_set_direction(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                                        enum tr_direction direction, struct tr_error *error);

/* Draws `fanout` edges over all edge types together, of those that enter a node type (or, where
 * these are set to out-edges, leave it), each as likely as the others whatever its type: the edges
 * of all types are one row, in the types' order, and their blocks share what is drawn of it.
 * TR_EVERY: of each node type by itself. It sets the fanouts of these edge types, and
 * tr_sample_spec_set_fanout() ends it: edge types that are drawn together have the same direction
 * and replace alike, else what draws by the spec fails with TR_EINVAL. Edges are excluded before
 * the draw; TR_EUNSUPPORTED of what draws where some have weights or a mask, or the sampler is
 * LABOR. Each row is drawn once for each of the types. TR_ERANGE names a layer, a node type or a
 * fanout that there is not, and changes nothing. */
TR_API int tr_sample_spec_set_total(struct tr_sample_spec *spec, uint32_t layer, uint32_t ntype,
                                    int32_t fanout, struct tr_error *error);

/* Restricts the draws of an edge type to edges whose feature of that name, one bool or uint8 an
 * edge, is not 0; NULL: to none. The mask counts before the draw: min(fanout, edges that it allows)
 * of them are drawn without replacement. Of TR_EVERY edge type those that have the feature are
 * restricted, and the others are not. TR_ENOENT: none has it; TR_EINVAL names one that is no mask;
 * nothing changed. */
TR_API int tr_sample_spec_set_mask(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                                   const char *name, struct tr_error *error);

/* Draws edges in proportion to their feature of that name, one float32, float64 or integer an edge;
 * NULL: evenly. An edge of weight 0 is never drawn. Without replacement draws are successive: each in
 * proportion to the weights that are left. Blocks have edge_weights (troupe/batch.h). Of TR_EVERY
 * edge type those that have the feature draw by it, and the others evenly. With the first batch each
 * process makes sums of 4.25 bytes an edge and 4 a node, for each of its partitions, edge types,
 * features and masks that are drawn by; they stay as long as the graph is open. A draw fails with
 * TR_EINVAL, which names feature, edge and value, where a weight of its partitions is negative,
 * infinite or no number. TR_ENOENT, TR_EINVAL: as for masks. */
TR_API int tr_sample_spec_set_weights(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                                      const char *name, struct tr_error *error);

/* The way in which all layers draw; TR_SAMPLER_NEIGHBORS until it is set. Where LABOR's numbers are
 * wanted (a fanout above 0), each process makes, with the first batch, an array of the original IDs
 * of all sources: 4 bytes an edge of its partitions, or 8 where there are 2^32 nodes; none where
 * original IDs are the global ones, as in a graph of one partition. It reads those of other
 * partitions' nodes from the graph's folder: TR_ENOENT where that is not there. TR_ERANGE: there is
 * no such way; nothing changed. */
TR_API int tr_sample_spec_set_sampler(struct tr_sample_spec *spec, enum tr_sampler sampler,
                                      struct tr_error *error);

/* The owners of a table's rows. */
enum tr_table_of { TR_OF_NODES = 0, TR_OF_EDGES = 1 };

/* The nodes or edges of a batch for which a table comes along: a layer (the source nodes of its
 * block, or its edges), or one of these. */
#define TR_FOR_ALL UINT32_MAX         /* all nodes, or the edges of every layer */
#define TR_FOR_SEEDS (UINT32_MAX - 1) /* the seeds of the node type */

/* One table more: a feature of a node type or edge type. Tables are numbered in the order in which
 * they are added; tr_batch_table() reads their rows. Batches with tables of edges have the IDs of
 * edges too. TR_ERANGE: there is no such type or layer, TR_ENOENT: the type has no such feature,
 * TR_ETOOBIG: 256 tables are listed; nothing changed. */
TR_API int tr_sample_spec_add_table(struct tr_sample_spec *spec, enum tr_table_of of, uint32_t type,
                                    const char *name, uint32_t where, struct tr_error *error);
TR_API uint32_t tr_sample_spec_num_tables(const struct tr_sample_spec *spec);
/* The number of the first table of that feature, for tr_batch_table(). TR_ENOENT: none is
 * listed. */
TR_API int tr_sample_spec_find_table(const struct tr_sample_spec *spec, enum tr_table_of of,
                                     uint32_t type, const char *name, uint32_t *table,
                                     struct tr_error *error);

/* A draw has at most so many seeds: its IDs, of which a pair has two, are copied for it. */
#define TR_SAMPLE_SEEDS_MAX (UINT64_C(1) << 29)
/* A draw leaves out at most so many edges. More of them are better left out by a mask. */
#define TR_SAMPLE_EXCLUDED_MAX (UINT64_C(1) << 20)

struct tr_sample_options {
    size_t size;
    const struct tr_sample_spec *spec; /* required */
    uint32_t ntype;                    /* of the seeds */
    const uint64_t *seeds;             /* global IDs, in any order, also several times */
    size_t num_seeds;                  /* 1 .. TR_SAMPLE_SEEDS_MAX */
    uint64_t seed;                     /* of the random choices; 0: the session's */
    bool edge_ids;                     /* as in struct tr_loader_options, here and below */
    bool original_ids;
    bool degrees;
    const char *features;
    const char *labels;
    /* A set of pairs or edges (tr_pairs_listed(), tr_edges_listed(), tr_edges_range()), of one edge
     * type or of several (tr_pairs_join()), of this graph: all of it is drawn from, in its order,
     * and ntype, seeds and num_seeds are not read. It is not empty, and has at most
     * TR_SAMPLE_SEEDS_MAX edges, or half as many pairs. NULL: those. */
    const struct tr_nodes *pairs;
    /* Edges that no layer draws: edge i is the global ID excluded[i] of type excluded_etypes[i], in
     * any order, repeats allowed. They are left out before the draw, so that it is as full as the
     * other edges allow, and each draws as it would in a graph that has these alone. */
    const uint64_t *excluded;        /* [num_excluded] */
    const uint32_t *excluded_etypes; /* [num_excluded] */
    size_t num_excluded;             /* 0 .. TR_SAMPLE_EXCLUDED_MAX */
    /* Of pairs, as in struct tr_loader_options. */
    const struct tr_link_options *links;
    /* Seeds of several node types: the first counts[0] seeds are of the type ntypes[0], then come those
     * of ntypes[1], and so on, num_seeds of all; each type stands there once, and ntype is not read.
     * num_ntypes 0: all seeds are of `ntype`. */
    const uint32_t *ntypes; /* [num_ntypes] */
    const size_t *counts;   /* [num_ntypes] */
    size_t num_ntypes;
};

#define tr_sample_options_init(options) tr_sample_options_init_sized((options), sizeof *(options))
TR_API void tr_sample_options_init_sized(struct tr_sample_options *options, size_t size);

/* Draws one batch from these seeds, seed i the i-th node of its type. The same seeds, spec and seed
 * give the same batch on any placement, every time. timeout_ns bounds the whole call.
 * TR_ERANGE names a seed, edge or type that there is not, TR_ENOENT a feature; TR_EUNSUPPORTED: nobody
 * trains in this process; TR_ETIMEDOUT. The caller releases *out, which is NULL after a failure. */
TR_API int tr_sample(struct tr_graph *graph, const struct tr_sample_options *options,
                     int64_t timeout_ns, struct tr_batch **out, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
