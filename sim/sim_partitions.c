/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_partitions.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *partitions_make(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    assert(block != NULL);
    return block;
}

/* Where nodes may go: everywhere, or to few, so that the others have nothing of the type. */
static uint32_t draw_owner(struct draws *draws, uint32_t num_parts, uint32_t open_parts)
{
    if (draws == NULL)
        return 0;
    return (uint32_t)(draws_below(draws, open_parts) + num_parts - open_parts);
}

/* Fills global, original and node_counts[num_parts]. */
static void place_nodes(struct sim_partitions *p, uint32_t t, uint32_t num_parts,
                        struct draws *draws, uint64_t *node_counts)
{
    uint32_t n = p->raw->num_nodes[t];
    uint32_t *owner = partitions_make(n, sizeof *owner);
    uint32_t open_parts = draws != NULL && draws_chance(draws, 30)
                              ? (uint32_t)draws_between(draws, 1, num_parts)
                              : num_parts;
    for (uint32_t v = 0; v < n; v++) {
        owner[v] = draw_owner(draws, num_parts, open_parts);
        node_counts[owner[v]]++;
    }
    p->global[t] = partitions_make(n, sizeof(uint64_t));
    p->original[t] = partitions_make(n, sizeof(uint64_t));
    uint64_t next = 0;
    for (uint32_t part = 0; part < num_parts; part++)
        for (uint32_t v = 0; v < n; v++)
            if (owner[v] == part) {
                p->original[t][next] = v;
                p->global[t][v] = next++;
            }
    free(owner);
}

static void count_edges(const struct sim_partitions *p, uint32_t e, uint32_t num_parts,
                        const uint64_t *node_counts, uint64_t *edge_counts)
{
    const struct sim_edges *edges = &p->raw->edges[e];
    const uint64_t *global = p->global[p->raw->types.etypes[e].dst];
    for (uint32_t i = 0; i < edges->count; i++) {
        uint64_t end = 0;
        uint32_t part = 0;
        for (; part < num_parts; part++) {
            end += node_counts[part];
            if (global[edges->dst[i]] < end)
                break;
        }
        assert(part < num_parts);
        edge_counts[part]++;
    }
}

static void make_book(struct sim_partitions *p, uint32_t num_parts, struct draws *draws)
{
    const struct graph_types *types = &p->raw->types;
    uint64_t *nodes = partitions_make((size_t)types->num_ntypes * num_parts, sizeof *nodes);
    uint64_t *edges = partitions_make((size_t)types->num_etypes * num_parts, sizeof *edges);
    for (uint32_t t = 0; t < types->num_ntypes; t++)
        place_nodes(p, t, num_parts, draws, nodes + (size_t)t * num_parts);
    for (uint32_t e = 0; e < types->num_etypes; e++)
        count_edges(p, e, num_parts, nodes + (size_t)types->etypes[e].dst * num_parts,
                    edges + (size_t)e * num_parts);
    int rv = book_init(&p->book, "simulated", types, num_parts, nodes, edges);
    assert(rv == 0);
    free(nodes);
    free(edges);
}

static struct feature_table make_labels(const uint64_t *originals, uint64_t n, uint32_t t)
{
    int64_t *rows = partitions_make(n, sizeof *rows);
    for (uint64_t i = 0; i < n; i++)
        rows[i] = raw_label(t, originals[i]);
    return (struct feature_table){ .name = "label",
                                   .dtype = TR_I64,
                                   .num_rows = n,
                                   .width = 1,
                                   .row_bytes = sizeof *rows,
                                   .rows = rows };
}

static struct feature_table make_edge_labels(const uint64_t *originals, uint64_t n, uint32_t e)
{
    struct feature_table table = make_labels(originals, n, PLACED_EDGES + e);
    table.name = "edge";
    return table;
}

static struct feature_table make_edge_mask(const uint64_t *originals, uint64_t n, uint32_t e)
{
    uint8_t *rows = partitions_make(n, sizeof *rows);
    for (uint64_t i = 0; i < n; i++)
        rows[i] = raw_label(PLACED_EDGES + e, originals[i] + 1) % 3 != 0;
    return (struct feature_table){ .name = "kept",
                                   .dtype = TR_U8,
                                   .num_rows = n,
                                   .width = 1,
                                   .row_bytes = sizeof *rows,
                                   .rows = rows };
}

static void partitions_drop(const void *block)
{
    free((void *)(uintptr_t)block);
}

/* The rows of a table as their elements that are not 0. */
static void partitions_compress(struct feature_table *table)
{
    const float *dense = table->rows;
    uint64_t *index = partitions_make(table->num_rows + 1, sizeof *index), count = 0;
    uint32_t *columns = partitions_make(table->num_rows * table->width, sizeof *columns);
    float *values = partitions_make(table->num_rows * table->width, sizeof *values);
    struct csr_rows *csr = partitions_make(1, sizeof *csr);
    for (uint64_t row = 0; row < table->num_rows; row++) {
        for (uint32_t c = 0; c < table->width; c++) {
            columns[count] = c;
            values[count] = dense[row * table->width + c];
            count += values[count] != 0;
        }
        index[row + 1] = count;
    }
    *csr = (struct csr_rows){ .num_rows = table->num_rows,
                              .width = table->width,
                              .dtype = table->dtype,
                              .row_nnz_max = (uint32_t)table->width,
                              .index = index,
                              .columns = columns,
                              .values = values };
    partitions_drop(table->rows);
    table->rows = NULL;
    table->form = TABLE_CSR;
    table->csr = csr;
}

static void drop_table(const struct feature_table *table)
{
    partitions_drop(table->rows);
    if (table->form != TABLE_CSR)
        return;
    partitions_drop(table->csr->index);
    partitions_drop(table->csr->columns);
    partitions_drop(table->csr->values);
    partitions_drop(table->csr);
}

/* Some types keep their rows sparse, in all partitions; the width says which, so that no seed draws
 * anything else than it did. */
static struct feature_table make_features(const struct sim_graph *raw, const uint64_t *originals,
                                          uint64_t n, uint32_t t)
{
    uint32_t width = raw->width[t];
    float *rows = partitions_make(n * width, sizeof *rows);
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < width; c++)
            rows[i * width + c] = raw_feature(t, originals[i], c);
    struct feature_table table = { .name = "feat",
                                   .dtype = TR_F32,
                                   .num_rows = n,
                                   .width = width,
                                   .row_bytes = width * sizeof *rows,
                                   .rows = rows,
                                   .ndim = 1,
                                   .shape = { width } };
    if (width >= CSR_WIDTH_MIN && width % 2 == 0)
        partitions_compress(&table);
    return table;
}

static void make_node_part(struct sim_partitions *p, uint32_t part, uint32_t t)
{
    const struct extent *extent = &p->book.node_extents[t][part];
    uint64_t n = extent->end - extent->begin;
    const uint64_t *originals = p->original[t] + extent->begin;
    uint32_t *in = partitions_make(n, sizeof *in), *out = partitions_make(n, sizeof *out);
    for (uint64_t i = 0; i < n; i++) {
        in[i] = p->raw->in_degrees[t][originals[i]];
        out[i] = p->raw->out_degrees[t][originals[i]];
    }
    struct feature_table *tables = partitions_make(PLACED_TABLES, sizeof *tables);
    tables[0] = make_labels(originals, n, t);
    if (p->raw->featured[t])
        tables[1] = make_features(p->raw, originals, n, t);
    p->parts[part].nodes[t] = (struct node_part){
        .num_nodes = n,
        .global_begin = extent->begin,
        .original_ids = originals,
        .in_degrees = in,
        .out_degrees = out,
        .num_features = p->raw->featured[t] ? 2 : 1,
        .features = tables,
    };
}

/* Columns through a table in an order of its own, as types of 2^32 nodes have it. */
static void partitions_widen(struct edge_part *edge, uint32_t *indices, uint64_t num_src)
{
    uint64_t *table = partitions_make(num_src, sizeof *table);
    for (uint64_t i = 0; i < num_src; i++)
        table[i] = num_src - 1 - i;
    for (uint64_t i = 0; i < edge->csc.num_edges; i++)
        indices[i] = (uint32_t)(num_src - 1 - indices[i]);
    edge->csc.column_global = table;
}

static void make_edge_part(struct sim_partitions *p, uint32_t part, uint32_t e, bool wide)
{
    const struct sim_edges *edges = &p->raw->edges[e];
    uint32_t src = p->raw->types.etypes[e].src, dst = p->raw->types.etypes[e].dst;
    const struct extent *rows = &p->book.node_extents[dst][part];
    const struct extent *owned = &p->book.edge_extents[e][part];
    uint64_t num_rows = rows->end - rows->begin, num_edges = owned->end - owned->begin;
    uint64_t *index = partitions_make(num_rows + 1, sizeof *index);
    uint64_t *next = partitions_make(num_rows, sizeof *next);
    uint32_t *indices = partitions_make(num_edges, sizeof *indices);
    uint64_t *originals = partitions_make(num_edges, sizeof *originals);
    for (uint32_t i = 0; i < edges->count; i++) {
        uint64_t row = p->global[dst][edges->dst[i]] - rows->begin;
        if (p->global[dst][edges->dst[i]] >= rows->begin && row < num_rows)
            index[row + 1]++;
    }
    for (uint64_t r = 0; r < num_rows; r++) {
        index[r + 1] += index[r];
        next[r] = index[r];
    }
    assert(index[num_rows] == num_edges);
    for (uint32_t i = 0; i < edges->count; i++) {
        uint64_t row = p->global[dst][edges->dst[i]] - rows->begin;
        if (p->global[dst][edges->dst[i]] < rows->begin || row >= num_rows)
            continue;
        indices[next[row]] = (uint32_t)p->global[src][edges->src[i]];
        originals[next[row]++] = i;
    }
    free(next);
    struct edge_part *edge = &p->parts[part].edges[e];
    struct feature_table *table = partitions_make(2, sizeof *table);
    table[PLACED_EDGE_WEIGHTS] = make_edge_labels(originals, num_edges, e);
    table[PLACED_EDGE_MASK] = make_edge_mask(originals, num_edges, e);
    *edge = (struct edge_part){
        .csc = { num_rows, num_edges, index, indices, NULL, owned->begin, NULL },
        .original_edge_ids = originals,
        .num_features = 2,
        .features = table,
    };
    if (wide)
        partitions_widen(edge, indices, p->raw->num_nodes[src]);
}

static void make_part(struct sim_partitions *p, uint32_t part, const bool *wide)
{
    const struct graph_types *types = &p->book.types;
    p->parts[part] = (struct graph_part){ .part_id = part, .version = 0, .types = types };
    p->parts[part].nodes = partitions_make(types->num_ntypes, sizeof *p->parts[part].nodes);
    p->parts[part].edges = partitions_make(types->num_etypes, sizeof *p->parts[part].edges);
    for (uint32_t t = 0; t < types->num_ntypes; t++)
        make_node_part(p, part, t);
    for (uint32_t e = 0; e < types->num_etypes; e++)
        make_edge_part(p, part, e, wide[types->etypes[e].src]);
}

/* A run for each edge: what may be one run may be several too. Returns the slice of ranks from
 * first to end - 1. */
/* Out-edges of a partition's nodes, in the order of (node, original edge ID). */
static struct out_edges make_out(const struct sim_partitions *p, uint32_t e, uint32_t part,
                                 const uint64_t *edge_ids, uint64_t first_place)
{
    const struct graph_etype *type = &p->raw->types.etypes[e];
    const struct sim_edges *edges = &p->raw->edges[e];
    const struct node_part *nodes = &p->parts[part].nodes[type->src];
    uint64_t *index = partitions_make(nodes->num_nodes + 1, sizeof *index), at = 0;
    uint32_t *destinations = partitions_make(edges->count, sizeof *destinations);
    uint64_t *ids = partitions_make(edges->count, sizeof *ids);
    for (uint64_t row = 0; row < nodes->num_nodes; row++) {
        uint64_t original = p->original[type->src][nodes->global_begin + row];
        for (uint32_t i = 0; i < edges->count; i++)
            if (edges->src[i] == original) {
                destinations[at] = (uint32_t)p->global[type->dst][edges->dst[i]];
                ids[at++] = edge_ids[i];
            }
        index[row + 1] = at;
    }
    return (struct out_edges){
        nodes->num_nodes, at, index, destinations, ids, first_place, p->raw->num_nodes[type->dst],
        edges->count
    };
}

static void make_out_edges(struct sim_partitions *p)
{
    uint32_t parts = p->book.num_parts, num_etypes = p->raw->types.num_etypes;
    uint64_t *counts = partitions_make((size_t)num_etypes * parts, sizeof *counts);
    for (uint32_t e = 0; e < num_etypes; e++) {
        uint64_t count = p->raw->edges[e].count, place = 0;
        uint64_t *edge_ids = partitions_make(count, sizeof *edge_ids);
        for (uint64_t id = 0; id < count; id++)
            edge_ids[sim_partitions_edge(p, e, id)] = id;
        for (uint32_t part = 0; part < parts; part++) {
            struct out_edges *out = &p->parts[part].edges[e].out;
            *out = make_out(p, e, part, edge_ids, place);
            counts[(size_t)e * parts + part] = out->num_edges;
            place += out->num_edges;
        }
        free(edge_ids);
    }
    int rv = book_add_out_edges(&p->book, counts);
    assert(rv == 0);
    free(counts);
}

static struct edge_runs make_slice(const uint64_t *by_rank, uint64_t first, uint64_t end)
{
    struct edge_run *runs = partitions_make(end - first, sizeof *runs);
    for (uint64_t rank = first; rank < end; rank++)
        runs[rank - first] = (struct edge_run){ rank, by_rank[rank] };
    return (struct edge_runs){ first, end - first, end - first, runs };
}

/* The rule of the format: ranks in the order of (original destination, original edge ID), of which
 * a partition has those from p*N/P to (p+1)*N/P, rounded down. */
static void make_runs(struct sim_partitions *p, uint32_t e)
{
    const struct sim_edges *edges = &p->raw->edges[e];
    uint64_t count = edges->count, num_dst = p->raw->num_nodes[p->book.types.etypes[e].dst];
    uint64_t parts = p->book.num_parts;
    uint64_t *global = partitions_make(count, sizeof *global);
    uint64_t *by_rank = partitions_make(count, sizeof *by_rank);
    uint64_t *next = partitions_make(num_dst + 1, sizeof *next);
    for (uint64_t part = 0; part < parts; part++) {
        const struct edge_part *edge = &p->parts[part].edges[e];
        for (uint64_t at = 0; at < edge->csc.num_edges; at++)
            global[edge->original_edge_ids[at]] = edge->csc.first_edge + at;
    }
    for (uint64_t i = 0; i < count; i++)
        next[edges->dst[i] + 1]++;
    for (uint64_t v = 0; v < num_dst; v++)
        next[v + 1] += next[v];
    for (uint64_t i = 0; i < count; i++)
        by_rank[next[edges->dst[i]]++] = global[i];
    for (uint64_t part = 0; part < parts; part++)
        p->parts[part].edges[e].runs = make_slice(by_rank, count * part / parts,
                                                  count * (part + 1) / parts);
    free(next);
    free(by_rank);
    free(global);
}

void sim_partitions_init(struct sim_partitions *partitions, const struct sim_graph *raw,
                         uint32_t num_parts, struct draws *draws)
{
    *partitions = (struct sim_partitions){ .raw = raw };
    make_book(partitions, num_parts, draws);
    partitions->parts = partitions_make(num_parts, sizeof *partitions->parts);
    bool wide[RAW_NTYPES_MAX] = { false };
    for (uint32_t t = 0; draws != NULL && t < raw->types.num_ntypes; t++)
        wide[t] = draws_chance(draws, 15);
    for (uint32_t part = 0; part < num_parts; part++)
        make_part(partitions, part, wide);
    for (uint32_t e = 0; e < raw->types.num_etypes; e++)
        make_runs(partitions, e);
    partitions->book.edge_runs = true;
    make_out_edges(partitions);
    int rv = graph_meta_init(&partitions->meta, &partitions->parts[0]);
    assert(rv == 0);
    int feature = graph_meta_name(&partitions->meta, "feat");
    assert(graph_meta_name(&partitions->meta, "label") == PLACED_LABEL);
    assert(feature == (raw_is_featured(raw) ? (int)PLACED_FEATURE : -1));
    for (uint32_t part = 0; part < num_parts; part++)
        graph_meta_add_part(&partitions->meta, &partitions->parts[part]);
    for (uint32_t part = 0; part < num_parts && rv == 0; part++)
        rv = graph_meta_check_part(&partitions->meta, &partitions->parts[part], NULL);
    assert(rv == 0);
}

uint32_t sim_partitions_rank(struct sim_partitions *p, uint32_t ntype, const uint64_t *originals,
                             uint64_t count)
{
    char name[32];
    uint32_t number = p->book.num_ranks, parts = p->book.num_parts;
    snprintf(name, sizeof name, "seeds %u", number);
    const struct rank_table table = {
        .set = RANKS_MASK, .ntype = ntype, .mask = name, .num_ranks = count, .stored = true
    };
    int rv = book_add_ranks(&p->book, &table);
    assert(rv == 0);
    for (uint32_t part = 0; part < parts; part++) {
        struct graph_part *at = &p->parts[part];
        /* The rule of the format: rows p*N/P to (p+1)*N/P, rounded down. */
        uint64_t begin = count * part / parts, end = count * (part + 1) / parts;
        struct rank_slice *slices = partitions_make(number + (size_t)1, sizeof *slices);
        uint64_t *ids = partitions_make(end - begin, sizeof *ids);
        for (uint64_t r = begin; r < end; r++)
            ids[r - begin] = p->global[ntype][originals[r]];
        if (number > 0)
            memcpy(slices, at->slices, number * sizeof *slices);
        free((void *)(uintptr_t)at->slices);
        slices[number] = (struct rank_slice){ ntype, end - begin, ids };
        at->slices = slices;
        at->num_slices = number + 1;
    }
    return number;
}

static void free_part(struct graph_part *part)
{
    for (uint32_t t = 0; t < part->types->num_ntypes; t++) {
        const struct node_part *nodes = &part->nodes[t];
        partitions_drop(nodes->in_degrees);
        partitions_drop(nodes->out_degrees);
        for (uint32_t f = 0; f < nodes->num_features; f++)
            drop_table(&nodes->features[f]);
        partitions_drop(nodes->features);
    }
    for (uint32_t e = 0; e < part->types->num_etypes; e++) {
        partitions_drop(part->edges[e].csc.index);
        partitions_drop(part->edges[e].csc.indices);
        partitions_drop(part->edges[e].csc.column_global);
        partitions_drop(part->edges[e].original_edge_ids);
        partitions_drop(part->edges[e].runs.runs);
        partitions_drop(part->edges[e].out.index);
        partitions_drop(part->edges[e].out.destinations);
        partitions_drop(part->edges[e].out.edge_ids);
        partitions_drop(part->edges[e].features[PLACED_EDGE_WEIGHTS].rows);
        partitions_drop(part->edges[e].features[PLACED_EDGE_MASK].rows);
        partitions_drop(part->edges[e].features);
    }
    for (uint32_t i = 0; i < part->num_slices; i++)
        partitions_drop(part->slices[i].ids);
    partitions_drop(part->slices);
    free(part->nodes);
    free(part->edges);
}

void sim_partitions_fini(struct sim_partitions *partitions)
{
    graph_meta_fini(&partitions->meta);
    for (uint32_t part = 0; part < partitions->book.num_parts; part++)
        free_part(&partitions->parts[part]);
    free(partitions->parts);
    for (uint32_t t = 0; t < partitions->raw->types.num_ntypes; t++) {
        free(partitions->global[t]);
        free(partitions->original[t]);
    }
    book_fini(&partitions->book);
}

uint64_t sim_partitions_edge(const struct sim_partitions *partitions, uint32_t etype, uint64_t edge)
{
    int part = book_edge_owner(&partitions->book, etype, edge);
    if (part < 0)
        return UINT64_MAX;
    const struct edge_part *owner = &partitions->parts[part].edges[etype];
    return owner->original_edge_ids[edge - owner->csc.first_edge];
}

uint64_t sim_partitions_edge_id(const struct sim_partitions *partitions, uint32_t etype,
                                uint64_t original)
{
    uint64_t edge = 0;
    while (sim_partitions_edge(partitions, etype, edge) != original) {
        edge++;
        assert(edge < partitions->raw->edges[etype].count);
    }
    return edge;
}

int sim_partitions_read_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                            struct error *error)
{
    const struct sim_partitions *p = arg;
    (void)error;
    memcpy(ids, p->original[ntype] + first, count * sizeof *ids);
    return 0;
}
