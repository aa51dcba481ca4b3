/* SPDX-License-Identifier: Apache-2.0 */
/* A run's configuration comes back from its file field by field; what is none is refused by
 * name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/batch.h"
#include "model/run_compare.h"
#include "model/run_config.h"
#include "tests/scratch.h"

static char folder[40];
static char path[64];

static int enter(void **state)
{
    (void)state;
    if (scratch_folder(folder, sizeof folder, "config") == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/config.json", folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    return files_remove_tree(files_posix, folder, NULL);
}

static struct model_config good_model(void)
{
    struct model_config config = model_config_default();
    config.inputs = 7;
    config.classes = 3;
    return config;
}

/* The values that are just allowed and those just beyond, of each field. */
static void bounds_of_a_model_are_as_stated(void **state)
{
    (void)state;
#define COUNT(name, given, rv)                                                     \
    {                                                                              \
#name, offsetof(struct model_config, name), true, { .count = (given) }, rv \
    }
#define REAL(name, given, rv)                                                      \
    {                                                                              \
#name, offsetof(struct model_config, name), false, { .real = (given) }, rv \
    }
    static const struct {
        const char *field;
        size_t at;
        bool counts;
        union {
            uint32_t count;
            float real;
        } value;
        int rv;
    } cases[] = {
        COUNT(kind, MODEL_GCN, 0),
        COUNT(kind, MODEL_GAT + 1, TR_ERANGE),
        COUNT(layers, 0, TR_ERANGE),
        COUNT(layers, 1, 0),
        COUNT(layers, BATCH_LAYERS_MAX, 0),
        COUNT(layers, BATCH_LAYERS_MAX + 1, TR_ERANGE),
        COUNT(inputs, 0, 0),
        COUNT(inputs, MODEL_WIDTH_MAX, 0),
        COUNT(inputs, MODEL_WIDTH_MAX + 1, TR_ERANGE),
        COUNT(hidden, 0, TR_ERANGE),
        COUNT(hidden, 1, 0),
        COUNT(hidden, MODEL_WIDTH_MAX, 0),
        COUNT(hidden, MODEL_WIDTH_MAX + 1, TR_ERANGE),
        COUNT(classes, 0, TR_ERANGE),
        COUNT(classes, 1, 0),
        COUNT(classes, MODEL_CLASSES_MAX, 0),
        COUNT(classes, MODEL_CLASSES_MAX + 1, TR_ERANGE),
        REAL(dropout, 0, 0),
        REAL(dropout, 0.999f, 0),
        REAL(dropout, 1, TR_ERANGE),
        REAL(dropout, -0.001f, TR_ERANGE),
        REAL(input_dropout, 0.999f, 0),
        REAL(input_dropout, 1, TR_ERANGE),
        REAL(input_dropout, -0.001f, TR_ERANGE),
        COUNT(loss, MODEL_SIGMOID, 0),
        COUNT(loss, MODEL_SIGMOID + 1, TR_ERANGE),
        COUNT(metric, MODEL_LOSS, 0),
        COUNT(metric, MODEL_LOSS + 1, TR_ERANGE),
        COUNT(norm, MODEL_NORM_BATCH, 0),
        COUNT(norm, MODEL_NORM_BATCH + 1, TR_ERANGE),
        COUNT(optimiser, MODEL_SGD, 0),
        COUNT(optimiser, MODEL_SGD + 1, TR_ERANGE),
        REAL(lr, 0, 0),
        REAL(lr, 1e6f, 0),
        REAL(lr, 1000001, TR_ERANGE),
        REAL(lr, -1e-9f, TR_ERANGE),
        REAL(lr, NAN, TR_ERANGE),
        REAL(l2, 0, 0),
        REAL(l2, 1e6f, 0),
        REAL(l2, 1000001, TR_ERANGE),
        REAL(l2, -1e-9f, TR_ERANGE),
        REAL(weight_decay, 0, 0),
        REAL(weight_decay, 1e6f, 0),
        REAL(weight_decay, 1000001, TR_ERANGE),
        REAL(weight_decay, -1e-9f, TR_ERANGE),
        REAL(momentum, 0.999f, 0),
        REAL(momentum, 1, TR_ERANGE),
        REAL(momentum, -0.001f, TR_ERANGE),
        REAL(beta1, 0, 0),
        REAL(beta1, 1, TR_ERANGE),
        REAL(beta1, -0.001f, TR_ERANGE),
        REAL(beta2, 0, 0),
        REAL(beta2, 1, TR_ERANGE),
        REAL(beta2, -0.001f, TR_ERANGE),
        REAL(eps, 1, 0),
        REAL(eps, 1.01f, TR_ERANGE),
        REAL(eps, 0, TR_ERANGE),
        COUNT(schedule, MODEL_COSINE, 0),
        COUNT(schedule, MODEL_COSINE + 1, TR_ERANGE),
        COUNT(step_epochs, 0, TR_ERANGE),
        COUNT(step_epochs, 1, 0),
        COUNT(step_epochs, UINT32_MAX, 0),
        REAL(step_gamma, 0, 0),
        REAL(step_gamma, 1, 0),
        REAL(step_gamma, 1.001f, TR_ERANGE),
        REAL(step_gamma, -0.001f, TR_ERANGE),
        REAL(cosine_floor, 0, 0),
        REAL(cosine_floor, 1, 0),
        REAL(cosine_floor, 1.001f, TR_ERANGE),
        REAL(cosine_floor, -0.001f, TR_ERANGE),
    };
#undef COUNT
#undef REAL
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_config config = good_model();
        struct error error = { 0 };
        memcpy((char *)&config + cases[i].at, &cases[i].value, sizeof(uint32_t));
        int rv = model_config_check(&config, &error);
        if (rv != cases[i].rv)
            fail_msg("case %zu, %s: %d (%s)", i, cases[i].field, rv, error.text);
        assert_true(rv == 0 || strstr(error.text, cases[i].field) != NULL);
    }
}

/* As the options of `troupe train` say. */
static void a_new_model_is_as_documented(void **state)
{
    (void)state;
    const struct model_config config = model_config_default();
    assert_int_equal(config.kind, MODEL_SAGE);
    assert_int_equal(config.layers, 2);
    assert_int_equal(config.hidden, 128);
    assert_true(config.dropout == 0.5f && config.lr == 0.01f);
    assert_int_equal(config.loss, MODEL_SOFTMAX);
    assert_int_equal(config.metric, MODEL_ACCURACY);
    assert_int_equal(config.optimiser, MODEL_ADAM);
    assert_true(config.beta1 == 0.9f && config.beta2 == 0.999f && config.eps == 1e-8f);
    assert_int_equal(config.schedule, MODEL_CONSTANT);
    assert_int_equal(config.step_epochs, 10);
    assert_true(config.step_gamma == 0.5f);
    assert_int_equal(config.epochs, 10);
}

static void class_weights_are_finite_and_not_negative(void **state)
{
    (void)state;
    static const float bad[] = { -0.001f, INFINITY, NAN };
    for (size_t i = 0; i < 3; i++)
        for (size_t at = 0; at < 4; at++) {
            float weights[4] = { 0, 1, 2, 3 };
            struct model_config config = good_model();
            struct error error = { 0 };
            char name[32];
            config.class_weights = weights;
            assert_int_equal(model_config_check(&config, &error), 0);
            weights[at] = bad[i];
            assert_int_equal(model_config_check(&config, &error), at < 3 ? TR_ERANGE : 0);
            snprintf(name, sizeof name, "class_weights[%zu]", at);
            assert_true(at == 3 || strstr(error.text, name) != NULL);
        }
}

static void names_lead_back_to_their_numbers(void **state)
{
    (void)state;
    static const char *const kinds[] = { "sage", "gcn" }, *const losses[] = { "softmax",
                                                                              "sigmoid" };
    static const char *const metrics[] = { "accuracy", "macro-f1", "roc-auc", "loss" };
    static const char *const norms[] = { "none", "layer", "batch" };
    static const char *const optimisers[] = { "adam", "sgd" };
    static const char *const schedules[] = { "constant", "step", "cosine" };
#define SAME(what, names)                                                         \
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {               \
        assert_int_equal(model_##what##_parse(names[i]), i);                      \
        assert_string_equal(model_##what##_name((enum model_##what)i), names[i]); \
    }                                                                             \
    assert_int_equal(model_##what##_parse("none of them"), -1);
    SAME(kind, kinds)
    SAME(loss, losses)
    SAME(metric, metrics)
    SAME(norm, norms)
    SAME(optimiser, optimisers)
    SAME(schedule, schedules)
#undef SAME
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

/* The rate of each epoch, by its definition. */
static void rates_follow_their_schedule(void **state)
{
    (void)state;
    struct model_config config = good_model();
    config.lr = 0.5f;
    config.warmup_epochs = 4;
    for (uint32_t epoch = 0; epoch < 4; epoch++) /* it rises to lr in equal steps, from the first */
        assert_true(near(model_config_rate(&config, epoch), 0.125 * (epoch + 1)));
    assert_true(near(model_config_rate(&config, 4), 0.5));
    assert_true(near(model_config_rate(&config, 100), 0.5));
    config.schedule = MODEL_STEPS;
    config.step_epochs = 3;
    config.step_gamma = 0.5f;
    static const double steps[] = { 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125 };
    for (uint32_t i = 0; i < 7; i++)
        assert_true(near(model_config_rate(&config, 4 + i), steps[i]));
    config.schedule = MODEL_COSINE;
    config.cosine_floor = 0.2f;
    config.epochs = 4 + 5; /* the first after the warm-up has all of it, the last one the floor */
    assert_true(near(model_config_rate(&config, 4), 0.5));
    assert_true(near(model_config_rate(&config, 6), 0.5 * (0.2 + 0.8 * 0.5)));
    assert_true(near(model_config_rate(&config, 8), 0.5 * 0.2));
    config.epochs = 4 + 2;
    assert_true(near(model_config_rate(&config, 5), 0.1));
    config.epochs = 4 + 1; /* one epoch alone cannot fall */
    assert_true(near(model_config_rate(&config, 4), 0.5));
    config.epochs = 3;
    assert_true(near(model_config_rate(&config, 4), 0.5));
}

/* No two fields have the same value, and none the one that a new configuration has. */
static struct run_config make_run(void)
{
    struct run_config config = { .model = { .kind = MODEL_GCN,
                                            .layers = 3,
                                            .inputs = 41,
                                            .hidden = 42,
                                            .classes = 43,
                                            .dropout = 0.25f,
                                            .input_dropout = 0.125f,
                                            .normalise = true,
                                            .seed = 44,
                                            .loss = MODEL_SIGMOID,
                                            .metric = MODEL_ROC_AUC,
                                            .optimiser = MODEL_SGD,
                                            .lr = 0.5f,
                                            .l2 = 0.75f,
                                            .weight_decay = 0.375f,
                                            .momentum = 0.625f,
                                            .beta1 = 0.0625f,
                                            .beta2 = 0.03125f,
                                            .eps = 0.015625f,
                                            .schedule = MODEL_COSINE,
                                            .warmup_epochs = 45,
                                            .step_epochs = 46,
                                            .step_gamma = 0.1875f,
                                            .cosine_floor = 0.3125f,
                                            .epochs = 47 },
                                 .fanout = { 5, -1, INT32_MAX },
                                 .batch_size = 48,
                                 .evaluation = RUN_EVALUATE_SAMPLED,
                                 .evaluate_every = 49,
                                 .patience = 50 };
    assert_int_equal(run_config_names(&config, "f", "l", "tr", "va", "te", NULL), 0);
    return config;
}

static const struct run_surroundings around = { .graph = "books/g.json",
                                                .kernels = "plain",
                                                .trainers = 3,
                                                .deal = "even",
                                                .deal_hash = 0xabc,
                                                .servers = 4,
                                                .samplers = 5,
                                                .loops = 6,
                                                .threads = 7,
                                                .messages = true };

static int read_document(json_t *document, struct run_config *read, struct error *error)
{
    assert_int_equal(json_dump_file(document, path, 0), 0);
    *error = (struct error){ 0 };
    return run_config_read(files_posix, path, read, error);
}

static void assert_same_model(const struct model_config *a, const struct model_config *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->layers, b->layers);
    assert_int_equal(a->inputs, b->inputs);
    assert_int_equal(a->hidden, b->hidden);
    assert_int_equal(a->classes, b->classes);
    assert_true(a->dropout == b->dropout && a->input_dropout == b->input_dropout);
    assert_int_equal(a->normalise, b->normalise);
    assert_int_equal(a->standardise, b->standardise);
    assert_int_equal(a->logarithms, b->logarithms);
    assert_int_equal(a->residual, b->residual);
    assert_int_equal(a->norm, b->norm);
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->loss, b->loss);
    assert_int_equal(a->metric, b->metric);
    assert_int_equal(a->optimiser, b->optimiser);
    assert_true(a->lr == b->lr && a->l2 == b->l2 && a->weight_decay == b->weight_decay);
    assert_true(a->momentum == b->momentum && a->beta1 == b->beta1 && a->beta2 == b->beta2);
    assert_true(a->eps == b->eps && a->step_gamma == b->step_gamma);
    assert_true(a->cosine_floor == b->cosine_floor);
    assert_int_equal(a->schedule, b->schedule);
    assert_int_equal(a->warmup_epochs, b->warmup_epochs);
    assert_int_equal(a->step_epochs, b->step_epochs);
    assert_int_equal(a->epochs, b->epochs);
}

static void a_configuration_comes_back_as_it_was_written(void **state)
{
    (void)state;
    for (int way = 0; way < 8; way++) { /* each flag and each evaluation by itself */
        struct run_config config = make_run(), read;
        struct error error;
        if (way == 5) { /* the first of each name */
            config.model.kind = MODEL_SAGE;
            config.model.loss = MODEL_SOFTMAX;
            config.model.metric = MODEL_ACCURACY;
            config.model.optimiser = MODEL_ADAM;
            config.model.schedule = MODEL_CONSTANT;
        }
        config.replace = way == 1;
        config.drop_last = way == 2;
        config.balanced_weights = way == 3;
        config.model.normalise = way == 4;
        config.model.residual = way == 6;
        config.model.standardise = way >= 6;
        config.model.logarithms = way == 6;
        if (way == 6)
            config.edge_weight = strdup("w");
        config.model.norm = way == 7 ? MODEL_NORM_LAYER : MODEL_NORM_NONE;
        config.evaluation = (enum run_evaluation)(way % 3);
        json_t *document = run_config_describe(&config, &around);
        assert_non_null(document);
        if (read_document(document, &read, &error) != 0)
            fail_msg("%s", error.text);
        assert_same_model(&config.model, &read.model);
        assert_memory_equal(config.fanout, read.fanout, 3 * sizeof *config.fanout);
        assert_int_equal(config.batch_size, read.batch_size);
        assert_int_equal(config.replace, read.replace);
        assert_int_equal(config.drop_last, read.drop_last);
        assert_int_equal(config.balanced_weights, read.balanced_weights);
        assert_int_equal(config.evaluation, read.evaluation);
        assert_int_equal(config.evaluate_every, read.evaluate_every);
        assert_int_equal(config.patience, read.patience);
        assert_int_equal(read.edge_weight != NULL, way == 6);
        if (way == 6)
            assert_string_equal(read.edge_weight, "w");
        assert_string_equal(read.features, "f");
        assert_string_equal(read.labels, "l");
        assert_string_equal(read.train_mask, "tr");
        assert_string_equal(read.val_mask, "va");
        assert_string_equal(read.test_mask, "te");
        json_decref(document);
        run_config_fini(&read);
        run_config_fini(&config);
    }
}

/* The surroundings of a run in config.json, for its readers. */
static void surroundings_are_described(void **state)
{
    (void)state;
    struct run_config config = make_run();
    json_t *document = run_config_describe(&config, &around);
    const char *graph, *kernels, *deal, *hash;
    int trainers, servers, samplers, loops, threads, messages, codec;
    assert_int_equal(
        json_unpack(document, "{s:s, s:s, s:i, s:s, s:s, s:{s:i, s:i, s:i, s:i, s:b, s:b}}",
                    "graph", &graph, "kernels", &kernels, "trainers", &trainers, "deal", &deal,
                    "deal_hash", &hash, "layout", "servers", &servers, "samplers", &samplers,
                    "loops", &loops, "threads", &threads, "messages", &messages, "codec", &codec),
        0);
    assert_string_equal(graph, "books/g.json");
    assert_string_equal(kernels, "plain");
    assert_string_equal(deal, "even");
    assert_string_equal(hash, "0000000000000abc");
    assert_true(trainers == 3 && servers == 4 && samplers == 5 && loops == 6 && threads == 7);
    assert_true(messages && !codec);
    json_decref(document);
    struct run_surroundings shuffled = around;
    shuffled.deal = NULL;
    document = run_config_describe(&config, &shuffled);
    assert_string_equal(json_string_value(json_object_get(document, "deal")), "shuffle");
    assert_true(json_is_null(json_object_get(document, "deal_hash")));
    json_decref(document);
    run_config_fini(&config);
}

/* A trial is kept beside the run, which is another for it neither by its hash nor when it goes on. */
static void trials_are_kept_beside_the_run(void **state)
{
    (void)state;
    struct run_config config = make_run(), read;
    struct error error;
    char *kernels;
    bool grew;
    json_t *before = run_config_describe(&config, &around);
    assert_null(json_object_get(before, "tried"));
    config.tried = (struct run_tried){ .any = true, .chosen = RUN_SHAPE_GCN };
    config.tried.scores[RUN_SHAPE_SAGE] = 0.25;
    config.tried.scores[RUN_SHAPE_GCN] = 0.5;
    config.tried.scores[RUN_SHAPE_DEEP] = (double)NAN;
    json_t *document = run_config_describe(&config, &around);
    assert_true(json_equal(json_object_get(before, "run"), json_object_get(document, "run")));
    assert_int_equal(read_document(document, &read, &error), 0);
    assert_true(read.tried.any && read.tried.chosen == RUN_SHAPE_GCN);
    assert_true(read.tried.scores[RUN_SHAPE_SAGE] == 0.25 &&
                read.tried.scores[RUN_SHAPE_GCN] == 0.5 &&
                isnan(read.tried.scores[RUN_SHAPE_DEEP]));
    assert_int_equal(run_config_compare(files_posix, path, before, &kernels, &grew, &error), 0);
    assert_false(grew);
    free(kernels);
    json_decref(before);
    json_decref(document);
    run_config_fini(&read);
    run_config_fini(&config);
}

/* Without any one of its fields it is not read, and the message names the file. */
static void a_missing_field_is_refused(void **state)
{
    (void)state;
    struct run_config config = make_run(), read;
    json_t *document = run_config_describe(&config, &around);
    json_t *run = json_object_get(document, "run"), *model = json_object_get(run, "model");
    json_t *const objects[] = { run, model };
    for (int o = 0; o < 2; o++) {
        json_t *whole = json_copy(objects[o]), *value;
        const char *key;
        json_object_foreach(whole, key, value)
        {
            struct error error;
            assert_int_equal(json_object_del(objects[o], key), 0);
            assert_int_equal(read_document(document, &read, &error), TR_EFORMAT);
            assert_int_equal(error.code, TR_EFORMAT);
            assert_non_null(strstr(error.text, "config.json"));
            assert_non_null(strstr(error.text, key));
            assert_int_equal(json_object_set(objects[o], key, value), 0);
        }
        json_decref(whole);
    }
    json_decref(document);
    run_config_fini(&config);
}

/* Values one inside and one beyond what a field takes; names that nobody knows. */
static void a_field_beyond_its_bounds_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *object, *field, *value;
        int rv;
        const char *says;
    } cases[] = {
        { "run", "batch_size", "0", TR_EFORMAT, "batch_size is 0" },
        { "run", "batch_size", "1", 0, NULL },
        { "run", "batch_size", "1.5", TR_EFORMAT,
          "config.json: run.batch_size: a count is needed, not a number with a point" },
        { "run", "edge_weight", "3", TR_EFORMAT,
          "config.json: run.edge_weight: a text is needed, not an integer" },
        { "run", "labels", "null", TR_EFORMAT, "run.labels: a text is needed, not null" },
        { "run", "replace", "0", TR_EFORMAT,
          "config.json: run.replace: true or false is needed, not an integer" },
        { "model", "lr", "\"x\"", TR_EFORMAT,
          "config.json: run.model.lr: a number is needed, not a string" },
        { "model", "lr", "1", 0, NULL },
        { "model", "seed", "0.5", TR_EFORMAT, "run.model.seed: a whole number is needed, not a" },
        { "run", "batch_size", "4294967295", 0, NULL },
        { "run", "batch_size", "4294967296", TR_EFORMAT,
          "run.batch_size: the count 4294967296 is out " },
        { "run", "patience", "0", 0, NULL },
        { "run", "patience", "-1", TR_EFORMAT, "run.patience: the count -1 is out of range" },
        { "run", "evaluate_every", "4294967296", TR_EFORMAT, "run.evaluate_every: the count " },
        { "model", "epochs", "-1", TR_EFORMAT, "run.model.epochs: the count -1 is out of range" },
        { "model", "hidden", "4294967297", TR_EFORMAT, "run.model.hidden: the count 42949672" },
        { "model", "hidden", "0", TR_ERANGE, "hidden" },
        { "model", "layers", "2", TR_EFORMAT, "3 numbers for 2 layers" },
        { "model", "kind", "\"x\"", TR_EFORMAT, "kind 'x'" },
        { "model", "loss", "\"x\"", TR_EFORMAT, "loss 'x'" },
        { "model", "metric", "\"x\"", TR_EFORMAT, "metric 'x'" },
        { "model", "norm", "\"x\"", TR_EFORMAT, "norm 'x'" },
        { "model", "residual", "3", TR_EFORMAT, "run.model.residual: true or false is needed" },
        { "model", "standardise", "3", TR_EFORMAT, "run.model.standardise: true or false is " },
        { "model", "optimiser", "\"x\"", TR_EFORMAT, "optimiser 'x'" },
        { "model", "schedule", "\"x\"", TR_EFORMAT, "schedule 'x'" },
        { "run", "evaluation", "\"x\"", TR_EFORMAT, "evaluation 'x'" },
        { "run", "fanout", "[1, 2, 2147483647]", 0, NULL },
        { "run", "fanout", "[1, 2, 2147483648]", TR_EFORMAT, "fanout[2]" },
        { "run", "fanout", "[1, 0, 3]", TR_EFORMAT, "fanout[1]" },
        { "run", "fanout", "[-1, -1, -1]", 0, NULL },
        { "run", "fanout", "[-2, 1, 1]", TR_EFORMAT, "fanout[0]" },
        { "run", "fanout", "[\"1\", 1, 1]", TR_EFORMAT, "run.fanout[0]: an integer is needed" },
        { "run", "fanout", "3", TR_EFORMAT, "run.fanout: an array is needed, not an integer" },
        { "run", "fanout", "[1, 1]", TR_EFORMAT, "2 numbers for 3 layers" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_config config = make_run(), read;
        struct error error;
        json_t *document = run_config_describe(&config, &around);
        json_t *object = json_object_get(document, "run");
        if (strcmp(cases[i].object, "model") == 0)
            object = json_object_get(object, "model");
        json_object_set_new(object, cases[i].field,
                            json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
        int rv = read_document(document, &read, &error);
        if (rv != cases[i].rv || (rv != 0 && strstr(error.text, cases[i].says) == NULL))
            fail_msg("case %zu, %s: %d (%s)", i, cases[i].field, rv, error.text);
        if (rv == 0)
            run_config_fini(&read);
        json_decref(document);
        run_config_fini(&config);
    }
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void a_file_that_is_no_configuration_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } cases[] = { { "{", "config.json: line 1" },
                  { "{}", "'run' is missing" },
                  { "{\"run\": 3}", "'run' is missing" },
                  { "{\"run\": {}, \"run\": {}}", "config.json: line 1" } };
    struct run_config read;
    struct error error = { 0 };
    char *kernels = NULL;
    bool grew;
    json_t *now = json_object();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i].text);
        assert_int_equal(run_config_read(files_posix, path, &read, &error), TR_EFORMAT);
        assert_int_equal(error.code, TR_EFORMAT);
        assert_non_null(strstr(error.text, cases[i].says));
    }
    write_text("{");
    assert_int_equal(run_config_compare(files_posix, path, now, &kernels, &grew, &error),
                     TR_EFORMAT);
    assert_int_equal(remove(path), 0);
    assert_int_equal(run_config_read(files_posix, path, &read, &error), TR_ENOENT);
    assert_int_equal(run_config_compare(files_posix, path, now, &kernels, &grew, &error),
                     TR_ENOENT);
    assert_null(kernels);
    json_decref(now);
}

/* A run goes on where what decides its result is the same; where it computes is no matter. */
static void a_run_goes_on_with_what_it_was_begun_with(void **state)
{
    (void)state;
    struct run_config config = make_run();
    json_t *begun = run_config_describe(&config, &around);
    char *kernels;
    bool grew;
    struct error error = { 0 };
    assert_int_equal(json_dump_file(begun, path, 0), 0);
    for (int way = 0; way < 6; way++) {
        static const char *const differs[] = { NULL,
                                               NULL,
                                               ": options.trainers (it was",
                                               ": options.deal (its content was another)",
                                               ": options.batch_size (it was",
                                               ": options.seed (it was" };
        struct run_surroundings other = around;
        struct run_config now = make_run();
        other.servers += way == 1;
        other.kernels = way == 1 ? "wide" : other.kernels;
        other.trainers += way == 2;
        other.deal_hash += way == 3;
        now.batch_size += way == 4;
        now.model.seed += way == 5;
        json_t *asked = run_config_describe(&now, &other);
        int rv = run_config_compare(files_posix, path, asked, &kernels, &grew, &error);
        assert_int_equal(rv, differs[way] == NULL ? 0 : TR_EMISMATCH);
        if (rv == 0)
            assert_string_equal(kernels, "plain");
        else
            assert_true(kernels == NULL && strstr(error.text, differs[way]) != NULL &&
                        error.code == TR_EMISMATCH);
        free(kernels);
        json_decref(asked);
        run_config_fini(&now);
    }
    assert_int_equal(json_object_del(begun, "kernels"), 0);
    assert_int_equal(json_dump_file(begun, path, 0), 0);
    assert_int_equal(run_config_compare(files_posix, path, begun, &kernels, &grew, &error),
                     TR_EFORMAT);
    assert_non_null(strstr(error.text, "'kernels' is missing"));
    assert_null(kernels);
    json_decref(begun);
    run_config_fini(&config);
}

/* A run may be made longer, where its steps so far do not follow from its length. */
static void a_run_may_grow(void **state)
{
    static const struct {
        enum model_schedule schedule;
        uint32_t epochs, patience; /* before: 10 and 5 */
        int code;
        bool grew;
        const char *says;
    } cases[] = {
        { MODEL_CONSTANT, 10, 5, 0, false, "" },
        { MODEL_CONSTANT, 11, 5, 0, true, "" },
        { MODEL_STEPS, 12, 6, 0, true, "" },
        { MODEL_CONSTANT, 10, 0, 0, true, "" },
        { MODEL_CONSTANT, 9, 5, TR_EMISMATCH, false, "options.epochs (it was 10, now 9)" },
        { MODEL_CONSTANT, 10, 4, TR_EMISMATCH, false, "patience (it was 5, now 4)" },
        { MODEL_CONSTANT, 11, 4, TR_EMISMATCH, true, ": options.patience (it was 5, now 4);" },
        { MODEL_COSINE, 11, 6, TR_EMISMATCH, true, ": options.epochs (it was 10, now 11);" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_config config = make_run();
        struct error error = { 0 };
        char *kernels;
        bool grew;
        config.model.schedule = cases[i].schedule;
        config.model.epochs = 10;
        config.patience = 5;
        json_t *begun = run_config_describe(&config, &around);
        assert_int_equal(json_dump_file(begun, path, 0), 0);
        config.model.epochs = cases[i].epochs;
        config.patience = cases[i].patience;
        json_t *now = run_config_describe(&config, &around);
        assert_int_equal(run_config_compare(files_posix, path, now, &kernels, &grew, &error),
                         cases[i].code);
        assert_int_equal(grew, cases[i].grew);
        assert_true(strstr(error.text, cases[i].says) != NULL);
        /* What a checkpoint belongs to is the same where it is no difference. */
        json_t *runs[2] = { json_object_get(begun, "run"), json_object_get(now, "run") };
        run_config_forget_length(runs[0]);
        run_config_forget_length(runs[1]);
        assert_int_equal(json_equal(runs[0], runs[1]), cases[i].schedule != MODEL_COSINE);
        free(kernels);
        json_decref(begun);
        json_decref(now);
        run_config_fini(&config);
    }
}

/* An option that this version does not know decides as well: a later version has begun the run. */
static void what_only_the_run_has_is_a_difference(void **state)
{
    (void)state;
    struct run_config config = make_run();
    struct error error = { 0 };
    char *kernels;
    bool grew;
    json_t *now = run_config_describe(&config, &around);
    json_t *begun = json_deep_copy(now);
    json_t *run = json_object_get(begun, "run");
    assert_int_equal(json_object_set_new(json_object_get(run, "model"), "rings", json_integer(4)),
                     0);
    assert_int_equal(json_dump_file(begun, path, 0), 0);
    assert_int_equal(run_config_compare(files_posix, path, now, &kernels, &grew, &error),
                     TR_EMISMATCH);
    assert_non_null(strstr(error.text, ": options.rings (it was 4, now not there)"));
    assert_null(kernels);
    json_decref(begun);
    json_decref(now);
    run_config_fini(&config);
}

/* Two rates whose first digits are the same are shown with those that differ. */
static void numbers_that_differ_are_shown_differently(void **state)
{
    (void)state;
    static const float nearly[] = { 0.0100000007f, 0.01000001f, 0.011f };
    static const char *const says[] = { "(it was 0.0099999998, now 0.010000001)",
                                        "(it was 0.01, now 0.01000001)",
                                        "(it was 0.01, now 0.011)" };
    struct run_config config = make_run();
    struct error error = { 0 };
    char *kernels;
    bool grew;
    config.model.lr = 0.01f;
    json_t *begun = run_config_describe(&config, &around);
    assert_int_equal(json_dump_file(begun, path, 0), 0);
    for (size_t i = 0; i < sizeof nearly / sizeof *nearly; i++) {
        config.model.lr = nearly[i];
        json_t *now = run_config_describe(&config, &around);
        assert_int_equal(run_config_compare(files_posix, path, now, &kernels, &grew, &error),
                         TR_EMISMATCH);
        assert_non_null(strstr(error.text, says[i]));
        json_decref(now);
    }
    json_decref(begun);
    run_config_fini(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_a_model_are_as_stated),
        cmocka_unit_test(a_new_model_is_as_documented),
        cmocka_unit_test(class_weights_are_finite_and_not_negative),
        cmocka_unit_test(names_lead_back_to_their_numbers),
        cmocka_unit_test(rates_follow_their_schedule),
        cmocka_unit_test(a_configuration_comes_back_as_it_was_written),
        cmocka_unit_test(surroundings_are_described),
        cmocka_unit_test(trials_are_kept_beside_the_run),
        cmocka_unit_test(a_missing_field_is_refused),
        cmocka_unit_test(a_field_beyond_its_bounds_is_refused),
        cmocka_unit_test(a_file_that_is_no_configuration_is_named),
        cmocka_unit_test(a_run_goes_on_with_what_it_was_begun_with),
        cmocka_unit_test(a_run_may_grow),
        cmocka_unit_test(what_only_the_run_has_is_a_difference),
        cmocka_unit_test(numbers_that_differ_are_shown_differently),
    };
    return cmocka_run_group_tests_name("config", tests, enter, leave);
}
