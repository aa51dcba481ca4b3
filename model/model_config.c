/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model_config.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "graph/batch.h"

static const char *const task_names[] = { "node", "link", NULL };
static const char *const kind_names[] = { "sage", "gcn", "rgcn", "gat", NULL };
static const char *const loss_names[] = { "softmax", "sigmoid", NULL };
static const char *const metric_names[] = {
    "accuracy", "macro-f1", "roc-auc", "loss", "mrr", NULL
};
static const char *const norm_names[] = { "none", "layer", "batch", NULL };
static const char *const optimiser_names[] = { "adam", "sgd", NULL };
static const char *const schedule_names[] = { "constant", "step", "cosine", NULL };

static int config_parse(const char *const *names, const char *name)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

const char *model_task_name(enum model_task task)
{
    return task_names[task];
}

const char *model_kind_name(enum model_kind kind)
{
    return kind_names[kind];
}

const char *model_loss_name(enum model_loss loss)
{
    return loss_names[loss];
}

const char *model_metric_name(enum model_metric metric)
{
    return metric_names[metric];
}

const char *model_norm_name(enum model_norm norm)
{
    return norm_names[norm];
}

const char *model_optimiser_name(enum model_optimiser optimiser)
{
    return optimiser_names[optimiser];
}

const char *model_schedule_name(enum model_schedule schedule)
{
    return schedule_names[schedule];
}

int model_task_parse(const char *name)
{
    return config_parse(task_names, name);
}

int model_kind_parse(const char *name)
{
    return config_parse(kind_names, name);
}

int model_loss_parse(const char *name)
{
    return config_parse(loss_names, name);
}

int model_metric_parse(const char *name)
{
    return config_parse(metric_names, name);
}

int model_norm_parse(const char *name)
{
    return config_parse(norm_names, name);
}

int model_optimiser_parse(const char *name)
{
    return config_parse(optimiser_names, name);
}

int model_schedule_parse(const char *name)
{
    return config_parse(schedule_names, name);
}

struct model_config model_config_default(void)
{
    return (struct model_config){
        .kind = MODEL_SAGE,
        .layers = 2,
        .hidden = 128,
        .heads = 1,
        .dropout = 0.5f,
        .loss = MODEL_SOFTMAX,
        .metric = MODEL_ACCURACY,
        .optimiser = MODEL_ADAM,
        .lr = 0.01f,
        .beta1 = 0.9f,
        .beta2 = 0.999f,
        .eps = 1e-8f,
        .schedule = MODEL_CONSTANT,
        .step_epochs = 10,
        .step_gamma = 0.5f,
        .epochs = 10,
    };
}

struct bound {
    const char *field;
    double value, low, high;
    bool open; /* high itself is refused */
};

static int check_bound(const struct bound *bound, struct error *error)
{
    bool inside = bound->value >= bound->low &&
                  (bound->open ? bound->value < bound->high : bound->value <= bound->high);
    if (inside)
        return 0;
    return error_set(error, TR_ERANGE, "model: %s is %g; give a value from %g %s %g", bound->field,
                     bound->value, bound->low, bound->open ? "to below" : "to", bound->high);
}

static int check_class_weights(const struct model_config *config, struct error *error)
{
    for (uint32_t c = 0; config->class_weights != NULL && c < config->classes; c++) {
        float weight = config->class_weights[c];
        if (!(weight >= 0) || !isfinite(weight))
            return error_set(error, TR_ERANGE,
                             "model: class_weights[%u] is %g; give a finite weight of at least 0",
                             c, (double)weight);
    }
    return 0;
}

/* Of nodes without features: rgcn has a row a node for each relation from the type and for itself. */
static uint64_t learned_rows(const struct model_config *config, uint32_t ntype)
{
    const struct model_types *types = config->types;
    uint64_t rows = types->ntypes[ntype].embedded, times = 1;
    for (uint32_t e = 0; config->kind == MODEL_RGCN && e < types->num_etypes; e++)
        times += types->etypes[e].src == ntype;
    return rows > UINT64_MAX / times ? UINT64_MAX : rows * times;
}

static int check_types(const struct model_config *config, struct error *error)
{
    const struct model_types *types = config->types;
    uint64_t embedded = 0;
    if (types == NULL)
        return 0;
    if (!model_kind_has_relations(config->kind) &&
        (types->num_ntypes != 1 || types->num_etypes != 1))
        return error_set(error, TR_EUNSUPPORTED,
                         "model: %s takes one node type and one edge type; the graph has %u and "
                         "%u, which rgcn and gat take",
                         model_kind_name(config->kind), types->num_ntypes, types->num_etypes);
    if (config->standardise && types->num_ntypes != 1)
        return error_set(error, TR_EUNSUPPORTED,
                         "model: standardise takes one node type; the graph has %u",
                         types->num_ntypes);
    for (uint32_t t = 0; t < types->num_ntypes; t++) {
        uint64_t rows = learned_rows(config, t);
        if (rows > MODEL_EMBEDDED_MAX / config->hidden ||
            (embedded += rows * config->hidden) > MODEL_EMBEDDED_MAX)
            return error_set(
                error, TR_ETOOBIG,
                "model: %llu rows of %u numbers are learned for the %llu nodes of type "
                "'%s', which has no features: more than %llu numbers in all; give its "
                "nodes features, or make options.hidden smaller, such as 16",
                (unsigned long long)rows, config->hidden,
                (unsigned long long)types->ntypes[t].embedded, types->ntypes[t].name,
                (unsigned long long)MODEL_EMBEDDED_MAX);
    }
    return 0;
}

/* What options say of relations that the kind of model does not have, and heads that do not fit. */
static int check_relations(const struct model_config *config, struct error *error)
{
    if (config->bases > 0 && config->kind != MODEL_RGCN)
        return error_set(error, TR_EINVAL,
                         "model: only rgcn has bases, which its relations share; give 0");
    if (config->heads > 1 && config->kind != MODEL_GAT)
        return error_set(error, TR_EINVAL, "model: only gat has several heads; give 1");
    if (config->kind == MODEL_GAT && config->layers > 1 && config->hidden % config->heads != 0)
        return error_set(error, TR_EINVAL,
                         "model: %u heads do not divide hidden rows of %u numbers evenly; give a "
                         "multiple of the heads as options.hidden",
                         config->heads, config->hidden);
    return check_types(config, error);
}

int model_config_check(const struct model_config *config, struct error *error)
{
    const struct bound bounds[] = {
        { "task", config->task, MODEL_NODES, MODEL_LINKS, false },
        { "kind", config->kind, MODEL_SAGE, MODEL_GAT, false },
        { "layers", config->layers, 1, BATCH_LAYERS_MAX, false },
        { "inputs", config->inputs, 0, MODEL_WIDTH_MAX, false },
        { "hidden", config->hidden, 1, MODEL_WIDTH_MAX, false },
        { "bases", config->bases, 0, MODEL_BASES_MAX, false },
        { "heads", config->heads, 1, MODEL_HEADS_MAX, false },
        { "classes", config->classes, 1, MODEL_CLASSES_MAX, false },
        { "dropout", (double)config->dropout, 0, 1, true },
        { "input_dropout", (double)config->input_dropout, 0, 1, true },
        { "loss", config->loss, MODEL_SOFTMAX, MODEL_SIGMOID, false },
        { "norm", config->norm, MODEL_NORM_NONE, MODEL_NORM_BATCH, false },
        { "metric", config->metric, MODEL_ACCURACY,
          config->task == MODEL_LINKS ? MODEL_MRR : MODEL_LOSS, false },
        { "optimiser", config->optimiser, MODEL_ADAM, MODEL_SGD, false },
        { "lr", (double)config->lr, 0, 1e6, false },
        { "l2", (double)config->l2, 0, 1e6, false },
        { "weight_decay", (double)config->weight_decay, 0, 1e6, false },
        { "momentum", (double)config->momentum, 0, 1, true },
        { "beta1", (double)config->beta1, 0, 1, true },
        { "beta2", (double)config->beta2, 0, 1, true },
        { "eps", (double)config->eps, 1e-30, 1, false },
        { "schedule", config->schedule, MODEL_CONSTANT, MODEL_COSINE, false },
        { "step_epochs", config->step_epochs, 1, UINT32_MAX, false },
        { "step_gamma", (double)config->step_gamma, 0, 1, false },
        { "cosine_floor", (double)config->cosine_floor, 0, 1, false },
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        int rc = check_bound(&bounds[i], error);
        if (rc != 0)
            return rc;
    }
    if (config->residual && config->layers < MODEL_RESIDUAL_LAYERS)
        return error_set(error, TR_ERANGE,
                         "model: residual with %u layers; it changes hidden layers after the "
                         "first, so it needs %u at least",
                         config->layers, MODEL_RESIDUAL_LAYERS);
    if (config->logarithms && !config->standardise)
        return error_set(error, TR_EINVAL,
                         "model: logarithms of columns are taken where standardise is true");
    int rc = check_relations(config, error);
    return rc == 0 ? check_class_weights(config, error) : rc;
}

/* How far the schedule has come, as a factor of lr; epochs of the warm-up do not count. */
static double config_factor(const struct model_config *config, uint32_t epoch)
{
    if (config->schedule == MODEL_STEPS) {
        double product = 1;
        for (uint32_t i = 0; i < epoch / config->step_epochs; i++)
            product *= (double)config->step_gamma;
        return product;
    }
    if (config->schedule == MODEL_COSINE && config->epochs > config->warmup_epochs + 1) {
        double way = (double)epoch / (config->epochs - config->warmup_epochs - 1);
        double floor = (double)config->cosine_floor;
        return floor + (1 - floor) * 0.5 * (1 + cos(3.14159265358979323846 * way));
    }
    return 1;
}

double model_config_rate(const struct model_config *config, uint32_t epoch)
{
    double lr = (double)config->lr;
    if (epoch < config->warmup_epochs)
        return lr * (epoch + 1) / config->warmup_epochs;
    return lr * config_factor(config, epoch - config->warmup_epochs);
}
