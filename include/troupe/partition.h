/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitioning: a task that makes a directory of partitions of a raw graph.
 *
 * The directory, with its book DIR/NAME.json (troupe/book.h), appears whole, or not at all. METIS
 * runs in a process of its own, the program troupe-metis.
 *
 * Ownership: texts in the options are copied. Thread rules: any thread; see troupe/task.h.
 */
#ifndef TROUPE_PARTITION_H
#define TROUPE_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Partitions are owned by processes and addressed in messages; far above any cluster in use. */
#define TR_PARTS_MAX 65536
/* Lists of halos beyond this would list the whole graph in every partition. */
#define TR_HALO_HOPS_MAX 8
/* Classes of nodes that METIS balances at once; each costs quality. */
#define TR_BALANCE_CLASSES_MAX 16

struct tr_partition_options {
    size_t size;
    const char *raw; /* what to partition, as tr_raw_open() reads it */
    const char *out; /* the directory to make */
    bool replace;    /* a directory of partitions that is there, or an empty one; else TR_EEXIST */
    uint32_t num_parts;
    uint32_t halo_hops; /* list neighbours up to so many hops away */
    const char *name;   /* of the graph and its book; NULL: the raw graph's */
    /* "metis", "random", or a file with a partition for each node. */
    const char *method;
    bool minimise_volume; /* METIS minimises the volume of communication, not the edges cut */
    bool balance_edges;   /* METIS shares out the edges evenly too */
    /* Node tables (masks or integers) whose values part nodes into classes to balance. */
    const char *const *balance_tables; /* [num_balance_tables] */
    uint32_t num_balance_tables;
    uint32_t trainers;      /* of the whole job, to whom training nodes are dealt; 0: no deal */
    const char *train_mask; /* the nodes to deal; NULL: "train_mask" */
    uint64_t seed;          /* what random choices follow from */
    bool drop_edge_ids;     /* do not store original edge IDs: 8 bytes an edge less */
    bool out_edges;         /* store out-edges with their sources too: 12 bytes an edge more */
    uint32_t threads;       /* 0: one a processor */
    /* How an edge list is read, as in struct tr_raw_options. */
    bool undirected;
    char delimiter;
    uint64_t num_nodes;
};
/* Fills it with the defaults: METIS, and neighbours one hop away are listed. */
#define tr_partition_options_init(options) \
    tr_partition_options_init_sized((options), sizeof *(options))
TR_API void tr_partition_options_init_sized(struct tr_partition_options *options, size_t size);

struct tr_partition_report {
    size_t size;
    uint64_t num_nodes;
    uint64_t num_edges;
    uint64_t cut_edges; /* whose source another partition owns */
    double cut_share;
    double node_balance; /* the largest partition over the mean; 1 is even */
    double edge_balance;
    double train_balance; /* of training nodes; 0: there are none */
    uint64_t halo_nodes;  /* of the first hop, summed over partitions */
    double halo_share;    /* of the nodes that partitions see, owned and halo */
    uint32_t num_classes; /* of balance_tables */
    double class_balance[TR_BALANCE_CLASSES_MAX];
    int64_t metis_objective;   /* its cut or volume, of the symmetric graph */
    double metis_seconds;      /* 0: it was not asked */
    uint64_t metis_peak_bytes; /* of its process */
    double total_seconds;
    uint64_t peak_bytes;   /* resident, of this process so far */
    uint64_t header_line;  /* of an edge list, which was skipped as a header; 0: none was */
    uint64_t header_files; /* texts of a chunked graph whose first line was skipped as a header */
    /* Why METIS, which is the method, was not asked, of static storage; NULL: it was. */
    const char *metis_unasked;
    /* NAME.json, which trainings and inferences take; until the task is closed. */
    const char *book;
    /* Nodes in the halo lists that the files hold, summed over partitions: [h] of the hop h + 1, 0
     * beyond halo_hops of the options. A node is in the list of the first hop that reaches it. */
    uint64_t hop_halo_nodes[TR_HALO_HOPS_MAX];
    uint64_t listed_halo_nodes; /* of all those hops */
    uint64_t listed_halo_max;   /* of the partition that lists most */
};
#define TR_PARTITION_REPORT_INIT                                                                   \
    {                                                                                              \
        sizeof(struct tr_partition_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0, 0, 0, \
            0, NULL, NULL, { 0 }, 0, 0                                                             \
    }

/* TR_EINVAL and TR_ERANGE name an option, here or as the task's outcome; that may also be a failure
 * of tr_raw_open(), TR_EEXIST, TR_EIO, TR_ENOSPC, TR_ECHILD (METIS) or TR_ECANCELED, and then
 * nothing is left behind. *out is NULL after a failure. */
TR_API int tr_partition_start(const struct tr_partition_options *options, struct tr_task **out,
                              struct tr_error *error);

/* The report of a task that has succeeded; else it fails as tr_task_wait() does without waiting.
 * TR_EINVAL: the task is of another kind than partitioning. */
TR_API int tr_partition_result(struct tr_task *task, struct tr_partition_report *report,
                               struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
