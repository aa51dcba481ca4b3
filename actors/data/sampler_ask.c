/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking servers, for a task's frontier and for its rows.
 *
 *     ASK_NOTHING -> a question, as often as the server has more -> ASK_NOTHING
 *
 * Invariants: one request at most is under way to a partition. `asks_open` is the number of asks of
 * the task that have a question; the last that is finished lets the task go on. A task that failed
 * has cancelled all of them, so no answer comes for it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "actors/data/sampler_state.h"

#define FAILURE_TEXT_MAX 512u /* what failed last, and on what; more is cut off */

static void send_ask(struct ask *ask);

static void finish_ask(struct ask *ask)
{
    ask->what = ASK_NOTHING;
    if (--ask->task->asks_open == 0)
        sampler_schedule(ask->task->sampler);
}

static void take_answer(struct ask *ask, struct message *reply)
{
    struct task *task = ask->task;
    struct error error = { 0 };
    uint32_t wanted = ask->what == ASK_SAMPLES ? MSG_SAMPLE_REPLY
                      : ask->what == ASK_SEEDS && (task->finds_reverses || task->finds_edges)
                          ? MSG_REVERSE_REPLY
                          : MSG_ROWS_REPLY;
    bool fits = reply->frame.kind == wanted;
    int rv = !fits                      ? error_set(&error, TR_EFORMAT,
                                                    "partition %" PRIu32 " answered with a "
                                                                         "message of kind %u",
                                                    ask->part, reply->frame.kind)
             : ask->what == ASK_SEEDS   ? sampler_take_seeds(ask, reply, &error)
             : ask->what == ASK_SAMPLES ? sampler_take_samples(ask, reply, &error)
                                        : sampler_take_rows(ask, reply, &error);
    /* The reply is released before more is asked for, whose reply takes the same memory. */
    message_release(task->sampler->self, reply);
    if (rv < 0)
        sampler_fail_task(task, rv, error.text);
    else if (rv == 0)
        finish_ask(ask);
    else
        send_ask(ask);
}

static int make_request(struct part_call *call, struct message **request)
{
    const struct ask *ask = call->arg;
    return ask->what == ASK_SEEDS     ? sampler_make_seeds(ask, request)
           : ask->what == ASK_SAMPLES ? sampler_make_samples(ask, request)
                                      : sampler_make_rows(ask, request);
}

static void ask_done(struct part_call *call, int status, struct message *reply,
                     const struct error *error)
{
    struct ask *ask = call->arg;
    char text[FAILURE_TEXT_MAX];
    if (status == 0) {
        take_answer(ask, reply);
        return;
    }
    /* The deadline is the task's: it began with it. */
    if (status == TR_ETIMEDOUT)
        snprintf(text, sizeof text,
                 "partition %" PRIu32 " did not answer within the recovery "
                 "deadline of %" PRIu64 " ms: %.300s",
                 ask->part, ask->task->sampler->options->recovery_ns / 1000000, error->text);
    sampler_fail_task(ask->task, status, status == TR_ETIMEDOUT ? text : error->text);
}

static const struct part_call_ops ask_ops = { .make = make_request, .done = ask_done };

void sampler_init_ask(struct ask *ask, struct task *task, uint32_t part)
{
    struct sampler *s = task->sampler;
    *ask = (struct ask){ .task = task, .part = part };
    ask->call = (struct part_call){ .ops = &ask_ops,
                                    .self = s->self,
                                    .arg = ask,
                                    .owners = &s->servers,
                                    .part = part,
                                    .replies = s->options->replies,
                                    .call_ns = s->options->call_ns };
}

/* One answer brings all: a slice of seeds is small. */
static bool wants_seeds(struct ask *ask)
{
    const struct task *task = ask->task;
    uint32_t segments = sampler_num_segments(task), sections = segments;
    ask->call.reply_bytes = sampler_seeds_of(task, ask->part) * sampler_seed_bytes(task);
    for (uint32_t s = 0; s < segments; s++) {
        const uint32_t *start = &task->seed_starts[(size_t)ask->part * segments + s];
        if (!sampler_finds_originals(task, s))
            continue;
        ask->call.reply_bytes += (start[1] - start[0]) * sizeof(uint64_t);
        sections++;
    }
    /* The rows of each section begin at a multiple of 64. */
    ask->call.reply_bytes += (sections - 1) * (size_t)64;
    return true;
}

/* Only an ask with a question needs a server, which may be gone for good. */
static void send_ask(struct ask *ask)
{
    bool more = ask->what == ASK_SEEDS     ? wants_seeds(ask)
                : ask->what == ASK_SAMPLES ? sampler_wants_samples(ask)
                                           : sampler_wants_rows(ask);
    if (more)
        part_call_send(&ask->call, ask->task->recover_until_ns);
    else
        finish_ask(ask);
}

static bool has_nodes(const struct ask *ask, enum ask_what what)
{
    if (what == ASK_SEEDS)
        return sampler_seeds_of(ask->task, ask->part) > 0;
    const struct batch_builder *builder = &ask->task->builder;
    uint32_t lists = what == ASK_ROWS ? batch_builder_num_lists(builder) : builder->num_ntypes;
    for (uint32_t i = 0; i < lists; i++)
        if (ask_list(ask, i)->count > 0)
            return true;
    return false;
}

/* All asks count as open before the first is sent: one may be finished at once. */
static void ask_all(struct task *task, enum ask_what what)
{
    uint32_t num_parts = task->builder.num_parts;
    task->asks_open = 0;
    for (uint32_t p = 0; p < num_parts; p++) {
        struct ask *ask = &task->asks[p];
        ask->sections_done = ask->rows_done = ask->list = ask->at = ask->piece = 0;
        part_call_reset(&ask->call);
        bool wanted = !batch_builder_is_local(&task->builder, p) && has_nodes(ask, what);
        ask->what = wanted ? what : ASK_NOTHING;
        task->asks_open += wanted;
    }
    for (uint32_t p = 0; p < num_parts && task->request != NULL; p++)
        if (task->asks[p].what != ASK_NOTHING)
            send_ask(&task->asks[p]);
}

void sampler_ask_seeds(struct task *task)
{
    ask_all(task, ASK_SEEDS);
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
    for (uint32_t p = 0; p < task->builder.num_parts; p++) {
        struct ask *ask = &task->asks[p];
        ask->what = ASK_NOTHING;
        part_call_cancel(&ask->call);
    }
    task->asks_open = 0;
}
