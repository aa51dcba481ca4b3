/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the server of a partition is now.
 *
 * A partition may have several servers, equals of each other, in processes that the plan lists.
 * One that is up is looked for in the plan's order, the nearest first; when it is lost the next
 * one is. The search begins again with growing pauses until it finds one or the deadline passes.
 *
 * Ownership: an actor's, embedded in its state; part_locator_fini before that is freed.
 * Thread rules: the actor's.
 */
#ifndef ACTORS_COMMON_PART_LOCATOR_H
#define ACTORS_COMMON_PART_LOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "runtime/core/actor.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"

struct part_locator;

/* The name in the directory of the actor that answers for a partition: "part/7". */
void server_part_name(uint32_t part, char name[DIRECTORY_NAME_MAX]);

/* One that waits for a server of a partition. All zeros, or stopped: it does not wait. */
struct part_locator_wait {
    struct part_locator_wait *next, **link;
    /* Runs once, unless stopped. 0: an owner is known now. TR_ETIMEDOUT: none was found. */
    void (*found)(struct part_locator_wait *wait, int status);
    void *arg;
};

struct part_location {
    struct part_locator *owners;
    struct part_locator_wait *first; /* those that wait, in the order of their coming */
    struct address address;          /* none: not known */
    bool finding;
    uint32_t turn;   /* of its servers: which is looked for */
    uint32_t misses; /* that were not found, since one was */
    uint64_t until_ns;
    struct timer timer;
};

struct part_locator {
    struct actor *self;
    const struct plan *plan; /* NULL: all are in this process */
    uint32_t num_parts;
    bool owners_alone; /* looks for plan_part_owner() alone; set behind part_locator_init */
    struct part_location *parts; /* [num_parts] */
};

/* TR_ENOMEM. All zeros is valid for part_locator_fini. */
int part_locator_init(struct part_locator *owners, struct actor *self, const struct plan *plan,
                      uint32_t num_parts);
void part_locator_fini(struct part_locator *owners);

static inline struct address part_locator_address(const struct part_locator *owners, uint32_t part)
{
    return owners->parts[part].address;
}

/* Looks for a server of a partition that has none; wait->found follows, not before this returns. A
 * search that is under way keeps its deadline. */
void part_locator_find(struct part_locator *owners, uint32_t part, uint64_t deadline_ns,
                       struct part_locator_wait *wait);

/* found is not called after this. */
void part_locator_wait_stop(struct part_locator_wait *wait);

/* That server did not answer: TR_EPEERDOWN, or TR_ETIMEDOUT, after which it is kept where there is
 * no other. */
void part_locator_lost(struct part_locator *owners, uint32_t part, struct address who, int status);

#endif
