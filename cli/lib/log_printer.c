/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/log_printer.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/lib/command_log.h"

/* "troupe " and the longest name of a command. */
#define COMMAND_MAX 32

static void print_line(const struct log_printer *printer, const struct tr_log_line *line)
{
    bool dump = strcmp(line->component, "dump") == 0;
    char command[COMMAND_MAX], text[TR_LOG_TEXT_MAX + sizeof "dump: "];
    snprintf(command, sizeof command, "troupe %s", printer->command);
    if (line->lost > 0) {
        snprintf(text, sizeof text, "%llu lines of the log were lost",
                 (unsigned long long)line->lost);
        command_log_say(printer->file, TR_LOG_WARN, command, text);
    }
    if (line->level <= printer->most || dump) {
        snprintf(text, sizeof text, "%s%s", dump ? "dump: " : "", line->text);
        command_log_say(printer->file, line->level, command, text);
    }
}

/* Until it is interrupted, before which the lines that are there are printed. */
static void *print_lines(void *arg)
{
    const struct log_printer *printer = arg;
    struct tr_log_line line = TR_LOG_LINE_INIT;
    while (tr_log_next(printer->log, TR_WAIT_FOREVER, &line, NULL) == 0)
        print_line(printer, &line);
    return NULL;
}

int log_printer_start(struct log_printer *printer, const char *command, enum tr_log_level most,
                      struct tr_log_file *file, struct tr_error *error)
{
    *printer = (struct log_printer){ .command = command, .most = most, .file = file };
    int rv = tr_log_open(NULL, &printer->log, error);
    if (rv != 0)
        return rv;
    /* Signals are for the thread that waits for them. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&printer->thread, NULL, print_lines, printer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        return 0;
    tr_log_close(printer->log);
    printer->log = NULL;
    return tr_error_set(error, TR_ENOMEM, "cannot start the thread that prints the log");
}

void log_printer_stop(struct log_printer *printer)
{
    /* The log is interrupted before it is closed: the thread prints what is there, and ends,
     * before the log goes. */
    tr_log_interrupt(printer->log);
    pthread_join(printer->thread, NULL);
    tr_log_close(printer->log);
}
