/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run is known by again: 64 bits of what it was begun with, added up in an order that no
 * placement changes (Fowler, Noll and Vo: FNV-1a).
 *
 * Thread rules: pure.
 */
#ifndef MODEL_RUN_HASH_H
#define MODEL_RUN_HASH_H

#include <stddef.h>
#include <stdint.h>

#define RUN_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t run_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
