/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task of links: a run learns from the edges that are not held out, each with negatives that the
 * loader draws, and is scored by the outputs of all nodes.
 *
 * Invariant: a batch, and a pass over the whole graph, see no edge that is held out (link_filter.h,
 * exact.h); only inference with a trained model sees all.
 */
#include <stdio.h>

#include <troupe/link_prediction.h>

#include "model/link_scores.h"
#include "model/run_job_inside.h"
#include "model/run_task.h"

static int complete(struct run_job *job, uint32_t *classes, struct error *error)
{
    (void)error;
    /* As many outputs as hidden numbers: nothing else says what pairs of nodes are told apart by. */
    *classes = job->config->model.hidden;
    return 0;
}

static int prepare(struct run_job *job, struct error *error)
{
    job->link_split = link_split_make();
    int rv = link_edges_open(&job->link_edges, job->graph, &job->link_split, job->hooks.cancel,
                             error);
    job->whole.links = rv == 0 ? &job->link_split : NULL;
    return rv;
}

static int choose(struct run_job *job, struct error *error)
{
    struct run_config *config = job->config;
    struct tr_graph_place place = TR_GRAPH_PLACE_INIT;
    int rv = tr_graph_place(job->graph, &place, NULL);
    if (rv != 0)
        return error_set(error, rv, "the graph: %s", tr_strerror(rv));
    run_job_choose_length(config, tr_nodes_count(job->link_edges.train), place.world);
    if (config->choose_standardise && !config->model.normalise)
        rv = run_job_standardise(job, &config->model.standardise, error);
    return rv;
}

static int split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                       struct run_job_split *split, struct error *error)
{
    (void)deal;
    struct tr_loader_options options;
    struct tr_link_options links = TR_LINK_OPTIONS_INIT;
    links.num_negatives = job->config->negatives;
    *split = (struct run_job_split){ 0 };
    run_job_loader_options(job, true, &options);
    options.rank = rank;
    options.world = world;
    options.links = &links;
    int rv = run_job_open_loader(job, job->link_edges.train, &options, split, error);
    if (rv != 0 || tr_loader_num_batches(split->loader) > 0)
        return rv;
    error_set(
        error, TR_EINVAL,
        "options.drop_last leaves nothing to train on: a step takes %llu edges, and there are "
        "%zu; give a smaller options.batch_size, or leave out options.drop_last",
        (unsigned long long)job->config->batch_size * world, tr_nodes_count(job->link_edges.train));
    run_job_split_close(split);
    return TR_EINVAL;
}

static enum link_split_part link_part_of(enum tr_split part)
{
    return part == TR_SPLIT_VALIDATION ? LINK_VALIDATION
           : part == TR_SPLIT_TEST     ? LINK_TEST
                                       : LINK_TRAIN;
}

static bool holds_out(const struct run_config *config, enum tr_split part)
{
    (void)config;
    return link_part_of(part) != LINK_TRAIN;
}

/* No loader: pairs are scored by the outputs of all nodes. */
static int split_held(struct run_job *job, enum tr_split part, struct run_job_split *split,
                      struct error *error)
{
    (void)job;
    (void)error;
    *split = (struct run_job_split){ .part = link_part_of(part) };
    return 0;
}

static int evaluate(struct run_job *job, struct run_job_split *split, bool exact, uint32_t epoch,
                    struct scores *scores, struct error *error)
{
    const struct link_pairs *pairs = &job->link_edges.held[split->part];
    /* A graph of a few edges may hold out none. */
    *scores = scores_none();
    if (pairs->count == 0)
        return 0;
    int rv = exact ? run_job_infer_exact(job, "options.evaluation 'sampled'", error)
                   : run_job_infer_sampled(job, epoch, error);
    if (rv == 0)
        rv = run_job_all_threads(job, error);
    if (rv == 0 &&
        link_scores_of(model_parallel(job->model), &job->logits, pairs, split->part, scores) != 0)
        rv = error_set(error, TR_ENOMEM, "no memory for the scores of %zu pairs", pairs->count);
    model_set_parallel(job->model, job->parallel);
    return rv;
}

static int survey(struct run_job *job, const struct run_survey_splits *splits, run_survey_say say,
                  void *arg, struct error *error)
{
    char text[400];
    const struct model_config *model = &job->config->model;
    const struct link_edges *edges = &job->link_edges;
    (void)error;
    snprintf(text, sizeof text,
             "%llu nodes; %zu edges to train on, with %u negative%s each, %zu to validate, %zu to "
             "test; %s of %u outputs with %zu parameters; %llu step%s an epoch",
             (unsigned long long)tr_graph_num_nodes(job->graph, 0), tr_nodes_count(edges->train),
             job->config->negatives, job->config->negatives == 1 ? "" : "s",
             edges->held[LINK_VALIDATION].count, edges->held[LINK_TEST].count,
             model_kind_name(model->kind), model->classes, model_params(job->model)->trained,
             (unsigned long long)splits->steps, splits->steps == 1 ? "" : "s");
    say(arg, false, text);
    if (edges->held[LINK_VALIDATION].count == 0)
        say(arg, true,
            "no edge is held out to validate, since there are so few: the model is that of the "
            "last "
            "epoch");
    return 0;
}

const struct run_task run_task_links = {
    .complete = complete,
    .prepare = prepare,
    .choose = choose,
    .split_train = split_train,
    .split_held = split_held,
    .holds_out = holds_out,
    .evaluate = evaluate,
    .survey = survey,
};
