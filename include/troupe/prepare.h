/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a raw graph may lack before a model is trained on it: tasks that add tables to a folder that
 * tr_import_*_start() or tr_generate_start() made, in its place.
 *
 * All tables of a task are in the graph at once, or none is. One task at a time adds to a folder.
 * The same options give the same bytes on every machine.
 *
 * Ownership: texts in the options are copied. Thread rules: any thread; see troupe/task.h.
 */
#ifndef TROUPE_PREPARE_H
#define TROUPE_PREPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The sum of the shares of a split. */
#define TR_SPLIT_WHOLE 1000000

/* Which edges of a split are the two ways of one: the same set has both. */
enum tr_split_pairs {
    TR_SPLIT_PAIRS_NONE = 0,
    /* The i-th of the first half of the edges, and the i-th of the second. */
    TR_SPLIT_PAIRS_HALVES = 1,
    /* Two with swapped ends that follow one another, as --undirected of `troupe import` leaves
     * them. */
    TR_SPLIT_PAIRS_ADJACENT = 2
};

/* Masks "train_mask", "val_mask" and "test_mask" (uint8): each node, or each edge, is in one of the
 * sets. Types of as many edges are split alike by one seed, so that an edge and that of the same ID
 * in a type of reverses are in the same sets. */
struct tr_split_options {
    size_t size;
    const char *raw;    /* the folder */
    const char *ntype;  /* whose nodes are split; NULL: the only type */
    const char *labels; /* by_class: the table of classes; NULL: "label", or "labels" */
    uint32_t train_share, validation_share, test_share; /* of TR_SPLIT_WHOLE */
    /* Each class is split by itself, so that all sets have the same shares of it. A node without a
     * label (a negative number, or NaN) is in no set then. */
    bool by_class;
    bool replace; /* masks that are there; else TR_EEXIST */
    uint64_t seed;
    const char *etype; /* edges: of which type, "source:edge:destination"; NULL: the only one */
    enum tr_split_pairs pairs; /* edges */
    bool edges;                /* edges are split in the place of nodes */
    unsigned char reserved[3];
};
/* Fills it with the defaults: 60, 20 and 20 per cent. */
#define tr_split_options_init(options) tr_split_options_init_sized((options), sizeof *(options))
TR_API void tr_split_options_init_sized(struct tr_split_options *options, size_t size);

/* TR_EINVAL names an option, here or as the task's outcome; that may also be TR_ENOENT (no such
 * folder, type or table), TR_EUNSUPPORTED (a raw graph of another form, labels that are no classes),
 * TR_ERANGE, TR_EEXIST (there are masks, or another process adds to the folder), a failure of
 * tr_raw_open(), TR_EIO, TR_ENOSPC or TR_ECANCELED, and then the graph is as it was. *out is NULL
 * after a failure. */
TR_API int tr_split_start(const struct tr_split_options *options, struct tr_task **out,
                          struct tr_error *error);

struct tr_split_report {
    size_t size;
    uint32_t ntype;       /* its number, as tr_raw_ntype() takes it */
    uint32_t num_classes; /* by_class: with a node */
    uint64_t num_nodes;   /* of the type */
    uint64_t num_train, num_validation, num_test;
    uint64_t num_unlabelled;    /* by_class: in no set */
    uint64_t num_without_train; /* by_class: classes without a training node */
    uint64_t num_edges;         /* of the type whose edges were split, and then no nodes; else 0 */
    uint64_t num_single;        /* pairs: edges that are not where their reverse would be */
    uint32_t etype;             /* its number, as tr_raw_etype() takes it */
    unsigned char reserved[4];
};
#define TR_SPLIT_REPORT_INIT                                                \
    {                                                                       \
        sizeof(struct tr_split_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "" \
    }

/* The report of a task that has succeeded; else it fails as tr_task_wait() does without waiting.
 * TR_EINVAL: the task is of another kind than split. */
TR_API int tr_split_result(struct tr_task *task, struct tr_split_report *report,
                           struct tr_error *error);

enum tr_feature_kind {
    TR_FEATURE_DEGREE = 0,  /* two float32: ln(1 + in-degree), ln(1 + out-degree), of all edges */
    TR_FEATURE_ONE_HOT = 1, /* a uint8 for each node of the type, 1 in the node's own column */
    TR_FEATURE_RANDOM = 2,  /* float32, uniform with mean 0 and variance 1 */
    /* One float32, ln(1 + N p), where p is the node's PageRank among the N nodes of all types: a
     * walk along the edges that jumps to any node with 0.15, found until the ranks change by less
     * than 1e-8 in the sum. */
    TR_FEATURE_PAGERANK = 3
};

/* Nodes of the largest type that one-hot features are made for: 256 MiB of them. */
#define TR_FEATURE_ONE_HOT_MAX 16384
/* Columns of random features. */
#define TR_FEATURE_WIDTH_MAX (1u << 20)

/* Features of the nodes of a type, from the edges or from a seed. */
struct tr_feature_options {
    size_t size;
    const char *raw;   /* the folder */
    const char *ntype; /* whose nodes get them; NULL: the only type */
    const char *name;  /* of the table; NULL: "feat" */
    enum tr_feature_kind kind;
    uint32_t width; /* TR_FEATURE_RANDOM: columns */
    uint64_t seed;  /* TR_FEATURE_RANDOM */
    bool replace;   /* a table of that name that is there; else TR_EEXIST */
    unsigned char reserved[7];
};
#define TR_FEATURE_OPTIONS_INIT                                                                 \
    {                                                                                           \
        sizeof(struct tr_feature_options), NULL, NULL, NULL, TR_FEATURE_DEGREE, 0, 0, false, "" \
    }

/* As tr_split_start(); TR_ETOOBIG: there are more nodes than one-hot features are made for. */
TR_API int tr_feature_start(const struct tr_feature_options *options, struct tr_task **out,
                            struct tr_error *error);

struct tr_feature_report {
    size_t size;
    uint32_t ntype;  /* its number, as tr_raw_ntype() takes it */
    uint32_t rounds; /* of PageRank's walk */
    uint64_t num_nodes;
    uint64_t width;
};
#define TR_FEATURE_REPORT_INIT                       \
    {                                                \
        sizeof(struct tr_feature_report), 0, 0, 0, 0 \
    }

/* The report of a task that has succeeded; else it fails as tr_task_wait() does without waiting.
 * TR_EINVAL: the task makes no features. */
TR_API int tr_feature_result(struct tr_task *task, struct tr_feature_report *report,
                             struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
