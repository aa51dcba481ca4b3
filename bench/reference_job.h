/*
 * What a job of two servers comes down to: two processes that sample and gather whole batches in
 * bare loops and write them to sockets over TCP loopback, and this one, which reads them.
 *
 * Ownership: bare_job_close frees all and ends the other processes. Thread rules: the main
 * thread; open while the process has no other.
 */
#ifndef BENCH_REFERENCE_JOB_H
#define BENCH_REFERENCE_JOB_H

#include <stdint.h>

#include "bench/forked_peer.h"

#define BARE_JOB_SERVERS 2u

struct bare_job {
    struct apart servers[BARE_JOB_SERVERS];
    int fds[BARE_JOB_SERVERS];
    char *memory;
    uint64_t next; /* batch */
};

/* graph: of one partition. */
int bare_job_open(struct bare_job *job, const char *graph, uint64_t seed, struct error *error);
void bare_job_close(struct bare_job *job);

/* Takes so many batches; the edges in them. */
int bare_job_take(struct bare_job *job, uint64_t batches, uint64_t *edges, struct error *error);

/* CPU seconds of the two and of this process so far. */
double bare_job_cpu(const struct bare_job *job);

#endif
