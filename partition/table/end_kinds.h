/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that are IDs of two kinds of things: "userId,movieId" counts both from 1, and user 1 and
 * movie 1 become one node. Which is right is for the user to say; here such numbers are counted.
 *
 * Ownership: end_kinds_fini frees two bits a node, which exist only where the columns are called as
 * IDs of two kinds. Thread rules: one thread at a time.
 */
#ifndef PARTITION_TABLE_END_KINDS_H
#define PARTITION_TABLE_END_KINDS_H

#include <stdbool.h>

#include "partition/table/id_map.h"

struct end_kinds {
    uint8_t *sides; /* two bits a node: it was a source, it was a target */
    uint64_t room;  /* nodes */
    uint64_t shared;
};

/* Notes the two ends of a row, whose texts have got these numbers. TR_ENOMEM. */
int end_kinds_note(struct end_kinds *kinds, const struct id_text names[2],
                   const uint64_t numbers[2]);
void end_kinds_fini(struct end_kinds *kinds);

#endif
