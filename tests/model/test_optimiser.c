/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers against PyTorch's recurrences written out in double, and the schedules. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "model/optimiser.h"

#define COUNT 37
#define STEPS 50

static double gradient_at(int step, int i)
{
    return 2 * key_double(key_mix((uint64_t)step + 3), (uint64_t)i) - 1;
}

struct reference {
    double weight, first, second;
};

static void adam(struct reference *r, const struct model_config *config, int step, double grad)
{
    double b1 = (double)config->beta1, b2 = (double)config->beta2, lr = (double)config->lr;
    grad += (double)config->l2 * r->weight;
    r->weight -= lr * (double)config->weight_decay * r->weight;
    r->first = b1 * r->first + (1 - b1) * grad;
    r->second = b2 * r->second + (1 - b2) * grad * grad;
    double first = r->first / (1 - pow(b1, step)), second = r->second / (1 - pow(b2, step));
    r->weight -= lr * first / (sqrt(second) + (double)config->eps);
}

static void sgd(struct reference *r, const struct model_config *config, double grad)
{
    grad += (double)config->l2 * r->weight;
    r->weight -= (double)config->lr * (double)config->weight_decay * r->weight;
    r->first = (double)config->momentum * r->first + grad;
    r->weight -= (double)config->lr * r->first;
}

static void check(const struct model_config *config)
{
    struct optimiser optimiser;
    float weights[COUNT], grads[COUNT];
    struct reference reference[COUNT] = { { 0 } };
    assert_int_equal(optimiser_init(&optimiser, config, COUNT, COUNT), 0);
    for (int i = 0; i < COUNT; i++) {
        weights[i] = 0.1f * (float)i - 1;
        reference[i].weight = (double)weights[i];
    }
    for (int step = 1; step <= STEPS; step++) {
        for (int i = 0; i < COUNT; i++) {
            grads[i] = (float)gradient_at(step, i);
            if (config->optimiser == MODEL_ADAM)
                adam(&reference[i], config, step, (double)grads[i]);
            else
                sgd(&reference[i], config, (double)grads[i]);
        }
        optimiser_step(&optimiser, parallel_serial, kernels_best(), (double)config->lr, weights,
                       grads);
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs((double)weights[i] - reference[i].weight) < 2e-5);
    optimiser_fini(&optimiser);
}

static void test_adam(void **state)
{
    (void)state;
    struct model_config config = model_config_default();
    check(&config);
    config.l2 = 0.05f;
    check(&config);
    config.l2 = 0;
    config.weight_decay = 0.1f;
    check(&config);
    config.eps = 0.5f; /* as large as what it is added to */
    check(&config);
}

static void test_sgd(void **state)
{
    (void)state;
    struct model_config config = model_config_default();
    config.optimiser = MODEL_SGD;
    check(&config);
    config.momentum = 0.9f;
    config.l2 = 0.01f;
    check(&config);
    config.weight_decay = 0.1f;
    check(&config);
}

/* More weights than a worker takes at once, and none left out at the ends: as many steps of a
 * few. */
static void test_every_weight_of_many_is_stepped_once(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 16383, 16384, 16385, 40001 };
    for (int which = MODEL_ADAM; which <= MODEL_SGD; which++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct model_config config = model_config_default();
            struct optimiser optimiser;
            size_t count = counts[c];
            float *weights = malloc((count + 1) * sizeof *weights);
            float *grads = malloc((count + 1) * sizeof *grads);
            assert_true(weights != NULL && grads != NULL);
            config.optimiser = (enum model_optimiser)which;
            assert_int_equal(optimiser_init(&optimiser, &config, count, count), 0);
            for (size_t i = 0; i <= count; i++) {
                weights[i] = 1;
                grads[i] = 0.25f;
            }
            for (int step = 0; step < 2; step++)
                optimiser_step(&optimiser, parallel_serial, kernels_best(), 0.125, weights, grads);
            for (size_t i = 1; i < count; i++)
                assert_true(weights[i] == weights[0]);
            assert_true(weights[0] < 1);
            assert_true(weights[count] == 1); /* it is nobody's */
            assert_int_equal(optimiser.steps, 2);
            optimiser_reset(&optimiser); /* as if no step had been taken */
            assert_int_equal(optimiser.steps, 0);
            assert_true(optimiser.beta1_power == 1 && optimiser.beta2_power == 1);
            for (size_t i = 0; i < count; i++)
                assert_true(optimiser.first.data[i] == 0 && optimiser.second.data[i] == 0);
            optimiser_fini(&optimiser);
            free(weights);
            free(grads);
        }
}

static void test_schedules(void **state)
{
    (void)state;
    struct model_config config = model_config_default();
    config.lr = 1;
    config.epochs = 21;
    assert_true(model_config_rate(&config, 17) == 1);
    config.schedule = MODEL_STEPS;
    config.step_epochs = 5;
    assert_true(model_config_rate(&config, 4) == 1);
    assert_true(model_config_rate(&config, 5) == 0.5);
    assert_true(model_config_rate(&config, 14) == 0.25);
    config.schedule = MODEL_COSINE;
    config.cosine_floor = 0.5f;
    assert_true(model_config_rate(&config, 0) == 1);
    assert_true(fabs(model_config_rate(&config, 10) - 0.75) < 1e-12);
    assert_true(fabs(model_config_rate(&config, 20) - 0.5) < 1e-12);
    config.warmup_epochs = 4;
    assert_true(model_config_rate(&config, 0) == 0.25);
    assert_true(model_config_rate(&config, 3) == 1);
    assert_true(model_config_rate(&config, 4) == 1);
    assert_true(fabs(model_config_rate(&config, 20) - 0.5) < 1e-12);
}

static void test_names_parse_back(void **state)
{
    (void)state;
    assert_int_equal(model_kind_parse(model_kind_name(MODEL_GCN)), MODEL_GCN);
    assert_int_equal(model_loss_parse(model_loss_name(MODEL_SIGMOID)), MODEL_SIGMOID);
    assert_int_equal(model_metric_parse(model_metric_name(MODEL_ROC_AUC)), MODEL_ROC_AUC);
    assert_int_equal(model_optimiser_parse(model_optimiser_name(MODEL_SGD)), MODEL_SGD);
    assert_int_equal(model_schedule_parse(model_schedule_name(MODEL_COSINE)), MODEL_COSINE);
    assert_int_equal(model_kind_parse("gin"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_parse_back),
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_every_weight_of_many_is_stepped_once),
        cmocka_unit_test(test_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
