/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of tables for the nodes of a builder. */
#include <inttypes.h>
#include <string.h>

#include "graph/batch_builder.h"
#include "graph/csr.h"
#include "graph/local_rows.h"

/* Rows ahead whose lines are fetched. */
#define PREFETCH_ROWS 12u
#define PREFETCH_BYTES 512u /* of one row; the hardware follows from there */
#define LINE 64u

static bool rows_has(const struct batch_builder *builder, uint32_t ntype, uint32_t name_number)
{
    return name_number != BATCH_BUILDER_NO_TABLE &&
           graph_meta_table(builder->graph.meta, ntype, name_number) >= 0;
}

static bool rows_wants(const struct batch_builder *builder, uint32_t ntype, uint32_t table)
{
    const struct batch_builder_plan *plan = builder->plan;
    switch ((enum batch_builder_table)table) {
    case BATCH_BUILDER_FEATURES:
        return rows_has(builder, ntype, plan->features);
    case BATCH_BUILDER_ORIGINAL_IDS:
        return plan->original_ids;
    case BATCH_BUILDER_IN_DEGREES:
    case BATCH_BUILDER_OUT_DEGREES:
        return plan->degrees;
    case BATCH_BUILDER_LABELS:
        return (ntype == plan->label_ntype || plan->label_ntype == BATCH_BUILDER_EVERY_TYPE) &&
               rows_has(builder, ntype, plan->labels);
    case BATCH_BUILDER_TABLES:
        break;
    }
    return false;
}

static const struct feature_meta *if_sparse(const struct feature_meta *meta)
{
    return meta->form == TABLE_CSR ? meta : NULL;
}

/* Where the rows of a table that the spec lists go; of nodes they have layer 0. */
static struct batch_table *listed_table(const struct batch_builder *builder, uint32_t table,
                                        uint32_t layer)
{
    struct batch_table *at = builder->out->tables;
    while (at->table != table || at->layer != layer)
        at++;
    return at;
}

/* A table that the spec lists, where it is one of that list. */
static bool listed_rows(const struct batch_builder *builder, uint32_t list, uint32_t table,
                        struct batch_builder_rows *rows)
{
    const struct sample_table *wanted = &builder->plan->spec->tables[table];
    const struct graph_meta *meta = builder->graph.meta;
    const struct batch_table *out;
    if (list < builder->num_ntypes) {
        if (wanted->of != SAMPLE_OF_NODES || wanted->type != list)
            return false;
        out = listed_table(builder, table, 0);
        rows->table = (uint32_t)graph_meta_table(meta, list, wanted->name);
        rows->sparse = if_sparse(&meta->nodes[list].features[rows->table]);
    } else {
        const struct batch_builder_edges *edges = &builder->edges[list - builder->num_ntypes];
        if (!sample_table_has_edges(wanted, edges->etype, edges->layer))
            return false;
        out = listed_table(builder, table, edges->layer);
        rows->table = TABLE_EDGES +
                      (uint32_t)graph_meta_edge_table(meta, edges->etype, wanted->name);
    }
    rows->type = wanted->type;
    rows->num_rows = out->rows.num_rows;
    rows->row_bytes = out->rows.row_bytes;
    rows->rows = out->rows.rows;
    return true;
}

static const struct feature_meta *rows_feature(const struct batch_builder *builder, uint32_t ntype,
                                               uint32_t name_number, uint32_t *table)
{
    *table = (uint32_t)graph_meta_table(builder->graph.meta, ntype, name_number);
    return &builder->graph.meta->nodes[ntype].features[*table];
}

bool batch_builder_table_rows(const struct batch_builder *builder, uint32_t list, uint32_t table,
                              struct batch_builder_rows *rows)
{
    rows->sparse = NULL;
    if (table >= BATCH_BUILDER_TABLES)
        return listed_rows(builder, list, table - BATCH_BUILDER_TABLES, rows);
    uint32_t ntype = list;
    if (list >= builder->num_ntypes || !rows_wants(builder, ntype, table))
        return false;
    rows->type = ntype;
    const struct node_space *space = &builder->out->node_space[ntype];
    const struct batch_nodes *nodes = &builder->out->nodes[ntype];
    const struct feature_meta *feature;
    rows->num_rows = nodes->num_nodes;
    switch ((enum batch_builder_table)table) {
    case BATCH_BUILDER_FEATURES:
        feature = rows_feature(builder, ntype, builder->plan->features, &rows->table);
        rows->row_bytes = feature->row_bytes;
        rows->sparse = if_sparse(feature);
        rows->rows = space->features.data;
        break;
    case BATCH_BUILDER_ORIGINAL_IDS:
        rows->table = TABLE_ORIGINAL_ID;
        rows->row_bytes = sizeof(uint64_t);
        rows->rows = space->original_ids.data;
        break;
    case BATCH_BUILDER_IN_DEGREES:
        rows->table = TABLE_IN_DEGREE;
        rows->row_bytes = sizeof(uint32_t);
        rows->rows = space->in_degrees.data;
        break;
    case BATCH_BUILDER_OUT_DEGREES:
        rows->table = TABLE_OUT_DEGREE;
        rows->row_bytes = sizeof(uint32_t);
        rows->rows = space->out_degrees.data;
        break;
    default:
        feature = rows_feature(builder, ntype, builder->plan->labels, &rows->table);
        rows->row_bytes = feature->row_bytes;
        rows->sparse = if_sparse(feature);
        rows->rows = space->labels.data;
        rows->num_rows = nodes->num_seeds;
        break;
    }
    return true;
}

static int open_feature(struct batch_builder *builder, uint32_t ntype, uint32_t name_number,
                        uint32_t num_rows, struct vec *space, struct batch_rows *out)
{
    uint32_t table;
    const struct feature_meta *meta = rows_feature(builder, ntype, name_number, &table);
    int rv = vec_reserve(space, num_rows, meta->row_bytes, 0);
    *out = (struct batch_rows){ meta->dtype, num_rows, meta->width, meta->row_bytes, space->data };
    return rv;
}

static int open_type(struct batch_builder *builder, uint32_t t)
{
    struct batch_nodes *nodes = &builder->out->nodes[t];
    struct node_space *space = &builder->out->node_space[t];
    uint32_t n = builder->types[t].nodes.num_ids;
    nodes->num_nodes = n;
    int rv = vec_reserve(&space->ids, n, sizeof(uint64_t), 0);
    if (rv == 0 && n > 0)
        memcpy(space->ids.data, builder->types[t].nodes.ids, n * sizeof(uint64_t));
    nodes->ids = space->ids.data;
    if (rv == 0 && rows_wants(builder, t, BATCH_BUILDER_ORIGINAL_IDS))
        rv = vec_reserve(&space->original_ids, n, sizeof(uint64_t), 0);
    if (rv == 0 && rows_wants(builder, t, BATCH_BUILDER_IN_DEGREES))
        rv = vec_reserve(&space->in_degrees, n, sizeof(uint32_t), 0);
    if (rv == 0 && rows_wants(builder, t, BATCH_BUILDER_OUT_DEGREES))
        rv = vec_reserve(&space->out_degrees, n, sizeof(uint32_t), 0);
    if (rv == 0 && rows_wants(builder, t, BATCH_BUILDER_FEATURES))
        rv = open_feature(builder, t, builder->plan->features, n, &space->features,
                          &nodes->features);
    if (rv == 0 && rows_wants(builder, t, BATCH_BUILDER_LABELS))
        rv = open_feature(builder, t, builder->plan->labels, nodes->num_seeds, &space->labels,
                          &nodes->labels);
    if (rows_wants(builder, t, BATCH_BUILDER_ORIGINAL_IDS))
        nodes->original_ids = space->original_ids.data;
    if (rows_wants(builder, t, BATCH_BUILDER_IN_DEGREES))
        nodes->in_degrees = space->in_degrees.data;
    if (rows_wants(builder, t, BATCH_BUILDER_OUT_DEGREES))
        nodes->out_degrees = space->out_degrees.data;
    return rv;
}

static uint32_t rows_of_nodes(const struct batch_builder *builder, const struct sample_table *table)
{
    const struct batch_nodes *nodes = &builder->out->nodes[table->type];
    return table->where == SAMPLE_FOR_ALL ? nodes->num_nodes
           : table->where == SAMPLE_FOR_SEEDS
               ? nodes->num_seeds
               : builder->out->blocks[table->where].num_src[table->type];
}

/* A table of the edges of all layers is one of each. */
static uint32_t num_listed(const struct sample_spec *spec, const struct sample_table *table)
{
    bool each = table->of == SAMPLE_OF_EDGES && table->where == SAMPLE_FOR_ALL;
    return each ? spec->num_layers : 1;
}

/* Makes room for one table, or for those of all layers, from *at on. */
static int open_listed(struct batch_builder *builder, uint32_t number, uint32_t *at)
{
    const struct sample_spec *spec = builder->plan->spec;
    const struct sample_table *table = &spec->tables[number];
    const struct graph_meta *meta = builder->graph.meta;
    bool edges = table->of == SAMPLE_OF_EDGES;
    int found = edges ? graph_meta_edge_table(meta, table->type, table->name)
                      : graph_meta_table(meta, table->type, table->name);
    const struct feature_meta *feature = edges ? &meta->edges[table->type].features[found]
                                               : &meta->nodes[table->type].features[found];
    uint32_t first = edges && table->where != SAMPLE_FOR_ALL ? table->where : 0;
    int rv = 0;
    for (uint32_t l = first; l < first + num_listed(spec, table) && rv == 0; l++, ++*at) {
        uint32_t count = edges ? batch_space_edges(builder->out, l, table->type)->num_edges
                               : rows_of_nodes(builder, table);
        struct vec *space = &builder->out->table_space[*at];
        rv = vec_reserve(space, count, feature->row_bytes, 0);
        builder->out->tables[*at] = (struct batch_table){
            .table = number,
            .of = table->of,
            .type = table->type,
            .layer = l,
            .rows = { feature->dtype, count, feature->width, feature->row_bytes, space->data }
        };
    }
    return rv;
}

static int open_all_listed(struct batch_builder *builder)
{
    const struct sample_spec *spec = builder->plan->spec;
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < spec->num_tables; i++)
        count += num_listed(spec, &spec->tables[i]);
    int rv = batch_space_set_tables(builder->out, count);
    for (uint32_t i = 0; i < spec->num_tables && rv == 0; i++)
        rv = open_listed(builder, i, &at);
    return rv;
}

int batch_builder_open_rows(struct batch_builder *builder, struct error *error)
{
    for (uint32_t t = 0; t < builder->num_ntypes; t++)
        if (open_type(builder, t) != 0)
            return error_set(error, TR_ENOMEM,
                             "batch %" PRIu64 ": no memory for the rows of %" PRIu32
                             " nodes of type %s",
                             builder->key.batch, builder->types[t].nodes.num_ids,
                             builder->graph.types->ntypes[t]);
    if (open_all_listed(builder) != 0)
        return error_set(error, TR_ENOMEM, "batch %" PRIu64 ": no memory for its tables",
                         builder->key.batch);
    builder->list = builder->table = builder->at = 0;
    return 0;
}

static bool is_of_nodes(const struct batch_builder *builder)
{
    return builder->list < builder->num_ntypes;
}

static const struct batch_builder_edges *edges_of(const struct batch_builder *builder)
{
    return &builder->edges[builder->list - builder->num_ntypes];
}

static inline void prefetch_row(const unsigned char *row, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < PREFETCH_BYTES; i += LINE)
        __builtin_prefetch(row + i);
}

/* Where the row of global ID 0 would be, for each partition that is read directly. */
static int find_base(struct batch_builder *builder, const struct batch_builder_rows *to,
                     uint32_t part, struct error *error)
{
    struct local_table from;
    int rv = local_table_find(builder->parts[part], to->type, to->table, &from, error);
    if (rv != 0)
        return rv;
    if (from.row_bytes != to->row_bytes)
        return error_set(error, TR_EMISMATCH,
                         "partition %" PRIu32 ": rows of table %" PRIu32
                         " have %zu bytes, those of the graph have %zu",
                         part, to->table, from.row_bytes, to->row_bytes);
    builder->csr[part] = from.csr;
    if (from.csr != NULL)
        return 0;
    uint64_t begin = is_of_nodes(builder) ? builder->graph.node_extents[to->type][part].begin
                                          : builder->graph.edge_extents[to->type][part].begin;
    builder->bases[part] = (uintptr_t)from.rows - begin * to->row_bytes;
    return 0;
}

static void rows_gather(const struct batch_builder *builder, const struct batch_builder_rows *to,
                        uint32_t end)
{
    bool nodes = is_of_nodes(builder);
    const uint16_t *owners = nodes ? builder->types[builder->list].owners.data
                                   : edges_of(builder)->owners.data;
    const uint64_t *ids = nodes ? builder->types[builder->list].nodes.ids
                                : batch_builder_edge_ids(builder, edges_of(builder));
    const uintptr_t *bases = builder->bases;
    size_t bytes = to->row_bytes;
    for (uint32_t i = builder->at; i < end; i++) {
        uint32_t ahead = i + PREFETCH_ROWS;
        if (ahead < end && bases[owners[ahead]] != 0)
            prefetch_row((const void *)(bases[owners[ahead]] + ids[ahead] * bytes), bytes);
        if (bases[owners[i]] != 0)
            memcpy(to->rows + i * bytes, (const void *)(bases[owners[i]] + ids[i] * bytes), bytes);
    }
}

/* The sparse rows of nodes, widened where the batch has them. */
static void rows_widen(const struct batch_builder *builder, const struct batch_builder_rows *to,
                       uint32_t end)
{
    const struct extent *extents = builder->graph.node_extents[to->type];
    const uint16_t *owners = builder->types[builder->list].owners.data;
    const uint64_t *ids = builder->types[builder->list].nodes.ids;
    const struct csr_rows *const *csr = builder->csr;
    for (uint32_t i = builder->at; i < end; i++) {
        uint32_t ahead = i + CSR_AHEAD;
        if (ahead < end && csr[owners[ahead]] != NULL)
            csr_prefetch(csr[owners[ahead]], ids[ahead] - extents[owners[ahead]].begin);
        if (csr[owners[i]] != NULL)
            csr_widen_row(csr[owners[i]], ids[i] - extents[owners[i]].begin,
                          to->rows + i * to->row_bytes);
    }
}

static int gather_piece(struct batch_builder *builder, const struct batch_builder_rows *to,
                        uint32_t end, struct error *error)
{
    bool dense = false, sparse = false;
    int rv = 0;
    for (uint32_t p = 0; p < builder->num_parts && rv == 0; p++) {
        builder->bases[p] = 0;
        builder->csr[p] = NULL;
        if (batch_builder_is_local(builder, p) &&
            batch_builder_lists(builder, builder->list)[p].count > 0)
            rv = find_base(builder, to, p, error);
        dense = dense || builder->bases[p] != 0;
        sparse = sparse || builder->csr[p] != NULL;
    }
    if (rv == 0 && dense)
        rows_gather(builder, to, end);
    if (rv == 0 && sparse)
        rows_widen(builder, to, end);
    return rv;
}

static void next_table(struct batch_builder *builder)
{
    builder->at = 0;
    builder->table++;
    if (builder->table == batch_builder_num_tables(builder)) {
        builder->table = 0;
        builder->list++;
    }
}

int batch_builder_gather(struct batch_builder *builder, struct error *error)
{
    struct batch_builder_rows to;
    while (builder->list < batch_builder_num_lists(builder) &&
           !(batch_builder_table_rows(builder, builder->list, builder->table, &to) &&
             builder->at < to.num_rows && to.row_bytes > 0))
        next_table(builder);
    if (builder->list == batch_builder_num_lists(builder))
        return 0;
    size_t piece = BATCH_BUILDER_SLICE_BYTES / to.row_bytes + 1;
    uint32_t left = to.num_rows - builder->at;
    uint32_t end = builder->at + (piece < left ? (uint32_t)piece : left);
    int rv = gather_piece(builder, &to, end, error);
    builder->at = end;
    return rv != 0 ? rv : 1;
}
