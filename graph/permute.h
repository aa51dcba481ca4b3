/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed permutations of lists: the same key gives the same order everywhere.
 *
 * Thread rules: pure, on the caller's array.
 */
#ifndef GRAPH_PERMUTE_H
#define GRAPH_PERMUTE_H

#include <stddef.h>
#include <stdint.h>

/* Puts items[0, n) into a uniformly drawn order (Fisher-Yates); n of 0 is fine. */
void permute_u32(uint32_t *items, size_t n, uint64_t key);

#endif
