/* SPDX-License-Identifier: Apache-2.0 */
/* The first records of two nodes to each other. Plain values; read by C++ too (hello_codec.cc). */
#ifndef RUNTIME_NET_HELLO_H
#define RUNTIME_NET_HELLO_H

#include <stdint.h>

/* Control goes first. Replies with large bodies have a lane of their own, so that they hold up
 * nothing; each lane keeps its order. */
enum wire_lane { WIRE_CONTROL, WIRE_BULK, WIRE_DATA, WIRE_LANES };

#define WIRE_CLUSTER_MAX 128u /* with the final zero */

/* The fields of HELLO and WELCOME. */
struct wire_hello {
    uint32_t protocol_first, protocol_last;
    uint64_t schema_hash;
    char cluster[WIRE_CLUSTER_MAX];
    uint32_t node, incarnation;
    uint64_t nonce;            /* of the process: tells two with the same number apart */
    uint32_t peer_node;        /* whom it speaks to */
    uint32_t peer_incarnation; /* that it knows of it and goes on with; 0: none */
    uint32_t peer_fenced;      /* up to here it counts as dead; 0: none */
    uint64_t received[WIRE_LANES];
    uint64_t released_bytes;
    uint64_t window_bytes; /* that it grants in the data lane */
};

#endif
