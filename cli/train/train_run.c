/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe train`: a training as a task, shown while it runs and reported at its end.
 *
 * All that the task says is pulled by the main thread, which alone writes to the standard output,
 * so a launcher reads notices in the order in which things happened.
 */
#define _GNU_SOURCE /* asprintf */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <troupe/checkpoint.h>
#include <troupe/model.h>
#include <troupe/process.h>
#include <troupe/run.h>

#include "cli/launch/job_process.h"
#include "cli/lib/canceller.h"
#include "cli/lib/fail.h"
#include "cli/lib/graph_path.h"
#include "cli/lib/log_printer.h"
#include "cli/lib/next_step.h"
#include "cli/lib/progress.h"
#include "cli/lib/report.h"
#include "cli/lib/sparkline.h"
#include "cli/train/stall.h"
#include "cli/train/train_many.h"

/* How often progress is pulled: as often as a bar is redrawn. */
#define LOOK_NS INT64_C(50000000)

struct command_training {
    const struct train_values *values;
    struct tr_train_options options;
    struct process process; /* of a cluster */
    bool in_cluster;
    bool one_of_many;        /* what came of it is reported with the others */
    struct tr_log_file *log; /* NULL: the standard error */
    struct log_printer printer;
    struct canceller canceller;
    struct progress progress;
    struct tr_task *task;
    bool lost;                  /* what was trained could not be written */
    struct timespec began;      /* on the monotonic clock */
    bool signalled;             /* SIGINT, SIGTERM or SIGHUP came */
    struct tr_error unreported; /* the report could not be printed */
};

/* The score that the run goes by. */
static double value_of(const struct command_training *t, const struct tr_scores *scores)
{
    /* "auto" goes by ROC AUC where there is one, which is of two classes, or of links. */
    double chosen = isfinite(scores->roc_auc) ? scores->roc_auc : scores->accuracy;
    const double values[] = { chosen,          scores->accuracy, scores->macro_f1,
                              scores->roc_auc, scores->loss,     scores->mrr };
    return values[t->values->metric];
}

/* Epochs that a line of blocks is made of: several a block, and few beside any training. */
#define SPARK_EPOCHS 200u

/* Loss and score over the epochs, for a person who watches: "1.15 ▇▅▃▂▁ 0.2". */
static void report_sparklines(const struct command_training *t, uint32_t epochs,
                              struct report *report)
{
    double losses[SPARK_EPOCHS], scores[SPARK_EPOCHS];
    char text[SPARKLINE_TEXT_MAX];
    uint32_t taken = 0, wanted = epochs < SPARK_EPOCHS ? epochs : SPARK_EPOCHS;
    bool utf8 = sparkline_has_utf8();
    for (uint32_t i = 0; i < wanted; i++) {
        struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
        struct tr_scores validation = TR_SCORES_INIT;
        /* The first and the last are among them. */
        uint32_t number = wanted < 2 ? 0 : (uint32_t)((uint64_t)i * (epochs - 1) / (wanted - 1));
        /* Epochs of an earlier life of the process are not known here. */
        if (tr_train_get_epoch(t->task, number, &epoch, &validation, NULL) != 0)
            continue;
        losses[taken] = epoch.train_loss;
        scores[taken++] = epoch.evaluated ? value_of(t, &validation) : (double)NAN;
    }
    if (sparkline_write(text, losses, taken, utf8))
        report_text(report, "loss_line", "loss", text);
    if (sparkline_write(text, scores, taken, utf8))
        report_text(report, "score_line", "score", text);
}

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* The hosts of a cluster may have no path in common, so what comes behind a job is not known. */
static void report_next(const struct command_training *t, struct report *report)
{
    const char *run = t->values->run;
    char *out;
    if (t->in_cluster || run == NULL)
        return;
    /* Of links there are rows to score pairs by. */
    bool links = strcmp(t->options.task, "link") == 0;
    if (asprintf(&out, "%s/%s", run, links ? "outputs.npy" : "predictions.csv") < 0) {
        report->failed = true;
        return;
    }
    next_step(report, (const char *const[]){ "troupe", "infer", t->options.graph, "--run", run,
                                             "--out", out, NULL });
    free(out);
}

/* Scores of the shapes of a model that were tried before the training, as the run has them. */
static void report_tried(const struct command_training *t, struct report *report)
{
    static const struct {
        const char *key, *label;
    } TRIED[] = { { "tried_sage", "tried sage" },
                  { "tried_gcn", "tried gcn" },
                  { "tried_deep", "tried deep" } };
    struct tr_run *run;
    if (tr_run_open(t->values->run, &run, NULL) != 0)
        return;
    for (size_t i = 0; i < sizeof TRIED / sizeof *TRIED; i++) {
        const char *score = tr_run_value(run, TRIED[i].key);
        if (score != NULL)
            report_real(report, TRIED[i].key, TRIED[i].label, strtod(score, NULL));
    }
    const char *chosen = tr_run_value(run, "tried_chosen");
    if (chosen != NULL)
        report_text(report, "tried_chosen", "tried and chosen", chosen);
    tr_run_close(run);
}

static int report_run(const struct command_training *t, struct tr_error *error)
{
    struct report report;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_scores validation = TR_SCORES_INIT, test = TR_SCORES_INIT;
    int rv = tr_train_get_result(t->task, &result, &validation, &test, error);
    if (rv != 0)
        return rv;
    report_init(&report, t->values->json);
    report_count(&report, "epochs", "epochs", result.epochs);
    report_real(&report, "train_loss", "training loss of the last epoch", result.train_loss);
    if (result.has_best) {
        report_count(&report, "best_epoch", "best epoch", result.best_epoch + 1);
        report_real(&report, "val", "validation in the best epoch", value_of(t, &validation));
    }
    if (result.tested) {
        report_real(&report, "test_accuracy", "test accuracy", test.accuracy);
        report_real(&report, "test_macro_f1", "test macro-F1", test.macro_f1);
        if (isfinite(test.roc_auc))
            report_real(&report, "test_roc_auc", "test ROC AUC", test.roc_auc);
        if (isfinite(test.mrr))
            report_real(&report, "test_mrr", "test MRR", test.mrr);
    }
    /* A person is told of it where it happened, a script always. */
    if (t->values->json)
        report_flag(&report, "stopped_early", "ended by patience", result.stopped_early);
    else if (result.stopped_early)
        report_text(&report, "stopped_early", "ended by",
                    "patience: no better epoch came; --patience sets how long it waits");
    report_tried(t, &report);
    report_seconds(&report, "seconds", "time in all", seconds_since(&t->began));
    report_text(&report, "run", "run", t->values->run);
    /* A script reads metrics.jsonl. */
    if (!t->values->json && (t->values->sparkline || isatty(STDOUT_FILENO)))
        report_sparklines(t, result.epochs, &report);
    report_next(t, &report);
    return report_print(&report, error);
}

/* Where a bar is shown the line begins below it. The text may name options. */
static void train_run_say(const struct command_training *t, enum tr_log_level level,
                          const char *command, const char *text)
{
    if (t->progress.terminal && t->progress.running && t->log == NULL)
        fputc('\n', stderr);
    command_log_message(t->log, level, command, text, train_options);
}

/* What is for whoever watches: a script that asked for quiet gets none, a log all. */
static void train_run_inform(struct command_training *t, const char *command, const char *text)
{
    progress_end(&t->progress);
    if ((!t->values->quiet || t->log != NULL) && !t->one_of_many)
        train_run_say(t, TR_LOG_INFO, command, text);
}

static bool has_checkpoints(const struct command_training *t)
{
    char folder[PATH_MAX];
    if (t->options.checkpoints != NULL)
        return tr_checkpoints_exist(t->options.checkpoints);
    int length = snprintf(folder, sizeof folder, "%s/checkpoints", t->options.run);
    return length > 0 && (size_t)length < sizeof folder && tr_checkpoints_exist(folder);
}

/* Those of a job are in the folder that its cluster file names. */
static bool keeps_checkpoints(const struct command_training *t)
{
    struct tr_process_info info = TR_PROCESS_INFO_INIT;
    return t->options.checkpoint_every != 0 ||
           tr_process_info(t->options.process, &info, NULL) != 0 || info.checkpoints != NULL ||
           info.checkpoint_every != 0;
}

/* What a signal ended says how the run goes on, whatever the training waited for. */
static int explain_stop(const struct command_training *t, struct tr_error *error)
{
    int code = error->code;
    bool ended = code == TR_ECANCELED || code == TR_ECLOSED;
    /* The training itself says more where it has left a checkpoint. */
    if (!ended || strstr(error->message, "options.resume") != NULL)
        return code;
    if (t->in_cluster && !keeps_checkpoints(t))
        return tr_error_set(error, code,
                            "stopped by a signal; the job keeps no checkpoint: name a folder in "
                            "its cluster file, as \"checkpoints\": {\"folder\": \"DIR\"}, and a "
                            "job that is stopped can go on");
    if (t->in_cluster)
        return tr_error_set(error, code,
                            "stopped by a signal; where the job has a checkpoint, launch it with "
                            "options.resume to continue");
    if (has_checkpoints(t))
        return tr_error_set(error, code, "stopped by a signal; continue with options.resume");
    return tr_error_set(error, code,
                        "stopped by a signal before there was a checkpoint; begin again%s",
                        tr_run_named(t->options.run) ? " with options.replace" : "");
}

/* Threads that are stuck in the BLAS end with the process alone. Where memory was lacking, another
 * start would end in the same way, which the exit code says to a launcher; a process that was only
 * interrupted meanwhile may well be started again. */
static void end_stuck(const struct command_training *t, const struct tr_model_event *event)
{
    struct tr_error error = TR_ERROR_INIT;
    (void)tr_error_set(&error, TR_ECANCELED, "%s", event->text);
    /* Relaxed: the flag carries no other data. */
    if (atomic_load_explicit(&t->canceller.signals.cancelled, memory_order_relaxed))
        (void)explain_stop(t, &error);
    char *text = fail_text(error.message, train_options);
    command_log_fail(t->log, "troupe", text != NULL ? text : error.message);
    free(text);
    fflush(NULL);
    _exit(event->number != 0 && tr_process_is_launched() ? EXIT_USAGE : EXIT_FAILED);
}

static void show_metrics(const struct command_training *t, const struct tr_model_event *event)
{
    if (event->number == 0)
        process_warn_metrics(t->log, t->options.metrics, event->text);
    else if (t->in_cluster)
        printf("troupe: metrics %s\n", event->text);
}

static void say_ready(struct command_training *t, const char *kernels)
{
    struct tr_error error = TR_ERROR_INIT;
    if (!t->in_cluster)
        return;
    /* These go in either order: a launcher takes each notice by itself. */
    t->process.ready = true;
    (void)tr_process_say_kernels(kernels, TR_PROCESS_SAY_NS, NULL);
    if (tr_process_say_ready(t->process.own, TR_PROCESS_SAY_NS, &error) != 0) {
        t->unreported = error;
        tr_task_cancel(t->task);
    }
}

/* The model is written. The result is passed on before the job may end. */
static void end_training(struct command_training *t)
{
    const struct tr_error none = TR_ERROR_INIT;
    progress_end(&t->progress);
    t->unreported = none;
    if (!t->one_of_many)
        (void)report_run(t, &t->unreported);
    (void)tr_train_confirm(t->task, NULL);
}

static void train_run_show(struct command_training *t, const struct tr_model_event *event)
{
    switch (event->kind) {
    case TR_MODEL_WARNING:
        train_run_say(t, TR_LOG_WARN, "troupe train", event->text);
        break;
    case TR_MODEL_UNCHECKED:
        command_log_say(t->log, TR_LOG_WARN, "troupe", event->text);
        break;
    case TR_MODEL_STUCK:
        end_stuck(t, event);
        break;
    case TR_MODEL_STALLED:
        stall_end_process(event, t->log);
        break;
    case TR_MODEL_METRICS:
        show_metrics(t, event);
        break;
    case TR_MODEL_READY:
        say_ready(t, event->text);
        break;
    case TR_MODEL_EPOCH:
        train_run_inform(t, "", event->text);
        break;
    case TR_MODEL_CHECKPOINT:
        if (t->in_cluster)
            (void)tr_process_say_checkpoint(event->number, TR_PROCESS_SAY_NS, NULL);
        break;
    case TR_MODEL_TRAINED:
        end_training(t);
        break;
    case TR_MODEL_LOST:
        t->lost = true;
        break;
    case TR_MODEL_HEAD:
        train_run_inform(t, "", event->text);
        break;
    case TR_MODEL_ADVICE:
        train_run_inform(t, "troupe train", event->text);
        break;
    }
}

static void show_progress(struct command_training *t)
{
    struct tr_task_progress now = TR_TASK_PROGRESS_INIT;
    /* A process of a cluster says for itself whom it waits for while it is loading. */
    if (tr_task_progress(t->task, &now, NULL) == 0 && !now.finished && now.phase[0] != '\0' &&
        (!t->in_cluster || strcmp(now.unit, "batches") == 0))
        progress_step(&t->progress, now.phase, now.unit, now.done, now.total);
}

static int train_run_follow(struct command_training *t, struct tr_error *error)
{
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    int rv;
    while ((rv = tr_model_next_event(t->task, LOOK_NS, &event, NULL)) == 0 || rv == TR_ETIMEDOUT)
        if (rv == 0)
            train_run_show(t, &event);
        else
            show_progress(t);
    progress_end(&t->progress);
    rv = tr_task_wait(t->task, TR_WAIT_FOREVER, error);
    /* The report's failure stands behind one of the training, which says more, and before the
     * cancel that say_ready() made of it. */
    if (t->unreported.code != 0 && (rv == 0 || rv == TR_ECANCELED))
        rv = tr_error_set(error, t->unreported.code, "%s", t->unreported.message);
    return rv;
}

static int train_run_task(struct command_training *t, struct tr_error *error)
{
    /* The handler comes before the first thread that may be asked for its stack, since by
     * default the signal would end the process; the watch comes before the task, so that a
     * launcher that goes is noticed however long the opening takes. */
    stall_prepare();
    t->options.stack_signal = true;
    int rv = t->in_cluster ? tr_process_watch(t->process.own, error) : 0;
    if (rv == 0)
        rv = tr_train_start(&t->options, &t->task, error);
    if (rv != 0)
        return rv;
    canceller_watch(&t->canceller, t->task);
    rv = train_run_follow(t, error);
    /* The canceller lets go before the task is closed, so that no signal finds one that is gone. */
    canceller_watch(&t->canceller, NULL);
    tr_task_close(t->task);
    return rv;
}

static void train_run_dump(struct tr_task *task)
{
    (void)tr_model_dump(task, NULL);
}

/* The log says what ends the job, and what SIGUSR1 asks for. Warnings of one process alone would
 * only puzzle: what matters of them comes back as an error. Those of a cluster say which peer is
 * refused.
 */
static int train_with_signals(struct command_training *t, struct tr_error *error)
{
    int rv = log_printer_start(&t->printer, "train", t->in_cluster ? TR_LOG_WARN : TR_LOG_ERROR,
                               t->log, error);
    if (rv != 0)
        return rv;
    /* The printer starts before all that logs, and runs until that has ended. */
    t->options.log = t->printer.log;
    /* Where there is a log a bar is for people alone. */
    progress_init(&t->progress, t->values->quiet || (t->log != NULL && isatty(STDERR_FILENO) != 1));
    clock_gettime(CLOCK_MONOTONIC, &t->began);
    rv = canceller_begin(&t->canceller, train_run_dump, t->log, error);
    if (rv == 0) {
        rv = train_run_task(t, error);
        canceller_end(&t->canceller);
        /* The thread that sets it has ended. */
        t->signalled = t->canceller.fired;
    }
    log_printer_stop(&t->printer);
    return rv != 0 && t->signalled ? explain_stop(t, error) : rv;
}

/* The cluster file's word on this process goes before the command line's on all. */
static int join_cluster(struct command_training *t, const char *graph, struct tr_error *error)
{
    t->in_cluster = process_in_cluster(&t->values->process);
    t->options.graph = graph;
    if (!t->in_cluster && graph == NULL)
        return tr_error_set(
            error, TR_EINVAL,
            "an operand is missing: give DIR/NAME.json, or DIR where it holds one graph");
    if (!t->in_cluster)
        return 0;
    int rv = process_find(&t->process, &t->values->process, graph, TR_ROLE_TRAINER, t->log, error);
    t->options.process = t->process.own;
    t->options.metrics = t->process.metrics;
    return rv;
}

/* A launcher would start a process again that fails: not where another run has the folder, nor
 * where another start would only wait for the disk again. */
static int fail_training(const struct command_training *t, const struct invocation *invocation,
                         const struct tr_error *error)
{
    if (t->in_cluster && error->code == TR_EEXIST)
        return fail_usage(invocation, error);
    if (t->in_cluster && t->lost) {
        fail(invocation, error);
        return EXIT_USAGE;
    }
    return t->in_cluster ? process_fail(invocation, &t->process, error) : fail(invocation, error);
}

int train_run_alone(const struct train_values *values, const char *graph, struct tr_log_file *log,
                    struct tr_error *error)
{
    struct command_training t = { .values = values, .one_of_many = true, .log = log };
    int rv = train_configure(values, &t.options, error);
    t.options.graph = graph;
    return rv == 0 ? train_with_signals(&t, error) : rv;
}

/* The options of one job do not go with those of many. */
static int train_run_many(const struct invocation *invocation, const struct train_values *values)
{
    struct tr_error error = TR_ERROR_INIT;
    char *graph = NULL;
    int rv = 0;
    if (process_in_cluster(&values->process) || invocation->num_operands == 0)
        rv = tr_error_set(&error, TR_EINVAL,
                          "--seeds and --sweep train in this process: give DIR/NAME.json, and no "
                          "cluster");
    if (rv == 0)
        rv = graph_path_find(invocation->operands[0], &graph, &error);
    int code = rv == 0 ? train_many(invocation, values, graph) : fail_usage(invocation, &error);
    free(graph);
    return code;
}

static int train_logged(const struct invocation *invocation, const void *values)
{
    if (train_is_many(values))
        return train_run_many(invocation, values);
    struct command_training t = { .values = values, .log = invocation->log };
    struct tr_error error = TR_ERROR_INIT;
    char *graph = NULL;
    int rv = train_configure(values, &t.options, &error);
    if (rv == 0 && invocation->num_operands > 0)
        rv = graph_path_find(invocation->operands[0], &graph, &error);
    if (rv == 0)
        rv = join_cluster(&t, graph, &error);
    if (rv != 0) {
        process_fini(&t.process);
        free(graph);
        return fail_usage(invocation, &error);
    }
    rv = train_with_signals(&t, &error);
    int code = rv == 0 ? EXIT_DONE : fail_training(&t, invocation, &error);
    /* The process is closed last: until then, one that hangs in what stands above is ended when
     * its launcher has gone. */
    process_fini(&t.process);
    free(graph);
    return code;
}

int train_run(const struct invocation *invocation, const void *opaque)
{
    const struct train_values *values = opaque;
    return command_log_run(invocation, &values->log, train_logged, values);
}
