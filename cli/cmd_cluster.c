/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe cluster`: what a cluster file needs, and what follows from it.
 */
#include <stddef.h>

#include <troupe/keys.h>
#include <troupe/partition.h>

#include "cli/cmd_cluster.h"

static const struct option_spec CHECK_OPTIONS[] = {
    { .name = "parts",
      .field = "num_parts",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct cluster_check_values, parts),
      .metavar = "K",
      .min = 1,
      .max = TR_PARTS_MAX,
      .help = "partitions to deal; otherwise those of the file's graph" },
    { .name = "insecure-network",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct cluster_check_values, insecure_network),
      .help = "let hosts connect without TLS, as \"insecure_network\" in the file does" },
    OPTION_ROW_JSON(struct cluster_check_values),
    OPTION_ROW_END,
};

static const char *const CHECK_EXAMPLES[] = {
    "troupe cluster check cluster.json",
    "troupe cluster check ip_config.txt --parts 4 --insecure-network",
    NULL,
};

#define AT(field) offsetof(struct cluster_keys_values, field)

static const struct option_spec KEYS_OPTIONS[] = {
    { .name = "cluster",
      .kind = OPTION_TEXT,
      .offset = AT(cluster),
      .metavar = "FILE",
      .help = "the cluster file that names the hosts" },
    { .name = "hosts",
      .kind = OPTION_TEXT,
      .offset = AT(hosts),
      .metavar = "A,B,C",
      .help = "names or addresses of the hosts, in place of a cluster file" },
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = AT(out),
      .metavar = "DIR",
      .made = true,
      .required = true,
      .help = "the folder of the keys; keys that are there are kept" },
    { .name = "days",
      .kind = OPTION_COUNT,
      .offset = AT(days),
      .metavar = "N",
      .fallback = "365",
      .min = 1,
      .max = TR_KEYS_DAYS_MAX,
      .help = "how long a certificate is valid" },
    { .name = "replace",
      .kind = OPTION_FLAG,
      .offset = AT(replace),
      .help = "make new keys for the hosts, and keep the authority" },
    OPTION_ROW_JSON(struct cluster_keys_values),
    OPTION_ROW_END,
};

static const char *const KEYS_EXAMPLES[] = {
    "troupe cluster keys --cluster cluster.json --out keys",
    "troupe cluster keys --hosts node1,node2,10.0.0.3 --out keys --days 90",
    NULL,
};

static const struct command KINDS[] = {
    { .name = "check",
      .summary = "Show the processes of a cluster file, or what is wrong with it",
      .operands = "FILE",
      .operands_min = 1,
      .operands_max = 1,
      .options = CHECK_OPTIONS,
      .values_size = sizeof(struct cluster_check_values),
      .examples = CHECK_EXAMPLES,
      .run = cluster_check_run },
    { .name = "keys",
      .summary = "Make an authority, and a certificate and key for each host",
      .operands = "",
      .options = KEYS_OPTIONS,
      .values_size = sizeof(struct cluster_keys_values),
      .examples = KEYS_EXAMPLES,
      .run = cluster_keys_run },
    { .name = NULL },
};

const struct command command_cluster = {
    .name = "cluster",
    .summary = "Check a cluster file, and make keys for its hosts",
    .kinds = KINDS,
};
