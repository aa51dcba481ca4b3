/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_compare.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json_text.h"

/* As many names of options that differ as an error holds. */
#define DIFFERENCES_BYTES 300

/* Enough for every number to be read back as it was. */
#define REAL_DIGITS_MAX 17
#define REAL_DIGITS_SHOWN 6

static char *show_value(const json_t *value, int digits)
{
    if (value == NULL)
        return strdup("not there");
    return json_is_null(value) ? strdup("left open")
                               : json_write_text(value, JSON_COMPACT | JSON_ENCODE_ANY |
                                                            JSON_REAL_PRECISION((size_t)digits));
}

/* Appends the option that gives a field of config.json, as struct tr_train_options has it. What
 * the graph gives, and what no option changes, keeps its name there. */
static void list_option(const char *field, char *text, size_t bytes)
{
    static const struct {
        const char *field, *option;
    } RENAMED[] = {
        { "model.kind", "options.model" },
        { "model.layers", "options.num_layers" },
        { "replace", "options.with_replacement" },
        { "deal_hash", "options.deal" },
        { "from_hash", "options.from" },
        { "model.inputs", "model.inputs" },
        { "model.classes", "model.classes" },
        { "model.beta1", "model.beta1" },
        { "model.logarithms", "model.logarithms" },
        { "model.beta2", "model.beta2" },
        { "model.eps", "model.eps" },
    };
    size_t used = strlen(text);
    const char *before = used > 0 ? ", " : "", *dot = strrchr(field, '.');
    for (size_t i = 0; i < sizeof RENAMED / sizeof RENAMED[0]; i++) {
        if (strcmp(field, RENAMED[i].field) == 0) {
            snprintf(text + used, bytes - used, "%s%s", before, RENAMED[i].option);
            return;
        }
    }
    snprintf(text + used, bytes - used, "%soptions.%s", before, dot != NULL ? dot + 1 : field);
}

/* Appends "OPTION (it was A, now B)", with as many digits as tell A from B. */
static void list_value(const json_t *was, const json_t *now, const char *name, char *text,
                       size_t bytes)
{
    char *old = NULL, *new = NULL;
    list_option(name, text, bytes);
    size_t used = strlen(text);
    /* A number that stands for a file's content says nothing to a person. */
    if (strcmp(name, "deal_hash") == 0 || strcmp(name, "from_hash") == 0) {
        snprintf(text + used, bytes - used, " (its content was another)");
        return;
    }
    for (int digits = REAL_DIGITS_SHOWN; digits <= REAL_DIGITS_MAX; digits++) {
        free(old);
        free(new);
        old = show_value(was, digits);
        new = show_value(now, digits);
        if (old == NULL || new == NULL || strcmp(old, new) != 0)
            break;
    }
    snprintf(text + used, bytes - used, " (it was %.60s, now %.60s)", old != NULL ? old : "?",
             new != NULL ? new : "?");
    free(old);
    free(new);
}

/* All that two objects have differently, in the order of what is now; what only was comes last. */
static void list_differences(const json_t *was, const json_t *now, const char *within, char *text,
                             size_t bytes)
{
    const json_t *const objects[] = { now, was };
    const char *key;
    json_t *value;
    for (int pass = 0; pass < 2; pass++) {
        json_object_foreach((json_t *)(uintptr_t)objects[pass], key, value)
        {
            char name[128];
            const json_t *before = json_object_get(was, key), *after = json_object_get(now, key);
            if ((pass == 1 && after != NULL) || json_equal(before, after))
                continue;
            snprintf(name, sizeof name, "%s%s%s", within, within[0] != '\0' ? "." : "", key);
            if (json_is_object(before) && json_is_object(after))
                list_differences(before, after, name, text, bytes);
            else
                list_value(before, after, name, text, bytes);
        }
    }
}

/* What may be left open, and what follows from it: a row a value. */
#define OPEN(option, choose, value)                                                      \
    {                                                                                    \
        option, offsetof(struct run_config, choose), offsetof(struct run_config, value), \
            sizeof(((struct run_config *)0)->value)                                      \
    }
static const struct {
    enum run_open option;
    size_t choose, value, bytes;
} OPEN_VALUES[] = {
    OPEN(RUN_OPEN_EPOCHS, choose_epochs, model.epochs),
    OPEN(RUN_OPEN_PATIENCE, choose_patience, patience),
    OPEN(RUN_OPEN_EVALUATE_EVERY, choose_evaluate_every, evaluate_every),
    OPEN(RUN_OPEN_INPUT_DROPOUT, choose_input_dropout, model.input_dropout),
    OPEN(RUN_OPEN_L2, choose_l2, model.l2),
    OPEN(RUN_OPEN_NORMALISE, choose_normalise, model.normalise),
    OPEN(RUN_OPEN_STANDARDISE, choose_standardise, model.standardise),
    OPEN(RUN_OPEN_KIND, choose_kind, model.kind),
    OPEN(RUN_OPEN_LAYERS, choose_layers, model.layers),
    OPEN(RUN_OPEN_LAYERS, choose_layers, fanout),
    OPEN(RUN_OPEN_NORM, choose_norm, model.norm),
    OPEN(RUN_OPEN_NORM, choose_norm, model.residual),
    OPEN(RUN_OPEN_HIDDEN, choose_hidden, model.hidden),
    OPEN(RUN_OPEN_METRIC, choose_metric, model.metric),
};
#define OPEN_VALUES_COUNT (sizeof OPEN_VALUES / sizeof *OPEN_VALUES)

/* How features are read and how long is trained; what the model looks like. */
#define OF_TRAINING                                                                           \
    (RUN_OPEN_EPOCHS | RUN_OPEN_PATIENCE | RUN_OPEN_EVALUATE_EVERY | RUN_OPEN_INPUT_DROPOUT | \
     RUN_OPEN_L2 | RUN_OPEN_NORMALISE | RUN_OPEN_STANDARDISE)
#define OF_SHAPE (RUN_OPEN_KIND | RUN_OPEN_LAYERS | RUN_OPEN_NORM | RUN_OPEN_HIDDEN)

uint32_t run_config_left_open(const struct run_config *config, uint32_t options)
{
    uint32_t left = 0;
    for (size_t i = 0; i < OPEN_VALUES_COUNT; i++)
        if (*(const bool *)((const char *)config + OPEN_VALUES[i].choose))
            left |= (uint32_t)OPEN_VALUES[i].option;
    return left & options;
}

void run_config_take(struct run_config *config, const struct run_config *of, uint32_t options)
{
    for (size_t i = 0; i < OPEN_VALUES_COUNT; i++)
        if ((options & (uint32_t)OPEN_VALUES[i].option) != 0)
            memcpy((char *)config + OPEN_VALUES[i].value, (const char *)of + OPEN_VALUES[i].value,
                   OPEN_VALUES[i].bytes);
}

static void take_left_open(struct run_config *config, const struct run_config *of, uint32_t options)
{
    run_config_take(config, of, run_config_left_open(config, options));
}

/* Hidden layers of other shapes than the tried deep one are the usual ones unless they are named: a
 * run that was begun with others is another run. */
static void adopt_shape(struct run_config *config, const struct run_config *begun, bool lent)
{
    take_left_open(config, begun, lent ? OF_SHAPE : RUN_OPEN_KIND | RUN_OPEN_LAYERS);
    if (lent || !begun->tried.any || begun->tried.chosen != RUN_SHAPE_DEEP)
        return;
    take_left_open(config, begun, RUN_OPEN_NORM);
    if (config->choose_hidden)
        config->model.hidden = RUN_SHAPE_DEEP_HIDDEN;
}

void run_config_take_logarithms(struct run_config *config, const struct run_config *of)
{
    config->model.logarithms = config->model.standardise && of->model.logarithms;
    config->choose_logarithms = false;
}

/* What was left open stays so where it is named now with the value that was chosen; a run that grows
 * has named it. */
static void adopt_open(struct run_config *config, const struct run_config *begun)
{
    config->open = begun->open;
    config->open_known = begun->open_known;
    if (config->model.epochs != begun->model.epochs)
        config->open &= ~(uint32_t)RUN_OPEN_EPOCHS;
    if (config->patience != begun->patience)
        config->open &= ~(uint32_t)RUN_OPEN_PATIENCE;
}

void run_config_adopt(struct run_config *config, const struct run_config *begun, bool lent)
{
    take_left_open(config, begun, OF_TRAINING);
    run_config_take_logarithms(config, begun);
    adopt_shape(config, begun, lent);
    config->tried = begun->tried;
    adopt_open(config, begun);
    config->choose_epochs = false;
}

void run_config_begin_from(struct run_config *config, const struct run_config *from)
{
    take_left_open(config, from, RUN_OPEN_STANDARDISE | OF_SHAPE);
    run_config_take_logarithms(config, from);
    config->choose_standardise = config->choose_layers = false;
    config->choose_kind = config->choose_norm = config->choose_hidden = false;
}

/* The rates of a cosine depend on the number of epochs, all other steps do not. */
static bool may_grow(const json_t *run)
{
    const char *schedule = json_string_value(
        json_object_get(json_object_get(run, "model"), "schedule"));
    return schedule != NULL && strcmp(schedule, model_schedule_name(MODEL_COSINE)) != 0;
}

void run_config_forget_length(json_t *run)
{
    if (may_grow(run))
        (void)json_object_del(json_object_get(run, "model"), "epochs");
    (void)json_object_del(run, "patience");
}

/* The value of an object gets what it is now, where that is larger; 0 is the largest patience. */
static bool grow_value(json_t *was, const json_t *now, const char *name, bool zero_is_most)
{
    const json_t *before = json_object_get(was, name);
    json_t *after = json_object_get(now, name);
    if (!json_is_integer(before) || !json_is_integer(after) || json_equal(before, after))
        return false;
    json_int_t old = json_integer_value(before), new = json_integer_value(after);
    bool larger = zero_is_most ? old != 0 && (new == 0 || new > old) : new > old;
    return larger && json_object_set(was, name, after) == 0;
}

static bool grow_run(json_t *root, const json_t *now)
{
    json_t *was = json_object_get(root, "run");
    const json_t *is = json_object_get(now, "run");
    bool longer = may_grow(is) && grow_value(json_object_get(was, "model"),
                                             json_object_get(is, "model"), "epochs", false);
    return grow_value(was, is, "patience", true) || longer;
}

static const char *task_of(const json_t *root)
{
    const char *task = json_string_value(json_object_get(json_object_get(root, "run"), "task"));
    return task != NULL ? task : model_task_name(MODEL_NODES);
}

int run_config_compare_fields(const char *path, json_t *root, const json_t *now,
                              const char *const *decisive, size_t count, bool *grew,
                              struct error *error)
{
    bool same = true;
    char differ[DIFFERENCES_BYTES] = "";
    /* Most of the rest follows from the task, and would fill the list. */
    if (strcmp(task_of(root), task_of(now)) != 0)
        return error_set(error, TR_EMISMATCH,
                         "%s: the run was begun with options.task '%s', and now it is '%s'; go on "
                         "with that, or in another folder",
                         path, task_of(root), task_of(now));
    /* The fields that grew come first: they are made equal, so that the comparison below passes
     * them. */
    *grew = grow_run(root, now);
    for (size_t i = 0; i < count; i++) {
        const json_t *before = json_object_get(root, decisive[i]);
        const json_t *after = json_object_get(now, decisive[i]);
        if ((before == NULL && after == NULL) || json_equal(before, after))
            continue;
        same = false; /* whatever the list has room for */
        if (json_is_object(before) && json_is_object(after))
            list_differences(before, after, "", differ, sizeof differ);
        else
            list_value(before, after, decisive[i], differ, sizeof differ);
    }
    return same ? 0
                : error_set(error, TR_EMISMATCH,
                            "%s: the run was begun with other options: %s; go on with those, or in "
                            "another folder",
                            path, differ);
}

int run_config_compare(struct files *files, const char *path, const json_t *now, char **kernels,
                       bool *grew, struct error *error)
{
    static const char *const decisive[] = { "trainers", "deal_hash", "from_hash", "run" };
    json_t *root;
    *kernels = NULL;
    *grew = false;
    if (now == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to compare the options with it", path);
    int rv = run_config_read_root(files, path, &root, error);
    if (rv != 0)
        return rv;
    rv = run_config_compare_fields(path, root, now, decisive, sizeof decisive / sizeof *decisive,
                                   grew, error);
    const char *text = json_string_value(json_object_get(root, "kernels"));
    if (rv == 0 && text == NULL)
        rv = error_set(error, TR_EFORMAT, "%s: 'kernels' is missing: not a run's config.json",
                       path);
    if (rv == 0 && (*kernels = strdup(text)) == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory", path);
    json_decref(root);
    return rv;
}
