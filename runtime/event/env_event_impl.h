/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between the two halves of the real env, threads and sockets. */
#ifndef RUNTIME_EVENT_ENV_EVENT_IMPL_H
#define RUNTIME_EVENT_ENV_EVENT_IMPL_H

#include "runtime/core/stream_impl.h"

struct event_base;

/* The base of a loop; only its own thread may use it. */
struct event_base *env_event_base(struct loop *loop);

extern const struct stream_ops stream_event_ops;

#endif
