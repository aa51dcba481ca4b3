/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which seeds a slice of a batch has: those at its places in the epoch's order, or the next ones that
 * the request gives. Nodes and edges by rank are ranks still, whose IDs are found behind this
 * (sampler_seeds.c, which also says how a slice lies in the task).
 *
 * A request gives seeds in the order of the batch, and no more or fewer than it has places for them.
 */
#include <inttypes.h>
#include <string.h>

#include "actors/data/sampler_state.h"

/* IDs of a seed in seeds[]: of an edge one, also where its reverse came with it. */
static uint32_t seed_width(const struct task *task)
{
    const struct seed_segment *segment = sampler_segment(task, 0);
    return seed_segment_has_edges(segment) ? 1 : segment->num_ids;
}

/* The same of a request that gives them: of any segment. */
static uint32_t given_width(const struct task *task)
{
    uint32_t width = 1;
    for (uint32_t s = 0; s < sampler_num_segments(task); s++)
        width = sampler_segment(task, s)->num_ids > width ? sampler_segment(task, s)->num_ids
                                                          : width;
    return width;
}

/* The seeds of a request that gives them: a list is put in order by the proxy that has it. */
static void copy_given(struct task *task)
{
    const uint32_t width = seed_width(task), num_ids = sampler_segment(task, 0)->num_ids;
    uint32_t count = task->num_seeds * num_ids, all;
    const uint64_t *given = sampler_given(task->request, &all);
    uint64_t *seeds = task->seeds.data, *reverses = task->given_reverses.data;
    given += task->next_given;
    task->next_given += count;
    if (width == num_ids && count > 0)
        memcpy(seeds, given, count * sizeof *given);
    for (uint32_t i = 0; width < num_ids && i < task->num_seeds; i++) {
        seeds[i] = given[2 * (size_t)i];
        reverses[i] = given[2 * (size_t)i + 1];
    }
}

static uint64_t place_of(const struct epoch_order *order, uint64_t at)
{
    return order == NULL ? at : epoch_order_at(order, at);
}

/* IDs where ranks are IDs, else ranks. */
static void fill_ranks(struct task *task, const struct epoch_order *order)
{
    uint64_t *ids = task->seeds.data;
    for (uint32_t i = 0; i < task->num_seeds; i++)
        ids[i] = sampler_segment(task, 0)->first_rank + place_of(order, task->next_seed + i);
}

/* Puts what stands in the batch's order into the segments, each in that order: `given` IDs of a
 * seed. */
static void part_segments(struct task *task, uint32_t given)
{
    const uint32_t width = seed_width(task);
    const uint64_t *mixed = task->mixed_seeds.data;
    const uint32_t *segments = task->mixed_segments.data;
    uint32_t *starts = task->segment_starts;
    uint64_t *seeds = task->seeds.data, *reverses = task->given_reverses.data;
    memset(starts, 0, (sampler_num_segments(task) + (size_t)1) * sizeof *starts);
    for (uint32_t i = 0; i < task->num_seeds; i++)
        starts[segments[i] + 1]++;
    for (uint32_t s = 0; s < sampler_num_segments(task); s++)
        starts[s + 1] += starts[s];
    for (uint32_t i = task->num_seeds; i-- > 0;) {
        const size_t at = --starts[segments[i] + 1];
        memcpy(seeds + at * width, mixed + (size_t)i * given, width * sizeof *seeds);
        if (width < given)
            reverses[at] = mixed[(size_t)i * given + 1];
    }
    /* Each start stands one place too far to the right now. */
    memmove(starts, starts + 1, sampler_num_segments(task) * sizeof *starts);
    starts[sampler_num_segments(task)] = task->num_seeds;
}

/* The next seed of a segment that the request gives: all of its IDs, or none are left of it. */
static int take_given(struct task *task, const struct seed_segment *segment, uint64_t *ids)
{
    uint32_t num_ids;
    const uint64_t *given = sampler_given(task->request, &num_ids);
    if (num_ids - task->next_given < segment->num_ids)
        return TR_EINVAL;
    for (uint32_t j = 0; j < segment->num_ids; j++)
        ids[j] = given[task->next_given++];
    return 0;
}

/* Places of all segments come mixed; what is given comes in the same order, and no more of it. */
static int fill_several(struct task *task, const struct epoch_order *order, struct error *error)
{
    const uint32_t num_ids = given_width(task);
    uint32_t given;
    sampler_given(task->request, &given);
    int rv = vec_reserve(&task->mixed_seeds, task->num_seeds, num_ids * sizeof(uint64_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->mixed_segments, task->num_seeds, sizeof(uint32_t), 0);
    if (rv != 0)
        return error_set(error, rv, "no memory for %" PRIu32 " seeds", task->num_seeds);
    uint64_t *mixed = task->mixed_seeds.data;
    uint32_t *segments = task->mixed_segments.data;
    for (uint32_t i = 0; i < task->num_seeds && rv == 0; i++) {
        uint64_t place = place_of(order, task->next_seed + i);
        segments[i] = seed_set_find(&task->loader->seeds, place);
        const struct seed_segment *segment = sampler_segment(task, segments[i]);
        if (segment->num_ids < num_ids)
            mixed[(size_t)i * num_ids + 1] = REVERSE_NO_EDGE;
        if (seed_kind_is_given(segment->seeds))
            rv = take_given(task, segment, mixed + (size_t)i * num_ids);
        else
            mixed[(size_t)i * num_ids] = segment->first_rank + (place - segment->begin);
    }
    bool last = task->next_seed + task->num_seeds == task->end_seed;
    if (rv != 0 || (last && task->next_given != given))
        return error_set(error, TR_EINVAL,
                         "batch %" PRIu64 " asked for with %" PRIu32 " listed seeds, it has %s",
                         sampler_asked(task->request).batch, given, rv != 0 ? "more" : "fewer");
    /* Segments are parted when all seeds are there: where one begins depends on how many the
     * others have. */
    part_segments(task, num_ids);
    return 0;
}

int sampler_fill_slice(struct task *task, struct error *error)
{
    const struct msg_batch_request asked = sampler_asked(task->request);
    struct loader_state *l = task->loader;
    const struct epoch_order *order = NULL;
    uint64_t count = task->end_seed - task->next_seed;
    bool given = seed_set_is_given(&l->seeds);
    uint32_t most = seed_segment_has_edges(sampler_segment(task, 0)) ? SAMPLER_SLICE_EDGES
                                                                     : SAMPLER_SLICE_SEEDS;
    task->num_seeds = (uint32_t)(count < most ? count : most);
    int rv = given ? 0 : epoch_orders_find(&l->orders, &l->epochs, asked.epoch, &order);
    if (rv == 0)
        rv = vec_reserve(&task->seeds, task->num_seeds, seed_width(task) * sizeof(uint64_t), 0);
    if (rv == 0 && given_width(task) > seed_width(task))
        rv = vec_reserve(&task->given_reverses, task->num_seeds, sizeof(uint64_t), 0);
    if (rv != 0)
        return error_set(error, rv, "no memory for the order of %" PRIu64 " seeds",
                         l->open.num_seeds);
    if (sampler_num_segments(task) > 1)
        return fill_several(task, order, error);
    task->segment_starts[0] = 0;
    task->segment_starts[1] = task->num_seeds;
    if (given)
        copy_given(task);
    else
        fill_ranks(task, order);
    return 0;
}
