/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample request turned into the kernel's: the one way in which servers (for messages) and
 * samplers (reading a partition of their own process) draw neighbours.
 *
 * Since both come through here with the same key, a batch is the same whichever way its
 * neighbours came.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_LOCAL_SAMPLE_H
#define GRAPH_LOCAL_SAMPLE_H

#include "graph/key.h"
#include "graph/part.h"
#include "graph/sample.h"
#include "runtime/base/error.h"

/* A draw of one edge type of one partition. */
struct local_sample {
    const struct graph_part *part;
    const struct draw_key *draw; /* seed, epoch, rank, batch and hop; purpose and type are set */
    uint32_t kind;               /* enum sample_kind */
    uint32_t row_fields;         /* SAMPLE_ROW_* that the rows have */
    uint32_t etype;
    struct sample_term term;
    const uint32_t *rows; /* [num_rows] */
    struct sample_row_fields with;
    uint32_t num_rows;
    /* Edges of the type that are not drawn, by increasing per-type global IDs; others' may be
     * among them. */
    const uint64_t *excluded; /* [num_excluded] */
    uint64_t num_excluded;
    const struct sample_excluded *excluded_by_type; /* of draws in total, see graph/sample.h */
};

/*
 * Checks type, term and rows, and fills what the kernel wants; rows may be a piece of the
 * section's. TR_ERANGE, TR_ETOOBIG or TR_EUNSUPPORTED with a message that names partition, value
 * and bound.
 */
int local_sample_prepare(const struct local_sample *what, struct sample_request *request,
                         struct error *error);

/* Makes a piece of what that kind draws by (struct sample_method's make; rows are not read): 1 more
 * is to be made, 0 all is there, before which local_sample_prepare() refuses; TR_E*. */
int local_sample_make(const struct local_sample *what, struct error *error);

/* Draws by the kind that was prepared. TR_EFORMAT: a file of out-edges, which are read only now, has
 * some that there are not. */
int local_sample_draw(struct sample_space *space, const struct sample_request *request,
                      struct sample_result *result);

/* Bytes of a column in the answers of that edge type: 4, or 8 of in-edges where there is a column
 * table. */
uint32_t local_sample_column_bytes(const struct graph_part *part, uint32_t etype,
                                   uint32_t direction);

/* The most edges that one row of the request draws, whatever its degree; SAMPLE_ANY_DEGREE: its
 * degree alone says. */
uint64_t local_sample_row_edges(const struct sample_request *request);

/* An upper bound of the edges that will be drawn. The rows were checked. */
uint64_t local_sample_bound(const struct sample_request *request);

/* How many of the request's rows, from the first on, draw at most edges_max edges, each counted as
 * local_sample_row_edges() or, where that doesn't say, by its degree; *edges is that sum. */
uint32_t local_sample_fit(const struct sample_request *request, uint64_t edges_max,
                          uint64_t *edges);

/* The most edges that the request's row i draws; of uniform draws by edge type, exactly so many. */
uint64_t local_sample_count(const struct sample_request *request, uint32_t i);

#endif
