/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that comes next, in a report: words quoted as a shell takes them, so that the line
 * can be copied and run.
 *
 * Thread rules: those of the report.
 */
#ifndef CLI_LIB_NEXT_STEP_H
#define CLI_LIB_NEXT_STEP_H

#include "cli/lib/report.h"

/* words: ended by NULL. The line, for free(); NULL: no memory. */
char *next_step_line(const char *const *words);

/* Reports that line. */
void next_step(struct report *report, const char *const *words);

#endif
