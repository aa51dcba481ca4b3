/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a training run as its files tell it: options and what computed (config.json), the
 * epochs and the test (metrics.jsonl), whether there is a model. It may be read while the run goes
 * on, or after it was stopped. Part of libtroupe-model.
 *
 *     tr_run_open("run", &run, &error);
 *     tr_run_info(run, &info, &error);
 *     for (i = 0; i < info.num_epochs; i++)
 *         tr_run_get_epoch(run, i, &epoch, &validation, &error);
 *     tr_run_close(run);
 *
 * Ownership: texts that come from a run are valid until its close. Thread rules: a run does not
 * change once it is open; any number of threads may read it, also in a child of fork(), which
 * closes a copy of its own.
 */
#ifndef TROUPE_RUN_H
#define TROUPE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/model.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_run;

/* Whether the path is the folder of a run, by the names of the files in it. */
TR_API bool tr_run_named(const char *path);

/* TR_ENOENT: there is no run; TR_EFORMAT names the file and the line. A line that is being written
 * is left out, and a model that is not there yet. *out is NULL after a failure. */
TR_API int tr_run_open(const char *path, struct tr_run **out, struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_run_close(struct tr_run *run);

struct tr_run_info {
    size_t size;
    const char *path;                      /* as it was opened */
    const char *version, *graph, *kernels; /* "": not said */
    uint64_t num_options, num_epochs;
    uint64_t best;       /* the epoch's index; has_best */
    uint64_t parameters; /* of the model; has_model */
    bool has_best, has_model;
    bool complete; /* the training came to its end, by its epochs or its patience */
    bool tested;   /* tr_run_get_test() has its scores */
    unsigned char reserved[4];
};

#define TR_RUN_INFO_INIT                                                                     \
    {                                                                                        \
        sizeof(struct tr_run_info), NULL, NULL, NULL, NULL, 0, 0, 0, 0, false, false, false, \
            false, ""                                                                        \
    }

TR_API int tr_run_info(const struct tr_run *run, struct tr_run_info *info, struct tr_error *error);

/* An option by its number, with its name in config.json and its value as text; either may be NULL
 * where it is not wanted. TR_ERANGE: there is no such number. */
TR_API int tr_run_option(const struct tr_run *run, uint64_t index, const char **name,
                         const char **value, struct tr_error *error);
/* The value of the option of that name, or NULL. */
TR_API const char *tr_run_value(const struct tr_run *run, const char *name);

/* Whether the run is the one that a training with these options would begin, and, what the options
 * leave to be chosen, would choose as it did; with options.resume, one that it would go on with, and
 * take what they leave open from. TR_EMISMATCH names the options that differ, as "options.lr (it was
 * 0.01, now 0.1)". *longer: the run is the same as far as it went, and more epochs or a longer patience
 * are asked for. TR_EINVAL and TR_ERANGE name an option as tr_train_start() does, TR_EFORMAT a field of
 * config.json.
 *
 * Nothing is read but what the run was opened with: graph, run and what only says how to compute are
 * not compared (tr_run_info() has the graph), deal and from by their names, not by what their files
 * hold now; options.process is not looked at. A folder of a version that did not record what was left
 * open is taken to have left it so. */
TR_API int tr_run_compare(const struct tr_run *run, const struct tr_train_options *options,
                          bool *longer, struct tr_error *error);

struct tr_run_epoch {
    size_t size;
    uint64_t epoch; /* from 1 */
    uint64_t steps;
    double train_loss, seconds; /* NaN: not known */
    bool evaluated;             /* there are scores of the validation nodes */
    bool best;                  /* so far */
    unsigned char reserved[6];
};

#define TR_RUN_EPOCH_INIT                                             \
    {                                                                 \
        sizeof(struct tr_run_epoch), 0, 0, 0.0, 0.0, false, false, "" \
    }

/* The figures of an epoch by its index, in the order of metrics.jsonl, and the scores of the
 * validation nodes (may be NULL). TR_ERANGE: there is no such index. */
TR_API int tr_run_get_epoch(const struct tr_run *run, uint64_t index, struct tr_run_epoch *epoch,
                            struct tr_scores *validation, struct tr_error *error);

/* The scores of the test nodes. TR_EEND: the run has none. */
TR_API int tr_run_get_test(const struct tr_run *run, struct tr_scores *test,
                           struct tr_error *error);

/* What happened to the run's job, as events.jsonl has it (troupe-events(5)). Texts are "" where they
 * are not said, numbers 0. */
struct tr_run_event {
    size_t size;
    int64_t time_ns;     /* since 1970-01-01 UTC, in milliseconds */
    const char *event;   /* "begun", "started", ...; later versions have others */
    const char *host;    /* of the process */
    const char *role;    /* "trainer", "sampler", "server" */
    const char *outcome; /* of "finished": "complete", "failed", "stopped" */
    const char *text;    /* why; of "begun", by what: "launch" or "train" */
    uint64_t step;       /* of a checkpoint, and of what an era begins with */
    uint64_t lost;       /* events that were lost just before this one */
    int64_t pid;         /* of "started" */
    uint32_t process;    /* UINT32_MAX: it is of none */
    int exit_code;       /* of "ended" */
    int signal;          /* that ended it, or 0 */
    unsigned char reserved[4];
};

#define TR_RUN_EVENT_INIT                                                                  \
    {                                                                                      \
        sizeof(struct tr_run_event), 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, "" \
    }

/* How many there are; 0 also where the run has no history. */
TR_API uint64_t tr_run_num_events(const struct tr_run *run);
/* An event by its index, in the order in which they were written. TR_ERANGE: there is no such index. */
TR_API int tr_run_get_event(const struct tr_run *run, uint64_t index, struct tr_run_event *event,
                            struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
