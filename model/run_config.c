/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "model/run_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/model.h>

#include "runtime/base/json_field.h"
#include "runtime/base/json_text.h"

/* A configuration is a few hundred bytes; a larger file is not one. */
#define RUN_CONFIG_BYTES_MAX ((size_t)1 << 20)

static const char *const EVALUATION_NAMES[] = { "exact", "sampled", "none" };

/* By enum tr_negative_ends, and enum tr_negatives_by. */
static const char *const NEGATIVE_ENDS_NAMES[] = { "destinations", "sources", "either", "both" };
static const char *const NEGATIVES_BY_NAMES[] = { "uniform", "degree" };
/* By enum tr_sampler. */
static const char *const SAMPLER_NAMES[] = { "neighbors", "labor", "labor-poisson" };

int run_config_names(struct run_config *config, const char *features, const char *labels,
                     const char *train_mask, const char *val_mask, const char *test_mask,
                     const char *edge_weight)
{
    config->features = strdup(features);
    config->labels = strdup(labels);
    config->train_mask = strdup(train_mask);
    config->val_mask = val_mask == NULL ? NULL : strdup(val_mask);
    config->test_mask = test_mask == NULL ? NULL : strdup(test_mask);
    config->edge_weight = edge_weight == NULL ? NULL : strdup(edge_weight);
    return config->features && config->labels && config->train_mask &&
                   (config->val_mask || !val_mask) && (config->test_mask || !test_mask) &&
                   (config->edge_weight || !edge_weight)
               ? 0
               : TR_ENOMEM;
}

static int copy_name(const char *name, char **copy)
{
    *copy = name == NULL ? NULL : strdup(name);
    return name != NULL && *copy == NULL ? TR_ENOMEM : 0;
}

int run_config_name_types(struct run_config *config, const struct run_type_names *names)
{
    int rv = copy_name(names->label_type, &config->label_type);
    rv |= copy_name(names->etype_fanout, &config->etype_fanout);
    rv |= copy_name(names->edge_type, &config->edge_type);
    rv |= copy_name(names->reverse_edge_type, &config->reverse_edge_type);
    return rv != 0 ? TR_ENOMEM : 0;
}

int run_config_name_draws(struct run_config *config, const char *draw_by, const char *draw_mask)
{
    config->draw_by = draw_by == NULL ? NULL : strdup(draw_by);
    config->draw_mask = draw_mask == NULL ? NULL : strdup(draw_mask);
    return (config->draw_by || !draw_by) && (config->draw_mask || !draw_mask) ? 0 : TR_ENOMEM;
}

void run_config_fini(struct run_config *config)
{
    free(config->draw_by);
    free(config->draw_mask);
    free(config->label_type);
    free(config->etype_fanout);
    free(config->edge_type);
    free(config->reverse_edge_type);
    free(config->edge_weight);
    free(config->features);
    free(config->labels);
    free(config->train_mask);
    free(config->val_mask);
    free(config->test_mask);
}

bool run_config_leaves_shape(const struct run_config *config)
{
    return config->choose_epochs && config->choose_kind && config->choose_layers &&
           config->choose_norm;
}

enum model_metric run_config_usual_metric(const struct model_config *model)
{
    bool two = model->task == MODEL_LINKS || (model->loss == MODEL_SOFTMAX && model->classes == 2);
    return two ? MODEL_ROC_AUC : MODEL_ACCURACY;
}

static json_t *fanout_to_json(const struct run_config *config)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < config->model.layers; i++) {
        if (json_array_append_new(list, json_integer(config->fanout[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *model_to_json(const struct model_config *model)
{
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:b, s:I, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f,"
        " s:f, s:s, s:I, s:I, s:f, s:f, s:I}",
        "kind", model_kind_name(model->kind), "layers", (json_int_t)model->layers, "inputs",
        (json_int_t)model->inputs, "hidden", (json_int_t)model->hidden, "classes",
        (json_int_t)model->classes, "dropout", (double)model->dropout, "input_dropout",
        (double)model->input_dropout, "normalise", model->normalise, "seed",
        (json_int_t)model->seed, "loss", model_loss_name(model->loss), "metric",
        model_metric_name(model->metric), "optimiser", model_optimiser_name(model->optimiser), "lr",
        (double)model->lr, "l2", (double)model->l2, "weight_decay", (double)model->weight_decay,
        "momentum", (double)model->momentum, "beta1", (double)model->beta1, "beta2",
        (double)model->beta2, "eps", (double)model->eps, "schedule",
        model_schedule_name(model->schedule), "warmup_epochs", (json_int_t)model->warmup_epochs,
        "step_epochs", (json_int_t)model->step_epochs, "step_gamma", (double)model->step_gamma,
        "cosine_floor", (double)model->cosine_floor, "epochs", (json_int_t)model->epochs);
}

/* What the model has beyond plain layers; a run without has no word of it, as in versions before. */
static json_t *whole_model_to_json(const struct model_config *model)
{
    json_t *object = model_to_json(model);
    int rv = 0;
    if (model->residual)
        rv |= json_object_set_new(object, "residual", json_true());
    if (model->standardise)
        rv |= json_object_set_new(object, "standardise", json_true());
    if (model->logarithms)
        rv |= json_object_set_new(object, "logarithms", json_true());
    if (model->bases != 0)
        rv |= json_object_set_new(object, "bases", json_integer(model->bases));
    if (model->heads > 1)
        rv |= json_object_set_new(object, "heads", json_integer(model->heads));
    if (model->norm != MODEL_NORM_NONE)
        rv |= json_object_set_new(object, "norm", json_string(model_norm_name(model->norm)));
    if (rv == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *plain_run_to_json(const struct run_config *config)
{
    /* 'o' takes a NULL as the failure of the whole. */
    return json_pack("{s:o, s:o, s:I, s:b, s:b, s:b, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:s}",
                     "model", whole_model_to_json(&config->model), "fanout", fanout_to_json(config),
                     "batch_size", (json_int_t)config->batch_size, "replace", config->replace,
                     "drop_last", config->drop_last, "balanced_weights", config->balanced_weights,
                     "evaluation", EVALUATION_NAMES[config->evaluation], "evaluate_every",
                     (json_int_t)config->evaluate_every, "patience", (json_int_t)config->patience,
                     "features", config->features, "labels", config->labels, "train_mask",
                     config->train_mask, "val_mask", config->val_mask, "test_mask",
                     config->test_mask);
}

json_t *run_config_to_json(const struct run_config *config)
{
    /* A run of nodes that draws evenly has no word of tasks or samplers, as in versions before. */
    bool links = config->model.task == MODEL_LINKS;
    bool evenly = config->sampler == TR_SAMPLER_NEIGHBORS;
    json_t *object = plain_run_to_json(config);
    const struct {
        const char *key, *text;
    } texts[] = { { "task", links ? model_task_name(config->model.task) : NULL },
                  { "edge_weight", config->edge_weight },
                  { "label_type", config->label_type },
                  { "etype_fanout", config->etype_fanout },
                  { "edge_type", config->edge_type },
                  { "reverse_edge_type", config->reverse_edge_type },
                  { "sampler", evenly ? NULL : SAMPLER_NAMES[config->sampler] },
                  { "draw_by", config->draw_by },
                  { "draw_mask", config->draw_mask },
                  { "negative_ends", config->negative_ends == TR_NEGATIVE_DESTINATIONS
                                         ? NULL
                                         : NEGATIVE_ENDS_NAMES[config->negative_ends] },
                  { "negatives_by", config->negatives_by == TR_NEGATIVES_UNIFORM
                                        ? NULL
                                        : NEGATIVES_BY_NAMES[config->negatives_by] } };
    for (size_t i = 0; object != NULL && i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].text == NULL ||
            json_object_set_new(object, texts[i].key, json_string(texts[i].text)) == 0)
            continue;
        json_decref(object);
        object = NULL;
    }
    if (object == NULL || !links)
        return object;
    if (json_object_set_new(object, "negatives", json_integer(config->negatives)) == 0 &&
        (!config->negatives_no_edges ||
         json_object_set_new(object, "negatives_no_edges", json_true()) == 0))
        return object;
    json_decref(object);
    return NULL;
}

/* The position of a name in a list of count, or -1. */
static int find_name(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    return -1;
}

/* Names as the file has them, before they are known to be names. */
struct read_names {
    const char *task, *kind, *norm, *loss, *metric, *optimiser, *schedule, *evaluation, *sampler;
    const char *negative_ends, *negatives_by;
};

int run_sampler_parse(const char *name)
{
    return find_name(name, SAMPLER_NAMES, 3);
}

int run_negative_ends_parse(const char *name)
{
    return find_name(name, NEGATIVE_ENDS_NAMES, 4);
}

int run_negatives_by_parse(const char *name)
{
    return find_name(name, NEGATIVES_BY_NAMES, 2);
}

static int resolve_negatives(const char *path, const struct read_names *names,
                             struct run_config *config, struct error *error)
{
    int ends = run_negative_ends_parse(names->negative_ends);
    int by = run_negatives_by_parse(names->negatives_by);
    if (ends < 0 || by < 0)
        return error_set(error, TR_EFORMAT,
                         "%s: one of negative_ends '%s', negatives_by '%s' is unknown; was it "
                         "written by a later version?",
                         path, names->negative_ends, names->negatives_by);
    config->negative_ends = (enum tr_negative_ends)ends;
    config->negatives_by = (enum tr_negatives_by)by;
    return 0;
}

static int resolve_names(const char *path, const struct read_names *names,
                         struct run_config *config, struct error *error)
{
    int task = model_task_parse(names->task);
    int kind = model_kind_parse(names->kind), loss = model_loss_parse(names->loss);
    int metric = model_metric_parse(names->metric), norm = model_norm_parse(names->norm);
    int optimiser = model_optimiser_parse(names->optimiser);
    int schedule = model_schedule_parse(names->schedule);
    int evaluation = find_name(names->evaluation, EVALUATION_NAMES, 3);
    int sampler = run_sampler_parse(names->sampler);
    if (task < 0 || kind < 0 || norm < 0 || loss < 0 || metric < 0 || optimiser < 0 ||
        schedule < 0 || evaluation < 0 || sampler < 0)
        return error_set(error, TR_EFORMAT,
                         "%s: one of task '%s', kind '%s', norm '%s', loss '%s', metric '%s', "
                         "optimiser '%s', schedule '%s', evaluation '%s', sampler '%s' is "
                         "unknown; was it written by a later version?",
                         path, names->task, names->kind, names->norm, names->loss, names->metric,
                         names->optimiser, names->schedule, names->evaluation, names->sampler);
    config->model.task = (enum model_task)task;
    config->model.kind = (enum model_kind)kind;
    config->model.norm = (enum model_norm)norm;
    config->model.loss = (enum model_loss)loss;
    config->model.metric = (enum model_metric)metric;
    config->model.optimiser = (enum model_optimiser)optimiser;
    config->model.schedule = (enum model_schedule)schedule;
    config->evaluation = (enum run_evaluation)evaluation;
    config->sampler = (enum tr_sampler)sampler;
    return 0;
}

/* A value of config.json: what it must be, and where it goes. */
enum value_kind { VALUE_COUNT, VALUE_SEED, VALUE_NUMBER, VALUE_BOOL, VALUE_TEXT };

struct read_value {
    const char *key;
    enum value_kind kind;
    void *out; /* uint32_t, uint64_t, float, bool or const char *, which the document keeps */
    bool optional;
};

static int read_count(const struct json_field *field, uint32_t *out, struct error *error)
{
    json_int_t value = json_integer_value(field->value);
    if (value < 0 || value > UINT32_MAX)
        return json_fail(field, error, TR_EFORMAT, "the count %lld is out of range, 0 to %u",
                         (long long)value, UINT32_MAX);
    *out = (uint32_t)value;
    return 0;
}

static int read_value(const struct json_field *object, const struct read_value *value,
                      struct error *error)
{
    static const char *const NEEDED[] = { "a count", "a whole number", "a number", "true or false",
                                          "a text" };
    const char *needed = NEEDED[value->kind];
    struct json_field field;
    json_find(object, value->key, &field);
    if (field.value == NULL)
        return value->optional ? 0 : json_fail_type(&field, needed, error);
    switch (value->kind) {
    case VALUE_COUNT:
        if (!json_is_integer(field.value))
            break;
        return read_count(&field, value->out, error);
    case VALUE_SEED:
        if (!json_is_integer(field.value))
            break;
        *(uint64_t *)value->out = (uint64_t)json_integer_value(field.value);
        return 0;
    case VALUE_NUMBER:
        if (!json_is_number(field.value))
            break;
        *(float *)value->out = (float)json_number_value(field.value);
        return 0;
    case VALUE_BOOL:
        if (!json_is_boolean(field.value))
            break;
        *(bool *)value->out = json_is_true(field.value);
        return 0;
    case VALUE_TEXT:
        if (!json_is_string(field.value))
            break;
        *(const char **)value->out = json_string_value(field.value);
        return 0;
    }
    return json_fail_type(&field, needed, error);
}

static int read_values(const struct json_field *object, const struct read_value *values,
                       size_t count, struct error *error)
{
    int rv = 0;
    for (size_t i = 0; i < count && rv == 0; i++)
        rv = read_value(object, &values[i], error);
    return rv;
}

static int read_model(const struct json_field *run, struct model_config *model,
                      struct read_names *names, struct error *error)
{
    const struct read_value values[] = {
        { "kind", VALUE_TEXT, &names->kind, false },
        { "layers", VALUE_COUNT, &model->layers, false },
        { "inputs", VALUE_COUNT, &model->inputs, false },
        { "hidden", VALUE_COUNT, &model->hidden, false },
        { "classes", VALUE_COUNT, &model->classes, false },
        { "dropout", VALUE_NUMBER, &model->dropout, false },
        { "input_dropout", VALUE_NUMBER, &model->input_dropout, false },
        { "normalise", VALUE_BOOL, &model->normalise, false },
        { "seed", VALUE_SEED, &model->seed, false },
        { "loss", VALUE_TEXT, &names->loss, false },
        { "metric", VALUE_TEXT, &names->metric, false },
        { "optimiser", VALUE_TEXT, &names->optimiser, false },
        { "lr", VALUE_NUMBER, &model->lr, false },
        { "l2", VALUE_NUMBER, &model->l2, false },
        { "weight_decay", VALUE_NUMBER, &model->weight_decay, false },
        { "momentum", VALUE_NUMBER, &model->momentum, false },
        { "beta1", VALUE_NUMBER, &model->beta1, false },
        { "beta2", VALUE_NUMBER, &model->beta2, false },
        { "eps", VALUE_NUMBER, &model->eps, false },
        { "schedule", VALUE_TEXT, &names->schedule, false },
        { "warmup_epochs", VALUE_COUNT, &model->warmup_epochs, false },
        { "step_epochs", VALUE_COUNT, &model->step_epochs, false },
        { "step_gamma", VALUE_NUMBER, &model->step_gamma, false },
        { "cosine_floor", VALUE_NUMBER, &model->cosine_floor, false },
        { "epochs", VALUE_COUNT, &model->epochs, false },
        { "residual", VALUE_BOOL, &model->residual, true },
        { "norm", VALUE_TEXT, &names->norm, true },
        { "bases", VALUE_COUNT, &model->bases, true },
        { "heads", VALUE_COUNT, &model->heads, true },
        { "standardise", VALUE_BOOL, &model->standardise, true },
        { "logarithms", VALUE_BOOL, &model->logarithms, true },
    };
    struct json_field object;
    int rv = json_get(run, "model", JSON_OBJECT, &object, error);
    return rv != 0 ? rv : read_values(&object, values, sizeof values / sizeof values[0], error);
}

static int read_fanout(const struct json_field *run, struct run_config *config, struct error *error)
{
    struct json_field list, item;
    int rv = json_get(run, "fanout", JSON_ARRAY, &list, error);
    if (rv != 0)
        return rv;
    size_t count = json_array_size(list.value);
    if (count != config->model.layers || config->model.layers > TR_LAYERS_MAX)
        return json_fail(&list, error, TR_EFORMAT, "has %zu numbers for %u layers", count,
                         config->model.layers);
    for (uint32_t i = 0; i < config->model.layers; i++) {
        rv = json_at(&list, i, JSON_INTEGER, &item, error);
        if (rv != 0)
            return rv;
        json_int_t value = json_integer_value(item.value);
        if (value < TR_FANOUT_ALL || value == 0 || value > INT32_MAX)
            return json_fail(&item, error, TR_EFORMAT,
                             "%lld is not a fanout: give a count above 0, or %d for all neighbours",
                             (long long)value, TR_FANOUT_ALL);
        config->fanout[i] = (int32_t)value;
    }
    return 0;
}

static int read_run(const char *path, const struct json_field *run, struct run_config *config,
                    struct error *error)
{
    struct read_names names = { .task = model_task_name(MODEL_NODES),
                                .norm = model_norm_name(MODEL_NORM_NONE),
                                .sampler = SAMPLER_NAMES[TR_SAMPLER_NEIGHBORS],
                                .negative_ends = NEGATIVE_ENDS_NAMES[0],
                                .negatives_by = NEGATIVES_BY_NAMES[0] };
    const char *features, *labels, *train_mask, *val_mask, *test_mask, *edge_weight = NULL;
    struct run_type_names types = { 0 };
    const char *draw_by = NULL, *draw_mask = NULL;
    const struct read_value values[] = {
        { "task", VALUE_TEXT, &names.task, true },
        { "negatives", VALUE_COUNT, &config->negatives, true },
        { "batch_size", VALUE_COUNT, &config->batch_size, false },
        { "replace", VALUE_BOOL, &config->replace, false },
        { "drop_last", VALUE_BOOL, &config->drop_last, false },
        { "balanced_weights", VALUE_BOOL, &config->balanced_weights, false },
        { "evaluation", VALUE_TEXT, &names.evaluation, false },
        { "evaluate_every", VALUE_COUNT, &config->evaluate_every, false },
        { "patience", VALUE_COUNT, &config->patience, false },
        { "features", VALUE_TEXT, &features, false },
        { "labels", VALUE_TEXT, &labels, false },
        { "train_mask", VALUE_TEXT, &train_mask, false },
        { "val_mask", VALUE_TEXT, &val_mask, false },
        { "test_mask", VALUE_TEXT, &test_mask, false },
        { "edge_weight", VALUE_TEXT, &edge_weight, true },
        { "label_type", VALUE_TEXT, &types.label_type, true },
        { "etype_fanout", VALUE_TEXT, &types.etype_fanout, true },
        { "edge_type", VALUE_TEXT, &types.edge_type, true },
        { "reverse_edge_type", VALUE_TEXT, &types.reverse_edge_type, true },
        { "sampler", VALUE_TEXT, &names.sampler, true },
        { "draw_by", VALUE_TEXT, &draw_by, true },
        { "draw_mask", VALUE_TEXT, &draw_mask, true },
        { "negative_ends", VALUE_TEXT, &names.negative_ends, true },
        { "negatives_by", VALUE_TEXT, &names.negatives_by, true },
        { "negatives_no_edges", VALUE_BOOL, &config->negatives_no_edges, true },
    };
    config->model.heads = 1;
    int rv = read_model(run, &config->model, &names, error);
    if (rv == 0)
        rv = read_values(run, values, sizeof values / sizeof values[0], error);
    if (rv == 0)
        rv = resolve_names(path, &names, config, error);
    if (rv == 0)
        rv = resolve_negatives(path, &names, config, error);
    if (rv == 0)
        rv = read_fanout(run, config, error);
    if (rv != 0)
        return rv;
    if (config->batch_size == 0)
        return error_set(error, TR_EFORMAT, "%s: run.batch_size is 0", path);
    if (config->model.task == MODEL_LINKS &&
        (config->negatives == 0 || config->negatives > TR_TRAIN_NEGATIVES_MAX))
        return error_set(error, TR_EFORMAT, "%s: run.negatives is %u, not 1 to %d", path,
                         config->negatives, TR_TRAIN_NEGATIVES_MAX);
    if (run_config_names(config, features, labels, train_mask, val_mask, test_mask, edge_weight) !=
            0 ||
        run_config_name_types(config, &types) != 0 ||
        run_config_name_draws(config, draw_by, draw_mask) != 0)
        return error_set(error, TR_ENOMEM, "%s: no memory", path);
    return model_config_check(&config->model, error);
}

int run_config_read_root(struct files *files, const char *path, json_t **root, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    int rv = files_read_all(files, path, RUN_CONFIG_BYTES_MAX, &text, &size, error);
    if (rv != 0)
        return rv;
    rv = json_read_text(path, text, size, JSON_REJECT_DUPLICATES, root, error);
    free(text);
    return rv;
}

int run_config_parse(const char *path, const json_t *root, struct run_config *config,
                     struct error *error)
{
    *config = (struct run_config){ 0 };
    struct json_field document = { .value = (json_t *)(uintptr_t)root }, run;
    snprintf(document.path, sizeof document.path, "%s", path);
    int rv = json_get(&document, "run", JSON_OBJECT, &run, NULL) == 0
                 ? read_run(path, &run, config, error)
                 : error_set(error, TR_EFORMAT, "%s: 'run' is missing: not a run's config.json",
                             path);
    run_tried_read(root, &config->tried);
    run_open_read(root, &config->open, &config->open_known);
    if (rv != 0)
        run_config_fini(config);
    return rv;
}

int run_config_read(struct files *files, const char *path, struct run_config *config,
                    struct error *error)
{
    *config = (struct run_config){ 0 };
    json_t *root;
    int rv = run_config_read_root(files, path, &root, error);
    if (rv != 0)
        return rv;
    rv = run_config_parse(path, root, config, error);
    json_decref(root);
    return rv;
}

const char *run_part_name(size_t part)
{
    static const char *const names[RUN_PARTS] = { "train", "validation", "test" };
    return names[part];
}

static json_t *parts_to_json(const uint64_t *parts)
{
    json_t *object = json_object();
    for (size_t i = 0; i < RUN_PARTS && object != NULL; i++) {
        char hash[24];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)parts[i]);
        if (parts[i] == 0 || json_object_set_new(object, run_part_name(i), json_string(hash)) == 0)
            continue;
        json_decref(object);
        object = NULL;
    }
    return object;
}

json_t *run_config_describe(const struct run_config *config, const struct run_surroundings *around)
{
    char hash[24], graph[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)around->deal_hash);
    snprintf(graph, sizeof graph, "%016llx", (unsigned long long)around->graph_hash);
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:s, s:I, s:s, s:o, s:{s:I, s:I, s:I, s:I, s:b, s:b}, s:o}", "troupe",
        PACKAGE_VERSION, "graph", around->graph, "graph_hash",
        around->graph_hash == 0 ? json_null() : json_string(graph), "kernels", around->kernels,
        "trainers", (json_int_t)around->trainers, "deal",
        around->deal == NULL ? "shuffle" : around->deal, "deal_hash",
        around->deal == NULL ? json_null() : json_string(hash), "layout", "servers",
        (json_int_t)around->servers, "samplers", (json_int_t)around->samplers, "loops",
        (json_int_t)around->loops, "threads", (json_int_t)around->threads, "messages",
        around->messages, "codec", around->codec, "run", run_config_to_json(config));
    if (object != NULL &&
        ((config->open_known &&
          json_object_set_new(object, RUN_OPEN_KEY, run_open_to_json(config->open)) != 0) ||
         (config->tried.any &&
          json_object_set_new(object, "tried", run_tried_to_json(&config->tried)) != 0) ||
         (around->parts != NULL &&
          json_object_set_new(object, RUN_PARTS_KEY, parts_to_json(around->parts)) != 0))) {
        json_decref(object);
        return NULL;
    }
    if (object == NULL || around->from == NULL)
        return object;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)around->from_hash);
    if (json_object_set_new(object, "from", json_string(around->from)) == 0 &&
        json_object_set_new(object, "from_hash", json_string(hash)) == 0)
        return object;
    json_decref(object);
    return NULL;
}
