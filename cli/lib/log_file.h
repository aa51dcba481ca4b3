/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log in a file: a line of text or of JSON for each thing that is said, appended whole by one write.
 *
 * A program that rotates logs renames the file and sends SIGHUP; then log_file_reopen() makes a new
 * one of the old name. What is said in between is in the old one, so that no line is lost.
 *
 * Ownership: log_file_close frees what open made; a zeroed struct is no log, to which lines may be
 * written. Thread rules: one thread at a time.
 */
#ifndef CLI_LIB_LOG_FILE_H
#define CLI_LIB_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

struct log_file {
    const char *path; /* NULL: there is none */
    bool json;
    int fd;
};

struct log_line {
    const char *level; /* "error", "warn", "info" */
    const char *host;  /* NULL: it is of no process */
    const char *role;
    uint32_t process;
    int stream; /* 1, 2: a process printed it there */
    const char *text;
    size_t text_bytes;
};

/* path: stays the caller's. TR_EIO names it. */
int log_file_open(struct log_file *file, const char *path, bool json, struct tr_error *error);
void log_file_close(struct log_file *file);
/* Where that fails the old file is gone on with, and says so. */
void log_file_reopen(struct log_file *file);

/* Without memory or space the line is lost. */
void log_file_write(const struct log_file *file, const struct log_line *line);

#endif
