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

/* What the session last said of a call that ended with rv; NULL: there was no memory for one. */
int batch_drain_failed(struct tr_session *session, int rv, struct error *error);

/* Takes and releases so many batches, over the ends of epochs; waits for each at most wait_ns. */
int batch_drain_batches(struct tr_session *session, struct tr_loader *loader, uint64_t batches,
                        int64_t wait_ns, uint64_t *edges, struct error *error);

#endif
