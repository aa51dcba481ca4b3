/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a job as plain C structs: the heads that actors fill and read.
 *
 * Each struct is the head of one message kind; its table in messages.fbs is its definition on
 * a link. Bulk (rows, ID arrays) is not in heads: it travels as the message's body, whose layout
 * is stated here beside the head. In a process the head is passed as it is.
 *
 * Every count here that came from outside was checked against the length of the body before an
 * actor sees it (see messages_verify). All integers are little-endian on a link.
 *
 * Kinds: a *pure* request may be repeated and answered by any replica.
 */
#ifndef SCHEMAS_MESSAGES_H
#define SCHEMAS_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/sample_spec.h"

/* Kinds of the job start here; the runtime's own are below. */
#define MESSAGES_FIRST_KIND 64

/* X(KIND, struct, lane, class) — lane: CONTROL or DATA; class: PURE, SEQUENCED, ONCE. */
#define MESSAGES(X)                                                  \
    X(MSG_SAMPLE_REQUEST, msg_sample_request, DATA, PURE)            \
    X(MSG_SAMPLE_REPLY, msg_sample_reply, DATA, PURE)                \
    X(MSG_ROWS_REQUEST, msg_rows_request, DATA, PURE)                \
    X(MSG_ROWS_REPLY, msg_rows_reply, DATA, PURE)                    \
    X(MSG_SELECT_REQUEST, msg_select_request, DATA, PURE)            \
    X(MSG_SELECT_REPLY, msg_select_reply, DATA, PURE)                \
    X(MSG_FETCH_REQUEST, msg_fetch_request, DATA, PURE)              \
    X(MSG_FETCH_REPLY, msg_fetch_reply, DATA, PURE)                  \
    X(MSG_NODES_REQUEST, msg_nodes_request, DATA, PURE)              \
    X(MSG_NODES_REPLY, msg_nodes_reply, DATA, PURE)                  \
    X(MSG_ERROR_REPLY, msg_error_reply, CONTROL, PURE)               \
    X(MSG_LOADER_OPEN, msg_loader_open, DATA, PURE)                  \
    X(MSG_LOADER_OPENED, msg_loader_opened, CONTROL, PURE)           \
    X(MSG_LOADER_CLOSE, msg_loader_close, CONTROL, PURE)             \
    X(MSG_BATCH_REQUEST, msg_batch_request, DATA, PURE)              \
    X(MSG_BATCH_REPLY, msg_batch_reply, DATA, PURE)                  \
    X(MSG_JOIN, msg_join, CONTROL, PURE)                             \
    X(MSG_JOINED, msg_joined, CONTROL, PURE)                         \
    X(MSG_BARRIER, msg_barrier, CONTROL, SEQUENCED)                  \
    X(MSG_BARRIER_DONE, msg_barrier_done, CONTROL, SEQUENCED)        \
    X(MSG_JOB_DONE, msg_job_done, CONTROL, SEQUENCED)                \
    X(MSG_BATCH_PULL, msg_batch_pull, DATA, PURE)                    \
    X(MSG_BATCH_PIECE, msg_batch_piece, DATA, PURE)                  \
    X(MSG_ERA, msg_era, CONTROL, SEQUENCED)                          \
    X(MSG_RESTORE, msg_restore, CONTROL, SEQUENCED)                  \
    X(MSG_RESTORED, msg_restored, CONTROL, SEQUENCED)                \
    X(MSG_REDUCE, msg_reduce, DATA, SEQUENCED)                       \
    X(MSG_REDUCED, msg_reduced, DATA, SEQUENCED)                     \
    X(MSG_CHECKPOINT_PART, msg_checkpoint_part, CONTROL, SEQUENCED)  \
    X(MSG_CHECKPOINT_DONE, msg_checkpoint_done, CONTROL, SEQUENCED)  \
    X(MSG_GROUP_REQUEST, msg_group_request, DATA, SEQUENCED)         \
    X(MSG_GROUP_REPLY, msg_group_reply, DATA, SEQUENCED)             \
    X(MSG_STATUS_REQUEST, msg_status_request, CONTROL, PURE)         \
    X(MSG_STATUS_REPLY, msg_status_reply, CONTROL, PURE)             \
    X(MSG_CHECKPOINT_LOOK, msg_checkpoint_look, DATA, PURE)          \
    X(MSG_CHECKPOINT_SEEN, msg_checkpoint_seen, DATA, PURE)          \
    X(MSG_CHECKPOINT_COPY, msg_checkpoint_copy, DATA, SEQUENCED)     \
    X(MSG_CHECKPOINT_COPIED, msg_checkpoint_copied, DATA, SEQUENCED) \
    X(MSG_CHECKPOINT_FETCH, msg_checkpoint_fetch, DATA, PURE)        \
    X(MSG_CHECKPOINT_PIECE, msg_checkpoint_piece, DATA, PURE)        \
    X(MSG_CHECKPOINT_FIND, msg_checkpoint_find, DATA, PURE)          \
    X(MSG_CHECKPOINT_FOUND, msg_checkpoint_found, DATA, PURE)        \
    X(MSG_CHECKPOINT_COMMIT, msg_checkpoint_commit, DATA, SEQUENCED) \
    X(MSG_CHECKPOINT_DROP, msg_checkpoint_drop, DATA, SEQUENCED)     \
    X(MSG_DRAW_REQUEST, msg_draw_request, DATA, PURE)                \
    X(MSG_TENSOR_REQUEST, msg_tensor_request, DATA, PURE)            \
    X(MSG_TENSOR_REPLY, msg_tensor_reply, DATA, PURE)                \
    X(MSG_TENSOR_READ, msg_tensor_read, DATA, PURE)                  \
    X(MSG_TENSOR_WRITE, msg_tensor_write, DATA, PURE)                \
    X(MSG_TENSOR_STORE, msg_tensor_store, DATA, PURE)                \
    X(MSG_REVERSE_REQUEST, msg_reverse_request, DATA, PURE)          \
    X(MSG_REVERSE_REPLY, msg_reverse_reply, DATA, PURE)

/* Sections of one request or reply: every type of a graph that has many, several times over. */
#define MSG_SECTIONS_MAX 65536u

/* No reply body is larger: half of a link's smallest window. A sample reply stops there and is
 * continued; requesters make requests for rows and selections small enough, larger ones are refused
 * with TR_ETOOBIG. */
#define MSG_REPLY_BYTES_MAX (UINT64_C(64) << 20)

/* A batch flattened; a larger one is refused with TR_ETOOBIG by the sampler that made it. */
#define MSG_BATCH_BYTES_MAX (UINT64_C(4) << 30)

/* Values of one piece of a reduction: 4 MiB, which a turn adds in a millisecond. */
#define MSG_REDUCE_VALUES_MAX (1u << 20)

enum message_kind_id {
    MSG_FIRST_ = MESSAGES_FIRST_KIND - 1,
#define X(kind, type, lane, class) kind,
    MESSAGES(X)
#undef X
        MSG_END_,
};

/* The key of a draw, beside the node itself: see graph/key.h. */
struct msg_draw {
    uint64_t seed;
    uint64_t batch;
    uint32_t epoch;
    uint32_t rank;
    uint32_t hop;
};

/*
 * Draw in-neighbours. One request a (hop, partition).
 * Body: struct msg_sample_section[num_sections], then of each section uint32_t rows[num_rows] and,
 * as row_fields says, uint32_t salts[num_rows], int64_t times[num_rows], uint32_t
 * exclusions[num_rows] and the uint64_t excluded[] that these count, then uint64_t
 * edges[num_excluded], increasing: per-type global IDs of edges that are not drawn; each at a
 * multiple of its element. A section with the rows of the one before it says so in `same_rows` and
 * brings edges alone.
 */
struct msg_sample_request {
    struct msg_draw draw;
    uint32_t part;
    uint32_t version;
    uint32_t num_sections;
    uint32_t sampler;    /* enum sample_kind */
    uint32_t row_fields; /* SAMPLE_ROW_*: what follows the rows of each section */
    uint32_t edge_ids;   /* 0 or 1: also give edge positions */
    /* The caller's room; the server stops before the row that exceeds it (one row that exceeds it
     * alone is refused with TR_ETOOBIG). 0: MSG_REPLY_BYTES_MAX. */
    uint64_t reply_bytes_max;
    uint32_t skip_sections; /* continue a reply that did not fit: sections done ... */
    uint32_t skip_rows;     /* ... and rows done of the next */
};

struct msg_sample_section {
    uint32_t etype;
    uint32_t num_rows;
    uint32_t same_rows; /* 1: the rows of the section before */
    struct sample_term term;
    uint32_t num_excluded;
};

/*
 * Body: for each section answered, in order: struct msg_sample_answer, uint32_t counts[num_rows],
 * columns[num_edges] (per-type global IDs, u32 or u64), if asked for uint64_t edge_ids[num_edges],
 * and where the sampler gives some float edge_weights[num_edges]; each of these starts at a
 * multiple of 8. Read it with schemas/body.h.
 */
struct msg_sample_answer {
    uint32_t num_rows;     /* done here: of the first section from skip_rows on */
    uint32_t column_bytes; /* 4 or 8 */
    uint64_t num_edges;
    uint32_t edge_ids; /* 0 or 1: they follow the columns */
    uint32_t weights;  /* 0 or 1: they follow those */
};

struct msg_sample_reply {
    uint32_t num_sections; /* sections in this reply; the last one may be partly done */
    uint32_t done;         /* 1: everything was answered */
};

/* Special tables beside the features of a node type (0, 1, ...). */
#define MSG_TABLE_ORIGINAL_ID 0xfffffffdu /* u64 rows */
#define MSG_TABLE_IN_DEGREE 0xfffffffeu   /* u32 rows */
#define MSG_TABLE_OUT_DEGREE 0xffffffffu  /* u32 rows */
/* From here on slices of tables of ranks, by number; u64 rows, which are nobody's. A fetch of them
 * has ranks for IDs. */
#define MSG_TABLE_RANKS 0xf0000000u
/* From here on features of an edge type, by number: the section's type is of edges then. A fetch of
 * them has IDs of edges. */
#define MSG_TABLE_EDGES 0xe0000000u
/* Both ends of edges, by their positions: two u64 a row, global IDs of source and destination. The
 * section's type is of edges. */
#define MSG_TABLE_EDGE_ENDS 0xd0000000u
/* Edges by rank (graph/edge_runs.h), by the places of ranks in the partition's slice: a u64 a row,
 * a global ID. The section's type is of edges; a fetch of them has ranks for IDs. */
#define MSG_TABLE_EDGE_RANKS 0xc0000000u
/* The in-edges of nodes: two u64 a row, the global ID of the first one and their number. The
 * section's type is of edges; rows, and the IDs of a fetch, are of its destination type. */
#define MSG_TABLE_IN_EDGES 0xa0000000u
/* The sources of edges, by their positions: a u64 a row. The section's type is of edges. */
#define MSG_TABLE_EDGE_SOURCES 0x90000000u
/* The out-edges of nodes: two u64 a row, the place of the first one (graph/out_edges.h) and their
 * number. The section's type is of edges; rows, and the IDs of a fetch, are of its source type. */
#define MSG_TABLE_OUT_EDGES 0x80000000u
/* Out-edges, by their positions in the partition: two u64 a row, the global IDs of edge and
 * destination. The section's type is of edges; a fetch of them has places for IDs. */
#define MSG_TABLE_OUT_PLACES 0x70000000u
/* The original IDs of edges, by their positions: a u64 a row. The section's type is of edges. */
#define MSG_TABLE_EDGE_ORIGINALS 0x60000000u
/* Rows of a tensor (struct msg_tensor_request) by nodes' IDs. Of a fetch alone, which says which. */
#define MSG_TABLE_TENSOR 0xb0000000u

/*
 * Read rows of tables of owned nodes. Body: struct msg_rows_section[num_sections], then
 * uint32_t rows[num_rows] of each section (none where same_rows).
 */
struct msg_rows_request {
    uint32_t part;
    uint32_t version;
    uint32_t num_sections;
    uint32_t sparse; /* 1: tables that are kept sparse are answered so; else all rows are dense */
};

struct msg_rows_section {
    uint32_t ntype; /* or an edge type */
    uint32_t table;
    uint32_t num_rows;
    uint32_t same_rows;
};

/*
 * Body: for each section, 64-byte aligned, num_rows * row_bytes. Where a request that says sparse
 * has a section of a sparse table, there is struct msg_sparse_rows in its place and behind it
 * either the num_rows * row_bytes, 64-byte aligned, where these are fewer bytes; or uint32_t
 * counts[num_rows], uint32_t columns[num_elements] and, 8-byte aligned, the values of the elements,
 * in the table's type (none: each is 1).
 */
struct msg_rows_reply {
    uint32_t num_sections;
};

struct msg_sparse_rows {
    uint64_t num_elements; /* 0 where the rows are dense */
    uint32_t dense;
    uint32_t has_values;
};

#define MSG_MASK_ALL 0xffffffffu

/* Which owned nodes have a non-zero row in a one-element mask table (MSG_MASK_ALL: all),
 * from row `begin` on, at most `rows_max` answers. */
struct msg_select_request {
    uint32_t part;
    uint32_t version;
    uint32_t ntype;
    uint32_t table;
    uint64_t begin;
    uint32_t rows_max;
};

/* Body: uint64_t global_ids[count], uint64_t original_ids[count]. */
struct msg_select_reply {
    uint64_t next; /* row to go on with; = owned nodes when finished */
    uint32_t count;
    uint32_t done;
};

/* Which in-edges of owned nodes have an original ID, or any of them (MSG_ANY_EDGE), and a source.
 * Body: uint64_t originals[count], uint64_t sources[count] (per-type global IDs), uint32_t
 * rows[count]. */
struct msg_reverse_request {
    uint32_t part;
    uint32_t version;
    uint32_t etype;
    uint32_t count;
};

/* Body: uint64_t edge_ids[count], per-type global IDs; MSG_NO_EDGE: no edge is so. */
struct msg_reverse_reply {
    uint32_t count;
};
#define MSG_NO_EDGE UINT64_MAX
#define MSG_ANY_EDGE (UINT64_MAX - 1)

/* To a client: rows of a table for IDs in any order, of all partitions. Body:
 * uint64_t global_ids[count]. */
struct msg_fetch_request {
    uint64_t timeout_ns; /* from its arrival on; the call itself should wait a little longer */
    uint64_t first;      /* the requester's number of ids[0], for messages */
    uint64_t row_bytes;  /* the table's */
    uint32_t ntype;      /* or an edge type, as the table says */
    uint32_t table;      /* a feature's number or MSG_TABLE_* */
    uint32_t count;
    uint32_t era;    /* of a tensor, as its handle has it */
    uint64_t tensor; /* the number of MSG_TABLE_TENSOR's */
};

/* Body: count * row_bytes, in the order of the IDs. */
struct msg_fetch_reply {
    uint64_t row_bytes;
    uint32_t count;
};

/* To a client: the nodes of a type whose row of a mask is not zero (MSG_MASK_ALL: all), of all
 * partitions. */
struct msg_nodes_request {
    uint64_t timeout_ns;
    uint32_t ntype;
    uint32_t table;
};

/* Body: uint64_t global_ids[count], original_ids[count], in the order of original IDs. */
struct msg_nodes_reply {
    uint64_t count;
};

/* The reply to any request that could not be served. Body: the text, not terminated. */
struct msg_error_reply {
    int32_t code;       /* TR_E* */
    uint32_t process_1; /* as in struct error: the process that it is about */
};

/* The kinds of seeds that a loader has. */
enum msg_seeds {
    MSG_SEEDS_LISTED,      /* nodes, in the lists of a proxy's process; in the body of a draw */
    MSG_SEEDS_RANKS,       /* nodes: a range of ranks of a table (graph/ranks.h) */
    MSG_SEEDS_EDGES,       /* edges of an edge type, listed in the same way */
    MSG_SEEDS_PAIRS,       /* pairs of nodes, listed in the same way */
    MSG_SEEDS_GIVEN,       /* nodes, in each request for a batch: to a sampler */
    MSG_SEEDS_SEVERAL,     /* of several types: the body has a segment for each */
    MSG_SEEDS_PAIRS_GIVEN, /* pairs, in each request for a batch: to a sampler */
    MSG_SEEDS_EDGES_GIVEN, /* edges, in each request for a batch: to a sampler */
    MSG_SEEDS_EDGE_RANKS,  /* edges of an edge type: a range of their ranks (graph/edge_runs.h) */
    MSG_SEEDS_EDGES_REVERSED,      /* edges, listed, each with its reverse in the same edge type */
    MSG_SEEDS_EDGES_REVERSED_GIVEN /* the same in each request for a batch: to a sampler */
};

/* The IDs of a draw's seeds to a proxy in the process that lists them; of a batch's seeds to a
 * sampler, which may be elsewhere: 8 million, or 4 million pairs, are beyond any batch. */
#define MSG_DRAW_LISTED_MAX (UINT64_C(1) << 29)
#define MSG_BATCH_LISTED_MAX (UINT64_C(1) << 23)

/* A batch's request counts the IDs that it gives with 32 bits, and a pair has two; so has the
 * list of nodes that the ends of edges stand in. */
#define MSG_PAIRS_BATCH_MAX (UINT32_MAX / 2)

/* The seeds of one type in a set of several: of nodes LISTED to a proxy, GIVEN to a sampler, or
 * RANKS; or all segments are of edges, or all of pairs, in the ways that these have.
 * Segments stand one after the other; the places of an epoch's order run over all of them. */
struct msg_seed_segment {
    uint32_t ntype; /* of nodes: no other segment has the same */
    uint32_t seeds; /* enum msg_seeds */
    uint32_t ranks; /* as in msg_loader_open, from here on */
    uint32_t etype; /* of edges and pairs: no other segment has the same */
    uint64_t first_rank;
    uint64_t num_seeds;
    uint32_t negative_ranks, negative_source_ranks;
    uint32_t reverse_etype;
    uint32_t reverse_rule; /* REVERSE_NONE: edges of this type have no reverses */
};

/* A sampler asks a partition for the ranks of all segments at once, or for the ends and original IDs
 * of their edges. */
#define MSG_SEGMENTS_MAX (MSG_SECTIONS_MAX / 2)

/*
 * The batches to draw. Body: of seeds of several types struct msg_seed_segment[num_segments]; then,
 * the last spec_bytes of it, a sample_spec (schemas/sample_spec.h). A list that a user gave is in
 * no message: its owner has put it into the lists of the proxy's process under the loader's number
 * (actors/data/seed_lists.h), where the proxy reads it, which gives samplers the seeds of each
 * batch; so no link carries more of it than a batch, and a proxy refuses a loader over a list that
 * another process asks it to open. Listed nodes are global IDs in the order of original IDs. A
 * listed pair has two IDs, its source's and its destination's, in the order in which pairs were
 * given; a listed edge is its per-type global ID, where edges have reverses two, of which the second is
 * that of its reverse or MSG_NO_EDGE. Opening the same loader again is harmless.
 */
struct msg_loader_open {
    uint64_t loader;
    uint64_t seed;
    uint64_t num_seeds;
    uint32_t ntype;
    uint32_t batch_size;
    uint32_t rank;
    uint32_t world;
    uint32_t features; /* table of the input nodes; MSG_MASK_ALL: none */
    uint32_t labels;   /* table of the seeds; MSG_MASK_ALL: none */
    uint32_t flags;    /* MSG_LOADER_* */
    uint32_t prefetch; /* for a proxy: batches in flight or waiting; 0: 2 a sampler */
    /* 0: the seeds are those of all trainers. Else they are this rank's own, and this is how many
     * all trainers have together, evenly. */
    uint64_t all_seeds;
    uint32_t spec_bytes;
    uint32_t seeds;      /* enum msg_seeds */
    uint32_t ranks;      /* the number of the table of ranks */
    uint64_t first_rank; /* of num_seeds */
    /* The types of seeds of several, whose sum is num_seeds; what the segments say of theirs is not
     * read here then. */
    uint32_t num_segments;
    uint32_t etype; /* of edges and pairs, whose types of nodes it says; ntype is not read then */
    /* Of edges and pairs with MSG_LOADER_ENDS_ONCE: how many negatives each pair has, or all of them
     * together (graph/negatives.h), and the table of ranks of the nodes of the destination type that
     * they are drawn from. */
    uint32_t num_negatives;
    uint32_t negative_ranks;
    /* With MSG_LOADER_EXCLUDE_REVERSE: the edge type of the reverses, and by which rule their
     * original IDs follow from those of the seeds (enum reverse_rule, graph/reverse_edges.h). */
    uint32_t reverse_etype;
    uint32_t reverse_rule;
    /* Which ends of negatives are drawn (enum negative_ends, graph/negatives.h), and the table of
     * ranks of the nodes of the source type. */
    uint32_t negative_ends;
    uint32_t negative_source_ranks;
};

#define MSG_LOADER_SHUFFLE 2u
#define MSG_LOADER_DROP_LAST 4u
#define MSG_LOADER_EDGE_IDS 8u
#define MSG_LOADER_ORIGINAL_IDS 16u
#define MSG_LOADER_DEGREES 32u
#define MSG_LOADER_ENDS_ONCE 64u         /* a node that is the end of several pairs is one seed */
#define MSG_LOADER_SHARED_NEGATIVES 128u /* all pairs of a batch have the same negatives */
#define MSG_LOADER_EXCLUDE_SELF 256u     /* no layer draws an edge that is a seed of the batch */
#define MSG_LOADER_EXCLUDE_REVERSE 512u  /* with that: nor one that is the reverse of one */
/* Negatives have ends of other pairs; none are shared. */
#define MSG_LOADER_NEGATIVES_IN_BATCH 1024u
/* Those that are edges are drawn again. */
#define MSG_LOADER_NEGATIVES_NO_EDGES 2048u
/* A node is as likely as it has edges; no tables of ranks are named. */
#define MSG_LOADER_NEGATIVES_BY_DEGREE 4096u

/* Negatives that a batch may have: the positions of their nodes are a list of it, or two. */
#define MSG_NEGATIVES_BATCH_MAX (UINT64_C(1) << 26)

/* To a sampler, or to a proxy for one of them: draw one batch, of no loader. It is answered as a
 * batch of a loader of that number, step 0 of epoch 0, is. Body: of seeds of several types struct
 * msg_seed_segment[num_segments], whose seeds are given; the IDs of the seeds as a list of a
 * loader's has them (MSG_LOADER_OPEN), segment after segment; then, of listed nodes, what the
 * spec's row_fields name of SAMPLE_SEED_FIELDS (as behind the rows of a msg_sample_request), then
 * the edges that are left out, struct msg_excluded_edge[num_excluded], then a sample_spec, at a
 * multiple of 8. Other seeds bring no fields. */
struct msg_draw_request {
    uint64_t draw; /* no loader of the requester's process has the number */
    uint64_t seed;
    uint32_t num_seeds; /* 1 or more */
    uint32_t ntype;
    uint32_t features; /* as in msg_loader_open, from here on */
    uint32_t labels;
    uint32_t flags;
    uint32_t spec_bytes;
    uint32_t seeds; /* a kind that is listed, or MSG_SEEDS_SEVERAL */
    uint32_t etype;
    uint32_t num_excluded;
    uint32_t num_negatives; /* as in msg_loader_open, from here on */
    uint32_t negative_ranks;
    uint32_t reverse_etype;
    uint32_t reverse_rule;
    uint32_t negative_ends;
    uint32_t negative_source_ranks;
    uint32_t num_segments;
};

/* Edges that a draw leaves out: a turn of a sampler lists so many. They are in the order of their
 * types, then of their IDs, which saves the sampler from sorting them. */
#define MSG_EXCLUDED_MAX (1u << 20)

/* An edge that a draw leaves out: its type, and its per-type global ID. */
struct msg_excluded_edge {
    uint64_t etype;
    uint64_t edge;
};

struct msg_loader_opened {
    uint64_t loader;
    uint64_t num_batches;
};

struct msg_loader_close {
    uint64_t loader;
};

/* A step that no epoch has: the client gives up its epoch (to a proxy). */
#define MSG_BATCH_NONE UINT64_MAX

/* To a sampler: make it. To a proxy, as a call: say when it is there; as a plain message: all
 * before it were taken. Body, to a sampler whose loader has seeds that are given: uint64_t
 * global_ids[num_seeds], those of the batch that are given, in its order. */
struct msg_batch_request {
    uint64_t loader;
    uint64_t batch; /* step in the epoch */
    uint32_t epoch;
    uint32_t num_seeds; /* IDs in the body: two of a pair, and of an edge with its reverse */
};

/* The batch is made. It lies in the store (actors/data/batch_store.h) until it is collected there,
 * or, of a sampler in another process, with the sampler, to be pulled. */
struct msg_batch_reply {
    uint64_t loader;
    uint64_t batch;
    uint64_t
        bytes; /* to be pulled; 0: it lies in the store. full: what the store had no room for */
    uint32_t epoch;
    uint32_t full; /* 1: the batch was made, but the account that it goes to is full */
};

struct kinds;
struct error;

/* Registers all kinds with the runtime. TR_EEXIST: an id is taken. */
int messages_register(struct kinds *kinds, struct error *error);

/* A trainer's proxy and its reducer are members each; eras are those of the reducers. */
enum msg_role {
    MSG_ROLE_SERVER,
    MSG_ROLE_SAMPLER,
    MSG_ROLE_TRAINER,
    MSG_ROLE_REDUCER,
    MSG_ROLE_PROCESS, /* its rank is its number in the plan */
};

struct msg_join {
    uint32_t role;
    uint32_t rank;
    uint32_t era;  /* of a reducer: that it was restored to; 0: none, or it is over */
    uint32_t seen; /* the newest era that it heard of */
    uint64_t plan; /* marks of its plan, which are the coordinator's */
    uint64_t graph;
    /* Barriers of `era` as a reducer knows them, for a coordinator that was started again: the last
     * that all came to, and the last that is over, which timed out where it is a later one. Names
     * and sequences; sequence 0: none. */
    uint64_t passed_name, passed_sequence;
    uint64_t over_name, over_sequence;
};

struct msg_joined {
    uint32_t rank;
    uint32_t era;
};

struct msg_barrier {
    uint64_t name; /* hash of the barrier's name */
    uint64_t sequence;
    uint32_t rank;
    uint32_t count;
    uint32_t era; /* 0: the barrier is of no era */
};

/* The outcome: of that sequence, or, where it timed out, of all that ended up to a later one. */
struct msg_barrier_done {
    uint64_t name;
    uint64_t sequence;
    uint32_t era;
    int32_t status; /* 0 or TR_ETIMEDOUT */
};

struct msg_job_done {
    int32_t code;
    uint32_t rank;
    uint32_t complete; /* 1: the job's result is written, so nobody is waited for */
};

/* An offset that no batch has: it is not wanted any more. */
#define MSG_PULL_NONE UINT64_MAX

/* To a sampler: a piece of a batch that it keeps for the requester. The one at the end is the last
 * that is asked for: the sampler keeps the batch no longer. */
struct msg_batch_pull {
    uint64_t loader;
    uint64_t batch;
    uint64_t offset; /* a multiple of 64, or MSG_PULL_NONE */
    uint32_t epoch;
    uint32_t bytes_max; /* of this piece */
};

/* Body: count bytes of the flattened batch (actors/data/batch_flat.h) from offset on. */
struct msg_batch_piece {
    uint64_t offset;
    uint32_t count;
};

/* To reducers: every era before this one is over. */
struct msg_era {
    uint32_t era;
};

/* The most bytes of a path in a body. */
#define MSG_PATH_BYTES_MAX 4096u

/* To the coordinator: a reducer that joined is ready for the next era. Answered when all are.
 * Body: the folder of checkpoints, not terminated; none: none are kept. */
struct msg_restore {
    uint32_t rank;
    uint32_t world;
    uint32_t path_bytes;
    uint32_t keep; /* checkpoints; 0: coordinator.h's */
};

/* Body: struct address[world], the reducers of the era by rank. */
struct msg_restored {
    uint64_t step;  /* of the checkpoint; 0 and found 0: there is none */
    uint64_t bytes; /* of this rank's part of it */
    uint32_t crc32c;
    uint32_t found; /* 0 or 1 */
    uint32_t era;
    uint32_t world;
    uint32_t saved; /* the era of the checkpoint */
    uint32_t ended; /* the number that the last MSG_ERA had; 0: there was none */
};

/* To the owner of a piece: rank's addends. Body: float values[count]. */
struct msg_reduce {
    uint64_t sequence; /* from 1 on, in each era */
    uint64_t total;    /* values of the whole reduction */
    uint32_t piece;    /* the piece's number; `count` values from piece * piece_values on */
    uint32_t piece_values;
    uint32_t count;
    uint32_t era;
    uint32_t rank;
    uint32_t world;
};

/* Body: float sums[count]. */
struct msg_reduced {
    uint64_t sequence;
    uint32_t piece;
    uint32_t count;
    uint32_t era;
};

/* To the coordinator: a part of a checkpoint is on disk, or cannot be (status). Answered when all
 * ranks have said so: the checkpoint is there for all of them or for none. Body: as of a restore,
 * for a coordinator that was started again since. */
struct msg_checkpoint_part {
    uint64_t step;
    uint64_t bytes;
    uint64_t sequence; /* of this rank's saves in its era, from 1: tells a repeat from a new try */
    uint32_t crc32c;
    uint32_t era;
    uint32_t rank;
    uint32_t world;
    uint32_t path_bytes;
    uint32_t keep;
    int32_t status; /* 0, or why this rank has no part */
};

/* An answer; or, to a coordinator that was started again, what a rank was answered before: that
 * there is no such checkpoint (status). */
struct msg_checkpoint_done {
    uint64_t step;
    uint64_t sequence;
    uint32_t era;
    int32_t status;
};

/* To a reducer, from its trainer: one operation at a time. */
enum msg_group_operation {
    MSG_GROUP_RESTORE,
    /* Body: float values[count]. Value: its number since the trainer was restored, from 1, so that
     * the last one may be asked for again; 0: the next. */
    MSG_GROUP_REDUCE,
    MSG_GROUP_BARRIER, /* value: hash of the name; count: its number, as above */
    MSG_GROUP_SAVE,    /* value: the step; body: unsigned char part[count] */
    /* Value: the job's result for this rank, as a uint32_t. Count 1: that result is written, so the
     * job is over for all ranks; no death of another takes it back. */
    MSG_GROUP_FINISH,
    MSG_GROUP_CANCEL, /* ends the operation under way with TR_ECANCELED */
    /* A save without a part; value: the step; count: why, as a uint32_t. A repeat of a save of that
     * step, and the other way round. */
    MSG_GROUP_SKIP,
    /* Ends the call that waits with TR_ECANCELED; its operation goes on, for a repeat to join. */
    MSG_GROUP_DISMISS
};

struct msg_group_request {
    uint64_t value;
    uint64_t count;
    uint64_t timeout_ns; /* from its arrival on; the call itself should wait a little longer */
    /* The number of the trainer's save; a repeat of a call that timed out has the same, so that an
     * answer which came too late is given again. 0: another operation. */
    uint64_t number;
    uint32_t operation;
};

/* Body: the sums of a reduction, or the part of a restored checkpoint. */
struct msg_group_reply {
    uint64_t step;
    uint64_t count;
    uint32_t found; /* 1: step and body are of a checkpoint */
    uint32_t era;
};

/* To the actor "status" of any process; observers may ask. */
struct msg_status_request {
    uint32_t version; /* of the document that is understood: 1 */
};

/* Body: a JSON document of count bytes, see actors/report/status.h. */
struct msg_status_reply {
    uint64_t count;
};

/* Bytes of a piece of a checkpoint's part. */
#define MSG_CHECKPOINT_PIECE_MAX (8u << 20)

/* To the store of a host: is the part there, whole? What cannot be read now is answered with the
 * failure. A repeat gets the answer to the first, which is refused with TR_ECANCELED then. Body:
 * the folder of checkpoints. */
struct msg_checkpoint_look {
    uint64_t step;
    uint64_t bytes;
    uint32_t crc32c;
    uint32_t era; /* in which it was saved */
    uint32_t rank;
    uint32_t path_bytes;
};

struct msg_checkpoint_seen {
    uint32_t found; /* 0 or 1 */
};

/* A piece of a part that is being saved, to be kept on another host too; in the order of offsets.
 * The last one is answered when all of it is on disk. Body: unsigned char piece[count], then the
 * folder. */
struct msg_checkpoint_copy {
    uint64_t step;
    uint64_t bytes; /* of the part */
    uint64_t offset;
    uint64_t sequence; /* of the rank's saves in the era */
    uint32_t crc32c;   /* of the part */
    uint32_t era;
    uint32_t rank;
    uint32_t count;
    uint32_t path_bytes;
};

struct msg_checkpoint_copied {
    uint64_t next; /* the offset to go on from */
};

/* A piece of a part that its own host lost. Body: the folder. */
struct msg_checkpoint_fetch {
    uint64_t step;
    uint64_t bytes; /* of the part */
    uint64_t offset;
    uint32_t crc32c; /* of the part */
    uint32_t era;
    uint32_t rank;
    uint32_t path_bytes;
};

/* Body: unsigned char piece[count]. */
struct msg_checkpoint_piece {
    uint64_t offset;
    uint32_t count;
};

/* The newest manifest of a step before that one. Body: the folder. */
struct msg_checkpoint_find {
    uint64_t before;
    uint32_t path_bytes;
};

struct msg_checkpoint_entry {
    uint64_t bytes;
    uint64_t crc32c;
};

/* Body: struct msg_checkpoint_entry[world]. */
struct msg_checkpoint_found {
    uint64_t step;
    uint32_t era;
    uint32_t world;       /* 0: there is none */
    uint32_t passed_over; /* 1: a newer one is damaged, or its manifest is gone */
};

/* The manifest of a checkpoint whose parts are on disk. Answered with MSG_CHECKPOINT_DONE when it
 * is too. Body: struct msg_checkpoint_entry[world], then the folder. */
struct msg_checkpoint_commit {
    uint64_t step;
    uint32_t era;
    uint32_t world;
    uint32_t keep; /* checkpoints; 0: coordinator.h's */
    uint32_t path_bytes;
};

/* The save failed: the copy of the rank's part is not wanted any more, nor are pieces of that save
 * that come later. Answered with MSG_CHECKPOINT_DONE. Body: the folder. */
struct msg_checkpoint_drop {
    uint64_t step;
    uint64_t sequence; /* as the pieces' */
    uint32_t era;
    uint32_t rank;
    uint32_t path_bytes;
};

/*
 * Tensors: tables that programs make while a job runs. A row for each node of a type; each row lies
 * once, with the one owner of its partition (plan_part_owner()), and nowhere else.
 *
 * A tensor is known by its node type and its name, and on its owners by a number, which the program
 * that made it drew: a repeated request finds what the first one made, and a handle on a tensor
 * that is gone never reads another of the same name. The owner of partition 0 is its home, which
 * decides who made it. A request is repeated until it is answered; the owner takes them in the
 * order in which one client sent them, so a late repeat never undoes what came after it.
 */
enum msg_tensor_action {
    MSG_TENSOR_OPEN,  /* finds it by type and name; MSG_TENSOR_CREATE: or makes it, all zeros */
    MSG_TENSOR_READY, /* to its home: it is there with its first values, others may open it */
    MSG_TENSOR_DROP   /* frees it; number 0: the one of that type and name. None there is well */
};

/* To a client: whose owners it asks. */
enum msg_tensor_parts { MSG_TENSOR_HOME, MSG_TENSOR_OTHERS };

#define MSG_TENSOR_CREATE 1u

#define MSG_TENSOR_NAME_MAX 255u
#define MSG_TENSOR_DIMS_MAX 7u /* beside the rows */
/* A row, its number and a head travel in one message. */
#define MSG_TENSOR_ROW_BYTES_MAX (UINT64_C(16) << 20)

/* To a client, which hands it on, or to a server. Body: uint64_t dims[num_dims] of a row, then the
 * name, not terminated. */
struct msg_tensor_request {
    uint64_t timeout_ns; /* to a client: from its arrival on */
    uint64_t tensor;     /* its number; of one that may be made, the number that it would have */
    uint32_t action;     /* enum msg_tensor_action */
    uint32_t parts;      /* to a client: enum msg_tensor_parts */
    uint32_t part;       /* to a server */
    uint32_t era;        /* job_era.h: of the asking process, or of the handle; 0: not known */
    uint32_t ntype;
    uint32_t dtype; /* enum tr_dtype */
    uint32_t num_dims;
    uint32_t name_bytes;
    uint32_t flags;
};

struct msg_tensor_reply {
    uint64_t tensor; /* the number that it has */
    uint32_t era;    /* of its owner */
    uint32_t created;
};

/* To a server: rows of a partition's nodes. Body: uint32_t rows[count]. The answer is a
 * MSG_ROWS_REPLY of one section. */
struct msg_tensor_read {
    uint64_t tensor;
    uint64_t row_bytes;
    uint32_t part;
    uint32_t era;
    uint32_t count;
};

/* To a server, which answers with MSG_TENSOR_REPLY once all are written; of a row that is there
 * twice the last one counts. Body: uint32_t rows[count] and, 64-byte aligned, count * row_bytes. */
struct msg_tensor_write {
    uint64_t tensor;
    uint64_t row_bytes;
    uint32_t part;
    uint32_t era;
    uint32_t count;
};

/* To a client: rows of nodes in any order, which it hands to their owners. Body: uint64_t
 * global_ids[count] and, 64-byte aligned, count * row_bytes. */
struct msg_tensor_store {
    uint64_t timeout_ns;
    uint64_t first; /* the requester's number of ids[0], for messages */
    uint64_t tensor;
    uint64_t row_bytes;
    uint32_t ntype;
    uint32_t era;
    uint32_t count;
};

#endif
