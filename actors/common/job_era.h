/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which era of the job a process is in, as far as it has heard: what asks owners of tensors says so,
 * by which they know a request that an era's end has overtaken.
 *
 * The number is one more than that of the last notice of an end (MSG_ERA); 0: the process has no
 * trainer, and hears of none. It only grows.
 *
 * Ownership: embedded; outlives the actors that note and ask. Thread rules: any thread. It is one
 * number that orders nothing else in memory, so relaxed accesses do.
 */
#ifndef ACTORS_COMMON_JOB_ERA_H
#define ACTORS_COMMON_JOB_ERA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_era {
    atomic_uint now;
};

static inline void job_era_init(struct job_era *era, bool has_trainers)
{
    atomic_init(&era->now, has_trainers ? 1u : 0u);
}

/* The notice of an end had that number; 0: there was none. era may be NULL. */
static inline void job_era_note(struct job_era *era, uint32_t ended)
{
    unsigned before = era == NULL ? 0 : atomic_load_explicit(&era->now, memory_order_relaxed);
    while (era != NULL && before <= ended &&
           !atomic_compare_exchange_weak_explicit(&era->now, &before, ended + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* era may be NULL: 0. */
static inline uint32_t job_era_now(struct job_era *era)
{
    return era == NULL ? 0 : atomic_load_explicit(&era->now, memory_order_relaxed);
}

#endif
