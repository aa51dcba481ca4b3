/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a mini-batch: one number that two equal batches share on any machine.
 *
 * Everything is hashed as original IDs, in the order in which it stands in the batch, so the
 * digest does not depend on partitions, hosts or the numbering they brought.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_DIGEST_H
#define GRAPH_DIGEST_H

#include <stdint.h>

#include "graph/batch.h"

/* TR_EINVAL when a node type with nodes has no original_ids. */
int batch_digest(const struct mini_batch *batch, uint64_t *digest);

#endif
