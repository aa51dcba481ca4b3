/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of a job, events.jsonl in the folder of its run: a line of JSON for each thing that
 * happened, with its time (troupe-events(5)). The launcher of a job is its one writer, or the process
 * that trains without one.
 *
 * Lines are appended whole, several at once in one write; where the disk takes a part of it, the
 * next write goes on there. What a writer that was killed left of a line is ended by the next one,
 * so that a reader loses that line alone. The file is not synced: a history is worth no wait.
 * Before the file is opened, and while the disk takes nothing, lines wait in memory up to a bound;
 * then they are lost, which the next line says.
 *
 * The history is bounded: a file of HISTORY_BYTES_MAX becomes events.1.jsonl, in the place of the
 * one before, and a new one is begun.
 *
 * Ownership: history_file_fini frees what init made; a zeroed struct is the history of no run, to
 * which lines may be added. Thread rules: one thread at a time.
 */
#ifndef RUNTIME_BASE_HISTORY_FILE_H
#define RUNTIME_BASE_HISTORY_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/files.h"

#define HISTORY_NAME "events.jsonl"
#define HISTORY_OLDER_NAME "events.1.jsonl"
/* Some forty thousand lines. */
#define HISTORY_BYTES_MAX ((uint64_t)4 << 20)
#define HISTORY_WAITING_MAX ((size_t)64 << 10)
/* Of a line with its end; a longer one is lost. */
#define HISTORY_LINE_MAX 4096u

struct history_file {
    struct files *files; /* NULL: the history of no run */
    char *folder, *path, *older_path;
    int fd; /* -1: not opened */
    uint64_t size;
    bool begun;    /* history_file_begin() was called */
    bool made;     /* by this writer, and nothing else is in it */
    bool torn;     /* the file ends within a line of another writer */
    bool within;   /* it ends within a line, of which the rest waits */
    char *waiting; /* lines that are not in the file */
    size_t waiting_bytes;
    uint64_t lost; /* lines, since the last that was kept */
};

/* TR_ENOMEM. */
int history_file_init(struct history_file *history, struct files *files, const char *folder);
void history_file_fini(struct history_file *history);

/* From then on lines are written, those that wait first. Makes the folder where there is none. */
void history_file_begin(struct history_file *history);

/* Removes the file again, where it has lines of this writer alone, and writes no more. */
void history_file_forget(struct history_file *history);

/* Adds a line: the event's name, the time, and the fields, whose reference is taken over (NULL: there
 * was no memory for them). */
void history_file_add(struct history_file *history, const char *event, json_t *fields);

/* A text for a field: printable, and cut where it is long. */
json_t *history_text(const char *text);

#endif
