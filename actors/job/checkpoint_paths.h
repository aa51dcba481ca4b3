/* SPDX-License-Identifier: Apache-2.0 */
/* Names inside a folder of checkpoints, for the files that implement actors/job/checkpoint.h and
 * for commands that show them. */
#ifndef ACTORS_JOB_CHECKPOINT_PATHS_H
#define ACTORS_JOB_CHECKPOINT_PATHS_H

#include "actors/job/checkpoint.h"

#define CHECKPOINT_PREFIX "checkpoint-"
#define CHECKPOINT_ASIDE ".tmp"
#define CHECKPOINT_MANIFEST "manifest.json"
/* Behind the name of a part that is being written: by its own host, by another one. */
#define CHECKPOINT_WRITTEN ".new"
#define CHECKPOINT_COPIED ".copy"
/* A line of 64 bytes a rank, and some. */
#define CHECKPOINT_MANIFEST_BYTES_MAX ((size_t)16 << 20)

/* In malloc'ed memory, or NULL. */
char *checkpoint_path(const char *folder, uint64_t step);
char *checkpoint_path_aside(const char *folder, uint64_t step, uint32_t era);
char *checkpoint_part_path(const char *folder, uint32_t rank);
char *checkpoint_fresh_path(const char *path, const char *by);

/* Gives a part that was written and synced its name, durably: what has that name is always whole,
 * however often a part is saved again. */
int checkpoint_put_part(struct files *files, const char *fresh, const char *path,
                        struct error *error);

/* Removes one that is there, its manifest first: what is left of it is then no checkpoint, whenever
 * the removal ends. */
int checkpoint_remove(struct files *files, const char *path, struct error *error);

/* A new file with those bytes, synced; its folder is not. */
int checkpoint_write_file(struct files *files, const char *path, const void *bytes, size_t count,
                          struct error *error);

/* Reads a part's file into bytes[part->bytes] (NULL: nowhere), and checks it. */
int checkpoint_read_checked(struct files *files, const char *path,
                            const struct checkpoint_part *part, void *bytes, struct error *error);

/* True: the name of a checkpoint's folder, or of one that is being made. */
bool checkpoint_name_step(const char *name, uint64_t *step);
bool checkpoint_name_aside(const char *name, uint64_t *step, uint32_t *era);

/* What a listing of a folder that failed with that errno (negative) says. 0: the folder is not
 * there, and so has none; TR_E*: it may have any. */
int checkpoint_unlisted(struct files *files, const char *folder, int listed, struct error *error);

/* checkpoint_commit of what parts there are. */
int checkpoint_make(struct files *files, const char *folder,
                    const struct checkpoint_manifest *manifest, uint32_t keep, struct error *error);

/* Reads every part and compares its checksum. */
int checkpoint_verify(struct files *files, const char *folder,
                      const struct checkpoint_manifest *manifest, struct error *error);

#endif
