/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samplers there are: one row of a table each, one file each.
 *
 * A new sampler is a file with its draw function and its struct sample_method, which says what of a
 * term and of a row the sampler reads and how many edges a row draws; a number in
 * schemas/sample_spec.h; and a row of SAMPLE_METHODS. Whatever draws, sends or serves asks the
 * method and carries the fields of rows along. Whatever a spec asks of a
 * sampler that does not read it is refused by name: a weight that were ignored would give batches
 * that look right.
 *
 * Thread rules: pure; the table is constant.
 */
#ifndef GRAPH_SAMPLERS_H
#define GRAPH_SAMPLERS_H

#include <stdbool.h>

#include "graph/graph_meta.h"
#include "graph/sample.h"
#include "runtime/base/error.h"
#include "schemas/sample_spec.h"

/* The table: kinds without a gap, and the method of each. */
#define SAMPLE_METHODS(X)                      \
    X(SAMPLE_UNIFORM, sample_uniform_method)   \
    X(SAMPLE_WEIGHTED, sample_weighted_method) \
    X(SAMPLE_LABOR, sample_labor_method)       \
    X(SAMPLE_LABOR_POISSON, sample_labor_poisson_method)

/* The degree of a row of which nothing is known. */
#define SAMPLE_ANY_DEGREE UINT64_MAX

struct sample_method {
    const char *name;
    uint32_t row_fields; /* SAMPLE_ROW_* that it reads */
    bool weights, mask;
    /* It draws along out-edges, and over all edge types together, where a term has neither weights nor
     * a mask. */
    bool out_edges, totals;
    bool once;         /* there are no draws with replacement */
    bool edge_weights; /* edges that are drawn by weights get weights in the block */
    /* The most edges that a row of so many draws by the term, and of SAMPLE_ANY_DEGREE any row.
     * Where that is SAMPLE_ANY_DEGREE itself, a row draws each of its edges once at most. Memory
     * and replies are as large as this says. */
    uint64_t (*row_edges)(const struct sample_term *term, uint64_t degree);
    /* Makes a piece of the arrays that draws of an edge type by the term want (graph/on_demand.h): 1
     * more is to be made, 0 they are there, or TR_E*. The term's tables are there. NULL: none. */
    int (*make)(const struct graph_part *part, uint32_t etype, const struct sample_term *term,
                struct error *error);
    /* Puts them into the request; TR_EUNSUPPORTED: they were not made. NULL: none. */
    int (*find)(const struct graph_part *part, uint32_t etype, struct sample_request *request);
    /* Draws for a request that was checked; see sample.h. */
    int (*draw)(struct sample_space *space, const struct sample_request *request,
                struct sample_result *result);
};

/* NULL: there is no such kind. */
const struct sample_method *sample_method_find(uint32_t kind);

/* Whether edges that are drawn by the term get weights in the block. */
bool sample_gives_weights(uint32_t kind, const struct sample_term *term);

/* Whether that kind can draw by the term and the fields of rows. `where` begins the message,
 * such as "partition 3". TR_EUNSUPPORTED names what there is no implementation of, TR_ETOOBIG
 * the fanout. */
int sample_method_check(uint32_t kind, uint32_t row_fields, const struct sample_term *term,
                        const char *where, struct error *error);

/* Whether a table of edges can be a mask. TR_EINVAL names it. */
int sample_mask_check(const char *name, enum tr_dtype dtype, uint64_t width, const char *where,
                      struct error *error);

/* Whether the graph, of as many edge types as the spec, has the tables that it lists and those that
 * its terms draw by: TR_ERANGE, TR_ENOENT, TR_EINVAL name one. */
int sample_tables_check(const struct sample_spec *spec, const struct graph_meta *meta,
                        const char *where, struct error *error);
/* The same as sample_method_check() for all terms of a spec; TR_EMISMATCH: it is not for a graph of
 * so many edge types. TR_EINVAL: edge types that are drawn in total have not the same terms. */
int sample_spec_check(const struct sample_spec *spec, const struct graph_types *types,
                      const char *where, struct error *error);

#endif
