/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/figure.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static int check_rounds(uint32_t rounds, struct error *error)
{
    if (rounds == 0 || rounds > FIGURE_ROUNDS_MAX)
        return error_set(error, TR_ERANGE, "%u rounds: use 1 to %d", rounds, FIGURE_ROUNDS_MAX);
    return 0;
}

int figure_pair(struct figure *figure, uint32_t rounds, figure_measure *ours,
                figure_measure *reference, void *arg, struct error *error)
{
    double values[FIGURE_ROUNDS_MAX], references[FIGURE_ROUNDS_MAX], ratios[FIGURE_ROUNDS_MAX];
    double warm;
    int rv = check_rounds(rounds, error);
    if (rv == 0)
        rv = reference(arg, &warm, error);
    if (rv == 0)
        rv = ours(arg, &warm, error);
    for (uint32_t i = 0; i < rounds && rv == 0; i++) {
        rv = reference(arg, &references[i], error);
        if (rv == 0)
            rv = ours(arg, &values[i], error);
        if (rv == 0)
            ratios[i] = values[i] / references[i];
    }
    if (rv != 0)
        return rv;
    figure->value = median(values, rounds);
    figure->reference_value = median(references, rounds);
    figure->ratio = median(ratios, rounds);
    return 0;
}

int figure_against(struct figure *figure, uint32_t rounds, figure_measure *ours, void *arg,
                   double reference_value, struct error *error)
{
    double values[FIGURE_ROUNDS_MAX];
    double warm;
    int rv = check_rounds(rounds, error);
    if (rv == 0)
        rv = ours(arg, &warm, error);
    for (uint32_t i = 0; i < rounds && rv == 0; i++)
        rv = ours(arg, &values[i], error);
    if (rv != 0)
        return rv;
    figure->value = median(values, rounds);
    figure->reference_value = reference_value;
    figure->ratio = figure->value / reference_value;
    return 0;
}

bool figure_reached(const struct figure *figure)
{
    return figure->lower_is_better ? figure->ratio <= figure->goal : figure->ratio >= figure->goal;
}
