/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of actors: register, look up, wait for.
 *
 * The directory of a node is an actor on its loop 0, so all of this is calls: they complete once,
 * by their deadline. A name is forgotten when its actor ends.
 */
#ifndef RUNTIME_CORE_DIRECTORY_H
#define RUNTIME_CORE_DIRECTORY_H

#include "runtime/core/actor.h"

#define DIRECTORY_NAME_MAX 64u       /* with the final zero */
#define DIRECTORY_NAMES_MAX 65536u   /* more names than actors that need one */
#define DIRECTORY_WAITERS_MAX 65536u /* one for each process of the largest plan */

/* status 0: it is registered. TR_EEXIST: a living actor has the name. */
typedef void directory_registered(struct actor *self, void *arg, int status);

/* status 0: address is valid (it may have died since). */
typedef void directory_found(struct actor *self, void *arg, int status, struct address address);

/* Registers self under a name. done may be NULL; then a failure ends self with it. */
int directory_register(struct actor *self, const char *name, directory_registered *done, void *arg);

/* The address of the name now: TR_ENOENT when no actor has it. */
int directory_lookup(struct actor *self, const char *name, directory_found *done, void *arg);

/* Waits until an actor has the name, or TR_ETIMEDOUT. */
int directory_wait(struct actor *self, const char *name, uint64_t deadline_ns,
                   directory_found *done, void *arg);

/* The same in the directory of another node (or of this one). While the node cannot be reached, or
 * dies and comes back, they wait, up to the deadline. TR_ENOENT, at once: no node has that number.
 * The address that is found is of its present incarnation. */
int directory_lookup_at(struct actor *self, uint32_t node, const char *name, uint64_t deadline_ns,
                        directory_found *done, void *arg);
int directory_wait_at(struct actor *self, uint32_t node, const char *name, uint64_t deadline_ns,
                      directory_found *done, void *arg);

#endif
