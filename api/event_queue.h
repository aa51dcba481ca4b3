/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that the library has for a program, kept in order until they are pulled: lines of a
 * log, events of a launch, of a training, of an inference. All of them keep one contract:
 *
 * - Putting never waits. At the queue's bound the oldest event goes, first those that are not
 *   `kept`, and the event that follows says how many were lost before it; or, in a queue that keeps
 *   all, the thread that puts asks event_queue_is_full() first.
 * - An event is off the queue only when the caller's struct was filled: a refused one loses
 *   nothing.
 * - A descriptor is readable while taking would not wait.
 * - A wait ends with an event, at its deadline (TR_ETIMEDOUT), when nothing more will come and all
 *   was taken (TR_EEND), at once when the queue is closed (TR_ECLOSED), or interrupted
 *   (TR_ECANCELED).
 * - Closing returns when no thread is inside any more.
 *
 * Ownership: embedded; events are allocated by malloc() and the queue's from put to take. Thread
 * rules: any thread; event_queue_interrupt() is safe in a signal handler. event_queue_fini() is
 * called when no thread begins a call.
 */
#ifndef API_EVENT_QUEUE_H
#define API_EVENT_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* The first member of what is queued. */
struct queued_event {
    struct queued_event *next;
    size_t cost;   /* its part of the bound, set before it is put */
    uint64_t lost; /* events that went before it */
    bool kept;     /* goes only where there is no other */
};

struct event_queue {
    int descriptor; /* an eventfd */
    int room;       /* an eventfd that is written when a full queue has half of its room; -1 */
    bool keeps_all;
    size_t cost_max;
    atomic_bool interrupted;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t left;
    struct queued_event *first, **last;
    size_t cost;
    uint64_t lost; /* after the last event of the queue */
    uint32_t inside;
    bool ended, closed;
};

int event_queue_init(struct event_queue *queue, size_t cost_max, struct error *error);
/* Nothing goes any more, and `room` is written to (8 bytes) when a full queue has half of its
 * room. */
void event_queue_keep_all(struct event_queue *queue, int room);
void event_queue_fini(struct event_queue *queue);

/* Takes the event over. NULL, where there was no memory for it, counts as lost. */
void event_queue_put(struct event_queue *queue, struct queued_event *event);
/* Whether the bound of a queue that keeps all is reached. */
bool event_queue_is_full(struct event_queue *queue);
/* Whether taking would give one at once. */
bool event_queue_has_any(struct event_queue *queue);
/* No more will come. */
void event_queue_end(struct event_queue *queue);
/* All that wait return TR_ECLOSED; nothing is kept from now on. Returns when they have left. */
void event_queue_close(struct event_queue *queue);

void event_queue_interrupt(struct event_queue *queue);
/* The descriptor stays readable until somebody waits next. */
void event_queue_resume(struct event_queue *queue);

/* Waits for an event and calls give with it, under the mutex: 0 takes the event off the queue, for
 * the caller to free(); another result leaves it there and is returned. */
int event_queue_take(struct event_queue *queue, int64_t timeout_ns,
                     int (*give)(void *arg, const struct queued_event *event), void *arg,
                     struct queued_event **taken);

#endif
