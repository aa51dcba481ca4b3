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

/*
 * draw names seed, epoch, rank, batch and hop; purpose and type are set here.
 * Checks type, fanout (-1: all) and rows, and fills what sample_uniform wants; rows may be a piece
 * of the section's. TR_ERANGE or TR_ETOOBIG with a sentence that names partition, value and bound.
 */
int local_sample_prepare(const struct graph_part *part, const struct draw_key *draw, uint32_t etype,
                         int32_t fanout, bool replace, const uint32_t *rows, uint32_t num_rows,
                         struct sample_request *request, struct error *error);

/* Bytes of a column in the answers of that edge type: 4, or 8 where there is a column table. */
uint32_t local_sample_column_bytes(const struct graph_part *part, uint32_t etype);

/* How many of the request's rows, from the first on, draw at most edges_max edges by
 * sample_bound's measure; *edges is that measure of them. */
uint32_t local_sample_fit(const struct sample_request *request, uint64_t edges_max,
                          uint64_t *edges);

/* The edges that the request's row i draws, exactly. */
uint64_t local_sample_count(const struct sample_request *request, uint32_t i);

#endif
