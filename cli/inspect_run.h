/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `troupe inspect` says of a training run.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_INSPECT_RUN_H
#define CLI_INSPECT_RUN_H

#include "cli/lib/report.h"

int inspect_run(struct report *report, const char *path, struct tr_error *error);

#endif
