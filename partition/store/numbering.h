/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Homogeneous IDs: one numbering over all types, partition by partition and in each partition type
 * by type, as other programs number nodes and edges.
 *
 * Ownership: numbering_init allocates, numbering_fini frees; extents are borrowed. Thread rules:
 * immutable after numbering_init.
 */
#ifndef PARTITION_STORE_NUMBERING_H
#define PARTITION_STORE_NUMBERING_H

#include <stdint.h>

#include "graph/extent.h"
#include "runtime/base/error.h"

struct numbering {
    struct extent *const *extents; /* [num_types][num_parts] */
    uint32_t num_types;
    uint32_t num_parts;
    uint64_t *begins; /* [num_parts * num_types + 1]: of (part, type); the last is the total */
};

/* TR_ENOMEM. */
int numbering_init(struct numbering *numbering, struct extent *const *extents, uint32_t num_types,
                   uint32_t num_parts);
void numbering_fini(struct numbering *numbering);

/* Where a homogeneous ID lies. TR_ERANGE: there is no such ID. */
struct numbered {
    uint32_t part;
    uint32_t type;
    uint64_t id; /* global, in the type */
};
int numbering_find(const struct numbering *numbering, uint64_t homogeneous, struct numbered *out);

/* The homogeneous ID of a global ID of a type < num_types. TR_ERANGE: there is no such ID. */
int numbering_number(const struct numbering *numbering, uint32_t type, uint64_t id,
                     uint64_t *homogeneous);

#endif
