/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler: makes mini-batches for a trainer-proxy. The batch is graph/batch_builder.h's; the
 * sampler drives it, asks servers, and hands it over.
 *
 * MSG_LOADER_OPEN says what batches a loader is to have, MSG_BATCH_REQUEST asks for one. A batch
 * goes hop by hop outwards from its seeds: partitions of other processes are asked first, one
 * request a (hop, partition), partitions that are in this process's memory are read directly.
 * Requests go out again when a server fails, until the recovery deadline; they are pure, and the
 * draws are keyed, so the batch is the same. A finished batch is deposited in the store, and the
 * reply says so. For a proxy in another process (or always: `flat`) it is flattened and kept,
 * until its last piece was pulled, it is not wanted any more, or the proxy's process is down; a
 * batch that finds no room waits, and with it its place among those worked on. A request for one
 * that can't be made is answered with MSG_ERROR_REPLY.
 *
 * Several batches are in flight: while one waits for answers the next is worked on. Work comes in
 * slices of a few milliseconds, between which the mailbox is served.
 *
 * Ownership: the options and what they name outlive the actor and its restarts.
 * Thread rules: an actor's.
 */
#ifndef ACTORS_DATA_SAMPLER_H
#define ACTORS_DATA_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "actors/data/batch_store.h"
#include "actors/data/snapshot.h"
#include "graph/graph_meta.h"
#include "runtime/core/actor.h"

/* Batches that a sampler works on at once: enough to hide a round trip behind other work. */
#define SAMPLER_DRAFTS_MAX 4u

/* Copied at 1 GB/s, on fresh and busy memory, these take 4 ms. */
#define SAMPLER_AT_ONCE_BYTES ((size_t)4 << 20)

/* Batches for trainers in other processes that are not pulled yet: windows of large ones. */
#define SAMPLER_KEPT_BYTES ((size_t)2 << 30)

/* Loaders open at a sampler, and batch requests that wait: far more than trainers use. */
#define SAMPLER_LOADERS_MAX 1024u
#define SAMPLER_QUEUE_MAX 1024u

struct sampler_options {
    const struct book *book;
    const struct graph_meta *meta;
    struct snapshots *snapshots; /* read directly; NULL: everything is asked for by message */
    struct batch_store *store;
    uint32_t number;         /* among the samplers of its job */
    bool join;               /* the coordinator, and again when that was restarted */
    const struct plan *plan; /* NULL: everything is in this process */
    struct address root;     /* process_member.h */
    struct account *replies; /* of the process, see reply_budget.h; NULL: none come through links */
    uint64_t recovery_ns;    /* how long a batch waits for servers that are down */
    uint64_t call_ns; /* after this a request goes out again, then after twice as long; 0: 10 s */
    uint64_t reply_bytes_max; /* of one answer; 0: 8 MiB */
    bool flat; /* requesters share no store with it, or act as if: all batches are pulled */
    size_t at_once_bytes;  /* a larger batch is flattened by the crew; 0: SAMPLER_AT_ONCE_BYTES */
    size_t kept_bytes_max; /* of batches that wait to be pulled; 0: SAMPLER_KEPT_BYTES */
};

/* arg: struct sampler_options. */
extern const struct actor_ops sampler_ops;

/* The name in the directory of a sampler: "sampler/2". */
void sampler_name(uint32_t number, char *name, size_t name_size);

#endif
