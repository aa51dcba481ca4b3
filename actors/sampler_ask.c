/* Asking servers: requests go out again until they are answered or the recovery deadline passes. */
#include <inttypes.h>
#include <stdio.h>

#include "actors/sampler_state.h"

/* A server that was lost or full is asked again after this. */
#define RETRY_NS UINT64_C(5000000)

/* A request without an answer goes out again after this: answers take milliseconds. */
#define CALL_NS UINT64_C(10000000000)

/* A server that is slower than that must still get to answer: up to 1024 times as long. */
#define DOUBLINGS_MAX 10u

#define SENTENCE_MAX 256u /* two names and what failed; more is cut off */

static void send_ask(struct ask *ask);

static void retry(struct actor *self, void *arg)
{
    (void)self;
    send_ask(arg);
}

static void retry_later(struct ask *ask)
{
    struct actor *self = ask->task->sampler->self;
    timer_start(self, &ask->timer, actor_now_ns(self) + RETRY_NS, retry, ask);
}

/* Those who waited for a server of that partition go on, or wait and look again. */
void sampler_found_server(struct actor *self, uint32_t part, int status)
{
    struct sampler *s = actor_state(self);
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++) {
        struct ask *ask = &s->tasks[i].asks[part];
        if (!ask->lost)
            continue;
        ask->lost = false;
        if (status == 0)
            send_ask(ask);
        else
            retry_later(ask);
    }
}

static void fail_late(struct ask *ask)
{
    char text[SENTENCE_MAX];
    snprintf(text, sizeof text, "partition %" PRIu32 " did not answer within the recovery "
             "deadline of %" PRIu64 " ms", ask->part,
             ask->task->sampler->options->recovery_ns / 1000000);
    sampler_fail_task(ask->task, TR_ETIMEDOUT, text);
}

static void finish_ask(struct ask *ask)
{
    ask->what = ASK_NOTHING;
    if (--ask->task->asks_open == 0)
        sampler_schedule(ask->task->sampler);
}

static void fail_with(struct task *task, int code, struct message *reply)
{
    char text[SENTENCE_MAX];
    snprintf(text, sizeof text, "%.*s", (int)reply->frame.body_bytes,
             reply->body == NULL ? "" : (const char *)message_body(reply));
    message_release(task->sampler->self, reply);
    sampler_fail_task(task, code, text);
}

static void take(struct ask *ask, struct message *reply)
{
    struct task *task = ask->task;
    struct error error = { 0 };
    if (reply->frame.kind == MSG_FAILED) {
        fail_with(task, ((const struct msg_failed *)message_head(reply))->code, reply);
        return;
    }
    bool fits = reply->frame.kind == (ask->what == ASK_SAMPLES ? MSG_SAMPLE_REPLY : MSG_ROWS_REPLY);
    int rv = !fits ? error_set(&error, TR_EFORMAT, "partition %" PRIu32 " answered with a "
                               "message of kind %u", ask->part, reply->frame.kind)
             : ask->what == ASK_SAMPLES ? sampler_take_samples(ask, reply, &error)
                                        : sampler_take_rows(ask, reply, &error);
    message_release(task->sampler->self, reply);
    if (rv < 0)
        sampler_fail_task(task, rv, error.text);
    else if (rv == 0)
        finish_ask(ask);
    else
        send_ask(ask);
}

static void done(struct actor *self, void *arg, int status, struct message *reply)
{
    struct ask *ask = arg;
    (void)self;
    ask->call = (struct call_id){ 0 };
    room_release(&ask->room);
    if (status == TR_ECANCELED)
        return;
    if (status == 0) {
        take(ask, reply);
        return;
    }
    if (status == TR_ETIMEDOUT && ask->timeouts < DOUBLINGS_MAX)
        ask->timeouts++;
    owners_lost(&ask->task->sampler->servers, ask->part, ask->to, status);
    if (status == TR_EPEERDOWN || status == TR_ETIMEDOUT || status == TR_EFULL ||
        status == TR_ENOMEM) {
        retry_later(ask);
        return;
    }
    char text[SENTENCE_MAX];
    snprintf(text, sizeof text, "partition %" PRIu32 ": %s", ask->part, tr_strerror(status));
    sampler_fail_task(ask->task, status, text);
}

static void room_granted(struct actor *self, void *arg, int status)
{
    (void)self;
    if (status == 0)
        send_ask(arg);
    else
        retry_later(arg);
}

/* 0: it may be sent; 1: it will be, when a server is found or there is room for its answer. */
static int make_ready(struct ask *ask)
{
    struct sampler *s = ask->task->sampler;
    uint64_t until_ns = ask->task->recover_until_ns;
    ask->to = owners_address(&s->servers, ask->part);
    if (address_is_none(ask->to)) {
        room_release(&ask->room);
        ask->lost = true;
        owners_find(&s->servers, ask->part, until_ns);
        return 1;
    }
    if (!room_is_needed(s->self, ask->to))
        return 0;
    return room_reserve(&ask->room, s->options->replies, s->self, ask->reply_bytes, until_ns,
                        room_granted, ask);
}

static void send_ask(struct ask *ask)
{
    struct sampler *s = ask->task->sampler;
    uint64_t now = actor_now_ns(s->self);
    if (now >= ask->task->recover_until_ns) {
        fail_late(ask);
        return;
    }
    struct message *request;
    int rv = ask->what == ASK_SAMPLES ? sampler_make_samples(ask, &request)
                                      : sampler_make_rows(ask, &request);
    if (rv == 0 && request == NULL) {
        room_release(&ask->room);
        finish_ask(ask);
        return;
    }
    /* Only who has a question needs a server, which may be gone for good. */
    int ready = rv == 0 ? make_ready(ask) : rv;
    if (rv == 0 && ready != 0)
        message_release(s->self, request);
    if (ready == 1)
        return;
    uint64_t call_ns = s->options->call_ns != 0 ? s->options->call_ns : CALL_NS;
    uint64_t until = now + (call_ns << ask->timeouts);
    until = until < ask->task->recover_until_ns ? until : ask->task->recover_until_ns;
    if (ready == 0)
        ready = actor_call(s->self, ask->to, request, until, done, ask, &ask->call);
    if (ready != 0) {
        room_release(&ask->room);
        retry_later(ask);
    }
}

static bool has_nodes(const struct ask *ask)
{
    for (uint32_t t = 0; t < ask->task->draft.num_ntypes; t++)
        if (ask_list(ask, t)->count > 0)
            return true;
    return false;
}

/* All asks count as open before the first is sent: one may be finished at once. */
static void ask_all(struct task *task, enum ask_what what)
{
    uint32_t num_parts = task->draft.num_parts;
    task->asks_open = 0;
    for (uint32_t p = 0; p < num_parts; p++) {
        struct ask *ask = &task->asks[p];
        ask->sections_done = ask->rows_done = ask->ntype = ask->at = ask->piece = 0;
        ask->timeouts = 0;
        bool wanted = !draft_is_local(&task->draft, p) && has_nodes(ask);
        ask->what = wanted ? what : ASK_NOTHING;
        task->asks_open += wanted;
    }
    for (uint32_t p = 0; p < num_parts && task->request != NULL; p++)
        if (task->asks[p].what != ASK_NOTHING)
            send_ask(&task->asks[p]);
}

void sampler_ask_samples(struct task *task)
{
    ask_all(task, ASK_SAMPLES);
}

void sampler_ask_rows(struct task *task)
{
    ask_all(task, ASK_ROWS);
}

void sampler_cancel_asks(struct task *task)
{
    for (uint32_t p = 0; p < task->draft.num_parts; p++) {
        struct ask *ask = &task->asks[p];
        ask->what = ASK_NOTHING;
        ask->lost = false;
        timer_stop(&ask->timer);
        if (ask->call.id != 0)
            actor_cancel(task->sampler->self, ask->call);
        ask->call = (struct call_id){ 0 };
        room_release(&ask->room);
    }
    task->asks_open = 0;
}
