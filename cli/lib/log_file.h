/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log in a file: a line of text or of JSON for each thing that is said, appended whole by one write.
 *
 * A program that rotates logs renames the file and sends SIGHUP; then log_file_reopen() makes a new
 * one of the old name. What is said in between is in the old one, so that no line is lost.
 *
 * Ownership: log_file_close frees what open made; a zeroed struct is no log, to which lines may be
 * written. Thread rules: any thread writes and reopens; the file is opened before and closed after
 * these, and knows its process before the others write.
 */
#ifndef CLI_LIB_LOG_FILE_H
#define CLI_LIB_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

/* Host names of cluster files are shorter. */
#define LOG_HOST_MAX 256

struct log_file {
    const char *path; /* NULL: there is none */
    bool json;
    int fd; /* the same number for as long as the file is open */
    /* The process of a cluster that writes, for lines that name none; role NULL: it is of none. */
    char host[LOG_HOST_MAX];
    const char *role;
    uint32_t process;
};

struct log_line {
    const char *level; /* "error", "warn", "info" */
    const char *host;  /* NULL: it is of the process that writes */
    const char *role;
    uint32_t process;
    int stream; /* 1, 2: a process printed it there */
    const char *text;
    size_t text_bytes;
};

/* path: stays the caller's. TR_EIO names it. */
int log_file_open(struct log_file *file, const char *path, bool json, struct tr_error *error);
void log_file_close(struct log_file *file);
/* Lines are of this process of a cluster from now on. role: of static storage. */
void log_file_name_process(struct log_file *file, const char *host, const char *role,
                           uint32_t process);
/* Where that fails the old file is gone on with, and says so. */
void log_file_reopen(struct log_file *file);

/* Without memory or space the line is lost. */
void log_file_write(const struct log_file *file, const struct log_line *line);

#endif
