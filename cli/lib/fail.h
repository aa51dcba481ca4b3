/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a command says that it failed: "troupe COMMAND: message" on stderr.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_FAIL_H
#define CLI_LIB_FAIL_H

#include "cli/lib/command.h"
#include <troupe/error.h>

/* Prints the message (or the text of the code where there is none); returns EXIT_FAILED. */
int fail(const struct invocation *invocation, const struct tr_error *error);

/* Prints a message of the library on the standard error, without a line's end: where it names a
 * field of a struct, the option that fills it, unless single quotes say that it is a user's word. */
void fail_print(const char *message, const struct option_spec *options);

/* As fail, and points at --help; returns EXIT_USAGE. */
int fail_usage(const struct invocation *invocation, const struct tr_error *error);

#endif
