/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampler that the library does not have: of the edges of a row that are not after its time and
 * do not come from a node that it excludes, the last `fanout` in their order, the last one first.
 * The weights of its terms are the times of edges. It is all here, with the table that has a row
 * for it, which is linked in the place of graph/samplers.c's.
 */
#include "graph/samplers.h"

#define SAMPLE_RECENT 1u

static uint64_t recent_row_edges(const struct sample_term *term, uint64_t degree)
{
    uint64_t fanout = (uint32_t)term->fanout;
    return term->fanout == SAMPLE_EVERY || degree < fanout ? degree : fanout;
}

static bool is_excluded(uint64_t id, const uint64_t *excluded, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (excluded[i] == id)
            return true;
    return false;
}

static int recent_draw(struct sample_space *space, const struct sample_request *request,
                       struct sample_result *result)
{
    const struct csc *csc = request->csc;
    const int64_t *times = request->weights->rows;
    struct sample_row_fields with = request->with;
    (void)space;
    result->num_edges = 0;
    for (uint32_t i = 0; i < request->num_rows; i++, sample_row_fields_skip(&with, 1)) {
        uint64_t begin = csc->index[request->rows[i]], at = csc->index[request->rows[i] + 1];
        uint64_t most = recent_row_edges(&request->term, at - begin);
        result->counts[i] = 0;
        while (at-- > begin && result->counts[i] < most) {
            uint32_t column = csc->indices[at];
            uint64_t id = csc->column_global != NULL ? csc->column_global[column] : column;
            if (times[at] > with.times[0] || is_excluded(id, with.excluded, with.exclusions[0]))
                continue;
            if (csc->column_global != NULL)
                result->wide_columns[result->num_edges] = id;
            else
                result->columns[result->num_edges] = column;
            if (result->edge_ids != NULL)
                result->edge_ids[result->num_edges] = csc->first_edge + at;
            result->counts[i]++;
            result->num_edges++;
        }
    }
    return 0;
}

static const struct sample_method recent = {
    .name = "recent",
    .row_fields = SAMPLE_ROW_FIELDS,
    .weights = true,
    .out_edges = true,
    .row_edges = recent_row_edges,
    .draw = recent_draw,
};

static const struct sample_method *const METHODS[] = {
    [SAMPLE_UNIFORM] = &sample_uniform_method,
    [SAMPLE_RECENT] = &recent,
};

const struct sample_method *sample_method_find(uint32_t kind)
{
    return kind < sizeof METHODS / sizeof *METHODS ? METHODS[kind] : NULL;
}
