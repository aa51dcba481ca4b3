/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loss_trend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The constants were chosen on made series of 400 epochs: where the logarithm of the losses is
 * Gaussian noise of deviation 0.3, with or without a fall, about two in a hundred are taken for
 * rising. */

/* So many epochs in a row must be far above the level. */
#define RAISED_EPOCHS 4
#define RISE_FACTOR 1.5
/* While the level is that of fewer epochs than a window, whose noise is not known. */
#define RISE_FACTOR_FEW 3.0
#define RISE_LEAST 0.05
/* A rise is so many times the noise: medians of one level differ by up to about three times. */
#define NOISE_FACTOR 5.0

void loss_trend_init(struct loss_trend *trend)
{
    *trend = (struct loss_trend){ .lowest = (double)INFINITY };
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The upper one of the two in the middle, so that of two losses the lower one does not count. */
static double upper_median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* The last losses, at most `most` of them, the latest first. */
static unsigned copy_recent(const struct loss_trend *trend, unsigned most, double *out)
{
    unsigned count = 0;
    for (uint64_t i = trend->epochs; i > 0 && count < most; i--)
        out[count++] = trend->recent[(i - 1) % LOSS_TREND_EPOCHS];
    return count;
}

static double measure_noise(const struct loss_trend *trend)
{
    double losses[LOSS_TREND_EPOCHS], falls[LOSS_TREND_EPOCHS];
    unsigned count = copy_recent(trend, LOSS_TREND_EPOCHS, losses), num_falls = 0;
    for (unsigned i = 1; i < count; i++) {
        if (losses[i - 1] < losses[i])
            falls[num_falls++] = losses[i] - losses[i - 1];
    }
    return num_falls == 0 ? 0 : upper_median(falls, num_falls);
}

bool loss_trend_add(struct loss_trend *trend, double loss)
{
    double window[LOSS_TREND_WINDOW];
    trend->recent[trend->epochs++ % LOSS_TREND_EPOCHS] = isfinite(loss) ? loss : DBL_MAX;
    double level = upper_median(window, copy_recent(trend, LOSS_TREND_WINDOW, window));
    if (level < trend->lowest) {
        trend->lowest = level;
        /* A level that is near nothing was reached by falls that are no noise. */
        trend->noise = fmin(measure_noise(trend), level);
        trend->few = trend->epochs < LOSS_TREND_WINDOW;
    }
    double factor = trend->few ? RISE_FACTOR_FEW : RISE_FACTOR;
    trend->raised = loss <= factor * trend->lowest + RISE_LEAST ? 0 : trend->raised + 1;
    return trend->raised >= RAISED_EPOCHS && level > trend->lowest + NOISE_FACTOR * trend->noise;
}
