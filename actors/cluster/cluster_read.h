/* SPDX-License-Identifier: Apache-2.0 */
/* The files that read clusters share this. */
#ifndef ACTORS_CLUSTER_CLUSTER_READ_H
#define ACTORS_CLUSTER_CLUSTER_READ_H

#include "actors/cluster/cluster.h"

#define CLUSTER_ROLES 4
extern const char *const cluster_role_names[CLUSTER_ROLES];

/* Below a second a busy machine's pauses look like failures; a day is nobody's patience. */
#define CLUSTER_SECONDS_MAX UINT64_C(86400)
#define CLUSTER_RECOVERY_NS (UINT64_C(600) * 1000000000)
#define CLUSTER_CALL_NS (UINT64_C(10) * 1000000000)
#define CLUSTER_COORDINATOR_NS (UINT64_C(30) * 1000000000)
#define CLUSTER_RESTARTS 5u
#define CLUSTER_RESTART_NS (UINT64_C(600) * 1000000000)
#define CLUSTER_CHECKPOINTS "checkpoints/%h"

/* Which of both a file's text (with a NUL after it) is; TR_EFORMAT: none. */
int cluster_find_form(const char *path, const char *text, size_t size, bool *json,
                      struct error *error);

/* Each fills a cluster that holds the defaults; the caller frees it, whatever the result. */
int cluster_read_json(struct files *files, const char *path, struct cluster *cluster,
                      struct error *error);
int cluster_read_ip_config(const char *path, const char *text, struct cluster *cluster,
                           struct error *error);

/* A host as it is where nothing is said about it. */
struct cluster_host cluster_default_host(void);

/* Checks constraints between hosts: duplicate addresses, overlapping ports. */
int cluster_check(const struct cluster *cluster, struct error *error);

/* A path of the file, from its folder; free it. NULL: no memory. */
char *cluster_resolve(const struct cluster *cluster, const char *path);

/* The processes that a host runs, without those that the coordinator adds. */
uint32_t cluster_host_process_count(const struct cluster_host *host);

#endif
