/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a job stands, as one process knows it: the era, the epoch, its steps, the last checkpoint,
 * and what its trainers have come to. For people: `troupe status`, metrics. Nothing is decided by
 * it.
 *
 * The coordinator and the reducers note eras and checkpoints, the training thread its steps, losses
 * and scores. A process that plays none of them knows nothing, and says zeros.
 *
 * Ownership: embedded; outlives the actors that note. Thread rules: any thread, under its mutex, so
 * that a reader sees an epoch with a step of its own. `progress` may be NULL in all that note.
 */
#ifndef ACTORS_COMMON_JOB_PROGRESS_H
#define ACTORS_COMMON_JOB_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes of the name of a score, with its end. */
#define JOB_SCORE_NAME_MAX 32u

struct job_progress_now {
    uint32_t era;           /* 0: none has begun */
    uint32_t epoch, epochs; /* from 1; of how many; 0: not known */
    uint64_t step, steps;   /* batches of the epoch that a trainer here took, of how many */
    bool has_checkpoint;
    uint64_t checkpoint; /* steps over all epochs that the last committed one has */
    /* When that was committed while this process looked on; 0: before, or not known. */
    uint64_t checkpoint_ns;
    uint64_t seeds; /* of all batches that trainers here took, evaluations left out */
    bool has_loss, has_score;
    double loss, score; /* the last ones that were noted */
    char score_name[JOB_SCORE_NAME_MAX];
};

/* Seeds by time: counted since since_ns, and at a rate in the window before that. */
struct job_pace {
    uint64_t since_ns, window_ns, seeds;
    double rate;
};

struct job_progress {
    pthread_mutex_t mutex;
    struct job_progress_now now; /* guarded by mutex */
    struct job_pace pace;        /* guarded by mutex */
};

void job_progress_init(struct job_progress *progress);
void job_progress_fini(struct job_progress *progress);

/* An era begins, from a checkpoint or from the start; its epoch and step are not known yet. */
void job_progress_note_era(struct job_progress *progress, uint32_t era, bool found, uint64_t step);
/* now_ns: the time of the env's clock, from which the age of the checkpoint counts. */
void job_progress_note_checkpoint(struct job_progress *progress, uint64_t step, uint64_t now_ns);
/* epoch: from 0. */
void job_progress_note_step(struct job_progress *progress, uint32_t epoch, uint64_t step,
                            uint64_t steps);
void job_progress_note_epochs(struct job_progress *progress, uint32_t epochs);
/* A batch of so many seeds was taken. */
void job_progress_note_seeds(struct job_progress *progress, uint64_t seeds, uint64_t now_ns);
/* What is not finite is not known. A name is cut at its bound. */
void job_progress_note_loss(struct job_progress *progress, double loss);
void job_progress_note_score(struct job_progress *progress, const char *name, double score);

/* progress NULL: zeros. */
struct job_progress_now job_progress_look(struct job_progress *progress);
/* Seeds a second, of late: over some seconds or the last batches, whichever is longer. It falls
 * where none come any more. */
double job_progress_pace(struct job_progress *progress, uint64_t now_ns);

#endif
