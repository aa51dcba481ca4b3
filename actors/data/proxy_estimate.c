/* SPDX-License-Identifier: Apache-2.0 */
/* How large a batch may become, from fanouts and the size of the graph alone. */
#include "actors/data/proxy_state.h"
#include "graph/sample.h"

/* Far above any batch, and far from overflow. */
#define COUNT_MAX (UINT64_C(1) << 40)

static uint64_t times(uint64_t a, uint64_t b, uint64_t most)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > most ? most : product;
}

static uint64_t total(const uint64_t *counts, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n && sum < COUNT_MAX; i++)
        sum += counts[i];
    return sum < COUNT_MAX ? sum : COUNT_MAX;
}

static size_t widest_row(const struct graph_meta *meta, uint32_t name_number)
{
    size_t widest = 0;
    for (uint32_t t = 0; t < meta->num_ntypes; t++) {
        int table = name_number == MSG_MASK_ALL ? -1 : graph_meta_table(meta, t, name_number);
        size_t bytes = table < 0 ? 0 : meta->nodes[t].features[table].row_bytes;
        widest = bytes > widest ? bytes : widest;
    }
    return widest;
}

/* Rows of the listed tables of one node or edge, at most. */
static uint64_t listed_bytes(const struct graph_meta *meta, const struct sample_spec *spec,
                             uint32_t of)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < spec->num_tables; i++) {
        const struct sample_table *table = &spec->tables[i];
        bool edges = of == SAMPLE_OF_EDGES;
        if (table->of != of || table->type >= (edges ? meta->num_etypes : meta->num_ntypes))
            continue;
        int found = edges ? graph_meta_edge_table(meta, table->type, table->name)
                          : graph_meta_table(meta, table->type, table->name);
        if (found >= 0)
            bytes += edges ? meta->edges[table->type].features[found].row_bytes
                           : meta->nodes[table->type].features[found].row_bytes;
    }
    return bytes < COUNT_MAX ? bytes : COUNT_MAX;
}

/* Whether an edge type before it has the same draw in total. */
static bool is_drawn_before(const struct sample_spec *spec, uint32_t layer, uint32_t etype,
                            const struct graph_types *types)
{
    const struct sample_term *term = sample_spec_term(spec, layer, etype);
    bool total = (term->flags & SAMPLE_TOTAL) != 0 && term->fanout >= 0;
    for (uint32_t e = 0; total && e < etype; e++)
        if (sample_row_type(&types->etypes[e], term) ==
            sample_row_type(&types->etypes[etype], term))
            return true;
    return false;
}

/* The nodes that one layer draws for so many. */
static uint64_t drawn_of_layer(const struct sample_spec *spec, uint32_t layer, uint64_t nodes,
                               const struct book *book)
{
    uint64_t sum = 0;
    for (uint32_t e = 0; e < spec->num_etypes; e++) {
        const struct sample_term *term = sample_spec_term(spec, layer, e);
        if (is_drawn_before(spec, layer, e, &book->types))
            continue;
        uint64_t drawn = term->fanout < 0 ? book->num_edges[e]
                                          : times(nodes, (uint64_t)term->fanout, COUNT_MAX);
        bool repeats = (term->flags & SAMPLE_REPLACE) != 0;
        bool total = (term->flags & SAMPLE_TOTAL) != 0; /* of edges of other types too */
        drawn = !repeats && !total && drawn > book->num_edges[e] ? book->num_edges[e] : drawn;
        sum = sum + drawn < COUNT_MAX ? sum + drawn : COUNT_MAX;
    }
    return sum;
}

size_t proxy_estimate(const struct proxy_options *options, const struct msg_loader_open *open,
                      bool pairs, const struct sample_spec *spec)
{
    const struct book *book = options->book;
    uint64_t nodes_max = total(book->num_nodes, book->types.num_ntypes);
    uint64_t edges = 0, bytes = 0;
    uint64_t nodes = open->batch_size < open->num_seeds ? open->batch_size : open->num_seeds;
    if (pairs) {
        bytes += times(nodes, 16, COUNT_MAX); /* the positions of both ends, the ID of the edge */
        const struct negatives_rule rule = seed_set_negatives_rule(open);
        uint64_t negatives = times(negatives_groups(&rule, nodes),
                                   (uint64_t)negatives_each(&rule, PAIR_DESTINATION) +
                                       negatives_each(&rule, PAIR_SOURCE),
                                   COUNT_MAX);
        bytes += times(negatives, 4, COUNT_MAX);
        nodes = times(nodes, 2, COUNT_MAX) + (rule.of == NEGATIVES_IN_BATCH ? 0 : negatives);
        nodes = (open->flags & MSG_LOADER_ENDS_ONCE) != 0 && nodes > nodes_max ? nodes_max : nodes;
    }
    nodes_max = nodes > nodes_max ? nodes : nodes_max; /* seeds may repeat */
    for (uint32_t l = spec->num_layers; l-- > 0;) {
        uint64_t drawn = drawn_of_layer(spec, l, nodes, book);
        edges += drawn;
        bytes += times(nodes, 4 * (uint64_t)book->types.num_etypes, COUNT_MAX);
        nodes = nodes + drawn < nodes_max ? nodes + drawn : nodes_max;
    }
    uint64_t edge_bytes = (open->flags & MSG_LOADER_EDGE_IDS) != 0 ? 12 : 4;
    edge_bytes += listed_bytes(options->meta, spec, SAMPLE_OF_EDGES);
    uint64_t node_bytes = 8 + widest_row(options->meta, open->features);
    node_bytes += listed_bytes(options->meta, spec, SAMPLE_OF_NODES);
    node_bytes += (open->flags & MSG_LOADER_ORIGINAL_IDS) != 0 ? 8 : 0;
    node_bytes += (open->flags & MSG_LOADER_DEGREES) != 0 ? 8 : 0;
    bytes += times(edges, edge_bytes, COUNT_MAX) + times(nodes, node_bytes, COUNT_MAX);
    return bytes < COUNT_MAX ? (size_t)bytes : (size_t)COUNT_MAX;
}
