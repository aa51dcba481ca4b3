/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of commands that make raw graphs: they follow a task, and report the folder,
 * which is opened again and counted so that the figures are those of the files.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_RAW_REPORT_H
#define CLI_LIB_RAW_REPORT_H

#include <troupe/import.h>
#include <troupe/task.h>

#include "cli/lib/command.h"

/* How such a command begins its task: a tr_X_start() with the options of `arg`. */
typedef int raw_start(const void *arg, struct tr_task **out, struct tr_error *error);

/* Runs the task and prints the report of the folder at `out`, and the command that comes next;
 * returns the exit code. edges: the options of an import of edges; NULL: it is another task. */
int raw_report_make(const struct invocation *invocation, raw_start *start, const void *arg,
                    const struct tr_import_edges_options *edges, const char *out, bool quiet,
                    bool json);

#endif
