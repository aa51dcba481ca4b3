/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/common/job_progress.h"

#include <stddef.h>

void job_progress_init(struct job_progress *progress)
{
    progress->now = (struct job_progress_now){ 0 };
    pthread_mutex_init(&progress->mutex, NULL);
}

void job_progress_fini(struct job_progress *progress)
{
    pthread_mutex_destroy(&progress->mutex);
}

void job_progress_note_era(struct job_progress *progress, uint32_t era, bool found, uint64_t step)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    if (progress->now.era != era) { /* the steps of another are taken back */
        progress->now.epoch = 0;
        progress->now.step = progress->now.steps = 0;
    }
    progress->now.era = era;
    progress->now.has_checkpoint = found;
    progress->now.checkpoint = found ? step : 0;
    pthread_mutex_unlock(&progress->mutex);
}

void job_progress_note_checkpoint(struct job_progress *progress, uint64_t step)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->now.has_checkpoint = true;
    progress->now.checkpoint = step;
    pthread_mutex_unlock(&progress->mutex);
}

void job_progress_note_step(struct job_progress *progress, uint32_t epoch, uint64_t step,
                            uint64_t steps)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->now.epoch = epoch + 1;
    progress->now.step = step;
    progress->now.steps = steps;
    pthread_mutex_unlock(&progress->mutex);
}

void job_progress_note_epochs(struct job_progress *progress, uint32_t epochs)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->now.epochs = epochs;
    pthread_mutex_unlock(&progress->mutex);
}

struct job_progress_now job_progress_look(struct job_progress *progress)
{
    struct job_progress_now now = { 0 };
    if (progress == NULL)
        return now;
    pthread_mutex_lock(&progress->mutex);
    now = progress->now;
    pthread_mutex_unlock(&progress->mutex);
    return now;
}
