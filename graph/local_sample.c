/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/local_sample.h"

#include <inttypes.h>
#include <stdio.h>

#include "graph/samplers.h"

/* Rows ahead whose bounds are fetched: the scan waits for memory otherwise. */
#define PREFETCH_ROWS 32u

static uint64_t base_of(const struct draw_key *draw, uint32_t etype)
{
    struct draw_key key = *draw;
    key.purpose = KEY_NEIGHBOURS;
    key.type = etype;
    return key_base(&key);
}

/* The first row that is not there, for the message. */
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

int local_sample_prepare(const struct local_sample *what, struct sample_request *request,
                         struct error *error)
{
    const struct graph_part *part = what->part;
    char where[40];
    if (what->etype >= part->types->num_etypes)
        return error_set(error, TR_ERANGE,
                         "partition %" PRIu32 ": edge type %" PRIu32
                         " asked for, the graph has %" PRIu32,
                         part->part_id, what->etype, part->types->num_etypes);
    if (what->term.fanout < SAMPLE_EVERY)
        return error_set(error, TR_ERANGE,
                         "partition %" PRIu32 ": fanout %" PRId32
                         " asked for; give -1 (all) or more",
                         part->part_id, what->term.fanout);
    /* Once a slice: the message is made only where there is one. */
    if (sample_method_check(what->kind, what->row_fields, &what->term, "", NULL) != 0) {
        snprintf(where, sizeof where, "partition %" PRIu32, part->part_id);
        return sample_method_check(what->kind, what->row_fields, &what->term, where, error);
    }
    const struct node_part *nodes = &part->nodes[part->types->etypes[what->etype].dst];
    *request = (struct sample_request){
        .csc = &part->edges[what->etype].csc,
        .original_ids = ids_follow_rows(nodes) ? NULL : nodes->original_ids,
        .global_begin = nodes->global_begin,
        .rows = what->rows,
        .num_rows = what->num_rows,
        .salts = what->salts,
        .term = what->term,
        .key_base = base_of(what->draw, what->etype),
    };
    if (sample_check(request) == 0)
        return 0;
    return error_set(error, TR_ERANGE,
                     "partition %" PRIu32 ": row %" PRIu32 " of edge type %" PRIu32
                     " asked for, it has %" PRIu64 " rows",
                     part->part_id, find_bad_row(request), what->etype, request->csc->num_rows);
}

int local_sample_draw(const struct local_sample *what, struct sample_space *space,
                      const struct sample_request *request, struct sample_result *result)
{
    return sample_method_find(what->kind)->draw(space, request, result);
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
    if (sample_fanout(request) != SAMPLE_ALL) {
        uint64_t fit = sample_fanout(request) == 0 ? UINT32_MAX
                                                   : edges_max / sample_fanout(request);
        uint32_t rows = fit < request->num_rows ? (uint32_t)fit : request->num_rows;
        *edges = (uint64_t)rows * sample_fanout(request);
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
    bool whole = all == 0 || sample_fanout(request) == SAMPLE_ALL;
    return whole || (all < sample_fanout(request) && !sample_replaces(request))
               ? all
               : sample_fanout(request);
}
