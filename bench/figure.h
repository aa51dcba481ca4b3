/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A figure: something of ours measured beside its reference, in the same run.
 *
 * The machines this runs on are shared and noisy, so a number alone says little. Ours and the
 * reference are measured in turn, and the ratio is the median of the pairs' ratios: a neighbour
 * that slows the machine for a minute slows both of a pair.
 *
 * Thread rules: one thread a figure.
 */
#ifndef BENCH_FIGURE_H
#define BENCH_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* An odd number has a median; more than 99 rounds is a soak, not a benchmark. */
#define FIGURE_ROUNDS_MAX 99

/* Measures once; the value is in the figure's unit. */
typedef int figure_measure(void *arg, double *value, struct error *error);

struct figure {
    const char *name;
    const char *unit;
    const char *reference; /* what it is compared with */
    double value;          /* medians */
    double reference_value;
    double ratio;         /* of value to reference_value */
    double goal;          /* of the ratio */
    bool lower_is_better; /* the goal is then an upper bound */
};

/* Measures ours and the reference `rounds` times in turn, after one turn that does not count, and
 * fills value, reference_value and ratio. */
int figure_pair(struct figure *figure, uint32_t rounds, figure_measure *ours,
                figure_measure *reference, void *arg, struct error *error);

/* The same where the reference is a constant (a figure published elsewhere, a physical size). */
int figure_against(struct figure *figure, uint32_t rounds, figure_measure *ours, void *arg,
                   double reference_value, struct error *error);

bool figure_reached(const struct figure *figure);

/* The options of all benchmarks. */
struct bench_options {
    double scale; /* of the big graph: 1 is 2,449,029 nodes and 123,718,280 edges */
    uint32_t rounds;
    uint64_t seed;
    const char *folder; /* where graphs on disk stay; NULL: they are temporary */
};

/* Called for each figure as it is done. */
typedef void bench_emit(void *arg, const struct figure *figure);

struct bench {
    const char *name;
    const char *summary;
    int (*run)(const struct bench_options *options, bench_emit *emit, void *arg,
               struct error *error);
};

/* All benchmarks; name NULL ends. */
extern const struct bench bench_list[];

#endif
