/* SPDX-License-Identifier: Apache-2.0 */
/* The question that troupe-metis reads: what is taken has only indices that lead somewhere. */
#include "partition/metis/metis_exchange.h"
#include "tests/fuzz/fuzz.h"

static void walk(const struct metis_exchange *head, const char *bytes,
                 const struct metis_layout *layout)
{
    const int32_t *index = (const int32_t *)(const void *)(bytes + layout->index);
    const int32_t *adjacency = (const int32_t *)(const void *)(bytes + layout->adjacency);
    for (uint64_t v = 0; v < head->num_nodes; v++) {
        for (int32_t i = index[v]; i < index[v + 1]; i++) {
            assert(i >= 0 && (uint64_t)i < head->num_entries);
            assert(adjacency[i] >= 0 && (uint64_t)adjacency[i] < head->num_nodes);
        }
    }
    if (head->weighted)
        fuzz_touch(bytes + layout->weights,
                   head->num_nodes * head->num_constraints * sizeof(int32_t));
    fuzz_touch(bytes + layout->parts, head->num_nodes * sizeof(int32_t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct metis_layout layout;
    char *block = fuzz_block(data, size);
    if (metis_exchange_check(block, size, &layout) == NULL)
        walk((const struct metis_exchange *)(void *)block, block, &layout);
    free(block);
    return 0;
}
