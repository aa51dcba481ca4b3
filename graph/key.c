#include "graph/key.h"

static uint64_t fold(uint64_t base, uint64_t word)
{
    return key_mix((base ^ word) + KEY_STEP);
}

uint64_t key_base(const struct draw_key *key)
{
    uint64_t base = fold(0, key->seed);
    base = fold(base, (uint64_t)key->purpose << 32 | key->epoch);
    base = fold(base, (uint64_t)key->rank << 32 | key->hop);
    base = fold(base, key->batch);
    return fold(base, key->type);
}

double key_normal(uint64_t node_key, uint64_t draw)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < KEY_NORMAL_DRAWS; i++) {
        uint64_t bits = key_draw(node_key, draw + i);
        sum += (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    }
    /* Twelve uniforms on 0 .. 65535: mean 12 * 65535 / 2, variance 65536^2 - 1. */
    return ((double)sum - 393210.0) / 65536.0;
}
