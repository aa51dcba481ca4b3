/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/sample_few.h"

#include <assert.h>

#include "graph/key.h"
#include "graph/sample_block.h"
#include "graph/subset.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

struct few_block {
    struct block_plan plan;
    uint32_t positions[BLOCK_ROWS * SAMPLE_FEW_MAX];
};

ALWAYS_INLINE void order_two(uint32_t *low, uint32_t *high)
{
    uint32_t a = *low, b = *high;
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

/* Insertion as a network: each two are ordered by selection. */
ALWAYS_INLINE void order_few(uint32_t *positions, const uint32_t k)
{
    UNROLL
    for (uint32_t i = 1; i < k; i++) {
        UNROLL
        for (uint32_t j = i; j > 0; j--)
            order_two(&positions[j - 1], &positions[j]);
    }
}

/* What subset_draw() draws; of a row of k edges or fewer all positions, then the first one. */
ALWAYS_INLINE void draw_distinct(uint32_t *positions, const uint32_t k, uint32_t degree,
                                 uint64_t key)
{
    const uint32_t among = degree > k ? degree : k + 1;
    uint32_t drawn[SAMPLE_FEW_MAX];
    uint64_t draw = 0;
    UNROLL
    for (uint32_t i = 0; i < k; i++) {
        const uint32_t last = among - k + i;
        uint32_t value = (uint32_t)key_below(key, &draw, last + UINT64_C(1)), taken = 0;
        UNROLL
        for (uint32_t j = 0; j < i; j++)
            taken |= value == drawn[j];
        drawn[i] = taken ? last : value;
    }
    order_few(drawn, k);
    UNROLL
    for (uint32_t i = 0; i < k; i++)
        positions[i] = degree > k ? drawn[i] : i < degree ? i : 0;
}

ALWAYS_INLINE void draw_replaced(uint32_t *positions, const uint32_t k, uint32_t degree,
                                 uint64_t key)
{
    uint64_t draw = 0;
    UNROLL
    for (uint32_t i = 0; i < k; i++)
        positions[i] = (uint32_t)key_below(key, &draw, degree + (uint64_t)(degree == 0));
}

/* Decides the rows of a block and prefetches their columns. */
ALWAYS_INLINE int decide_block(const struct sample_request *request, struct few_block *block,
                               const uint32_t k, const bool replace)
{
    const struct csc *csc = request->csc;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < block->plan.num_rows; i++) {
        uint32_t row = request->rows[block->plan.first_row + i];
        uint32_t *positions = &block->positions[i * k], drawn[SAMPLE_FEW_MAX];
        uint64_t key = sample_row_key(request, block->plan.first_row + i);
        uint64_t begin = csc->index[row], degree = csc->index[row + UINT64_C(1)] - begin;
        longest = degree > longest ? degree : longest;
        /* The columns of a row without edges are read too, at a place that there is. */
        begin = degree == 0 ? 0 : begin;
        if (replace)
            draw_replaced(drawn, k, (uint32_t)degree, key);
        else
            draw_distinct(drawn, k, (uint32_t)degree, key);
        block->plan.rows[i] = (struct row_plan){ .begin = begin,
                                                 .count = degree < k && (!replace || degree == 0)
                                                              ? (uint32_t)degree
                                                              : k,
                                                 .at = i * k };
        UNROLL
        for (uint32_t e = 0; e < k; e++) {
            __builtin_prefetch(&csc->indices[begin + drawn[e]]);
            positions[e] = drawn[e];
        }
    }
    return longest > SUBSET_DEGREE_MAX ? TR_ETOOBIG : 0;
}

/* block_emit() of columns alone. What a row has not drawn is written nowhere. */
ALWAYS_INLINE void emit_block(const struct csc *csc, const struct few_block *block,
                              struct sample_result *result, const uint32_t k)
{
    uint32_t *to = result->columns + result->num_edges, nowhere;
    for (uint32_t i = 0; i < block->plan.num_rows; i++) {
        const struct row_plan *row = &block->plan.rows[i];
        const uint32_t *columns = csc->indices + row->begin, count = row->count;
        UNROLL
        for (uint32_t e = 0; e < k; e++) {
            uint32_t *place = e < count ? &to[e] : &nowhere;
            *place = columns[block->positions[i * k + e]];
        }
        to += count;
        result->counts[block->plan.first_row + i] = count;
    }
    result->num_edges = (uint64_t)(to - result->columns);
}

ALWAYS_INLINE int draw_few(const struct sample_request *request, struct sample_result *result,
                           const uint32_t k, const bool replace)
{
    struct few_block blocks[2];
    const struct csc *csc = request->csc;
    const bool plain = csc->column_global == NULL && result->edge_ids == NULL &&
                       result->edge_weights == NULL;
    uint32_t total = request->num_rows,
             num_blocks = (uint32_t)((total + (uint64_t)BLOCK_ROWS - 1) / BLOCK_ROWS);
    uint64_t translated = 0;
    int rv = 0;
    result->num_edges = 0;
    prefetch_bounds(request, 0, total < BLOCK_ROWS ? total : BLOCK_ROWS);
    /* A block is read one step after it was decided, and decided one after its bounds were
     * fetched. */
    for (uint32_t b = 0; b <= num_blocks && rv == 0; b++) {
        struct few_block *block = &blocks[b % 2], *decided = &blocks[(b + 1) % 2];
        if (b < num_blocks) {
            uint32_t first = b * BLOCK_ROWS, left = total - first;
            block->plan.first_row = first;
            block->plan.num_rows = left < BLOCK_ROWS ? left : BLOCK_ROWS;
            block->plan.positions = block->positions;
            block->plan.weights = NULL;
            uint32_t next = first + block->plan.num_rows;
            prefetch_bounds(request, next, total - next < BLOCK_ROWS ? total - next : BLOCK_ROWS);
            rv = decide_block(request, block, k, replace);
        }
        if (b > 0 && rv == 0 && plain)
            emit_block(csc, decided, result, k);
        else if (b > 0 && rv == 0)
            block_emit(csc, &decided->plan, result, &translated);
    }
    if (rv == 0 && csc->column_global != NULL)
        block_translate(csc, result, translated);
    return rv;
}

_Static_assert(SAMPLE_FEW_MAX == 8, "sample_few() lists the fanouts");

int sample_few(const struct sample_request *request, struct sample_result *result)
{
    assert(sample_is_few(request));
    /* Cases without their colons, which clang-format cannot tell. */
    /* clang-format off */
    switch (sample_fanout(request)) {
#define FEW(n)                                                                              \
    case n:                                                                                 \
        return sample_replaces(request) ? draw_few(request, result, n, true)                \
                                        : draw_few(request, result, n, false);
        FEW(1) FEW(2) FEW(3) FEW(4) FEW(5) FEW(6) FEW(7) FEW(8)
#undef FEW
    default:
        return TR_EINTERNAL;
    }
    /* clang-format on */
}
