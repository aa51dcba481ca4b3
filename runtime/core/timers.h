/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of a loop's started timers: a pairing heap of the timers themselves. */
#ifndef RUNTIME_CORE_TIMERS_H
#define RUNTIME_CORE_TIMERS_H

#include "runtime/core/timer.h"

struct timers {
    struct timer *first; /* the root: the earliest */
    uint64_t started;    /* gives timers of one time their order */
};

void timers_insert(struct timers *timers, struct timer *timer);
void timers_remove(struct timers *timers, struct timer *timer);

#endif
