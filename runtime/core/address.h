/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an actor lives: node, that node's incarnation, the slot in it and the slot's generation.
 *
 * A slot is used again after its actor ended, with the next generation; a node that comes back
 * has the next incarnation. So an address names one life of one actor: a message for a past life
 * is detected and answered (TR_EPEERDOWN), never given to its successor.
 *
 * The slot's upper bits are the loop that the actor is pinned to, so routing inside a node needs
 * no shared table.
 */
#ifndef RUNTIME_CORE_ADDRESS_H
#define RUNTIME_CORE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Node numbers from here on are observers: they connect to a job, are in nobody's table of
 * nodes, and may ask only what kinds allow observers. */
#define NODE_OBSERVERS 0x80000000u

#define ADDRESS_LOOP_SHIFT 24
#define ADDRESS_LOOPS_MAX 256u                       /* 8 bits: more threads than we pin to */
#define ADDRESS_SLOTS_MAX (1u << ADDRESS_LOOP_SHIFT) /* actors a loop */

struct address {
    uint32_t node;
    uint32_t incarnation;
    uint32_t slot;
    uint32_t generation; /* 0: no actor */
};
_Static_assert(sizeof(struct address) == 16, "addresses travel in frames");

#define ADDRESS_NONE ((struct address){ 0, 0, 0, 0 })

static inline bool address_is_none(struct address a)
{
    return a.generation == 0;
}

static inline bool address_equal(struct address a, struct address b)
{
    return a.node == b.node && a.incarnation == b.incarnation && a.slot == b.slot &&
           a.generation == b.generation;
}

static inline uint32_t address_loop(struct address a)
{
    return a.slot >> ADDRESS_LOOP_SHIFT;
}

static inline uint32_t address_index(struct address a)
{
    return a.slot & (ADDRESS_SLOTS_MAX - 1);
}

#endif
