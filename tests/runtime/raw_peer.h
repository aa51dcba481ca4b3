/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer that speaks the bytes of a link itself, and may lie in all of them.
 *
 * It speaks to node 0 of a cluster on a unix socket, and knows the kinds of link_kinds.
 */
#ifndef TESTS_RUNTIME_RAW_PEER_H
#define TESTS_RUNTIME_RAW_PEER_H

#include "runtime/net/greeting.h"
#include "tests/runtime/link_support.h"

struct raw_peer {
    const struct cluster *cluster;
    int fd;
    uint32_t node, incarnation;
    uint32_t sent[WIRE_LANES];
};

/* A socket; its reads end after 20 s. */
int raw_connect(const struct cluster *cluster);

/* The greeting of a sound peer of that number. */
struct wire_hello raw_hello(uint32_t node, uint32_t incarnation);

/* Connects, says hello and waits for the answer, whose type is returned; *refusal (may be NULL) is
 * what a REFUSE says. Again while it is closed unanswered: a link may not have started yet. */
uint8_t raw_greet(const struct cluster *cluster, const struct wire_hello *hello, int *fd,
                  uint32_t *refusal);

/* A connection that is up; waits until an earlier life was ended. */
void raw_open(struct raw_peer *peer, const struct cluster *cluster, uint32_t node,
              uint32_t incarnation);

/* One message without a body, from actor 1 of this peer where the frame does not say. Returns
 * the bytes of its record. */
uint32_t raw_record(struct raw_peer *peer, uint8_t lane, struct frame frame, const void *head,
                    uint32_t head_bytes, unsigned char *record);
void raw_send(struct raw_peer *peer, uint8_t lane, struct frame frame, const void *head,
              uint32_t head_bytes);

/* The next message's frame and head; false: the connection ended. */
bool raw_receive(struct raw_peer *peer, struct frame *frame, void *head, size_t head_bytes);

#endif
