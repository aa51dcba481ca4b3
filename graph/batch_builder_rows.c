/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of tables for the nodes of a builder. */
#include <inttypes.h>
#include <string.h>

#include "graph/batch_builder.h"
#include "graph/local_rows.h"

/* Rows ahead whose lines are fetched. */
#define PREFETCH_ROWS 12u
#define PREFETCH_BYTES 512u /* of one row; the hardware follows from there */
#define LINE 64u

static bool has(const struct batch_builder *builder, uint32_t ntype, uint32_t name_number)
{
    return name_number != BATCH_BUILDER_NO_TABLE &&
           graph_meta_table(builder->graph.meta, ntype, name_number) >= 0;
}

static bool wants(const struct batch_builder *builder, uint32_t ntype, uint32_t table)
{
    const struct batch_builder_plan *plan = builder->plan;
    switch ((enum batch_builder_table)table) {
    case BATCH_BUILDER_FEATURES:
        return has(builder, ntype, plan->features);
    case BATCH_BUILDER_ORIGINAL_IDS:
        return plan->original_ids;
    case BATCH_BUILDER_IN_DEGREES:
    case BATCH_BUILDER_OUT_DEGREES:
        return plan->degrees;
    case BATCH_BUILDER_LABELS:
        return ntype == plan->label_ntype && has(builder, ntype, plan->labels);
    case BATCH_BUILDER_TABLES:
        break;
    }
    return false;
}

static const struct feature_meta *feature(const struct batch_builder *builder, uint32_t ntype,
                                          uint32_t name_number, uint32_t *table)
{
    *table = (uint32_t)graph_meta_table(builder->graph.meta, ntype, name_number);
    return &builder->graph.meta->nodes[ntype].features[*table];
}

bool batch_builder_table_rows(const struct batch_builder *builder, uint32_t ntype, uint32_t table,
                              struct batch_builder_rows *rows)
{
    if (!wants(builder, ntype, table))
        return false;
    const struct node_space *space = &builder->out->node_space[ntype];
    const struct batch_nodes *nodes = &builder->out->nodes[ntype];
    rows->num_rows = nodes->num_nodes;
    switch ((enum batch_builder_table)table) {
    case BATCH_BUILDER_FEATURES:
        rows->row_bytes = feature(builder, ntype, builder->plan->features, &rows->table)->row_bytes;
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
        rows->row_bytes = feature(builder, ntype, builder->plan->labels, &rows->table)->row_bytes;
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
    const struct feature_meta *meta = feature(builder, ntype, name_number, &table);
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
    if (rv == 0 && wants(builder, t, BATCH_BUILDER_ORIGINAL_IDS))
        rv = vec_reserve(&space->original_ids, n, sizeof(uint64_t), 0);
    if (rv == 0 && wants(builder, t, BATCH_BUILDER_IN_DEGREES))
        rv = vec_reserve(&space->in_degrees, n, sizeof(uint32_t), 0);
    if (rv == 0 && wants(builder, t, BATCH_BUILDER_OUT_DEGREES))
        rv = vec_reserve(&space->out_degrees, n, sizeof(uint32_t), 0);
    if (rv == 0 && wants(builder, t, BATCH_BUILDER_FEATURES))
        rv = open_feature(builder, t, builder->plan->features, n, &space->features,
                          &nodes->features);
    if (rv == 0 && wants(builder, t, BATCH_BUILDER_LABELS))
        rv = open_feature(builder, t, builder->plan->labels, nodes->num_seeds, &space->labels,
                          &nodes->labels);
    if (wants(builder, t, BATCH_BUILDER_ORIGINAL_IDS))
        nodes->original_ids = space->original_ids.data;
    if (wants(builder, t, BATCH_BUILDER_IN_DEGREES))
        nodes->in_degrees = space->in_degrees.data;
    if (wants(builder, t, BATCH_BUILDER_OUT_DEGREES))
        nodes->out_degrees = space->out_degrees.data;
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
    builder->ntype = builder->table = builder->at = 0;
    return 0;
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
    int rv = local_table_find(builder->parts[part], builder->ntype, to->table, &from, error);
    if (rv != 0)
        return rv;
    if (from.row_bytes != to->row_bytes)
        return error_set(error, TR_EMISMATCH,
                         "partition %" PRIu32 ": rows of table %" PRIu32
                         " have %zu bytes, those of the graph have %zu",
                         part, to->table, from.row_bytes, to->row_bytes);
    uint64_t begin = builder->graph.node_extents[builder->ntype][part].begin;
    builder->bases[part] = (uintptr_t)from.rows - begin * to->row_bytes;
    return 0;
}

static void gather(const struct batch_builder *builder, const struct batch_builder_rows *to,
                   uint32_t end)
{
    const uint16_t *owners = builder->types[builder->ntype].owners.data;
    const uint64_t *ids = builder->types[builder->ntype].nodes.ids;
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

static int gather_piece(struct batch_builder *builder, const struct batch_builder_rows *to,
                        uint32_t end, struct error *error)
{
    int rv = 0;
    for (uint32_t p = 0; p < builder->num_parts && rv == 0; p++) {
        builder->bases[p] = 0;
        if (batch_builder_is_local(builder, p) && builder->types[builder->ntype].lists[p].count > 0)
            rv = find_base(builder, to, p, error);
    }
    if (rv == 0)
        gather(builder, to, end);
    return rv;
}

static void next_table(struct batch_builder *builder)
{
    builder->at = 0;
    builder->table++;
    if (builder->table == BATCH_BUILDER_TABLES) {
        builder->table = 0;
        builder->ntype++;
    }
}

int batch_builder_gather(struct batch_builder *builder, struct error *error)
{
    struct batch_builder_rows to;
    while (builder->ntype < builder->num_ntypes &&
           !(batch_builder_table_rows(builder, builder->ntype, builder->table, &to) &&
             builder->at < to.num_rows && to.row_bytes > 0))
        next_table(builder);
    if (builder->ntype == builder->num_ntypes)
        return 0;
    size_t piece = BATCH_BUILDER_SLICE_BYTES / to.row_bytes + 1;
    uint32_t left = to.num_rows - builder->at;
    uint32_t end = builder->at + (piece < left ? (uint32_t)piece : left);
    int rv = gather_piece(builder, &to, end, error);
    builder->at = end;
    return rv != 0 ? rv : 1;
}
