/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbours of one hop: drawn or taken from answers, merged in the order of destination
 * nodes, numbered. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "graph/batch_builder.h"
#include "graph/local_sample.h"
#include "graph/samplers.h"

/* The share of one partition in a slice. */
struct drawn_rows {
    uint32_t num_rows; /* destination nodes of the slice that it owns */
    const uint32_t *counts;
    const unsigned char *columns;
    const uint64_t *edge_ids;
    const float *weights;
};

/* The nodes that draw, and those that are drawn, of the edge type that is at work. */
static uint32_t row_type(const struct batch_builder *builder)
{
    return batch_builder_row_type(builder, builder->etype);
}

static uint32_t neighbour_type(const struct batch_builder *builder)
{
    return batch_builder_neighbour_type(builder, builder->etype);
}

static struct block_edges *edges_of(const struct batch_builder *builder)
{
    return batch_space_edges(builder->out, batch_builder_layer(builder), builder->etype);
}

static struct edge_space *space_of(const struct batch_builder *builder)
{
    return batch_space_edge_space(builder->out, batch_builder_layer(builder), builder->etype);
}

bool batch_builder_weighs(const struct batch_builder *builder, uint32_t etype)
{
    return sample_gives_weights(builder->plan->spec->kind, batch_builder_term(builder, etype));
}

int batch_builder_open_hop(struct batch_builder *builder, struct error *error)
{
    if (builder->hop == 0)
        batch_builder_unify_excluded(builder);
    uint32_t *num_dst = builder->out->num_dst +
                        (size_t)batch_builder_layer(builder) * builder->num_ntypes;
    for (uint32_t t = 0; t < builder->num_ntypes; t++)
        num_dst[t] = builder->types[t].nodes.num_ids;
    for (builder->etype = 0; builder->etype < builder->num_etypes; builder->etype++) {
        struct block_edges *edges = edges_of(builder);
        edges->num_dst = num_dst[row_type(builder)];
        edges->direction = batch_builder_term(builder, builder->etype)->direction;
        struct vec *index = &space_of(builder)->index;
        if (vec_reserve(index, edges->num_dst + (size_t)1, sizeof(uint32_t), 0) != 0)
            return error_set(error, TR_ENOMEM,
                             "batch %" PRIu64 ": no memory for the index of %" PRIu32 " nodes",
                             builder->key.batch, edges->num_dst);
        ((uint32_t *)index->data)[0] = 0;
        edges->index = index->data;
    }
    /* The answers are emptied here, before the caller asks for those of this hop. */
    size_t cells = (size_t)builder->num_etypes * builder->num_parts;
    for (size_t i = 0; i < cells; i++) {
        struct batch_builder_answer *answer = &builder->answers[i];
        answer->num_rows = answer->used_rows = 0;
        answer->num_edges = answer->used_edges = 0;
    }
    builder->key.hop = builder->hop;
    builder->etype = builder->at = 0;
    return 0;
}

/* Nodes of a slice: about BATCH_BUILDER_SLICE_EDGES edges of them. */
static uint32_t slice_end(const struct batch_builder *builder, uint32_t num_dst)
{
    uint64_t nodes = builder->graph.num_nodes[row_type(builder)];
    uint64_t degree = nodes == 0 ? 1 : builder->graph.num_edges[builder->etype] / nodes + 1;
    const struct sample_method *method = sample_method_find(builder->plan->spec->kind);
    if (method != NULL)
        degree = method->row_edges(batch_builder_term(builder, builder->etype), degree);
    uint32_t edges = builder->graph.slice != 0 ? builder->graph.slice : BATCH_BUILDER_SLICE_EDGES;
    uint64_t size = edges / (degree + 1) + 1;
    uint32_t left = num_dst - builder->at;
    return builder->at + (size < left ? (uint32_t)size : left);
}

static void count_owners(const struct batch_builder *builder, struct drawn_rows *streams,
                         uint32_t end)
{
    for (uint32_t p = 0; p < builder->num_parts; p++)
        streams[p].num_rows = 0;
    const uint16_t *owners = builder->types[row_type(builder)].owners.data;
    for (uint32_t i = builder->at; i < end; i++)
        streams[owners[i]].num_rows++;
}

/* The next num_rows rows of the partition's list, of this hop and edge type. */
static struct local_sample next_rows(const struct batch_builder *builder, uint32_t part,
                                     uint32_t num_rows)
{
    uint32_t used = batch_builder_answer(builder, builder->etype, part)->used_rows;
    uint32_t ntype = row_type(builder);
    const struct batch_builder_list *list = &builder->types[ntype].lists[part];
    uint64_t num_excluded;
    const uint64_t *excluded = batch_builder_excluded(builder, builder->etype, part, &num_excluded);
    const struct sample_term *term = batch_builder_term(builder, builder->etype);
    const struct sample_excluded *by_type = (term->flags & SAMPLE_TOTAL) != 0
                                                ? batch_builder_excluded_by_type(builder, part)
                                                : NULL;
    return (struct local_sample){ .part = builder->parts[part],
                                  .draw = &builder->key,
                                  .kind = builder->plan->spec->kind,
                                  .etype = builder->etype,
                                  .term = *term,
                                  .rows = (const uint32_t *)list->rows.data + used,
                                  .with = batch_builder_list_fields(builder, ntype, part, used),
                                  .row_fields = batch_builder_row_fields(builder),
                                  .num_rows = num_rows,
                                  .excluded = excluded,
                                  .num_excluded = num_excluded,
                                  .excluded_by_type = by_type };
}

static int grow_space(struct batch_builder *builder, struct batch_builder_space *space,
                      uint64_t rows, uint64_t edges, size_t column_bytes, size_t rows_kept,
                      size_t edges_kept)
{
    int rv = vec_reserve(&space->counts, rows, sizeof(uint32_t), rows_kept * sizeof(uint32_t));
    if (rv == 0)
        rv = vec_reserve(&space->columns, edges, column_bytes, edges_kept * column_bytes);
    if (rv == 0 && builder->plan->edge_ids)
        rv = vec_reserve(&space->edge_ids, edges, sizeof(uint64_t), edges_kept * sizeof(uint64_t));
    if (rv == 0 && batch_builder_weighs(builder, builder->etype))
        rv = vec_reserve(&space->weights, edges, sizeof(float), edges_kept * sizeof(float));
    return rv;
}

/* Draws of all partitions that are read directly, one after the other in the space. */
static int draw_local(struct batch_builder *builder, struct batch_builder_space *space,
                      struct drawn_rows *streams, size_t column_bytes, struct error *error)
{
    size_t rows = 0, edges = 0;
    for (uint32_t p = 0; p < builder->num_parts; p++) {
        struct drawn_rows *s = &streams[p];
        if (!batch_builder_is_local(builder, p) || s->num_rows == 0)
            continue;
        const struct local_sample what = next_rows(builder, p, s->num_rows);
        struct sample_request request;
        int rv = local_sample_prepare(&what, &request, error);
        if (rv == 0)
            rv = grow_space(builder, space, rows + s->num_rows,
                            edges + local_sample_bound(&request), column_bytes, rows, edges);
        if (rv != 0)
            return rv;
        struct sample_result result = { .counts = (uint32_t *)space->counts.data + rows };
        if (column_bytes == sizeof(uint32_t))
            result.columns = (uint32_t *)space->columns.data + edges;
        else
            result.wide_columns = (uint64_t *)space->columns.data + edges;
        if (builder->plan->edge_ids)
            result.edge_ids = (uint64_t *)space->edge_ids.data + edges;
        if (batch_builder_weighs(builder, builder->etype))
            result.edge_weights = (float *)space->weights.data + edges;
        rv = local_sample_draw(&space->kernel, &request, &result);
        if (rv != 0)
            return rv;
        rows += s->num_rows;
        edges += result.num_edges;
    }
    return 0;
}

/* Sums the edges of a slice and points the streams at their data. */
static uint64_t aim_streams(struct batch_builder *builder, const struct batch_builder_space *space,
                            struct drawn_rows *streams, size_t column_bytes)
{
    size_t rows = 0, edges = 0;
    uint64_t total = 0;
    for (uint32_t p = 0; p < builder->num_parts; p++) {
        struct drawn_rows *s = &streams[p];
        if (s->num_rows == 0)
            continue;
        struct batch_builder_answer *answer = batch_builder_answer(builder, builder->etype, p);
        bool local = batch_builder_is_local(builder, p);
        assert(local || s->num_rows <= answer->num_rows - answer->used_rows);
        size_t row = local ? rows : answer->used_rows;
        size_t edge = local ? edges : answer->used_edges;
        s->counts = (const uint32_t *)(local ? &space->counts : &answer->counts)->data + row;
        s->columns = (const unsigned char *)(local ? &space->columns : &answer->columns)->data +
                     edge * column_bytes;
        const uint64_t *edge_ids = (local ? &space->edge_ids : &answer->edge_ids)->data;
        s->edge_ids = edge_ids == NULL ? NULL : edge_ids + edge; /* not asked for */
        const float *weights = (local ? &space->weights : &answer->weights)->data;
        s->weights = weights == NULL ? NULL : weights + edge;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < s->num_rows; i++)
            sum += s->counts[i];
        total += sum;
        answer->used_rows += s->num_rows;
        answer->used_edges += sum;
        rows += local ? s->num_rows : 0;
        edges += local ? sum : 0;
    }
    return total;
}

/* Runs of a few columns: a call of memcpy each would cost more than the copy. */
static inline void copy_columns(void *to, const void *from, size_t bytes)
{
    uint32_t *out = to;
    const uint32_t *in = from;
    for (size_t i = 0; i < bytes / sizeof *out; i++)
        out[i] = in[i];
}

static void draw_merge(const struct batch_builder *builder, struct drawn_rows *streams,
                       uint32_t end, size_t column_bytes, uint32_t *index, unsigned char *columns,
                       uint64_t *edge_ids, float *weights)
{
    const uint16_t *owners = builder->types[row_type(builder)].owners.data;
    uint32_t edges = index[builder->at];
    for (uint32_t i = builder->at; i < end; i++) {
        struct drawn_rows *s = &streams[owners[i]];
        uint32_t count = *s->counts++;
        copy_columns(columns, s->columns, count * column_bytes);
        columns += count * column_bytes;
        s->columns += count * column_bytes;
        if (edge_ids != NULL) {
            memcpy(edge_ids, s->edge_ids, count * sizeof *edge_ids);
            edge_ids += count;
            s->edge_ids += count;
        }
        if (weights != NULL) {
            copy_columns(weights, s->weights, count * sizeof *weights);
            weights += count;
            s->weights += count;
        }
        edges += count;
        index[i + 1] = edges;
    }
}

/* Room for more edges of this block, behind those that it has. */
static int grow_edges(struct batch_builder *builder, uint64_t more, struct error *error)
{
    struct block_edges *edges = edges_of(builder);
    struct edge_space *space = space_of(builder);
    uint64_t total = edges->num_edges + more;
    if (total > UINT32_MAX)
        return error_set(error, TR_ETOOBIG,
                         "batch %" PRIu64 ": a block has 2^32 edges or more; "
                         "use a smaller batch or fanout",
                         builder->key.batch);
    int rv = vec_reserve(&space->sources, total, sizeof(uint32_t),
                         edges->num_edges * sizeof(uint32_t));
    if (rv == 0 && builder->plan->edge_ids)
        rv = vec_reserve(&space->edge_ids, total, sizeof(uint64_t),
                         edges->num_edges * sizeof(uint64_t));
    bool weighs = batch_builder_weighs(builder, builder->etype);
    if (rv == 0 && weighs)
        rv = vec_reserve(&space->edge_weights, total, sizeof(float),
                         edges->num_edges * sizeof(float));
    edges->edge_weights = weighs ? space->edge_weights.data : NULL;
    edges->sources = space->sources.data;
    edges->edge_ids = builder->plan->edge_ids ? space->edge_ids.data : NULL;
    return rv;
}

/* Merges into the batch and numbers the sources there, or, of wide IDs, from the space. */
static int merge_and_number(struct batch_builder *builder, struct batch_builder_space *space,
                            struct drawn_rows *streams, uint32_t end, uint64_t more, bool wide)
{
    struct block_edges *edges = edges_of(builder);
    struct edge_space *to = space_of(builder);
    uint32_t *index = to->index.data;
    uint32_t *sources = (uint32_t *)to->sources.data + edges->num_edges;
    uint64_t *edge_ids = builder->plan->edge_ids ? (uint64_t *)to->edge_ids.data + edges->num_edges
                                                 : NULL;
    float *weights = edges->edge_weights != NULL ? (float *)to->edge_weights.data + edges->num_edges
                                                 : NULL;
    struct relabel *nodes = &builder->types[neighbour_type(builder)].nodes;
    /* Edges are merged before their sources are numbered: a node's number is the order of its
     * first appearance among the merged edges, whichever partition brought them. */
    if (!wide) {
        draw_merge(builder, streams, end, sizeof *sources, index, (unsigned char *)sources,
                   edge_ids, weights);
        return relabel_add_u32(nodes, sources, more, sources);
    }
    int rv = vec_reserve(&space->wide, more, sizeof(uint64_t), 0);
    if (rv != 0)
        return rv;
    draw_merge(builder, streams, end, sizeof(uint64_t), index, space->wide.data, edge_ids, weights);
    return relabel_add_u64(nodes, space->wide.data, more, sources);
}

static int draw_merged(struct batch_builder *builder, struct batch_builder_space *space,
                       uint32_t end, uint64_t *more, struct error *error)
{
    int rv = vec_reserve(&space->streams, builder->num_parts, sizeof(struct drawn_rows), 0);
    if (rv != 0)
        return rv;
    struct drawn_rows *streams = space->streams.data;
    bool wide = batch_builder_draws_wide(builder, builder->etype);
    size_t column_bytes = wide ? sizeof(uint64_t) : sizeof(uint32_t);
    count_owners(builder, streams, end);
    /* All partitions are drawn before the streams are aimed: drawing may move the space that
     * they point into, and aiming moves past the rows that are drawn. */
    rv = draw_local(builder, space, streams, column_bytes, error);
    if (rv != 0)
        return rv;
    *more = aim_streams(builder, space, streams, column_bytes);
    rv = grow_edges(builder, *more, error);
    if (rv == 0)
        rv = merge_and_number(builder, space, streams, end, *more, wide);
    return rv;
}

/* One partition, read directly: the kernel writes where the batch will have it. */
static int draw_straight(struct batch_builder *builder, struct batch_builder_space *space,
                         uint32_t end, uint64_t *more, struct error *error)
{
    uint32_t num_rows = end - builder->at;
    const struct local_sample what = next_rows(builder, 0, num_rows);
    struct sample_request request;
    int rv = local_sample_prepare(&what, &request, error);
    if (rv == 0)
        rv = grow_edges(builder, local_sample_bound(&request), error);
    if (rv == 0)
        rv = vec_reserve(&space->counts, num_rows, sizeof(uint32_t), 0);
    if (rv != 0)
        return rv;
    struct block_edges *edges = edges_of(builder);
    struct edge_space *to = space_of(builder);
    uint32_t *sources = (uint32_t *)to->sources.data + edges->num_edges;
    struct sample_result result = { .counts = space->counts.data, .columns = sources };
    if (builder->plan->edge_ids)
        result.edge_ids = (uint64_t *)to->edge_ids.data + edges->num_edges;
    if (edges->edge_weights != NULL)
        result.edge_weights = (float *)to->edge_weights.data + edges->num_edges;
    rv = local_sample_draw(&space->kernel, &request, &result);
    if (rv != 0)
        return rv;
    uint32_t *index = to->index.data;
    for (uint32_t i = 0; i < num_rows; i++)
        index[builder->at + i + 1] = index[builder->at + i] + result.counts[i];
    batch_builder_answer(builder, builder->etype, 0)->used_rows = end;
    *more = result.num_edges;
    return relabel_add_u32(&builder->types[neighbour_type(builder)].nodes, sources,
                           result.num_edges, sources);
}

/* Nothing is asked where the fanout is 0, so there are no answers either. */
static void draw_nothing(struct batch_builder *builder, uint32_t end)
{
    uint32_t *index = space_of(builder)->index.data;
    for (uint32_t i = builder->at; i < end; i++)
        index[i + 1] = index[i];
}

static int draw_slice(struct batch_builder *builder, struct batch_builder_space *space,
                      uint32_t end, uint64_t *more, struct error *error)
{
    bool wide = batch_builder_draws_wide(builder, builder->etype);
    if (batch_builder_term(builder, builder->etype)->fanout == 0) {
        draw_nothing(builder, end);
        return 0;
    }
    if (builder->num_parts == 1 && batch_builder_is_local(builder, 0) && !wide)
        return draw_straight(builder, space, end, more, error);
    return draw_merged(builder, space, end, more, error);
}

static void close_hop(struct batch_builder *builder)
{
    uint32_t *num_src = builder->out->num_src +
                        (size_t)batch_builder_layer(builder) * builder->num_ntypes;
    for (uint32_t t = 0; t < builder->num_ntypes; t++)
        num_src[t] = builder->types[t].nodes.num_ids;
    builder->hop++;
}

/* The nodes that the slice met first, from that number on, have the roots of those that drew
 * them. */
static int follow_slice(struct batch_builder *builder, uint32_t end, uint32_t first_new)
{
    const struct edge_space *to = space_of(builder);
    return batch_builder_follow_roots(
        builder, neighbour_type(builder), first_new, row_type(builder), builder->at,
        end - builder->at, (const uint32_t *)to->index.data + builder->at,
        (const uint32_t *)to->sources.data + edges_of(builder)->num_edges);
}

static int draw_piece(struct batch_builder *builder, struct batch_builder_space *space,
                      struct error *error)
{
    struct block_edges *edges = edges_of(builder);
    uint32_t end = slice_end(builder, edges->num_dst);
    uint32_t known = builder->types[neighbour_type(builder)].nodes.num_ids;
    uint64_t more = 0;
    int rv = draw_slice(builder, space, end, &more, error);
    if (rv == 0 && more > 0 && batch_builder_has_roots(builder))
        rv = follow_slice(builder, end, known);
    if (rv != 0)
        return error != NULL && error->code == rv
                   ? rv
                   : error_set(error, rv, "batch %" PRIu64 ", hop %" PRIu32 ": %s",
                               builder->key.batch, builder->hop, tr_strerror(rv));
    edges->num_edges += (uint32_t)more;
    builder->at = end;
    return 0;
}

int batch_builder_draw(struct batch_builder *builder, struct batch_builder_space *space,
                       struct error *error)
{
    for (; builder->etype < builder->num_etypes; builder->etype++, builder->at = 0) {
        if (builder->at == edges_of(builder)->num_dst)
            continue;
        int rv = draw_piece(builder, space, error);
        return rv != 0 ? rv : 1;
    }
    close_hop(builder);
    return 0;
}
