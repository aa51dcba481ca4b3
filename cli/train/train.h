/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of `troupe train`, and what is made of them.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_TRAIN_TRAIN_H
#define CLI_TRAIN_TRAIN_H

#include <troupe/model.h>

#include "cli/launch/job_process.h"
#include "cli/lib/command.h"
#include "cli/lib/command_log.h"

struct train_values {
    const char *run;
    int task;
    uint64_t negatives;
    int negative_ends, negatives_by;
    bool negatives_no_edges;
    const char *edge_type, *reverse_edge_type;
    int model;
    uint64_t layers;
    uint64_t hidden;
    bool residual;
    int norm;
    struct count_list fanout;
    uint64_t batch_size;
    uint64_t epochs;
    uint64_t seed;
    const char *seeds;
    struct text_list sweep;
    double lr;
    int optimiser;
    double momentum;
    double dropout;
    double input_dropout;
    double l2;
    double weight_decay;
    int schedule;
    uint64_t warmup;
    uint64_t step_epochs;
    double step_gamma;
    double cosine_floor;
    uint64_t patience;
    int loss;
    int metric;
    bool balanced_weights;
    bool normalise;
    bool no_normalise;
    bool standardise;
    bool no_standardise;
    bool with_replacement;
    int sampler;
    const char *draw_by;
    const char *draw_mask;
    bool drop_last;
    int eval;
    uint64_t eval_every;
    const char *from;
    const char *features;
    const char *edge_weight;
    const char *label_type;
    const char *etype_fanout;
    uint64_t bases;
    uint64_t heads;
    const char *labels;
    const char *train_mask;
    const char *val_mask;
    const char *test_mask;
    uint64_t trainers;
    const char *deal;
    uint64_t checkpoint_every;
    uint64_t checkpoint_keep;
    const char *checkpoints;
    const char *tensorboard;
    uint64_t step_limit, disk_wait; /* seconds; OPTION_NOT_GIVEN: the cluster file's */
    bool resume;
    struct process_values process;
    struct command_log_values log;
    bool reproducible;
    uint64_t servers;
    uint64_t samplers;
    uint64_t loops;
    uint64_t threads;
    uint64_t memory;
    bool messages;
    bool codec;
    bool map;
    bool verify;
    bool replace;
    bool sparkline;
    bool json;
    bool quiet;
};

extern const struct option_spec train_options[];

/* Fills *options but for the graph and the process; TR_EINVAL says which options disagree. */
int train_configure(const struct train_values *values, struct tr_train_options *options,
                    struct tr_error *error);

int train_run(const struct invocation *invocation, const void *values);

/* Trains in this process alone, and neither prints a report nor shows epochs. log NULL: the standard
 * error. */
int train_run_alone(const struct train_values *values, const char *graph, struct tr_log_file *log,
                    struct tr_error *error);

#endif
