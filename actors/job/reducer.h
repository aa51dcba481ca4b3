/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reducer: a trainer among the other trainers of its group.
 *
 * A pure state machine, one a rank ("reducer/RANK"). Its trainer asks it for one operation at a
 * time (MSG_GROUP_REQUEST): to be restored, to add up values over ranks, to wait at a barrier, to
 * save its part of a checkpoint. It is the group's member among actors: joins the coordinator,
 * hears of eras, and ends everything of an era that is over with TR_EROLLBACK. An operation
 * outlives its call's deadline: a repeat of the call waits for it and gets its answer. Only a
 * barrier ends with its deadline.
 *
 * Values are reduced in pieces, each by its owner (reduce-scatter), which sends the sums back to
 * all (all-gather). An owner adds the pieces of ranks in the order of ranks, whatever order they
 * come in, so a sum has the same bits on every placement. It keeps the sums of the last two
 * reductions: a repeat gets the first answer. All ranks send their pieces in the same order, at
 * most REDUCER_WINDOW ahead of the first that is not summed, so nobody waits in a circle.
 *
 * Ownership: the options outlive the actor and its restarts. Thread rules: an actor's.
 */
#ifndef ACTORS_JOB_REDUCER_H
#define ACTORS_JOB_REDUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/actor.h"

struct files;
struct plan;
struct job_progress;

/* Pieces on their way at once: 64 MiB keep a 10 Gbit/s link busy through a round trip of 50 ms. */
#define REDUCER_WINDOW 16u
/* Values of one reduction: 4 GiB of them, what a message from the trainer may hold. */
#define REDUCER_VALUES_MAX (UINT64_C(1) << 30)
/* Ranks times pieces that one owner adds, twice over, and what knowing them takes. */
#define REDUCER_CLIENTS_MAX (2 * (uint32_t)(REDUCER_VALUES_MAX / REDUCER_PIECE_MIN))
#define REDUCER_CLIENTS_BYTES ((size_t)128 << 20)
/* Pieces are not cut smaller than this: a message costs as much as adding some thousand values. */
#define REDUCER_PIECE_MIN 4096u

struct reducer_options {
    uint32_t rank, world;
    const struct plan *plan;       /* where the coordinator is; NULL: in this process */
    struct address root;           /* see process_member.h */
    struct files *files;           /* NULL: files_posix */
    const char *checkpoints;       /* their folder, "%h" being the host; NULL: none are kept */
    const char *host;              /* "%h"; NULL: stands for itself */
    uint32_t checkpoint_keep;      /* 0: coordinator.h's */
    struct job_progress *progress; /* may be NULL */
    struct job_era *heard;         /* of the process; may be NULL */
    void *faults;                  /* of an actor that stands in for this one in the simulator */
};

/* "reducer/RANK" */
void reducer_name(uint32_t rank, char *name, size_t size);

/* Values a piece of a reduction of `total` has (the last one may have fewer). */
uint32_t reducer_piece_values(uint64_t total, uint32_t world);

/* arg: struct reducer_options. */
extern const struct actor_ops reducer_ops;

/* The meaning of a call's failure to the caller for a trainer: 0, the call is made again a little
 * later; else the code that the trainer gets. A reducer that was started again has forgotten its
 * era, and is looked up anew. completes: MSG_GROUP_FINISH that ends the job. */
int reducer_call_failed(uint32_t operation, bool completes, int status);

#endif
