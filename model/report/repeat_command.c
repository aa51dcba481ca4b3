/* SPDX-License-Identifier: Apache-2.0 */
#include "model/report/repeat_command.h"

#include <stdlib.h>
#include <string.h>

#include "launch/argv_builder.h"

/* tests/cli/test_train_options holds names and defaults to those of the command. */
const struct repeat_option repeat_options[] = {
    { "task", "task", false, "node" },
    { "negatives", "negatives", false, "0" },
    { "negative-ends", "negative_ends", false, "auto" },
    { "negatives-by", "negatives_by", false, "auto" },
    { "negatives-no-edges", "negatives_no_edges", true, NULL },
    { "edge-type", "edge_type", false, NULL },
    { "reverse-edge-type", "reverse_edge_type", false, NULL },
    { "model", "kind", false, "auto" },
    { "hidden", "hidden", false, NULL },
    { "residual", "residual", true, NULL },
    { "norm", "norm", false, "auto" },
    { "fanout", "fanout", false, NULL },
    { "etype-fanout", "etype_fanout", false, NULL },
    { "bases", "bases", false, "0" },
    { "heads", "heads", false, "0" },
    { "batch-size", "batch_size", false, "1024" },
    { "epochs", "epochs", false, NULL },
    { "seed", "seed", false, "0" },
    { "lr", "lr", false, "0.01" },
    { "optimiser", "optimiser", false, "adam" },
    { "momentum", "momentum", false, "0" },
    { "dropout", "dropout", false, NULL },
    { "input-dropout", "input_dropout", false, NULL },
    { "l2", "l2", false, NULL },
    { "weight-decay", "weight_decay", false, "0" },
    { "schedule", "schedule", false, "constant" },
    { "warmup", "warmup_epochs", false, "0" },
    { "step-epochs", "step_epochs", false, "30" },
    { "step-gamma", "step_gamma", false, "0.1" },
    { "cosine-floor", "cosine_floor", false, "0" },
    { "patience", "patience", false, NULL },
    { "loss", "loss", false, "auto" },
    { "metric", "metric", false, "auto" },
    { "balanced-weights", "balanced_weights", true, NULL },
    { "normalise", "normalise", true, NULL },
    { "standardise", "standardise", true, NULL },
    { "with-replacement", "replace", true, NULL },
    { "sampler", "sampler", false, "neighbors" },
    { "draw-by", "draw_by", false, NULL },
    { "draw-mask", "draw_mask", false, NULL },
    { "drop-last", "drop_last", true, NULL },
    { "eval", "evaluation", false, "exact" },
    { "eval-every", "evaluate_every", false, NULL },
    { "features", "features", false, "feat" },
    { "edge-weight", "edge_weight", false, NULL },
    { "label-type", "label_type", false, NULL },
    { "labels", "labels", false, NULL },
    { "train-mask", "train_mask", false, "train_mask" },
    { "val-mask", "val_mask", false, NULL },
    { "test-mask", "test_mask", false, NULL },
    { "from", "from", false, NULL },
    { "trainers", "trainers", false, "1" },
    { "deal", "deal", false, NULL },
    { NULL, NULL, false, NULL },
};

/* Whether two texts are the same value: 0.01 may be written as 1e-2. */
static bool is_same_value(const char *a, const char *b)
{
    char *a_end, *b_end;
    float left = strtof(a, &a_end), right = strtof(b, &b_end);
    if (a_end != a && b_end != b && *a_end == '\0' && *b_end == '\0')
        return left == right;
    return strcmp(a, b) == 0;
}

/* The value as the command takes it: config.json calls by "step" what the option calls "steps". */
static const char *value_of(const struct run_record *run, const struct repeat_option *option)
{
    const char *value = run_record_value(run, option->key);
    bool renamed = value != NULL && strcmp(option->name, "schedule") == 0 &&
                   strcmp(value, "step") == 0;
    return renamed ? "steps" : value;
}

/* Edges are not dealt, so that the option is refused. */
static bool is_of_nodes(const struct run_record *run, const struct repeat_option *option)
{
    const char *task = run_record_value(run, "task");
    return strcmp(option->name, "deal") == 0 && task != NULL && strcmp(task, "link") == 0;
}

/* Whether the option does not have to be given. A mask of the usual name is looked for without the
 * option; "" is the run without one. */
static bool is_default(const struct repeat_option *option, const char *value)
{
    if (option->flag)
        return strcmp(value, "yes") != 0;
    return value[0] == '\0' || (option->fallback != NULL && is_same_value(value, option->fallback));
}

char *repeat_command(const struct run_record *run)
{
    struct argv_builder words = { 0 };
    argv_builder_add(&words, "troupe");
    argv_builder_add(&words, "train");
    argv_builder_add(&words, run->graph);
    argv_builder_add(&words, "--run");
    argv_builder_add(&words, run->path);
    for (const struct repeat_option *option = repeat_options; option->name != NULL; option++) {
        const char *value = value_of(run, option);
        if (value == NULL || is_default(option, value) || is_of_nodes(run, option))
            continue;
        argv_builder_addf(&words, "--%s", option->name);
        if (!option->flag)
            argv_builder_add(&words, value);
    }
    char *line = argv_builder_failed(&words) ? NULL : argv_builder_quote(&words);
    argv_builder_fini(&words);
    return line;
}
