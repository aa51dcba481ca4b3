/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS 1.3 over a stream: what a transport does when it has a struct security.
 *
 * Ciphertext goes through a pipe (tls_pipe.h) that gathers many records into one write. Nothing
 * that SSL encrypted ever waits inside it: bytes are handed to it only when the pipe has room for
 * all that becomes of them, so the caller may go on with other bytes after a short write.
 *
 * Ownership: the transport's; the stream stays the transport's.
 * Thread rules: as for the stream.
 */
#ifndef RUNTIME_NET_TLS_H
#define RUNTIME_NET_TLS_H

#include "runtime/net/transport.h"

struct tls;

int tls_create(struct stream *stream, const struct security *security, bool connects,
               const char *peer_host, struct tls **tls, struct error *error);
/* Says good-bye if it can, and wipes the keys. */
void tls_destroy(struct tls *tls);

/* As the functions of transport.h. */
int tls_handshake(struct tls *tls, struct error *error);
ssize_t tls_readv(struct tls *tls, const struct iovec *parts, int num_parts);
ssize_t tls_writev(struct tls *tls, const struct iovec *parts, int num_parts);
bool tls_pending(const struct tls *tls);
bool tls_names(const struct tls *tls, const char *host);
bool tls_is_done(const struct tls *tls); /* the handshake */
bool tls_has_heard(const struct tls *tls);
bool tls_has_answered(const struct tls *tls);
const char *tls_identity(const struct tls *tls);
const struct error *tls_error(const struct tls *tls);

/* Sends what waits; what the stream is to tell, if the user wants `what`. */
unsigned tls_want(struct tls *tls, unsigned what);

/* Why SSL failed, as a message; empties OpenSSL's queue of errors. In tls_error.c. */
struct tls_failure {
    int status;           /* of the pipe: 0 or TR_E* */
    long verify;          /* X509_V_* */
    const char *identity; /* of the certificate that was looked at */
    const char *host;     /* that it had to name, or NULL */
    bool speaks_tls;      /* the first bytes of the other side looked like it, or none came */
    bool silent;          /* none came */
    bool has_shared_key;
};
int tls_explain(const struct tls_failure *failure, struct error *error);

/* Are these the first bytes of TLS? To say so when they come on a plain connection. */
bool tls_looks_like_record(const void *bytes, size_t size);

#endif
