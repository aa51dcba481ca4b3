/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IDs of nodes or edges, in any order, grouped by the partition that has their rows.
 *
 * Partition p's IDs are places [starts[p], starts[p + 1]) of `rows` and `places`, in the order in
 * which they were given. The client fetches and stores rows by it.
 *
 * Ownership: embedded in an operation; id_groups_fini frees what init made, and is harmless to call
 * twice, and for all zeros. Thread rules: pure.
 */
#ifndef ACTORS_DATA_ID_GROUPS_H
#define ACTORS_DATA_ID_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "partition/store/book.h"
#include "runtime/base/error.h"
#include "schemas/messages.h"

struct id_groups {
    uint32_t *starts; /* [num_parts + 1] into rows and places */
    uint32_t *rows;   /* [count] of their partitions, partition after partition */
    uint32_t *places; /* [count]: where each stood in the list */
    uint32_t *owners; /* [count]; while they are grouped */
};

/* Memory of a grouped ID: beside `owners` the ID itself. */
#define ID_GROUPS_BYTES 16u

struct id_list {
    const uint64_t *ids;
    uint32_t count;
    uint64_t first; /* the number of ids[0], for messages */
    uint32_t type;  /* of nodes, or of edges, as the table says */
    uint32_t table; /* MSG_TABLE_*, or a feature's number */
};

/* Whether the type that a table is of is one of edges; else it is of nodes. */
bool table_is_of_edges(uint32_t table);

/* What the IDs are that a fetch of a table takes. */
struct table_ids {
    const char *what; /* "node", "edge", "rank of edges" */
    const char *type; /* its name */
    uint64_t count;   /* IDs stay below */
};
/* type: one that there is, as the table has it. */
struct table_ids table_ids_of(const struct book *book, uint32_t type, uint32_t table);

/* TR_ENOMEM. */
int id_groups_init(struct id_groups *groups, const struct book *book, uint32_t count);
void id_groups_fini(struct id_groups *groups);

/* TR_ERANGE and TR_ETOOBIG name the ID. */
int id_groups_fill(struct id_groups *groups, const struct book *book, const struct id_list *list,
                   struct error *error);

/* Rows of one piece whose numbers and bytes stay within a bound; at least one, at most `left`. */
uint32_t id_groups_piece(uint64_t row_bytes, uint64_t bytes, uint64_t left);

#endif
