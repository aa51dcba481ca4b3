/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of partitions that are not read directly, checked and kept until they are drawn from. */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "graph/batch_builder.h"

static int bad(uint32_t part, struct error *error, const char *what)
{
    return error_set(error, TR_EFORMAT, "partition %" PRIu32 " answered with %s", part, what);
}

static bool adds_up(const struct batch_builder_piece *piece, uint32_t num_rows)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < num_rows; i++)
        sum += piece->counts[i];
    return sum == piece->num_edges;
}

/* A column is a node's number: one beyond the type would be looked up outside of every table. */
static bool has_strays(const struct batch_builder_piece *piece, bool wide, uint64_t num_nodes)
{
    bool stray = false;
    for (uint64_t i = 0; !wide && i < piece->num_edges; i++)
        stray |= piece->columns[i] >= num_nodes;
    for (uint64_t i = 0; wide && i < piece->num_edges; i++)
        stray |= piece->wide_columns[i] >= num_nodes;
    return stray;
}

/* What is no number would spoil whatever is multiplied by it. */
static bool are_weights(const struct batch_builder_piece *piece)
{
    bool good = true;
    for (uint64_t i = 0; i < piece->num_edges; i++)
        good &= piece->edge_weights[i] > 0 && piece->edge_weights[i] <= FLT_MAX;
    return good;
}

static int append(struct vec *to, uint64_t have, const void *from, uint64_t count, size_t size)
{
    int rv = vec_reserve(to, have + count, size, have * size);
    if (rv == 0 && count > 0)
        memcpy((unsigned char *)to->data + have * size, from, count * size);
    return rv;
}

static int append_all(struct batch_builder_answer *to, uint32_t num_rows,
                      const struct batch_builder_piece *piece, bool wide, bool edge_ids,
                      bool weights)
{
    int rv = append(&to->counts, to->num_rows, piece->counts, num_rows, sizeof *piece->counts);
    if (rv == 0 && wide)
        rv = append(&to->columns, to->num_edges, piece->wide_columns, piece->num_edges,
                    sizeof *piece->wide_columns);
    if (rv == 0 && !wide)
        rv = append(&to->columns, to->num_edges, piece->columns, piece->num_edges,
                    sizeof *piece->columns);
    if (rv == 0 && edge_ids)
        rv = append(&to->edge_ids, to->num_edges, piece->edge_ids, piece->num_edges,
                    sizeof *piece->edge_ids);
    if (rv == 0 && weights)
        rv = append(&to->weights, to->num_edges, piece->edge_weights, piece->num_edges,
                    sizeof *piece->edge_weights);
    return rv;
}

int batch_builder_add_answer(struct batch_builder *builder, uint32_t etype, uint32_t part,
                             uint32_t num_rows, const struct batch_builder_piece *piece,
                             struct error *error)
{
    uint32_t rows = batch_builder_row_type(builder, etype);
    uint32_t neighbours = batch_builder_neighbour_type(builder, etype);
    struct batch_builder_answer *answer = batch_builder_answer(builder, etype, part);
    bool wide = batch_builder_draws_wide(builder, etype);
    if (num_rows > builder->types[rows].lists[part].count - answer->num_rows)
        return bad(part, error, "more rows than were asked for");
    if (piece->num_edges > 0 && (wide ? piece->wide_columns == NULL : piece->columns == NULL))
        return bad(part, error, "columns of the wrong width");
    if (has_strays(piece, wide, builder->graph.num_nodes[neighbours]))
        return bad(part, error, "a neighbour that is no node");
    if (piece->num_edges > 0 && builder->plan->edge_ids && piece->edge_ids == NULL)
        return bad(part, error, "no edge IDs");
    bool weights = batch_builder_weighs(builder, etype);
    if (piece->num_edges > 0 && weights && piece->edge_weights == NULL)
        return bad(part, error, "no weights of its edges");
    if (weights && !are_weights(piece))
        return bad(part, error, "a weight that is no positive number");
    if (!adds_up(piece, num_rows))
        return bad(part, error, "counts that do not add up to its edges");
    int rv = append_all(answer, num_rows, piece, wide, builder->plan->edge_ids, weights);
    if (rv != 0)
        return error_set(error, rv, "no memory for %" PRIu64 " edges", piece->num_edges);
    answer->num_rows += num_rows;
    answer->num_edges += piece->num_edges;
    return 0;
}
