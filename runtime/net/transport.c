/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/net/tls.h"

struct transport {
    struct stream *stream;
    struct tls *tls; /* NULL: plain */
};

int transport_create(struct stream *stream, const struct security *security, bool connects,
                     const char *peer_host, struct transport **transport, struct error *error)
{
    *transport = NULL;
    struct transport *made = calloc(1, sizeof *made);
    int rc = made == NULL ? error_set(error, TR_ENOMEM, "no memory for a connection") : 0;
    if (rc == 0 && security != NULL)
        rc = tls_create(stream, security, connects, peer_host, &made->tls, error);
    if (rc < 0) {
        free(made);
        stream_close(stream);
        return rc;
    }
    made->stream = stream;
    *transport = made;
    return 0;
}

void transport_destroy(struct transport *transport)
{
    if (transport == NULL)
        return;
    /* TLS goes before its stream, over which it says good-bye. */
    tls_destroy(transport->tls);
    stream_close(transport->stream);
    free(transport);
}

int transport_handshake(struct transport *transport, struct error *error)
{
    return transport->tls != NULL ? tls_handshake(transport->tls, error) : 0;
}

bool transport_is_shaking(const struct transport *transport)
{
    return transport->tls != NULL && !tls_is_done(transport->tls);
}

bool transport_has_heard(const struct transport *transport)
{
    return transport->tls != NULL && tls_has_heard(transport->tls);
}

bool transport_has_answered(const struct transport *transport)
{
    return transport->tls != NULL && tls_has_answered(transport->tls);
}

ssize_t transport_readv(struct transport *transport, const struct iovec *parts, int num_parts)
{
    if (transport->tls != NULL)
        return tls_readv(transport->tls, parts, num_parts);
    return stream_readv(transport->stream, parts, num_parts);
}

ssize_t transport_writev(struct transport *transport, const struct iovec *parts, int num_parts)
{
    if (transport->tls != NULL)
        return tls_writev(transport->tls, parts, num_parts);
    return stream_writev(transport->stream, parts, num_parts);
}

bool transport_pending(const struct transport *transport)
{
    return transport->tls != NULL && tls_pending(transport->tls);
}

const struct error *transport_error(const struct transport *transport)
{
    if (transport->tls != NULL && tls_error(transport->tls)->code != 0)
        return tls_error(transport->tls);
    return stream_error(transport->stream);
}

void transport_want(struct transport *transport, unsigned what)
{
    stream_want(transport->stream, transport->tls != NULL ? tls_want(transport->tls, what) : what);
}

/* The system vouches for the user at the other end of a unix socket. */
static bool is_own_user(const struct transport *transport)
{
    struct stream_peer peer;
    stream_peer(transport->stream, &peer);
    return peer.uid >= 0 && (uid_t)peer.uid == geteuid();
}

bool transport_names(const struct transport *transport, const char *host)
{
    return transport->tls != NULL ? tls_names(transport->tls, host) : is_own_user(transport);
}

void transport_identity(const struct transport *transport, char identity[TRANSPORT_IDENTITY_MAX])
{
    struct stream_peer peer;
    stream_peer(transport->stream, &peer);
    if (transport->tls != NULL)
        snprintf(identity, TRANSPORT_IDENTITY_MAX, "%s", tls_identity(transport->tls));
    else if (peer.uid >= 0)
        snprintf(identity, TRANSPORT_IDENTITY_MAX, "uid %lld", (long long)peer.uid);
    else
        snprintf(identity, TRANSPORT_IDENTITY_MAX, "not authenticated");
}

bool transport_is_trusted(const struct transport *transport)
{
    return transport->tls != NULL ? tls_is_done(transport->tls) : is_own_user(transport);
}

void transport_detach(struct transport *transport)
{
    stream_detach(transport->stream);
}

int transport_adopt(struct actor *self, struct transport *transport, stream_ready *ready, void *arg)
{
    return stream_adopt(self, transport->stream, ready, arg);
}
