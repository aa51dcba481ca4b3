/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run does by its task (options.task): of nodes, whose labels are learned (run_classes.c,
 * run_split.c, run_choice.c, run_survey.c, run_infer.c), or of links, where it is learned which
 * nodes an edge joins (run_links.c). What a model learns of a batch is the objective (objective.h).
 *
 * Ownership and thread rules: those of the job.
 */
#ifndef MODEL_RUN_TASK_H
#define MODEL_RUN_TASK_H

#include "model/run_job.h"
#include "model/run_survey.h"

struct run_task {
    /* Trainers may have seeds of their own, by a deal. */
    bool has_deals;
    /* Outputs say of a node what its label is: there are predictions, and scores by masks of nodes. */
    bool predicts_nodes;
    /* Seeds are held out where no mask says which to train on. */
    bool splits_itself;
    const char *outputs; /* "classes": what messages call them */
    /* Finds the types of the graph that count: the job's ntype and the targets of its types, with their
     * names in the configuration. The graph is open. */
    int (*find_types)(struct run_job *job, const struct tr_book *book, struct error *error);
    /* Completes the configuration by the graph, but for the inputs; *classes: outputs that a model
     * needs at least. The graph and its partitions are open. */
    int (*complete)(struct run_job *job, uint32_t *classes, struct error *error);
    /* A training alone: what it learns from, behind that. */
    int (*prepare)(struct run_job *job, struct error *error);
    /* Chooses what the configuration leaves open where the epochs are. */
    int (*choose)(struct run_job *job, struct error *error);
    /* See run_job_split_train(), run_job_split_held() and run_job_holds_out(). */
    int (*split_train)(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                       struct run_job_split *split, struct error *error);
    int (*split_held)(struct run_job *job, enum tr_split part, struct run_job_split *split,
                      struct error *error);
    bool (*holds_out)(const struct run_config *config, enum tr_split part);
    /* *hash: of a part that there is, not 0: the same on any placement, and another of other nodes
     * or edges but for chance. */
    int (*hash_part)(struct run_job *job, enum tr_split part, uint64_t *hash, struct error *error);
    /* See run_job_evaluate() and run_survey(). */
    int (*evaluate)(struct run_job *job, struct run_job_split *split, bool exact, uint32_t epoch,
                    struct scores *scores, struct error *error);
    int (*survey)(struct run_job *job, const struct run_survey_splits *splits, run_survey_say say,
                  void *arg, struct error *error);
};

/* run_links.c */
extern const struct run_task run_task_links;

/* Whoever opens a job gives it its task, so that its files call what is of one task through the
 * struct. */
const struct run_task *run_task_of(const struct run_config *config);

#endif
