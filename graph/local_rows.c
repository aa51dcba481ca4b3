/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/local_rows.h"

#include <inttypes.h>

#include "graph/gather.h"
#include "graph/reverse_edges.h"

/* Dense rows; rows NULL: they are computed, or sparse, as the caller adds. */
static struct local_table table_of(const void *rows, uint64_t num_rows, uint64_t width,
                                   size_t element_bytes)
{
    return (struct local_table){ .rows = rows,
                                 .num_rows = num_rows,
                                 .row_bytes = (size_t)width * element_bytes,
                                 .width = width,
                                 .element_bytes = element_bytes };
}

static int find_special(const struct graph_part *part, uint32_t ntype, uint32_t table,
                        struct local_table *out, struct error *error)
{
    const struct node_part *nodes = &part->nodes[ntype];
    size_t bytes = table == TABLE_ORIGINAL_ID ? sizeof(uint64_t) : sizeof(uint32_t);
    const void *rows = table == TABLE_ORIGINAL_ID ? (const void *)nodes->original_ids
                       : table == TABLE_IN_DEGREE ? nodes->in_degrees
                                                  : nodes->out_degrees;
    if (rows == NULL && nodes->num_nodes > 0)
        return error_set(error, TR_ENOENT,
                         "partition %" PRIu32 ": the %s of node type %s are not "
                         "loaded",
                         part->part_id, table == TABLE_ORIGINAL_ID ? "original IDs" : "degrees",
                         part->types->ntypes[ntype]);
    *out = table_of(rows, nodes->num_nodes, 1, bytes);
    return 0;
}

static int find_slice(const struct graph_part *part, uint32_t ntype, uint32_t number,
                      struct local_table *out, struct error *error)
{
    const struct rank_slice *slice = number < part->num_slices ? &part->slices[number] : NULL;
    if (slice == NULL || slice->ntype != ntype || (slice->ids == NULL && slice->num_ranks > 0))
        return error_set(error, TR_ENOENT,
                         "partition %" PRIu32 ": no table of ranks %" PRIu32
                         " of node type %s is loaded; partition again to have it",
                         part->part_id, number, part->types->ntypes[ntype]);
    *out = table_of(slice->ids, slice->num_ranks, 1, sizeof *slice->ids);
    return 0;
}

static int take_feature(const struct graph_part *part, const char *type,
                        const struct feature_table *features, uint32_t count, uint32_t number,
                        struct local_table *out, struct error *error)
{
    if (number >= count)
        return error_set(error, TR_ERANGE,
                         "partition %" PRIu32 ": table %" PRIu32
                         " of type %s asked for, it has %" PRIu32,
                         part->part_id, number, type, count);
    *out = table_of(features[number].rows, features[number].num_rows, features[number].width,
                    tr_dtype_size(features[number].dtype));
    out->row_bytes = features[number].row_bytes;
    out->csr = features[number].csr;
    return 0;
}

int local_etype_check(const struct graph_part *part, uint32_t etype, struct error *error)
{
    if (etype < part->types->num_etypes)
        return 0;
    return error_set(error, TR_ERANGE,
                     "partition %" PRIu32 ": edge type %" PRIu32
                     " asked for, the graph has %" PRIu32,
                     part->part_id, etype, part->types->num_etypes);
}

static int find_ends(const struct graph_part *part, uint32_t etype, bool sources_only,
                     struct local_table *out, struct error *error)
{
    int rv = local_etype_check(part, etype, error);
    if (rv != 0)
        return rv;
    const struct csc *csc = &part->edges[etype].csc;
    const struct node_part *nodes = &part->nodes[part->types->etypes[etype].dst];
    *out = table_of(NULL, csc->num_edges, sources_only ? 1 : 2, sizeof(uint64_t));
    out->ends = (struct edge_ends){ csc, nodes->global_begin, sources_only };
    return 0;
}

static int find_in_edges(const struct graph_part *part, uint32_t etype, struct local_table *out,
                         struct error *error)
{
    int rv = local_etype_check(part, etype, error);
    if (rv != 0)
        return rv;
    const struct csc *csc = &part->edges[etype].csc;
    *out = table_of(NULL, csc->num_rows, 2, sizeof(uint64_t));
    out->ranges = (struct edge_ranges){ csc->index, csc->first_edge };
    return 0;
}

static int find_out(const struct graph_part *part, uint32_t etype, bool places,
                    struct local_table *out, struct error *error)
{
    int rv = local_etype_check(part, etype, error);
    if (rv != 0)
        return rv;
    const struct out_edges *edges = &part->edges[etype].out;
    if (edges->index == NULL)
        return error_set(error, TR_EUNSUPPORTED,
                         "partition %" PRIu32 ": out-edges of type %s were not written; partition "
                         "again with --out-edges",
                         part->part_id, part->types->etypes[etype].name);
    *out = table_of(NULL, places ? edges->num_edges : edges->num_rows, 2, sizeof(uint64_t));
    if (places)
        out->out = edges;
    else
        out->ranges = (struct edge_ranges){ edges->index, edges->first_place };
    return 0;
}

static int find_runs(const struct graph_part *part, uint32_t etype, struct local_table *out,
                     struct error *error)
{
    int rv = local_etype_check(part, etype, error);
    if (rv != 0)
        return rv;
    const struct edge_runs *runs = &part->edges[etype].runs;
    if (runs->runs == NULL)
        return error_set(error, TR_ENOENT,
                         "partition %" PRIu32
                         ": no runs of edges of type %s are loaded; partition again to have them",
                         part->part_id, part->types->etypes[etype].name);
    *out = table_of(NULL, runs->num_ranks, 1, sizeof(uint64_t));
    out->runs = runs;
    return 0;
}

static int find_edges(const struct graph_part *part, uint32_t etype, uint32_t number,
                      struct local_table *out, struct error *error)
{
    int rv = local_etype_check(part, etype, error);
    return rv != 0
               ? rv
               : take_feature(part, part->types->etypes[etype].name, part->edges[etype].features,
                              part->edges[etype].num_features, number, out, error);
}

int local_edge_originals_check(const struct graph_part *part, uint32_t etype, struct error *error)
{
    int rv = local_etype_check(part, etype, error);
    if (rv != 0 || reverse_edges_are_known(&part->edges[etype]))
        return rv;
    return error_set(error, TR_EUNSUPPORTED,
                     "partition %" PRIu32 ": original IDs of edges of type %s were not kept; "
                     "partition again without --drop-edge-ids",
                     part->part_id, part->types->etypes[etype].name);
}

static int find_originals(const struct graph_part *part, uint32_t etype, struct local_table *out,
                          struct error *error)
{
    int rv = local_edge_originals_check(part, etype, error);
    if (rv == 0)
        *out = table_of(part->edges[etype].original_edge_ids, part->edges[etype].csc.num_edges, 1,
                        sizeof(uint64_t));
    return rv;
}

int local_table_find(const struct graph_part *part, uint32_t ntype, uint32_t table,
                     struct local_table *out, struct error *error)
{
    if (table == TABLE_EDGE_ORIGINALS)
        return find_originals(part, ntype, out, error);
    if (table == TABLE_EDGE_ENDS || table == TABLE_EDGE_SOURCES)
        return find_ends(part, ntype, table == TABLE_EDGE_SOURCES, out, error);
    if (table == TABLE_IN_EDGES)
        return find_in_edges(part, ntype, out, error);
    if (table == TABLE_OUT_EDGES || table == TABLE_OUT_PLACES)
        return find_out(part, ntype, table == TABLE_OUT_PLACES, out, error);
    if (table == TABLE_EDGE_RANKS)
        return find_runs(part, ntype, out, error);
    if (table >= TABLE_EDGES && table < TABLE_RANKS)
        return find_edges(part, ntype, table - TABLE_EDGES, out, error);
    if (ntype >= part->types->num_ntypes)
        return error_set(error, TR_ERANGE,
                         "partition %" PRIu32 ": node type %" PRIu32
                         " asked for, the graph has %" PRIu32,
                         part->part_id, ntype, part->types->num_ntypes);
    if (table >= TABLE_ORIGINAL_ID)
        return find_special(part, ntype, table, out, error);
    if (table >= TABLE_RANKS)
        return find_slice(part, ntype, table - TABLE_RANKS, out, error);
    return take_feature(part, part->types->ntypes[ntype], part->nodes[ntype].features,
                        part->nodes[ntype].num_features, table, out, error);
}

static int check_out(const struct graph_part *part, const struct out_edges *out,
                     const uint32_t *positions, uint64_t count, struct error *error)
{
    uint64_t bad = out_edges_check(out, positions, count);
    if (bad == count)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "partition %" PRIu32 ": out-edge %" PRIu32 " is edge %" PRIu64
                     " to node %" PRIu32 ", which are not in the graph; partition again",
                     part->part_id, positions[bad], out->edge_ids[positions[bad]],
                     out->destinations[positions[bad]]);
}

int local_rows_check(const struct graph_part *part, const struct local_table *table,
                     const uint32_t *rows, uint64_t num_rows, struct error *error)
{
    int rv = gather_check(rows, num_rows, table->num_rows);
    if (rv == 0)
        return table->out == NULL ? 0 : check_out(part, table->out, rows, num_rows, error);
    uint64_t bad = 0;
    while (bad + 1 < num_rows && rows[bad] < table->num_rows)
        bad++;
    return error_set(error, rv,
                     "partition %" PRIu32 ": row %" PRIu32 " of a table asked for, it "
                     "has %" PRIu64 " rows",
                     part->part_id, rows[bad], table->num_rows);
}

void local_rows_read(const struct local_table *table, const uint32_t *rows, uint64_t num_rows,
                     void *out)
{
    if (table->ends.csc != NULL && table->ends.sources_only)
        edge_sources_read(&table->ends, rows, num_rows, NULL, out);
    else if (table->ends.csc != NULL)
        edge_ends_read(&table->ends, rows, num_rows, NULL, out);
    else if (table->ranges.index != NULL)
        edge_ranges_read(&table->ranges, rows, num_rows, NULL, out);
    else if (table->out != NULL)
        out_edges_read(table->out, rows, num_rows, NULL, out);
    else if (table->runs != NULL)
        edge_runs_read(table->runs, rows, num_rows, NULL, out);
    else if (table->csr != NULL)
        csr_widen(table->csr, rows, NULL, num_rows, out);
    else
        gather_rows(out, table->rows, table->row_bytes, rows, num_rows);
}

void local_rows_scatter(const struct local_table *table, const uint32_t *rows,
                        const uint32_t *places, uint64_t num_rows, void *to)
{
    if (table->ends.csc != NULL && table->ends.sources_only)
        edge_sources_read(&table->ends, rows, num_rows, places, to);
    else if (table->ends.csc != NULL)
        edge_ends_read(&table->ends, rows, num_rows, places, to);
    else if (table->ranges.index != NULL)
        edge_ranges_read(&table->ranges, rows, num_rows, places, to);
    else if (table->out != NULL)
        out_edges_read(table->out, rows, num_rows, places, to);
    else if (table->runs != NULL)
        edge_runs_read(table->runs, rows, num_rows, places, to);
    else if (table->csr != NULL)
        csr_widen(table->csr, rows, places, num_rows, to);
    else
        gather_rows_to(to, places, table->rows, table->row_bytes, rows, num_rows);
}
