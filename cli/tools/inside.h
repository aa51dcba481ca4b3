/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line's own library for the commands of troupe-tools, which stand on the rooms inside:
 * it speaks in public errors, they in struct error.
 *
 * Thread rules: as those of what is called.
 */
#ifndef CLI_TOOLS_INSIDE_H
#define CLI_TOOLS_INSIDE_H

#include "cli/lib/fail.h"
#include "cli/lib/report.h"
#include "cli/lib/signals.h"
#include "runtime/base/error.h"

int fail_inside(const struct invocation *invocation, const struct error *error);
int fail_usage_inside(const struct invocation *invocation, const struct error *error);
int report_print_inside(struct report *report, struct error *error);
int signals_start_inside(struct signals *signals, void (*on_cancel)(void *arg),
                         void (*on_dump)(void *arg), void *arg, struct error *error);

#endif
