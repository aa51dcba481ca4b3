/* SPDX-License-Identifier: Apache-2.0 */
/* The run's folder and checkpoints, as a training finds them before its first step. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <troupe/checkpoint.h>
#include <troupe/graph.h>

#include "runtime/base/json_field.h"
#include "runtime/base/json_text.h"

#include "model/run_compare.h"
#include "model/run_hash.h"
#include "model/run_record.h"
#include "model/run_task.h"
#include "model/training.h"

#define PATH_BYTES 4096
/* A process that lost its launcher leaves within TR_PROCESS_LINGER_NS; the job that comes after it
 * waits for that, and for a host that is slower. */
#define FOLDER_WAIT_NS (2 * (uint64_t)TR_PROCESS_LINGER_NS)
#define FOLDER_LOOK_NS 100000000

static char *copy_path(const struct training *t)
{
    const char *given = t->options.checkpoints;
    if (training_in_cluster(t) && t->process.checkpoints != NULL)
        given = t->process.checkpoints;
    return given != NULL ? strdup(given) : files_join(t->options.run, "checkpoints");
}

int training_name_checkpoints(struct training *t, struct error *error)
{
    const struct tr_process_info *all = &t->process;
    const char *given = t->options.checkpoints;
    bool named = training_in_cluster(t) && all->checkpoints != NULL;
    if (named && given != NULL && !files_are_same(files_posix, given, all->checkpoints))
        return error_set(error, TR_EINVAL,
                         "options.checkpoints %s: the cluster file %s says that checkpoints are in "
                         "%s; change the field 'checkpoints' there instead",
                         given, all->cluster, all->checkpoints);
    t->save_every = t->options.checkpoint_every;
    if (training_in_cluster(t) && t->save_every == 0)
        t->save_every = all->checkpoint_every;
    /* Those of the cluster file are gone back to even by a run that makes none. */
    if (t->save_every == 0 && !t->options.resume && !named && !training_leaves(t))
        return 0;
    char *path = copy_path(t);
    /* Whichever process coordinates may have started in another folder. */
    char *here = path == NULL || path[0] == '/' ? NULL : realpath(".", NULL);
    t->checkpoints = here != NULL ? files_join(here, path) : path != NULL ? strdup(path) : NULL;
    free(here);
    free(path);
    t->layout.checkpoints = t->checkpoints;
    if (t->checkpoints == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", t->options.run);
    return 0;
}

/* Of the weights of options.from; 0: they are drawn. */
static uint64_t hash_beginning(const struct training *t)
{
    const float *weights = t->job.beginning;
    size_t bytes = model_params(t->job.model)->count * sizeof *weights;
    return weights == NULL ? 0 : run_hash_bytes(RUN_HASH_BEGIN, weights, bytes);
}

/* The document has the sums of all other files. 0: it can't be read here. */
static uint64_t hash_graph(const struct training *t)
{
    char *text;
    size_t size;
    if (files_read_all(files_posix, t->options.graph, JSON_FILE_BYTES_MAX, &text, &size, NULL) != 0)
        return 0;
    uint64_t hash = run_hash_bytes(RUN_HASH_BEGIN, text, size);
    free(text);
    return hash;
}

/* The record of everything that decides the result, and of what the promise of equal bits
 * depends on. */
static json_t *describe_run(const struct training *t)
{
    const struct run_surroundings around = {
        .graph = t->options.graph,
        .graph_hash = hash_graph(t),
        .parts = t->parts,
        .kernels = model_kernels_text(t->job.model),
        .trainers = t->ranks.world,
        .deal = t->ranks.deal,
        .deal_hash = t->ranks.deal_hash,
        .from = t->options.from,
        .from_hash = hash_beginning(t),
        .servers = t->layout.servers,
        .samplers = t->layout.samplers,
        .loops = t->layout.loops,
        .threads = t->options.threads,
        .messages = t->layout.messages,
        .codec = t->layout.codec,
    };
    return run_config_describe(&t->config, &around);
}

/* *known: the folder has a run, whose options are in *begun, which is to be freed. */
static int read_begun(const struct training *t, struct run_config *begun, bool *known,
                      struct error *error)
{
    char *path = files_join(t->options.run, "config.json");
    *known = false;
    if (path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", t->options.run);
    int rv = 0;
    if (files_exists(files_posix, path)) {
        rv = run_config_read(files_posix, path, begun, error);
        *known = rv == 0;
    }
    free(path);
    return rv;
}

int training_adopt_run(struct training *t, struct error *error)
{
    struct run_config begun;
    bool known;
    /* In a cluster one process alone may have the folder, and all have to choose alike. */
    if (training_in_cluster(t) || !t->options.resume)
        return 0;
    int rv = read_begun(t, &begun, &known, error);
    if (known) {
        run_config_adopt(&t->config, &begun, t->options.from != NULL);
        run_config_fini(&begun);
    }
    return rv;
}

int training_recall_tried(const struct training *t, struct run_tried *tried, bool *known,
                          struct error *error)
{
    struct run_config begun;
    *known = false;
    /* What is to be replaced may still be there, and is another's choice. */
    if (!training_resumes(t) || t->options.replace)
        return 0;
    int rv = read_begun(t, &begun, known, error);
    if (*known) {
        *tried = begun.tried;
        run_config_fini(&begun);
    }
    return rv;
}

static int hash_run(const struct training *t, const json_t *run, uint64_t *hash,
                    struct error *error)
{
    const uint64_t rest[] = { t->ranks.world, t->ranks.deal_hash,
                              tr_graph_num_nodes(t->job.graph, 0),
                              tr_graph_num_edges(t->job.graph, 0), hash_beginning(t) };
    char *text = json_write_text(run, JSON_COMPACT | JSON_SORT_KEYS);
    if (text == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the configuration");
    *hash = run_hash_bytes(RUN_HASH_BEGIN, text, strlen(text));
    *hash = run_hash_bytes(*hash, rest, sizeof rest);
    free(text);
    return 0;
}

int training_hash_job(struct training *t, struct error *error)
{
    json_t *run = run_config_to_json(&t->config);
    int rv = hash_run(t, run, &t->ranks.job_hash, error);
    if (rv == 0) {
        run_config_forget_length(run);
        rv = hash_run(t, run, &t->ranks.run_hash, error);
    }
    json_decref(run);
    return rv;
}

static enum run_folder_use folder_use(const struct training *t)
{
    /* A process that comes back goes on, and replaces only what proves to be another run. */
    if (training_resumes(t) && files_exists(files_posix, t->options.run))
        return RUN_FOLDER_RESUMES;
    return t->options.replace ? RUN_FOLDER_REPLACES : RUN_FOLDER_NEW;
}

/* *again: another training has the folder, and may leave it in time. */
static int claim_once(struct training *t, uint64_t until, bool *again, struct error *error)
{
    const struct timespec pause = { .tv_nsec = FOLDER_LOOK_NS };
    bool busy;
    int rv = run_folder_claim(&t->folder, files_posix, t->options.run, folder_use(t), &busy, error);
    *again = busy && training_in_cluster(t) && training_now_ns(NULL) < until;
    if (!*again)
        return rv;
    if (cancel_asked(&t->cancel))
        return error_set(error, TR_ECANCELED, "cancelled");
    nanosleep(&pause, NULL);
    return 0;
}

int training_claim_folder(struct training *t, struct error *error)
{
    uint64_t until = training_now_ns(NULL) + FOLDER_WAIT_NS;
    bool again, said = false;
    int rv = 0;
    if (t->folder.path != NULL)
        return 0;
    do {
        rv = claim_once(t, until, &again, error);
        if (again && !said)
            task_events_say(&t->events, TR_MODEL_WARNING, 0,
                            "%s: another training is still under way in this folder; it has %d s "
                            "to leave",
                            t->options.run, (int)(FOLDER_WAIT_NS / 1000000000));
        said = said || again;
    } while (rv == 0 && again);
    return rv;
}

int training_write_record(struct training *t, struct error *error)
{
    if (t->record == NULL)
        return 0;
    int rv = run_folder_write_config(&t->folder, json_incref(t->record), error);
    if (rv == 0) {
        json_decref(t->record);
        t->record = NULL;
    }
    return rv;
}

/* What is trained on and held out is the same in other partitions of the graph. A folder of an
 * older version does not say it. */
static int compare_parts(const struct training *t, const json_t *was, const json_t *now,
                         struct error *error)
{
    static const char *const does[] = { "train on", "validate", "test" };
    for (size_t i = 0; i < RUN_PARTS; i++) {
        const json_t *before = json_object_get(json_object_get(was, RUN_PARTS_KEY),
                                               run_part_name(i));
        const json_t *after = json_object_get(json_object_get(now, RUN_PARTS_KEY),
                                              run_part_name(i));
        if (before == NULL || after == NULL || json_equal(before, after))
            continue;
        const char *const masks[] = { t->config.train_mask, t->config.val_mask,
                                      t->config.test_mask };
        const bool named = masks[i] != NULL && masks[i][0] != '\0';
        return error_set(
            error, TR_EMISMATCH,
            "%s: the %s of %s to %s%s%s%s are not those of the run: it was begun with another "
            "graph or other masks; give those, or options.replace",
            t->options.run, t->job.task->predicts_nodes ? "nodes" : "edges", t->options.graph,
            does[i], named ? ", by '" : "", named ? masks[i] : "", named ? "'," : "");
    }
    return 0;
}

/* *same: the run was begun with these files of the graph. Others are warned of: they may be the same
 * graph in other partitions, which computes the same, or one of other edges or features. */
static int compare_graph(struct training *t, const json_t *now, bool *same, struct error *error)
{
    json_t *root;
    *same = false;
    if (run_config_read_root(files_posix, t->folder.config_path, &root, NULL) != 0)
        return 0;
    const json_t *was = json_object_get(root, "graph_hash");
    const json_t *is = json_object_get(now, "graph_hash");
    bool known = json_is_string(was) && json_is_string(is);
    const char *graph = json_string_value(json_object_get(root, "graph"));
    *same = known && json_equal(was, is);
    int rv = *same ? 0 : compare_parts(t, root, now, error);
    if (rv == 0 && known && !*same)
        task_events_say(&t->events, TR_MODEL_WARNING, 0,
                        "the files of %s are not those that the run was begun with (%s): it goes "
                        "on as one run only where the graph and its masks are the same",
                        t->options.graph, graph != NULL ? graph : "");
    json_decref(root);
    return rv;
}

/* Of other files: a run whose epochs had other steps, or were scored on more, than these give was not
 * begun with this graph and these masks. */
static int refuse_other_sets(const struct training *t, struct error *error)
{
    struct run_record run;
    uint64_t steps = tr_loader_num_batches(train_ranks_loader(&t->ranks));
    uint64_t held = t->val.nodes != NULL ? tr_nodes_count(t->val.nodes) : UINT64_MAX;
    int rv = 0;
    if (run_record_open(&run, t->options.run, NULL) != 0)
        return 0; /* what is done next says what is wrong with it */
    const struct run_epoch *last = run.num_epochs > 0 ? &run.epochs[run.num_epochs - 1] : NULL;
    if (last != NULL && last->steps != steps)
        rv = error_set(
            error, TR_EMISMATCH,
            "%s: an epoch of %s has %llu steps, and the run's had %llu: it was begun with "
            "another graph or other masks; give those, or options.replace",
            t->options.run, t->options.graph, (unsigned long long)steps,
            (unsigned long long)last->steps);
    else if (last != NULL && last->evaluated && last->validation.labelled > held)
        rv = error_set(
            error, TR_EMISMATCH,
            "%s: %llu are held out of %s to validate, and the run was scored on %llu: it "
            "was begun with another graph or other masks; give those, or options.replace",
            t->options.run, (unsigned long long)held, t->options.graph,
            (unsigned long long)last->validation.labelled);
    run_record_close(&run);
    return rv;
}

/* A checkpoint is worth something even before the first epoch has ended. Other hosts may have one
 * that this host lost: rank 0 knows of it where this life of the job has made it, or read it. */
static bool has_checkpoints(const struct training *t)
{
    char folder[PATH_BYTES];
    struct tr_graph_place place = TR_GRAPH_PLACE_INIT;
    if (t->checkpoints == NULL)
        return false;
    return t->ranks.has_checkpoint || tr_graph_place(t->job.graph, &place, NULL) != 0 ||
           tr_checkpoints_folder(t->checkpoints, place.host_name, folder, sizeof folder, NULL) !=
               0 ||
           tr_checkpoints_exist(folder);
}

/* A run goes on as what it was begun. With other kernels it would not be the run that it was. */
static int compare_run(struct training *t, json_t *now, bool *other, bool *grew,
                       struct error *error)
{
    char *kernels = NULL;
    const char *here = model_kernels_text(t->job.model);
    int rv = run_config_compare(files_posix, t->folder.config_path, now, &kernels, grew, error);
    *other = rv == TR_EMISMATCH;
    if (rv == 0 && strcmp(kernels, here) != 0) {
        if (t->options.reproducible)
            rv = error_set(
                error, TR_EMISMATCH,
                "%s was begun with the kernels '%s', this computer "
                "has '%s': the result would differ; leave options.reproducible out to go on "
                "all the same",
                t->folder.path, kernels, here);
        else
            task_events_say(&t->events, TR_MODEL_WARNING, 0,
                            "the run was begun with the kernels '%s', and goes on with '%s': the "
                            "last digits of the result may differ",
                            kernels, here);
    }
    /* A run that goes on keeps the kernels that it was begun with; in a cluster another host may have
     * its checkpoint. */
    bool goes_on = training_in_cluster(t) || has_checkpoints(t);
    if (rv == 0 && goes_on && json_object_set_new(now, "kernels", json_string(kernels)) != 0)
        rv = error_set(error, TR_ENOMEM, "%s: no memory", t->folder.path);
    if (rv == 0)
        t->record = json_incref(now);
    free(kernels);
    return rv;
}

/* Checkpoints of another run are not this one's to go on from. */
static int refuse_checkpoints(const struct training *t, const char *host, struct error *error)
{
    char folder[PATH_BYTES];
    struct tr_error why = TR_ERROR_INIT;
    if (t->checkpoints == NULL || training_resumes(t))
        return 0;
    int rv = tr_checkpoints_folder(t->checkpoints, host, folder, sizeof folder, &why);
    if (rv == 0 && !tr_checkpoints_exist(folder))
        return 0;
    /* Only the run's own folder is emptied: one that was named is refused instead. */
    if (rv == 0 && t->options.replace && t->options.checkpoints == NULL)
        rv = tr_checkpoints_remove(folder, 0, &why);
    else if (rv == 0)
        return error_set(error, TR_EEXIST,
                         "%s has checkpoints already; go on from them with "
                         "options.resume, or remove them",
                         folder);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

/* What was trained is replaced then. In a cluster another host may have a checkpoint. */
static void warn_of_beginning(struct training *t)
{
    uint64_t bytes = 0;
    if (training_in_cluster(t) || has_checkpoints(t) ||
        files_size(files_posix, t->folder.metrics_path, &bytes, NULL) != 0 || bytes == 0)
        return;
    task_events_say(&t->events, TR_MODEL_WARNING, 0,
                    "%s has no checkpoint to go on from: the training begins anew, and replaces "
                    "the epochs that were trained",
                    t->folder.path);
}

static int hash_parts(struct training *t, struct error *error)
{
    int rv = t->job.task->hash_part(&t->job, TR_SPLIT_TRAIN, &t->parts[0], error);
    for (uint32_t i = 1; i < RUN_PARTS && rv == 0; i++)
        if (run_job_holds_out(&t->job, (enum tr_split)i))
            rv = t->job.task->hash_part(&t->job, (enum tr_split)i, &t->parts[i], error);
    return rv;
}

int training_open_folder(struct training *t, struct error *error)
{
    struct tr_graph_place place = TR_GRAPH_PLACE_INIT;
    int rv = tr_graph_place(t->job.graph, &place, NULL);
    if (rv != 0)
        return error_set(error, rv, "the graph: %s", tr_strerror(rv));
    /* Each host looks into its own folder where they share none; one process of it, for two that
     * removed the same would be in each other's way. */
    bool own = t->checkpoints != NULL && strstr(t->checkpoints, "%h") != NULL &&
               place.first_with_trainers;
    /* Checkpoints are asked for before the run's folder is touched: a run that is refused leaves
     * what is there. They go with the folder, which is this training's alone by then. */
    bool resumes = training_resumes(t);
    rv = training_keeps_run(t) ? hash_parts(t, error) : 0;
    if (rv == 0 && training_keeps_run(t))
        rv = training_claim_folder(t, error);
    if (rv == 0 && training_keeps_run(t))
        rv = run_folder_hold(&t->folder, error);
    if (rv == 0 && training_keeps_run(t))
        rv = training_open_tensorboard(t, error);
    if (rv == 0 && (own || training_keeps_run(t)))
        rv = refuse_checkpoints(t, place.host_name, error);
    if (rv != 0) {
        tensorboard_file_forget(&t->tensorboard);
        run_folder_give_up(&t->folder);
    }
    if (rv != 0 || !training_keeps_run(t))
        return rv;
    rv = run_folder_begin(&t->folder, error);
    if (rv != 0) {
        tensorboard_file_forget(&t->tensorboard);
        return rv;
    }
    /* A run of other lengths would leave scores of its test beside those of this one. */
    if (t->folder.use == RUN_FOLDER_REPLACES)
        tensorboard_file_remove_others(&t->tensorboard);
    json_t *now = describe_run(t);
    /* Without memory for the record the first branch is taken, which says so. */
    if (now == NULL || !resumes || !files_exists(files_posix, t->folder.config_path)) {
        rv = run_folder_write_config(&t->folder, now, error);
    } else {
        bool other, grew, same = false;
        rv = compare_run(t, now, &other, &grew, error);
        if (rv == 0)
            rv = compare_graph(t, now, &same, error);
        if (rv == 0 && !same)
            rv = refuse_other_sets(t, error);
        if (rv == 0 && same && !grew)
            rv = training_recall_end(t, error);
        json_decref(now);
        if (rv == 0 && !t->ended_before)
            warn_of_beginning(t);
        /* A process of a cluster that died before it replaced an older run does so in its next life. */
        if (other && t->options.replace) {
            t->folder.use = RUN_FOLDER_REPLACES; /* which judges what is there in another way */
            rv = run_folder_hold(&t->folder, error);
            if (rv == 0)
                rv = run_folder_begin(&t->folder, error);
            if (rv == 0)
                tensorboard_file_remove_others(&t->tensorboard);
            if (rv == 0)
                rv = run_folder_write_config(&t->folder, describe_run(t), error);
        }
    }
    if (rv != 0 || t->ended_before)
        tensorboard_file_forget(&t->tensorboard);
    /* The folder is this run's last of all: one that was refused above is somebody else's, and
     * stays when this run fails. */
    t->folder_ours = rv == 0;
    if (rv == 0 && !t->ended_before)
        training_begin_history(t, resumes);
    return rv;
}

void training_forget_untrained(struct training *t)
{
    if (t->folder_ours && !has_checkpoints(t) && run_folder_forget_untrained(&t->folder))
        history_file_forget(&t->history);
    tensorboard_file_forget(&t->tensorboard);
}
