/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/sample_masked.h"

#include <string.h>

#include "graph/excluded.h"
#include "graph/sample_block.h"
#include "graph/subset.h"

/* Up to so many edges a row is read whole: a page of the mask, which the hardware reads ahead. */
#define READ_WHOLE_MAX 2048u

/* One row and what it may draw of. */
struct masked_row {
    const uint8_t *mask; /* [degree] */
    struct excluded_edges excluded;
    uint32_t degree, k;
    bool replace;
    uint64_t key;
};

static int masked_aim(struct walk_space *space, const struct sample_request *request,
                      struct walk_block *block)
{
    (void)space;
    if (request->mask == NULL)
        return 0;
    const uint8_t *mask = request->mask->rows;
    for (uint32_t i = 0; i < block->plan.num_rows; i++) {
        uint64_t degree, begin = walk_row(request, block, i, &degree);
        if (degree <= READ_WHOLE_MAX)
            prefetch_bytes(&mask[begin], degree);
    }
    return 0;
}

static inline bool is_allowed(const struct masked_row *row, uint32_t position)
{
    return row->mask[position] != 0 &&
           (row->excluded.count == 0 || !is_excluded_position(&row->excluded, position));
}

/* Allowed positions but for those to skip, which are in order. */
static uint32_t list_allowed(const struct masked_row *row, const uint32_t *skip, uint32_t num_skip,
                             uint32_t *to)
{
    uint32_t count = 0, skipped = 0, passed = 0;
    for (uint32_t p = 0; p < row->degree; p++) {
        bool drawn = skipped < num_skip && skip[skipped] == p;
        bool out = passed < row->excluded.count && excluded_position(&row->excluded, passed) == p;
        skipped += drawn;
        passed += out;
        to[count] = p;
        count += row->mask[p] != 0 && !drawn && !out;
    }
    return count;
}

/* The place of a new position among those that are in order; -1: it is there. */
static int place_of(const uint32_t *positions, uint32_t count, uint32_t position)
{
    uint32_t at = count;
    while (at > 0 && positions[at - 1] >= position)
        at--;
    return at < count && positions[at] == position ? -1 : (int)at;
}

/* Draws among all positions of the row until k are accepted or the attempts are over. */
static uint32_t draw_refusing(const struct masked_row *row, uint32_t *positions)
{
    uint64_t draw = 0, attempts = walk_attempts(row->k);
    uint32_t count = 0;
    for (uint64_t a = 0; a < attempts && count < row->k; a++) {
        uint32_t position = (uint32_t)key_below(row->key, &draw, row->degree);
        int at = row->replace ? (int)count : place_of(positions, count, position);
        if (at < 0 || !is_allowed(row, position))
            continue;
        memmove(positions + at + 1, positions + at, (count - (uint32_t)at) * sizeof *positions);
        positions[at] = position;
        count++;
    }
    return count;
}

/* `count` positions of the row are drawn and allowed; draws the rest of k among those that are
 * left. Returns how many there are then, or TR_ENOMEM. */
static int64_t draw_rest(struct walk_space *space, const struct masked_row *row, uint64_t key,
                         uint32_t *positions, uint32_t count)
{
    uint32_t wanted = row->k - count;
    if (vec_reserve(&space->candidates, row->degree, sizeof(uint32_t), 0) != 0 ||
        vec_reserve(&space->scratch, subset_scratch_words(wanted), sizeof(uint32_t), 0) != 0)
        return TR_ENOMEM;
    uint32_t *allowed = space->candidates.data, *to = positions + count;
    uint32_t left = list_allowed(row, positions, row->replace ? 0 : count, allowed);
    uint64_t draw = 0;
    if (left == 0)
        return count;
    if (row->replace) {
        for (uint32_t i = 0; i < wanted; i++)
            to[i] = allowed[key_below(key, &draw, left)];
        return row->k;
    }
    if (left <= wanted) {
        memcpy(to, allowed, left * sizeof *to);
        wanted = left;
    } else {
        subset_draw(to, wanted, left, key, space->scratch.data);
        for (uint32_t i = 0; i < wanted; i++)
            to[i] = allowed[to[i]];
    }
    /* Both runs are in order: they are merged from behind, through a copy of the second. */
    memcpy(allowed, to, wanted * sizeof *to);
    for (uint32_t a = count, b = wanted, end = count + wanted; b > 0;) {
        bool first = a > 0 && positions[a - 1] > allowed[b - 1];
        positions[--end] = first ? positions[--a] : allowed[--b];
    }
    return count + wanted;
}

/* A row without a mask: the uniform draw of graph/sample.c among the edges that are left. A row of
 * which none is left out draws what it draws there. */
static int draw_left(struct walk_space *space, struct walk_block *block, uint32_t i,
                     const struct excluded_edges *excluded, uint32_t degree, uint32_t fanout,
                     bool replace)
{
    struct row_plan *plan = &block->plan.rows[i];
    uint32_t left = degree - excluded->count;
    bool all = fanout == SAMPLE_ALL || (left <= fanout && !replace);
    uint32_t k = left == 0 ? 0 : all ? left : fanout;
    if (all && excluded->count == 0) {
        *plan = (struct row_plan){ .begin = plan->begin, .count = degree, .at = WHOLE };
        return 0;
    }
    int rv = walk_reserve(block, k);
    if (rv == 0 && !all && !replace)
        rv = vec_reserve(&space->scratch, subset_scratch_words(k), sizeof(uint32_t), 0);
    if (rv != 0)
        return rv;
    uint32_t *positions = (uint32_t *)block->positions.data + plan->at;
    uint64_t draw = 0;
    if (!all && !replace)
        subset_draw(positions, k, left, block->keys[i], space->scratch.data);
    for (uint32_t e = 0; e < k; e++) {
        if (replace && !all)
            positions[e] = (uint32_t)key_below(block->keys[i], &draw, left);
        positions[e] = excluded_left(excluded, all ? e : positions[e]);
    }
    plan->count = k;
    block->num_positions += k;
    return 0;
}

static int masked_decide(struct walk_space *space, const struct sample_request *request,
                         struct walk_block *block, uint32_t i)
{
    uint64_t degree, begin = walk_row(request, block, i, &degree);
    uint32_t fanout = sample_fanout(request);
    bool replace = sample_replaces(request) && fanout != SAMPLE_ALL;
    struct row_plan *plan = &block->plan.rows[i];
    *plan = (struct row_plan){ .begin = begin, .at = block->num_positions };
    if (degree > SUBSET_DEGREE_MAX)
        return TR_ETOOBIG;
    if (degree == 0 || fanout == 0)
        return 0;
    struct excluded_edges excluded;
    int rv = excluded_of_row(request, begin, degree, &space->keyed, &excluded);
    if (rv != 0)
        return rv;
    if (request->mask == NULL)
        return draw_left(space, block, i, &excluded, (uint32_t)degree, fanout, replace);
    const struct masked_row row = { .mask = (const uint8_t *)request->mask->rows + begin,
                                    .excluded = excluded,
                                    .degree = (uint32_t)degree,
                                    .k = !replace && fanout > degree ? (uint32_t)degree : fanout,
                                    .replace = replace,
                                    .key = block->keys[i] };
    rv = walk_reserve(block, row.k);
    if (rv != 0)
        return rv;
    uint32_t *positions = (uint32_t *)block->positions.data + plan->at;
    /* Many draws, each compared with those before, would take longer than reading the row. */
    bool refuses = row.degree > READ_WHOLE_MAX && row.k <= SUBSET_SMALL_MAX;
    uint32_t count = refuses ? draw_refusing(&row, positions) : 0;
    if (count < row.k) {
        int64_t all = draw_rest(space, &row, refuses ? walk_rest_key(row.key) : row.key, positions,
                                count);
        if (all < 0)
            return (int)all;
        count = (uint32_t)all;
    }
    plan->count = count;
    block->num_positions += count;
    return 0;
}

int sample_masked(struct sample_space *space, const struct sample_request *request,
                  struct sample_result *result)
{
    static const struct walk_kernel kernel = { .aim = masked_aim, .decide = masked_decide };
    return sample_walk(space, request, result, &kernel);
}
