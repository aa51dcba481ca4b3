/*
 * A draft: a batch while it is being made.
 *
 * It walks from the seeds outwards. In each hop every node seen so far draws in-neighbours of
 * each edge type that ends in its type; nodes are numbered in the order in which this walk first
 * meets them, whichever partition or message an answer came from. So the batch is the same for
 * every placement.
 *
 * Nodes are placed once, when they appear: which partition owns them, and as which row. The lists of a
 * partition grow with the batch, and serve as the rows of sample requests, of row requests and of
 * direct reads.
 *
 * Everything here works in pieces of a few milliseconds, does no messages and is used by the sampler
 * on its loop alone. Memory is kept from batch to batch.
 */
#ifndef ACTORS_DRAFT_H
#define ACTORS_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/graph_meta.h"
#include "actors/sampled_batch.h"
#include "actors/snapshot.h"
#include "graph/relabel.h"
#include "graph/sample.h"
#include "partition/book.h"
#include "runtime/error.h"
#include "schemas/messages.h"

/* Work between two looks at the mailbox: 1 to 3 ms of it on a slow core. */
#define DRAFT_SLICE_EDGES 65536u
#define DRAFT_SLICE_NODES 65536u
#define DRAFT_SLICE_BYTES ((size_t)8 << 20)

/* The nodes of a type that one partition owns, in the order of the node list. */
struct draft_list {
    uint32_t count;
    struct vec rows;      /* uint32_t[count] */
    struct vec positions; /* uint32_t[count]: in the node list */
};

struct draft_type {
    bool wide;             /* 2^32 nodes or more: IDs of 8 bytes */
    struct relabel nodes;  /* the node list */
    uint32_t placed;       /* the first `placed` nodes are in the lists */
    struct vec owners;     /* uint16_t[placed] */
    struct draft_list *lists; /* [num_parts] */
};

/* What messages answered for one (edge type, partition) in this hop, and how far it is used. */
struct draft_answer {
    uint32_t num_rows;
    uint64_t num_edges;
    struct vec counts;   /* uint32_t[num_rows] */
    struct vec columns;  /* uint32_t or uint64_t [num_edges] */
    struct vec edge_ids; /* uint64_t[num_edges] */
    uint32_t used_rows;
    uint64_t used_edges;
};

/* Memory for one slice, shared by the drafts of a sampler. */
struct draft_space {
    struct sample_space kernel;
    struct vec counts;   /* of local draws, partition after partition */
    struct vec columns;
    struct vec edge_ids;
    struct vec wide;     /* columns of a merged slice before they are numbered */
    struct vec streams;  /* struct stream[num_parts] */
};

struct draft_options {
    const struct book *book;
    const struct graph_meta *meta;
    struct snapshots *snapshots; /* NULL: nothing is read directly */
};

struct draft {
    struct draft_options options;
    uint32_t num_parts, num_ntypes, num_etypes;
    const struct msg_loader_open *loader; /* of the batch: borrowed */
    struct msg_draw draw;
    struct sampled_batch *out;
    struct draft_type *types;      /* [num_ntypes] */
    struct draft_answer *answers;  /* [num_etypes][num_parts] */
    struct snapshot **snapshots;   /* [num_parts]; NULL: asked for by message */
    uintptr_t *bases; /* [num_parts]; see draft_gather */
    uint32_t hop;
    /* Where the work in pieces stands. */
    uint32_t etype;
    uint32_t at;    /* destination node of that type; node of a table */
    uint32_t ntype;
    uint32_t table; /* enum draft_table */
};

/* Tables that may be brought along, in this order. */
enum draft_table {
    DRAFT_FEATURES,
    DRAFT_ORIGINAL_IDS,
    DRAFT_IN_DEGREES,
    DRAFT_OUT_DEGREES,
    DRAFT_LABELS,
    DRAFT_TABLES
};

/* One table of one node type in the batch. */
struct draft_rows {
    uint32_t table;   /* as messages number it */
    size_t row_bytes;
    uint32_t num_rows; /* nodes of the type, or seeds */
    unsigned char *rows;
};

int draft_init(struct draft *draft, const struct draft_options *options);
void draft_fini(struct draft *draft);
void draft_space_fini(struct draft_space *space);

/* Begins a batch whose seeds are ids[order[i]] (ids[i] where order is NULL). Takes over out. */
int draft_begin(struct draft *draft, const struct msg_loader_open *loader,
                const struct msg_draw *draw, struct sampled_batch *out, const uint64_t *ids,
                const uint32_t *order, uint32_t num_seeds, struct error *error);

/* Lets go of snapshots and of the batch, which is returned (NULL: it had none). */
struct sampled_batch *draft_end(struct draft *draft);

/* Places a piece of the nodes that are not placed yet: 1 when more are left, 0 when all are. */
int draft_place(struct draft *draft, struct error *error);

/* Opens the block of the hop (all nodes are placed). */
int draft_open_hop(struct draft *draft, struct error *error);

/* Draws, merges and numbers a piece: 1 more, 0 the hop is done (draft->hop moved on).
 * Answers of remote partitions are there. */
int draft_draw(struct draft *draft, struct draft_space *space, struct error *error);

/* All hops are done: fixes node lists and makes room for the tables. */
int draft_open_rows(struct draft *draft, struct error *error);

/* Copies a piece of the rows that are read directly: 1 more, 0 done. */
int draft_gather(struct draft *draft, struct error *error);

/* Whether that table is wanted for that type; fills *rows. */
bool draft_table_rows(const struct draft *draft, uint32_t ntype, uint32_t table,
                      struct draft_rows *rows);

static inline bool draft_is_local(const struct draft *draft, uint32_t part)
{
    return draft->snapshots[part] != NULL;
}

static inline uint32_t draft_layer(const struct draft *draft)
{
    return draft->loader->num_layers - 1 - draft->hop;
}

static inline int32_t draft_fanout(const struct draft *draft)
{
    return draft->loader->fanout[draft_layer(draft)];
}

static inline struct draft_answer *draft_answer(const struct draft *draft, uint32_t etype,
                                                uint32_t part)
{
    return &draft->answers[(size_t)etype * draft->num_parts + part];
}

static inline bool draft_wants_edge_ids(const struct draft *draft)
{
    return (draft->loader->flags & MSG_LOADER_EDGE_IDS) != 0;
}

#endif
