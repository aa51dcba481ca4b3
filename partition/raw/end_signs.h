/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the numbers in a table without a header tell about it: whether two columns number two kinds of
 * things, as users and films, and whether the second of three columns is a relation between the first
 * and the third.
 *
 * Both are guesses, and whoever gets one asks the user. Two kinds of things are each counted from 0
 * or from 1, without many gaps and to different ends, and neither number is always the larger one,
 * as it is where a graph's edges are written once or lead back in time. A relation has few numbers
 * between two columns that end nearly alike.
 *
 * Memory: 1 MiB, for numbers below END_SIGNS_IDS, of the first END_SIGNS_ROWS rows.
 * Ownership: end_signs_fini frees. Thread rules: one thread.
 */
#ifndef PARTITION_RAW_END_SIGNS_H
#define PARTITION_RAW_END_SIGNS_H

#include <stdbool.h>
#include <stdint.h>

#define END_SIGNS_IDS ((uint64_t)1 << 22)
#define END_SIGNS_ROWS ((uint64_t)1 << 22)
/* Fewer rows tell nothing. */
#define END_SIGNS_ROWS_MIN 100u

/* The smallest and the largest number of a column. */
struct id_range {
    uint64_t least, most;
};

#define ID_RANGE_NONE \
    {                 \
        UINT64_MAX, 0 \
    }

static inline void id_range_add(struct id_range *range, uint64_t least, uint64_t most)
{
    range->least = least < range->least ? least : range->least;
    range->most = most > range->most ? most : range->most;
}

struct end_signs {
    uint64_t rows, rising, falling; /* the source's number is the smaller one, the larger one */
    struct id_range ends[2];
    uint64_t distinct[2];
    uint64_t *seen[2]; /* bits; NULL: nothing is noted */
};

/* Begins to note. TR_ENOMEM. */
int end_signs_init(struct end_signs *signs);
void end_signs_fini(struct end_signs *signs);
/* Notes an edge; nothing where nothing is noted, or the rows are enough. */
void end_signs_note(struct end_signs *signs, uint64_t source, uint64_t target);
bool end_signs_are_two_kinds(const struct end_signs *signs);

/* Whether column 2 of `rows` rows of three is a relation between the others, by their numbers. */
bool end_signs_are_triples(uint64_t rows, const struct id_range columns[3]);

#endif
