/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All streams share this: their owner, and the queue of those that have something to tell.
 *
 * Invariants: a stream stands in the queue of its actor's loop exactly while `told` is not 0; a
 * detached one stands in none. `firing` is the stream whose callback runs, until it is closed or
 * detached, so that nothing touches it afterwards. Streams of an ending actor tell nothing.
 */
#include "runtime/core/stream_impl.h"

#include <assert.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"

static void stream_enqueue(struct stream_queue *queue, struct stream *stream)
{
    stream->queued = true;
    stream->ready_next = NULL;
    stream->ready_before = queue->last;
    if (queue->last != NULL)
        queue->last->ready_next = stream;
    else
        queue->first = stream;
    queue->last = stream;
    queue->count++;
}

static void stream_dequeue(struct stream_queue *queue, struct stream *stream)
{
    if (!stream->queued)
        return;
    stream->queued = false;
    if (stream->ready_before != NULL)
        stream->ready_before->ready_next = stream->ready_next;
    else
        queue->first = stream->ready_next;
    if (stream->ready_next != NULL)
        stream->ready_next->ready_before = stream->ready_before;
    else
        queue->last = stream->ready_before;
    queue->count--;
}

void stream_tell(struct stream *stream, unsigned what)
{
    struct actor *actor = stream->actor;
    if (actor == NULL || actor->phase == ACTOR_ENDING)
        return;
    stream->told |= what;
    if (!stream->queued)
        stream_enqueue(&actor->loop->streams, stream);
}

struct actor *stream_fire_next(struct loop *loop)
{
    struct stream_queue *queue = &loop->streams;
    struct stream *stream = queue->first;
    struct actor *actor = stream->actor;
    unsigned what = stream->told & (stream->want | STREAM_FAILED);
    /* The stream leaves the queue before its callback, so that events during it queue it again. */
    stream_dequeue(queue, stream);
    stream->told = 0;
    /* An event that is not reported is not lost: when it is wanted again, the stream reports what
     * still holds. An actor that exits hears nothing more. */
    if (what == 0 || actor->exiting)
        return NULL;
    queue->firing = stream;
    if (loop->simulated)
        loop->env->ops->trace(loop->env, actor->address.slot, what);
    stream->ready(actor, stream->arg, stream, what);
    /* The callback may have closed or detached the stream, which clears `firing`. */
    if (queue->firing != NULL && stream->ops->again != NULL)
        stream->ops->again(stream);
    queue->firing = NULL;
    return actor;
}

static void stream_own(struct stream *stream, struct actor *self, stream_ready *ready, void *arg)
{
    stream->actor = self;
    stream->ready = ready;
    stream->arg = arg;
    stream->actor_before = NULL;
    stream->actor_next = self->streams;
    if (self->streams != NULL)
        self->streams->actor_before = stream;
    self->streams = stream;
}

static void stream_disown(struct stream *stream)
{
    struct actor *actor = stream->actor;
    struct stream_queue *queue = &actor->loop->streams;
    stream_dequeue(queue, stream);
    stream->told = 0;
    /* stream_fire_next must not touch the stream any more when its callback returns. */
    if (queue->firing == stream)
        queue->firing = NULL;
    if (stream->actor_before != NULL)
        stream->actor_before->actor_next = stream->actor_next;
    else
        actor->streams = stream->actor_next;
    if (stream->actor_next != NULL)
        stream->actor_next->actor_before = stream->actor_before;
    stream->actor = NULL;
}

/* A stream that was just made gets its owner, or is closed. */
static int settle_in(struct stream *stream, struct actor *self, unsigned want, stream_ready *ready,
                     void *arg, struct stream **out)
{
    /* This is set before the stream is attached, which begins to watch what is wanted. */
    stream->want = want;
    int rc = stream_adopt(self, stream, ready, arg);
    if (rc == 0)
        *out = stream;
    else
        stream_close(stream);
    return rc;
}

/* May self have a new stream? */
static int stream_check(struct actor *self)
{
    struct loop *loop = self->loop;
    if (self->phase >= ACTOR_ENDING)
        return TR_ECLOSED;
    return loop->simulated && loop->env->ops->fails(loop->env) ? TR_ENOMEM : 0;
}

int stream_listen(struct actor *self, const struct endpoint *endpoint, stream_ready *ready,
                  void *arg, struct stream **out, struct error *error)
{
    char text[ENDPOINT_TEXT_MAX];
    struct stream *stream = NULL;
    endpoint_format(endpoint, text, sizeof text);
    int rc = stream_check(self);
    if (rc < 0)
        return error_set(error, rc, "%s: cannot listen: %s", text, tr_strerror(rc));
    rc = self->loop->env->streams->listen(self->loop, endpoint, &stream, error);
    if (rc < 0)
        return rc;
    rc = settle_in(stream, self, STREAM_READABLE, ready, arg, out);
    return rc < 0 ? error_set(error, rc, "%s: cannot listen: %s", text, tr_strerror(rc)) : 0;
}

void stream_listening(const struct stream *stream, struct endpoint *endpoint)
{
    stream->ops->listening(stream, endpoint);
}

int stream_accept(struct actor *self, struct stream *listener, stream_ready *ready, void *arg,
                  struct stream **out)
{
    struct stream *stream = NULL;
    *out = NULL;
    int rc = stream_check(self);
    if (rc == 0)
        rc = listener->ops->accept(listener, &stream);
    if (rc < 0 || stream == NULL)
        return rc;
    return settle_in(stream, self, STREAM_READABLE, ready, arg, out);
}

int stream_connect(struct actor *self, const struct endpoint *endpoint, stream_ready *ready,
                   void *arg, struct stream **out)
{
    struct stream *stream = NULL;
    int rc = stream_check(self);
    if (rc == 0)
        rc = self->loop->env->streams->connect(self->loop, endpoint, &stream);
    return rc < 0 ? rc : settle_in(stream, self, STREAM_WRITABLE, ready, arg, out);
}

int stream_watch(struct actor *self, int fd, stream_ready *ready, void *arg, struct stream **out)
{
    const struct stream_ops *ops = self->loop->env->streams;
    struct stream *stream = NULL;
    int rc = stream_check(self);
    if (rc == 0)
        rc = ops->watch != NULL ? ops->watch(self->loop, fd, &stream) : TR_EUNSUPPORTED;
    return rc < 0 ? rc : settle_in(stream, self, STREAM_READABLE, ready, arg, out);
}

void stream_want(struct stream *stream, unsigned what)
{
    what &= STREAM_READABLE | STREAM_WRITABLE;
    if (stream->actor == NULL || stream->actor->phase == ACTOR_ENDING || stream->want == what)
        return;
    /* This is set before the system is asked: `ops->want` reads it. */
    stream->want = what;
    stream->ops->want(stream);
}

/* The system's result for no bytes is that of an end. */
static bool is_nothing(const struct iovec *parts, int num_parts)
{
    for (int i = 0; i < num_parts; i++)
        if (parts[i].iov_len > 0)
            return false;
    return true;
}

ssize_t stream_readv(struct stream *stream, const struct iovec *parts, int num_parts)
{
    return is_nothing(parts, num_parts) ? 0 : stream->ops->readv(stream, parts, num_parts);
}

ssize_t stream_writev(struct stream *stream, const struct iovec *parts, int num_parts)
{
    return is_nothing(parts, num_parts) ? 0 : stream->ops->writev(stream, parts, num_parts);
}

void stream_peer(const struct stream *stream, struct stream_peer *peer)
{
    *peer = stream->peer;
}

const struct error *stream_error(const struct stream *stream)
{
    return &stream->error;
}

void stream_detach(struct stream *stream)
{
    if (stream->actor == NULL)
        return;
    /* In any order: a stream without an actor tells nothing. */
    stream->ops->detach(stream);
    stream_disown(stream);
}

int stream_adopt(struct actor *self, struct stream *stream, stream_ready *ready, void *arg)
{
    assert(stream->actor == NULL);
    if (self->phase >= ACTOR_ENDING)
        return TR_ECLOSED;
    /* The owner comes first: attaching needs its loop, and may have something to tell at once. */
    stream_own(stream, self, ready, arg);
    int rc = stream->ops->attach(stream);
    if (rc < 0)
        stream_disown(stream);
    else
        stream->ops->want(stream);
    return rc;
}

void stream_close(struct stream *stream)
{
    if (stream == NULL)
        return;
    stream_detach(stream);
    stream->ops->close(stream);
}

void stream_quiet_all(struct actor *actor)
{
    for (struct stream *stream = actor->streams; stream != NULL; stream = stream->actor_next) {
        stream_dequeue(&actor->loop->streams, stream);
        /* This is set before the system is asked: `ops->want` reads it. */
        stream->told = stream->want = 0;
        stream->ops->want(stream);
    }
}

void stream_close_all(struct actor *actor)
{
    while (actor->streams != NULL)
        stream_close(actor->streams);
}
