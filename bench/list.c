#include "bench/benches.h"

#include <stddef.h>

const struct bench bench_list[] = {
    { "gather", "rows of a local table, beside a bare loop", gather_bench },
    { "kernels", "sampling and relabelling without actors, beside a bare loop", kernels_bench },
    { "step", "a training step, beside its matrix products alone", step_bench },
    { "fanin", "messages from many actors to one", fanin_bench },
    { "roundtrip", "messages there and back within a loop", roundtrip_bench },
    { NULL, NULL, NULL },
};
