/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws of edges in proportion to their weights (SAMPLE_WEIGHTED). An edge of weight 0, or one that
 * the mask does not allow, is never drawn; terms without weights draw uniformly.
 *
 * With replacement: k independent draws by the row's alias table (graph/alias.h), in their order.
 *
 * Without: successive draws, each in proportion to the weights of the edges that are left. By the
 * alias table, refusing what is drawn already; where that would stall, since few or light edges are
 * left, the rest is drawn by exponential keys: the smallest of E / weight, E exponential, are the
 * next successive draws, in that order (Efraimidis and Spirakis: "Weighted random sampling with a
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
 * Where all come, it is 1.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "graph/alias.h"
#include "graph/excluded.h"
#include "graph/logarithm.h"
#include "graph/on_demand.h"
#include "graph/sample_block.h"
#include "graph/samplers.h"
#include "graph/subset.h"

/* Attempts at k draws without replacement, as many as exponential keys of a short row take. */
#define ATTEMPTS(k) (3 * (k) + 32)

/* How the edges of a row were drawn: what their weights in the block follow from. */
enum { ALL_TAKEN, REPLACED, REPLACED_OF_LEFT, BY_ATTEMPTS, BY_KEYS };

/* What a row draws by. */
struct weighted_row {
    const struct sample_request *request;
    const struct alias_cell *cells; /* [degree] */
    struct alias_row sums;
    uint64_t begin, key;
    uint32_t degree, k;
    struct excluded_edges excluded;
};

/* The mask allows what was drawn, and weights are mostly of float32. */
static inline double weight_of(const struct sample_request *request, uint64_t edge)
{
    if (request->weights->dtype == TR_F32)
        return (double)((const float *)request->weights->rows)[edge];
    return alias_weight(request->weights, NULL, edge);
}

static struct weighted_row row_at(const struct sample_request *request,
                                  const struct walk_block *block, uint32_t i)
{
    uint64_t degree, begin = walk_row(request, block, i, &degree);
    uint32_t row = request->rows[block->plan.first_row + i], fanout = sample_fanout(request);
    return (struct weighted_row){ .request = request,
                                  .cells = request->alias->cells + begin,
                                  .sums = request->alias->rows[row],
                                  .begin = begin,
                                  .key = block->keys[i],
                                  .degree = (uint32_t)degree,
                                  .k = fanout,
                                  .excluded = excluded_of(request, begin, degree) };
}

/* Whether an edge may be drawn, of all of the row that are asked for in their order. */
static inline bool may_draw(const struct weighted_row *row, uint32_t position, uint32_t *passed)
{
    bool out = *passed < row->excluded.count &&
               excluded_position(&row->excluded, *passed) == position;
    *passed += out;
    return row->cells[position].threshold != 0 && !out;
}

/* Whether all edges of positive weight come. */
static bool takes_all(const struct weighted_row *row)
{
    bool replaces = sample_replaces(row->request);
    return row->k == SAMPLE_ALL || (!replaces && row->sums.positives <= row->k);
}

/* Rows whose first attempts are aimed. */
static bool is_aimed(const struct weighted_row *row)
{
    if (row->k == 0 || row->sums.positives == 0 || takes_all(row))
        return false;
    if (sample_replaces(row->request))
        return true;
    /* Many draws, each compared with those before, would take longer than a key of each edge. So
     * would draws of half a row and more, most of which are refused in the end. */
    return row->k <= SUBSET_SMALL_MAX && row->sums.positives > 2 * row->k;
}

/* The attempts of a row that were aimed. */
static uint64_t *aimed_of(const struct walk_block *block, const struct weighted_row *row,
                          uint32_t i)
{
    return (uint64_t *)block->aimed.data + (size_t)i * row->k;
}

/* Inlined, since gcc drops calls of functions that only prefetch. */
PREFETCHER prefetch_weight(const struct sample_request *request, uint64_t edge)
{
    const unsigned char *rows = request->weights->rows;
    __builtin_prefetch(&rows[edge * request->weights->row_bytes]);
}

/* The sums of the next block's rows. */
PREFETCHER prefetch_sums(const struct sample_request *request, uint32_t first)
{
    for (uint32_t i = first; i < request->num_rows && i < first + BLOCK_ROWS; i++)
        __builtin_prefetch(&request->alias->rows[request->rows[i]]);
}

static int weighted_aim(struct walk_space *space, const struct sample_request *request,
                        struct walk_block *block)
{
    uint64_t room = (uint64_t)block->plan.num_rows * sample_fanout(request);
    (void)space;
    prefetch_sums(request, block->plan.first_row + block->plan.num_rows);
    if (sample_fanout(request) == SAMPLE_ALL)
        return 0;
    if (vec_reserve(&block->aimed, room, sizeof(uint64_t), 0) != 0)
        return TR_ENOMEM;
    for (uint32_t i = 0; i < block->plan.num_rows; i++) {
        const struct weighted_row row = row_at(request, block, i);
        uint64_t *aimed = aimed_of(block, &row, i);
        block->draws[i] = 0;
        if (!is_aimed(&row))
            continue;
        for (uint32_t j = 0; j < row.k; j++) {
            aimed[j] = alias_aim(row.key, &block->draws[i], row.degree);
            __builtin_prefetch(&row.cells[aimed[j] >> 32]);
        }
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

/* Four signed lanes, as in graph/subset.c: positions are compared with their top bit flipped. */
typedef int32_t lanes __attribute__((vector_size(16)));

#define FLIP UINT32_C(0x80000000)
#define LANES_MAX (SUBSET_SMALL_MAX / 4)

/* The rank of each of up to SUBSET_SMALL_MAX positions: how many are smaller. Whether all differ. */
static bool rank_positions(const uint32_t *positions, uint32_t count, uint32_t *ranks)
{
    lanes values[LANES_MAX];
    int32_t flipped[SUBSET_SMALL_MAX];
    uint32_t groups = (count + 3) / 4, sum = 0;
    for (uint32_t i = 0; i < 4 * groups; i++)
        flipped[i] = i < count ? (int32_t)(positions[i] ^ FLIP) : INT32_MAX;
    memcpy(values, flipped, groups * sizeof *values);
    for (uint32_t g = 0; g < groups; g++) {
        lanes smaller = { 0 };
        for (uint32_t i = 0; i < count; i++)
            smaller -= values[g] > flipped[i] - (lanes){ 0 };
        memcpy(ranks + (size_t)4 * g, &smaller, sizeof smaller);
    }
    /* One of each two different ones is smaller. */
    for (uint32_t i = 0; i < count; i++)
        sum += ranks[i];
    return sum == count * (count - 1) / 2;
}

static bool is_among(const uint32_t *positions, uint32_t count, uint32_t position)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found |= positions[i] == position;
    return found != 0;
}

/* Attempts by the alias table, the first k of which were aimed. Returns how many are drawn. */
static uint32_t draw_refusing(const struct weighted_row *row, const uint64_t *aimed, uint64_t draw,
                              uint32_t *positions)
{
    uint32_t count = 0, ranks[SUBSET_SMALL_MAX];
    for (uint32_t a = 0; a < row->k; a++)
        positions[a] = alias_take(row->cells, aimed[a]);
    /* Mostly none is refused. */
    if (rank_positions(positions, row->k, ranks))
        return row->k;
    for (uint32_t a = 0; a < ATTEMPTS(row->k) && count < row->k; a++) {
        uint32_t drawn = a < row->k
                             ? positions[a]
                             : alias_take(row->cells, alias_aim(row->key, &draw, row->degree));
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
        const struct keyed edge = { exponential_key(key, p) / weight, weight, p };
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

/* k independent draws among the edges that are left, by the sums of their weights. Alias tables are
 * of whole rows: what they would have refused may be nearly all of their weight. */
static int draw_replaced_left(struct walk_space *space, const struct weighted_row *row,
                              uint32_t *positions, double *total)
{
    if (vec_reserve(&space->keyed, row->degree, sizeof(struct keyed), 0) != 0)
        return TR_ENOMEM;
    struct keyed *sums = space->keyed.data;
    uint32_t count = 0, passed = 0;
    *total = 0;
    for (uint32_t p = 0; p < row->degree; p++) {
        if (!may_draw(row, p, &passed))
            continue;
        *total += weight_of(row->request, row->begin + p);
        sums[count++] = (struct keyed){ .key = *total, .position = p };
    }
    for (uint32_t j = 0; j < row->k; j++) {
        double at = (double)(key_draw(row->key, j) >> 11) * 0x1p-53 * *total;
        uint32_t low = 0, high = count - 1; /* the last one, where rounding gave the total */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (sums[middle].key <= at)
                low = middle + 1;
            else
                high = middle;
        }
        positions[j] = sums[low].position;
    }
    return 0;
}

/* Counts the edges of positive weight that are left. */
static uint32_t count_left(const struct weighted_row *row)
{
    uint32_t left = row->sums.positives;
    for (uint32_t i = 0; i < row->excluded.count; i++)
        left -= row->cells[excluded_position(&row->excluded, i)].threshold != 0;
    return left;
}

/* A row of which edges are left out, and more are left than are drawn. */
static int draw_left(struct walk_space *space, struct walk_block *block,
                     const struct weighted_row *row, uint32_t i)
{
    uint32_t *positions = (uint32_t *)block->positions.data + block->num_positions;
    bool replaces = sample_replaces(row->request);
    block->ways[i] = replaces ? REPLACED_OF_LEFT : BY_KEYS;
    return replaces ? draw_replaced_left(space, row, positions, &block->rest[i])
                    : draw_rest(space, row, positions, 0, &block->rest[i]);
}

static int draw_row(struct walk_space *space, struct walk_block *block,
                    const struct weighted_row *row, uint32_t i)
{
    uint32_t *positions = (uint32_t *)block->positions.data + block->num_positions;
    const uint64_t *aimed = aimed_of(block, row, i);
    if (sample_replaces(row->request)) {
        block->ways[i] = REPLACED;
        for (uint32_t j = 0; j < row->k; j++)
            positions[j] = alias_take(row->cells, aimed[j]);
        return 0;
    }
    uint32_t count = is_aimed(row) ? draw_refusing(row, aimed, block->draws[i], positions) : 0;
    block->ways[i] = count < row->k ? BY_KEYS : BY_ATTEMPTS;
    return count < row->k ? draw_rest(space, row, positions, count, &block->rest[i]) : 0;
}

static int weighted_decide(struct walk_space *space, const struct sample_request *request,
                           struct walk_block *block, uint32_t i)
{
    struct weighted_row row = row_at(request, block, i);
    struct row_plan *plan = &block->plan.rows[i];
    row.sums.positives = count_left(&row);
    bool all = takes_all(&row);
    uint32_t most = row.sums.positives == 0 ? 0 : all ? row.sums.positives : row.k;
    *plan = (struct row_plan){ .begin = row.begin, .count = most, .at = block->num_positions };
    block->ways[i] = ALL_TAKEN;
    int rv = most == 0 ? 0 : walk_reserve(block, most);
    if (rv == 0 && most > 0 && all)
        take_all(block, &row, plan);
    else if (rv == 0 && most > 0)
        rv = row.excluded.count > 0 ? draw_left(space, block, &row, i)
                                    : draw_row(space, block, &row, i);
    if (rv != 0)
        return rv;
    const uint32_t *positions = (const uint32_t *)block->positions.data + plan->at;
    for (uint32_t e = 0; block->weigh && block->ways[i] != ALL_TAKEN && e < most; e++)
        prefetch_weight(request, row.begin + positions[e]);
    block->num_positions += most;
    return 0;
}

static float as_float(double weight)
{
    return weight > (double)FLT_MAX ? FLT_MAX : (float)weight;
}

/* The weights in the block of a row's edges, which are in the order in which they were drawn. */
static void weigh_row(const struct sample_request *request, const struct walk_block *block,
                      uint32_t i, const uint32_t *positions, float *weights)
{
    const struct row_plan *plan = &block->plan.rows[i];
    uint32_t k = plan->count;
    double total = request->alias->rows[request->rows[block->plan.first_row + i]].total, before = 0;
    if (block->ways[i] == ALL_TAKEN)
        for (uint32_t j = 0; j < k; j++)
            weights[j] = 1;
    if (block->ways[i] == REPLACED_OF_LEFT)
        total = block->rest[i];
    if (block->ways[i] == REPLACED || block->ways[i] == REPLACED_OF_LEFT)
        for (uint32_t j = 0; j < k; j++)
            weights[j] = as_float(total / (k * weight_of(request, plan->begin + positions[j])));
    if (block->ways[i] == BY_ATTEMPTS)
        for (uint32_t j = 0; j < k; j++) {
            double weight = weight_of(request, plan->begin + positions[j]);
            weights[j] = as_float(((total - before) / weight + (k - 1 - j)) / k);
            before += weight;
        }
    /* What is left is added up from the end: subtracting a heavy edge would lose the light ones. */
    double left = block->rest[i];
    for (uint32_t j = k; block->ways[i] == BY_KEYS && j-- > 0;) {
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

/* Puts the edges of a row in its order, with their weights, or, without those, NULL. */
static int order_row(struct walk_space *space, uint32_t *positions, float *weights, uint32_t count)
{
    if (vec_reserve(&space->keyed, count, sizeof(uint64_t), 0) != 0)
        return TR_ENOMEM;
    uint64_t *words = space->keyed.data;
    uint32_t ranks[SUBSET_SMALL_MAX];
    if (count <= SUBSET_SMALL_MAX)
        rank_positions(positions, count, ranks);
    for (uint32_t i = 0; i < count; i++)
        words[count <= SUBSET_SMALL_MAX ? ranks[i] : i] = packed_edge(
            positions[i], weights != NULL ? weights[i] : 0);
    if (count > SUBSET_SMALL_MAX)
        qsort(words, count, sizeof *words, compare_words);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)words[i];
        positions[i] = (uint32_t)(words[i] >> 32);
        if (weights != NULL)
            memcpy(&weights[i], &bits, sizeof bits);
    }
    return 0;
}

static int weighted_finish(struct walk_space *space, const struct sample_request *request,
                           struct walk_block *block)
{
    int rv = 0;
    for (uint32_t i = 0; i < block->plan.num_rows && rv == 0; i++) {
        const struct row_plan *plan = &block->plan.rows[i];
        uint32_t *positions = (uint32_t *)block->positions.data + plan->at;
        float *weights = block->weigh ? (float *)block->weights.data + plan->at : NULL;
        if (plan->count == 0)
            continue;
        if (weights != NULL)
            weigh_row(request, block, i, positions, weights);
        if (block->ways[i] == BY_ATTEMPTS || block->ways[i] == BY_KEYS)
            rv = order_row(space, positions, weights, plan->count);
    }
    return rv;
}

static int sample_weighted(struct sample_space *space, const struct sample_request *request,
                           struct sample_result *result)
{
    static const struct walk_kernel kernel = { weighted_aim, weighted_decide, weighted_finish };
    if (request->weights == NULL || sample_fanout(request) == 0)
        return sample_uniform(space, request, result);
    return sample_walk(space, request, result, &kernel);
}

static struct on_demand_key key_of(uint32_t etype, const struct sample_term *term)
{
    return (struct on_demand_key){ ON_DEMAND_ALIAS, etype, term->weights, term->mask };
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
    request->alias = on_demand_alias(part->on_demand, &key);
    return request->alias != NULL ? 0 : TR_EUNSUPPORTED;
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
