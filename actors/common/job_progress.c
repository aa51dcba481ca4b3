#include "actors/common/job_progress.h"

#include <stddef.h>

void standing_init(struct standing *standing)
{
    standing->now = (struct standing_now){ 0 };
    pthread_mutex_init(&standing->mutex, NULL);
}

void standing_fini(struct standing *standing)
{
    pthread_mutex_destroy(&standing->mutex);
}

void standing_note_era(struct standing *standing, uint32_t era, bool found, uint64_t step)
{
    if (standing == NULL)
        return;
    pthread_mutex_lock(&standing->mutex);
    if (standing->now.era != era) { /* the steps of another are taken back */
        standing->now.epoch = 0;
        standing->now.step = standing->now.steps = 0;
    }
    standing->now.era = era;
    standing->now.has_checkpoint = found;
    standing->now.checkpoint = found ? step : 0;
    pthread_mutex_unlock(&standing->mutex);
}

void standing_note_checkpoint(struct standing *standing, uint64_t step)
{
    if (standing == NULL)
        return;
    pthread_mutex_lock(&standing->mutex);
    standing->now.has_checkpoint = true;
    standing->now.checkpoint = step;
    pthread_mutex_unlock(&standing->mutex);
}

void standing_note_step(struct standing *standing, uint32_t epoch, uint64_t step, uint64_t steps)
{
    if (standing == NULL)
        return;
    pthread_mutex_lock(&standing->mutex);
    standing->now.epoch = epoch + 1;
    standing->now.step = step;
    standing->now.steps = steps;
    pthread_mutex_unlock(&standing->mutex);
}

void standing_note_epochs(struct standing *standing, uint32_t epochs)
{
    if (standing == NULL)
        return;
    pthread_mutex_lock(&standing->mutex);
    standing->now.epochs = epochs;
    pthread_mutex_unlock(&standing->mutex);
}

struct standing_now standing_look(struct standing *standing)
{
    struct standing_now now = { 0 };
    if (standing == NULL)
        return now;
    pthread_mutex_lock(&standing->mutex);
    now = standing->now;
    pthread_mutex_unlock(&standing->mutex);
    return now;
}
