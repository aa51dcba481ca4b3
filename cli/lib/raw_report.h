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

struct making {
    struct work work;
    uint64_t num_edges; /* to be written, 0: not known */
    struct raw_write_options options;
};

/* Prepares options with progress and cancellation. making must not move until making_end. */
int making_begin(struct making *making, bool quiet, bool replace, struct error *error);
void making_end(struct making *making);

/* Ends the making and prints the error (rc < 0) or the report; returns the exit code. */
int making_report(struct making *making, const struct invocation *invocation, int rc,
                  const char *path, bool json, struct error *error);

#endif
