/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of the halo lists of a partition, which are found again, hop by hop, from the
 * in-edges of all partitions: those were compared with the input before.
 */
#include <stdlib.h>

#include "partition/build/verify_private.h"
#include "partition/store/part_files.h"

/* Hop by hop, from what was already proven: the in-edges of all partitions. 0: not reached,
 * 1: owned, h + 1: reached first at hop h. */
struct reach {
    struct verification *verification;
    uint8_t **hops; /* [ntype][global ID] */
};

static void expand_row(struct reach *reach, const struct csc *csc, uint64_t row, uint32_t src,
                       uint8_t hop)
{
    for (uint64_t i = csc->index[row]; i < csc->index[row + 1]; i++) {
        uint64_t id = csc->column_global == NULL ? csc->indices[i]
                                                 : csc->column_global[csc->indices[i]];
        if (reach->hops[src][id] == 0)
            reach->hops[src][id] = hop;
    }
}

/* Sources of in-edges of everything that the hop before reached. */
static void expand(struct reach *reach, uint32_t hop)
{
    const struct verification *verification = reach->verification;
    const struct graph_types *types = &verification->book->types;
    for (uint32_t p = 0; p < verification->book->num_parts; p++) {
        for (uint32_t e = 0; e < types->num_etypes; e++) {
            const struct csc *csc = &verification->parts[p]->edges[e].csc;
            uint32_t dst = types->etypes[e].dst;
            uint64_t begin = verification->parts[p]->nodes[dst].global_begin;
            for (uint64_t row = 0; row < csc->num_rows; row++) {
                if (reach->hops[dst][begin + row] == hop)
                    expand_row(reach, csc, row, types->etypes[e].src, (uint8_t)(hop + 1));
            }
        }
    }
}

static int compare(struct reach *reach, uint32_t part, uint32_t ntype, uint32_t hop)
{
    struct verification *verification = reach->verification;
    const struct book *book = verification->book;
    uint64_t *ids, count, at = 0;
    int rv = store_read_halo(verification->store, part, ntype, hop, &ids, &count,
                             verification->error);
    if (rv != 0)
        return rv;
    for (uint64_t id = 0; id < book->num_nodes[ntype] && rv == 0; id++) {
        if (reach->hops[ntype][id] != hop + 1)
            continue;
        if (at == count || ids[at] != id)
            rv = verify_differs(verification, part, part_file_halo(&book->types, ntype, hop),
                                "element", at, at == count ? UINT64_MAX : ids[at], id);
        at++;
    }
    if (rv == 0 && at != count)
        rv = verify_differs(verification, part, part_file_halo(&book->types, ntype, hop),
                            "the number of elements of hop", hop, count, at);
    verification->report->num_halos += count;
    free(ids);
    return rv;
}

int verify_halos(struct verification *verification, uint32_t part)
{
    const struct book *book = verification->book;
    struct reach reach = { .verification = verification };
    reach.hops = calloc(book->types.num_ntypes + 1, sizeof *reach.hops);
    int rv = reach.hops == NULL ? job_no_memory(verification->error, "halo lists", 0) : 0;
    for (uint32_t t = 0; t < book->types.num_ntypes && rv == 0; t++) {
        reach.hops[t] = calloc((size_t)book->num_nodes[t] + 1, 1);
        if (reach.hops[t] == NULL) {
            rv = job_no_memory(verification->error, "halo lists", book->num_nodes[t]);
            break;
        }
        const struct extent *extent = &book->node_extents[t][part];
        for (uint64_t id = extent->begin; id < extent->end; id++)
            reach.hops[t][id] = 1;
    }
    for (uint32_t hop = 1; hop <= book->halo_hops && rv == 0; hop++) {
        expand(&reach, hop);
        for (uint32_t t = 0; t < book->types.num_ntypes && rv == 0; t++)
            rv = compare(&reach, part, t, hop);
    }
    for (uint32_t t = 0; reach.hops != NULL && t < book->types.num_ntypes; t++)
        free(reach.hops[t]);
    free(reach.hops);
    return rv;
}
