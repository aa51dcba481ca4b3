/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task that verifies: partitions against their raw graph or their checksums, checkpoints
 * against their manifests. The report is ordered as that of partition_task.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/checkpoint.h>
#include <troupe/verify.h>

#include "actors/job/checkpoint_paths.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "partition/build/verify.h"
#include "partition/store/store.h"
#include "runtime/core/crew.h"

/* Threads that sum files unless the caller says: files come no faster than a few can sum them. */
#define THREADS_DEFAULT 4

struct verify_request {
    char *path, *raw;
    bool some;
    uint32_t threads;
    struct raw_options read;
    struct tr_task *task;
    struct cancel cancel;
    uint32_t num_parts; /* of the partitions whose files are compared */
    struct tr_verify_report result;
};

static void verify_task_destroy(void *arg)
{
    struct verify_request *v = arg;
    free(v->path);
    free(v->raw);
    free(v);
}

static int verify_graph(struct verify_request *v, struct parallel *parallel, struct error *error)
{
    const struct partition_hooks hooks = { .progress = task_progress,
                                           .arg = v->task,
                                           .cancel = &v->cancel };
    struct verify_report report;
    struct raw_graph *raw;
    v->read.cancel = &v->cancel;
    int rv = raw_open(v->raw, &v->read, &raw, error);
    if (rv != 0)
        return rv;
    rv = verify_directory(v->path, raw, parallel, &hooks, &report, error);
    raw_close(raw);
    if (rv != 0)
        return rv;
    v->result.num_nodes = report.num_nodes;
    v->result.num_edges = report.num_edges;
    v->result.num_rows = report.num_rows;
    v->result.num_halos = report.num_halos;
    v->result.seconds = report.seconds;
    return 0;
}

static int begin_part(void *arg, uint32_t part, struct error *error)
{
    struct verify_request *v = arg;
    if (cancel_asked(&v->cancel))
        return error_set(error, TR_ECANCELED, "verifying was cancelled");
    tr_task_report(v->task, "checksums", "", part, v->num_parts);
    return 0;
}

static int verify_files(struct verify_request *v, struct parallel *parallel, struct error *error)
{
    struct store_checked checked = { 0 };
    struct store *store;
    int rv = store_open(v->path, &store, error);
    if (rv != 0)
        return rv;
    v->num_parts = store_book(store)->num_parts;
    rv = store_check_files(store, v->some, parallel, &v->cancel, begin_part, v, &checked, error);
    store_close(store);
    v->result.num_files = checked.num_files;
    v->result.bytes = checked.bytes;
    v->result.elsewhere = checked.elsewhere;
    return rv;
}

static int verify_checkpoint_part(struct verify_request *v, const struct tr_checkpoints *list,
                                  size_t index, uint32_t rank, struct tr_error *error)
{
    struct tr_checkpoint_part_info part = TR_CHECKPOINT_PART_INFO_INIT;
    int rv = tr_checkpoints_part(list, index, rank, &part, error);
    if (rv == 0 && v->some && !part.here) {
        v->result.elsewhere++;
        return 0;
    }
    if (rv == 0)
        rv = tr_checkpoints_read_part(list, index, rank, 0, NULL, error);
    if (rv == 0) {
        v->result.num_parts++;
        v->result.bytes += part.bytes;
    }
    return rv;
}

static int verify_checkpoint(struct verify_request *v, const struct tr_checkpoints *list,
                             size_t index, const struct tr_checkpoint_info *info,
                             struct tr_error *error)
{
    const char *slash = strrchr(info->path, '/');
    int rv = 0;
    for (uint32_t rank = 0; rank < info->num_parts && rv == 0; rank++) {
        tr_task_report(v->task, slash != NULL ? slash + 1 : info->path, "parts", rank,
                       info->num_parts);
        rv = cancel_asked(&v->cancel)
                 ? tr_error_set(error, TR_ECANCELED, "%s: cancelled before all was read",
                                info->path)
                 : verify_checkpoint_part(v, list, index, rank, error);
    }
    v->result.num_checkpoints += rv == 0;
    return rv;
}

/* A job that runs removes old ones; its manifest goes first. */
static bool is_gone(const char *inside)
{
    char *manifest = files_join(inside, CHECKPOINT_MANIFEST);
    bool gone = manifest != NULL && !files_exists(files_posix, manifest);
    free(manifest);
    return gone;
}

static int verify_list(struct verify_request *v, const struct tr_checkpoints *list,
                       struct tr_error *error)
{
    struct tr_checkpoints_info info = TR_CHECKPOINTS_INFO_INIT;
    int rv = tr_checkpoints_info(list, &info, error);
    v->result.unfinished = info.unfinished;
    for (size_t i = 0; i < info.count && rv == 0; i++) {
        struct tr_checkpoint_info one = TR_CHECKPOINT_INFO_INIT;
        rv = tr_checkpoints_get(list, i, &one, error);
        if (rv == 0)
            rv = verify_checkpoint(v, list, i, &one, error);
        /* This is asked behind the failure: a checkpoint may be removed while it is read. */
        if (rv != 0 && rv != TR_ECANCELED && !info.single && is_gone(one.path))
            rv = 0;
    }
    return rv;
}

static int verify_checkpoints(struct verify_request *v, struct error *error)
{
    struct tr_error failed = TR_ERROR_INIT;
    struct tr_checkpoints *list;
    int rv = tr_checkpoints_open(v->path, &list, &failed);
    if (rv == 0) {
        rv = verify_list(v, list, &failed);
        tr_checkpoints_close(list);
    }
    return rv == 0 ? 0 : error_take(&failed, error);
}

static int verify_task_run(struct tr_task *task, void *arg, struct error *error)
{
    struct verify_request *v = arg;
    v->task = task;
    v->cancel = task_cancel(task);
    if (v->result.kind == TR_VERIFY_CHECKPOINTS)
        return verify_checkpoints(v, error);
    struct parallel *parallel = crew_parallel_create(v->threads - 1);
    if (parallel == NULL)
        return error_set(error, TR_ENOMEM, "%s: cannot start %u threads", v->path, v->threads);
    int rv = v->result.kind == TR_VERIFY_GRAPH ? verify_graph(v, parallel, error)
                                               : verify_files(v, parallel, error);
    crew_parallel_destroy(parallel);
    return rv;
}

/* A partitioned graph is named by its book, anything else that stands alone is checkpoints. */
static bool names_book(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static int verify_task_check(const struct tr_verify_options *options, struct tr_error *error)
{
    if (options->path == NULL)
        return tr_error_set(error, TR_EINVAL, "path: what to verify is not named");
    if (options->raw != NULL && tr_checkpoints_named(options->path))
        return tr_error_set(error, TR_EINVAL,
                            "%s: checkpoints are compared with nothing else; leave raw out",
                            options->path);
    if (options->raw != NULL && options->some)
        return tr_error_set(error, TR_EINVAL,
                            "%s: a graph is compared with its raw graph as a whole; leave some out",
                            options->path);
    return 0;
}

static const struct task_work VERIFY_WORK = { "verify", verify_task_run, NULL, verify_task_destroy,
                                              NULL };

int tr_verify_start(const struct tr_verify_options *caller, struct tr_task **out,
                    struct tr_error *error)
{
    struct tr_verify_options options = TR_VERIFY_OPTIONS_INIT;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_verify_options", error);
    if (rv == 0)
        rv = verify_task_check(&options, error);
    if (rv != 0)
        return rv;
    struct verify_request *v = calloc(1, sizeof *v);
    if (v == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.path);
    v->path = strdup(options.path);
    v->raw = options.raw != NULL ? strdup(options.raw) : NULL;
    v->some = options.some;
    v->threads = options.threads > 0 ? options.threads : THREADS_DEFAULT;
    v->read = (struct raw_options){ .undirected = options.undirected,
                                    .num_nodes = options.num_nodes,
                                    .delimiter = options.delimiter,
                                    .remedy = RAW_REMEDY_IMPORT };
    v->result.kind = options.raw != NULL        ? TR_VERIFY_GRAPH
                     : names_book(options.path) ? TR_VERIFY_FILES
                                                : TR_VERIFY_CHECKPOINTS;
    if (v->path == NULL || (options.raw != NULL && v->raw == NULL)) {
        verify_task_destroy(v);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.path);
    }
    return task_start(&VERIFY_WORK, v, out, error);
}

int tr_verify_result(struct tr_task *task, struct tr_verify_report *report, struct tr_error *error)
{
    void *arg;
    int rv = task_enter_ended(task, &VERIFY_WORK, "verifying", &arg, error);
    if (rv != 0)
        return rv;
    const struct verify_request *v = arg;
    rv = sized_write(report, &v->result, sizeof v->result, "tr_verify_report", error);
    tr_task_leave(task);
    return rv;
}
