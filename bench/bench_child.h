/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measurement of memory, in a process of its own: what earlier measurements left behind in this
 * one would hide in its peak.
 *
 * Thread rules: the main thread, while the process has no other that could hold a lock.
 */
#ifndef BENCH_BENCH_CHILD_H
#define BENCH_BENCH_CHILD_H

#include <stdint.h>

#include "runtime/base/error.h"

/* Runs measure(arg, value) in a child and hands its results over. */
int child_measure(int (*measure)(void *arg, double *value, struct error *error), void *arg,
                  double *value, struct error *error);

/* Resident bytes of the calling process: now, and the most there ever were. */
uint64_t child_resident(void);
uint64_t child_resident_peak(void);

#endif
