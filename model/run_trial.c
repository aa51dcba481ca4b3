/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which shape of a model suits the graph, where nobody named one: a few are trained for some steps
 * each, and the one that scores best on the validation nodes is then trained from the start.
 *
 * No fact of a graph says it: where neighbours are alike GCN may learn more than GraphSAGE or less,
 * and three layers are worth their time on one graph and not on the next. What is slower has to be
 * better by a margin, and what takes long is not tried: a large graph.
 *
 * In a job of several processes the process of rank 0 tries, and the others wait for its choice
 * (shape_choice.h).
 *
 * Invariants: options and counts alone decide whether there are trials, so all processes agree.
 * Trials leave no trace but the choice and its scores in the configuration, so that a run is as one
 * that was begun with the shape by name; and they compute the same, bit for bit, for any number of
 * partitions, servers, samplers, threads and trainers.
 */
#include <math.h>
#include <string.h>

#include "model/run_job_inside.h"
#include "model/trainer.h"
#include "runtime/core/crew.h"

/* Steps of a trial, and the evaluations that they are parted by, of which some without a better one
 * end it. */
#define STEPS 200u
#define EVALUATIONS 20u
#define PATIENCE 4u
/* Fewer validation nodes choose by chance. */
#define VALIDATION_LEAST 100u
/* Beyond these a trial takes more than some seconds. */
#define TRAINED_MOST 20000u
#define NODES_MOST 100000u
#define EDGES_MOST 2000000u
/* A slower shape has to be better by so much. */
#define MARGIN 0.01

/* Three layers whose rows are normalised, so that a layer more disturbs no other, and which keep by
 * residual connections what they knew a step nearer. They draw 250 nodes for a seed, as two layers of
 * the usual fanout do; most of their time goes into products of hidden rows, so these are narrower. */
static const int32_t DEEP_FANOUT[] = { 5, 5, 10 };
#define DEEP_LAYERS (sizeof DEEP_FANOUT / sizeof *DEEP_FANOUT)
/* They learn by heart sooner. */
#define DEEP_INPUT_DROPOUT 0.3f
#define DEEP_L2 5e-4f

static void shape_as_gcn(struct run_config *config)
{
    config->model.kind = MODEL_GCN;
}

static void shape_as_deep(struct run_config *config)
{
    struct model_config *model = &config->model;
    model->layers = DEEP_LAYERS;
    memcpy(config->fanout, DEEP_FANOUT, sizeof DEEP_FANOUT);
    model->norm = MODEL_NORM_LAYER;
    model->residual = true;
    if (config->choose_hidden)
        model->hidden = RUN_SHAPE_DEEP_HIDDEN;
    if (config->choose_input_dropout)
        model->input_dropout = DEEP_INPUT_DROPOUT;
    if (config->choose_l2)
        model->l2 = DEEP_L2;
}

static void take_shape(struct run_config *config, enum run_shape shape)
{
    if (shape == RUN_SHAPE_GCN)
        shape_as_gcn(config);
    else if (shape == RUN_SHAPE_DEEP)
        shape_as_deep(config);
}

/* Whether trials are worth their time, and nothing of the shape was named. */
static bool is_tried(const struct run_job *job)
{
    const struct run_config *config = job->config;
    return run_config_leaves_shape(config) && config->model.kind == MODEL_SAGE &&
           config->model.types == NULL && config->model.loss == MODEL_SOFTMAX &&
           config->edge_weight == NULL && config->draw_mask == NULL &&
           config->model.metric != MODEL_LOSS && config->evaluation != RUN_EVALUATE_NONE &&
           config->val_mask != NULL && config->val_mask[0] != '\0' &&
           tr_graph_num_nodes(job->graph, job->ntype) <= NODES_MOST &&
           tr_graph_num_edges(job->graph, 0) <= EDGES_MOST;
}

struct trial {
    struct run_job *job;
    struct run_job_split train, val;
    enum run_shape shape;
    uint32_t evaluations;
    uint64_t steps;
};

static bool trial_cancelled(void *arg)
{
    return cancel_asked(((struct trial *)arg)->job->hooks.cancel);
}

static int trial_evaluate(void *arg, struct model *model, struct scores *scores,
                          struct error *error)
{
    struct trial *trial = arg;
    bool exact = trial->job->config->evaluation == RUN_EVALUATE_EXACT;
    (void)model; /* which is the job's */
    return run_job_evaluate(trial->job, &trial->val, exact, trial->evaluations++, scores, error);
}

static void trial_step_done(void *arg, uint32_t epoch, uint64_t step, double loss)
{
    (void)loss;
    const struct trial *trial = arg;
    const struct run_job_hooks *hooks = &trial->job->hooks;
    uint64_t each = tr_loader_num_batches(trial->train.loader);
    if (hooks->tries != NULL)
        hooks->tries(hooks->arg, trial->shape, epoch * each + step + 1, trial->steps);
}

/* One trainer takes all steps, whatever the run will have. */
static int trial_train(struct trial *trial, struct scores *best, struct error *error)
{
    struct trainer_result result = { 0 };
    uint64_t each = tr_loader_num_batches(trial->train.loader);
    uint32_t epochs = (uint32_t)((STEPS + each - 1) / each);
    trial->steps = epochs * each;
    const struct trainer_plan plan = { .epochs = epochs,
                                       .patience = PATIENCE,
                                       .evaluate_every = (epochs + EVALUATIONS - 1) / EVALUATIONS,
                                       .world = 1 };
    const struct trainer_hooks hooks = { .arg = trial,
                                         .evaluate = trial_evaluate,
                                         .step_done = trial_step_done,
                                         .cancelled = trial_cancelled };
    int rv = trainer_run(trial->job->model, &trial->train.source.base, &plan, &hooks, &result,
                         error);
    *best = result.best;
    return rv;
}

/* The model and what was made for it go; the graph and its views stay. */
static void trial_close(struct trial *trial)
{
    struct run_job *job = trial->job;
    run_job_split_close(&trial->train);
    run_job_split_close(&trial->val);
    exact_destroy(job->exact);
    model_destroy(job->model);
    crew_parallel_destroy(job->parallel);
    job->exact = NULL;
    job->model = NULL;
    job->parallel = NULL;
    job->hidden = NULL;
}

/* A trial with few training nodes, or few validation nodes, compares by chance. */
static bool has_enough(const struct trial *trial)
{
    uint64_t trained = tr_nodes_count(trial->train.nodes);
    return !run_job_has_few_nodes(trial->job->config, trained) && trained <= TRAINED_MOST &&
           tr_nodes_count(trial->val.nodes) >= VALIDATION_LEAST;
}

/* *score stays as it was where there are too few nodes, or the loss is not finite. */
static int run_trial(struct run_job *job, enum run_shape shape, double *score, struct error *error)
{
    struct trial trial = { .job = job, .shape = shape };
    struct scores best = { 0 };
    int rv = run_job_replica(job, &job->parallel, &job->model, error);
    if (rv == 0)
        rv = run_job_split_train(job, NULL, 0, 1, &trial.train, error);
    if (rv == 0)
        rv = run_job_split_open(job, job->config->val_mask, &trial.val, error);
    if (rv == 0 && has_enough(&trial)) {
        rv = trial_train(&trial, &best, error);
        if (rv == 0 && best.labelled > 0)
            *score = scores_value(&best, job->config->model.metric);
        /* A loss that is not finite: this is no shape for the graph. */
        rv = rv == TR_ERANGE ? 0 : rv;
    }
    trial_close(&trial);
    return rv;
}

/* The model and the fanouts are all that a shape changes. */
static void shape_put_back(struct run_config *config, const struct run_config *plain)
{
    config->model = plain->model;
    memcpy(config->fanout, plain->fanout, sizeof config->fanout);
}

static int try_all(struct run_job *job, struct error *error)
{
    struct run_config *config = job->config;
    const struct run_config plain = *config;
    struct run_tried *tried = &config->tried;
    int rv = 0;
    for (int shape = 0; shape < RUN_SHAPES; shape++)
        tried->scores[shape] = (double)NAN;
    for (int shape = 0; shape < RUN_SHAPES && rv == 0; shape++) {
        shape_put_back(config, &plain);
        take_shape(config, (enum run_shape)shape);
        rv = run_trial(job, (enum run_shape)shape, &tried->scores[shape], error);
        /* Where the first says nothing, no other is compared with it. */
        if (rv == 0 && shape == 0 && !isfinite(tried->scores[0]))
            break;
        if (tried->scores[shape] > tried->scores[tried->chosen] + MARGIN)
            tried->chosen = (enum run_shape)shape;
    }
    shape_put_back(config, &plain);
    tried->any = rv == 0 && isfinite(tried->scores[0]);
    if (tried->any)
        take_shape(config, tried->chosen);
    return rv;
}

int run_job_try(struct run_job *job, struct error *error)
{
    const struct run_job_hooks *hooks = &job->hooks;
    struct run_config *config = job->config;
    struct run_tried before;
    bool known = false;
    if (!is_tried(job))
        return 0;
    int rv = hooks->tried == NULL ? 0 : hooks->tried(hooks->arg, job, &before, &known, error);
    if (rv != 0 || !known)
        return rv != 0 ? rv : try_all(job, error);
    config->tried = before;
    if (before.any)
        take_shape(config, before.chosen);
    return 0;
}
