/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches for models of links: beside its pairs, which are the edges that there are, a batch has
 * nodes that stand for their ends in pairs that need be no edges, its negatives, and it can leave its
 * own edges out of what it draws, so that a model cannot read from its input that an edge is there.
 *
 * The options go with a set of pairs or edges (tr_edges_all() and others, troupe/graph.h), to a
 * loader or to tr_sample(). Each node that is the end of a pair, or a negative, is one seed of the
 * batch, however often it comes: first the ends of the pairs, in their order (source, destination),
 * then those of the negatives, likewise, edge type by edge type; so a layer draws for it once.
 *
 * The same seed gives the same negatives on any placement: negative j of pair i of a batch is drawn
 * from these two, the seed, the epoch, the trainer's rank and the number of the batch alone.
 *
 * Thread rules: those of the calls that they are given to.
 */
#ifndef TROUPE_LINK_PREDICTION_H
#define TROUPE_LINK_PREDICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_batch;

/* Ways to draw negatives. All nodes of the type of the end that is drawn are as likely as each other,
 * or as enum tr_negatives_by says, or, of the last, all other pairs of the batch; a negative may be an
 * edge of the graph, or come twice. */
enum tr_negatives_of {
    TR_NEGATIVES_OF_PAIR = 0,  /* num_negatives for each pair */
    TR_NEGATIVES_OF_BATCH = 1, /* num_negatives for all pairs of a batch, which share them */
    /* num_negatives for each pair, with ends of other pairs of the batch, which therefore has no
     * nodes more. A batch of one pair has none. A model that wants every other pair takes
     * them from tr_batch_pairs(). */
    TR_NEGATIVES_IN_BATCH = 2
};

/* The ends of a negative that are drawn; the other is the pair's. */
enum tr_negative_ends {
    TR_NEGATIVE_DESTINATIONS = 0,
    TR_NEGATIVE_SOURCES = 1,
    /* The first half of the negatives of each pair, or of the batch that shares them, has its
     * destinations drawn, and the second its sources; the first has one more of an odd number. */
    TR_NEGATIVE_EITHER = 2,
    TR_NEGATIVE_BOTH = 3 /* any two nodes, whatever the pair */
};

/* Which nodes are likely. */
enum tr_negatives_by {
    TR_NEGATIVES_UNIFORM = 0,
    /* A destination as it has in-edges of the edge type of the pairs, a source as it has out-edges:
     * nodes that have none never come. It is the end of an edge of which each is as likely as the
     * others. Not with TR_NEGATIVES_IN_BATCH. TR_ERANGE: the graph has no edges of the type;
     * TR_EUNSUPPORTED: an older version wrote the partitions. */
    TR_NEGATIVES_BY_DEGREE = 1
};

/* Edges that no layer of a batch draws. They are left out before the draw (troupe/sample.h).
 *
 * A reverse is known by its original ID and by its ends, which are those of the edge, swapped, or
 * as a program lists it; an edge whose ID belongs to no such edge has none. TR_EUNSUPPORTED: the
 * partitions do not have the original IDs of edges (drop_edge_ids, troupe/partition.h). */
enum tr_exclude {
    TR_EXCLUDE_NONE = 0,
    TR_EXCLUDE_SELF = 1, /* those that are the batch's seeds, which have to be a set of edges */
    /* These, and the reverse of each in the same edge type, as `reverse_ids` says. In a set of several
     * edge types those have none whose edges end in another node type than they begin in. */
    TR_EXCLUDE_REVERSE_ID = 2,
    /* These, and the edge of type `reverse_etype`, or as `reverse_etypes` says, with the same original
     * ID as each. */
    TR_EXCLUDE_REVERSE_TYPES = 3
};

/* Which edges of a type with edges both ways are the two ways of one. */
enum tr_reverse_ids {
    /* The i-th edge of the first half of original IDs, and the i-th of the second half: reverses were
     * put behind all edges. */
    TR_REVERSE_HALVES = 0,
    /* Two that follow one another: each edge was followed by its reverse, as --undirected of `troupe
     * import` leaves them, whether it merges edges or not. Where parallel edges, or loops, follow one
     * another too, an edge may stand between two that have its ends swapped: both are left out. */
    TR_REVERSE_ADJACENT = 1,
    /* As the set says of each edge (tr_edges_with_reverses()): not by original IDs, which the
     * partitions need not have. Edges of other sets that it was joined of have none. */
    TR_REVERSE_LISTED = 2
};

/* A batch has at most so many negatives, and at most TR_SAMPLE_EXCLUDED_MAX edges to be left
 * out. */
#define TR_NEGATIVES_MAX (UINT64_C(1) << 26)

struct tr_link_options {
    size_t size;
    uint32_t num_negatives; /* of each pair, or of the batch; 0: none */
    enum tr_negatives_of negatives;
    enum tr_exclude exclude;
    enum tr_reverse_ids reverse_ids; /* of TR_EXCLUDE_REVERSE_ID */
    uint32_t reverse_etype;          /* of TR_EXCLUDE_REVERSE_TYPES: its ends are swapped */
    enum tr_negative_ends negative_ends;
    /* A negative that is an edge of the type, of the whole graph, is drawn again, TR_NEGATIVE_TRIES
     * times in all: of all ends that are drawn, so that pairs that are no edges are as likely, one
     * beside another, as they were. The last draw stands, an edge or not: `num_edges` of
     * tr_batch_negatives() counts those. Each draw reads in-edges of its destination, which are many
     * where destinations are drawn by degree. Not with TR_NEGATIVES_OF_BATCH. */
    bool no_edges;
    unsigned char reserved[3]; /* up to the next word */
    enum tr_negatives_by by;
    /* [tr_graph_num_etypes()], of TR_EXCLUDE_REVERSE_TYPES: by the edge type of edges that of their
     * reverses, TR_ETYPE_NONE (troupe/graph.h) where there are none. NULL: that is `reverse_etype`. */
    const uint32_t *reverse_etypes;
};
#define TR_NEGATIVE_TRIES 16u
#define TR_LINK_OPTIONS_INIT                                                                      \
    {                                                                                             \
        sizeof(struct tr_link_options), 0, TR_NEGATIVES_OF_PAIR, TR_EXCLUDE_NONE,                 \
            TR_REVERSE_HALVES, 0, TR_NEGATIVE_DESTINATIONS, false, "", TR_NEGATIVES_UNIFORM, NULL \
    }

/* The negatives of a batch. With D = num_destinations and S = num_sources of the num_negatives of
 * each pair, all positions in tr_batch_nodes() of the edge type's source and destination types, and
 * sources and destinations of pairs those of tr_batch_pairs():
 *
 * TR_NEGATIVE_DESTINATIONS and _EITHER: pair i has D from its source to destinations[i * D + j].
 * TR_NEGATIVE_SOURCES and _EITHER: it has S from sources[i * S + j] to its destination; of _EITHER
 * they follow the others.
 * TR_NEGATIVE_BOTH: it has D = S from sources[i * S + j] to destinations[i * D + j].
 *
 * Where the batch shares them, they are destinations[j] and sources[j] of every pair. */
struct tr_negatives {
    size_t size;
    uint32_t num_negatives;       /* of each pair */
    uint32_t count;               /* 0 where the batch has no pairs; with ends of others, or one */
    const uint32_t *destinations; /* [count] */
    enum tr_negatives_of negatives;
    enum tr_negative_ends negative_ends;
    uint32_t num_destinations, num_sources;
    const uint32_t *sources; /* [count_sources] */
    uint32_t count_sources;
    uint32_t num_edges; /* negatives that are edges, where `no_edges` was set; else 0 */
};
#define TR_NEGATIVES_INIT                                                                        \
    {                                                                                            \
        sizeof(struct tr_negatives), 0, 0, NULL, TR_NEGATIVES_OF_PAIR, TR_NEGATIVE_DESTINATIONS, \
            0, 0, NULL, 0, 0                                                                     \
    }

/* TR_ENOENT: the loader, or the draw, was asked for none; TR_EINVAL: its pairs are of a set of several
 * edge types. The arrays belong to the batch. */
TR_API int tr_batch_negatives(const struct tr_batch *batch, struct tr_negatives *negatives,
                              struct tr_error *error);
/* Those of the pairs of an edge type, which end in nodes of the types that the edges end in; of a set
 * of several types too, whose pairs have ends of other pairs of their own type in the batch, or share
 * negatives with these. TR_ENOENT, also where the set has no pairs of that type. */
TR_API int tr_batch_negatives_of(const struct tr_batch *batch, uint32_t etype,
                                 struct tr_negatives *negatives, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
