/*
 * Keyed permutations: the same key gives the same order everywhere.
 *
 * Thread rules: pure, on the caller's array.
 */
#ifndef GRAPH_PERMUTE_H
#define GRAPH_PERMUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Puts items[0, n) into a uniformly drawn order (Fisher-Yates); n of 0 is fine. */
void permute_u32(uint32_t *items, size_t n, uint64_t key);

/* The same as permute_u32, a piece at a time: at first *left = n, *draw = 0. Moves at most `most`
 * items and returns whether any are left. */
bool permute_u32_piece(uint32_t *items, size_t *left, uint64_t *draw, uint64_t key, size_t most);

#endif
