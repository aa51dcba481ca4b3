/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/numbering.h"

#include <stdlib.h>

int numbering_init(struct numbering *numbering, struct extent *const *extents, uint32_t num_types,
                   uint32_t num_parts)
{
    size_t count = (size_t)num_types * num_parts;
    *numbering = (struct numbering){ .extents = extents,
                                     .num_types = num_types,
                                     .num_parts = num_parts };
    numbering->begins = malloc((count + 1) * sizeof *numbering->begins);
    if (numbering->begins == NULL)
        return TR_ENOMEM;
    uint64_t *begins = numbering->begins, next = 0;
    for (uint32_t part = 0; part < num_parts; part++) {
        for (uint32_t type = 0; type < num_types; type++) {
            *begins++ = next;
            next += extents[type][part].end - extents[type][part].begin;
        }
    }
    *begins = next;
    return 0;
}

void numbering_fini(struct numbering *numbering)
{
    free(numbering->begins);
    *numbering = (struct numbering){ 0 };
}

int numbering_find(const struct numbering *numbering, uint64_t homogeneous, struct numbered *out)
{
    size_t low = 0, high = (size_t)numbering->num_types * numbering->num_parts;
    if (homogeneous >= numbering->begins[high])
        return TR_ERANGE;
    /* Invariant: begins[low] <= homogeneous < begins[high]. So it ends at the last (part, type)
     * that begins there, and those before it that begin there too are empty. */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (numbering->begins[middle] <= homogeneous)
            low = middle;
        else
            high = middle;
    }
    out->part = (uint32_t)(low / numbering->num_types);
    out->type = (uint32_t)(low % numbering->num_types);
    out->id = numbering->extents[out->type][out->part].begin + homogeneous - numbering->begins[low];
    return 0;
}

int numbering_number(const struct numbering *numbering, uint32_t type, uint64_t id,
                     uint64_t *homogeneous)
{
    int part = extents_owner(numbering->extents[type], numbering->num_parts, id);
    if (part < 0)
        return part;
    *homogeneous = numbering->begins[(size_t)part * numbering->num_types + type] + id -
                   numbering->extents[type][part].begin;
    return 0;
}
