/* SPDX-License-Identifier: Apache-2.0 */
#include "model/scores.h"

#include <math.h>
#include <stdlib.h>

#include "model/labels.h"
#include "model/ranking.h"

static uint32_t count_rankings(const struct model_config *config)
{
    /* Two classes need one, which is always kept; more cost one each. */
    if (config->loss == MODEL_SOFTMAX && config->classes == 2)
        return 1;
    return config->metric == MODEL_ROC_AUC ? config->classes : 0;
}

int metrics_init(struct metrics *metrics, const struct model_config *config)
{
    *metrics = (struct metrics){ .config = config, .num_rankings = count_rankings(config) };
    metrics->classes = calloc(config->classes, sizeof *metrics->classes);
    metrics->rankings = calloc((size_t)metrics->num_rankings + 1, sizeof *metrics->rankings);
    if (metrics->classes != NULL && metrics->rankings != NULL)
        return 0;
    metrics_fini(metrics);
    return TR_ENOMEM;
}

void metrics_fini(struct metrics *metrics)
{
    for (uint32_t i = 0; metrics->rankings != NULL && i < metrics->num_rankings; i++)
        ranking_fini(&metrics->rankings[i]);
    free(metrics->rankings);
    free(metrics->classes);
    *metrics = (struct metrics){ 0 };
}

static void decide(struct metrics *metrics, size_t class, bool predicted, bool truth)
{
    metrics->classes[class].predictions += predicted;
    metrics->classes[class].truths += truth;
    metrics->classes[class].hits += predicted && truth;
}

/* The share of a class, from its logit and the largest: the order of nodes by it is wanted. */
static float share(const float *z, size_t classes, size_t class)
{
    double total = 0;
    for (size_t c = 0; c < classes; c++)
        total += exp((double)z[c] - (double)z[class]);
    return (float)(1 / total);
}

static int rank_softmax(struct metrics *metrics, const float *z, size_t truth)
{
    if (metrics->num_rankings == 1)
        return ranking_add(&metrics->rankings[0], metrics->config->classes == 2 ? z[1] - z[0] : 0,
                           truth == 1);
    int rc = 0;
    for (uint32_t c = 0; rc == 0 && c < metrics->num_rankings; c++)
        rc = ranking_add(&metrics->rankings[c], share(z, metrics->config->classes, c), truth == c);
    return rc;
}

size_t scores_largest(const float *outputs, size_t classes)
{
    size_t best = 0;
    for (size_t c = 1; c < classes; c++)
        best = outputs[c] > outputs[best] ? c : best;
    return best;
}

static int add_softmax(struct metrics *metrics, const float *z, const struct batch_rows *labels,
                       size_t row)
{
    int64_t truth = labels_class(labels, row);
    if (truth == LABEL_NONE)
        return 0;
    size_t best = scores_largest(z, metrics->config->classes);
    metrics->decided++;
    metrics->right += best == (size_t)truth;
    decide(metrics, best, true, best == (size_t)truth);
    if (best != (size_t)truth)
        decide(metrics, (size_t)truth, false, true);
    return rank_softmax(metrics, z, (size_t)truth);
}

static int add_sigmoid(struct metrics *metrics, const float *z, const struct batch_rows *labels,
                       size_t row)
{
    int rc = 0;
    for (uint32_t c = 0; rc == 0 && c < metrics->config->classes; c++) {
        float target = labels_target(labels, row, c);
        if (target < 0)
            continue;
        bool truth = target >= 0.5f, predicted = z[c] > 0;
        metrics->decided++;
        metrics->right += truth == predicted;
        decide(metrics, c, predicted, truth);
        if (metrics->num_rankings > 0)
            rc = ranking_add(&metrics->rankings[c], z[c], truth);
    }
    return rc;
}

int metrics_add(struct metrics *metrics, const float *logits, size_t rows,
                const struct batch_rows *labels, const struct loss_sum *loss)
{
    int rc = 0;
    metrics->loss.sum += loss->sum;
    metrics->loss.labelled += loss->labelled;
    for (size_t row = 0; rc == 0 && row < rows; row++) {
        const float *z = logits + row * metrics->config->classes;
        rc = metrics->config->loss == MODEL_SOFTMAX ? add_softmax(metrics, z, labels, row)
                                                    : add_sigmoid(metrics, z, labels, row);
    }
    return rc;
}

static double macro_f1(const struct metrics *metrics)
{
    double sum = 0;
    uint32_t present = 0;
    for (uint32_t c = 0; c < metrics->config->classes; c++) {
        const struct class_counts *n = &metrics->classes[c];
        if (n->predictions + n->truths == 0)
            continue;
        sum += 2.0 * (double)n->hits / (double)(n->predictions + n->truths);
        present++;
    }
    return present == 0 ? (double)NAN : sum / present;
}

static double mean_area(struct metrics *metrics)
{
    double sum = 0;
    uint32_t defined = 0;
    for (uint32_t i = 0; i < metrics->num_rankings; i++) {
        double area = ranking_area(&metrics->rankings[i]);
        if (isnan(area))
            continue;
        sum += area;
        defined++;
    }
    return defined == 0 ? (double)NAN : sum / defined;
}

struct scores scores_none(void)
{
    const double none = (double)NAN;
    return (struct scores){ 0, none, none, none, none, none };
}

void metrics_result(struct metrics *metrics, struct scores *scores)
{
    uint64_t labelled = metrics->loss.labelled;
    *scores = (struct scores){
        .labelled = labelled,
        .loss = labelled == 0 ? (double)NAN : metrics->loss.sum / (double)labelled,
        .accuracy = metrics->decided == 0 ? (double)NAN
                                          : (double)metrics->right / (double)metrics->decided,
        .macro_f1 = macro_f1(metrics),
        .roc_auc = mean_area(metrics),
        .mrr = (double)NAN,
    };
}

double scores_value(const struct scores *scores, enum model_metric metric)
{
    switch (metric) {
    case MODEL_ACCURACY:
        return scores->accuracy;
    case MODEL_MACRO_F1:
        return scores->macro_f1;
    case MODEL_ROC_AUC:
        return scores->roc_auc;
    case MODEL_LOSS:
        return scores->loss;
    case MODEL_MRR:
        return scores->mrr;
    }
    return (double)NAN;
}

bool scores_better(const struct scores *a, const struct scores *b, enum model_metric metric)
{
    double sign = metric == MODEL_LOSS ? -1 : 1;
    double x = sign * scores_value(a, metric), y = sign * scores_value(b, metric);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? a->loss < b->loss : !isnan(x);
    return x > y || (x == y && a->loss < b->loss);
}
