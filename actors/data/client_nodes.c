/* SPDX-License-Identifier: Apache-2.0 */
/* Node sets: what each partition lists, gathered and sorted by original ID. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/node_sort.h"
#include "actors/data/client_state.h"
#include "actors/data/local_select.h"
#include "runtime/core/crew.h"

/* Answers asked for at once: 16 bytes each. */
#define SELECT_ROWS 65536u

/* Where there is no memory for the answer it is tried again after this. */
#define RETRY_NS UINT64_C(5000000)

/* Held for each node at the end: a pair to sort, and its place in the answer. */
#define NODE_BYTES (sizeof(struct node_pair) + 2 * sizeof(uint64_t))

struct nodes {
    struct operation op;
    const struct msg_nodes_request *head;
    struct node_pair *pairs;
    size_t count, capacity;
    struct node_sort sort;
    struct job job;
    struct timer retry;
};

static struct nodes *node_reads_operation(struct operation *op)
{
    return (struct nodes *)(void *)op;
}

static int node_reads_size(const struct client *client, const struct message *request,
                           size_t *bytes, struct error *error)
{
    const struct msg_nodes_request *head = (const void *)request->head;
    const struct book *book = client->options->book;
    if (head->ntype >= book->types.num_ntypes)
        return error_set(error, TR_ERANGE,
                         "node type %" PRIu32
                         ": types are numbered from 0, and the graph has %" PRIu32,
                         head->ntype, book->types.num_ntypes);
    *bytes = CLIENT_LANES * (size_t)SELECT_ROWS * 2 * sizeof(uint64_t);
    return 0;
}

static int node_reads_begin(struct operation *op, struct error *error)
{
    struct nodes *n = node_reads_operation(op);
    n->head = message_head(op->request);
    op->reply = message_create(op->client->self, MSG_NODES_REPLY);
    return op->reply != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for a set of nodes");
}

static bool node_reads_wants(const struct operation *op, uint32_t part)
{
    (void)op, (void)part; /* empty ones too: they know whether the table is a mask */
    return true;
}

static uint32_t rows_max(const struct client *client)
{
    uint64_t fit = client_piece_bytes(client) / (2 * sizeof(uint64_t));
    fit = fit > 0 ? fit : 1;
    return fit < SELECT_ROWS ? (uint32_t)fit : SELECT_ROWS;
}

static size_t node_reads_choose(struct lane *lane)
{
    return rows_max(lane->op->client) * 2 * sizeof(uint64_t);
}

static int node_reads_make(struct lane *lane, struct message **out)
{
    struct nodes *n = node_reads_operation(lane->op);
    struct client *client = lane->op->client;
    struct message *request = message_create(client->self, MSG_SELECT_REQUEST);
    if (request == NULL)
        return TR_ENOMEM;
    *(struct msg_select_request *)message_head(request) = (struct msg_select_request){
        .part = lane->part,
        .version = client->options->book->node_extents[n->head->ntype][lane->part].version,
        .ntype = n->head->ntype,
        .table = n->head->table,
        .begin = lane->at,
        .rows_max = rows_max(client),
    };
    *out = request;
    return 0;
}

/* Room for more pairs, and the place of all of them in the answer. */
static int node_reads_grow(struct nodes *n, size_t more, struct error *error)
{
    if (more <= n->capacity - n->count)
        return 0;
    size_t wanted = n->count + more, capacity = n->capacity + n->capacity / 2;
    capacity = capacity > wanted ? capacity : wanted;
    /* The memory is charged before it is allocated: the account bounds what is. */
    int rv = operation_charge(&n->op, (capacity - n->capacity) * NODE_BYTES, error);
    if (rv != 0)
        return rv;
    struct node_pair *pairs = realloc(n->pairs, capacity * sizeof *pairs);
    if (pairs == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a set of %zu nodes", wanted);
    n->pairs = pairs;
    n->capacity = capacity;
    return 0;
}

static int node_reads_add(struct nodes *n, const uint64_t *ids, const uint64_t *original_ids,
                          uint32_t count, struct error *error)
{
    int rv = node_reads_grow(n, count, error);
    if (rv != 0)
        return rv;
    for (uint32_t i = 0; i < count; i++)
        n->pairs[n->count++] = (struct node_pair){ original_ids[i], ids[i] };
    return 0;
}

static int node_reads_take(struct lane *lane, struct message *reply, struct error *error)
{
    const struct msg_select_reply *head = message_head(reply);
    const uint64_t *ids = message_body(reply);
    /* An answer that gets no further is refused here: it would be asked for again for ever. */
    if (reply->frame.kind != MSG_SELECT_REPLY ||
        reply->frame.body_bytes != head->count * UINT64_C(16) ||
        (!head->done && head->next <= lane->at))
        return error_set(error, TR_EFORMAT,
                         "partition %" PRIu32 " answered with a selection of "
                         "the wrong shape",
                         lane->part);
    int rv = head->count == 0 ? 0
                              : node_reads_add(node_reads_operation(lane->op), ids,
                                               ids + head->count, head->count, error);
    lane->at = head->next;
    return rv != 0 ? rv : head->done ? LANE_DONE : LANE_MORE;
}

static int read_mask(struct lane *lane, struct error *error)
{
    struct nodes *n = node_reads_operation(lane->op);
    struct local_mask mask;
    uint32_t count;
    int rv = local_mask_find(snapshot_part(lane->snapshot), n->head->ntype, n->head->table, &mask,
                             error);
    if (rv != 0)
        return rv;
    uint64_t end = local_mask_scan(&mask, lane->at, SELECT_ROWS, &count);
    uint64_t *ids = malloc((count + (size_t)1) * 2 * sizeof *ids);
    if (ids == NULL)
        return error_set(error, TR_ENOMEM, "no memory to select nodes");
    local_mask_read(&mask, lane->at, end, ids, ids + count);
    rv = node_reads_add(n, ids, ids + count, count, error);
    free(ids);
    lane->at = end;
    return rv != 0 ? rv : end == mask.table.num_rows ? LANE_DONE : LANE_MORE;
}

/* On a thread of the crew: sorts, then turns pairs into the two arrays of the answer. */
static int sort_piece(struct job *job)
{
    struct nodes *n = job->arg;
    if (!node_sort_step(&n->sort))
        return CREW_MORE;
    uint64_t *out = message_body(n->op.reply);
    /* The answer's body served to sort: pairs that ended up in it leave it before the arrays are
     * written over them. */
    if (n->sort.from != n->pairs)
        memcpy(n->pairs, n->sort.from, n->count * sizeof *n->pairs);
    for (size_t i = 0; i < n->count; i++) {
        out[i] = n->pairs[i].global;
        out[n->count + i] = n->pairs[i].original;
    }
    return CREW_DONE;
}

static void node_reads_sorted(struct actor *self, struct job *job, int status)
{
    struct nodes *n = job->arg;
    (void)self;
    n->op.busy = false;
    operation_end(&n->op, status, tr_strerror(status));
    client_schedule(n->op.client); /* it may have ended before, and waited for this */
}

static void node_reads_finish(struct operation *op);

static void finish_again(struct actor *self, void *arg)
{
    struct operation *op = arg;
    (void)self;
    if (op->state == OPERATION_RUNNING)
        node_reads_finish(op);
}

static void node_reads_finish(struct operation *op)
{
    struct nodes *n = node_reads_operation(op);
    struct actor *self = op->client->self;
    ((struct msg_nodes_reply *)message_head(op->reply))->count = n->count;
    if (n->count == 0) {
        operation_end(op, 0, "");
        return;
    }
    size_t bytes = n->count * 2 * sizeof(uint64_t);
    _Static_assert(sizeof(struct node_pair) == 2 * sizeof(uint64_t), "the answer serves to sort");
    void *body = message_body_alloc(self, op->reply, bytes);
    if (body == NULL) {
        error_set(&op->error, TR_ENOMEM, "no memory for a set of %zu nodes", n->count);
        timer_start(self, &n->retry, actor_now_ns(self) + RETRY_NS, finish_again, op);
        return;
    }
    n->sort = (struct node_sort){ .from = n->pairs, .to = body, .count = n->count };
    n->job = (struct job){ .piece = sort_piece, .done = node_reads_sorted, .arg = n };
    op->busy = true; /* before the crew has it: until it is done nothing of it is freed */
    crew_submit(self, &n->job);
}

static void node_reads_fini(struct operation *op)
{
    struct nodes *n = node_reads_operation(op);
    timer_stop(&n->retry);
    free(n->pairs);
    n->pairs = NULL;
    n->count = n->capacity = 0;
}

const struct operation_ops nodes_ops = {
    .state_bytes = sizeof(struct nodes),
    .size = node_reads_size,
    .begin = node_reads_begin,
    .wants = node_reads_wants,
    .choose = node_reads_choose,
    .make = node_reads_make,
    .take = node_reads_take,
    .read = read_mask,
    .finish = node_reads_finish,
    .fini = node_reads_fini,
};
