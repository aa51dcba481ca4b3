/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a training run as its files tell it: config.json (options, what computed),
 * metrics.jsonl (a line an epoch, one of the test), model.safetensors and events.jsonl (its job).
 * `troupe inspect` and `troupe report` read it, also while the run goes on or after it was stopped.
 *
 * Options are kept by their names in config.json, whichever these are, so that a run of a later
 * version is shown whole.
 *
 * Ownership: run_record_open fills it, run_record_close frees all. Thread rules: one thread at a
 * time.
 */
#ifndef MODEL_RUN_RECORD_H
#define MODEL_RUN_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/model.h>

#include "model/run_history.h"

/* A configuration has some forty values; a file with more is not one. */
#define RUN_OPTIONS_MAX 256
/* More than any training has (--epochs): what a damaged file may cost. */
#define RUN_EPOCHS_MAX 4000000

struct run_option {
    char *name;
    char *value;
};

struct run_epoch {
    uint64_t epoch; /* from 1 */
    uint64_t steps, seeds;
    double rate, train_loss, seconds; /* NaN: not known */
    bool evaluated, best;
    struct tr_scores validation;
};

struct run_record {
    char *path;
    char *version, *graph, *kernels; /* "": not said */
    json_t *config;                  /* the whole document, which nobody changes */
    size_t num_options;
    struct run_option options[RUN_OPTIONS_MAX];
    size_t num_epochs, room;
    struct run_epoch *epochs; /* as metrics.jsonl has them */
    bool tested;
    struct tr_scores test;
    bool has_model;
    uint64_t parameters;
    struct run_history history; /* of its job */
};

/* Whether the path is the folder of a run, by the names of the files in it. */
bool run_record_named(const char *path);

/* Refuses a folder that lacks the file `missing` as that of `what`, such as "a training": TR_ENOENT,
 * which names a run in the folder where it holds some, as several seeds leave it. */
int run_record_refuse(const char *path, const char *missing, const char *what,
                      struct tr_error *error);

/* TR_ENOENT: there is no run; TR_EFORMAT names the file and the line. A line that is being written
 * is left out, and a model that is not there yet. */
int run_record_open(struct run_record *run, const char *path, struct tr_error *error);
void run_record_close(struct run_record *run);

/* The value of an option, or NULL. */
const char *run_record_value(const struct run_record *run, const char *name);

/* Whether the training came to its end, by its epochs or its patience. One that was to grow and did
 * not is at none, though its test is there. */
bool run_record_is_complete(const struct run_record *run);

/* The last epoch that was the best so far, or NULL. */
const struct run_epoch *run_record_best(const struct run_record *run);

#endif
