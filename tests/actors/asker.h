/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node in the simulator with one actor that asks, so that a test reads as calls: it sends one
 * request, runs until the answer is there, and keeps the bytes.
 */
#ifndef TESTS_ACTORS_ASKER_H
#define TESTS_ACTORS_ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/data/seed_lists.h"
#include "runtime/core/actor.h"
#include "runtime/core/env.h"
#include "runtime/core/node.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"

struct asker {
    struct env *env;
    struct node *node;
    struct kinds kinds;
    struct seed_lists *lists; /* for a proxy that is asked */
    struct address to;
    /* The request. */
    uint32_t kind;
    const void *head;
    size_t head_bytes;
    const void *body;
    size_t body_bytes;
    uint64_t timeout_ns;     /* 0: a minute */
    bool stays;              /* the actor that asks lives on, as one that joins does */
    uint32_t alloc_fail_ppm; /* from the request on, until the answer */
    /* The answer. */
    bool answered;
    int status;
    uint32_t reply_kind;
    _Alignas(16) unsigned char reply_head[256];
    unsigned char *reply; /* 64-byte aligned, exactly reply_bytes long */
    size_t reply_bytes;
};

void asker_open(struct asker *asker, uint64_t seed, bool codec);

/* Spawns the actor that is asked. */
void asker_spawn(struct asker *asker, const struct actor_ops *ops, const void *arg);

/* Returns the status of the call; the answer stays until the next one. */
int asker_ask(struct asker *asker, uint32_t kind, const void *head, size_t head_bytes,
              const void *body, size_t body_bytes);

/* The same with MSG_LOADER_OPEN, whose body is the spec. Seeds that are listed are put into the
 * lists before: seeds[open->num_seeds], or NULL, and nothing is put there. */
int asker_open_spec(struct asker *asker, const struct msg_loader_open *open, const uint64_t *seeds,
                    const struct sample_spec *spec);
/* With a spec in which every edge type draws alike, fanout[num_layers]. */
int asker_open_loader(struct asker *asker, const struct msg_loader_open *open,
                      const uint64_t *seeds, uint32_t num_layers, const int32_t *fanout,
                      uint32_t num_etypes);

/* Stops all and checks that nothing leaked. */
void asker_close(struct asker *asker);

#endif
