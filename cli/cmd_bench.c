/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe bench`: its options. It runs in troupe-tools, since it measures what stands behind the
 * public API.
 */
#include <stddef.h>

#include "cli/bench_values.h"
#include "cli/lib/command.h"

/* Below, a batch would be the graph. */
#define SCALE_MIN 0.002

#define AT(field) offsetof(struct bench_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "scale",
      .kind = OPTION_REAL,
      .offset = AT(scale),
      .metavar = "X",
      .fallback = "0.2",
      .min = SCALE_MIN,
      .max = 1,
      .help = "size of what is measured; 1 is 124 million edges" },
    { .name = "rounds",
      .kind = OPTION_COUNT,
      .offset = AT(rounds),
      .metavar = "N",
      .fallback = "5",
      .min = 1,
      .max = BENCH_ROUNDS_MAX,
      .help = "measurements of Troupe and of the reference, in turn; the median counts" },
    { .name = "seed",
      .kind = OPTION_COUNT,
      .offset = AT(seed),
      .metavar = "S",
      .fallback = "1",
      .help = "seed of all random choices" },
    { .name = "folder",
      .kind = OPTION_TEXT,
      .offset = AT(folder),
      .metavar = "DIR",
      .help = "for graphs on disk, kept for the next time; otherwise a temporary one" },
    { .name = "list", .kind = OPTION_FLAG, .offset = AT(list), .help = "list the benchmarks" },
    OPTION_ROW_JSON(struct bench_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe bench all --json",
    "troupe bench sampling --scale 1 --folder /var/tmp/bench",
    NULL,
};

const struct command command_bench = {
    .name = "bench",
    .summary = "Measure this machine, each figure beside its reference",
    .operands = "NAME|all",
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct bench_values),
    .examples = EXAMPLES,
    .program = TOOLS_PROGRAM,
};
