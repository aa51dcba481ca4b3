/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log in a file: a line of text or of JSON for each thing that is said, appended whole by one write.
 *
 * What sessions say comes from their log (troupe/log.h), by a thread of the file's; the program adds
 * lines of its own, and what happens to the processes of a launch. Programs and processes of one host
 * can share a file.
 *
 * A program that rotates logs renames the file; then tr_log_file_reopen() makes a new one of the old
 * name. What is said in between is in the old one, so that no line is lost. Lines that the disk does
 * not take are counted, and the next one that it takes comes behind one that says how many they were.
 *
 * Ownership: the path is copied, and the log is held until the file is closed. Thread rules: any
 * thread; a file is closed once, when no other thread begins a call on it. tr_log_file_reopen() is
 * not for signal handlers.
 */
#ifndef TROUPE_LOG_FILE_H
#define TROUPE_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/launch.h>
#include <troupe/log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_log_file;

enum tr_log_format {
    TR_LOG_TEXT = 0, /* TIME LEVEL [HOST/ROLE PROCESS] COMPONENT: TEXT */
    TR_LOG_JSON = 1  /* an object with "time", "level", "message", and where it has them "process",
                        "host", "role", "stream" and "component" */
};

struct tr_log_file_options {
    size_t size;
    enum tr_log_format format;
    struct tr_log *log; /* whose lines are taken and written while the file is open; NULL: none */
};
#define TR_LOG_FILE_OPTIONS_INIT                              \
    {                                                         \
        sizeof(struct tr_log_file_options), TR_LOG_TEXT, NULL \
    }

/* options NULL: the defaults. TR_EIO: the file cannot be opened; TR_ERANGE: format is none. *out is
 * NULL after a failure. */
TR_API int tr_log_file_open(const char *path, const struct tr_log_file_options *options,
                            struct tr_log_file **out, struct tr_error *error);
/* Writes what its log has first. NULL is ignored. */
TR_API void tr_log_file_close(struct tr_log_file *file);

/* Opens the file of that name again. TR_EIO: it cannot be; lines still go to the old file, and an
 * error there says so. */
TR_API int tr_log_file_reopen(struct tr_log_file *file, struct tr_error *error);

/* Lines are of this process of a cluster from now on, but for those of a launch, which have their
 * own. TR_ERANGE: a name has no bytes, or more than 255. */
TR_API int tr_log_file_set_process(struct tr_log_file *file, const char *host, const char *role,
                                   uint32_t process, struct tr_error *error);

/* A line of the program's own. TR_EIO: it could not be written whole; TR_ERANGE: level is none. */
TR_API int tr_log_file_write(struct tr_log_file *file, enum tr_log_level level, const char *text,
                             struct tr_error *error);
/* What tr_launch_next() gave. */
TR_API int tr_log_file_write_event(struct tr_log_file *file, const struct tr_launch_event *event,
                                   struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
