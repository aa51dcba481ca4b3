/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands that make raw graphs share: progress while they write, and a report of the
 * folder, which is opened again and counted so that the figures are those of the files.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_RAW_REPORT_H
#define CLI_LIB_RAW_REPORT_H

#include <stdbool.h>

#include "cli/lib/command.h"
#include "cli/lib/work.h"
#include "partition/raw/raw_write.h"

struct raw_report {
    struct work work;
    uint64_t num_edges; /* to be written, 0: not known */
    struct raw_write_options options;
};

/* Prepares options with progress and cancellation. making must not move until raw_report_end. */
int raw_report_begin(struct raw_report *making, bool quiet, bool replace, struct error *error);
void raw_report_end(struct raw_report *making);

/* Ends the making and prints the error (rc < 0) or the report; returns the exit code. */
int raw_report_report(struct raw_report *making, const struct invocation *invocation, int rc,
                      const char *path, bool json, struct error *error);

#endif
