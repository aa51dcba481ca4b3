/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmarks, one file each; list.c names them.
 *
 * Thread rules: one at a time, on the main thread; each frees what it made.
 */
#ifndef BENCH_BENCHES_H
#define BENCH_BENCHES_H

#include "bench/figure.h"

typedef int bench_run(const struct bench_options *options, bench_emit *emit, void *arg,
                      struct error *error);

bench_run sampling_bench, loader_bench, gather_bench, kernels_bench, topology_bench, load_bench;
bench_run import_bench, partition_bench, step_bench, fanin_bench, roundtrip_bench;
bench_run bulk_bench, calls_bench, link_cost_bench, remote_gather_bench, cluster_bench;
bench_run samplers_bench, queries_bench;

#endif
