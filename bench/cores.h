/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which cores the two ends of a comparison run.
 *
 * Where two processes wait for each other, a wake-up of another core costs several times what one
 * of the same core does, and it is for the system to say which of them happens. So ours and its
 * reference are put on the same cores. Processes and threads that are started from there stay
 * there.
 */
#ifndef BENCH_CORES_H
#define BENCH_CORES_H

#include <sched.h>

#include "runtime/base/error.h"

struct cores {
    cpu_set_t allowed; /* when it began */
    int first, second; /* of them; the same where there is one */
};

int cores_begin(struct cores *cores, struct error *error);

/* This thread, and what it starts, runs on that core alone. */
int cores_use(int core, struct error *error);

/* Anywhere again. */
void cores_end(const struct cores *cores);

#endif
