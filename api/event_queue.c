/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants:
 * - The descriptor is readable if there is an event, or the queue has ended, is closed or
 *   interrupted. All but an interrupt changes it under the mutex. The thread that takes it back to
 *   not readable looks for an interrupt after that, so that one which came in between is not lost.
 * - A thread that waits sleeps in ppoll() on the descriptor, without the mutex: a signal handler
 *   may then wake it, and one event wakes all, of which one gets it.
 * - cost is the sum of the costs of what is queued. After the close nothing is added.
 */
#include "config.h" /* ppoll */

#include "api/event_queue.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/base/deadline.h"

/* Also in a signal handler. A counter that is full is readable as well. */
static void signal_fd(int fd)
{
    const uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof one);
    (void)written;
}

int event_queue_init(struct event_queue *queue, size_t cost_max, struct error *error)
{
    *queue = (struct event_queue){ .room = -1, .cost_max = cost_max };
    queue->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->descriptor < 0)
        return error_set_errno(error, errno, "no descriptor to wait for events with");
    queue->last = &queue->first;
    atomic_init(&queue->interrupted, false);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->left, NULL);
    return 0;
}

void event_queue_keep_all(struct event_queue *queue, int room)
{
    queue->keeps_all = true;
    queue->room = room;
}

/* Under the mutex: takes *link out of the queue. */
static struct queued_event *unlink_event(struct event_queue *queue, struct queued_event **link)
{
    struct queued_event *event = *link;
    *link = event->next;
    if (*link == NULL)
        queue->last = link;
    queue->cost -= event->cost;
    return event;
}

void event_queue_fini(struct event_queue *queue)
{
    assert(queue->inside == 0);
    while (queue->first != NULL)
        free(unlink_event(queue, &queue->first));
    close(queue->descriptor);
    pthread_cond_destroy(&queue->left);
    pthread_mutex_destroy(&queue->mutex);
}

/* Under the mutex, of a queue that has an event. The one that follows says what was lost. */
static void drop_one(struct event_queue *queue)
{
    struct queued_event **link = &queue->first;
    while (*link != NULL && (*link)->kept)
        link = &(*link)->next;
    if (*link == NULL)
        link = &queue->first;
    struct queued_event *event = unlink_event(queue, link);
    uint64_t *lost = *link != NULL ? &(*link)->lost : &queue->lost;
    *lost += event->lost + 1;
    free(event);
}

void event_queue_put(struct event_queue *queue, struct queued_event *event)
{
    pthread_mutex_lock(&queue->mutex);
    if (event == NULL || queue->closed || queue->ended) {
        queue->lost++;
        pthread_mutex_unlock(&queue->mutex);
        free(event);
        return;
    }
    /* Room is made before the queue is asked whether it is empty, since it may be then. */
    while (!queue->keeps_all && queue->first != NULL && queue->cost + event->cost > queue->cost_max)
        drop_one(queue);
    if (queue->first == NULL)
        signal_fd(queue->descriptor);
    event->next = NULL;
    event->lost = queue->lost;
    queue->lost = 0;
    queue->cost += event->cost;
    *queue->last = event;
    queue->last = &event->next;
    pthread_mutex_unlock(&queue->mutex);
}

bool event_queue_is_full(struct event_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    bool full = queue->keeps_all && queue->cost >= queue->cost_max && !queue->closed;
    pthread_mutex_unlock(&queue->mutex);
    return full;
}

bool event_queue_has_any(struct event_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    bool any = queue->first != NULL;
    pthread_mutex_unlock(&queue->mutex);
    return any;
}

void event_queue_end(struct event_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->ended = true;
    signal_fd(queue->descriptor);
    pthread_mutex_unlock(&queue->mutex);
}

void event_queue_close(struct event_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    /* The flag stands before the wake, and both before the wait for those inside, which leave by
     * them. */
    queue->closed = true;
    signal_fd(queue->descriptor);
    if (queue->room >= 0) /* a thread that puts may wait for it, and need not now */
        signal_fd(queue->room);
    while (queue->inside > 0)
        pthread_cond_wait(&queue->left, &queue->mutex);
    pthread_mutex_unlock(&queue->mutex);
}

void event_queue_interrupt(struct event_queue *queue)
{
    int saved = errno;
    /* The mark comes first: a thread that wakes must find it. */
    atomic_store(&queue->interrupted, true);
    signal_fd(queue->descriptor);
    errno = saved;
}

void event_queue_resume(struct event_queue *queue)
{
    atomic_store(&queue->interrupted, false);
}

/* Under the mutex, when there is no event. */
static void make_unreadable(struct event_queue *queue)
{
    uint64_t count;
    ssize_t got = read(queue->descriptor, &count, sizeof count);
    (void)got;
    /* This is asked behind the read, which may have taken the wake of any of the three. */
    if (queue->ended || queue->closed || atomic_load(&queue->interrupted))
        signal_fd(queue->descriptor);
}

/* Sleeps until the descriptor is readable, or a signal comes; TR_ETIMEDOUT: until the time is
 * over. */
static int sleep_until(const struct event_queue *queue, const struct deadline *until)
{
    struct pollfd watched = { .fd = queue->descriptor, .events = POLLIN };
    struct timespec left;
    if (!deadline_left(until, &left))
        return TR_ETIMEDOUT;
    (void)ppoll(&watched, 1, until->never ? NULL : &left, NULL);
    return 0;
}

/* Under the mutex: until there is an event (0), or a reason to wait no more. */
static int wait_for_one(struct event_queue *queue, const struct deadline *until)
{
    int rv = 0;
    /* An event that is there goes before the end, the interrupt and the deadline: none of them
     * loses one. The end goes before the interrupt, since nothing would come after that either. The
     * close goes before all: the queue may be gone once this thread has left. */
    while (rv == 0 && queue->first == NULL && !queue->closed) {
        if (queue->ended)
            return TR_EEND;
        if (atomic_load(&queue->interrupted))
            return TR_ECANCELED;
        make_unreadable(queue); /* an interrupt that is over may have left it readable */
        pthread_mutex_unlock(&queue->mutex);
        rv = sleep_until(queue, until);
        pthread_mutex_lock(&queue->mutex);
    }
    if (queue->closed)
        return TR_ECLOSED;
    return queue->first != NULL ? 0 : rv;
}

/* Under the mutex. */
static struct queued_event *take_first(struct event_queue *queue)
{
    bool was_half = queue->cost >= queue->cost_max / 2;
    struct queued_event *event = unlink_event(queue, &queue->first);
    if (queue->first == NULL)
        make_unreadable(queue);
    /* The writer is woken once, when the half is passed: each wake costs it a turn. */
    if (queue->room >= 0 && was_half && queue->cost < queue->cost_max / 2)
        signal_fd(queue->room);
    return event;
}

int event_queue_take(struct event_queue *queue, int64_t timeout_ns,
                     int (*give)(void *arg, const struct queued_event *event), void *arg,
                     struct queued_event **taken)
{
    const struct deadline until = deadline_after(timeout_ns);
    *taken = NULL;
    pthread_mutex_lock(&queue->mutex);
    queue->inside++;
    int rv = wait_for_one(queue, &until);
    /* The caller's struct is filled before the event leaves the queue: one that is refused loses
     * nothing. */
    if (rv == 0)
        rv = give(arg, queue->first);
    if (rv == 0)
        *taken = take_first(queue);
    queue->inside--;
    pthread_cond_broadcast(&queue->left);
    pthread_mutex_unlock(&queue->mutex);
    return rv;
}
