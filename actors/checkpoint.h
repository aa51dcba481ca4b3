/*
 * Checkpoints on disk: what a group of trainers saved after a step, whole or not at all.
 *
 *     FOLDER/checkpoint-STEP/manifest.json      names all parts; only it makes a checkpoint
 *     FOLDER/checkpoint-STEP/partRANK           what a rank saved: its own bytes
 *     FOLDER/STEP-ERA.tmp/                      one that is being made
 *
 * Each rank writes and syncs its part; the coordinator, which was told of every part, writes the
 * manifest beside them, syncs it, and renames the folder. Format: troupe-checkpoint(5).
 *
 * Ownership: a manifest is the caller's, for checkpoint_manifest_fini. Thread rules: everything
 * here blocks and belongs on the crew; any thread.
 */
#ifndef ACTORS_CHECKPOINT_H
#define ACTORS_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/files.h"

/* Ranks of a group; each has a line in the manifest. */
#define CHECKPOINT_WORLD_MAX 65536u
#define CHECKPOINT_KEEP_DEFAULT 2u

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

/* All zeros is a manifest without parts. */
void checkpoint_manifest_fini(struct checkpoint_manifest *manifest);

/* Writes and syncs a part of a checkpoint that is being made. */
int checkpoint_write_part(struct files *files, const char *folder, uint64_t step, uint32_t era,
                          uint32_t rank, const void *bytes, size_t count,
                          struct checkpoint_part *part, struct error *error);

/* Makes the checkpoint whose parts are all on disk, and removes those before the newest `keep`
 * (0: CHECKPOINT_KEEP_DEFAULT). */
int checkpoint_commit(struct files *files, const char *folder,
                      const struct checkpoint_manifest *manifest, uint32_t keep,
                      struct error *error);

/* The manifest of a step; TR_ENOENT: there is none. */
int checkpoint_find(struct files *files, const char *folder, uint64_t step,
                    struct checkpoint_manifest *manifest, struct error *error);

/* The newest checkpoint whose parts are all as its manifest says. TR_ENOENT: there is none;
 * TR_EMISMATCH: it is of another number of trainers. `damaged` tells of one that was passed over
 * (the newest such), or has code 0. Removes what was being made when a job ended. */
int checkpoint_choose(struct files *files, const char *folder, uint32_t world,
                      struct checkpoint_manifest *manifest, struct error *damaged,
                      struct error *error);

/* Reads a part of a checkpoint into bytes[part->bytes], and checks it. */
int checkpoint_read_part(struct files *files, const char *folder, uint64_t step, uint32_t rank,
                         const struct checkpoint_part *part, void *bytes, struct error *error);

#endif
