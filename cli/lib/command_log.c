/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/command_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lib/fail.h"

int command_log_open(struct log_file *log, const struct command_log_values *asked,
                     struct tr_error *error)
{
    *log = (struct log_file){ .path = NULL };
    return asked->path == NULL
               ? 0
               : log_file_open(log, asked->path, asked->format == COMMAND_LOG_JSON, error);
}

int command_log_run(const struct invocation *invocation, const struct command_log_values *asked,
                    int (*run)(const struct invocation *invocation, const void *values),
                    const void *values)
{
    struct log_file log;
    struct invocation logged = *invocation;
    struct tr_error error = TR_ERROR_INIT;
    if (command_log_open(&log, asked, &error) != 0)
        return fail(invocation, &error);
    logged.log = log.path != NULL ? &log : NULL;
    int code = run(&logged, values);
    /* A failure has said what it is. */
    if (code == EXIT_DONE && logged.log != NULL)
        command_log_say(&log, "info", "", "the command has ended without an error");
    log_file_close(&log);
    return code;
}

void command_log_say(const struct log_file *log, const char *level, const char *command,
                     const char *text)
{
    const struct log_line line = { .level = level, .text = text, .text_bytes = strlen(text) };
    if (log != NULL)
        log_file_write(log, &line);
    else
        fprintf(stderr, "%s%s%s\n", command, command[0] != '\0' ? ": " : "", text);
}

void command_log_message(const struct log_file *log, const char *level, const char *command,
                         const char *message, const struct option_spec *options)
{
    char *text = fail_text(message, options);
    command_log_say(log, level, command, text != NULL ? text : message);
    free(text);
}
