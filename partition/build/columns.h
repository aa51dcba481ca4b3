/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a partition where global IDs of sources don't fit 32 bits: local IDs.
 *
 * Owned nodes come first, in order, then the other sources of its edges (the halo) in the
 * order of their global IDs. Which those are is a bit a node of the type; a count before each word
 * of bits makes finding a column one look-up.
 *
 * Ownership: columns_fini frees. Thread rules: one thread.
 */
#ifndef PARTITION_BUILD_COLUMNS_H
#define PARTITION_BUILD_COLUMNS_H

#include "partition/build/scatter.h"

struct columns {
    uint64_t begin, end; /* global IDs of owned sources */
    uint64_t num_words;
    uint64_t *words;  /* halo: a bit a node */
    uint64_t *before; /* [num_words] halo nodes before the word */
};

/* Collects the sources of cells [begin, begin + count) and writes column_global.npy. TR_ETOOBIG
 * when owned and halo nodes don't fit 32 bits either. */
int columns_init(struct columns *columns, const struct scatter *scatter, uint32_t part,
                 uint64_t begin, uint64_t count, struct error *error);
void columns_fini(struct columns *columns);

static inline uint32_t columns_find(const struct columns *columns, uint64_t global)
{
    if (global >= columns->begin && global < columns->end)
        return (uint32_t)(global - columns->begin);
    uint64_t below = columns->words[global / 64] & ((UINT64_C(1) << (global % 64)) - 1);
    return (uint32_t)(columns->end - columns->begin + columns->before[global / 64] +
                      (uint64_t)__builtin_popcountll(below));
}

#endif
