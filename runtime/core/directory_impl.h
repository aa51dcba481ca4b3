/* SPDX-License-Identifier: Apache-2.0 */
/* How a node starts its directory. */
#ifndef RUNTIME_CORE_DIRECTORY_IMPL_H
#define RUNTIME_CORE_DIRECTORY_IMPL_H

#include "runtime/core/directory.h"

/* How long an observer may have its lookup kept, and how many there may be of all observers:
 * they have not the whole table, so that it is never full for the job. */
#define DIRECTORY_OBSERVER_WAIT_NS UINT64_C(60000000000)
#define DIRECTORY_OBSERVER_WAITERS_MAX 1024u

/* The directory is the second actor of its node, so other nodes know where it lives. */
#define DIRECTORY_SLOT 1u
#define DIRECTORY_GENERATION 1u

extern const struct actor_options directory_options;

#endif
