/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole batches (blocks, features, labels) as the training thread receives them, beside the bare
 * sampling loop and the bare gather, one after the other.
 */
#include "bench/benches.h"

#include "bench/loading.h"

int loader_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                 struct error *error)
{
    return loading_figures(options, "loader", true, "bare loop and gather", emit, arg, error);
}
