/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints on disk: what a group of trainers saved after a step, whole or not at all.
 *
 *     FOLDER/checkpoint-STEP/manifest.json      names all parts; only it makes a checkpoint
 *     FOLDER/checkpoint-STEP/partRANK           what a rank saved: its own bytes
 *     FOLDER/STEP-ERA.tmp/                      one that is being made
 *
 * Each rank writes and syncs its part; the coordinator, which was notified of every part, writes
 * the manifest beside them, syncs it, and renames the folder. Format: troupe-checkpoint(5).
 *
 * Where hosts share no folder, each has one with a part of this: its own ranks' parts, copies of
 * another host's, the manifest. A part then counts as saved when it is on two hosts, and one that
 * is not in its checkpoint yet is looked for in the folder that was being made.
 *
 * Ownership: a manifest is the caller's, for checkpoint_manifest_fini. Thread rules: everything
 * here blocks and belongs on the crew; any thread.
 */
#ifndef ACTORS_JOB_CHECKPOINT_H
#define ACTORS_JOB_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/files.h"

/* Ranks of a group; each has a line in the manifest. */
#define CHECKPOINT_WORLD_MAX 65536u
#define CHECKPOINT_KEEP_DEFAULT 2u
#define CHECKPOINT_KEEP_ALL UINT32_MAX

struct checkpoint_part {
    uint64_t bytes;
    uint32_t crc32c;
};

struct checkpoint_manifest {
    uint64_t step;
    uint32_t era; /* in which it was saved */
    uint32_t world;
    struct checkpoint_part *parts; /* [world], by rank */
};

/* Whether the result of a look says what is there: whole (0), nothing, or something damaged. All
 * others (no memory, a disk that fails, no permission) say nothing of a checkpoint, which is not to
 * be passed over or replaced for them. */
bool checkpoint_is_answer(int rv);

/* Whether another look may get an answer where this one got none: a permission that is missing and
 * a folder of another configuration stay. */
bool checkpoint_may_be_read(int rv);

/* All zeros is a manifest without parts. */
void checkpoint_manifest_fini(struct checkpoint_manifest *manifest);

/* Writes and syncs a part of a checkpoint that is being made. */
int checkpoint_write_part(struct files *files, const char *folder, uint64_t step, uint32_t era,
                          uint32_t rank, const void *bytes, size_t count,
                          struct checkpoint_part *part, struct error *error);

/* Gives back the room of a part whose checkpoint will not be made, and of the folder when it was
 * the last one there. Best effort: what stays, as where the folder cannot be synced, goes with the
 * next checkpoint or the next era. */
void checkpoint_drop_part(struct files *files, const char *folder, uint64_t step, uint32_t era,
                          uint32_t rank);

/* Makes the checkpoint whose parts are all on disk, and removes those before the newest `keep`
 * (0: CHECKPOINT_KEEP_DEFAULT). */
int checkpoint_commit(struct files *files, const char *folder,
                      const struct checkpoint_manifest *manifest, uint32_t keep,
                      struct error *error);

/* The manifest in a checkpoint's own folder, which may have any name; one named checkpoint-STEP has
 * to be of that step. TR_ENOENT: there is none. */
int checkpoint_read_manifest(struct files *files, const char *inside,
                             struct checkpoint_manifest *manifest, struct error *error);

/* The manifest of a step; TR_ENOENT: there is none. */
int checkpoint_find(struct files *files, const char *folder, uint64_t step,
                    struct checkpoint_manifest *manifest, struct error *error);

/* The newest checkpoint whose parts are all as its manifest says. TR_ENOENT: there is none;
 * TR_EMISMATCH: it is of another number of trainers; what is no answer (above): a newer one could
 * not be read. `damaged` tells of one that was passed over (the newest such), or has code 0.
 * Removes what was being made when a job ended. */
int checkpoint_choose(struct files *files, const char *folder, uint32_t world,
                      struct checkpoint_manifest *manifest, struct error *damaged,
                      struct error *error);

/* The folder of a host: "%h" in what was given stands for its name. host NULL: it stands for
 * itself. In malloc'ed memory, or NULL. */
char *checkpoint_folder(const char *given, const char *host);

/* Keeps a piece of another host's part; with the last one all of it is checked and synced.
 * TR_EFORMAT: the pieces are not that part; to be sent again from the first on. */
struct checkpoint_piece {
    uint64_t step, offset;
    uint32_t era, rank;
    struct checkpoint_part part; /* the whole */
    uint32_t count;
};
int checkpoint_write_piece(struct files *files, const char *folder,
                           const struct checkpoint_piece *piece, const void *bytes,
                           struct error *error);
/* piece->count bytes of a part that may not be committed here. */
int checkpoint_read_piece(struct files *files, const char *folder,
                          const struct checkpoint_piece *piece, void *bytes, struct error *error);

/* The whole part of an era (bytes NULL: only checks it), committed here or not. In the folder of a
 * checkpoint it counts only beside the manifest of that era: without it the next commit of that
 * step removes it. */
int checkpoint_read_saved(struct files *files, const char *folder, uint64_t step, uint32_t era,
                          uint32_t rank, const struct checkpoint_part *part, void *bytes,
                          struct error *error);

/* Puts a part that another host had back here, into its checkpoint or where that is being made. */
int checkpoint_keep_part(struct files *files, const char *folder, uint64_t step, uint32_t era,
                         uint32_t rank, const void *bytes, size_t count, struct error *error);

/* Makes the checkpoint of which this host has none, some or all parts; done already is fine.
 * Removes what earlier eras and steps left unfinished, and prunes as checkpoint_commit. */
int checkpoint_receive(struct files *files, const char *folder,
                       const struct checkpoint_manifest *manifest, uint32_t keep,
                       struct error *error);

/* Removes the checkpoint of that step, era and world, if it was made here. False: it is here all the
 * same, with its manifest, such as on a disk that takes no writes; what else could not be removed is
 * no checkpoint. */
bool checkpoint_unmake(struct files *files, const char *folder,
                       const struct checkpoint_manifest *manifest);

/* The newest manifest of a step before that one, whose parts may be elsewhere. TR_ENOENT; what is
 * no answer: there may be one. passed_over (may be NULL) tells that a newer one than that is
 * damaged, or its folder has none: then it is not the newest that was here. */
int checkpoint_newest(struct files *files, const char *folder, uint64_t before,
                      struct checkpoint_manifest *manifest, bool *passed_over, struct error *error);

/* The steps of all, whole or not, newest first; *steps for free(). No folder has none. */
int checkpoint_list(struct files *files, const char *folder, uint64_t **steps, size_t *count,
                    struct error *error);

/* Is there any, whole or not? A folder that can't be listed counts as one. */
bool checkpoint_is_any(struct files *files, const char *folder);
/* Removes all but the newest `keep`. */
int checkpoint_prune(struct files *files, const char *folder, uint32_t keep, struct error *error);

/* Removes those before the newest `keep` (0: CHECKPOINT_KEEP_DEFAULT), of which the one that was
 * made is the first: one of a later step is damaged, and takes the place of none that is whole. Best
 * effort: what stays is removed after the next. */
void checkpoint_retire(struct files *files, const char *folder, uint64_t made, uint32_t keep);

/* Reads a part of a checkpoint into bytes[part->bytes], and checks it. */
int checkpoint_read_part(struct files *files, const char *folder, uint64_t step, uint32_t rank,
                         const struct checkpoint_part *part, void *bytes, struct error *error);

#endif
