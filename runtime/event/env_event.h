/* SPDX-License-Identifier: Apache-2.0 */
/* The real env: libevent, threads, sockets and the system's clock. */
#ifndef RUNTIME_EVENT_ENV_EVENT_H
#define RUNTIME_EVENT_ENV_EVENT_H

#include "runtime/core/env.h"

/* `crew_threads` workers; 0: one a core. env_destroy ends it. */
int env_event_create(size_t crew_threads, struct env **env, struct error *error);

#endif
