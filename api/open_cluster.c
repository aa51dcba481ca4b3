/* SPDX-License-Identifier: Apache-2.0 */
/* Cluster files, plans and keys through the public API. */
#include <stdlib.h>
#include <string.h>

#include <troupe/cluster.h>
#include <troupe/keys.h>

#include "actors/cluster/cluster.h"
#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"
#include "partition/store/book_json.h"
#include "runtime/net/keys.h"

_Static_assert((int)TR_ROLE_SERVER == (int)CLUSTER_SERVER &&
                   (int)TR_ROLE_SAMPLER == (int)CLUSTER_SAMPLER &&
                   (int)TR_ROLE_TRAINER == (int)CLUSTER_TRAINER &&
                   (int)TR_ROLE_COORDINATOR == (int)CLUSTER_COORDINATOR,
               "masks of roles are handed on");
_Static_assert(TR_KEYS_DAYS_MAX == KEYS_DAYS_MAX, "callers and keys have the same bound");

struct tr_cluster {
    struct cluster cluster; /* insecure_network is set, so that a plan can be made of any */
    enum tr_cluster_security security;
};

struct tr_plan {
    struct cluster_plan plan;
    char (*endpoints)[ENDPOINT_TEXT_MAX]; /* [plan.plan.num_processes] */
};

static enum tr_cluster_security security_of(const struct cluster *cluster)
{
    if (cluster->tls.ca != NULL)
        return TR_SECURITY_CERTIFICATES;
    if (cluster->tls.shared_key != NULL)
        return TR_SECURITY_SHARED_KEY;
    if (cluster->hosts[0].unix_folder != NULL)
        return TR_SECURITY_UNIX;
    return cluster->insecure_network ? TR_SECURITY_NONE : TR_SECURITY_JOB_KEY;
}

int tr_cluster_open(const char *path, struct tr_cluster **out, struct tr_error *error)
{
    struct error inner = { 0 };
    struct tr_cluster *cluster = calloc(1, sizeof *cluster);
    *out = NULL;
    int rv;
    if (cluster == NULL)
        rv = error_set(&inner, TR_ENOMEM, "no memory to open a cluster file");
    else if (path == NULL)
        rv = error_set(&inner, TR_EINVAL, "a cluster file's path is NULL");
    else
        rv = cluster_read(files_posix, path, &cluster->cluster, &inner);
    if (rv != 0) {
        free(cluster);
        return error_give(&inner, error);
    }
    cluster->security = security_of(&cluster->cluster);
    cluster->cluster.insecure_network = true;
    *out = cluster;
    return 0;
}

void tr_cluster_close(struct tr_cluster *cluster)
{
    if (cluster == NULL)
        return;
    cluster_fini(&cluster->cluster);
    free(cluster);
}

int tr_cluster_info(const struct tr_cluster *cluster, struct tr_cluster_info *info,
                    struct tr_error *error)
{
    const struct cluster *from = &cluster->cluster;
    const struct tr_cluster_info known = { .name = from->name,
                                           .graph = from->graph,
                                           .checkpoints = from->checkpoints.folder,
                                           .security = cluster->security,
                                           .num_hosts = from->num_hosts,
                                           .coordinator_host = from->coordinator_host,
                                           .page_port = from->page_port };
    return sized_write(info, &known, sizeof known, "tr_cluster_info", error);
}

int tr_cluster_host(const struct tr_cluster *cluster, uint32_t host,
                    struct tr_cluster_host_info *info, struct tr_error *error)
{
    if (host >= cluster->cluster.num_hosts)
        return schema_refuse("host", host, cluster->cluster.num_hosts, error);
    const struct cluster_host *from = &cluster->cluster.hosts[host];
    const struct tr_cluster_host_info known = { .name = from->name,
                                                .address = from->address,
                                                .unix_folder = from->unix_folder,
                                                .port = from->port };
    return sized_write(info, &known, sizeof known, "tr_cluster_host_info", error);
}

static int count_parts(const struct cluster *cluster, uint32_t given, uint32_t *num_parts,
                       struct error *error)
{
    struct book_file file;
    *num_parts = given;
    if (given != 0)
        return 0;
    if (cluster->graph == NULL)
        return error_set(error, TR_EINVAL,
                         "%s: it names no \"graph\"; give num_parts, the number of partitions",
                         cluster->path);
    int rv = book_file_read(&file, files_posix, cluster->graph, error);
    if (rv != 0)
        return rv;
    *num_parts = file.book.num_parts;
    book_file_fini(&file);
    return 0;
}

static int open_plan(const struct cluster *cluster, uint32_t given, struct tr_plan *plan,
                     struct error *error)
{
    uint32_t num_parts;
    int rv = count_parts(cluster, given, &num_parts, error);
    if (rv == 0)
        rv = cluster_plan_make(&plan->plan, cluster, num_parts, error);
    if (rv != 0)
        return rv;
    uint32_t count = plan->plan.plan.num_processes;
    plan->endpoints = calloc((size_t)count + 1, sizeof *plan->endpoints);
    if (plan->endpoints == NULL) {
        cluster_plan_fini(&plan->plan);
        return error_set(error, TR_ENOMEM, "%s: no memory for its plan", cluster->path);
    }
    for (uint32_t p = 0; p < count; p++)
        endpoint_format(&plan->plan.processes[p].endpoint, plan->endpoints[p], ENDPOINT_TEXT_MAX);
    return 0;
}

int tr_plan_open(const struct tr_cluster *cluster, uint32_t num_parts, struct tr_plan **out,
                 struct tr_error *error)
{
    struct error inner = { 0 };
    struct tr_plan *plan = calloc(1, sizeof *plan);
    *out = NULL;
    int rv = plan == NULL ? error_set(&inner, TR_ENOMEM, "no memory for a plan")
                          : open_plan(&cluster->cluster, num_parts, plan, &inner);
    if (rv != 0) {
        free(plan);
        return error_give(&inner, error);
    }
    *out = plan;
    return 0;
}

void tr_plan_close(struct tr_plan *plan)
{
    if (plan == NULL)
        return;
    cluster_plan_fini(&plan->plan);
    free(plan->endpoints);
    free(plan);
}

int tr_plan_info(const struct tr_plan *plan, struct tr_plan_info *info, struct tr_error *error)
{
    const struct plan *from = &plan->plan.plan;
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t part = 0; part < from->num_parts; part++) {
        uint32_t count = plan_part_nodes(from, part, 0, NULL, 0);
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    const struct tr_plan_info known = { .num_parts = from->num_parts,
                                        .num_processes = from->num_processes,
                                        .num_samplers = from->samplers,
                                        .num_trainers = from->trainers,
                                        .coordinator = from->coordinator,
                                        .replicas_least = least,
                                        .replicas_most = most };
    return sized_write(info, &known, sizeof known, "tr_plan_info", error);
}

int tr_plan_process(const struct tr_plan *plan, uint32_t process, struct tr_plan_process_info *info,
                    struct tr_error *error)
{
    if (process >= plan->plan.plan.num_processes)
        return schema_refuse("process", process, plan->plan.plan.num_processes, error);
    const struct plan_process *plays = &plan->plan.plan.processes[process];
    const struct cluster_process *from = &plan->plan.processes[process];
    const struct tr_plan_process_info known = { .host = from->host,
                                                .roles = from->roles,
                                                .endpoint = plan->endpoints[process],
                                                .parts = plays->parts,
                                                .num_parts = plays->num_parts,
                                                .first_sampler = plays->samplers.first,
                                                .num_samplers = plays->samplers.count,
                                                .first_trainer = plays->trainers.first,
                                                .num_trainers = plays->trainers.count };
    return sized_write(info, &known, sizeof known, "tr_plan_process_info", error);
}

static const struct tr_keys_options DEFAULTS = { .size = sizeof DEFAULTS, .days = 365 };

void tr_keys_options_init_sized(struct tr_keys_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
}

static int make_keys(const struct tr_keys_options *options, struct keys_report *made,
                     struct error *error)
{
    if (options->folder == NULL || options->folder[0] == '\0')
        return error_set(error, TR_EINVAL, "folder: the folder of the keys is not named");
    if (options->days == 0 || options->days > TR_KEYS_DAYS_MAX)
        return error_set(error, TR_EINVAL, "days: %u; 1 to %d are possible", options->days,
                         TR_KEYS_DAYS_MAX);
    struct keys_host *hosts = calloc(options->num_hosts + 1, sizeof *hosts);
    if (hosts == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for the hosts", options->folder);
    int rv = 0;
    for (size_t i = 0; i < options->num_hosts && rv == 0; i++) {
        hosts[i].name = options->hosts[i];
        hosts[i].address = options->addresses != NULL ? options->addresses[i] : NULL;
        if (hosts[i].name == NULL)
            rv = error_set(error, TR_EINVAL, "hosts[%zu]: it is NULL", i);
    }
    const struct keys_options inner = { .folder = options->folder,
                                        .hosts = hosts,
                                        .num_hosts = options->num_hosts,
                                        .days = options->days,
                                        .replace = options->replace };
    if (rv == 0)
        rv = keys_make(&inner, made, error);
    free(hosts);
    return rv;
}

int tr_keys_make(const struct tr_keys_options *caller, struct tr_keys_report *report,
                 struct tr_error *error)
{
    struct tr_keys_options options = DEFAULTS;
    struct keys_report made = { 0 };
    struct error inner = { 0 };
    int rv = sized_read(&options, sizeof options, caller, "tr_keys_options", error);
    if (rv != 0)
        return rv;
    rv = make_keys(&options, &made, &inner);
    if (rv != 0)
        return error_give(&inner, error);
    const struct tr_keys_report known = { .made_authority = made.made_authority,
                                          .made = (uint32_t)made.made,
                                          .kept = (uint32_t)made.kept };
    return report == NULL ? 0 : sized_write(report, &known, sizeof known, "tr_keys_report", error);
}
