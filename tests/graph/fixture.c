/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/graph/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "graph/local_rows.h"
#include "graph/local_sample.h"
#include "graph/permute.h"

static void assign_ids(struct fixture *fixture, uint64_t seed)
{
    for (uint32_t t = 0; t < FIXTURE_NTYPES; t++) {
        uint64_t next = 0;
        for (uint32_t p = 0; p < fixture->num_parts; p++) {
            uint64_t begin = next;
            for (uint64_t id = 0; id < fixture->num_nodes[t]; id++) {
                if (key_mix(seed + id * 3 + t) % fixture->num_parts != p)
                    continue;
                fixture->global[t][id] = next;
                fixture->original[t][next++] = id;
            }
            fixture->extents[t][p] = (struct extent){ begin, next, p, 0 };
        }
        fixture->extent_lists[t] = fixture->extents[t];
    }
}

static void draw_edges(struct fixture *fixture, uint64_t seed)
{
    for (uint32_t e = 0; e < FIXTURE_ETYPES; e++) {
        const struct graph_etype *type = &fixture->types.etypes[e];
        uint64_t sources = fixture->num_nodes[type->src], draw = 0;
        for (uint64_t id = 0; id < fixture->num_nodes[type->dst]; id++) {
            uint64_t key = key_node(seed + e, id);
            uint32_t degree = (uint32_t)key_below(key, &draw, 30);
            degree = degree < 5 || sources == 0 || e == 4 ? 0 : degree;
            fixture->degree[e][id] = degree;
            fixture->num_edges[e] += degree;
            fixture->neighbours[e][id] = malloc(degree * sizeof(uint32_t) + 1);
            for (uint32_t i = 0; i < degree; i++) /* a few sources, so that edges repeat */
                fixture->neighbours[e][id][i] = (uint32_t)(i % 7 == 3
                                                               ? id % sources
                                                               : key_below(key, &draw, sources));
        }
    }
}

/* Columns are global IDs, or places in a table that has them backwards. */
static uint32_t column_of(const struct fixture *fixture, uint32_t ntype, uint64_t id, bool wide)
{
    uint64_t global = fixture->global[ntype][id];
    return (uint32_t)(wide ? fixture->num_nodes[ntype] - 1 - global : global);
}

static void make_edges(struct fixture *fixture, uint32_t part, uint32_t e, bool wide)
{
    const struct graph_etype *type = &fixture->types.etypes[e];
    uint64_t begin = fixture->extents[type->dst][part].begin;
    uint64_t rows = fixture->extents[type->dst][part].end - begin;
    uint64_t *index = calloc(rows + 1, sizeof *index);
    for (uint64_t row = 0; row < rows; row++)
        index[row + 1] = index[row] + fixture->degree[e][fixture->original[type->dst][begin + row]];
    uint32_t *indices = malloc(index[rows] * sizeof *indices + 1);
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t id = fixture->original[type->dst][begin + row];
        for (uint32_t i = 0; i < fixture->degree[e][id]; i++)
            indices[index[row] + i] = column_of(fixture, type->src, fixture->neighbours[e][id][i],
                                                wide);
    }
    uint64_t first = 0;
    for (uint32_t p = 0; p < part; p++)
        first += fixture->edges[p][e].csc.num_edges;
    fixture->edges[part][e].csc = (struct csc){ .num_rows = rows,
                                                .num_edges = index[rows],
                                                .index = index,
                                                .indices = indices,
                                                .first_edge = first,
                                                .column_global = wide ? fixture->columns[type->src]
                                                                      : NULL };
}

/* The same rows, kept sparse: a batch must not show which partition keeps them how. */
static void make_sparse(struct feature_table *table, struct csr_rows *sparse)
{
    const uint64_t *dense = table->rows;
    uint64_t *index = malloc((table->num_rows + 1) * sizeof *index), count = 0;
    uint32_t *columns = malloc(table->num_rows * sizeof *columns + 1);
    uint64_t *values = malloc(table->num_rows * sizeof *values + 1);
    index[0] = 0;
    for (uint64_t row = 0; row < table->num_rows; row++) {
        if (dense[row] != 0) {
            columns[count] = 0;
            values[count++] = dense[row];
        }
        index[row + 1] = count;
    }
    free((void *)(uintptr_t)table->rows);
    *sparse = (struct csr_rows){ .num_rows = table->num_rows,
                                 .width = 1,
                                 .dtype = table->dtype,
                                 .row_nnz_max = 1,
                                 .index = index,
                                 .columns = columns,
                                 .values = values };
    table->rows = NULL;
    table->form = TABLE_CSR;
    table->csr = sparse;
}

static void make_nodes(struct fixture *fixture, uint32_t part, uint32_t t)
{
    uint64_t begin = fixture->extents[t][part].begin;
    uint64_t count = fixture->extents[t][part].end - begin;
    uint64_t *weights = malloc(count * sizeof *weights + 1);
    uint32_t *degrees = malloc(count * sizeof *degrees + 1);
    for (uint64_t row = 0; row < count; row++) {
        weights[row] = fixture_weight(t, fixture->original[t][begin + row]);
        degrees[row] = (uint32_t)weights[row] + 1;
    }
    fixture->weights[part][t] = (struct feature_table){ .name = "weight",
                                                        .dtype = TR_I64,
                                                        .num_rows = count,
                                                        .width = 1,
                                                        .row_bytes = sizeof *weights,
                                                        .rows = weights };
    if (part % 2 == 1)
        make_sparse(&fixture->weights[part][t], &fixture->sparse[part][t]);
    fixture->nodes[part][t] = (struct node_part){ .num_nodes = count,
                                                  .global_begin = begin,
                                                  .original_ids = &fixture->original[t][begin],
                                                  .in_degrees = degrees,
                                                  .out_degrees = degrees,
                                                  .num_features = 1,
                                                  .features = &fixture->weights[part][t] };
}

static void make_part(struct fixture *fixture, uint32_t p, bool wide)
{
    for (uint32_t e = 0; e < FIXTURE_ETYPES; e++)
        make_edges(fixture, p, e, wide);
    for (uint32_t t = 0; t < FIXTURE_NTYPES; t++)
        make_nodes(fixture, p, t);
    fixture->parts[p] = (struct graph_part){ .part_id = p,
                                             .types = &fixture->types,
                                             .nodes = fixture->nodes[p],
                                             .edges = fixture->edges[p] };
}

void fixture_init(struct fixture *fixture, uint64_t seed, uint32_t num_parts, bool wide)
{
    static const char *ntypes[] = { "a", "b", "c" };
    static const char *etypes[] = { "a:self:a", "a:to:b", "b:to:a", "c:to:a", "b:none:b" };
    *fixture = (struct fixture){ .num_parts = num_parts, .num_nodes = { 300, 170, 0 } };
    for (int i = 0; i < FIXTURE_NTYPES; i++)
        graph_types_add_ntype(&fixture->types, ntypes[i], NULL);
    for (int i = 0; i < FIXTURE_ETYPES; i++)
        graph_types_add_etype(&fixture->types, etypes[i], NULL);
    assign_ids(fixture, num_parts);
    for (uint32_t t = 0; t < FIXTURE_NTYPES; t++)
        for (uint64_t i = 0; i < fixture->num_nodes[t]; i++)
            fixture->columns[t][i] = fixture->num_nodes[t] - 1 - i;
    draw_edges(fixture, seed);
    for (uint32_t p = 0; p < num_parts; p++)
        make_part(fixture, p, wide);
    graph_meta_init(&fixture->meta, &fixture->parts[0]);
    graph_meta_add_part(&fixture->meta, &fixture->parts[0]);
    fixture->graph = (struct batch_builder_graph){ .types = &fixture->types,
                                                   .num_parts = num_parts,
                                                   .num_nodes = fixture->num_nodes,
                                                   .num_edges = fixture->num_edges,
                                                   .node_extents = fixture->extent_lists,
                                                   .meta = &fixture->meta };
}

void fixture_fini(struct fixture *fixture)
{
    for (uint32_t p = 0; p < fixture->num_parts; p++) {
        for (uint32_t e = 0; e < FIXTURE_ETYPES; e++) {
            free((void *)(uintptr_t)fixture->edges[p][e].csc.index);
            free((void *)(uintptr_t)fixture->edges[p][e].csc.indices);
        }
        for (uint32_t t = 0; t < FIXTURE_NTYPES; t++) {
            free((void *)(uintptr_t)fixture->weights[p][t].rows);
            free((void *)(uintptr_t)fixture->sparse[p][t].index);
            free((void *)(uintptr_t)fixture->sparse[p][t].columns);
            free((void *)(uintptr_t)fixture->sparse[p][t].values);
            free((void *)(uintptr_t)fixture->nodes[p][t].in_degrees);
        }
    }
    for (uint32_t e = 0; e < FIXTURE_ETYPES; e++)
        for (uint32_t i = 0; i < FIXTURE_NODES_MAX; i++)
            free(fixture->neighbours[e][i]);
    graph_meta_fini(&fixture->meta);
    graph_types_fini(&fixture->types);
}

uint64_t fixture_base(const struct fixture_plan *plan, uint32_t hop, uint32_t etype)
{
    struct draw_key key = {
        .seed = plan->seed, .purpose = KEY_NEIGHBOURS, .hop = hop, .type = etype
    };
    return key_base(&key);
}

void fixture_seeds(const struct fixture *fixture, const struct fixture_plan *plan, uint32_t ntype,
                   uint64_t *ids)
{
    uint32_t order[FIXTURE_NODES_MAX];
    for (uint32_t i = 0; i < fixture->num_nodes[ntype]; i++)
        order[i] = i;
    permute_u32(order, fixture->num_nodes[ntype], plan->seed + ntype);
    for (uint64_t i = 0; i < fixture->num_nodes[ntype]; i++)
        ids[i] = plan->repeats && i % 3 == 2 ? ids[i / 2] : order[i];
}

struct sample_term fixture_term(const struct fixture_plan *plan, uint32_t hop, uint32_t etype)
{
    int32_t fanout = plan->fanouts[hop];
    if (!plan->varied)
        return SAMPLE_TERM(fanout, plan->replace);
    if (etype == 1) /* one edge type draws nothing, one all */
        return SAMPLE_TERM(hop % 2 == 0 ? 0 : SAMPLE_EVERY, plan->replace);
    return SAMPLE_TERM(fanout < 0 ? fanout : fanout + (int32_t)etype, plan->replace ^ (etype == 2));
}

/* Memory for what one partition answers of one edge type. */
#define ANSWER_EDGES (FIXTURE_NODES_MAX * 40)

struct answer {
    uint32_t counts[FIXTURE_NODES_MAX], columns[ANSWER_EDGES];
    uint64_t wide_columns[ANSWER_EDGES], edge_ids[ANSWER_EDGES];
};

/* One partition answers about rows [first, first + count) of its list. */
static int answer_rows(const struct fixture *fixture, struct batch_builder *builder, uint32_t e,
                       uint32_t part, uint32_t first, uint32_t count, struct answer *answer)
{
    const struct batch_builder_list *list =
        &builder->types[fixture->types.etypes[e].dst].lists[part];
    struct sample_space space = { 0 };
    struct sample_request request;
    struct sample_result result = { .counts = answer->counts, .edge_ids = answer->edge_ids };
    bool wide = local_sample_column_bytes(&fixture->parts[part], e, SAMPLE_IN) == 8;
    if (wide)
        result.wide_columns = answer->wide_columns;
    else
        result.columns = answer->columns;
    uint32_t ntype = batch_builder_row_type(builder, e);
    uint64_t num_excluded;
    const uint64_t *excluded = batch_builder_excluded(builder, e, part, &num_excluded);
    const struct local_sample what = { .part = &fixture->parts[part],
                                       .draw = &builder->key,
                                       .kind = builder->plan->spec->kind,
                                       .etype = e,
                                       .term = *batch_builder_term(builder, e),
                                       .rows = (const uint32_t *)list->rows.data + first,
                                       .with = batch_builder_list_fields(builder, ntype, part,
                                                                         first),
                                       .row_fields = batch_builder_row_fields(builder),
                                       .num_rows = count,
                                       .excluded = excluded,
                                       .num_excluded = num_excluded };
    int rv = local_sample_prepare(&what, &request, NULL);
    if (rv == 0)
        rv = local_sample_draw(&space, &request, &result);
    sample_space_fini(&space);
    const struct batch_builder_piece piece = { .num_edges = result.num_edges,
                                               .counts = result.counts,
                                               .columns = result.columns,
                                               .wide_columns = result.wide_columns,
                                               .edge_ids = result.edge_ids };
    return rv != 0 ? rv : batch_builder_add_answer(builder, e, part, count, &piece, NULL);
}

/* Everything that is asked in this hop, seven rows at a time. */
static int answer_hop(const struct fixture *fixture, struct batch_builder *builder,
                      struct answer *answer)
{
    int rv = 0;
    for (uint32_t p = 0; p < fixture->num_parts; p++) {
        for (uint32_t e = 0; e < FIXTURE_ETYPES && !batch_builder_is_local(builder, p) && rv == 0;
             e++) {
            uint32_t left = builder->types[fixture->types.etypes[e].dst].lists[p].count;
            for (uint32_t at = 0;
                 left > 0 && batch_builder_term(builder, e)->fanout != 0 && rv == 0;) {
                uint32_t count = left < 7 ? left : 7;
                rv = answer_rows(fixture, builder, e, p, at, count, answer);
                at += count;
                left -= count;
            }
        }
    }
    return rv;
}

static int add_seeds(const struct fixture *fixture, const struct fixture_plan *plan,
                     struct batch_builder *builder)
{
    int rv = 0;
    for (uint32_t t = 0; t < FIXTURE_NTYPES && rv == 0; t++) {
        uint64_t ids[FIXTURE_NODES_MAX];
        uint32_t order[FIXTURE_NODES_MAX];
        fixture_seeds(fixture, plan, t, ids);
        for (uint32_t i = 0; i < plan->num_seeds[t]; i++)
            order[i] = (uint32_t)ids[i];
        uint32_t half = plan->num_seeds[t] / 2;
        rv = batch_builder_add_seeds(builder, t, fixture->global[t], order, half, NULL);
        if (rv == 0)
            rv = batch_builder_add_seeds(builder, t, fixture->global[t], order + half,
                                         plan->num_seeds[t] - half, NULL);
    }
    return rv;
}

/* Brings the rows of one partition that is not read directly. */
static int bring_rows(const struct fixture *fixture, const struct batch_builder *builder,
                      uint32_t part, uint32_t ntype, uint32_t table)
{
    struct batch_builder_rows to;
    struct local_table from;
    if (!batch_builder_table_rows(builder, ntype, table, &to))
        return 0;
    int rv = local_table_find(&fixture->parts[part], ntype, to.table, &from, NULL);
    const struct batch_builder_list *list = &builder->types[ntype].lists[part];
    const uint32_t *rows = list->rows.data, *positions = list->positions.data;
    for (uint32_t i = 0; i < list->count && rv == 0; i++)
        if (positions[i] < to.num_rows)
            local_rows_scatter(&from, &rows[i], &positions[i], 1, to.rows);
    return rv;
}

static int fill_rows(const struct fixture *fixture, struct batch_builder *builder)
{
    int rv = batch_builder_open_rows(builder, NULL), more = 1;
    while (rv == 0 && more == 1)
        more = batch_builder_gather(builder, NULL);
    rv = rv == 0 && more < 0 ? more : rv;
    for (uint32_t p = 0; p < fixture->num_parts; p++)
        for (uint32_t t = 0; t < FIXTURE_NTYPES && !batch_builder_is_local(builder, p); t++)
            for (uint32_t table = 0; table < BATCH_BUILDER_TABLES && rv == 0; table++)
                rv = bring_rows(fixture, builder, p, t, table);
    return rv;
}

static int place_all(struct batch_builder *builder)
{
    int rv;
    do
        rv = batch_builder_place(builder, NULL);
    while (rv == 1);
    return rv;
}

static int walk(const struct fixture *fixture, struct batch_builder *builder,
                struct batch_builder_space *space, struct answer *answer)
{
    int rv = place_all(builder);
    while (rv == 0 && builder->hop < builder->plan->spec->num_layers) {
        rv = batch_builder_open_hop(builder, NULL);
        if (rv == 0)
            rv = answer_hop(fixture, builder, answer);
        if (rv == 0)
            do
                rv = batch_builder_draw(builder, space, NULL);
            while (rv == 1);
        if (rv == 0)
            rv = place_all(builder);
    }
    return rv != 0 ? rv : fill_rows(fixture, builder);
}

int fixture_batch(const struct fixture *fixture, const struct fixture_plan *plan, uint32_t asked,
                  struct batch_builder *builder, struct batch_builder_space *space,
                  struct batch_space *out)
{
    static struct answer answer;
    struct sample_term terms[BATCH_LAYERS_MAX * FIXTURE_ETYPES];
    const struct graph_part *parts[FIXTURE_PARTS_MAX];
    for (uint32_t p = 0; p < fixture->num_parts; p++)
        parts[p] = (asked >> p & 1) != 0 ? NULL : &fixture->parts[p];
    for (uint32_t l = 0; l < plan->num_layers; l++)
        for (uint32_t e = 0; e < FIXTURE_ETYPES; e++)
            terms[l * FIXTURE_ETYPES + e] = fixture_term(plan, plan->num_layers - 1 - l, e);
    const struct sample_spec spec = { .num_layers = plan->num_layers,
                                      .num_etypes = FIXTURE_ETYPES,
                                      .terms = terms };
    const struct batch_builder_plan wanted = {
        .spec = &spec, .edge_ids = true, .original_ids = true, .degrees = true
    };
    const struct draw_key key = { .seed = plan->seed };
    int rv = batch_builder_begin(builder, &wanted, &key, parts, out, NULL);
    if (rv == 0)
        rv = add_seeds(fixture, plan, builder);
    if (rv == 0)
        rv = walk(fixture, builder, space, &answer);
    batch_builder_end(builder);
    return rv;
}
