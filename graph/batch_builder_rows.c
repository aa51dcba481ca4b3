/* Rows of tables for the nodes of a draft. */
#include <inttypes.h>
#include <string.h>

#include "graph/batch_builder.h"
#include "graph/local_rows.h"

/* Rows ahead whose lines are fetched. */
#define PREFETCH_ROWS 12u
#define PREFETCH_BYTES 512u /* of one row; the hardware follows from there */
#define LINE 64u

static bool has(const struct draft *draft, uint32_t ntype, uint32_t name_number)
{
    return name_number != DRAFT_NO_TABLE &&
           graph_meta_table(draft->graph.meta, ntype, name_number) >= 0;
}

static bool wants(const struct draft *draft, uint32_t ntype, uint32_t table)
{
    const struct draft_plan *plan = draft->plan;
    switch ((enum draft_table)table) {
    case DRAFT_FEATURES:
        return has(draft, ntype, plan->features);
    case DRAFT_ORIGINAL_IDS:
        return plan->original_ids;
    case DRAFT_IN_DEGREES:
    case DRAFT_OUT_DEGREES:
        return plan->degrees;
    case DRAFT_LABELS:
        return ntype == plan->label_ntype && has(draft, ntype, plan->labels);
    case DRAFT_TABLES:
        break;
    }
    return false;
}

static const struct feature_meta *feature(const struct draft *draft, uint32_t ntype,
                                          uint32_t name_number, uint32_t *table)
{
    *table = (uint32_t)graph_meta_table(draft->graph.meta, ntype, name_number);
    return &draft->graph.meta->nodes[ntype].features[*table];
}

bool draft_table_rows(const struct draft *draft, uint32_t ntype, uint32_t table,
                      struct draft_rows *rows)
{
    if (!wants(draft, ntype, table))
        return false;
    const struct node_space *space = &draft->out->node_space[ntype];
    const struct batch_nodes *nodes = &draft->out->nodes[ntype];
    rows->num_rows = nodes->num_nodes;
    switch ((enum draft_table)table) {
    case DRAFT_FEATURES:
        rows->row_bytes = feature(draft, ntype, draft->plan->features, &rows->table)->row_bytes;
        rows->rows = space->features.data;
        break;
    case DRAFT_ORIGINAL_IDS:
        rows->table = TABLE_ORIGINAL_ID;
        rows->row_bytes = sizeof(uint64_t);
        rows->rows = space->original_ids.data;
        break;
    case DRAFT_IN_DEGREES:
        rows->table = TABLE_IN_DEGREE;
        rows->row_bytes = sizeof(uint32_t);
        rows->rows = space->in_degrees.data;
        break;
    case DRAFT_OUT_DEGREES:
        rows->table = TABLE_OUT_DEGREE;
        rows->row_bytes = sizeof(uint32_t);
        rows->rows = space->out_degrees.data;
        break;
    default:
        rows->row_bytes = feature(draft, ntype, draft->plan->labels, &rows->table)->row_bytes;
        rows->rows = space->labels.data;
        rows->num_rows = nodes->num_seeds;
        break;
    }
    return true;
}

static int open_feature(struct draft *draft, uint32_t ntype, uint32_t name_number,
                        uint32_t num_rows, struct vec *space, struct batch_rows *out)
{
    uint32_t table;
    const struct feature_meta *meta = feature(draft, ntype, name_number, &table);
    int rv = vec_reserve(space, num_rows, meta->row_bytes, 0);
    *out = (struct batch_rows){ meta->dtype, num_rows, meta->width, meta->row_bytes, space->data };
    return rv;
}

static int open_type(struct draft *draft, uint32_t t)
{
    struct batch_nodes *nodes = &draft->out->nodes[t];
    struct node_space *space = &draft->out->node_space[t];
    uint32_t n = draft->types[t].nodes.num_ids;
    nodes->num_nodes = n;
    int rv = vec_reserve(&space->ids, n, sizeof(uint64_t), 0);
    if (rv == 0 && n > 0)
        memcpy(space->ids.data, draft->types[t].nodes.ids, n * sizeof(uint64_t));
    nodes->ids = space->ids.data;
    if (rv == 0 && wants(draft, t, DRAFT_ORIGINAL_IDS))
        rv = vec_reserve(&space->original_ids, n, sizeof(uint64_t), 0);
    if (rv == 0 && wants(draft, t, DRAFT_IN_DEGREES))
        rv = vec_reserve(&space->in_degrees, n, sizeof(uint32_t), 0);
    if (rv == 0 && wants(draft, t, DRAFT_OUT_DEGREES))
        rv = vec_reserve(&space->out_degrees, n, sizeof(uint32_t), 0);
    if (rv == 0 && wants(draft, t, DRAFT_FEATURES))
        rv = open_feature(draft, t, draft->plan->features, n, &space->features, &nodes->features);
    if (rv == 0 && wants(draft, t, DRAFT_LABELS))
        rv = open_feature(draft, t, draft->plan->labels, nodes->num_seeds, &space->labels,
                          &nodes->labels);
    if (wants(draft, t, DRAFT_ORIGINAL_IDS))
        nodes->original_ids = space->original_ids.data;
    if (wants(draft, t, DRAFT_IN_DEGREES))
        nodes->in_degrees = space->in_degrees.data;
    if (wants(draft, t, DRAFT_OUT_DEGREES))
        nodes->out_degrees = space->out_degrees.data;
    return rv;
}

int draft_open_rows(struct draft *draft, struct error *error)
{
    for (uint32_t t = 0; t < draft->num_ntypes; t++)
        if (open_type(draft, t) != 0)
            return error_set(error, TR_ENOMEM, "batch %" PRIu64 ": no memory for the rows of %"
                             PRIu32 " nodes of type %s", draft->key.batch,
                             draft->types[t].nodes.num_ids, draft->graph.types->ntypes[t]);
    draft->ntype = draft->table = draft->at = 0;
    return 0;
}

static inline void prefetch_row(const unsigned char *row, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < PREFETCH_BYTES; i += LINE)
        __builtin_prefetch(row + i);
}

/* Where the row of global ID 0 would be, for each partition that is read directly. */
static int find_base(struct draft *draft, const struct draft_rows *to, uint32_t part,
                     struct error *error)
{
    struct local_table from;
    int rv = local_table_find(draft->parts[part], draft->ntype, to->table,
                              &from, error);
    if (rv != 0)
        return rv;
    if (from.row_bytes != to->row_bytes)
        return error_set(error, TR_EMISMATCH, "partition %" PRIu32 ": rows of table %" PRIu32
                         " have %zu bytes, those of the graph have %zu", part, to->table,
                         from.row_bytes, to->row_bytes);
    uint64_t begin = draft->graph.node_extents[draft->ntype][part].begin;
    draft->bases[part] = (uintptr_t)from.rows - begin * to->row_bytes;
    return 0;
}

static void gather(const struct draft *draft, const struct draft_rows *to, uint32_t end)
{
    const uint16_t *owners = draft->types[draft->ntype].owners.data;
    const uint64_t *ids = draft->types[draft->ntype].nodes.ids;
    const uintptr_t *bases = draft->bases;
    size_t bytes = to->row_bytes;
    for (uint32_t i = draft->at; i < end; i++) {
        uint32_t ahead = i + PREFETCH_ROWS;
        if (ahead < end && bases[owners[ahead]] != 0)
            prefetch_row((const void *)(bases[owners[ahead]] + ids[ahead] * bytes), bytes);
        if (bases[owners[i]] != 0)
            memcpy(to->rows + i * bytes, (const void *)(bases[owners[i]] + ids[i] * bytes), bytes);
    }
}

static int gather_piece(struct draft *draft, const struct draft_rows *to, uint32_t end,
                        struct error *error)
{
    int rv = 0;
    for (uint32_t p = 0; p < draft->num_parts && rv == 0; p++) {
        draft->bases[p] = 0;
        if (draft_is_local(draft, p) && draft->types[draft->ntype].lists[p].count > 0)
            rv = find_base(draft, to, p, error);
    }
    if (rv == 0)
        gather(draft, to, end);
    return rv;
}

static void next_table(struct draft *draft)
{
    draft->at = 0;
    draft->table++;
    if (draft->table == DRAFT_TABLES) {
        draft->table = 0;
        draft->ntype++;
    }
}

int draft_gather(struct draft *draft, struct error *error)
{
    struct draft_rows to;
    while (draft->ntype < draft->num_ntypes &&
           !(draft_table_rows(draft, draft->ntype, draft->table, &to) &&
             draft->at < to.num_rows && to.row_bytes > 0))
        next_table(draft);
    if (draft->ntype == draft->num_ntypes)
        return 0;
    size_t piece = DRAFT_SLICE_BYTES / to.row_bytes + 1;
    uint32_t left = to.num_rows - draft->at;
    uint32_t end = draft->at + (piece < left ? (uint32_t)piece : left);
    int rv = gather_piece(draft, &to, end, error);
    draft->at = end;
    return rv != 0 ? rv : 1;
}
