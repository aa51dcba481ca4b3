/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "model/run_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/labels.h"
#include "model/warm_up.h"
#include "partition/store/npy.h"
#include "runtime/core/crew.h"

/* Rows of labels read at a time to count classes. */
#define LABELS_AT_ONCE 65536u
/* And at most so many bytes of them, where a node has many. */
#define LABELS_BYTES_AT_ONCE ((size_t)16 << 20)

/* More threads than this gain nothing from blocks of 1024 rows. */
#define JOB_THREADS_MAX 64

static int open_session(struct run_job *job, const struct run_job_layout *layout,
                        struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_session_options options;
    tr_session_options_init(&options);
    options.trainers = layout->trainers;
    options.checkpoints = layout->checkpoints;
    options.checkpoint_keep = layout->checkpoint_keep;
    options.servers = layout->servers;
    options.samplers = layout->samplers;
    options.loops = layout->loops;
    options.seed = job->config->model.seed;
    options.direct = !layout->messages;
    options.codec = layout->codec;
    options.map_files = layout->map_files;
    options.verify_files = layout->verify_files;
    options.memory_bytes_max = layout->memory_bytes;
    options.log = layout->log;
    if (job->hooks.place != NULL)
        job->hooks.place(job->hooks.arg, &options);
    int rv = tr_session_open(&options, &job->session, &why);
    if (rv == 0 && job->hooks.opened != NULL)
        job->hooks.opened(job->hooks.arg, job->session);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

static int check_homogeneous(struct run_job *job, const char *path, struct error *error)
{
    uint32_t ntypes = tr_graph_num_ntypes(job->graph), etypes = tr_graph_num_etypes(job->graph);
    if (ntypes == 1 && etypes == 1)
        return 0;
    return error_set(error, TR_EUNSUPPORTED,
                     "%s has %u node types and %u edge types; the built-in models take graphs with "
                     "one of each",
                     path, ntypes, etypes);
}

static int find_table(struct run_job *job, const char *name, struct tr_feature_info *info,
                      struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv = tr_graph_find_feature(job->graph, 0, name, info, &why);
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
    return error_set(error, TR_EMISMATCH, "label '%s' is not one number a node", info->name);
}

static int scan_part(const struct run_job *job, uint32_t part, const struct tr_feature_info *info,
                     int64_t *largest, struct error *error)
{
    const struct feature_table *table = node_part_feature(&job->whole.parts[part]->nodes[0],
                                                          info->name);
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

static bool has_all_parts(const struct run_job *job)
{
    for (uint32_t p = 0; p < job->whole.num_parts; p++)
        if (job->whole.parts[p] == NULL)
            return false;
    return true;
}

/* Labels of partitions that other hosts have are asked for: all of them, since a global ID does not
 * say here whose it is. */
static int fetch_labels(struct run_job *job, const struct tr_feature_info *info, int64_t *largest,
                        struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    if (info->width != 1)
        return refuse_labels(info, error);
    uint64_t nodes = tr_graph_num_nodes(job->graph, 0);
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
        rv = tr_graph_fetch(job->graph, 0, info->name, ids, count, TR_WAIT_FOREVER, labels, &why);
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
    if (rv == 0 && !has_all_parts(job))
        rv = fetch_labels(job, info, &largest, error);
    if (rv != 0)
        return rv;
    if (largest < 0 || largest >= MODEL_CLASSES_MAX)
        return error_set(error, TR_ERANGE, "the largest label of '%s' is %lld", info->name,
                         (long long)largest);
    *classes = (uint32_t)largest + 1;
    return 0;
}

/* Inputs and classes follow from the graph; a run that is read back must agree. */
static int complete_config(struct run_job *job, struct error *error)
{
    struct model_config *model = &job->config->model;
    struct tr_feature_info features = TR_FEATURE_INFO_INIT, labels = TR_FEATURE_INFO_INIT;
    uint32_t classes = 0;
    int rv = find_table(job, job->config->features, &features, error);
    if (rv == 0)
        rv = find_table(job, job->config->labels, &labels, error);
    if (rv == 0)
        rv = count_classes(job, &labels, &classes, error);
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
                         "the model takes %u features and %u classes; the graph has %llu and %u",
                         model->inputs, model->classes, (unsigned long long)features.width,
                         classes);
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
static int count_classes_of(struct run_job *job, struct tr_nodes *nodes, uint64_t *counts,
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
            rv = tr_graph_fetch(job->graph, 0, info.name, ids, labels.num_rows, TR_WAIT_FOREVER,
                                rows, &why);
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

static int balance_classes(struct run_job *job, struct error *error)
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
        rv = tr_nodes_masked(job->graph, 0, config->train_mask, TR_WAIT_FOREVER, &nodes, &why);
        rv = rv == 0 ? 0 : session_failed(&why, rv, error);
    }
    if (rv == 0)
        rv = count_classes_of(job, nodes, counts, error);
    if (rv == 0) {
        weigh_classes(counts, classes, job->class_weights);
        config->model.class_weights = job->class_weights;
    }
    tr_nodes_close(nodes);
    free(counts);
    return rv;
}

static size_t choose_threads(uint32_t asked)
{
    if (asked != 0)
        return asked < JOB_THREADS_MAX ? asked : JOB_THREADS_MAX;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online < 1)
        return 1;
    return online < JOB_THREADS_MAX ? (size_t)online : JOB_THREADS_MAX;
}

int run_job_replica(const struct run_job *job, struct parallel **parallel, struct model **model,
                    struct error *error)
{
    *model = NULL;
    *parallel = crew_parallel_create(job->threads - 1);
    if (*parallel == NULL)
        return error_set(error, TR_ENOMEM, "no memory or threads to compute with");
    return model_create(model, &job->config->model, *parallel, error);
}

static void share_threads(struct run_job *job, const struct run_job_layout *layout)
{
    size_t trainers = layout->trainers != 0 ? layout->trainers : 1;
    job->threads_of_all = choose_threads(layout->threads);
    job->threads = job->threads_of_all / trainers;
    job->threads = job->threads != 0 ? job->threads : 1;
}

static int warm_threads(struct run_job *job, const struct run_job_layout *layout,
                        struct error *error)
{
    bool stuck;
    struct error why = { 0 };
    size_t trainers = layout->trainers != 0 ? layout->trainers : 1;
    size_t at_once = job->threads * trainers;
    at_once = at_once > job->threads_of_all ? at_once : job->threads_of_all;
    int rv = warm_up(at_once, job->hooks.cancel, &stuck, &why);
    if (stuck && job->hooks.stuck != NULL)
        job->hooks.stuck(job->hooks.arg, &why);
    return rv == 0 ? 0 : error_set(error, rv, "%s", why.text);
}

int run_job_open(struct run_job *job, const char *graph, struct run_config *config,
                 const struct run_job_layout *layout, const struct run_job_hooks *hooks,
                 struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *job = (struct run_job){ .config = config, .hooks = *hooks };
    share_threads(job, layout);
    /* First of all, while there is nothing to clean up. */
    int rv = warm_threads(job, layout, error);
    if (rv == 0)
        rv = open_session(job, layout, error);
    if (rv != 0)
        goto failed;
    rv = tr_graph_open(job->session, graph, TR_WAIT_FOREVER, &job->graph, &why);
    if (rv != 0) {
        session_failed(&why, rv, error);
        goto failed;
    }
    rv = check_homogeneous(job, graph, error);
    if (rv == 0) {
        job->whole.features = config->features;
        job->whole.cancel = hooks->cancel;
        rv = part_views_init(&job->parts, job->graph, config->features, config->labels, error);
    }
    if (rv == 0) {
        job->whole.parts = job->parts.parts;
        job->whole.num_parts = job->parts.count;
        rv = complete_config(job, error);
    }
    if (rv == 0 && config->balanced_weights)
        rv = balance_classes(job, error);
    if (rv == 0)
        rv = run_job_replica(job, &job->parallel, &job->model, error);
    if (rv == 0)
        return 0;
failed:
    run_job_close(job);
    return rv;
}

void run_job_close(struct run_job *job)
{
    exact_destroy(job->exact);
    tensor_fini(&job->logits);
    model_destroy(job->model);
    crew_parallel_destroy(job->parallel);
    crew_parallel_destroy(job->wide);
    part_views_fini(&job->parts); /* before the graph, whose memory they show */
    tr_graph_close(job->graph);
    if (job->session != NULL && job->hooks.opened != NULL)
        job->hooks.opened(job->hooks.arg, NULL);
    tr_session_close(job->session);
    free(job->class_weights);
    *job = (struct run_job){ 0 };
}

static void loader_options(const struct run_job *job, bool shuffle,
                           struct tr_loader_options *options)
{
    const struct run_config *config = job->config;
    tr_loader_options_init(options);
    options->num_layers = config->model.layers;
    memcpy(options->fanout, config->fanout, sizeof options->fanout);
    options->batch_size = config->batch_size;
    options->replace = config->replace;
    options->shuffle = shuffle;
    options->drop_last = shuffle && config->drop_last;
    options->degrees = config->model.kind == MODEL_GCN;
    options->features = config->features;
    options->labels = config->labels;
}

static int open_loader(struct run_job *job, const struct tr_loader_options *options,
                       struct run_job_split *split, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv = tr_loader_open(job->graph, split->nodes, options, TR_WAIT_FOREVER, &split->loader,
                            &why);
    if (rv != 0) {
        session_failed(&why, rv, error);
        run_job_split_close(split);
        return rv;
    }
    loader_source_init(&split->source, job->session, split->loader, job->hooks.cancel);
    return 0;
}

/* mask NULL: all nodes. */
static int open_split(struct run_job *job, const char *mask, struct run_job_split *split,
                      struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *split = (struct run_job_split){ 0 };
    struct tr_loader_options options;
    loader_options(job, false, &options);
    options.world = 1;
    int rv = mask == NULL
                 ? tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &split->nodes, &why)
                 : tr_nodes_masked(job->graph, 0, mask, TR_WAIT_FOREVER, &split->nodes, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    return open_loader(job, &options, split, error);
}

int run_job_split_open(struct run_job *job, const char *mask, struct run_job_split *split,
                       struct error *error)
{
    return open_split(job, mask, split, error);
}

int run_job_split_open_all(struct run_job *job, struct run_job_split *split, struct error *error)
{
    return open_split(job, NULL, split, error);
}

int run_job_split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                        struct run_job_split *split, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *split = (struct run_job_split){ 0 };
    struct tr_loader_options options;
    struct tr_nodes *all = NULL;
    loader_options(job, true, &options);
    options.rank = rank;
    options.world = world;
    int rv = tr_nodes_masked(job->graph, 0, job->config->train_mask, TR_WAIT_FOREVER, &all, &why);
    if (rv == 0 && tr_nodes_count(all) == 0) {
        rv = error_set(error, TR_EINVAL, "mask '%s' marks no node: nothing to train on",
                       job->config->train_mask);
        tr_nodes_close(all);
        return rv;
    }
    if (rv == 0 && deal != NULL) {
        const char *file = strcmp(deal, "affinity") == 0 ? NULL : deal;
        rv = tr_nodes_deal(all, file, rank, world, &split->nodes, &why);
        tr_nodes_close(all);
    } else {
        split->nodes = all;
    }
    if (rv != 0)
        return session_failed(&why, rv, error);
    return open_loader(job, &options, split, error);
}

void run_job_split_close(struct run_job_split *split)
{
    tr_batch_release(split->source.batch);
    tr_loader_close(split->loader);
    tr_nodes_close(split->nodes);
    *split = (struct run_job_split){ 0 };
}

/* Passes over the whole graph take long, and the trainers whose threads these are wait then. */
static int widen(struct run_job *job, struct error *error)
{
    if (job->wide == NULL && job->threads_of_all > job->threads)
        job->wide = crew_parallel_create(job->threads_of_all - 1);
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
    if (!has_all_parts(job)) {
        rv = tr_graph_map_parts(job->graph, &why);
        if (rv != 0)
            return error_set(error, rv, "%s", why.message);
        rv = part_views_update(&job->parts, error);
    }
    if (rv != 0)
        return rv;
    return exact_create(&job->exact, job->model, &job->whole, error);
}

int run_job_infer(struct run_job *job, struct error *error)
{
    int rv = widen(job, error);
    if (rv == 0)
        rv = open_exact(job, error);
    if (rv == 0)
        rv = exact_infer(job->exact, &job->logits, error);
    model_set_parallel(job->model, job->parallel);
    return rv;
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

int run_job_infer_sampled(struct run_job *job, uint32_t epoch, struct error *error)
{
    struct run_job_split all;
    int rv = run_job_split_open_all(job, &all, error);
    if (rv != 0)
        return rv;
    size_t classes = job->config->model.classes;
    rv = tensor_resize(&job->logits, tr_nodes_count(all.nodes), classes);
    if (rv != 0)
        error_set(error, rv, "no memory for the outputs of %zu nodes", tr_nodes_count(all.nodes));
    if (rv == 0)
        rv = all.source.base.start_epoch(&all.source.base, epoch, error);
    const struct mini_batch *batch;
    size_t row = 0; /* seeds come in the order of original IDs */
    while (rv == 0 && (rv = all.source.base.next(&all.source.base, &batch, error)) == 0) {
        const float *logits;
        rv = model_forward(job->model, batch, &logits, error);
        size_t seeds = batch->nodes[0].num_seeds;
        if (rv == 0)
            memcpy(job->logits.data + row * classes, logits, seeds * classes * sizeof *logits);
        row += seeds;
        all.source.base.release(&all.source.base, batch);
    }
    run_job_split_close(&all);
    return rv == TR_EEND ? 0 : rv;
}

int run_job_score(struct run_job *job, const struct run_job_split *split, struct scores *scores,
                  struct error *error)
{
    uint64_t *ids = NULL;
    int rv = widen(job, error);
    if (rv == 0)
        rv = open_exact(job, error);
    if (rv == 0)
        rv = read_split(split, &ids, error);
    if (rv == 0)
        rv = exact_scores(job->exact, &job->logits, job->config->labels, ids,
                          tr_nodes_count(split->nodes), scores, error);
    free(ids);
    model_set_parallel(job->model, job->parallel);
    return rv;
}

int run_job_evaluate(struct run_job *job, struct run_job_split *split, bool exact, uint32_t epoch,
                     struct scores *scores, struct error *error)
{
    if (!exact)
        return trainer_evaluate(job->model, &split->source.base, epoch, scores, error);
    int rv = run_job_infer(job, error);
    return rv == 0 ? run_job_score(job, split, scores, error) : rv;
}

int run_job_write_logits(const struct run_job *job, const char *path, struct error *error)
{
    const uint64_t shape[] = { job->logits.rows, job->logits.cols };
    char *aside = NULL;
    if (asprintf(&aside, "%s.tmp-%ld", path, (long)getpid()) < 0)
        return error_set(error, TR_ENOMEM, "%s: no memory", path);
    int rv = npy_write(files_posix, aside, "<f4", 2, shape, job->logits.data, error);
    if (rv == 0)
        rv = files_sync_tree(files_posix, aside, error);
    if (rv == 0)
        rv = files_rename(files_posix, aside, path, error);
    if (rv != 0)
        (void)files_remove_tree(files_posix, aside, NULL);
    free(aside);
    return rv;
}
