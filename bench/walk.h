/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk that sampling is measured with: three hops from 1024 seeds of a homogeneous partition,
 * and the bare loop that does it, with its memory. Sampling benchmarks share it as their reference.
 *
 * Seeds of batch b are the nodes that a keyed bijection puts at b * 1024 ...: each node once an
 * epoch, scattered, as a shuffled loader takes them.
 *
 * Ownership: the struct borrows the partition and owns the rest. One thread at a time.
 */
#ifndef BENCH_WALK_H
#define BENCH_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "bench/reference_loops.h"
#include "runtime/base/error.h"

#define WALK_SEEDS 1024u
#define WALK_FANOUTS \
    {                \
        15, 10, 5    \
    } /* of hops, seeds first */

/* Batches of one measurement: a second of the big graph, more or less. */
#define WALK_BATCHES 24u

struct walk {
    const struct graph_part *part;
    struct reference_loops bare;
    uint64_t seed;
    uint64_t num_nodes;
    uint64_t epoch_seeds; /* of whole batches */
    uint32_t seeds[WALK_SEEDS];
    const struct feature_table *features; /* "feat" and "label" of the nodes; may be NULL */
    const struct feature_table *labels;
    void *rows; /* gathered by the bare loop */
    size_t rows_bytes;
    int64_t seed_labels[WALK_SEEDS];
};

int walk_init(struct walk *walk, const struct graph_part *part, uint64_t seed, struct error *error);
void walk_fini(struct walk *walk);

/* Fills walk->seeds with those of a batch. */
void walk_deal(struct walk *walk, uint64_t batch);

/* Bare batches [first, first + count): the edges sampled. With rows, features and labels are
 * gathered as well. */
uint64_t walk_reference(struct walk *walk, uint64_t first, uint64_t count, int rows);

#endif
