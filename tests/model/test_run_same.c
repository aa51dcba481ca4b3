/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a run is the one that options ask for: what is named is compared by its value, and what is
 * left open has been left open then, unless the run is gone on with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/run.h>

#include "model/run_config.h"
#include "model/run_options.h"

static char folder[] = "/tmp/troupe-run-same-XXXXXX";

static struct tr_train_options nothing_named(void)
{
    struct tr_train_options options;
    tr_train_options_init(&options);
    return options;
}

static void write_text(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* What the graph chooses in these tests, where that is left open. */
static void choose(struct run_config *config)
{
    struct model_config *model = &config->model;
    model->inputs = 8;
    model->classes = 3;
    if (config->choose_epochs) {
        model->epochs = 200;
        config->patience = config->choose_patience ? 66 : config->patience;
        config->evaluate_every = config->choose_evaluate_every ? 4 : config->evaluate_every;
        model->l2 = config->choose_l2 ? 0.0005f : model->l2;
        model->standardise = model->standardise || config->choose_standardise;
        model->logarithms = model->standardise;
    }
    if (config->val_mask == NULL)
        config->val_mask = strdup("val_mask");
    if (config->test_mask == NULL)
        config->test_mask = strdup("");
}

/* The folder has the run that these options began, as the graph and perhaps trials completed it. */
static void begin(const struct tr_train_options *options, bool deep)
{
    struct tr_error error = TR_ERROR_INIT;
    struct run_config config;
    assert_int_equal(run_options_read(&config, options, &error), 0);
    choose(&config);
    if (deep) {
        const int32_t fanout[] = { 5, 5, 10 };
        config.model.layers = 3;
        memcpy(config.fanout, fanout, sizeof fanout);
        config.model.norm = MODEL_NORM_LAYER;
        config.model.residual = true;
        config.model.hidden = config.choose_hidden ? 64 : config.model.hidden;
        config.model.input_dropout = 0.3f;
        config.tried = (struct run_tried){ .any = true, .chosen = RUN_SHAPE_DEEP };
    }
    const struct run_surroundings around = { .graph = "g.json",
                                             .kernels = "plain",
                                             .trainers = options->trainers != 0 ? options->trainers
                                                                                : 1,
                                             .deal = options->deal,
                                             .from = options->from };
    json_t *document = run_config_describe(&config, &around);
    char *text = json_dumps(document, 0);
    assert_non_null(text);
    write_text("config.json", text);
    write_text("metrics.jsonl", "");
    free(text);
    json_decref(document);
    run_config_fini(&config);
}

/* As a version wrote it that did not say what was left open. */
static void forget_open(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/config.json", folder);
    json_t *root = json_load_file(path, 0, NULL);
    assert_int_equal(json_object_del(root, "left_open"), 0);
    assert_int_equal(json_dump_file(root, path, 0), 0);
    json_decref(root);
}

static int compare(const struct tr_train_options *options, bool *longer, struct tr_error *error)
{
    struct tr_run *run;
    if (tr_run_open(folder, &run, error) != 0)
        fail_msg("%s", error->message);
    int rv = tr_run_compare(run, options, longer, error);
    tr_run_close(run);
    return rv;
}

static void is_same(const struct tr_train_options *options, bool is_longer)
{
    struct tr_error error = TR_ERROR_INIT;
    bool longer;
    if (compare(options, &longer, &error) != 0)
        fail_msg("%s", error.message);
    assert_int_equal(longer, is_longer);
}

static void differs(const struct tr_train_options *options, const char *says)
{
    struct tr_error error = TR_ERROR_INIT;
    bool longer;
    assert_int_equal(compare(options, &longer, &error), TR_EMISMATCH);
    if (strstr(error.message, says) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, says);
}

static void a_run_is_the_one_that_its_options_begin(void **state)
{
    (void)state;
    struct tr_train_options options = nothing_named();
    begin(&options, false);
    is_same(&options, false);
    options.resume = true;
    is_same(&options, false);
    options.resume = false;
    begin(&options, true);
    is_same(&options, false);
    options.epochs = 3;
    options.patience = 2;
    begin(&options, false);
    is_same(&options, false);
}

static void what_is_named_is_compared_by_its_value(void **state)
{
    (void)state;
    struct tr_train_options begun = nothing_named(), now;
    begun.epochs = 3;
    begin(&begun, false);
    now = begun, now.lr = 0.1f;
    differs(&now, "options.lr (it was 0.01, now 0.1)");
    now = begun, now.hidden = 64;
    differs(&now, "options.hidden (it was 128, now 64)");
    now = begun, now.norm = "layer";
    differs(&now, "options.norm (it was not there, now \"layer\")");
    now = begun, now.fanout[0] = 5;
    differs(&now, "options.fanout (it was [10,25], now [5,25])");
    now = begun, now.trainers = 2;
    differs(&now, "options.trainers (it was 1, now 2)");
    now = begun, now.from = "other";
    differs(&now, "options.from (it was not there, now \"other\")");
    now = begun, now.deal = "mine.npy";
    differs(&now, "options.deal (it was \"shuffle\", now \"mine.npy\")");
    now = begun, now.features = "words";
    differs(&now, "options.features (it was \"feat\", now \"words\")");
    now = begun, now.metric = "macro-f1";
    differs(&now, "options.metric (it was \"accuracy\", now \"macro-f1\")");
    /* The usual values by name, and what the graph chose. */
    now = begun, now.hidden = 128, now.norm = "none", now.metric = "accuracy", now.l2 = 0;
    now.val_mask = "val_mask", now.test_mask = "", now.deal = "shuffle", now.no_standardise = true;
    is_same(&now, false);
}

/* Given a value once and left open then, or the other way round: what would be chosen is another. */
static void what_is_left_open_was_left_open_then(void **state)
{
    (void)state;
    struct tr_train_options begun = nothing_named(), now = nothing_named();
    begun.l2 = 0.25f;
    begin(&begun, false);
    differs(&now, "options.l2 (it was 0.25, now left open)");
    now.resume = true;
    is_same(&now, false);
    now.resume = false;
    forget_open();
    is_same(&now, false);
    begun = now, begun.epochs = 200;
    begin(&begun, false);
    differs(&now, "options.epochs (it was 200, now left open)");
    begun = now, begun.model = "sage";
    begin(&begun, false);
    differs(&now, "options.model (it was \"sage\", now left open)");
    begun = now, begun.val_mask = "mine";
    begin(&begun, false);
    differs(&now, "options.val_mask (it was \"mine\", now \"val_mask\")");
    /* With epochs nothing else is chosen. */
    begin(&now, false);
    begun = now, begun.epochs = 200;
    differs(&begun, "options.evaluate_every (it was 4, now 1)");
    begun.resume = true;
    is_same(&begun, false);
    /* But what was chosen may be named. */
    now.l2 = 0.0005f, now.standardise = true, now.evaluate_every = 4;
    is_same(&now, false);
}

static void trials_choose_only_where_nothing_of_the_shape_is_named(void **state)
{
    (void)state;
    struct tr_train_options begun = nothing_named(), now = nothing_named();
    begin(&begun, true);
    now.norm = "layer";
    differs(&now, "options.residual");
    now = begun, now.model = "sage";
    differs(&now, "options.fanout (it was [5,5,10], now [10,25])");
    now = begun, now.hidden = 64;
    is_same(&now, false);
    now = begun, now.hidden = 32;
    differs(&now, "options.hidden (it was 64, now 32)");
    now = begun, now.model = "sage", now.num_layers = 3, now.norm = "layer", now.residual = true;
    now.fanout[0] = now.fanout[1] = 5, now.fanout[2] = 10, now.hidden = 64;
    now.input_dropout = 0.3f, now.l2 = 0.0005f;
    is_same(&now, false);
    begun.hidden = 32;
    begin(&begun, true);
    now = nothing_named();
    differs(&now, "options.hidden (it was 32, now 64)");
}

static void more_epochs_and_a_longer_patience_go_on(void **state)
{
    (void)state;
    struct tr_train_options begun = nothing_named(), now;
    begun.epochs = 3;
    begun.patience = 5;
    begin(&begun, false);
    now = begun, now.epochs = 4;
    is_same(&now, true);
    now = begun, now.patience = 6;
    is_same(&now, true);
    now = begun, now.patience = TR_TRAIN_COUNT_CHOSEN; /* never */
    is_same(&now, true);
    now = begun, now.epochs = 2;
    differs(&now, "options.epochs (it was 3, now 2)");
    now = begun, now.patience = 4;
    differs(&now, "options.patience (it was 5, now 4)");
    begun.schedule = "cosine";
    begin(&begun, false);
    now = begun, now.epochs = 4;
    differs(&now, "options.epochs (it was 3, now 4)");
}

static void a_lent_model_says_the_shape(void **state)
{
    (void)state;
    struct tr_train_options begun = nothing_named(), now;
    begun.from = "lender";
    begun.hidden = 16;
    begin(&begun, false);
    is_same(&begun, false);
    now = begun, now.hidden = TR_TRAIN_COUNT_CHOSEN;
    is_same(&now, false);
    now.from = "./lender";
    is_same(&now, false);
    now.from = NULL;
    differs(&now, "options.from (it was \"lender\", now not there)");
}

/* Of several types rgcn is taken, also where epochs are named. */
static void a_model_of_relations_may_be_left_open(void **state)
{
    (void)state;
    char path[128];
    struct tr_train_options options = nothing_named();
    options.epochs = 3;
    begin(&options, false);
    snprintf(path, sizeof path, "%s/config.json", folder);
    json_t *root = json_load_file(path, 0, NULL);
    json_t *model = json_object_get(json_object_get(root, "run"), "model");
    assert_int_equal(json_object_set_new(model, "kind", json_string("rgcn")), 0);
    assert_int_equal(json_dump_file(root, path, 0), 0);
    json_decref(root);
    is_same(&options, false);
    options.model = "rgcn";
    is_same(&options, false);
    begin(&options, false);
    options.model = NULL;
    differs(&options, "options.model (it was \"rgcn\", now left open)");
}

/* A run of links whose types are these by their whole names, as the graph completes them. */
static void begin_links(const char *type, const char *reverse)
{
    struct tr_train_options options = nothing_named();
    options.task = "link", options.metric = "roc-auc";
    options.edge_type = type;
    options.reverse_edge_type = reverse;
    begin(&options, false);
}

/* A reverse that no name says was named, and is named again; so is a type that has another's
 * reverses. */
static void types_of_edges_may_be_left_out_where_names_say_them(void **state)
{
    (void)state;
    const char *buys = "person:buys:thing", *back = "thing:rev_buys:person";
    struct tr_train_options now = nothing_named();
    now.task = "link", now.metric = "roc-auc";
    for (int resume = 0; resume < 2; resume++) {
        now.resume = resume == 1;
        begin_links(buys, back);
        now.edge_type = NULL, now.reverse_edge_type = NULL;
        is_same(&now, false);
        now.edge_type = "buys";
        is_same(&now, false);
        now.reverse_edge_type = "rev_buys";
        is_same(&now, false);
        now.reverse_edge_type = "thing:sold_to:person";
        differs(&now, "options.reverse_edge_type (it was \"thing:rev_buys:person\", now "
                      "\"thing:sold_to:person\")");
        begin_links(buys, "thing:sold_to:person");
        is_same(&now, false);
        now.reverse_edge_type = "sold_to";
        is_same(&now, false);
        now.reverse_edge_type = NULL;
        differs(&now, "options.reverse_edge_type (it was \"thing:sold_to:person\", now not there)");
        begin_links(buys, NULL);
        is_same(&now, false);
        begin_links(back, buys);
        now.edge_type = "rev_buys";
        is_same(&now, false);
        now.edge_type = NULL;
        differs(&now, "options.edge_type (it was \"thing:rev_buys:person\", now not there)");
        /* Ends that are others make no reverse. */
        begin_links(buys, "person:rev_buys:thing");
        differs(&now,
                "options.reverse_edge_type (it was \"person:rev_buys:thing\", now not there)");
    }
}

static void options_that_are_none_are_refused(void **state)
{
    (void)state;
    struct tr_train_options options = nothing_named();
    struct tr_error error = TR_ERROR_INIT;
    bool longer;
    begin(&options, false);
    options.norm = "strong";
    assert_int_equal(compare(&options, &longer, &error), TR_EINVAL);
    assert_non_null(strstr(error.message, "norm 'strong' is not known"));
    options = nothing_named();
    options.features = NULL;
    assert_int_equal(compare(&options, &longer, &error), TR_EINVAL);
    options = nothing_named();
    options.batch_size = 0;
    assert_int_equal(compare(&options, &longer, &error), TR_ERANGE);
    options = nothing_named();
    options.size = 0;
    assert_int_not_equal(compare(&options, &longer, &error), 0);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return files_remove_tree(files_posix, folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_the_one_that_its_options_begin),
        cmocka_unit_test(what_is_named_is_compared_by_its_value),
        cmocka_unit_test(what_is_left_open_was_left_open_then),
        cmocka_unit_test(trials_choose_only_where_nothing_of_the_shape_is_named),
        cmocka_unit_test(more_epochs_and_a_longer_patience_go_on),
        cmocka_unit_test(a_lent_model_says_the_shape),
        cmocka_unit_test(a_model_of_relations_may_be_left_open),
        cmocka_unit_test(types_of_edges_may_be_left_out_where_names_say_them),
        cmocka_unit_test(options_that_are_none_are_refused),
    };
    return cmocka_run_group_tests_name("run_same", tests, setup, teardown);
}
