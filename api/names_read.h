/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of a list at rest, as the public calls give them: of a book and of a raw graph.
 *
 * Thread rules: one thread at a time.
 */
#ifndef API_NAMES_READ_H
#define API_NAMES_READ_H

#include "partition/store/name_list.h"

/* Whether the names [first, first + count) are there, of total. TR_ERANGE. */
int names_check_range(uint64_t first, size_t count, uint64_t total, struct error *error);

/* Those names of an open list: offsets [count + 1] begin at 0; text NULL: the offsets alone. Closes
 * the list. TR_ETOOBIG: text_bytes are too few, and the offsets say how many are needed. */
int names_read(struct name_list *names, uint64_t first, size_t count, uint64_t *offsets, char *text,
               size_t text_bytes, struct error *error);

#endif
