/*
 * Who answers for a partition now.
 *
 * A partition may have several servers, equals of each other, in processes that the plan lists.
 * One that is up is looked for in the plan's order, the nearest first; when it is lost the next
 * one is, round and round with growing pauses, until somebody is found or the deadline passes.
 *
 * Ownership: an actor's, embedded in its state; owners_fini before that is freed.
 * Thread rules: the actor's.
 */
#ifndef ACTORS_COMMON_PART_LOCATOR_H
#define ACTORS_COMMON_PART_LOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "runtime/core/actor.h"
#include "runtime/core/timer.h"

struct owners;

/* One that waits for a server of a partition. All zeros, or stopped: it does not wait. */
struct owner_wait {
    struct owner_wait *next, **link;
    /* Runs once, unless stopped. 0: an owner is known now. TR_ETIMEDOUT: none was found. */
    void (*found)(struct owner_wait *wait, int status);
    void *arg;
};

struct owner {
    struct owners *owners;
    struct owner_wait *first; /* those that wait, in the order of their coming */
    struct address address; /* none: not known */
    bool finding;
    uint32_t turn;   /* of its servers: which is looked for */
    uint32_t misses; /* that were not found, since one was */
    uint64_t until_ns;
    struct timer timer;
};

struct owners {
    struct actor *self;
    const struct plan *plan; /* NULL: all are in this process */
    uint32_t num_parts;
    struct owner *parts; /* [num_parts] */
};

/* TR_ENOMEM. All zeros is valid for owners_fini. */
int owners_init(struct owners *owners, struct actor *self, const struct plan *plan,
                uint32_t num_parts);
void owners_fini(struct owners *owners);

static inline struct address owners_address(const struct owners *owners, uint32_t part)
{
    return owners->parts[part].address;
}

/* Looks for a server of a partition that has none; wait->found follows, not before this returns. A
 * search that is under way keeps its deadline. */
void owners_find(struct owners *owners, uint32_t part, uint64_t deadline_ns,
                 struct owner_wait *wait);

/* found is not called after this. */
void owner_wait_stop(struct owner_wait *wait);

/* That server did not answer: TR_EPEERDOWN, or TR_ETIMEDOUT, after which it is kept where there is
 * no other. */
void owners_lost(struct owners *owners, uint32_t part, struct address who, int status);

#endif
