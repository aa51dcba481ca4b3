/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last lines of a log, for the live page: a text file that others write to, followed as it
 * grows, is rotated or begins anew.
 *
 * What is in it is anybody's: a line is cut at LIVE_LINE_MAX bytes, what is no printable UTF-8 is
 * replaced, and LIVE_LINES of them are kept. Each has the number of the look that found it.
 *
 * Ownership: live_lines_destroy frees. Thread rules: one thread at a time; reading the file may
 * wait for its disk.
 */
#ifndef LAUNCH_WEB_LIVE_LINES_H
#define LAUNCH_WEB_LIVE_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LIVE_LINES 500u
#define LIVE_LINE_MAX 500u
/* So much of the file is read a look; of more that came meanwhile the end. */
#define LIVE_LINES_READ 65536u

struct live_lines;

/* The file need not be there yet. NULL: no memory. */
struct live_lines *live_lines_create(const char *path);
void live_lines_destroy(struct live_lines *lines); /* NULL is ignored */

/* Takes the whole lines that are new, for look number `look`, 1 or more. */
void live_lines_look(struct live_lines *lines, uint64_t look);

/* The part of a look that is no file: bytes that follow those before. */
void live_lines_take(struct live_lines *lines, const char *bytes, size_t size, uint64_t look);

/* Writes `"lines":["..",..]`, a member of a JSON object: those that looks after `seen` found. */
void live_lines_write(const struct live_lines *lines, uint64_t seen, FILE *out);

#endif
