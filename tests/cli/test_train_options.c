/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a training process: a limit that the command line does not name is left to the cluster
 * file and the default (tests/model/test_training_options.c), and 0 is a value of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before cmocka.h, which has a macro named as a function of the commands. */
#include "cli/train/run_grid.h"

#include <cmocka.h>

#include "cli/lib/options.h"
#include "model/report/repeat_command.h"

static struct train_values parse(char *option, char *value)
{
    struct train_values values;
    struct tr_error error = TR_ERROR_INIT;
    char run[] = "--run=x";
    char *argv[] = { run, option, value };
    struct options_read read;
    assert_int_equal(options_parse(train_options, &values, sizeof values, option == NULL ? 1 : 3,
                                   argv, &read, &error),
                     0);
    return values;
}

static void a_limit_that_is_not_given_is_left_to_the_cluster_file(void **unused)
{
    static const struct {
        const char *option, *value;
        int64_t step_limit_ns, disk_wait_ns;
    } CASES[] = {
        { NULL, NULL, TR_TRAIN_LIMIT_UNSAID, TR_TRAIN_LIMIT_UNSAID },
        { "--step-limit", "9", INT64_C(9000000000), TR_TRAIN_LIMIT_UNSAID },
        { "--step-limit", "0", 0, TR_TRAIN_LIMIT_UNSAID },
        { "--disk-wait", "0", TR_TRAIN_LIMIT_UNSAID, 0 },
        { "--disk-wait", "86400", TR_TRAIN_LIMIT_UNSAID, INT64_C(86400000000000) },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct train_values values = parse((char *)(uintptr_t)CASES[i].option,
                                                 (char *)(uintptr_t)CASES[i].value);
        struct tr_train_options options;
        assert_int_equal(train_configure(&values, &options, NULL), 0);
        assert_int_equal(options.step_limit_ns, CASES[i].step_limit_ns);
        assert_int_equal(options.disk_wait_ns, CASES[i].disk_wait_ns);
    }
}

/* Each number of a choice has the name that the table shows at its place. */
static void a_choice_is_asked_for_by_its_name(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        static const char *const NAMES[] = { "constant", "steps", "cosine" };
        char option[] = "--schedule";
        struct train_values values = parse(option, (char *)(uintptr_t)NAMES[i]);
        struct tr_train_options options;
        assert_int_equal(train_configure(&values, &options, NULL), 0);
        assert_string_equal(options.schedule, NAMES[i]);
        assert_null(options.metric);
        assert_int_equal(options.epochs, TR_TRAIN_EPOCHS_CHOSEN);
        assert_int_equal(options.num_layers, TR_TRAIN_COUNT_CHOSEN);
        assert_int_equal(options.patience, TR_TRAIN_COUNT_CHOSEN);
        assert_int_equal(options.evaluate_every, TR_TRAIN_COUNT_CHOSEN);
        assert_true(options.input_dropout == TR_TRAIN_REAL_CHOSEN);
        assert_true(options.l2 == TR_TRAIN_REAL_CHOSEN);
        assert_string_equal(options.evaluation, "exact");
    }
}

#define WORDS_MAX 80

static int configure(const char *const *words, int count, struct tr_train_options *options,
                     struct tr_error *error)
{
    static struct train_values values;
    static char copies[WORDS_MAX][64];
    char *argv[WORDS_MAX];
    struct options_read read;
    for (int i = 0; i < count; i++) {
        snprintf(copies[i], sizeof copies[i], "%s", words[i]);
        argv[i] = copies[i];
    }
    assert_int_equal(
        options_parse(train_options, &values, sizeof values, count, argv, &read, error), 0);
    return train_configure(&values, options, error);
}

/* No two numbers of them are the same, and none is the default. */
static void every_option_reaches_its_field(void **unused)
{
    static const char *const WORDS[] = {
        "--run=r",
        "--model=gcn",
        "--layers=3",
        "--hidden=11",
        "--norm=layer",
        "--fanout=1,-1,12",
        "--batch-size=13",
        "--epochs=14",
        "--seed=15",
        "--lr=0.5",
        "--optimiser=sgd",
        "--momentum=0.25",
        "--dropout=0.125",
        "--input-dropout=0.375",
        "--l2=0.625",
        "--weight-decay=0.75",
        "--schedule=steps",
        "--warmup=16",
        "--step-epochs=17",
        "--step-gamma=0.875",
        "--cosine-floor=0.0625",
        "--patience=18",
        "--loss=sigmoid",
        "--metric=roc-auc",
        "--eval=sampled",
        "--eval-every=19",
        "--features=f",
        "--edge-weight=w",
        "--sampler=labor-poisson",
        "--draw-by=q",
        "--draw-mask=r",
        "--label-type=t",
        "--etype-fanout=e=1",
        "--bases=28",
        "--heads=29",
        "--labels=l",
        "--from=other",
        "--train-mask=a",
        "--val-mask=b",
        "--test-mask=c",
        "--trainers=20",
        "--deal=d",
        "--checkpoint-every=21",
        "--checkpoint-keep=22",
        "--checkpoints=k",
        "--tensorboard=u",
        "--edge-type=s:r:d",
        "--negative-ends=either",
        "--negatives-by=degree",
        "--negatives-no-edges",
        "--reverse-edge-type=b",
        "--servers=23",
        "--samplers=24",
        "--loops=25",
        "--threads=26",
        "--memory=27",
        "--metrics=:99",
    };
    struct tr_train_options o;
    struct tr_error error = TR_ERROR_INIT;
    (void)unused;
    assert_int_equal(configure(WORDS, sizeof WORDS / sizeof *WORDS, &o, &error), 0);
    assert_string_equal(o.run, "r");
    assert_string_equal(o.model, "gcn");
    assert_int_equal(o.num_layers, 3);
    assert_true(o.fanout[0] == 1 && o.fanout[1] == TR_FANOUT_ALL && o.fanout[2] == 12);
    assert_int_equal(o.hidden, 11);
    assert_string_equal(o.norm, "layer");
    assert_int_equal(o.batch_size, 13);
    assert_int_equal(o.epochs, 14);
    assert_int_equal(o.seed, 15);
    assert_true(o.lr == 0.5f);
    assert_string_equal(o.optimiser, "sgd");
    assert_true(o.momentum == 0.25f);
    assert_true(o.dropout == 0.125f);
    assert_true(o.input_dropout == 0.375f);
    assert_true(o.l2 == 0.625f);
    assert_true(o.weight_decay == 0.75f);
    assert_string_equal(o.schedule, "steps");
    assert_int_equal(o.warmup_epochs, 16);
    assert_int_equal(o.step_epochs, 17);
    assert_true(o.step_gamma == 0.875f);
    assert_true(o.cosine_floor == 0.0625f);
    assert_int_equal(o.patience, 18);
    assert_string_equal(o.loss, "sigmoid");
    assert_string_equal(o.metric, "roc-auc");
    assert_string_equal(o.evaluation, "sampled");
    assert_int_equal(o.evaluate_every, 19);
    assert_string_equal(o.features, "f");
    assert_string_equal(o.edge_weight, "w");
    assert_string_equal(o.sampler, "labor-poisson");
    assert_string_equal(o.draw_by, "q");
    assert_string_equal(o.draw_mask, "r");
    assert_string_equal(o.label_type, "t");
    assert_string_equal(o.etype_fanout, "e=1");
    assert_string_equal(o.edge_type, "s:r:d");
    assert_string_equal(o.negative_ends, "either");
    assert_string_equal(o.negatives_by, "degree");
    assert_true(o.negatives_no_edges);
    assert_string_equal(o.reverse_edge_type, "b");
    assert_int_equal(o.bases, 28);
    assert_int_equal(o.heads, 29);
    assert_string_equal(o.labels, "l");
    assert_string_equal(o.from, "other");
    assert_string_equal(o.train_mask, "a");
    assert_string_equal(o.val_mask, "b");
    assert_string_equal(o.test_mask, "c");
    assert_int_equal(o.trainers, 20);
    assert_string_equal(o.deal, "d");
    assert_int_equal(o.checkpoint_every, 21);
    assert_int_equal(o.checkpoint_keep, 22);
    assert_string_equal(o.checkpoints, "k");
    assert_int_equal(o.servers, 23);
    assert_int_equal(o.samplers, 24);
    assert_int_equal(o.loops, 25);
    assert_int_equal(o.threads, 26);
    assert_int_equal(o.memory_bytes_max, 27);
    assert_string_equal(o.metrics, ":99");
    assert_string_equal(o.tensorboard, "u");
    assert_true(o.confirm); /* what a run leaves is there before its process ends */
}

/* Each by itself, so that none stands for another. */
static void every_flag_reaches_its_field(void **unused)
{
    static const struct {
        const char *word;
        size_t at;
    } FLAGS[] = {
#define FLAG(word, field) { "--" word, offsetof(struct tr_train_options, field) }
        FLAG("balanced-weights", balanced_weights),
        FLAG("normalise", normalise),
        FLAG("residual", residual),
        FLAG("no-normalise", no_normalise),
        FLAG("standardise", standardise),
        FLAG("no-standardise", no_standardise),
        FLAG("with-replacement", with_replacement),
        FLAG("drop-last", drop_last),
        FLAG("resume", resume),
        FLAG("reproducible", reproducible),
        FLAG("messages", messages),
        FLAG("codec", codec),
        FLAG("map", map_files),
        FLAG("verify", verify_files),
        FLAG("replace", replace),
#undef FLAG
    };
    enum { COUNT = sizeof FLAGS / sizeof *FLAGS };
    (void)unused;
    for (size_t given = 0; given <= COUNT; given++) { /* the last: none */
        const char *const words[] = { "--run=r", "--fanout=5,6,7",
                                      given < COUNT ? FLAGS[given].word : NULL };
        struct tr_train_options options;
        assert_int_equal(configure(words, given < COUNT ? 3 : 2, &options, NULL), 0);
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(*(const bool *)((const char *)&options + FLAGS[i].at), i == given);
    }
}

/* A list of seeds is read as a person means it, or refused. */
static void seeds_are_numbers_and_ranges(void **unused)
{
    static const struct {
        const char *text;
        uint32_t count; /* 0: refused */
        uint64_t first, last;
    } CASES[] = {
        { "0-9", 10, 0, 9 },
        { "5", 1, 5, 5 },
        { "1,3,5-6", 4, 1, 6 },
        { "7-7", 1, 7, 7 },
        { "0-9999", 10000, 0, 9999 },
        { "0-10000", 0, 0, 0 },
        { "0-9998,1,2", 0, 0, 0 },
        { "", 0, 0, 0 },
        { "3-1", 0, 0, 0 },
        { "1,", 0, 0, 0 },
        { ",1", 0, 0, 0 },
        { "-1", 0, 0, 0 },
        { "1-", 0, 0, 0 },
        { "1 2", 0, 0, 0 },
        { "3,3", 0, 0, 0 },
        { "5,0-9", 0, 0, 0 },
        { "18446744073709551616", 0, 0, 0 },
        { "x", 0, 0, 0 },
        { "18446744073709551615", 1, UINT64_MAX, UINT64_MAX },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct tr_error error = TR_ERROR_INIT;
        uint64_t *seeds;
        uint32_t count;
        int rv = run_grid_read_seeds(CASES[i].text, &seeds, &count, &error);
        assert_int_equal(rv, CASES[i].count > 0 ? 0 : TR_EINVAL);
        if (rv != 0)
            continue;
        assert_int_equal(count, CASES[i].count);
        assert_int_equal(seeds[0], CASES[i].first);
        assert_int_equal(seeds[count - 1], CASES[i].last);
        free(seeds);
    }
}

static void fanouts_are_one_a_layer(void **unused)
{
    static const struct {
        const char *words[3];
        uint32_t layers; /* 0: refused, with ... */
        const char *says;
    } CASES[] = {
        { { "--run=r", "--fanout=5", NULL }, 1, "" },
        { { "--run=r", "--fanout=5,6,7", NULL }, 3, "" },
        { { "--run=r", "--layers=3", NULL }, 3, "" },
        { { "--run=r", "--layers=16", NULL }, 16, "" },
        { { "--run=r", "--layers=2", NULL }, 2, "" },
        { { "--run=r", "--layers=1", "--fanout=5,6" }, 0, "2 numbers for 1 layers" },
        { { "--run=r", "--layers=16", "--fanout=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1" }, 16, "" },
        { { "--run=r", "--fanout=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", NULL }, 0, "at most 16" },
        { { "--run=r", "--fanout=0,5", NULL }, 0, "number 1 is 0" },
        { { "--run=r", "--fanout=5,0", NULL }, 0, "number 2 is 0" },
        { { "--run=r", "--resume", "--replace" }, 0, "--resume goes on with the run" },
    };
    (void)unused;
    assert_int_equal(TR_LAYERS_MAX, 16);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct tr_train_options options;
        struct tr_error error = TR_ERROR_INIT;
        int rv = configure(CASES[i].words, CASES[i].words[2] != NULL ? 3 : 2, &options, &error);
        assert_int_equal(rv, CASES[i].layers > 0 ? 0 : TR_EINVAL);
        assert_non_null(strstr(error.message, CASES[i].says));
        if (rv == 0)
            assert_int_equal(options.num_layers, CASES[i].layers);
    }
}

/* Options that do not say what is trained, so that no command of a report has them. */
static bool changes_no_result(const char *name)
{
    static const char *const NAMES[] = { "run",
                                         "layers",
                                         "seeds",
                                         "sweep",
                                         "checkpoint-every",
                                         "checkpoint-keep",
                                         "resume",
                                         "cluster",
                                         "checkpoints",
                                         "tensorboard",
                                         "step-limit",
                                         "disk-wait",
                                         "process",
                                         "host",
                                         "index",
                                         "metrics",
                                         "log",
                                         "log-format",
                                         "reproducible",
                                         "servers",
                                         "samplers",
                                         "loops",
                                         "threads",
                                         "memory",
                                         "messages",
                                         "codec",
                                         "map",
                                         "verify",
                                         "replace",
                                         "no-normalise",
                                         "sparkline",
                                         "json",
                                         "quiet",
                                         "no-standardise" };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return true;
    return false;
}

/* A report's commands are made without the table of options, which is the command line's. */
static void every_option_of_a_result_is_in_the_command_that_repeats_it(void **unused)
{
    const struct repeat_option *repeated = repeat_options;
    (void)unused;
    for (const struct option_spec *spec = train_options; spec->name != NULL; spec++) {
        if (changes_no_result(spec->name))
            continue;
        assert_non_null(repeated->name);
        assert_string_equal(repeated->name, spec->name);
        assert_int_equal(repeated->flag, spec->kind == OPTION_FLAG);
        assert_int_equal(repeated->fallback == NULL, spec->fallback == NULL);
        if (spec->fallback != NULL)
            assert_string_equal(repeated->fallback, spec->fallback);
        repeated++;
    }
    assert_null(repeated->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_that_is_not_given_is_left_to_the_cluster_file),
        cmocka_unit_test(a_choice_is_asked_for_by_its_name),
        cmocka_unit_test(every_option_reaches_its_field),
        cmocka_unit_test(every_flag_reaches_its_field),
        cmocka_unit_test(fanouts_are_one_a_layer),
        cmocka_unit_test(seeds_are_numbers_and_ranges),
        cmocka_unit_test(every_option_of_a_result_is_in_the_command_that_repeats_it),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("train_options", tests, NULL, NULL);
}
