/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream as the env that makes it sees it.
 *
 * The common part lives in stream.c: the owner of a stream, and the list of those on a loop that
 * have something to tell. An implementation embeds struct stream, says by stream_tell what
 * happened, and the loop's next turn calls `ready`, so that a stream's callback is one like a
 * timer's.
 *
 * Thread rules: the loop of the stream's actor; a detached stream belongs to its holder.
 */
#ifndef RUNTIME_CORE_STREAM_IMPL_H
#define RUNTIME_CORE_STREAM_IMPL_H

#include "runtime/core/stream.h"

struct loop;

/* The env's part. listen, accept and connect make a stream that is attached to no loop yet. */
struct stream_ops {
    int (*listen)(struct loop *loop, const struct endpoint *endpoint, struct stream **stream,
                  struct error *error);
    void (*listening)(const struct stream *stream, struct endpoint *endpoint);
    int (*accept)(struct stream *listener, struct stream **stream);
    int (*connect)(struct loop *loop, const struct endpoint *endpoint, struct stream **stream);
    int (*watch)(struct loop *loop, int fd, struct stream **stream); /* NULL: there is none */
    /* Brings it to its actor's loop; one that is to connect begins with it. */
    int (*attach)(struct stream *stream);
    void (*detach)(struct stream *stream);
    void (*want)(struct stream *stream); /* stream->want has changed */
    ssize_t (*readv)(struct stream *stream, const struct iovec *parts, int num_parts);
    ssize_t (*writev)(struct stream *stream, const struct iovec *parts, int num_parts);
    void (*again)(struct stream *stream); /* report again what still holds; or NULL */
    void (*close)(struct stream *stream); /* detached by then; frees it */
};

struct stream {
    const struct stream_ops *ops;
    struct actor *actor; /* NULL: detached */
    struct stream *actor_next, *actor_before;
    struct stream *ready_next, *ready_before; /* the loop's list */
    stream_ready *ready;
    void *arg;
    unsigned want, told;
    bool queued;
    struct stream_peer peer;
    struct error error;
};

/* The streams of a loop that have something to tell, and the one that does. */
struct stream_queue {
    struct stream *first, *last;
    uint32_t count;
    struct stream *firing; /* NULL too when it was closed or detached meanwhile */
};

/* Its loop's next turn tells so, as far as it is wanted. */
void stream_tell(struct stream *stream, unsigned what);

/* Calls `ready` of the first that has something to tell; there is one. Returns its actor, for the
 * loop to settle; NULL: `ready` was not called. */
struct actor *stream_fire_next(struct loop *loop);

/* Actors: their end begins, no event is delivered any more; and after their fini. */
void stream_quiet_all(struct actor *actor);
void stream_close_all(struct actor *actor);

#endif
