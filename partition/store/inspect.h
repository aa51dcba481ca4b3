/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of one partition, for display.
 *
 * Gathered from NAME.json and the heads of all its files, which must agree with it; what follows
 * the heads is not read. Thread rules: any thread.
 */
#ifndef PARTITION_STORE_INSPECT_H
#define PARTITION_STORE_INSPECT_H

#include <stdint.h>

#include "partition/store/store.h"

struct inspect_part {
    uint64_t num_nodes;
    uint64_t num_edges;
    uint64_t halo_nodes;     /* of all hops that were kept */
    uint64_t topology_bytes; /* what a server keeps of it in memory, without features */
    uint64_t feature_bytes;
    uint64_t file_bytes; /* all files of the folder */
};

/* TR_ENOENT, TR_EIO and TR_EFORMAT name a file. part: below the book's number of them. */
int inspect_look(struct store *store, uint32_t part, struct inspect_part *facts,
                 struct error *error);

#endif
