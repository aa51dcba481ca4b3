/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a training leaves to be chosen by the graph: the metric, by the number of classes, and how
 * long and how carefully to train, by the number and kind of the training nodes.
 *
 * Invariant: every process of a job chooses the same, wherever the graph's partitions are: all that
 * is asked of the graph is read in the order of original IDs.
 */
#include <math.h>
#include <stdlib.h>

#include "model/features.h"
#include "model/run_job_inside.h"
#include "model/run_task.h"

/* A model has found most of what it finds after so many steps; one epoch in EVALUATIONS is scored,
 * and a third of them without a better one end the run. */
#define STEPS_WANTED 1000u
#define EPOCHS_LEAST 10u
#define EPOCHS_MOST 200u
#define EVALUATIONS 50u
#define PATIENCE_LEAST 5u
/* With so few nodes a class to learn from, a model learns them by heart unless it is kept from it. */
#define FEW_INPUT_DROPOUT 0.5f
#define FEW_L2 5e-4f
/* With next to none a class, most nodes are far from all of them: a layer more reaches further, and
 * a model that sees few of many words at a time learns more of them. Of other features, which may
 * be few, it would see too little, and of one number a row it would see most nodes as nothing. */
#define FEWEST_INPUT_DROPOUT 0.8f
#define FEWEST_LAYERS 3u
#define FEWEST_FANOUT 10
/* A third of the way from chance to all neighbours being alike: from there on GCN, which adds up a
 * node and its neighbours by the same weights, learns more of few labels than GraphSAGE, which has to
 * learn of them how to tell a node from its neighbours. Below, that is worth learning. */
#define ALIKE (1.0 / 3)
/* Rows of features that are looked at, and the share of numbers other than 0 up to which they are
 * taken for counts of words. */
#define ROWS_LOOKED_AT 256u
#define SPARSE_SHARE 0.15

static int find_features(const struct run_job *job, struct tr_feature_info *info,
                         struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv = tr_graph_find_feature(job->graph, job->ntype, job->config->features, info, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

/* What rows of features are. */
struct kind_of_rows {
    bool counts; /* no number is below 0, and most are 0 */
    bool single; /* these, of one number a row: the node's name, or a category */
};

static struct kind_of_rows kind_of_rows(const float *values, size_t rows, size_t width)
{
    const struct kind_of_rows neither = { false, false };
    size_t others = 0, most = 0;
    for (size_t row = 0; row < rows; row++) {
        size_t before = others;
        for (size_t i = 0; i < width; i++) {
            float value = values[row * width + i];
            if (!(value >= 0))
                return neither;
            others += value > 0;
        }
        most = others - before > most ? others - before : most;
    }
    bool counts = (double)others <= SPARSE_SHARE * (double)rows * (double)width;
    return (struct kind_of_rows){ counts, counts && most <= 1 };
}

/* *kind: of the features of the first training nodes. */
static int look_at_features(const struct run_job *job, struct tr_nodes *nodes,
                            struct kind_of_rows *kind, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    int rv = find_features(job, &info, error);
    if (rv != 0)
        return rv;
    size_t rows = tr_nodes_count(nodes) < ROWS_LOOKED_AT ? tr_nodes_count(nodes) : ROWS_LOOKED_AT;
    uint64_t *ids = malloc(ROWS_LOOKED_AT * sizeof *ids);
    char *bytes = malloc(rows * info.row_bytes + 1);
    float *values = malloc((rows * info.width + 1) * sizeof *values);
    if (ids == NULL || bytes == NULL || values == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory to look at the features");
    if (rv == 0) {
        rv = tr_nodes_ids(nodes, 0, rows, TR_WAIT_FOREVER, ids, &why);
        if (rv == 0)
            rv = tr_graph_fetch(job->graph, job->ntype, info.name, ids, rows, TR_WAIT_FOREVER,
                                bytes, &why);
        rv = rv == 0 ? 0 : session_failed(&why, rv, error);
    }
    if (rv == 0) {
        features_convert(info.dtype, bytes, rows * info.width, values);
        *kind = kind_of_rows(values, rows, info.width);
    }
    free(ids);
    free(bytes);
    free(values);
    return rv;
}

static uint32_t clamp_count(uint64_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : (uint32_t)value;
}

void run_job_choose_length(struct run_config *config, uint64_t seeds, uint32_t world)
{
    uint64_t batch = (uint64_t)config->batch_size * world;
    uint64_t steps = (seeds + batch - 1) / batch;
    uint32_t epochs = clamp_count(STEPS_WANTED / (steps > 0 ? steps : 1), EPOCHS_LEAST,
                                  EPOCHS_MOST);
    config->model.epochs = epochs;
    if (config->choose_evaluate_every)
        config->evaluate_every = (epochs + EVALUATIONS - 1) / EVALUATIONS;
    if (config->choose_patience)
        config->patience = clamp_count(epochs / config->evaluate_every / 3, PATIENCE_LEAST,
                                       EPOCHS_MOST);
}

static float choose_input_dropout(bool fewest, struct kind_of_rows kind)
{
    if (!fewest || !kind.counts)
        return FEW_INPUT_DROPOUT;
    return kind.single ? 0 : FEWEST_INPUT_DROPOUT;
}

static void choose_reach(struct run_config *config)
{
    config->model.layers = FEWEST_LAYERS;
    for (uint32_t i = 0; i < FEWEST_LAYERS; i++)
        config->fanout[i] = FEWEST_FANOUT;
}

/* Where too few edges between known labels say how alike neighbours are, their features do; and where
 * neither does they are taken to be, as in most graphs: of a few labels GraphSAGE would learn less in
 * the usual case than GCN loses in the other. Weighted edges ask of gcn what other hosts may not have,
 * and gcn takes no mask. */
static int choose_kind(struct run_job *job, struct tr_nodes *nodes, struct error *error)
{
    double homophily;
    bool differ = false;
    if (job->config->model.loss != MODEL_SOFTMAX || job->config->edge_weight != NULL ||
        job->config->draw_mask != NULL)
        return 0;
    int rv = run_job_homophily(job, nodes, &homophily, error);
    if (rv == 0 && isnan(homophily))
        rv = run_job_neighbours_differ(job, &differ, error);
    if (rv == 0 && (isnan(homophily) ? !differ : homophily >= ALIKE))
        job->config->model.kind = MODEL_GCN;
    return rv;
}

/* Does the type that is learned have any? */
static bool has_features(const struct run_job *job)
{
    const struct model_types *types = job->config->model.types;
    return types == NULL || types->ntypes[job->ntype].embedded == 0;
}

static int choose_training(struct run_job *job, struct tr_nodes *nodes, struct error *error)
{
    struct run_config *config = job->config;
    struct tr_graph_place place = TR_GRAPH_PLACE_INIT;
    struct kind_of_rows kind = { false, false };
    int rv = tr_graph_place(job->graph, &place, NULL);
    if (rv != 0)
        return error_set(error, rv, "the graph: %s", tr_strerror(rv));
    uint64_t count = tr_nodes_count(nodes);
    bool few = run_job_has_few_nodes(config, count);
    bool fewest = run_job_has_fewest_nodes(config, count);
    run_job_choose_length(config, count, place.world);
    if (few && has_features(job) &&
        (config->choose_normalise || (fewest && config->choose_input_dropout)))
        rv = look_at_features(job, nodes, &kind, error);
    if (rv == 0 && few && config->choose_kind)
        rv = choose_kind(job, nodes, error);
    if (few && config->choose_input_dropout)
        config->model.input_dropout = choose_input_dropout(fewest, kind);
    if (fewest && config->choose_layers)
        choose_reach(config);
    if (few && config->choose_l2)
        config->model.l2 = FEW_L2;
    if (few && config->choose_normalise)
        config->model.normalise = kind.counts;
    /* Columns come behind rows: what adds up to 1 in a row stays so. */
    if (rv == 0 && config->choose_standardise && !config->model.normalise)
        rv = run_job_standardise(job, &config->model.standardise, error);
    return rv;
}

int run_nodes_choose(struct run_job *job, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_nodes *nodes;
    int rv = tr_nodes_masked(job->graph, job->ntype, job->config->train_mask, TR_WAIT_FOREVER,
                             &nodes, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    rv = choose_training(job, nodes, error);
    tr_nodes_close(nodes);
    return rv;
}

int run_job_choose(struct run_job *job, struct error *error)
{
    struct run_config *config = job->config;
    if (config->choose_metric)
        config->model.metric = run_config_usual_metric(&config->model);
    return config->choose_epochs ? job->task->choose(job, error) : 0;
}
