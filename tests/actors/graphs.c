/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/actors/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/schemas/random.h"

#define FEATURE_WIDTH 5

static void *make(size_t count, size_t bytes)
{
    void *block = calloc(count + 1, bytes);
    assert_non_null(block);
    return block;
}

static void make_types(struct graph_types *types)
{
    *types = (struct graph_types){ 0 };
    assert_int_equal(graph_types_add_ntype(types, "user", NULL), 0);
    assert_int_equal(graph_types_add_ntype(types, "item", NULL), 0);
    assert_int_equal(graph_types_add_etype(types, "user:knows:user", NULL), 0);
    assert_int_equal(graph_types_add_etype(types, "user:buys:item", NULL), 0);
    assert_int_equal(graph_types_add_etype(types, "item:bought:user", NULL), 0);
}

static void make_nodes(struct node_part *nodes, uint64_t *state, uint32_t part, uint32_t rows)
{
    uint64_t *ids = make(rows, sizeof *ids);
    uint32_t *in = make(rows, sizeof *in), *out = make(rows, sizeof *out);
    float *feat = make(rows * FEATURE_WIDTH, sizeof *feat);
    uint8_t *mask = make(rows, 1);
    uint64_t next = part;
    for (uint32_t i = 0; i < rows; i++) {
        ids[i] = next += 1 + random_below(state, 5);
        in[i] = (uint32_t)random_below(state, 100);
        out[i] = (uint32_t)random_below(state, 100);
        mask[i] = random_below(state, 3) == 0;
        for (uint32_t j = 0; j < FEATURE_WIDTH; j++)
            feat[i * FEATURE_WIDTH + j] = (float)random_below(state, 1000);
    }
    struct feature_table *tables = make(GRAPH_TABLES, sizeof *tables);
    tables[0] = (struct feature_table){
        "feat",      TR_F32, rows, FEATURE_WIDTH, FEATURE_WIDTH * 4, feat, 1, { FEATURE_WIDTH },
        TABLE_DENSE, NULL
    };
    tables[1] = (struct feature_table){ "mask", TR_BOOL, rows,  1,           1,
                                        mask,   0,       { 0 }, TABLE_DENSE, NULL };
    tables[2] = (struct feature_table){ "none", TR_F32, rows,  0,           0,
                                        NULL,   1,      { 0 }, TABLE_DENSE, NULL };
    *nodes = (struct node_part){ rows, (uint64_t)part * rows, ids, in, out, GRAPH_TABLES, tables };
}

static void make_edges(struct edge_part *edges, uint64_t *state, uint32_t part, uint32_t rows,
                       uint32_t degree_max, bool wide)
{
    uint64_t *index = make(rows + 1, sizeof *index);
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t degree = random_below(state, 4) == 0 ? 0 : random_below(state, degree_max + 1);
        index[i + 1] = index[i] + degree;
    }
    uint32_t *indices = make(index[rows], sizeof *indices);
    for (uint64_t e = 0; e < index[rows]; e++)
        indices[e] = (uint32_t)random_below(state, (uint64_t)rows * GRAPH_PARTS);
    uint64_t *table = NULL;
    if (wide) {
        table = make((size_t)rows * GRAPH_PARTS, sizeof *table);
        for (uint32_t i = 0; i < rows * GRAPH_PARTS; i++)
            table[i] = (UINT64_C(1) << 33) + i;
    }
    *edges = (struct edge_part){ .csc = { rows, index[rows], index, indices, table,
                                          (uint64_t)part * 1000000, NULL } };
}

void test_graph_init(struct test_graph *graph, uint64_t seed, uint32_t rows, uint32_t degree_max)
{
    uint64_t state = seed, nodes[GRAPH_NTYPES * GRAPH_PARTS], edges[GRAPH_ETYPES * GRAPH_PARTS];
    struct graph_types types;
    make_types(&types);
    for (uint32_t part = 0; part < GRAPH_PARTS; part++) {
        struct graph_part *p = &graph->parts[part];
        *p = (struct graph_part){ .part_id = part, .version = 3 };
        p->nodes = make(GRAPH_NTYPES, sizeof *p->nodes);
        p->edges = make(GRAPH_ETYPES, sizeof *p->edges);
        for (uint32_t t = 0; t < GRAPH_NTYPES; t++) {
            make_nodes(&p->nodes[t], &state, part, rows);
            nodes[t * GRAPH_PARTS + part] = rows;
        }
        for (uint32_t t = 0; t < GRAPH_ETYPES; t++) {
            make_edges(&p->edges[t], &state, part, rows, degree_max, t == 2);
            edges[t * GRAPH_PARTS + part] = p->edges[t].csc.num_edges;
        }
    }
    assert_int_equal(book_init(&graph->book, "test", &types, GRAPH_PARTS, nodes, edges), 0);
    /* The IDs have gaps, and those of one type are wide: the book counts up to behind the largest. */
    for (uint32_t t = 0; t < GRAPH_ETYPES; t++)
        graph->book.num_edges[t] = UINT64_C(1000000) * GRAPH_PARTS;
    graph->book.num_nodes[types.etypes[2].src] = (UINT64_C(1) << 33) + rows * GRAPH_PARTS;
    for (uint32_t part = 0; part < GRAPH_PARTS; part++) {
        graph->parts[part].types = &graph->book.types;
        for (uint32_t t = 0; t < GRAPH_NTYPES; t++)
            graph->book.node_extents[t][part].version = graph->parts[part].version;
    }
    graph_types_fini(&types);
}

static void drop(const void *block)
{
    free((void *)(uintptr_t)block);
}

void test_graph_fini(struct test_graph *graph)
{
    for (uint32_t part = 0; part < GRAPH_PARTS; part++) {
        struct graph_part *p = &graph->parts[part];
        for (uint32_t t = 0; t < GRAPH_NTYPES; t++) {
            const struct node_part *nodes = &p->nodes[t];
            drop(nodes->original_ids);
            drop(nodes->in_degrees);
            drop(nodes->out_degrees);
            for (uint32_t f = 0; f < GRAPH_TABLES; f++)
                drop(nodes->features[f].rows);
            drop(nodes->features);
        }
        for (uint32_t t = 0; t < GRAPH_ETYPES; t++) {
            drop(p->edges[t].csc.index);
            drop(p->edges[t].csc.indices);
            drop(p->edges[t].csc.column_global);
        }
        free(p->nodes);
        free(p->edges);
    }
    book_fini(&graph->book);
}
