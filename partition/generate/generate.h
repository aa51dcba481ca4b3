/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of any size from a seed, written as a raw folder while they are drawn.
 *
 * Every edge, label and feature is a function of (options, its number) alone, so the same options
 * give the same bytes on every machine, and memory is independent of the size.
 *
 *  generate_rmat  recursive matrix (Chakrabarti, Zhan, Faloutsos: "R-MAT", SDM 2004), node IDs
 *                 scattered so that an ID says nothing about the degree.
 *  generate_sbm   stochastic block model: num_classes blocks of equal size; edge 2i + 1 is the
 *                 reverse of edge 2i; `inside` of them stay within a block.
 *  generate_skew  destination N·u², source N·u² scattered (u uniform): in-degrees and popularity
 *                 as skewed as those of a shop's co-purchases.
 *
 * All write "label" (int64; the block, or a uniform class), "feat" (float32; the class's centroid
 * plus noise) and "train_mask", "val_mask", "test_mask" (uint8; 50, 25, 25 %). num_features 0
 * leaves out "feat", num_classes 0 the labels and the masks.
 */
#ifndef PARTITION_GENERATE_GENERATE_H
#define PARTITION_GENERATE_GENERATE_H

#include <stdint.h>

#include "partition/raw/raw_write.h"

/* Above, edge and node numbers would not survive a signed 64-bit file, nor any disk. */
#define GENERATE_NODES_MAX ((uint64_t)1 << 40)
#define GENERATE_EDGES_MAX ((uint64_t)1 << 44)
#define GENERATE_FEATURES_MAX 65536
#define GENERATE_CLASSES_MAX 65536

struct generate_options {
    uint64_t num_nodes;
    uint64_t num_edges;
    uint32_t num_features;
    uint32_t num_classes;
    uint64_t seed;
    double a, b, c, d; /* R-MAT quadrants, sum 1; all 0 = 0.57, 0.19, 0.19, 0.05 */
    double inside;     /* SBM: share of edges inside blocks, 0..1; negative = 0.8 */
    double signal;     /* distance of centroids in units of the noise; 0 = 0.5 */
};

/* GENERATE_DEFAULTS, then set sizes and seed. */
#define GENERATE_DEFAULTS \
    {                     \
        .inside = -1      \
    }

/* write may be NULL. The graph is named after the kind. */
int generate_rmat(const char *path, const struct generate_options *options,
                  const struct raw_write_options *write, struct error *error);
int generate_sbm(const char *path, const struct generate_options *options,
                 const struct raw_write_options *write, struct error *error);
int generate_skew(const char *path, const struct generate_options *options,
                  const struct raw_write_options *write, struct error *error);

#endif
