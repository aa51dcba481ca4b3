/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition after partition: asking owners until they answer, and reading what is here.
 *
 * Invariants: lane 0 takes the partitions that are here, the others share those that are not; each
 * partition is taken once (`next_part`). Which are here is decided when the operation begins
 * (`here`): lanes that looked by themselves could leave one that was retired in between to each
 * other. A busy lane has a partition, and either a call under way or a turn of client_work() to
 * come. The lane that is the last to find no partition finishes the operation.
 */
#include "actors/data/client_state.h"

#include <inttypes.h>
#include <stdlib.h>

static void send_lane(struct lane *lane);

/* To the next partition that is wanted and of this lane's kind; false: there is none. */
static bool move_on(struct lane *lane)
{
    struct operation *op = lane->op;
    uint32_t *next = &op->next_part[lane->local];
    lane->snapshot = NULL;
    while (*next < op->client->options->book->num_parts) {
        uint32_t part = (*next)++;
        struct snapshot *here = op->here == NULL ? NULL : op->here[part];
        if (!op->ops->wants(op, part) || (here != NULL) != lane->local)
            continue;
        lane->part = part;
        lane->snapshot = here;
        lane->at = 0;
        return true;
    }
    return false;
}

/* The partition is done; a lane without another one closes, the last one finishes all. */
static void next_partition(struct lane *lane)
{
    struct operation *op = lane->op;
    lane->busy = move_on(lane);
    if (lane->busy && !lane->local) {
        lane->call.part = lane->part;
        part_call_reset(&lane->call); /* another server, perhaps a faster one */
        send_lane(lane);
    } else if (lane->busy) {
        client_schedule(op->client);
    } else if (--op->lanes_open == 0 && op->state == OPERATION_RUNNING) { /* not ended before */
        op->ops->finish(op);
    }
}

static void take_answer(struct lane *lane, struct message *reply)
{
    struct operation *op = lane->op;
    struct error error = { 0 };
    int rv = op->ops->take(lane, reply, &error);
    /* The reply is released before the next piece is asked for, whose reply takes the same
     * memory. */
    message_release(op->client->self, reply);
    if (rv < 0)
        operation_end(op, rv, error.text);
    else if (rv == LANE_MORE)
        send_lane(lane);
    else
        next_partition(lane);
}

static int make_request(struct part_call *call, struct message **request)
{
    struct lane *lane = call->arg;
    return lane->op->ops->make(lane, request);
}

/* The deadline of the operation says what it waited for. */
static void note_failure(struct part_call *call, const struct error *why)
{
    ((struct lane *)call->arg)->op->error = *why;
}

static void lane_done(struct part_call *call, int status, struct message *reply,
                      const struct error *error)
{
    struct lane *lane = call->arg;
    if (status == 0)
        take_answer(lane, reply);
    else if (status == TR_ETIMEDOUT) /* the deadline is the operation's */
        operation_expire(lane->op);
    else
        operation_end_about(lane->op, status, error->text, error->process_1);
}

static const struct part_call_ops lane_ops = { .make = make_request,
                                               .failed = note_failure,
                                               .done = lane_done };

static void init_lane(struct lane *lane, struct operation *op, bool local)
{
    struct client *client = op->client;
    *lane = (struct lane){ .op = op, .local = local };
    lane->call = (struct part_call){ .ops = &lane_ops,
                                     .self = client->self,
                                     .arg = lane,
                                     .owners = op->at_owners ? &client->owners : &client->servers,
                                     .replies = client->options->replies,
                                     .call_ns = client->options->call_ns };
}

int lanes_hold(struct operation *op, struct error *error)
{
    const struct client_options *options = op->client->options;
    const struct book *book = options->book;
    if (options->snapshots == NULL || op->at_owners)
        return 0;
    op->here = calloc(book->num_parts + (size_t)1, sizeof(struct snapshot *));
    if (op->here == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %" PRIu32 " partitions", book->num_parts);
    for (uint32_t p = 0; p < book->num_parts; p++)
        if (op->ops->wants(op, p))
            op->here[p] = snapshot_acquire(options->snapshots, p, book_part_version(book, p));
    return 0;
}

void lanes_start(struct operation *op)
{
    op->next_part[0] = op->next_part[1] = 0;
    op->lanes_open = CLIENT_LANES; /* all, before the first: one may find nothing to do at once */
    for (uint32_t i = 0; i < CLIENT_LANES; i++)
        init_lane(&op->lanes[i], op, i == 0);
    /* Lanes that ask come first: their answers travel while the rest is read. */
    for (uint32_t i = CLIENT_LANES; i-- > 0 && op->state == OPERATION_RUNNING;)
        next_partition(&op->lanes[i]);
}

void lanes_stop(struct operation *op)
{
    for (uint32_t i = 0; i < CLIENT_LANES && op->lanes[i].op != NULL; i++) {
        struct lane *lane = &op->lanes[i];
        lane->busy = false;
        part_call_cancel(&lane->call);
        lane->snapshot = NULL;
    }
    for (uint32_t p = 0; op->here != NULL && p < op->client->options->book->num_parts; p++)
        snapshot_release(op->here[p]);
    free(op->here);
    op->here = NULL;
}

void lanes_fini(struct operation *op)
{
    /* The calls end first: their waits for memory have ended with the actor, and lanes_stop()
     * would cancel them once more. */
    for (uint32_t i = 0; i < CLIENT_LANES; i++)
        part_call_fini(&op->lanes[i].call);
    lanes_stop(op);
}

static void send_lane(struct lane *lane)
{
    struct operation *op = lane->op;
    if (op->state != OPERATION_RUNNING)
        return;
    lane->call.reply_bytes = op->ops->choose(lane);
    part_call_send(&lane->call, op->deadline.at_ns);
}

bool lanes_read(struct operation *op)
{
    struct lane *lane = &op->lanes[0];
    struct error error = { 0 };
    if (op->state != OPERATION_RUNNING || !lane->busy)
        return false;
    int rv = op->ops->read(lane, &error);
    if (rv < 0)
        operation_end(op, rv, error.text);
    else if (rv == LANE_DONE)
        next_partition(lane);
    return true;
}
