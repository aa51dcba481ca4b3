/*
 * Names at any node of the plan: a node's own directory answers for it.
 *
 * Thread rules: an actor's.
 */
#ifndef ACTORS_NAMES_H
#define ACTORS_NAMES_H

#include "runtime/directory.h"

/* As directory_wait, at that node. TR_EPEERDOWN: it can't be reached from here. */
static inline int names_wait(struct actor *self, uint32_t node, const char *name,
                             uint64_t deadline_ns, directory_found *done, void *arg)
{
    if (node != actor_address(self).node)
        return TR_EPEERDOWN;
    return directory_wait(self, name, deadline_ns, done, arg);
}

#endif
