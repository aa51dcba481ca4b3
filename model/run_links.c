/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task of links: a run learns from the edges that are not held out, each with negatives that the
 * loader draws, and is scored by the outputs of all nodes.
 *
 * Invariant: a batch, and a pass over the whole graph, see no edge that is held out (link_filter.h,
 * exact.h); only inference with a trained model sees all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/link_prediction.h>

#include "model/link_scores.h"
#include "model/run_job_inside.h"
#include "model/run_task.h"

/* By its whole name, which a relation alone may have stood for. */
static int name_type(const struct tr_book *book, uint32_t etype, char **name, struct error *error)
{
    struct tr_etype_info info = TR_ETYPE_INFO_INIT;
    struct tr_error why = TR_ERROR_INIT;
    int rv = tr_book_etype(book, etype, &info, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    free(*name);
    *name = strdup(info.name);
    return *name != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for the name of a type");
}

/* A run on a graph of one edge type has no word of types. */
static int find_link_types(struct run_job *job, const struct tr_book *book, struct error *error)
{
    struct run_config *config = job->config;
    struct link_types *types = &job->link_types;
    int rv = link_types_find(types, book, config->edge_type, config->reverse_edge_type, error);
    if (rv != 0)
        return rv;
    job->link_suspect = link_types_suspect(types, book);
    memcpy(job->types.targets, types->ntypes, sizeof types->ntypes);
    job->ntype = types->ntypes[MODEL_SOURCES];
    if (tr_graph_num_etypes(job->graph) > 1 || config->edge_type != NULL)
        rv = name_type(book, types->etype, &config->edge_type, error);
    if (rv == 0 && (types->reverse != types->etype || config->reverse_edge_type != NULL))
        rv = name_type(book, types->reverse, &config->reverse_edge_type, error);
    return rv;
}

static int complete_links(struct run_job *job, uint32_t *classes, struct error *error)
{
    (void)error;
    /* As many outputs as hidden numbers: nothing else says what pairs of nodes are told apart by. */
    *classes = job->config->model.hidden;
    return 0;
}

/* The name where edges have such a feature, or else "". One that is named stays. */
static int choose_mask(const struct run_job *job, const char *usual, char **mask,
                       struct error *error)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    if (*mask != NULL && strcmp(*mask, usual) != 0)
        return 0;
    bool found = tr_graph_find_edge_feature(job->graph, job->link_types.etype, usual, &info,
                                            NULL) == 0;
    free(*mask);
    *mask = strdup(found ? usual : "");
    return *mask != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for the name of a mask");
}

/* Where no mask says which edges to train on, the split holds out, and takes no other mask. */
static int choose_no_mask(const struct run_job *job, const char *usual, uint32_t open, char **mask,
                          struct error *error)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    bool found = tr_graph_find_edge_feature(job->graph, job->link_types.etype, usual, &info,
                                            NULL) == 0;
    if (*mask != NULL && **mask == '\0' && (job->config->open & open) != 0)
        return 0; /* of a run that was begun so */
    if (*mask != NULL && **mask == '\0')
        return error_set(
            error, TR_EINVAL,
            "options.%s is empty, but edges have no feature 'train_mask', and are held "
            "out by their ends: leave it out",
            usual);
    if (*mask != NULL)
        return error_set(error, TR_ENOENT,
                         "options.%s names '%s', but edges have no feature 'train_mask' that says "
                         "which to train on: name it as options.train_mask, or leave out both",
                         usual, *mask);
    if (found)
        return error_set(
            error, TR_ENOENT,
            "edges have a feature '%s', but no feature 'train_mask' that says which to "
            "train on: name it as options.train_mask",
            usual);
    *mask = strdup("");
    return *mask != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for a mask");
}

/* Edges have masks where they have, or are to have, the one of training. */
static int choose_masks(struct run_job *job, struct error *error)
{
    struct run_config *config = job->config;
    int rv = choose_mask(job, "train_mask", &config->train_mask, error);
    if (rv == 0 && config->train_mask[0] == '\0') {
        rv = choose_no_mask(job, "val_mask", RUN_OPEN_VAL_MASK, &config->val_mask, error);
        return rv != 0 ? rv
                       : choose_no_mask(job, "test_mask", RUN_OPEN_TEST_MASK, &config->test_mask,
                                        error);
    }
    if (rv == 0)
        rv = choose_mask(job, "val_mask", &config->val_mask, error);
    return rv != 0 ? rv : choose_mask(job, "test_mask", &config->test_mask, error);
}

static int prepare_links(struct run_job *job, struct error *error)
{
    const struct run_config *config = job->config;
    job->link_split = link_split_make(&job->link_types);
    int rv = choose_masks(job, error);
    const struct link_masks masks = { { config->train_mask, config->val_mask, config->test_mask } };
    if (rv == 0)
        rv = link_edges_open(&job->link_edges, job->graph, &job->link_split,
                             config->train_mask[0] != '\0' ? &masks : NULL, job->hooks.cancel,
                             error);
    job->whole.links = rv == 0 ? &job->link_split : NULL;
    return rv;
}

static int choose_links(struct run_job *job, struct error *error)
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
    links.negative_ends = job->config->negative_ends;
    links.by = job->config->negatives_by;
    links.no_edges = job->config->negatives_no_edges;
    *split = (struct run_job_split){ 0 };
    run_job_loader_options(job, true, &options);
    options.rank = rank;
    options.world = world;
    options.links = &links;
    int rv = run_job_open_loader(job, job->link_edges.train, &options, split, error);
    return rv == 0 ? run_job_check_batches(job, world, "edges", split, error) : rv;
}

static enum link_split_part link_part_of(enum tr_split part)
{
    return part == TR_SPLIT_VALIDATION ? LINK_VALIDATION
           : part == TR_SPLIT_TEST     ? LINK_TEST
                                       : LINK_TRAIN;
}

static bool holds_out(const struct run_config *config, enum tr_split part)
{
    if (part == TR_SPLIT_TRAIN)
        return false;
    /* Without masks the split holds out both. */
    const char *mask = part == TR_SPLIT_VALIDATION ? config->val_mask : config->test_mask;
    return config->train_mask[0] == '\0' || mask[0] != '\0';
}

static int hash_part(struct run_job *job, enum tr_split part, uint64_t *hash, struct error *error)
{
    (void)error;
    *hash = job->link_edges.hashes[link_part_of(part)];
    return 0;
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

static int evaluate_links(struct run_job *job, struct run_job_split *split, bool exact,
                          uint32_t epoch, struct scores *scores, struct error *error)
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
    const struct tensor *destinations =
        &job->logits[model_types_target_of(&job->types, MODEL_DESTINATIONS)];
    if (rv == 0 && link_scores_of(model_parallel(job->model), job->logits, destinations, pairs,
                                  split->part, scores) != 0)
        rv = error_set(error, TR_ENOMEM, "no memory for the scores of %zu pairs", pairs->count);
    model_set_parallel(job->model, job->parallel);
    return rv;
}

/* "800 nodes", or "300 'person' and 200 'thing' nodes". */
static void describe_nodes(const struct run_job *job, char *text, size_t bytes)
{
    const struct link_types *types = &job->link_types;
    unsigned long long counts[MODEL_ENDS];
    for (int end = 0; end < MODEL_ENDS; end++)
        counts[end] = tr_graph_num_nodes(job->graph, types->ntypes[end]);
    if (link_types_differ(types))
        snprintf(text, bytes, "%llu '%s' and %llu '%s' nodes", counts[MODEL_SOURCES],
                 tr_graph_ntype_name(job->graph, types->ntypes[MODEL_SOURCES]),
                 counts[MODEL_DESTINATIONS],
                 tr_graph_ntype_name(job->graph, types->ntypes[MODEL_DESTINATIONS]));
    else
        snprintf(text, bytes, "%llu nodes", counts[MODEL_SOURCES]);
}

static void advise_links(const struct run_job *job, run_survey_say say, void *arg)
{
    char text[600];
    if (job->link_edges.held[LINK_VALIDATION].count == 0)
        say(arg, true, "no edge is held out to validate: the model is that of the last epoch");
    if (job->link_suspect == job->link_types.etype)
        return;
    snprintf(text, sizeof text,
             "the edge type '%s' has as many edges, the other way: where these are the reverses, "
             "they tell of edges that are held out, and scores are too good; name it as "
             "options.reverse_edge_type",
             job->types.etypes[job->link_suspect].name);
    say(arg, true, text);
}

static int survey_links(struct run_job *job, const struct run_survey_splits *splits,
                        run_survey_say say, void *arg, struct error *error)
{
    char text[800], nodes[300];
    const struct model_config *model = &job->config->model;
    const struct link_edges *edges = &job->link_edges;
    const char *type = job->config->edge_type;
    (void)error;
    describe_nodes(job, nodes, sizeof nodes);
    snprintf(text, sizeof text,
             "%s; %zu edges%s%s%s to train on, with %u negative%s each, %zu to validate, %zu to "
             "test; %s of %u outputs with %zu parameters; %llu step%s an epoch",
             nodes, tr_nodes_count(edges->train), type != NULL ? " of '" : "",
             type != NULL ? type : "", type != NULL ? "'" : "", job->config->negatives,
             job->config->negatives == 1 ? "" : "s", edges->held[LINK_VALIDATION].count,
             edges->held[LINK_TEST].count, model_kind_name(model->kind), model->classes,
             model_params(job->model)->trained, (unsigned long long)splits->steps,
             splits->steps == 1 ? "" : "s");
    say(arg, false, text);
    advise_links(job, say, arg);
    return 0;
}

const struct run_task run_task_links = {
    .splits_itself = true,
    .outputs = "outputs",
    .find_types = find_link_types,
    .complete = complete_links,
    .prepare = prepare_links,
    .choose = choose_links,
    .split_train = split_train,
    .split_held = split_held,
    .holds_out = holds_out,
    .hash_part = hash_part,
    .evaluate = evaluate_links,
    .survey = survey_links,
};
