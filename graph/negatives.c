/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/negatives.h"

void negatives_draw(const struct draw_key *batch, uint32_t etype, uint64_t num_ranks,
                    uint64_t first, uint32_t count, uint64_t *ranks)
{
    struct draw_key key = *batch;
    key.purpose = KEY_NEGATIVES;
    key.hop = 0;
    key.type = etype;
    const uint64_t base = key_base(&key);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t draw = 0;
        ranks[i] = key_below(key_node(base, first + i), &draw, num_ranks);
    }
}
