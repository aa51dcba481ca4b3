/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe simulate`: its options. It runs in troupe-tools, since it plays what stands behind the
 * public API.
 */
#include <stddef.h>

#include "cli/lib/command.h"
#include "cli/simulate_values.h"

static const struct option_spec OPTIONS[] = {
    { .name = "seeds",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct simulate_values, seeds),
      .metavar = "A-B",
      .help = "seeds to run, or one seed" },
    { .name = "minutes",
      .kind = OPTION_REAL,
      .offset = offsetof(struct simulate_values, minutes),
      .metavar = "M",
      .min = 0,
      .max = 1e6,
      .help = "run new seeds for so many minutes" },
    { .name = "failures",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct simulate_values, failures),
      .metavar = "FILE",
      .help = "append what fails to FILE (with --minutes: " SIMULATE_FAILURES_FILE ")" },
    { .name = "die-at",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct simulate_values, die_at),
      .metavar = "POINT[,POINT]",
      .help = "run clusters whose processes die at these fail-points" },
    { .name = "failpoints",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct simulate_values, failpoints),
      .help = "print the names of all fail-points, and run nothing" },
    { .name = "jobs",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct simulate_values, jobs),
      .metavar = "N",
      .fallback = "0",
      .min = 0,
      .max = SIMULATE_JOBS_MAX,
      .help = "seeds at once; 0: one per core" },
    { .name = "twice",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct simulate_values, twice),
      .help = "run each seed twice and compare the two runs; otherwise every eighth seed" },
    { .name = "verbose",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct simulate_values, verbose),
      .help = "print each scenario and the log of its actors" },
    OPTION_ROW_JSON(struct simulate_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe simulate --seeds 0-1999",
    "troupe simulate --seeds 1234 --verbose",
    "troupe simulate --minutes 10",
    NULL,
};

const struct command command_simulate = {
    .name = "simulate",
    .summary = "Run whole jobs under faults in the simulator, from seeds",
    .operands = "",
    .options = OPTIONS,
    .values_size = sizeof(struct simulate_values),
    .examples = EXAMPLES,
    .program = TOOLS_PROGRAM,
};
