/* SPDX-License-Identifier: Apache-2.0 */
/*
 * METIS in a process of its own.
 *
 * METIS replaces signal handlers, can't be cancelled and may run out of memory. The process is the
 * program troupe-metis, which is spawned: a fork of a process with threads may stand still at a
 * lock that another thread held, and doubles what the process may yet write. The graph travels in a
 * memfd, whose memory is the one copy that there is while METIS runs. The helper is killed when
 * somebody cancels, dies with the thread that asked, and offers itself to the kernel's
 * out-of-memory killer before it.
 *
 * Thread rules: one thread waits for its helper. Ownership: metis_run frees all, whatever happens;
 * no descriptor and no ended process is left.
 */
#ifndef PARTITION_BUILD_METIS_CHILD_H
#define PARTITION_BUILD_METIS_CHILD_H

#include "partition/build/symmetric.h"

struct metis_question {
    struct symmetric *graph;
    int32_t num_constraints;
    const int32_t *weights; /* [num_nodes * num_constraints] or NULL: all 1 */
    int32_t num_parts;      /* 2 .. num_nodes - 1 */
    bool volume;
    uint64_t seed;
};

struct metis_answer {
    double seconds;
    int64_t objective;
    uint64_t peak_bytes;
};

/* parts: [num_nodes]. The graph's rows and edges are freed once they are on their way, so that they
 * are not held twice. TR_ECHILD when the helper fails or dies, with how. */
int metis_run(struct partition_job *job, const struct metis_question *question, uint32_t *parts,
              struct metis_answer *answer, struct error *error);

#endif
