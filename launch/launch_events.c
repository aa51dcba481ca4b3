/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants, under the mutex:
 * - readable has been written and not read exactly while first is not NULL or ended is set.
 * - bytes is the sum of what waits, without the event that was taken last.
 */
#include "launch/launch_events.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
/* Timeouts above this many seconds wait without an end, so that no sum of times wraps. */
#define TIMEOUT_SECONDS_MAX (INT64_C(1) << 32)

struct launch_event {
    struct launch_event *next;
    struct tr_launch_event event;
    size_t bytes; /* of the text */
    char text[];
};

static size_t cost(const struct launch_event *event)
{
    return sizeof *event + event->bytes;
}

int launch_events_init(struct launch_events *events, bool keep, int room, struct error *error)
{
    *events = (struct launch_events){ .keep = keep, .room = room };
    events->readable = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (events->readable < 0)
        return error_set_errno(error, errno, "no descriptor for the events of a launch");
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&events->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&events->mutex, NULL);
    return 0;
}

void launch_events_fini(struct launch_events *events)
{
    while (events->first != NULL) {
        struct launch_event *event = events->first;
        events->first = event->next;
        free(event);
    }
    free(events->taken);
    pthread_cond_destroy(&events->wake);
    pthread_mutex_destroy(&events->mutex);
    close(events->readable);
}

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof one);
    (void)written; /* a counter that is full wakes as well */
}

static struct launch_event *unlink_first(struct launch_events *events)
{
    struct launch_event *event = events->first;
    events->first = event->next;
    if (events->first == NULL)
        events->last = NULL;
    events->bytes -= cost(event);
    return event;
}

/* Lines only: whoever pulls late still learns what the launcher did. */
static void drop_line(struct launch_events *events)
{
    struct launch_event **link = &events->first, *before = NULL;
    while (*link != NULL && (*link)->event.kind != TR_LAUNCH_LINE) {
        before = *link;
        link = &(*link)->next;
    }
    struct launch_event *event = *link;
    events->dropped++;
    if (event == NULL) { /* so the oldest goes, whatever it is */
        free(unlink_first(events));
        return;
    }
    *link = event->next;
    if (events->last == event)
        events->last = before;
    events->bytes -= cost(event);
    free(event);
}

void launch_events_put(struct launch_events *events, const struct tr_launch_event *event,
                       const char *text, size_t bytes)
{
    struct launch_event *put = malloc(sizeof *put + bytes + 1);
    pthread_mutex_lock(&events->mutex);
    if (put == NULL) {
        events->dropped++;
        pthread_mutex_unlock(&events->mutex);
        return;
    }
    *put = (struct launch_event){ .event = *event, .bytes = bytes };
    memcpy(put->text, text, bytes);
    put->text[bytes] = '\0';
    while (!events->keep && events->first != NULL &&
           events->bytes + cost(put) > TR_LAUNCH_EVENT_BYTES)
        drop_line(events);
    if (events->first == NULL)
        signal_fd(events->readable);
    if (events->last != NULL)
        events->last->next = put;
    else
        events->first = put;
    events->last = put;
    events->bytes += cost(put);
    pthread_cond_signal(&events->wake);
    pthread_mutex_unlock(&events->mutex);
}

bool launch_events_full(struct launch_events *events)
{
    pthread_mutex_lock(&events->mutex);
    bool full = events->keep && events->bytes >= TR_LAUNCH_EVENT_BYTES;
    pthread_mutex_unlock(&events->mutex);
    return full;
}

void launch_events_end(struct launch_events *events)
{
    pthread_mutex_lock(&events->mutex);
    if (!events->ended && events->first == NULL)
        signal_fd(events->readable);
    events->ended = true;
    pthread_cond_broadcast(&events->wake);
    pthread_mutex_unlock(&events->mutex);
}

static int wait_event(struct launch_events *events, int64_t timeout_ns)
{
    struct timespec until;
    bool bounded = timeout_ns >= 0 && timeout_ns / SECOND_NS <= TIMEOUT_SECONDS_MAX;
    int rv = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (bounded) {
        until.tv_nsec += timeout_ns % SECOND_NS;
        until.tv_sec += timeout_ns / SECOND_NS + until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
    }
    while (events->first == NULL && !events->ended && rv == 0)
        rv = bounded ? pthread_cond_timedwait(&events->wake, &events->mutex, &until)
                     : pthread_cond_wait(&events->wake, &events->mutex);
    if (events->first != NULL)
        return 0;
    return events->ended ? TR_EEND : TR_ETIMEDOUT;
}

int launch_events_take(struct launch_events *events, int64_t timeout_ns,
                       struct tr_launch_event *event)
{
    pthread_mutex_lock(&events->mutex);
    int rv = wait_event(events, timeout_ns);
    if (rv == 0) {
        bool was_full = events->bytes >= TR_LAUNCH_EVENT_BYTES / 2;
        free(events->taken);
        events->taken = unlink_first(events);
        *event = events->taken->event;
        event->text = events->taken->text;
        event->text_bytes = events->taken->bytes;
        event->dropped = events->dropped;
        events->dropped = 0;
        if (events->keep && was_full && events->bytes < TR_LAUNCH_EVENT_BYTES / 2)
            signal_fd(events->room);
        if (events->first == NULL && !events->ended) {
            uint64_t count;
            ssize_t got = read(events->readable, &count, sizeof count);
            (void)got;
        }
    }
    pthread_mutex_unlock(&events->mutex);
    return rv;
}
