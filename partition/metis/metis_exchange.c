/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/metis/metis_exchange.h"

#include <string.h>

static size_t aligned(size_t bytes)
{
    return (bytes + METIS_EXCHANGE_ALIGN - 1) / METIS_EXCHANGE_ALIGN * METIS_EXCHANGE_ALIGN;
}

const char *metis_exchange_layout(const struct metis_exchange *head, struct metis_layout *layout)
{
    if (head->magic != METIS_EXCHANGE_MAGIC)
        return "it is not a question of this version";
    /* METIS counts nodes and entries in 32 bits, and loops to one beyond the last. */
    if (head->num_nodes == 0 || head->num_nodes >= INT32_MAX)
        return "the number of nodes is out of range";
    if (head->num_entries > INT32_MAX)
        return "the number of entries is out of range";
    if (head->num_parts < 2 || head->num_parts > head->num_nodes)
        return "the number of parts is out of range";
    if (head->num_constraints == 0 || head->num_constraints > METIS_CONSTRAINTS_MAX)
        return "the number of constraints is out of range";
    if (head->weighted > 1 || head->volume > 1 || head->seed < 0)
        return "an option is out of range";
    /* At most 2^31 * 2^5 * 4 bytes: no sum here can wrap. */
    uint64_t weights = head->weighted ? head->num_nodes * head->num_constraints : 0;
    layout->index = sizeof *head;
    layout->adjacency = aligned(layout->index + (head->num_nodes + 1) * sizeof(int32_t));
    layout->weights = aligned(layout->adjacency + head->num_entries * sizeof(int32_t));
    layout->parts = aligned(layout->weights + weights * sizeof(int32_t));
    layout->size = aligned(layout->parts + head->num_nodes * sizeof(int32_t));
    return NULL;
}

static const char *check_graph(const struct metis_exchange *head, const int32_t *index,
                               const int32_t *adjacency)
{
    if (index[0] != 0 || (uint64_t)index[head->num_nodes] != head->num_entries)
        return "the rows do not cover the entries";
    for (uint64_t v = 0; v < head->num_nodes; v++) {
        if (index[v + 1] < index[v])
            return "a row ends before it begins";
    }
    for (uint64_t i = 0; i < head->num_entries; i++) {
        if (adjacency[i] < 0 || (uint64_t)adjacency[i] >= head->num_nodes)
            return "an edge leads to no node";
    }
    return NULL;
}

const char *metis_exchange_check(const void *data, size_t size, struct metis_layout *layout)
{
    struct metis_exchange head;
    const char *bytes = data;
    if (size < sizeof head)
        return "it is shorter than its head";
    memcpy(&head, data, sizeof head);
    const char *wrong = metis_exchange_layout(&head, layout);
    if (wrong != NULL)
        return wrong;
    if (size != layout->size)
        return "its size is not that of its arrays";
    wrong = check_graph(&head, (const int32_t *)(const void *)(bytes + layout->index),
                        (const int32_t *)(const void *)(bytes + layout->adjacency));
    const int32_t *weights = (const int32_t *)(const void *)(bytes + layout->weights);
    uint64_t count = head.weighted ? head.num_nodes * head.num_constraints : 0;
    for (uint64_t i = 0; i < count && wrong == NULL; i++)
        wrong = weights[i] < 0 ? "a weight is negative" : NULL;
    return wrong;
}
