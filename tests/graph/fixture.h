/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random heterogeneous graph in one or more partitions, for tests: the partitioning changes
 * the global IDs, never the original ones nor the order of a node's in-edges.
 *
 * Node types a, b and c (which has no nodes); edge types a:self:a (with self-loops and parallel
 * edges), a:to:b, b:to:a, c:to:a and b:none:b without edges. Some nodes have no in-edges.
 */
#ifndef TESTS_GRAPH_FIXTURE_H
#define TESTS_GRAPH_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/batch_builder.h"
#include "graph/batch_space.h"
#include "graph/part.h"

#define FIXTURE_PARTS_MAX 5
#define FIXTURE_NTYPES 3
#define FIXTURE_ETYPES 5
#define FIXTURE_NODES_MAX 300

struct fixture {
    struct graph_types types;
    uint32_t num_parts;
    uint64_t num_nodes[FIXTURE_NTYPES];
    uint64_t num_edges[FIXTURE_ETYPES];
    uint64_t global[FIXTURE_NTYPES][FIXTURE_NODES_MAX];      /* by original ID */
    uint64_t original[FIXTURE_NTYPES][FIXTURE_NODES_MAX];    /* by global ID */
    uint32_t degree[FIXTURE_ETYPES][FIXTURE_NODES_MAX];      /* by original destination */
    uint32_t *neighbours[FIXTURE_ETYPES][FIXTURE_NODES_MAX]; /* original sources, in order */
    uint64_t columns[FIXTURE_NTYPES][FIXTURE_NODES_MAX];     /* column -> global ID, if wide */
    struct extent extents[FIXTURE_NTYPES][FIXTURE_PARTS_MAX];
    struct extent *extent_lists[FIXTURE_NTYPES];
    struct feature_table weights[FIXTURE_PARTS_MAX][FIXTURE_NTYPES];
    struct csr_rows sparse[FIXTURE_PARTS_MAX][FIXTURE_NTYPES]; /* of weights, in odd partitions */
    struct node_part nodes[FIXTURE_PARTS_MAX][FIXTURE_NTYPES];
    struct edge_part edges[FIXTURE_PARTS_MAX][FIXTURE_ETYPES];
    struct graph_part parts[FIXTURE_PARTS_MAX];
    struct graph_meta meta;
    struct batch_builder_graph graph; /* as a builder sees it */
};

/* wide: columns lead through a table, and IDs take 8 bytes. */
void fixture_init(struct fixture *fixture, uint64_t seed, uint32_t num_parts, bool wide);
void fixture_fini(struct fixture *fixture);

struct fixture_plan {
    uint64_t seed;
    uint32_t num_layers;
    int32_t fanouts[BATCH_LAYERS_MAX]; /* [hop], seeds first */
    bool replace;
    bool varied;  /* each edge type has a fanout and a way to draw of its own */
    bool repeats; /* every third seed is one that came before */
    uint32_t num_seeds[FIXTURE_NTYPES]; /* the first of a keyed order of all nodes */
};

/* The term by which an edge type draws in a hop. */
struct sample_term fixture_term(const struct fixture_plan *plan, uint32_t hop, uint32_t etype);

uint64_t fixture_base(const struct fixture_plan *plan, uint32_t hop, uint32_t etype);

/* Original IDs of the seeds of a type. */
void fixture_seeds(const struct fixture *fixture, const struct fixture_plan *plan, uint32_t ntype,
                   uint64_t *ids);

/* The weight that the node of that type and original ID has (its feature "weight"). */
static inline uint64_t fixture_weight(uint32_t ntype, uint64_t id)
{
    return id * 8 + ntype;
}

/*
 * Builds the batch of a plan. Partitions whose bit is set in `asked` are not read directly: their
 * answers come in pieces of a few rows. All tables and edge IDs are wanted.
 */
int fixture_batch(const struct fixture *fixture, const struct fixture_plan *plan, uint32_t asked,
                  struct batch_builder *builder, struct batch_builder_space *space,
                  struct batch_space *out);

#endif
