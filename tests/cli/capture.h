/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a call to standard output or error, as text. */
#ifndef TESTS_CLI_CAPTURE_H
#define TESTS_CLI_CAPTURE_H

#include <stddef.h>
#include <stdio.h>

struct capture {
    int fd, before; /* `before` is what fd was */
    FILE *file;
};

/* From here on what goes to fd is kept in a file. Captures end in the reverse order. */
void capture_begin(struct capture *capture, int fd);

/* fd is what it was; at most size - 1 bytes of what was written are in text. */
void capture_end(struct capture *capture, char *text, size_t size);

#endif
