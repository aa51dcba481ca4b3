#include "graph/permute.h"

#include "graph/key.h"

bool permute_u32_piece(uint32_t *items, size_t *left, uint64_t *draw, uint64_t key, size_t most)
{
    size_t i = *left, end = i > most ? i - most : 0;
    for (; i > end && i > 1; i--) {
        size_t other = (size_t)key_below(key, draw, i);
        uint32_t moved = items[i - 1];
        items[i - 1] = items[other];
        items[other] = moved;
    }
    *left = i;
    return i > 1;
}

void permute_u32(uint32_t *items, size_t n, uint64_t key)
{
    uint64_t draw = 0;
    permute_u32_piece(items, &n, &draw, key, n);
}
