/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link_split.h"

struct link_split link_split_make(const struct link_types *types)
{
    /* No seed: runs of several seeds are scored on the same edges. */
    const struct draw_key key = { .purpose = KEY_SPLIT };
    const struct link_types single = { 0 };
    return (struct link_split){ .base = key_base(&key), .types = types == NULL ? single : *types };
}

uint64_t pair_table_room(uint64_t pairs)
{
    uint64_t room = 16;
    while (room < 2 * pairs)
        room *= 2;
    return room;
}
