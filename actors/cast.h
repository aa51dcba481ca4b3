/*
 * The cast: who plays in a job of one process, and the actor that starts them.
 *
 * One root spawns the coordinator, the servers, the samplers, the trainer-proxy and the client,
 * spread over the loops, and starts again what fails. The session and the simulator run this same
 * tree.
 *
 * Ownership: a cast owns the arguments of its actors; it and what its options name outlive them.
 * Thread rules: the actor's; init and fini on any thread while no actor runs.
 */
#ifndef ACTORS_CAST_H
#define ACTORS_CAST_H

#include "actors/client.h"
#include "actors/proxy.h"
#include "actors/sampler.h"
#include "actors/server.h"

struct cast_options {
    const struct book *book;
    const struct graph_meta *meta;
    struct snapshots *snapshots;
    struct batch_bank *bank;
    uint32_t servers;  /* 0, or more than partitions: one a partition */
    uint32_t samplers; /* at least 1 */
    uint32_t loops;    /* of the node */
    bool direct;       /* samplers and client read partitions of this process, not messages alone */
    bool flat;         /* batches go to the proxy as bytes, as from a sampler elsewhere */
    uint64_t recovery_ns;
    uint64_t call_ns;         /* sampler.h */
    uint64_t reply_bytes_max; /* sampler.h */
    uint32_t slice_edges;     /* server.h */
    size_t mailbox_bytes_max; /* of servers, samplers, proxy and client; 0: ACTOR_MAILBOX_BYTES */
};

struct cast {
    struct cast_options options;
    uint32_t num_servers;
    struct server_options *servers;   /* [num_servers] */
    uint32_t *server_parts;           /* all partitions, server after server */
    struct sampler_options *samplers; /* [options.samplers] */
    struct proxy_options proxy;
    struct client_options client;
};

/* TR_ENOMEM. cast_fini takes down whatever it left; all zeros is valid too. */
int cast_init(struct cast *cast, const struct cast_options *options);
void cast_fini(struct cast *cast);

/* arg: struct cast. */
extern const struct actor_ops cast_ops;

#endif
