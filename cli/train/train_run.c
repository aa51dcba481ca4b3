/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe train`, from the opened job to the saved model.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actors/job/checkpoint.h"
#include "api/internal.h"
#include "cli/launch/job_process.h"
#include "cli/lib/inside.h"
#include "cli/lib/log_printer.h"
#include "cli/lib/progress.h"
#include "cli/lib/report.h"
#include "cli/lib/signals.h"
#include "cli/train/job_surroundings.h"
#include "cli/train/train.h"
#include "cli/train/train_ranks.h"
#include "config.h"
#include "model/model_file.h"
#include "model/run_folder.h"
#include "runtime/base/cancel.h"

/* Of a disk that takes nothing. */
#define WARN_EVERY_NS UINT64_C(60000000000)
/* How often it is looked whether a process that waits for the others is asked to stop. */
#define END_LOOK_NS 100000000

struct training {
    const struct train_values *values;
    const char *graph;
    struct run_config config;
    struct run_job job;
    struct run_folder folder;
    struct train_ranks ranks;
    struct trainer_hooks hooks;
    char *checkpoints;   /* their folder; NULL: none are kept */
    uint64_t save_every; /* steps; 0: none */
    struct train_limits limits;
    struct run_job_split val;
    struct run_job_split test;
    struct process process; /* of a cluster */
    struct log_printer printer;
    bool in_cluster;
    bool taken; /* the run's folder, by another run */
    struct signals signals;
    struct interrupter interrupter;
    struct cancel cancel;
    struct progress progress;
    struct trainer_result result;
    struct scores test_scores;
    bool tested;
    bool model_kept;         /* RUNDIR has the best model so far */
    bool any_kept;           /* or one of this run that is older */
    bool lost;               /* what was trained could not be written */
    uint64_t warned_ns[2];   /* of a disk that is waited for, that is gone on without; 0: not yet */
    struct error unreported; /* the report could not be printed */
    uint32_t epoch;
};

static uint64_t now_ns(void *arg)
{
    (void)arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool asked(void *arg)
{
    const struct training *t = arg;
    /* Relaxed: a flag alone; nothing else is read because of it. */
    return atomic_load_explicit(&t->signals.cancelled, memory_order_relaxed) ||
           (t->in_cluster && process_is_orphaned(&t->process));
}

static bool asked_at_work(void *arg)
{
    watchdog_beat(&((struct training *)arg)->ranks.watchdog);
    return asked(arg);
}

/* Rank 0's process keeps the run: its folder, evaluation, model and report. */
static bool keeps_run(const struct training *t)
{
    return t->ranks.first == 0;
}

/* A process of a cluster goes on from the last checkpoint when it is not the first of its kind. */
static bool resumes(const struct training *t)
{
    return t->values->resume || (t->in_cluster && tr_process_is_restarted());
}

static void begin_epoch(struct training *t, uint32_t epoch)
{
    char label[48];
    snprintf(label, sizeof label, "epoch %u", epoch + 1);
    t->epoch = epoch;
    job_progress_note_epochs(&t->job.graph->progress, t->config.model.epochs);
    progress_begin(&t->progress, label, "batches",
                   tr_loader_num_batches(train_ranks_loader(&t->ranks)));
}

static void step_done(void *arg, uint32_t epoch, uint64_t step)
{
    struct training *t = arg;
    if (epoch != t->epoch || !t->progress.running)
        begin_epoch(t, epoch);
    progress_update(&t->progress, step + 1);
}

static int evaluate(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    struct training *t = arg;
    (void)model;
    return run_job_evaluate(&t->job, &t->val, t->config.evaluation == RUN_EVALUATE_EXACT, t->epoch,
                            scores, error);
}

static void show_epoch(struct training *t, const struct epoch_report *report)
{
    char text[128];
    int used = snprintf(text, sizeof text, "loss %.4f", report->train_loss);
    if (report->evaluated && used > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, ", validation %s %.4f%s",
                 model_metric_name(t->config.model.metric),
                 scores_value(&report->scores, t->config.model.metric),
                 report->best ? " (best)" : "");
    progress_end(&t->progress);
    if (!t->values->quiet)
        fprintf(t->progress.out, "epoch %u: %s\n", report->epoch + 1, text);
}

static int epoch_done(void *arg, const struct epoch_report *report, struct error *error)
{
    struct training *t = arg;
    show_epoch(t, report);
    return run_folder_append(&t->folder, run_epoch_to_json(report), error);
}

static int keep_best(void *arg, struct model *model, const float *weights, struct error *error)
{
    struct training *t = arg;
    t->model_kept = false;
    int rv = model_save_weights(model, weights, files_posix, t->folder.model_path, error);
    t->model_kept = rv == 0;
    t->any_kept = t->any_kept || rv == 0;
    return rv;
}

/* What was found since that checkpoint is found again. */
static int rewind_run(void *arg, uint64_t mark, struct error *error)
{
    struct training *t = arg;
    t->model_kept = t->tested = false;
    return run_folder_rewind(&t->folder, mark, error);
}

/* What the disk did not take for as long as it was waited for. */
static void say_lost(struct training *t, enum training_operation operation, struct error *error)
{
    char why[ERROR_TEXT_MAX];
    memcpy(why, error->text, sizeof why);
    const char *lost = operation != TRAINING_KEEP ? "the run cannot go on"
                       : t->model_kept            ? "the last lines of metrics.jsonl are lost"
                       : t->any_kept ? "the trained model is lost, but for an earlier best one"
                                     : "the trained model is lost";
    const char *remedy = t->checkpoints != NULL
                             ? "; make room, and --resume goes on from the last checkpoint"
                             : "";
    error_set(error, error->code, "%s; it was tried again for %llu s (--disk-wait): %s%s", why,
              (unsigned long long)t->limits.disk_wait, lost, remedy);
    t->lost = true;
}

/* Of each of the two at most a line a minute, however many ranks there are and however often they try. */
static void refused(void *arg, enum training_operation operation, uint64_t left_ns, bool given_up,
                    struct error *error)
{
    struct training *t = arg;
    bool gone_on = operation == TRAINING_SAVE || operation == TRAINING_KEEP_BEST ||
                   operation == TRAINING_REPORT;
    bool waits = operation == TRAINING_RESTORE || operation == TRAINING_REWIND ||
                 operation == TRAINING_KEEP;
    uint64_t now = now_ns(NULL);
    if (given_up && waits)
        say_lost(t, operation, error);
    uint64_t *warned_ns = &t->warned_ns[gone_on];
    if (given_up || (*warned_ns != 0 && now - *warned_ns < WARN_EVERY_NS))
        return;
    *warned_ns = now;
    if (t->progress.terminal)
        fputc('\n', stderr);
    if (gone_on)
        fprintf(stderr, "troupe train: %s; training goes on without %s\n", error->text,
                operation == TRAINING_SAVE        ? "this checkpoint"
                : operation == TRAINING_KEEP_BEST ? "the best model on the disk"
                                                  : "these lines, which are written later");
    else
        fprintf(stderr, "troupe train: %s; it is tried again for %llu s\n", error->text,
                (unsigned long long)(left_ns / UINT64_C(1000000000)));
}

static void interrupt(void *arg)
{
    interrupter_fire(&((struct training *)arg)->interrupter);
}

static void dump(void *arg)
{
    struct training *t = arg;
    if (t->job.session != NULL)
        (void)tr_session_dump(t->job.session, NULL);
}

/* The record of everything that decides the result, and of what the promise of equal bits
 * depends on. */
static json_t *describe(const struct training *t)
{
    const struct run_surroundings around = {
        .graph = t->graph,
        .kernels = model_kernels_text(t->job.model),
        .trainers = t->ranks.world,
        .deal = t->ranks.deal,
        .deal_hash = t->ranks.deal_hash,
        .servers = t->values->servers,
        .samplers = t->values->samplers,
        .loops = t->values->loops,
        .threads = t->values->threads,
        .messages = t->values->messages,
        .codec = t->values->codec,
    };
    return run_config_describe(&t->config, &around);
}

/* The deal of the run: NULL shuffles. */
static const char *choose_deal(const struct training *t)
{
    const char *deal = t->values->deal;
    uint32_t world = t->job.graph->plan->trainers;
    bool beside = world > 1 && tr_graph_deal_trainers(t->job.graph) == world;
    if (deal == NULL)
        return beside ? "affinity" : NULL;
    return strcmp(deal, "shuffle") == 0 ? NULL : deal;
}

/* Equal for runs that compute the same: what a checkpoint of one is worth to another. */
static int hash_job(struct training *t, uint64_t *hash, struct error *error)
{
    json_t *run = run_config_to_json(&t->config);
    char *text = run == NULL ? NULL : json_dumps(run, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(run);
    if (text == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the configuration");
    const uint64_t rest[] = { t->ranks.world, t->ranks.deal_hash,
                              tr_graph_num_nodes(t->job.graph, 0),
                              tr_graph_num_edges(t->job.graph, 0) };
    *hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *at = text; *at != '\0'; at++)
        *hash = (*hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < sizeof rest; i++)
        *hash = (*hash ^ ((const unsigned char *)rest)[i]) * UINT64_C(0x100000001b3);
    free(text);
    return 0;
}

static int test(struct training *t, struct error *error)
{
    if (t->config.evaluation == RUN_EVALUATE_NONE || t->tested)
        return 0;
    int rv = run_job_evaluate(&t->job, &t->test, t->config.evaluation == RUN_EVALUATE_EXACT, 0,
                              &t->test_scores, error);
    if (rv != 0)
        return rv;
    t->tested = true;
    return run_folder_append(
        &t->folder, json_pack("{s:o}", "test", run_scores_to_json(&t->test_scores)), error);
}

static void report_scores(struct report *report, const struct training *t)
{
    enum model_metric metric = t->config.model.metric;
    if (t->result.has_best) {
        report_count(report, "best_epoch", "best epoch", t->result.best_epoch + 1);
        report_real(report, "val", "validation", scores_value(&t->result.best, metric));
    }
    if (!t->tested)
        return;
    report_real(report, "test_accuracy", "test accuracy", t->test_scores.accuracy);
    report_real(report, "test_macro_f1", "test macro-F1", t->test_scores.macro_f1);
    if (isfinite(t->test_scores.roc_auc))
        report_real(report, "test_roc_auc", "test ROC AUC", t->test_scores.roc_auc);
}

static int report_run(const struct training *t, struct error *error)
{
    struct report report;
    report_init(&report, t->values->json);
    report_count(&report, "epochs", "epochs", t->result.epochs_run);
    report_real(&report, "train_loss", "training loss", t->result.last_train_loss);
    report_scores(&report, t);
    report_text(&report, "run", "run", t->folder.path);
    return report_print_inside(&report, error);
}

/* What rank 0 does with the trained model. The model first, for it is worth most; what is done is not
 * done again when the disk refuses the rest. The launcher is notified before anybody learns of the
 * end: it must know that the job is complete when the first process ends because of that. */
static int keep(void *arg, const struct trainer_result *result, struct error *error)
{
    struct training *t = arg;
    t->result = *result;
    progress_end(&t->progress);
    int rv = t->model_kept ? 0 : model_save(t->job.model, files_posix, t->folder.model_path, error);
    t->model_kept = t->model_kept || rv == 0;
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_MODEL_SAVED);
    if (rv == 0)
        rv = test(t, error);
    if (rv == 0)
        rv = run_folder_sync(&t->folder, error);
    if (rv == 0) {
        t->unreported = (struct error){ 0 };
        (void)report_run(t, &t->unreported);
    }
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_REPORT_PRINTED);
    if (rv == 0 && t->in_cluster)
        (void)tr_process_say_complete(NULL);
    return rv;
}

static int open_ranks(struct training *t, struct error *error)
{
    t->hooks = (struct trainer_hooks){
        .arg = t,
        .evaluate = t->config.evaluation == RUN_EVALUATE_NONE ? NULL : evaluate,
        .epoch_done = epoch_done,
        .step_done = step_done,
        .rewind = rewind_run,
        .keep_best = keep_best,
        .keep = keep,
        .refused = refused,
        .now_ns = now_ns,
    };
    t->ranks = (struct train_ranks){
        .job = &t->job,
        .folder = &t->folder,
        .deal = choose_deal(t),
        .first = graph_plays(t->job.graph)->trainers.first,
        .count = graph_plays(t->job.graph)->trainers.count,
        .world = t->job.graph->plan->trainers,
        .grouped = t->in_cluster || t->values->trainers > 1 || t->checkpoints != NULL,
        .reproducible = t->values->reproducible,
        .finishes = t->in_cluster,
        .save_every = t->save_every,
        .watchdog = { .limit_ns = t->limits.step_limit * UINT64_C(1000000000) },
        .patience_ns = t->limits.disk_wait * UINT64_C(1000000000),
        .hooks = &t->hooks,
        .cancel = &t->cancel,
    };
    int rv = train_ranks_open(&t->ranks, error);
    return rv == 0 ? hash_job(t, &t->ranks.job_hash, error) : rv;
}

static int open_splits(struct training *t, struct error *error)
{
    int rv = open_ranks(t, error);
    bool evaluates = t->config.evaluation != RUN_EVALUATE_NONE && keeps_run(t);
    if (rv == 0 && evaluates)
        rv = run_job_split_open(&t->job, t->config.val_mask, &t->val, error);
    if (rv == 0 && evaluates)
        rv = run_job_split_open(&t->job, t->config.test_mask, &t->test, error);
    return rv;
}

/* A run goes on as what it was begun. With other kernels it would not be the run that it was. */
static int compare(const struct training *t, const json_t *now, struct error *error)
{
    char *kernels = NULL;
    const char *here = model_kernels_text(t->job.model);
    int rv = run_config_compare(files_posix, t->folder.config_path, now, &kernels, error);
    if (rv == 0 && strcmp(kernels, here) != 0) {
        if (t->values->reproducible)
            rv = error_set(error, TR_EMISMATCH,
                           "%s was begun with the kernels '%s', this computer "
                           "has '%s': the result would differ; leave --reproducible out to go on "
                           "all the same",
                           t->folder.path, kernels, here);
        else
            fprintf(stderr,
                    "troupe train: the run was begun with the kernels '%s', it goes on "
                    "with '%s': the result may differ in its last digits\n",
                    kernels, here);
    }
    free(kernels);
    return rv;
}

/* Checkpoints of another run are not this one's to go on from. */
static int refuse_checkpoints(const struct training *t, struct error *error)
{
    if (t->checkpoints == NULL || resumes(t))
        return 0;
    const char *host = t->in_cluster
                           ? t->job.session->cluster.hosts[graph_plays(t->job.graph)->host].name
                           : NULL;
    char *folder = checkpoint_folder(t->checkpoints, host);
    int rv = 0;
    if (folder == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory", t->checkpoints);
    else if (checkpoint_is_any(files_posix, folder) && t->values->replace &&
             t->values->checkpoints == NULL)
        rv = checkpoint_prune(files_posix, folder, 0, error);
    else if (checkpoint_is_any(files_posix, folder))
        rv = error_set(error, TR_EEXIST,
                       "%s has checkpoints already; go on from them with "
                       "--resume, or remove them",
                       folder);
    free(folder);
    return rv;
}

/* One process a host looks into its folder: two that removed the same would be in each other's way. */
static bool is_first_here(const struct training *t)
{
    const struct plan *plan = t->job.graph->plan;
    const struct plan_process *mine = graph_plays(t->job.graph);
    for (const struct plan_process *p = plan->processes; p < mine; p++)
        if (p->host == mine->host && p->trainers.count > 0)
            return false;
    return true;
}

static int open_folder(struct training *t, struct error *error)
{
    /* Each host looks into its own folder where they share none. */
    bool own = t->checkpoints != NULL && strstr(t->checkpoints, "%h") != NULL && is_first_here(t);
    int rv = own || keeps_run(t) ? refuse_checkpoints(t, error) : 0;
    if (rv != 0 || !keeps_run(t))
        return rv;
    if (resumes(t) && files_exists(files_posix, t->values->run))
        rv = run_folder_resume(&t->folder, files_posix, t->values->run, error);
    else
        rv = run_folder_create(&t->folder, files_posix, t->values->run, t->values->replace, error);
    if (rv != 0)
        return rv;
    json_t *now = describe(t);
    if (now == NULL || !resumes(t) || !files_exists(files_posix, t->folder.config_path))
        return run_folder_write_config(&t->folder, now, error);
    rv = compare(t, now, error);
    json_decref(now);
    return rv;
}

static int train(struct training *t, struct error *error)
{
    begin_epoch(t, 0);
    int rv = train_ranks_run(&t->ranks, &t->result, error);
    progress_end(&t->progress);
    return rv;
}

static int name_checkpoints(struct training *t, struct run_job_layout *layout, struct error *error)
{
    const char *given = t->values->checkpoints;
    bool named = false;
    t->save_every = t->values->checkpoint_every;
    if (t->in_cluster) {
        const struct tr_process_info *all = &t->process.info;
        if (given != NULL && all->checkpoints != NULL && strcmp(given, all->checkpoints) != 0)
            return error_set(error, TR_EINVAL,
                             "--checkpoints %s: the processes of %s keep them in "
                             "%s; name another folder there, in its field 'checkpoints'",
                             given, all->cluster, all->checkpoints);
        named = all->checkpoints != NULL;
        given = named ? all->checkpoints : given;
        t->save_every = t->save_every != 0 ? t->save_every : all->checkpoint_every;
    }
    /* Those of the cluster file are gone back to even by a run that makes none. */
    if (t->save_every == 0 && !t->values->resume && !named)
        return 0;
    char *path = given != NULL ? strdup(given) : files_join(t->values->run, "checkpoints");
    /* Whichever process coordinates may have started in another folder. */
    char *here = path == NULL || path[0] == '/' ? NULL : realpath(".", NULL);
    t->checkpoints = here != NULL ? files_join(here, path) : path != NULL ? strdup(path) : NULL;
    free(here);
    free(path);
    layout->checkpoints = t->checkpoints;
    layout->checkpoint_keep = (uint32_t)t->values->checkpoint_keep;
    if (t->checkpoints == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", t->values->run);
    return 0;
}

/* Until every process of the job has been stopped, for they may still need this one. */
static int wait_for_end(struct training *t, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv;
    do
        rv = tr_graph_wait_end(t->job.graph, END_LOOK_NS, &why);
    while (rv == TR_ETIMEDOUT && !asked(t));
    /* The job's end is known here: that the coordinator died since takes nothing back. */
    bool done = rv == 0 || rv == TR_ETIMEDOUT || rv == TR_EPEERDOWN || rv == TR_ECANCELED;
    return done ? 0 : session_failed(&why, rv, error);
}

static int do_job(struct training *t, struct error *error)
{
    int rv = train(t, error);
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_TRAINED);
    if (rv == 0 && t->in_cluster)
        rv = wait_for_end(t, error);
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_FINISHED);
    if (rv == 0 && t->unreported.code != 0) {
        *error = t->unreported;
        rv = error->code;
    }
    return rv;
}

static int taken_from(int rv, const struct tr_error *why, struct error *error)
{
    return rv == 0 ? 0 : error_take(why, error);
}

static int run(struct training *t, struct run_job_layout *layout, struct error *error)
{
    /* Evaluations poll this between their pieces. */
    const struct cancel working = { .asked = asked_at_work, .arg = t };
    struct job_surroundings surroundings = { .process = t->in_cluster ? &t->process : NULL,
                                             .cancel = &working,
                                             .interrupter = &t->interrupter };
    struct run_job_hooks hooks = job_surroundings_hooks(&surroundings);
    struct tr_error why = TR_ERROR_INIT;
    layout->log = t->printer.log;
    int rv = name_checkpoints(t, layout, error);
    if (rv == 0)
        rv = run_job_open(&t->job, t->graph, &t->config, layout, &hooks, error);
    if (rv == 0 && !t->in_cluster)
        job_surroundings_warn(&t->job, t->graph);
    if (rv == 0)
        rv = open_splits(t, error);
    if (rv == 0) {
        rv = open_folder(t, error);
        t->taken = rv == TR_EEXIST;
    }
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_START_OPENED);
    if (rv == 0 && t->in_cluster)
        (void)tr_process_say_kernels(model_kernels_text(t->job.model), NULL);
    if (rv == 0 && t->in_cluster)
        rv = taken_from(process_ready(&t->process, t->job.session, t->job.graph, &why), &why,
                        error);
    else if (rv == 0)
        rv = taken_from(
            process_serve_metrics(t->values->process.metrics, t->job.graph, false, &why), &why,
            error);
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_START_READY);
    if (rv == 0)
        rv = do_job(t, error);
    train_ranks_close(&t->ranks);
    run_job_split_close(&t->val);
    run_job_split_close(&t->test);
    t->process.session = NULL;
    run_job_close(&t->job);
    return rv;
}

/* What the cluster file says of this process goes before what the command line says of all. */
static int join_cluster(struct training *t, struct run_job_layout *layout, struct error *error)
{
    if (!process_in_cluster(&t->values->process))
        return t->graph != NULL ? 0
                                : error_set(error, TR_EINVAL,
                                            "something is missing: give "
                                            "DIR/NAME.json");
    struct tr_error why = TR_ERROR_INIT;
    const struct tr_process_info *info = &t->process.info;
    int rv = process_find(&t->process, &t->values->process, t->graph, TR_ROLE_TRAINER, &why);
    t->in_cluster = true;
    if (rv != 0)
        return error_take(&why, error);
    t->graph = info->graph;
    layout->trainers = info->num_trainers;
    layout->threads = info->threads * info->num_trainers;
    if (info->has_seed)
        t->config.model.seed = info->seed;
    return 0;
}

static int run_with_signals(struct training *t, struct run_job_layout *layout, struct error *error)
{
    t->cancel = (struct cancel){ .asked = asked, .arg = t };
    progress_init(&t->progress, t->values->quiet);
    interrupter_init(&t->interrupter);
    int rv = signals_start_inside(&t->signals, interrupt, dump, t, error);
    if (rv != 0) {
        interrupter_fini(&t->interrupter);
        return rv;
    }
    t->process.interrupter = &t->interrupter;
    struct tr_error why = TR_ERROR_INIT;
    if (t->in_cluster)
        rv = taken_from(process_begin(&t->process, true, &why), &why, error);
    if (rv == 0) {
        rv = run(t, layout, error);
        progress_end(&t->progress);
    }
    signals_stop(&t->signals);
    interrupter_fini(&t->interrupter);
    run_folder_close(&t->folder);
    free(t->checkpoints);
    return rv;
}

/* The log says what ends the job, and what SIGUSR1 asks for. Warnings of one process alone would only
 * puzzle: what matters of them comes back as an error. Those of a cluster say who is refused. */
static int run_all(struct training *t, struct run_job_layout *layout, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv = log_printer_start(&t->printer, "train", t->in_cluster ? TR_LOG_WARN : TR_LOG_ERROR,
                               &why);
    if (rv != 0)
        return error_take(&why, error);
    rv = run_with_signals(t, layout, error);
    log_printer_stop(&t->printer);
    return rv;
}

int train_run(const struct invocation *invocation, const void *values)
{
    struct training t = { .values = values };
    struct run_job_layout layout;
    struct error error = { 0 };
    t.graph = invocation->num_operands > 0 ? invocation->operands[0] : NULL;
    int rv = train_configure(values, &t.config, &layout, &error);
    if (rv == 0)
        rv = join_cluster(&t, &layout, &error);
    if (rv != 0) {
        process_fini(&t.process);
        run_config_fini(&t.config);
        return fail_usage_inside(invocation, &error);
    }
    const struct cluster_limits said = { .step_limit = t.process.info.step_limit_s,
                                         .disk_wait = t.process.info.disk_wait_s };
    t.limits = train_choose_limits(values, t.in_cluster ? &said : NULL);
    rv = run_all(&t, &layout, &error);
    process_fini(&t.process);
    run_config_fini(&t.config);
    if (rv == 0)
        return EXIT_DONE;
    if (t.in_cluster && t.taken) /* a launcher would start it again, to go on with another's run */
        return fail_usage_inside(invocation, &error);
    if (t.in_cluster && t.lost) { /* it was waited for already: another start would wait again */
        fail_inside(invocation, &error);
        return EXIT_USAGE;
    }
    int code = fail_inside(invocation, &error);
    return t.in_cluster && error.code == TR_EMISMATCH ? EXIT_USAGE : code;
}
