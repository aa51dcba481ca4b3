/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a folder of checkpoints: the newest whole one, those to remove. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/job/checkpoint.h"
#include "actors/job/checkpoint_paths.h"
#include "graph/vec.h"

struct listing {
    struct vec steps; /* uint64_t, of folders named as checkpoints */
    size_t num_steps;
    struct files *files;
    const char *folder;
    int status; /* of the visits: a visit's result would be taken for that of the system */
};

bool checkpoint_name_step(const char *name, uint64_t *step)
{
    size_t prefix = strlen(CHECKPOINT_PREFIX);
    const char *digits = name + prefix;
    if (strncmp(name, CHECKPOINT_PREFIX, prefix) != 0)
        return false;
    /* No sign, no space, no leading zero, and no more than 19 digits: below 2^64. */
    if (*digits < '0' || *digits > '9' || (*digits == '0' && digits[1] != '\0') ||
        strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 19)
        return false;
    *step = strtoull(digits, NULL, 10);
    return true;
}

bool checkpoint_name_aside(const char *name, uint64_t *step, uint32_t *era)
{
    int end = 0;
    /* As many digits as cannot overflow; anything else is not ours. */
    return name[0] >= '0' && name[0] <= '9' &&
           sscanf(name, "%19" SCNu64 "-%9" SCNu32 CHECKPOINT_ASIDE "%n", step, era, &end) == 2 &&
           end > 0 && name[end] == '\0';
}

static int checkpoint_visit(void *arg, const char *name)
{
    struct listing *listing = arg;
    uint64_t step;
    if (!checkpoint_name_step(name, &step))
        return 0;
    listing->status = vec_reserve(&listing->steps, listing->num_steps + 1, sizeof step,
                                  listing->num_steps * sizeof step);
    if (listing->status != 0)
        return 1;
    ((uint64_t *)listing->steps.data)[listing->num_steps++] = step;
    return 0;
}

static int newest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Whether nothing is there, and nothing that is away for now would show it. A link whose end is not
 * there, itself or above it, may lead to a disk that is not mounted yet. */
static bool is_absent(struct files *files, const char *folder)
{
    struct file_facts facts;
    char *at = strdup(folder);
    /* Behind a slash at its end a link would be followed. */
    for (size_t n = at == NULL ? 0 : strlen(at); n > 1 && at[n - 1] == '/'; n--)
        at[n - 1] = '\0';
    int rv = -ENOENT;
    bool absent = false;
    while (at != NULL && (rv = files->stat(files, at, &facts)) != 0) {
        absent = rv == -ENOENT || rv == -ENOTDIR;
        if (!absent || strcmp(at, ".") == 0 || strcmp(at, "/") == 0)
            break;
        char *above = files_parent(at);
        free(at);
        at = above;
    }
    /* What is there was found on the way up, so the folder itself is not; but what was found may be
     * a link. */
    if (at == NULL ||
        (rv == 0 && !facts.is_folder && !facts.is_regular && !files_is_folder(files, at)))
        absent = false;
    free(at);
    return absent;
}

int checkpoint_unlisted(struct files *files, const char *folder, int listed, struct error *error)
{
    bool nothing = listed == -ENOENT || listed == -ENOTDIR;
    if (nothing && is_absent(files, folder))
        return 0;
    /* The code is not that of the system, which says that nothing is there. */
    return nothing ? error_set(error, TR_EIO,
                               "%s: cannot be listed: it is not a folder, or a link to what is not "
                               "there; is its disk mounted?",
                               folder)
                   : error_set_errno(error, -listed, "%s: cannot be listed", folder);
}

static int checkpoint_list_folder(struct listing *listing, struct files *files, const char *folder,
                                  struct error *error)
{
    *listing = (struct listing){ .files = files, .folder = folder };
    int rv = files->list(files, folder, checkpoint_visit, listing);
    if (listing->status != 0)
        return error_set(error, listing->status, "%s: no memory to list it", folder);
    if (rv < 0)
        return checkpoint_unlisted(files, folder, rv, error);
    if (listing->num_steps > 1)
        qsort(listing->steps.data, listing->num_steps, sizeof(uint64_t), newest_first);
    return 0;
}

int checkpoint_list(struct files *files, const char *folder, uint64_t **steps, size_t *count,
                    struct error *error)
{
    struct listing listing;
    *steps = NULL;
    *count = 0;
    int rv = checkpoint_list_folder(&listing, files, folder, error);
    size_t bytes = listing.num_steps * sizeof **steps;
    if (rv == 0)
        *steps = malloc(bytes + 1);
    if (rv == 0 && *steps == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory", folder);
    if (rv == 0 && bytes > 0)
        memcpy(*steps, listing.steps.data, bytes);
    if (rv == 0)
        *count = listing.num_steps;
    vec_fini(&listing.steps);
    return rv;
}

bool checkpoint_is_any(struct files *files, const char *folder)
{
    struct listing listing;
    bool any = checkpoint_list_folder(&listing, files, folder, NULL) != 0 || listing.num_steps > 0;
    vec_fini(&listing.steps);
    return any;
}

int checkpoint_remove(struct files *files, const char *path, struct error *error)
{
    /* The manifest is gone for good before anything else goes: a crash in between must not bring it
     * back over parts that are not there. */
    char *manifest = files_join(path, CHECKPOINT_MANIFEST);
    int rv = manifest == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", path)
                              : files_remove_tree(files, manifest, error);
    if (rv == 0)
        rv = files_sync_folder(files, path, error);
    if (rv == 0)
        rv = files_remove_tree(files, path, error);
    free(manifest);
    return rv;
}

/* Removes all but the newest `keep` of those up to a step. */
static int prune_to(struct files *files, const char *folder, uint64_t last, uint32_t keep,
                    struct error *error)
{
    struct listing listing;
    int rv = checkpoint_list_folder(&listing, files, folder, error);
    const uint64_t *steps = listing.steps.data;
    uint64_t kept = 0;
    /* The list begins with the newest, so those behind `keep` are the oldest. */
    for (size_t i = 0; i < listing.num_steps && rv == 0; i++) {
        if (steps[i] > last || kept++ < keep)
            continue;
        char *path = checkpoint_path(folder, steps[i]);
        rv = path == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", folder)
                          : checkpoint_remove(files, path, error);
        free(path);
    }
    vec_fini(&listing.steps);
    return rv;
}

int checkpoint_prune(struct files *files, const char *folder, uint32_t keep, struct error *error)
{
    return prune_to(files, folder, UINT64_MAX, keep, error);
}

void checkpoint_retire(struct files *files, const char *folder, uint64_t made, uint32_t keep)
{
    /* None is removed before it is known that two hosts have the newer one. */
    if (keep == CHECKPOINT_KEEP_ALL)
        return;
    (void)prune_to(files, folder, made, keep != 0 ? keep : CHECKPOINT_KEEP_DEFAULT, NULL);
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_PRUNED);
}

static int remove_unfinished(void *arg, const char *name)
{
    const struct listing *listing = arg;
    size_t length = strlen(name), end = strlen(CHECKPOINT_ASIDE);
    uint64_t step;
    bool aside = length > end && strcmp(name + length - end, CHECKPOINT_ASIDE) == 0 &&
                 name[0] >= '0' && name[0] <= '9';
    if (!aside && !checkpoint_name_step(name, &step))
        return 0;
    char *path = files_join(listing->folder, name);
    char *manifest = path == NULL ? NULL : files_join(path, CHECKPOINT_MANIFEST);
    struct file_facts facts;
    /* Best effort: what stays is passed over, and looked at again the next time. A manifest that
     * cannot be looked at may be there, so its folder stays. */
    if (manifest != NULL &&
        (aside || listing->files->stat(listing->files, manifest, &facts) == -ENOENT))
        (void)files_remove_tree(listing->files, path, NULL);
    free(manifest);
    free(path);
    return 0;
}

static int checkpoint_check_named(struct files *files, const char *folder, uint64_t step,
                                  struct checkpoint_manifest *manifest, struct error *error)
{
    int rv = checkpoint_find(files, folder, step, manifest, error);
    if (rv != 0)
        return rv;
    rv = checkpoint_verify(files, folder, manifest, error);
    if (rv != 0)
        checkpoint_manifest_fini(manifest);
    return rv;
}

static int checkpoint_pick(struct listing *listing, struct checkpoint_manifest *manifest,
                           struct error *damaged, struct error *error)
{
    const uint64_t *steps = listing->steps.data;
    for (size_t i = 0; i < listing->num_steps; i++) {
        struct error why = { 0 };
        int rv = checkpoint_check_named(listing->files, listing->folder, steps[i], manifest, &why);
        /* Memory that is short, or a disk that fails, ends the search, for it says nothing of the
         * checkpoint, which would be passed over. */
        if (rv == 0 || !checkpoint_is_answer(rv)) {
            *error = why;
            return rv;
        }
        /* The newest that is damaged counts, and that comes first. */
        if (damaged->code == 0)
            *damaged = why;
    }
    if (damaged->code != 0)
        return error_set(error, TR_ENOENT, "%s: no checkpoint is whole: %s", listing->folder,
                         damaged->text);
    return error_set(error, TR_ENOENT, "%s: no checkpoint", listing->folder);
}

int checkpoint_choose(struct files *files, const char *folder, uint32_t world,
                      struct checkpoint_manifest *manifest, struct error *damaged,
                      struct error *error)
{
    *manifest = (struct checkpoint_manifest){ 0 };
    *damaged = (struct error){ 0 };
    struct listing listing = { .files = files, .folder = folder };
    /* Unfinished checkpoints go before the list is made, which then has none of them. */
    (void)files->list(files, folder, remove_unfinished, &listing);
    int rv = checkpoint_list_folder(&listing, files, folder, error);
    if (rv == 0)
        rv = checkpoint_pick(&listing, manifest, damaged, error);
    vec_fini(&listing.steps);
    if (rv == 0 && manifest->world != world) {
        rv = error_set(error, TR_EMISMATCH,
                       "%s: the checkpoint of step %" PRIu64 " was saved by "
                       "%" PRIu32 " trainers; start as many, or use another folder",
                       folder, manifest->step, manifest->world);
        checkpoint_manifest_fini(manifest);
    }
    return rv;
}
