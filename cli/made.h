/*
 * What a command that made a raw graph reports: the folder is opened again and counted, so that
 * the figures are those of the files.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_MADE_H
#define CLI_MADE_H

#include <stdbool.h>

#include "cli/command.h"

/* Prints the report; returns the exit code of the command. */
int made_raw(const struct invocation *invocation, const char *path, bool json);

#endif
