/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training, validation and test masks for the nodes, or the edges, of a raw graph.
 *
 * Which set a node is in follows from the seed, the node's original ID and the counts alone, so the
 * same options give the same masks on every machine: the nodes are put into a keyed order
 * (graph/bijection.h), whose beginning is trained on, and so on. By class each class has an order of
 * its own. Sizes are exact: a share is rounded down, and the nodes that are left go to the sets with
 * the largest remainders, to the first of equals.
 *
 * Edges are split in the same way, by their original IDs; an edge and its reverse are one where the
 * options pair them. The type's name and number do not count: two types of as many edges are split
 * alike, so that edges of equal IDs stay together.
 *
 * Memory is independent of the number of nodes; it grows with the largest class.
 *
 * Thread rules: one thread a raw graph.
 */
#ifndef PARTITION_PREPARE_MASK_SPLIT_H
#define PARTITION_PREPARE_MASK_SPLIT_H

#include "partition/raw/raw.h"

/* A share of all nodes is 1,000,000: shares of a ten-thousandth of a per cent are exact. */
#define MASK_SPLIT_WHOLE 1000000u
/* As many classes as a model may have; more are no classes. */
#define MASK_SPLIT_CLASSES_MAX (1u << 20)

enum mask_set { MASK_TRAIN, MASK_VALIDATION, MASK_TEST, MASK_SETS };

/* Which edges are the two ways of one, which one set has. */
enum mask_pairs {
    MASK_PAIRS_NONE,
    MASK_PAIRS_HALVES,   /* of the first half of IDs, and of the second */
    MASK_PAIRS_ADJACENT, /* that follow each other with swapped ends */
};

struct mask_split_options {
    bool edges;        /* of a type are split, in the place of nodes */
    const char *etype; /* NULL: the only one */
    enum mask_pairs pairs;
    const char *ntype;         /* NULL: the only one */
    const char *labels;        /* the table of classes; NULL: "label", or "labels" */
    uint32_t share[MASK_SETS]; /* of MASK_SPLIT_WHOLE, which is their sum */
    bool by_class;             /* nodes without a label are in no set then */
    bool replace;              /* masks that are there, else TR_EEXIST */
    uint64_t seed;
    struct files *files;         /* NULL = files_posix */
    const struct cancel *cancel; /* asked between pieces */
    /* Of so many of what unit says, "nodes" or "edges", and both texts are constant; or NULL. */
    void (*progress)(void *arg, const char *phase, const char *unit, uint64_t done, uint64_t total);
    void *progress_arg;
};

struct mask_split_report {
    uint32_t ntype;
    uint32_t etype;
    uint64_t num_edges; /* of it, and the sizes are of edges; 0 nodes then */
    /* Edges, self-loops aside, whose reverse is not where `pairs` says. Each of them is in a set by
     * itself (adjacent), or beside an edge that is not its reverse (halves). */
    uint64_t num_single;
    uint32_t num_classes; /* that have a node */
    uint64_t num_nodes;
    uint64_t size[MASK_SETS];
    uint64_t num_unlabelled;    /* in no set */
    uint32_t num_without_train; /* classes without a training node */
};

/* The sizes of the sets of n nodes, n below 2^40; their sum is n. */
void mask_split_sizes(uint64_t n, const uint32_t share[MASK_SETS], uint64_t size[MASK_SETS]);

/* Adds "train_mask", "val_mask" and "test_mask" (uint8) to the folder at path, all or none.
 * TR_EINVAL and TR_ENOENT name an option. */
int mask_split(const char *path, const struct mask_split_options *options,
               struct mask_split_report *report, struct error *error);

#endif
