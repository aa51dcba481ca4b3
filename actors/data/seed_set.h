/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeds of a loader: segments, one for each node type, one after the other. A segment is a list
 * that a user gave, or a range of ranks, which no list of nodes is ever made of. Places number the
 * seeds of all segments; the order of an epoch is one of places, so it mixes the types. Pairs of
 * nodes, and edges, have a segment for each edge type, with a place for each pair or edge.
 *
 * Ownership: a set holds the lists that it took by references. Thread rules: pure but for these,
 * which are counted (seed_lists.h).
 */
#ifndef ACTORS_DATA_SEED_SET_H
#define ACTORS_DATA_SEED_SET_H

#include <stdbool.h>

#include "actors/data/seed_lists.h"
#include "graph/negatives.h"
#include "partition/store/book.h"
#include "runtime/base/error.h"
#include "schemas/body.h"
#include "schemas/messages.h"

struct seed_segment {
    uint32_t ntype;   /* of nodes */
    uint32_t etype;   /* of edges and pairs */
    uint32_t seeds;   /* enum msg_seeds, but SEVERAL */
    uint32_t num_ids; /* of a seed: 2 of a listed pair, and of an edge with its reverse */
    uint32_t ranks;
    uint64_t first_rank;
    uint64_t begin, count; /* its places */
    /* Of edges and pairs: as in struct msg_seed_segment. */
    uint32_t negative_ranks, negative_source_ranks;
    uint32_t reverse_etype, reverse_rule;
    struct seed_list *list; /* [count * num_ids], a reference, where they are listed and taken */
};

struct seed_set {
    uint32_t num_segments;
    struct seed_segment *segments; /* [num_segments], owned */
};

/* Whether a seed is a pair of nodes: one that a user listed, or the ends of an edge. */
bool seed_kind_is_pair(uint32_t seeds);
/* Whether it is an edge. */
bool seed_kind_is_edge(uint32_t seeds);
/* Whether it is an edge with its reverse. */
bool seed_kind_is_reversed(uint32_t seeds);

/* Holds the seeds of a loader against the book. TR_ERANGE: a type or table that there is not, or
 * ranks beyond its end; TR_EINVAL: segments that make no set, or negatives or edges to be left out
 * where seeds are none that have them; TR_ETOOBIG: batches of too many pairs or negatives;
 * TR_EFORMAT: the body does not have them; TR_EUNSUPPORTED: seeds of a kind that no loader serves,
 * or that these partitions do not. */
int seed_set_check(const struct book *book, const struct msg_loader_open *open, const void *body,
                   uint64_t length, struct error *error);

/* The segments of seeds that were checked, without the lists of those that are listed.
 * TR_ENOMEM. */
int seed_set_init(struct seed_set *set, const struct msg_loader_open *open, const void *body,
                  uint64_t length);
void seed_set_fini(struct seed_set *set);

/* What a loader says of negatives. */
struct negatives_rule seed_set_negatives_rule(const struct msg_loader_open *open);
/* The nodes that an end of the negatives of a segment of a loader whose seeds were checked is drawn
 * from, or the edges that it is the end of; where these have ends of other pairs, or theirs of the
 * pair: nothing that is asked for. */
struct seed_segment seed_set_negatives(const struct book *book, const struct msg_loader_open *open,
                                       const struct seed_segment *pairs, enum pair_end end);

/* Whether the seeds are pairs or edges. */
bool seed_set_is_pairs(const struct seed_set *set);
/* Whether each request for a batch gives the IDs of all its seeds: of a set of one segment. Of
 * several it gives those of some. */
bool seed_set_is_given(const struct seed_set *set);
/* Whether some of them are listed. */
bool seed_set_is_listed(const struct seed_set *set);
/* Takes the loader's lists for them. TR_ENOENT: there are none of that loader (lists may be NULL);
 * TR_EINVAL: a list is longer or shorter than its segment. */
int seed_set_take(struct seed_set *set, struct seed_lists *lists, uint64_t loader,
                  struct error *error);

/* The number of the segment that a place of the set lies in. */
uint32_t seed_set_find(const struct seed_set *set, uint64_t place);

/* Whether a seed is an edge, whose ends its owner is asked for. */
static inline bool seed_segment_has_edges(const struct seed_segment *segment)
{
    return seed_kind_is_edge(segment->seeds);
}

/* Whether it is the rank of an edge, whose ID a partition is asked for before its ends are. */
static inline bool seed_segment_has_edge_ranks(const struct seed_segment *segment)
{
    return segment->seeds == MSG_SEEDS_EDGE_RANKS;
}

/* The table of ranks that has to be asked for a segment's IDs; NULL: the IDs are listed or given,
 * or ranks are IDs. */
const struct rank_table *seed_segment_table(const struct book *book,
                                            const struct seed_segment *segment);

#endif
