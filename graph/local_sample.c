/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/local_sample.h"

#include <inttypes.h>
#include <stdio.h>

#include "graph/samplers.h"
#include "graph/weight_sums.h"

/* A larger bound of a row is rarely reached: then degrees are asked instead of assumed. */
#define ROOMY_EDGES 256u

/* Rows ahead whose bounds are fetched: the scan waits for memory otherwise. */
#define PREFETCH_ROWS 32u

static uint64_t base_of(const struct draw_key *draw, enum key_purpose purpose, uint32_t type)
{
    struct draw_key key = *draw;
    key.purpose = (uint32_t)purpose;
    key.type = type;
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

/* The table that a term names, which came from outside; its rows are in memory. */
static int find_table(const struct local_sample *what, const char *use, uint32_t number,
                      const struct feature_table **out, struct error *error)
{
    const struct edge_part *edges = &what->part->edges[what->etype];
    *out = number < edges->num_features ? &edges->features[number] : NULL;
    if (number == SAMPLE_NO_TABLE || *out != NULL)
        return 0;
    return error_set(error, TR_ERANGE,
                     "partition %" PRIu32 ": %s of table %" PRIu32 " of edge type %" PRIu32
                     " asked for, it has %" PRIu32 " tables",
                     what->part->part_id, use, number, what->etype, edges->num_features);
}

/* Those of the term, which samplers can draw by. */
static int find_tables(const struct local_sample *what, struct sample_request *request,
                       struct error *error)
{
    char where[40];
    int rv = find_table(what, "weights", what->term.weights, &request->weights, error);
    if (rv == 0)
        rv = find_table(what, "a mask", what->term.mask, &request->mask, error);
    if (rv != 0 || (request->weights == NULL && request->mask == NULL))
        return rv;
    const struct feature_table *weights = request->weights, *mask = request->mask;
    snprintf(where, sizeof where, "partition %" PRIu32, what->part->part_id);
    if (weights != NULL && request->method->edge_weights)
        rv = weights_check(weights->name, weights->dtype, weights->width, where, error);
    if (rv == 0 && mask != NULL)
        rv = sample_mask_check(mask->name, mask->dtype, mask->width, where, error);
    return rv;
}

int local_sample_make(const struct local_sample *what, struct error *error)
{
    const struct sample_method *method = sample_method_find(what->kind);
    struct sample_request request = { .method = method };
    if (method == NULL || method->make == NULL || what->etype >= what->part->types->num_etypes)
        return 0; /* local_sample_prepare() says what is wrong */
    int rv = find_tables(what, &request, error);
    if (rv == 0 && what->part->on_demand == NULL)
        rv = error_set(error, TR_EUNSUPPORTED,
                       "partition %" PRIu32 ": nothing can be made of it to draw by",
                       what->part->part_id);
    return rv != 0 ? rv : method->make(what->part, what->etype, &what->term, error);
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
    const bool along_out = what->term.direction == SAMPLE_OUT;
    const struct out_edges *out = &part->edges[what->etype].out;
    if (along_out && out->index == NULL)
        return error_set(error, TR_EUNSUPPORTED,
                         "partition %" PRIu32 ": it was written without the out-edges of type "
                         "%" PRIu32 "; partition again with --out-edges",
                         part->part_id, what->etype);
    const bool total = (what->term.flags & SAMPLE_TOTAL) != 0;
    const struct graph_etype *etype = &part->types->etypes[what->etype];
    const struct node_part *nodes = &part->nodes[sample_row_type(etype, &what->term)];
    *request = (struct sample_request){
        .method = sample_method_find(what->kind),
        .csc = along_out ? &request->out : &part->edges[what->etype].csc,
        .original_ids = ids_follow_rows(nodes) ? NULL : nodes->original_ids,
        .global_begin = nodes->global_begin,
        .rows = what->rows,
        .num_rows = what->num_rows,
        .with = what->with,
        .excluded = what->excluded,
        .num_excluded = what->num_excluded,
        .term = what->term,
        .source_base = base_of(what->draw, KEY_SOURCES, etype->src),
        .key_base = total ? base_of(what->draw, along_out ? KEY_OUT_TOTAL : KEY_TOTAL,
                                    sample_row_type(etype, &what->term))
                          : base_of(what->draw, along_out ? KEY_OUT_NEIGHBOURS : KEY_NEIGHBOURS,
                                    what->etype),
        .part = part,
        .etype = what->etype,
        .excluded_by_type = what->excluded_by_type,
    };
    if (along_out) {
        request->out = out_edges_csc(out);
        request->nodes_end = out->nodes_end;
        request->edges_end = out->edges_end;
    }
    int rv = find_tables(what, request, error);
    if (rv != 0)
        return rv;
    if (request->method->find != NULL && request->method->find(part, what->etype, request) != 0)
        return error_set(error, TR_EUNSUPPORTED,
                         "partition %" PRIu32 ": what the %s sampler draws by was not made",
                         part->part_id, request->method->name);
    if (sample_check(request) == 0)
        return 0;
    return error_set(error, TR_ERANGE,
                     "partition %" PRIu32 ": row %" PRIu32 " of edge type %" PRIu32
                     " asked for, it has %" PRIu64 " rows",
                     part->part_id, find_bad_row(request), what->etype, request->csc->num_rows);
}

/* Files of out-edges are mapped unread: what was drawn of them is none of the graph's where a file
 * was written wrong. */
static int check_drawn(const struct sample_request *request, const struct sample_result *result)
{
    bool stray = false;
    for (uint64_t i = 0; i < result->num_edges; i++)
        stray |= result->columns[i] >= request->nodes_end;
    for (uint64_t i = 0; result->edge_ids != NULL && i < result->num_edges; i++)
        stray |= result->edge_ids[i] >= request->edges_end;
    return stray ? TR_EFORMAT : 0;
}

int local_sample_draw(struct sample_space *space, const struct sample_request *request,
                      struct sample_result *result)
{
    int rv = request->method->draw(space, request, result);
    return rv == 0 && request->term.direction == SAMPLE_OUT ? check_drawn(request, result) : rv;
}

uint32_t local_sample_column_bytes(const struct graph_part *part, uint32_t etype,
                                   uint32_t direction)
{
    bool wide = part->edges[etype].csc.column_global != NULL && direction == SAMPLE_IN;
    return wide ? 8 : 4;
}

static uint64_t row_degree(const struct sample_request *request, uint32_t i)
{
    const uint64_t *bounds = &request->csc->index[request->rows[i]];
    return bounds[1] - bounds[0];
}

uint64_t local_sample_row_edges(const struct sample_request *request)
{
    return request->method->row_edges(&request->term, SAMPLE_ANY_DEGREE);
}

/* Inlined, since gcc drops calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void prefetch_degree(
    const struct sample_request *request, uint32_t i)
{
    if (i + PREFETCH_ROWS < request->num_rows)
        __builtin_prefetch(&request->csc->index[request->rows[i + PREFETCH_ROWS]]);
}

uint64_t local_sample_bound(const struct sample_request *request)
{
    uint64_t most = local_sample_row_edges(request), bound = 0;
    if (most <= ROOMY_EDGES)
        return request->num_rows * most;
    for (uint32_t i = 0; i < request->num_rows; i++) {
        prefetch_degree(request, i);
        bound += most == SAMPLE_ANY_DEGREE ? row_degree(request, i)
                                           : local_sample_count(request, i);
    }
    return bound;
}

uint32_t local_sample_fit(const struct sample_request *request, uint64_t edges_max, uint64_t *edges)
{
    uint64_t most = local_sample_row_edges(request);
    if (most != SAMPLE_ANY_DEGREE) {
        uint64_t fit = most == 0 ? UINT32_MAX : edges_max / most;
        uint32_t rows = fit < request->num_rows ? (uint32_t)fit : request->num_rows;
        *edges = rows * most;
        return rows;
    }
    *edges = 0;
    for (uint32_t i = 0; i < request->num_rows; i++) {
        prefetch_degree(request, i);
        uint64_t more = row_degree(request, i);
        if (more > edges_max - *edges)
            return i;
        *edges += more;
    }
    return request->num_rows;
}

uint64_t local_sample_count(const struct sample_request *request, uint32_t i)
{
    return request->method->row_edges(&request->term, row_degree(request, i));
}
