/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LABOR-0 (Balin and Catalyurek: "Layer-Neighbor Sampling - Defusing Neighborhood Explosion in
 * GNNs", NeurIPS 2023): nodes that draw in the same hop prefer the same neighbours, so a batch has
 * fewer of them, while each node's draw alone is as even as a uniform one.
 *
 * Every source node has a random number in a hop, keyed by its type and original ID, which all of
 * its out-edges share, whatever their edge type and destination. A row keeps the k edges with the
 * smallest numbers (SAMPLE_LABOR: sequential Poisson sampling), or those whose number is below k of
 * its d edges (SAMPLE_LABOR_POISSON, the paper's: k edges in the mean). Parallel edges have one
 * number: of them the k smallest are those at the smallest positions. A row with k edges or fewer
 * takes all. Rows that are a later occurrence of their node have other numbers, which they share.
 * A mask counts before the draw. Edges come in the order of the row.
 *
 * A server knows the original IDs of its own nodes alone, so an array beside the CSC has those of
 * the sources (graph/on_demand.h), which is read in order, as the row is. Each row is read whole: a
 * draw costs as much as the degree.
 *
 * A first pass keeps what is below a threshold that about k + sqrt(k) numbers of the row are; only
 * where these are fewer than k, the row is read again. What is kept does not depend on that.
 */
#include <assert.h>
#include <string.h>

#include "graph/excluded.h"
#include "graph/on_demand.h"
#include "graph/sample_block.h"
#include "graph/samplers.h"
#include "graph/subset.h"

/* An edge that may be kept. */
struct numbered_edge {
    uint64_t number;
    uint32_t position;
};

/* What a row draws by. */
struct labor_row {
    const struct sample_request *request;
    const uint8_t *mask; /* [degree] or NULL */
    uint64_t begin, base;
    uint32_t degree, k;
    struct excluded_edges excluded;
};

/* The number of a source, by the base of its type and the row's occurrence. */
static inline uint64_t number_of(uint64_t base, uint64_t original_id)
{
    return key_node(base, original_id);
}

/* The numbers of all edges of the row up to the threshold, and the positions of these. Three loops,
 * so that none asks at each edge where IDs are. */
#define KEEP(id)                                         \
    for (uint32_t p = 0; p < row->degree; p++) {         \
        uint64_t number = number_of(row->base, (id));    \
        to[count] = (struct numbered_edge){ number, p }; \
        count += number <= threshold;                    \
    }

static uint32_t keep_below(const struct labor_row *row, uint64_t threshold,
                           struct numbered_edge *to)
{
    const struct source_ids *sources = row->request->sources;
    const struct csc *csc = row->request->csc;
    uint32_t count = 0;
    if (sources->narrow != NULL) {
        const uint32_t *ids = sources->narrow + row->begin;
        KEEP(ids[p])
    } else if (sources->wide != NULL) {
        const uint64_t *ids = sources->wide + row->begin;
        KEEP(ids[p])
    } else {
        const uint32_t *columns = csc->indices + row->begin;
        if (csc->column_global == NULL)
            KEEP(columns[p])
        else
            KEEP(csc->column_global[columns[p]])
    }
    return count;
}

/* Whether every edge of the row is allowed. */
static inline bool allows_all(const struct labor_row *row)
{
    return row->mask == NULL && row->excluded.count == 0;
}

static inline bool is_allowed(const struct labor_row *row, uint32_t position)
{
    return (row->mask == NULL || row->mask[position] != 0) &&
           (row->excluded.count == 0 || !is_excluded_position(&row->excluded, position));
}

/* Those that are allowed. */
static uint32_t drop_refused(const struct labor_row *row, struct numbered_edge *kept,
                             uint32_t count)
{
    uint32_t left = 0;
    if (allows_all(row))
        return count;
    for (uint32_t i = 0; i < count; i++) {
        kept[left] = kept[i];
        left += is_allowed(row, kept[i].position);
    }
    return left;
}

static uint32_t count_allowed(const struct labor_row *row)
{
    uint32_t count = row->mask == NULL ? row->degree - row->excluded.count : 0;
    for (uint32_t p = 0; row->mask != NULL && p < row->degree; p++)
        count += is_allowed(row, p);
    return count;
}

/* The number that is the k-th smallest of count, 0 < k <= count; moves them. */
static uint64_t kth_smallest(uint64_t *numbers, uint32_t count, uint32_t k)
{
    uint32_t low = 0, high = count - 1, wanted = k - 1;
    while (low < high) {
        /* Hoare's partition: numbers are random, so their places are. */
        uint64_t pivot = numbers[low + (high - low) / 2];
        uint32_t i = low, j = high;
        for (;;) {
            while (numbers[i] < pivot)
                i++;
            while (numbers[j] > pivot)
                j--;
            if (i >= j)
                break;
            uint64_t swapped = numbers[i];
            numbers[i++] = numbers[j];
            numbers[j--] = swapped;
        }
        if (wanted <= j)
            high = j;
        else
            low = j + 1;
    }
    return numbers[wanted];
}

/* Up to so many are left out one by one, the greatest first. */
#define LEFT_OUT_MAX 12u

/* Leaves out the greatest number, of equal ones that at the last position. */
static uint32_t drop_greatest(struct numbered_edge *kept, uint32_t count)
{
    uint64_t greatest = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool greater = kept[i].number >= greatest;
        at = greater ? i : at;
        greatest = greater ? kept[i].number : greatest;
    }
    memmove(&kept[at], &kept[at + 1], (count - at - 1) * sizeof *kept);
    return count - 1;
}

/* The k first of the kept by number, then by position, in the order of positions; kept is moved. */
static void take_smallest(struct numbered_edge *kept, uint32_t count, uint32_t k, uint64_t *numbers,
                          uint32_t *positions)
{
    uint32_t below = 0, taken = 0;
    while (count > k && count - k <= LEFT_OUT_MAX)
        count = drop_greatest(kept, count);
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = kept[i].number;
        positions[i < k ? i : k] = kept[i].position;
    }
    if (count == k)
        return;
    uint64_t last = kth_smallest(numbers, count, k);
    for (uint32_t i = 0; i < count; i++)
        below += kept[i].number < last;
    /* Of equal ones, those at the smallest positions. */
    for (uint32_t i = 0, equal = k - below; i < count && taken < k; i++) {
        bool same = kept[i].number == last;
        positions[taken] = kept[i].position;
        taken += kept[i].number < last || (same && equal > 0);
        equal -= same && equal > 0;
    }
}

static uint32_t root_of(uint32_t k)
{
    uint32_t root = 0;
    while ((uint64_t)(root + 1) * (root + 1) <= k)
        root++;
    return root;
}

/* The greatest number that so many of `among` are below or at, in the mean. */
static uint64_t threshold_of(uint64_t count, uint64_t among)
{
    return count >= among ? UINT64_MAX : (uint64_t)(((unsigned __int128)count << 64) / among) - 1;
}

static struct labor_row labor_row_at(const struct sample_request *request,
                                     const struct walk_block *block, uint32_t i)
{
    uint64_t degree, begin = walk_row(request, block, i, &degree);
    const uint32_t *salts = request->with.salts;
    uint32_t salt = salts != NULL ? salts[block->plan.first_row + i] : 0;
    return (struct labor_row){
        .request = request,
        .mask = request->mask != NULL ? (const uint8_t *)request->mask->rows + begin : NULL,
        .begin = begin,
        .base = key_occurrence(request->source_base, salt),
        .degree = (uint32_t)degree,
        .k = sample_fanout(request),
        .excluded = excluded_of(request, begin, degree),
    };
}

PREFETCHER prefetch_sources(const struct sample_request *request, uint64_t begin, uint64_t degree)
{
    const struct source_ids *sources = request->sources;
    if (sources->narrow != NULL)
        prefetch_bytes(&sources->narrow[begin], degree * sizeof *sources->narrow);
    else if (sources->wide != NULL)
        prefetch_bytes(&sources->wide[begin], degree * sizeof *sources->wide);
    else
        prefetch_bytes(&request->csc->indices[begin], degree * sizeof *request->csc->indices);
}

static int labor_aim(struct walk_space *space, const struct sample_request *request,
                     struct walk_block *block)
{
    (void)space;
    for (uint32_t i = 0; i < block->plan.num_rows; i++) {
        uint64_t degree, begin = walk_row(request, block, i, &degree);
        prefetch_sources(request, begin, degree);
        if (request->mask != NULL)
            prefetch_bytes((const uint8_t *)request->mask->rows + begin, degree);
    }
    return 0;
}

/* Reads the row into space->keyed: what is allowed and at most the threshold. -1: no memory. */
static int64_t read_row(struct walk_space *space, const struct labor_row *row, uint64_t threshold)
{
    /* One more: each edge is written before it is counted. */
    if (vec_reserve(&space->keyed, row->degree + (size_t)1, sizeof(struct numbered_edge), 0) != 0)
        return -1;
    return drop_refused(row, space->keyed.data, keep_below(row, threshold, space->keyed.data));
}

static int give_positions(struct walk_block *block, struct row_plan *plan,
                          const struct walk_space *space, uint32_t count)
{
    const struct numbered_edge *kept = space->keyed.data;
    int rv = walk_reserve(block, count);
    uint32_t *positions = rv == 0 ? (uint32_t *)block->positions.data + plan->at : NULL;
    for (uint32_t i = 0; rv == 0 && i < count; i++)
        positions[i] = kept[i].position;
    plan->count = rv == 0 ? count : 0;
    block->num_positions += plan->count;
    return rv;
}

/* Begins the plan of a row: 1, it is decided, since nothing or all of it comes without being read;
 * 0, its edges are to be numbered, and *whole says whether all that are allowed come. TR_ETOOBIG. */
static int begin_row(const struct sample_request *request, struct walk_block *block, uint32_t i,
                     struct labor_row *row, bool *whole)
{
    uint64_t degree;
    struct row_plan *plan = &block->plan.rows[i];
    *row = labor_row_at(request, block, i);
    walk_row(request, block, i, &degree);
    if (degree > SUBSET_DEGREE_MAX)
        return TR_ETOOBIG;
    *plan = (struct row_plan){ .begin = row->begin, .at = block->num_positions };
    *whole = row->k == SAMPLE_ALL || row->degree - row->excluded.count <= row->k;
    if (row->k == 0 || !*whole || !allows_all(row))
        return row->k == 0;
    *plan = (struct row_plan){ .begin = row->begin, .count = row->degree, .at = WHOLE };
    return 1;
}

static int labor_decide(struct walk_space *space, const struct sample_request *request,
                        struct walk_block *block, uint32_t i)
{
    struct row_plan *plan = &block->plan.rows[i];
    struct labor_row row;
    bool whole;
    int rv = begin_row(request, block, i, &row, &whole);
    if (rv != 0)
        return rv < 0 ? rv : 0;
    uint64_t most = row.k + root_of(row.k) + UINT64_C(1);
    /* Without a mask, whose share is not known before the row is read. */
    bool tries = !whole && row.mask == NULL && most < row.degree;
    int64_t kept = read_row(space, &row, tries ? threshold_of(most, row.degree) : UINT64_MAX);
    if (tries && kept >= 0 && kept < row.k)
        kept = read_row(space, &row, UINT64_MAX);
    if (kept < 0)
        return TR_ENOMEM;
    if (whole || kept <= row.k)
        return give_positions(block, plan, space, (uint32_t)kept);
    if (vec_reserve(&space->candidates, (size_t)kept, sizeof(uint64_t), 0) != 0)
        return TR_ENOMEM;
    rv = walk_reserve(block, row.k + UINT64_C(1)); /* positions are written before they count */
    if (rv != 0)
        return rv;
    take_smallest(space->keyed.data, (uint32_t)kept, row.k, space->candidates.data,
                  (uint32_t *)block->positions.data + plan->at);
    plan->count = row.k;
    block->num_positions += row.k;
    return 0;
}

static int poisson_decide(struct walk_space *space, const struct sample_request *request,
                          struct walk_block *block, uint32_t i)
{
    struct labor_row row;
    bool whole;
    int rv = begin_row(request, block, i, &row, &whole);
    if (rv != 0)
        return rv < 0 ? rv : 0;
    uint32_t allowed = count_allowed(&row);
    uint64_t threshold = whole ? UINT64_MAX : threshold_of(row.k, allowed);
    int64_t kept = read_row(space, &row, threshold);
    return kept < 0 ? TR_ENOMEM
                    : give_positions(block, &block->plan.rows[i], space, (uint32_t)kept);
}

static int sample_labor(struct sample_space *space, const struct sample_request *request,
                        struct sample_result *result)
{
    static const struct walk_kernel kernel = { .aim = labor_aim, .decide = labor_decide };
    return sample_walk(space, request, result, &kernel);
}

static int sample_labor_poisson(struct sample_space *space, const struct sample_request *request,
                                struct sample_result *result)
{
    static const struct walk_kernel kernel = { .aim = labor_aim, .decide = poisson_decide };
    return sample_walk(space, request, result, &kernel);
}

static int labor_make(const struct graph_part *part, uint32_t etype, const struct sample_term *term,
                      struct error *error)
{
    const struct on_demand_key key = { ON_DEMAND_SOURCES, etype, 0, 0 };
    /* All edges, or none, need no numbers. */
    if (term->fanout == 0 || term->fanout == SAMPLE_EVERY)
        return 0;
    return on_demand_make(part->on_demand, &key, error);
}

static int labor_find(const struct graph_part *part, uint32_t etype, struct sample_request *request)
{
    static const struct source_ids none = { NULL, NULL };
    const struct on_demand_key key = { ON_DEMAND_SOURCES, etype, 0, 0 };
    bool numbers = request->term.fanout != 0 && request->term.fanout != SAMPLE_EVERY;
    request->sources = numbers ? on_demand_sources(part->on_demand, &key) : &none;
    return request->sources != NULL ? 0 : TR_EUNSUPPORTED;
}

/* Any number of a row's edges may be below the threshold. */
static uint64_t poisson_row_edges(const struct sample_term *term, uint64_t degree)
{
    return term->fanout == 0 ? 0 : degree;
}

const struct sample_method sample_labor_method = {
    .name = "labor",
    .row_fields = SAMPLE_ROW_SALT,
    .mask = true,
    .once = true,
    .row_edges = sample_uniform_row_edges,
    .make = labor_make,
    .find = labor_find,
    .draw = sample_labor,
};

const struct sample_method sample_labor_poisson_method = {
    .name = "labor-poisson",
    .row_fields = SAMPLE_ROW_SALT,
    .mask = true,
    .once = true,
    .row_edges = poisson_row_edges,
    .make = labor_make,
    .find = labor_find,
    .draw = sample_labor_poisson,
};
