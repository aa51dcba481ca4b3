/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that the steps of verification share. See verify.h.
 */
#ifndef PARTITION_BUILD_VERIFY_PRIVATE_H
#define PARTITION_BUILD_VERIFY_PRIVATE_H

#include "partition/build/job.h"
#include "partition/build/verify.h"
#include "partition/store/store_private.h"

struct verification {
    struct partition_job job; /* for streams and hooks */
    struct raw_graph *raw;
    struct store *store;
    const struct book *book;
    struct graph_part **parts; /* [num_parts], everything mapped */
    uint64_t **global;         /* [ntype][original ID]: per-type global ID */
    uint32_t **in_degrees;     /* [ntype][original ID], counted from the raw graph */
    uint32_t **out_degrees;
    struct verify_report *report;
    struct error *error;
};

/* TR_EMISMATCH: "PATH: what AT is FOUND, the input says EXPECTED". Frees name. */
int verify_differs(struct verification *verification, uint32_t part, char *name, const char *what,
                   uint64_t at, uint64_t found, uint64_t expected);

int verify_edges(struct verification *verification, uint32_t etype);
int verify_halos(struct verification *verification, uint32_t part);
int verify_rows(struct verification *verification, uint32_t table, const uint64_t *positions);
int verify_names(struct verification *verification);
int verify_ranks(struct verification *verification, uint32_t ntype);
int verify_trainers(struct verification *verification, uint32_t ntype);

/* Those that were written; positions: of edges by original ID, as verify_edges() found them. */
int verify_out_edges(struct verification *verification, uint32_t etype, const uint64_t *positions);

#endif
