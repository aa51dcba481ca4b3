/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/end_kinds.h"

#include <stdlib.h>
#include <string.h>

#define NODES_A_BYTE 4u
#define BOTH_SIDES 3u

static bool is_number(const struct id_text *name)
{
    for (uint32_t i = 0; i < name->length; i++) {
        if (name->at[i] < '0' || name->at[i] > '9')
            return false;
    }
    return name->length > 0;
}

static int make_room(struct end_kinds *kinds, uint64_t number)
{
    if (number < kinds->room)
        return 0;
    uint64_t room = (number / NODES_A_BYTE + 1) * 2 * NODES_A_BYTE;
    uint8_t *grown = realloc(kinds->sides, room / NODES_A_BYTE);
    if (grown == NULL)
        return TR_ENOMEM;
    memset(grown + kinds->room / NODES_A_BYTE, 0, (room - kinds->room) / NODES_A_BYTE);
    kinds->sides = grown;
    kinds->room = room;
    return 0;
}

int end_kinds_note(struct end_kinds *kinds, const struct id_text names[2],
                   const uint64_t numbers[2])
{
    for (unsigned side = 0; side < 2; side++) {
        const uint64_t node = numbers[side];
        if (!is_number(&names[side]))
            continue;
        if (make_room(kinds, node) != 0)
            return TR_ENOMEM;
        uint8_t *sides = &kinds->sides[node / NODES_A_BYTE];
        const unsigned shift = (unsigned)(node % NODES_A_BYTE) * 2;
        const unsigned before = *sides >> shift & BOTH_SIDES, now = before | 1u << side;
        *sides = (uint8_t)(*sides | now << shift);
        kinds->shared += before != now && now == BOTH_SIDES;
    }
    return 0;
}

void end_kinds_fini(struct end_kinds *kinds)
{
    free(kinds->sides);
    *kinds = (struct end_kinds){ 0 };
}
