/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that repeats a run: `troupe train` with every option of it that is not the default,
 * quoted as a shell takes it.
 *
 * Thread rules: pure.
 */
#ifndef CLI_REPORT_REPEAT_COMMAND_H
#define CLI_REPORT_REPEAT_COMMAND_H

#include "cli/lib/run_record.h"

/* For free(); NULL: no memory. */
char *repeat_command(const struct run_record *run);

#endif
