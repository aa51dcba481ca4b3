/*
 * Bytes of a pipe as whole lines, each with who said it before it.
 *
 * A line is given on when it is whole, so that lines of several processes never mix; one that is
 * longer than LINES_BYTES_MAX is given on in pieces. Bytes that would steer a terminal are
 * replaced where asked.
 *
 * Ownership: plain values. Thread rules: one thread at a time.
 */
#ifndef CLI_LIB_LINE_READER_H
#define CLI_LIB_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#define LINES_BYTES_MAX 8192u

struct lines {
    void (*line)(void *arg, char *line, size_t length); /* without its end; NUL-terminated */
    void *arg;
    size_t used;
    char bytes[LINES_BYTES_MAX + 1];
};

void lines_init(struct lines *lines, void (*line)(void *arg, char *line, size_t length), void *arg);

/* Where the next bytes may be written, at least one; then lines_grew says how many were. */
char *lines_room(struct lines *lines, size_t *room);
void lines_grew(struct lines *lines, size_t count);

/* Gives on what is left, at the end of the pipe. */
void lines_end(struct lines *lines);

/* Replaces control characters but tabs by '?': what a process prints must not steer the terminal
 * of whoever watches it. */
void lines_tame(char *line, size_t length);

#endif
