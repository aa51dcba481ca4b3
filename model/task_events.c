/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task_events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/graph.h>

#include "api/sized.h"

struct task_event {
    struct queued_event queued; /* first */
    struct tr_model_event event;
};

const struct model_task_kind train_task_kind = { "train" }, infer_task_kind = { "infer" };

int task_events_init(struct task_events *events, struct tr_error *error)
{
    struct error why = { 0 };
    memset(events, 0, sizeof *events);
    int rv = event_queue_init(&events->queue, TR_MODEL_EVENTS_MAX, &why);
    return rv == 0 ? 0 : tr_error_set(error, rv, "%s", why.text);
}

void task_events_fini(struct task_events *events)
{
    event_queue_fini(&events->queue);
}

void task_events_end(struct task_events *events)
{
    event_queue_end(&events->queue);
}

void task_events_closing(void *arg)
{
    event_queue_close(&((struct task_events *)arg)->queue);
}

/* said: NULL where there was no memory for it, which a later event tells. */
static void append(struct task_events *events, struct task_event *said)
{
    if (said != NULL)
        said->queued.cost = 1; /* the bound counts events */
    event_queue_put(&events->queue, said != NULL ? &said->queued : NULL);
}

/* NULL: no memory. */
static struct task_event *make_event(enum tr_model_event_kind kind, uint64_t number)
{
    struct task_event *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->event = (struct tr_model_event){ .size = sizeof made->event,
                                               .kind = kind,
                                               .number = number };
    return made;
}

void task_events_say(struct task_events *events, enum tr_model_event_kind kind, uint64_t number,
                     const char *format, ...)
{
    struct task_event *said = make_event(kind, number);
    va_list arguments;
    if (said != NULL) {
        va_start(arguments, format);
        vsnprintf(said->event.text, sizeof said->event.text, format, arguments);
        va_end(arguments);
    }
    append(events, said);
}

bool task_events_ask(struct task_events *events, enum tr_model_event_kind kind, uint64_t number)
{
    struct task_event *said = make_event(kind, number);
    if (said == NULL)
        return false;
    said->queued.kept = true;
    append(events, said);
    return true;
}

bool task_events_say_threads(struct task_events *events, enum tr_model_event_kind kind,
                             uint64_t number, const int *threads, uint32_t count, const char *text)
{
    struct task_event *said = make_event(kind, number);
    /* Without memory nothing is appended: this one is said again. */
    if (said == NULL)
        return false;
    snprintf(said->event.text, sizeof said->event.text, "%s", text);
    said->event.num_threads = count;
    for (uint32_t i = 0; i < count; i++)
        said->event.threads[i] = threads[i];
    append(events, said);
    return true;
}

void task_events_warn_unchecked(struct task_events *events, const struct tr_graph *graph,
                                const char *path)
{
    if (!tr_graph_has_checksums(graph))
        task_events_say(events, TR_MODEL_UNCHECKED, 0,
                        "%s: an older version wrote it without checksums: its files are loaded "
                        "unchecked; partition again to have them",
                        path);
}

/* Begins a call on a task of either kind. */
static int enter(const struct tr_task *task, struct task_events **events, struct tr_error *error)
{
    struct tr_error other = TR_ERROR_INIT;
    void *arg;
    int rv = tr_task_enter(task, &train_task_kind, &arg, &other);
    if (rv == TR_EINVAL)
        rv = tr_task_enter(task, &infer_task_kind, &arg, &other);
    *events = arg;
    if (rv == TR_EINVAL)
        return tr_error_set(error, rv, "the task neither trains nor infers");
    return rv == 0 ? 0 : tr_error_set(error, rv, "%s", other.message);
}

struct model_taker {
    struct tr_model_event *event;
    struct tr_error *error;
};

static int give_event(void *arg, const struct queued_event *queued)
{
    const struct model_taker *taker = arg;
    struct tr_model_event event = ((const struct task_event *)(const void *)queued)->event;
    event.dropped = queued->lost;
    return sized_write(taker->event, &event, sizeof event, "tr_model_event", taker->error);
}

int tr_model_next_event(struct tr_task *task, int64_t timeout_ns, struct tr_model_event *event,
                        struct tr_error *error)
{
    struct task_events *events;
    int rv = enter(task, &events, error);
    if (rv != 0)
        return rv;
    struct model_taker taker = { event, error };
    struct queued_event *taken;
    rv = event_queue_take(&events->queue, timeout_ns, give_event, &taker, &taken);
    free(taken);
    tr_task_leave(task);
    if (rv == TR_EEND)
        return tr_error_set(error, rv, "the task has ended, and all its events were taken");
    if (rv == TR_ECLOSED)
        return tr_error_set(error, rv, "the task is being closed");
    if (rv == TR_ETIMEDOUT)
        return tr_error_set(error, rv, "the task has no event yet");
    return rv;
}

int tr_model_descriptor(const struct tr_task *task)
{
    struct task_events *events;
    if (enter(task, &events, NULL) != 0)
        return -1;
    int descriptor = events->queue.descriptor;
    tr_task_leave(task);
    return descriptor;
}

int tr_model_dump(struct tr_task *task, struct tr_error *error)
{
    struct task_events *events;
    int rv = enter(task, &events, error);
    if (rv != 0)
        return rv;
    rv = TR_ECLOSED;
    struct tr_session *session = live_session_acquire(&events->live);
    if (session != NULL)
        rv = tr_session_dump(session, error);
    else
        tr_error_set(error, rv, "the task has no session now");
    /* The session goes before the task, which keeps both. */
    live_session_release(&events->live);
    tr_task_leave(task);
    return rv;
}
