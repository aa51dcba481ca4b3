/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port: how a thread that is not a loop (the training thread) talks to actors.
 *
 * A small actor on one loop makes the calls; the thread posts to that loop's inbox and waits, with
 * a deadline, on a condition variable. One waiter at a time, of any of its calls; closing wakes it
 * (TR_ECLOSED), and so does a number of interrupts that was counted up (TR_ECANCELED); an answer
 * that comes too late is released. Real env only: the simulator drives actors directly.
 *
 * A port's messages are charged to the node's message account. At most PORT_ERRANDS_MAX sends and
 * given-up calls wait for the loop; then the next waits for it, so that a thread that polls can't
 * outrun a loop.
 *
 * Thread rules: any one thread at a time for call and send; port_close and port_wake from any
 * thread.
 */
#ifndef RUNTIME_CORE_PORT_H
#define RUNTIME_CORE_PORT_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/core/actor.h"

#define PORT_ERRANDS_MAX 64u

struct port;

/* Opens a port on that loop of a started node. TR_ENOMEM, TR_ECLOSED. */
int port_open(struct node *node, uint32_t loop, struct port **port);

/* A message of a registered kind, made by this thread, its head all zeroes; NULL: memory is out. */
struct message *port_message(struct port *port, uint32_t kind);

/* Its body, of bytes to be written there; NULL: memory is out. The message must have none yet. */
void *port_body_alloc(struct port *port, struct message *message, size_t bytes);

/* Sends; consumes. 0 or TR_ECLOSED. */
int port_send(struct port *port, struct address to, struct message *message);

/* Calls and waits until the reply, a failure as in call.h, or the deadline (of port_now_ns).
 * Consumes the request. On 0, *reply is the caller's, for port_release. TR_ECLOSED: the port or
 * node closed. */
int port_call(struct port *port, struct address to, struct message *request, uint64_t deadline_ns,
              struct message **reply);

/* The same in two steps, so that several calls are under way: each that has begun is waited for or
 * abandoned once. port_begin consumes the request. */
struct port_errand;
int port_begin(struct port *port, struct address to, struct message *request, uint64_t deadline_ns,
               struct port_errand **errand);
int port_wait(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
              struct message **reply);
/* As port_wait; but TR_ECANCELED, an interrupt, leaves it under way: it is to be waited for
 * again. */
int port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                      struct message **reply);
void port_abandon(struct port *port, struct port_errand *errand);

/* The address that a name has, waiting for it until the deadline (directory.h). */
int port_find(struct port *port, const char *name, uint64_t deadline_ns, struct address *address);

/* Gives a message up on this thread. */
void port_release(struct port *port, struct message *message);

uint64_t port_now_ns(const struct port *port);

/* From now on what waits here ends with TR_ECANCELED once *interrupts is not `seen` any more.
 * The thread that counts it up calls port_wake after that. NULL: never. */
void port_watch(struct port *port, const atomic_uint *interrupts, unsigned seen);
/* Whether it is not `seen` any more. */
bool port_is_interrupted(const struct port *port);
/* Has the waiter look whether it is interrupted; any thread, but no signal handler. */
void port_wake(struct port *port);

/* Wakes the waiter and refuses further calls; any thread, any number of times. */
void port_close(struct port *port);

/* Frees it: after port_close and when no thread is in a call; before node_destroy. */
void port_destroy(struct port *port);

#endif
