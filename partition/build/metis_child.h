/*
 * METIS in a process of its own.
 *
 * METIS replaces signal handlers, can't be cancelled and may run out of memory. The child is a
 * fork, so it reads the graph where it is, and writes the answer into memory that both share; it is
 * killed when somebody cancels, dies with its parent, and offers itself to the kernel's
 * out-of-memory killer before it.
 *
 * Thread rules: one thread waits for its child. Ownership: metis_run frees all.
 */
#ifndef PARTITION_BUILD_METIS_CHILD_H
#define PARTITION_BUILD_METIS_CHILD_H

#include "partition/build/symmetric.h"

struct metis_question {
    const struct symmetric *graph;
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

/* parts: [num_nodes]. TR_ECHILD when the child fails or dies, with how. */
int metis_run(struct partition_job *job, const struct metis_question *question, uint32_t *parts,
              struct metis_answer *answer, struct error *error);

#endif
