/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "cli/train/run_grid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lib/option_value.h"

/* More runs by one command are a mistyped list. */
#define RUNS_MAX 10000u
/* Choices of --metric, of which auto takes one. */
#define METRIC_ACCURACY 1
#define METRIC_ROC_AUC 3

static int read_range(const char *word, uint64_t *first, uint64_t *last)
{
    char *end;
    if (*word < '0' || *word > '9')
        return TR_EINVAL;
    errno = 0; /* which a number of more than 64 bits sets */
    *first = *last = strtoull(word, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        *last = strtoull(end + 1, &end, 10);
    bool fits = errno == 0 && *first <= *last && *last - *first < RUNS_MAX;
    return fits && (*end == '\0' || *end == ',') ? 0 : TR_EINVAL;
}

/* One run would count as several in the mean and the deviation. */
static int refuse_repeated(const char *text, const uint64_t *seeds, uint32_t count,
                           struct tr_error *error)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t before = 0; before < i; before++)
            if (seeds[before] == seeds[i])
                return tr_error_set(error, TR_EINVAL,
                                    "--seeds %s: seed %llu is named twice; name each seed once",
                                    text, (unsigned long long)seeds[i]);
    return 0;
}

int run_grid_read_seeds(const char *text, uint64_t **seeds, uint32_t *count, struct tr_error *error)
{
    *count = 0;
    *seeds = malloc(RUNS_MAX * sizeof **seeds);
    if (*seeds == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for --seeds");
    for (const char *at = text; at != NULL; at = strchr(at, ',')) {
        uint64_t first, last;
        at += at != text; /* behind the comma */
        if (read_range(at, &first, &last) != 0 || *count + (last - first) >= RUNS_MAX) {
            free(*seeds);
            *seeds = NULL;
            return tr_error_set(error, TR_EINVAL,
                                "--seeds %s: give numbers and ranges such as 0-9 or 1,5,7-8, of at "
                                "most %u seeds",
                                text, RUNS_MAX);
        }
        for (uint64_t i = 0; i <= last - first; i++)
            (*seeds)[(*count)++] = first + i;
    }
    int rv = refuse_repeated(text, *seeds, *count, error);
    if (rv != 0) {
        free(*seeds);
        *seeds = NULL;
    }
    return rv;
}

/* The options with numbers or choices that decide a result; a seed has an option of its own. */
static const char *const SWEPT[] = {
    "model",         "hidden",       "norm",         "fanout",    "bases",    "heads",
    "batch-size",    "epochs",       "lr",           "optimiser", "momentum", "dropout",
    "input-dropout", "l2",           "weight-decay", "schedule",  "warmup",   "step-epochs",
    "step-gamma",    "cosine-floor", "patience",     "loss",      "metric",   "eval",
    "eval-every",    "trainers",     "negatives",    "sampler",
};

static const struct option_spec *find_option(const char *name)
{
    const struct option_spec *spec = train_options;
    while (spec->name != NULL && strcmp(spec->name, name) != 0)
        spec++;
    return spec->name != NULL ? spec : NULL;
}

static const struct option_spec *find_swept(const char *name)
{
    for (size_t i = 0; i < sizeof SWEPT / sizeof *SWEPT; i++)
        if (strcmp(SWEPT[i], name) == 0)
            return find_option(name);
    return NULL;
}

/* Says what to give in place of an option that is not swept. */
static int refuse_unswept(const char *name, const char *text, struct tr_error *error)
{
    const char *equals = strchr(text, '=');
    if (strcmp(name, "seed") == 0 || strcmp(name, "seeds") == 0)
        return tr_error_set(error, TR_EINVAL,
                            "--sweep %s: seeds have an option of their own; give --seeds %s", text,
                            equals != NULL && equals[1] != '\0' ? equals + 1 : "0-9");
    if (strcmp(name, "layers") == 0)
        return tr_error_set(error, TR_EINVAL,
                            "--sweep %s: layers differ in what they draw as well; sweep fanout, a "
                            "number a layer, parted by colons, such as fanout=10:25,5:10:25",
                            text);
    return tr_error_set(error, TR_EINVAL,
                        "--sweep %s: give an option that has numbers or choices, and its "
                        "values, such as lr=0.01,0.003 or fanout=5:10,10:25",
                        text);
}

/* Commas part the values of an axis, so colons stand for those within one: fanout=5:10,10:25. */
static int grid_set_value(const struct option_spec *spec, struct train_values *values,
                          const char *text, struct tr_error *error)
{
    char *copy = strdup(text);
    if (copy == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for --sweep");
    for (char *at = copy; spec->kind == OPTION_COUNTS && *at != '\0'; at++)
        *at = *at == ':' ? ',' : *at;
    int rv = option_value_set(spec, values, copy, error);
    free(copy);
    return rv;
}

static bool grid_names(const struct run_grid *grid, const char *option)
{
    for (uint32_t a = 0; a < grid->num_axes; a++)
        if (strcmp(grid->axes[a].spec->name, option) == 0)
            return true;
    return false;
}

/* Where epochs are named, nothing is chosen; trials choose where nothing of the shape is named. */
static bool grid_leaves(const struct run_grid *grid, bool to_trials)
{
    const struct train_values *values = grid->values;
    bool shaped = values->model != 0 || values->layers != 0 || values->fanout.count != 0 ||
                  values->residual || grid_names(grid, "fanout") || grid_names(grid, "model");
    return values->epochs == OPTION_NOT_GIVEN && !grid_names(grid, "epochs") &&
           !(to_trials && shaped);
}

/* auto is the first choice, and the usual one is the second, which it stands for unless it is left to
 * the graph. The number of classes decides between two metrics. */
static bool grid_is_same_choice(const struct run_grid *grid, const struct option_spec *spec, int a,
                                int b)
{
    const int other = a + b;
    if (a == b)
        return true;
    if (strncmp(spec->choices, "auto|", strlen("auto|")) != 0 || (a != 0 && b != 0))
        return false;
    if (strcmp(spec->name, "metric") == 0)
        return other == METRIC_ACCURACY || other == METRIC_ROC_AUC;
    return other == 1 && !grid_leaves(grid, strcmp(spec->name, "norm") == 0);
}

/* By what is trained: 0.01 and 1e-2 are the same. */
static bool grid_is_same_value(const struct run_grid *grid, const struct option_spec *spec,
                               const struct train_values *a, const struct train_values *b)
{
    const void *x = (const char *)a + spec->offset, *y = (const char *)b + spec->offset;
    const struct count_list *list = x, *other = y;
    switch (spec->kind) {
    case OPTION_COUNT:
        if (strcmp(spec->name, "heads") == 0)
            return (a->heads == 0 ? TR_TRAIN_HEADS_OF_GAT : a->heads) ==
                   (b->heads == 0 ? TR_TRAIN_HEADS_OF_GAT : b->heads);
        return *(const uint64_t *)x == *(const uint64_t *)y;
    case OPTION_REAL:
        return (float)*(const double *)x == (float)*(const double *)y;
    case OPTION_CHOICE:
        return grid_is_same_choice(grid, spec, *(const int *)x, *(const int *)y);
    case OPTION_COUNTS:
        return list->count == other->count &&
               memcmp(list->values, other->values, list->count * sizeof *list->values) == 0;
    default:
        return false;
    }
}

static int refuse_value(const struct run_grid_axis *axis, uint32_t before, uint32_t value,
                        const char *text, struct tr_error *error)
{
    const char *word = axis->values[value], *other = axis->values[before];
    if (strcmp(axis->spec->name, "metric") == 0 && strcmp(word, other) != 0)
        return tr_error_set(
            error, TR_EINVAL,
            "--sweep %s: auto is roc-auc for two classes and for links, else "
            "accuracy, so two points may be the same; leave auto out, and name the metrics",
            text);
    return tr_error_set(
        error, TR_EINVAL, "--sweep %s: the value %s is named twice%s%s; name each value once", text,
        word, strcmp(word, other) == 0 ? "" : ", also as ", strcmp(word, other) == 0 ? "" : other);
}

/* The same point would be trained twice, and its runs would count twice. Values are compared when all
 * axes are known, since one may say what another's auto stands for. */
static int refuse_same_values(const struct run_grid *grid, const struct run_grid_axis *axis,
                              const char *text, struct tr_error *error)
{
    struct train_values values, before;
    int rv = 0;
    for (uint32_t i = 1; i < axis->count && rv == 0; i++) {
        rv = grid_set_value(axis->spec, &values, axis->values[i], error);
        for (uint32_t other = 0; other < i && rv == 0; other++) {
            rv = grid_set_value(axis->spec, &before, axis->values[other], error);
            if (rv == 0 && grid_is_same_value(grid, axis->spec, &before, &values))
                rv = refuse_value(axis, other, i, text, error);
        }
    }
    return rv;
}

static int grid_read_axis(struct run_grid_axis *axis, const char *text, struct tr_error *error)
{
    struct train_values scratch;
    axis->text = strdup(text);
    if (axis->text == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for --sweep");
    char *at = strchr(axis->text, '=');
    if (at != NULL)
        *at++ = '\0';
    axis->spec = at == NULL ? NULL : find_swept(axis->text);
    if (axis->spec == NULL)
        return refuse_unswept(axis->text, text, error);
    while (at != NULL && axis->count < RUN_GRID_VALUES_MAX) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        int rv = *at == '\0' ? tr_error_set(error, TR_EINVAL,
                                            "--sweep %s: a value is missing; give values parted by "
                                            "commas, such as lr=0.01,0.003",
                                            text)
                             : grid_set_value(axis->spec, &scratch, at, error);
        if (rv != 0)
            return rv;
        axis->values[axis->count++] = at;
        at = comma;
    }
    return at == NULL ? 0
                      : tr_error_set(error, TR_EINVAL, "--sweep %s: more than %u values", text,
                                     RUN_GRID_VALUES_MAX);
}

/* Each run would have the value of the list, and the other would be ignored. */
static int refuse_fixed(const struct run_grid_axis *axis, const bool *given, const char *text,
                        struct tr_error *error)
{
    if (!given[axis->spec - train_options])
        return 0;
    return tr_error_set(
        error, TR_EINVAL,
        "--sweep %s: --%s gives this option one value for all runs; leave --%s out, "
        "or name its value in the list",
        text, axis->spec->name, axis->spec->name);
}

static int refuse_seed(const struct train_values *values, const bool *given, struct tr_error *error)
{
    if (values->seeds == NULL || !given[find_option("seed") - train_options])
        return 0;
    return tr_error_set(error, TR_EINVAL,
                        "--seeds %s: --seed gives one seed for all runs; leave --seed out, or name "
                        "its seed in the list",
                        values->seeds);
}

static int grid_read_axes(struct run_grid *grid, const bool *given, struct tr_error *error)
{
    const struct text_list *sweep = &grid->values->sweep;
    int rv = 0;
    uint64_t runs = grid->num_seeds;
    grid->num_points = 1;
    if (sweep->count > RUN_GRID_AXES_MAX)
        return tr_error_set(error, TR_EINVAL, "--sweep: more than %u options", RUN_GRID_AXES_MAX);
    for (uint32_t i = 0; i < sweep->count && rv == 0; i++) {
        struct run_grid_axis *axis = &grid->axes[grid->num_axes++];
        rv = grid_read_axis(axis, sweep->values[i], error);
        if (rv == 0)
            rv = refuse_fixed(axis, given, sweep->values[i], error);
        for (uint32_t other = 0; other < i && rv == 0; other++)
            if (grid->axes[other].spec == axis->spec)
                rv = tr_error_set(error, TR_EINVAL, "--sweep: --%s is named twice",
                                  axis->spec->name);
        runs *= axis->count;
        if (rv == 0 && runs > RUNS_MAX)
            rv = tr_error_set(error, TR_EINVAL, "--sweep and --seeds: more than %u runs", RUNS_MAX);
        grid->num_points *= axis->count;
    }
    for (uint32_t i = 0; i < sweep->count && rv == 0; i++)
        rv = refuse_same_values(grid, &grid->axes[i], sweep->values[i], error);
    return rv;
}

const char *run_grid_value(const struct run_grid *grid, uint32_t point, uint32_t axis)
{
    for (uint32_t i = grid->num_axes - 1; i > axis; i--)
        point /= grid->axes[i].count;
    return grid->axes[axis].values[point % grid->axes[axis].count];
}

char *run_grid_path(const struct run_grid *grid, const char *folder, uint32_t point,
                    const uint64_t *seed)
{
    char *path = strdup(folder);
    for (uint32_t i = 0; i < grid->num_axes && path != NULL; i++) {
        char *longer = NULL;
        if (asprintf(&longer, "%s%s%s=%s", path, i == 0 ? "/" : ",", grid->axes[i].spec->name,
                     run_grid_value(grid, point, i)) < 0)
            longer = NULL;
        free(path);
        path = longer;
    }
    if (path != NULL && seed != NULL) {
        char *longer = NULL;
        if (asprintf(&longer, "%s/seed-%llu", path, (unsigned long long)*seed) < 0)
            longer = NULL;
        free(path);
        path = longer;
    }
    return path;
}

int run_grid_take(const struct run_grid *grid, uint32_t point, struct train_values *values,
                  struct tr_error *error)
{
    int rv = 0;
    *values = *grid->values;
    for (uint32_t a = 0; a < grid->num_axes && rv == 0; a++)
        rv = grid_set_value(grid->axes[a].spec, values, run_grid_value(grid, point, a), error);
    return rv;
}

/* Options that disagree in the last point are found before the first is trained. */
static int check_points(const struct run_grid *grid, struct tr_error *error)
{
    int rv = 0;
    for (uint32_t point = 0; point < grid->num_points && rv == 0; point++) {
        struct train_values values;
        struct tr_train_options options;
        rv = run_grid_take(grid, point, &values, error);
        if (rv == 0)
            rv = train_configure(&values, &options, error);
    }
    return rv;
}

int run_grid_init(struct run_grid *grid, const struct train_values *values, const bool *given,
                  struct tr_error *error)
{
    *grid = (struct run_grid){ .values = values };
    int rv = refuse_seed(values, given, error);
    if (rv == 0 && values->seeds != NULL) {
        rv = run_grid_read_seeds(values->seeds, &grid->seeds, &grid->num_seeds, error);
    } else if (rv == 0) {
        grid->num_seeds = 1;
        grid->seeds = malloc(sizeof *grid->seeds);
        rv = grid->seeds == NULL ? tr_error_set(error, TR_ENOMEM, "no memory for a seed") : 0;
        if (rv == 0)
            grid->seeds[0] = values->seed;
    }
    if (rv == 0)
        rv = grid_read_axes(grid, given, error);
    return rv != 0 ? rv : check_points(grid, error);
}

void run_grid_fini(struct run_grid *grid)
{
    for (uint32_t a = 0; a < grid->num_axes; a++)
        free(grid->axes[a].text);
    free(grid->seeds);
}
