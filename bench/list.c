/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmarks that there are, in the order in which they run and are listed. */
#include "bench/benches.h"

#include <stddef.h>

const struct bench bench_list[] = {
    { "sampling", "edges sampled through the actors, beside a bare loop", sampling_bench },
    { "loader", "whole batches as training receives them, beside bare loops", loader_bench },
    { "gather", "rows of a local table, beside a bare loop", gather_bench },
    { "kernels", "sampling and relabelling without actors, beside a bare loop", kernels_bench },
    { "samplers",
      "uniform draws, by edge types, masks, weights and of LABOR, each beside a reference",
      samplers_bench },
    { "queries", "ends of edges by ID, beside bare searches", queries_bench },
    { "topology", "memory of a partition and of a server", topology_bench },
    { "load", "a partition read with its checksums, beside reading it without", load_bench },
    { "import", "texts of numbers and of names made into a raw graph, beside bare loops",
      import_bench },
    { "partition", "time and memory of partitioning", partition_bench },
    { "step", "a training step, beside its matrix products alone", step_bench },
    { "fanin", "messages from many actors to one", fanin_bench },
    { "roundtrip", "messages there and back within a loop", roundtrip_bench },
    { "bulk", "bodies to another process over TCP loopback, plain and through TLS", bulk_bench },
    { "calls", "small calls to another process over TCP loopback", calls_bench },
    { "link_cost", "what a link adds to a hop of 1024 seeds", link_cost_bench },
    { "remote_gather", "rows from a server of another process", remote_gather_bench },
    { "cluster", "whole batches in a job of several processes, beside bare loops", cluster_bench },
    { NULL, NULL, NULL },
};
