/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster file (troupe-cluster(5)), or DGL's ip_config.txt: its hosts, and the plan that every
 * process of the job makes of it.
 *
 * Ownership: tr_cluster_close() and tr_plan_close() free the handles and the texts that came from
 * them; a plan is closed before its cluster. Thread rules: neither changes; any number of threads
 * may use them, also in a child of fork(), which closes copies of its own.
 */
#ifndef TROUPE_CLUSTER_H
#define TROUPE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_cluster;
struct tr_plan;

/* How the processes will know each other. */
enum tr_cluster_security {
    TR_SECURITY_CERTIFICATES = 0, /* TLS, certificates of both sides */
    TR_SECURITY_SHARED_KEY = 1,   /* TLS, a key that the file names */
    TR_SECURITY_UNIX = 2,         /* unix sockets of one user */
    TR_SECURITY_JOB_KEY = 3,      /* the file names none: TLS, a key that a launcher makes */
    TR_SECURITY_NONE = 4          /* "insecure_network" */
};

struct tr_cluster_info {
    size_t size;
    const char *name;
    const char *graph;       /* DIR/NAME.json; NULL: the file names none */
    const char *checkpoints; /* the folder; NULL: the file names none */
    enum tr_cluster_security security;
    uint32_t num_hosts;
    uint32_t coordinator_host;
    int32_t page_port; /* of the live page that its launcher serves; 0: any; -1: there is none */
};
#define TR_CLUSTER_INFO_INIT                                                                 \
    {                                                                                        \
        sizeof(struct tr_cluster_info), NULL, NULL, NULL, TR_SECURITY_CERTIFICATES, 0, 0, -1 \
    }

struct tr_cluster_host_info {
    size_t size;
    const char *name;
    const char *address;     /* a name, or an IPv4 or IPv6 address; NULL: unix_folder */
    const char *unix_folder; /* of its sockets; NULL: address */
    uint32_t port;           /* of its first process; the others take the next ones */
    unsigned char reserved[4];
};
#define TR_CLUSTER_HOST_INFO_INIT                                    \
    {                                                                \
        sizeof(struct tr_cluster_host_info), NULL, NULL, NULL, 0, "" \
    }

/* Either form, told apart by the first character. TR_ENOENT, TR_EIO; TR_EFORMAT names the field by
 * its path. *out is NULL after a failure. */
TR_API int tr_cluster_open(const char *path, struct tr_cluster **out, struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_cluster_close(struct tr_cluster *cluster);

TR_API int tr_cluster_info(const struct tr_cluster *cluster, struct tr_cluster_info *info,
                           struct tr_error *error);
/* TR_ERANGE: there is no such host. */
TR_API int tr_cluster_host(const struct tr_cluster *cluster, uint32_t host,
                           struct tr_cluster_host_info *info, struct tr_error *error);

struct tr_plan_info {
    size_t size;
    uint32_t num_parts;
    uint32_t num_processes;
    uint32_t num_samplers; /* of the whole job */
    uint32_t num_trainers;
    uint32_t coordinator;    /* the process that has it */
    uint32_t replicas_least; /* processes that serve a partition; each is as good as another */
    uint32_t replicas_most;
    unsigned char reserved[4];
};
#define TR_PLAN_INFO_INIT                                    \
    {                                                        \
        sizeof(struct tr_plan_info), 0, 0, 0, 0, 0, 0, 0, "" \
    }

/* Roles of a process; a mask. */
enum tr_role {
    TR_ROLE_SERVER = 1,
    TR_ROLE_SAMPLER = 2,
    TR_ROLE_TRAINER = 4,
    TR_ROLE_COORDINATOR = 8
};

struct tr_plan_process_info {
    size_t size;
    uint32_t host;
    uint32_t roles;        /* TR_ROLE_* */
    const char *endpoint;  /* where it listens: "10.0.0.2:30050", "[::1]:30050", "unix:PATH" */
    const uint32_t *parts; /* [num_parts] that it serves, ascending */
    uint32_t num_parts;
    uint32_t first_sampler; /* its samplers of the job's are consecutive */
    uint32_t num_samplers;
    uint32_t first_trainer; /* ranks, likewise */
    uint32_t num_trainers;
    unsigned char reserved[4];
};
#define TR_PLAN_PROCESS_INFO_INIT                                                \
    {                                                                            \
        sizeof(struct tr_plan_process_info), 0, 0, NULL, NULL, 0, 0, 0, 0, 0, "" \
    }

/* The plan for that many partitions; 0: those of the file's graph, whose book is read. It says
 * which process has which roles, not whether the processes may talk: a file that chooses no
 * security is no failure here. TR_EINVAL: what the hosts cannot do together, or the file names no
 * graph. *out is NULL after a failure. */
TR_API int tr_plan_open(const struct tr_cluster *cluster, uint32_t num_parts, struct tr_plan **out,
                        struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_plan_close(struct tr_plan *plan);

TR_API int tr_plan_info(const struct tr_plan *plan, struct tr_plan_info *info,
                        struct tr_error *error);
/* TR_ERANGE: there is no such process. */
TR_API int tr_plan_process(const struct tr_plan *plan, uint32_t process,
                           struct tr_plan_process_info *info, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
