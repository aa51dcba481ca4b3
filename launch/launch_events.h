/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a launch on their way from its thread to whoever takes them: a bounded queue, with a
 * descriptor that is readable while there is something to take.
 *
 * Thread rules: the launch's thread puts and ends; one thread at a time takes.
 */
#ifndef LAUNCH_LAUNCH_EVENTS_H
#define LAUNCH_LAUNCH_EVENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/launch.h>

#include "runtime/base/error.h"

struct launch_event;

struct launch_events {
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    struct launch_event *first, *last, *taken; /* taken: whose text the caller has */
    size_t bytes;
    uint64_t dropped;
    bool ended, keep;
    int readable; /* an eventfd: counts 1 while there is something, or the end */
    int room;     /* an eventfd of the launch's thread, written when there is room again */
};

/* room: written to (8 bytes) when a full queue has half of its room again. keep: nothing is dropped;
 * whoever puts asks launch_events_full first. */
int launch_events_init(struct launch_events *events, bool keep, int room, struct error *error);
void launch_events_fini(struct launch_events *events);

/* Copies event and text. Lines that wait make room for it, unless all are kept. */
void launch_events_put(struct launch_events *events, const struct tr_launch_event *event,
                       const char *text, size_t bytes);
bool launch_events_full(struct launch_events *events);
/* No more will come. */
void launch_events_end(struct launch_events *events);

/* As tr_launch_next(). */
int launch_events_take(struct launch_events *events, int64_t timeout_ns,
                       struct tr_launch_event *event);

#endif
