/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report of training runs as one page of HTML, which needs neither a network nor a script: losses
 * and scores, scores by class, how the graphs are partitioned, options, machines, and the commands
 * that repeat the runs. Part of libtroupe-model.
 *
 * Ownership: options and the strings in them are needed during the start only; texts that come from
 * a task are valid until tr_task_close(). Thread rules: as for tasks (troupe/task.h).
 */
#ifndef TROUPE_REPORT_H
#define TROUPE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As many lines as a chart tells apart. */
#define TR_REPORT_RUNS_MAX 32
#define TR_REPORT_CLASSES_MAX 64

struct tr_report_options {
    size_t size;
    const char *out; /* the page; a page of an earlier report there is replaced */
    const char *const *runs;
    size_t num_runs; /* 1 to TR_REPORT_RUNS_MAX folders of runs */
    /* Outputs of `troupe infer --by-class --json`; a file by-class.json in the folder of a run is
     * read without being named. */
    const char *const *classes;
    size_t num_classes; /* at most TR_REPORT_CLASSES_MAX */
};

#define TR_REPORT_OPTIONS_INIT                                   \
    {                                                            \
        sizeof(struct tr_report_options), NULL, NULL, 0, NULL, 0 \
    }

/* Begins to read the runs and to write the page, which appears whole or not at all. TR_EINVAL names
 * an option. The task fails with TR_ENOENT or TR_EFORMAT where a run or a file of classes cannot be
 * read, and with TR_EEXIST where another file than a report has the name. A graph that cannot be
 * read is named in the page, with the reason. */
TR_API int tr_report_start(const struct tr_report_options *options, struct tr_task **out,
                           struct tr_error *error);

struct tr_report_result {
    size_t size;
    uint64_t runs, classes; /* tables of classes */
    uint64_t graphs;
};

#define TR_REPORT_RESULT_INIT                    \
    {                                            \
        sizeof(struct tr_report_result), 0, 0, 0 \
    }

/* What the page is made of. TR_ETIMEDOUT: the task still runs; TR_EINVAL: it writes no report;
 * otherwise what it ended with. */
TR_API int tr_report_get_result(struct tr_task *task, struct tr_report_result *result,
                                struct tr_error *error);

struct tr_report_graph {
    size_t size;
    const char *path;
    const char *why; /* it could not be read; NULL: it was */
};

#define TR_REPORT_GRAPH_INIT                       \
    {                                              \
        sizeof(struct tr_report_graph), NULL, NULL \
    }

/* A graph that runs name, by its number. TR_ERANGE: there is no such number; else as above. */
TR_API int tr_report_get_graph(struct tr_task *task, uint64_t index, struct tr_report_graph *graph,
                               struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
