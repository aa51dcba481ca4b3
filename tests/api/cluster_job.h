/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four processes of a cluster file, each with a server, a sampler and a trainer, as sessions of
 * one test program that are linked by sockets.
 */
#ifndef TESTS_API_CLUSTER_JOB_H
#define TESTS_API_CLUSTER_JOB_H

#include <troupe/troupe.h>

#define CLUSTER_JOB_PROCESSES 4u

struct cluster_job {
    char folder[64], file[80];
    struct tr_session *sessions[CLUSTER_JOB_PROCESSES];
    struct tr_graph *graphs[CLUSTER_JOB_PROCESSES];
};

/* path: of the book; limits: the members of the cluster file's object of that name. */
void cluster_job_open(struct cluster_job *job, const char *path, const char *limits);
void cluster_job_close(struct cluster_job *job);

#endif
