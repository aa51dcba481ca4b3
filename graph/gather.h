/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies rows of feature tables into a batch's buffer and back.
 *
 * Rows are far apart, so each is asked for some rows ahead of its copy. A row of 0 bytes is fine.
 *
 * Thread rules: pure, on the caller's memory; source and destination do not overlap.
 */
#ifndef GRAPH_GATHER_H
#define GRAPH_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* TR_ERANGE unless each of rows[n] is below num_rows: for rows that came from outside. */
int gather_check(const uint32_t *rows, size_t n, uint64_t num_rows);

/* to[i] = from[rows[i]] */
void gather_rows(void *to, const void *from, size_t row_bytes, const uint32_t *rows, size_t n);

/* to[places[i]] = from[rows[i]]: the local rows of a batch of several owners. */
void gather_rows_to(void *to, const uint32_t *places, const void *from, size_t row_bytes,
                    const uint32_t *rows, size_t n);

/* to[places[i]] = from[i]: puts the rows of a remote answer where they belong. */
void scatter_rows(void *to, const uint32_t *places, const void *from, size_t row_bytes, size_t n);

#endif
