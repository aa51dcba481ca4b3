/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extents: the contiguous ranges of per-type global IDs that partitions own.
 *
 * The list of a type has one for each partition, increasing; that of a partition which owns nothing
 * is empty and ends where it begins. Together they cover the IDs of the type.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_EXTENT_H
#define GRAPH_EXTENT_H

#include <stdint.h>

struct extent {
    uint64_t begin; /* per-type global ID */
    uint64_t end;   /* exclusive */
    uint32_t owner; /* partition */
    uint32_t version;
};

/* The owner of an ID among extents[count], or TR_ERANGE. */
int extents_owner(const struct extent *extents, uint32_t count, uint64_t id);

#endif
