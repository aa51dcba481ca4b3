/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/permute.h"

#include "graph/key.h"

void permute_u32(uint32_t *items, size_t n, uint64_t key)
{
    uint64_t draw = 0;
    for (size_t i = n; i > 1; i--) {
        size_t other = (size_t)key_below(key, &draw, i);
        uint32_t moved = items[i - 1];
        items[i - 1] = items[other];
        items[other] = moved;
    }
}
