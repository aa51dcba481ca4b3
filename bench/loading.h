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
 * Ownership: loading_close frees all. Thread rules: the main thread.
 */
#ifndef BENCH_LOADING_H
#define BENCH_LOADING_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/disk.h"

struct tr_session;
struct tr_graph;
struct tr_nodes;
struct tr_loader;

struct loading {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    uint64_t taken; /* batches so far */
};

/* rows: features and labels come along. */
int loading_open(struct loading *loading, const char *path, uint32_t loops, bool rows,
                 uint64_t seed, struct error *error);
void loading_close(struct loading *loading);

/* Waits until the window is full and everybody sleeps. */
void loading_settle(void);

/* Takes and releases batches; the edges in their blocks. */
int loading_take(struct loading *loading, uint64_t batches, uint64_t *edges,
                 struct error *error);

/* The figures `name` and `name`_scaling. */
int loading_figures(const struct bench_options *options, const char *name, bool rows,
                    const char *reference, bench_emit *emit, void *arg, struct error *error);

#endif
