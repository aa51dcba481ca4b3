/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/sample_total.h"

#include "graph/excluded.h"
#include "graph/sample_block.h"
#include "graph/subset.h"

/* The edges of one node over all types, and where those of the request's own type stand. */
struct total_row {
    uint64_t before; /* of types with lower numbers */
    uint64_t own;
    uint64_t all;
};

/* The edges of another type that the row may draw. */
static int count_left(const struct sample_request *request, uint32_t etype, uint32_t row,
                      struct vec *space, uint64_t *left)
{
    const struct edge_part *edges = &request->part->edges[etype];
    const bool out = request->term.direction == SAMPLE_OUT;
    const struct csc along_out = out_edges_csc(&edges->out);
    const struct csc *csc = out ? &along_out : &edges->csc;
    *left = 0;
    if (csc->index == NULL || row >= csc->num_rows)
        return 0;
    uint64_t begin = csc->index[row], degree = csc->index[row + UINT64_C(1)] - begin;
    *left = degree;
    if (request->excluded_by_type == NULL || request->excluded_by_type[etype].count == 0)
        return 0;
    const struct sample_request of_type = {
        .csc = csc,
        .excluded = request->excluded_by_type[etype].ids,
        .num_excluded = request->excluded_by_type[etype].count
    };
    struct excluded_edges excluded;
    int rv = excluded_of_row(&of_type, begin, degree, space, &excluded);
    if (rv == 0)
        *left = degree - excluded.count;
    return rv;
}

static int count_row(const struct sample_request *request, uint32_t row, struct vec *space,
                     struct total_row *total)
{
    const struct graph_types *types = request->part->types;
    const uint32_t ntype = sample_row_type(&types->etypes[request->etype], &request->term);
    total->before = 0;
    total->all = total->own;
    for (uint32_t e = 0; e < types->num_etypes; e++) {
        uint64_t left = 0;
        if (e == request->etype || sample_row_type(&types->etypes[e], &request->term) != ntype)
            continue;
        int rv = count_left(request, e, row, space, &left);
        if (rv != 0)
            return rv;
        total->before += e < request->etype ? left : 0;
        total->all += left;
    }
    return total->all > SUBSET_DEGREE_MAX ? TR_ETOOBIG : 0;
}

/* The positions among all edges that are drawn, in order where none comes twice. */
static int draw_positions(struct walk_space *space, const struct total_row *total, uint32_t k,
                          bool replace, uint64_t key)
{
    int rv = vec_reserve(&space->candidates, k, sizeof(uint32_t), 0);
    if (rv == 0 && !replace)
        rv = vec_reserve(&space->scratch, subset_scratch_words(k), sizeof(uint32_t), 0);
    if (rv != 0)
        return rv;
    uint32_t *drawn = space->candidates.data;
    uint64_t draw = 0;
    if (!replace)
        subset_draw(drawn, k, (uint32_t)total->all, key, space->scratch.data);
    for (uint32_t i = 0; replace && i < k; i++)
        drawn[i] = (uint32_t)key_below(key, &draw, total->all);
    return 0;
}

static int total_decide(struct walk_space *space, const struct sample_request *request,
                        struct walk_block *block, uint32_t i)
{
    uint64_t degree, begin = walk_row(request, block, i, &degree);
    const uint32_t fanout = sample_fanout(request);
    const bool replace = sample_replaces(request) && fanout != SAMPLE_ALL;
    struct row_plan *plan = &block->plan.rows[i];
    struct total_row total;
    struct excluded_edges excluded;
    *plan = (struct row_plan){ .begin = begin, .at = block->num_positions };
    if (degree > SUBSET_DEGREE_MAX)
        return TR_ETOOBIG;
    if (degree == 0 || fanout == 0)
        return 0;
    int rv = excluded_of_row(request, begin, degree, &space->keyed, &excluded);
    if (rv != 0)
        return rv;
    total.own = degree - excluded.count;
    /* The other types' edges are listed in memory of their own: the row's own stay where they are. */
    rv = count_row(request, request->rows[block->plan.first_row + i], &space->others, &total);
    if (rv != 0 || total.own == 0)
        return rv;
    const bool all = fanout == SAMPLE_ALL || (!replace && total.all <= fanout);
    if (all && excluded.count == 0) {
        *plan = (struct row_plan){ .begin = begin, .count = (uint32_t)degree, .at = WHOLE };
        return 0;
    }
    uint32_t k = all ? (uint32_t)total.own : fanout;
    rv = walk_reserve(block, k);
    if (rv == 0 && !all)
        rv = draw_positions(space, &total, k, replace, block->keys[i]);
    if (rv != 0)
        return rv;
    const uint32_t *drawn = space->candidates.data;
    uint32_t *positions = (uint32_t *)block->positions.data + plan->at;
    for (uint32_t e = 0; e < k; e++) {
        uint64_t position = all ? e : drawn[e] - total.before;
        if (position < total.own) /* those before wrap to more */
            positions[plan->count++] = excluded_left(&excluded, (uint32_t)position);
    }
    block->num_positions += plan->count;
    return 0;
}

int sample_total(struct sample_space *space, const struct sample_request *request,
                 struct sample_result *result)
{
    static const struct walk_kernel kernel = { .decide = total_decide };
    return sample_walk(space, request, result, &kernel);
}
