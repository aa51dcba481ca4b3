/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a job (run_job.h) that its files have of each other.
 *
 *     run_job.c        opens session, graph and model, in order, and closes them
 *     run_types.c      the types of nodes and edges, as models of relations take them
 *     run_classes.c    what the graph says of the model: inputs, classes, their weights
 *     run_split.c      loaders over parts of the nodes
 *     run_draws.c      how a training draws, and whether the graph's edges can be drawn so
 *     run_links.c      the task of links (run_task.h): edges to learn from and to be scored on
 *     run_choice.c     what a training leaves to be chosen by the graph
 *     run_trial.c      which shape of a model does best after some steps
 *     run_homophily.c  how alike the labels of neighbours are
 *     run_columns.c    by what the columns of features are shifted and scaled
 *     run_survey.c     what may surprise whoever trains on these nodes
 *     run_infer.c      outputs of all nodes, and what they are worth
 *
 * Ownership and thread rules: those of the job.
 */
#ifndef MODEL_RUN_JOB_INSIDE_H
#define MODEL_RUN_JOB_INSIDE_H

#include "model/run_job.h"
#include "model/run_survey.h"

/* Nodes by which the columns of features are measured. */
#define RUN_COLUMNS_ROWS 65536u
/* Training nodes a class up to which a model learns them by heart unless it is kept from it. */
#define RUN_FEW_NODES 100u
/* Training nodes a class up to which next to nothing is known of each. */
#define RUN_FEWEST_NODES 10u

/* Are all partitions in this process? */
static inline bool run_job_has_all_parts(const struct run_job *job)
{
    for (uint32_t p = 0; p < job->whole.num_parts; p++)
        if (job->whole.parts[p] == NULL)
            return false;
    return true;
}

/* Outputs of yes or no are no classes that share the nodes. */
static inline bool run_job_has_fewest_nodes(const struct run_config *config, uint64_t nodes)
{
    return config->model.loss == MODEL_SOFTMAX &&
           nodes <= (uint64_t)RUN_FEWEST_NODES * config->model.classes;
}

static inline bool run_job_has_few_nodes(const struct run_config *config, uint64_t nodes)
{
    return nodes <= (uint64_t)RUN_FEW_NODES * config->model.classes;
}

/* Makes so many helpers, which are watched where the layout says so. NULL: out of memory or
 * threads. */
struct parallel *run_job_parallel(const struct run_job *job, size_t helpers);
/* Takes the types of the graph at path, where the model is one of relations, and finds the one that
 * has the labels. TR_EUNSUPPORTED: the graph has several, and the model takes one. run_job_drop_types()
 * frees them, after a failure too. */
int run_job_take_types(struct run_job *job, const char *path, struct error *error);
void run_job_drop_types(struct run_job *job);
/* Inputs and classes follow from the graph; a run that is read back must agree. */
int run_job_complete_config(struct run_job *job, struct error *error);
/* The task of nodes, as run_task.h has them. */
int run_nodes_find_types(struct run_job *job, const struct tr_book *book, struct error *error);
int run_nodes_complete(struct run_job *job, uint32_t *classes, struct error *error);
int run_nodes_choose(struct run_job *job, struct error *error);
int run_nodes_split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                          struct run_job_split *split, struct error *error);
int run_nodes_split_held(struct run_job *job, enum tr_split part, struct run_job_split *split,
                         struct error *error);
bool run_nodes_hold_out(const struct run_config *config, enum tr_split part);
int run_nodes_hash_part(struct run_job *job, enum tr_split part, uint64_t *hash,
                        struct error *error);
int run_nodes_evaluate(struct run_job *job, struct run_job_split *split, bool exact, uint32_t epoch,
                       struct scores *scores, struct error *error);
int run_nodes_survey(struct run_job *job, const struct run_survey_splits *splits,
                     run_survey_say say, void *arg, struct error *error);
/* Of all loaders, as the configuration says. */
void run_job_loader_options(const struct run_job *job, bool shuffle,
                            struct tr_loader_options *options);
/* What loaders draw where their own options do not say it; *spec: NULL where they do, else to be
 * destroyed, after a failure too. With the weights of edges: table 0. Of models of relations, draws
 * for each edge type. */
int run_job_specify_draws(const struct run_job *job, struct tr_sample_spec **spec,
                          struct tr_error *why);
/* TR_EINVAL names an edge of the graph at `path`, its type and the feature of options.draw_by where
 * a weight is negative or no finite number; whichever process owns it. */
int run_job_check_draws(const struct run_job *job, const char *path, struct error *error);
/* Opens split->loader over a set, which it holds; closes the split after a failure. */
int run_job_open_loader(struct run_job *job, struct tr_nodes *nodes,
                        struct tr_loader_options *options, struct run_job_split *split,
                        struct error *error);
/* TR_EINVAL: no batch is left, so that every epoch would be empty, and the model that of the start;
 * closes the split then. seeds: what they are. */
int run_job_check_batches(const struct run_job *job, uint32_t world, const char *seeds,
                          struct run_job_split *split, struct error *error);
/* Epochs, patience and evaluations where they are left open, for so many seeds of all trainers. */
void run_job_choose_length(struct run_config *config, uint64_t seeds, uint32_t world);
/* Fills job->logits with exact outputs; option: what the message of too little memory names. */
int run_job_infer_exact(struct run_job *job, const char *option, struct error *error);
/* The model computes with the threads of all trainers, who wait, until it is given its own back. */
int run_job_all_threads(struct run_job *job, struct error *error);
/* Adds the labels of the nodes to counts[classes]; of several labels a node, each by itself. */
int run_job_count_labels(struct run_job *job, struct tr_nodes *nodes, uint64_t *counts,
                         struct error *error);
/* Chooses what the configuration leaves open; every process of a job chooses the same. */
int run_job_choose(struct run_job *job, struct error *error);
/* Behind that, and when columns and classes are known: chooses the model's shape by trials, where the
 * configuration leaves it open. */
int run_job_try(struct run_job *job, struct error *error);
/* *homophily: 0 is what chance gives, 1 where all neighbours have one class; NaN: too few edges join
 * nodes whose labels training may know. The classes are known. */
int run_job_homophily(struct run_job *job, struct tr_nodes *train, double *homophily,
                      struct error *error);
/* *differ: are the features of neighbours less alike than chance makes them, beyond doubt? */
int run_job_neighbours_differ(struct run_job *job, bool *differ, struct error *error);
/* Measures columns [4 * inputs] over at most so many nodes: the means, the factors, the centres and
 * the units, which are 0 unless logarithms may be taken. */
int run_job_measure_columns(struct run_job *job, uint32_t rows_most, bool logarithms,
                            float *columns, struct error *error);
/* Measures the job's own, which its models standardise by, and chooses whether there are logarithms.
 * *needed: is there a column to shift or scale? */
int run_job_standardise(struct run_job *job, bool *needed, struct error *error);
/* Weighs the classes by their shares of the training nodes. */
int run_job_balance_classes(struct run_job *job, struct error *error);

#endif
