/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a task of this library: a queue (api/event_queue.h) of TR_MODEL_EVENTS_MAX events
 * until somebody pulls them (tr_model_next_event).
 *
 * Beside it stands the task's session, so that the same holds for what both kinds of task can do
 * with theirs.
 *
 * Ownership: embedded, as the first member of the arg of each kind of task, where it is found
 * again. Thread rules: any thread.
 */
#ifndef MODEL_TASK_EVENTS_H
#define MODEL_TASK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/model.h>

#include "api/event_queue.h"
#include "model/live_session.h"

/* The kinds of tasks: the address is what tr_task_enter() asks for. */
struct model_task_kind {
    const char *name;
};
extern const struct model_task_kind train_task_kind, infer_task_kind;

struct task_events {
    struct live_session live; /* of the task; any thread */
    struct event_queue queue;
};

int task_events_init(struct task_events *events, struct tr_error *error);
void task_events_fini(struct task_events *events);

/* Without memory nothing is said: no event is worth the task. */
void task_events_say(struct task_events *events, enum tr_model_event_kind kind, uint64_t number,
                     const char *format, ...) TR_PRINTF(4, 5);
/* Puts an event that the program has to answer, without a text; it makes room for others last.
 * False where there is no memory for it: the task, which would wait for the answer for ever, is to
 * try again. */
bool task_events_ask(struct task_events *events, enum tr_model_event_kind kind, uint64_t number);
/* The same as task_events_say() with threads, [count] of TR_MODEL_THREADS_MAX at most. False: there
 * was no memory for it. */
bool task_events_say_threads(struct task_events *events, enum tr_model_event_kind kind,
                             uint64_t number, const int *threads, uint32_t count, const char *text);
/* A warning, where the files of that graph were loaded unchecked. */
void task_events_warn_unchecked(struct task_events *events, const struct tr_graph *graph,
                                const char *path);
/* Nothing more will be said. */
void task_events_end(struct task_events *events);

/* As the hook of a kind of task (struct tr_task_work): its arg begins with its events. */
void task_events_closing(void *arg);

#endif
