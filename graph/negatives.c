/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/negatives.h"

uint64_t negatives_base(const struct draw_key *batch, uint32_t etype, enum pair_end end)
{
    struct draw_key key = *batch;
    key.purpose = KEY_NEGATIVES;
    /* There are no hops: the two ends of a negative are drawn apart by this. */
    key.hop = end;
    key.type = etype;
    return key_base(&key);
}
