/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/bijection.h"

#include <assert.h>

#include "graph/key.h"

/* Halves of one or two bits are a handful of values, which even many rounds move in few ways: sets
 * of a few members pass the tests from three bits a half on. */
#define BITS_MIN 6u

void bijection_init(struct bijection *bijection, uint64_t n, uint64_t key)
{
    uint32_t bits = BITS_MIN;
    assert(n <= BIJECTION_MAX);
    while ((UINT64_C(1) << bits) < n)
        bits++;
    *bijection = (struct bijection){ .n = n, .low_bits = bits / 2, .high_bits = bits - bits / 2 };
    for (uint32_t round = 0; round < BIJECTION_ROUNDS; round++)
        bijection->keys[round] = key_draw(key, round);
}

/* `bits` bits that depend on the other half; a half of no bits gets 0. */
static uint64_t draw_bits(uint64_t round_key, uint64_t half, uint32_t bits)
{
    return key_node(round_key, half) >> 1 >> (63 - bits);
}

/* Each line changes one half by the other, which undoes it: so each is a bijection, and all are. */
static uint64_t encipher(const struct bijection *b, uint64_t x)
{
    uint64_t low = x & ((UINT64_C(1) << b->low_bits) - 1), high = x >> b->low_bits;
    for (uint32_t round = 0; round < BIJECTION_ROUNDS; round += 2) {
        high ^= draw_bits(b->keys[round], low, b->high_bits);
        low ^= draw_bits(b->keys[round + 1], high, b->low_bits);
    }
    return high << b->low_bits | low;
}

/* The walk ends: it goes round the cycle on which x lies, and x itself is below n. */
uint64_t bijection_map(const struct bijection *bijection, uint64_t x)
{
    do
        x = encipher(bijection, x);
    while (x >= bijection->n);
    return x;
}
