/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a pipe as whole lines.
 *
 * A line is given on when it is whole, so that lines of several processes never mix; one that is
 * longer than LINE_BYTES_MAX is given on in pieces.
 *
 * Ownership: plain values. Thread rules: one thread at a time.
 */
#ifndef LAUNCH_LINE_READER_H
#define LAUNCH_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#define LINE_BYTES_MAX 8192u

struct line_reader {
    void (*line)(void *arg, char *line, size_t length); /* without its end; NUL-terminated */
    void *arg;
    size_t used;
    char bytes[LINE_BYTES_MAX + 1];
};

void line_reader_init(struct line_reader *lines, void (*line)(void *arg, char *line, size_t length),
                      void *arg);

/* Where the next bytes may be written, at least one; then line_reader_grew says how many were. */
char *line_reader_room(struct line_reader *lines, size_t *room);
void line_reader_grew(struct line_reader *lines, size_t count);

/* Gives on what is left, at the end of the pipe. */
void line_reader_end(struct line_reader *lines);

#endif
