/*
 * --help, made from the command tables.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"

void help_print_all(FILE *out);

/* name: as typed, "import edges". */
void help_print_command(const char *name, const struct command *command, FILE *out);

#endif
