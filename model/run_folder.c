/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/atomic_dir.h"
#include "runtime/base/history_file.h"
#include "runtime/base/json_text.h"

#include "model/run_record.h"

/* A bound of what is read of a config.json: many times a run's. */
#define FOREIGN_BYTES_MAX ((size_t)16 << 20)

static int set_paths(struct run_folder *folder, struct files *files, const char *path,
                     struct error *error)
{
    *folder = (struct run_folder){ .files = files };
    folder->path = strdup(path);
    folder->config_path = files_join(path, "config.json");
    folder->metrics_path = files_join(path, "metrics.jsonl");
    folder->model_path = files_join(path, "model.safetensors");
    if (folder->path && folder->config_path && folder->metrics_path && folder->model_path)
        return 0;
    run_folder_close(folder);
    return error_set(error, TR_ENOMEM, "%s: no memory", path);
}

/* A launcher begins to write that of its job when the folder is the new run's. */
static int remove_history(const struct run_folder *folder, struct error *error)
{
    static const char *const names[] = { HISTORY_OLDER_NAME, HISTORY_NAME };
    int rv = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && rv == 0; i++) {
        char *path = files_join(folder->path, names[i]);
        rv = path != NULL ? files_remove_tree(folder->files, path, error)
                          : error_set(error, TR_ENOMEM, "%s: no memory", folder->path);
        free(path);
    }
    return rv;
}

static int remove_run(struct run_folder *folder, struct error *error)
{
    /* The three may go in any order: each alone makes the folder a run's (holds_run). */
    int rv = files_remove_tree(folder->files, folder->model_path, error);
    if (rv == 0)
        rv = files_remove_tree(folder->files, folder->metrics_path, error);
    if (rv == 0)
        rv = files_remove_tree(folder->files, folder->config_path, error);
    return rv;
}

/* A run's files among those of a graph would be taken for a graph, or go when it is made anew. */
static int refuse_graph(struct files *files, const char *path, struct error *error)
{
    static const char *const marks[] = { "part0", "metadata.json", "edges.npy" };
    bool holds_graph = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *inside = files_join(path, marks[i]);
        if (inside == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory", path);
        holds_graph |= files_exists(files, inside);
        free(inside);
    }
    return holds_graph
               ? error_set(error, TR_EINVAL,
                           "%s holds a graph; give a folder of its own as options.run", path)
               : 0;
}

/* Other programs have a config.json too, and a model beside it that nothing brings back. One that
 * is broken says nothing of whose it is. */
static int refuse_foreign(const struct run_folder *folder, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    json_t *root = NULL;
    if (!files_exists(folder->files, folder->config_path))
        return 0;
    int rv = files_read_all(folder->files, folder->config_path, FOREIGN_BYTES_MAX, &text, &size,
                            error);
    if (rv != 0)
        return rv;
    bool foreign = json_read_text(folder->config_path, text, size, 0, &root, NULL) == 0 &&
                   json_object_get(root, "run") == NULL;
    json_decref(root);
    free(text);
    return foreign ? error_set(error, TR_EEXIST,
                               "%s: does not belong to a run, so it is not replaced; remove it, or "
                               "give another folder as options.run",
                               folder->config_path)
                   : 0;
}

static int refuse_second(const char *path, struct error *error)
{
    return error_set(error, TR_EEXIST,
                     "%s: another training is under way in this folder; wait for its end, or give "
                     "another folder as options.run",
                     path);
}

static bool holds_run(const struct run_folder *folder)
{
    return files_exists(folder->files, folder->config_path) ||
           files_exists(folder->files, folder->metrics_path) ||
           files_exists(folder->files, folder->model_path);
}

/* The lock comes before the look: a training that is under way is no run to be replaced. */
static int run_folder_take(struct run_folder *folder, bool *busy, struct error *error)
{
    int rv = 0;
    *busy = false;
    if (!folder_lock_is_held(&folder->lock) && files_is_folder(folder->files, folder->path))
        rv = folder_lock_take(&folder->lock, folder->files, folder->path, busy, error);
    if (*busy)
        return refuse_second(folder->path, error);
    if (rv == 0)
        rv = refuse_graph(folder->files, folder->path, error);
    if (rv != 0 || folder->use == RUN_FOLDER_RESUMES || !holds_run(folder))
        return rv;
    return folder->use == RUN_FOLDER_REPLACES
               ? refuse_foreign(folder, error)
               : error_set(error, TR_EEXIST,
                           "%s holds a run already; give options.replace, or another folder as "
                           "options.run",
                           folder->path);
}

int run_folder_claim(struct run_folder *folder, struct files *files, const char *path,
                     enum run_folder_use use, bool *busy, struct error *error)
{
    *busy = false;
    int rv = set_paths(folder, files, path, error);
    if (rv != 0)
        return rv;
    folder->use = use;
    rv = run_folder_take(folder, busy, error);
    if (rv != 0)
        run_folder_close(folder);
    return rv;
}

/* Where the file system has no locks, two trainings that begin at once may both have found no run:
 * the one that makes this file has the folder. */
static int create_metrics(struct run_folder *folder, struct error *error)
{
    int rv = file_create(&folder->metrics, folder->files, folder->metrics_path, error);
    return rv == TR_EEXIST ? refuse_second(folder->path, error) : rv;
}

void run_folder_give_up(struct run_folder *folder)
{
    /* A folder that has something in it stays. */
    if (folder->made)
        (void)folder->files->rmdir(folder->files, folder->path);
    run_folder_close(folder);
}

int run_folder_hold(struct run_folder *folder, struct error *error)
{
    bool busy;
    folder->made = folder->made || !files_exists(folder->files, folder->path);
    int rv = files_make_folders(folder->files, folder->path, error);
    /* Since it was claimed another may have made the folder, and begun a run in it. */
    if (rv == 0)
        rv = run_folder_take(folder, &busy, error);
    if (rv != 0)
        run_folder_close(folder);
    return rv;
}

int run_folder_begin(struct run_folder *folder, struct error *error)
{
    int rv = 0;
    if (folder->use == RUN_FOLDER_REPLACES)
        rv = remove_run(folder, error);
    if (rv == 0 && folder->use == RUN_FOLDER_REPLACES)
        rv = remove_history(folder, error);
    if (rv == 0 && folder->use != RUN_FOLDER_RESUMES)
        rv = create_metrics(folder, error);
    if (rv != 0)
        run_folder_close(folder);
    return rv;
}

bool run_folder_forget_untrained(struct run_folder *folder)
{
    uint64_t size = 0;
    if (folder->path == NULL || folder->pending_bytes > 0 || run_folder_check(folder, NULL) != 0 ||
        files_exists(folder->files, folder->model_path) ||
        (files_exists(folder->files, folder->metrics_path) &&
         (files_size(folder->files, folder->metrics_path, &size, NULL) != 0 || size > 0)))
        return false;
    file_close(&folder->metrics);
    (void)remove_run(folder, NULL);
    return true;
}

/* Every line of a run fits: a few hundred bytes an epoch. */
#define METRICS_BYTES_MAX ((size_t)1 << 30)

int run_folder_check(const struct run_folder *folder, struct error *error)
{
    if (!folder_lock_is_held(&folder->lock) || !files_is_folder(folder->files, folder->path) ||
        folder_lock_is_in_place(&folder->lock, folder->path))
        return 0;
    return error_set(error, TR_EEXIST,
                     "%s: another folder has taken the place of the run's, which was moved or "
                     "removed while it was trained: the training ends",
                     folder->path);
}

uint64_t run_folder_mark(const struct run_folder *folder)
{
    return folder->metrics.size + folder->pending_bytes;
}

/* A new file with those bytes takes the place of the old one, and stays open. */
static int replace_metrics(struct run_folder *folder, const char *text, size_t size,
                           struct error *error)
{
    char *aside = files_join(folder->path, ".metrics.jsonl.tmp");
    if (aside == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", folder->path);
    file_close(&folder->metrics);
    int rv = files_remove_tree(folder->files, aside, error);
    if (rv == 0)
        rv = file_create(&folder->metrics, folder->files, aside, error);
    if (rv == 0)
        rv = size == 0 ? 0 : file_append(&folder->metrics, text, size, error);
    /* The bytes are on the disk before the file has its name, which never stands for less than the
     * mark. */
    if (rv == 0)
        rv = file_sync(&folder->metrics, error);
    if (rv == 0)
        rv = files_rename(folder->files, aside, folder->metrics_path, error);
    if (rv != 0) { /* it is not the run's: the next try begins with what has the name */
        file_close(&folder->metrics);
        (void)files_remove_tree(folder->files, aside, NULL);
    }
    free(aside);
    return rv;
}

static void forget_pending(struct run_folder *folder)
{
    free(folder->pending);
    folder->pending = NULL;
    folder->pending_bytes = 0;
}

int run_folder_rewind(struct run_folder *folder, uint64_t mark, struct error *error)
{
    int rv = run_folder_check(folder, error);
    if (rv != 0)
        return rv;
    forget_pending(
        folder); /* a mark is of a checkpoint, and those are made of what is on the disk */
    if (folder->metrics.path != NULL && folder->metrics.size == mark)
        return 0;
    char *text = NULL;
    size_t size = 0;
    if (files_exists(folder->files, folder->metrics_path))
        rv = files_read_all(folder->files, folder->metrics_path, METRICS_BYTES_MAX, &text, &size,
                            error);
    /* A file that is too short is refused before anything is replaced. */
    if (rv == 0 && size < mark)
        rv = error_set(
            error, TR_EFORMAT,
            "%s: has %zu bytes, and had %llu when the checkpoint was made: it was changed since",
            folder->metrics_path, size, (unsigned long long)mark);
    if (rv == 0)
        rv = replace_metrics(folder, text, (size_t)mark, error);
    free(text);
    failpoint_reach(folder->files->failpoints, FAILPOINT_RUN_REWOUND);
    return rv;
}

static int refuse_missing(const char *path, const char *needed, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv = run_record_refuse(path, needed, "a finished training", &why);
    return error_set(error, rv, "%s", why.message);
}

int run_folder_find(struct run_folder *folder, struct files *files, const char *path,
                    struct error *error)
{
    int rv = set_paths(folder, files, path, error);
    if (rv != 0)
        return rv;
    const char *const needed[] = { folder->config_path, folder->model_path };
    for (int i = 0; i < 2 && rv == 0; i++) {
        if (!files_exists(files, needed[i]))
            rv = refuse_missing(path, needed[i], error);
    }
    if (rv != 0)
        run_folder_close(folder);
    return rv;
}

void run_folder_close(struct run_folder *folder)
{
    file_close(&folder->metrics);
    forget_pending(folder);
    folder_lock_release(&folder->lock);
    free(folder->path);
    free(folder->config_path);
    free(folder->metrics_path);
    free(folder->model_path);
    *folder = (struct run_folder){ 0 };
}

int run_folder_write_config(struct run_folder *folder, json_t *config, struct error *error)
{
    char *text = json_write_text(config, JSON_INDENT(2));
    json_decref(config);
    if (text == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", folder->config_path);
    int rv = run_folder_check(folder, error);
    if (rv == 0)
        rv = files_write_atomic(folder->files, folder->config_path, text, strlen(text), error);
    free(text);
    return rv;
}

/* Half of the lines may be written before the disk is full: the next try begins where this did. */
static int run_folder_flush(struct run_folder *folder, struct error *error)
{
    int rv = run_folder_check(folder, error);
    if (rv != 0 || folder->pending_bytes == 0)
        return rv;
    rv = file_append(&folder->metrics, folder->pending, folder->pending_bytes, error);
    if (rv == 0)
        forget_pending(folder);
    return rv;
}

int run_folder_append(struct run_folder *folder, json_t *line, struct error *error)
{
    char *text = json_write_text(line, JSON_COMPACT);
    json_decref(line);
    if (text == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", folder->metrics_path);
    size_t length = strlen(text);
    if (folder->pending_bytes + length >= RUN_FOLDER_PENDING_MAX &&
        run_folder_flush(folder, error) != 0) {
        free(text);
        return error_set(error, TR_EFULL,
                         "%s: the disk has been full for so long that %zu bytes of lines wait in "
                         "memory, the most that is kept there; free some space, and resume the run",
                         folder->metrics_path, folder->pending_bytes);
    }
    size_t before = folder->pending_bytes;
    char *pending = realloc(folder->pending, before + length + 1);
    if (pending == NULL) {
        free(text);
        return error_set(error, TR_ENOMEM, "%s: no memory", folder->metrics_path);
    }
    memcpy(pending + before, text, length);
    pending[before + length] = '\n'; /* so that a line is one write */
    folder->pending = pending;
    folder->pending_bytes = before + length + 1;
    free(text);
    /* The line is pending before it is written, so that a refusal keeps it. */
    int rv = run_folder_flush(folder, error);
    failpoint_reach(folder->files->failpoints, FAILPOINT_RUN_LINE_WRITTEN);
    return rv;
}

int run_folder_sync(struct run_folder *folder, struct error *error)
{
    int rv = run_folder_flush(folder, error);
    return rv == 0 ? file_sync(&folder->metrics, error) : rv;
}

static json_t *run_folder_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *run_scores_to_json(const struct scores *scores)
{
    /* '*' leaves out what nodes do not have. */
    json_t *mrr = isfinite(scores->mrr) ? json_real(scores->mrr) : NULL;
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o*}", "labelled", (json_int_t)scores->labelled,
                     "loss", run_folder_number(scores->loss), "accuracy",
                     run_folder_number(scores->accuracy), "macro_f1",
                     run_folder_number(scores->macro_f1), "roc_auc",
                     run_folder_number(scores->roc_auc), "mrr", mrr);
}

json_t *run_epoch_to_json(const struct epoch_report *report)
{
    /* People count epochs from 1, here as on the terminal. */
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:o}", "epoch",
                     (json_int_t)report->epoch + 1, "steps", (json_int_t)report->steps, "seeds",
                     (json_int_t)report->seeds, "rate", run_folder_number(report->rate),
                     "train_loss", run_folder_number(report->train_loss), "val",
                     report->evaluated ? run_scores_to_json(&report->scores) : json_null(), "best",
                     report->best, "seconds", run_folder_number(report->seconds));
}
