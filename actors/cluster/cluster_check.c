/* SPDX-License-Identifier: Apache-2.0 */
/* Checks constraints between hosts: duplicate addresses, overlapping ports. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/cluster_read.h"

uint32_t cluster_host_process_count(const struct cluster_host *host)
{
    uint32_t roles = host->servers + host->samplers + host->trainers;
    return host->process_per_role || roles == 0 ? roles : 1;
}

/* One that has nothing else to do runs a process for the coordinator. */
static uint32_t ports_of(const struct cluster *cluster, const struct cluster_host *host)
{
    uint32_t count = cluster_host_process_count(host);
    return count == 0 && host == &cluster->hosts[cluster->coordinator_host] ? 1 : count;
}

static int by_name(const void *a, const void *b)
{
    const struct cluster_host *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int by_place(const void *a, const void *b)
{
    const struct cluster_host *const *x = a, *const *y = b;
    int order = strcmp((*x)->address, (*y)->address);
    return order != 0 ? order : (int)(*x)->port - (int)(*y)->port;
}

static int check_names(const struct cluster *cluster, const struct cluster_host **order,
                       struct error *error)
{
    for (uint32_t h = 0; h < cluster->num_hosts; h++)
        order[h] = &cluster->hosts[h];
    qsort(order, cluster->num_hosts, sizeof *order, by_name);
    for (uint32_t h = 1; h < cluster->num_hosts; h++)
        if (strcmp(order[h]->name, order[h - 1]->name) == 0)
            return error_set(error, TR_EINVAL,
                             "%s: hosts: two are called \"%s\"; give each its "
                             "own name",
                             cluster->path, order[h]->name);
    return 0;
}

static int check_ports(const struct cluster *cluster, const struct cluster_host **order,
                       struct error *error)
{
    qsort(order, cluster->num_hosts, sizeof *order, by_place);
    for (uint32_t h = 0; h < cluster->num_hosts; h++) {
        const struct cluster_host *host = order[h];
        uint32_t end = host->port + ports_of(cluster, host);
        if (end > UINT16_MAX + 1u)
            return error_set(error, TR_ERANGE,
                             "%s: host \"%s\": its %" PRIu32 " processes need "
                             "ports from %u on, beyond 65535; give a lower \"port\"",
                             cluster->path, host->name, end - host->port, host->port);
        if (h + 1 < cluster->num_hosts && order[h + 1]->port < end &&
            strcmp(host->address, order[h + 1]->address) == 0)
            return error_set(error, TR_EINVAL,
                             "%s: hosts \"%s\" and \"%s\" are both at %s and "
                             "need port %u; the first takes %u to %" PRIu32,
                             cluster->path, host->name, order[h + 1]->name, host->address,
                             order[h + 1]->port, host->port, end - 1);
    }
    return 0;
}

static int check_sockets(const struct cluster *cluster, struct error *error)
{
    const struct cluster_host *first = &cluster->hosts[0];
    for (uint32_t h = 1; h < cluster->num_hosts; h++)
        if ((cluster->hosts[h].unix_folder != NULL) != (first->unix_folder != NULL))
            return error_set(error, TR_EINVAL,
                             "%s: hosts \"%s\" and \"%s\": one has a unix "
                             "socket, the other a port; all use the one or the other",
                             cluster->path, first->name, cluster->hosts[h].name);
    return 0;
}

/* A job needs somebody in each role, or nothing comes of it. */
static int check_roles(const struct cluster *cluster, struct error *error)
{
    uint64_t servers = 0, samplers = 0, processes = 0;
    for (uint32_t h = 0; h < cluster->num_hosts; h++) {
        const struct cluster_host *host = &cluster->hosts[h];
        servers += host->servers;
        samplers += host->samplers;
        processes += ports_of(cluster, host);
        if (ports_of(cluster, host) == 0)
            return error_set(error, TR_EINVAL,
                             "%s: host \"%s\" runs nothing; give it servers, "
                             "samplers or trainers, or leave it out",
                             cluster->path, host->name);
    }
    if (servers == 0 || samplers == 0)
        return error_set(error, TR_EINVAL, "%s: no host has a %s; one is needed", cluster->path,
                         servers == 0 ? "server" : "sampler");
    if (processes > PLAN_PROCESSES_MAX)
        return error_set(error, TR_ETOOBIG, "%s: %" PRIu64 " processes; at most %u", cluster->path,
                         processes, PLAN_PROCESSES_MAX);
    return 0;
}

int cluster_check(const struct cluster *cluster, struct error *error)
{
    const struct cluster_host **order = calloc(cluster->num_hosts, sizeof *order);
    int rv = order == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", cluster->path) : 0;
    /* Names come first, and list the hosts for the ports; sockets come before ports, which are
     * looked at only where no host has a socket. */
    if (rv == 0)
        rv = check_names(cluster, order, error);
    if (rv == 0)
        rv = check_roles(cluster, error);
    if (rv == 0)
        rv = check_sockets(cluster, error);
    if (rv == 0 && cluster->hosts[0].unix_folder == NULL)
        rv = check_ports(cluster, order, error);
    free(order);
    return rv;
}
