/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream: connected bytes, or a listener for them, through the env: sockets in the real one, a
 * simulated network in the simulator.
 *
 * A stream belongs to one actor and is used on that actor's loop alone. Nothing blocks: reading
 * and writing do what they can, and `ready` tells when there may be more to do. Reads and writes
 * may be short at any byte.
 *
 * Ownership: stream_close frees it; streams of an actor that ends are closed after its fini.
 * Thread rules: on self's loop, inside one of its callbacks.
 */
#ifndef RUNTIME_CORE_STREAM_H
#define RUNTIME_CORE_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "runtime/core/actor.h"
#include "runtime/core/endpoint.h"

struct stream;

enum stream_what {
    STREAM_READABLE = 1, /* bytes, the end, or (of a listener) a connection to accept */
    STREAM_WRITABLE = 2, /* room to write; the first one says that connecting succeeded */
    STREAM_FAILED = 4,   /* connecting failed: stream_error says why; close it */
};

/* May come without need. The stream may be closed in it. */
typedef void stream_ready(struct actor *self, void *arg, struct stream *stream, unsigned what);

/* Listens. A unix socket that no process answers at is replaced; its folder must be ours and 0700.
 * TR_EEXIST: a process listens there. TR_EPERM, TR_EINVAL, TR_ENOMEM, TR_EIO. */
int stream_listen(struct actor *self, const struct endpoint *endpoint, stream_ready *ready,
                  void *arg, struct stream **stream, struct error *error);

/* Where a listener listens, its port filled in. */
void stream_listening(const struct stream *stream, struct endpoint *endpoint);

/* Takes one connection that waits; *stream NULL: none does. TR_ENOMEM, TR_EIO (out of files). */
int stream_accept(struct actor *self, struct stream *listener, stream_ready *ready, void *arg,
                  struct stream **stream);

/* Begins to connect; looking up the name is the crew's. Tells WRITABLE or FAILED. */
int stream_connect(struct actor *self, const struct endpoint *endpoint, stream_ready *ready,
                   void *arg, struct stream **stream);

/* Tells READABLE while that descriptor is, for a library that reads it itself. It stays the
 * caller's, who closes the stream first. TR_EUNSUPPORTED: in the simulator. */
int stream_watch(struct actor *self, int fd, stream_ready *ready, void *arg,
                 struct stream **stream);

/* The events that `ready` reports; nothing else is watched. A new stream wants READABLE, one that
 * connects WRITABLE. */
void stream_want(struct stream *stream, unsigned what);

/* Bytes read or written; 0: would block; TR_EEND: the other side ended (reads);
 * TR_EPEERDOWN: the connection broke. */
ssize_t stream_readv(struct stream *stream, const struct iovec *parts, int num_parts);
ssize_t stream_writev(struct stream *stream, const struct iovec *parts, int num_parts);

/* The other side's identity. uid -1: not a unix socket. source is equal for peers that may well be
 * one and the same: an IPv4 address, a /64 of IPv6 (RFC 6177: a site has at least that), one value
 * for all unix sockets. The text is for logs. */
struct stream_peer {
    int64_t uid;
    uint64_t source;
    char text[ENDPOINT_TEXT_MAX];
};
void stream_peer(const struct stream *stream, struct stream_peer *peer);

/* Why it failed; code 0: it did not. */
const struct error *stream_error(const struct stream *stream);

/* Takes the stream away from its actor, so that one on another loop of the node can adopt it. One
 * that still connects gives up. TR_ECLOSED: self ends; TR_ENOMEM: it stays detached. */
void stream_detach(struct stream *stream);
int stream_adopt(struct actor *self, struct stream *stream, stream_ready *ready, void *arg);

/* Frees it; NULL is ignored. Bytes that were written may still arrive. */
void stream_close(struct stream *stream);

#endif
