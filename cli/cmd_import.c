/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import`: other people's graphs become a raw graph, a folder in DGL's chunked format.
 */
#include <stddef.h>

#include "cli/cmd_import.h"
#include "cli/lib/command.h"

static const struct option_spec EDGES_OPTIONS[] = {
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct import_edges_values, out),
      .metavar = "RAW",
      .required = true,
      .help = "the folder to make" },
    { .name = "undirected",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct import_edges_values, undirected),
      .help = "each line also stands for the reverse edge" },
    { .name = "source",
      .field = "\"source\"",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct import_edges_values, source),
      .metavar = "COLUMN",
      .help = "the column of sources, by its name or number from 1; otherwise found by its name" },
    { .name = "target",
      .field = "\"target\"",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct import_edges_values, target),
      .metavar = "COLUMN",
      .help = "the column of destinations" },
    { .name = "first-id",
      .field = "first_id",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct import_edges_values, first_id),
      .metavar = "N",
      .fallback = "0",
      .help = "the ID of the first node: 1 where IDs begin at 1" },
    { .name = "loops",
      .field = "\"loops\"",
      .kind = OPTION_CHOICE,
      .offset = offsetof(struct import_edges_values, loops),
      .choices = IMPORT_LOOPS,
      .fallback = "keep",
      .help = "edges from a node to itself" },
    { .name = "duplicates",
      .field = "\"duplicates\"",
      .kind = OPTION_CHOICE,
      .offset = offsetof(struct import_edges_values, duplicates),
      .choices = IMPORT_DUPLICATES,
      .fallback = "keep",
      .help = "edges that are there again; keep does not look for them" },
    { .name = "num-nodes",
      .field = "num_nodes",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct import_edges_values, num_nodes),
      .metavar = "N",
      .min = 1,
      .help = "nodes of the graph; otherwise the largest ID and 1" },
    { .name = "delimiter",
      .kind = OPTION_CHOICE,
      .offset = offsetof(struct import_edges_values, delimiter),
      .choices = IMPORT_DELIMITERS,
      .fallback = "any",
      .help = "what stands between the columns of a text" },
    { .name = "replace",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct import_edges_values, replace),
      .help = "replace RAW where it is there" },
    OPTION_ROW_JSON(struct import_edges_values),
    OPTION_ROW_QUIET(struct import_edges_values),
    OPTION_ROW_END,
};

static const char *const EDGES_EXAMPLES[] = {
    "troupe import edges links.csv.gz --undirected --out raw",
    "troupe import edges trades.csv --source buyer --target seller --first-id 1 --out raw",
    "troupe import edges web.mtx --out raw",
    NULL,
};

static const struct option_spec DEBIAN_OPTIONS[] = {
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct import_debian_values, out),
      .metavar = "RAW",
      .required = true,
      .help = "the folder to make" },
    { .name = "from",
      .field = "\"from\"",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct import_debian_values, from),
      .metavar = "FILE",
      .help = "read FILE, with what `apt-cache dumpavail` printed, instead of running it" },
    { .name = "replace",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct import_debian_values, replace),
      .help = "replace RAW where it is there" },
    OPTION_ROW_JSON(struct import_debian_values),
    OPTION_ROW_QUIET(struct import_debian_values),
    OPTION_ROW_END,
};

static const char *const DEBIAN_EXAMPLES[] = {
    "troupe import debian --out raw",
    NULL,
};

static const struct command KINDS[] = {
    { .name = "debian",
      .summary = "The packages of this machine's Debian archive and their dependencies",
      .operands = "",
      .options = DEBIAN_OPTIONS,
      .values_size = sizeof(struct import_debian_values),
      .examples = DEBIAN_EXAMPLES,
      .run = import_debian_run },
    { .name = "edges",
      .summary = "An edge list (CSV, TSV, text, .npy), Matrix Market or METIS file, or packed",
      .operands = "FILE",
      .operands_min = 1,
      .operands_max = 1,
      .options = EDGES_OPTIONS,
      .values_size = sizeof(struct import_edges_values),
      .examples = EDGES_EXAMPLES,
      .run = import_edges_run },
    { .name = NULL },
};

const struct command command_import = {
    .name = "import",
    .summary = "Make a raw graph from other people's files",
    .kinds = KINDS,
};
