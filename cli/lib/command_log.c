/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/command_log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/lib/fail.h"

int command_log_open(struct tr_log_file **log, const struct command_log_values *asked,
                     struct tr_error *error)
{
    struct tr_log_file_options options = TR_LOG_FILE_OPTIONS_INIT;
    *log = NULL;
    options.format = (enum tr_log_format)asked->format;
    return asked->path == NULL ? 0 : tr_log_file_open(asked->path, &options, log, error);
}

int command_log_run(const struct invocation *invocation, const struct command_log_values *asked,
                    int (*run)(const struct invocation *invocation, const void *values),
                    const void *values)
{
    struct invocation logged = *invocation;
    struct tr_error error = TR_ERROR_INIT;
    if (command_log_open(&logged.log, asked, &error) != 0)
        return fail(invocation, &error);
    /* Also where the command does not wait for signals yet, or any more. */
    if (logged.log != NULL)
        (void)signal(SIGHUP, SIG_IGN);
    int code = run(&logged, values);
    /* A failure has said what it is. */
    if (code == EXIT_DONE && logged.log != NULL)
        command_log_say(logged.log, TR_LOG_INFO, "", "the command has ended without an error");
    tr_log_file_close(logged.log);
    return code;
}

void command_log_say(struct tr_log_file *log, enum tr_log_level level, const char *command,
                     const char *text)
{
    /* Where it cannot be written there is no other place for it either. */
    if (log != NULL)
        (void)tr_log_file_write(log, level, text, NULL);
    else
        fprintf(stderr, "%s%s%s\n", command, command[0] != '\0' ? ": " : "", text);
}

void command_log_fail(struct tr_log_file *log, const char *command, const char *text)
{
    command_log_say(NULL, TR_LOG_ERROR, command, text);
    if (log != NULL)
        command_log_say(log, TR_LOG_ERROR, command, text);
}

void command_log_message(struct tr_log_file *log, enum tr_log_level level, const char *command,
                         const char *message, const struct option_spec *options)
{
    char *text = fail_text(message, options);
    command_log_say(log, level, command, text != NULL ? text : message);
    free(text);
}
