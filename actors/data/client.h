/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: does whole operations on a graph for threads that are no part of it.
 *
 * A user's thread (through a port) or an actor sends one request and gets one answer; which
 * partitions that takes, which servers own them and which are down is the client's business.
 *
 *     MSG_FETCH_REQUEST   rows of one table for IDs in any order -> MSG_FETCH_REPLY
 *     MSG_NODES_REQUEST   all nodes of a type, or those of a mask -> MSG_NODES_REPLY
 *     MSG_TENSOR_REQUEST  what is done with a tensor as a whole -> MSG_TENSOR_REPLY
 *     MSG_TENSOR_STORE    rows of a tensor, in any order; answered when all owners have them
 *                         -> MSG_TENSOR_REPLY
 *
 * An operation that can't be done is answered with MSG_ERROR_REPLY and a message. Partitions in
 * this process's memory are read in place, a slice a turn; others are asked for a bounded piece
 * each, several partitions at a time, again while an owner is down or full, until the operation's
 * deadline.
 *
 * An answer is gathered in the body of the reply, which is the client's until it is sent and the
 * requester's from then on: nobody's buffer is written from another thread, so a requester may stop
 * waiting whenever it likes.
 *
 * Bounds: operations that run and that wait; the bytes they hold are charged to the account
 * "client". An operation waits for room, first come first served, until its deadline.
 *
 * Ownership: the options and what they name outlive the actor and its restarts.
 * Thread rules: an actor's.
 */
#ifndef ACTORS_DATA_CLIENT_H
#define ACTORS_DATA_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "actors/data/snapshot.h"
#include "graph/graph_meta.h"
#include "partition/store/book.h"
#include "runtime/core/actor.h"

#define CLIENT_NAME "client" /* in the directory */

/* Grouping so many IDs by owner takes 3 ms, so it fits a turn; a requester of more asks again. */
#define CLIENT_FETCH_ROWS_MAX 65536u

/* Operations under way: enough to hide round trips; each may hold its lanes' pieces. */
#define CLIENT_RUNNING_MAX 32u
/* Operations that wait, for a place or for room: far more than threads ask at once. */
#define CLIENT_WAITING_MAX 4096u

/* Partitions asked at the same time by one operation. */
#define CLIENT_LANES 8u

/* The bound of the account: some thousand largest fetches, or the nodes of a very large type. */
#define CLIENT_BYTES_DEFAULT ((size_t)8 << 30)

struct client_options {
    const struct book *book;
    const struct graph_meta *meta; /* says which tables are sparse; NULL: none is taken for such */
    struct snapshots *snapshots;   /* read directly; NULL: everything is asked for by message */
    const struct plan *plan;       /* NULL: everything is in this process */
    struct account *replies; /* of the process, see reply_budget.h; NULL: none come through links */
    size_t bytes_max;        /* of the account; 0: CLIENT_BYTES_DEFAULT */
    uint64_t call_ns;   /* after this a request goes out again, then after twice as long; 0: 10 s */
    size_t piece_bytes; /* most of one owner's answer; 0: 2 MiB */
    uint32_t running_max; /* 0: CLIENT_RUNNING_MAX */
};

/* arg: struct client_options. */
extern const struct actor_ops graph_client_ops;

/* Rows of that size that one fetch may ask for: its answer is one message. */
uint32_t client_fetch_rows_max(uint64_t row_bytes);

#endif
