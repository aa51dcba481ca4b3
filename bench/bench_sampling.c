/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling through the actors, with relabelling and without rows, beside the bare loop.
 */
#include "bench/benches.h"

#include "bench/loading.h"

int sampling_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                   struct error *error)
{
    return loading_figures(options, "sampling", false, "bare loop", emit, arg, error);
}
