/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints on disk: the order of writes on which "whole or not at all" rests.
 *
 * Invariants: bytes are synced before they get a name that counts, and a name counts once its
 * folder is synced. Parts have their names before they are reported, a manifest is written when all
 * are reported, its folder gets its name when the manifest is durable, and older checkpoints go
 * when that one has its name. So a kill at any step leaves a whole checkpoint where there was one;
 * what else it leaves is passed over, and removed later. Reading still compares size and checksum
 * of each part with the manifest.
 */
#include "config.h" /* asprintf */

#include "actors/job/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/job/checkpoint_json.h"
#include "actors/job/checkpoint_paths.h"
#include "runtime/base/crc32c.h"

/* Bytes checked or written at once. */
#define PIECE_BYTES ((size_t)8 << 20)

char *checkpoint_path(const char *folder, uint64_t step)
{
    char *path = NULL;
    return asprintf(&path, "%s/" CHECKPOINT_PREFIX "%" PRIu64, folder, step) < 0 ? NULL : path;
}

char *checkpoint_path_aside(const char *folder, uint64_t step, uint32_t era)
{
    char *path = NULL;
    int n = asprintf(&path, "%s/%" PRIu64 "-%" PRIu32 CHECKPOINT_ASIDE, folder, step, era);
    return n < 0 ? NULL : path;
}

char *checkpoint_part_path(const char *folder, uint32_t rank)
{
    char *path = NULL;
    return asprintf(&path, "%s/part%" PRIu32, folder, rank) < 0 ? NULL : path;
}

char *checkpoint_fresh_path(const char *path, const char *by)
{
    char *fresh = NULL;
    return asprintf(&fresh, "%s%s", path, by) < 0 ? NULL : fresh;
}

static int no_memory(const char *folder, struct error *error)
{
    return error_set(error, TR_ENOMEM, "%s: no memory for a checkpoint", folder);
}

bool checkpoint_is_answer(int rv)
{
    switch (rv) {
    case 0:
    case TR_ENOENT:
    case TR_EFORMAT:
    case TR_ETOOBIG: /* no manifest is that large, ... */
    case TR_EINVAL:  /* ... and none is a folder or a pipe */
        return true;
    default:
        return false;
    }
}

bool checkpoint_may_be_read(int rv)
{
    return !checkpoint_is_answer(rv) && rv != TR_EPERM && rv != TR_EMISMATCH &&
           rv != TR_EUNSUPPORTED;
}

void checkpoint_manifest_fini(struct checkpoint_manifest *manifest)
{
    free(manifest->parts);
    *manifest = (struct checkpoint_manifest){ 0 };
}

int checkpoint_write_file(struct files *files, const char *path, const void *bytes, size_t count,
                          struct error *error)
{
    struct file file = { 0 };
    /* A leftover of an earlier attempt goes first: a file is made only where none is. */
    int rv = files_remove_tree(files, path, error);
    if (rv == 0)
        rv = file_create(&file, files, path, error);
    for (size_t at = 0; at < count && rv == 0; at += PIECE_BYTES) {
        size_t left = count - at;
        rv = file_append(&file, (const char *)bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES,
                         error);
    }
    /* The sync comes before the caller gives the file a name that counts: a kill between the two
     * must leave nothing that is read. */
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_FILE_WRITTEN);
    if (rv == 0)
        rv = file_sync(&file, error);
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_FILE_SYNCED);
    file_close(&file);
    return rv;
}

int checkpoint_put_part(struct files *files, const char *fresh, const char *path,
                        struct error *error)
{
    /* Its folder is synced after the part has its name: a name is durable only with that. */
    char *inside = files_parent(path);
    int rv = inside == NULL ? no_memory(path, error) : files_rename(files, fresh, path, error);
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_PART_NAMED);
    if (rv == 0)
        rv = files_sync_folder(files, inside, error);
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_PART_SYNCED);
    free(inside);
    return rv;
}

/* Where that part stands already, whole: it was reported perhaps, and what was reported stays. */
static int write_part(struct files *files, const char *path, const struct checkpoint_part *part,
                      const void *bytes, struct error *error)
{
    char *fresh = checkpoint_fresh_path(path, CHECKPOINT_WRITTEN);
    if (fresh == NULL)
        return no_memory(path, error);
    const char *from = fresh;
    int rv = 0;
    /* A part that is whole gets its name once more: its folder may not have been synced after the
     * first time. */
    if (checkpoint_read_checked(files, path, part, NULL, NULL) == 0)
        from = path;
    else
        rv = checkpoint_write_file(files, fresh, bytes, (size_t)part->bytes, error);
    if (rv == 0)
        rv = checkpoint_put_part(files, from, path, error);
    /* A part that could not be written gives its room back at once: perhaps the disk is full. */
    if (rv != 0)
        (void)files_remove_tree(files, fresh, NULL);
    free(fresh);
    return rv;
}

int checkpoint_write_part(struct files *files, const char *folder, uint64_t step, uint32_t era,
                          uint32_t rank, const void *bytes, size_t count,
                          struct checkpoint_part *part, struct error *error)
{
    *part = (struct checkpoint_part){ count, crc32c(0, bytes, count) };
    char *aside = checkpoint_path_aside(folder, step, era);
    char *path = aside == NULL ? NULL : checkpoint_part_path(aside, rank);
    int rv = path == NULL ? no_memory(folder, error) : files_make_folders(files, aside, error);
    if (rv == 0)
        rv = write_part(files, path, part, bytes, error);
    free(path);
    free(aside);
    return rv;
}

void checkpoint_drop_part(struct files *files, const char *folder, uint64_t step, uint32_t era,
                          uint32_t rank)
{
    char *aside = checkpoint_path_aside(folder, step, era);
    char *path = aside == NULL ? NULL : checkpoint_part_path(aside, rank);
    char *copied = path == NULL ? NULL : checkpoint_fresh_path(path, CHECKPOINT_COPIED);
    char *manifest = aside == NULL ? NULL : files_join(aside, CHECKPOINT_MANIFEST);
    /* The manifest is gone for good before the part goes, also where another process removed it,
     * whose crash may bring it back. A part whose folder cannot be synced stays: the next checkpoint
     * that is made removes it. The folder goes with the last part, and else stays with those of
     * other ranks. */
    if (copied != NULL && manifest != NULL && files_remove_tree(files, manifest, NULL) == 0 &&
        files_sync_folder(files, aside, NULL) == 0) {
        (void)files_remove_tree(files, path, NULL);
        (void)files_remove_tree(files, copied, NULL); /* the half of a copy */
        (void)files->rmdir(files, aside);
    }
    free(manifest);
    free(copied);
    free(path);
    free(aside);
}

static int write_manifest(struct files *files, const char *aside,
                          const struct checkpoint_manifest *manifest, struct error *error)
{
    char *path = files_join(aside, CHECKPOINT_MANIFEST);
    char *text = checkpoint_to_json(manifest);
    int rv = path == NULL || text == NULL
                 ? no_memory(aside, error)
                 : checkpoint_write_file(files, path, text, strlen(text), error);
    /* All names inside are durable before the folder gets its own: a folder that is named is
     * whole. */
    if (rv == 0)
        rv = files_sync_folder(files, aside, error);
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_MANIFEST_SYNCED);
    free(text);
    free(path);
    return rv;
}

/* Takes back a name that may not last: ranks that hear that there is no such checkpoint drop their
 * parts, and look for them where they put them. The manifest goes before any part, since a crash may
 * lose the rename: the name would be that of a checkpoint without its parts. */
static void take_name_back(struct files *files, const char *aside, const char *final)
{
    char *manifest = files_join(aside, CHECKPOINT_MANIFEST);
    if (files_rename(files, final, aside, NULL) == 0 && manifest != NULL)
        (void)files_remove_tree(files, manifest, NULL);
    free(manifest);
}

/* The one that stood there was damaged, or is of an era that was rolled back. */
static int checkpoint_replace(struct files *files, const char *folder, const char *aside,
                              const char *final, struct error *error)
{
    /* A folder that is not empty cannot be renamed over. A kill in between leaves none of this
     * step, but the one before it, which is pruned only when this one has its name. */
    int rv = 0;
    if (files_exists(files, final))
        rv = checkpoint_remove(files, final, error);
    if (rv == 0)
        rv = files_rename(files, aside, final, error);
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_NAMED);
    bool named = rv == 0;
    if (named)
        rv = files_sync_folder(files, folder, error);
    if (named && rv != 0)
        take_name_back(files, aside, final);
    failpoint_reach(files->failpoints, FAILPOINT_CHECKPOINT_SYNCED);
    return rv;
}

/* A trainer on a host where this folder is another one has written its part elsewhere. */
static int check_part(struct files *files, const char *aside, uint32_t rank,
                      const struct checkpoint_part *part, struct error *error)
{
    struct file file = { 0 };
    char *path = checkpoint_part_path(aside, rank);
    int rv = path == NULL ? no_memory(aside, error) : file_open(&file, files, path, error);
    if (rv == TR_ENOENT || (rv == 0 && file.size != part->bytes))
        rv = error_set(error, TR_EMISMATCH,
                       "%s: trainer %" PRIu32 " wrote %" PRIu64
                       " bytes, and this host finds %" PRIu64
                       "; keep checkpoints in a folder that all hosts share",
                       path, rank, part->bytes, file.size);
    file_close(&file);
    free(path);
    return rv;
}

static int check_parts(struct files *files, const char *aside,
                       const struct checkpoint_manifest *manifest, struct error *error)
{
    int rv = 0;
    for (uint32_t rank = 0; rank < manifest->world && rv == 0; rank++)
        rv = check_part(files, aside, rank, &manifest->parts[rank], error);
    return rv;
}

int checkpoint_make(struct files *files, const char *folder,
                    const struct checkpoint_manifest *manifest, uint32_t keep, struct error *error)
{
    char *aside = checkpoint_path_aside(folder, manifest->step, manifest->era);
    char *final = checkpoint_path(folder, manifest->step);
    int rv = aside == NULL || final == NULL ? no_memory(folder, error)
                                            : write_manifest(files, aside, manifest, error);
    if (rv == 0)
        rv = checkpoint_replace(files, folder, aside, final, error);
    if (rv == 0) /* it is made, whatever becomes of older ones */
        checkpoint_retire(files, folder, manifest->step, keep);
    free(final);
    free(aside);
    return rv;
}

int checkpoint_commit(struct files *files, const char *folder,
                      const struct checkpoint_manifest *manifest, uint32_t keep,
                      struct error *error)
{
    /* The parts are checked before the manifest is written, which makes a checkpoint of whatever is
     * there. */
    char *aside = checkpoint_path_aside(folder, manifest->step, manifest->era);
    int rv = aside == NULL ? no_memory(folder, error) : check_parts(files, aside, manifest, error);
    free(aside);
    return rv != 0 ? rv : checkpoint_make(files, folder, manifest, keep, error);
}

/* A folder named as a checkpoint promises its step. */
static int check_step(const char *inside, const char *path,
                      const struct checkpoint_manifest *manifest, struct error *error)
{
    const char *slash = strrchr(inside, '/');
    uint64_t step;
    if (!checkpoint_name_step(slash != NULL ? slash + 1 : inside, &step) || step == manifest->step)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: the manifest says step %" PRIu64 ", and the folder's name another", path,
                     manifest->step);
}

int checkpoint_read_manifest(struct files *files, const char *inside,
                             struct checkpoint_manifest *manifest, struct error *error)
{
    *manifest = (struct checkpoint_manifest){ 0 };
    char *name = files_join(inside, CHECKPOINT_MANIFEST);
    char *text = NULL;
    size_t size = 0;
    int rv = name == NULL
                 ? no_memory(inside, error)
                 : files_read_all(files, name, CHECKPOINT_MANIFEST_BYTES_MAX, &text, &size, error);
    if (rv == 0)
        rv = checkpoint_from_json(name, text, size, manifest, error);
    if (rv == 0)
        rv = check_step(inside, name, manifest, error);
    if (rv != 0)
        checkpoint_manifest_fini(manifest);
    free(text);
    free(name);
    return rv;
}

int checkpoint_find(struct files *files, const char *folder, uint64_t step,
                    struct checkpoint_manifest *manifest, struct error *error)
{
    *manifest = (struct checkpoint_manifest){ 0 };
    char *inside = checkpoint_path(folder, step);
    int rv = inside == NULL ? no_memory(folder, error)
                            : checkpoint_read_manifest(files, inside, manifest, error);
    free(inside);
    return rv;
}

int checkpoint_read_checked(struct files *files, const char *path,
                            const struct checkpoint_part *part, void *bytes, struct error *error)
{
    struct file file = { 0 };
    size_t some = part->bytes < PIECE_BYTES ? (size_t)part->bytes : PIECE_BYTES;
    void *scratch = bytes == NULL ? malloc(some + 1) : NULL;
    uint32_t crc = 0;
    int rv = bytes == NULL && scratch == NULL ? no_memory(path, error)
                                              : file_open(&file, files, path, error);
    /* The size is compared before bytes are read: no more than the caller has room for is read. */
    if (rv == 0 && file.size != part->bytes)
        rv = error_set(error, TR_EFORMAT, "%s: %" PRIu64 " bytes where its manifest says %" PRIu64,
                       path, file.size, part->bytes);
    for (uint64_t at = 0; at < part->bytes && rv == 0; at += some) {
        size_t left = part->bytes - at < some ? (size_t)(part->bytes - at) : some;
        void *to = bytes == NULL ? scratch : (char *)bytes + at;
        rv = file_read_at(&file, at, to, left, error);
        if (rv == 0)
            crc = crc32c(crc, to, left);
    }
    if (rv == 0 && crc != part->crc32c)
        rv = error_set(error, TR_EFORMAT,
                       "%s: its checksum is %08" PRIx32 " where the manifest "
                       "says %08" PRIx32 ": it is damaged",
                       path, crc, part->crc32c);
    file_close(&file);
    free(scratch);
    return rv;
}

int checkpoint_read_part(struct files *files, const char *folder, uint64_t step, uint32_t rank,
                         const struct checkpoint_part *part, void *bytes, struct error *error)
{
    char *inside = checkpoint_path(folder, step);
    char *path = inside == NULL ? NULL : checkpoint_part_path(inside, rank);
    int rv = path == NULL ? no_memory(folder, error)
                          : checkpoint_read_checked(files, path, part, bytes, error);
    free(path);
    free(inside);
    return rv;
}

int checkpoint_verify(struct files *files, const char *folder,
                      const struct checkpoint_manifest *manifest, struct error *error)
{
    int rv = 0;
    for (uint32_t rank = 0; rank < manifest->world && rv == 0; rank++)
        rv = checkpoint_read_part(files, folder, manifest->step, rank, &manifest->parts[rank], NULL,
                                  error);
    return rv;
}
