/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between SSL and a stream: gathers ciphertext into large writes, takes it from large reads, and
 * counts what a peer that has proved nothing makes us read. An OpenSSL BIO on SSL's side.
 *
 * SSL could read ahead by itself, but moves all that it has to the front for each record.
 *
 * Ownership: embedded in struct tls; the BIO is SSL's. Thread rules: as for the stream.
 */
#ifndef RUNTIME_NET_TLS_PIPE_H
#define RUNTIME_NET_TLS_PIPE_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/core/stream.h"

/* A record is 16 KiB of text, 5 bytes of header, 17 of type and tag; a small one of the protocol
 * itself may come before it. */
#define TLS_PIPE_RECORD_BYTES ((size_t)17 << 10)
/* Sixteen records a system call; more gains nothing measurable. */
#define TLS_PIPE_BYTES (16 * TLS_PIPE_RECORD_BYTES)

struct tls_pipe {
    struct stream *stream;
    BIO_METHOD *method; /* of its own: a shared one would be a mutable global */
    unsigned char *out; /* [TLS_PIPE_BYTES]; what waits is [out_at, out_end) */
    size_t out_at, out_end;
    unsigned char *in; /* [TLS_PIPE_BYTES]; what SSL did not take yet is [in_at, in_end) */
    size_t in_at, in_end;
    size_t may_read;        /* before the end of the handshake; SIZE_MAX after it */
    int in_status;          /* 0, or TR_E*: why nothing more is read */
    int out_status;         /* and written: what says why we refuse still goes out */
    bool wrote;             /* SSL has had something to say */
    unsigned char first[3]; /* that the other side sent */
    size_t num_first;
};

int tls_pipe_init(struct tls_pipe *pipe, struct stream *stream, size_t may_read);
void tls_pipe_fini(struct tls_pipe *pipe);

/* A BIO for SSL, or NULL: no memory. */
BIO *tls_pipe_bio(struct tls_pipe *pipe);

/* Writes what waits, as far as the stream takes it. */
void tls_pipe_flush(struct tls_pipe *pipe);

static inline bool tls_pipe_waits(const struct tls_pipe *pipe)
{
    return pipe->out_end > pipe->out_at;
}

/* Has something come that SSL did not take yet? */
static inline bool tls_pipe_has(const struct tls_pipe *pipe)
{
    return pipe->in_end > pipe->in_at;
}

/* Makes room for a record; false: the stream has to take some first. */
bool tls_pipe_room(struct tls_pipe *pipe);

#endif
