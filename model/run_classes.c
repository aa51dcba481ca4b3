/* SPDX-License-Identifier: Apache-2.0 */
/* Finds in the graph how a model for it looks: inputs, classes, and the classes' weights. */
#include <stdlib.h>
#include <string.h>

#include "model/labels.h"
#include "model/run_job_inside.h"
#include "model/run_task.h"

/* Rows of labels read at a time to count classes. */
#define LABELS_AT_ONCE 65536u
/* At most so many bytes of them are read, where a node has many. */
#define LABELS_BYTES_AT_ONCE ((size_t)16 << 20)

static int find_table(struct run_job *job, const char *name, struct tr_feature_info *info,
                      struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv = tr_graph_find_feature(job->graph, job->ntype, name, info, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

static void find_largest(const struct batch_rows *rows, uint64_t count, int64_t *largest)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t label = labels_class(rows, i);
        *largest = label > *largest ? label : *largest;
    }
}

static int refuse_labels(const struct tr_feature_info *info, struct error *error)
{
    return error_set(
        error, TR_EMISMATCH,
        "label '%s' is not one number a node but %llu; with several yes-or-no labels "
        "a node give options.loss sigmoid, else name another feature as options.labels",
        info->name, (unsigned long long)info->width);
}

static int scan_part(const struct run_job *job, uint32_t part, const struct tr_feature_info *info,
                     int64_t *largest, struct error *error)
{
    const struct feature_table *table = node_part_feature(
        &job->whole.parts[part]->nodes[job->ntype], info->name);
    if (table == NULL || table->width != 1)
        return refuse_labels(info, error);
    struct batch_rows rows = { .dtype = table->dtype,
                               .num_rows = (uint32_t)table->num_rows,
                               .width = 1,
                               .row_bytes = table->row_bytes };
    for (uint64_t begin = 0; begin < table->num_rows; begin += LABELS_AT_ONCE) {
        uint64_t left = table->num_rows - begin;
        rows.rows = (char *)(uintptr_t)table->rows + begin * table->row_bytes;
        find_largest(&rows, left < LABELS_AT_ONCE ? left : LABELS_AT_ONCE, largest);
    }
    return 0;
}

/* Labels of partitions that other hosts have are asked for: all of them, since a global ID does not
 * say here whose it is. */
static int fetch_labels(struct run_job *job, const struct tr_feature_info *info, int64_t *largest,
                        struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    if (info->width != 1)
        return refuse_labels(info, error);
    uint64_t nodes = tr_graph_num_nodes(job->graph, job->ntype);
    uint64_t *ids = malloc(LABELS_AT_ONCE * sizeof *ids);
    void *labels = malloc(LABELS_AT_ONCE * info->row_bytes);
    struct batch_rows rows = {
        .dtype = info->dtype, .width = 1, .row_bytes = info->row_bytes, .rows = labels
    };
    int rv = 0;
    if (ids == NULL || labels == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory for labels");
    for (uint64_t begin = 0; begin < nodes && rv == 0; begin += LABELS_AT_ONCE) {
        uint64_t left = nodes - begin, count = left < LABELS_AT_ONCE ? left : LABELS_AT_ONCE;
        for (uint64_t i = 0; i < count; i++)
            ids[i] = begin + i;
        rows.num_rows = (uint32_t)count;
        rv = tr_graph_fetch(job->graph, job->ntype, info->name, ids, count, TR_WAIT_FOREVER, labels,
                            &why);
        if (rv == 0)
            find_largest(&rows, count, largest);
        else
            session_failed(&why, rv, error);
    }
    free(ids);
    free(labels);
    return rv;
}

/* The largest class among all labels, plus one; multi-label: the width of a row. */
static int count_classes(struct run_job *job, const struct tr_feature_info *info, uint32_t *classes,
                         struct error *error)
{
    if (job->config->model.loss == MODEL_SIGMOID) {
        if (info->width == 0 || info->width > MODEL_CLASSES_MAX)
            return error_set(error, TR_ERANGE, "label '%s' has rows of %llu numbers", info->name,
                             (unsigned long long)info->width);
        *classes = (uint32_t)info->width;
        return 0;
    }
    int64_t largest = -1;
    int rv = 0;
    for (uint32_t p = 0; p < job->whole.num_parts && rv == 0; p++)
        rv = job->whole.parts[p] != NULL ? scan_part(job, p, info, &largest, error) : 0;
    if (rv == 0 && !run_job_has_all_parts(job))
        rv = fetch_labels(job, info, &largest, error);
    if (rv != 0)
        return rv;
    if (largest < 0)
        return error_set(error, TR_EINVAL, "no node has a label in '%s': all are -1 or NaN",
                         info->name);
    if (largest >= MODEL_CLASSES_MAX)
        return error_set(error, TR_ERANGE,
                         "the largest label of '%s' is %lld, and a model has at most %u classes",
                         info->name, (long long)largest, MODEL_CLASSES_MAX);
    *classes = (uint32_t)largest + 1;
    return 0;
}

/* *mask: the name where the graph has such a feature, else "". One that is named stays. */
static int choose_mask(const struct run_job *job, const char *name, char **mask,
                       struct error *error)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    if (*mask != NULL)
        return 0;
    int rv = tr_graph_find_feature(job->graph, job->ntype, name, &info, NULL);
    *mask = strdup(rv == 0 ? name : "");
    return *mask != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for the name of a mask");
}

int run_nodes_complete(struct run_job *job, uint32_t *classes, struct error *error)
{
    struct tr_feature_info labels = TR_FEATURE_INFO_INIT;
    int rv = find_table(job, job->config->labels, &labels, error);
    if (rv == 0)
        rv = count_classes(job, &labels, classes, error);
    if (rv == 0)
        rv = choose_mask(job, "val_mask", &job->config->val_mask, error);
    if (rv == 0)
        rv = choose_mask(job, "test_mask", &job->config->test_mask, error);
    return rv;
}

int run_job_complete_config(struct run_job *job, struct error *error)
{
    struct model_config *model = &job->config->model;
    struct tr_feature_info features = TR_FEATURE_INFO_INIT;
    uint32_t classes = 0;
    /* A type without features has rows that are learned. */
    bool learned = model->types != NULL && model->types->ntypes[job->ntype].embedded > 0;
    int rv = learned ? 0 : find_table(job, job->config->features, &features, error);
    if (rv == 0)
        rv = job->task->complete(job, &classes, error);
    if (rv != 0)
        return rv;
    if (features.width > MODEL_WIDTH_MAX)
        return error_set(error, TR_ERANGE, "feature '%s' has rows of %llu numbers, at most %u",
                         features.name, (unsigned long long)features.width, MODEL_WIDTH_MAX);
    if (model->classes == 0) {
        model->inputs = (uint32_t)features.width;
        model->classes = classes;
    }
    if (model->inputs != features.width || model->classes < classes)
        return error_set(error, TR_EMISMATCH,
                         "the model has %u features and %u %s; the graph has %llu and %u",
                         model->inputs, model->classes, job->task->outputs,
                         (unsigned long long)features.width, classes);
    return 0;
}

static size_t rows_at_once(const struct tr_feature_info *info)
{
    size_t rows = info->row_bytes > 0 ? LABELS_BYTES_AT_ONCE / info->row_bytes : LABELS_AT_ONCE;
    return rows < 1 ? 1 : rows < LABELS_AT_ONCE ? rows : LABELS_AT_ONCE;
}

/* Counts each class among labels; of several labels a node, each by itself. */
static void count_labels(const struct model_config *model, const struct batch_rows *labels,
                         uint64_t *counts)
{
    for (uint32_t i = 0; i < labels->num_rows; i++) {
        if (model->loss == MODEL_SIGMOID) {
            for (uint32_t c = 0; c < model->classes && c < labels->width; c++)
                counts[c] += labels_target(labels, i, c) > 0.5f;
            continue;
        }
        int64_t label = labels_class(labels, i);
        if (label >= 0 && label < model->classes)
            counts[label]++;
    }
}

/* Labels are fetched, not sampled: also a process that has no part of the graph and no trainer of
 * rank 0 knows the weights. Counts are whole numbers, so they are the same in any order. */
int run_job_count_labels(struct run_job *job, struct tr_nodes *nodes, uint64_t *counts,
                         struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    int rv = find_table(job, job->config->labels, &info, error);
    if (rv != 0)
        return rv;
    size_t at_once = rows_at_once(&info), count = tr_nodes_count(nodes);
    void *rows = malloc(at_once * info.row_bytes + 1);
    uint64_t *ids = malloc(at_once * sizeof *ids);
    struct batch_rows labels = {
        .dtype = info.dtype, .width = info.width, .row_bytes = info.row_bytes, .rows = rows
    };
    if (rows == NULL || ids == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory for labels");
    for (size_t begin = 0; begin < count && rv == 0; begin += labels.num_rows) {
        size_t left = count - begin;
        labels.num_rows = (uint32_t)(left < at_once ? left : at_once);
        rv = tr_nodes_ids(nodes, begin, labels.num_rows, TR_WAIT_FOREVER, ids, &why);
        if (rv == 0)
            rv = tr_graph_fetch(job->graph, job->ntype, info.name, ids, labels.num_rows,
                                TR_WAIT_FOREVER, rows, &why);
        if (rv == 0)
            count_labels(&job->config->model, &labels, counts);
        else
            session_failed(&why, rv, error);
    }
    free(ids);
    free(rows);
    return rv;
}

/* Weight of a class = labels / (classes * labels of that class), of the training nodes; 0
 * without any. */
static void weigh_classes(const uint64_t *counts, uint32_t classes, float *weights)
{
    uint64_t total = 0;
    for (uint32_t c = 0; c < classes; c++)
        total += counts[c];
    for (uint32_t c = 0; c < classes; c++)
        weights[c] = counts[c] == 0
                         ? 0
                         : (float)((double)total / ((double)classes * (double)counts[c]));
}

int run_job_balance_classes(struct run_job *job, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct run_config *config = job->config;
    uint32_t classes = config->model.classes;
    struct tr_nodes *nodes = NULL;
    uint64_t *counts = calloc(classes, sizeof *counts);
    job->class_weights = calloc(classes, sizeof *job->class_weights);
    int rv = counts == NULL || job->class_weights == NULL
                 ? error_set(error, TR_ENOMEM, "no memory for the class weights")
                 : 0;
    if (rv == 0) {
        rv = tr_nodes_masked(job->graph, job->ntype, config->train_mask, TR_WAIT_FOREVER, &nodes,
                             &why);
        rv = rv == 0 ? 0 : session_failed(&why, rv, error);
    }
    if (rv == 0)
        rv = run_job_count_labels(job, nodes, counts, error);
    if (rv == 0) {
        weigh_classes(counts, classes, job->class_weights);
        config->model.class_weights = job->class_weights;
    }
    tr_nodes_close(nodes);
    free(counts);
    return rv;
}
