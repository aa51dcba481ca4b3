/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one description of a draw, from the public options to the kernel.
 *
 * A spec names the kind of sampler and has a term for each (layer, edge type): how many neighbours,
 * with replacement or not, by which weights or mask, in which direction. It also lists the tables
 * that a batch brings along. Whatever draws (a loader, one draw for a thread, a server that was
 * asked) reads the same terms, so nothing on the way has to know what a sampler needs.
 *
 * Fields of single rows of a request are not in here but beside its rows: salts (of a node that
 * a batch has several times), times and exclusions. A spec says which of the last two its rows
 * have; salts come with the rows of a batch that has a node several times, whatever the spec says.
 *
 * The structs carry more than today's samplers implement: graph/samplers.h refuses the rest by
 * name. Encoded, a spec is its head, then its terms, then its tables, as they are in memory; layers
 * are listed from input to output.
 *
 * Ownership: a spec that was read points into the bytes; one that was allocated owns its arrays.
 * Thread rules: pure; one caller at a time fills a spec, then any thread may read it.
 */
#ifndef SCHEMAS_SAMPLE_SPEC_H
#define SCHEMAS_SAMPLE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Deeper networks oversmooth long before. */
#define SAMPLE_LAYERS_MAX 16u
/* Terms of one spec: every edge type of a graph that has thousands, in every layer. */
#define SAMPLE_TERMS_MAX 65536u
/* Tables of one batch: a model with an input of each of them would not fit any memory. */
#define SAMPLE_TABLES_MAX 256u

/* Kinds of samplers: the rows of the table in graph/samplers.c. Never renumber. */
enum sample_kind {
    SAMPLE_UNIFORM = 0,
    SAMPLE_WEIGHTED = 1,
    SAMPLE_LABOR = 2,
    SAMPLE_LABOR_POISSON = 3,
};

/* Fanouts with a meaning of their own. */
#define SAMPLE_EVERY (-1) /* all neighbours; 0 is none: nothing is asked */

/* A term's flags. */
#define SAMPLE_REPLACE 1u
/* The fanout is over all edge types together that draw at the same nodes, along edges of the same
 * direction (graph/sample_total.h): all of these have the same term. */
#define SAMPLE_TOTAL 2u
#define SAMPLE_FLAGS (SAMPLE_REPLACE | SAMPLE_TOTAL)

/* A term's direction: along in-edges, as message passing wants it, or along out-edges. */
enum sample_direction { SAMPLE_IN = 0, SAMPLE_OUT = 1 };

/* In the place of a table's number: none. */
#define SAMPLE_NO_TABLE UINT32_MAX

/* The owners of a table's rows. */
enum sample_table_of { SAMPLE_OF_NODES = 0, SAMPLE_OF_EDGES = 1 };

/* For which nodes or edges of a batch a table comes along: a layer's number (the source nodes of
 * its block, or its edges), or one of these. Edges have no seeds. */
#define SAMPLE_FOR_ALL UINT32_MAX         /* all nodes, or the edges of every layer */
#define SAMPLE_FOR_SEEDS (UINT32_MAX - 1) /* the seeds of the type */

/* The fields that come with each row of a request; a spec has those of its requests. */
#define SAMPLE_ROW_SALT 1u    /* uint32_t: which occurrence of its node the row is */
#define SAMPLE_ROW_TIME 2u    /* int64_t: edges after it are not drawn */
#define SAMPLE_ROW_EXCLUDE 4u /* global IDs of neighbours that are not drawn */
#define SAMPLE_ROW_FIELDS (SAMPLE_ROW_SALT | SAMPLE_ROW_TIME | SAMPLE_ROW_EXCLUDE)
/* Those that seeds bring along, and hand on to the nodes that are drawn from them. */
#define SAMPLE_SEED_FIELDS (SAMPLE_ROW_TIME | SAMPLE_ROW_EXCLUDE)

/* The time of a seed that brings none: no edge is after it. */
#define SAMPLE_NO_TIME INT64_MAX

/* The fields of some rows, the same for all that carry them: messages, builders, servers and
 * kernels. NULL: the rows have none. */
struct sample_row_fields {
    const uint32_t *salts;      /* [num_rows] */
    const int64_t *times;       /* [num_rows] */
    const uint32_t *exclusions; /* [num_rows], how many of the next belong to a row */
    const uint64_t *excluded;   /* their IDs, row after row */
};

/* Leaves out the first num_rows rows. */
static inline void sample_row_fields_skip(struct sample_row_fields *with, uint32_t num_rows)
{
    with->salts = with->salts == NULL ? NULL : with->salts + num_rows;
    with->times = with->times == NULL ? NULL : with->times + num_rows;
    for (uint32_t i = 0; with->exclusions != NULL && i < num_rows; i++)
        with->excluded += *with->exclusions++;
}

/* The rule by which one edge type draws in one layer. */
struct sample_term {
    int32_t fanout; /* SAMPLE_EVERY, or 0 and more */
    uint32_t flags;
    uint32_t direction;
    uint32_t weights; /* table of the edge type, or SAMPLE_NO_TABLE */
    uint32_t mask;    /* table of the edge type, or SAMPLE_NO_TABLE */
};

/* A table that a batch brings along. */
struct sample_table {
    uint32_t of;    /* enum sample_table_of */
    uint32_t type;  /* of the nodes or edges */
    uint32_t name;  /* its number among the graph's names (graph/graph_meta.h) */
    uint32_t where; /* a layer or SAMPLE_FOR_* */
};

/* Uniform draws of so many. */
#define SAMPLE_TERM(count, replaces)                                 \
    ((struct sample_term){ .fanout = (count),                        \
                           .flags = (replaces) ? SAMPLE_REPLACE : 0, \
                           .weights = SAMPLE_NO_TABLE,               \
                           .mask = SAMPLE_NO_TABLE })

struct sample_spec {
    uint32_t kind;
    uint32_t row_fields;
    uint32_t num_layers; /* 1 .. SAMPLE_LAYERS_MAX */
    uint32_t num_etypes;
    uint32_t num_tables;         /* at most SAMPLE_TABLES_MAX */
    struct sample_term *terms;   /* [num_layers][num_etypes] */
    struct sample_table *tables; /* [num_tables], in the order in which they were asked for */
};

/* Whether the table comes with the edges of that type in that layer's block. */
static inline bool sample_table_has_edges(const struct sample_table *table, uint32_t etype,
                                          uint32_t layer)
{
    return table->of == SAMPLE_OF_EDGES && table->type == etype &&
           (table->where == SAMPLE_FOR_ALL || table->where == layer);
}

static inline struct sample_term *sample_spec_term(const struct sample_spec *spec, uint32_t layer,
                                                   uint32_t etype)
{
    return &spec->terms[(size_t)layer * spec->num_etypes + etype];
}

/* A uniform spec without edges: every fanout is 0. TR_ETOOBIG, TR_ENOMEM: nothing is held. */
int sample_spec_alloc(struct sample_spec *spec, uint32_t num_layers, uint32_t num_etypes);
int sample_spec_copy(struct sample_spec *spec, const struct sample_spec *from);
void sample_spec_free(struct sample_spec *spec);
/* Every edge type of a layer alike. */
void sample_spec_set_layer(const struct sample_spec *spec, uint32_t layer,
                           const struct sample_term *term);

/* One table more. TR_ETOOBIG, TR_ENOMEM: nothing changed. */
int sample_spec_add_table(struct sample_spec *spec, const struct sample_table *table);

/* The encoded form: bytes is a multiple of 8. */
size_t sample_spec_bytes(const struct sample_spec *spec);
void sample_spec_write(const struct sample_spec *spec, void *bytes);
/* TR_EFORMAT: the bytes, aligned to 8, are no spec within the bounds above. Then every term has a
 * fanout, flags and a direction that there are, and every table an owner and a place. */
int sample_spec_read(const void *bytes, uint64_t length, struct sample_spec *spec);
#endif
