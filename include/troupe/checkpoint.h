/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints on disk (troupe-checkpoint(5)), as somebody reads them after or beside the job.
 *
 * A list is opened at a folder of checkpoints, which a run keeps, or at one checkpoint. All its
 * manifests are read at once, and parts are looked for; a checkpoint that a running job removes in
 * between is left out. Later calls read what a file holds then.
 *
 * A part is what one trainer saved: bytes that only the trainer understands. Those of the built-in
 * one begin with its position (troupe/trainer_state.h).
 *
 * Ownership: tr_checkpoints_close() frees the list and the texts that came from it. Thread rules: a
 * list does not change; any number of threads may use it, also in a child of fork(), which closes a
 * copy of its own.
 */
#ifndef TROUPE_CHECKPOINT_H
#define TROUPE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_checkpoints;

struct tr_checkpoints_info {
    size_t size;
    bool single;         /* the path named one checkpoint, not a folder of them */
    uint32_t unfinished; /* folders without a manifest, which are no checkpoints */
    size_t count;        /* of the list, newest first */
};
#define TR_CHECKPOINTS_INFO_INIT                        \
    {                                                   \
        sizeof(struct tr_checkpoints_info), false, 0, 0 \
    }

struct tr_checkpoint_info {
    size_t size;
    const char *path;
    uint64_t step;
    uint32_t era; /* in which it was saved */
    uint32_t num_parts;
    uint32_t parts_here; /* where hosts share no folder, each has some of the parts */
    uint64_t bytes;      /* of all parts, here or not */
};
#define TR_CHECKPOINT_INFO_INIT                                \
    {                                                          \
        sizeof(struct tr_checkpoint_info), NULL, 0, 0, 0, 0, 0 \
    }

struct tr_checkpoint_part_info {
    size_t size;
    uint64_t bytes;
    uint32_t crc32c;
    bool here;
    unsigned char reserved[3];
};
#define TR_CHECKPOINT_PART_INFO_INIT                            \
    {                                                           \
        sizeof(struct tr_checkpoint_part_info), 0, 0, false, "" \
    }

/* Whether the path names a checkpoint or a folder of them; a raw graph never is one. */
TR_API bool tr_checkpoints_named(const char *path);

/* The path of a session's folder of checkpoints on that host: "%h" in it stands for the host's
 * name. host NULL: it stands for itself. TR_ETOOBIG: path [bytes] is too short. */
TR_API int tr_checkpoints_folder(const char *folder, const char *host, char *path, size_t bytes,
                                 struct tr_error *error);
/* Whether a folder has any, whole or not. One that cannot be listed counts as if it had. */
TR_API bool tr_checkpoints_exist(const char *folder);
/* Removes all but the newest `keep`; no folder is fine. No job may be saving there. */
TR_API int tr_checkpoints_remove(const char *folder, uint32_t keep, struct tr_error *error);

/* TR_ENOENT: there is none that was finished; TR_EFORMAT names a manifest that is not as it must
 * be, or a part that is not as long as its manifest says. *out is NULL after a failure. */
TR_API int tr_checkpoints_open(const char *path, struct tr_checkpoints **out,
                               struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_checkpoints_close(struct tr_checkpoints *list);

/* The two that follow this one give TR_ERANGE where there is no such number. */
TR_API int tr_checkpoints_info(const struct tr_checkpoints *list, struct tr_checkpoints_info *info,
                               struct tr_error *error);
TR_API int tr_checkpoints_get(const struct tr_checkpoints *list, size_t index,
                              struct tr_checkpoint_info *info, struct tr_error *error);
TR_API int tr_checkpoints_part(const struct tr_checkpoints *list, size_t index, uint32_t rank,
                               struct tr_checkpoint_part_info *info, struct tr_error *error);

/* Bytes [offset, offset + count) of a part, as they lie there. TR_ERANGE: there are no such bytes;
 * TR_ENOENT: the part is not here, or no longer. */
TR_API int tr_checkpoints_read(const struct tr_checkpoints *list, size_t index, uint32_t rank,
                               uint64_t offset, size_t count, void *bytes, struct tr_error *error);

/* A whole part, compared with its checksum; bytes NULL: only compares. count: [bytes of the part],
 * else TR_ERANGE; ignored with NULL. TR_EFORMAT: it is not what was saved. */
TR_API int tr_checkpoints_read_part(const struct tr_checkpoints *list, size_t index, uint32_t rank,
                                    size_t count, void *bytes, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
