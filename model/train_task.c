/* SPDX-License-Identifier: Apache-2.0 */
/* tr_train_start(): one trainer and its run's folder, on a thread of their own. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/sized.h"
#include "model/live_session.h"
#include "model/model_file.h"
#include "model/public_scores.h"
#include "model/run_folder.h"
#include "model/run_job.h"
#include "model/task_events.h"

/*
 * All but what the mutex guards is the task's thread's. Epochs are added before the run's folder has
 * their line, so what a caller pulls may be ahead of the disk, never behind it.
 */
struct training_task {
    struct task_events events; /* first: see task_events.h */
    struct live_session live;
    struct tr_task *task;
    char *graph, *run;
    bool replace;
    struct run_config config;
    struct run_job_layout layout;
    struct run_folder folder;
    struct run_job job;
    struct run_job_split train, val, test;
    struct cancel cancel;
    uint32_t epoch; /* under way */
    bool model_kept;
    pthread_mutex_t mutex; /* guards all below */
    struct epoch_report *epochs;
    uint32_t num_epochs, room;
    struct trainer_result result;
    struct scores test_scores;
    bool tested, done;
};

static bool is_cancelled(void *arg)
{
    return tr_task_is_cancelled(((struct training_task *)arg)->task);
}

static void interrupt(void *arg)
{
    live_session_interrupt(&((struct training_task *)arg)->live);
}

static void opened(void *arg, struct tr_session *session)
{
    live_session_set(&((struct training_task *)arg)->live, session);
}

static void stuck(void *arg, const struct error *error)
{
    task_events_say(&((struct training_task *)arg)->events, TR_MODEL_STUCK,
                    error->code == TR_ENOMEM, "%s", error->text);
}

static uint64_t now_ns(void *arg)
{
    (void)arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void step_done(void *arg, uint32_t epoch, uint64_t step)
{
    struct training_task *t = arg;
    char phase[TR_TASK_PHASE_MAX];
    t->epoch = epoch;
    snprintf(phase, sizeof phase, "epoch %u", epoch + 1);
    tr_task_report(t->task, phase, "batches", step + 1, tr_loader_num_batches(t->train.loader));
}

static int evaluate(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    struct training_task *t = arg;
    (void)model;
    return run_job_evaluate(&t->job, &t->val, t->config.evaluation == RUN_EVALUATE_EXACT, t->epoch,
                            scores, error);
}

static int add_epoch(struct training_task *t, const struct epoch_report *report)
{
    int rv = 0;
    pthread_mutex_lock(&t->mutex);
    if (t->num_epochs == t->room) {
        uint32_t room = t->room == 0 ? 16 : t->room * 2;
        struct epoch_report *epochs = reallocarray(t->epochs, room, sizeof *epochs);
        t->epochs = epochs != NULL ? epochs : t->epochs;
        t->room = epochs != NULL ? room : t->room;
        rv = epochs != NULL ? 0 : TR_ENOMEM;
    }
    if (rv == 0)
        t->epochs[t->num_epochs++] = *report;
    pthread_mutex_unlock(&t->mutex);
    return rv;
}

static int epoch_done(void *arg, const struct epoch_report *report, struct error *error)
{
    struct training_task *t = arg;
    if (add_epoch(t, report) != 0)
        return error_set(error, TR_ENOMEM, "no memory for the results of epoch %u", report->epoch);
    return run_folder_append(&t->folder, run_epoch_to_json(report), error);
}

static int keep_best(void *arg, struct model *model, const float *weights, struct error *error)
{
    struct training_task *t = arg;
    int rv = model_save_weights(model, weights, files_posix, t->folder.model_path, error);
    t->model_kept = rv == 0;
    return rv;
}

static int rewind_run(void *arg, uint64_t mark, struct error *error)
{
    struct training_task *t = arg;
    return run_folder_rewind(&t->folder, mark, error);
}

static int test(struct training_task *t, struct error *error)
{
    struct scores scores;
    if (t->config.evaluation == RUN_EVALUATE_NONE)
        return 0;
    int rv = run_job_evaluate(&t->job, &t->test, t->config.evaluation == RUN_EVALUATE_EXACT, 0,
                              &scores, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&t->mutex);
    t->test_scores = scores;
    t->tested = true;
    pthread_mutex_unlock(&t->mutex);
    return run_folder_append(&t->folder, json_pack("{s:o}", "test", run_scores_to_json(&scores)),
                             error);
}

/* The model first, for it is worth most. */
static int keep(void *arg, const struct trainer_result *result, struct error *error)
{
    struct training_task *t = arg;
    (void)result;
    int rv = t->model_kept ? 0 : model_save(t->job.model, files_posix, t->folder.model_path, error);
    if (rv == 0)
        rv = test(t, error);
    return rv == 0 ? run_folder_sync(&t->folder, error) : rv;
}

static int open_splits(struct training_task *t, struct error *error)
{
    int rv = run_job_split_train(&t->job, NULL, 0, 1, &t->train, error);
    if (rv != 0 || t->config.evaluation == RUN_EVALUATE_NONE)
        return rv;
    rv = run_job_split_open(&t->job, t->config.val_mask, &t->val, error);
    return rv == 0 ? run_job_split_open(&t->job, t->config.test_mask, &t->test, error) : rv;
}

static int open_folder(struct training_task *t, struct error *error)
{
    const struct run_surroundings around = {
        .graph = t->graph,
        .kernels = model_kernels_text(t->job.model),
        .trainers = 1,
        .servers = t->layout.servers,
        .samplers = t->layout.samplers,
        .loops = t->layout.loops,
        .threads = t->layout.threads,
    };
    int rv = run_folder_create(&t->folder, files_posix, t->run, t->replace, error);
    return rv == 0 ? run_folder_write_config(&t->folder, run_config_describe(&t->config, &around),
                                             error)
                   : rv;
}

static int train(struct training_task *t, struct trainer_result *result, struct error *error)
{
    const struct trainer_hooks hooks = {
        .arg = t,
        .evaluate = t->config.evaluation == RUN_EVALUATE_NONE ? NULL : evaluate,
        .epoch_done = epoch_done,
        .step_done = step_done,
        .rewind = rewind_run,
        .keep_best = keep_best,
        .keep = keep,
        .cancelled = is_cancelled,
        .now_ns = now_ns,
    };
    const struct trainer_plan plan = { .epochs = t->config.model.epochs,
                                       .patience = t->config.patience,
                                       .evaluate_every = t->config.evaluate_every };
    t->cancel = (struct cancel){ .asked = is_cancelled, .arg = t };
    const struct run_job_hooks around = {
        .cancel = &t->cancel, .stuck = stuck, .opened = opened, .arg = t
    };
    tr_task_report(t->task, "load", "", 0, 0);
    int rv = run_job_open(&t->job, t->graph, &t->config, &t->layout, &around, error);
    if (rv == 0)
        task_events_warn_unchecked(&t->events, t->job.graph, t->graph);
    if (rv == 0)
        rv = open_splits(t, error);
    if (rv == 0)
        rv = open_folder(t, error);
    if (rv == 0)
        rv = trainer_run(t->job.model, &t->train.source.base, &plan, &hooks, result, error);
    return rv;
}

/* What training needed is given back before the task has ended; what it found stays. */
static int run(struct tr_task *task, void *arg, struct tr_error *error)
{
    struct training_task *t = arg;
    struct trainer_result result;
    struct error why = { 0 };
    t->task = task;
    int rv = train(t, &result, &why);
    run_job_split_close(&t->train);
    run_job_split_close(&t->val);
    run_job_split_close(&t->test);
    run_job_close(&t->job);
    run_folder_close(&t->folder);
    task_events_end(&t->events);
    if (rv != 0)
        return tr_error_set(error, rv, "%s", why.text[0] != '\0' ? why.text : tr_strerror(rv));
    pthread_mutex_lock(&t->mutex);
    t->result = result;
    t->done = true;
    pthread_mutex_unlock(&t->mutex);
    return 0;
}

static void destroy(void *arg)
{
    struct training_task *t = arg;
    run_config_fini(&t->config);
    task_events_fini(&t->events);
    pthread_mutex_destroy(&t->mutex);
    free(t->epochs);
    free(t->graph);
    free(t->run);
    free(t);
}

static struct tr_train_options defaults_of(void)
{
    const struct model_config model = model_config_default();
    return (struct tr_train_options){
        .size = sizeof(struct tr_train_options),
        .model = "sage",
        .num_layers = 2,
        .fanout = { 10, 25 },
        .hidden = model.hidden,
        .batch_size = 1024,
        .epochs = 10,
        .lr = model.lr,
        .optimiser = "adam",
        .dropout = model.dropout,
        .schedule = "constant",
        .step_epochs = 30,
        .step_gamma = 0.1f,
        .loss = "softmax",
        .metric = "accuracy",
        .evaluation = "exact",
        .evaluate_every = 1,
        .features = "feat",
        .labels = "label",
        .train_mask = "train_mask",
        .val_mask = "val_mask",
        .test_mask = "test_mask",
    };
}

void tr_train_options_init_sized(struct tr_train_options *options, size_t size)
{
    const struct tr_train_options defaults = defaults_of();
    public_options_init(options, size, &defaults, sizeof defaults);
}

/* *value: the number behind a name. */
static int parse(const char *option, const char *name, int (*parse_name)(const char *name),
                 int *value, struct tr_error *error)
{
    *value = name == NULL ? -1 : parse_name(name);
    return *value >= 0 ? 0
                       : tr_error_set(error, TR_EINVAL, "tr_train_options: %s '%s' is not known",
                                      option, name == NULL ? "" : name);
}

static int parse_evaluation(const char *name)
{
    static const char *const names[] = { "exact", "sampled", "none" };
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

static int read_names(struct run_config *config, const struct tr_train_options *from,
                      struct tr_error *error)
{
    int kind, loss, metric, optimiser, schedule, evaluation;
    int rv = parse("model", from->model, model_kind_parse, &kind, error);
    if (rv == 0)
        rv = parse("loss", from->loss, model_loss_parse, &loss, error);
    if (rv == 0)
        rv = parse("metric", from->metric, model_metric_parse, &metric, error);
    if (rv == 0)
        rv = parse("optimiser", from->optimiser, model_optimiser_parse, &optimiser, error);
    if (rv == 0)
        rv = parse("schedule", from->schedule, model_schedule_parse, &schedule, error);
    if (rv == 0)
        rv = parse("evaluation", from->evaluation, parse_evaluation, &evaluation, error);
    if (rv != 0)
        return rv;
    config->model.kind = (enum model_kind)kind;
    config->model.loss = (enum model_loss)loss;
    config->model.metric = (enum model_metric)metric;
    config->model.optimiser = (enum model_optimiser)optimiser;
    config->model.schedule = (enum model_schedule)schedule;
    config->evaluation = (enum run_evaluation)evaluation;
    return 0;
}

static int read_numbers(struct run_config *config, const struct tr_train_options *from,
                        struct tr_error *error)
{
    struct model_config *model = &config->model;
    if (from->num_layers == 0 || from->num_layers > TR_LAYERS_MAX)
        return tr_error_set(error, TR_ERANGE, "tr_train_options: num_layers %u is not 1 to %d",
                            from->num_layers, TR_LAYERS_MAX);
    if (from->batch_size == 0 || from->hidden == 0 || from->evaluate_every == 0)
        return tr_error_set(error, TR_ERANGE,
                            "tr_train_options: hidden, batch_size and evaluate_every are at "
                            "least 1");
    model->layers = from->num_layers;
    model->hidden = from->hidden;
    model->dropout = from->dropout;
    model->input_dropout = from->input_dropout;
    model->normalise = from->normalise;
    model->seed = from->seed;
    model->lr = from->lr;
    model->l2 = from->l2;
    model->weight_decay = from->weight_decay;
    model->momentum = from->momentum;
    model->warmup_epochs = from->warmup_epochs;
    model->step_epochs = from->step_epochs;
    model->step_gamma = from->step_gamma;
    model->cosine_floor = from->cosine_floor;
    model->epochs = from->epochs;
    /* Beyond the layers they are 0, as the command leaves them. */
    memcpy(config->fanout, from->fanout, from->num_layers * sizeof *from->fanout);
    config->batch_size = from->batch_size;
    config->replace = from->with_replacement;
    config->drop_last = from->drop_last;
    config->balanced_weights = from->balanced_weights;
    config->evaluate_every = from->evaluate_every;
    config->patience = from->patience;
    return 0;
}

static int read_options(struct training_task *t, const struct tr_train_options *from,
                        struct tr_error *error)
{
    t->config = (struct run_config){ .model = model_config_default() };
    t->layout = (struct run_job_layout){ .trainers = 1,
                                         .servers = from->servers,
                                         .samplers = from->samplers,
                                         .loops = from->loops,
                                         .threads = from->threads,
                                         .map_files = from->map_files,
                                         .log = from->log,
                                         .verify_files = from->verify_files,
                                         .memory_bytes = from->memory_bytes_max };
    t->replace = from->replace;
    if (from->graph == NULL || from->run == NULL || from->features == NULL ||
        from->labels == NULL || from->train_mask == NULL || from->val_mask == NULL ||
        from->test_mask == NULL)
        return tr_error_set(error, TR_EINVAL,
                            "tr_train_options: graph, run, features, labels and the masks are "
                            "needed");
    int rv = read_names(&t->config, from, error);
    if (rv == 0)
        rv = read_numbers(&t->config, from, error);
    if (rv != 0)
        return rv;
    t->graph = strdup(from->graph);
    t->run = strdup(from->run);
    if (t->graph == NULL || t->run == NULL ||
        run_config_names(&t->config, from->features, from->labels, from->train_mask, from->val_mask,
                         from->test_mask) != 0)
        return tr_error_set(error, TR_ENOMEM, "no memory for the options of a training");
    return 0;
}

int tr_train_start(const struct tr_train_options *options, struct tr_task **out,
                   struct tr_error *error)
{
    struct tr_train_options read = defaults_of();
    struct tr_task_work work = TR_TASK_WORK_INIT;
    *out = NULL;
    int rv = sized_read(&read, sizeof read, options, "tr_train_options", error);
    if (rv != 0)
        return rv;
    struct training_task *t = calloc(1, sizeof *t);
    if (t == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a training");
    pthread_mutex_init(&t->mutex, NULL);
    task_events_init(&t->events);
    rv = read_options(t, &read, error);
    if (rv != 0) {
        destroy(t);
        return rv;
    }
    work.name = TASK_TRAIN;
    work.run = run;
    work.interrupt = interrupt;
    work.destroy = destroy;
    return tr_task_start(&work, t, out, error);
}

static struct training_task *training_of(const struct tr_task *task, struct tr_error *error)
{
    struct training_task *t = tr_task_arg(task, TASK_TRAIN);
    if (t == NULL)
        tr_error_set(error, TR_EINVAL, "the task does not train");
    return t;
}

int tr_train_get_epoch(const struct tr_task *task, uint32_t epoch, struct tr_train_epoch *result,
                       struct tr_scores *validation, struct tr_error *error)
{
    struct training_task *t = training_of(task, error);
    struct epoch_report report = { 0 };
    if (t == NULL)
        return TR_EINVAL;
    pthread_mutex_lock(&t->mutex);
    bool known = epoch < t->num_epochs;
    if (known)
        report = t->epochs[epoch];
    pthread_mutex_unlock(&t->mutex);
    if (!known)
        return tr_error_set(error, TR_EEND, "epoch %u has not been trained", epoch);
    const struct tr_train_epoch shown = { .size = sizeof shown,
                                          .epoch = report.epoch,
                                          .steps = report.steps,
                                          .seeds = report.seeds,
                                          .rate = report.rate,
                                          .train_loss = report.train_loss,
                                          .seconds = report.seconds,
                                          .evaluated = report.evaluated,
                                          .best = report.best };
    int rv = sized_write(result, &shown, sizeof shown, "tr_train_epoch", error);
    return rv == 0 ? public_scores_write(validation, &report.scores, error) : rv;
}

int tr_train_get_result(const struct tr_task *task, struct tr_train_result *result,
                        struct tr_scores *validation, struct tr_scores *test_scores,
                        struct tr_error *error)
{
    const double none = (double)NAN;
    const struct scores unknown = { 0, none, none, none, none };
    struct training_task *t = training_of(task, error);
    if (t == NULL)
        return TR_EINVAL;
    pthread_mutex_lock(&t->mutex);
    bool done = t->done, tested = t->tested;
    struct trainer_result found = t->result;
    struct scores tested_as = tested ? t->test_scores : unknown;
    pthread_mutex_unlock(&t->mutex);
    if (!done)
        return tr_error_set(error, TR_EEND, "the task has not trained to its end");
    const struct tr_train_result shown = { .size = sizeof shown,
                                           .epochs = found.epochs_run,
                                           .stopped_early = found.stopped_early,
                                           .has_best = found.has_best,
                                           .best_epoch = found.best_epoch,
                                           .tested = tested };
    int rv = sized_write(result, &shown, sizeof shown, "tr_train_result", error);
    if (rv == 0)
        rv = public_scores_write(validation, found.has_best ? &found.best : &unknown, error);
    return rv == 0 ? public_scores_write(test_scores, &tested_as, error) : rv;
}
