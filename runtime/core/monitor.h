/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitors: exactly one DOWN for each monitor.
 *
 * A monitor is a call without a deadline that the runtime of the watched actor keeps and answers
 * when the actor ends, so nothing is allocated when something dies. A stale address is DOWN at
 * once with TR_EPEERDOWN.
 */
#ifndef RUNTIME_CORE_MONITOR_H
#define RUNTIME_CORE_MONITOR_H

#include "runtime/core/actor.h"
#include "runtime/core/call.h"

/* Monitors that one observer (address.h) may have on one actor; more get TR_EFULL as their DOWN. */
#define MONITOR_OBSERVER_WATCHES_MAX 16u

/* reason: 0 a normal end, TR_E* a failure, TR_EPEERDOWN an address that was dead already;
 * TR_ECANCELED: not the watched but self ends. */
typedef void monitor_down(struct actor *self, void *arg, struct address who, int reason);

/* TR_ENOMEM, TR_EFULL (see CALLS_MAX). id may be NULL. */
int actor_monitor(struct actor *self, struct address who, monitor_down *down, void *arg,
                  struct call_id *id);

/* After this `down` is not called. TR_ENOENT: it was called already. */
int actor_demonitor(struct actor *self, struct call_id id);

#endif
