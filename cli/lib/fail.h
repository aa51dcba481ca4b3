/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a command says that it failed: "troupe COMMAND: message" on stderr, and in its log.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_FAIL_H
#define CLI_LIB_FAIL_H

#include "cli/lib/command.h"
#include <troupe/error.h>

/* Prints the message (or the text of the code where there is none); returns EXIT_FAILED. */
int fail(const struct invocation *invocation, const struct tr_error *error);

/* A message of the library as the user of a command reads it, which free() ends: where it names a
 * field of a struct, the option that fills it, unless single quotes say that it is a user's word.
 * NULL: there is no memory. */
char *fail_text(const char *message, const struct option_spec *options);

/* As fail, and points at --help; returns EXIT_USAGE. */
int fail_usage(const struct invocation *invocation, const struct tr_error *error);

#endif
