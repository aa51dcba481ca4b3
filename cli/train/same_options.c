/* SPDX-License-Identifier: Apache-2.0 */
/* Options are compared with the record in config.json, which leaves out what is usual. */
#include "cli/train/same_options.h"

#include <stdlib.h>
#include <string.h>

/* The options that decide a result, by the names that config.json has for them. otherwise: the value
 * without the option and without the key; NULL: the option has a default that config.json has too,
 * or any value may be left as the run has it. */
static const struct {
    const char *option, *key, *otherwise;
} DECISIVE[] = {
    { "model", "kind", NULL },
    { "hidden", "hidden", "128" },
    { "residual", "residual", "no" },
    { "norm", "norm", "none" },
    { "fanout", "fanout", NULL },
    { "batch-size", "batch_size", NULL },
    { "epochs", "epochs", NULL },
    { "seed", "seed", NULL },
    { "lr", "lr", NULL },
    { "optimiser", "optimiser", NULL },
    { "momentum", "momentum", NULL },
    { "dropout", "dropout", NULL },
    { "input-dropout", "input_dropout", NULL },
    { "l2", "l2", NULL },
    { "weight-decay", "weight_decay", NULL },
    { "schedule", "schedule", NULL },
    { "warmup", "warmup_epochs", NULL },
    { "step-epochs", "step_epochs", NULL },
    { "step-gamma", "step_gamma", NULL },
    { "cosine-floor", "cosine_floor", NULL },
    { "patience", "patience", NULL },
    { "loss", "loss", NULL },
    { "metric", "metric", NULL },
    { "balanced-weights", "balanced_weights", "no" },
    { "normalise", "normalise", NULL },
    { "no-normalise", "normalise", NULL },
    { "standardise", "standardise", NULL },
    { "no-standardise", "standardise", NULL },
    { "with-replacement", "replace", "no" },
    { "drop-last", "drop_last", "no" },
    { "eval", "evaluation", NULL },
    { "eval-every", "evaluate_every", NULL },
    { "features", "features", NULL },
    { "edge-weight", "edge_weight", "" },
    { "label-type", "label_type", "" },
    { "etype-fanout", "etype_fanout", "" },
    { "bases", "bases", "0" },
    { "heads", "heads", "1" },
    { "labels", "labels", NULL },
    { "train-mask", "train_mask", NULL },
    { "val-mask", "val_mask", NULL },
    { "test-mask", "test_mask", NULL },
    { "from", "from", "" },
    { "trainers", "trainers", NULL },
    { "deal", "deal", NULL },
};
#define DECISIVE_COUNT (sizeof DECISIVE / sizeof *DECISIVE)

/* What a run has where the option is not given: of the shape that trials found, or of the run that
 * lent its weights, it may be other than usual. NULL: any value. As run_config_adopt() goes on. */
static const char *otherwise_of(const struct tr_run *run, size_t row)
{
    static const char *const DEEP[][2] = { { "hidden", "64" },
                                           { "residual", "yes" },
                                           { "norm", "layer" } };
    const char *chosen = tr_run_value(run, "tried_chosen");
    const bool deep = chosen != NULL && strcmp(chosen, "deep") == 0;
    for (size_t i = 0; i < sizeof DEEP / sizeof *DEEP; i++) {
        if (strcmp(DEEP[i][0], DECISIVE[row].option) != 0)
            continue;
        if (tr_run_value(run, "from") != NULL)
            return NULL;
        if (deep)
            return DEEP[i][1];
    }
    return DECISIVE[row].otherwise;
}

static const struct option_spec *find_spec(const char *name)
{
    const struct option_spec *spec = train_options;
    while (spec->name != NULL && strcmp(spec->name, name) != 0)
        spec++;
    return spec->name != NULL ? spec : NULL;
}

const struct option_spec *same_options_find(const char *name)
{
    for (size_t i = 0; i < DECISIVE_COUNT; i++)
        if (strcmp(DECISIVE[i].option, name) == 0)
            return find_spec(name);
    return NULL;
}

static bool is_given(const struct option_spec *spec, const void *field)
{
    switch (spec->kind) {
    case OPTION_COUNT:
        return *(const uint64_t *)field != OPTION_NOT_GIVEN;
    case OPTION_REAL:
        return !(spec->optional && *(const double *)field == OPTION_REAL_NOT_GIVEN);
    case OPTION_CHOICE: /* auto is left to the graph */
        return !(*(const int *)field == 0 && strncmp(spec->choices, "auto|", 5) == 0);
    case OPTION_TEXT:
        return *(const char *const *)field != NULL;
    case OPTION_COUNTS:
        return true;
    case OPTION_FLAG:
        return *(const bool *)field;
    default:
        return false;
    }
}

/* "10,25", where -1 stands for all. */
static bool is_list(const struct count_list *list, const char *was)
{
    const char *at = was;
    for (uint32_t i = 0; i < list->count; i++) {
        char *end;
        long long number = strtoll(at, &end, 10);
        uint64_t wanted = number < 0 ? OPTION_ALL : (uint64_t)number;
        if (end == at || wanted != list->values[i] || *end != (i + 1 < list->count ? ',' : '\0'))
            return false;
        at = end + 1;
    }
    return true;
}

/* config.json calls by "step" what the option calls "steps". */
static bool is_choice(const struct option_spec *spec, int choice, const char *was)
{
    const char *at = spec->choices;
    for (; choice > 0; choice--)
        at = strchr(at, '|') + 1;
    size_t length = strcspn(at, "|"), old = strlen(was);
    return strncmp(at, was, old) == 0 && (length == old || strncmp(at, "steps", length) == 0);
}

static bool is_equal(const struct option_spec *spec, const void *field, const char *was)
{
    switch (spec->kind) {
    case OPTION_COUNT:
        return strtoull(was, NULL, 10) == *(const uint64_t *)field;
    case OPTION_REAL:
        return strtof(was, NULL) == (float)*(const double *)field;
    case OPTION_CHOICE:
        return is_choice(spec, *(const int *)field, was);
    case OPTION_COUNTS:
        return is_list(field, was);
    case OPTION_FLAG:
        return strcmp(was, strncmp(spec->name, "no-", 3) == 0 ? "no" : "yes") == 0;
    default:
        return strcmp(was, *(const char *const *)field) == 0;
    }
}

bool same_options(const struct tr_run *run, const struct train_values *given)
{
    struct train_values meant = *given;
    const char *kind = tr_run_value(run, "kind");
    if (meant.heads == 0) /* a run has the number */
        meant.heads = kind != NULL && strcmp(kind, "gat") == 0 ? TR_TRAIN_HEADS_OF_GAT : 1;
    const struct train_values *values = &meant;
    for (size_t i = 0; i < DECISIVE_COUNT; i++) {
        const struct option_spec *spec = find_spec(DECISIVE[i].option);
        const char *was = tr_run_value(run, DECISIVE[i].key);
        const char *otherwise = otherwise_of(run, i);
        const void *field = (const char *)values + spec->offset;
        if (was == NULL) /* config.json leaves out what is usual */
            was = spec->kind == OPTION_FLAG ? "no" : DECISIVE[i].otherwise;
        if (was == NULL)
            continue;
        if (is_given(spec, field) ? !is_equal(spec, field, was)
                                  : otherwise != NULL && strcmp(was, otherwise) != 0)
            return false;
    }
    return true;
}
