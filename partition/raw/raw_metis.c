/* SPDX-License-Identifier: Apache-2.0 */
/*
 * METIS .graph files (METIS manual, section 4.1.1): a line "nodes edges [fmt [constraints]]", then
 * for each node its size, weights and neighbours, numbered from 1. Neighbour j on line i is the
 * edge from i to j. Vertex sizes and weights become node features "size" and "weight", edge
 * weights edge feature "weight", all int64.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "partition/raw/raw_memory.h"
#include "partition/raw/text.h"

/* More balance constraints than METIS is ever run with. */
#define CONSTRAINTS_MAX 64
#define WEIGHT_BOUND ((uint64_t)1 << 32)

struct metis_file {
    uint64_t num_nodes;
    uint64_t num_listed; /* twice the number of edges */
    bool sizes;
    bool edge_weights;
    uint64_t constraints; /* weights a node */
    int64_t *node_sizes, *node_weights, *weights;
    size_t room;
    struct pairs pairs;
};

static bool line_goes_on(struct text *text)
{
    text_skip_blanks(text);
    int c = text_peek(text);
    return c != '\n' && c != TEXT_END;
}

static int parse_head(struct text *text, struct metis_file *file)
{
    uint64_t edges, format = 0;
    text_skip_comments(text, false);
    int rv = text_number(text, RAW_NODES_MAX, "the number of nodes", &file->num_nodes);
    text_skip_blanks(text);
    if (rv == 0)
        rv = text_number(text, RAW_NODES_MAX, "the number of edges", &edges);
    if (rv == 0 && line_goes_on(text))
        rv = text_number(text, 112, "the format (three digits, 0 or 1)", &format);
    if (rv != 0)
        return rv;
    if (format % 10 > 1 || format / 10 % 10 > 1)
        return text_fail(text, TR_EFORMAT, "format %03d; three digits, each 0 or 1, are needed",
                         (int)format);
    file->edge_weights = format % 10;
    file->constraints = format / 10 % 10;
    file->sizes = format / 100;
    if (line_goes_on(text)) {
        uint64_t constraints;
        rv = text_number(text, CONSTRAINTS_MAX + 1, "the number of constraints", &constraints);
        if (rv == 0 && file->constraints == 0)
            rv = text_fail(text, TR_EFORMAT,
                           "constraints are counted but the format has no weights");
        file->constraints = constraints;
    }
    file->num_listed = 2 * edges;
    /* A node needs a byte of text (the end of its line), a neighbour two. */
    if (rv == 0 && !text->packed &&
        (file->num_nodes > text->file.size + 1 || file->num_listed > text->file.size))
        rv = text_fail(text, TR_EFORMAT,
                       "%" PRIu64 " nodes and %" PRIu64 " edges do not fit the %" PRIu64
                       " bytes of the file; it is truncated",
                       file->num_nodes, edges, text->file.size);
    return rv != 0 ? rv : text_end_line(text);
}

static int parse_weight(struct text *text, const char *what, int64_t *weight)
{
    uint64_t value;
    text_skip_blanks(text);
    int rv = text_number(text, WEIGHT_BOUND, what, &value);
    if (rv == 0)
        *weight = (int64_t)value;
    return rv;
}

static int parse_neighbour(struct text *text, struct metis_file *file, uint64_t node)
{
    uint64_t neighbour;
    int rv = text_number(text, file->num_nodes + 1, "a neighbour", &neighbour);
    if (rv == 0 && neighbour == 0)
        rv = text_fail(text, TR_ERANGE, "neighbour 0; METIS numbers from 1");
    if (rv == 0 && file->pairs.count == file->num_listed)
        rv = text_fail(text, TR_EFORMAT,
                       "more neighbours than twice the %" PRIu64 " edges that the first line says",
                       file->num_listed / 2);
    if (rv != 0)
        return rv;
    if (pairs_add(&file->pairs, node, neighbour - 1) != 0)
        return text_fail(text, TR_ENOMEM, "no memory for %" PRIu64 " edges", file->pairs.count);
    if (!file->edge_weights)
        return 0;
    void *weights = file->weights;
    if (file->pairs.count > file->room) {
        file->room = 2 * (size_t)file->pairs.count + 1024;
        weights = realloc(file->weights, file->room * sizeof *file->weights);
        if (weights == NULL)
            return text_fail(text, TR_ENOMEM, "no memory for the weights");
        file->weights = weights;
    }
    return parse_weight(text, "an edge weight", &file->weights[file->pairs.count - 1]);
}

static int parse_node(struct text *text, struct metis_file *file, uint64_t node)
{
    int rv = 0;
    for (text_skip_blanks(text); text_peek(text) == '%'; text_skip_blanks(text))
        text_skip_line(text);
    if (text_peek(text) == TEXT_END && node + 1 < file->num_nodes)
        return text_fail(text, TR_EFORMAT,
                         "ends after %" PRIu64 " of %" PRIu64 " nodes; it is truncated", node,
                         file->num_nodes);
    if (file->sizes)
        rv = parse_weight(text, "the node's size", &file->node_sizes[node]);
    for (uint64_t i = 0; rv == 0 && i < file->constraints; i++)
        rv = parse_weight(text, "a node weight", &file->node_weights[node * file->constraints + i]);
    while (rv == 0 && line_goes_on(text))
        rv = parse_neighbour(text, file, node);
    return rv != 0 ? rv : text_end_line(text);
}

static int parse_file(struct text *text, struct metis_file *file)
{
    int rv = parse_head(text, file);
    if (rv != 0)
        return rv;
    size_t nodes = (size_t)file->num_nodes + 1;
    if (file->sizes)
        file->node_sizes = calloc(nodes, sizeof *file->node_sizes);
    if (file->constraints > 0)
        file->node_weights = calloc(nodes, file->constraints * sizeof *file->node_weights);
    if ((file->sizes && file->node_sizes == NULL) ||
        (file->constraints > 0 && file->node_weights == NULL))
        return text_fail(text, TR_ENOMEM, "no memory for the node weights");
    for (uint64_t node = 0; rv == 0 && node < file->num_nodes; node++)
        rv = parse_node(text, file, node);
    if (rv != 0)
        return rv;
    text_skip_comments(text, false);
    if (text_peek(text) != TEXT_END)
        return text_fail(text, TR_EFORMAT, "more lines than the %" PRIu64 " nodes",
                         file->num_nodes);
    if (text->rv == 0 && file->pairs.count != file->num_listed)
        return text_fail(text, TR_EFORMAT,
                         "%" PRIu64 " neighbours are listed, twice the %" PRIu64
                         " edges of the first line are needed",
                         file->pairs.count, file->num_listed / 2);
    return text->rv;
}

/* Gives an array to the graph and forgets it. */
static int give(struct raw_graph *graph, const char *name, bool on_edges, uint64_t width,
                int64_t **rows, struct error *error)
{
    int64_t *given = *rows;
    *rows = NULL;
    return given == NULL ? 0 : raw_memory_table(graph, name, on_edges, TR_I64, width, given, error);
}

int raw_open_metis(const char *path, const struct raw_options *options, struct raw_graph **out,
                   struct error *error)
{
    struct metis_file file = { 0 };
    struct raw_graph *graph = NULL;
    struct text text;
    int rv = text_open(&text, options->files, path, options->cancel, error);
    if (rv != 0)
        return rv;
    rv = parse_file(&text, &file);
    text_close(&text);
    if (rv == 0)
        rv = raw_memory_graph(path, &file.pairs, file.num_nodes, &graph, error);
    if (rv == 0)
        rv = give(graph, "size", false, 0, &file.node_sizes, error);
    if (rv == 0)
        rv = give(graph, "weight", false, file.constraints > 1 ? file.constraints : 0,
                  &file.node_weights, error);
    if (rv == 0)
        rv = give(graph, "weight", true, 0, &file.weights, error);
    if (rv == 0) {
        graph->first_id = 1;
        *out = graph;
    } else {
        raw_close(graph);
    }
    free(file.node_sizes);
    free(file.node_weights);
    free(file.weights);
    pairs_fini(&file.pairs);
    return rv;
}
