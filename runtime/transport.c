#include "runtime/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct transport {
    struct stream *stream;
};

int transport_create(struct stream *stream, const struct security *security, bool connects,
                     const char *peer_host, struct transport **transport, struct error *error)
{
    (void)connects;
    (void)peer_host;
    *transport = NULL;
    struct transport *made = calloc(1, sizeof *made);
    int rc = made == NULL ? error_set(error, TR_ENOMEM, "no memory for a connection") : 0;
    if (rc == 0 && security != NULL)
        rc = error_set(error, TR_EUNSUPPORTED, "connections through TLS");
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
    stream_close(transport->stream);
    free(transport);
}

int transport_handshake(struct transport *transport, struct error *error)
{
    (void)transport;
    (void)error;
    return 0;
}

ssize_t transport_readv(struct transport *transport, const struct iovec *parts, int num_parts)
{
    return stream_readv(transport->stream, parts, num_parts);
}

ssize_t transport_writev(struct transport *transport, const struct iovec *parts, int num_parts)
{
    return stream_writev(transport->stream, parts, num_parts);
}

bool transport_pending(const struct transport *transport)
{
    (void)transport;
    return false;
}

void transport_want(struct transport *transport, unsigned what)
{
    stream_want(transport->stream, what);
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
    (void)host;
    return is_own_user(transport);
}

void transport_identity(const struct transport *transport, char identity[TRANSPORT_IDENTITY_MAX])
{
    struct stream_peer peer;
    stream_peer(transport->stream, &peer);
    if (peer.uid >= 0)
        snprintf(identity, TRANSPORT_IDENTITY_MAX, "uid %lld", (long long)peer.uid);
    else
        snprintf(identity, TRANSPORT_IDENTITY_MAX, "nobody");
}

bool transport_is_trusted(const struct transport *transport)
{
    return is_own_user(transport);
}

void transport_detach(struct transport *transport)
{
    stream_detach(transport->stream);
}

int transport_adopt(struct actor *self, struct transport *transport, stream_ready *ready,
                    void *arg)
{
    return stream_adopt(self, transport->stream, ready, arg);
}

/* RFC 8446, section 5.1: a handshake record (22) of version 3.x. */
bool transport_looks_like_tls(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    return size >= 3 && byte[0] == 22 && byte[1] == 3 && byte[2] <= 4;
}
