/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire: records between two nodes, and what each may look like.
 *
 * A record is a header of 16 bytes and a payload. Numbers are little-endian; frames travel as they
 * lie in memory (message.h), and Troupe runs on little-endian machines alone.
 *
 *     HELLO, WELCOME   first of each side: who we are and up to where we received
 *     REFUSE           instead of a WELCOME; then the connection ends
 *     MESSAGE          frame, encoded head, and the body or its beginning
 *     MORE             a later part of the body of its lane's message
 *     ACK              messages received in each lane, bytes released of the data lane
 *     PING             nothing, but it was heard
 *     GOODBYE          this incarnation ends
 *
 * Thread rules: everything here is pure.
 */
#ifndef RUNTIME_NET_WIRE_H
#define RUNTIME_NET_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/core/message.h"
#include "runtime/net/hello.h"
#include "runtime/net/links.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is little-endian");

enum wire_type {
    WIRE_HELLO = 1,
    WIRE_WELCOME,
    WIRE_REFUSE,
    WIRE_MESSAGE,
    WIRE_MORE,
    WIRE_ACK,
    WIRE_PING,
    WIRE_GOODBYE,
};

#define WIRE_HEADER_BYTES 16u
/* A body travels in parts of this size, and others may go between them: at 1 GB/s a quarter of a
 * millisecond. */
#define WIRE_PART_BYTES (256u << 10)
#define WIRE_LEAD_BYTES_MAX ((uint32_t)sizeof(struct frame) + KIND_ENCODED_BYTES_MAX)
#define WIRE_RECORD_BYTES_MAX (WIRE_LEAD_BYTES_MAX + WIRE_PART_BYTES)

struct wire_header {
    uint32_t bytes; /* of the payload */
    uint8_t type;
    uint8_t lane;
    uint16_t reserved;
    uint32_t crc;      /* CRC-32C of header (this field 0) and payload; 0 where there is none */
    uint32_t sequence; /* of a MESSAGE in its lane, its low bits */
};
_Static_assert(sizeof(struct wire_header) == WIRE_HEADER_BYTES, "a header on the wire");

/* Is it one that may come on a connection that is up (greeting: before it is)? 0 or TR_EFORMAT. */
int wire_check_header(const struct wire_header *header, bool greeting);

/* The checksum of a header whose crc is taken as 0. */
uint32_t wire_crc_begin(const struct wire_header *header);

struct wire_ack {
    uint64_t received[WIRE_LANES];
    uint64_t released_bytes; /* of the data lane, since the session began */
};
_Static_assert(sizeof(struct wire_ack) == 32, "an ACK on the wire");

/* The bytes that a message of the data lane takes of the receiver's window: the same at
 * both ends. */
static inline uint64_t wire_cost(const struct kind *kind, uint64_t body_bytes)
{
    return sizeof(struct frame) + kind->head_bytes + body_bytes;
}

static inline bool wire_window_is_sound(uint64_t window_bytes)
{
    return window_bytes != 0 && window_bytes <= LINKS_WINDOW_BYTES_MAX;
}

/* X(name, text): why a connection is refused. */
#define LINKS_REFUSALS(X)                                                                         \
    X(NONE, "not refused")                                                                        \
    X(PROTOCOL,                                                                                   \
      "it speaks another version of the protocol; install the same release on all hosts")         \
    X(SCHEMA, "its messages are those of another release; install the same release on all hosts") \
    X(CLUSTER, "it belongs to another cluster or job")                                            \
    X(UNKNOWN, "its number is not in our cluster file")                                           \
    X(WRONG_NODE, "it looked for another node than the one that listens here")                    \
    X(IDENTITY, "its certificate does not name the host of that node")                            \
    X(FENCED, "it was silent for too long and counts as dead; it has to start again")             \
    X(DUPLICATE, "two processes run as that node")                                                \
    X(FULL, "there are too many connections")                                                     \
    X(MALFORMED, "it does not speak the protocol of Troupe")                                      \
    X(TIMEOUT, "it sent no greeting in time")                                                     \
    X(INSECURE, "its connection is not encrypted")                                                \
    X(BUSY, "the process that it replaces is still being closed here")                            \
    X(DENIED, "it sent what observers may not")

enum links_refusal {
#define X(name, text) LINKS_REFUSED_##name,
    LINKS_REFUSALS(X)
#undef X
        LINKS_REFUSALS_COUNT
};
_Static_assert(LINKS_REFUSALS_COUNT <= 16, "links_counters has room for them");

/* Its text; never NULL. */
const char *wire_refusal_text(uint32_t refusal);

/* A hash of all that both sides must agree on to understand each other's messages. */
uint64_t wire_schema_hash(const struct kinds *kinds);

#endif
