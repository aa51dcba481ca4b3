/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw graphs of any size from a seed: a task that writes a folder in DGL's chunked format.
 *
 * Every edge, label and feature follows from the options alone, so the same options give the same
 * bytes on every machine; memory does not grow with the graph. All kinds write "label" (int64),
 * "feat" (float32: the class's centroid and noise) and "train_mask", "val_mask", "test_mask"
 * (uint8; 50, 25 and 25 %).
 *
 * Ownership: texts in the options are copied. Thread rules: any thread; see troupe/task.h.
 */
#ifndef TROUPE_GENERATE_H
#define TROUPE_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More would not survive a signed 64-bit file, nor any disk. */
#define TR_GENERATE_NODES_MAX ((uint64_t)1 << 40)
#define TR_GENERATE_EDGES_MAX ((uint64_t)1 << 44)
#define TR_GENERATE_FEATURES_MAX 65536
#define TR_GENERATE_CLASSES_MAX 65536

enum tr_generate_kind {
    TR_GENERATE_SKEW = 0, /* degrees as skewed as those of a shop's co-purchases */
    TR_GENERATE_RMAT = 1, /* a recursive matrix (Chakrabarti, Zhan, Faloutsos, 2004) */
    TR_GENERATE_SBM = 2   /* a stochastic block model: labels that the edges show */
};

struct tr_generate_options {
    size_t size;
    const char *out; /* the folder to make; it appears whole, or not at all */
    enum tr_generate_kind kind;
    bool replace; /* a raw graph that is there, or an empty folder; else TR_EEXIST */
    uint64_t num_nodes;
    uint64_t num_edges;
    uint32_t num_features; /* of a node; 0: no "feat" */
    uint32_t num_classes;  /* 0: no labels and no masks */
    uint64_t seed;
    double signal; /* how far classes are apart in the features, in units of the noise; 0: 0.5 */
    double inside; /* TR_GENERATE_SBM: the share of edges inside blocks, 0 .. 1 */
    double quadrants[4]; /* TR_GENERATE_RMAT: probabilities of a, b, c, d; their sum is 1 */
};
/* Fills it with the defaults: 16 features, 8 classes, a signal of 0.5, 0.8 of the edges inside
 * blocks, and quadrants of 0.57, 0.19, 0.19 and 0.05. */
#define tr_generate_options_init(options) \
    tr_generate_options_init_sized((options), sizeof *(options))
TR_API void tr_generate_options_init_sized(struct tr_generate_options *options, size_t size);

/* TR_EINVAL and TR_ERANGE name an option, here or as the task's outcome; that may also be
 * TR_EEXIST, TR_EIO, TR_ENOSPC or TR_ECANCELED, and then nothing is left behind. *out is NULL after
 * a failure. */
TR_API int tr_generate_start(const struct tr_generate_options *options, struct tr_task **out,
                             struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
