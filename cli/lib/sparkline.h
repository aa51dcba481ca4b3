/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as one line of blocks, for a terminal: "1.15 █▆▄▃▂▂▁▁ 0.2".
 *
 * Thread rules: pure, but for the environment.
 */
#ifndef CLI_LIB_SPARKLINE_H
#define CLI_LIB_SPARKLINE_H

#include <stdbool.h>
#include <stddef.h>

/* Narrow enough for a terminal of 80 columns beside a label and two numbers. */
#define SPARKLINE_COLUMNS 40
/* A block has three bytes, a number at most 16. */
#define SPARKLINE_TEXT_MAX (SPARKLINE_COLUMNS * 3 + 2 * 16 + 3)

/* Writes the first number, a block for each column (the mean of its numbers), and the last number into
 * text [SPARKLINE_TEXT_MAX]; numbers that are not finite are left out. utf8: false takes characters of
 * ASCII. Returns false, and writes "", where fewer than two are left. */
bool sparkline_write(char *text, const double *values, size_t count, bool utf8);

/* Whether the environment says that the terminal takes UTF-8. */
bool sparkline_has_utf8(void);

#endif
