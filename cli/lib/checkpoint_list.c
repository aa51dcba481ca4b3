/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/checkpoint_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/job/checkpoint_paths.h"

static bool holds(const char *folder, const char *name)
{
    char *path = files_join(folder, name);
    bool there = path != NULL && files_exists(files_posix, path);
    free(path);
    return there;
}

/* Without the slashes at its end, which completion adds; or NULL. */
static char *trim(const char *path)
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
    return holds(folder, CHECKPOINT_MANIFEST) ||
           checkpoint_name_step(slash != NULL ? slash + 1 : folder, &step);
}

bool checkpoints_named(const char *path)
{
    char *folder = trim(path);
    bool named = folder != NULL && files_is_folder(files_posix, folder) &&
                 !holds(folder, "metadata.json") &&
                 (is_single(folder) || checkpoint_is_any(files_posix, folder));
    free(folder);
    return named;
}

static int no_memory(const char *path, struct error *error)
{
    return error_set(error, TR_ENOMEM, "%s: no memory", path);
}

static int open_single(char *folder, struct checkpoints *c, struct error *error)
{
    c->single = true;
    c->inside = malloc(sizeof *c->inside);
    if (c->inside == NULL)
        return no_memory(folder, error);
    if (!holds(folder, CHECKPOINT_MANIFEST))
        return error_set(error, TR_ENOENT,
                         "%s/" CHECKPOINT_MANIFEST ": there is none, and without "
                         "it this is no checkpoint: it was not finished",
                         folder);
    c->inside[c->count++] = folder;
    return 0;
}

static int open_all(const char *folder, struct checkpoints *c, struct error *error)
{
    uint64_t *steps;
    size_t count;
    int rv = checkpoint_list(files_posix, folder, &steps, &count, error);
    if (rv == 0)
        c->inside = calloc(count + 1, sizeof *c->inside);
    if (rv == 0 && c->inside == NULL)
        rv = no_memory(folder, error);
    for (size_t i = 0; i < count && rv == 0; i++) {
        char *inside = checkpoint_path(folder, steps[i]);
        if (inside == NULL) {
            rv = no_memory(folder, error);
        } else if (holds(inside, CHECKPOINT_MANIFEST)) {
            c->inside[c->count++] = inside;
        } else {
            c->unfinished++;
            free(inside);
        }
    }
    free(steps);
    if (rv != 0 || c->count > 0)
        return rv;
    if (!files_is_folder(files_posix, folder))
        return error_set(error, TR_ENOENT, "%s: there is no such folder", folder);
    return error_set(error, TR_ENOENT,
                     "%s: no " CHECKPOINT_PREFIX "STEP in it has a manifest: "
                     "there is no checkpoint",
                     folder);
}

int checkpoints_open(const char *path, struct checkpoints *checkpoints, struct error *error)
{
    *checkpoints = (struct checkpoints){ 0 };
    char *folder = trim(path);
    if (folder == NULL)
        return no_memory(path, error);
    int rv = is_single(folder) ? open_single(folder, checkpoints, error)
                               : open_all(folder, checkpoints, error);
    if (!checkpoints->single || rv != 0)
        free(folder);
    if (rv != 0)
        checkpoints_close(checkpoints);
    return rv;
}

void checkpoints_close(struct checkpoints *checkpoints)
{
    for (size_t i = 0; i < checkpoints->count; i++)
        free(checkpoints->inside[i]);
    free(checkpoints->inside);
    *checkpoints = (struct checkpoints){ 0 };
}

struct verifying {
    bool some;
    struct work *work;
    struct checkpoints_found *found;
};

static int verify_part(const struct verifying *v, const char *inside, uint32_t rank,
                       const struct checkpoint_part *part, struct error *error)
{
    char *path = checkpoint_part_path(inside, rank);
    int rv = path == NULL ? no_memory(inside, error) : 0;
    if (rv == 0 && v->some && !files_exists(files_posix, path)) {
        v->found->elsewhere++;
    } else if (rv == 0) {
        rv = checkpoint_read_checked(files_posix, path, part, NULL, error);
        v->found->parts += rv == 0;
        v->found->bytes += rv == 0 ? part->bytes : 0;
    }
    free(path);
    return rv;
}

static int verify_one(const struct verifying *v, const char *inside, struct error *error)
{
    struct checkpoint_manifest manifest;
    const char *slash = strrchr(inside, '/');
    int rv = checkpoint_read_manifest(files_posix, inside, &manifest, error);
    for (uint32_t rank = 0; rank < manifest.world && rv == 0; rank++) {
        progress_step(&v->work->progress, slash != NULL ? slash + 1 : inside, "parts", rank,
                      manifest.world);
        rv = cancel_asked(&v->work->cancel)
                 ? error_set(error, TR_ECANCELED, "%s: stopped before all was read", inside)
                 : verify_part(v, inside, rank, &manifest.parts[rank], error);
    }
    v->found->checkpoints += rv == 0;
    checkpoint_manifest_fini(&manifest);
    return rv;
}

int checkpoints_verify(const char *path, bool some, struct work *work,
                       struct checkpoints_found *found, struct error *error)
{
    const struct verifying v = { some, work, found };
    struct checkpoints checkpoints;
    *found = (struct checkpoints_found){ 0 };
    int rv = checkpoints_open(path, &checkpoints, error);
    if (rv != 0)
        return rv;
    found->unfinished = checkpoints.unfinished;
    for (size_t i = 0; i < checkpoints.count && rv == 0; i++) {
        rv = verify_one(&v, checkpoints.inside[i], error);
        /* A job that runs removes old ones; its manifest goes first. */
        if (rv != 0 && !checkpoints.single && !holds(checkpoints.inside[i], CHECKPOINT_MANIFEST))
            rv = 0;
    }
    checkpoints_close(&checkpoints);
    return rv;
}
