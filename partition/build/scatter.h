/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of one type in the order of partitions, destinations and original edge IDs.
 *
 * A counting sort: degrees give where each destination's edges begin, and edges arrive in the order
 * of their IDs, so that taking the next free cell of the destination sorts them. A cell holds
 * column and edge ID side by side, so that an edge costs one miss of the cache: 8 bytes where
 * both fit 32 bits, else 16.
 *
 * Ownership: scatter_fini frees. Thread rules: one thread; loops on the job's parallel, whose
 * tasks split the destinations among themselves.
 */
#ifndef PARTITION_BUILD_SCATTER_H
#define PARTITION_BUILD_SCATTER_H

#include "partition/build/id_plan.h"

struct scatter_narrow {
    uint32_t column;
    uint32_t edge;
};

struct scatter_wide {
    uint64_t column;
    uint64_t edge;
};

struct scatter {
    struct partition_job *job;
    uint32_t etype;
    uint32_t ntype_src, ntype_dst;
    uint64_t num_edges;
    uint64_t num_dst;
    bool wide;
    uint32_t *in_degrees; /* [num_dst] by original ID, of this edge type */
    uint64_t *next;       /* [num_dst] the destination's next free cell */
    void *cells;          /* [num_edges] */
    uint64_t *positions;  /* [num_edges] by original edge ID, where rows of edges need them */
    bool overflow[2];     /* of a 32-bit degree: by destination, by source */
    uint32_t tasks;
};

/* Reads all edges: in_degrees here, the job's degrees, and the plan's edge_counts. */
int scatter_count(struct scatter *scatter, struct partition_job *job, uint32_t etype,
                  struct error *error);
/* Reads all edges again into cells (and positions, if asked). */
int scatter_fill(struct scatter *scatter, bool positions, struct error *error);
void scatter_free_cells(struct scatter *scatter);
void scatter_fini(struct scatter *scatter);

static inline size_t scatter_cell_bytes(const struct scatter *scatter)
{
    return scatter->wide ? sizeof(struct scatter_wide) : sizeof(struct scatter_narrow);
}

#endif
