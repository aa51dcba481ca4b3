/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform k-subsets of the positions of one row, without replacement.
 *
 * Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 1987) takes k draws for
 * any k and degree, and each subset comes with equal probability. Positions come out ascending,
 * so that the neighbours drawn of a row stand in the order of their original edge IDs, as they
 * do where a row is taken whole. The draw depends on (node key, degree, k) alone, never on the
 * method used for that k.
 *
 * Thread rules: pure; the set belongs to the caller.
 */
#ifndef GRAPH_SUBSET_H
#define GRAPH_SUBSET_H

#include <stdint.h>

/* Up to here membership is a few vector compares, and no set is needed. */
#define SUBSET_SMALL_MAX 64u

/* Positions are 32-bit and one value marks an empty slot. */
#define SUBSET_DEGREE_MAX (UINT32_MAX - 1)

/* Words of scratch that subset_draw needs for k, 0 where it needs none. */
uint64_t subset_scratch_words(uint32_t k);

/* Draws k of degree positions into positions[k], 0 < k < degree <= SUBSET_DEGREE_MAX. */
void subset_draw(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key,
                 uint32_t *scratch);

#endif
