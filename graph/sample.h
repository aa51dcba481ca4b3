/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests to kernels, and uniform sampling of edges: a server and a sampler run them alike.
 *
 * A request names rows of one partition's CSC of in-edges or of out-edges, a term and a key base;
 * the answer is a count for each row and the columns drawn, one row after the other. It depends on
 * the original IDs of the rows and on what comes with them alone, so an answer from another host
 * has the same bytes as a local one. graph/samplers.h has the table of the kernels.
 *
 * The uniform draw of a row of d edges, fanout k:
 *   - without replacement, d <= k or k = SAMPLE_ALL: all, in the order of original edge IDs;
 *   - without replacement, d > k: each k-subset with equal probability, in that same order;
 *   - with replacement, d > 0: k independent uniform draws, in the order they were drawn
 *     (SAMPLE_ALL takes each edge once).
 *
 * Where the term has a mask, the row is that of the edges which it allows; where edges are excluded,
 * of the others (graph/sample_masked.h).
 *
 * The kernel waits for memory and little else, so it walks the rows in small blocks: while the
 * columns of one block are read, those of the next are prefetched, and the row bounds of the one
 * after that. Where a row draws a few edges, its branches cost more than its memory does
 * (graph/sample_few.h).
 *
 * Thread rules: pure but for the scratch memory, which one caller at a time may use.
 */
#ifndef GRAPH_SAMPLE_H
#define GRAPH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/part.h"
#include "schemas/sample_spec.h"

#define SAMPLE_ALL UINT32_MAX
_Static_assert((uint32_t)SAMPLE_EVERY == SAMPLE_ALL, "a fanout is converted by a cast");

/* Larger fanouts mean "all" in practice; this bounds the scratch memory to 200 MB. */
#define SAMPLE_FANOUT_MAX (UINT32_C(1) << 24)

struct sample_method;

/* Edges of one type that are not drawn. */
struct sample_excluded {
    const uint64_t *ids; /* [count], see graph/excluded.h */
    uint64_t count;
};

struct sample_request {
    const struct sample_method *method; /* which draws; a kernel itself reads none */
    const struct csc *csc;
    const uint64_t *original_ids; /* [csc->num_rows]; NULL: the global ID is the original one */
    uint64_t global_begin;        /* per-type global ID of row 0; read where original_ids is NULL */
    const uint32_t *rows;         /* [num_rows], each below csc->num_rows, repeats allowed */
    uint32_t num_rows;
    struct sample_row_fields with; /* no salts: each row is the first occurrence of its node */
    const uint64_t *excluded;      /* [num_excluded], see graph/excluded.h */
    uint64_t num_excluded;
    struct sample_term term;             /* a fanout of 0 .. SAMPLE_FANOUT_MAX or SAMPLE_EVERY */
    const struct feature_table *weights; /* of the edge type, as the term says; NULL: none */
    const struct feature_table *mask;
    const struct weight_sums *sums;   /* of weights and mask, where a method found some */
    const struct source_ids *sources; /* where a method found them */
    uint64_t source_base;             /* the same as key_base of KEY_SOURCES and the source type */
    /* key_base() of purpose KEY_NEIGHBOURS or KEY_OUT_NEIGHBOURS, hop and edge type */
    uint64_t key_base;
    /* Where draws are along out-edges, csc points at out: such a request is not copied. Its columns
     * and edge IDs come from a file that is read only now: the first that there are not. */
    struct csc out;
    uint64_t nodes_end, edges_end;
    /* Of draws over all edge types together (SAMPLE_TOTAL): the edges of the others. */
    const struct graph_part *part;
    uint32_t etype;
    const struct sample_excluded *excluded_by_type; /* [edge types]; NULL: of none */
};

/* The type of the nodes that draw: edges are drawn at their destinations or, along out-edges, at
 * their sources. */
static inline uint32_t sample_row_type(const struct graph_etype *etype,
                                       const struct sample_term *term)
{
    return term->direction == SAMPLE_OUT ? etype->src : etype->dst;
}

/* The type of the nodes that are drawn. */
static inline uint32_t sample_neighbour_type(const struct graph_etype *etype,
                                             const struct sample_term *term)
{
    return term->direction == SAMPLE_OUT ? etype->dst : etype->src;
}

/* The request's fanout, SAMPLE_EVERY as SAMPLE_ALL. */
static inline uint32_t sample_fanout(const struct sample_request *request)
{
    return (uint32_t)request->term.fanout;
}

static inline bool sample_replaces(const struct sample_request *request)
{
    return (request->term.flags & SAMPLE_REPLACE) != 0;
}

/* Where the answer goes. Columns hold local_sample_bound() elements. */
struct sample_result {
    uint32_t *counts;       /* [num_rows] */
    uint32_t *columns;      /* per-type global IDs, where csc->column_global is NULL; else unused */
    uint64_t *wide_columns; /* per-type global IDs, where there is a column_global; else unused */
    uint64_t *edge_ids;     /* per-type global edge IDs; NULL: not asked for */
    float *edge_weights;    /* of kernels that give some (graph/samplers.h); NULL: not asked for */
    uint64_t num_edges;     /* output */
};

/* Scratch memory, grown when a larger fanout comes and kept. All zeros is a valid one. */
struct sample_space {
    uint32_t *positions[2];
    size_t positions_bytes[2];
    uint32_t *scratch;
    size_t scratch_bytes;
    struct walk_space *walk; /* graph/sample_block.h */
};

void sample_space_fini(struct sample_space *space);

/* Checks a request that came from outside: TR_ERANGE for a row that is not there, TR_ETOOBIG for
 * the fanout. A kernel asserts nothing about rows, it relies on this. */
int sample_check(const struct sample_request *request);

/* The rows of the table. */
extern const struct sample_method sample_uniform_method;
extern const struct sample_method sample_weighted_method; /* graph/sample_weighted.c */
extern const struct sample_method sample_labor_method;    /* graph/sample_labor.c */
extern const struct sample_method sample_labor_poisson_method;

/* The most edges that a row of uniform draws, or of any that draw as many, gives. */
uint64_t sample_uniform_row_edges(const struct sample_term *term, uint64_t degree);

/* Draws. 0, TR_ENOMEM (scratch), TR_ETOOBIG (a row of 2^32 - 1 edges or more). */
int sample_uniform(struct sample_space *space, const struct sample_request *request,
                   struct sample_result *result);

#endif
