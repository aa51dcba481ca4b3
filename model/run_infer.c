/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of all nodes, exactly or by sampling, and what they are worth. */
#include "config.h" /* asprintf */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/predictions.h"
#include "model/run_job_inside.h"
#include "model/run_task.h"
#include "partition/store/npy.h"
#include "runtime/core/crew.h"

/* Passes over the whole graph take long, and the trainers whose threads these are wait then. */
int run_job_all_threads(struct run_job *job, struct error *error)
{
    if (job->wide == NULL && job->threads_of_all > job->threads)
        job->wide = run_job_parallel(job, job->threads_of_all - 1);
    if (job->wide == NULL && job->threads_of_all > job->threads)
        return error_set(error, TR_ENOMEM, "no memory or threads to compute with");
    if (job->wide != NULL)
        model_set_parallel(job->model, job->wide);
    return 0;
}

static int open_exact(struct run_job *job, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    if (job->exact != NULL)
        return 0;
    int rv = 0;
    if (!run_job_has_all_parts(job)) {
        /* Partitions of other hosts are mapped before they are viewed, and all are viewed before
         * the first pass. */
        rv = tr_graph_map_parts(job->graph, &why);
        if (rv != 0)
            return error_set(error, rv, "%s", why.message);
        rv = part_views_update(&job->parts, error);
    }
    if (rv != 0)
        return rv;
    return exact_create(&job->exact, job->model, &job->whole, error);
}

/* The graph is too large for exact inference, or the memory too small. */
static int advise_sampling(int rv, const char *option, struct error *error)
{
    char why[ERROR_TEXT_MAX];
    if (rv != TR_ENOMEM && rv != TR_ETOOBIG)
        return rv;
    memcpy(why, error->text, sizeof why);
    return error_set(error, rv, "%s; give %s, which takes the memory of a few batches", why,
                     option);
}

static int infer_all(struct run_job *job, struct error *error)
{
    int rv = run_job_all_threads(job, error);
    if (rv == 0)
        rv = open_exact(job, error);
    if (rv == 0)
        rv = exact_infer(job->exact, job->logits, error);
    if (rv == 0)
        job->hidden = exact_hidden(job->exact);
    /* The threads of all are given back after a failure too: the trainers go on with their own. */
    model_set_parallel(job->model, job->parallel);
    return rv;
}

int run_job_infer_exact(struct run_job *job, const char *option, struct error *error)
{
    return advise_sampling(infer_all(job, error), option, error);
}

int run_job_infer(struct run_job *job, struct error *error)
{
    return run_job_infer_exact(job, "options.sampled", error);
}

/* The split's nodes by original ID; free *ids. Their outputs are in memory already. */
static int read_split(const struct run_job_split *split, uint64_t **ids, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    size_t count = tr_nodes_count(split->nodes);
    *ids = malloc((count + 1) * sizeof **ids);
    if (*ids == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the IDs of %zu nodes", count);
    int rv = tr_nodes_original_ids(split->nodes, 0, count, TR_WAIT_FOREVER, *ids, &why);
    if (rv != 0)
        session_failed(&why, rv, error);
    return rv;
}

/* The rows of a batch's seeds, behind `row` rows of those before. */
static void keep_rows(struct run_job *job, uint32_t target, size_t row, size_t seeds)
{
    const struct model_config *model = &job->config->model;
    size_t classes = model->classes, width = model->hidden;
    if (seeds == 0)
        return;
    memcpy(job->logits[target].data + row * classes, model_outputs(job->model, target),
           seeds * classes * sizeof(float));
    if (job->keep_hidden)
        memcpy(job->sampled_hidden[target].data + row * width, model_hidden(job->model, target),
               seeds * width * sizeof(float));
}

/* All nodes of a target, whose outputs come in the order of original IDs. */
static int infer_target(struct run_job *job, uint32_t target, uint32_t epoch, struct error *error)
{
    const struct model_config *model = &job->config->model;
    uint32_t ntype = job->types.targets[target];
    struct run_job_split all;
    int rv = run_job_split_open_all(job, ntype, &all, error);
    if (rv != 0)
        return rv;
    size_t nodes = tr_nodes_count(all.nodes), row = 0;
    rv = tensor_resize(&job->logits[target], nodes, model->classes);
    if (rv == 0 && job->keep_hidden)
        rv = tensor_resize(&job->sampled_hidden[target], nodes, model->hidden);
    if (rv != 0)
        error_set(error, rv, "no memory for the outputs of %zu nodes", nodes);
    if (rv == 0)
        rv = all.source.base.start_epoch(&all.source.base, epoch, error);
    const struct mini_batch *batch;
    while (rv == 0 && (rv = all.source.base.next(&all.source.base, &batch, error)) == 0) {
        const float *logits;
        rv = model_forward(job->model, batch, &logits, error);
        size_t seeds = batch->nodes[ntype].num_seeds;
        if (rv == 0)
            keep_rows(job, target, row, seeds);
        row += seeds;
        all.source.base.release(&all.source.base, batch);
    }
    run_job_split_close(&all);
    return rv == TR_EEND ? 0 : rv;
}

int run_job_infer_sampled(struct run_job *job, uint32_t epoch, struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; rv == 0 && i < model_types_targets(&job->types); i++)
        rv = infer_target(job, i, epoch, error);
    if (rv == 0 && job->keep_hidden)
        job->hidden = job->sampled_hidden;
    return rv;
}

int run_job_score(struct run_job *job, const struct run_job_split *split, struct scores *scores,
                  struct error *error)
{
    uint64_t *ids = NULL;
    int rv = run_job_all_threads(job, error);
    if (rv == 0)
        rv = open_exact(job, error);
    if (rv == 0)
        rv = read_split(split, &ids, error);
    if (rv == 0)
        rv = exact_scores(job->exact, job->logits, job->config->labels, ids,
                          tr_nodes_count(split->nodes), scores, error);
    free(ids);
    model_set_parallel(job->model, job->parallel);
    return rv;
}

int run_job_confusion(struct run_job *job, const struct run_job_split *split, uint64_t *counts,
                      struct error *error)
{
    uint64_t *ids = NULL;
    int rv = open_exact(job, error);
    if (rv == 0)
        rv = read_split(split, &ids, error);
    if (rv == 0)
        rv = exact_confusion(job->exact, job->logits, job->config->labels, ids,
                             tr_nodes_count(split->nodes), counts, error);
    free(ids);
    return rv;
}

int run_nodes_evaluate(struct run_job *job, struct run_job_split *split, bool exact, uint32_t epoch,
                       struct scores *scores, struct error *error)
{
    if (!exact)
        return trainer_evaluate(job->model, &split->source.base, epoch, scores, error);
    int rv = run_job_infer_exact(job, "options.evaluation 'sampled'", error);
    return rv == 0 ? run_job_score(job, split, scores, error) : rv;
}

int run_job_evaluate(struct run_job *job, struct run_job_split *split, bool exact, uint32_t epoch,
                     struct scores *scores, struct error *error)
{
    return job->task->evaluate(job, split, exact, epoch, scores, error);
}

/* Predictions with the names that the graph at `graph` has. */
static int write_predictions(const struct run_job *job, const char *graph, const char *path,
                             enum predictions_format format, struct error *error)
{
    struct name_reader names;
    int rv = name_reader_open(&names, graph, job->ntype, job->config->labels, error);
    if (rv != 0)
        return rv;
    rv = predictions_write(files_posix, path, format, job->config->model.loss, job->logits, &names,
                           error);
    name_reader_close(&names);
    return rv;
}

/* Writes rows under a name of their own, which becomes the path when they are on the disk. format:
 * of predictions of the graph at `graph`; NULL writes the rows as they are. */
static int write_rows(const struct run_job *job, const struct tensor *rows, const char *graph,
                      const enum predictions_format *format, const char *path, struct error *error)
{
    const uint64_t shape[] = { rows->rows, rows->cols };
    char *aside = NULL;
    int rv = files_check_output(files_posix, path, error);
    if (rv != 0)
        return rv;
    if (asprintf(&aside, "%s.tmp-%ld", path, (long)getpid()) < 0)
        return error_set(error, TR_ENOMEM, "%s: no memory", path);
    if (format != NULL)
        rv = write_predictions(job, graph, aside, *format, error);
    else
        rv = npy_write(files_posix, aside, "<f4", 2, shape, rows->data, error);
    /* The file is on the disk before it has its name, which never stands for half of it. */
    if (rv == 0)
        rv = files_sync_tree(files_posix, aside, error);
    if (rv == 0)
        rv = files_rename(files_posix, aside, path, error);
    if (rv != 0)
        (void)files_remove_tree(files_posix, aside, NULL);
    free(aside);
    return rv;
}

/* FILE.npy; of several targets FILE.TYPE.npy. For free(); NULL: no memory. */
static char *path_of_target(const struct run_job *job, const char *path, uint32_t target)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t stem = dot != NULL && (slash == NULL || dot > slash) ? (size_t)(dot - path)
                                                                : strlen(path);
    char *name = NULL;
    if (model_types_targets(&job->types) == 1)
        return strdup(path);
    if (asprintf(&name, "%.*s.%s%s", (int)stem, path,
                 tr_graph_ntype_name(job->graph, job->types.targets[target]), path + stem) < 0)
        return NULL;
    return name;
}

/* The rows of all targets, each in a file. */
static int write_targets(const struct run_job *job, const struct tensor *rows, const char *graph,
                         const enum predictions_format *format, const char *path,
                         struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; rv == 0 && i < model_types_targets(&job->types); i++) {
        char *name = path_of_target(job, path, i);
        rv = name == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", path)
                          : write_rows(job, &rows[i], graph, format, name, error);
        free(name);
    }
    return rv;
}

int run_job_write_outputs(const struct run_job *job, const char *graph, const char *path,
                          struct error *error)
{
    enum predictions_format format;
    bool text = predictions_find_format(path, &format);
    if (text && !job->task->predicts_nodes)
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: a model of links has outputs by which pairs of nodes are scored, and "
                         "predicts nothing of one node; give a name that ends with .npy",
                         path);
    return write_targets(job, job->logits, graph, text ? &format : NULL, path, error);
}

int run_job_write_hidden(const struct run_job *job, const char *path, struct error *error)
{
    return write_targets(job, job->hidden, NULL, NULL, path, error);
}
