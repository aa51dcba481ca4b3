/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several trainings by one command: --seeds and --sweep.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_TRAIN_TRAIN_MANY_H
#define CLI_TRAIN_TRAIN_MANY_H

#include "cli/train/train.h"

static inline bool train_is_many(const struct train_values *values)
{
    return values->seeds != NULL || values->sweep.count > 0;
}

/* Trains each in a folder of its own below RUNDIR, and prints what came of all. The exit code. */
int train_many(const struct invocation *invocation, const struct train_values *values,
               const char *graph);

#endif
