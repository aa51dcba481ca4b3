/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unix sockets that listen: in a folder of our own, over a stale one, removed with their owner.
 *
 * Two processes that begin at once must not both find the socket stale and replace each
 * other's, so looking, replacing and removing are done under a lock on the folder, which is
 * held for these few calls alone and leaves no file behind.
 */
#ifndef RUNTIME_EVENT_SOCKET_UNIX_H
#define RUNTIME_EVENT_SOCKET_UNIX_H

#include "runtime/event/socket.h"

struct sockaddr_un;

/* The path has to fit, which endpoint_parse checks; false: it does not. */
bool socket_unix_address(const struct endpoint *endpoint, struct sockaddr_un *address);

int socket_unix_listen(struct socket_listener *listener, struct error *error);
void socket_unix_remove(const struct socket_listener *listener);

#endif
