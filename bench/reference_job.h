/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that a job of two servers comes down to: two processes that sample and gather whole
 * batches in bare loops and write them to sockets over TCP loopback, and this one, which reads
 * them.
 *
 * Ownership: reference_job_close frees all and ends the other processes. Thread rules: the main
 * thread; open while the process has no other.
 */
#ifndef BENCH_REFERENCE_JOB_H
#define BENCH_REFERENCE_JOB_H

#include <stdint.h>

#include "bench/forked_peer.h"

#define REFERENCE_JOB_SERVERS 2u

struct reference_job {
    struct forked_peer servers[REFERENCE_JOB_SERVERS];
    int fds[REFERENCE_JOB_SERVERS];
    char *memory;
    uint64_t next; /* batch */
};

/* graph: of one partition. */
int reference_job_open(struct reference_job *job, const char *graph, uint64_t seed,
                       struct error *error);
void reference_job_close(struct reference_job *job);

/* Takes so many batches; the edges in them. */
int reference_job_take(struct reference_job *job, uint64_t batches, uint64_t *edges,
                       struct error *error);

/* CPU seconds of the two and of this process so far. */
double reference_job_cpu(const struct reference_job *job);

#endif
