/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bare loops that Troupe's kernels are measured against: what one thread can do with the same
 * tables, the same huge pages and the same kind of random numbers, and nothing around it: no
 * types, no rows of other partitions, no checks, no order of neighbours, one fixed graph.
 *
 * Bare sampling draws k positions of each row without replacement (the first of distinct
 * splitmix64 draws, by rejection and a scan, in the order drawn), fetches the columns in
 * prefetched blocks and relabels through a table of the batch's size. Its draws are plainer than
 * Troupe's (a multiply, no rejection of the bias), which favours the reference.
 *
 * Thread rules: one thread at a time for each struct reference_loops.
 */
#ifndef BENCH_REFERENCE_LOOPS_H
#define BENCH_REFERENCE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "graph/part.h"

#define REFERENCE_LAYERS 3
#define REFERENCE_FANOUT_MAX 16
#define REFERENCE_SLOTS ((size_t)1 << 21)
#define REFERENCE_NODES_MAX (REFERENCE_SLOTS / 2)

struct reference_loops {
    uint64_t *slots;   /* [REFERENCE_SLOTS] ID in the low half, stamped position in the high one */
    uint32_t *nodes;   /* [REFERENCE_NODES_MAX] */
    uint32_t *columns; /* of one hop */
    uint32_t *sources; /* of all hops */
    uint32_t *counts;  /* of all hops */
    size_t edges_max;
    uint32_t num_nodes;
    uint32_t stamp;
};

/* For batches of num_seeds seeds and the fanouts of a hop, seeds first, each <
 * REFERENCE_FANOUT_MAX. */
int reference_loops_init(struct reference_loops *bare, uint32_t num_seeds,
                         const uint32_t fanouts[REFERENCE_LAYERS]);
void reference_loops_fini(struct reference_loops *bare);

/* Draws k < REFERENCE_FANOUT_MAX edges of each of n rows into columns [n * k], without relabelling;
 * counts [n]. Returns how many. */
uint64_t reference_loops_draw(const struct csc *csc, const uint32_t *rows, uint32_t n, uint32_t k,
                              uint64_t key, uint32_t *counts, uint32_t *columns);

/* One batch; returns its edges. The nodes are in bare->nodes. */
uint64_t reference_loops_sample(struct reference_loops *bare, const struct csc *csc,
                                const uint32_t *seeds, uint32_t num_seeds,
                                const uint32_t fanouts[REFERENCE_LAYERS], uint64_t key);

/* to[i] = from[rows[i]] by memcpy, some rows prefetched ahead. */
void reference_loops_gather(char *to, const char *from, size_t row_bytes, const uint32_t *rows,
                            size_t n);

#endif
