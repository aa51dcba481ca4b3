/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A keyed bijection of [0, n): the order of a set that is too large for a list of its members.
 *
 * The construction is a Feistel network (Luby, Rackoff: "How to construct pseudorandom permutations
 * from pseudorandom functions", SIAM Journal on Computing 17, 1988) over the smallest power of two
 * (64 at least) that holds n, whose round functions are the counter-based draws of graph/key.h. A
 * result outside of [0, n) is mapped again until one lies inside (cycle walking; Black, Rogaway:
 * "Ciphers with arbitrary finite domains", CT-RSA 2002): fewer than two attempts in the mean where
 * n is above 32. Where the number of bits is odd, one half is a bit wider than the other.
 *
 * Luby and Rackoff need four rounds for large halves; small ones need more until positions and
 * pairs are spread as by a random permutation, which the tests measure from n = 2 on.
 *
 * Thread rules: pure; a bijection is immutable once it is made.
 */
#ifndef GRAPH_BIJECTION_H
#define GRAPH_BIJECTION_H

#include <stdint.h>

/* Seeds of a loader: 2^40 nodes or edges are 8 TiB of IDs, far above any graph that is in use. */
#define BIJECTION_MAX (UINT64_C(1) << 40)

/* Even, so that each half is changed equally often. */
#define BIJECTION_ROUNDS 12u

struct bijection {
    uint64_t n;
    uint32_t low_bits, high_bits; /* 2^(low_bits + high_bits) >= n */
    uint64_t keys[BIJECTION_ROUNDS];
};

/* n: 0 to BIJECTION_MAX. */
void bijection_init(struct bijection *bijection, uint64_t n, uint64_t key);

/* The image of x, which is below n. */
uint64_t bijection_map(const struct bijection *bijection, uint64_t x);

#endif
