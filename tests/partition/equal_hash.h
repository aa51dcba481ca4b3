/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that struct id_map gives one hash: what somebody would write into a table to make it slow.
 */
#ifndef TESTS_PARTITION_EQUAL_HASH_H
#define TESTS_PARTITION_EQUAL_HASH_H

#include <stdint.h>
#include <string.h>

#include "graph/key.h"

/* A text of two words, any bytes, with the hash of any other such: the second word undoes the first
 * one, as hash_text() mixes them. */
static inline void equal_hash_text(uint64_t draw, char text[16])
{
    uint64_t first = draw, hash = 16 * KEY_STEP, second;
    hash = (hash ^ first) * UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 29;
    second = hash ^ UINT64_C(0x0123456789abcdef);
    memcpy(text, &first, sizeof first);
    memcpy(text + sizeof first, &second, sizeof second);
}

#endif
