/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitioning: a raw graph in, a partition directory out.
 *
 * Edges are read as streams and scattered into one array of 8 bytes an edge; features pass
 * through in blocks. The directory is written aside and appears whole, or not at all.
 *
 * Ownership: everything is borrowed for the call. Thread rules: call on one thread; the loops
 * run on the given parallel, one piece at a time reads the raw graph. METIS runs in a child
 * process.
 */
#ifndef PARTITION_BUILD_PARTITION_H
#define PARTITION_BUILD_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "partition/raw/raw.h"
#include "partition/store/book.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"
#include "runtime/base/files.h"
#include "runtime/base/parallel.h"

enum partition_method { PARTITION_RANDOM, PARTITION_METIS, PARTITION_FILE };

/* Constraints that METIS balances at once; each costs quality, nobody uses as many. */
#define PARTITION_CLASSES_MAX 16
#define PARTITION_TRAIN_MASK "train_mask"
#define PARTITION_TRAINER_ID "trainer_id"

struct partition_options {
    const char *name; /* of the graph and NAME.json; NULL: the raw graph's */
    enum partition_method method;
    const char *assignment; /* PARTITION_FILE: a .npy, a text file, or a folder of TYPE.txt */
    uint32_t num_parts;
    uint64_t seed;
    uint32_t halo_hops;
    uint32_t trainers;      /* of the whole job, among whom nodes are dealt; 0: none are named */
    const char *train_mask; /* the nodes that are dealt; NULL: PARTITION_TRAIN_MASK */
    bool volume;            /* METIS: minimise communication volume, not the edge cut */
    /* Node tables (masks or integers) whose values part nodes into classes to balance. */
    const char *const *balance_tables;
    uint32_t num_balance_tables;
    bool balance_edges;
    bool out_edges;       /* store out-edges too, with their sources: 12 bytes an edge on disk */
    bool drop_edge_ids;   /* do not store original edge IDs: 8 bytes an edge on disk */
    bool replace;         /* a partition directory that is there, or an empty one */
    uint64_t columns_max; /* node types this large get column tables; 0: 2^32 */
    struct files *files;  /* NULL: the system's */
};

/* The watchers of a run. Both may be NULL; called on the calling thread, between pieces. */
struct partition_hooks {
    /* Of so many of what unit says, "edges" or nothing; the texts are constant, but for names of
     * tables. */
    void (*progress)(void *arg, const char *stage, const char *unit, uint64_t done, uint64_t total);
    void *arg;
    const struct cancel *cancel;
};

struct partition_report {
    uint64_t num_nodes;
    uint64_t num_edges;
    uint64_t cut_edges; /* whose source another partition owns */
    double cut_share;
    double node_balance; /* largest partition over the mean, 1 is even */
    double edge_balance;
    double train_balance; /* of nodes in the train mask; 0 where there are none */
    uint32_t num_classes; /* of balance_tables */
    double class_balance[PARTITION_CLASSES_MAX];
    uint64_t halo_nodes;     /* first hop, summed over partitions */
    double halo_share;       /* of the nodes that partitions see (owned and halo) */
    int64_t metis_objective; /* METIS's cut or volume, of the symmetric graph */
    double metis_seconds;    /* METIS alone, 0 where it was not called */
    double total_seconds;
    uint64_t peak_bytes; /* resident, of this process; METIS's child apart */
    uint64_t metis_peak_bytes;
    /* In the lists that are written, summed over partitions: [h] of the hop h + 1. */
    uint64_t hop_halo_nodes[BOOK_HALO_HOPS_MAX];
    uint64_t listed_halo_nodes; /* of all hops */
    uint64_t listed_halo_max;   /* of the partition that lists most */
    const char *metis_unasked;  /* why, where it is the method; static. NULL: it was asked */
};

int partition_graph(struct raw_graph *raw, const struct partition_options *options,
                    const char *out_dir, struct parallel *parallel,
                    const struct partition_hooks *hooks, struct partition_report *report,
                    struct error *error);

#endif
