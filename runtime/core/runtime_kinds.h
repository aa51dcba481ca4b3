/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's own message kinds. Only REGISTER never leaves its node. */
#ifndef RUNTIME_CORE_RUNTIME_KINDS_H
#define RUNTIME_CORE_RUNTIME_KINDS_H

#include <stdint.h>

#include "runtime/core/address.h"

struct kinds;

enum runtime_kind {
    RUNTIME_STOP = 1,  /* orderly stop */
    RUNTIME_KILL,      /* end at once */
    RUNTIME_MONITOR,   /* a request that the watched actor's runtime answers at its end */
    RUNTIME_DEMONITOR, /* forget that request */
    RUNTIME_REGISTER,  /* to the directory */
    RUNTIME_LOOKUP,
    RUNTIME_FOUND,
};

struct runtime_kill {
    int32_t reason;
};

struct runtime_demonitor {
    uint64_t call;
};

struct runtime_name {
    char name[64];
    uint32_t wait; /* of a lookup: 1 waits until its deadline */
};

struct runtime_found {
    struct address address;
};

void runtime_kinds_add(struct kinds *kinds);

#endif
