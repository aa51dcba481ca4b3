/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of rank 0 for all: it evaluates, keeps the run's folder and the model, and says what the
 * program may want to show. It also warns of a disk that takes nothing, whichever rank found it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <troupe/graph.h>
#include <troupe/process.h>

#include "model/model_file.h"
#include "model/training.h"
#include "runtime/base/failpoint.h"

/* A disk that takes nothing is warned of this often. */
#define WARN_EVERY_NS UINT64_C(60000000000)
#define SECOND_NS UINT64_C(1000000000)

uint64_t training_now_ns(void *arg)
{
    (void)arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void report_batches(struct training *t, uint32_t epoch, uint64_t done)
{
    char phase[TR_TASK_PHASE_MAX];
    snprintf(phase, sizeof phase, "epoch %u", epoch + 1);
    tr_task_report(t->task, phase, "batches", done,
                   tr_loader_num_batches(train_ranks_loader(&t->ranks)));
}

static void report_step(struct training *t, uint64_t done)
{
    report_batches(t, t->epoch, done);
}

/* Scores a split under a phase of its own, so that its seconds do not count as those of batches. */
static int report_scoring(struct training *t, struct run_job_split *split, const char *phase,
                          uint32_t epoch, struct scores *scores, struct error *error)
{
    tr_task_report(t->task, phase, "", 0, 0);
    int rv = run_job_evaluate(&t->job, split, t->config.evaluation == RUN_EVALUATE_EXACT, epoch,
                              scores, error);
    report_step(t, tr_loader_num_batches(train_ranks_loader(&t->ranks)));
    return rv;
}

void training_begin_epoch(struct training *t, uint32_t epoch)
{
    t->epoch = epoch;
    tr_graph_note_epochs(t->job.graph, t->config.model.epochs);
    report_step(t, 0);
}

static void step_done(void *arg, uint32_t epoch, uint64_t step, double loss)
{
    struct training *t = arg;
    tr_graph_note_loss(t->job.graph, loss);
    if (epoch != t->epoch)
        training_begin_epoch(t, epoch);
    report_step(t, step + 1);
}

static int training_keeper_evaluate(void *arg, struct model *model, struct scores *scores,
                                    struct error *error)
{
    struct training *t = arg;
    char phase[TR_TASK_PHASE_MAX];
    (void)model;
    snprintf(phase, sizeof phase, "epoch %u, validation", t->epoch + 1);
    return report_scoring(t, &t->val, phase, t->epoch, scores, error);
}

/* Where nodes of one class have no ROC AUC the loss chooses. */
static enum model_metric shown_metric(const struct training *t, const struct epoch_report *report)
{
    enum model_metric metric = t->config.model.metric;
    return isnan(scores_value(&report->scores, metric)) ? MODEL_LOSS : metric;
}

static void note_score(struct training *t, const struct epoch_report *report)
{
    enum model_metric metric = shown_metric(t, report);
    if (report->evaluated)
        tr_graph_note_score(t->job.graph, model_metric_name(metric),
                            scores_value(&report->scores, metric));
}

static void say_epoch(struct training *t, const struct epoch_report *report)
{
    char text[128];
    int used = snprintf(text, sizeof text, "loss %.4f", report->train_loss);
    enum model_metric metric = shown_metric(t, report);
    if (report->evaluated && used > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, ", validation %s %.4f%s",
                 model_metric_name(metric), scores_value(&report->scores, metric),
                 report->best ? " (best)" : "");
    task_events_say(&t->events, TR_MODEL_EPOCH, report->epoch, "epoch %u: %s", report->epoch + 1,
                    text);
}

/* A loss that stays far above where it was says that steps are too long. Once a run is enough. */
static void advise_rate(struct training *t, const struct epoch_report *report)
{
    double loss = report->train_loss;
    bool rises = loss_trend_add(&t->losses, loss);
    /* Of many processes each would say it. */
    if (!rises || t->advised || training_in_cluster(t))
        return;
    t->advised = true;
    task_events_say(&t->events, TR_MODEL_ADVICE, report->epoch,
                    "the training loss has risen from %.4f to %.4f: give a smaller options.lr than "
                    "%g, or options.normalise",
                    t->losses.lowest, loss, (double)t->config.model.lr);
}

static int epoch_done(void *arg, const struct epoch_report *report, struct error *error)
{
    struct training *t = arg;
    if (training_add_epoch(t, report) != 0)
        return error_set(error, TR_ENOMEM, "no memory for the results of epoch %u",
                         report->epoch + 1);
    /* The epoch can be pulled before the event that says so. The folder comes last: a disk that
     * refuses the line leaves the rest as it is. */
    note_score(t, report);
    say_epoch(t, report);
    advise_rate(t, report);
    /* The wait for the first batch of the next epoch is a part of that one. */
    if (report->epoch + 1 < t->config.model.epochs)
        report_batches(t, report->epoch + 1, 0);
    training_plot_epoch(t, report);
    int rv = training_write_record(t, error);
    /* A line that is refused is kept, whatever came before it. */
    int appended = run_folder_append(&t->folder, run_epoch_to_json(report), rv == 0 ? error : NULL);
    return rv == 0 ? appended : rv;
}

static int keep_best(void *arg, struct model *model, const float *weights, struct error *error)
{
    struct training *t = arg;
    /* Until it is written the folder has an older model, and training_keeper_keep() writes this one
     * once more. */
    t->model_kept = false;
    int rv = run_folder_check(&t->folder, error);
    if (rv == 0)
        rv = model_save_weights(model, weights, files_posix, t->folder.model_path, error);
    t->model_kept = rv == 0;
    t->any_kept = t->any_kept || rv == 0;
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_RUN_BEST_SAVED);
    return rv;
}

static int rewind_run(void *arg, uint64_t mark, struct error *error)
{
    struct training *t = arg;
    /* Both are forgotten before the disk is asked, which may refuse: what was found since the
     * checkpoint is void in any case. */
    t->model_kept = false;
    training_forget_end(t);
    training_restart_plots(t);
    return run_folder_rewind(&t->folder, mark, error);
}

/* Says what is lost with a disk that took nothing for as long as it was waited for. */
static void say_lost(struct training *t, enum training_operation operation, struct error *error)
{
    char why[ERROR_TEXT_MAX];
    /* This is a copy, since error_set writes over the text. */
    memcpy(why, error->text, sizeof why);
    const char *lost = operation != TRAINING_KEEP ? "the run cannot go on"
                       : t->model_kept            ? "the last lines of metrics.jsonl are lost"
                       : t->any_kept ? "the trained model is lost, but for an earlier best one"
                                     : "the trained model is lost";
    const char *remedy = t->checkpoints != NULL
                             ? "; make room, and options.resume goes on from the last checkpoint"
                             : "";
    error_set(error, error->code, "%s; it was tried again for %llu s (options.disk_wait_ns): %s%s",
              why, (unsigned long long)((uint64_t)t->options.disk_wait_ns / SECOND_NS), lost,
              remedy);
    task_events_say(&t->events, TR_MODEL_LOST, 0, "%s", lost);
}

/* Each of the two has at most a line a minute, however many ranks there are and however often they
 * try. */
static void training_keeper_refused(void *arg, enum training_operation operation, uint64_t left_ns,
                                    bool given_up, struct error *error)
{
    struct training *t = arg;
    bool gone_on = operation == TRAINING_SAVE || operation == TRAINING_KEEP_BEST ||
                   operation == TRAINING_REPORT;
    bool waits = operation == TRAINING_RESTORE || operation == TRAINING_REWIND ||
                 operation == TRAINING_KEEP;
    uint64_t now = training_now_ns(NULL);
    /* This comes before the bound on lines: what is lost is said in any case. */
    if (given_up && waits)
        say_lost(t, operation, error);
    uint64_t *warned_ns = &t->warned_ns[gone_on];
    if (given_up || (*warned_ns != 0 && now - *warned_ns < WARN_EVERY_NS))
        return;
    *warned_ns = now;
    if (gone_on)
        task_events_say(&t->events, TR_MODEL_WARNING, 0, "%s; training goes on without %s",
                        error->text,
                        operation == TRAINING_SAVE        ? "this checkpoint"
                        : operation == TRAINING_KEEP_BEST ? "the best model on the disk"
                                                          : "these lines, which are written later");
    else
        task_events_say(&t->events, TR_MODEL_WARNING, 0, "%s; it is tried again for %llu s",
                        error->text, (unsigned long long)(left_ns / SECOND_NS));
}

static int training_keeper_keep(void *arg, struct error *error)
{
    struct training *t = arg;
    int rv = run_folder_check(&t->folder, error);
    if (rv == 0 && !t->model_kept)
        rv = model_save(t->job.model, files_posix, t->folder.model_path, error);
    t->model_kept = t->model_kept || rv == 0;
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_MODEL_SAVED);
    return rv;
}

static int training_keeper_test(void *arg, struct error *error)
{
    struct training *t = arg;
    struct scores scores;
    if (t->tested)
        return 0;
    int rv = report_scoring(t, &t->test, "test", 0, &scores, error);
    if (rv == 0 && scores.labelled > 0)
        training_set_tested(t, &scores);
    return rv;
}

static int append_test(struct training *t, uint32_t epochs, struct error *error)
{
    if (!t->tested || t->test_appended)
        return 0;
    /* The line is noted before it is written: run_folder_sync() writes one that was refused. */
    t->test_appended = true;
    training_plot_test(t, epochs);
    return run_folder_append(
        &t->folder, json_pack("{s:o}", "test", run_scores_to_json(&t->test_scores)), error);
}

/* A launcher that lives reads sooner or later, and must know it; one that does not asks this process
 * to stop, or is missed. */
static void say_complete(const struct training *t)
{
    while (tr_process_say_complete(TR_PROCESS_SAY_NS, NULL) == TR_ETIMEDOUT &&
           !cancel_asked(&t->cancel)) {
    }
}

void training_say_trained(struct training *t, uint32_t epochs)
{
    if (t->options.confirm)
        training_ask_confirmed(t, epochs);
    else
        task_events_say(&t->events, TR_MODEL_TRAINED, epochs, "%s", "");
}

/* The program passes the result on, and the launcher is notified, before anybody learns of the end:
 * it must know that the job is complete when the first process ends because of that. */
static int training_keeper_kept(void *arg, const struct trainer_result *result, struct error *error)
{
    struct training *t = arg;
    int rv = append_test(t, result->epochs_run, error);
    if (rv == 0)
        rv = run_folder_sync(&t->folder, error);
    if (rv == 0) {
        training_set_result(t, result);
        training_say_trained(t, result->epochs_run);
    }
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_REPORT_PRINTED);
    if (rv == 0 && training_in_cluster(t))
        say_complete(t);
    return rv;
}

struct trainer_hooks training_hooks(struct training *t)
{
    /* Every process says the same here: the parts are those of the one configuration. */
    bool validates = run_job_holds_out(&t->job, TR_SPLIT_VALIDATION);
    bool tests = run_job_holds_out(&t->job, TR_SPLIT_TEST);
    return (struct trainer_hooks){
        .arg = t,
        .evaluate = validates ? training_keeper_evaluate : NULL,
        .epoch_done = epoch_done,
        .step_done = step_done,
        .rewind = rewind_run,
        .keep_best = keep_best,
        .keep = training_keeper_keep,
        .test = tests ? training_keeper_test : NULL,
        .kept = training_keeper_kept,
        .refused = training_keeper_refused,
        .now_ns = training_now_ns,
    };
}
