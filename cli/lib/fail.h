/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a command says that it failed: "troupe COMMAND: sentence" on stderr.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_FAIL_H
#define CLI_LIB_FAIL_H

#include "cli/lib/command.h"
#include <troupe/error.h>

/* Prints the sentence (or the text of the code where there is none); returns EXIT_FAILED. */
int fail(const struct invocation *invocation, const struct tr_error *error);

/* As fail, and points at --help; returns EXIT_USAGE. */
int fail_usage(const struct invocation *invocation, const struct tr_error *error);

#endif
