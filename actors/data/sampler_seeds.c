/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeds of a batch: from places in the epoch's order to the IDs of nodes.
 *
 * A slice of at most SAMPLER_SLICE_SEEDS is found at a time, so that a turn stays within its time;
 * all of a usual batch is one slice. Where the seeds are ranks whose IDs a table says, each
 * partition has an even slice of that table: those here are read, the others are asked once a
 * slice, while batches that came before are drawn.
 *
 * Between sampler_find_seeds and sampler_add_seeds: seeds[] has the IDs that are known and, until
 * their answers came, the ranks of the others; rows[starts[p], starts[p + 1]) are those in
 * partition p's slice of the table, places[] says where in seeds[] each belongs.
 */
#include <inttypes.h>
#include <string.h>

#include "actors/data/sampler_state.h"
#include "actors/data/seed_set.h"
#include "graph/gather.h"
#include "graph/local_rows.h"
#include "graph/ranks.h"
#include "schemas/body.h"

static const struct book *book_of(const struct task *task)
{
    return task->sampler->options->book;
}

/* The seeds of a request that gives them: a list is put in order by whoever has it. */
static int copy_slice(struct task *task, struct error *error)
{
    uint64_t count = task->end_seed - task->next_seed;
    const uint64_t *given = message_body(task->request);
    count = count < SAMPLER_SLICE_SEEDS ? count : SAMPLER_SLICE_SEEDS;
    int rv = vec_reserve(&task->seeds, count, sizeof(uint64_t), 0);
    if (rv != 0)
        return error_set(error, rv, "no memory for %" PRIu64 " seeds", count);
    if (count > 0)
        memcpy(task->seeds.data, given + (task->next_seed - task->first_seed),
               count * sizeof *given);
    task->num_seeds = (uint32_t)count;
    return 0;
}

/* IDs where ranks are IDs, else ranks. */
static int fill_slice(struct task *task, struct error *error)
{
    const struct msg_batch_request asked = sampler_asked(task->request);
    struct loader_state *l = task->loader;
    const struct epoch_order *order;
    uint64_t begin = task->next_seed, count = task->end_seed - begin;
    count = count < SAMPLER_SLICE_SEEDS ? count : SAMPLER_SLICE_SEEDS;
    int rv = sampler_epoch_order(l, asked.epoch, &order);
    if (rv == 0)
        rv = vec_reserve(&task->seeds, count, sizeof(uint64_t), 0);
    if (rv != 0)
        return error_set(error, rv, "no memory for the order of %" PRIu64 " seeds",
                         l->open.num_seeds);
    uint64_t *ids = task->seeds.data;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t place = order == NULL ? begin + i : epoch_order_at(order, begin + i);
        ids[i] = l->open.first_rank + place;
    }
    task->num_seeds = (uint32_t)count;
    return 0;
}

/* A counting sort of the slice's ranks by the partition that has their rows. */
static int group_ranks(struct task *task, const struct rank_table *table, struct error *error)
{
    uint32_t num_parts = book_of(task)->num_parts, *starts = task->seed_starts;
    const uint64_t *ranks = task->seeds.data;
    int rv = vec_reserve(&task->seed_rows, task->num_seeds, sizeof(uint32_t), 0);
    if (rv == 0)
        rv = vec_reserve(&task->seed_places, task->num_seeds, sizeof(uint32_t), 0);
    if (rv != 0)
        return error_set(error, rv, "no memory for the ranks of %" PRIu32 " seeds",
                         task->num_seeds);
    uint32_t *rows = task->seed_rows.data, *places = task->seed_places.data;
    memset(starts, 0, (num_parts + (size_t)1) * sizeof *starts);
    for (uint32_t i = 0; i < task->num_seeds; i++)
        starts[ranks_part(table->num_ranks, num_parts, ranks[i]) + 1]++;
    for (uint32_t p = 0; p < num_parts; p++)
        starts[p + 1] += starts[p];
    for (uint32_t i = task->num_seeds; i-- > 0;) {
        uint32_t part = ranks_part(table->num_ranks, num_parts, ranks[i]);
        uint32_t at = --starts[part + 1];
        /* A slice is below 2^32 rows where partitions are: rows are 32 bits wide everywhere. */
        rows[at] = (uint32_t)(ranks[i] - ranks_begin(table->num_ranks, num_parts, part));
        places[at] = i;
    }
    /* Each start stands one place too far to the right now. */
    memmove(starts, starts + 1, num_parts * sizeof *starts);
    starts[num_parts] = task->num_seeds;
    return 0;
}

/* Those of a partition that is here. */
static int read_slice(struct task *task, uint32_t part, struct error *error)
{
    const struct msg_loader_open *open = &task->loader->open;
    uint32_t begin = task->seed_starts[part], count = task->seed_starts[part + 1] - begin;
    const uint32_t *rows = (const uint32_t *)task->seed_rows.data + begin;
    const uint32_t *places = (const uint32_t *)task->seed_places.data + begin;
    struct local_table table;
    int rv = local_table_find(task->parts[part], open->ntype, TABLE_RANKS + open->ranks, &table,
                              error);
    if (rv == 0)
        rv = local_rows_check(task->parts[part], &table, rows, count, error);
    if (rv == 0)
        gather_rows_to(task->seeds.data, places, table.rows, table.row_bytes, rows, count);
    return rv;
}

int sampler_find_seeds(struct task *task, struct error *error)
{
    const struct rank_table *table = seed_set_table(book_of(task), &task->loader->open);
    bool given = task->loader->open.seeds == MSG_SEEDS_GIVEN;
    int rv = given ? copy_slice(task, error) : fill_slice(task, error);
    if (rv != 0 || table == NULL)
        return rv;
    rv = group_ranks(task, table, error);
    for (uint32_t p = 0; p < book_of(task)->num_parts && rv == 0; p++)
        if (task->parts[p] != NULL && sampler_seeds_of(task, p) > 0)
            rv = read_slice(task, p, error);
    if (rv == 0)
        sampler_ask_seeds(task);
    return rv;
}

int sampler_add_seeds(struct task *task, struct error *error)
{
    task->next_seed += task->num_seeds;
    int rv = batch_builder_add_seeds(&task->builder, task->loader->open.ntype, task->seeds.data,
                                     NULL, task->num_seeds, error);
    return rv != 0 ? rv : task->next_seed < task->end_seed;
}

int sampler_make_seeds(const struct ask *ask, struct message **out)
{
    const struct task *task = ask->task;
    const struct msg_loader_open *open = &task->loader->open;
    struct actor *self = task->sampler->self;
    uint32_t count = sampler_seeds_of(task, ask->part);
    struct message *request = message_create(self, MSG_ROWS_REQUEST);
    struct msg_rows_section *section = request == NULL
                                           ? NULL
                                           : message_body_alloc(self, request,
                                                                sizeof *section +
                                                                    count * sizeof(uint32_t));
    if (section == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    *section = (struct msg_rows_section){ open->ntype, MSG_TABLE_RANKS + open->ranks, count, 0 };
    memcpy(section + 1, (const uint32_t *)task->seed_rows.data + task->seed_starts[ask->part],
           count * sizeof(uint32_t));
    struct msg_rows_request *head = message_head(request);
    head->part = ask->part;
    head->version = task->loader->versions[ask->part];
    head->num_sections = 1;
    *out = request;
    return 0;
}

int sampler_take_seeds(struct ask *ask, struct message *reply, struct error *error)
{
    struct task *task = ask->task;
    const uint32_t *places = (const uint32_t *)task->seed_places.data +
                             task->seed_starts[ask->part];
    uint32_t count = sampler_seeds_of(task, ask->part);
    struct body_reader reader;
    const void *rows;
    int rv = rows_reply_begin(&reader, message_body(reply), reply->frame.body_bytes);
    if (rv == 0)
        rv = rows_reply_next(&reader, count, sizeof(uint64_t), &rows);
    if (rv == 0)
        rv = rows_reply_end(&reader);
    if (rv != 0)
        return error_set(error, TR_EFORMAT,
                         "partition %" PRIu32 " answered with ranks of the wrong shape", ask->part);
    /* IDs of no node are found when the seeds are added. */
    scatter_rows(task->seeds.data, places, rows, sizeof(uint64_t), count);
    return 0;
}
_Static_assert(TABLE_RANKS == MSG_TABLE_RANKS, "what is asked for is what is found");
