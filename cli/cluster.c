/*
 * `troupe cluster`: what a cluster file needs, and what follows from it.
 */
#include <stddef.h>

#include "cli/cluster.h"
#include "partition/book.h"

static const struct option_spec CHECK_OPTIONS[] = {
    {.name = "parts", .kind = OPTION_COUNT, .offset = offsetof(struct cluster_check_values, parts),
     .metavar = "K", .min = 1, .max = BOOK_PARTS_MAX,
     .help = "partitions to deal; otherwise those of the file's graph"},
    {.name = "insecure-network", .kind = OPTION_FLAG,
     .offset = offsetof(struct cluster_check_values, insecure_network),
     .help = "hosts may talk without TLS, as if the file said so"},
    OPTION_ROW_JSON(struct cluster_check_values),
    OPTION_ROW_END,
};

static const char *const CHECK_EXAMPLES[] = {
    "troupe cluster check cluster.json",
    "troupe cluster check ip_config.txt --parts 4 --insecure-network",
    NULL,
};

static const struct command KINDS[] = {
    {.name = "check",
     .summary = "Show the processes of a cluster file, or what is wrong with it",
     .operands = "FILE",
     .operands_min = 1,
     .operands_max = 1,
     .options = CHECK_OPTIONS,
     .values_size = sizeof(struct cluster_check_values),
     .examples = CHECK_EXAMPLES,
     .run = cluster_check_run},
    {.name = NULL},
};

const struct command command_cluster = {
    .name = "cluster",
    .summary = "Look at the hosts that do a job together",
    .kinds = KINDS,
};
