/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe train --seeds` and `--sweep`: several runs, one after the other, each in a folder of its
 * own: RUNDIR/lr=0.01,hidden=64/seed-3.
 *
 * What came of a run is read from its folder, whether it was trained now or before: the same command
 * goes on where an earlier one was stopped, and a run that is complete is not trained again.
 *
 * Invariant: runs stand in the order of points (the last list changes fastest) and, of each, seeds.
 */
#include "config.h" /* asprintf */

#include "cli/train/train_many.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <troupe/model.h>
#include <troupe/run.h>

#include "cli/lib/fail.h"
#include "cli/lib/option_value.h"
#include "cli/lib/report.h"

/* More runs by one command are a mistyped list. */
#define RUNS_MAX 10000u
#define AXES_MAX 16u
#define AXIS_VALUES_MAX 64u

/* One --sweep: an option and its values. */
struct axis {
    const struct option_spec *spec;
    char *text; /* of the option, cut into its words */
    const char *values[AXIS_VALUES_MAX];
    uint32_t count;
};

/* Shapes of a model that trials choose from, by their names in config.json. */
static const char *const SHAPES[] = { "sage", "gcn", "deep" };
#define SHAPES_COUNT (sizeof SHAPES / sizeof *SHAPES)

/* NaN: there is none. */
struct many_scores {
    double validation, accuracy, macro_f1, roc_auc;
    size_t shape; /* SHAPES_COUNT: none was tried */
};

struct many {
    const struct invocation *invocation;
    const struct train_values *values;
    const char *graph;
    struct axis axes[AXES_MAX];
    uint32_t num_axes;
    uint64_t *seeds;
    uint32_t num_seeds;
    uint32_t num_points;
    struct many_scores *scores; /* [num_points][num_seeds] */
    bool by_loss;               /* the smallest validation is the best */
};

static int read_range(const char *word, uint64_t *first, uint64_t *last)
{
    char *end;
    if (*word < '0' || *word > '9')
        return TR_EINVAL;
    errno = 0; /* which a number of more than 64 bits sets */
    *first = *last = strtoull(word, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        *last = strtoull(end + 1, &end, 10);
    bool fits = errno == 0 && *first <= *last && *last - *first < RUNS_MAX;
    return fits && (*end == '\0' || *end == ',') ? 0 : TR_EINVAL;
}

/* One run would count as several in the mean and the deviation. */
static int refuse_repeated(const char *text, const uint64_t *seeds, uint32_t count,
                           struct tr_error *error)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t before = 0; before < i; before++)
            if (seeds[before] == seeds[i])
                return tr_error_set(error, TR_EINVAL,
                                    "--seeds %s: seed %llu is named twice; name each seed once",
                                    text, (unsigned long long)seeds[i]);
    return 0;
}

int train_many_read_seeds(const char *text, uint64_t **seeds, uint32_t *count,
                          struct tr_error *error)
{
    *count = 0;
    *seeds = malloc(RUNS_MAX * sizeof **seeds);
    if (*seeds == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for --seeds");
    for (const char *at = text; at != NULL; at = strchr(at, ',')) {
        uint64_t first, last;
        at += at != text; /* behind the comma */
        if (read_range(at, &first, &last) != 0 || *count + (last - first) >= RUNS_MAX) {
            free(*seeds);
            *seeds = NULL;
            return tr_error_set(error, TR_EINVAL,
                                "--seeds %s: give numbers and ranges such as 0-9 or 1,5,7-8, of at "
                                "most %u seeds",
                                text, RUNS_MAX);
        }
        for (uint64_t i = 0; i <= last - first; i++)
            (*seeds)[(*count)++] = first + i;
    }
    int rv = refuse_repeated(text, *seeds, *count, error);
    if (rv != 0) {
        free(*seeds);
        *seeds = NULL;
    }
    return rv;
}

/* The options that decide a result, by the names that config.json has for them. otherwise: the value
 * without the option and without the key; NULL: the option has a default that config.json has too,
 * or any value may be left as the run has it. */
static const struct {
    const char *option, *key, *otherwise;
} DECISIVE[] = {
    { "model", "kind", NULL },
    { "hidden", "hidden", "128" },
    { "residual", "residual", "no" },
    { "norm", "norm", "none" },
    { "fanout", "fanout", NULL },
    { "batch-size", "batch_size", NULL },
    { "epochs", "epochs", NULL },
    { "seed", "seed", NULL },
    { "lr", "lr", NULL },
    { "optimiser", "optimiser", NULL },
    { "momentum", "momentum", NULL },
    { "dropout", "dropout", NULL },
    { "input-dropout", "input_dropout", NULL },
    { "l2", "l2", NULL },
    { "weight-decay", "weight_decay", NULL },
    { "schedule", "schedule", NULL },
    { "warmup", "warmup_epochs", NULL },
    { "step-epochs", "step_epochs", NULL },
    { "step-gamma", "step_gamma", NULL },
    { "cosine-floor", "cosine_floor", NULL },
    { "patience", "patience", NULL },
    { "loss", "loss", NULL },
    { "metric", "metric", NULL },
    { "balanced-weights", "balanced_weights", "no" },
    { "normalise", "normalise", NULL },
    { "no-normalise", "normalise", NULL },
    { "standardise", "standardise", NULL },
    { "no-standardise", "standardise", NULL },
    { "with-replacement", "replace", "no" },
    { "drop-last", "drop_last", "no" },
    { "eval", "evaluation", NULL },
    { "eval-every", "evaluate_every", NULL },
    { "features", "features", NULL },
    { "edge-weight", "edge_weight", "" },
    { "label-type", "label_type", "" },
    { "etype-fanout", "etype_fanout", "" },
    { "bases", "bases", "0" },
    { "heads", "heads", "1" },
    { "labels", "labels", NULL },
    { "train-mask", "train_mask", NULL },
    { "val-mask", "val_mask", NULL },
    { "test-mask", "test_mask", NULL },
    { "from", "from", "" },
    { "trainers", "trainers", NULL },
    { "deal", "deal", NULL },
};
#define DECISIVE_COUNT (sizeof DECISIVE / sizeof *DECISIVE)

/* What a run has where the option is not given: of the shape that trials found, or of the run that
 * lent its weights, it may be other than usual. NULL: any value. As run_config_adopt() goes on. */
static const char *otherwise_of(const struct tr_run *run, size_t row)
{
    static const char *const DEEP[][2] = { { "hidden", "64" },
                                           { "residual", "yes" },
                                           { "norm", "layer" } };
    const char *chosen = tr_run_value(run, "tried_chosen");
    const bool deep = chosen != NULL && strcmp(chosen, "deep") == 0;
    for (size_t i = 0; i < sizeof DEEP / sizeof *DEEP; i++) {
        if (strcmp(DEEP[i][0], DECISIVE[row].option) != 0)
            continue;
        if (tr_run_value(run, "from") != NULL)
            return NULL;
        if (deep)
            return DEEP[i][1];
    }
    return DECISIVE[row].otherwise;
}

static const struct option_spec *find_spec(const char *name)
{
    const struct option_spec *spec = train_options;
    while (spec->name != NULL && strcmp(spec->name, name) != 0)
        spec++;
    return spec->name != NULL ? spec : NULL;
}

/* A seed has an option of its own. */
static const struct option_spec *find_swept(const char *name)
{
    for (size_t i = 0; i < DECISIVE_COUNT; i++)
        if (strcmp(DECISIVE[i].option, name) == 0 && strcmp(name, "seed") != 0)
            return find_spec(name);
    return NULL;
}

/* Commas part the values of an axis, so colons stand for those within one: fanout=5:10,10:25. */
static int set_value(const struct option_spec *spec, struct train_values *values, const char *text,
                     struct tr_error *error)
{
    char *copy = strdup(text);
    if (copy == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for --sweep");
    for (char *at = copy; spec->kind == OPTION_COUNTS && *at != '\0'; at++)
        *at = *at == ':' ? ',' : *at;
    int rv = option_value_set(spec, values, copy, error);
    free(copy);
    return rv;
}

static int read_axis(struct axis *axis, const char *text, struct tr_error *error)
{
    struct train_values scratch;
    axis->text = strdup(text);
    if (axis->text == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for --sweep");
    char *at = strchr(axis->text, '=');
    if (at != NULL)
        *at++ = '\0';
    axis->spec = at == NULL ? NULL : find_swept(axis->text);
    /* Texts would point into the copies of their words. */
    if (axis->spec == NULL || axis->spec->kind == OPTION_TEXT || axis->spec->kind == OPTION_FLAG)
        return tr_error_set(error, TR_EINVAL,
                            "--sweep %s: give an option that has numbers or choices, and its "
                            "values, such as lr=0.01,0.003 or fanout=5:10,10:25",
                            text);
    while (at != NULL && axis->count < AXIS_VALUES_MAX) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        int rv = set_value(axis->spec, &scratch, at, error);
        if (rv != 0)
            return rv;
        axis->values[axis->count++] = at;
        at = comma;
    }
    return at == NULL ? 0
                      : tr_error_set(error, TR_EINVAL, "--sweep %s: more than %u values", text,
                                     AXIS_VALUES_MAX);
}

static int read_axes(struct many *many, struct tr_error *error)
{
    const struct text_list *sweep = &many->values->sweep;
    int rv = 0;
    uint64_t runs = many->num_seeds;
    many->num_points = 1;
    if (sweep->count > AXES_MAX)
        return tr_error_set(error, TR_EINVAL, "--sweep: more than %u options", AXES_MAX);
    for (uint32_t i = 0; i < sweep->count && rv == 0; i++) {
        struct axis *axis = &many->axes[many->num_axes++];
        rv = read_axis(axis, sweep->values[i], error);
        for (uint32_t other = 0; other < i && rv == 0; other++)
            if (many->axes[other].spec == axis->spec)
                rv = tr_error_set(error, TR_EINVAL, "--sweep: --%s is named twice",
                                  axis->spec->name);
        runs *= axis->count;
        if (rv == 0 && runs > RUNS_MAX)
            rv = tr_error_set(error, TR_EINVAL, "--sweep and --seeds: more than %u runs", RUNS_MAX);
        many->num_points *= axis->count;
    }
    return rv;
}

static const char *value_of_axis(const struct many *many, uint32_t point, uint32_t axis)
{
    for (uint32_t i = many->num_axes - 1; i > axis; i--)
        point /= many->axes[i].count;
    return many->axes[axis].values[point % many->axes[axis].count];
}

/* RUNDIR/lr=0.01,hidden=64/seed-3, without what is not asked for. seed: NULL: that of the point. */
static char *many_path(const struct many *many, uint32_t point, const uint64_t *seed)
{
    char *path = strdup(many->values->run);
    for (uint32_t i = 0; i < many->num_axes && path != NULL; i++) {
        char *longer = NULL;
        if (asprintf(&longer, "%s%s%s=%s", path, i == 0 ? "/" : ",", many->axes[i].spec->name,
                     value_of_axis(many, point, i)) < 0)
            longer = NULL;
        free(path);
        path = longer;
    }
    if (path != NULL && seed != NULL) {
        char *longer = NULL;
        if (asprintf(&longer, "%s/seed-%llu", path, (unsigned long long)*seed) < 0)
            longer = NULL;
        free(path);
        path = longer;
    }
    return path;
}

static bool is_given(const struct option_spec *spec, const void *field)
{
    switch (spec->kind) {
    case OPTION_COUNT:
        return *(const uint64_t *)field != OPTION_NOT_GIVEN;
    case OPTION_REAL:
        return !(spec->optional && *(const double *)field == OPTION_REAL_NOT_GIVEN);
    case OPTION_CHOICE: /* auto is left to the graph */
        return !(*(const int *)field == 0 && strncmp(spec->choices, "auto|", 5) == 0);
    case OPTION_TEXT:
        return *(const char *const *)field != NULL;
    case OPTION_COUNTS:
        return true;
    case OPTION_FLAG:
        return *(const bool *)field;
    default:
        return false;
    }
}

/* "10,25", where -1 stands for all. */
static bool is_list(const struct count_list *list, const char *was)
{
    const char *at = was;
    for (uint32_t i = 0; i < list->count; i++) {
        char *end;
        long long number = strtoll(at, &end, 10);
        uint64_t wanted = number < 0 ? OPTION_ALL : (uint64_t)number;
        if (end == at || wanted != list->values[i] || *end != (i + 1 < list->count ? ',' : '\0'))
            return false;
        at = end + 1;
    }
    return true;
}

/* config.json calls by "step" what the option calls "steps". */
static bool is_choice(const struct option_spec *spec, int choice, const char *was)
{
    const char *at = spec->choices;
    for (; choice > 0; choice--)
        at = strchr(at, '|') + 1;
    size_t length = strcspn(at, "|"), old = strlen(was);
    return strncmp(at, was, old) == 0 && (length == old || strncmp(at, "steps", length) == 0);
}

static bool is_equal(const struct option_spec *spec, const void *field, const char *was)
{
    switch (spec->kind) {
    case OPTION_COUNT:
        return strtoull(was, NULL, 10) == *(const uint64_t *)field;
    case OPTION_REAL:
        return strtof(was, NULL) == (float)*(const double *)field;
    case OPTION_CHOICE:
        return is_choice(spec, *(const int *)field, was);
    case OPTION_COUNTS:
        return is_list(field, was);
    case OPTION_FLAG:
        return strcmp(was, strncmp(spec->name, "no-", 3) == 0 ? "no" : "yes") == 0;
    default:
        return strcmp(was, *(const char *const *)field) == 0;
    }
}

/* A complete run is one of these only where it was trained with the same options on the same graph;
 * of any other the training says what differs, or whether it may go on. */
static bool has_options(const struct tr_run *run, const struct train_values *given)
{
    struct train_values meant = *given;
    const char *kind = tr_run_value(run, "kind");
    if (meant.heads == 0) /* a run has the number */
        meant.heads = kind != NULL && strcmp(kind, "gat") == 0 ? TR_TRAIN_HEADS_OF_GAT : 1;
    const struct train_values *values = &meant;
    for (size_t i = 0; i < DECISIVE_COUNT; i++) {
        const struct option_spec *spec = find_spec(DECISIVE[i].option);
        const char *was = tr_run_value(run, DECISIVE[i].key);
        const char *otherwise = otherwise_of(run, i);
        const void *field = (const char *)values + spec->offset;
        if (was == NULL) /* config.json leaves out what is usual */
            was = spec->kind == OPTION_FLAG ? "no" : DECISIVE[i].otherwise;
        if (was == NULL)
            continue;
        if (is_given(spec, field) ? !is_equal(spec, field, was)
                                  : otherwise != NULL && strcmp(was, otherwise) != 0)
            return false;
    }
    return true;
}

static double validation_of(struct many *many, const struct tr_run *run,
                            const struct tr_run_info *info)
{
    struct tr_run_epoch best = TR_RUN_EPOCH_INIT;
    struct tr_scores scores = TR_SCORES_INIT;
    const char *metric = tr_run_value(run, "metric");
    many->by_loss = metric != NULL && strcmp(metric, "loss") == 0;
    if (!info->has_best || metric == NULL ||
        tr_run_get_epoch(run, info->best, &best, &scores, NULL) != 0 || !best.evaluated)
        return (double)NAN;
    return many->by_loss                     ? scores.loss
           : strcmp(metric, "roc-auc") == 0  ? scores.roc_auc
           : strcmp(metric, "macro-f1") == 0 ? scores.macro_f1
                                             : scores.accuracy;
}

static size_t shape_of(const struct tr_run *run)
{
    const char *chosen = tr_run_value(run, "tried_chosen");
    size_t shape = 0;
    while (shape < SHAPES_COUNT && (chosen == NULL || strcmp(chosen, SHAPES[shape]) != 0))
        shape++;
    return shape;
}

/* *complete: the run is there, with what came of it. */
static int read_run(struct many *many, const struct train_values *values, bool *complete,
                    struct many_scores *scores, struct tr_error *error)
{
    struct tr_run_info info = TR_RUN_INFO_INIT;
    struct tr_scores test = TR_SCORES_INIT;
    struct tr_run *run;
    const double none = (double)NAN;
    *complete = false;
    *scores = (struct many_scores){ none, none, none, none, SHAPES_COUNT };
    if (!tr_run_named(values->run))
        return 0;
    int rv = tr_run_open(values->run, &run, error);
    if (rv != 0)
        return rv;
    rv = tr_run_info(run, &info, error);
    *complete = rv == 0 && info.complete && strcmp(info.graph, many->graph) == 0 &&
                has_options(run, values);
    if (*complete) {
        scores->validation = validation_of(many, run, &info);
        scores->shape = shape_of(run);
    }
    if (*complete && tr_run_get_test(run, &test, NULL) == 0) {
        scores->accuracy = test.accuracy;
        scores->macro_f1 = test.macro_f1;
        scores->roc_auc = test.roc_auc;
    }
    tr_run_close(run);
    return rv;
}

static void say_run(const struct many *many, const char *path, bool before,
                    const struct many_scores *scores)
{
    if (many->values->quiet)
        return;
    fprintf(stderr, "%s:", path);
    if (isfinite(scores->validation))
        fprintf(stderr, " validation %.4f", scores->validation);
    if (isfinite(scores->accuracy))
        fprintf(stderr, ", test accuracy %.4f", scores->accuracy);
    if (isfinite(scores->roc_auc))
        fprintf(stderr, ", test ROC AUC %.4f", scores->roc_auc);
    fprintf(stderr, "%s\n", before ? " (it was complete)" : "");
}

/* Trains one run, goes on with it, or reads what came of it. */
static int train_one(struct many *many, struct train_values *values, struct many_scores *scores,
                     struct tr_error *error)
{
    bool complete = false;
    int rv = values->replace ? 0 : read_run(many, values, &complete, scores, error);
    bool before = complete;
    if (rv != 0)
        return rv;
    if (!complete) {
        values->resume = !values->replace;
        rv = train_run_alone(values, many->graph, error);
        if (rv == 0)
            rv = read_run(many, values, &complete, scores, error);
    }
    if (rv == 0)
        say_run(many, values->run, before, scores);
    return rv;
}

static int train_all(struct many *many, struct tr_error *error)
{
    int rv = 0;
    for (uint32_t point = 0; point < many->num_points && rv == 0; point++)
        for (uint32_t seed = 0; seed < many->num_seeds && rv == 0; seed++) {
            struct train_values values = *many->values;
            char *path = many_path(many, point,
                                   many->values->seeds != NULL ? &many->seeds[seed] : NULL);
            if (path == NULL)
                return tr_error_set(error, TR_ENOMEM, "no memory for the folders of runs");
            values.run = path;
            values.seed = many->seeds[seed];
            for (uint32_t a = 0; a < many->num_axes && rv == 0; a++)
                rv = set_value(many->axes[a].spec, &values, value_of_axis(many, point, a), error);
            if (rv == 0)
                rv = train_one(many, &values, &many->scores[(size_t)point * many->num_seeds + seed],
                               error);
            free(path);
        }
    return rv;
}

struct spread {
    double mean, deviation;
};

/* The mean over the seeds of a point, and the deviation of a sample; NaN: not of all. */
static struct spread spread_of(const struct many *many, uint32_t point, size_t offset)
{
    double sum = 0, squares = 0;
    uint32_t count = many->num_seeds;
    const struct many_scores *scores = many->scores + (size_t)point * count;
    for (uint32_t i = 0; i < count; i++)
        sum += *(const double *)(const void *)((const char *)&scores[i] + offset);
    double mean = sum / count;
    for (uint32_t i = 0; i < count; i++) {
        double off = *(const double *)(const void *)((const char *)&scores[i] + offset) - mean;
        squares += off * off;
    }
    return (struct spread){ mean, count > 1 ? sqrt(squares / (count - 1)) : 0 };
}

static void report_spread(struct report *report, const struct many *many, const char *key,
                          const char *label, struct spread spread)
{
    char text[64];
    if (!isfinite(spread.mean))
        return;
    if (report->json) {
        report_real(report, key, label, spread.mean);
        if (many->num_seeds > 1) {
            snprintf(text, sizeof text, "%s_deviation", key);
            report_real(report, text, label, spread.deviation);
        }
        return;
    }
    if (many->num_seeds > 1)
        snprintf(text, sizeof text, "%.4f \u00b1 %.4f", spread.mean, spread.deviation);
    else
        snprintf(text, sizeof text, "%.4f", spread.mean);
    report_text(report, key, label, text);
}

/* "deep", or "sage 1, deep 2" where seeds chose different ones. */
static void report_shapes(struct report *report, const struct many *many, uint32_t point)
{
    char text[64] = "";
    size_t used = 0;
    for (size_t shape = 0; shape < SHAPES_COUNT; shape++) {
        uint32_t count = 0;
        for (uint32_t seed = 0; seed < many->num_seeds; seed++)
            count += many->scores[(size_t)point * many->num_seeds + seed].shape == shape;
        if (count == many->num_seeds)
            used += (size_t)snprintf(text, sizeof text, "%s", SHAPES[shape]);
        else if (count > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %u",
                                     used > 0 ? ", " : "", SHAPES[shape], count);
    }
    if (used > 0)
        report_text(report, "tried_chosen", "tried and chosen", text);
}

static void report_point(struct report *report, const struct many *many, uint32_t point)
{
    for (uint32_t a = 0; a < many->num_axes; a++)
        report_text(report, many->axes[a].spec->name, many->axes[a].spec->name,
                    value_of_axis(many, point, a));
    report_spread(report, many, "val", "validation",
                  spread_of(many, point, offsetof(struct many_scores, validation)));
    report_spread(report, many, "test_accuracy", "test accuracy",
                  spread_of(many, point, offsetof(struct many_scores, accuracy)));
    report_spread(report, many, "test_macro_f1", "test macro-F1",
                  spread_of(many, point, offsetof(struct many_scores, macro_f1)));
    report_spread(report, many, "test_roc_auc", "test ROC AUC",
                  spread_of(many, point, offsetof(struct many_scores, roc_auc)));
    report_shapes(report, many, point);
}

/* The point of the best mean validation, by which alone one may choose; num_points: none has any. */
static uint32_t find_best(const struct many *many)
{
    uint32_t best = many->num_points;
    double most = 0;
    for (uint32_t point = 0; point < many->num_points; point++) {
        double mean = spread_of(many, point, offsetof(struct many_scores, validation)).mean;
        double worth = many->by_loss ? -mean : mean;
        if (!isfinite(mean) || (best < many->num_points && worth <= most))
            continue;
        best = point;
        most = worth;
    }
    return best;
}

static int report_all(const struct many *many, struct tr_error *error)
{
    struct report report;
    report_init(&report, many->values->json);
    report_count(&report, "seeds", "seeds", many->num_seeds);
    if (many->num_axes == 0)
        report_point(&report, many, 0);
    for (uint32_t point = 0; point < many->num_points && many->num_axes > 0; point++) {
        report_row(&report, "points");
        report_point(&report, many, point);
    }
    if (many->num_axes > 0)
        report_rows_end(&report);
    uint32_t best = find_best(many);
    if (many->num_axes > 0 && best < many->num_points) {
        char *path = many_path(many, best, NULL);
        report_text(&report, "best", "best by validation", path != NULL ? path : "");
        free(path);
    }
    report_text(&report, "run", "run", many->values->run);
    return report_print(&report, error);
}

static int open_many(struct many *many, struct tr_error *error)
{
    const struct train_values *values = many->values;
    int rv;
    if (values->seeds != NULL) {
        rv = train_many_read_seeds(values->seeds, &many->seeds, &many->num_seeds, error);
    } else {
        many->num_seeds = 1;
        many->seeds = malloc(sizeof *many->seeds);
        rv = many->seeds == NULL ? tr_error_set(error, TR_ENOMEM, "no memory for a seed") : 0;
        if (rv == 0)
            many->seeds[0] = values->seed;
    }
    if (rv == 0)
        rv = read_axes(many, error);
    if (rv != 0)
        return rv;
    many->scores = calloc((size_t)many->num_points * many->num_seeds, sizeof *many->scores);
    return many->scores != NULL ? 0 : tr_error_set(error, TR_ENOMEM, "no memory for the scores");
}

int train_many(const struct invocation *invocation, const struct train_values *values,
               const char *graph)
{
    struct tr_error error = TR_ERROR_INIT;
    struct many many = { .invocation = invocation, .values = values, .graph = graph };
    int code = EXIT_DONE;
    if (open_many(&many, &error) != 0)
        code = fail_usage(invocation, &error);
    else if (train_all(&many, &error) != 0 || report_all(&many, &error) != 0)
        code = fail(invocation, &error);
    for (uint32_t a = 0; a < many.num_axes; a++)
        free(many.axes[a].text);
    free(many.seeds);
    free(many.scores);
    return code;
}
