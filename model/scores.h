/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good predictions are: loss, accuracy, macro-F1, ROC AUC.
 *
 * Counts are integers and ROC AUC is a ratio of integers, so neither the order in which
 * predictions arrive nor their grouping into batches changes them; the loss is added in the
 * order of the calls.
 *
 * Softmax: accuracy is the share of labelled nodes whose largest output (the first of equals)
 * is the label; F1 is averaged over the classes that occur as label or prediction; ROC AUC
 * is, with two classes, that of the difference of the outputs, else the mean over classes of
 * one against the rest. Sigmoid: accuracy is the share of labelled outputs on the right side
 * of 0; F1 and ROC AUC are means over outputs. Outputs with one kind of label have no ROC
 * AUC and are left out.
 *
 * Ownership: embedded. Thread rules: one thread at a time.
 */
#ifndef MODEL_SCORES_H
#define MODEL_SCORES_H

#include "graph/batch.h"
#include "model/loss.h"
#include "model/model_config.h"

struct scores {
    uint64_t labelled; /* nodes; of a model of links (link_scores.h) pairs */
    double loss;       /* mean over them */
    double accuracy;
    double macro_f1;
    double roc_auc; /* NaN where none is defined, and of other than two classes unless the metric is
                       MODEL_ROC_AUC */
    double mrr;     /* NaN but of a model of links */
};

struct class_counts {
    uint64_t hits; /* true positives */
    uint64_t predictions;
    uint64_t truths;
};

struct metrics {
    const struct model_config *config;
    struct loss_sum loss;
    uint64_t right; /* decisions */
    uint64_t decided;
    struct class_counts *classes; /* [config->classes] */
    struct ranking *rankings;     /* [num_rankings]; 8 bytes for each node in each */
    uint32_t num_rankings;
};

/* config is borrowed. TR_ENOMEM. */
int metrics_init(struct metrics *metrics, const struct model_config *config);
void metrics_fini(struct metrics *metrics);

/* Labels must have passed labels_check(); loss is theirs. TR_ENOMEM. */
int metrics_add(struct metrics *metrics, const float *logits, size_t rows,
                const struct batch_rows *labels, const struct loss_sum *loss);

/* Of nothing: no node, and NaN. */
struct scores scores_none(void);

void metrics_result(struct metrics *metrics, struct scores *scores);

/* The class that is predicted: that of the largest output, the first of equals. */
size_t scores_largest(const float *outputs, size_t classes);

/* The figure that the metric names. */
double scores_value(const struct scores *scores, enum model_metric metric);

/* Whether a is better than b by the metric, or as good with a smaller loss. NaN is worst. */
bool scores_better(const struct scores *a, const struct scores *b, enum model_metric metric);

#endif
