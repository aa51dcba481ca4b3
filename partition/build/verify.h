/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof that a partition directory holds exactly the raw graph that it was made of.
 *
 * Every node is owned once and in order, every edge stands where it must, degrees, ranks,
 * rows, halo lists, trainers and deal are those that follow from the input. The directory is
 * mapped; the raw graph is streamed; memory is a few numbers a node, and 8 bytes an edge of
 * the types whose edges have rows.
 *
 * Thread rules: one thread, and those of parallel. TR_EMISMATCH names file, position and both
 * values of the first difference.
 */
#ifndef PARTITION_BUILD_VERIFY_H
#define PARTITION_BUILD_VERIFY_H

#include "partition/build/partition.h"

struct verify_report {
    uint64_t num_nodes;
    uint64_t num_edges;
    uint64_t num_rows;  /* of features, compared byte by byte */
    uint64_t num_halos; /* entries of halo lists */
    double seconds;
};

/* path: DIR/NAME.json. parallel: sums arrays for their checksums; NULL: the calling thread does. */
int verify_directory(const char *path, struct raw_graph *raw, struct parallel *parallel,
                     const struct partition_hooks *hooks, struct verify_report *report,
                     struct error *error);

#endif
