/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command with the words behind its name: reads its options, or prints its help.
 */
#ifndef CLI_LIB_RUN_COMMAND_H
#define CLI_LIB_RUN_COMMAND_H

#include "cli/lib/command.h"

/* name: "bench", "import edges". The exit code of the process. */
int run_command(const char *name, const struct command *command, int argc, char **argv);

#endif
