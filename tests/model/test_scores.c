/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics against plain definitions, ties and missing labels included. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "model/labels.h"
#include "model/ranking.h"
#include "model/scores.h"

#define ROWS 400

static double naive_area(const float *scores, const int *positive, size_t count)
{
    double wins = 0, pairs = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (!positive[i] || positive[j])
                continue;
            pairs++;
            wins += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
        }
    }
    return wins / pairs;
}

static void test_area_equals_counting_pairs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        float scores[ROWS];
        int positive[ROWS];
        struct ranking ranking = { 0 };
        for (size_t i = 0; i < ROWS; i++) { /* Few levels: many ties. */
            scores[i] = (float)(key_mix(seed * 1000 + i) % (seed + 2));
            positive[i] = key_mix(seed * 977 + i) % 3 == 0;
            assert_int_equal(ranking_add(&ranking, scores[i], positive[i]), 0);
        }
        assert_true(fabs(ranking_area(&ranking) - naive_area(scores, positive, ROWS)) < 1e-12);
        ranking_fini(&ranking);
    }
}

static void test_area_without_one_kind_is_undefined(void **state)
{
    (void)state;
    struct ranking ranking = { 0 };
    assert_true(isnan(ranking_area(&ranking)));
    assert_int_equal(ranking_add(&ranking, 1, true), 0);
    assert_true(isnan(ranking_area(&ranking)));
    assert_int_equal(ranking_add(&ranking, 0, false), 0);
    assert_true(ranking_area(&ranking) == 1);
    ranking_fini(&ranking);
}

struct case_rows {
    struct model_config config;
    float logits[ROWS * 4];
    float labels[ROWS * 4];
    struct batch_rows rows;
};

static void fill(struct case_rows *c, enum model_loss loss, uint32_t classes, uint64_t seed)
{
    c->config = model_config_default();
    c->config.loss = loss;
    c->config.classes = classes;
    c->config.metric = MODEL_ROC_AUC;
    uint32_t columns = loss == MODEL_SOFTMAX ? 1 : classes;
    for (size_t i = 0; i < (size_t)ROWS * classes; i++)
        c->logits[i] = (float)(key_mix(seed + i) % 9) - 4;
    for (size_t i = 0; i < (size_t)ROWS * columns; i++) {
        uint64_t draw = key_mix(seed * 31 + i);
        c->labels[i] = (float)(draw % (loss == MODEL_SOFTMAX ? classes : 2));
        if (draw >> 32 & 1)
            c->labels[i] = draw >> 33 & 1 ? -1.0f : nanf("");
    }
    c->rows = (struct batch_rows){ TR_F32, ROWS, columns, columns * sizeof(float), c->labels };
    assert_int_equal(labels_check(&c->rows, ROWS, &c->config, NULL), 0);
}

static void score(const struct case_rows *c, size_t split, struct scores *scores)
{
    struct metrics metrics;
    struct loss_sum loss;
    assert_int_equal(metrics_init(&metrics, &c->config), 0);
    struct batch_rows second = c->rows;
    second.rows = (char *)c->rows.rows + split * c->rows.row_bytes;
    second.num_rows -= (uint32_t)split;
    const float *rest = c->logits + split * c->config.classes;
    assert_int_equal(
        loss_compute(&c->config, parallel_serial, c->logits, split, &c->rows, 1, NULL, &loss), 0);
    assert_int_equal(metrics_add(&metrics, c->logits, split, &c->rows, &loss), 0);
    assert_int_equal(
        loss_compute(&c->config, parallel_serial, rest, ROWS - split, &second, 1, NULL, &loss), 0);
    assert_int_equal(metrics_add(&metrics, rest, ROWS - split, &second, &loss), 0);
    metrics_result(&metrics, scores);
    metrics_fini(&metrics);
}

static void test_softmax_scores_equal_plain_counting(void **state)
{
    (void)state;
    struct case_rows c;
    fill(&c, MODEL_SOFTMAX, 4, 5);
    double right = 0, labelled = 0, loss = 0, f1 = 0;
    double hits[4] = { 0 }, predictions[4] = { 0 }, truths[4] = { 0 };
    for (size_t i = 0; i < ROWS; i++) {
        if (!(c.labels[i] >= 0))
            continue;
        const float *z = c.logits + i * 4;
        int best = 0, truth = (int)c.labels[i];
        double total = 0;
        for (int k = 0; k < 4; k++) {
            best = z[k] > z[best] ? k : best;
            total += exp((double)z[k]);
        }
        loss += log(total) - (double)z[truth];
        labelled++;
        right += best == truth;
        predictions[best]++;
        truths[truth]++;
        hits[best] += best == truth;
    }
    for (int k = 0; k < 4; k++) {
        double precision = hits[k] / predictions[k], recall = hits[k] / truths[k];
        f1 += 2 * precision * recall / (precision + recall) / 4;
    }
    struct scores scores;
    score(&c, ROWS, &scores);
    assert_true((double)scores.labelled == labelled);
    assert_true(fabs(scores.accuracy - right / labelled) < 1e-12);
    assert_true(fabs(scores.loss - loss / labelled) < 1e-9);
    assert_true(fabs(scores.macro_f1 - f1) < 1e-12);
}

/* Binary cross-entropy by its definition: outputs without a label add nothing, a row without any is
 * not counted, an output's weight multiplies its term. */
static void test_sigmoid_loss_is_its_definition(void **state)
{
    (void)state;
    static const float weights[4] = { 1, 0.5f, 3, 2 };
    struct case_rows c;
    fill(&c, MODEL_SIGMOID, 4, 11);
    for (size_t k = 0; k < 4; k++)
        c.labels[4 * 7 + k] = -1;
    for (int weighted = 0; weighted < 2; weighted++) {
        float grads[ROWS * 4];
        double want = 0;
        uint64_t labelled = 0;
        struct loss_sum loss;
        c.config.class_weights = weighted ? weights : NULL;
        assert_int_equal(
            loss_compute(&c.config, parallel_serial, c.logits, ROWS, &c.rows, 10, grads, &loss), 0);
        for (size_t i = 0; i < ROWS; i++) {
            bool any = false;
            for (size_t k = 0; k < 4; k++) {
                double target = (double)c.labels[i * 4 + k], gradient = 0;
                if (target >= 0) {
                    double weight = (weighted ? (double)weights[k] : 1) / 4;
                    double chance = 1 / (1 + exp(-(double)c.logits[i * 4 + k]));
                    want -= weight * (target * log(chance) + (1 - target) * log(1 - chance));
                    gradient = weight * (chance - target) / 10;
                    any = true;
                }
                assert_true(fabs((double)grads[i * 4 + k] - gradient) < 1e-6);
            }
            labelled += any;
        }
        assert_true(labelled > 0 && labelled < ROWS);
        assert_int_equal(loss.labelled, labelled);
        assert_true(fabs(loss.sum - want) < 1e-9 * ROWS);
    }
}

static void test_grouping_changes_no_count(void **state)
{
    (void)state;
    for (int loss = MODEL_SOFTMAX; loss <= MODEL_SIGMOID; loss++) {
        struct case_rows c;
        struct scores whole, parts;
        fill(&c, (enum model_loss)loss, 3, 6);
        score(&c, ROWS, &whole);
        score(&c, 133, &parts);
        assert_memory_equal(&whole.accuracy, &parts.accuracy, sizeof(double));
        assert_memory_equal(&whole.macro_f1, &parts.macro_f1, sizeof(double));
        assert_memory_equal(&whole.roc_auc, &parts.roc_auc, sizeof(double));
        assert_false(isnan(whole.roc_auc));
    }
}

static void test_sigmoid_area_is_the_mean_over_outputs(void **state)
{
    (void)state;
    struct case_rows c;
    fill(&c, MODEL_SIGMOID, 3, 8);
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        float scores[ROWS];
        int positive[ROWS];
        size_t count = 0;
        for (size_t i = 0; i < ROWS; i++) {
            if (!(c.labels[i * 3 + (size_t)k] >= 0))
                continue;
            scores[count] = c.logits[i * 3 + (size_t)k];
            positive[count++] = c.labels[i * 3 + (size_t)k] > 0;
        }
        sum += naive_area(scores, positive, count);
    }
    struct scores scores;
    score(&c, ROWS, &scores);
    assert_true(fabs(scores.roc_auc - sum / 3) < 1e-12);
}

static void test_two_classes_rank_by_difference(void **state)
{
    (void)state;
    struct case_rows c;
    fill(&c, MODEL_SOFTMAX, 2, 9);
    float differences[ROWS];
    int positive[ROWS];
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (!(c.labels[i] >= 0))
            continue;
        differences[count] = c.logits[2 * i + 1] - c.logits[2 * i];
        positive[count++] = c.labels[i] > 0;
    }
    /* Whatever the best epoch is chosen by. */
    for (enum model_metric metric = MODEL_ACCURACY; metric <= MODEL_LOSS; metric++) {
        struct scores scores;
        c.config.metric = metric;
        score(&c, ROWS, &scores);
        assert_true(fabs(scores.roc_auc - naive_area(differences, positive, count)) < 1e-12);
    }
}

static void test_better_knows_direction_and_nan(void **state)
{
    (void)state;
    struct scores low = { 1, 0.5, 0.2, 0.9, 0.3, NAN }, high = { 1, 0.6, 0.4, 0.8, NAN, NAN };
    assert_true(scores_better(&high, &low, MODEL_ACCURACY));
    assert_true(scores_better(&low, &high, MODEL_MACRO_F1));
    assert_true(scores_better(&low, &high, MODEL_LOSS));
    assert_true(scores_better(&low, &high, MODEL_ROC_AUC));
    assert_false(scores_better(&high, &low, MODEL_ROC_AUC));
    /* Nodes of one class alone have no area: the loss decides. */
    struct scores worse = high;
    worse.loss = high.loss + 1;
    assert_true(scores_better(&high, &worse, MODEL_ROC_AUC));
    assert_false(scores_better(&worse, &high, MODEL_ROC_AUC));
    assert_false(scores_better(&high, &high, MODEL_ROC_AUC));
    high.accuracy = low.accuracy;
    assert_true(scores_better(&low, &high, MODEL_ACCURACY));
    assert_false(scores_better(&low, &low, MODEL_ACCURACY));
}

/* Labels as they are stored in many types all read alike. */
static void test_labels_of_every_type(void **state)
{
    (void)state;
    const int64_t wide[] = { 2, -1, 0 };
    const int8_t narrow[] = { 2, -1, 0 };
    const int32_t middle[] = { 2, -1, 0 };
    const double real[] = { 2, (double)NAN, 0 };
    int64_t storage[3];
    struct batch_rows rows = { TR_I64, 3, 1, 8, storage };
    struct model_config config = model_config_default();
    config.classes = 3;
    const struct {
        enum tr_dtype dtype;
        const void *data;
    } cases[] = { { TR_I64, wide }, { TR_I8, narrow }, { TR_I32, middle }, { TR_F64, real } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rows.dtype = cases[i].dtype;
        rows.row_bytes = tr_dtype_size(rows.dtype);
        memcpy(storage, cases[i].data, 3 * rows.row_bytes);
        assert_int_equal(labels_check(&rows, 3, &config, NULL), 0);
        assert_int_equal(labels_class(&rows, 0), 2);
        assert_int_equal(labels_class(&rows, 1), LABEL_NONE);
        assert_int_equal(labels_class(&rows, 2), 0);
    }
    config.classes = 2;
    assert_int_equal(labels_check(&rows, 3, &config, NULL), TR_ERANGE);
    struct error error = { 0 };
    storage[0] = storage[1] = 1;
    storage[2] = 99;
    rows.dtype = TR_I64;
    rows.row_bytes = 8;
    assert_int_equal(labels_check(&rows, 2, &config, &error), 0);
    assert_int_equal(labels_check(&rows, 3, &config, &error), TR_ERANGE);
    assert_string_equal(error.text, "labels: row 2 is 99, but there are 2 classes; give whole "
                                    "numbers below 2, or -1 for unlabelled");
}

/* Targets are shares from 0 to 1, each column by itself; below 0 is without a label. */
static void test_targets_at_their_bounds(void **state)
{
    (void)state;
    float storage[2][3] = { { 0, 1, -1 }, { 0.5f, -7, 1 } };
    struct batch_rows rows = { TR_F32, 2, 3, 12, storage };
    struct model_config config = model_config_default();
    struct error error = { 0 };
    config.loss = MODEL_SIGMOID;
    config.classes = 3;
    assert_int_equal(labels_check(&rows, 2, &config, &error), 0);
    assert_true(labels_target(&rows, 0, 0) == 0 && labels_target(&rows, 0, 1) == 1);
    assert_true(labels_target(&rows, 1, 0) == 0.5f && labels_target(&rows, 1, 1) == -1);
    storage[1][2] = 1.01f;
    assert_int_equal(labels_check(&rows, 2, &config, &error), TR_ERANGE);
    assert_non_null(strstr(error.text, "row 1 column 2 is 1.01"));
    assert_int_equal(labels_check(&rows, 1, &config, &error), 0); /* it is not among them */
    storage[1][2] = 1;
    assert_int_equal(labels_check(&rows, 3, &config, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "2 rows for 3 nodes"));
    config.classes = 4;
    assert_int_equal(labels_check(&rows, 2, &config, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "3 columns; sigmoid loss takes 4"));
    rows.rows = NULL;
    assert_int_equal(labels_check(&rows, 0, &config, &error), 0);
    assert_int_equal(labels_check(&rows, 1, &config, &error), TR_EMISMATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_area_without_one_kind_is_undefined),
        cmocka_unit_test(test_area_equals_counting_pairs),
        cmocka_unit_test(test_softmax_scores_equal_plain_counting),
        cmocka_unit_test(test_sigmoid_loss_is_its_definition),
        cmocka_unit_test(test_grouping_changes_no_count),
        cmocka_unit_test(test_sigmoid_area_is_the_mean_over_outputs),
        cmocka_unit_test(test_two_classes_rank_by_difference),
        cmocka_unit_test(test_better_knows_direction_and_nan),
        cmocka_unit_test(test_labels_of_every_type),
        cmocka_unit_test(test_targets_at_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
