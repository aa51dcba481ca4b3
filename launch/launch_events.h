/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a launch on their way from its thread to the threads that take them: a queue
 * (api/event_queue.h) of TR_LAUNCH_EVENT_BYTES.
 *
 * Thread rules: the launch's thread puts and ends; one thread at a time takes, since the text of an
 * event lives until the next is taken.
 */
#ifndef LAUNCH_LAUNCH_EVENTS_H
#define LAUNCH_LAUNCH_EVENTS_H

#include <troupe/launch.h>

#include "api/event_queue.h"

struct launch_events {
    struct event_queue queue;
    struct queued_event *taken; /* whose text the caller has; NULL: none */
};

/* room: written to (8 bytes) when a full queue has half of its room again. keep: nothing is
 * dropped; the thread that puts asks launch_events_full first. */
int launch_events_init(struct launch_events *events, bool keep, int room, struct error *error);
void launch_events_fini(struct launch_events *events);

/* Copies event and text. Lines that wait make room for it, unless all are kept. */
void launch_events_put(struct launch_events *events, const struct tr_launch_event *event,
                       const char *text, size_t bytes);
bool launch_events_full(struct launch_events *events);

/* As tr_launch_next(). */
int launch_events_take(struct launch_events *events, int64_t timeout_ns,
                       struct tr_launch_event *event, struct tr_error *error);

#endif
