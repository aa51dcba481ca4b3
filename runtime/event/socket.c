/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* accept4, struct ucred */

#include "runtime/event/socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/event/socket_unix.h"

#define SOCKET_FLAGS (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

int socket_code(int errno_value)
{
    switch (errno_value) {
    case EAGAIN: /* of a unix socket: its queue of connections is full */
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
        return TR_EPEERDOWN;
    default:
        return error_from_errno(errno_value);
    }
}

/* Small messages must not wait for an acknowledgement of those before them (Nagle's rule). */
static void set_no_delay(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* not TCP: an error that is fine */
}

static int bind_and_listen(const struct addrinfo *address, int *out)
{
    int on = 1;
    int fd = socket(address->ai_family, SOCKET_FLAGS, 0);
    if (fd < 0)
        return -errno;
    /* Connections of a past life in TIME_WAIT do not keep us from our port. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
}

static int listen_tcp(const struct endpoint *endpoint, struct socket_listener *listener,
                      const char *text, struct error *error)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *addresses = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", endpoint->port);
    hints.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
    int rc = getaddrinfo(endpoint->host, port, &hints, &addresses);
    if (rc != 0)
        return error_set(error, rc == EAI_AGAIN || rc == EAI_SYSTEM ? TR_EIO : TR_ENOENT,
                         "%s: cannot listen: %s has no address: %s", text, endpoint->host,
                         gai_strerror(rc));
    /* The result of a list without addresses. The first of several that can be bound is enough. */
    rc = -EADDRNOTAVAIL;
    for (struct addrinfo *at = addresses; at != NULL && rc < 0; at = at->ai_next)
        rc = bind_and_listen(at, &listener->fd);
    freeaddrinfo(addresses);
    if (rc == -EADDRINUSE)
        return error_set(error, TR_EEXIST,
                         "%s: another process listens there; stop it or choose another port", text);
    if (rc == -EADDRNOTAVAIL)
        return error_set(error, TR_EINVAL,
                         "%s: cannot listen: this machine does not have that address; is this the "
                         "right host of the cluster file?",
                         text);
    if (rc < 0)
        return error_set_errno(error, -rc, "%s: cannot listen", text);
    listener->endpoint.port = port_of(listener->fd);
    return 0;
}

int socket_listen(const struct endpoint *endpoint, struct socket_listener *listener,
                  struct error *error)
{
    char text[ENDPOINT_TEXT_MAX];
    endpoint_format(endpoint, text, sizeof text);
    *listener = (struct socket_listener){ .fd = -1, .endpoint = *endpoint };
    if (endpoint->kind == ENDPOINT_UNIX)
        return socket_unix_listen(listener, error);
    if (endpoint->kind == ENDPOINT_TCP)
        return listen_tcp(endpoint, listener, text, error);
    return error_set(error, TR_EINVAL, "an endpoint to listen on is not given");
}

void socket_unlisten(struct socket_listener *listener)
{
    if (listener->fd < 0)
        return;
    /* The file goes before the socket: as long as that listens, no other process takes the file for
     * stale and puts its own there, perhaps under the inode number of ours. */
    if (listener->endpoint.kind == ENDPOINT_UNIX)
        socket_unix_remove(listener);
    close(listener->fd);
    listener->fd = -1;
}

int socket_accept(int listener)
{
    int fd;
    do
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (fd < 0)
        return -errno;
    set_no_delay(fd);
    return fd;
}

int socket_connect(const struct sockaddr *address, socklen_t length, int *out)
{
    int fd = socket(address->sa_family, SOCKET_FLAGS, 0);
    *out = -1;
    if (fd < 0)
        return -errno;
    /* This comes before the connection, so that no byte ever waits. */
    set_no_delay(fd);
    /* An interrupted connect goes on by itself. */
    int rc = connect(fd, address, length) == 0 ? 0 : errno == EINTR ? -EINPROGRESS : -errno;
    if (rc == 0 || rc == -EINPROGRESS)
        *out = fd;
    else
        close(fd);
    return rc;
}

/* An IPv4 address, mapped into IPv6 or not, is its own number; 0::/32 holds no other addresses than
 * the host itself. */
static uint64_t source_of(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
    if (address->ss_family != AF_INET6)
        return UINT64_MAX; /* a unix socket: ffff::/16 is for multicast, nobody connects from it */
    const struct in6_addr *full = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    int begin = IN6_IS_ADDR_V4MAPPED(full) ? 12 : 0;
    int end = IN6_IS_ADDR_V4MAPPED(full) ? 16 : 8;
    uint64_t source = 0;
    for (int i = begin; i < end; i++)
        source = source << 8 | full->s6_addr[i];
    return source;
}

void socket_peer(int fd, struct stream_peer *peer)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    *peer = (struct stream_peer){ .uid = -1, .text = "unknown" };
    if (getpeername(fd, (struct sockaddr *)&address, &length) < 0)
        return;
    peer->source = source_of(&address);
    if (address.ss_family == AF_UNIX) {
        struct ucred who;
        length = sizeof who;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0) {
            peer->uid = who.uid;
            snprintf(peer->text, sizeof peer->text, "uid %u pid %d", who.uid, (int)who.pid);
        }
    } else if (getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port,
                           sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        snprintf(peer->text, sizeof peer->text, "%.200s port %.10s", host, port);
    }
}
