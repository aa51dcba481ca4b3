/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `troupe inspect` says of a checkpoint, or of a folder of checkpoints.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_INSPECT_CHECKPOINTS_H
#define CLI_INSPECT_CHECKPOINTS_H

#include "cli/lib/report.h"

int inspect_checkpoints(struct report *report, const char *path, struct tr_error *error);

#endif
