/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that the files of the proxy share, and the life of a loader in it; its window of
 * batches has a machine of its own (proxy_window.c).
 *
 *     open      on `loaders`, found by its ID, known to the store
 *     closing   on `closing`, with `closed` set: calls that open it at samplers are under way
 *
 * The client's close ends it: it is freed at once where no such call is under way, else behind the
 * last of them (proxy_forget). Invariants:
 *
 *  - It holds the lists of its seeds, which the client may drop at any time, until it is freed.
 *  - A loader that closes has EMPTY slots, no room in the store, no waiter and no timer.
 *  - At a sampler it is open, or being opened, exactly where proxy_open.address is a life of that
 *    sampler; `call` is set exactly while MSG_LOADER_OPEN is under way. A request for a batch may
 *    follow that message at once: one lane keeps its order. A life that is gone, or that does not
 *    know the loader, empties the address, and the next attempt of a slot opens it again.
 *  - A single draw is open at no sampler: its request brings all.
 *  - At most one call of the client waits; a second one takes its place.
 */
#ifndef ACTORS_DATA_PROXY_STATE_H
#define ACTORS_DATA_PROXY_STATE_H

#include <stdbool.h>

#include "actors/common/part_call.h"
#include "actors/common/process_member.h"
#include "actors/data/epoch_plan.h"
#include "actors/data/proxy.h"
#include "actors/data/seed_set.h"
#include "runtime/core/call.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"

struct proxy;
struct proxy_loader;
struct proxy_pull;

/* Closes of loaders that are not known here are noted for so many others: a close overtakes its
 * open by a turn or two, in which no more loaders are given up. */
#define PROXY_EARLY_MAX 64u

/* A sampler fails a batch at its recovery deadline by itself; this much later it is given up. */
#define PROXY_GRACE_NS UINT64_C(5000000000)

enum slot_state {
    SLOT_EMPTY,
    SLOT_QUEUED, /* room is reserved; it is asked for when the window is filled next */
    SLOT_ASKED,  /* its call is under way */
    SLOT_PULLED, /* made by a sampler elsewhere; its bytes are on their way */
    SLOT_READY,  /* in the store */
    SLOT_FAILED,
};

/* A batch of the window. */
struct proxy_slot {
    struct proxy_loader *loader;
    uint32_t epoch;
    uint64_t step;
    enum slot_state state;
    uint32_t sampler;
    uint64_t until_ns; /* the recovery deadline of its batch */
    struct part_call call;
    struct proxy_pull *pull;
    struct error error; /* of a failed one */
};

/* A loader at one sampler. */
struct proxy_open {
    struct proxy_loader *loader;
    uint32_t sampler;
    struct address address; /* where it is open, or being opened; none: nowhere */
    struct call_id call;
    char why[PART_CALL_WHY_MAX]; /* it was not opened there, last time; empty: it was */
};

/* A loader, or a single draw: then its window is one batch, and it is open at no sampler. */
struct proxy_loader {
    struct proxy *proxy;
    struct message *message; /* the MSG_LOADER_OPEN that came; of a draw its MSG_DRAW_REQUEST, to be
                                sent to a sampler */
    bool once;               /* a single draw */
    struct msg_loader_open open;
    struct seed_set seeds;    /* holds its lists */
    bool listed;              /* some are listed: requests for batches give them */
    struct message *unlisted; /* what is sent to open it at samplers: the listed as given */
    struct epoch_plan epochs;
    struct epoch_orders orders; /* of a list */
    struct sample_spec spec;    /* its terms lie in the message */
    uint64_t num_steps;
    uint32_t window;
    uint32_t epoch;
    bool begun;   /* an epoch is under way */
    bool closed;  /* by the client; see proxy_close_at */
    bool follows; /* at the end of an epoch the client goes on with the next, so far */
    /* Turns count batches across the ends of epochs. */
    uint64_t first;              /* the turn of step 0 of the epoch */
    uint64_t position;           /* the turn that the client takes next */
    uint64_t next_ask;           /* the first turn that has no slot yet */
    struct proxy_slot *slots;    /* [window]; turn t in slot t % window */
    struct proxy_open *samplers; /* [num_samplers] */
    struct message *waiter;      /* the client's call for turn `position`; or NULL */
    struct timer retry;
    struct proxy_loader *next;
};

struct sampler_link {
    struct proxy *proxy;
    struct address address; /* none: not known */
    bool finding;
};

struct proxy {
    struct actor *self;
    const struct proxy_options *options;
    struct sampler_link *samplers; /* [num_samplers] of the job */
    struct plan_range own;         /* those that draw for this trainer */
    struct proxy_loader *loaders;
    struct process_member member;
    struct proxy_loader *closing;    /* closed, with calls to open them at samplers under way */
    uint64_t early[PROXY_EARLY_MAX]; /* numbers of loaders that were closed unknown, a ring */
    uint64_t num_early;              /* so many came, of which the last ones are there */
};

/* proxy_window.c */
void proxy_drop_epoch(struct proxy_loader *loader);
/* The client takes that step of that epoch next, or waits for it. Batches that are on their way for
 * it and for later ones stay; a step before the one that comes next, or an epoch that does not
 * follow, begins anew from there. */
void proxy_move_to(struct proxy_loader *loader, uint32_t epoch, uint64_t step, bool waits);
/* The client waits for a batch that found no room: a later one gives way. */
void proxy_give_way(struct proxy_loader *loader);
/* Asks for what the window and the store have room for, and tells the client what is there. */
void proxy_fill(struct proxy_loader *loader);

/* proxy.c: a closed loader for which nothing is under way any more is freed. */
void proxy_forget(struct proxy_loader *loader);

/* proxy_ask.c: asks samplers for a queued slot's batch. */
void proxy_init_slot(struct proxy_slot *slot, struct proxy_loader *loader);
void proxy_ask(struct proxy_slot *slot);
void proxy_cancel(struct proxy_slot *slot);
/* A loader that its client closed is closed at a sampler too; while the call that opens it there is
 * under way, when that is answered: the control lane would overtake it. */
void proxy_close_at(struct proxy_open *open);
void proxy_retry_later(struct proxy_loader *loader);
/* The trainer's own, or all of the job. */
void proxy_find_samplers(struct proxy *proxy, bool all);

/* The outcome of a slot's batch: it is in the store (0), or this failure, after which it is asked
 * for again where that may help. */
void proxy_settle(struct proxy_slot *slot, int status, const struct error *error);
/* It failed for good. */
void proxy_fail(struct proxy_slot *slot, int status, const struct error *error);

/* proxy_pull.c: brings a batch of that many bytes from the sampler that keeps it; proxy_settle or
 * proxy_fail follows. A TR_E* with its message: none does. */
int proxy_pull(struct proxy_slot *slot, struct address from, uint64_t bytes, struct error *error);
/* Stops it; a sampler that still keeps the batch is notified. */
void proxy_pull_end(struct proxy_slot *slot);
/* The same in the proxy's fini, where nothing is under way any more. */
void proxy_pull_fini(struct proxy_slot *slot);
/* Tells a sampler that nobody will pull, or collect, the slot's batch. */
void proxy_unwanted(const struct proxy_slot *slot, struct address sampler);

/* proxy_list.c: seeds that a user listed. The message that opens the loader at samplers,
 * without its list; NULL: no memory. And the request for a batch, with the seeds that it has: 0
 * or TR_ENOMEM. */
struct message *proxy_make_unlisted(struct proxy_loader *loader);
int proxy_make_listed(const struct proxy_slot *slot, struct message **request);

/* proxy_deposit.c: a batch that came as bytes. An empty one to read it into, NULL: no memory; and
 * putting it into the store, or giving it up, with what came of reading: 0, or a TR_E* with its
 * message. */
struct sampled_batch *proxy_take_batch(const struct proxy_slot *slot);
int proxy_deposit(const struct proxy_slot *slot, struct sampled_batch *batch, int read,
                  struct error *error);

/* An upper bound of the bytes of one batch, before there was any. */
size_t proxy_estimate(const struct proxy_options *options, const struct msg_loader_open *open,
                      bool pairs, const struct sample_spec *spec);

/* Room is reserved for it, and it is not there yet. */
static inline bool proxy_is_under_way(const struct proxy_slot *slot)
{
    return slot->state == SLOT_QUEUED || slot->state == SLOT_ASKED || slot->state == SLOT_PULLED;
}

static inline struct proxy_slot *proxy_slot(const struct proxy_loader *loader, uint64_t turn)
{
    return &loader->slots[turn % loader->window];
}

#endif
