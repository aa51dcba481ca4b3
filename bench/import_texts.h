/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts that imports are measured with: edges between numbers, and edges between names as people
 * choose them. Both have many edges at few nodes, as texts of users have.
 *
 * Thread rules: one thread at a time.
 */
#ifndef BENCH_IMPORT_TEXTS_H
#define BENCH_IMPORT_TEXTS_H

#include <stdint.h>

#include "runtime/base/error.h"

struct import_text {
    uint64_t num_nodes;
    uint64_t num_edges;
    uint64_t seed;
};

/* "17\t4711": a new file. */
int import_text_numbers(const char *path, const struct import_text *text, struct error *error);
/* "tamora31,belisu7x0k" below "source,target": names of 8 to 16 bytes. */
int import_text_names(const char *path, const struct import_text *text, struct error *error);

/* Bare loops over such a file, in blocks of 1 MiB: what reading it costs at the least. Both return
 * the bytes of the file. */

/* Two numbers a line into an array of pairs, without a check. */
int import_text_parse(const char *path, uint64_t num_edges, uint64_t *bytes, struct error *error);
/* The ends of two names a line, by memchr; the names themselves are not looked at. */
int import_text_split(const char *path, uint64_t *bytes, struct error *error);

#endif
