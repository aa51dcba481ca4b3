/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a command: what it says beside its results, on the standard error, or with --log in a
 * file.
 *
 * With a file the standard error has the error that the command ends with, which the file has too,
 * and what is no line of ours: a bar on a terminal, stacks of a process that hangs, what libraries
 * print themselves.
 *
 * Thread rules: command_log_run() on the main thread, once in a process; command_log_say() on any.
 */
#ifndef CLI_LIB_COMMAND_LOG_H
#define CLI_LIB_COMMAND_LOG_H

#include "cli/lib/command.h"
#include <troupe/log_file.h>

struct command_log_values {
    const char *path; /* NULL: there is none */
    int format;       /* enum tr_log_format */
};

/* Rows of a command's option table; member is its struct command_log_values. */
#define COMMAND_LOG_OPTION_ROWS(type, member, of)                                             \
    { .name = "log",                                                                          \
      .kind = OPTION_TEXT,                                                                    \
      .offset = offsetof(type, member.path),                                                  \
      .metavar = "FILE",                                                                      \
      .made = true,                                                                           \
      .help = "append what " of " to this file, which SIGHUP opens again" },                  \
    {                                                                                         \
        .name = "log-format", .kind = OPTION_CHOICE, .offset = offsetof(type, member.format), \
        .choices = "text|json", .fallback = "text", .help = "lines of the file"               \
    }

/* Opens the file that is asked for; *log is NULL where none is. */
int command_log_open(struct tr_log_file **log, const struct command_log_values *asked,
                     struct tr_error *error);

/* Runs the command with that log in invocation->log, which has its outcome as the last line. Returns
 * its exit code. */
int command_log_run(const struct invocation *invocation, const struct command_log_values *asked,
                    int (*run)(const struct invocation *invocation, const void *values),
                    const void *values);

/* command: what stands before the line on the standard error, "troupe
 * train"; "": nothing does. log NULL: there is none. */
void command_log_say(struct tr_log_file *log, enum tr_log_level level, const char *command,
                     const char *text);
/* An error that ends the process: on the standard error, and in the log where there is one. */
void command_log_fail(struct tr_log_file *log, const char *command, const char *text);
/* As command_log_say, of a message of the library, whose fields become options (fail.h). */
void command_log_message(struct tr_log_file *log, enum tr_log_level level, const char *command,
                         const char *message, const struct option_spec *options);

#endif
