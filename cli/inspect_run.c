/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's folder holds: its epochs and scores, its checkpoints, what its model learned of each
 * relation, its options, and the history of its job. */
#include "config.h" /* asprintf */

#include "cli/inspect_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <troupe/checkpoint.h>
#include <troupe/model.h>
#include <troupe/run.h>

#include "cli/inspect_history.h"

static void report_run_scores(struct report *report, const char *split,
                              const struct tr_scores *scores)
{
    report_row(report, "scores");
    report_text(report, "split", "scores of", split);
    report_count(report, "labelled", "labelled", scores->labelled);
    report_real(report, "loss", "loss", scores->loss);
    report_real(report, "accuracy", "accuracy", scores->accuracy);
    report_real(report, "macro_f1", "macro-F1", scores->macro_f1);
    if (isfinite(scores->roc_auc))
        report_real(report, "roc_auc", "ROC AUC", scores->roc_auc);
    if (isfinite(scores->mrr))
        report_real(report, "mrr", "MRR", scores->mrr);
}

/* Sums over the epochs of a run. */
struct run_sums {
    uint64_t steps;
    double seconds;
    struct tr_run_epoch last;
};

static int report_run_training(struct report *report, const struct tr_run *run,
                               const struct tr_run_info *info, struct tr_error *error)
{
    struct tr_scores best_scores = TR_SCORES_INIT, test = TR_SCORES_INIT;
    struct tr_run_epoch best = TR_RUN_EPOCH_INIT;
    struct run_sums sums = { .last = TR_RUN_EPOCH_INIT };
    int rv = 0;
    for (uint64_t i = 0; i < info->num_epochs && rv == 0; i++) {
        rv = tr_run_get_epoch(run, i, &sums.last, NULL, error);
        sums.steps += sums.last.steps;
        sums.seconds += isfinite(sums.last.seconds) ? sums.last.seconds : 0;
    }
    if (rv == 0 && info->has_best)
        rv = tr_run_get_epoch(run, info->best, &best, &best_scores, error);
    if (rv == 0 && info->tested)
        rv = tr_run_get_test(run, &test, error);
    if (rv != 0)
        return rv;
    report_count(report, "epochs_done", "epochs done", sums.last.epoch);
    report_count(report, "steps", "steps", sums.steps);
    report_seconds(report, "seconds", "time of epochs", sums.seconds);
    if (info->num_epochs > 0)
        report_real(report, "train_loss", "training loss of the last epoch", sums.last.train_loss);
    if (info->has_best)
        report_count(report, "best_epoch", "best epoch", best.epoch);
    if (info->has_best)
        report_run_scores(report, "validation", &best_scores);
    if (info->tested)
        report_run_scores(report, "test", &test);
    report_rows_end(report);
    return 0;
}

static int report_run_checkpoints(struct report *report, const char *run, struct tr_error *error)
{
    struct tr_checkpoints_info info = TR_CHECKPOINTS_INFO_INIT;
    struct tr_checkpoint_info newest = TR_CHECKPOINT_INFO_INIT;
    struct tr_checkpoints *list;
    struct stat facts;
    char *path;
    if (asprintf(&path, "%s/checkpoints", run) < 0)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", run);
    /* Only a run that saves has the folder, which is empty until the first checkpoint. */
    bool there = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    int rv = there ? tr_checkpoints_open(path, &list, error) : TR_ENOENT;
    free(path);
    if (rv == TR_ENOENT)
        report_count(report, "checkpoints", "checkpoints", 0);
    if (rv != 0)
        return rv == TR_ENOENT ? 0 : rv;
    rv = tr_checkpoints_info(list, &info, error);
    if (rv == 0 && info.count > 0)
        rv = tr_checkpoints_get(list, 0, &newest, error);
    tr_checkpoints_close(list);
    report_count(report, "checkpoints", "checkpoints", info.count);
    if (info.count > 0)
        report_count(report, "checkpoint_step", "step of the newest", newest.step);
    return rv;
}

/* The edge types of rgcn and gat, with the parameters that each has for itself. */
static int report_run_relations(struct report *report, const char *run, struct tr_error *error)
{
    struct tr_model_info info = TR_MODEL_INFO_INIT;
    struct tr_model *model;
    int rv = tr_model_open(run, &model, error);
    if (rv != 0)
        return rv;
    rv = tr_model_info(model, &info, error);
    for (uint64_t i = 0; rv == 0 && i < info.num_relations; i++) {
        const char *name = NULL;
        uint64_t parameters = 0;
        rv = tr_model_relation(model, i, &name, &parameters, error);
        if (rv != 0)
            break;
        report_row(report, "relations");
        report_text(report, "type", "relation", name);
        report_count(report, "parameters", "parameters", parameters);
    }
    report_rows_end(report);
    tr_model_close(model);
    return rv;
}

static int report_run(struct report *report, const struct tr_run *run, struct tr_error *error)
{
    struct tr_run_info info = TR_RUN_INFO_INIT;
    int rv = tr_run_info(run, &info, error);
    if (rv != 0)
        return rv;
    report_text(report, "kind", "kind", "training run");
    report_flag(report, "complete", "complete", info.complete);
    report_text(report, "graph", "graph", info.graph);
    report_text(report, "version", "trained by version", info.version);
    report_text(report, "kernels", "computed by", info.kernels);
    report_flag(report, "model", "has a model", info.has_model);
    if (info.has_model)
        report_count(report, "parameters", "parameters", info.parameters);
    rv = report_run_checkpoints(report, info.path, error);
    if (rv == 0)
        rv = report_run_training(report, run, &info, error);
    if (rv == 0 && info.has_model)
        rv = report_run_relations(report, info.path, error);
    for (uint64_t i = 0; i < info.num_options && rv == 0; i++) {
        const char *name, *value;
        rv = tr_run_option(run, i, &name, &value, error);
        if (rv != 0)
            break;
        report_row(report, "options");
        report_text(report, "name", "option", name);
        report_text(report, "value", "value", value);
    }
    report_rows_end(report);
    return rv == 0 ? inspect_history(report, run, error) : rv;
}

int inspect_run(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_run *run;
    int rv = tr_run_open(path, &run, error);
    if (rv != 0)
        return rv;
    rv = report_run(report, run, error);
    tr_run_close(run);
    return rv;
}
