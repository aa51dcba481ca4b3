/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task_events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <troupe/graph.h>

#include "api/sized.h"

#define SECOND_NS INT64_C(1000000000)
/* A wait of more seconds is one without an end, so that no sum of times wraps. */
#define TIMEOUT_SECONDS_MAX (INT64_C(1) << 32)

struct task_event {
    struct task_event *next;
    struct tr_model_event event;
};

void task_events_init(struct task_events *events)
{
    pthread_condattr_t attributes;
    memset(events, 0, sizeof *events);
    pthread_mutex_init(&events->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&events->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Under the mutex. */
static struct task_event *take_first(struct task_events *events)
{
    struct task_event *first = events->first;
    events->first = first->next;
    events->last = events->first != NULL ? events->last : NULL;
    events->count--;
    return first;
}

void task_events_fini(struct task_events *events)
{
    while (events->first != NULL)
        free(take_first(events));
    pthread_cond_destroy(&events->changed);
    pthread_mutex_destroy(&events->mutex);
}

static void append(struct task_events *events, struct task_event *said)
{
    pthread_mutex_lock(&events->mutex);
    if (events->count == TR_MODEL_EVENTS_MAX)
        free(take_first(events));
    if (events->last != NULL)
        events->last->next = said;
    else
        events->first = said;
    events->last = said;
    events->count++;
    pthread_cond_broadcast(&events->changed);
    pthread_mutex_unlock(&events->mutex);
}

void task_events_say(struct task_events *events, enum tr_model_event_kind kind, uint64_t number,
                     const char *format, ...)
{
    struct task_event *said = calloc(1, sizeof *said);
    va_list arguments;
    if (said == NULL)
        return;
    said->event = (struct tr_model_event){ .size = sizeof said->event,
                                           .kind = kind,
                                           .number = number };
    va_start(arguments, format);
    vsnprintf(said->event.text, sizeof said->event.text, format, arguments);
    va_end(arguments);
    append(events, said);
}

void task_events_say_threads(struct task_events *events, enum tr_model_event_kind kind,
                             uint64_t number, const int *threads, uint32_t count, const char *text)
{
    struct task_event *said = calloc(1, sizeof *said);
    if (said == NULL)
        return;
    said->event = (struct tr_model_event){
        .size = sizeof said->event, .kind = kind, .number = number, .num_threads = count
    };
    snprintf(said->event.text, sizeof said->event.text, "%s", text);
    for (uint32_t i = 0; i < count; i++)
        said->event.threads[i] = threads[i];
    append(events, said);
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

void task_events_end(struct task_events *events)
{
    pthread_mutex_lock(&events->mutex);
    events->over = true;
    pthread_cond_broadcast(&events->changed);
    pthread_mutex_unlock(&events->mutex);
}

/* Under the mutex: until there is one, or none will come, or the time is over. */
static void wait_for_one(struct task_events *events, int64_t timeout_ns)
{
    struct timespec until;
    bool forever = timeout_ns < 0 || timeout_ns / SECOND_NS > TIMEOUT_SECONDS_MAX;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (!forever) {
        until.tv_nsec += timeout_ns % SECOND_NS;
        until.tv_sec += timeout_ns / SECOND_NS + until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
    }
    int rc = 0;
    while (events->first == NULL && !events->over && rc == 0)
        rc = forever ? pthread_cond_wait(&events->changed, &events->mutex)
                     : pthread_cond_timedwait(&events->changed, &events->mutex, &until);
}

static struct task_events *events_of(const struct tr_task *task)
{
    struct task_events *events = tr_task_arg(task, TASK_TRAIN);
    return events != NULL ? events : tr_task_arg(task, TASK_INFER);
}

int tr_model_next_event(struct tr_task *task, int64_t timeout_ns, struct tr_model_event *event,
                        struct tr_error *error)
{
    struct task_events *events = events_of(task);
    if (events == NULL)
        return tr_error_set(error, TR_EINVAL, "the task neither trains nor infers");
    pthread_mutex_lock(&events->mutex);
    wait_for_one(events, timeout_ns);
    struct task_event *found = events->first != NULL ? take_first(events) : NULL;
    bool over = events->over;
    pthread_mutex_unlock(&events->mutex);
    if (found == NULL)
        return over ? tr_error_set(error, TR_EEND, "the task has ended, and said all it had to")
                    : tr_error_set(error, TR_ETIMEDOUT, "the task has nothing to say yet");
    int rv = sized_write(event, &found->event, sizeof found->event, "tr_model_event", error);
    free(found);
    return rv;
}

int tr_model_dump(struct tr_task *task, struct tr_error *error)
{
    struct task_events *events = events_of(task);
    if (events == NULL)
        return tr_error_set(error, TR_EINVAL, "the task neither trains nor infers");
    int rv = TR_ECLOSED;
    struct tr_session *session = live_session_acquire(&events->live);
    if (session != NULL)
        rv = tr_session_dump(session, error);
    else
        tr_error_set(error, rv, "the task has no session now");
    live_session_release(&events->live);
    return rv;
}
