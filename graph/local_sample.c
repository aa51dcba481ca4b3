/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/local_sample.h"

#include <inttypes.h>

/* Rows ahead whose bounds are fetched: the scan waits for memory otherwise. */
#define PREFETCH_ROWS 32u

static uint64_t base_of(const struct draw_key *draw, uint32_t etype)
{
    struct draw_key key = *draw;
    key.purpose = KEY_NEIGHBOURS;
    key.type = etype;
    return key_base(&key);
}

/* The first row that is not there, for the sentence. */
static uint32_t find_bad_row(const struct sample_request *request)
{
    uint32_t i = 0;
    while (i + 1 < request->num_rows && request->rows[i] < request->csc->num_rows)
        i++;
    return request->rows[i];
}

/* Whether row i has original ID global_begin + i throughout, as in a graph of one partition: then
 * draws need no look-up of the ID, which is a random access a row. Original IDs increase, so the
 * two ends tell. */
static bool ids_follow_rows(const struct node_part *nodes)
{
    uint64_t last = nodes->num_nodes - 1;
    return nodes->num_nodes > 0 && nodes->original_ids[0] == nodes->global_begin &&
           nodes->original_ids[last] == nodes->global_begin + last;
}

int local_sample_prepare(const struct graph_part *part, const struct draw_key *draw, uint32_t etype,
                         int32_t fanout, bool replace, const uint32_t *rows, uint32_t num_rows,
                         struct sample_request *request, struct error *error)
{
    if (etype >= part->types->num_etypes)
        return error_set(error, TR_ERANGE,
                         "partition %" PRIu32 ": edge type %" PRIu32
                         " asked for, the graph has %" PRIu32,
                         part->part_id, etype, part->types->num_etypes);
    if (fanout < -1)
        return error_set(error, TR_ERANGE,
                         "partition %" PRIu32 ": fanout %" PRId32
                         " asked for; give -1 (all) or more",
                         part->part_id, fanout);
    const struct node_part *nodes = &part->nodes[part->types->etypes[etype].dst];
    *request = (struct sample_request){
        .csc = &part->edges[etype].csc,
        .original_ids = ids_follow_rows(nodes) ? NULL : nodes->original_ids,
        .global_begin = nodes->global_begin,
        .rows = rows,
        .num_rows = num_rows,
        .fanout = fanout == -1 ? SAMPLE_ALL : (uint32_t)fanout,
        .replace = replace,
        .key_base = base_of(draw, etype),
    };
    int rv = sample_check(request);
    if (rv == TR_ERANGE)
        return error_set(error, rv,
                         "partition %" PRIu32 ": row %" PRIu32 " of edge type %" PRIu32
                         " asked for, it has %" PRIu64 " rows",
                         part->part_id, find_bad_row(request), etype, request->csc->num_rows);
    if (rv != 0)
        return error_set(error, rv,
                         "partition %" PRIu32 ": fanout %" PRId32 " asked for, the most is %" PRIu32
                         " (or -1 for all)",
                         part->part_id, fanout, SAMPLE_FANOUT_MAX);
    return 0;
}

uint32_t local_sample_column_bytes(const struct graph_part *part, uint32_t etype)
{
    return part->edges[etype].csc.column_global != NULL ? 8 : 4;
}

static uint64_t degree(const struct sample_request *request, uint32_t i)
{
    const uint64_t *bounds = &request->csc->index[request->rows[i]];
    return bounds[1] - bounds[0];
}

uint32_t local_sample_fit(const struct sample_request *request, uint64_t edges_max, uint64_t *edges)
{
    if (request->fanout != SAMPLE_ALL) {
        uint64_t fit = request->fanout == 0 ? UINT32_MAX : edges_max / request->fanout;
        uint32_t rows = fit < request->num_rows ? (uint32_t)fit : request->num_rows;
        *edges = (uint64_t)rows * request->fanout;
        return rows;
    }
    *edges = 0;
    for (uint32_t i = 0; i < request->num_rows; i++) {
        if (i + PREFETCH_ROWS < request->num_rows)
            __builtin_prefetch(&request->csc->index[request->rows[i + PREFETCH_ROWS]]);
        uint64_t more = degree(request, i);
        if (more > edges_max - *edges)
            return i;
        *edges += more;
    }
    return request->num_rows;
}

uint64_t local_sample_count(const struct sample_request *request, uint32_t i)
{
    uint64_t all = degree(request, i);
    bool whole = all == 0 || request->fanout == SAMPLE_ALL;
    return whole || (all < request->fanout && !request->replace) ? all : request->fanout;
}
