/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of `apt-cache dumpavail`, as a stream.
 *
 * The program is spawned rather than started by popen(3): the task's thread takes no signals, and a
 * child would inherit that, so that a Ctrl-C or a closed pipe did not end it.
 *
 * Ownership: apt_reader_close ends what apt_reader_open began. Thread rules: one thread.
 */
#ifndef API_APT_READER_H
#define API_APT_READER_H

#include <stdio.h>
#include <sys/types.h>

#include "runtime/base/error.h"

#define APT_COMMAND "apt-cache dumpavail"

struct apt_reader {
    FILE *input;
    pid_t child;
};

/* TR_ENOENT: there is no apt-cache here. */
int apt_reader_open(struct apt_reader *reader, struct error *error);

/* Closes the stream and waits for the program's end. rv: what reading ended with, which stays the
 * result where it is a failure; else TR_ECHILD: the program failed after its last line. */
int apt_reader_close(struct apt_reader *reader, int rv, struct error *error);

#endif
