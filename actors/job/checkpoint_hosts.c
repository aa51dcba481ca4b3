/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints on hosts that share no folder: pieces of parts, and manifests without all of them. */
#include "config.h" /* asprintf */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/cluster.h"
#include "actors/job/checkpoint.h"
#include "actors/job/checkpoint_paths.h"

static int no_memory(const char *folder, struct error *error)
{
    return error_set(error, TR_ENOMEM, "%s: no memory for a checkpoint", folder);
}

char *checkpoint_folder(const char *given, const char *host)
{
    char *folder = NULL;
    (void)cluster_put_name(given, host != NULL ? host : "%h", &folder);
    return folder;
}

/* Where a part of an era is on its way (`aside`), or where it is in its checkpoint. */
static char *part_path(const char *folder, uint64_t step, uint32_t era, uint32_t rank, bool aside)
{
    char *inside = aside ? checkpoint_path_aside(folder, step, era) : checkpoint_path(folder, step);
    char *path = inside == NULL ? NULL : checkpoint_part_path(inside, rank);
    free(inside);
    return path;
}

/* The last piece is there: the file is compared with the part that was meant. */
static int finish_part(struct files *files, struct file *file, const char *path,
                       const struct checkpoint_piece *piece, struct error *error)
{
    /* The part is synced and checked before it gets its name: what has that name is always
     * whole. */
    int rv = file_sync(file, error);
    if (rv == 0)
        rv = checkpoint_read_checked(files, file->path, &piece->part, NULL, error);
    return rv != 0 ? rv : checkpoint_put_part(files, file->path, path, error);
}

int checkpoint_write_piece(struct files *files, const char *folder,
                           const struct checkpoint_piece *piece, const void *bytes,
                           struct error *error)
{
    struct file file = { 0 };
    char *path = part_path(folder, piece->step, piece->era, piece->rank, true);
    char *aside = path == NULL ? NULL : files_parent(path);
    char *fresh = path == NULL ? NULL : checkpoint_fresh_path(path, CHECKPOINT_COPIED);
    int rv = aside == NULL || fresh == NULL ? no_memory(folder, error)
                                            : files_make_folders(files, aside, error);
    /* The file goes before its first piece comes: what another attempt left does not belong to this
     * one. */
    if (rv == 0 && piece->offset == 0)
        rv = files_remove_tree(files, fresh, error);
    if (rv == 0)
        rv = file_open_writable(&file, files, fresh, error);
    if (rv == 0 && piece->count > 0)
        rv = file_write_at(&file, piece->offset, bytes, piece->count, error);
    if (rv == 0 && piece->offset + piece->count == piece->part.bytes)
        rv = finish_part(files, &file, path, piece, error);
    file_close(&file);
    /* The half of a copy that did not fit would keep the disk full. The next piece finds a hole
     * where it was, so its part does not match in the end and is sent again from its beginning. */
    if (rv == TR_ENOSPC && fresh != NULL)
        (void)files_remove_tree(files, fresh, NULL);
    free(fresh);
    free(aside);
    free(path);
    return rv;
}

static int read_at(struct files *files, const char *path, const struct checkpoint_piece *piece,
                   void *bytes, struct error *error)
{
    struct file file = { 0 };
    int rv = file_open(&file, files, path, error);
    if (rv == 0 && file.size != piece->part.bytes)
        rv = error_set(error, TR_EFORMAT, "%s: %" PRIu64 " bytes where its manifest says %" PRIu64,
                       path, file.size, piece->part.bytes);
    if (rv == 0)
        rv = file_read_at(&file, piece->offset, bytes, piece->count, error);
    file_close(&file);
    return rv;
}

int checkpoint_read_piece(struct files *files, const char *folder,
                          const struct checkpoint_piece *piece, void *bytes, struct error *error)
{
    int rv = TR_ENOENT;
    /* The folder that is being made comes first: a commit meanwhile renames it to its checkpoint's,
     * where the second look finds the part. The other way round both looks could miss it. */
    for (int aside = 1; aside >= 0 && rv != 0; aside--) {
        struct error why = { 0 };
        char *path = part_path(folder, piece->step, piece->era, piece->rank, aside != 0);
        rv = path == NULL ? no_memory(folder, &why) : read_at(files, path, piece, bytes, &why);
        if (rv != 0 && error != NULL)
            *error = why;
        free(path);
    }
    return rv;
}

/* 0: the manifest of that step and era is here; TR_ENOENT: none, or that of another era, which will
 * be replaced. */
static int find_era(struct files *files, const char *folder, uint64_t step, uint32_t era,
                    struct error *error)
{
    struct checkpoint_manifest here;
    int rv = checkpoint_find(files, folder, step, &here, error);
    if (rv == 0 && here.era != era)
        rv = error_set(error, TR_ENOENT,
                       "%s: the checkpoint of step %" PRIu64 " belongs to era %" PRIu32
                       " instead of %" PRIu32,
                       folder, step, here.era, era);
    checkpoint_manifest_fini(&here);
    return rv;
}

int checkpoint_read_saved(struct files *files, const char *folder, uint64_t step, uint32_t era,
                          uint32_t rank, const struct checkpoint_part *part, void *bytes,
                          struct error *error)
{
    int rv = TR_ENOENT;
    /* The folder that is being made comes first, as in checkpoint_read_piece(). */
    for (int aside = 1; aside >= 0 && rv != 0; aside--) {
        struct error why = { 0 };
        char *path = part_path(folder, step, era, rank, aside != 0);
        int here = path == NULL ? no_memory(folder, &why) : 0;
        /* The folder of another era's checkpoint goes when this one is made, and the same bytes in
         * it with it. */
        if (here == 0 && aside == 0)
            here = find_era(files, folder, step, era, &why);
        if (here == 0)
            here = checkpoint_read_checked(files, path, part, bytes, &why);
        free(path);
        /* A place that could not be read may have the part: that the other one has none is then not
         * the answer. */
        if (here != 0 && !checkpoint_is_answer(rv))
            continue;
        rv = here;
        if (rv != 0 && error != NULL)
            *error = why;
    }
    return rv;
}

struct sweep {
    struct files *files;
    const char *folder;
    uint64_t step;
    uint32_t era;
};

/* Parts that earlier eras left will never be finished; nor will, within an era, an earlier step. */
static int sweep_one(void *arg, const char *name)
{
    const struct sweep *sweep = arg;
    uint64_t step;
    uint32_t era;
    if (!checkpoint_name_aside(name, &step, &era) ||
        !(era < sweep->era || (era == sweep->era && step < sweep->step)))
        return 0;
    char *path = files_join(sweep->folder, name);
    if (path != NULL) /* best effort: what stays is looked at again the next time */
        (void)files_remove_tree(sweep->files, path, NULL);
    free(path);
    return 0;
}

/* 1: that one is here; 0: none, or another of that step; TR_E*: what is here cannot be read now. */
static int find_committed(struct files *files, const char *folder,
                          const struct checkpoint_manifest *manifest, struct error *error)
{
    struct checkpoint_manifest here;
    int rv = checkpoint_find(files, folder, manifest->step, &here, error);
    if (rv != 0)
        return checkpoint_is_answer(rv) ? 0 : rv;
    bool same = here.era == manifest->era && here.world == manifest->world;
    checkpoint_manifest_fini(&here);
    return same;
}

/* The bytes are written beside what stands there and renamed: a reader sees the old part or the new
 * one, whole. */
static int replace_part(struct files *files, const char *inside, uint32_t rank, const void *bytes,
                        size_t count, struct error *error)
{
    char *path = checkpoint_part_path(inside, rank);
    char *aside = NULL;
    if (path != NULL && asprintf(&aside, "%s" CHECKPOINT_ASIDE, path) < 0)
        aside = NULL;
    int rv = aside == NULL ? no_memory(inside, error)
                           : checkpoint_write_file(files, aside, bytes, count, error);
    if (rv == 0)
        rv = files_rename(files, aside, path, error);
    if (rv != 0 && aside != NULL) /* a full disk wants it back now, not when this one is pruned */
        (void)files_remove_tree(files, aside, NULL);
    if (rv == 0)
        rv = files_sync_folder(files, inside, error);
    free(aside);
    free(path);
    return rv;
}

int checkpoint_keep_part(struct files *files, const char *folder, uint64_t step, uint32_t era,
                         uint32_t rank, const void *bytes, size_t count, struct error *error)
{
    struct checkpoint_part written;
    if (find_era(files, folder, step, era, NULL) != 0) {
        /* Its manifest comes, and takes what is aside with it. */
        int rv = checkpoint_write_part(files, folder, step, era, rank, bytes, count, &written,
                                       error);
        /* It may have come meanwhile, written by another thread or process of this host: then it
         * took the folder aside before the part was in it, perhaps from under the writing. */
        if (find_era(files, folder, step, era, NULL) != 0)
            return rv;
        checkpoint_drop_part(files, folder, step, era, rank);
    }
    char *inside = checkpoint_path(folder, step);
    int rv = inside == NULL ? no_memory(folder, error)
                            : replace_part(files, inside, rank, bytes, count, error);
    free(inside);
    return rv;
}

int checkpoint_receive(struct files *files, const char *folder,
                       const struct checkpoint_manifest *manifest, uint32_t keep,
                       struct error *error)
{
    struct error why = { 0 };
    int rv = find_committed(files, folder, manifest, &why);
    /* A checkpoint that cannot be read now may be this one, with its parts: making it anew would
     * remove them. */
    if (rv < 0) {
        if (error != NULL)
            *error = why;
        return rv;
    }
    if (rv == 0) {
        char *aside = checkpoint_path_aside(folder, manifest->step, manifest->era);
        rv = aside == NULL ? no_memory(folder, error) : files_make_folders(files, aside, error);
        if (rv == 0)
            rv = checkpoint_make(files, folder, manifest, keep, error);
        free(aside);
    } else {
        checkpoint_retire(files, folder, manifest->step, keep);
        rv = 0;
    }
    /* Older ones are retired, and the sweep follows, also where the checkpoint was made before: a
     * kill may have come between them. */
    struct sweep sweep = { files, folder, manifest->step, manifest->era };
    if (rv == 0)
        (void)files->list(files, folder, sweep_one, &sweep);
    return rv;
}

bool checkpoint_unmake(struct files *files, const char *folder,
                       const struct checkpoint_manifest *manifest)
{
    char *path = checkpoint_path(folder, manifest->step);
    /* Only this checkpoint is removed: one of another era may stand there. */
    if (path != NULL && find_committed(files, folder, manifest, NULL) == 1)
        (void)checkpoint_remove(files, path, NULL);
    free(path);
    return find_committed(files, folder, manifest, NULL) != 1;
}

struct newest {
    uint64_t before, step;
    bool found;
};

static int take_newer(void *arg, const char *name)
{
    struct newest *newest = arg;
    uint64_t step;
    if (checkpoint_name_step(name, &step) && step < newest->before &&
        (!newest->found || step > newest->step)) {
        newest->step = step;
        newest->found = true;
    }
    return 0;
}

int checkpoint_newest(struct files *files, const char *folder, uint64_t before,
                      struct checkpoint_manifest *manifest, bool *passed_over, struct error *error)
{
    *manifest = (struct checkpoint_manifest){ 0 };
    struct newest newest = { .before = before };
    int rv = TR_EFORMAT;
    bool passed = false;
    /* A folder without a manifest, or with one that is damaged, is passed over; what cannot be read
     * is not, nor taken for none. */
    while (rv != 0 && checkpoint_is_answer(rv)) {
        newest.found = false;
        int listed = files->list(files, folder, take_newer, &newest);
        int unlisted = listed < 0 ? checkpoint_unlisted(files, folder, listed, error) : 0;
        if (unlisted != 0)
            return unlisted;
        if (!newest.found) {
            rv = error_set(error, TR_ENOENT, "%s: no checkpoint", folder);
            break;
        }
        rv = checkpoint_find(files, folder, newest.step, manifest, error);
        passed = passed || rv != 0;
        newest.before = newest.step;
    }
    if (passed_over != NULL)
        *passed_over = passed;
    return rv;
}
