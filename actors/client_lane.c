/* Partition after partition: asking owners until they answer, and reading what is here. */
#include <inttypes.h>
#include <stdio.h>

#include "actors/client_state.h"
#include "actors/failed.h"

/* An owner that was lost or full is asked again after this. */
#define RETRY_NS UINT64_C(5000000)

/* A request without an answer goes out again after this: answers take milliseconds. */
#define CALL_NS UINT64_C(10000000000)

static void send_lane(struct lane *lane);

static struct actor *self_of(const struct lane *lane)
{
    return lane->op->client->self;
}

static void retry(struct actor *self, void *arg)
{
    (void)self;
    send_lane(arg);
}

static void retry_later(struct lane *lane)
{
    struct actor *self = self_of(lane);
    timer_start(self, &lane->timer, actor_now_ns(self) + RETRY_NS, retry, lane);
}

static struct snapshot *acquire(const struct operation *op, uint32_t part)
{
    struct snapshots *here = op->client->options->snapshots;
    return here == NULL ? NULL : snapshot_acquire(here, part, SNAPSHOT_NEWEST);
}

/* To the next partition that is wanted and of this lane's kind; false: there is none. */
static bool move_on(struct lane *lane)
{
    struct operation *op = lane->op;
    uint32_t *next = &op->next_part[lane->local];
    snapshot_release(lane->snapshot);
    lane->snapshot = NULL;
    while (*next < op->client->options->book->num_parts) {
        uint32_t part = (*next)++;
        struct snapshot *snapshot = op->ops->wants(op, part) ? acquire(op, part) : NULL;
        bool mine = op->ops->wants(op, part) && (snapshot != NULL) == lane->local;
        if (!mine) {
            snapshot_release(snapshot);
            continue;
        }
        lane->part = part;
        lane->snapshot = snapshot;
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
    if (lane->busy && !lane->local)
        send_lane(lane);
    else if (lane->busy)
        client_schedule(op->client);
    else if (--op->lanes_open == 0 && op->state == OPERATION_RUNNING)
        op->ops->finish(op);
}

void lanes_start(struct operation *op)
{
    op->next_part[0] = op->next_part[1] = 0;
    op->lanes_open = CLIENT_LANES;
    for (uint32_t i = 0; i < CLIENT_LANES; i++)
        op->lanes[i] = (struct lane){ .op = op, .local = i == 0 };
    /* Those who ask first: their answers travel while the rest is read. */
    for (uint32_t i = CLIENT_LANES; i-- > 0 && op->state == OPERATION_RUNNING;)
        next_partition(&op->lanes[i]);
}

void lanes_stop(struct operation *op)
{
    for (uint32_t i = 0; i < CLIENT_LANES && op->lanes[i].op != NULL; i++) {
        struct lane *lane = &op->lanes[i];
        lane->busy = lane->lost = false;
        timer_stop(&lane->timer);
        if (lane->call.id != 0)
            actor_cancel(self_of(lane), lane->call);
        lane->call = (struct call_id){ 0 };
        room_release(&lane->room);
        snapshot_release(lane->snapshot);
        lane->snapshot = NULL;
    }
}

void lanes_fini(struct operation *op)
{
    for (uint32_t i = 0; i < CLIENT_LANES; i++)
        room_fini(&op->lanes[i].room);
    lanes_stop(op);
}

/* What passes is tried again; the sentence is kept for the deadline. */
static void note(struct lane *lane, int status)
{
    error_set(&lane->op->error, status, "partition %" PRIu32 ": %s", lane->part,
              tr_strerror(status));
    retry_later(lane);
}

static void wake_lost(struct client *client, uint32_t part, bool found)
{
    for (struct operation *op = client->first; op != NULL; op = op->next)
        for (uint32_t i = 0; i < CLIENT_LANES; i++) {
            struct lane *lane = &op->lanes[i];
            if (!lane->lost || lane->part != part)
                continue;
            lane->lost = false;
            if (found)
                send_lane(lane);
            else
                note(lane, TR_EPEERDOWN);
        }
}

void lanes_found_owner(struct actor *self, uint32_t part, int status)
{
    wake_lost(actor_state(self), part, status == 0);
}

static bool is_passing(int status)
{
    return status == TR_EPEERDOWN || status == TR_ETIMEDOUT || status == TR_EFULL ||
           status == TR_ENOMEM;
}

static void take(struct lane *lane, struct message *reply)
{
    struct operation *op = lane->op;
    struct error error = { 0 };
    int rv = failed_read(reply, &error);
    if (is_passing(rv)) {
        message_release(self_of(lane), reply);
        op->error = error;
        retry_later(lane);
        return;
    }
    if (rv == 0)
        rv = op->ops->take(lane, reply, &error);
    message_release(self_of(lane), reply);
    if (rv < 0)
        operation_end(op, rv, error.text);
    else if (rv == LANE_MORE)
        send_lane(lane);
    else
        next_partition(lane);
}

static void done(struct actor *self, void *arg, int status, struct message *reply)
{
    struct lane *lane = arg;
    (void)self;
    lane->call = (struct call_id){ 0 };
    room_release(&lane->room);
    if (status == TR_ECANCELED)
        return;
    if (status == 0) {
        take(lane, reply);
        return;
    }
    owners_lost(&lane->op->client->owners, lane->part, lane->to, status);
    if (is_passing(status)) {
        note(lane, status);
        return;
    }
    struct error error = { 0 };
    error_set(&error, status, "partition %" PRIu32 ": %s", lane->part, tr_strerror(status));
    operation_end(lane->op, status, error.text);
}

static void room_granted(struct actor *self, void *arg, int status)
{
    (void)self;
    if (status == 0)
        send_lane(arg);
    else
        note(arg, status);
}

/* 0: it may be sent; 1: it will be, when there is room for its answer. */
static int make_room(struct lane *lane)
{
    struct client *client = lane->op->client;
    if (!room_is_needed(client->self, lane->to))
        return 0;
    return room_reserve(&lane->room, client->options->replies, client->self, lane->reply_bytes,
                        lane->op->deadline.at_ns, room_granted, lane);
}

static void send_lane(struct lane *lane)
{
    struct operation *op = lane->op;
    struct client *client = op->client;
    if (op->state != OPERATION_RUNNING)
        return;
    lane->to = owners_address(&client->owners, lane->part);
    if (address_is_none(lane->to)) {
        room_release(&lane->room);
        lane->lost = true;
        owners_find(&client->owners, lane->part, op->deadline.at_ns);
        return;
    }
    uint64_t call_ns = client->options->call_ns != 0 ? client->options->call_ns : CALL_NS;
    uint64_t until = actor_now_ns(client->self) + call_ns;
    until = until < op->deadline.at_ns ? until : op->deadline.at_ns;
    struct message *request;
    int rv = op->ops->make(lane, &request);
    int room = rv == 0 ? make_room(lane) : rv;
    if (rv == 0 && room != 0)
        message_release(client->self, request);
    if (room == 1)
        return;
    if (room == 0)
        room = actor_call(client->self, lane->to, request, until, done, lane, &lane->call);
    if (room != 0) {
        room_release(&lane->room);
        note(lane, room);
    }
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
