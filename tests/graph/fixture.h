/*
 * A random heterogeneous graph in one or more partitions, for tests: the partitioning changes
 * the global IDs, never the original ones nor the order of a node's in-edges.
 *
 * Node types a, b and c (which has no nodes); edge types a:self:a (with self-loops and parallel
 * edges), a:to:b, b:to:a, c:to:a and b:none:b without edges. Some nodes have no in-edges.
 */
#ifndef TESTS_GRAPH_FIXTURE_H
#define TESTS_GRAPH_FIXTURE_H

#include <stdint.h>

#include "graph/arena.h"
#include "graph/batch.h"
#include "graph/builder.h"
#include "graph/part.h"

#define FIXTURE_PARTS_MAX 5
#define FIXTURE_NTYPES 3
#define FIXTURE_ETYPES 5
#define FIXTURE_NODES_MAX 300

struct fixture {
    struct graph_types types;
    uint32_t num_parts;
    uint64_t num_nodes[FIXTURE_NTYPES];
    uint64_t begins[FIXTURE_NTYPES][FIXTURE_PARTS_MAX + 1];       /* extents of global IDs */
    uint64_t global[FIXTURE_NTYPES][FIXTURE_NODES_MAX];           /* by original ID */
    uint64_t original[FIXTURE_NTYPES][FIXTURE_NODES_MAX];         /* by global ID */
    uint32_t degree[FIXTURE_ETYPES][FIXTURE_NODES_MAX];           /* by original destination */
    uint32_t *neighbours[FIXTURE_ETYPES][FIXTURE_NODES_MAX];      /* original sources, in order */
    struct csc csc[FIXTURE_PARTS_MAX][FIXTURE_ETYPES];
};

void fixture_init(struct fixture *fixture, uint64_t seed, uint32_t num_parts);
void fixture_fini(struct fixture *fixture);

struct fixture_plan {
    uint64_t seed;
    uint32_t num_layers;
    uint32_t fanouts[BATCH_LAYERS_MAX]; /* [hop], seeds first */
    bool replace;
    uint32_t num_seeds[FIXTURE_NTYPES]; /* the first of a keyed order of all nodes */
};

uint64_t fixture_base(const struct fixture_plan *plan, uint32_t hop, uint32_t etype);

/* Original IDs of the seeds of a type. */
void fixture_seeds(const struct fixture *fixture, const struct fixture_plan *plan, uint32_t ntype,
                   uint64_t *ids);

/* Builds the batch of a plan through shards of every partition; original_ids are filled. */
int fixture_batch(const struct fixture *fixture, const struct fixture_plan *plan,
                  struct batch_builder *builder, struct batch_arena *arena,
                  struct mini_batch *batch);

#endif
