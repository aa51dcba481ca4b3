/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which owned nodes a mask chooses, found in the one way that servers and the client share.
 *
 * Thread rules: pure.
 */
#ifndef ACTORS_DATA_LOCAL_SELECT_H
#define ACTORS_DATA_LOCAL_SELECT_H

#include <stdbool.h>

#include "graph/local_rows.h"
#include "schemas/messages.h"

/* A mask as somebody walks it; points into the partition. */
struct local_mask {
    struct local_table table; /* rows NULL: all nodes */
    const struct node_part *nodes;
};

/* table: a one-element table or MSG_MASK_ALL. TR_ERANGE, TR_ENOENT, or TR_EINVAL for no mask. */
int local_mask_find(const struct graph_part *part, uint32_t ntype, uint32_t table,
                    struct local_mask *out, struct error *error);

/* Where a piece from `begin` on ends that looks at a bounded number of rows, 4 ms of them, and
 * finds at most `most`; *count: how many it finds. */
uint64_t local_mask_scan(const struct local_mask *mask, uint64_t begin, uint64_t most,
                         uint32_t *count);

/* Writes the chosen of [begin, end): global_ids[count], original_ids[count]. */
void local_mask_read(const struct local_mask *mask, uint64_t begin, uint64_t end,
                     uint64_t *global_ids, uint64_t *original_ids);

#endif
