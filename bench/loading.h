/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a loader over the big graph, and the bare loops on the same files: what `sampling`
 * and `loader` measure.
 *
 * "Per core" is edges by CPU seconds of the whole process, with one loop and one sampler: the loop,
 * the training thread and whatever else the runtime does are all charged, and a neighbour that
 * takes the processor away is not. A window of batches is sampled ahead, so a measurement begins
 * and ends when the loader has filled it and sleeps: then exactly the batches taken were paid for.
 *
 * Scaling is by wall clock, from a full window to a full window, with as many loops as cores asked
 * for.
 *
 * Ownership: each call frees what it made. Thread rules: the main thread.
 */
#ifndef BENCH_LOADING_H
#define BENCH_LOADING_H

#include <stdbool.h>

#include "bench/disk.h"

/* The figures `name` and `name`_scaling. */
int loading_figures(const struct bench_options *options, const char *name, bool rows,
                    const char *reference, bench_emit *emit, void *arg, struct error *error);

/* A loader of whole batches in one process with so many loops and samplers. */
struct loading;
int loading_open(const char *path, uint32_t loops, uint64_t seed, struct loading **out,
                 struct error *error);
void loading_close(struct loading *loading);
/* Takes and releases batches; the edges in their blocks. */
int loading_take(struct loading *loading, uint64_t batches, uint64_t *edges, struct error *error);

#endif
