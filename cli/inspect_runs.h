/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `troupe inspect` says of a folder that holds runs, as `troupe train --seeds` and `--sweep`
 * leave it.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_INSPECT_RUNS_H
#define CLI_INSPECT_RUNS_H

#include <stdbool.h>

#include "cli/lib/report.h"

/* Whether the folder holds runs, itself or in a folder of it, and is neither a run nor a graph. */
bool inspect_runs_found(const char *path);

/* A row a run, in the order of their paths. */
int inspect_runs(struct report *report, const char *path, struct tr_error *error);

#endif
