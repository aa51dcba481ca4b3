/*
 * What is refused before partitioning begins: options out of range, names that no file could have.
 *
 * Pure functions of what they are given.
 */
#ifndef PARTITION_CHECK_H
#define PARTITION_CHECK_H

#include "partition/partition.h"

int partition_check(const struct raw_graph *raw, const struct partition_options *options,
                    struct error *error);

#endif
