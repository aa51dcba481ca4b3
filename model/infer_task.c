/* SPDX-License-Identifier: Apache-2.0 */
/* tr_infer_start(): the outputs of every node, on a thread of their own. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/sized.h"
#include "model/model_file.h"
#include "model/public_scores.h"
#include "model/run_folder.h"
#include "model/run_job.h"
#include "model/run_record.h"
#include "model/run_task.h"
#include "model/task_events.h"

/*
 * The task's thread fills all of it and sets `done` last, under the mutex; from then on the job's
 * model and outputs belong to the thread that holds the mutex, since scores are computed with the
 * model's threads.
 */
struct inference {
    struct task_events events;       /* first: see task_events.h */
    struct tr_infer_options options; /* strings are copies */
    char *graph, *run;
    struct run_config config;
    struct run_folder folder;
    struct run_job job;
    struct cancel cancel;
    pthread_mutex_t mutex;
    bool done;
};

static bool is_cancelled(void *arg)
{
    return tr_task_is_cancelled(arg);
}

static void infer_task_interrupt(void *arg)
{
    live_session_interrupt(&((struct inference *)arg)->events.live);
}

static void infer_task_opened(void *arg, struct tr_session *session)
{
    live_session_set(&((struct inference *)arg)->events.live, session);
}

static void infer_task_stuck(void *arg, const struct error *error)
{
    task_events_say(&((struct inference *)arg)->events, TR_MODEL_STUCK, error->code == TR_ENOMEM,
                    "%s", error->text);
}

/* A run that goes on, or was stopped, has a model that a later epoch may replace. */
static void infer_task_warn_incomplete(struct inference *inference)
{
    struct run_record record;
    /* What can't be read here is refused where it is needed. */
    if (run_record_open(&record, inference->run, NULL) != 0)
        return;
    uint32_t wanted = inference->config.model.epochs;
    /* A model that a program saved, and did not train here, has no epochs. */
    uint64_t done = record.num_epochs > 0 ? record.epochs[record.num_epochs - 1].epoch : wanted;
    if (!run_record_is_complete(&record) && done < wanted)
        task_events_say(
            &inference->events, TR_MODEL_WARNING, 0,
            "%s: the run is not complete (%llu of %u epochs), so the best model that it "
            "has so far is used",
            inference->run, (unsigned long long)done, wanted);
    run_record_close(&record);
}

static int infer_task_compute(struct inference *inference, struct tr_task *task,
                              struct error *error)
{
    const struct tr_infer_options *options = &inference->options;
    struct run_job_layout layout = { .threads = options->threads,
                                     .loops = options->loops,
                                     .map_files = options->map_files,
                                     .log = options->log,
                                     .verify_files = options->verify_files };
    inference->cancel = (struct cancel){ .asked = is_cancelled, .arg = task };
    const struct run_job_hooks hooks = { .cancel = &inference->cancel,
                                         .stuck = infer_task_stuck,
                                         .opened = infer_task_opened,
                                         .arg = inference };
    tr_task_report(task, "loading the graph", "", 0, 0);
    /* The folder comes before the graph: a run that is missing is found at once, and its
     * configuration says what the job needs. */
    int rv = run_folder_find(&inference->folder, files_posix, inference->run, error);
    if (rv == 0)
        rv = run_config_read(files_posix, inference->folder.config_path, &inference->config, error);
    if (rv != 0)
        return rv;
    if (options->embeddings && inference->config.model.layers < 2)
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: its model has one layer, and embeddings are the rows of a hidden "
                         "layer; train with two layers or more",
                         inference->run);
    infer_task_warn_incomplete(inference);
    layout.task = run_task_of(&inference->config);
    inference->config.balanced_weights = false; /* they weigh the loss, not the outputs */
    rv = run_job_open(&inference->job, inference->graph, &inference->config, &layout, &hooks,
                      error);
    if (rv == 0)
        task_events_warn_unchecked(&inference->events, inference->job.graph, inference->graph);
    if (rv == 0)
        rv = model_load(inference->job.model, files_posix, inference->folder.model_path, error);
    if (rv != 0)
        return rv;
    inference->job.keep_hidden = options->embeddings;
    tr_task_report(task, "predicting", "", 0, 0);
    return options->sampled ? run_job_infer_sampled(&inference->job, options->epoch, error)
                            : run_job_infer(&inference->job, error);
}

static int infer_task_run(struct tr_task *task, void *arg, struct tr_error *error)
{
    struct inference *inference = arg;
    struct error why = { 0 };
    int rv = infer_task_compute(inference, task, &why);
    task_events_end(&inference->events);
    if (rv != 0)
        return tr_error_set(error, rv, "%s", why.text[0] != '\0' ? why.text : tr_strerror(rv));
    /* This and the end of the events may go in any order: a program waits for the outputs by
     * tr_task_wait(). */
    pthread_mutex_lock(&inference->mutex);
    inference->done = true;
    pthread_mutex_unlock(&inference->mutex);
    return 0;
}

static void infer_task_destroy(void *arg)
{
    struct inference *inference = arg;
    /* The job goes first: it borrows the configuration. */
    run_job_close(&inference->job);
    run_config_fini(&inference->config);
    run_folder_close(&inference->folder);
    task_events_fini(&inference->events);
    pthread_mutex_destroy(&inference->mutex);
    free(inference->graph);
    free(inference->run);
    free(inference);
}

void tr_infer_options_init_sized(struct tr_infer_options *options, size_t size)
{
    const struct tr_infer_options defaults = { .size = sizeof defaults };
    public_options_init(options, size, &defaults, sizeof defaults);
}

int tr_infer_start(const struct tr_infer_options *options, struct tr_task **out,
                   struct tr_error *error)
{
    struct tr_infer_options read = { .size = sizeof read };
    struct tr_task_work work = TR_TASK_WORK_INIT;
    *out = NULL;
    int rv = sized_read(&read, sizeof read, options, "tr_infer_options", error);
    if (rv != 0)
        return rv;
    if (read.graph == NULL || read.run == NULL)
        return tr_error_set(error, TR_EINVAL, "tr_infer_options: graph and run are needed");
    struct inference *inference = calloc(1, sizeof *inference);
    if (inference == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for an inference");
    inference->options = read;
    pthread_mutex_init(&inference->mutex, NULL);
    rv = task_events_init(&inference->events, error);
    if (rv != 0) {
        pthread_mutex_destroy(&inference->mutex);
        free(inference);
        return rv;
    }
    inference->graph = strdup(read.graph);
    inference->run = strdup(read.run);
    if (inference->graph == NULL || inference->run == NULL) {
        infer_task_destroy(inference);
        return tr_error_set(error, TR_ENOMEM, "no memory for an inference");
    }
    work.name = infer_task_kind.name;
    work.kind = &infer_task_kind;
    work.run = infer_task_run;
    work.interrupt = infer_task_interrupt;
    work.destroy = infer_task_destroy;
    work.closing = task_events_closing;
    return tr_task_start(&work, inference, out, error);
}

/* Begins a call and locks what the task found; infer_task_leave() ends both. After a failure
 * neither is so. */
static int infer_task_enter(const struct tr_task *task, struct inference **inference,
                            struct tr_error *error)
{
    void *arg;
    /* The task is entered before the mutex is taken, which lives as long as it. */
    int rv = tr_task_enter(task, &infer_task_kind, &arg, error);
    *inference = arg;
    if (rv != 0)
        return rv == TR_EINVAL
                   ? tr_error_set(error, rv,
                                  "the task is of another kind than this call needs: inference")
                   : rv;
    pthread_mutex_lock(&(*inference)->mutex);
    if ((*inference)->done)
        return 0;
    pthread_mutex_unlock(&(*inference)->mutex);
    tr_task_leave(task);
    return tr_error_set(error, TR_EEND, "there are no outputs yet: tr_task_wait() waits for them");
}

static int infer_task_leave(const struct tr_task *task, struct inference *inference, int rv,
                            const struct error *why, struct tr_error *error)
{
    /* The mutex is given up before the task is left, whose closing may free both. */
    pthread_mutex_unlock(&inference->mutex);
    tr_task_leave(task);
    return rv == 0 ? 0 : tr_error_set(error, rv, "%s", why->text);
}

static int show_rows(const struct tensor *from, struct tr_rows *rows, struct tr_error *error)
{
    const struct tr_rows shown = { .size = sizeof shown,
                                   .dtype = TR_F32,
                                   .num_rows = from->rows,
                                   .width = from->cols,
                                   .row_bytes = from->cols * sizeof(float),
                                   .rows = from->data };
    return sized_write(rows, &shown, sizeof shown, "tr_rows", error);
}

/* Enters what the task found of one of its node types, as infer_task_enter() does. */
static int enter_type(const struct tr_task *task, uint32_t index, struct inference **inference,
                      struct tr_error *error)
{
    int rv = infer_task_enter(task, inference, error);
    if (rv != 0)
        return rv;
    uint32_t count = model_types_targets(&(*inference)->job.types);
    if (index < count)
        return 0;
    (void)infer_task_leave(task, *inference, 0, NULL, NULL);
    return tr_error_set(error, TR_ERANGE, "nodes of %u type%s have outputs: there is no number %u",
                        count, count == 1 ? "" : "s", index);
}

int tr_infer_node_type(const struct tr_task *task, uint32_t index, const char **name,
                       struct tr_error *error)
{
    struct inference *inference;
    int rv = enter_type(task, index, &inference, error);
    if (rv != 0)
        return rv;
    *name = tr_graph_ntype_name(inference->job.graph, inference->job.types.targets[index]);
    return infer_task_leave(task, inference, 0, NULL, error);
}

int tr_infer_get_outputs_of(const struct tr_task *task, uint32_t index, struct tr_rows *outputs,
                            struct tr_error *error)
{
    struct inference *inference;
    int rv = enter_type(task, index, &inference, error);
    if (rv != 0)
        return rv;
    const struct tensor outputs_now = inference->job.logits[index];
    rv = infer_task_leave(task, inference, 0, NULL, error);
    return rv == 0 ? show_rows(&outputs_now, outputs, error) : rv;
}

int tr_infer_get_outputs(const struct tr_task *task, struct tr_rows *outputs,
                         struct tr_error *error)
{
    return tr_infer_get_outputs_of(task, 0, outputs, error);
}

/* The outcome of asking for rows that a task keeps where it was asked to. */
static int find_embeddings(const struct inference *inference, struct error *why)
{
    /* Exact inference has them anyway: both ways answer alike. */
    return inference->options.embeddings && inference->job.hidden != NULL
               ? 0
               : error_set(why, TR_ENOENT,
                           "the rows of the last hidden layer were not kept: give "
                           "options.embeddings");
}

int tr_infer_get_embeddings_of(const struct tr_task *task, uint32_t index,
                               struct tr_rows *embeddings, struct tr_error *error)
{
    struct inference *inference;
    struct error why = { 0 };
    struct tensor found = { 0 };
    int rv = enter_type(task, index, &inference, error);
    if (rv != 0)
        return rv;
    rv = find_embeddings(inference, &why);
    if (rv == 0)
        found = inference->job.hidden[index];
    rv = infer_task_leave(task, inference, rv, &why, error);
    return rv == 0 ? show_rows(&found, embeddings, error) : rv;
}

int tr_infer_get_embeddings(const struct tr_task *task, struct tr_rows *embeddings,
                            struct tr_error *error)
{
    return tr_infer_get_embeddings_of(task, 0, embeddings, error);
}

static const char *mask_of(const struct run_config *config, enum tr_split split)
{
    switch (split) {
    case TR_SPLIT_TRAIN:
        return config->train_mask;
    case TR_SPLIT_VALIDATION:
        return config->val_mask;
    case TR_SPLIT_TEST:
        return config->test_mask;
    }
    return NULL;
}

int tr_infer_get_scores(const struct tr_task *task, enum tr_split split, struct tr_scores *scores,
                        struct tr_error *error)
{
    struct inference *inference;
    struct error why = { 0 };
    struct scores found;
    struct run_job_split nodes;
    int rv = infer_task_enter(task, &inference, error);
    if (rv != 0)
        return rv;
    const char *mask = mask_of(&inference->config, split);
    if (mask == NULL) {
        infer_task_leave(task, inference, 0, NULL, NULL);
        return tr_error_set(error, TR_EINVAL, "there is no split %d", (int)split);
    }
    found = scores_none();
    /* Outputs know of all edges, those that a run of links held out among them. */
    bool scored = mask[0] != '\0' && inference->job.task->predicts_nodes;
    if (scored)
        rv = run_job_split_open(&inference->job, mask, &nodes, &why);
    if (rv == 0 && scored) {
        rv = run_job_score(&inference->job, &nodes, &found, &why);
        run_job_split_close(&nodes);
    }
    rv = infer_task_leave(task, inference, rv, &why, error);
    return rv == 0 ? public_scores_write(scores, &found, error) : rv;
}

int tr_infer_get_confusion(const struct tr_task *task, enum tr_split split, uint64_t *counts,
                           size_t num_counts, struct tr_error *error)
{
    struct inference *inference;
    struct error why = { 0 };
    struct run_job_split nodes;
    int rv = infer_task_enter(task, &inference, error);
    if (rv != 0)
        return rv;
    const char *mask = mask_of(&inference->config, split);
    size_t classes = inference->job.logits[0].cols;
    if (mask == NULL)
        rv = error_set(&why, TR_EINVAL, "there is no split %d", (int)split);
    else if (!inference->job.task->predicts_nodes)
        rv = error_set(&why, TR_EUNSUPPORTED,
                       "a model of links has no classes: there is no confusion matrix");
    else if (inference->config.model.loss != MODEL_SOFTMAX)
        rv = error_set(&why, TR_EUNSUPPORTED,
                       "several labels a node: there is no confusion matrix");
    else if (classes > TR_CONFUSION_CLASSES_MAX)
        rv = error_set(&why, TR_ETOOBIG, "a confusion matrix of %zu classes; at most %d", classes,
                       TR_CONFUSION_CLASSES_MAX);
    else if (counts == NULL || num_counts != classes * classes)
        rv = error_set(&why, TR_EINVAL, "%zu counts for %zu classes: it takes their square",
                       num_counts, classes);
    if (rv == 0 && mask[0] == '\0') {
        memset(counts, 0, num_counts * sizeof *counts);
    } else if (rv == 0) {
        rv = run_job_split_open(&inference->job, mask, &nodes, &why);
        if (rv == 0) {
            rv = run_job_confusion(&inference->job, &nodes, counts, &why);
            run_job_split_close(&nodes);
        }
    }
    return infer_task_leave(task, inference, rv, &why, error);
}

int tr_infer_write(const struct tr_task *task, const char *path, struct tr_error *error)
{
    struct inference *inference;
    struct error why = { 0 };
    int rv = infer_task_enter(task, &inference, error);
    if (rv != 0)
        return rv;
    rv = run_job_write_outputs(&inference->job, inference->graph, path, &why);
    return infer_task_leave(task, inference, rv, &why, error);
}

int tr_infer_write_embeddings(const struct tr_task *task, const char *path, struct tr_error *error)
{
    struct inference *inference;
    struct error why = { 0 };
    int rv = infer_task_enter(task, &inference, error);
    if (rv != 0)
        return rv;
    rv = find_embeddings(inference, &why);
    if (rv == 0)
        rv = run_job_write_hidden(&inference->job, path, &why);
    return infer_task_leave(task, inference, rv, &why, error);
}
