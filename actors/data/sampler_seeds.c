/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeds of a batch: from what a slice has (sampler_slice.c) to the IDs of nodes, and into the
 * batch.
 *
 * A slice of at most SAMPLER_SLICE_SEEDS is found at a time, so that a turn stays within its time;
 * all of a usual batch is one slice. Where the seeds are ranks whose IDs a table says, each
 * partition has an even slice of that table: the others are asked once a slice, and those here are
 * read then, while batches that came before are drawn. Seeds that are edges have their ends found
 * in the same way: an edge's ID says which partition has it, and where. Ranks of edges become IDs
 * first: runs give those (graph/edge_runs.h), whose even slices the partitions have, so there is
 * one more question before the one for the ends. Where reverses are left out, one more follows
 * (sampler_reverse.c). Once all pairs of a batch are added, the nodes of
 * negatives are found in slices of their own, as ranks of nodes are (sampler_negatives.c).
 *
 * Between sampler_find_seeds and sampler_add_seeds: seeds[segment_starts[s], segment_starts[s + 1])
 * are those of segment s, in the order of the batch: the IDs that are known and, until their
 * answers came, the ranks of the others; for listed pairs, both ends of each. For edges they are
 * the edges' IDs (their ranks, until those came), and ends[] what came. With S segments,
 * rows[starts[p * S + s], starts[p * S + s + 1]) are those in partition p's slice of the table of
 * segment s; places[] says where in seeds[] each belongs (where ends are asked for: rows are
 * positions in the partition, and places those in ends[]).
 */
#include <inttypes.h>
#include <string.h>

#include "actors/data/sampler_state.h"
#include "graph/gather.h"
#include "graph/local_rows.h"
#include "graph/ranks.h"
#include "schemas/body.h"

static const struct book *book_of(const struct task *task)
{
    return task->sampler->options->book;
}

/* Whether partitions are asked for the seeds of a segment: of edges for the IDs of those that are
 * ranks, then for the ends of all. */
static bool is_asked(const struct task *task, uint32_t s)
{
    const struct seed_segment *segment = sampler_segment(task, s);
    if (seed_segment_has_edges(segment))
        return !task->finds_ranks || seed_segment_has_edge_ranks(segment);
    return seed_segment_table(book_of(task), segment) != NULL;
}

/* Whether some are edges by rank. */
static bool has_edge_ranks(const struct task *task)
{
    for (uint32_t s = 0; s < sampler_num_segments(task); s++)
        if (seed_segment_has_edge_ranks(sampler_segment(task, s)))
            return true;
    return false;
}

/* The place that identifies a seed: a partition, and the row of its table there. */
struct seed_row {
    uint32_t part, row;
};

/* TR_ERANGE: there is no such edge. TR_ETOOBIG: rows are 32 bits wide everywhere, positions of
 * edges in a partition may not be. */
static int find_row(const struct task *task, uint32_t s, uint64_t seed, struct seed_row *out)
{
    const struct book *book = book_of(task);
    const struct seed_segment *segment = sampler_segment(task, s);
    uint64_t row;
    if (sampler_finds_ends(task)) {
        int owner = book_edge_owner(book, segment->etype, seed);
        if (owner < 0)
            return owner;
        out->part = (uint32_t)owner;
        row = seed - book->edge_extents[segment->etype][owner].begin;
    } else {
        uint64_t num_ranks = seed_segment_has_edge_ranks(segment)
                                 ? book->num_edges[segment->etype]
                                 : seed_segment_table(book, segment)->num_ranks;
        out->part = ranks_part(num_ranks, book->num_parts, seed);
        row = seed - ranks_begin(num_ranks, book->num_parts, out->part);
    }
    out->row = (uint32_t)row;
    return row <= UINT32_MAX ? 0 : TR_ETOOBIG;
}

static int say_no_row(const struct task *task, uint32_t s, uint64_t seed, int code,
                      struct error *error)
{
    const struct graph_types *types = &book_of(task)->types;
    const struct seed_segment *segment = sampler_segment(task, s);
    uint64_t batch = sampler_asked(task->request).batch;
    if (!seed_segment_has_edges(segment))
        return error_set(error, code,
                         "batch %" PRIu64 ": rank %" PRIu64
                         " of type %s lies beyond the 2^32 rows that a partition may have",
                         batch, seed, types->ntypes[segment->ntype]);
    const char *name = types->etypes[segment->etype].name;
    if (code == TR_ETOOBIG)
        return error_set(error, code,
                         "batch %" PRIu64 ": edge %" PRIu64
                         " of type %s lies beyond the first 2^32 of its partition, which alone may "
                         "be seeds; make more partitions of the graph",
                         batch, seed, name);
    return error_set(error, code, "batch %" PRIu64 ": edge %" PRIu64 " is not of type %s", batch,
                     seed, name);
}

static int reserve_rows(struct task *task, struct error *error)
{
    bool edges = seed_segment_has_edges(sampler_segment(task, 0));
    int rv = vec_reserve(&task->seed_rows, task->num_seeds, sizeof(uint32_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->seed_places, task->num_seeds, sizeof(uint32_t), 0);
    if (rv == 0 && edges)
        rv = vec_reserve(&task->ends, task->num_seeds, 2 * sizeof(uint64_t), 0);
    if (rv == 0 && edges && sampler_leaves_reverses(task))
        rv = vec_reserve(&task->originals, task->num_seeds, sizeof(uint64_t), 0);
    return rv == 0 ? 0
                   : error_set(error, rv, "no memory for the %s of %" PRIu32 " seeds",
                               edges ? "ends" : "ranks", task->num_seeds);
}

/* A counting sort of the slice's seeds by the partition that has their rows, then by segment. 1: they
 * are to be asked for. */
static int group_rows(struct task *task, struct error *error)
{
    uint32_t num_parts = book_of(task)->num_parts, segments = sampler_num_segments(task);
    uint32_t *starts = task->seed_starts;
    size_t groups = (size_t)num_parts * segments;
    const uint64_t *seeds = task->seeds.data;
    struct seed_row at;
    int rv = reserve_rows(task, error);
    if (rv != 0)
        return rv;
    uint32_t *rows = task->seed_rows.data, *places = task->seed_places.data;
    memset(starts, 0, (groups + 1) * sizeof *starts);
    /* All seeds are found before the first is placed, so that nothing fails in between. */
    for (uint32_t s = 0; s < segments; s++)
        for (uint32_t i = task->segment_starts[s];
             is_asked(task, s) && i < task->segment_starts[s + 1]; i++) {
            if ((rv = find_row(task, s, seeds[i], &at)) != 0)
                return say_no_row(task, s, seeds[i], rv, error);
            starts[(size_t)at.part * segments + s + 1]++;
        }
    for (size_t g = 0; g < groups; g++)
        starts[g + 1] += starts[g];
    uint32_t total = starts[groups];
    for (uint32_t s = 0; s < segments; s++)
        for (uint32_t i = task->segment_starts[s + 1];
             is_asked(task, s) && i-- > task->segment_starts[s];) {
            find_row(task, s, seeds[i], &at); /* as above */
            uint32_t place = --starts[(size_t)at.part * segments + s + 1];
            rows[place] = at.row;
            places[place] = i;
        }
    /* Each start stands one place too far to the right now. */
    memmove(starts, starts + 1, groups * sizeof *starts);
    starts[groups] = total;
    return 1;
}

/* The rows of a segment in a partition's slice of its table. */
struct slice_rows {
    uint32_t count;
    const uint32_t *rows, *places; /* [count] */
};

static struct slice_rows rows_of(const struct task *task, uint32_t part, uint32_t segment)
{
    const uint32_t *start = &task->seed_starts[(size_t)part * sampler_num_segments(task) + segment];
    return (struct slice_rows){
        .count = start[1] - start[0],
        .rows = (const uint32_t *)task->seed_rows.data + start[0],
        .places = (const uint32_t *)task->seed_places.data + start[0],
    };
}

/* The table that identifies the seeds of a segment, and where its rows belong. */
struct seed_table {
    uint32_t type, table;
    void *to;
};

/* It follows that of the ends, of the same rows, where a segment brings original IDs. */
static struct seed_table table_of_originals(const struct task *task, uint32_t s)
{
    return (struct seed_table){ sampler_segment(task, s)->etype, TABLE_EDGE_ORIGINALS,
                                task->originals.data };
}

static struct seed_table table_of(const struct task *task, uint32_t s)
{
    const struct seed_segment *segment = sampler_segment(task, s);
    if (sampler_finds_ends(task))
        return (struct seed_table){ segment->etype, TABLE_EDGE_ENDS, task->ends.data };
    if (seed_segment_has_edge_ranks(segment))
        return (struct seed_table){ segment->etype, TABLE_EDGE_RANKS, task->seeds.data };
    return (struct seed_table){ segment->ntype, TABLE_RANKS + segment->ranks, task->seeds.data };
}

static int read_table(const struct task *task, uint32_t part, const struct seed_table *asked,
                      const struct slice_rows *found, struct error *error)
{
    struct local_table table;
    int rv = local_table_find(task->parts[part], asked->type, asked->table, &table, error);
    if (rv == 0)
        rv = local_rows_check(task->parts[part], &table, found->rows, found->count, error);
    if (rv == 0)
        local_rows_scatter(&table, found->rows, found->places, found->count, asked->to);
    return rv;
}

/* Those of a partition that is here. */
static int read_slice(struct task *task, uint32_t part, struct error *error)
{
    int rv = 0;
    for (uint32_t s = 0; s < sampler_num_segments(task) && rv == 0; s++) {
        const struct seed_table asked = table_of(task, s);
        const struct slice_rows found = rows_of(task, part, s);
        if (found.count == 0)
            continue;
        const struct seed_table originals = table_of_originals(task, s);
        rv = read_table(task, part, &asked, &found, error);
        if (rv == 0 && sampler_finds_originals(task, s))
            rv = read_table(task, part, &originals, &found, error);
    }
    return rv;
}

static bool is_any_asked(const struct task *task)
{
    for (uint32_t s = 0; s < sampler_num_segments(task); s++)
        if (is_asked(task, s))
            return true;
    return false;
}

int sampler_find_seeds(struct task *task, struct error *error)
{
    task->finds_reverses = false;
    task->finds_edges = false;
    task->finds_negatives = task->next_seed == task->end_seed && sampler_has_negatives(task);
    int rv = task->finds_negatives ? sampler_fill_negatives(task, error)
                                   : sampler_fill_slice(task, error);
    task->finds_ranks = has_edge_ranks(task);
    return rv != 0 || !is_any_asked(task) ? rv : group_rows(task, error);
}

int sampler_find_ends(struct task *task, struct error *error)
{
    task->finds_ranks = false;
    return group_rows(task, error);
}

int sampler_find_negative_edges(struct task *task, struct error *error)
{
    int rv = sampler_question_negatives(task, error);
    return rv != 0 ? rv : 1;
}

int sampler_draw_again(struct task *task, struct error *error)
{
    sampler_redraw_negatives(task);
    task->finds_ranks = has_edge_ranks(task);
    return is_any_asked(task) ? group_rows(task, error) : 0;
}

int sampler_read_seeds(struct task *task, struct error *error)
{
    int rv = 0;
    if (task->finds_edges)
        return sampler_read_negative_edges(task);
    for (uint32_t p = 0; p < book_of(task)->num_parts && rv == 0; p++)
        if (task->parts[p] != NULL && sampler_seeds_of(task, p) > 0)
            rv = task->finds_reverses ? sampler_read_reverses(task, p, error)
                                      : read_slice(task, p, error);
    return rv;
}

int sampler_exclude(struct task *task, struct error *error)
{
    struct message *request = task->request;
    const struct msg_draw_request *head = message_head(request);
    const struct msg_excluded_edge *excluded;
    struct sample_row_fields with;
    if (request->frame.kind != MSG_DRAW_REQUEST)
        return 0;
    int rv = draw_request_fields(head, message_body(request), request->frame.body_bytes,
                                 &task->loader->spec, &with, &excluded);
    for (uint32_t i = 0; i < head->num_excluded && rv == 0; i++) {
        uint64_t etype = excluded[i].etype;
        rv = batch_builder_exclude(&task->builder,
                                   etype < UINT32_MAX ? (uint32_t)etype : UINT32_MAX,
                                   &excluded[i].edge, 1, error);
    }
    return rv;
}

/* The fields that come with the slice's seeds: those of a single draw bring what its spec names. */
static int slice_fields(const struct task *task, struct sample_row_fields *with)
{
    const struct msg_excluded_edge *excluded;
    struct message *request = task->request;
    *with = (struct sample_row_fields){ .salts = NULL };
    if (request->frame.kind != MSG_DRAW_REQUEST)
        return 0;
    int rv = draw_request_fields(message_head(request), message_body(request),
                                 request->frame.body_bytes, &task->loader->spec, with, &excluded);
    if (rv == 0)
        sample_row_fields_skip(with, (uint32_t)(task->next_seed - task->first_seed));
    return rv;
}

/* Of several edge types one by one, in the order of the batch, so that slices of any length give the
 * same positions. The starts of segments go along, and are no starts afterwards. */
static int add_mixed_pairs(struct task *task, const uint64_t *ends, const uint64_t *edge_ids,
                           struct error *error)
{
    const uint32_t *segments = task->mixed_segments.data;
    int rv = 0;
    for (uint32_t s = 0; s < sampler_num_segments(task) && rv == 0; s++)
        rv = batch_builder_add_pairs(&task->builder, sampler_segment(task, s)->etype, ends,
                                     edge_ids, 0, error);
    for (uint32_t i = 0; i < task->num_seeds && rv == 0; i++) {
        const size_t at = task->segment_starts[segments[i]]++;
        rv = batch_builder_add_pairs(&task->builder, sampler_segment(task, segments[i])->etype,
                                     ends + 2 * at, edge_ids == NULL ? NULL : edge_ids + at, 1,
                                     error);
    }
    return rv;
}

/* Leaves the edges of a segment out of the batch, and the reverses that came with them. */
static int exclude_seeds(struct task *task, uint32_t s, struct error *error)
{
    const struct seed_segment *segment = sampler_segment(task, s);
    const uint32_t begin = task->segment_starts[s], end = task->segment_starts[s + 1];
    uint64_t *reverses = task->given_reverses.data;
    uint32_t count = 0;
    int rv = batch_builder_exclude(&task->builder, segment->etype,
                                   (const uint64_t *)task->seeds.data + begin, end - begin, error);
    if (rv != 0 || !sampler_leaves_reverses(task) || segment->reverse_rule != REVERSE_LISTED)
        return rv;
    for (uint32_t i = begin; i < end; i++)
        if (reverses[i] != REVERSE_NO_EDGE)
            reverses[begin + count++] = reverses[i];
    return batch_builder_exclude(&task->builder, segment->etype, reverses + begin, count, error);
}

/* The pairs of the slice: what the batch is to leave out is known as early as they are. */
static int add_pairs(struct task *task, struct error *error)
{
    bool edges = seed_segment_has_edges(sampler_segment(task, 0));
    bool leaves = (task->loader->open.flags & MSG_LOADER_EXCLUDE_SELF) != 0;
    const uint64_t *seeds = task->seeds.data, *ends = edges ? task->ends.data : seeds;
    const uint64_t *edge_ids = edges ? seeds : NULL;
    int rv = 0;
    task->finds_reverses = false; /* all are found, and the slice has its own segments again */
    for (uint32_t s = 0; s < sampler_num_segments(task) && leaves && rv == 0; s++)
        rv = exclude_seeds(task, s, error);
    if (rv != 0)
        return rv;
    return sampler_num_segments(task) > 1
               ? add_mixed_pairs(task, ends, edge_ids, error)
               : batch_builder_add_pairs(&task->builder, sampler_segment(task, 0)->etype, ends,
                                         edge_ids, task->num_seeds, error);
}

int sampler_add_seeds(struct task *task, struct error *error)
{
    struct sample_row_fields with;
    if (task->finds_negatives)
        return sampler_add_negatives(task, error);
    int rv = slice_fields(task, &with);
    if (rv != 0)
        return error_set(error, rv, "a draw whose seeds lack what its spec says of them");
    task->next_seed += task->num_seeds;
    const struct seed_segment *first = sampler_segment(task, 0);
    if (seed_kind_is_pair(first->seeds)) {
        rv = add_pairs(task, error);
        return rv != 0 ? rv : task->next_seed < task->end_seed || sampler_has_negatives(task);
    }
    for (uint32_t s = 0; s < sampler_num_segments(task) && rv == 0; s++) {
        uint32_t begin = task->segment_starts[s], count = task->segment_starts[s + 1] - begin;
        const uint64_t *ids = task->seeds.data;
        rv = batch_builder_add_seeds_with(&task->builder, sampler_segment(task, s)->ntype,
                                          ids == NULL ? NULL : ids + begin, NULL, count, &with,
                                          error);
    }
    return rv != 0 ? rv : task->next_seed < task->end_seed;
}

int sampler_make_seeds(const struct ask *ask, struct message **out)
{
    const struct task *task = ask->task;
    struct actor *self = task->sampler->self;
    uint32_t sections = 0, at = 0;
    if (task->finds_reverses)
        return sampler_make_reverses(ask, out);
    if (task->finds_edges)
        return sampler_make_negative_edges(ask, out);
    for (uint32_t s = 0; s < sampler_num_segments(task); s++)
        if (rows_of(task, ask->part, s).count > 0)
            sections += sampler_finds_originals(task, s) ? 2 : 1;
    size_t bytes = sections * sizeof(struct msg_rows_section);
    struct message *request = message_create(self, MSG_ROWS_REQUEST);
    struct msg_rows_section *section =
        request == NULL
            ? NULL
            : message_body_alloc(self, request,
                                 bytes + sampler_seeds_of(task, ask->part) * sizeof(uint32_t));
    if (section == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    uint32_t *to = (uint32_t *)(section + sections);
    for (uint32_t s = 0; s < sampler_num_segments(task); s++) {
        const struct seed_table asked = table_of(task, s);
        const struct slice_rows wanted = rows_of(task, ask->part, s);
        if (wanted.count == 0)
            continue;
        section[at++] = (struct msg_rows_section){ asked.type, asked.table, wanted.count, 0 };
        memcpy(to, wanted.rows, wanted.count * sizeof *to);
        to += wanted.count;
        if (!sampler_finds_originals(task, s))
            continue;
        const struct seed_table originals = table_of_originals(task, s);
        section[at++] = (struct msg_rows_section){ originals.type, originals.table, wanted.count,
                                                   1 };
    }
    struct msg_rows_request *head = message_head(request);
    head->part = ask->part;
    head->version = task->loader->versions[ask->part];
    head->num_sections = sections;
    *out = request;
    return 0;
}

int sampler_take_seeds(struct ask *ask, struct message *reply, struct error *error)
{
    struct task *task = ask->task;
    struct body_reader reader;
    const void *rows;
    if (task->finds_reverses || task->finds_edges)
        return sampler_take_reverses(ask, reply, error);
    int rv = rows_reply_begin(&reader, message_body(reply), reply->frame.body_bytes);
    for (uint32_t s = 0; s < sampler_num_segments(task) && rv == 0; s++) {
        const struct slice_rows wanted = rows_of(task, ask->part, s);
        if (wanted.count == 0)
            continue;
        size_t bytes = sampler_seed_bytes(task);
        rv = rows_reply_next(&reader, wanted.count, bytes, &rows);
        /* IDs of no node are found when the seeds are added. They are placed before the end of the
         * body is checked: a wrong body fails the whole batch. */
        if (rv == 0)
            scatter_rows(table_of(task, s).to, wanted.places, rows, bytes, wanted.count);
        if (rv != 0 || !sampler_finds_originals(task, s))
            continue;
        rv = rows_reply_next(&reader, wanted.count, sizeof(uint64_t), &rows);
        if (rv == 0)
            scatter_rows(task->originals.data, wanted.places, rows, sizeof(uint64_t), wanted.count);
    }
    if (rv == 0)
        rv = rows_reply_end(&reader);
    if (rv != 0)
        return error_set(error, TR_EFORMAT,
                         "partition %" PRIu32 " answered with seeds of the wrong shape", ask->part);
    return 0;
}
_Static_assert(REVERSE_NO_EDGE == MSG_NO_EDGE, "no edge is the same everywhere");
_Static_assert(TABLE_RANKS == MSG_TABLE_RANKS, "what is asked for is what is found");
