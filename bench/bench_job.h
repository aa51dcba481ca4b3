/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of several processes on this machine, over TCP loopback: this process is the last of
 * them, and the others are started by job_open.
 *
 * Each process is a host of its own in the cluster file. Those that train beside this one take
 * the batches of their own loader all the time that job_go says so.
 *
 * Ownership: job_close frees all and ends the other processes. Thread rules: the main thread;
 * job_open while the process has no other.
 */
#ifndef BENCH_BENCH_JOB_H
#define BENCH_BENCH_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/troupe.h>

#include "bench/forked_peer.h"

#define JOB_PROCESSES_MAX 4u

enum job_shape {
    JOB_SERVED, /* servers alone, and a sampler and trainer here: all by messages */
    JOB_SHARED, /* each serves, samples and trains, and maps the others' files */
};

/* Memory that the processes share: notices that need no messages. */
struct job_shared {
    atomic_bool go;
    atomic_ullong edges[JOB_PROCESSES_MAX], batches[JOB_PROCESSES_MAX];
};

struct bench_job {
    enum job_shape shape;
    uint32_t num_processes; /* with this one */
    uint64_t seed;
    char *folder, *file;
    struct job_shared *shared;
    struct forked_peer others[JOB_PROCESSES_MAX];
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
};

/* graph: of as many partitions as there are serving processes. loading: with loaders of whole
 * batches, features and labels. */
int job_open(struct bench_job *job, enum job_shape shape, uint32_t num_processes, const char *graph,
             bool loading, uint64_t seed, struct error *error);
void job_close(struct bench_job *job);

/* The others take batches, or stop. */
void job_go(struct bench_job *job, bool go);

/* Takes so many batches here; the edges in their blocks. */
int job_take(struct bench_job *job, uint64_t batches, uint64_t *edges, struct error *error);

/* Edges and batches that the others took so far. */
uint64_t job_others_edges(const struct bench_job *job);
uint64_t job_others_batches(const struct bench_job *job);

/* CPU seconds of all its processes so far. */
double job_cpu(const struct bench_job *job);

#endif
