/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of `troupe train`, and what is made of them.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_TRAIN_TRAIN_H
#define CLI_TRAIN_TRAIN_H

#include "actors/cluster/cluster.h"
#include "cli/launch/job_process.h"
#include "cli/lib/command.h"
#include "model/run_job.h"

struct train_values {
    const char *run;
    int model;
    uint64_t layers;
    uint64_t hidden;
    struct count_list fanout;
    uint64_t batch_size;
    uint64_t epochs;
    uint64_t seed;
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
    bool with_replacement;
    bool drop_last;
    int eval;
    uint64_t eval_every;
    const char *features;
    const char *labels;
    const char *train_mask;
    const char *val_mask;
    const char *test_mask;
    uint64_t trainers;
    const char *deal;
    uint64_t checkpoint_every;
    uint64_t checkpoint_keep;
    const char *checkpoints;
    uint64_t step_limit, disk_wait; /* seconds; OPTION_NOT_GIVEN: the cluster file's */
    bool resume;
    struct process_values process;
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
    bool json;
    bool quiet;
};

extern const struct option_spec train_options[];

/* Fills config (for run_config_fini) and layout; TR_EINVAL says which options disagree. */
int train_configure(const struct train_values *values, struct run_config *config,
                    struct run_job_layout *layout, struct error *error);

/* Seconds; 0: no limit, no waiting. */
struct train_limits {
    uint64_t step_limit, disk_wait;
};

/* What the command line says, else the cluster file (NULL: there is none), else the defaults. */
struct train_limits train_choose_limits(const struct train_values *values,
                                        const struct cluster_limits *said);

int train_run(const struct invocation *invocation, const void *values);

#endif
