/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a job stands, as one process knows it: the era, the epoch, its steps, the last checkpoint.
 * For people: `troupe status`, metrics. Nothing is decided by it.
 *
 * The coordinator and the reducers note eras and checkpoints, the training thread its steps. A
 * process that plays none of them knows nothing, and says zeros.
 *
 * Ownership: embedded; outlives the actors that note. Thread rules: any thread, under its mutex, so
 * that a reader sees an epoch with a step of its own. `progress` may be NULL in all that note.
 */
#ifndef ACTORS_COMMON_JOB_PROGRESS_H
#define ACTORS_COMMON_JOB_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct job_progress_now {
    uint32_t era;           /* 0: none has begun */
    uint32_t epoch, epochs; /* from 1; of how many; 0: not known */
    uint64_t step, steps;   /* batches of the epoch that a trainer here took, of how many */
    bool has_checkpoint;
    uint64_t checkpoint; /* steps over all epochs that the last committed one has */
};

struct job_progress {
    pthread_mutex_t mutex;
    struct job_progress_now now; /* guarded by mutex */
};

void job_progress_init(struct job_progress *progress);
void job_progress_fini(struct job_progress *progress);

/* An era begins, from a checkpoint or from the start; its epoch and step are not known yet. */
void job_progress_note_era(struct job_progress *progress, uint32_t era, bool found, uint64_t step);
void job_progress_note_checkpoint(struct job_progress *progress, uint64_t step);
/* epoch: from 0. */
void job_progress_note_step(struct job_progress *progress, uint32_t epoch, uint64_t step,
                            uint64_t steps);
void job_progress_note_epochs(struct job_progress *progress, uint32_t epochs);

/* progress NULL: zeros. */
struct job_progress_now job_progress_look(struct job_progress *progress);

#endif
