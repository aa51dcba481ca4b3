/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch_events.h"

#include <stdlib.h>
#include <string.h>

#include "api/sized.h"

struct launch_event {
    struct queued_event queued; /* first */
    struct tr_launch_event event;
    char text[];
};

int launch_events_init(struct launch_events *events, bool keep, int room, struct error *error)
{
    *events = (struct launch_events){ .taken = NULL };
    int rv = event_queue_init(&events->queue, TR_LAUNCH_EVENT_BYTES, error);
    if (rv == 0 && keep)
        event_queue_keep_all(&events->queue, room);
    return rv;
}

void launch_events_fini(struct launch_events *events)
{
    event_queue_fini(&events->queue);
    free(events->taken);
}

void launch_events_put(struct launch_events *events, const struct tr_launch_event *event,
                       const char *text, size_t bytes)
{
    struct launch_event *put = malloc(sizeof *put + bytes + 1);
    if (put != NULL) {
        /* Lines go first: a program that pulls late still learns what the launcher did. */
        *put = (struct launch_event){ .queued = { .cost = sizeof *put + bytes,
                                                  .kept = event->kind != TR_LAUNCH_LINE },
                                      .event = *event };
        put->event.text_bytes = bytes;
        memcpy(put->text, text, bytes);
        put->text[bytes] = '\0';
    }
    event_queue_put(&events->queue, put != NULL ? &put->queued : NULL);
}

bool launch_events_full(struct launch_events *events)
{
    return event_queue_is_full(&events->queue);
}

struct launch_taker {
    struct tr_launch_event *event;
    struct tr_error *error;
};

static int give_event(void *arg, const struct queued_event *queued)
{
    const struct launch_taker *taker = arg;
    const struct launch_event *from = (const struct launch_event *)(const void *)queued;
    struct tr_launch_event event = from->event;
    event.text = from->text;
    event.dropped = queued->lost;
    return sized_write(taker->event, &event, sizeof event, "tr_launch_event", taker->error);
}

int launch_events_take(struct launch_events *events, int64_t timeout_ns,
                       struct tr_launch_event *event, struct tr_error *error)
{
    struct launch_taker taker = { event, error };
    struct queued_event *taken;
    int rv = event_queue_take(&events->queue, timeout_ns, give_event, &taker, &taken);
    /* The text of the last event is the caller's until another one was taken. */
    if (taken != NULL) {
        free(events->taken);
        events->taken = taken;
    }
    return rv;
}
