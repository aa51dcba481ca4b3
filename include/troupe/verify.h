/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifying: a task that proves that a directory of partitions holds exactly the graph that it was
 * made of, that its files are those that were written, or that checkpoints are whole.
 *
 * Ownership: texts in the options are copied. Thread rules: any thread; see troupe/task.h.
 */
#ifndef TROUPE_VERIFY_H
#define TROUPE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tr_verify_kind {
    TR_VERIFY_GRAPH = 0,      /* partitions against their raw graph */
    TR_VERIFY_FILES = 1,      /* partitions against their checksums */
    TR_VERIFY_CHECKPOINTS = 2 /* checkpoints against their manifests */
};

struct tr_verify_options {
    size_t size;
    const char *path; /* DIR/NAME.json of partitions; else a checkpoint or a folder of them */
    const char *raw;  /* the graph that the partitions were made of; NULL: checksums are compared */
    bool some;        /* partitions or parts that are not here are on other hosts; not with raw */
    uint32_t threads; /* that sum files; 0: 4, which is as fast as files come */
    /* How raw was read, where it is an edge list: as in struct tr_partition_options. */
    bool undirected;
    char delimiter;
    uint64_t num_nodes;
};
#define TR_VERIFY_OPTIONS_INIT                                              \
    {                                                                       \
        sizeof(struct tr_verify_options), NULL, NULL, false, 0, false, 0, 0 \
    }

/* Counts of what was found to be as it must be; those of other kinds are 0. */
struct tr_verify_report {
    size_t size;
    enum tr_verify_kind kind;
    uint32_t elsewhere; /* partitions or parts that are not here */
    uint64_t num_nodes; /* TR_VERIFY_GRAPH: that were compared, and so on */
    uint64_t num_edges;
    uint64_t num_rows;  /* of features, byte by byte */
    uint64_t num_halos; /* entries of lists of halos */
    double seconds;
    uint64_t num_files;       /* TR_VERIFY_FILES */
    uint64_t bytes;           /* read, of files or checkpoints */
    uint64_t num_checkpoints; /* TR_VERIFY_CHECKPOINTS */
    uint64_t num_parts;
    uint32_t unfinished; /* folders without a manifest, which are no checkpoints */
    unsigned char reserved[4];
};
#define TR_VERIFY_REPORT_INIT                                                                 \
    {                                                                                         \
        sizeof(struct tr_verify_report), TR_VERIFY_GRAPH, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "" \
    }

/* TR_EINVAL names an option. The task's outcome is TR_EMISMATCH or TR_EFORMAT with the first
 * difference: file, position and values; TR_ENOENT: what is named is not here, or has no checksums;
 * TR_EIO or TR_ECANCELED. *out is NULL after a failure. */
TR_API int tr_verify_start(const struct tr_verify_options *options, struct tr_task **out,
                           struct tr_error *error);

/* The report of a task that has succeeded; else it fails as tr_task_wait() does without waiting.
 * TR_EINVAL: the task is of another kind than verifying. */
TR_API int tr_verify_result(struct tr_task *task, struct tr_verify_report *report,
                            struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
