/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The negatives of a batch, once all its pairs are there, a slice at a time.
 *
 * The nodes of a slice are drawn by rank, or as ends of edges that are drawn by rank, or among the ends
 * of the batch's pairs, and their IDs are found as those of other seeds are (sampler_seeds.c):
 * destinations are one segment, sources another.
 * Where no negative is to be an edge, the owner of each one's destination is asked whether it has an
 * in-edge from its source. Those that are edges are pending: they are drawn again, with both ends that
 * are drawn, until none is, or NEGATIVE_TRIES draws were edges, of which the last then stands.
 *
 * negatives[] has what was drawn for the slice, destinations first: of the one with the number
 * next_negative + i at the place that negative_place() says. pending[] has such i, in their order.
 * Questions are numbered by places in pending[]; seed_rows[], seed_places[] and seed_starts[] group
 * them by owner, and reverses[] gets the answers.
 */
#include <inttypes.h>
#include <string.h>

#include "actors/data/sampler_state.h"
#include "graph/reverse_edges.h"
#include "schemas/body.h"

/* In-edges that a turn looks at: they follow one another in memory, and take 2 ms. */
#define SLICE_SCANNED (UINT64_C(1) << 20)

static const struct negatives_rule *rule_of(const struct task *task)
{
    return &task->loader->plan.negatives;
}

static const struct book *book_of_task(const struct task *task)
{
    return task->sampler->options->book;
}

static const struct graph_etype *etype_of(const struct task *task)
{
    return &book_of_task(task)->types.etypes[sampler_negative_pairs(task)->etype];
}

/* The pairs of a batch stand in the order of the loader's segments. */
static struct batch_pairs *pairs_of(const struct task *task)
{
    return &task->out->space.pairs[task->negative_segments - 1];
}

bool sampler_has_negatives(struct task *task)
{
    const struct negatives_rule *rule = rule_of(task);
    while (task->next_negative == task->end_negative && rule->each > 0 &&
           task->negative_segments < task->loader->seeds.num_segments) {
        task->negative_segments++;
        task->next_negative = 0;
        task->end_negative = negatives_groups(rule, pairs_of(task)->count) * rule->each;
    }
    return task->next_negative < task->end_negative;
}

/* Where negatives[] has an end of the slice's i-th negative, which is drawn. */
static uint32_t place_in_slice(const struct task *task, uint32_t i, enum pair_end end)
{
    const struct negatives_rule *rule = rule_of(task);
    const uint64_t first = task->next_negative, last = first + task->num_slice;
    uint64_t place = negative_place(rule, first + i, end) - negative_place(rule, first, end);
    if (end == PAIR_SOURCE)
        place += negative_place(rule, last, PAIR_DESTINATION) -
                 negative_place(rule, first, PAIR_DESTINATION);
    return (uint32_t)place;
}

/* Draws an end of the pending negatives, a rank or the number of another pair, into drawn[]; returns
 * how many. By their numbers in the batch: the length of a slice changes none of them. */
static uint32_t draw_ends(const struct task *task, enum pair_end end, uint64_t *drawn)
{
    const struct negatives_rule *rule = rule_of(task);
    const uint64_t num_ranks = sampler_segment(task, end)->count;
    const uint64_t base = negatives_base(&task->builder.key, sampler_negative_pairs(task)->etype,
                                         end);
    const uint32_t num_pairs = pairs_of(task)->count, try = task->negative_try;
    const uint32_t *pending = task->pending.data;
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->num_pending; i++) {
        uint64_t k = task->next_negative + pending[i];
        if (!negative_has(rule, k, end))
            continue;
        drawn[count++] = rule->of == NEGATIVES_IN_BATCH
                             ? negative_other(base, k, try, k / rule->each, num_pairs)
                             : negative_rank(base, k, try, num_ranks);
    }
    return count;
}

/* The destinations of those that are pending, and behind them their sources. */
static void draw_pending(struct task *task)
{
    uint64_t *seeds = task->seeds.data;
    uint32_t *starts = task->segment_starts;
    task->finds_edges = false;
    starts[0] = 0;
    for (uint32_t end = 0; end < 2; end++)
        starts[end + 1] = starts[end] + draw_ends(task, end, seeds + starts[end]);
    task->num_seeds = starts[2];
}

int sampler_fill_negatives(struct task *task, struct error *error)
{
    const struct negatives_rule *rule = rule_of(task);
    uint64_t left = task->end_negative - task->next_negative;
    uint32_t most = (rule->by_degree != 0 ? SAMPLER_SLICE_EDGES : SAMPLER_SLICE_SEEDS) /
                    (rule->ends == NEGATIVE_BOTH ? 2 : 1);
    uint32_t count = (uint32_t)(left < most ? left : most);
    int rv = vec_reserve(&task->seeds, count, 2 * sizeof(uint64_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->negatives, count, 2 * sizeof(uint64_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->pending, count, sizeof(uint32_t), 0);
    if (rv != 0)
        return error_set(error, rv, "no memory for %" PRIu32 " negatives", count);
    uint32_t *pending = task->pending.data;
    for (uint32_t i = 0; i < count; i++)
        pending[i] = i;
    task->num_slice = task->num_pending = count;
    task->negative_try = 0;
    draw_pending(task);
    return 0;
}

/* Of edges that were drawn, in the place of their IDs, the ends that are wanted. */
static void take_ends(struct task *task)
{
    const uint64_t *ends = task->ends.data;
    uint64_t *seeds = task->seeds.data;
    if (rule_of(task)->by_degree == 0)
        return;
    for (uint32_t i = 0; i < task->num_seeds; i++)
        seeds[i] = ends[2 * (size_t)i + (i < task->segment_starts[1] ? 1 : 0)];
}

/* What came for the pending ones. */
static void keep_drawn(struct task *task)
{
    take_ends(task);
    const uint32_t *pending = task->pending.data, *starts = task->segment_starts;
    const uint64_t *seeds = task->seeds.data;
    uint64_t *kept = task->negatives.data;
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t at = starts[end];
        for (uint32_t i = 0; i < task->num_pending; i++)
            if (negative_has(rule_of(task), task->next_negative + pending[i], end))
                kept[place_in_slice(task, pending[i], end)] = seeds[at++];
    }
}

/* A node of the slice's i-th negative: drawn, the end of another pair, or of its own. */
static uint64_t node_of(const struct task *task, uint32_t i, enum pair_end end)
{
    const struct negatives_rule *rule = rule_of(task);
    const struct batch_pairs *pairs = pairs_of(task);
    const uint64_t *kept = task->negatives.data, k = task->next_negative + i;
    const uint32_t *ends = end == PAIR_SOURCE ? pairs->sources : pairs->destinations;
    const uint32_t ntype = end == PAIR_SOURCE ? etype_of(task)->src : etype_of(task)->dst;
    if (!negative_has(rule, k, end))
        return batch_builder_seed(&task->builder, ntype, ends[k / rule->each]);
    uint64_t drawn = kept[place_in_slice(task, i, end)];
    return rule->of == NEGATIVES_IN_BATCH ? batch_builder_seed(&task->builder, ntype, ends[drawn])
                                          : drawn;
}

static int reserve_questions(struct task *task, struct error *error)
{
    uint32_t count = task->num_pending;
    int rv = vec_reserve(&task->seed_rows, count, sizeof(uint32_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->seed_places, count, sizeof(uint32_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->reverses, count, sizeof(uint64_t), 0);
    return rv == 0
               ? 0
               : error_set(error, rv, "no memory for the edges of %" PRIu32 " negatives", count);
}

/* A counting sort of the questions by the owners of destinations. */
static int group_questions(struct task *task, struct error *error)
{
    const struct book *book = book_of_task(task);
    const uint32_t ntype = etype_of(task)->dst, *pending = task->pending.data;
    uint32_t *starts = task->seed_starts;
    memset(starts, 0, (book->num_parts + (size_t)1) * sizeof *starts);
    for (uint32_t i = 0; i < task->num_pending; i++) {
        /* Nodes came from a partition, which may be elsewhere. */
        uint64_t node = node_of(task, pending[i], PAIR_DESTINATION);
        int owner = book_node_owner(book, ntype, node);
        if (owner < 0)
            return error_set(
                error, TR_EFORMAT,
                "batch %" PRIu64 ": a negative is node %" PRIu64 " of type %s, which has %" PRIu64,
                task->builder.key.batch, node, book->types.ntypes[ntype], book->num_nodes[ntype]);
        starts[owner + 1]++;
    }
    for (uint32_t p = 0; p < book->num_parts; p++)
        starts[p + 1] += starts[p];
    uint32_t *rows = task->seed_rows.data, *places = task->seed_places.data;
    for (uint32_t i = task->num_pending; i-- > 0;) {
        uint64_t node = node_of(task, pending[i], PAIR_DESTINATION);
        uint32_t part = (uint32_t)book_node_owner(book, ntype, node);
        uint32_t place = --starts[part + 1];
        rows[place] = (uint32_t)(node - book->node_extents[ntype][part].begin);
        places[place] = i;
    }
    /* Each start stands one place too far to the right now. */
    memmove(starts, starts + 1, book->num_parts * sizeof *starts);
    starts[book->num_parts] = task->num_pending;
    return 0;
}

int sampler_question_negatives(struct task *task, struct error *error)
{
    keep_drawn(task);
    task->finds_edges = true;
    task->next_question = 0;
    task->scan = (struct edge_scan){ 0 };
    int rv = reserve_questions(task, error);
    return rv != 0 ? rv : group_questions(task, error);
}

static struct reverse_question question_at(const struct task *task, uint32_t at)
{
    const uint32_t *rows = task->seed_rows.data, *places = task->seed_places.data;
    const uint32_t *pending = task->pending.data;
    return (struct reverse_question){ .original = REVERSE_ANY_EDGE,
                                      .source = node_of(task, pending[places[at]], PAIR_SOURCE),
                                      .row = rows[at] };
}

int sampler_read_negative_edges(struct task *task)
{
    const uint32_t *places = task->seed_places.data;
    uint64_t *found = task->reverses.data;
    uint32_t part = 0;
    task->scan.left = SLICE_SCANNED;
    for (; task->next_question < task->num_pending; task->next_question++) {
        const uint32_t at = task->next_question;
        while (task->seed_starts[part + 1] <= at)
            part++;
        if (task->parts[part] == NULL)
            continue;
        const struct reverse_question asked = question_at(task, at);
        if (edge_scan_find(&task->parts[part]->edges[sampler_negative_pairs(task)->etype], &asked,
                           &task->scan, &found[places[at]]) != 0)
            return 1;
    }
    return 0;
}

int sampler_make_negative_edges(const struct ask *ask, struct message **out)
{
    return sampler_make_questions(ask, sampler_negative_pairs(ask->task)->etype, question_at, out);
}

bool sampler_settle_negatives(struct task *task)
{
    const uint64_t *found = task->reverses.data;
    uint32_t *pending = task->pending.data, left = 0;
    for (uint32_t i = 0; i < task->num_pending; i++)
        if (found[i] != REVERSE_NO_EDGE)
            pending[left++] = pending[i];
    task->num_pending = left;
    if (left > 0 && ++task->negative_try < NEGATIVE_TRIES)
        return true;
    pairs_of(task)->negative_edges += left;
    return false;
}

void sampler_redraw_negatives(struct task *task)
{
    draw_pending(task);
}

int sampler_add_negatives(struct task *task, struct error *error)
{
    const struct negatives_rule *rule = rule_of(task);
    const uint64_t last = task->next_negative + task->num_slice;
    const uint32_t destinations = (uint32_t)(negative_place(rule, last, PAIR_DESTINATION) -
                                             negative_place(rule, task->next_negative,
                                                            PAIR_DESTINATION));
    if (rule->no_edges == 0)
        take_ends(task);
    /* Without questions the slice was drawn once, and lies in its order where it came. */
    const uint64_t *drawn = rule->no_edges != 0 ? task->negatives.data : task->seeds.data;
    int rv = batch_builder_add_negatives(&task->builder, sampler_negative_pairs(task)->etype,
                                         task->next_negative, task->num_slice, drawn,
                                         drawn + destinations, error);
    task->next_negative = last;
    return rv != 0 ? rv : sampler_has_negatives(task);
}
