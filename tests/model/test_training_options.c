/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a training of a program takes from its options or from the cluster file, as its
 * process does of a cluster. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/trainer_state.h>

#include "model/training.h"
#include "tests/api/api_world.h"
#include "tests/begun_folder.h"

#define SECOND INT64_C(1000000000)
#define UNSAID TR_TRAIN_LIMIT_UNSAID

static char graph[256];

/* host, limits: fields of the host and of the limits, with a comma before them, or "". */
static struct tr_process *open_process(const char *host, const char *limits)
{
    struct tr_process_options options;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_process *process;
    char path[128];
    tr_process_options_init(&options);
    snprintf(path, sizeof path, "%s/c.json", world_folder());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"name\": \"job\", \"graph\": \"%s\", \"limits\": {\"call\": 10%s}, \"hosts\": "
            "[{\"name\": \"a\", "
            "\"unix\": \"%s/s\", \"trainers\": 2%s}]}",
            graph, limits, world_folder(), host);
    assert_int_equal(fclose(file), 0);
    options.cluster = path;
    options.process = 0;
    if (tr_process_open(&options, SECOND, &process, &error) != 0)
        fail_msg("%s", error.message);
    return process;
}

static void read_options(const struct tr_train_options *options, struct training *t)
{
    struct tr_error error = TR_ERROR_INIT;
    *t = (struct training){ .task = NULL };
    if (training_read_options(t, options, &error) != 0)
        fail_msg("%s", error.message);
}

static struct tr_train_options options_of(struct tr_process *process)
{
    struct tr_train_options options;
    tr_train_options_init(&options);
    options.graph = graph;
    options.run = "run";
    options.process = process;
    return options;
}

static void a_program_s_limit_goes_before_the_cluster_file_s_and_that_before_the_default(
    void **state)
{
    static const struct {
        bool in_cluster;
        const char *limits;
        int64_t step, disk;       /* of the program */
        int64_t step_ns, disk_ns; /* that hold */
    } CASES[] = {
        { false, "", UNSAID, UNSAID, 600 * SECOND, 600 * SECOND },
        { false, "", 0, 7 * SECOND, 0, 7 * SECOND },
        { true, "", UNSAID, UNSAID, 600 * SECOND, 600 * SECOND },
        { true, ", \"step_limit\": 5, \"disk_wait\": 0", UNSAID, UNSAID, 5 * SECOND, 0 },
        { true, ", \"step_limit\": 0, \"disk_wait\": 86400", UNSAID, 1, 0, 1 },
        { true, ", \"step_limit\": 5, \"disk_wait\": 86400", 0, UNSAID, 0, 86400 * SECOND },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct training t;
        struct tr_process *process = CASES[i].in_cluster ? open_process("", CASES[i].limits) : NULL;
        struct tr_train_options options = options_of(process);
        assert_int_equal(options.step_limit_ns, UNSAID);
        assert_int_equal(options.disk_wait_ns, UNSAID);
        options.step_limit_ns = CASES[i].step;
        options.disk_wait_ns = CASES[i].disk;
        read_options(&options, &t);
        assert_int_equal(t.options.step_limit_ns, CASES[i].step_ns);
        assert_int_equal(t.options.disk_wait_ns, CASES[i].disk_ns);
        training_free_options(&t);
        tr_process_close(process);
    }
}

static void no_limit_is_shorter_than_nothing(void **state)
{
    struct training t = { .task = NULL };
    struct tr_error error = TR_ERROR_INIT;
    struct tr_train_options options = options_of(NULL);
    (void)state;
    options.step_limit_ns = UNSAID - 1;
    assert_int_equal(training_read_options(&t, &options, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "step_limit_ns"));
    training_free_options(&t);
    t = (struct training){ .task = NULL };
    options = options_of(NULL);
    options.disk_wait_ns = INT64_MIN;
    assert_int_equal(training_read_options(&t, &options, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "disk_wait_ns"));
    training_free_options(&t);
}

/* Those of the file are each trainer's, those of the program all trainers'. */
static void threads_are_the_program_s_where_the_cluster_file_names_none(void **state)
{
    struct training t;
    struct tr_process *process = open_process("", "");
    struct tr_train_options options = options_of(process);
    (void)state;
    options.threads = 6;
    read_options(&options, &t);
    assert_int_equal(t.layout.threads, 6);
    training_free_options(&t);
    options.threads = 0; /* one a processor elsewhere */
    read_options(&options, &t);
    assert_int_equal(t.layout.threads, t.process.num_trainers);
    training_free_options(&t);
    tr_process_close(process);
    options.threads = 6;
    process = open_process(", \"threads\": 2", "");
    options.process = process;
    read_options(&options, &t);
    assert_int_equal(t.layout.threads, 2 * t.process.num_trainers);
    training_free_options(&t);
    tr_process_close(process);
}

static void refuse(const struct tr_train_options *options, int code, const char *says)
{
    struct training t = { .task = NULL };
    struct tr_error error = TR_ERROR_INIT;
    int rv = training_read_options(&t, options, &error);
    if (rv != code || error.code != code || strstr(error.message, says) == NULL)
        fail_msg("%d for %s: %s", rv, says, error.message);
    training_free_options(&t);
}

/* Each name by itself, unknown and not given at all. */
static void unknown_names_are_refused(void **state)
{
    static const struct {
        size_t at;
        const char *name;
    } NAMES[] = {
#define NAME(field) { offsetof(struct tr_train_options, field), #field }
        NAME(model),     NAME(norm),     NAME(loss),       NAME(metric),
        NAME(optimiser), NAME(schedule), NAME(evaluation),
#undef NAME
    };
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct tr_train_options options = options_of(NULL);
        const char **text = (const char **)(void *)((char *)&options + NAMES[i].at);
        char says[64];
        *text = "wrong";
        snprintf(says, sizeof says, "%s 'wrong' is not known", NAMES[i].name);
        refuse(&options, TR_EINVAL, says);
        *text = NULL;
        if (NAMES[i].at == offsetof(struct tr_train_options, metric) ||
            NAMES[i].at == offsetof(struct tr_train_options, model) ||
            NAMES[i].at == offsetof(struct tr_train_options, norm) ||
            NAMES[i].at == offsetof(struct tr_train_options, loss))
            continue; /* that is their default */
        snprintf(says, sizeof says, "%s '' is not known", NAMES[i].name);
        refuse(&options, TR_EINVAL, says);
    }
}

/* What nobody names is left to the graph, and what is named is not. */
static void the_metric_and_the_epochs_are_chosen_where_nobody_names_them(void **state)
{
    struct tr_train_options options = options_of(NULL);
    struct training t;
    (void)state;
    read_options(&options, &t);
    assert_true(t.config.choose_metric && t.config.choose_epochs);
    assert_null(t.config.val_mask);
    assert_null(t.config.test_mask);
    training_free_options(&t);
    options.metric = "accuracy";
    options.epochs = 0;
    options.val_mask = "mine";
    read_options(&options, &t);
    assert_false(t.config.choose_metric || t.config.choose_epochs);
    assert_int_equal(t.config.model.metric, MODEL_ACCURACY);
    assert_int_equal(t.config.model.epochs, 0);
    assert_string_equal(t.config.val_mask, "mine");
    training_free_options(&t);
}

/* What is chosen with the epochs has the values of a run with named ones until then, and what is
 * named, 0 too, is not chosen. */
static void what_is_named_is_not_chosen(void **state)
{
    struct tr_train_options options = options_of(NULL);
    struct training t;
    (void)state;
    read_options(&options, &t);
    const struct run_config *c = &t.config;
    assert_true(c->choose_patience && c->choose_evaluate_every && c->choose_input_dropout);
    assert_true(c->choose_l2 && c->choose_normalise && c->choose_standardise);
    assert_true(c->choose_layers && c->model.layers == 2);
    assert_true(c->choose_kind && c->model.kind == MODEL_SAGE);
    assert_true(c->choose_norm && c->model.norm == MODEL_NORM_NONE && !c->model.residual);
    assert_true(c->choose_hidden && c->model.hidden == 128);
    assert_true(c->fanout[0] == 10 && c->fanout[1] == 25 && c->fanout[2] == 0);
    assert_true(c->patience == 0 && c->evaluate_every == 1 && !c->model.normalise &&
                !c->model.standardise);
    assert_true(c->model.input_dropout == 0 && c->model.l2 == 0);
    training_free_options(&t);
    options.patience = 0;
    options.evaluate_every = 1;
    options.input_dropout = options.l2 = 0;
    options.norm = "none";
    options.hidden = 128;
    options.no_normalise = options.no_standardise = true;
    read_options(&options, &t);
    assert_false(c->choose_patience || c->choose_evaluate_every || c->choose_input_dropout);
    assert_false(c->choose_norm || c->choose_hidden);
    assert_false(c->choose_l2 || c->choose_normalise || c->choose_standardise);
    assert_true(t.config.choose_epochs);
    training_free_options(&t);
    options.num_layers = 2;
    options.model = "gcn";
    read_options(&options, &t);
    assert_true(!c->choose_kind && c->model.kind == MODEL_GCN);
    assert_true(!c->choose_layers && c->model.layers == 2);
    training_free_options(&t);
    options.num_layers = TR_TRAIN_COUNT_CHOSEN;
    options.fanout[1] = 24; /* of a program from before layers were chosen */
    read_options(&options, &t);
    assert_true(!c->choose_layers && c->model.layers == 2 && c->fanout[1] == 24);
    training_free_options(&t);
    options.normalise = true;
    refuse(&options, TR_EINVAL, "opposites");
    options.no_normalise = false;
    options.standardise = true;
    refuse(&options, TR_EINVAL, "standardise and no_standardise are opposites");
    options.no_standardise = false;
    read_options(&options, &t);
    assert_true(c->model.normalise && !c->choose_normalise);
    assert_true(c->model.standardise && !c->choose_standardise);
    training_free_options(&t);
}

static void what_a_run_needs_is_asked_for(void **state)
{
    static const size_t TEXTS[] = {
        offsetof(struct tr_train_options, graph),
        offsetof(struct tr_train_options, run),
        offsetof(struct tr_train_options, features),
        offsetof(struct tr_train_options, train_mask),
    };
    static const size_t NUMBERS[] = {
        offsetof(struct tr_train_options, hidden),
        offsetof(struct tr_train_options, batch_size),
        offsetof(struct tr_train_options, evaluate_every),
    };
    struct tr_train_options options;
    struct training t;
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        options = options_of(NULL);
        *(const char **)(void *)((char *)&options + TEXTS[i]) = NULL;
        refuse(&options, TR_EINVAL, "are needed");
    }
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        options = options_of(NULL);
        uint32_t *number = (uint32_t *)(void *)((char *)&options + NUMBERS[i]);
        *number = 0;
        refuse(&options, TR_ERANGE, "at least 1");
        *number = 1;
        read_options(&options, &t);
        training_free_options(&t);
    }
    for (uint32_t layers = 0; layers <= TR_LAYERS_MAX + 1; layers += layers == 1 ? 15 : 1) {
        options = options_of(NULL);
        options.num_layers = layers;
        if (layers == 0 || layers > TR_LAYERS_MAX) {
            refuse(&options, TR_ERANGE, "is not 1 to 16");
            continue;
        }
        read_options(&options, &t);
        assert_int_equal(t.config.model.layers, layers);
        training_free_options(&t);
    }
    options = options_of(NULL);
    options.residual = true;
    refuse(&options, TR_EINVAL, "it needs num_layers of 3 at least");
    options.num_layers = 3;
    read_options(&options, &t);
    assert_true(t.config.model.norm == MODEL_NORM_NONE && !t.config.choose_norm);
    training_free_options(&t);
    options.norm = "layer";
    read_options(&options, &t);
    assert_true(t.config.model.residual && t.config.model.norm == MODEL_NORM_LAYER);
    training_free_options(&t);
    options.norm = "batch";
    read_options(&options, &t);
    assert_int_equal(t.config.model.norm, MODEL_NORM_BATCH);
    training_free_options(&t);
    options = options_of(NULL);
    options.resume = true;
    read_options(&options, &t);
    training_free_options(&t);
    options.replace = true;
    refuse(&options, TR_EINVAL, "resume goes on with the run");
}

/* No two numbers of them are the same, and none is the default. */
static void every_option_reaches_its_place(void **state)
{
    struct tr_train_options o = options_of(NULL);
    struct training t;
    (void)state;
    o.model = "gcn";
    o.num_layers = 3;
    o.fanout[0] = 1;
    o.fanout[1] = 2;
    o.fanout[2] = TR_FANOUT_ALL;
    o.hidden = 11;
    o.batch_size = 12;
    o.epochs = 13;
    o.seed = 14;
    o.lr = 0.5f;
    o.optimiser = "sgd";
    o.momentum = 0.25f;
    o.dropout = 0.125f;
    o.input_dropout = 0.375f;
    o.l2 = 0.625f;
    o.weight_decay = 0.75f;
    o.schedule = "cosine";
    o.warmup_epochs = 15;
    o.step_epochs = 16;
    o.step_gamma = 0.875f;
    o.cosine_floor = 0.0625f;
    o.patience = 17;
    o.loss = "sigmoid";
    o.metric = "macro-f1";
    o.evaluation = "none";
    o.evaluate_every = 18;
    o.trainers = 19;
    o.checkpoint_keep = 20;
    o.servers = 21;
    o.samplers = 22;
    o.loops = 23;
    o.threads = 24;
    o.memory_bytes_max = 25;
    read_options(&o, &t);
    const struct model_config *model = &t.config.model;
    assert_int_equal(model->kind, MODEL_GCN);
    assert_int_equal(model->layers, 3);
    assert_true(t.config.fanout[0] == 1 && t.config.fanout[1] == 2 && t.config.fanout[2] == -1);
    assert_int_equal(t.config.fanout[3], 0); /* though the defaults go on */
    assert_int_equal(model->hidden, 11);
    assert_int_equal(t.config.batch_size, 12);
    assert_int_equal(model->epochs, 13);
    assert_int_equal(model->seed, 14);
    assert_int_equal(model->optimiser, MODEL_SGD);
    assert_true(model->lr == 0.5f && model->momentum == 0.25f && model->dropout == 0.125f);
    assert_true(model->input_dropout == 0.375f && model->l2 == 0.625f);
    assert_true(model->weight_decay == 0.75f);
    assert_int_equal(model->schedule, MODEL_COSINE);
    assert_int_equal(model->warmup_epochs, 15);
    assert_int_equal(model->step_epochs, 16);
    assert_true(model->step_gamma == 0.875f && model->cosine_floor == 0.0625f);
    assert_int_equal(t.config.patience, 17);
    assert_int_equal(model->loss, MODEL_SIGMOID);
    assert_int_equal(model->metric, MODEL_MACRO_F1);
    assert_int_equal(t.config.evaluation, RUN_EVALUATE_NONE);
    assert_int_equal(t.config.evaluate_every, 18);
    assert_int_equal(t.layout.trainers, 19);
    assert_int_equal(t.layout.checkpoint_keep, 20);
    assert_int_equal(t.layout.servers, 21);
    assert_int_equal(t.layout.samplers, 22);
    assert_int_equal(t.layout.loops, 23);
    assert_int_equal(t.layout.threads, 24);
    assert_int_equal(t.layout.memory_bytes, 25);
    assert_ptr_not_equal(t.options.graph, graph); /* a copy */
    assert_string_equal(t.options.graph, graph);
    training_free_options(&t);
    o = options_of(NULL);
    o.schedule = "steps"; /* as options call what a configuration calls step */
    o.trainers = 0;
    read_options(&o, &t);
    assert_int_equal(t.config.model.schedule, MODEL_STEPS);
    assert_int_equal(t.layout.trainers, 1);
    training_free_options(&t);
}

static void every_flag_reaches_its_place(void **state)
{
    static const size_t FLAGS[] = {
        offsetof(struct tr_train_options, normalise),
        offsetof(struct tr_train_options, standardise),
        offsetof(struct tr_train_options, with_replacement),
        offsetof(struct tr_train_options, drop_last),
        offsetof(struct tr_train_options, balanced_weights),
        offsetof(struct tr_train_options, messages),
        offsetof(struct tr_train_options, codec),
        offsetof(struct tr_train_options, map_files),
        offsetof(struct tr_train_options, verify_files),
    };
    enum { COUNT = sizeof FLAGS / sizeof *FLAGS };
    (void)state;
    for (size_t given = 0; given <= COUNT; given++) { /* the last: none */
        struct tr_train_options options = options_of(NULL);
        struct training t;
        if (given < COUNT)
            *(bool *)((char *)&options + FLAGS[given]) = true;
        read_options(&options, &t);
        const bool flags[COUNT] = {
            t.config.model.normalise, t.config.model.standardise, t.config.replace,
            t.config.drop_last,       t.config.balanced_weights,  t.layout.messages,
            t.layout.codec,           t.layout.map_files,         t.layout.verify_files
        };
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(flags[i], i == given);
        training_free_options(&t);
    }
}

/* A reader of a checkpoint's head is given what it says, as far as its struct has room. */
static void the_head_of_a_part_says_where_its_run_stands(void **state)
{
    uint64_t head[TR_TRAINER_HEAD_BYTES / 8] = { 0 };
    struct tr_trainer_position at = TR_TRAINER_POSITION_INIT;
    struct tr_error error = TR_ERROR_INIT;
    (void)state;
    assert_int_equal(tr_trainer_position_read(head, &at, &error), TR_EFORMAT);
    memcpy(head, "TRstate1", 8);
    head[1] = 101;
    head[2] = 102;
    head[4] = 104;
    head[5] = 105;
    head[6] = 106;
    assert_int_equal(tr_trainer_position_read(head, &at, &error), 0);
    assert_int_equal(at.size, sizeof at);
    assert_int_equal(at.job, 101);
    assert_int_equal(at.parameters, 102);
    assert_int_equal(at.epoch, 104);
    assert_int_equal(at.step, 105);
    assert_int_equal(at.steps, 106);
    struct {
        struct tr_trainer_position it;
        uint64_t later; /* that this library does not know */
    } longer = { .it = { .size = sizeof longer }, .later = 7 };
    assert_int_equal(tr_trainer_position_read(head, &longer.it, &error), 0);
    assert_int_equal(longer.it.size, sizeof longer);
    assert_int_equal(longer.it.steps, 106);
    assert_int_equal(longer.later, 0);
    struct tr_trainer_position shorter = { .size = offsetof(struct tr_trainer_position, epoch),
                                           .epoch = 9 };
    assert_int_equal(tr_trainer_position_read(head, &shorter, &error), 0);
    assert_int_equal(shorter.parameters, 102);
    assert_int_equal(shorter.epoch, 9); /* an older program has no such field */
    shorter.size = sizeof(size_t) - 1;
    assert_int_equal(tr_trainer_position_read(head, &shorter, &error), TR_EINVAL);
    shorter.size = SIZE_MAX; /* nobody initialised it */
    assert_int_equal(tr_trainer_position_read(head, &shorter, &error), TR_EINVAL);
    shorter.size = sizeof(size_t);
    assert_int_equal(tr_trainer_position_read(head, &shorter, &error), 0);
}

/* A run that goes back reports epochs again: the later report is the one that counts. */
static void epochs_are_reported_again_after_a_rollback(void **state)
{
    struct training t = { .task = NULL };
    (void)state;
    pthread_mutex_init(&t.mutex, NULL);
    for (uint32_t epoch = 0; epoch < 40; epoch++) {
        const struct epoch_report report = { .epoch = epoch, .steps = epoch + 100 };
        assert_int_equal(training_add_epoch(&t, &report), 0);
        assert_int_equal(t.num_epochs, epoch + 1);
    }
    for (uint32_t epoch = 7; epoch < 9; epoch++) {
        const struct epoch_report report = { .epoch = epoch, .steps = epoch + 200 };
        assert_int_equal(training_add_epoch(&t, &report), 0);
        assert_int_equal(t.num_epochs, epoch + 1);
    }
    for (uint32_t i = 0; i < t.num_epochs; i++) {
        assert_int_equal(t.epochs[i].epoch, i);
        assert_int_equal(t.epochs[i].steps, i + (i < 7 ? 100 : 200));
    }
    const struct scores scores = { 1, 2, 3, 4, 5, 6 };
    const struct trainer_result result = { .epochs_run = 9 };
    training_set_tested(&t, &scores);
    training_set_result(&t, &result);
    assert_true(t.tested && t.done);
    assert_memory_equal(&t.test_scores, &scores, sizeof scores);
    assert_int_equal(t.result.epochs_run, 9);
    training_forget_end(&t);
    assert_false(t.tested || t.done);
    free(t.epochs);
    pthread_mutex_destroy(&t.mutex);
}

static int setup(void **state)
{
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, graph);
    return 0;
}

/* As a training looks that begins before another one has made its first file. */
static int stat_nothing(struct files *self, const char *path, struct file_facts *facts)
{
    size_t length = strlen(path);
    (void)self;
    return length > 5 && strcmp(path + length - 5, "twice") == 0
               ? files_posix->stat(files_posix, path, facts)
               : -ENOENT;
}

static void two_that_begin_at_once_are_told_so(void **state)
{
    char path[300];
    struct run_folder first, second;
    struct files blind = *files_posix;
    struct error error = { 0 };
    (void)state;
    blind.stat = stat_nothing;
    blind.lock = NULL;
    snprintf(path, sizeof path, "%s/twice", world_folder());
    assert_int_equal(begin_folder(&first, files_posix, path, RUN_FOLDER_NEW, &error), 0);
    assert_int_equal(begin_folder(&second, &blind, path, RUN_FOLDER_NEW, &error), TR_EEXIST);
    assert_non_null(strstr(error.text, "/twice: another training is under way in this folder; "
                                       "wait for its end, or give another folder as options.run"));
    assert_true(files_exists(files_posix, first.metrics_path));
    run_folder_close(&first);
    assert_int_equal(files_remove_tree(files_posix, path, &error), 0);
}

/* Where this host has none, others may. */
static void a_run_whose_job_has_a_checkpoint_is_kept(void **state)
{
    char path[300];
    (void)state;
    snprintf(path, sizeof path, "%s/begun", world_folder());
    for (int kept = 1; kept >= 0; kept--) {
        struct training t = { .folder_ours = true };
        struct error error = { 0 };
        assert_int_equal(begin_folder(&t.folder, files_posix, path, RUN_FOLDER_NEW, &error), 0);
        assert_int_equal(run_folder_write_config(&t.folder, json_object(), &error), 0);
        t.ranks.has_checkpoint = kept != 0;
        t.checkpoints = kept != 0 ? path : NULL; /* NULL: none are made */
        training_forget_untrained(&t);
        assert_int_equal(files_exists(files_posix, t.folder.config_path), kept != 0);
        run_folder_close(&t.folder);
        assert_int_equal(files_remove_tree(files_posix, path, &error), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_program_s_limit_goes_before_the_cluster_file_s_and_that_before_the_default),
        cmocka_unit_test(no_limit_is_shorter_than_nothing),
        cmocka_unit_test(threads_are_the_program_s_where_the_cluster_file_names_none),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(the_metric_and_the_epochs_are_chosen_where_nobody_names_them),
        cmocka_unit_test(what_is_named_is_not_chosen),
        cmocka_unit_test(what_a_run_needs_is_asked_for),
        cmocka_unit_test(every_option_reaches_its_place),
        cmocka_unit_test(every_flag_reaches_its_place),
        cmocka_unit_test(the_head_of_a_part_says_where_its_run_stands),
        cmocka_unit_test(epochs_are_reported_again_after_a_rollback),
        cmocka_unit_test(two_that_begin_at_once_are_told_so),
        cmocka_unit_test(a_run_whose_job_has_a_checkpoint_is_kept),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("training_options", tests, setup, world_teardown);
}
