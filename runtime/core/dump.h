/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump of every loop, actor and mailbox as text, for a person who wonders what hangs.
 *
 * node_dump_request only sets a flag and wakes the loops, so a signal watcher may call it; each
 * loop then writes its own part, line by line, to the node's log sink at LOG_LEVEL_INFO.
 */
#ifndef RUNTIME_CORE_DUMP_H
#define RUNTIME_CORE_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/core/actor.h"

/* The contents of one actor's mailbox. */
struct dump_actor {
    const char *name;
    size_t control_messages, data_messages, data_bytes, data_bytes_max;
    uint32_t calls; /* open */
    uint64_t received;
};

/* Visits the actors of self's loop, inside one of self's callbacks. */
void dump_visit(struct actor *self, void (*visit)(void *arg, const struct dump_actor *actor),
                void *arg);

/* Any thread, but not a signal handler itself (it takes a mutex): cli/ watches a signalfd. */
void node_dump_request(struct node *node);

#endif
