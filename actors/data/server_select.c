/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the owned nodes whose row of a mask is not zero, a bounded piece of the partition at a
 * time: the requester goes on from `next` until the reply says that all is done.
 */
#include <inttypes.h>

#include "actors/data/local_select.h"
#include "actors/data/server_work.h"

static int begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    const struct msg_select_request *head = message_head(work->request);
    return server_pin(work, head->part, head->version, error);
}

static int check(const struct local_mask *mask, const struct msg_select_request *head,
                 const struct graph_part *part, struct error *error)
{
    if (head->begin > mask->table.num_rows)
        return error_set(error, TR_ERANGE,
                         "partition %" PRIu32 ": row %" PRIu64 " of node type %s "
                         "asked for, it has %" PRIu64,
                         part->part_id, head->begin, part->types->ntypes[head->ntype],
                         mask->table.num_rows);
    if (head->rows_max == 0)
        return error_set(error, TR_EINVAL,
                         "partition %" PRIu32 ": rows_max is 0; ask for at least "
                         "one row",
                         head->part);
    return 0;
}

static int step(struct actor *self, struct server_work *work, struct error *error)
{
    const struct msg_select_request *head = message_head(work->request);
    struct local_mask mask;
    uint32_t count;
    void *body;
    int rv = local_mask_find(work->part, head->ntype, head->table, &mask, error);
    if (rv == 0)
        rv = check(&mask, head, work->part, error);
    if (rv != 0)
        return rv;
    uint64_t next = local_mask_scan(&mask, head->begin, head->rows_max, &count);
    rv = server_make_body(self, work, MSG_SELECT_REPLY, count * 2 * sizeof(uint64_t), &body, error);
    if (rv != 0)
        return rv;
    uint64_t *ids = body;
    local_mask_read(&mask, head->begin, next, ids, ids + count);
    *(struct msg_select_reply *)message_head(work->reply) = (struct msg_select_reply){
        .next = next,
        .count = count,
        .done = next == mask.table.num_rows,
    };
    return WORK_DONE;
}

const struct work_ops server_select_ops = {
    .kind = MSG_SELECT_REQUEST,
    .state_bytes = sizeof(struct server_work),
    .begin = begin,
    .step = step,
};
