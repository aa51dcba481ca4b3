/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws of edges in proportion to their weights (SAMPLE_WEIGHTED). An edge of weight 0, or one that
 * the mask does not allow, is never drawn; terms without weights draw uniformly.
 *
 * With replacement: k independent draws by the row's coins (graph/weight_sums.h), in their order. Where
 * edges are excluded, by the weights of the others: coins are shares of the whole row, and too few to
 * tell light edges from each other where a heavy one is left out.
 *
 * Without: successive draws, each in proportion to the weights of the edges that are left. By coins,
 * refusing what is drawn already; where that would stall, since few or light edges are left, the
 * rest is drawn by exponential keys: the smallest of E / weight, E exponential, are the next
 * successive draws, in that order (Efraimidis and Spirakis: "Weighted random sampling with a
 * reservoir", IPL 2006). What was drawn before stays: whatever is drawn is distributed as the next
 * successive draw, however many attempts were refused before it, so where the attempts end changes
 * no probability. A row that began again would do so after unlikely draws rather than after likely
 * ones. Edges come in the order of the row; where no more have a positive weight than are drawn, all
 * of those come.
 *
 * The weight that a drawn edge gets in the block makes sums over the drawn edges estimates without
 * bias of sums over the row: for any values x, the expectation of the sum of weight * x over the
 * drawn edges is the sum of x over all edges of positive weight. With replacement it is total /
 * (k * weight). Without, it is that of the estimator for ordered successive draws (Des Raj: "Some
 * estimators in sampling with varying probabilities without replacement", JASA 1956): of the j-th of
 * k draws (rest_j / weight_j + k - j) / k, where rest_j adds up the weights that were left before it.
 * Where all come, it is 1. What was drawn by coins weighs as many coins as it has, which is its
 * probability exactly.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "graph/excluded.h"
#include "graph/logarithm.h"
#include "graph/on_demand.h"
#include "graph/quads.h"
#include "graph/sample_block.h"
#include "graph/samplers.h"
#include "graph/subset.h"
#include "graph/weight_sums.h"

/* Attempts at k draws without replacement, as many as exponential keys of a short row take. */
#define ATTEMPTS(k) (3 * (k) + 32)

/* How the edges of a row were drawn: what their weights in the block follow from. Replaced draws
 * were by coins or, of what is left of a row, by weights. Of successive draws the first
 * block->draws were drawn by coins, the others by keys. */
enum { ALL_TAKEN, REPLACED, REPLACED_LEFT, SUCCESSIVE };

/* What a row draws by. */
struct weighted_row {
    const struct sample_request *request;
    struct weight_row coins;
    uint64_t begin, key;
    uint32_t degree, positives, k;
    struct excluded_edges excluded;
};

/* The mask allows what was drawn, and weights are mostly of float32. */
static inline double weight_of(const struct sample_request *request, uint64_t edge)
{
    if (request->weights->dtype == TR_F32)
        return (double)((const float *)request->weights->rows)[edge];
    return weight_at(request->weights, NULL, edge);
}

static struct weighted_row row_at(const struct sample_request *request,
                                  const struct walk_block *block, uint32_t i)
{
    uint64_t degree, begin = walk_row(request, block, i, &degree);
    uint32_t row = request->rows[block->plan.first_row + i];
    return (struct weighted_row){ .request = request,
                                  .coins = weight_row_at(request->sums, begin, degree),
                                  .begin = begin,
                                  .key = block->keys[i],
                                  .degree = (uint32_t)degree,
                                  .positives = request->sums->positives[row],
                                  .k = sample_fanout(request),
                                  .excluded = excluded_of(request, begin, degree) };
}

/* Whether an edge may be drawn, of all of the row that are asked for in their order. */
static inline bool may_draw(const struct weighted_row *row, uint32_t position, uint32_t *passed)
{
    bool out = *passed < row->excluded.count &&
               excluded_position(&row->excluded, *passed) == position;
    *passed += out;
    return weight_coins(&row->coins, position) != 0 && !out;
}

/* Whether all edges of positive weight come. */
static bool takes_all(const struct weighted_row *row)
{
    return row->k == SAMPLE_ALL || (!sample_replaces(row->request) && row->positives <= row->k);
}

/* Whether attempts by coins come first. Many draws, each compared with those before, would take
 * longer than a key of each edge. So would draws of most of a row, which are refused in the end. */
static bool is_attempted(const struct weighted_row *row)
{
    return row->k <= SUBSET_SMALL_MAX && row->positives > row->k + row->k / 4;
}

/* So many attempts at few draws are compared at once, in quads. */
#define FEW_ATTEMPTS_MAX 32u
#define FEW_QUADS_MAX (FEW_ATTEMPTS_MAX / 4)

/* The attempts of a row that are made at once: of few draws without replacement some more than are
 * wanted, since some will be refused, and whole quads of them. */
static inline uint32_t num_at_once(const struct sample_request *request)
{
    uint32_t k = sample_fanout(request), some = (k + k / 3 + 4) / 4 * 4;
    if (sample_replaces(request) || k > FEW_ATTEMPTS_MAX)
        return k;
    return some < FEW_ATTEMPTS_MAX ? some : FEW_ATTEMPTS_MAX;
}

/* The lines that the search for a row's edges begins at. Inlined, since gcc drops calls of functions
 * that only prefetch. */
PREFETCHER prefetch_ends(const struct sample_request *request, const struct walk_block *block,
                         uint32_t i)
{
    uint64_t degree, begin = walk_row(request, block, i, &degree);
    const struct weight_row coins = weight_row_at(request->sums, begin, degree);
    uint32_t attempts = num_at_once(request);
    if (coins.num_guides == 0) {
        for (uint64_t e = 0; e < degree; e += LINE_WORDS)
            __builtin_prefetch(&coins.ends[e]);
        if (degree > 0)
            __builtin_prefetch(&coins.ends[degree - 1]);
        return;
    }
    for (uint32_t a = 0; a < attempts && attempts <= FEW_ATTEMPTS_MAX; a++)
        __builtin_prefetch(&coins.guides[weight_guide(&coins, weight_coin(block->keys[i], a))]);
}

static int weighted_aim(struct walk_space *space, const struct sample_request *request,
                        struct walk_block *block)
{
    (void)space;
    for (uint32_t i = 0; i < block->plan.num_rows; i++) {
        __builtin_prefetch(&request->sums->positives[request->rows[block->plan.first_row + i]]);
        prefetch_ends(request, block, i);
    }
    return 0;
}

static void take_all(const struct walk_block *block, const struct weighted_row *row,
                     const struct row_plan *plan)
{
    uint32_t *positions = (uint32_t *)block->positions.data + plan->at, count = 0, passed = 0;
    for (uint32_t p = 0; count < plan->count; p++)
        if (may_draw(row, p, &passed))
            positions[count++] = p;
}

static bool is_among(const uint32_t *positions, uint32_t count, uint32_t position)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found |= positions[i] == position;
    return found != 0;
}

/* The attempts that drew what an earlier one drew, a bit each. */
ALWAYS_INLINE uint32_t find_refused(const uint32_t *drawn, const uint32_t quads)
{
    quad lanes[FEW_QUADS_MAX];
    memcpy(lanes, drawn, quads * sizeof *lanes);
    return quad_repeats(lanes, quads, 4 * quads);
}

/* The same, by code of its own for each number of quads. */
static uint32_t find_refused_few(const uint32_t *drawn, uint32_t quads)
{
    switch (quads) {
    case 1:
        return find_refused(drawn, 1);
    case 2:
        return find_refused(drawn, 2);
    case 3:
        return find_refused(drawn, 3);
    case 4:
        return find_refused(drawn, 4);
    case 5:
        return find_refused(drawn, 5);
    case 6:
        return find_refused(drawn, 6);
    case 7:
        return find_refused(drawn, 7);
    default:
        return find_refused(drawn, FEW_QUADS_MAX);
    }
}

/* Takes the first k attempts that differ. Returns how many there are. */
static uint32_t draw_few(const struct weighted_row *row, uint32_t attempts, uint32_t *positions)
{
    uint32_t drawn[FEW_ATTEMPTS_MAX], count = 0;
    weight_edges(&row->coins, row->key, attempts, drawn);
    uint32_t open = ~find_refused_few(drawn, attempts / 4) & UINT32_MAX >> (32 - attempts);
    for (; count < row->k && open != 0; open &= open - 1)
        positions[count++] = drawn[__builtin_ctz(open)];
    return count;
}

/* Returns how many are drawn before the attempts are over. */
static uint32_t draw_refusing(const struct weighted_row *row, uint32_t *positions)
{
    uint32_t count = 0, a = 0;
    if (row->k <= FEW_ATTEMPTS_MAX) {
        a = num_at_once(row->request);
        count = draw_few(row, a, positions);
    }
    for (; a < ATTEMPTS(row->k) && count < row->k; a++) {
        uint32_t drawn = weight_edge(&row->coins, weight_coin(row->key, a));
        positions[count] = drawn;
        count += !is_among(positions, count, drawn);
    }
    return count;
}

/* An edge that was not drawn yet, and its key. */
struct keyed {
    double key, weight;
    uint32_t position;
};

static bool comes_before(const struct keyed *a, const struct keyed *b)
{
    bool a_light = a->key < 0, b_light = b->key < 0;
    if (a_light != b_light)
        return b_light;
    return a->key < b->key || (a->key == b->key && a->position < b->position);
}

/* Moves the root of a heap, the last comes first, to where it belongs. */
static void sink_keyed(struct keyed *heap, uint32_t count)
{
    struct keyed moving = heap[0];
    uint32_t at = 0;
    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && comes_before(&heap[child], &heap[child + 1]);
        if (!comes_before(&moving, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static void rise_keyed(struct keyed *heap, uint32_t at)
{
    struct keyed moving = heap[at];
    for (; at > 0 && comes_before(&heap[(at - 1) / 2], &moving); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = moving;
}

/* An exponential variable: -log(u), u in (0, 1]. */
static double exponential_key(uint64_t key, uint32_t position)
{
    uint64_t drawn = key_draw(key, position) >> 11;
    return -logarithm((double)(drawn + 1) * 0x1p-53);
}

/* What edges are drawn by, the smallest first: drawn / weight. Of an edge so light that this is more
 * than a double holds, it is -weight / drawn, times what keeps it from vanishing: such keys are in
 * the same order among each other, and come after all others. */
static double key_by_weight(double drawn, double weight)
{
    double key = drawn / weight;
    return key <= DBL_MAX ? key : -(weight * 0x1p1000 / drawn);
}

/* Copies positions in their order. */
static void sort_positions(uint32_t *to, const uint32_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && to[at - 1] > positions[i]; at--)
            to[at] = to[at - 1];
        to[at] = positions[i];
    }
}

/* Draws the rest of k behind the `count` that are drawn, in the order of successive draws; *rest is
 * the weight of the edges that are not drawn in the end. */
static int draw_rest(struct walk_space *space, const struct weighted_row *row, uint32_t *positions,
                     uint32_t count, double *rest)
{
    uint32_t wanted = row->k - count, have = 0, skipped = 0, passed = 0;
    uint64_t key = walk_rest_key(row->key);
    if (vec_reserve(&space->keyed, wanted, sizeof(struct keyed), 0) != 0 ||
        vec_reserve(&space->candidates, count, sizeof(uint32_t), 0) != 0)
        return TR_ENOMEM;
    struct keyed *heap = space->keyed.data;
    uint32_t *drawn = space->candidates.data;
    sort_positions(drawn, positions, count);
    *rest = 0;
    for (uint32_t p = 0; p < row->degree; p++) {
        bool skip = skipped < count && drawn[skipped] == p;
        skipped += skip;
        if (!may_draw(row, p, &passed) || skip)
            continue;
        double weight = weight_of(row->request, row->begin + p);
        const struct keyed edge = { key_by_weight(exponential_key(key, p), weight), weight, p };
        if (have < wanted) {
            heap[have] = edge;
            rise_keyed(heap, have++);
        } else if (comes_before(&edge, &heap[0])) {
            *rest += heap[0].weight;
            heap[0] = edge;
            sink_keyed(heap, have);
        } else {
            *rest += weight;
        }
    }
    /* The last of the heap is taken off first. */
    while (have > 0) {
        positions[count + --have] = heap[0].position;
        heap[0] = heap[have];
        sink_keyed(heap, have);
    }
    return 0;
}

/* k independent draws among the edges that are left, by the sums of their weights. Those of the whole
 * row might nearly all be refused. */
static int draw_replaced_left(struct walk_space *space, const struct weighted_row *row,
                              uint32_t *positions, double *total)
{
    if (vec_reserve(&space->keyed, row->degree, sizeof(struct keyed), 0) != 0)
        return TR_ENOMEM;
    struct keyed *sums = space->keyed.data;
    double sum = 0;
    uint32_t count = 0, passed = 0;
    for (uint32_t p = 0; p < row->degree; p++) {
        if (!may_draw(row, p, &passed))
            continue;
        sum += weight_of(row->request, row->begin + p);
        sums[count++] = (struct keyed){ .key = sum, .position = p };
    }
    for (uint32_t j = 0; j < row->k; j++) {
        double drawn = (double)(key_draw(row->key, j) >> 11) * 0x1p-53 * sum;
        uint32_t low = 0, high = count - 1;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (sums[middle].key <= drawn)
                low = middle + 1;
            else
                high = middle;
        }
        positions[j] = sums[low].position;
    }
    *total = sum;
    return 0;
}

/* Counts the edges of positive weight that are left. */
static uint32_t count_left(const struct weighted_row *row)
{
    uint32_t left = row->positives;
    for (uint32_t i = 0; i < row->excluded.count; i++)
        left -= weight_coins(&row->coins, excluded_position(&row->excluded, i)) != 0;
    return left;
}

/* Draws of a row that has more edges than are drawn; excluded ones are passed over by keys alone. */
static int draw_row(struct walk_space *space, struct walk_block *block,
                    const struct weighted_row *row, uint32_t i)
{
    uint32_t *positions = (uint32_t *)block->positions.data + block->num_positions, count = 0;
    bool left_out = row->excluded.count > 0, replaces = sample_replaces(row->request);
    block->ways[i] = !replaces ? SUCCESSIVE : left_out ? REPLACED_LEFT : REPLACED;
    block->rest[i] = (double)WEIGHT_COINS;
    if (replaces && left_out)
        return draw_replaced_left(space, row, positions, &block->rest[i]);
    if (replaces)
        weight_edges(&row->coins, row->key, row->k, positions);
    else if (!left_out && is_attempted(row))
        count = draw_refusing(row, positions);
    block->draws[i] = count;
    return replaces || count == row->k ? 0
                                       : draw_rest(space, row, positions, count, &block->rest[i]);
}

/* The lines in which the searches of long rows end, as their guides say, which are here by now. */
PREFETCHER prefetch_searches(const struct sample_request *request, const struct walk_block *block)
{
    uint32_t attempts = num_at_once(request);
    for (uint32_t i = 0; i < block->plan.num_rows && attempts <= FEW_ATTEMPTS_MAX; i++) {
        uint64_t degree, begin = walk_row(request, block, i, &degree);
        const struct weight_row coins = weight_row_at(request->sums, begin, degree);
        for (uint32_t a = 0; coins.num_guides > 0 && a < attempts; a++) {
            uint32_t guide = weight_guide(&coins, weight_coin(block->keys[i], a));
            __builtin_prefetch(&coins.ends[coins.guides[guide]]);
            __builtin_prefetch(&coins.ends[coins.guides[guide] + WEIGHT_GUIDED]);
        }
    }
}

static int weighted_decide(struct walk_space *space, const struct sample_request *request,
                           struct walk_block *block, uint32_t i)
{
    struct weighted_row row = row_at(request, block, i);
    struct row_plan *plan = &block->plan.rows[i];
    if (i == 0)
        prefetch_searches(request, block);
    row.positives = count_left(&row);
    bool all = takes_all(&row);
    uint32_t most = row.positives == 0 ? 0 : all ? row.positives : row.k;
    *plan = (struct row_plan){ .begin = row.begin, .count = most, .at = block->num_positions };
    block->ways[i] = ALL_TAKEN;
    /* Draws are made so many at a time. */
    int rv = most == 0 ? 0 : walk_reserve(block, most + (uint64_t)WEIGHT_COINS_AT_ONCE - 1);
    if (rv == 0 && most > 0 && all)
        take_all(block, &row, plan);
    else if (rv == 0 && most > 0)
        rv = draw_row(space, block, &row, i);
    block->num_positions += rv == 0 ? most : 0;
    return rv;
}

static float as_float(double weight)
{
    return weight > (double)FLT_MAX ? FLT_MAX : (float)weight;
}

/* The weights of the first draws of k, which were by coins: up to SUBSET_SMALL_MAX, and as many floats
 * as whole quads have. Coins that are left fit 31 bits behind the first draw. */
static void weigh_by_coins(const struct weight_row *coins, const uint32_t *positions,
                           uint32_t count, uint32_t k, float *weights)
{
    int32_t own[SUBSET_SMALL_MAX], left[SUBSET_SMALL_MAX];
    uint32_t rest = (uint32_t)WEIGHT_COINS;
    for (uint32_t j = 0; j < count; j++) {
        own[j] = (int32_t)weight_coins(coins, positions[j]);
        rest -= (uint32_t)own[j];
        left[j] = (int32_t)rest;
    }
    for (uint32_t j = 0; j < count; j += 4) {
        quad owns, lefts, behind = (int32_t)(k - j) - (quad){ 0, 1, 2, 3 };
        memcpy(&owns, own + j, sizeof owns);
        memcpy(&lefts, left + j, sizeof lefts);
        quad_floats weight = __builtin_convertvector(owns, quad_floats);
        quad_floats sum = __builtin_convertvector(lefts, quad_floats) +
                          __builtin_convertvector(behind, quad_floats) * weight;
        quad_floats given = sum / ((float)k * weight);
        memcpy(weights + j, &given, sizeof given);
    }
}

/* The weights in the block of a row's edges, which are in the order in which they were drawn. */
static void weigh_row(const struct sample_request *request, const struct walk_block *block,
                      uint32_t i, const uint32_t *positions, float *weights)
{
    const struct row_plan *plan = &block->plan.rows[i];
    const struct weight_row coins = weight_row_at(request->sums, plan->begin, 0);
    uint32_t k = plan->count, by_coins = (uint32_t)block->draws[i];
    /* What is left of weights is added up from the end: subtracting a heavy edge would lose the light
     * ones. Quotients come before products, which may be more than a double holds. */
    double left = block->rest[i];
    if (block->ways[i] == ALL_TAKEN)
        for (uint32_t j = 0; j < k; j++)
            weights[j] = 1;
    if (block->ways[i] == REPLACED)
        for (uint32_t j = 0; j < k; j++)
            weights[j] = (float)(left / ((double)k * weight_coins(&coins, positions[j])));
    if (block->ways[i] == REPLACED_LEFT)
        for (uint32_t j = 0; j < k; j++)
            weights[j] = as_float(left / weight_of(request, plan->begin + positions[j]) / k);
    if (block->ways[i] != SUCCESSIVE)
        return;
    weigh_by_coins(&coins, positions, by_coins, k, weights);
    for (uint32_t j = k; j-- > by_coins;) {
        double weight = weight_of(request, plan->begin + positions[j]);
        left += weight;
        weights[j] = as_float((left / weight + (k - 1 - j)) / k);
    }
}

/* A drawn edge in one word, by whose order edges are sorted. */
static uint64_t packed_edge(uint32_t position, float weight)
{
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return (uint64_t)position << 32 | bits;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int order_many(struct walk_space *space, uint32_t *positions, float *weights, uint32_t count)
{
    if (vec_reserve(&space->keyed, count, sizeof(uint64_t), 0) != 0)
        return TR_ENOMEM;
    uint64_t *words = space->keyed.data;
    for (uint32_t i = 0; i < count; i++)
        words[i] = packed_edge(positions[i], weights[i]);
    qsort(words, count, sizeof *words, compare_words);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)words[i];
        positions[i] = (uint32_t)(words[i] >> 32);
        memcpy(&weights[i], &bits, sizeof bits);
    }
    return 0;
}

/* Up to SUBSET_SMALL_MAX edges that differ: each goes to its rank, which is how many positions are
 * smaller. Behind the edges there is room for whole quads. */
ALWAYS_INLINE void order_quads(uint32_t *positions, float *weights, uint32_t count,
                               const uint32_t quads)
{
    quad lanes[SUBSET_SMALL_MAX / 4], smaller[SUBSET_SMALL_MAX / 4], given[SUBSET_SMALL_MAX / 4];
    uint32_t drawn[SUBSET_SMALL_MAX], ranks[SUBSET_SMALL_MAX];
    float weighed[SUBSET_SMALL_MAX];
    UNROLL
    for (uint32_t q = 0; q < quads; q++) {
        memcpy(&lanes[q], positions + 4 * (size_t)q, sizeof *lanes);
        memcpy(drawn + 4 * (size_t)q, &lanes[q], sizeof *lanes);
        memcpy(&given[q], weights + 4 * (size_t)q, sizeof *given);
        memcpy(weighed + 4 * (size_t)q, &given[q], sizeof *given);
        lanes[q] ^= (int32_t)QUAD_FLIP - (quad){ 0 };
        smaller[q] = (quad){ 0 };
    }
    for (uint32_t i = 0; i < count; i++) {
        quad value = (int32_t)(drawn[i] ^ QUAD_FLIP) - (quad){ 0 };
        UNROLL
        for (uint32_t q = 0; q < quads; q++)
            smaller[q] -= lanes[q] > value;
    }
    UNROLL
    for (uint32_t q = 0; q < quads; q++)
        memcpy(ranks + 4 * (size_t)q, &smaller[q], sizeof *smaller);
    for (uint32_t i = 0; i < count; i++) {
        positions[ranks[i]] = drawn[i];
        weights[ranks[i]] = weighed[i];
    }
}

/* Puts the edges of a row in its order, with their weights. */
static int order_row(struct walk_space *space, uint32_t *positions, float *weights, uint32_t count)
{
    if (count > SUBSET_SMALL_MAX)
        return order_many(space, positions, weights, count);
    if (count <= 8)
        order_quads(positions, weights, count, 2);
    else if (count <= 12)
        order_quads(positions, weights, count, 3);
    else if (count <= 16)
        order_quads(positions, weights, count, 4);
    else
        order_quads(positions, weights, count, SUBSET_SMALL_MAX / 4);
    return 0;
}

static int weighted_finish(struct walk_space *space, const struct sample_request *request,
                           struct walk_block *block)
{
    int rv = 0;
    for (uint32_t i = 0; i < block->plan.num_rows && rv == 0; i++) {
        const struct row_plan *plan = &block->plan.rows[i];
        uint32_t *positions = (uint32_t *)block->positions.data + plan->at;
        float *weights = (float *)block->weights.data + plan->at;
        if (plan->count == 0)
            continue;
        weigh_row(request, block, i, positions, weights);
        if (block->ways[i] == SUCCESSIVE)
            rv = order_row(space, positions, weights, plan->count);
    }
    return rv;
}

static int sample_weighted(struct sample_space *space, const struct sample_request *request,
                           struct sample_result *result)
{
    static const struct walk_kernel kernel = { weighted_aim, weighted_decide, weighted_finish,
                                               true };
    if (request->weights == NULL || sample_fanout(request) == 0)
        return sample_uniform(space, request, result);
    return sample_walk(space, request, result, &kernel);
}

static struct on_demand_key key_of(uint32_t etype, const struct sample_term *term)
{
    return (struct on_demand_key){ ON_DEMAND_WEIGHTS, etype, term->weights, term->mask };
}

static int weighted_make(const struct graph_part *part, uint32_t etype,
                         const struct sample_term *term, struct error *error)
{
    const struct on_demand_key key = key_of(etype, term);
    if (term->weights == SAMPLE_NO_TABLE || term->fanout == 0)
        return 0;
    return on_demand_make(part->on_demand, &key, error);
}

static int weighted_find(const struct graph_part *part, uint32_t etype,
                         struct sample_request *request)
{
    const struct on_demand_key key = key_of(etype, &request->term);
    if (request->weights == NULL || request->term.fanout == 0)
        return 0;
    request->sums = on_demand_weights(part->on_demand, &key);
    return request->sums != NULL ? 0 : TR_EUNSUPPORTED;
}

const struct sample_method sample_weighted_method = {
    .name = "weighted",
    .row_fields = SAMPLE_ROW_SALT,
    .weights = true,
    .mask = true,
    .out_edges = true,
    .totals = true,
    .edge_weights = true,
    .row_edges = sample_uniform_row_edges,
    .make = weighted_make,
    .find = weighted_find,
    .draw = sample_weighted,
};
