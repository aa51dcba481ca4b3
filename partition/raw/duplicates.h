/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that are there more than once: equal sources and equal destinations.
 *
 * Edges are shared out by a hash into groups whose table stays in a core's cache, so that each is
 * looked for at the cost of a step of a sort. Memory: 8 bytes an edge while it runs.
 * Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_DUPLICATES_H
#define PARTITION_RAW_DUPLICATES_H

#include "partition/raw/raw_memory.h"

struct duplicate {
    uint64_t src, dst;
};

/* *count: edges that equal an earlier one; *one: the first of them in a group, where there is any.
 * merge: they are taken out, and the others keep their order. repeated: bit i says that the edge i
 * of before equals an earlier one, free it; may be NULL. TR_ENOMEM, TR_ECANCELED; then the pairs
 * are as they were. Fails without a message. */
int duplicates_find(struct pairs *pairs, bool merge, const struct cancel *cancel, uint64_t *count,
                    struct duplicate *one, uint8_t **repeated);

#endif
