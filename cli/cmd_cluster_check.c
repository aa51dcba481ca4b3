/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe cluster check`: the plan that a cluster file makes, as every process will read it.
 */
#include <inttypes.h>
#include <stdio.h>

#include <troupe/cluster.h>

#include "cli/cmd_cluster.h"
#include "cli/lib/fail.h"
#include "cli/lib/report.h"

/* "0-3, 7, 9-11"; cut where a process has too many for a line. */
static void parts_text(const struct tr_plan_process_info *process, char *text, size_t text_size)
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

static void range_text(uint32_t first, uint32_t count, char text[32])
{
    if (count == 0)
        text[0] = '\0';
    else if (count == 1)
        snprintf(text, 32, "%" PRIu32, first);
    else
        snprintf(text, 32, "%" PRIu32 "-%" PRIu32, first, first + count - 1);
}

/* "server", "sampler, trainer" ...: what is in a mask. */
static void roles_text(uint32_t roles, char *text, size_t text_size)
{
    static const struct {
        uint32_t role;
        const char *name;
    } ROLES[] = { { TR_ROLE_SERVER, "server" },
                  { TR_ROLE_SAMPLER, "sampler" },
                  { TR_ROLE_TRAINER, "trainer" },
                  { TR_ROLE_COORDINATOR, "coordinator" } };
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof ROLES / sizeof *ROLES && used < text_size; i++)
        if ((roles & ROLES[i].role) != 0)
            used += (size_t)snprintf(text + used, text_size - used, "%s%s", used > 0 ? ", " : "",
                                     ROLES[i].name);
}

static int report_process(struct report *report, const struct tr_cluster *cluster,
                          const struct tr_plan *plan, uint32_t number, struct tr_error *error)
{
    struct tr_plan_process_info process = TR_PLAN_PROCESS_INFO_INIT;
    struct tr_cluster_host_info host = TR_CLUSTER_HOST_INFO_INIT;
    char roles[64], parts[400], samplers[32], trainers[32];
    int rv = tr_plan_process(plan, number, &process, error);
    if (rv == 0)
        rv = tr_cluster_host(cluster, process.host, &host, error);
    if (rv != 0)
        return rv;
    roles_text(process.roles, roles, sizeof roles);
    parts_text(&process, parts, sizeof parts);
    range_text(process.first_sampler, process.num_samplers, samplers);
    range_text(process.first_trainer, process.num_trainers, trainers);
    report_row(report, "processes");
    report_count(report, "process", "process", number);
    report_text(report, "host", "host", host.name);
    report_text(report, "endpoint", "listens at", process.endpoint);
    report_text(report, "roles", "roles", roles);
    report_text(report, "parts", "partitions", parts);
    report_text(report, "samplers", "samplers", samplers);
    report_text(report, "trainers", "trainers", trainers);
    return 0;
}

/* insecure: hosts may talk without TLS where the file says nothing else. */
static const char *name_security(enum tr_cluster_security security, bool insecure)
{
    switch (security) {
    case TR_SECURITY_CERTIFICATES:
        return "TLS, certificates";
    case TR_SECURITY_SHARED_KEY:
        return "TLS, shared key";
    case TR_SECURITY_UNIX:
        return "unix sockets";
    case TR_SECURITY_JOB_KEY:
        if (!insecure)
            return "a key for the job, if `troupe launch` starts it";
        break;
    case TR_SECURITY_NONE:
        break;
    }
    return "none (insecure_network)";
}

static int report_plan(struct report *report, const struct tr_cluster *cluster,
                       const struct tr_plan *plan, bool insecure, struct tr_error *error)
{
    struct tr_cluster_info file = TR_CLUSTER_INFO_INIT;
    struct tr_plan_info made = TR_PLAN_INFO_INIT;
    int rv = tr_cluster_info(cluster, &file, error);
    if (rv == 0)
        rv = tr_plan_info(plan, &made, error);
    if (rv != 0)
        return rv;
    report_text(report, "cluster", "cluster", file.name);
    if (file.graph != NULL)
        report_text(report, "graph", "graph", file.graph);
    report_text(report, "security", "security", name_security(file.security, insecure));
    if (file.page_port >= 0)
        report_count(report, "page_port", "port of the live page (0: any), on the launcher's host",
                     (uint64_t)file.page_port);
    report_count(report, "hosts", "hosts", file.num_hosts);
    report_count(report, "parts", "partitions", made.num_parts);
    report_count(report, "replicas_least", "processes that serve a partition, at least",
                 made.replicas_least);
    report_count(report, "replicas_most", "processes that serve a partition, at most",
                 made.replicas_most);
    report_count(report, "samplers", "samplers", made.num_samplers);
    report_count(report, "trainers", "trainers", made.num_trainers);
    report_count(report, "coordinator", "process of the coordinator", made.coordinator);
    for (uint32_t p = 0; p < made.num_processes && rv == 0; p++)
        rv = report_process(report, cluster, plan, p, error);
    report_rows_end(report);
    return rv;
}

static int check(const struct invocation *invocation, const struct cluster_check_values *values,
                 struct tr_error *error)
{
    struct tr_cluster *cluster;
    struct tr_plan *plan;
    struct report report;
    int rv = tr_cluster_open(invocation->operands[0], &cluster, error);
    if (rv != 0)
        return rv;
    rv = tr_plan_open(cluster, (uint32_t)values->parts, &plan, error);
    if (rv == 0) {
        report_init(&report, values->json);
        rv = report_plan(&report, cluster, plan, values->insecure_network, error);
        if (rv == 0)
            rv = report_print(&report, error);
        else
            report_fini(&report);
        tr_plan_close(plan);
    }
    tr_cluster_close(cluster);
    return rv;
}

int cluster_check_run(const struct invocation *invocation, const void *values)
{
    struct tr_error error = TR_ERROR_INIT;
    int rv = check(invocation, values, &error);
    return rv == 0 ? EXIT_DONE : fail(invocation, &error);
}
