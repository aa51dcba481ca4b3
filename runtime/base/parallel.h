/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parallel loop that somebody else runs.
 *
 * Rooms that compute (partition/, model/) never make threads; they are given a
 * struct parallel and call it. Which thread runs which index is unspecified, so a body
 * writes only what its index owns, and sums are added in index order afterwards: then
 * the number of threads changes no bit of the result.
 */
#ifndef RUNTIME_BASE_PARALLEL_H
#define RUNTIME_BASE_PARALLEL_H

#include <stddef.h>

struct parallel {
    /* Calls body(arg, i, worker) once for each i in [0, count) and returns when all are done;
     * worker < workers tells apart the threads that run at the same time. */
    void (*run)(struct parallel *self, size_t count,
                void (*body)(void *arg, size_t index, size_t worker), void *arg);
    size_t workers;
};

/* The calling thread alone, in index order. */
extern struct parallel *const parallel_serial;

static inline void parallel_for(struct parallel *self, size_t count,
                                void (*body)(void *arg, size_t index, size_t worker), void *arg)
{
    self->run(self, count, body, arg);
}

#endif
