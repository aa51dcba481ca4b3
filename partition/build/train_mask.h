/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes train: the table "train_mask" of a node type (or the one that the options name), a
 * bool or 8-bit integer a node.
 *
 * Thread rules: one thread. Ownership: callers free the mask.
 */
#ifndef PARTITION_BUILD_TRAIN_MASK_H
#define PARTITION_BUILD_TRAIN_MASK_H

#include "partition/build/job.h"

/* *mask: [num_nodes] by original ID, all 0 where the type has no such table. */
int train_mask_read(struct partition_job *job, uint32_t ntype, uint8_t **mask, struct error *error);

/* Training nodes of the largest partition over the mean; 0 where nothing trains. */
int train_mask_balance(struct partition_job *job, uint32_t *const *parts, double *balance,
                       struct error *error);

#endif
