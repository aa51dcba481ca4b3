/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts nodes by original ID in pieces: a natural merge sort (Knuth, The Art of Computer
 * Programming 3, 5.2.4), since what comes from partitions is runs that are sorted already.
 *
 * Ownership: both arrays are the caller's. Thread rules: pure; one caller at a time.
 */
#ifndef ACTORS_COMMON_NODE_SORT_H
#define ACTORS_COMMON_NODE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node_pair {
    uint64_t original, global;
};

struct node_sort {
    struct node_pair *from, *to; /* [count]; they change places after each pass */
    size_t count, at;
};

/* Merges two runs; true: sorted, in `from`. Start with at 0. */
bool node_sort_step(struct node_sort *sort);

#endif
