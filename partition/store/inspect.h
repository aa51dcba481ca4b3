/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a partition directory, for whoever shows them.
 *
 * Gathered from NAME.json and the heads of all files, which must agree with it; what follows the
 * heads is not read. Names are borrowed from the store. Thread rules: one thread. Ownership:
 * inspect_fini frees; close the store afterwards.
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

struct inspection {
    const struct book_file *file; /* of the store */
    uint64_t num_nodes;
    uint64_t num_edges;
    double node_balance; /* largest over mean; 0 of nothing */
    double edge_balance;
    uint64_t file_bytes;
    struct inspect_part *parts; /* [file->book.num_parts] */
};

int inspect_init(struct inspection *inspection, struct store *store, struct error *error);
void inspect_fini(struct inspection *inspection);

#endif
