/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/end_signs.h"

#include <stdlib.h>

#include <troupe/error.h>

/* Of ten numbers of a kind at least so many occur; one kind has a tenth more than the other. */
#define TENTHS_SEEN 9u
#define TENTHS_APART 11u
/* Entities for each relation. */
#define ENTITIES_A_RELATION 4u

int end_signs_init(struct end_signs *signs)
{
    *signs = (struct end_signs){ .ends = { ID_RANGE_NONE, ID_RANGE_NONE } };
    for (int end = 0; end < 2; end++) {
        signs->seen[end] = calloc(END_SIGNS_IDS / 64, sizeof *signs->seen[end]);
        if (signs->seen[end] == NULL) {
            end_signs_fini(signs);
            return TR_ENOMEM;
        }
    }
    return 0;
}

void end_signs_fini(struct end_signs *signs)
{
    free(signs->seen[0]);
    free(signs->seen[1]);
    *signs = (struct end_signs){ 0 };
}

void end_signs_note(struct end_signs *signs, uint64_t source, uint64_t target)
{
    const uint64_t ids[] = { source, target };
    if (signs->seen[0] == NULL || signs->rows == END_SIGNS_ROWS)
        return;
    signs->rows++;
    signs->rising += source < target;
    signs->falling += source > target;
    for (int end = 0; end < 2; end++) {
        id_range_add(&signs->ends[end], ids[end], ids[end]);
        if (ids[end] >= END_SIGNS_IDS)
            continue;
        uint64_t *word = &signs->seen[end][ids[end] / 64], bit = (uint64_t)1 << ids[end] % 64;
        signs->distinct[end] += (*word & bit) == 0;
        *word |= bit;
    }
}

bool end_signs_are_two_kinds(const struct end_signs *signs)
{
    uint64_t spans[2];
    if (signs->rows < END_SIGNS_ROWS_MIN || signs->rising == 0 || signs->falling == 0 ||
        signs->ends[0].least != signs->ends[1].least || signs->ends[0].least > 1)
        return false;
    for (int end = 0; end < 2; end++) {
        spans[end] = signs->ends[end].most - signs->ends[end].least + 1;
        if (signs->distinct[end] * 10 < spans[end] * TENTHS_SEEN)
            return false;
    }
    const bool first_fewer = spans[0] < spans[1];
    return spans[first_fewer] * 10 >= spans[!first_fewer] * TENTHS_APART;
}

bool end_signs_are_triples(uint64_t rows, const struct id_range columns[3])
{
    const uint64_t head = columns[0].most, relation = columns[1].most, tail = columns[2].most;
    const uint64_t fewer = head < tail ? head : tail, more = head < tail ? tail : head;
    if (rows < END_SIGNS_ROWS_MIN || columns[0].least > 1 || columns[1].least > 1 ||
        columns[2].least > 1)
        return false;
    return fewer >= relation * ENTITIES_A_RELATION && more * 10 <= fewer * TENTHS_APART;
}
