/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A builder: a mini-batch while it is being made. It fixes the canonical walk, which no placement
 * changes: hop by hop outwards from the seeds; within a hop the edge types in the order of their
 * numbers; within an edge type the destination nodes in the order of the node list; within a
 * node its neighbours in the order drawn. Every node known when a hop begins draws again.
 * Nodes are numbered in the order in which this walk first meets them, whichever partition or
 * answer they came from.
 *
 * batch_builder_begin(); batch_builder_add_seeds() for each node type with seeds, in pieces if need
 * be; for each hop: batch_builder_place() until it returns 0; the lists of rows, a partition, are
 * complete batch_builder_open_hop(); batch_builder_add_answer() for each (edge type, partition)
 * that is not read directly; batch_builder_draw() until it returns 0; batch_builder_place() until
 * 0; batch_builder_open_rows(); batch_builder_gather() until 0; rows of other partitions are
 * scattered to where batch_builder_table_rows() says; batch_builder_end().
 *
 * Every call is a piece of work of a few milliseconds; any time may pass between two of them, so
 * an actor can wait for answers and look at its mailbox. Which partitions are read directly is a
 * matter of where they are and changes nothing in the batch.
 *
 * Nodes are placed once, when they appear: which partition owns them, and as which row. The lists
 * of a partition grow with the batch, and serve as the rows of sample requests, of row requests
 * and of direct reads.
 *
 * Ownership: the builder owns its tables and lists and keeps them from batch to batch; it borrows
 * the graph's description, and until batch_builder_end the plan, the partitions and the space it
 * fills. After a failure it may only be ended. One thread at a time.
 */
#ifndef GRAPH_BATCH_BUILDER_H
#define GRAPH_BATCH_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/batch_space.h"
#include "graph/extent.h"
#include "graph/graph_meta.h"
#include "graph/key.h"
#include "graph/part.h"
#include "graph/relabel.h"
#include "graph/sample.h"
#include "graph/vec.h"
#include "runtime/base/error.h"
#include "schemas/sample_spec.h"

/* Work between two looks at the mailbox, half a millisecond or so: a batch of another sampler waits
 * for the proxy on this loop twice on its way to the client, and must not wait long. */
#define BATCH_BUILDER_SLICE_EDGES 16384u
#define BATCH_BUILDER_SLICE_NODES 65536u
#define BATCH_BUILDER_SLICE_BYTES ((size_t)2 << 20)

/* The nodes of a type that one partition owns, in the order of the node list. */
struct batch_builder_list {
    uint32_t count;
    struct vec rows;      /* uint32_t[count] */
    struct vec positions; /* uint32_t[count]: in the node list */
    struct vec salts;     /* uint32_t[count], where the type has repeats */
    /* The other fields of the spec's rows, as in struct sample_row_fields; of excluded[] a row's
     * first ID is at starts[row]. */
    struct vec times;      /* int64_t[count] */
    struct vec exclusions; /* uint32_t[count] */
    struct vec excluded;   /* uint64_t[starts[count]] */
    struct vec starts;     /* uint64_t[count + 1] */
};

/* The times and exclusions of seeds, where the spec's rows have them. A node that was drawn has
 * those of the seed that led to it first, in the order of the walk: its root. */
struct batch_builder_roots {
    uint32_t count;
    struct vec times;    /* int64_t[count] */
    struct vec starts;   /* uint64_t[count + 1] */
    struct vec excluded; /* uint64_t[starts[count]]: a root's are [starts[i], starts[i + 1]) */
};

struct batch_builder_type {
    bool wide;                        /* 2^32 nodes or more: IDs of 8 bytes */
    struct relabel nodes;             /* the node list */
    uint32_t placed;                  /* the first `placed` nodes are in the lists */
    bool repeats;                     /* a seed came more than once */
    struct vec occurrences;           /* uint32_t[num_seeds]: which one of its node a seed is ... */
    struct vec times;                 /* ... and, at the first one, how often it came after that */
    struct vec owners;                /* uint16_t[placed] */
    struct vec roots;                 /* uint32_t[num_ids], where the spec's rows have fields */
    struct batch_builder_list *lists; /* [num_parts] */
};

/* The edges of a type in one layer's block whose tables are wanted. */
struct batch_builder_edges {
    uint32_t etype, layer;
    uint32_t num_edges, placed;
    struct vec owners;                /* uint16_t[placed] */
    struct batch_builder_list *lists; /* [num_parts]; rows are positions in the partition */
};

/* The answers of others for one (edge type, partition) in this hop, and how far they are used. */
struct batch_builder_answer {
    uint32_t num_rows;
    uint64_t num_edges;
    struct vec counts;   /* uint32_t[num_rows] */
    struct vec columns;  /* uint32_t or uint64_t [num_edges] */
    struct vec edge_ids; /* uint64_t[num_edges] */
    struct vec weights;  /* float[num_edges] */
    uint32_t used_rows;
    uint64_t used_edges;
};

/* The edges of a type that the batch leaves out. */
#define BATCH_BUILDER_RUNS_MAX 64u
struct batch_builder_excluded {
    uint64_t count;
    struct vec
        ids; /* uint64_t[count]: per-type global IDs; from the first hop on in order, each once */
    /* Before that the IDs are runs, each in order, and more than twice as long as the next: so there
     * are few. */
    uint64_t runs[BATCH_BUILDER_RUNS_MAX];
    uint32_t num_runs;
};

/* A piece of an answer as it came. */
struct batch_builder_piece {
    uint64_t num_edges;
    const uint32_t *counts;       /* one a row */
    const uint32_t *columns;      /* [num_edges], or NULL where wide */
    const uint64_t *wide_columns; /* [num_edges], or NULL where not */
    const uint64_t *edge_ids;     /* [num_edges]; may be NULL where the plan wants none */
    const float *edge_weights;    /* [num_edges]; NULL where the term gives none */
};

/* Memory for one slice, shared by the builders of one thread. */
struct batch_builder_space {
    struct sample_space kernel;
    struct vec counts; /* of local draws, partition after partition */
    struct vec columns;
    struct vec edge_ids;
    struct vec weights;
    struct vec wide;    /* columns of a merged slice before they are numbered */
    struct vec streams; /* struct stream[num_parts] */
};

/* A table by its name's number in the graph's meta, or none of them. */
#define BATCH_BUILDER_NO_TABLE UINT32_MAX

/* The contents that a batch is to have. */
struct batch_builder_plan {
    const struct sample_spec *spec; /* of as many edge types as the graph has */
    bool edge_ids;
    bool original_ids;
    bool degrees;
    uint32_t features; /* name number, of all nodes; or BATCH_BUILDER_NO_TABLE */
    uint32_t labels;   /* name number, of the seeds of label_ntype; or BATCH_BUILDER_NO_TABLE */
    uint32_t label_ntype;
    /* Of batches of pairs: an end that comes again is the seed that it was. */
    bool ends_once;
    struct negatives_rule negatives; /* each above 0 needs ends_once */
};

/* In the place of a label_ntype: the seeds of every type that has the table. */
#define BATCH_BUILDER_EVERY_TYPE UINT32_MAX

/* The graph as a builder sees it. */
struct batch_builder_graph {
    const struct graph_types *types;
    uint32_t num_parts;                 /* below 65536 */
    const uint64_t *num_nodes;          /* [num_ntypes] */
    const uint64_t *num_edges;          /* [num_etypes] */
    struct extent *const *node_extents; /* [num_ntypes][num_parts] */
    /* [num_etypes][num_parts]; NULL: no plan has edge tables, and no edges are left out */
    struct extent *const *edge_extents;
    const struct graph_meta *meta;
    uint32_t slice; /* edges and nodes of one call; 0: those above */
};

struct batch_builder {
    struct batch_builder_graph graph;
    uint32_t num_parts, num_ntypes, num_etypes;
    const struct batch_builder_plan *plan;
    struct draw_key key;
    struct batch_space *out;
    struct batch_builder_type *types; /* [num_ntypes] */
    struct batch_builder_roots roots;
    struct batch_builder_answer *answers;     /* [num_etypes][num_parts] */
    struct batch_builder_excluded *excluded;  /* [num_etypes] */
    struct sample_excluded *excluded_by_type; /* [num_etypes]: of the slice at work */
    const struct graph_part **parts;          /* [num_parts] read directly; NULL: asked for */
    uintptr_t *bases;                         /* [num_parts]; see batch_builder_gather */
    const struct csr_rows **csr;              /* [num_parts]: sparse rows in the place of a base */
    struct batch_builder_edges *edges;        /* [room_edges] */
    uint32_t num_edges, room_edges;
    bool edges_open; /* they are those of this batch */
    uint32_t hop;
    /* Where the work in pieces stands. */
    uint32_t etype;
    uint32_t at;    /* destination node of that type; row of a table */
    uint32_t list;  /* whose tables are gathered: a node type or, after these, edges[] */
    uint32_t table; /* enum batch_builder_table or, after these, the spec's */
};

/* Tables that may be brought along, in this order; after them those that the spec lists. */
enum batch_builder_table {
    BATCH_BUILDER_FEATURES,
    BATCH_BUILDER_ORIGINAL_IDS,
    BATCH_BUILDER_IN_DEGREES,
    BATCH_BUILDER_OUT_DEGREES,
    BATCH_BUILDER_LABELS,
    BATCH_BUILDER_TABLES
};

/* One table of one list in the batch. */
struct batch_builder_rows {
    uint32_t type;  /* of nodes or edges */
    uint32_t table; /* of a partition: a feature of the type, or TABLE_* */
    size_t row_bytes;
    uint32_t num_rows; /* the first so many of the list */
    unsigned char *rows;
    const struct feature_meta *sparse; /* of a table that partitions keep sparse; else NULL */
};

int batch_builder_init(struct batch_builder *builder, const struct batch_builder_graph *graph);
void batch_builder_fini(struct batch_builder *builder);
void batch_builder_space_fini(struct batch_builder_space *space);

/* Begins a batch in an empty space of the plan's shape. key names seed, epoch, rank and batch;
 * parts[num_parts] (copied) are those that can be read directly, or NULL for none of them.
 * TR_EINVAL: the plan has no layers, or more than the space, or is for other edge types. */
int batch_builder_begin(struct batch_builder *builder, const struct batch_builder_plan *plan,
                        const struct draw_key *key, const struct graph_part *const *parts,
                        struct batch_space *out, struct error *error);

/* Appends seeds ids[order[i]] (ids[i] where order is NULL), before the first hop. Each has a
 * position of its own in the node list, so that seed i is node i. One that comes again draws by
 * itself, keyed by which occurrence of its node it is; a later draw of the node leads to the
 * first. Where the spec's rows have times or exclusions, these seeds have none: no edge is after
 * them, and nothing is excluded. */
int batch_builder_add_seeds(struct batch_builder *builder, uint32_t ntype, const uint64_t *ids,
                            const uint32_t *order, uint32_t num_seeds, struct error *error);

/* The same with the times and exclusions that the spec's rows have: row i of `with` is seed i's, in
 * the order in which they are added. */
int batch_builder_add_seeds_with(struct batch_builder *builder, uint32_t ntype, const uint64_t *ids,
                                 const uint32_t *order, uint32_t num_seeds,
                                 const struct sample_row_fields *with, struct error *error);

/* Appends pairs of nodes as seeds: pair i goes from ends[2 * i], of the edge type's source type,
 * to ends[2 * i + 1], of its destination type. Each end is a seed of its own, as above, or, where
 * the plan says so, each node is one seed, and the batch says at which positions they are. None at
 * all makes a batch of pairs that has none. Pairs of several edge types stand in the order in which
 * each type came first.
 * edge_ids[num_pairs]: the edges that they are, which the batch keeps; NULL in all calls of a
 * batch, or in none. */
int batch_builder_add_pairs(struct batch_builder *builder, uint32_t etype, const uint64_t *ends,
                            const uint64_t *edge_ids, uint32_t num_pairs, struct error *error);

/* The node that is the seed at a position. */
static inline uint64_t batch_builder_seed(const struct batch_builder *builder, uint32_t ntype,
                                          uint32_t position)
{
    return builder->types[ntype].nodes.ids[position];
}

/* Appends the negatives of the batch's pairs of an edge type with the numbers [first, first +
 * count) among these; all pairs were added before, and the negatives before these. Of those whose
 * destination is drawn, in their order, destinations[] has the nodes, of the edge type's
 * destination type, and sources[] likewise; where they are ends of other pairs, the numbers of
 * these. Of one negative the source is met first. */
int batch_builder_add_negatives(struct batch_builder *builder, uint32_t etype, uint64_t first,
                                uint32_t count, const uint64_t *destinations,
                                const uint64_t *sources, struct error *error);

/* batch_builder_excluded.c: leaves edges of a type out of the whole batch, by their per-type global
 * IDs, before anything is drawn: a draw is as full as the other edges allow. Before the first hop;
 * in any order, repeats allowed. TR_ERANGE names what there is not. */
int batch_builder_exclude(struct batch_builder *builder, uint32_t etype, const uint64_t *edge_ids,
                          uint64_t count, struct error *error);
/* Each once, before the first hop. */
void batch_builder_unify_excluded(struct batch_builder *builder);
/* Those of the edges that a partition draws in this hop, which along out-edges may be any:
 * increasing IDs. */
const uint64_t *batch_builder_excluded(const struct batch_builder *builder, uint32_t etype,
                                       uint32_t part, uint64_t *count);
/* The same of every edge type, for draws in total; NULL: nothing is left out. They stay until the next
 * call. */
const struct sample_excluded *batch_builder_excluded_by_type(const struct batch_builder *builder,
                                                             uint32_t part);
void batch_builder_reset_excluded(struct batch_builder *builder);
void batch_builder_fini_excluded(struct batch_builder *builder);

/* Lets go of all that was borrowed. */
void batch_builder_end(struct batch_builder *builder);

/* Places a piece of the nodes that are not placed yet and, when all hops are done, of the edges
 * whose tables are wanted: 1 when more are left, 0 when all are. */
int batch_builder_place(struct batch_builder *builder, struct error *error);

/* Opens the block of the hop (all nodes are placed). */
int batch_builder_open_hop(struct batch_builder *builder, struct error *error);

/*
 * Takes a piece of the answer to what one partition was asked in this hop: num_rows more rows of
 * its list, in order. Checks what may have come from outside: TR_EFORMAT with a message for more
 * rows than the list has, counts that do not add up to num_edges, columns of the wrong width or of
 * nodes that are not there.
 */
int batch_builder_add_answer(struct batch_builder *builder, uint32_t etype, uint32_t part,
                             uint32_t num_rows, const struct batch_builder_piece *answer,
                             struct error *error);

/* Draws, merges and numbers a piece: 1 more, 0 the hop is done (builder->hop moved on). All answers
 * of partitions that are not read directly are there. */
int batch_builder_draw(struct batch_builder *builder, struct batch_builder_space *space,
                       struct error *error);

/* All hops are done: fixes node lists and makes room for the tables. */
int batch_builder_open_rows(struct batch_builder *builder, struct error *error);

/* Copies a piece of the rows that are read directly: 1 more, 0 done. */
int batch_builder_gather(struct batch_builder *builder, struct error *error);

/* Lists whose rows are wanted: of each node type, then of edges. */
static inline uint32_t batch_builder_num_lists(const struct batch_builder *builder)
{
    return builder->num_ntypes + builder->num_edges;
}

/* Tables that a list may have. */
static inline uint32_t batch_builder_num_tables(const struct batch_builder *builder)
{
    return BATCH_BUILDER_TABLES + builder->plan->spec->num_tables;
}
#define BATCH_BUILDER_TABLES_MAX (BATCH_BUILDER_TABLES + SAMPLE_TABLES_MAX)

/* A list as it lies at the partitions: [num_parts]. */
static inline struct batch_builder_list *batch_builder_lists(const struct batch_builder *builder,
                                                             uint32_t list)
{
    return list < builder->num_ntypes ? builder->types[list].lists
                                      : builder->edges[list - builder->num_ntypes].lists;
}

/* Whether that table is wanted for that list; fills *rows. */
bool batch_builder_table_rows(const struct batch_builder *builder, uint32_t list, uint32_t table,
                              struct batch_builder_rows *rows);

/* batch_builder_edges.c: places a piece of the edges, as batch_builder_place; frees what they
 * stand in. */
int batch_builder_place_edges(struct batch_builder *builder, struct error *error);
void batch_builder_fini_edges(struct batch_builder *builder);
/* Per-type global IDs of a list of edges. */
const uint64_t *batch_builder_edge_ids(const struct batch_builder *builder,
                                       const struct batch_builder_edges *edges);

static inline bool batch_builder_is_local(const struct batch_builder *builder, uint32_t part)
{
    return builder->parts[part] != NULL;
}

static inline uint32_t batch_builder_layer(const struct batch_builder *builder)
{
    return builder->plan->spec->num_layers - 1 - builder->hop;
}

/* The rule by which that edge type draws in this hop. */
static inline const struct sample_term *batch_builder_term(const struct batch_builder *builder,
                                                           uint32_t etype)
{
    return sample_spec_term(builder->plan->spec, batch_builder_layer(builder), etype);
}

/* Whether the edges of that type get weights in this hop's block. */
bool batch_builder_weighs(const struct batch_builder *builder, uint32_t etype);

/* The types of the nodes that draw by that term, and of those that are drawn. */
static inline uint32_t batch_builder_row_type(const struct batch_builder *builder, uint32_t etype)
{
    return sample_row_type(&builder->graph.types->etypes[etype],
                           batch_builder_term(builder, etype));
}
static inline uint32_t batch_builder_neighbour_type(const struct batch_builder *builder,
                                                    uint32_t etype)
{
    return sample_neighbour_type(&builder->graph.types->etypes[etype],
                                 batch_builder_term(builder, etype));
}

/* Whether the neighbours of that edge type come as IDs of 8 bytes. Those along out-edges do not:
 * out-edges are written only where their destinations are below 2^32. */
static inline bool batch_builder_draws_wide(const struct batch_builder *builder, uint32_t etype)
{
    return builder->types[batch_builder_neighbour_type(builder, etype)].wide &&
           batch_builder_term(builder, etype)->direction == SAMPLE_IN;
}

/* batch_builder_fields.c: what comes with rows. */

/* The fields that rows of this batch have: the spec's, and salts as soon as one type has repeated
 * seeds. */
uint32_t batch_builder_row_fields(const struct batch_builder *builder);
/* Those of the rows of a type's list from row `first` on; salts only where that type has
 * repeats. */
struct sample_row_fields batch_builder_list_fields(const struct batch_builder *builder,
                                                   uint32_t ntype, uint32_t part, uint32_t first);
/* IDs that the rows of the list exclude. */
uint64_t batch_builder_list_excluded(const struct batch_builder *builder, uint32_t ntype,
                                     uint32_t part);

/* Whether the spec's rows have times or exclusions. */
static inline bool batch_builder_has_roots(const struct batch_builder *builder)
{
    return (builder->plan->spec->row_fields & SAMPLE_SEED_FIELDS) != 0;
}
/* Makes num_seeds seeds roots, those at the end of their type's node list; with: NULL, or
 * theirs. */
int batch_builder_add_roots(struct batch_builder *builder, uint32_t ntype, uint32_t num_seeds,
                            const struct sample_row_fields *with);
/* Gives the nodes of a type from position `from` on the roots of the nodes that drew them: edge i
 * of a slice leads to the node at sources[i], and the edges of row r of the slice, at position
 * first_row + r among row_ntype's, are [index[r], index[r + 1]) - index[0]. */
int batch_builder_follow_roots(struct batch_builder *builder, uint32_t ntype, uint32_t from,
                               uint32_t row_ntype, uint32_t first_row, uint32_t num_rows,
                               const uint32_t *index, const uint32_t *sources);
/* Puts the fields of the node at that position behind those of the list's `count` rows. */
int batch_builder_put_fields(struct batch_builder *builder, struct batch_builder_type *type,
                             struct batch_builder_list *list, uint32_t count, uint32_t position);
void batch_builder_fini_fields(struct batch_builder *builder);

static inline struct batch_builder_answer *batch_builder_answer(const struct batch_builder *builder,
                                                                uint32_t etype, uint32_t part)
{
    return &builder->answers[(size_t)etype * builder->num_parts + part];
}

#endif
