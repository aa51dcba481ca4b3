/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partition book: which partition owns which IDs.
 *
 * Partitioning gives each node (and edge) a per-type global ID such that every partition owns
 * one contiguous extent a type. The book lists the extents; the owner of an ID is found by
 * search over them. The per-type ID is the one that troupe uses; the homogeneous ID (DGL's
 * "node_map", over all types, partition-major) is derived from it.
 *
 * Ownership: a book owns all its arrays; immutable after it was filled; any thread may read it.
 */
#ifndef PARTITION_STORE_BOOK_H
#define PARTITION_STORE_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/extent.h"
#include "graph/types.h"
#include "runtime/base/error.h"

/* Partitions are owned by processes and addressed in messages; far above any cluster in use. */
#define BOOK_PARTS_MAX 65536

/* Ranks of a job; a deal has 4 bytes a node for them. */
#define BOOK_TRAINERS_MAX INT32_MAX

/* Halo lists beyond this would list the whole graph in every partition. */
#define BOOK_HALO_HOPS_MAX 8

/* Tables of ranks: of all nodes of each type, of each mask, of the deal of each type. */
#define BOOK_RANKS_MAX 131072

enum rank_set { RANKS_ALL, RANKS_MASK, RANKS_DEAL };

/* The order of a set of nodes, split over the partitions (graph/ranks.h). Those of a deal stand in
 * the order of (trainer, original ID), so that each trainer's are a range of ranks. */
struct rank_table {
    enum rank_set set;
    uint32_t ntype;
    char *mask;         /* the name of a RANKS_MASK's table; NULL for others */
    uint64_t num_ranks; /* members of the set */
    bool stored;        /* false: a rank is its global ID, and no file says so */
    uint64_t deal_hash; /* of a RANKS_DEAL: see seed_split.h */
};

struct book {
    char *graph_name;
    char *part_method;
    uint32_t num_parts;
    uint32_t halo_hops;
    struct graph_types types;
    uint64_t *num_nodes; /* [types.num_ntypes] */
    uint64_t *num_edges; /* [types.num_etypes] */
    /* [type][part], increasing; an empty partition has begin == end. */
    struct extent **node_extents; /* [types.num_ntypes][num_parts] */
    struct extent **edge_extents; /* [types.num_etypes][num_parts] */
    /* Out-edges by place (graph/out_edges.h); NULL: they were not written. */
    struct extent **out_extents; /* [types.num_etypes][num_parts] */
    uint32_t num_ranks;          /* 0: none, as in folders of older versions */
    struct rank_table *ranks;    /* their numbers are those of graph_part's slices */
    bool edge_runs; /* edges are found by rank (graph/edge_runs.h); not in older folders */
};

/* Fills extents from counts: node_counts[ntype * num_parts + part], edge_counts likewise. */
int book_init(struct book *book, const char *graph_name, const struct graph_types *types,
              uint32_t num_parts, const uint64_t *node_counts, const uint64_t *edge_counts);
void book_fini(struct book *book);

/* Out-edges were written: out_counts[etype * num_parts + part], which for each type sum up to its
 * edges. TR_ENOMEM; TR_EFORMAT: they do not. */
int book_add_out_edges(struct book *book, const uint64_t *out_counts);

/* The version of a partition that the book is of. */
uint32_t book_part_version(const struct book *book, uint32_t part);

/* Appends a table. mask is copied. TR_ENOMEM; TR_ETOOBIG: there are BOOK_RANKS_MAX. */
int book_add_ranks(struct book *book, const struct rank_table *table);
/* The number of the table of a set, -1 where there is none. mask: for a RANKS_MASK. */
int book_find_ranks(const struct book *book, enum rank_set set, uint32_t ntype, const char *mask);

/* Whether the edges of a type have runs: very many have none. */
bool book_has_edge_runs(const struct book *book, uint32_t etype);

/* Tells graphs apart: equal for the partitions of one graph (name, types, extents, tables of
 * ranks). */
uint64_t book_hash(const struct book *book);

/* The partition that owns a per-type global ID, or TR_ERANGE. */
int book_node_owner(const struct book *book, uint32_t ntype, uint64_t id);
int book_edge_owner(const struct book *book, uint32_t etype, uint64_t id);
/* The same of a place of an out-edge; TR_ERANGE where none were written. */
int book_place_owner(const struct book *book, uint32_t etype, uint64_t place);

#endif
