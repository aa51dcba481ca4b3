/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs on disk for benchmarks: made when they are not there yet, in the folder of the options, or
 * in a temporary one that goes with disk_close.
 *
 * Ownership: disk_close frees all; paths given out are the caller's to free. One thread at a time.
 */
#ifndef BENCH_DISK_H
#define BENCH_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/figure.h"
#include "runtime/base/parallel.h"

struct disk {
    char *folder;
    bool temporary;
    struct parallel *parallel; /* all cores, for partitioning and loading */
};

/* The choices that name a graph. */
struct disk_graph {
    bool blocks; /* a stochastic block model instead of the big graph's skew */
    uint64_t num_nodes;
    uint64_t num_edges;
    uint32_t features;
};

int disk_open(struct disk *disk, const struct bench_options *options, struct error *error);
void disk_close(struct disk *disk);

/* The big graph at a scale. */
struct disk_graph disk_big(double scale);

/* A raw graph: its folder. */
int disk_raw(struct disk *disk, const struct disk_graph *graph, char **path, struct error *error);

/* Where partitioning may write: a folder that is not there. */
int disk_spare(struct disk *disk, char **path, struct error *error);

/* The graph in so many partitions, at random: DIR/NAME.json. */
int disk_partition(struct disk *disk, const struct disk_graph *graph, uint32_t num_parts,
                   char **path, struct error *error);

/* Ends its threads: nothing more is made, and other processes can be started. */
void disk_rest(struct disk *disk);

#endif
