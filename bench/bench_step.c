/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training step beside its matrix products alone, on one thread: there the products wait for
 * nothing but arithmetic, so what is around them shows most.
 */
#include "bench/benches.h"

#include "bench/step.h"

#define NODES 2449029.0
#define SEEDS_MIN 64u

int step_bench(const struct bench_options *options, bench_emit *emit, void *arg,
               struct error *error)
{
    double seeds = 1024 * options->scale;
    struct bench_step_plan plan = {
        .num_nodes = (uint64_t)(NODES * options->scale) + 100000,
        .seeds = seeds < SEEDS_MIN ? SEEDS_MIN : (uint32_t)seeds,
        .repeats = options->rounds,
        .dropout = 0.5f,
        .seed = options->seed,
    };
    struct bench_step step;
    int rv = bench_step(&plan, parallel_serial, &step, error);
    if (rv != 0)
        return rv;
    struct figure figure = { .name = "step",
                             .unit = "s",
                             .reference = "its matrix products alone",
                             .value = step.step_s,
                             .reference_value = step.products_s,
                             .ratio = step.ratio,
                             .goal = 1.4,
                             .lower_is_better = true };
    emit(arg, &figure);
    return 0;
}
