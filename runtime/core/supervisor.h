/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision: parents start failed children again, with a bounded intensity.
 *
 * Every actor may spawn children, on any loop of its node. A child that ends is started again by
 * its options' policy, with the same arg, at a new address (it registers its name again). More
 * than max_restarts within period_ns and the parent itself fails with the child's reason,
 * which is its own parent's matter; a failing root stops the node. An actor that ends for any
 * reason ends its children first.
 */
#ifndef RUNTIME_CORE_SUPERVISOR_H
#define RUNTIME_CORE_SUPERVISOR_H

#include "runtime/core/actor.h"

#define SUPERVISOR_RESTARTS_MAX 64u /* the ring of restart times has this many */

enum supervisor_strategy {
    SUPERVISOR_ONE_FOR_ONE, /* the failed child alone */
    SUPERVISOR_ONE_FOR_ALL, /* a failed child ends its siblings; all start again in order */
};

struct supervisor_options {
    enum supervisor_strategy strategy;
    uint32_t max_restarts; /* 0 .. SUPERVISOR_RESTARTS_MAX; default 5 */
    uint64_t period_ns;    /* default 10 s */
};

/* Replaces self's defaults; call it in start, before spawning. TR_ERANGE. */
int actor_supervise(struct actor *self, const struct supervisor_options *options);

#endif
