/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/extent.h"

#include <troupe/error.h>

/* The first extent that ends after id holds it, since empty ones end where they begin. */
int extents_owner(const struct extent *extents, uint32_t count, uint64_t id)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (extents[middle].end > id)
            high = middle;
        else
            low = middle + 1;
    }
    return low == count ? TR_ERANGE : (int)extents[low].owner;
}
