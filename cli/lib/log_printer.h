/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a command's session: a thread that takes the lines and says those that matter to the
 * user of the command, "troupe train: ..." on the standard error, or in the command's log.
 *
 * Thread rules: start before the session is opened, stop after it is closed, both on one thread.
 */
#ifndef CLI_LIB_LOG_PRINTER_H
#define CLI_LIB_LOG_PRINTER_H

#include <pthread.h>

#include <troupe/log.h>

#include <troupe/log_file.h>

struct log_printer {
    struct tr_log *log; /* for the session's options */
    const char *command;
    struct tr_log_file *file; /* NULL: the standard error */
    enum tr_log_level most;   /* lines of higher levels are left out, but for dumps */
    pthread_t thread;
};

/* command: "train", of static storage. */
int log_printer_start(struct log_printer *printer, const char *command, enum tr_log_level most,
                      struct tr_log_file *file, struct tr_error *error);
/* Prints what is left first. */
void log_printer_stop(struct log_printer *printer);

#endif
