/* SPDX-License-Identifier: Apache-2.0 */
/* What a job trains on, in one line, and what makes its result worse than it might be. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/run_survey.h"

#include "model/run_job_inside.h"
#include "model/run_task.h"

/* IDs read at a time. */
#define IDS_AT_ONCE 65536u
/* A byte a node says which masks have it; larger graphs are not looked at for nodes in two. */
#define SURVEY_NODES_MAX (UINT64_C(1) << 28)
/* So few steps of so few epochs teach a model next to nothing. */
#define FEW_EPOCHS 30u

/* Rows by which columns of features are judged, and the mean, in deviations, and the deviation up
 * to which they are taken as they are. */
#define SCALES_ROWS 4096u
#define FAR_DEVIATIONS 10.0f
#define LARGE_DEVIATION 100.0f
/* The name that an import gives a column of weights. */
#define EDGE_WEIGHTS "weight"

struct survey {
    struct run_job *job;
    const struct run_survey_splits *splits;
    run_survey_say say;
    void *arg;
    struct tr_nodes *nodes[3];
    const char *masks[3];
    unsigned char *seen;  /* of each node: bit m, mask m has it; NULL: too many nodes */
    uint64_t *trained;    /* [classes] training nodes with the label */
    uint64_t *scored;     /* [classes] validation and test nodes with it */
    uint64_t labelled[3]; /* nodes of the mask that have a class */
    uint32_t found[3];    /* the classes that nodes of the mask have */
    struct error *error;
};

TR_PRINTF(2, 3) static void advise(const struct survey *s, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->say(s->arg, true, text);
}

static uint64_t count_of(const struct survey *s, int mask)
{
    return s->nodes[mask] == NULL ? 0 : tr_nodes_count(s->nodes[mask]);
}

#define COUNT_SHOWN 80

/* Nodes without a class are neither learned from nor scored, and count beside those that are. */
static const char *show_mask(const struct survey *s, int mask, char text[COUNT_SHOWN])
{
    const uint64_t all = count_of(s, mask);
    const bool some = s->job->config->model.loss == MODEL_SOFTMAX && s->labelled[mask] < all;
    if (some)
        snprintf(text, COUNT_SHOWN, "%" PRIu64 " labelled of %" PRIu64, s->labelled[mask], all);
    else
        snprintf(text, COUNT_SHOWN, "%" PRIu64, all);
    return text;
}

static void say_head(const struct survey *s)
{
    char text[400], train[COUNT_SHOWN], validation[COUNT_SHOWN], test[COUNT_SHOWN];
    const struct model_config *model = &s->job->config->model;
    uint64_t steps = s->splits->steps;
    snprintf(text, sizeof text,
             "%llu nodes, %u classes; %s nodes to train on, %s to validate, %s to test; %s "
             "with %zu parameters; %llu step%s an epoch",
             (unsigned long long)tr_graph_num_nodes(s->job->graph, s->job->ntype), model->classes,
             show_mask(s, 0, train), show_mask(s, 1, validation), show_mask(s, 2, test),
             model_kind_name(model->kind), model_params(s->job->model)->trained,
             (unsigned long long)steps, steps == 1 ? "" : "s");
    s->say(s->arg, false, text);
}

/* Writes the options that name a shape, all those in which it differs from what is usual. */
static void list_shape(const struct run_config *config, enum run_shape chosen, char *text,
                       size_t bytes)
{
    const struct model_config *model = &config->model;
    if (chosen != RUN_SHAPE_DEEP) {
        snprintf(text, bytes, "options.model %s", model_kind_name(model->kind));
        return;
    }
    size_t used = (size_t)snprintf(text, bytes, "options.fanout ");
    for (uint32_t i = 0; i < model->layers && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%d", i == 0 ? "" : ",",
                                 config->fanout[i]);
    if (used < bytes)
        snprintf(text + used, bytes - used,
                 " options.norm %s options.residual options.hidden %u options.input_dropout %g "
                 "options.l2 %g",
                 model_norm_name(model->norm), model->hidden, (double)model->input_dropout,
                 (double)model->l2);
}

/* What was tried, what came of it, and what chooses the same at once. */
static void say_tried(const struct survey *s)
{
    const struct run_config *config = s->job->config;
    const struct run_tried *tried = &config->tried;
    char text[600], shape[200];
    if (!tried->any)
        return;
    size_t used = (size_t)snprintf(
        text, sizeof text, "tried by validation %s:", model_metric_name(config->model.metric));
    for (int i = 0; i < RUN_SHAPES && used < sizeof text; i++)
        if (isfinite(tried->scores[i]))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %.4f",
                                     i == 0 ? "" : ",", run_shape_name((enum run_shape)i),
                                     tried->scores[i]);
    list_shape(config, tried->chosen, shape, sizeof shape);
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used,
                 "; %s is chosen; to train it without trials give: %s",
                 run_shape_name(tried->chosen), shape);
    s->say(s->arg, false, text);
}

/* Marks the nodes of a mask, and counts those that each mask before it has too. */
static int survey_mark(struct survey *s, int mask, uint64_t both[3])
{
    struct tr_error why = TR_ERROR_INIT;
    uint64_t count = count_of(s, mask);
    uint64_t *ids = malloc(IDS_AT_ONCE * sizeof *ids);
    int rv = ids == NULL ? error_set(s->error, TR_ENOMEM, "no memory for IDs of nodes") : 0;
    for (uint64_t begin = 0; begin < count && rv == 0; begin += IDS_AT_ONCE) {
        uint64_t left = count - begin, some = left < IDS_AT_ONCE ? left : IDS_AT_ONCE;
        rv = tr_nodes_ids(s->nodes[mask], begin, (size_t)some, TR_WAIT_FOREVER, ids, &why);
        if (rv != 0)
            session_failed(&why, rv, s->error);
        for (uint64_t i = 0; i < some && rv == 0; i++) {
            for (int other = 0; other < mask; other++)
                both[other] += s->seen[ids[i]] >> other & 1;
            s->seen[ids[i]] |= (unsigned char)(1u << mask);
        }
    }
    free(ids);
    return rv;
}

static int advise_overlaps(struct survey *s)
{
    int rv = 0;
    for (int mask = 0; mask < 3 && rv == 0; mask++) {
        uint64_t both[3] = { 0 };
        if (s->nodes[mask] == NULL)
            continue;
        rv = survey_mark(s, mask, both);
        for (int other = 0; other < mask && rv == 0; other++)
            if (both[other] > 0)
                advise(s,
                       "%llu nodes are in both '%s' and '%s': a score on nodes that the model was "
                       "trained on says little about others; make masks that share no node, with "
                       "`troupe split`",
                       (unsigned long long)both[other], s->masks[other], s->masks[mask]);
    }
    return rv;
}

static int count_mask(struct survey *s, int mask)
{
    uint32_t classes = s->job->config->model.classes;
    uint64_t *counts = calloc(classes, sizeof *counts), *sums = mask == 0 ? s->trained : s->scored;
    if (counts == NULL)
        return error_set(s->error, TR_ENOMEM, "no memory to count %u classes", classes);
    int rv = run_job_count_labels(s->job, s->nodes[mask], counts, s->error);
    for (uint32_t c = 0; c < classes && rv == 0; c++) {
        sums[c] += counts[c];
        s->labelled[mask] += counts[c];
        s->found[mask] += counts[c] > 0;
    }
    free(counts);
    return rv;
}

static int count_labels(struct survey *s)
{
    int rv = 0;
    for (int mask = 0; mask < 3 && rv == 0; mask++)
        if (s->nodes[mask] != NULL)
            rv = count_mask(s, mask);
    return rv;
}

/* Yes-or-no labels may all be no, and are labels then. */
static bool is_unlabelled(const struct survey *s, int mask)
{
    return count_of(s, mask) == 0 ||
           (s->job->config->model.loss == MODEL_SOFTMAX && s->found[mask] == 0);
}

static int refuse_unlabelled(const struct survey *s)
{
    const struct run_config *config = s->job->config;
    if (!is_unlabelled(s, 0))
        return 0;
    return error_set(s->error, TR_EINVAL,
                     "no node of '%s' has a label in '%s': nothing to train on; make another mask, "
                     "with `troupe split --by-class` for example",
                     config->train_mask, config->labels);
}

/* What a score cannot say where there is nothing to score. */
static void advise_scores(const struct survey *s)
{
    const struct model_config *model = &s->job->config->model;
    if (model->loss == MODEL_SOFTMAX && model->classes == 1)
        advise(s,
               "all labels of '%s' are 0: with one class there is nothing to learn; number classes "
               "from 0, and give each node its own",
               s->job->config->labels);
    if (s->nodes[1] != NULL && is_unlabelled(s, 1))
        advise(s,
               "'%s' marks no node with a label: no epoch is chosen as the best, and the model is "
               "that of the last one",
               s->masks[1]);
    else if (s->nodes[1] != NULL && model->loss == MODEL_SOFTMAX && s->found[1] == 1 &&
             model->metric == MODEL_ROC_AUC)
        advise(s,
               "all nodes of '%s' are of one class, for which there is no ROC AUC: the best epoch "
               "is the one with the smallest loss; let the mask mark nodes of each class",
               s->masks[1]);
    if (s->nodes[2] != NULL && is_unlabelled(s, 2))
        advise(s, "'%s' marks no node with a label: there is no test score", s->masks[2]);
}

/* A class that nobody has is a gap in the numbers; one that only scored nodes have is never
 * learned. */
static void advise_classes(const struct survey *s)
{
    const struct run_config *config = s->job->config;
    uint32_t classes = config->model.classes, gaps = 0, gap = 0, missed = 0, miss = 0;
    for (uint32_t c = classes; c-- > 0;) {
        if (s->trained[c] > 0)
            continue;
        bool scored = s->scored[c] > 0;
        missed += scored;
        gaps += !scored;
        miss = scored ? c : miss;
        gap = scored ? gap : c;
    }
    if (missed > 0)
        advise(s,
               "%u of the %u classes of '%s' %s no training node, such as class %u: no model can "
               "learn %s; let '%s' mark nodes of each, as `troupe split --by-class` does",
               missed, classes, config->labels, missed == 1 ? "has" : "have", miss,
               missed == 1 ? "it" : "them", config->train_mask);
    /* Outputs of yes or no have no numbers to close up, and nodes that are not scored were not
     * counted. */
    bool counted = s->nodes[1] != NULL || s->nodes[2] != NULL;
    if (gaps > 0 && counted && config->model.loss == MODEL_SOFTMAX)
        advise(s,
               "no node of the masks has %u of the %u classes of '%s', such as class %u; number "
               "classes from 0 without gaps, and give -1 where a label is not known",
               gaps, classes, config->labels, gap);
}

/* Such nodes are left out: that there are fewer than the mask says is no secret. */
static void advise_unlabelled(const struct survey *s)
{
    const struct run_config *config = s->job->config;
    const uint64_t nodes = count_of(s, 0), labelled = s->labelled[0];
    if (config->model.loss != MODEL_SOFTMAX)
        return;
    if (labelled < nodes)
        advise(s,
               "%llu of the %llu nodes of '%s' have no label in '%s' (it is -1 or NaN), and are "
               "not learned from; let the mask leave them out, as `troupe split --by-class` does",
               (unsigned long long)(nodes - labelled), (unsigned long long)nodes,
               config->train_mask, config->labels);
}

static void advise_steps(const struct survey *s)
{
    uint32_t epochs = s->job->config->model.epochs;
    if (s->splits->steps == 1 && epochs > 0 && epochs < FEW_EPOCHS)
        advise(s,
               "each epoch is one step, so training makes %u in all: give more options.epochs, "
               "such as 100, or a smaller options.batch_size",
               epochs);
}

/* Sums over neighbours alone do better where they are alike, a node's own features where not. */
static void advise_fewest(const struct survey *s)
{
    const struct model_config *model = &s->job->config->model;
    uint64_t nodes = count_of(s, 0);
    if (s->nodes[1] == NULL || model->kind != MODEL_SAGE || model->classes < 2 ||
        !run_job_has_fewest_nodes(s->job->config, nodes))
        return;
    advise(s,
           "%llu nodes to train on are %.1f a class: which model learns most from so few differs "
           "from graph to graph; try options.model 'gcn' too, and keep the one with the better "
           "validation score",
           (unsigned long long)nodes, (double)nodes / model->classes);
}

/* Nobody asked for columns as they are, and one of them drowns the others. */
static int advise_scales(const struct survey *s)
{
    const struct run_config *config = s->job->config;
    const struct model_config *model = &config->model;
    uint32_t width = model->inputs;
    if (model->types != NULL || !config->choose_standardise || model->standardise ||
        model->normalise || width == 0)
        return 0;
    float *columns = malloc(4 * (size_t)width * sizeof *columns);
    int rv = columns == NULL
                 ? error_set(s->error, TR_ENOMEM, "no memory to look at the features")
                 : run_job_measure_columns(s->job, SCALES_ROWS, false, columns, s->error);
    for (uint32_t i = 0; i < width && rv == 0; i++) {
        float mean = fabsf(columns[i]), deviation = 1 / columns[width + i];
        if (mean <= FAR_DEVIATIONS * deviation && deviation <= LARGE_DEVIATION)
            continue;
        advise(s,
               "column %u of '%s' has numbers far from 0 and 1, such as %g, from which a model "
               "learns badly: give options.standardise",
               i, config->features, (double)(mean > deviation ? mean : deviation));
        break;
    }
    free(columns);
    return rv;
}

/* The graph was given weights, as an import calls them, and nobody asked for them. */
static void advise_weights(const struct survey *s)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    const char *draw_by = s->job->config->draw_by;
    if (s->job->config->edge_weight == NULL &&
        (draw_by == NULL || strcmp(draw_by, EDGE_WEIGHTS) != 0) &&
        !model_kind_has_relations(s->job->config->model.kind) &&
        tr_graph_find_edge_feature(s->job->graph, 0, EDGE_WEIGHTS, &info, NULL) == 0 &&
        info.width == 1)
        advise(s,
               "the edges have '" EDGE_WEIGHTS "', which is not used, so that all of them count "
               "alike: give options.edge_weight '" EDGE_WEIGHTS "' where a larger one joins nodes "
               "closer");
}

static int survey_all(struct survey *s)
{
    int rv = count_labels(s);
    if (rv == 0)
        rv = refuse_unlabelled(s);
    if (rv != 0)
        return rv;
    say_tried(s);
    say_head(s);
    if (rv == 0 && s->seen != NULL)
        rv = advise_overlaps(s);
    if (rv != 0)
        return rv;
    advise_classes(s);
    advise_scores(s);
    advise_unlabelled(s);
    advise_steps(s);
    advise_fewest(s);
    advise_weights(s);
    return advise_scales(s);
}

void run_survey_tried(struct run_job *job, run_survey_say say, void *arg)
{
    const struct survey s = { .job = job, .say = say, .arg = arg };
    say_tried(&s);
}

int run_nodes_survey(struct run_job *job, const struct run_survey_splits *splits,
                     run_survey_say say, void *arg, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    const struct run_config *config = job->config;
    uint32_t classes = config->model.classes;
    uint64_t nodes = tr_graph_num_nodes(job->graph, job->ntype);
    struct survey s = { .job = job,
                        .splits = splits,
                        .say = say,
                        .arg = arg,
                        .nodes = { NULL, splits->val, splits->test },
                        .masks = { config->train_mask, config->val_mask, config->test_mask },
                        .trained = calloc(classes, sizeof *s.trained),
                        .scored = calloc(classes, sizeof *s.scored),
                        .error = error };
    int rv = s.trained == NULL || s.scored == NULL
                 ? error_set(error, TR_ENOMEM, "no memory to count %u classes", classes)
                 : 0;
    if (rv == 0 && nodes <= SURVEY_NODES_MAX) {
        s.seen = calloc(nodes, 1);
        rv = s.seen == NULL ? error_set(error, TR_ENOMEM, "no memory for marks of nodes") : 0;
    }
    if (rv == 0) {
        rv = tr_nodes_masked(job->graph, job->ntype, config->train_mask, TR_WAIT_FOREVER,
                             &s.nodes[0], &why);
        rv = rv == 0 ? 0 : session_failed(&why, rv, error);
    }
    if (rv == 0)
        rv = survey_all(&s);
    tr_nodes_close(s.nodes[0]);
    free(s.seen);
    free(s.trained);
    free(s.scored);
    return rv;
}

int run_survey(struct run_job *job, const struct run_survey_splits *splits, run_survey_say say,
               void *arg, struct error *error)
{
    return job->task->survey(job, splits, say, arg, error);
}
