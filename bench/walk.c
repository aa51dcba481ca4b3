/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/walk.h"

#include "graph/key.h"
#include "runtime/base/hotmem.h"

/* A prime above any graph's size that divides none: multiplying by it permutes the IDs. */
#define STRIDE UINT64_C(4294967291)

static const uint32_t fanouts[REFERENCE_LAYERS] = WALK_FANOUTS;

int walk_init(struct walk *walk, const struct graph_part *part, uint64_t seed, struct error *error)
{
    uint64_t num_nodes = part->nodes[0].num_nodes;
    *walk = (struct walk){ .part = part,
                           .seed = seed,
                           .num_nodes = num_nodes,
                           .epoch_seeds = num_nodes - num_nodes % WALK_SEEDS,
                           .features = node_part_feature(&part->nodes[0], "feat"),
                           .labels = node_part_feature(&part->nodes[0], "label") };
    if (walk->epoch_seeds == 0)
        return error_set(error, TR_ERANGE, "--scale: the graph has %llu nodes, a batch needs %u",
                         (unsigned long long)num_nodes, WALK_SEEDS);
    uint64_t nodes_max = num_nodes < REFERENCE_NODES_MAX ? num_nodes : REFERENCE_NODES_MAX;
    walk->rows_bytes = walk->features == NULL ? 0 : (size_t)nodes_max * walk->features->row_bytes;
    int rv = reference_loops_init(&walk->bare, WALK_SEEDS, fanouts);
    walk->rows = hotmem_alloc(walk->rows_bytes);
    if (rv != 0 || walk->rows == NULL) {
        walk_fini(walk);
        return error_set(error, TR_ENOMEM, "the bare loop: out of memory");
    }
    return 0;
}

void walk_fini(struct walk *walk)
{
    reference_loops_fini(&walk->bare);
    hotmem_free(walk->rows, walk->rows_bytes);
    walk->rows = NULL;
}

void walk_deal(struct walk *walk, uint64_t batch)
{
    for (uint32_t i = 0; i < WALK_SEEDS; i++) {
        uint64_t at = (batch * WALK_SEEDS + i) % walk->epoch_seeds;
        walk->seeds[i] = (uint32_t)(at * STRIDE % walk->num_nodes);
    }
}

uint64_t walk_reference(struct walk *walk, uint64_t first, uint64_t count, int rows)
{
    uint64_t edges = 0;
    for (uint64_t batch = first; batch < first + count; batch++) {
        walk_deal(walk, batch);
        edges += reference_loops_sample(&walk->bare, &walk->part->edges[0].csc, walk->seeds,
                                        WALK_SEEDS, fanouts, key_mix(walk->seed + batch));
        if (!rows)
            continue;
        reference_loops_gather(walk->rows, walk->features->rows, walk->features->row_bytes,
                               walk->bare.nodes, walk->bare.num_nodes);
        reference_loops_gather((char *)walk->seed_labels, walk->labels->rows,
                               sizeof *walk->seed_labels, walk->seeds, WALK_SEEDS);
    }
    return edges;
}
