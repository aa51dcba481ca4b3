/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints on disk through the public API.
 *
 * Everything that a manifest and the sizes of parts say is read when the list is opened, so what
 * the list tells belongs together, though a running job removes checkpoints meanwhile. A job
 * removes the manifest first: what fails to be read, and has no manifest any more, is such a one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/checkpoint.h>

#include "actors/job/checkpoint_paths.h"
#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"

/* Linux opens no longer path (PATH_MAX). */
#define CHECKPOINT_PATH_BYTES 4096

struct listed {
    char *path;
    struct checkpoint_manifest manifest;
    bool *is_here; /* [manifest.world] */
    uint32_t num_here;
    uint64_t bytes;
};

struct tr_checkpoints {
    bool single;
    uint32_t unfinished;
    size_t count;
    struct listed *all; /* newest first */
};

/* The path lies on the stack, so that no lack of memory passes for a file that is missing; no file
 * has a longer one. */
static bool checkpoints_holds(const char *folder, const char *name)
{
    char path[CHECKPOINT_PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && files_exists(files_posix, path);
}

/* Without the slashes at its end, which completion adds; or NULL. */
static char *checkpoints_trim(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return strndup(path, length);
}

static bool is_single(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    uint64_t step;
    return checkpoints_holds(folder, CHECKPOINT_MANIFEST) ||
           checkpoint_name_step(slash != NULL ? slash + 1 : folder, &step);
}

bool tr_checkpoints_named(const char *path)
{
    char *folder = checkpoints_trim(path);
    bool named = folder != NULL && files_is_folder(files_posix, folder) &&
                 !checkpoints_holds(folder, "metadata.json") &&
                 (is_single(folder) || checkpoint_is_any(files_posix, folder));
    free(folder);
    return named;
}

static int no_memory(const char *path, struct error *error)
{
    return error_set(error, TR_ENOMEM, "%s: no memory", path);
}

static void checkpoints_drop(struct listed *listed)
{
    checkpoint_manifest_fini(&listed->manifest);
    free(listed->is_here);
    free(listed->path);
    *listed = (struct listed){ 0 };
}

static int look_at_part(struct listed *listed, uint32_t rank, struct error *error)
{
    const struct checkpoint_part *part = &listed->manifest.parts[rank];
    uint64_t size = 0;
    char *path = checkpoint_part_path(listed->path, rank);
    int rv = path == NULL ? no_memory(listed->path, error)
                          : files_size(files_posix, path, &size, error);
    listed->is_here[rank] = rv == 0;
    listed->num_here += rv == 0;
    listed->bytes += part->bytes;
    if (rv == 0 && size != part->bytes)
        rv = error_set(error, TR_EFORMAT, "%s: %" PRIu64 " bytes where its manifest says %" PRIu64,
                       path, size, part->bytes);
    free(path);
    /* Where hosts share no folder, each has some of the parts. */
    return rv == TR_ENOENT ? 0 : rv;
}

/* Reads the checkpoint at listed->path. */
static int checkpoints_look(struct listed *listed, struct error *error)
{
    int rv = checkpoint_read_manifest(files_posix, listed->path, &listed->manifest, error);
    if (rv != 0)
        return rv;
    listed->is_here = calloc((size_t)listed->manifest.world + 1, sizeof *listed->is_here);
    if (listed->is_here == NULL)
        return no_memory(listed->path, error);
    for (uint32_t rank = 0; rank < listed->manifest.world && rv == 0; rank++)
        rv = look_at_part(listed, rank, error);
    return rv;
}

static int open_single(const char *folder, struct tr_checkpoints *list, struct error *error)
{
    list->single = true;
    list->all = calloc(1, sizeof *list->all);
    if (list->all == NULL)
        return no_memory(folder, error);
    if (!checkpoints_holds(folder, CHECKPOINT_MANIFEST))
        return error_set(error, TR_ENOENT,
                         "%s/" CHECKPOINT_MANIFEST ": is missing, so that "
                         "this is not a checkpoint, or one that was not finished",
                         folder);
    list->count = 1;
    list->all[0].path = strdup(folder);
    return list->all[0].path == NULL ? no_memory(folder, error)
                                     : checkpoints_look(&list->all[0], error);
}

/* Adds the checkpoint of a step, or counts it as unfinished, or leaves out one that is gone. */
static int add_step(const char *folder, uint64_t step, struct tr_checkpoints *list,
                    struct error *error)
{
    struct listed *listed = &list->all[list->count];
    listed->path = checkpoint_path(folder, step);
    if (listed->path == NULL)
        return no_memory(folder, error);
    /* The manifest is looked for before the checkpoint is read: a folder that has none now counts
     * as unfinished, one that loses it behind this look as gone. */
    if (!checkpoints_holds(listed->path, CHECKPOINT_MANIFEST)) {
        list->unfinished++;
        checkpoints_drop(listed);
        return 0;
    }
    int rv = checkpoints_look(listed, error);
    /* The checkpoint counts when all of it was read: the place of one that is dropped below is the
     * next step's. */
    if (rv == 0) {
        list->count++;
        return 0;
    }
    /* A failure is judged by the manifest last of all: a job that runs removes old checkpoints, the
     * manifest first, so one that is gone now is left out and not damaged. */
    if (!checkpoints_holds(listed->path, CHECKPOINT_MANIFEST))
        rv = 0;
    checkpoints_drop(listed);
    return rv;
}

static int open_all(const char *folder, struct tr_checkpoints *list, struct error *error)
{
    uint64_t *steps = NULL;
    size_t count = 0;
    int rv = checkpoint_list(files_posix, folder, &steps, &count, error);
    if (rv != 0)
        return rv;
    list->all = calloc(count + 1, sizeof *list->all);
    if (list->all == NULL)
        rv = no_memory(folder, error);
    for (size_t i = 0; i < count && rv == 0; i++)
        rv = add_step(folder, steps[i], list, error);
    free(steps);
    if (rv != 0 || list->count > 0)
        return rv;
    /* This is asked where nothing was found: a folder that is missing is listed as an empty one. */
    if (!files_is_folder(files_posix, folder))
        return error_set(error, TR_ENOENT, "%s: there is no such folder", folder);
    return error_set(error, TR_ENOENT,
                     "%s: no " CHECKPOINT_PREFIX "STEP in it has a manifest: "
                     "there is no checkpoint",
                     folder);
}

static int open_list(const char *path, struct tr_checkpoints *list, struct error *error)
{
    if (path == NULL)
        return error_set(error, TR_EINVAL, "the path of checkpoints is NULL");
    char *folder = checkpoints_trim(path);
    if (folder == NULL)
        return no_memory(path, error);
    int rv = is_single(folder) ? open_single(folder, list, error) : open_all(folder, list, error);
    free(folder);
    return rv;
}

int tr_checkpoints_open(const char *path, struct tr_checkpoints **out, struct tr_error *error)
{
    struct error inner = { 0 };
    struct tr_checkpoints *list = calloc(1, sizeof *list);
    *out = NULL;
    int rv = list == NULL ? error_set(&inner, TR_ENOMEM, "no memory for a list of checkpoints")
                          : open_list(path, list, &inner);
    if (rv != 0) {
        tr_checkpoints_close(list);
        return error_give(&inner, error);
    }
    *out = list;
    return 0;
}

void tr_checkpoints_close(struct tr_checkpoints *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        checkpoints_drop(&list->all[i]);
    free(list->all);
    free(list);
}

int tr_checkpoints_info(const struct tr_checkpoints *list, struct tr_checkpoints_info *info,
                        struct tr_error *error)
{
    const struct tr_checkpoints_info known = { .single = list->single,
                                               .unfinished = list->unfinished,
                                               .count = list->count };
    return sized_write(info, &known, sizeof known, "tr_checkpoints_info", error);
}

int tr_checkpoints_get(const struct tr_checkpoints *list, size_t index,
                       struct tr_checkpoint_info *info, struct tr_error *error)
{
    if (index >= list->count)
        return schema_refuse("checkpoint", index, list->count, error);
    const struct listed *listed = &list->all[index];
    const struct tr_checkpoint_info known = { .path = listed->path,
                                              .step = listed->manifest.step,
                                              .era = listed->manifest.era,
                                              .num_parts = listed->manifest.world,
                                              .parts_here = listed->num_here,
                                              .bytes = listed->bytes };
    return sized_write(info, &known, sizeof known, "tr_checkpoint_info", error);
}

int tr_checkpoints_part(const struct tr_checkpoints *list, size_t index, uint32_t rank,
                        struct tr_checkpoint_part_info *info, struct tr_error *error)
{
    if (index >= list->count)
        return schema_refuse("checkpoint", index, list->count, error);
    const struct listed *listed = &list->all[index];
    if (rank >= listed->manifest.world)
        return schema_refuse("part", rank, listed->manifest.world, error);
    const struct tr_checkpoint_part_info known = { .bytes = listed->manifest.parts[rank].bytes,
                                                   .crc32c = listed->manifest.parts[rank].crc32c,
                                                   .here = listed->is_here[rank] };
    return sized_write(info, &known, sizeof known, "tr_checkpoint_part_info", error);
}

/* The file of a part, for free(); *part: what the manifest says of it. */
static int find_part(const struct tr_checkpoints *list, size_t index, uint32_t rank, char **path,
                     const struct checkpoint_part **part, struct error *error)
{
    if (index >= list->count)
        return error_set(error, TR_ERANGE, "there is no checkpoint %zu in the list of %zu", index,
                         list->count);
    const struct listed *listed = &list->all[index];
    if (rank >= listed->manifest.world)
        return error_set(error, TR_ERANGE, "%s: there is no part %" PRIu32 ", only %" PRIu32,
                         listed->path, rank, listed->manifest.world);
    *part = &listed->manifest.parts[rank];
    *path = checkpoint_part_path(listed->path, rank);
    return *path == NULL ? no_memory(listed->path, error) : 0;
}

int tr_checkpoints_read(const struct tr_checkpoints *list, size_t index, uint32_t rank,
                        uint64_t offset, size_t count, void *bytes, struct tr_error *error)
{
    struct error inner = { 0 };
    struct file file = { 0 };
    const struct checkpoint_part *part;
    char *path = NULL;
    int rv = find_part(list, index, rank, &path, &part, &inner);
    if (rv == 0 && (offset > part->bytes || count > part->bytes - offset))
        rv = error_set(&inner, TR_ERANGE,
                       "%s: %zu bytes from %" PRIu64 " on were asked for, of %" PRIu64, path, count,
                       offset, part->bytes);
    if (rv == 0)
        rv = file_open(&file, files_posix, path, &inner);
    if (rv == 0)
        rv = file_read_at(&file, offset, bytes, count, &inner);
    file_close(&file);
    free(path);
    return rv == 0 ? 0 : error_give(&inner, error);
}

int tr_checkpoints_read_part(const struct tr_checkpoints *list, size_t index, uint32_t rank,
                             size_t count, void *bytes, struct tr_error *error)
{
    struct error inner = { 0 };
    const struct checkpoint_part *part;
    char *path = NULL;
    int rv = find_part(list, index, rank, &path, &part, &inner);
    if (rv == 0 && bytes != NULL && count != part->bytes)
        rv = error_set(&inner, TR_ERANGE, "%s: it has %" PRIu64 " bytes, not %zu", path,
                       part->bytes, count);
    if (rv == 0)
        rv = checkpoint_read_checked(files_posix, path, part, bytes, &inner);
    free(path);
    return rv == 0 ? 0 : error_give(&inner, error);
}
