/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other people's graphs into a raw graph: tasks that write a folder in DGL's chunked format, which
 * appears whole, or not at all.
 *
 * Ownership: texts in the options are copied. Thread rules: any thread; see troupe/task.h.
 */
#ifndef TROUPE_IMPORT_H
#define TROUPE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/raw.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A graph that tr_raw_open() reads (troupe/raw.h): an edge list, a Matrix Market or METIS file, a
 * folder. */
struct tr_import_edges_options {
    size_t size;
    const char *path;
    const char *out;    /* the folder to make */
    bool replace;       /* a raw graph that is there, or an empty folder; else TR_EEXIST */
    bool undirected;    /* each line of an edge list also stands for its reverse */
    char delimiter;     /* between columns; 0: blanks, tabs, commas or semicolons */
    uint64_t num_nodes; /* of an edge list; 0: the largest ID and 1 */
    /* As in struct tr_raw_options. */
    const char *source;
    const char *target;
    uint64_t first_id;
    uint32_t loops;
    uint32_t duplicates;
};
#define TR_IMPORT_EDGES_OPTIONS_INIT                                                              \
    {                                                                                             \
        sizeof(struct tr_import_edges_options), NULL, NULL, false, false, 0, 0, NULL, NULL, 0, 0, \
            0                                                                                     \
    }

/* TR_EINVAL names an option. The task's outcome may be TR_ENOENT, TR_EIO, TR_EFORMAT or TR_ERANGE,
 * which name a file and its line or field, TR_EEXIST, TR_ENOSPC or TR_ECANCELED; then nothing is
 * left behind. *out is NULL after a failure. */
TR_API int tr_import_edges_start(const struct tr_import_edges_options *options,
                                 struct tr_task **out, struct tr_error *error);

struct tr_import_edges_report {
    size_t size;
    uint64_t header_line; /* of the text, which was skipped as a header; 0: none was */
    /* These are for text alone, and 0 or NULL for other files. Columns count from 1. */
    /* Printable UTF-8, with '?' for other bytes of the header; NULL: there is none. They stay until
     * the task is closed. */
    const char *source_name;
    const char *target_name;
    uint32_t source_column;
    uint32_t target_column;
    uint64_t num_columns;
    uint64_t smallest_id; /* as they stand in the text */
    uint64_t largest_id;
    uint64_t self_loops; /* lines, also where they were dropped */
    uint64_t duplicates; /* edges that repeat an earlier one, where they were looked for */
};
#define TR_IMPORT_EDGES_REPORT_INIT                                               \
    {                                                                             \
        sizeof(struct tr_import_edges_report), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0 \
    }

/* The report of a task that has succeeded; else it fails as tr_task_wait() does without waiting.
 * TR_EINVAL: the task is no import of edges. */
TR_API int tr_import_edges_result(struct tr_task *task, struct tr_import_edges_report *report,
                                  struct tr_error *error);

/* The packages of a Debian archive and their dependencies; troupe-import(1) says what becomes of
 * them. */
struct tr_import_debian_options {
    size_t size;
    const char *out;  /* the folder to make */
    const char *from; /* a file of what `apt-cache dumpavail` printed; NULL: it is run here */
    bool replace;     /* as above */
    unsigned char reserved[7];
};
#define TR_IMPORT_DEBIAN_OPTIONS_INIT                                  \
    {                                                                  \
        sizeof(struct tr_import_debian_options), NULL, NULL, false, "" \
    }

/* As tr_import_edges_start(); the outcome is TR_ENOENT where there is no apt-cache. TR_ECHILD: it
 * failed after its last line; the folder holds what it printed until then. */
TR_API int tr_import_debian_start(const struct tr_import_debian_options *options,
                                  struct tr_task **out, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
