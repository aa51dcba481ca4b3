#include "graph/shard.h"

#include <string.h>

void shard_split(const uint64_t *ids, const uint32_t *owners, uint32_t n, uint32_t num_parts,
                 const uint64_t *begins, uint32_t *starts, uint32_t *rows, uint32_t *positions)
{
    memset(starts, 0, (num_parts + (size_t)1) * sizeof *starts);
    for (uint32_t i = 0; i < n; i++)
        starts[owners[i] + 1]++;
    for (uint32_t p = 0; p < num_parts; p++)
        starts[p + 1] += starts[p];
    /* starts[p] serves as the cursor of p and ends where p + 1 began. */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t owner = owners[i], at = starts[owner]++;
        rows[at] = (uint32_t)(ids[i] - begins[owner]);
        if (positions != NULL)
            positions[at] = i;
    }
    for (uint32_t p = num_parts; p > 0; p--)
        starts[p] = starts[p - 1];
    starts[0] = 0;
}

static void copy_row(struct sample_result *to, const struct sample_result *from, uint64_t at,
                     uint32_t count)
{
    uint64_t end = to->num_edges;
    if (to->columns != NULL)
        memcpy(to->columns + end, from->columns + at, count * sizeof *to->columns);
    if (to->wide_columns != NULL)
        memcpy(to->wide_columns + end, from->wide_columns + at, count * sizeof *to->wide_columns);
    if (to->edge_ids != NULL)
        memcpy(to->edge_ids + end, from->edge_ids + at, count * sizeof *to->edge_ids);
    to->num_edges = end + count;
}

int shard_merge(const uint32_t *owners, uint32_t n, struct shard *shards, uint32_t num_parts,
                struct sample_result *merged)
{
    merged->num_edges = 0;
    for (uint32_t p = 0; p < num_parts; p++) {
        shards[p].next_row = 0;
        shards[p].next_edge = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct shard *shard = &shards[owners[i]];
        if (shard->next_row == shard->num_rows)
            return TR_EFORMAT;
        uint32_t count = shard->answer.counts[shard->next_row++];
        if (count > shard->answer.num_edges - shard->next_edge)
            return TR_EFORMAT;
        merged->counts[i] = count;
        if (count > 0)
            copy_row(merged, &shard->answer, shard->next_edge, count);
        shard->next_edge += count;
    }
    for (uint32_t p = 0; p < num_parts; p++) {
        if (shards[p].next_row != shards[p].num_rows ||
            shards[p].next_edge != shards[p].answer.num_edges)
            return TR_EFORMAT;
    }
    return 0;
}
