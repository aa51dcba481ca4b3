/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/runtime_checker.h"

#include <inttypes.h>
#include <stdlib.h>

#include "actors/common/part_locator.h"
#include "actors/data/snapshot.h"
#include "actors/job/coordinator.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/monitor.h"
#include "runtime/core/timer.h"

#define TICKS 40u
#define GAP_NS UINT64_C(300000)   /* most between two ticks */
#define REACH_NS UINT64_C(200000) /* a call's deadline: often too short */

struct runtime_checker_number {
    uint64_t value;
    uint32_t sender;
    uint32_t lane;
};

enum { LANE_DATA, LANE_URGENT, LANES };

struct runtime_checker {
    struct actor *self;
    struct world *world;
    const struct runtime_checker_args *args;
    struct draws draws;
    uint32_t ticks_left;
    struct timer timer;
    uint64_t sent[LANES];
    uint64_t seen[PROBES_MAX][LANES];
};

/* A call or monitor: counts how often it was notified of its end. */
struct checker_ticket {
    struct world *world;
    uint32_t told;
    enum { TICKET_CALL, TICKET_MONITOR } what;
};

static const struct kind kinds[LANES] = {
    { .id = WORLD_KIND_DATA,
      .name = "runtime_checker_data",
      .lane = KIND_DATA,
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct runtime_checker_number),
      .body_bytes_max = 4096 },
    { .id = WORLD_KIND_URGENT,
      .name = "runtime_checker_urgent",
      .lane = KIND_CONTROL,
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct runtime_checker_number),
      .body_bytes_max = 4096 },
};

int runtime_checker_register(struct kinds *table, struct error *error)
{
    int rv = kinds_add(table, &kinds[LANE_DATA], error);
    return rv != 0 ? rv : kinds_add(table, &kinds[LANE_URGENT], error);
}

static void send_number(struct runtime_checker *p, uint32_t lane)
{
    struct message *message = message_create(p->self, kinds[lane].id);
    if (message == NULL)
        return;
    if (draws_chance(&p->draws, 30))
        message_body_alloc(p->self, message, draws_below(&p->draws, 4096));
    struct runtime_checker_number *head = message_head(message);
    *head = (struct runtime_checker_number){ ++p->sent[lane], p->args->number, lane };
    actor_send(p->self, p->args->peers[draws_below(&p->draws, p->world->scenario.checkers)],
               message);
}

static void runtime_checker_tell(struct checker_ticket *ticket)
{
    if (ticket->told++ > 0)
        world_fail(ticket->world, "a %s ended twice",
                   ticket->what == TICKET_CALL ? "call" : "monitor");
}

static void runtime_checker_called(struct actor *self, void *arg, int status, struct message *reply)
{
    struct checker_ticket *ticket = arg;
    runtime_checker_tell(ticket);
    ticket->world->tally.calls_completed++;
    if ((status == 0) != (reply != NULL))
        world_fail(ticket->world, "a call ended with %d and %s reply", status,
                   reply != NULL ? "a" : "no");
    message_release(self, reply);
    free(ticket);
}

static void went_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct checker_ticket *ticket = arg;
    (void)self;
    (void)who;
    (void)reason;
    runtime_checker_tell(ticket);
    ticket->world->tally.downs++;
    free(ticket);
}

static struct checker_ticket *ticket_create(struct world *world, int what)
{
    struct checker_ticket *ticket = calloc(1, sizeof *ticket);
    if (ticket != NULL) {
        ticket->world = world;
        ticket->what = what;
    }
    return ticket;
}

static void call_one(struct runtime_checker *p, struct address who)
{
    struct checker_ticket *ticket = ticket_create(p->world, TICKET_CALL);
    struct message *request = message_create(p->self, MSG_SELECT_REQUEST);
    struct call_id id;
    if (ticket == NULL || request == NULL) {
        message_release(p->self, request);
        free(ticket);
        return;
    }
    *(struct msg_select_request *)message_head(request) = (struct msg_select_request){
        .part = (uint32_t)draws_below(&p->draws, p->world->scenario.parts),
        .version = SNAPSHOT_NEWEST,
        .table = MSG_MASK_ALL,
        .rows_max = 1,
    };
    uint64_t deadline_ns = actor_now_ns(p->self) + draws_below(&p->draws, REACH_NS);
    if (actor_call(p->self, who, request, deadline_ns, runtime_checker_called, ticket, &id) != 0) {
        free(ticket);
        return;
    }
    p->world->tally.calls_opened++;
    if (draws_chance(&p->draws, 15))
        actor_cancel(p->self, id);
}

static void monitor_one(struct runtime_checker *p, struct address who)
{
    struct checker_ticket *ticket = ticket_create(p->world, TICKET_MONITOR);
    struct call_id id;
    if (ticket == NULL || actor_monitor(p->self, who, went_down, ticket, &id) != 0) {
        free(ticket);
        return;
    }
    if (draws_chance(&p->draws, 20) && actor_demonitor(p->self, id) == 0)
        free(ticket);
    else
        p->world->tally.monitors++;
}

static void runtime_checker_found(struct actor *self, void *arg, int status, struct address address)
{
    struct runtime_checker *p = arg;
    (void)self;
    if (status != 0)
        return;
    if (draws_chance(&p->draws, 60))
        call_one(p, address);
    else
        monitor_one(p, address);
}

static void look_up(struct runtime_checker *p)
{
    char name[DIRECTORY_NAME_MAX];
    const struct scenario *s = &p->world->scenario;
    switch (draws_below(&p->draws, 4)) {
    case 0:
        sampler_name((uint32_t)draws_below(&p->draws, s->samplers), name, sizeof name);
        directory_lookup(p->self, name, runtime_checker_found, p);
        break;
    case 1:
        directory_lookup(p->self, WORLD_PROXY, runtime_checker_found, p);
        break;
    case 2:
        directory_lookup(p->self, COORDINATOR_NAME, runtime_checker_found, p);
        break;
    default:
        server_part_name((uint32_t)draws_below(&p->draws, s->parts), name);
        directory_lookup(p->self, name, runtime_checker_found, p);
        break;
    }
}

static void runtime_checker_tick(struct actor *self, void *arg)
{
    struct runtime_checker *p = arg;
    for (uint64_t n = draws_below(&p->draws, 6); n > 0; n--)
        send_number(p, draws_chance(&p->draws, 50) ? LANE_DATA : LANE_URGENT);
    look_up(p);
    if (--p->ticks_left > 0)
        timer_start(self, &p->timer, actor_now_ns(self) + draws_below(&p->draws, GAP_NS),
                    runtime_checker_tick, p);
}

/* A full mailbox loses data messages, so numbers may be missing, but never come late. */
static int runtime_checker_receive(struct actor *self, struct message *message)
{
    struct runtime_checker *p = actor_state(self);
    if (message->frame.kind == WORLD_KIND_DATA || message->frame.kind == WORLD_KIND_URGENT) {
        const struct runtime_checker_number *head = message_head(message);
        uint64_t *seen = &p->seen[head->sender][head->lane];
        if (head->value <= *seen)
            world_fail(p->world,
                       "checker %" PRIu32 ": number %" PRIu64 " of %" PRIu32 " in lane %" PRIu32
                       " came after %" PRIu64,
                       p->args->number, head->value, head->sender, head->lane, *seen);
        *seen = head->value;
    }
    message_release(self, message);
    return 0;
}

static int runtime_checker_start(struct actor *self, const void *arg)
{
    const struct runtime_checker_args *args = arg;
    struct runtime_checker *p = calloc(1, sizeof *p);
    if (p == NULL)
        return TR_ENOMEM;
    actor_set_state(self, p);
    p->self = self;
    p->world = args->world;
    p->args = args;
    p->draws = world_draws(p->world, WORLD_DRAWS_PROBE, args->number);
    p->ticks_left = TICKS;
    timer_start(self, &p->timer, actor_now_ns(self), runtime_checker_tick, p);
    return 0;
}

static void runtime_checker_fini(struct actor *self)
{
    free(actor_state(self));
}

const struct actor_ops runtime_checker_ops = {
    .name = "checker",
    .start = runtime_checker_start,
    .receive = runtime_checker_receive,
    .fini = runtime_checker_fini,
};
