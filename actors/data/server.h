/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: owns partitions and answers for them.
 *
 * A state machine: requests in, replies out, no clock, no I/O, no draw but the keyed ones. It
 * answers MSG_SAMPLE_REQUEST, MSG_ROWS_REQUEST and MSG_SELECT_REQUEST, for which it keeps nothing,
 * and as the owner of tensors MSG_TENSOR_REQUEST, MSG_TENSOR_READ and MSG_TENSOR_WRITE, whose rows
 * lie on the shelf of its options; what it can't serve is answered with MSG_ERROR_REPLY and a
 * message that names partition, value and bound.
 *
 * A turn stays within its time: a request is worked on in slices, one a turn, first come first
 * served. A request whose deadline passes meanwhile is dropped. At most SERVER_WORKS_MAX wait, with
 * at most SERVER_WAITING_BYTES_MAX of bodies (one always may); more are refused with TR_EFULL.
 *
 * Ownership: the options, and the snapshots that they name, outlive the actor and its restarts.
 * Thread rules: an actor's.
 */
#ifndef ACTORS_DATA_SERVER_H
#define ACTORS_DATA_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "actors/data/snapshot.h"
#include "runtime/core/actor.h"

/* A (hop, partition) is one request of each batch in flight: a cluster's worth of them. */
#define SERVER_WORKS_MAX 4096u

/* Requests that left the mailbox are not counted there any more: as much again as that may hold. */
#define SERVER_WAITING_BYTES_MAX ((uint64_t)ACTOR_MAILBOX_BYTES)

struct server_options {
    struct snapshots *snapshots;
    const uint32_t *parts; /* [num_parts] that it answers for */
    uint32_t num_parts;
    uint32_t rank;                /* among servers */
    bool named;                   /* registers server_part_name() of each of its parts */
    bool join;                    /* tells the coordinator (see coordinator.h) */
    const struct plan *plan;      /* NULL: everything is in this process */
    struct address root;          /* process_member.h */
    uint32_t slice_edges;         /* most edges drawn a turn; 0: SERVER_SLICE_EDGES */
    uint64_t waiting_bytes_max;   /* 0: SERVER_WAITING_BYTES_MAX */
    struct tensor_shelf *tensors; /* tensor_shelf.h; NULL: it owns none */
    void *faults;                 /* of an actor that stands in for this one in the simulator */
};

/* Drawn at 10 M/s, on memory that is slow and busy, these take 7 ms. */
#define SERVER_SLICE_EDGES 65536u

/* arg: struct server_options. */
extern const struct actor_ops server_ops;

#endif
