/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bench: what a message costs between actors.
 *
 * Thread rules: each call makes its own env and node, and ends them.
 */
#ifndef BENCH_BENCH_MESSAGES_H
#define BENCH_BENCH_MESSAGES_H

#include <stdint.h>

#include "runtime/base/error.h"

/* Messages/s from `senders` actors, spread over the other loops, to one actor on the first, which
 * gives credit for batches, as real receivers do. loops >= 2. */
int bench_fanin(uint32_t loops, uint32_t senders, uint64_t messages, double *rate,
                struct error *error);

/* Round trips/s between two actors of one loop: a plain message there and one back. */
int bench_roundtrip(uint64_t round_trips, double *rate, struct error *error);

/* The same through calls, each with a deadline and a completion. */
int bench_call_roundtrip(uint64_t round_trips, double *rate, struct error *error);

#endif
