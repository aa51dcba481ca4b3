/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at the nodes of a training before its first step: a line that says what is trained on
 * what, and advice where masks share nodes, where a class has no training node or no node at all,
 * where the steps or the training nodes are too few, and where a column of features lies far from
 * the others.
 *
 * It reads the labels of all nodes of the masks and the features of some nodes, and has a byte a
 * node while it does.
 *
 * Thread rules: the job's thread.
 */
#ifndef MODEL_RUN_SURVEY_H
#define MODEL_RUN_SURVEY_H

#include "model/run_job.h"

struct run_survey_splits {
    struct tr_nodes *val, *test; /* NULL: there is none */
    uint64_t steps;              /* of an epoch */
};

/* advice: whether the text is some, else the line. */
typedef void (*run_survey_say)(void *arg, bool advice, const char *text);

/* Says only which shapes were tried and which was chosen, where some were tried. */
void run_survey_tried(struct run_job *job, run_survey_say say, void *arg);

int run_survey(struct run_job *job, const struct run_survey_splits *splits, run_survey_say say,
               void *arg, struct error *error);

#endif
