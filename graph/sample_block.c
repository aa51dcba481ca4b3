/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/sample_block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/hotmem.h"

static void walk_space_free(struct walk_space *space)
{
    if (space == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        vec_fini(&space->blocks[i].positions);
        vec_fini(&space->blocks[i].weights);
    }
    vec_fini(&space->candidates);
    vec_fini(&space->scratch);
    vec_fini(&space->keyed);
    vec_fini(&space->others);
    free(space);
}

void sample_space_fini(struct sample_space *space)
{
    for (int i = 0; i < 2; i++)
        hotmem_free(space->positions[i], space->positions_bytes[i]);
    hotmem_free(space->scratch, space->scratch_bytes);
    walk_space_free(space->walk);
    *space = (struct sample_space){ 0 };
}

int sample_reserve(uint32_t **words, size_t *bytes, uint64_t wanted)
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

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t block_rows(uint32_t fanout)
{
    if (fanout == SAMPLE_ALL || fanout == 0)
        return BLOCK_ROWS;
    uint32_t rows = BLOCK_POSITIONS / fanout;
    return rows == 0 ? 1 : min_u32(rows, BLOCK_ROWS);
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

/* Columns first; block_translate() makes IDs of them once their table lines have come. */
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

void block_translate(const struct csc *csc, struct sample_result *result, uint64_t from)
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
        const uint64_t *ids = csc->edge_ids == NULL ? NULL : csc->edge_ids + plan->begin;
        for (uint32_t e = 0; e < plan->count; e++) {
            uint32_t position = plan->at == WHOLE ? e : block->positions[plan->at + e];
            *to++ = ids != NULL ? ids[position] : first + position;
        }
    }
}

/* A row that is taken whole is no draw: each of its edges stands for itself. */
static void emit_weights(const struct block_plan *block, struct sample_result *result)
{
    float *to = result->edge_weights + result->num_edges;
    for (uint32_t i = 0; i < block->num_rows; i++) {
        const struct row_plan *plan = &block->rows[i];
        for (uint32_t e = 0; e < plan->count; e++)
            *to++ = plan->at == WHOLE || block->weights == NULL ? 1.0f
                                                                : block->weights[plan->at + e];
    }
}

void block_emit(const struct csc *csc, const struct block_plan *block, struct sample_result *result,
                uint64_t *translated)
{
    if (result->edge_ids != NULL)
        emit_edge_ids(csc, block, result);
    if (result->edge_weights != NULL)
        emit_weights(block, result);
    if (csc->column_global == NULL) {
        emit_narrow(csc, block, result);
    } else {
        /* The block before is translated first: the lines of the table that it waits for came
         * while this one was planned. */
        block_translate(csc, result, *translated);
        *translated = result->num_edges;
        emit_wide(csc, block, result);
    }
    /* The edges are counted last: a block's columns and IDs go behind the edges so far. */
    for (uint32_t i = 0; i < block->num_rows; i++) {
        result->counts[block->first_row + i] = block->rows[i].count;
        result->num_edges += block->rows[i].count;
    }
}

int walk_reserve(struct walk_block *block, uint64_t count)
{
    uint64_t total = block->num_positions + count;
    /* A row's place among the positions is a 32-bit number, of which one means WHOLE. */
    if (total >= WHOLE)
        return TR_ETOOBIG;
    int rv = vec_reserve(&block->positions, total, sizeof(uint32_t),
                         block->num_positions * sizeof(uint32_t));
    if (rv == 0 && block->weigh)
        rv = vec_reserve(&block->weights, total, sizeof(float),
                         block->num_positions * sizeof(float));
    return rv;
}

static int walk_aim(struct walk_space *space, const struct sample_request *request,
                    const struct walk_kernel *kernel, struct walk_block *block)
{
    for (uint32_t i = 0; i < block->plan.num_rows; i++)
        block->keys[i] = sample_row_key(request, block->plan.first_row + i);
    return kernel->aim != NULL ? kernel->aim(space, request, block) : 0;
}

static int walk_decide(struct walk_space *space, const struct sample_request *request,
                       const struct walk_kernel *kernel, struct walk_block *block)
{
    int rv = 0;
    block->num_positions = 0;
    for (uint32_t i = 0; i < block->plan.num_rows && rv == 0; i++)
        rv = kernel->decide(space, request, block, i);
    block->plan.positions = block->positions.data;
    block->plan.weights = block->weigh ? block->weights.data : NULL;
    for (uint32_t i = 0; i < block->plan.num_rows && rv == 0; i++) {
        const struct row_plan *row = &block->plan.rows[i];
        if (row->at == WHOLE)
            prefetch_bytes(&request->csc->indices[row->begin], row->count * sizeof(uint32_t));
        else
            for (uint32_t e = 0; e < row->count; e++)
                __builtin_prefetch(
                    &request->csc->indices[row->begin + block->plan.positions[row->at + e]]);
    }
    return rv;
}

int sample_walk(struct sample_space *space, const struct sample_request *request,
                struct sample_result *result, const struct walk_kernel *kernel)
{
    uint32_t rows = block_rows(sample_fanout(request)), total = request->num_rows;
    uint32_t blocks = (uint32_t)((total + (uint64_t)rows - 1) / rows);
    uint64_t translated = 0;
    int rv = 0;
    result->num_edges = 0;
    if (space->walk == NULL && (space->walk = calloc(1, sizeof *space->walk)) == NULL)
        return TR_ENOMEM;
    struct walk_space *walk = space->walk;
    prefetch_bounds(request, 0, min_u32(rows, total));
    /* In step b, block b is aimed, the one before it decided, the one before that read: what each
     * of them reads was fetched a step earlier. */
    for (uint32_t b = 0; b < blocks + 2 && rv == 0; b++) {
        struct walk_block *block = &walk->blocks[b % 3];
        struct walk_block *decided = &walk->blocks[(b + 1) % 3];
        if (b >= 2 && kernel->finish != NULL)
            rv = kernel->finish(walk, request, decided);
        if (b >= 2 && rv == 0)
            block_emit(request->csc, &decided->plan, result, &translated);
        if (rv == 0 && b < blocks) {
            block->plan.first_row = b * rows;
            block->plan.num_rows = min_u32(rows, total - b * rows);
            uint32_t next = block->plan.first_row + block->plan.num_rows;
            prefetch_bounds(request, next, min_u32(rows, total - next));
            block->weigh = kernel->weighs;
            rv = walk_aim(walk, request, kernel, block);
        }
        if (rv == 0 && b >= 1 && b <= blocks)
            rv = walk_decide(walk, request, kernel, &walk->blocks[(b - 1) % 3]);
    }
    if (rv == 0 && request->csc->column_global != NULL)
        block_translate(request->csc, result, translated);
    return rv;
}
