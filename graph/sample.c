/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/sample.h"

#include <assert.h>
#include <string.h>

#include "graph/key.h"
#include "graph/sample_block.h"
#include "graph/sample_few.h"
#include "graph/sample_masked.h"
#include "graph/sample_total.h"
#include "graph/samplers.h"
#include "graph/subset.h"

int sample_check(const struct sample_request *request)
{
    if (sample_fanout(request) != SAMPLE_ALL && sample_fanout(request) > SAMPLE_FANOUT_MAX)
        return TR_ETOOBIG;
    uint32_t greatest = 0;
    for (uint32_t i = 0; i < request->num_rows; i++)
        greatest = request->rows[i] > greatest ? request->rows[i] : greatest;
    return request->num_rows > 0 && greatest >= request->csc->num_rows ? TR_ERANGE : 0;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void draw_replaced(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key)
{
    uint64_t draw = 0;
    for (uint32_t i = 0; i < k; i++)
        positions[i] = (uint32_t)key_below(node_key, &draw, degree);
}

/* Memory for the positions of one more row, and for the set that draws them. Blocks that hold
 * more than one row fit by construction, so growing loses nothing. */
static inline __attribute__((always_inline)) int reserve_row(struct sample_space *space, int side,
                                                             uint32_t at, uint32_t k)
{
    int rv = 0;
    if (at + (uint64_t)k > space->positions_bytes[side] / sizeof(uint32_t)) {
        assert(at == 0);
        rv = sample_reserve(&space->positions[side], &space->positions_bytes[side], k);
    }
    return rv != 0
               ? rv
               : sample_reserve(&space->scratch, &space->scratch_bytes, subset_scratch_words(k));
}

/* Draws the positions of a block's rows and prefetches their columns. Salts, those of the request
 * or NULL, are a parameter and this is inlined, so that the loop over rows without them, which is
 * nearly every one, does not look for them at each row. */
static inline __attribute__((always_inline)) int plan_block(struct sample_space *space,
                                                            const struct sample_request *request,
                                                            const uint32_t *salts, int side,
                                                            struct block_plan *block)
{
    const struct csc *csc = request->csc;
    uint32_t k = sample_fanout(request), at = 0;
    bool replace = sample_replaces(request);
    for (uint32_t i = 0; i < block->num_rows; i++) {
        uint32_t row = request->rows[block->first_row + i];
        uint64_t begin = csc->index[row], degree = csc->index[row + UINT64_C(1)] - begin;
        struct row_plan *plan = &block->rows[i];
        if (degree > SUBSET_DEGREE_MAX)
            return TR_ETOOBIG;
        if (degree == 0 || k == SAMPLE_ALL || (degree <= k && !replace)) {
            *plan = (struct row_plan){ .begin = begin, .count = (uint32_t)degree, .at = WHOLE };
            prefetch_bytes(&csc->indices[begin], degree * sizeof(uint32_t));
            continue;
        }
        *plan = (struct row_plan){ .begin = begin, .count = k, .at = at };
        if (k == 0)
            continue;
        int rv = reserve_row(space, side, at, k);
        if (rv != 0)
            return rv;
        uint32_t *positions = space->positions[side] + at;
        uint64_t id = request->original_ids != NULL ? request->original_ids[row]
                                                    : request->global_begin + row;
        uint64_t node_key = key_node(request->key_base, id);
        if (salts != NULL)
            node_key = key_occurrence(node_key, salts[block->first_row + i]);
        if (replace)
            draw_replaced(positions, k, (uint32_t)degree, node_key);
        else
            subset_draw(positions, k, (uint32_t)degree, node_key, space->scratch);
        for (uint32_t e = 0; e < k; e++)
            __builtin_prefetch(&csc->indices[begin + positions[e]]);
        at += k;
    }
    block->positions = space->positions[side];
    return 0;
}

int sample_uniform(struct sample_space *space, const struct sample_request *request,
                   struct sample_result *result)
{
    if ((request->term.flags & SAMPLE_TOTAL) != 0)
        return sample_total(space, request, result);
    if (request->mask != NULL || request->num_excluded > 0)
        return sample_masked(space, request, result);
    if (sample_is_few(request))
        return sample_few(request, result);
    uint32_t fanout = sample_fanout(request);
    assert(fanout == SAMPLE_ALL || fanout <= SAMPLE_FANOUT_MAX);
    struct block_plan blocks[2];
    uint32_t rows = block_rows(fanout), total = request->num_rows, previous = 0;
    uint64_t translated = 0;
    int rv = 0, side = 0;
    result->num_edges = 0;
    for (int i = 0; i < 2 && rv == 0; i++)
        rv = sample_reserve(&space->positions[i], &space->positions_bytes[i], BLOCK_POSITIONS);
    prefetch_bounds(request, 0, min_u32(rows, total));
    for (uint32_t first = 0; first < total && rv == 0; first += previous, side ^= 1) {
        struct block_plan *block = &blocks[side];
        block->first_row = first;
        block->num_rows = min_u32(rows, total - first);
        /* Each block is read one step after it is planned, and planned one step after its bounds
         * are fetched: what each step needs of memory comes while another works. */
        uint32_t next = first + block->num_rows;
        prefetch_bounds(request, next, min_u32(rows, total - next));
        rv = request->with.salts == NULL
                 ? plan_block(space, request, NULL, side, block)
                 : plan_block(space, request, request->with.salts, side, block);
        if (rv == 0 && first > 0)
            block_emit(request->csc, &blocks[side ^ 1], result, &translated);
        previous = block->num_rows;
    }
    if (rv == 0 && total > 0)
        block_emit(request->csc, &blocks[side ^ 1], result, &translated);
    if (rv == 0 && request->csc->column_global != NULL)
        block_translate(request->csc, result, translated);
    return rv;
}

/* The decision of plan_block(), as a bound. */
uint64_t sample_uniform_row_edges(const struct sample_term *term, uint64_t degree)
{
    uint64_t fanout = (uint32_t)term->fanout;
    if (degree == 0 || term->fanout == SAMPLE_EVERY)
        return degree;
    return (term->flags & SAMPLE_REPLACE) != 0 || degree > fanout ? fanout : degree;
}

const struct sample_method sample_uniform_method = {
    .name = "uniform",
    .row_fields = SAMPLE_ROW_SALT,
    .mask = true,
    .out_edges = true,
    .totals = true,
    .row_edges = sample_uniform_row_edges,
    .draw = sample_uniform,
};
