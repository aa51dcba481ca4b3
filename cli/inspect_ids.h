/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single nodes and edges of a partitioned graph, as `troupe inspect` shows them.
 *
 * Ownership: borrows everything for the call. Thread rules: one thread.
 */
#ifndef CLI_INSPECT_IDS_H
#define CLI_INSPECT_IDS_H

#include <troupe/error.h>

#include "cli/lib/options.h"
#include "cli/lib/report.h"

/* Global IDs within their types; a type's name may be NULL where there is one alone. */
struct inspect_ids {
    const char *node_type, *edge_type;
    struct count_list nodes, edges;
    const char *own_nodes; /* nodes by the user's own IDs, with commas between them; NULL: none */
};

/* path: of a book. Maps the files of its partitions, all of which must be here. */
int inspect_ids(struct report *report, const char *path, const struct inspect_ids *ids,
                struct tr_error *error);

#endif
