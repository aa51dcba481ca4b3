/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_options.h"

#include <string.h>

#include "model/run_compare.h"

/* Layers that nobody named, where the graph chooses no others. */
#define LAYERS_UNSAID 2u
#define LABELS_UNSAID "label"

struct tr_train_options run_options_defaults(void)
{
    const struct model_config model = model_config_default();
    return (struct tr_train_options){
        .size = sizeof(struct tr_train_options),
        .num_layers = TR_TRAIN_COUNT_CHOSEN,
        .fanout = { 10, 25 },
        .hidden = TR_TRAIN_COUNT_CHOSEN,
        .batch_size = 1024,
        .epochs = TR_TRAIN_EPOCHS_CHOSEN,
        .lr = model.lr,
        .optimiser = "adam",
        .dropout = TR_TRAIN_REAL_CHOSEN,
        .input_dropout = TR_TRAIN_REAL_CHOSEN,
        .l2 = TR_TRAIN_REAL_CHOSEN,
        .patience = TR_TRAIN_COUNT_CHOSEN,
        .schedule = "constant",
        .step_epochs = 30,
        .step_gamma = 0.1f,
        .evaluation = "exact",
        .evaluate_every = TR_TRAIN_COUNT_CHOSEN,
        .features = "feat",
        .train_mask = "train_mask",
        .task = "node",
        .sampler = "neighbors",
        .step_limit_ns = TR_TRAIN_LIMIT_UNSAID,
        .disk_wait_ns = TR_TRAIN_LIMIT_UNSAID,
    };
}

/* *value: the number behind a name. */
static int run_options_parse(const char *option, const char *name,
                             int (*number_of)(const char *name), int *value, struct tr_error *error)
{
    *value = name == NULL ? -1 : number_of(name);
    return *value >= 0 ? 0
                       : tr_error_set(error, TR_EINVAL, "tr_train_options: %s '%s' is not known",
                                      option, name == NULL ? "" : name);
}

static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int parse_evaluation(const char *name)
{
    static const char *const names[] = { "exact", "sampled", "none", NULL };
    return find_name(names, name);
}

/* As options have them; config.json has "step". In the order of the enum. */
static int parse_schedule(const char *name)
{
    static const char *const names[] = { "constant", "steps", "cosine", NULL };
    return find_name(names, name);
}

static int read_names(struct run_config *config, const struct tr_train_options *from,
                      struct tr_error *error)
{
    int kind, norm, loss, metric, optimiser, schedule, evaluation;
    config->choose_kind = from->model == NULL;
    int rv = run_options_parse("model", from->model == NULL ? "sage" : from->model,
                               model_kind_parse, &kind, error);
    config->choose_norm = from->norm == NULL && !from->residual;
    if (rv == 0)
        rv = run_options_parse("norm", from->norm == NULL ? "none" : from->norm, model_norm_parse,
                               &norm, error);
    if (rv == 0)
        rv = run_options_parse("loss", from->loss == NULL ? "softmax" : from->loss,
                               model_loss_parse, &loss, error);
    config->choose_metric = from->metric == NULL;
    if (rv == 0)
        rv = run_options_parse("metric", from->metric == NULL ? "accuracy" : from->metric,
                               model_metric_parse, &metric, error);
    if (rv == 0)
        rv = run_options_parse("optimiser", from->optimiser, model_optimiser_parse, &optimiser,
                               error);
    if (rv == 0)
        rv = run_options_parse("schedule", from->schedule, parse_schedule, &schedule, error);
    if (rv == 0)
        rv = run_options_parse("evaluation", from->evaluation, parse_evaluation, &evaluation,
                               error);
    if (rv != 0)
        return rv;
    config->model.kind = (enum model_kind)kind;
    config->model.norm = (enum model_norm)norm;
    config->model.loss = (enum model_loss)loss;
    config->model.metric = (enum model_metric)metric;
    config->model.optimiser = (enum model_optimiser)optimiser;
    config->model.schedule = (enum model_schedule)schedule;
    config->evaluation = (enum run_evaluation)evaluation;
    return 0;
}

/* What `layers` layers draw where that was not said: the usual ones of two are the last of them, and
 * each before draws fewer, since its nodes are more. */
static void choose_fanouts(int32_t *fanout, uint32_t layers, const int32_t usual[LAYERS_UNSAID])
{
    static const int32_t BEFORE[] = { 2, 3,
                                      5 }; /* those before the fifth layer from the end draw 2 */
    const uint32_t known = sizeof BEFORE / sizeof *BEFORE;
    for (uint32_t i = 0; i < layers; i++) {
        const uint32_t behind = layers - 1 - i; /* layers behind it */
        fanout[i] = behind < LAYERS_UNSAID           ? usual[LAYERS_UNSAID - 1 - behind]
                    : behind < LAYERS_UNSAID + known ? BEFORE[known - 1 - (behind - LAYERS_UNSAID)]
                                                     : BEFORE[0];
    }
}

/* Layers are chosen where neither their number nor what they draw was named. */
static int read_layers(struct run_config *config, const struct tr_train_options *from,
                       struct tr_error *error)
{
    const struct tr_train_options defaults = run_options_defaults();
    bool named = from->num_layers != TR_TRAIN_COUNT_CHOSEN;
    uint32_t layers = named ? from->num_layers : LAYERS_UNSAID;
    if (layers == 0 || layers > TR_LAYERS_MAX)
        return tr_error_set(error, TR_ERANGE, "tr_train_options: num_layers %u is not 1 to %d",
                            layers, TR_LAYERS_MAX);
    if (from->residual && layers < MODEL_RESIDUAL_LAYERS)
        return tr_error_set(error, TR_EINVAL,
                            "tr_train_options: residual changes hidden layers after the first, so "
                            "it needs num_layers of %u at least",
                            MODEL_RESIDUAL_LAYERS);
    config->choose_layers = !named && memcmp(from->fanout, defaults.fanout,
                                             LAYERS_UNSAID * sizeof *from->fanout) == 0;
    config->model.layers = layers;
    /* Beyond the layers they are 0, as the command leaves them. */
    if (layers > LAYERS_UNSAID && memcmp(from->fanout, defaults.fanout, sizeof from->fanout) == 0)
        choose_fanouts(config->fanout, layers, defaults.fanout);
    else
        memcpy(config->fanout, from->fanout, layers * sizeof *from->fanout);
    return 0;
}

static int read_numbers(struct run_config *config, const struct tr_train_options *from,
                        struct tr_error *error)
{
    struct model_config *model = &config->model;
    if (from->batch_size == 0 || from->hidden == 0 || from->evaluate_every == 0)
        return tr_error_set(error, TR_ERANGE,
                            "tr_train_options: hidden, batch_size and evaluate_every are at "
                            "least 1");
    if (from->normalise && from->no_normalise)
        return tr_error_set(error, TR_EINVAL,
                            "tr_train_options: normalise and no_normalise are opposites");
    if (from->standardise && from->no_standardise)
        return tr_error_set(error, TR_EINVAL,
                            "tr_train_options: standardise and no_standardise are opposites");
    model->residual = from->residual;
    config->choose_hidden = from->hidden == TR_TRAIN_COUNT_CHOSEN;
    model->hidden = config->choose_hidden ? model_config_default().hidden : from->hidden;
    model->bases = from->bases;
    model->heads = from->heads != 0           ? from->heads
                   : model->kind == MODEL_GAT ? TR_TRAIN_HEADS_OF_GAT
                                              : 1;
    if (from->dropout != TR_TRAIN_REAL_CHOSEN)
        model->dropout = from->dropout;
    config->choose_input_dropout = from->input_dropout == TR_TRAIN_REAL_CHOSEN;
    model->input_dropout = config->choose_input_dropout ? 0 : from->input_dropout;
    config->choose_normalise = !from->normalise && !from->no_normalise;
    model->normalise = from->normalise;
    config->choose_standardise = !from->standardise && !from->no_standardise;
    model->standardise = from->standardise;
    config->choose_logarithms = true;
    model->seed = from->seed;
    model->lr = from->lr;
    config->choose_l2 = from->l2 == TR_TRAIN_REAL_CHOSEN;
    model->l2 = config->choose_l2 ? 0 : from->l2;
    model->weight_decay = from->weight_decay;
    model->momentum = from->momentum;
    model->warmup_epochs = from->warmup_epochs;
    model->step_epochs = from->step_epochs;
    model->step_gamma = from->step_gamma;
    model->cosine_floor = from->cosine_floor;
    config->choose_epochs = from->epochs == TR_TRAIN_EPOCHS_CHOSEN;
    model->epochs = config->choose_epochs ? 0 : from->epochs;
    config->batch_size = from->batch_size;
    config->replace = from->with_replacement;
    config->drop_last = from->drop_last;
    config->balanced_weights = from->balanced_weights;
    config->choose_evaluate_every = from->evaluate_every == TR_TRAIN_COUNT_CHOSEN;
    config->evaluate_every = config->choose_evaluate_every ? 1 : from->evaluate_every;
    config->choose_patience = from->patience == TR_TRAIN_COUNT_CHOSEN;
    config->patience = config->choose_patience ? 0 : from->patience;
    return 0;
}

/* What is of nodes alone, and was named. NULL: nothing. */
static const char *find_of_nodes(const struct run_config *config,
                                 const struct tr_train_options *from)
{
    return from->labels != NULL        ? "labels"
           : from->label_type != NULL  ? "label_type"
           : config->balanced_weights  ? "balanced_weights"
           : from->edge_weight != NULL ? "edge_weight"
           : from->deal != NULL        ? "deal"
                                       : NULL;
}

/* Of links; what few training nodes or trials would choose is as usual. */
static int read_links(struct run_config *config, const struct tr_train_options *from,
                      struct tr_error *error)
{
    const char *of_nodes = find_of_nodes(config, from);
    if (of_nodes != NULL)
        return tr_error_set(error, TR_EINVAL,
                            "options.%s is for options.task 'node'; leave it out for 'link'",
                            of_nodes);
    if (from->loss != NULL && config->model.loss != MODEL_SIGMOID)
        return tr_error_set(error, TR_EINVAL,
                            "options.loss '%s' is for options.task 'node'; 'link' has 'sigmoid'",
                            from->loss);
    if (from->negatives > TR_TRAIN_NEGATIVES_MAX)
        return tr_error_set(error, TR_ERANGE, "options.negatives %u is not 0 to %d",
                            from->negatives, TR_TRAIN_NEGATIVES_MAX);
    config->negatives = from->negatives != 0 ? from->negatives : 1;
    config->negatives_no_edges = from->negatives_no_edges;
    int ends, by;
    int rv = run_options_parse("negative_ends",
                               from->negative_ends == NULL ? "destinations" : from->negative_ends,
                               run_negative_ends_parse, &ends, error);
    if (rv == 0)
        rv = run_options_parse("negatives_by",
                               from->negatives_by == NULL ? "uniform" : from->negatives_by,
                               run_negatives_by_parse, &by, error);
    if (rv != 0)
        return rv;
    config->negative_ends = (enum tr_negative_ends)ends;
    config->negatives_by = (enum tr_negatives_by)by;
    config->model.loss = MODEL_SIGMOID;
    if (from->dropout == TR_TRAIN_REAL_CHOSEN)
        config->model.dropout = 0;
    config->choose_layers = config->choose_norm = false;
    config->choose_hidden = config->choose_input_dropout = config->choose_l2 = false;
    config->choose_normalise = false;
    return 0;
}

/* What is of links alone, and was named. NULL: nothing. */
static const char *find_of_links(const struct tr_train_options *from)
{
    return from->negatives != 0              ? "negatives"
           : from->edge_type != NULL         ? "edge_type"
           : from->reverse_edge_type != NULL ? "reverse_edge_type"
           : from->negative_ends != NULL     ? "negative_ends"
           : from->negatives_by != NULL      ? "negatives_by"
           : from->negatives_no_edges        ? "negatives_no_edges"
                                             : NULL;
}

static int read_task(struct run_config *config, const struct tr_train_options *from,
                     struct tr_error *error)
{
    int task;
    int rv = run_options_parse("task", from->task, model_task_parse, &task, error);
    if (rv != 0)
        return rv;
    config->model.task = (enum model_task)task;
    if (task == MODEL_LINKS)
        return read_links(config, from, error);
    if (config->model.metric == MODEL_MRR)
        return tr_error_set(error, TR_EINVAL, "options.metric 'mrr' is for options.task 'link'");
    const char *of_links = find_of_links(from);
    return of_links == NULL
               ? 0
               : tr_error_set(error, TR_EINVAL, "options.%s is for options.task 'link'", of_links);
}

static int read_draws(struct run_config *config, const struct tr_train_options *from,
                      struct tr_error *error)
{
    int sampler;
    int rv = run_options_parse("sampler", from->sampler, run_sampler_parse, &sampler, error);
    if (rv != 0)
        return rv;
    config->sampler = (enum tr_sampler)sampler;
    const char *against = from->draw_by != NULL    ? "draw_by"
                          : from->with_replacement ? "with_replacement"
                                                   : NULL;
    if (sampler != TR_SAMPLER_NEIGHBORS && against != NULL)
        return tr_error_set(error, TR_EINVAL,
                            "options.sampler '%s' draws evenly and without replacement; leave out "
                            "options.%s",
                            from->sampler, against);
    return 0;
}

/* Which of them the program left open: a choice of the graph's is no other option of the run. */
static uint32_t find_open(const struct run_config *config, const struct tr_train_options *from)
{
    return run_config_left_open(config, UINT32_MAX) |
           (from->val_mask == NULL ? (uint32_t)RUN_OPEN_VAL_MASK : 0) |
           (from->test_mask == NULL ? (uint32_t)RUN_OPEN_TEST_MASK : 0) |
           (from->deal == NULL ? (uint32_t)RUN_OPEN_DEAL : 0);
}

int run_options_read(struct run_config *config, const struct tr_train_options *from,
                     struct tr_error *error)
{
    *config = (struct run_config){ .model = model_config_default() };
    int rv = read_names(config, from, error);
    if (rv == 0)
        rv = read_layers(config, from, error);
    if (rv == 0)
        rv = read_numbers(config, from, error);
    if (rv == 0 && (from->features == NULL || from->train_mask == NULL))
        rv = tr_error_set(error, TR_EINVAL, RUN_OPTIONS_NEEDED);
    if (rv == 0)
        rv = read_task(config, from, error);
    if (rv == 0)
        rv = read_draws(config, from, error);
    const char *labels = config->model.task == MODEL_LINKS ? ""
                         : from->labels == NULL            ? LABELS_UNSAID
                                                           : from->labels;
    const struct run_type_names types = { .label_type = from->label_type,
                                          .etype_fanout = from->etype_fanout,
                                          .edge_type = from->edge_type,
                                          .reverse_edge_type = from->reverse_edge_type };
    if (rv == 0 && (run_config_names(config, from->features, labels, from->train_mask,
                                     from->val_mask, from->test_mask, from->edge_weight) != 0 ||
                    run_config_name_types(config, &types) != 0 ||
                    run_config_name_draws(config, from->draw_by, from->draw_mask) != 0))
        rv = tr_error_set(error, TR_ENOMEM, "no memory for the options of a training");
    config->open = find_open(config, from);
    config->open_known = true;
    return rv;
}
