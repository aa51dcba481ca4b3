/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features for the nodes of a raw graph that has none, from its edges or from a seed.
 *
 *  FEATURE_DEGREE    two float32: ln(1 + in-degree) and ln(1 + out-degree), over all edge types.
 *  FEATURE_ONE_HOT   a uint8 for each node of the type, 1 in the node's own column.
 *  FEATURE_RANDOM    float32, uniform with mean 0 and variance 1, from (seed, node, column).
 *  FEATURE_PAGERANK  one float32: ln(1 + N * p), where p is the node's PageRank (Page, Brin,
 *                    Motwani, Winograd: "The PageRank Citation Ranking", 1999) among the N nodes of
 *                    all types, so that a node of mean rank has ln 2.
 *
 * PageRank is found by power iteration in doubles, with a damping of 0.85 and the rank of nodes
 * without out-edges shared out among all, until the ranks of all nodes change by less than
 * FEATURE_TOLERANCE in the sum. Each round shrinks the change to 0.85 of it at most, so their number
 * has a bound. The edges are added in their original order, and nothing but IEEE + - * / is used:
 * all kinds have the same bits on every machine.
 *
 * Memory: a degree needs 8 bytes a node of the type, PageRank 24 bytes a node of any type, the
 * others none that grows with the graph. Edges are read as a stream, by PageRank once a round.
 *
 * Thread rules: one thread a raw graph.
 */
#ifndef PARTITION_PREPARE_FEATURE_H
#define PARTITION_PREPARE_FEATURE_H

#include "partition/raw/raw.h"

/* Rows of as many columns as there are nodes: 256 MiB here, and four times that for twice as many
 * nodes. A random feature says as much in a fraction of it. */
#define FEATURE_ONE_HOT_MAX 16384u
/* As wide as a model's inputs may be. */
#define FEATURE_WIDTH_MAX (1u << 20)
/* Features are float32, whose own step is larger than this share of a rank. */
#define FEATURE_TOLERANCE 1e-8
/* 2 * 0.85^118 is below the tolerance, and 2 is the largest change there is; rounding may cost a few
 * more. */
#define FEATURE_ROUNDS_MAX 130u

enum feature_kind { FEATURE_DEGREE, FEATURE_ONE_HOT, FEATURE_RANDOM, FEATURE_PAGERANK };

struct feature_options {
    enum feature_kind kind;
    const char *ntype; /* NULL: the only one */
    const char *name;  /* of the table; NULL: "feat" */
    uint32_t width;    /* of FEATURE_RANDOM */
    bool replace;      /* a table that is there, else TR_EEXIST */
    uint64_t seed;
    struct files *files;         /* NULL = files_posix */
    const struct cancel *cancel; /* asked between pieces */
    /* Of so many of what unit says, "nodes" or "edges", and both texts are constant; or NULL. */
    void (*progress)(void *arg, const char *phase, const char *unit, uint64_t done, uint64_t total);
    void *progress_arg;
};

struct feature_report {
    uint32_t ntype;
    uint32_t rounds; /* of PageRank */
    uint64_t num_nodes;
    uint64_t width;
};

/* ln(1 + x) for x >= 0, by IEEE + - * / alone. */
double feature_log(double x);

/* Adds the table to the folder at path. TR_EINVAL, TR_ENOENT and TR_ETOOBIG name an option. */
int feature_add(const char *path, const struct feature_options *options,
                struct feature_report *report, struct error *error);

#endif
