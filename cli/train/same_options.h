/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a run was trained with the options that a command gives.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_TRAIN_SAME_OPTIONS_H
#define CLI_TRAIN_SAME_OPTIONS_H

#include <troupe/run.h>

#include "cli/train/train.h"

/* A complete run is one of the command's only where it was trained with the same options on the same
 * graph; of any other the training says what differs, or whether it may go on. The graph is not
 * compared here. */
bool same_options(const struct tr_run *run, const struct train_values *given);

/* The option of that name, where it decides what is trained; NULL: there is none, or it does not. */
const struct option_spec *same_options_find(const char *name);

#endif
