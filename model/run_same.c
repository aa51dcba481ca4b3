/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_same.h"

#include <stdlib.h>
#include <string.h>

#include "model/link_types.h"
#include "model/run_compare.h"
#include "model/run_options.h"
#include "model/run_task.h"

/* Takes those of the options that are left open and were left open when the run was begun: a training
 * chooses them as that one did. Where that one was given a value, what would be chosen is unknown. */
static void take_choices(struct run_config *config, const struct run_config *begun,
                         uint32_t options, uint32_t *unknown)
{
    uint32_t left = run_config_left_open(config, options);
    uint32_t given = begun->open_known ? left & ~begun->open : 0;
    *unknown |= given;
    run_config_take(config, begun, left & ~given);
}

/* What few training nodes or trials choose, which change more than the shape. */
static void expect_shape(struct run_config *config, const struct run_config *begun,
                         uint32_t *unknown)
{
    take_choices(config, begun,
                 RUN_OPEN_KIND | RUN_OPEN_LAYERS | RUN_OPEN_INPUT_DROPOUT | RUN_OPEN_L2, unknown);
    /* Trials alone choose the rest, and only where nothing of the shape is named. */
    if (!run_config_leaves_shape(config))
        return;
    take_choices(config, begun, RUN_OPEN_NORM, unknown);
    if (config->choose_hidden && begun->tried.any && begun->tried.chosen == RUN_SHAPE_DEEP)
        config->model.hidden = RUN_SHAPE_DEEP_HIDDEN;
}

/* Does the relation alone name a type, "SRC:REL:DST"? */
static bool is_relation_of(const char *relation, const char *type)
{
    const char *begin = strchr(type, ':'), *end = strrchr(type, ':');
    size_t length = strlen(relation);
    return begin != NULL && end == begin + 1 + length && strncmp(begin + 1, relation, length) == 0;
}

/* A type of edges that is named by its relation alone is that of the begun run. */
static int complete_edge_type(char **name, const char *was)
{
    if (was == NULL || *name == NULL || !is_relation_of(*name, was))
        return 0;
    free(*name);
    *name = strdup(was);
    return *name != NULL ? 0 : TR_ENOMEM;
}

/* Types that nobody named: that of the edges is the only one that is no other's reverse, and its
 * reverse is the one that a name says. A run of others was begun with their names. */
static int take_edge_types(struct run_config *config, const struct run_config *begun)
{
    const char *type = begun->edge_type, *reverse = begun->reverse_edge_type;
    bool paired = type != NULL && reverse != NULL;
    bool is_other = paired && link_types_name_reverse(type, reverse);
    int rv = complete_edge_type(&config->edge_type, type);
    if (rv == 0 && config->edge_type == NULL && type != NULL && !is_other &&
        (config->edge_type = strdup(type)) == NULL)
        rv = TR_ENOMEM;
    if (rv == 0)
        rv = complete_edge_type(&config->reverse_edge_type, reverse);
    if (rv == 0 && config->reverse_edge_type == NULL && paired &&
        (is_other || link_types_name_reverse(reverse, type)) &&
        (config->reverse_edge_type = strdup(reverse)) == NULL)
        rv = TR_ENOMEM;
    return rv;
}

/* What follows from the graph alone: that of the begun run. A mask that nobody named is the usual one
 * where the graph has it. */
static int take_facts(struct run_config *config, const struct run_config *begun)
{
    const struct {
        char **mask;
        const char *usual, *was;
        enum run_open option;
    } masks[] = { { &config->val_mask, "val_mask", begun->val_mask, RUN_OPEN_VAL_MASK },
                  { &config->test_mask, "test_mask", begun->test_mask, RUN_OPEN_TEST_MASK } };
    config->model.inputs = begun->model.inputs;
    config->model.classes = begun->model.classes;
    if (config->choose_metric)
        config->model.metric = run_config_usual_metric(&config->model);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        bool lacks = masks[i].was[0] == '\0' &&
                     (!begun->open_known || (begun->open & (uint32_t)masks[i].option) != 0);
        if (*masks[i].mask == NULL &&
            (*masks[i].mask = strdup(lacks ? "" : masks[i].usual)) == NULL)
            return TR_ENOMEM;
    }
    /* Where there are no masks. */
    const struct tr_train_options defaults = run_options_defaults();
    if (run_task_of(config)->splits_itself && begun->train_mask[0] == '\0' &&
        strcmp(config->train_mask, defaults.train_mask) == 0)
        config->train_mask[0] = '\0';
    /* Where it is not named there is one type that has labels. */
    if (config->label_type == NULL && begun->label_type != NULL &&
        (config->label_type = strdup(begun->label_type)) == NULL)
        return TR_ENOMEM;
    return take_edge_types(config, begun);
}

/* Completes the configuration as a training would that began anew on the same graph. unknown: options
 * of which nothing says what it would choose. */
static void expect_anew(struct run_config *config, const struct run_config *begun, bool lent,
                        uint32_t *unknown)
{
    *unknown = 0;
    if (lent)
        run_config_begin_from(config, begun);
    /* Of several types that kind is taken, whether epochs are named or not. */
    if (model_kind_has_relations(begun->model.kind) && config->choose_kind) {
        take_choices(config, begun, RUN_OPEN_KIND, unknown);
        config->choose_kind = (*unknown & (uint32_t)RUN_OPEN_KIND) != 0;
    }
    if (config->choose_epochs) {
        take_choices(config, begun,
                     RUN_OPEN_EPOCHS | RUN_OPEN_PATIENCE | RUN_OPEN_EVALUATE_EVERY |
                         RUN_OPEN_NORMALISE | RUN_OPEN_STANDARDISE,
                     unknown);
        /* Where something was tried training nodes are not few, so that without trials the rest is
         * as usual. */
        if (!begun->tried.any || run_config_leaves_shape(config))
            expect_shape(config, begun, unknown);
    }
    run_config_take_logarithms(config, begun);
}

/* An option that is left open has no value to compare: it differs from any. */
static int mark_unknown(json_t *run, uint32_t unknown)
{
    static const struct {
        enum run_open option;
        const char *key;
        bool of_model;
    } KEYS[] = { { RUN_OPEN_EPOCHS, "epochs", true },
                 { RUN_OPEN_PATIENCE, "patience", false },
                 { RUN_OPEN_EVALUATE_EVERY, "evaluate_every", false },
                 { RUN_OPEN_INPUT_DROPOUT, "input_dropout", true },
                 { RUN_OPEN_L2, "l2", true },
                 { RUN_OPEN_NORMALISE, "normalise", true },
                 { RUN_OPEN_STANDARDISE, "standardise", true },
                 { RUN_OPEN_KIND, "kind", true },
                 { RUN_OPEN_LAYERS, "fanout", false },
                 { RUN_OPEN_NORM, "norm", true } };
    int rv = 0;
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if ((unknown & (uint32_t)KEYS[i].option) != 0)
            rv |= json_object_set_new(KEYS[i].of_model ? json_object_get(run, "model") : run,
                                      KEYS[i].key, json_null());
    return rv;
}

/* The deal that is asked for, by its name in config.json: a file is the same by any path. */
static json_t *name_deal(const struct tr_train_options *options, const json_t *root,
                         const struct run_config *begun)
{
    json_t *was = json_object_get(root, "deal");
    const char *before = json_string_value(was), *now = options->deal;
    bool open = !begun->open_known || (begun->open & (uint32_t)RUN_OPEN_DEAL) != 0;
    if (now == NULL && options->trainers <= 1)
        now = "shuffle";
    if (now == NULL)
        return open || options->resume ? json_incref(was) : json_null();
    return before != NULL && files_are_same(files_posix, before, now) ? json_incref(was)
                                                                      : json_string(now);
}

/* What would be written to config.json, as far as it is compared; NULL when memory is out. */
static json_t *describe_asked(const struct run_config *config, uint32_t unknown,
                              const struct tr_train_options *options, const json_t *root,
                              const struct run_config *begun)
{
    json_t *now = json_pack("{s:I, s:o*, s:o}", "trainers",
                            (json_int_t)(options->trainers != 0 ? options->trainers : 1), "deal",
                            name_deal(options, root, begun), "run", run_config_to_json(config));
    json_t *was = json_object_get(root, "from");
    const char *from = options->from;
    int rv = now == NULL ? TR_ENOMEM : mark_unknown(json_object_get(now, "run"), unknown);
    if (rv == 0 && from != NULL) {
        bool same = json_is_string(was) &&
                    files_are_same(files_posix, json_string_value(was), from);
        rv = json_object_set_new(now, "from", same ? json_incref(was) : json_string(from));
    }
    if (rv == 0)
        return now;
    json_decref(now);
    return NULL;
}

int run_compare_options(const char *path, const json_t *root,
                        const struct tr_train_options *options, bool *longer, struct error *error)
{
    static const char *const decisive[] = { "trainers", "deal", "from", "run" };
    struct run_config config, begun;
    struct tr_error why = TR_ERROR_INIT;
    uint32_t unknown = 0;
    *longer = false;
    int rv = run_config_parse(path, root, &begun, error);
    if (rv != 0)
        return rv;
    rv = run_options_read(&config, options, &why);
    if (rv != 0) {
        error_set(error, rv, "%s", why.message);
        goto out;
    }
    rv = take_facts(&config, &begun);
    if (rv == 0 && options->resume)
        run_config_adopt(&config, &begun, options->from != NULL);
    else if (rv == 0)
        expect_anew(&config, &begun, options->from != NULL, &unknown);
    json_t *now = rv == 0 ? describe_asked(&config, unknown, options, root, &begun) : NULL;
    json_t *was = now != NULL ? json_deep_copy(root) : NULL;
    rv = was == NULL
             ? error_set(error, TR_ENOMEM, "%s: no memory to compare the options with it", path)
             : run_config_compare_fields(path, was, now, decisive,
                                         sizeof decisive / sizeof *decisive, longer, error);
    json_decref(was);
    json_decref(now);
out:
    run_config_fini(&config);
    run_config_fini(&begun);
    return rv;
}
