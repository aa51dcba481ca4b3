/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf, scandir */

#include "model/run_record.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/regular_file.h"
#include "model/run_config.h"

/* A configuration has a kilobyte; a larger file is not one. */
#define CONFIG_BYTES_MAX ((size_t)1 << 20)
/* A line of an epoch has some hundred bytes. */
#define LINE_BYTES_MAX 8192
/* Enough for every float to be read back as it was. */
#define FLOAT_DIGITS_MAX 9

static bool is_file_in(const char *folder, const char *name)
{
    char *path;
    struct stat facts;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    bool there = stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
    free(path);
    return there;
}

bool run_record_named(const char *path)
{
    return is_file_in(path, "config.json") && !is_file_in(path, "metadata.json");
}

/* The path of the first of the runs in a folder, by their names, as several seeds leave them; to be
 * freed. NULL: there is none. */
static char *find_inside(const char *path)
{
    struct dirent **entries;
    char *found = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char *inside = NULL;
        bool wanted = found == NULL && entries[i]->d_name[0] != '.' &&
                      asprintf(&inside, "%s/%s", path, entries[i]->d_name) >= 0;
        if (wanted && run_record_named(inside))
            found = inside;
        else if (wanted)
            free(inside);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return found;
}

int run_record_refuse(const char *path, const char *missing, const char *what,
                      struct tr_error *error)
{
    char *inside = find_inside(path);
    int rv = inside != NULL
                 ? tr_error_set(error, TR_ENOENT,
                                "%s holds runs, and is none itself; name one of them, such as %s",
                                path, inside)
                 : tr_error_set(error, TR_ENOENT, "%s is missing; is %s the folder of %s?", missing,
                                path, what);
    free(inside);
    return rv;
}

static int open_in(const struct run_record *run, const char *name, FILE **file, char **path,
                   struct tr_error *error)
{
    *file = NULL;
    if (asprintf(path, "%s/%s", run->path, name) < 0) {
        *path = NULL;
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", run->path);
    }
    int rv = regular_file_open(*path, file, error);
    return rv == TR_ENOENT ? run_record_refuse(run->path, *path, "a training", error) : rv;
}

/* The text with the fewest digits that reads back as the same float32: 0.1, not 0.100000001. */
static char *real_text(double value)
{
    char text[40];
    for (int digits = 1; digits <= FLOAT_DIGITS_MAX; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if ((float)strtod(text, NULL) == (float)value)
            break;
    }
    return strdup(text);
}

/* "epochs,patience". */
static char *words_text(const json_t *list)
{
    char *text = strdup("");
    for (size_t i = 0; i < json_array_size(list) && text != NULL; i++) {
        char *longer = NULL;
        if (asprintf(&longer, "%s%s%s", text, i == 0 ? "" : ",",
                     json_string_value(json_array_get(list, i))) < 0)
            longer = NULL;
        free(text);
        text = longer;
    }
    return text;
}

static char *list_text(const json_t *list)
{
    if (json_is_string(json_array_get(list, 0)))
        return words_text(list);
    char *text = json_dumps(list, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text == NULL || text[0] != '[')
        return text;
    /* As the command line has it: without the brackets. */
    size_t length = strlen(text);
    memmove(text, text + 1, length - 2);
    text[length - 2] = '\0';
    return text;
}

static char *value_text(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return strdup(json_string_value(value));
    case JSON_REAL:
        return real_text(json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return strdup(json_is_true(value) ? "yes" : "no");
    default:
        return list_text(value);
    }
}

/* Objects within the object are options of their own. */
static int take_options(struct run_record *run, const char *path, json_t *object,
                        struct tr_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        int rv = 0;
        if (json_is_object(value)) {
            rv = take_options(run, path, value, error);
        } else if (run->num_options == RUN_OPTIONS_MAX) {
            rv = tr_error_set(error, TR_EFORMAT, "%s: more than %d values: not a run's", path,
                              RUN_OPTIONS_MAX);
        } else if (!json_is_null(value)) {
            struct run_option *option = &run->options[run->num_options++];
            option->name = strdup(key);
            option->value = value_text(value);
            if (option->name == NULL || option->value == NULL)
                rv = tr_error_set(error, TR_ENOMEM, "%s: no memory", path);
        }
        if (rv != 0)
            return rv;
    }
    return 0;
}

/* Moves a value that is shown by itself out of the object. */
static char *take_text(json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    char *copy = strdup(text == NULL ? "" : text);
    (void)json_object_del(root, key);
    return copy;
}

static int read_config(struct run_record *run, struct tr_error *error)
{
    FILE *file;
    char *path = NULL, *text = NULL;
    json_t *root = NULL;
    json_error_t why;
    int rv = open_in(run, "config.json", &file, &path, error);
    if (rv != 0)
        goto out;
    text = malloc(CONFIG_BYTES_MAX);
    if (text == NULL) {
        rv = tr_error_set(error, TR_ENOMEM, "%s: no memory", path);
        goto out;
    }
    size_t size = fread(text, 1, CONFIG_BYTES_MAX, file);
    if (size == 0 && !ferror(file)) {
        rv = tr_error_set(error, TR_EFORMAT,
                          "%s: is empty: the training was stopped, or the disk was full, before it "
                          "was written; train into another folder",
                          path);
        goto out;
    }
    /* jansson's own bound of nesting holds for what is walked below. */
    root = ferror(file) || size == CONFIG_BYTES_MAX ? NULL : json_loadb(text, size, 0, &why);
    if (!json_is_object(root) || !json_is_object(json_object_get(root, "run"))) {
        rv = tr_error_set(error, TR_EFORMAT, "%s: not the configuration of a training run", path);
        goto out;
    }
    run->version = take_text(root, "troupe");
    run->graph = take_text(root, "graph");
    run->kernels = take_text(root, "kernels");
    /* They say nothing to a person. */
    (void)json_object_del(root, "graph_hash");
    (void)json_object_del(root, RUN_PARTS_KEY);
    if (run->version == NULL || run->graph == NULL || run->kernels == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "%s: no memory", path);
    else
        rv = take_options(run, path, root, error);
    if (rv == 0)
        run->config = json_incref(root);
out:
    json_decref(root);
    free(text);
    if (file != NULL)
        fclose(file);
    free(path);
    return rv;
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static uint64_t count_of(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value < 0 ? 0 : (uint64_t)value;
}

static struct tr_scores scores_of(const json_t *object)
{
    struct tr_scores scores = TR_SCORES_INIT;
    scores.labelled = count_of(object, "labelled");
    scores.loss = number_of(object, "loss");
    scores.accuracy = number_of(object, "accuracy");
    scores.macro_f1 = number_of(object, "macro_f1");
    scores.roc_auc = number_of(object, "roc_auc");
    scores.mrr = number_of(object, "mrr");
    return scores;
}

static int add_epoch(struct run_record *run, const json_t *line, struct tr_error *error)
{
    if (run->num_epochs == RUN_EPOCHS_MAX)
        return tr_error_set(error, TR_ETOOBIG, "%s: more than %d epochs", run->path,
                            RUN_EPOCHS_MAX);
    if (run->num_epochs == run->room) {
        size_t room = run->room == 0 ? 64 : run->room * 2;
        struct run_epoch *epochs = realloc(run->epochs, room * sizeof *epochs);
        if (epochs == NULL)
            return tr_error_set(error, TR_ENOMEM, "%s: no memory for its epochs", run->path);
        run->epochs = epochs;
        run->room = room;
    }
    const json_t *validation = json_object_get(line, "val");
    run->epochs[run->num_epochs++] = (struct run_epoch){
        .epoch = count_of(line, "epoch"),
        .steps = count_of(line, "steps"),
        .seeds = count_of(line, "seeds"),
        .rate = number_of(line, "rate"),
        .train_loss = number_of(line, "train_loss"),
        .seconds = number_of(line, "seconds"),
        .evaluated = json_is_object(validation),
        .best = json_is_true(json_object_get(line, "best")),
        .validation = scores_of(validation)
    };
    return 0;
}

static int read_line(struct run_record *run, const char *path, size_t number, const char *text,
                     struct tr_error *error)
{
    json_error_t why;
    json_t *line = json_loads(text, 0, &why);
    const json_t *test = json_object_get(line, "test");
    int rv = 0;
    if (json_is_object(test)) {
        run->tested = true;
        run->test = scores_of(test);
    } else if (json_is_integer(json_object_get(line, "epoch"))) {
        rv = add_epoch(run, line, error);
    } else {
        rv = tr_error_set(error, TR_EFORMAT, "%s:%zu: neither an epoch nor a test", path, number);
    }
    json_decref(line);
    return rv;
}

static int read_metrics(struct run_record *run, struct tr_error *error)
{
    char text[LINE_BYTES_MAX];
    FILE *file;
    char *path = NULL;
    int rv = open_in(run, "metrics.jsonl", &file, &path, error);
    size_t number = 0;
    while (rv == 0 && fgets(text, sizeof text, file) != NULL) {
        number++;
        if (strchr(text, '\n') != NULL)
            rv = read_line(run, path, number, text, error);
        else if (!feof(file))
            rv = tr_error_set(error, TR_EFORMAT, "%s:%zu: longer than the line of an epoch", path,
                              number);
    }
    if (rv == 0 && ferror(file))
        rv = tr_error_set(error, TR_EIO, "%s: %s", path, strerror(errno));
    if (file != NULL)
        fclose(file);
    free(path);
    return rv;
}

/* What no optimiser changes: columns of features that are standardised, and running statistics of
 * batches (struct param_view in params.h). */
static bool is_learned(const char *name)
{
    return strncmp(name, "features.", strlen("features.")) != 0 &&
           strstr(name, ".norm.running_") == NULL && strstr(name, ".norm.steps") == NULL;
}

/* A run that goes on, or was stopped early, has no model. */
static int read_model(struct run_record *run, struct tr_error *error)
{
    struct tr_model_info info = TR_MODEL_INFO_INIT;
    struct tr_model *model;
    if (!is_file_in(run->path, "model.safetensors"))
        return 0;
    int rv = tr_model_open(run->path, &model, error);
    if (rv != 0)
        return rv;
    rv = tr_model_info(model, &info, error);
    for (size_t i = 0; i < info.num_tensors && rv == 0; i++) {
        struct tr_tensor tensor = TR_TENSOR_INIT;
        uint64_t count = 1;
        rv = tr_model_tensor(model, i, &tensor, error);
        for (uint32_t d = 0; d < tensor.ndim; d++)
            count *= tensor.shape[d];
        run->parameters += rv == 0 && is_learned(tensor.name) ? count : 0;
    }
    run->has_model = rv == 0;
    tr_model_close(model);
    return rv;
}

static int read_history(struct run_record *run, struct tr_error *error)
{
    struct error why = { 0 };
    int rv = run_history_read(&run->history, files_posix, run->path, &why);
    return rv == 0 ? 0 : tr_error_set(error, rv, "%s", why.text);
}

int run_record_open(struct run_record *run, const char *path, struct tr_error *error)
{
    *run = (struct run_record){ .path = strdup(path) };
    if (run->path == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", path);
    int rv = read_config(run, error);
    if (rv == 0)
        rv = read_metrics(run, error);
    if (rv == 0)
        rv = read_model(run, error);
    if (rv == 0)
        rv = read_history(run, error);
    if (rv != 0)
        run_record_close(run);
    return rv;
}

void run_record_close(struct run_record *run)
{
    run_history_fini(&run->history);
    for (size_t i = 0; i < run->num_options; i++) {
        free(run->options[i].name);
        free(run->options[i].value);
    }
    json_decref(run->config);
    free(run->epochs);
    free(run->version);
    free(run->graph);
    free(run->kernels);
    free(run->path);
    *run = (struct run_record){ 0 };
}

const char *run_record_value(const struct run_record *run, const char *name)
{
    for (size_t i = 0; i < run->num_options; i++)
        if (strcmp(run->options[i].name, name) == 0)
            return run->options[i].value;
    return NULL;
}

static uint64_t option_count(const struct run_record *run, const char *name)
{
    const char *value = run_record_value(run, name);
    return value == NULL ? 0 : strtoull(value, NULL, 10);
}

const struct run_epoch *run_record_best(const struct run_record *run)
{
    for (size_t i = run->num_epochs; i > 0; i--)
        if (run->epochs[i - 1].best)
            return &run->epochs[i - 1];
    return NULL;
}

/* Whether as many evaluations as its patience found nothing better. */
static bool lost_patience(const struct run_record *run)
{
    uint64_t patience = option_count(run, "patience"), since = 0;
    for (size_t i = run->num_epochs; i > 0 && !run->epochs[i - 1].best; i--)
        since += run->epochs[i - 1].evaluated;
    return patience > 0 && since >= patience;
}

bool run_record_is_complete(const struct run_record *run)
{
    if (!run->has_model || run->num_epochs == 0)
        return false;
    return run->epochs[run->num_epochs - 1].epoch >= option_count(run, "epochs") ||
           lost_patience(run);
}
