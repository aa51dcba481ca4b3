/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe train --seeds` and `--sweep`: several runs, one after the other, each in a folder of its
 * own: RUNDIR/lr=0.01,hidden=64/seed-3.
 *
 * What came of a run is read from its folder, whether it was trained now or before: the same command
 * goes on where an earlier one was stopped, and a run that is complete is not trained again.
 *
 * Invariant: scores stand in the order of points (run_grid.h) and, of each, seeds.
 */
#include "cli/train/train_many.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <troupe/model.h>
#include <troupe/run.h>

#include "cli/lib/command_log.h"
#include "cli/lib/fail.h"
#include "cli/lib/report.h"
#include "cli/lib/run_score.h"
#include "cli/train/run_grid.h"

/* Shapes of a model that trials choose from, by their names in config.json. */
static const char *const SHAPES[] = { "sage", "gcn", "deep" };
#define SHAPES_COUNT (sizeof SHAPES / sizeof *SHAPES)

/* NaN: there is none. */
struct many_scores {
    double validation, accuracy, macro_f1, roc_auc, mrr;
    size_t shape; /* SHAPES_COUNT: none was tried */
};

struct many {
    const struct train_values *values;
    const char *graph;
    struct tr_log_file *log; /* NULL: the standard error */
    struct run_grid grid;
    struct many_scores *scores; /* [num_points][num_seeds] */
    bool by_loss;               /* the smallest validation is the best */
};

static size_t shape_of(const struct tr_run *run)
{
    const char *chosen = tr_run_value(run, "tried_chosen");
    size_t shape = 0;
    while (shape < SHAPES_COUNT && (chosen == NULL || strcmp(chosen, SHAPES[shape]) != 0))
        shape++;
    return shape;
}

/* The same file: a path may be spelled in several ways, and seen from another folder. */
static bool is_same_graph(const char *was, const char *now)
{
    struct stat before, after;
    return strcmp(was, now) == 0 ||
           (stat(was, &before) == 0 && stat(now, &after) == 0 && before.st_dev == after.st_dev &&
            before.st_ino == after.st_ino);
}

/* Refuses a run of other options, and one of another graph that is complete: neither goes on, and
 * none is replaced by itself. *complete: there is nothing left to train. */
static int judge_run(const struct many *many, const struct train_values *values,
                     const struct tr_run *run, const struct tr_run_info *info, bool *complete,
                     struct tr_error *error)
{
    struct tr_train_options options;
    bool longer;
    int rv = train_configure(values, &options, error);
    if (rv == 0)
        rv = tr_run_compare(run, &options, &longer, error);
    if (rv != 0)
        return rv;
    *complete = info->complete && !longer;
    if (info->complete && !is_same_graph(info->graph, many->graph))
        return tr_error_set(error, TR_EMISMATCH,
                            "%s: the run was trained on %s, and the command names %s; give "
                            "--replace, or another folder as --run",
                            info->path, info->graph, many->graph);
    return 0;
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
    *scores = (struct many_scores){ none, none, none, none, none, SHAPES_COUNT };
    if (!tr_run_named(values->run))
        return 0;
    int rv = tr_run_open(values->run, &run, error);
    if (rv != 0)
        return rv;
    rv = tr_run_info(run, &info, error);
    if (rv == 0)
        rv = judge_run(many, values, run, &info, complete, error);
    if (*complete) {
        const char *metric = tr_run_value(run, "metric");
        many->by_loss = metric != NULL && strcmp(metric, "loss") == 0;
        scores->validation = run_score(run, &info);
        scores->shape = shape_of(run);
    }
    if (*complete && tr_run_get_test(run, &test, NULL) == 0) {
        scores->accuracy = test.accuracy;
        scores->macro_f1 = test.macro_f1;
        scores->roc_auc = test.roc_auc;
        scores->mrr = test.mrr;
    }
    tr_run_close(run);
    return rv;
}

static void say_run(const struct many *many, const char *path, bool before,
                    const struct many_scores *scores)
{
    char *text = NULL;
    size_t length;
    FILE *out = many->values->quiet && many->log == NULL ? NULL : open_memstream(&text, &length);
    if (out == NULL)
        return;
    fprintf(out, "%s:", path);
    if (isfinite(scores->validation))
        fprintf(out, " validation %.4f", scores->validation);
    if (isfinite(scores->accuracy))
        fprintf(out, ", test accuracy %.4f", scores->accuracy);
    if (isfinite(scores->roc_auc))
        fprintf(out, ", test ROC AUC %.4f", scores->roc_auc);
    if (isfinite(scores->mrr))
        fprintf(out, ", test MRR %.4f", scores->mrr);
    fprintf(out, "%s", before ? " (it was complete)" : "");
    if (fclose(out) == 0)
        command_log_say(many->log, TR_LOG_INFO, "", text);
    free(text);
}

/* Trains one run, goes on with it, or reads what came of it. */
static int train_one(struct many *many, struct train_values *values, struct many_scores *scores,
                     struct tr_error *error)
{
    bool complete = false;
    const bool resume = values->resume; /* of the command: what is left open is then the run's */
    int rv = values->replace ? 0 : read_run(many, values, &complete, scores, error);
    bool before = complete;
    if (rv != 0)
        return rv;
    if (!complete) {
        values->resume = !values->replace;
        rv = train_run_alone(values, many->graph, many->log, error);
        values->resume = resume;
        if (rv == 0)
            rv = read_run(many, values, &complete, scores, error);
    }
    if (rv == 0)
        say_run(many, values->run, before, scores);
    return rv;
}

/* A run that a signal stopped says how it alone goes on. */
static void say_which_stopped(const struct many *many, const char *path, struct tr_error *error)
{
    char text[TR_ERROR_MESSAGE_MAX];
    size_t length = strcspn(error->message, ";");
    snprintf(text, sizeof text, "%.*s", (int)length, error->message);
    (void)tr_error_set(error, TR_ECANCELED, "%s: %s; give the same command%s to continue", path,
                       text, many->values->replace ? " without --replace" : "");
}

/* *board: its part of the folder for TensorBoard; NULL: there is none. Both are to be freed. */
static int name_folders(const struct many *many, uint32_t point, uint32_t seed, char **path,
                        char **board, struct tr_error *error)
{
    const struct train_values *values = many->values;
    const uint64_t *named = values->seeds != NULL ? &many->grid.seeds[seed] : NULL;
    *path = run_grid_path(&many->grid, values->run, point, named);
    *board = values->tensorboard != NULL
                 ? run_grid_path(&many->grid, values->tensorboard, point, named)
                 : NULL;
    if (*path != NULL && (*board != NULL || values->tensorboard == NULL))
        return 0;
    free(*path);
    free(*board);
    return tr_error_set(error, TR_ENOMEM, "no memory for the folders of runs");
}

static int train_all(struct many *many, struct tr_error *error)
{
    const struct run_grid *grid = &many->grid;
    int rv = 0;
    for (uint32_t point = 0; point < grid->num_points && rv == 0; point++)
        for (uint32_t seed = 0; seed < grid->num_seeds && rv == 0; seed++) {
            struct train_values values;
            char *path, *board;
            rv = name_folders(many, point, seed, &path, &board, error);
            if (rv != 0)
                return rv;
            rv = run_grid_take(grid, point, &values, error);
            values.run = path;
            values.tensorboard = board;
            values.seed = grid->seeds[seed];
            if (rv == 0)
                rv = train_one(many, &values, &many->scores[(size_t)point * grid->num_seeds + seed],
                               error);
            if (rv == TR_ECANCELED)
                say_which_stopped(many, path, error);
            free(path);
            free(board);
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
    uint32_t count = many->grid.num_seeds;
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
        if (many->grid.num_seeds > 1) {
            snprintf(text, sizeof text, "%s_deviation", key);
            report_real(report, text, label, spread.deviation);
        }
        return;
    }
    if (many->grid.num_seeds > 1)
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
        for (uint32_t seed = 0; seed < many->grid.num_seeds; seed++)
            count += many->scores[(size_t)point * many->grid.num_seeds + seed].shape == shape;
        if (count == many->grid.num_seeds)
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
    for (uint32_t a = 0; a < many->grid.num_axes; a++)
        report_text(report, many->grid.axes[a].spec->name, many->grid.axes[a].spec->name,
                    run_grid_value(&many->grid, point, a));
    report_spread(report, many, "val", "validation",
                  spread_of(many, point, offsetof(struct many_scores, validation)));
    report_spread(report, many, "test_accuracy", "test accuracy",
                  spread_of(many, point, offsetof(struct many_scores, accuracy)));
    report_spread(report, many, "test_macro_f1", "test macro-F1",
                  spread_of(many, point, offsetof(struct many_scores, macro_f1)));
    report_spread(report, many, "test_roc_auc", "test ROC AUC",
                  spread_of(many, point, offsetof(struct many_scores, roc_auc)));
    report_spread(report, many, "test_mrr", "test MRR",
                  spread_of(many, point, offsetof(struct many_scores, mrr)));
    report_shapes(report, many, point);
}

/* The point of the best mean validation, by which alone one may choose; num_points: none has any. */
static uint32_t find_best(const struct many *many)
{
    uint32_t best = many->grid.num_points;
    double most = 0;
    for (uint32_t point = 0; point < many->grid.num_points; point++) {
        double mean = spread_of(many, point, offsetof(struct many_scores, validation)).mean;
        double worth = many->by_loss ? -mean : mean;
        if (!isfinite(mean) || (best < many->grid.num_points && worth <= most))
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
    report_count(&report, "seeds", "seeds", many->grid.num_seeds);
    if (many->grid.num_axes == 0)
        report_point(&report, many, 0);
    for (uint32_t point = 0; point < many->grid.num_points && many->grid.num_axes > 0; point++) {
        report_row(&report, "points");
        report_point(&report, many, point);
    }
    if (many->grid.num_axes > 0)
        report_rows_end(&report);
    uint32_t best = find_best(many);
    if (many->grid.num_axes > 0 && best < many->grid.num_points) {
        char *path = run_grid_path(&many->grid, many->values->run, best, NULL);
        report_text(&report, "best", "best by validation", path != NULL ? path : "");
        free(path);
    }
    report_text(&report, "run", "run", many->values->run);
    return report_print(&report, error);
}

static int open_many(struct many *many, const bool *given, struct tr_error *error)
{
    int rv = run_grid_init(&many->grid, many->values, given, error);
    if (rv != 0)
        return rv;
    many->scores = calloc((size_t)many->grid.num_points * many->grid.num_seeds,
                          sizeof *many->scores);
    return many->scores != NULL ? 0 : tr_error_set(error, TR_ENOMEM, "no memory for the scores");
}

int train_many(const struct invocation *invocation, const struct train_values *values,
               const char *graph)
{
    struct tr_error error = TR_ERROR_INIT;
    struct many many = { .values = values, .graph = graph, .log = invocation->log };
    int code = EXIT_DONE;
    if (open_many(&many, invocation->given, &error) != 0)
        code = fail_usage(invocation, &error);
    else if (train_all(&many, &error) != 0 || report_all(&many, &error) != 0)
        code = fail(invocation, &error);
    run_grid_fini(&many.grid);
    free(many.scores);
    return code;
}
