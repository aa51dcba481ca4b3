/* SPDX-License-Identifier: Apache-2.0 */
/* From a cluster file to its processes. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/cluster_read.h"

/* A process as its place is decided; its parts come later. */
static void put_process(struct cluster_plan *cp, uint32_t host, uint32_t servers, uint32_t samplers,
                        uint32_t trainers)
{
    struct plan *plan = &cp->plan;
    uint32_t number = plan->num_processes++;
    plan->processes[number] = (struct plan_process){
        .host = host,
        .loops = cp->cluster->hosts[host].loops,
        .servers = servers,
        .samplers = { plan->samplers, samplers },
        .trainers = { plan->trainers, trainers },
    };
    plan->samplers += samplers;
    plan->trainers += trainers;
    cp->processes[number] = (struct cluster_process){
        .host = host,
        .roles = (servers > 0 ? CLUSTER_SERVER : 0) | (samplers > 0 ? CLUSTER_SAMPLER : 0) |
                 (trainers > 0 ? CLUSTER_TRAINER : 0),
    };
}

static void put_host(struct cluster_plan *cp, uint32_t h)
{
    const struct cluster_host *host = &cp->cluster->hosts[h];
    uint32_t first = cp->plan.num_processes;
    bool coordinates = h == cp->cluster->coordinator_host;
    /* The order of roles is that of the processes' numbers, which are the job's: every process
     * makes the same plan. */
    if (host->process_per_role) {
        for (uint32_t i = 0; i < host->servers; i++)
            put_process(cp, h, 1, 0, 0);
        for (uint32_t i = 0; i < host->samplers; i++)
            put_process(cp, h, 0, 1, 0);
        for (uint32_t i = 0; i < host->trainers; i++)
            put_process(cp, h, 0, 0, 1);
    }
    if (cp->plan.num_processes == first)
        put_process(cp, h, host->servers, host->samplers, host->trainers);
    if (coordinates) {
        cp->plan.coordinator = first;
        cp->processes[first].roles |= CLUSTER_COORDINATOR;
    }
}

static void put_endpoints(struct cluster_plan *cp)
{
    uint32_t index = 0;
    for (uint32_t p = 0; p < cp->plan.num_processes; p++) {
        struct cluster_process *process = &cp->processes[p];
        const struct cluster_host *host = &cp->cluster->hosts[process->host];
        index = p > 0 && process->host == cp->processes[p - 1].host ? index + 1 : 0;
        process->index = index;
        if (host->unix_folder != NULL) {
            process->endpoint.kind = ENDPOINT_UNIX;
            snprintf(process->endpoint.host, sizeof process->endpoint.host, "%s/%" PRIu32 ".sock",
                     host->unix_folder, p);
        } else {
            process->endpoint.kind = ENDPOINT_TCP;
            process->endpoint.port = (uint16_t)(host->port + index);
            snprintf(process->endpoint.host, sizeof process->endpoint.host, "%s", host->address);
        }
    }
}

/* Which process serves what: parts[num_parts] (all, where NULL) are dealt over processes[count]. */
struct serving_split {
    const uint32_t *parts;
    uint32_t num_parts;
    const uint32_t *processes;
    uint32_t count;
};

static uint32_t share_begin(const struct serving_split *deal, uint32_t i)
{
    return (uint32_t)((uint64_t)i * deal->num_parts / deal->count);
}

/* Room is there for each: more parts than processes are shared out, else each gets one. */
static uint64_t dealt_parts(const struct serving_split *deal)
{
    return deal->num_parts > deal->count ? deal->num_parts : deal->count;
}

static uint32_t *deal_parts(struct plan *plan, const struct serving_split *deal, uint32_t *room)
{
    for (uint32_t i = 0; i < deal->count; i++) {
        struct plan_process *process = &plan->processes[deal->processes[i]];
        bool shared = deal->num_parts > deal->count;
        uint32_t from = shared ? share_begin(deal, i) : i % deal->num_parts;
        uint32_t to = shared ? share_begin(deal, i + 1) : from + 1;
        process->parts = room;
        process->num_parts = to - from;
        for (uint32_t at = from; at < to; at++)
            *room++ = deal->parts[at];
        if (process->servers > process->num_parts)
            process->servers = process->num_parts;
    }
    return room;
}

struct dealing {
    uint8_t *listed;      /* [num_parts]: a host lists it */
    uint32_t *free_parts; /* those that none lists, or all */
    uint32_t num_free;
    uint32_t *processes; /* that serve, those of one host or of all that list nothing */
};

static uint32_t servers_of(const struct cluster_plan *cp, uint32_t host, uint32_t *processes)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < cp->plan.num_processes; p++)
        if (cp->processes[p].host == host && cp->plan.processes[p].servers > 0)
            processes[count++] = p;
    return count;
}

/* Counts over the hosts that list none. */
static uint32_t free_servers(const struct cluster_plan *cp, uint32_t *processes)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < cp->plan.num_processes; p++)
        if (cp->cluster->hosts[cp->processes[p].host].num_parts == 0 &&
            cp->plan.processes[p].servers > 0)
            processes[count++] = p;
    return count;
}

static int find_listed(const struct cluster_plan *cp, struct dealing *d, struct error *error)
{
    uint32_t num_parts = cp->plan.num_parts;
    for (uint32_t h = 0; h < cp->cluster->num_hosts; h++) {
        const struct cluster_host *host = &cp->cluster->hosts[h];
        for (uint32_t i = 0; i < host->num_parts; i++) {
            if (host->parts[i] >= num_parts)
                return error_set(error, TR_ERANGE,
                                 "%s: host \"%s\" lists partition %" PRIu32
                                 ", the graph has %" PRIu32,
                                 cp->cluster->path, host->name, host->parts[i], num_parts);
            d->listed[host->parts[i]] = 1;
        }
    }
    for (uint32_t p = 0; p < num_parts; p++)
        if (!d->listed[p])
            d->free_parts[d->num_free++] = p;
    uint32_t servers = free_servers(cp, d->processes);
    if (d->num_free > 0 && servers == 0)
        return error_set(error, TR_EINVAL,
                         "%s: partition %" PRIu32 " is in no host's \"parts\", "
                         "and every host with servers lists its own",
                         cp->cluster->path, d->free_parts[0]);
    /* Everything is listed already: the others are replicas of all. */
    for (uint32_t p = 0; p < num_parts && d->num_free == 0; p++)
        d->free_parts[p] = p;
    d->num_free = d->num_free == 0 ? num_parts : d->num_free;
    return 0;
}

/* The deal of host h; that of the hosts that list nothing is number num_hosts. */
static struct serving_split deal_of(const struct cluster_plan *cp, const struct dealing *d,
                                    uint32_t h)
{
    if (h == cp->cluster->num_hosts)
        return (struct serving_split){ d->free_parts, d->num_free, d->processes,
                                       free_servers(cp, d->processes) };
    const struct cluster_host *host = &cp->cluster->hosts[h];
    return (struct serving_split){ host->parts, host->num_parts, d->processes,
                                   host->num_parts == 0 ? 0 : servers_of(cp, h, d->processes) };
}

static int deal_all(struct cluster_plan *cp, struct error *error)
{
    size_t num_parts = cp->plan.num_parts;
    struct dealing d = { .listed = calloc(num_parts + 1, 1),
                         .free_parts = calloc(num_parts + 1, sizeof(uint32_t)),
                         .processes = calloc(cp->plan.num_processes, sizeof(uint32_t)) };
    uint64_t total = 0;
    int rv = d.listed == NULL || d.free_parts == NULL || d.processes == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory for a plan", cp->cluster->path)
                 : find_listed(cp, &d, error);
    /* All deals are counted before one is made: their partitions lie in one block. */
    for (uint32_t h = 0; h <= cp->cluster->num_hosts && rv == 0; h++) {
        struct serving_split deal = deal_of(cp, &d, h);
        total += deal.count == 0 ? 0 : dealt_parts(&deal);
    }
    uint32_t *room = rv != 0 ? NULL : calloc(total + 1, sizeof *room);
    cp->plan.parts = room;
    if (rv == 0 && room == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory for a plan", cp->cluster->path);
    for (uint32_t h = 0; h <= cp->cluster->num_hosts && rv == 0; h++) {
        struct serving_split deal = deal_of(cp, &d, h);
        room = deal.count == 0 ? room : deal_parts(&cp->plan, &deal, room);
    }
    assert(rv != 0 || room == cp->plan.parts + total);
    free(d.listed);
    free(d.free_parts);
    free(d.processes);
    return rv;
}

/* Rule: TCP is proved and encrypted, or somebody said that it need not be. */
static int check_security(const struct cluster *cluster, struct error *error)
{
    bool tls = cluster->tls.ca != NULL || cluster->tls.shared_key != NULL;
    if (cluster->hosts[0].unix_folder != NULL || tls || cluster->insecure_network)
        return 0;
    return error_set(error, TR_EINVAL,
                     "%s: the job uses TCP but no key is configured; set TROUPE_SHARED_KEY, add "
                     "\"tls\" (`troupe cluster keys` makes the keys), or start it with `troupe "
                     "launch`; \"insecure_network\": true goes without in a network of your own",
                     cluster->path);
}

/* Each process has a port of its own for its metrics. */
static int check_metrics(const struct cluster *cluster, size_t processes, struct error *error)
{
    uint32_t port = cluster->metrics.port;
    if (port == 0 || port + processes - 1 <= UINT16_MAX)
        return 0;
    return error_set(error, TR_ERANGE,
                     "%s: metrics.port is %u, and %zu processes, of which process N listens at "
                     "port + N, end above 65535; choose a smaller port",
                     cluster->path, port, processes);
}

int cluster_plan_make(struct cluster_plan *cp, const struct cluster *cluster, uint32_t num_parts,
                      struct error *error)
{
    size_t processes = 1;
    *cp = (struct cluster_plan){ .cluster = cluster };
    int rv = check_security(cluster, error);
    if (rv == 0 && num_parts == 0)
        rv = error_set(error, TR_EINVAL, "%s: a graph of 0 partitions", cluster->path);
    if (rv != 0)
        return rv;
    for (uint32_t h = 0; h < cluster->num_hosts; h++)
        processes += cluster_host_process_count(&cluster->hosts[h]);
    /* One place more is made than there are processes. */
    rv = check_metrics(cluster, processes - 1, error);
    if (rv != 0)
        return rv;
    cp->plan.num_parts = num_parts;
    cp->plan.num_hosts = cluster->num_hosts;
    cp->plan.first_ns = cluster->limits.start_ns != 0 ? cluster->limits.start_ns
                                                      : cluster->limits.recovery_deadline_ns;
    cp->plan.lost_ns = cluster->limits.coordinator_ns;
    cp->plan.processes = calloc(processes, sizeof *cp->plan.processes);
    cp->processes = calloc(processes, sizeof *cp->processes);
    if (cp->plan.processes == NULL || cp->processes == NULL) {
        rv = error_set(error, TR_ENOMEM, "%s: no memory for a plan", cluster->path);
        goto err;
    }
    /* Processes have their numbers before addresses and partitions, which go by these. */
    for (uint32_t h = 0; h < cluster->num_hosts; h++)
        put_host(cp, h);
    put_endpoints(cp);
    rv = deal_all(cp, error);
    if (rv == 0)
        return 0;
err:
    cluster_plan_fini(cp);
    return rv;
}

void cluster_plan_fini(struct cluster_plan *cp)
{
    plan_fini(&cp->plan);
    free(cp->processes);
    *cp = (struct cluster_plan){ 0 };
}

uint32_t cluster_plan_peers(const struct cluster_plan *cp, uint32_t process,
                            struct links_peer *peers)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < cp->plan.num_processes; p++) {
        if (p == process)
            continue;
        peers[count++] = (struct links_peer){
            .node = p,
            .endpoint = cp->processes[p].endpoint,
            .host = cp->cluster->tls.ca == NULL ? NULL
                                                : cp->cluster->hosts[cp->processes[p].host].name,
            .name = cp->cluster->hosts[cp->processes[p].host].name,
        };
    }
    return count;
}

struct plan_range cluster_host_processes(const struct cluster_plan *cp, uint32_t host)
{
    struct plan_range range = { 0 };
    for (uint32_t p = 0; p < cp->plan.num_processes; p++) {
        if (cp->processes[p].host != host)
            continue;
        range.first = range.count == 0 ? p : range.first;
        range.count++;
    }
    return range;
}
