/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reverses of a batch's edges, which it leaves out beside these.
 *
 * The answers that brought the ends of a slice's edges brought their original IDs too. By a rule
 * (graph/reverse_edges.h) these say which original IDs their reverses may have; a reverse goes into
 * the source of its edge, so the owner of that node has it, among the in-edges of that node. So
 * there is one more question a slice and owner, before the slice is added; where edges are of several
 * types one a type that has reverses, segment after segment.
 *
 * With C candidates an edge, question i * C + j is the j-th of the segment's edge i. Once asked,
 * seed_rows[] and seed_places[] have the rows and numbers of the questions, grouped by owner as seeds
 * are, and reverses[] gets the answers, by the questions' numbers.
 */
#include <inttypes.h>
#include <string.h>

#include "actors/data/sampler_state.h"
#include "graph/local_rows.h"
#include "graph/reverse_edges.h"
#include "runtime/core/log.h"
#include "schemas/body.h"

static const struct book *task_book(const struct task *task)
{
    return task->sampler->options->book;
}

static const struct seed_segment *segment_asked(const struct task *task)
{
    return &task->loader->seeds.segments[task->reverse_segment];
}

static uint32_t reverse_etype(const struct task *task)
{
    return segment_asked(task)->reverse_etype;
}

static uint32_t candidates_of(const struct task *task)
{
    return reverse_candidates(segment_asked(task)->reverse_rule);
}

static uint32_t count_edges(const struct task *task)
{
    const uint32_t *start = &task->segment_starts[task->reverse_segment];
    return start[1] - start[0];
}

static uint32_t count_questions(const struct task *task)
{
    return count_edges(task) * candidates_of(task);
}

/* Both ends of each of the segment's edges. */
static const uint64_t *ends_of(const struct task *task)
{
    const uint64_t *ends = task->ends.data;
    return ends + 2 * (size_t)task->segment_starts[task->reverse_segment];
}

static struct reverse_question question_of(const struct task *task, uint32_t at)
{
    const uint32_t *rows = task->seed_rows.data, *numbers = task->seed_places.data;
    uint32_t number = numbers[at], each = candidates_of(task), edge = number / each;
    const uint64_t *originals = task->originals.data, *ends = ends_of(task);
    originals += task->segment_starts[task->reverse_segment];
    return (struct reverse_question){
        .original = reverse_candidate(segment_asked(task)->reverse_rule, originals[edge],
                                      task_book(task)->num_edges[reverse_etype(task)],
                                      number % each),
        .source = ends[2 * (size_t)edge + 1],
        .row = rows[at],
    };
}

static int reserve_questions(struct task *task, struct error *error)
{
    uint32_t count = count_questions(task);
    int rv = vec_reserve(&task->seed_rows, count, sizeof(uint32_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->seed_places, count, sizeof(uint32_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->reverses, count, sizeof(uint64_t), 0);
    return rv == 0 ? 0
                   : error_set(error, rv, "no memory for the reverses of %" PRIu32 " edges",
                               count_edges(task));
}

/* A counting sort of the questions by the owners of the edges' sources. */
static int group_questions(struct task *task, struct error *error)
{
    const struct book *book = task_book(task);
    const uint32_t ntype = book->types.etypes[reverse_etype(task)].dst;
    const uint32_t count = count_questions(task), each = candidates_of(task);
    const uint64_t *ends = ends_of(task);
    uint32_t *starts = task->seed_starts;
    memset(starts, 0, (book->num_parts + (size_t)1) * sizeof *starts);
    for (uint32_t i = 0; i < count_edges(task); i++) {
        /* Sources came from a partition, which may be elsewhere. */
        int owner = book_node_owner(book, ntype, ends[2 * (size_t)i]);
        if (owner < 0)
            return error_set(error, TR_EFORMAT,
                             "batch %" PRIu64 ": an edge comes from node %" PRIu64
                             " of type %s, which has %" PRIu64,
                             sampler_asked(task->request).batch, ends[2 * (size_t)i],
                             book->types.ntypes[ntype], book->num_nodes[ntype]);
        starts[owner + 1] += each;
    }
    for (uint32_t p = 0; p < book->num_parts; p++)
        starts[p + 1] += starts[p];
    uint32_t *rows = task->seed_rows.data, *places = task->seed_places.data;
    for (uint32_t number = count; number-- > 0;) {
        uint64_t source = ends[2 * (size_t)(number / each)];
        uint32_t part = (uint32_t)book_node_owner(book, ntype, source);
        uint32_t place = --starts[part + 1];
        rows[place] = (uint32_t)(source - book->node_extents[ntype][part].begin);
        places[place] = number;
    }
    /* Each start stands one place too far to the right now. */
    memmove(starts, starts + 1, book->num_parts * sizeof *starts);
    starts[book->num_parts] = count;
    return 0;
}

/* Edges of the slice that have no reverse. Self-loops, which --undirected of an import leaves alone,
 * need none. */
static uint32_t count_single(const struct task *task)
{
    const struct graph_etype *type = &task_book(task)->types.etypes[reverse_etype(task)];
    const uint64_t *found = task->reverses.data, *ends = ends_of(task);
    const uint32_t each = candidates_of(task);
    uint32_t single = 0;
    for (uint32_t i = 0; i < count_edges(task); i++) {
        bool any = type->src == type->dst && ends[2 * (size_t)i] == ends[2 * (size_t)i + 1];
        for (uint32_t j = 0; j < each; j++)
            any = any || found[(size_t)i * each + j] != REVERSE_NO_EDGE;
        single += !any;
    }
    return single;
}

/* A batch with such edges is a batch, and who chose the wrong rule would never learn of it. */
static void say_single(const struct task *task)
{
    struct sampler *sampler = task->sampler;
    const uint32_t single = sampler->said_single ? 0 : count_single(task);
    if (single == 0)
        return;
    sampler->said_single = true;
    log_write(actor_node(sampler->self), LOG_LEVEL_WARN, "batches",
              "%" PRIu32 " of %" PRIu32 " edges of batch %" PRIu64
              " have no reverse where the loader looks for one, so that nothing is left out beside "
              "them; is each edge followed by its reverse, or are these behind all edges, or of "
              "another type? Later batches are not reported",
              single, count_edges(task), sampler_asked(task->request).batch);
}

static int exclude_found(struct task *task, struct error *error)
{
    uint64_t *found = task->reverses.data, count = 0;
    say_single(task);
    for (uint32_t i = 0; i < count_questions(task); i++)
        if (found[i] != REVERSE_NO_EDGE)
            found[count++] = found[i];
    return batch_builder_exclude(&task->builder, reverse_etype(task), found, count, error);
}

/* The next segment with edges that may have reverses, from that one on. */
static bool next_segment(struct task *task)
{
    const uint32_t segments = task->loader->seeds.num_segments;
    while (task->reverse_segment < segments && count_questions(task) == 0)
        task->reverse_segment++;
    return task->reverse_segment < segments;
}

int sampler_find_reverses(struct task *task, struct error *error)
{
    int rv = task->finds_reverses ? exclude_found(task, error) : 0;
    task->reverse_segment = task->finds_reverses ? task->reverse_segment + 1 : 0;
    task->finds_reverses = true;
    if (rv != 0 || !next_segment(task))
        return rv;
    rv = reserve_questions(task, error);
    if (rv == 0)
        rv = group_questions(task, error);
    return rv != 0 ? rv : 1;
}

int sampler_read_reverses(struct task *task, uint32_t part, struct error *error)
{
    const struct edge_part *edges = &task->parts[part]->edges[reverse_etype(task)];
    const uint32_t *places = task->seed_places.data;
    uint64_t *found = task->reverses.data;
    int rv = local_edge_originals_check(task->parts[part], reverse_etype(task), error);
    for (uint32_t i = task->seed_starts[part]; i < task->seed_starts[part + 1] && rv == 0; i++) {
        const struct reverse_question asked = question_of(task, i);
        found[places[i]] = reverse_edge_find(edges, &asked);
    }
    return rv;
}

int sampler_make_reverses(const struct ask *ask, struct message **out)
{
    return sampler_make_questions(ask, reverse_etype(ask->task), question_of, out);
}

/* Also those of negatives. IDs that the type has not are refused as edges are left out. */
int sampler_take_reverses(struct ask *ask, struct message *reply, struct error *error)
{
    struct task *task = ask->task;
    const uint32_t first = task->seed_starts[ask->part],
                   count = task->seed_starts[ask->part + 1] - first;
    const struct msg_reverse_reply *head = message_head(reply);
    const uint32_t *places = (const uint32_t *)task->seed_places.data + first;
    const uint64_t *edge_ids = message_body(reply);
    uint64_t *found = task->reverses.data;
    if (head->count != count)
        return error_set(error, TR_EFORMAT,
                         "partition %" PRIu32 " answered with %" PRIu32 " edges to %" PRIu32
                         " questions",
                         ask->part, head->count, count);
    for (uint32_t i = 0; i < count; i++)
        found[places[i]] = edge_ids[i];
    return 0;
}
