/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the losses of a training rise: they stay far above where they were.
 *
 * Losses of small graphs and small batches are noisy, and one that happens to be low says nothing.
 * So a level is the median of several epochs in a row, and a rise must be larger than what the
 * losses fell from one epoch to the next when the level was reached: such falls are noise, or a
 * training that gets on, and a loss that diverges has none.
 *
 * Plain values, nothing to free. Thread rules: one thread at a time.
 */
#ifndef MODEL_LOSS_TREND_H
#define MODEL_LOSS_TREND_H

#include <stdbool.h>
#include <stdint.h>

/* The median of so many epochs is the level of the losses. */
#define LOSS_TREND_WINDOW 7
/* The falls between so many epochs are their noise. */
#define LOSS_TREND_EPOCHS 32

struct loss_trend {
    double recent[LOSS_TREND_EPOCHS]; /* a ring; that of epoch i is in [i % LOSS_TREND_EPOCHS] */
    uint64_t epochs;
    double lowest;   /* median of a window; that of all epochs while they are fewer */
    double noise;    /* the median fall before the end of that window */
    bool few;        /* that window was not full */
    uint32_t raised; /* epochs in a row that are far above it */
};

void loss_trend_init(struct loss_trend *trend);

/* Adds an epoch's loss: whether the losses have risen. loss_trend.lowest says from where. */
bool loss_trend_add(struct loss_trend *trend, double loss);

#endif
