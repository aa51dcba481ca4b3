/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trainer-proxy: stands for the training code among the actors.
 *
 * A client (a thread through a port, or an actor) opens a loader here and asks for its batches in
 * order. The proxy keeps a window of batches in flight ahead of the client, spread over the
 * samplers; when one is down its batches are asked of another. Finished batches wait in the store,
 * where the client collects them, so nothing is lost when a client stops waiting. At the end of an
 * epoch the window reaches into the next one, so that it does not start cold, unless the client was
 * seen to do something else there.
 *
 * Seeds that a user listed are no part of the message that opens a loader: the client puts them
 * into the process's lists before, and the proxy reads them there, by a reference that it holds
 * while it has the loader. So such a loader is opened from the proxy's own process alone.
 *
 * Back-pressure: a batch is asked for only when the window has a place for it and the store room.
 *
 * Ownership: the options and what they name outlive the actor. Thread rules: an actor's.
 */
#ifndef ACTORS_DATA_PROXY_H
#define ACTORS_DATA_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "actors/data/batch_store.h"
#include "actors/data/seed_lists.h"
#include "graph/graph_meta.h"
#include "partition/store/book.h"
#include "runtime/core/actor.h"
#include "runtime/core/directory.h"

/* The piece of a batch of a sampler elsewhere: what a fast link carries in a few milliseconds. */
#define PROXY_PIECE_BYTES ((uint64_t)8 << 20)

/* Checked and copied at 1 GB/s, on fresh and busy memory, these take 4 ms. */
#define PROXY_AT_ONCE_BYTES ((size_t)4 << 20)

/* A larger window only holds memory. */
#define PROXY_WINDOW_MAX 256u

struct proxy_options {
    const struct book *book;
    const struct graph_meta *meta;
    struct batch_store *store;
    struct seed_lists *lists; /* of the process's loaders; NULL: no loader has listed seeds */
    uint32_t num_samplers;    /* of the job */
    uint32_t rank;            /* of the trainer it stands for */
    bool join;                /* the coordinator, and again when that was restarted */
    const struct plan *plan;  /* NULL: everything is in this process */
    struct address root;      /* process_member.h */
    struct account *replies; /* of the process, see reply_budget.h; NULL: none come through links */
    uint64_t recovery_ns;    /* how long batches wait for samplers that are down */
    uint64_t piece_bytes_max; /* of a batch that is pulled; 0: PROXY_PIECE_BYTES */
    size_t at_once_bytes;     /* a larger batch is read by the crew; 0: PROXY_AT_ONCE_BYTES */
};

/* arg: struct proxy_options. */
extern const struct actor_ops proxy_ops;

/* The name in the directory of a trainer's proxy: "proxy/2". */
void proxy_name(uint32_t rank, char name[DIRECTORY_NAME_MAX]);

/* The meaning of the status of a call to a proxy to the code that made it for a trainer. */
enum proxy_call_end {
    PROXY_CALL_FAILED, /* the status is the trainer's to handle */
    PROXY_CALL_AGAIN,  /* no room or no memory for a while: the call is made again a little later */
    PROXY_CALL_REOPEN, /* the proxy that was asked is gone, or does not know the loader, which is
                          opened at the present one */
};

enum proxy_call_end proxy_call_end(int status);

#endif
