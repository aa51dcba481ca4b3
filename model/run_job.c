/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_job_inside.h"
#include "model/run_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model_file.h"
#include "model/warm_up.h"
#include "runtime/core/crew.h"

/* More threads than this gain nothing from blocks of 1024 rows. */
#define JOB_THREADS_MAX 64
#define PATH_BYTES 4096

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
    /* The place in a cluster comes last, over what the layout says. */
    if (job->hooks.place != NULL)
        job->hooks.place(job->hooks.arg, &options);
    int rv = tr_session_open(&options, &job->session, &why);
    if (rv == 0 && job->hooks.opened != NULL)
        job->hooks.opened(job->hooks.arg, job->session);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
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

struct parallel *run_job_parallel(const struct run_job *job, size_t helpers)
{
    return job->watched ? crew_parallel_create_watched(helpers) : crew_parallel_create(helpers);
}

int run_job_replica(const struct run_job *job, struct parallel **parallel, struct model **model,
                    struct error *error)
{
    *model = NULL;
    *parallel = run_job_parallel(job, job->threads - 1);
    if (*parallel == NULL)
        return error_set(error, TR_ENOMEM, "no memory or threads to compute with");
    int rv = model_create(model, &job->config->model, *parallel, error);
    if (rv == 0 && job->norms.in != NULL)
        model_set_norms(*model, &job->norms);
    if (rv == 0 && job->config->model.standardise && job->columns != NULL)
        rv = model_standardise_with(*model, job->columns);
    if (rv == 0 && job->beginning != NULL && model_begin_with(*model, job->beginning) != 0)
        rv = error_set(error, TR_ENOMEM, "no memory for the weights to begin with");
    return rv;
}

/* Says what the other run is, behind what does not fit. */
static int explain_misfit(const char *run, struct error *error)
{
    char why[ERROR_TEXT_MAX], path[PATH_BYTES];
    struct run_config config = { 0 };
    memcpy(why, error->text, sizeof why);
    snprintf(path, sizeof path, "%s/config.json", run);
    if (run_config_read(files_posix, path, &config, NULL) == 0)
        error_set(error, TR_EMISMATCH,
                  "%s; %s is %s of %u layers, %u wide, from %u features%s to %u %s: options.from "
                  "needs a model of the same shape",
                  why, run, model_kind_name(config.model.kind), config.model.layers,
                  config.model.hidden, config.model.inputs,
                  config.model.standardise ? " in standardised columns" : "", config.model.classes,
                  run_task_of(&config)->outputs);
    else
        error_set(error, TR_EMISMATCH, "%s", why);
    run_config_fini(&config);
    return TR_EMISMATCH;
}

/* A model that learned by weights of edges is not begun with by one that counts them otherwise. */
static int compare_weights(const struct run_job *job, const char *run, struct error *error)
{
    char path[PATH_BYTES];
    struct run_config config = { 0 };
    const char *now = job->config->edge_weight;
    snprintf(path, sizeof path, "%s/config.json", run);
    int rv = run_config_read(files_posix, path, &config, error);
    if (rv != 0)
        return rv;
    const char *was = config.edge_weight;
    if (was != now && (was == NULL || now == NULL || strcmp(was, now) != 0))
        rv = error_set(
            error, TR_EMISMATCH,
            "options.from: %s was trained with %s%s as options.edge_weight, and this run "
            "has %s%s",
            run, was == NULL ? "nothing" : "", was == NULL ? "" : was, now == NULL ? "nothing" : "",
            now == NULL ? "" : now);
    run_config_fini(&config);
    return rv;
}

int run_job_begin_from(struct run_job *job, const char *run, struct error *error)
{
    size_t count = model_params(job->model)->count;
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/model.safetensors", run) >= (int)sizeof path)
        return error_set(error, TR_EINVAL, "options.from: the path is too long");
    int rv = model_load(job->model, files_posix, path, error);
    if (rv == TR_EMISMATCH)
        return explain_misfit(run, error);
    if (rv == 0)
        rv = compare_weights(job, run, error);
    if (rv != 0)
        return rv;
    job->beginning = malloc((count + 1) * sizeof *job->beginning);
    if (job->beginning == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the weights to begin with");
    memcpy(job->beginning, model_weights(job->model), count * sizeof *job->beginning);
    rv = model_begin_with(job->model, job->beginning);
    return rv == 0 ? 0 : error_set(error, rv, "no memory for the weights to begin with");
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

/* Weights that are none are refused before anything is trained, as far as they are here. Those of
 * other processes are looked at in batches. */
static int open_weights(struct run_job *job, struct error *error)
{
    struct run_config *config = job->config;
    struct tr_error why = TR_ERROR_INIT;
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    int rv = tr_graph_find_edge_feature(job->graph, 0, config->edge_weight, &info, &why);
    if (rv != 0)
        return error_set(error, rv, "options.edge_weight: %s", why.message);
    config->model.edge_weights = true;
    if (config->model.kind != MODEL_GCN)
        return edge_weights_check(job->whole.parts, job->whole.num_parts, config->edge_weight,
                                  job->hooks.cancel, error);
    if (!run_job_has_all_parts(job)) {
        rv = tr_graph_map_parts(job->graph, &why);
        if (rv != 0)
            return error_set(error, rv,
                             "options.edge_weight: gcn normalises by the weighted degrees of all "
                             "nodes: %s",
                             why.message);
        rv = part_views_update(&job->parts, error);
    }
    return rv != 0 ? rv
                   : weighted_norms_init(&job->norms, job->whole.parts, job->whole.num_parts,
                                         config->edge_weight, job->hooks.cancel, error);
}

int run_job_open(struct run_job *job, const char *graph, struct run_config *config,
                 const struct run_job_layout *layout, const struct run_job_hooks *hooks,
                 struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *job = (struct run_job){
        .config = config, .task = layout->task, .hooks = *hooks, .watched = layout->watched
    };
    bool needed;
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
    /* From here on each step takes what the one before found: the partitions say inputs and
     * classes, these complete the configuration, and the model is made of that. */
    rv = run_job_take_types(job, graph, error);
    if (rv == 0) {
        job->whole.features = config->features;
        job->whole.cancel = hooks->cancel;
        job->whole.edge_weight = config->edge_weight;
        job->whole.draw_by = config->draw_by;
        job->whole.draw_mask = config->draw_mask;
        const char *const of_edges[PART_VIEW_EDGE_TABLES] = { config->edge_weight, config->draw_by,
                                                              config->draw_mask };
        rv = part_views_init(&job->parts, job->graph, config->features, config->labels, of_edges,
                             error);
    }
    if (rv == 0) {
        job->whole.parts = job->parts.parts;
        job->whole.num_parts = job->parts.count;
        rv = run_job_complete_config(job, error);
    }
    if (rv == 0 && config->edge_weight != NULL)
        rv = open_weights(job, error);
    if (rv == 0 && layout->trains)
        rv = run_job_check_draws(job, graph, error);
    if (rv == 0 && layout->trains)
        rv = job->task->prepare(job, error);
    if (rv == 0)
        rv = run_job_choose(job, error);
    if (rv == 0 && layout->trains && config->model.standardise && job->columns == NULL)
        rv = run_job_standardise(job, &needed, error);
    if (rv == 0 && config->balanced_weights)
        rv = run_job_balance_classes(job, error);
    if (rv == 0 && layout->trains)
        rv = run_job_try(job, error);
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
    /* Each goes before what it uses: the model before its threads, all of them before the graph.
     * The session loses its name (opened with NULL) before it closes, so that nobody interrupts one
     * that is gone. */
    exact_destroy(job->exact);
    for (uint32_t i = 0; i < MODEL_ENDS; i++) {
        tensor_fini(&job->logits[i]);
        tensor_fini(&job->sampled_hidden[i]);
    }
    model_destroy(job->model);
    weighted_norms_fini(&job->norms);
    crew_parallel_destroy(job->parallel);
    crew_parallel_destroy(job->wide);
    link_edges_close(&job->link_edges);
    part_views_fini(&job->parts); /* before the graph, whose memory they show */
    tr_graph_close(job->graph);
    if (job->session != NULL && job->hooks.opened != NULL)
        job->hooks.opened(job->hooks.arg, NULL);
    tr_session_close(job->session);
    run_job_drop_types(job);
    free(job->beginning);
    free(job->columns);
    free(job->class_weights);
    *job = (struct run_job){ 0 };
}
