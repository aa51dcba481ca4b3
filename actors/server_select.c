/*
 * Lists the owned nodes whose row of a mask is not zero, a bounded piece of the partition at a
 * time: the asker goes on from `next` until it is told that all is done.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/server_work.h"
#include "graph/local_rows.h"

/* Rows looked at for one answer, 4 ms with two IDs written for each; an answer may be empty. */
#define SCAN_ROWS (UINT64_C(1) << 18)

static bool is_set(const struct local_table *mask, uint64_t row)
{
    static const unsigned char zeroes[sizeof(uint64_t)];
    if (mask->rows == NULL)
        return true;
    const unsigned char *at = (const unsigned char *)mask->rows + row * mask->row_bytes;
    return memcmp(at, zeroes, mask->row_bytes) != 0;
}

static int find_mask(const struct graph_part *part, const struct msg_select_request *head,
                     struct local_table *mask, struct error *error)
{
    int rv = local_table_find(part, head->ntype, MSG_TABLE_ORIGINAL_ID, mask, error);
    if (rv == 0 && head->table != MSG_MASK_ALL)
        rv = local_table_find(part, head->ntype, head->table, mask, error);
    else
        mask->rows = NULL;
    if (rv != 0)
        return rv;
    if (mask->width != 1 || mask->row_bytes > sizeof(uint64_t))
        return error_set(error, TR_EINVAL, "partition %" PRIu32 ": table %" PRIu32 " of node type "
                         "%s has %" PRIu64 " elements a row; a mask has one", part->part_id,
                         head->table, part->types->ntypes[head->ntype], mask->width);
    if (head->begin > mask->num_rows)
        return error_set(error, TR_ERANGE, "partition %" PRIu32 ": row %" PRIu64 " of node type %s "
                         "asked for, it has %" PRIu64, part->part_id, head->begin,
                         part->types->ntypes[head->ntype], mask->num_rows);
    return 0;
}

/* How far an answer of at most `most` rows reaches, and how many it has. */
static uint64_t scan(const struct local_table *mask, uint64_t begin, uint64_t most,
                     uint32_t *count)
{
    uint64_t end = mask->num_rows - begin < SCAN_ROWS ? mask->num_rows : begin + SCAN_ROWS;
    uint32_t found = 0;
    uint64_t row = begin;
    for (; row < end && found < most; row++)
        found += is_set(mask, row);
    *count = found;
    return row;
}

static void fill(const struct local_table *mask, const struct node_part *nodes, uint64_t begin,
                 uint64_t end, uint64_t *global_ids, uint64_t *original_ids)
{
    for (uint64_t row = begin; row < end; row++)
        if (is_set(mask, row)) {
            *global_ids++ = nodes->global_begin + row;
            *original_ids++ = nodes->original_ids[row];
        }
}

static int begin(struct actor *self, struct work *work, struct error *error)
{
    (void)self;
    const struct msg_select_request *head = message_head(work->request);
    return server_pin(work, head->part, head->version, error);
}

static int step(struct actor *self, struct work *work, struct error *error)
{
    const struct msg_select_request *head = message_head(work->request);
    struct local_table mask;
    uint32_t count;
    void *body;
    int rv = find_mask(work->part, head, &mask, error);
    if (rv != 0)
        return rv;
    if (head->rows_max == 0)
        return error_set(error, TR_EINVAL, "partition %" PRIu32 ": rows_max is 0; ask for at least "
                         "one row", head->part);
    uint64_t next = scan(&mask, head->begin, head->rows_max, &count);
    rv = server_make_body(self, work, MSG_SELECT_REPLY, count * 2 * sizeof(uint64_t), &body, error);
    if (rv != 0)
        return rv;
    uint64_t *ids = body;
    fill(&mask, &work->part->nodes[head->ntype], head->begin, next, ids, ids + count);
    *(struct msg_select_reply *)message_head(work->reply) = (struct msg_select_reply){
        .next = next, .count = count, .done = next == mask.num_rows,
    };
    return WORK_DONE;
}

const struct work_ops server_select_ops = {
    .kind = MSG_SELECT_REQUEST,
    .state_bytes = sizeof(struct work),
    .begin = begin,
    .step = step,
};
