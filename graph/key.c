/* SPDX-License-Identifier: Apache-2.0 */
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
