/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/sample.h"

#include <assert.h>
#include <string.h>

#include "graph/key.h"
#include "graph/samplers.h"
#include "graph/subset.h"
#include "runtime/base/hotmem.h"

/* Rows in flight at once: enough misses to keep the memory busy, few enough for the L1 cache. */
#define BLOCK_ROWS 64u
/* Positions of one block, of which there are two; a fanout above makes blocks of one row. */
#define BLOCK_POSITIONS 4096u
/* The first lines of a row that is taken whole are prefetched, the hardware follows by itself. */
#define WHOLE_LINES_MAX 4u
#define LINE_WORDS 16u

/* The decision for one row, before its columns are read. */
struct row_plan {
    uint64_t begin; /* of the row in the CSC's indices */
    uint32_t count;
    uint32_t at; /* of its positions in the block's; WHOLE: all of the row */
};

#define WHOLE UINT32_MAX

struct block_plan {
    struct row_plan rows[BLOCK_ROWS];
    uint32_t *positions;
    uint32_t first_row;
    uint32_t num_rows;
};

void sample_space_fini(struct sample_space *space)
{
    for (int i = 0; i < 2; i++)
        hotmem_free(space->positions[i], space->positions_bytes[i]);
    hotmem_free(space->scratch, space->scratch_bytes);
    *space = (struct sample_space){ 0 };
}

/* Makes *words hold at least `wanted` words; what it held is lost. */
static int sample_reserve(uint32_t **words, size_t *bytes, uint64_t wanted)
{
    if (wanted * sizeof **words <= *bytes)
        return 0;
    size_t grown_bytes = (size_t)wanted * sizeof **words;
    uint32_t *grown = hotmem_alloc(grown_bytes);
    if (grown == NULL)
        return TR_ENOMEM;
    hotmem_free(*words, *bytes);
    *words = grown;
    *bytes = grown_bytes;
    return 0;
}

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

/* A function that only prefetches looks free of effects to gcc, which then drops the calls;
 * inlined, the prefetches stay. */
#define PREFETCHER static inline __attribute__((always_inline)) void

PREFETCHER prefetch_bounds(const struct sample_request *request, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = request->rows[first + i];
        __builtin_prefetch(&request->csc->index[row]);
        __builtin_prefetch(&request->csc->index[row + UINT64_C(1)]); /* may be the next line */
        if (request->original_ids != NULL)
            __builtin_prefetch(&request->original_ids[row]);
    }
}

PREFETCHER prefetch_whole(const uint32_t *columns, uint32_t count)
{
    uint32_t words = min_u32(count, WHOLE_LINES_MAX * LINE_WORDS);
    for (uint32_t i = 0; i < words; i += LINE_WORDS)
        __builtin_prefetch(&columns[i]);
    if (words > 0)
        __builtin_prefetch(&columns[words - 1]);
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
            prefetch_whole(&csc->indices[begin], (uint32_t)degree);
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

static void emit_narrow(const struct csc *csc, const struct block_plan *block,
                        struct sample_result *result)
{
    uint32_t *to = result->columns + result->num_edges;
    for (uint32_t i = 0; i < block->num_rows; i++) {
        const struct row_plan *plan = &block->rows[i];
        const uint32_t *row = csc->indices + plan->begin;
        if (plan->at == WHOLE) {
            memcpy(to, row, plan->count * sizeof *to);
        } else {
            const uint32_t *positions = block->positions + plan->at;
            for (uint32_t e = 0; e < plan->count; e++)
                to[e] = row[positions[e]];
        }
        to += plan->count;
    }
}

/* Columns first; sample_translate() makes IDs of them once their table lines have come. */
static void emit_wide(const struct csc *csc, const struct block_plan *block,
                      struct sample_result *result)
{
    uint64_t *to = result->wide_columns + result->num_edges;
    for (uint32_t i = 0; i < block->num_rows; i++) {
        const struct row_plan *plan = &block->rows[i];
        for (uint32_t e = 0; e < plan->count; e++) {
            uint32_t position = plan->at == WHOLE ? e : block->positions[plan->at + e];
            *to = csc->indices[plan->begin + position];
            __builtin_prefetch(&csc->column_global[*to]);
            to++;
        }
    }
}

static void sample_translate(const struct csc *csc, struct sample_result *result, uint64_t from)
{
    for (uint64_t i = from; i < result->num_edges; i++)
        result->wide_columns[i] = csc->column_global[result->wide_columns[i]];
}

static void emit_edge_ids(const struct csc *csc, const struct block_plan *block,
                          struct sample_result *result)
{
    uint64_t *to = result->edge_ids + result->num_edges;
    for (uint32_t i = 0; i < block->num_rows; i++) {
        const struct row_plan *plan = &block->rows[i];
        uint64_t first = csc->first_edge + plan->begin;
        for (uint32_t e = 0; e < plan->count; e++)
            *to++ = first + (plan->at == WHOLE ? e : block->positions[plan->at + e]);
    }
}

/* Reads the columns of a planned block; *translated is how far wide columns are done. */
static void emit_block(const struct csc *csc, const struct block_plan *block,
                       struct sample_result *result, uint64_t *translated)
{
    if (result->edge_ids != NULL)
        emit_edge_ids(csc, block, result);
    if (csc->column_global == NULL) {
        emit_narrow(csc, block, result);
    } else {
        /* The block before is translated first: the lines of the table that it waits for came
         * while this one was planned. */
        sample_translate(csc, result, *translated);
        *translated = result->num_edges;
        emit_wide(csc, block, result);
    }
    /* The edges are counted last: a block's columns and IDs go behind the edges so far. */
    for (uint32_t i = 0; i < block->num_rows; i++) {
        result->counts[block->first_row + i] = block->rows[i].count;
        result->num_edges += block->rows[i].count;
    }
}

static uint32_t block_rows(uint32_t fanout)
{
    if (fanout == SAMPLE_ALL || fanout == 0)
        return BLOCK_ROWS;
    uint32_t rows = BLOCK_POSITIONS / fanout;
    return rows == 0 ? 1 : min_u32(rows, BLOCK_ROWS);
}

int sample_uniform(struct sample_space *space, const struct sample_request *request,
                   struct sample_result *result)
{
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
            emit_block(request->csc, &blocks[side ^ 1], result, &translated);
        previous = block->num_rows;
    }
    if (rv == 0 && total > 0)
        emit_block(request->csc, &blocks[side ^ 1], result, &translated);
    if (rv == 0 && request->csc->column_global != NULL)
        sample_translate(request->csc, result, translated);
    return rv;
}

/* The decision of plan_block(), as a bound. */
static uint64_t uniform_row_edges(const struct sample_term *term, uint64_t degree)
{
    uint64_t fanout = (uint32_t)term->fanout;
    if (degree == 0 || term->fanout == SAMPLE_EVERY)
        return degree;
    return (term->flags & SAMPLE_REPLACE) != 0 || degree > fanout ? fanout : degree;
}

const struct sample_method sample_uniform_method = {
    .name = "uniform",
    .row_fields = SAMPLE_ROW_SALT,
    .row_edges = uniform_row_edges,
    .draw = sample_uniform,
};
