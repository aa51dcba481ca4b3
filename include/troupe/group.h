/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group: the trainers of a job, as one of them sees them.
 *
 * Reductions add in the order of ranks, so a sum has the same bits on every placement. When a
 * trainer dies, or an owner of what training changes, the whole group goes back to the last
 * committed checkpoint: every call then ends with TR_EROLLBACK until tr_group_restore(), which
 * waits for the others, gives this rank what it had saved, and begins the next era.
 *
 *     tr_group_restore(group, timeout, &checkpoint);    first of all, also in a new job
 *     for each step: ... tr_group_reduce(...); every N steps tr_group_save(...)
 *     tr_group_finish(group, timeout);                  last of all
 *
 * Ownership: a group holds its graph alive. Thread rules: one thread at a time; close wakes it.
 */
#ifndef TROUPE_GROUP_H
#define TROUPE_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_graph;
struct tr_group;

/* Joins as trainer `rank`, which must live in this process, else TR_ERANGE. */
TR_API int tr_group_open(struct tr_graph *graph, uint32_t rank, struct tr_group **out,
                         struct tr_error *error);
/* Leaves it; a thread that waits in the group gets TR_ECANCELED. NULL is ignored. */
TR_API void tr_group_close(struct tr_group *group);

/* All that follow may end with TR_ETIMEDOUT, TR_EROLLBACK, TR_ECANCELED, or TR_EINVAL: another
 * thread is inside.
 *
 * A call that timed out may be made again with the same arguments: it then waits for what the first
 * began, and gets its answer. Any other call of the group withdraws that. A barrier is no such
 * call: its timeout is an outcome, and the next one begins a new barrier. */
TR_API uint32_t tr_group_rank(const struct tr_group *group);
TR_API uint32_t tr_group_world(const struct tr_group *group);

/* Replaces values[count] on every rank by their sum over ranks, in the order of ranks. Every rank
 * calls it with the same count, in the same order. A rank with nothing to add gives zeroes. After
 * a failure the values are what they were. After TR_ETIMEDOUT the call may be made again with the
 * same values: those that were given first are what is added up.
 * TR_EMISMATCH: the counts differ; TR_ETOOBIG: the message says the bound. */
TR_API int tr_group_reduce(struct tr_group *group, float *values, size_t count, int64_t timeout_ns,
                           struct tr_error *error);

/* Waits until every rank came to the barrier of that name, or TR_ETIMEDOUT for all. */
TR_API int tr_group_barrier(struct tr_group *group, const char *name, int64_t timeout_ns,
                            struct tr_error *error);

/* This rank's part of a checkpoint: bytes of any format, kept with a checksum. Every rank calls it
 * after the same step, else TR_EMISMATCH. 0: the checkpoint is committed: all parts are on disk and
 * named by its manifest. TR_EINVAL: the session has no folder of checkpoints.
 *
 * TR_ENOSPC (the disk is full), TR_EPERM (it is read-only), TR_EIO, TR_ENOENT, TR_ETOOBIG: the part
 * of this rank, that of another one or the manifest could not be written. Every rank gets a
 * failure, for nobody has this checkpoint; the one before stays. The group is as after a success:
 * go on with the next step, or all call it again for the same one. */
TR_API int tr_group_save(struct tr_group *group, uint64_t step, const void *bytes, size_t count,
                         int64_t timeout_ns, struct tr_error *error);

struct tr_checkpoint {
    size_t size;
    uint64_t step;     /* after which it was saved; 0 with no bytes: the initial state */
    const void *bytes; /* this rank's part, or NULL; the group's, until its next call */
    size_t count;
};
#define TR_CHECKPOINT_INIT                       \
    {                                            \
        sizeof(struct tr_checkpoint), 0, NULL, 0 \
    }

/* Waits for all ranks, and gives the last committed checkpoint to each. */
TR_API int tr_group_restore(struct tr_group *group, int64_t timeout_ns,
                            struct tr_checkpoint *checkpoint, struct tr_error *error);

/* This rank has nothing more to do. Waits until all have said so, then the job ends: on every
 * process its servers, samplers and trainers stop, and nothing can be asked of the graph any more.
 * TR_EROLLBACK: another one died before it was done, and this one is needed again. Once the job has
 * ended here, by whatever rank, every other call of a group gives TR_ECLOSED. */
TR_API int tr_group_finish(struct tr_group *group, int64_t timeout_ns, struct tr_error *error);

/* The same in two steps, for ranks of one process: says that this rank has nothing more to do, and
 * waits until all have said so. The process then waits for the end of its actors once, by
 * tr_graph_wait_end(), for other processes may need them until then. */
TR_API int tr_group_done(struct tr_group *group, int64_t timeout_ns, struct tr_error *error);

/* As tr_group_done(), for a rank that has written what the whole job was for: the job is over, for
 * the other ranks too, and no death takes that back. */
TR_API int tr_group_complete(struct tr_group *group, int64_t timeout_ns, struct tr_error *error);

/* Takes part in a checkpoint that this rank has no part for (code, a TR_E*, says why), so that it
 * fails for all ranks alike, as when a disk refuses a part. Fails with code, or as tr_group_save()
 * does; but as the repeat of a save of the same step that timed out or was interrupted it ends as
 * that one does. A code that says that something may pass (TR_ENOMEM, TR_ETIMEDOUT, …) becomes
 * TR_EIO, as the other ranks get it. */
TR_API int tr_group_skip_save(struct tr_group *group, uint64_t step, int code, int64_t timeout_ns,
                              struct tr_error *error);

/* Wakes the thread that waits in the group (TR_ECANCELED), from any thread; later calls of the
 * group give TR_ECLOSED. It is still to be closed. */
TR_API void tr_group_shut(struct tr_group *group);

#ifdef __cplusplus
}
#endif

#endif
