/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of a loop: which actor lives at which index, in which generation.
 *
 * A slot is claimed by any thread that spawns (under the inbox's mutex; the address is known to
 * nobody before the actor's post stands in that inbox) and read by the loop alone, without a lock.
 * When there is no room the claimer makes a larger array and the loop takes it over, so that
 * nothing can fail on the loop.
 */
#ifndef RUNTIME_CORE_SLOTS_H
#define RUNTIME_CORE_SLOTS_H

#include <stdint.h>

#include "runtime/core/address.h"

struct actor;

struct slots {
    struct actor **actors; /* the loop's: [actors_capacity] */
    uint32_t actors_capacity;
    /* Below: under the inbox's mutex. */
    struct actor **grown;  /* [capacity], to be taken over, or NULL */
    uint32_t *generations; /* [capacity], of the present or last life */
    uint32_t *free;        /* [capacity], a stack */
    uint32_t capacity, free_count;
};

void slots_fini(struct slots *slots);

/* Under the mutex: an index and its new generation. TR_ENOMEM, TR_EFULL. */
int slots_claim(struct slots *slots, uint32_t *index, uint32_t *generation);

/* On the loop, under the mutex. */
void slots_put(struct slots *slots, uint32_t index, struct actor *actor);

/* Under the mutex: the slot may be claimed again. A slot whose generations ran out never is. */
void slots_free(struct slots *slots, uint32_t index);

#endif
