/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's sockets, as far as streams need them: making, binding, naming the peer.
 *
 * All are close-on-exec and never block. The caller owns the descriptors.
 * Thread rules: any thread.
 */
#ifndef RUNTIME_EVENT_SOCKET_H
#define RUNTIME_EVENT_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "runtime/core/stream.h"

/* A listener's socket, and for a unix socket the identity of the file that is ours to remove. */
struct socket_listener {
    int fd;
    struct endpoint endpoint; /* port filled in */
    dev_t device;
    ino_t inode;
};

/* Results and rules are stream_listen's. A host name is looked up here and now. */
int socket_listen(const struct endpoint *endpoint, struct socket_listener *listener,
                  struct error *error);

/* Closes it, and removes the unix socket's file unless another has taken its place. */
void socket_unlisten(struct socket_listener *listener);

/* The next connection's descriptor, or a negative errno. */
int socket_accept(int listener);

/* Begins to connect; *fd is the socket. 0: connected, -EINPROGRESS, or another negative errno, and
 * then *fd is -1. */
int socket_connect(const struct sockaddr *address, socklen_t length, int *fd);

void socket_peer(int fd, struct stream_peer *peer);

/* error_from_errno, and TR_EPEERDOWN for errors that say that no peer is there. */
int socket_code(int errno_value);

#endif
