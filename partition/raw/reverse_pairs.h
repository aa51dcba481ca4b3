/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a graph's edges stand in both directions, by a sample of its pairs of nodes.
 *
 * A pair is in the sample by a hash of its two nodes alone, so both of its edges are seen wherever
 * they stand; where the sample is full, half of it is forgotten. Graphs of up to
 * REVERSE_PAIRS_MAX / 2 pairs are looked at whole. Self-loops are no pairs.
 *
 * Ownership: reverse_pairs_fini frees all. Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_REVERSE_PAIRS_H
#define PARTITION_RAW_REVERSE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

/* 3 MB a table; a share is known from thousands of pairs. */
#define REVERSE_PAIRS_MAX ((uint32_t)1 << 17)

struct reverse_pair {
    uint64_t low, high; /* equal: the slot is free */
    bool up, down;      /* there is an edge from low to high, from high to low */
};

struct reverse_pairs {
    struct reverse_pair *slots; /* [REVERSE_PAIRS_MAX], at most half of them used */
    struct reverse_pair *spare; /* as many, for when the sample is thinned */
    uint64_t used;
    uint32_t shift; /* of 2^shift pairs one is in the sample */
};

/* 0 or TR_ENOMEM, after which reverse_pairs_fini() is due all the same. */
int reverse_pairs_init(struct reverse_pairs *pairs);
void reverse_pairs_fini(struct reverse_pairs *pairs);
void reverse_pairs_add(struct reverse_pairs *pairs, uint64_t src, uint64_t dst);
/* Edges of an import that gave each its reverse, which stands behind it; of these the first ones are
 * taken. *behind: whether the next edge is such a reverse, false at first. */
void reverse_pairs_add_doubled(struct reverse_pairs *pairs, uint64_t count, const uint64_t *src,
                               const uint64_t *dst, bool *behind);
/* Pairs of the sample, and those of them with edges both ways. */
void reverse_pairs_count(const struct reverse_pairs *pairs, uint64_t *seen, uint64_t *mutual);

#endif
