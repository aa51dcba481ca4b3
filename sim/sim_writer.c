/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a writer:
 *
 *     OPEN at the home --made it--> OPEN at the others -> READY -+-> WRITE or READ, again and again
 *                      --found it-------------------------------+
 *     any of them --the tensor is gone--> OPEN; --no answer to an opening--> DROP by name -> OPEN
 *
 * Invariants: a step is under way from writer_begin() to writer_done(), with one deadline; between
 * them there is a search for the client, a call of it or the timer, and exactly one of them. Writers
 * of different processes write different rows, and one writer does one thing at a time.
 */
#include "sim/sim_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "actors/data/client.h"
#include "graph/key.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "schemas/body.h"
#include "sim/fleet.h"

#define WRITE_AGAIN_NS UINT64_C(5000000)
#define WRITE_GRACE_NS UINT64_C(1000000000)
#define WRITE_ROWS_MAX 60u
#define DEADLINE_FIRST_NS UINT64_C(1000000)
#define NAME "shared"
#define NAME_BYTES 6u
#define TYPE 0u /* of the nodes that it has rows of */

struct sim_row {
    uint64_t id, count;
};

struct sim_ledger {
    struct sim_ledger *next;
    uint64_t number;
    uint32_t era; /* in which it was made, as its home said */
    uint64_t num_rows;
    uint64_t *tried, *acknowledged; /* [num_rows] */
};

enum sim_writing { OPEN_HOME, OPEN_OTHERS, MAKE_READY, DROP_NAMED, WRITE_ROWS, READ_ROWS };

struct sim_writer {
    struct actor *self;
    struct fleet *fleet;
    struct fleet_process *process;
    struct draws draws;
    struct timer timer;
    enum sim_writing step;
    struct sim_ledger *ledger; /* of the tensor that is open; NULL: none is */
    uint64_t number, era;
    uint64_t numbers; /* drawn */
    uint32_t count;
    uint64_t ids[WRITE_ROWS_MAX], least[WRITE_ROWS_MAX];
    struct sim_row rows[WRITE_ROWS_MAX];
    uint64_t begin_ns, deadline_ns;
    uint32_t left; /* steps to come */
};

static void writer_find(struct sim_writer *w);
static void writer_begin(struct actor *self, void *arg);

void sim_ledgers_free(struct sim_ledger *first)
{
    while (first != NULL) {
        struct sim_ledger *next = first->next;
        free(first->tried);
        free(first->acknowledged);
        free(first);
        first = next;
    }
}

static uint64_t num_rows_of(const struct sim_writer *w)
{
    return w->fleet->partitions.raw->num_nodes[TYPE];
}

static struct sim_ledger *find_ledger(struct sim_writer *w, uint64_t number)
{
    struct sim_ledger *ledger = w->fleet->ledgers;
    while (ledger != NULL && ledger->number != number)
        ledger = ledger->next;
    if (ledger != NULL)
        return ledger;
    ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL)
        return NULL;
    *ledger = (struct sim_ledger){ .next = w->fleet->ledgers,
                                   .number = number,
                                   .num_rows = num_rows_of(w) };
    ledger->tried = calloc(ledger->num_rows + 1, sizeof *ledger->tried);
    ledger->acknowledged = calloc(ledger->num_rows + 1, sizeof *ledger->acknowledged);
    if (ledger->tried == NULL || ledger->acknowledged == NULL) {
        ledger->next = NULL;
        sim_ledgers_free(ledger);
        return NULL;
    }
    w->fleet->ledgers = ledger;
    return ledger;
}

static void writer_fail(struct sim_writer *w, const char *what)
{
    static const char *const STEPS[] = { "opening at home", "opening at the others",
                                         "publishing",      "deletion",
                                         "write",           "read" };
    fleet_fail(w->fleet, "process %" PRIu32 ", %s of a tensor, begun at %.6f: %s, at %.6f",
               w->process->number, STEPS[w->step], (double)w->begin_ns / 1e9, what,
               (double)actor_now_ns(w->self) / 1e9);
}

static void writer_done(struct sim_writer *w)
{
    if (w->left == 0)
        return;
    w->left--;
    timer_start(w->self, &w->timer,
                actor_now_ns(w->self) + draws_below(&w->draws, w->fleet->plan.write_ns),
                writer_begin, w);
}

/* The tensor is gone, or was not opened. */
static void writer_let_go(struct sim_writer *w, enum sim_writing next)
{
    w->ledger = NULL;
    w->step = next;
    writer_done(w);
}

/* It is open: from now on rows are written and read. */
static void writer_opened(struct sim_writer *w)
{
    w->ledger = find_ledger(w, w->number);
    if (w->ledger == NULL) {
        writer_let_go(w, OPEN_HOME);
        return;
    }
    if (w->ledger->era == 0)
        w->ledger->era = (uint32_t)w->era;
    /* Eras are known to this process by what it asked with: 0, none is. */
    uint32_t known = job_era_now(&w->process->actors.era);
    if (known != 0 && w->ledger->era != 0 && w->ledger->era < known && w->era >= known)
        writer_fail(w, "it is of an era that has ended");
    w->step = READ_ROWS;
    writer_done(w);
}

static void check_rows_read(struct sim_writer *w, const struct message *reply)
{
    if (reply->frame.kind != MSG_FETCH_REPLY ||
        reply->frame.body_bytes != w->count * sizeof *w->rows) {
        writer_fail(w, "the answer has another shape");
        return;
    }
    for (uint32_t i = 0; i < w->count; i++) {
        struct sim_row row;
        memcpy(&row, (const unsigned char *)message_body(reply) + i * sizeof row, sizeof row);
        bool is_zero = row.id == 0 && row.count == 0 && w->least[i] == 0;
        if (!is_zero && row.id != w->ids[i] + 1)
            writer_fail(w, "a row is another one's");
        else if (row.count < w->least[i])
            writer_fail(w, "a row is older than what was acknowledged");
        else if (row.count > w->ledger->tried[w->ids[i]])
            writer_fail(w, "a row has what nobody wrote");
    }
}

static void take_written(struct sim_writer *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        uint64_t *acknowledged = &w->ledger->acknowledged[w->ids[i]];
        if (w->rows[i].count > *acknowledged)
            *acknowledged = w->rows[i].count;
    }
}

static void writer_take(struct sim_writer *w, const struct message *reply)
{
    const struct msg_tensor_reply *head = (const void *)reply->head;
    switch (w->step) {
    case OPEN_HOME:
        w->number = head->tensor;
        w->era = head->era;
        if (head->created == 0) {
            writer_opened(w);
            return;
        }
        w->step = w->fleet->partitions.book.num_parts > 1 ? OPEN_OTHERS : MAKE_READY;
        break;
    case OPEN_OTHERS:
        w->step = MAKE_READY;
        break;
    case MAKE_READY:
        writer_opened(w);
        return;
    case DROP_NAMED:
        w->step = OPEN_HOME;
        break;
    case WRITE_ROWS:
        take_written(w);
        w->fleet->tally.writes++;
        break;
    case READ_ROWS:
        check_rows_read(w, reply);
        w->fleet->tally.reads++;
        break;
    }
    writer_done(w);
}

static void writer_look(struct actor *self, void *arg)
{
    (void)self;
    writer_find(arg);
}

/* As graph_operate() has it. */
static void writer_again(struct sim_writer *w)
{
    uint64_t now_ns = actor_now_ns(w->self);
    if (now_ns < w->deadline_ns)
        timer_start(w->self, &w->timer, now_ns + WRITE_AGAIN_NS, writer_look, w);
    else
        writer_done(w);
}

static void writer_expired(struct sim_writer *w)
{
    if (actor_now_ns(w->self) < w->deadline_ns)
        writer_fail(w, "its time was over before the deadline");
    /* One that is made by a process that died may be waited for in vain: it is deleted. */
    if (w->step < DROP_NAMED)
        writer_let_go(w, DROP_NAMED);
    else
        writer_done(w);
}

static void writer_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_writer *w = arg;
    struct error error = { 0 };
    w->fleet->tally.calls_completed++;
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    /* A refusal for whose text there was no memory is a status alone. */
    if (status == TR_ENOENT || status == TR_EROLLBACK)
        failed = status;
    if (status == TR_ECANCELED) { /* this actor ends */
    } else if (status == TR_ETIMEDOUT || failed == TR_ETIMEDOUT) {
        writer_expired(w);
    } else if (part_call_peer_recovers(status)) {
        writer_again(w);
    } else if (failed == TR_ENOENT || failed == TR_EROLLBACK) {
        writer_let_go(w, OPEN_HOME);
    } else if (status != 0) {
        writer_fail(w, tr_error_name(status));
    } else if (failed != 0) {
        writer_fail(w, error.text);
    } else {
        writer_take(w, reply);
    }
    message_release(self, reply);
}

static struct message *make_order(struct sim_writer *w, uint64_t timeout_ns)
{
    const uint64_t dims[] = { sizeof(struct sim_row) / sizeof(uint64_t) };
    struct message *request = message_create(w->self, MSG_TENSOR_REQUEST);
    unsigned char *body = request == NULL
                              ? NULL
                              : message_body_alloc(w->self, request, sizeof dims + NAME_BYTES);
    if (body == NULL) {
        message_release(w->self, request);
        return NULL;
    }
    memcpy(body, dims, sizeof dims);
    memcpy(body + sizeof dims, NAME, NAME_BYTES);
    *(struct msg_tensor_request *)message_head(request) = (struct msg_tensor_request){
        .timeout_ns = timeout_ns,
        .tensor = w->step == DROP_NAMED ? 0 : w->number,
        .action = w->step == MAKE_READY   ? MSG_TENSOR_READY
                  : w->step == DROP_NAMED ? MSG_TENSOR_DROP
                                          : MSG_TENSOR_OPEN,
        .parts = w->step == OPEN_OTHERS ? MSG_TENSOR_OTHERS : MSG_TENSOR_HOME,
        .era = (uint32_t)w->era,
        .ntype = TYPE,
        .dtype = TR_I64,
        .num_dims = 1,
        .name_bytes = NAME_BYTES,
        .flags = MSG_TENSOR_CREATE,
    };
    return request;
}

static struct message *make_rows(struct sim_writer *w, uint64_t timeout_ns)
{
    bool reads = w->step == READ_ROWS;
    size_t numbers = w->count * sizeof *w->ids;
    size_t begin = (size_t)tensor_rows_begin(w->count, sizeof *w->ids);
    size_t bytes = reads ? numbers : begin + w->count * sizeof *w->rows;
    struct message *request = message_create(w->self, reads ? MSG_FETCH_REQUEST : MSG_TENSOR_STORE);
    unsigned char *body = request == NULL ? NULL : message_body_alloc(w->self, request, bytes);
    if (body == NULL) {
        message_release(w->self, request);
        return NULL;
    }
    memset(body, 0, bytes);
    memcpy(body, w->ids, numbers);
    if (reads) {
        *(struct msg_fetch_request *)message_head(request) = (struct msg_fetch_request){
            .timeout_ns = timeout_ns,
            .row_bytes = sizeof *w->rows,
            .ntype = TYPE,
            .table = MSG_TABLE_TENSOR,
            .count = w->count,
            .era = (uint32_t)w->era,
            .tensor = w->number,
        };
        return request;
    }
    memcpy(body + begin, w->rows, w->count * sizeof *w->rows);
    *(struct msg_tensor_store *)message_head(request) = (struct msg_tensor_store){
        .timeout_ns = timeout_ns,
        .tensor = w->number,
        .row_bytes = sizeof *w->rows,
        .ntype = TYPE,
        .era = (uint32_t)w->era,
        .count = w->count,
    };
    return request;
}

static void writer_found(struct actor *self, void *arg, int status, struct address client)
{
    struct sim_writer *w = arg;
    uint64_t now_ns = actor_now_ns(self);
    uint64_t timeout_ns = w->deadline_ns > now_ns ? w->deadline_ns - now_ns : 0;
    if (status == TR_ECANCELED) /* this actor ends */
        return;
    if (status == TR_ETIMEDOUT) {
        writer_expired(w);
        return;
    }
    struct message *request = status != 0            ? NULL
                              : w->step < WRITE_ROWS ? make_order(w, timeout_ns)
                                                     : make_rows(w, timeout_ns);
    if (request == NULL || actor_call(self, client, request, w->deadline_ns + WRITE_GRACE_NS,
                                      writer_answered, w, NULL) != 0)
        writer_again(w);
    else
        w->fleet->tally.calls_opened++;
}

static void writer_find(struct sim_writer *w)
{
    if (directory_wait(w->self, CLIENT_NAME, w->deadline_ns + WRITE_GRACE_NS, writer_found, w) != 0)
        writer_again(w);
}

/* A number that no other life of a writer draws. */
static void draw_tensor(struct sim_writer *w)
{
    uint64_t who = (uint64_t)w->process->number << 32 | w->process->incarnation;
    w->number = key_of_pair(who + 1, w->numbers++) | 1;
    w->era = job_era_now(&w->process->actors.era);
}

/* Rows of this process's own, some of them twice; or any. */
static void choose_rows(struct sim_writer *w)
{
    uint32_t processes = w->fleet->plan.plan.num_processes, own = w->process->number;
    uint64_t num_rows = w->ledger->num_rows;
    uint64_t rows = num_rows > own ? (num_rows - own - 1) / processes + 1 : 0;
    w->step = rows > 0 && draws_chance(&w->draws, 50) ? WRITE_ROWS : READ_ROWS;
    w->count = num_rows == 0 ? 0 : (uint32_t)draws_below(&w->draws, WRITE_ROWS_MAX + 1);
    for (uint32_t i = 0; i < w->count; i++) {
        bool writes = w->step == WRITE_ROWS;
        w->ids[i] = writes ? own + draws_below(&w->draws, rows) * processes
                           : draws_below(&w->draws, num_rows);
        w->least[i] = w->ledger->acknowledged[w->ids[i]];
        if (writes)
            w->rows[i] = (struct sim_row){ w->ids[i] + 1, ++w->ledger->tried[w->ids[i]] };
    }
}

static void writer_begin(struct actor *self, void *arg)
{
    struct sim_writer *w = arg;
    if (w->step == OPEN_HOME)
        draw_tensor(w);
    if (w->ledger != NULL && draws_chance(&w->draws, 4)) {
        w->ledger = NULL;
        w->step = DROP_NAMED;
    }
    if (w->ledger != NULL)
        choose_rows(w);
    w->begin_ns = actor_now_ns(self);
    w->deadline_ns = w->begin_ns + draws_scale(&w->draws, DEADLINE_FIRST_NS, 10 * ENV_SECOND_NS);
    writer_find(w);
}

static int sim_writer_start(struct actor *self, const void *arg)
{
    const struct fleet_seat *seat = arg;
    struct sim_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return TR_ENOMEM;
    actor_set_state(self, w);
    w->self = self;
    w->fleet = seat->fleet;
    w->process = seat->process;
    w->left = seat->fleet->plan.writes;
    w->draws = draws_of(seat->fleet->plan.seed, (uint64_t)1 << 57 |
                                                    (uint64_t)seat->process->incarnation << 16 |
                                                    (uint64_t)seat->process->number << 8);
    writer_done(w);
    return 0;
}

static int sim_writer_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void sim_writer_fini(struct actor *self)
{
    free(actor_state(self));
}

const struct actor_ops sim_writer_ops = {
    .name = "writer",
    .start = sim_writer_start,
    .receive = sim_writer_receive,
    .fini = sim_writer_fini,
};
