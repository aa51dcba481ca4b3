/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking batches as a training thread does, for benchmarks that count their edges.
 *
 * Thread rules: the thread that the loader serves.
 */
#ifndef BENCH_BATCH_DRAIN_H
#define BENCH_BATCH_DRAIN_H

#include <stdint.h>

#include <troupe/troupe.h>

#include "runtime/base/error.h"

/* Gives on the error of a call that ended with rv. */
int batch_drain_failed(const struct tr_error *why, int rv, struct error *error);

/* Takes and releases so many batches, over the ends of epochs; waits for each at most wait_ns. */
int batch_drain_batches(struct tr_loader *loader, uint64_t batches, int64_t wait_ns,
                        uint64_t *edges, struct error *error);

#endif
