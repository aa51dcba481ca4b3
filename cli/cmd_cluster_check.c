/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe cluster check`: the plan that a cluster file makes, as every process will read it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "actors/cluster/cluster.h"
#include "cli/cmd_cluster.h"
#include "cli/lib/inside.h"
#include "cli/lib/report.h"
#include "partition/store/book_json.h"

/* "0-3, 7, 9-11"; cut where a process has too many for a line. */
static void parts_text(const struct plan_process *process, char *text, size_t text_size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0, j; i < process->num_parts && used < text_size; i = j) {
        for (j = i + 1; j < process->num_parts && process->parts[j] == process->parts[j - 1] + 1;)
            j++;
        used += (size_t)snprintf(text + used, text_size - used, "%s%" PRIu32, i == 0 ? "" : ", ",
                                 process->parts[i]);
        if (j > i + 1 && used < text_size)
            used += (size_t)snprintf(text + used, text_size - used, "-%" PRIu32,
                                     process->parts[j - 1]);
    }
}

static void range_text(struct plan_range range, char text[32])
{
    if (range.count == 0)
        text[0] = '\0';
    else if (range.count == 1)
        snprintf(text, 32, "%" PRIu32, range.first);
    else
        snprintf(text, 32, "%" PRIu32 "-%" PRIu32, range.first, range.first + range.count - 1);
}

static void report_process(struct report *report, const struct cluster_plan *plan, uint32_t p)
{
    const struct plan_process *plays = &plan->plan.processes[p];
    const struct cluster_process *process = &plan->processes[p];
    char roles[64], endpoint[ENDPOINT_TEXT_MAX], parts[400], samplers[32], trainers[32];
    cluster_roles_text(process->roles, roles, sizeof roles);
    endpoint_format(&process->endpoint, endpoint, sizeof endpoint);
    parts_text(plays, parts, sizeof parts);
    range_text(plays->samplers, samplers);
    range_text(plays->trainers, trainers);
    report_row(report, "processes");
    report_count(report, "process", "process", p);
    report_text(report, "host", "host", plan->cluster->hosts[process->host].name);
    report_text(report, "endpoint", "listens at", endpoint);
    report_text(report, "roles", "roles", roles);
    report_text(report, "parts", "partitions", parts);
    report_text(report, "samplers", "samplers", samplers);
    report_text(report, "trainers", "trainers", trainers);
}

static const char *security_of(const struct cluster *cluster)
{
    if (cluster->tls.ca != NULL)
        return "TLS, certificates";
    if (cluster->tls.shared_key != NULL)
        return "TLS, shared key";
    if (cluster->hosts[0].unix_folder != NULL)
        return "unix sockets";
    return cluster->insecure_network ? "none (insecure_network)"
                                     : "a key for the job, if `troupe launch` starts it";
}

/* The servers of a partition, each of the same one as good as another. */
static void report_replicas(struct report *report, const struct plan *plan)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t part = 0; part < plan->num_parts; part++) {
        uint32_t count = plan_part_nodes(plan, part, 0, NULL, 0);
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    report_count(report, "replicas_least", "processes that serve a partition, at least", least);
    report_count(report, "replicas_most", "processes that serve a partition, at most", most);
}

static void report_plan(struct report *report, const struct cluster_plan *plan,
                        const char *security)
{
    const struct cluster *cluster = plan->cluster;
    report_text(report, "cluster", "cluster", cluster->name);
    if (cluster->graph != NULL)
        report_text(report, "graph", "graph", cluster->graph);
    report_text(report, "security", "security", security);
    report_count(report, "hosts", "hosts", cluster->num_hosts);
    report_count(report, "parts", "partitions", plan->plan.num_parts);
    report_replicas(report, &plan->plan);
    report_count(report, "samplers", "samplers", plan->plan.samplers);
    report_count(report, "trainers", "trainers", plan->plan.trainers);
    report_count(report, "coordinator", "process of the coordinator", plan->plan.coordinator);
    for (uint32_t p = 0; p < plan->plan.num_processes; p++)
        report_process(report, plan, p);
    report_rows_end(report);
}

static int count_parts(const struct cluster *cluster, uint64_t given, uint32_t *num_parts,
                       struct error *error)
{
    struct book_file file;
    *num_parts = (uint32_t)given;
    if (given != 0)
        return 0;
    if (cluster->graph == NULL)
        return error_set(error, TR_EINVAL,
                         "%s: it names no \"graph\"; give --parts K, the number "
                         "of partitions",
                         cluster->path);
    int rv = book_file_read(&file, files_posix, cluster->graph, error);
    if (rv != 0)
        return rv;
    *num_parts = file.book.num_parts;
    book_file_fini(&file);
    return 0;
}

static int check(const struct invocation *invocation, const struct cluster_check_values *values,
                 struct error *error)
{
    struct cluster cluster;
    struct cluster_plan plan;
    struct report report;
    uint32_t num_parts;
    int rv = cluster_read(files_posix, invocation->operands[0], &cluster, error);
    if (rv != 0)
        return rv;
    cluster.insecure_network |= values->insecure_network;
    const char *security = security_of(&cluster);
    /* A plan needs some security; what there is was said. */
    cluster.insecure_network = true;
    rv = count_parts(&cluster, values->parts, &num_parts, error);
    if (rv == 0)
        rv = cluster_plan_make(&plan, &cluster, num_parts, error);
    if (rv != 0)
        goto out;
    report_init(&report, values->json);
    report_plan(&report, &plan, security);
    rv = report_print_inside(&report, error);
    cluster_plan_fini(&plan);
out:
    cluster_fini(&cluster);
    return rv;
}

int cluster_check_run(const struct invocation *invocation, const void *values)
{
    struct error error = { 0 };
    int rv = check(invocation, values, &error);
    return rv == 0 ? EXIT_DONE : fail_inside(invocation, &error);
}
