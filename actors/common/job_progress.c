/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/common/job_progress.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* A rate covers at least so much time, so that it does not jump with each batch. */
#define PACE_NS UINT64_C(2000000000)
/* Where the next batch takes more than this many windows the rate falls. */
#define PACE_LATE 3u

void job_progress_init(struct job_progress *progress)
{
    progress->now = (struct job_progress_now){ 0 };
    progress->pace = (struct job_pace){ 0 };
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
    /* It was committed before this era, at a time that need not be known here. */
    if (!found || progress->now.checkpoint != step)
        progress->now.checkpoint_ns = 0;
    progress->now.checkpoint = found ? step : 0;
    pthread_mutex_unlock(&progress->mutex);
}

void job_progress_note_checkpoint(struct job_progress *progress, uint64_t step, uint64_t now_ns)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->now.has_checkpoint = true;
    progress->now.checkpoint = step;
    progress->now.checkpoint_ns = now_ns;
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

void job_progress_note_seeds(struct job_progress *progress, uint64_t seeds, uint64_t now_ns)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    struct job_pace *pace = &progress->pace;
    progress->now.seeds += seeds;
    if (pace->since_ns == 0) {
        /* How long the first batch took is not known, so its seeds count for no rate. */
        pace->since_ns = now_ns;
    } else {
        pace->seeds += seeds;
        if (now_ns - pace->since_ns >= PACE_NS) {
            pace->window_ns = now_ns - pace->since_ns;
            pace->rate = (double)pace->seeds * 1e9 / (double)pace->window_ns;
            pace->since_ns = now_ns;
            pace->seeds = 0;
        }
    }
    pthread_mutex_unlock(&progress->mutex);
}

void job_progress_note_loss(struct job_progress *progress, double loss)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->now.has_loss = isfinite(loss);
    progress->now.loss = progress->now.has_loss ? loss : 0;
    pthread_mutex_unlock(&progress->mutex);
}

void job_progress_note_score(struct job_progress *progress, const char *name, double score)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->now.has_score = isfinite(score);
    progress->now.score = progress->now.has_score ? score : 0;
    snprintf(progress->now.score_name, sizeof progress->now.score_name, "%s", name);
    pthread_mutex_unlock(&progress->mutex);
}

double job_progress_pace(struct job_progress *progress, uint64_t now_ns)
{
    if (progress == NULL)
        return 0;
    pthread_mutex_lock(&progress->mutex);
    const struct job_pace pace = progress->pace;
    pthread_mutex_unlock(&progress->mutex);
    uint64_t over_ns = now_ns > pace.since_ns ? now_ns - pace.since_ns : 0;
    if (pace.since_ns == 0 || over_ns == 0)
        return pace.rate;
    /* The window before counts until this one has gone on for long: batches that are slower than a
     * look would show as 0 in between. */
    if (pace.window_ns != 0 && over_ns < PACE_LATE * pace.window_ns)
        return pace.rate;
    return (double)pace.seeds * 1e9 / (double)over_ns;
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
