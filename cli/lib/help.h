/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --help, made from the command tables.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_HELP_H
#define CLI_LIB_HELP_H

#include <stdio.h>

#include "cli/lib/command.h"

void help_print_all(const struct command *const *commands, FILE *out);

/* name: as typed, "import edges". */
void help_print_command(const char *name, const struct command *command, FILE *out);

#endif
