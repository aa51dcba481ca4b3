/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport: a stream, as it is or through TLS 1.3 (see security.h).
 *
 * Raw events and readv/writev rather than bufferevents: those read at most 4096 bytes a callback,
 * and their OpenSSL form corrupts the stream when partial writes are on.
 *
 * The transport owns its stream. It sets what the stream wants: TLS may have to read to go on
 * writing, and what it took and encrypted may still have to be sent. Its user ends every `ready`
 * callback with transport_want, which sends that and says what it would do next. Thread rules: as
 * for the stream.
 */
#ifndef RUNTIME_NET_TRANSPORT_H
#define RUNTIME_NET_TRANSPORT_H

#include "runtime/core/stream.h"
#include "runtime/net/security.h"

/* The bytes that a peer that has proved nothing may make us read, before the end of
 * the handshake. */
#define TRANSPORT_HANDSHAKE_BYTES_MAX 16384u

#define TRANSPORT_IDENTITY_MAX 256u /* a host's name in a certificate (at most 253), and its zero */

struct transport;

/* Over a stream that is connected, or about to be; takes it over, whatever the result.
 * security NULL: plain. peer_host: the name that the other side's certificate must have, when we
 * connect; NULL: any that the authority signed (the link looks at its names then). */
int transport_create(struct stream *stream, const struct security *security, bool connects,
                     const char *peer_host, struct transport **transport, struct error *error);
void transport_destroy(struct transport *transport);

/* Goes on with the handshake: 0 done, 1 would block, TR_EPERM refused (by either side),
 * TR_EFORMAT not TLS, TR_ETOOBIG over TRANSPORT_HANDSHAKE_BYTES_MAX, TR_EEND, TR_EPEERDOWN. */
int transport_handshake(struct transport *transport, struct error *error);

/* Is there more of it to do? One step may sign or verify. */
bool transport_is_shaking(const struct transport *transport);

/* The handshake's beginning: has any byte of it come; and has a whole part of it come, so that it
 * was answered? False of a plain stream. */
bool transport_has_heard(const struct transport *transport);
bool transport_has_answered(const struct transport *transport);

/* As stream_readv and stream_writev, after the handshake. */
ssize_t transport_readv(struct transport *transport, const struct iovec *parts, int num_parts);
ssize_t transport_writev(struct transport *transport, const struct iovec *parts, int num_parts);

/* Why reading or writing failed, where it is known (a side that connects hears only then that its
 * certificate was refused: reads return TR_EPERM); code 0: nothing is. */
const struct error *transport_error(const struct transport *transport);

/* True: bytes have arrived and wait here; no event will tell of them. Read until it is false, or
 * until the reader has enough, and then ask again before waiting for an event. */
bool transport_pending(const struct transport *transport);

/* The user's next wish (enum stream_what), once transport_handshake was called; sends what
 * is left to send. During the handshake `what` is not looked at. */
void transport_want(struct transport *transport, unsigned what);

/* Bytes that a transport holds for itself at most, to charge to an account. */
#define TRANSPORT_BYTES (600u << 10)

/* Does the certificate of the other side name this host? True for a shared key, and for a
 * unix socket of our own user. */
bool transport_names(const struct transport *transport, const char *host);

/* The identity that the other side proved, for logs: "CN=...", "shared key", "uid
 * 1000", "nobody". */
void transport_identity(const struct transport *transport, char identity[TRANSPORT_IDENTITY_MAX]);

/* Encrypted, or a unix socket of our own user. */
bool transport_is_trusted(const struct transport *transport);

/* stream_detach and stream_adopt of its stream. */
void transport_detach(struct transport *transport);
int transport_adopt(struct actor *self, struct transport *transport, stream_ready *ready,
                    void *arg);

#endif
