/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refusals before partitioning begins: options out of range, names that no file could have.
 *
 * Pure functions of what they are given.
 */
#ifndef PARTITION_BUILD_CHECK_H
#define PARTITION_BUILD_CHECK_H

#include "partition/build/partition.h"

int partition_check(const struct raw_graph *raw, const struct partition_options *options,
                    struct error *error);

#endif
