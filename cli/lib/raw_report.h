/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of commands that make raw graphs or add to them: they follow a task, and report
 * the folder, which is opened again so that what is said of it is read from the files.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_RAW_REPORT_H
#define CLI_LIB_RAW_REPORT_H

#include <troupe/import.h>
#include <troupe/task.h>

#include "cli/lib/command.h"
#include "cli/lib/follow.h"
#include "cli/lib/report.h"

/* Runs the task and prints the report of the folder at `out`, and the command that comes next;
 * returns the exit code. edges: the options of an import of edges; NULL: it is another task. */
int raw_report_make(const struct invocation *invocation, follow_start *start, const void *arg,
                    const struct tr_import_edges_options *edges, const char *out, bool quiet,
                    bool json);

/* Begins the report of what was added to the raw graph at `path`: its folder, and the name of node
 * type `ntype`. */
int raw_report_added(struct report *report, const char *path, uint32_t ntype, bool json,
                     struct tr_error *error);

#endif
