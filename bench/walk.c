#include "bench/walk.h"

#include "graph/key.h"
#include "runtime/hotmem.h"

/* A prime above any graph's size that divides none: multiplying by it permutes the IDs. */
#define STRIDE UINT64_C(4294967291)

static const uint32_t fanouts[BARE_LAYERS] = WALK_FANOUTS;

int walk_init(struct walk *walk, const struct biggraph *graph, uint64_t seed, struct error *error)
{
    uint64_t num_nodes = graph->node.num_nodes;
    *walk = (struct walk){ .graph = graph, .seed = seed,
                           .epoch_seeds = num_nodes - num_nodes % WALK_SEEDS };
    if (walk->epoch_seeds == 0)
        return error_set(error, TR_ERANGE, "--scale: the graph has %llu nodes, a batch needs %u",
                         (unsigned long long)num_nodes, WALK_SEEDS);
    uint64_t nodes_max = num_nodes < BARE_NODES_MAX ? num_nodes : BARE_NODES_MAX;
    walk->rows_bytes = (size_t)nodes_max * BIGGRAPH_FEATURES * sizeof *walk->rows;
    int rv = bare_init(&walk->bare, WALK_SEEDS, fanouts);
    walk->rows = hotmem_alloc(walk->rows_bytes);
    if (rv != 0 || walk->rows == NULL) {
        walk_fini(walk);
        return error_set(error, TR_ENOMEM, "the bare loop: out of memory");
    }
    return 0;
}

void walk_fini(struct walk *walk)
{
    bare_fini(&walk->bare);
    hotmem_free(walk->rows, walk->rows_bytes);
    walk->rows = NULL;
}

void walk_deal(struct walk *walk, uint64_t batch)
{
    uint64_t num_nodes = walk->graph->node.num_nodes;
    for (uint32_t i = 0; i < WALK_SEEDS; i++) {
        uint64_t at = (batch * WALK_SEEDS + i) % walk->epoch_seeds;
        walk->seeds[i] = (uint32_t)(at * STRIDE % num_nodes);
    }
}

uint64_t walk_bare(struct walk *walk, uint64_t first, uint64_t count, int rows)
{
    const struct biggraph *graph = walk->graph;
    uint64_t edges = 0;
    for (uint64_t batch = first; batch < first + count; batch++) {
        walk_deal(walk, batch);
        edges += bare_sample(&walk->bare, &graph->edge.csc, walk->seeds, WALK_SEEDS, fanouts,
                             key_mix(walk->seed + batch));
        if (!rows)
            continue;
        bare_gather((char *)walk->rows, (const char *)graph->rows,
                    BIGGRAPH_FEATURES * sizeof(float), walk->bare.nodes, walk->bare.num_nodes);
        bare_gather((char *)walk->labels, (const char *)graph->labels, sizeof(int64_t),
                    walk->seeds, WALK_SEEDS);
    }
    return edges;
}
