/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `troupe inspect` says of the history of a run's job.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_INSPECT_HISTORY_H
#define CLI_INSPECT_HISTORY_H

#include <troupe/run.h>

#include "cli/lib/report.h"

/* A row an event; a job without a history adds nothing. */
int inspect_history(struct report *report, const struct tr_run *run, struct tr_error *error);

#endif
