/* SPDX-License-Identifier: Apache-2.0 */
/* `troupe cluster keys`: what hosts need to prove to each other who they are. */
#include "cli/cmd_cluster.h"

#include <stdlib.h>
#include <string.h>

#include "actors/cluster/cluster.h"
#include "cli/lib/inside.h"
#include "cli/lib/report.h"
#include "runtime/net/keys.h"

/* The hosts whose keys are to be made, and what their names point into. */
struct hosts {
    struct keys_host *hosts;
    size_t count;
    char *words;
    struct cluster cluster;
};

static void free_hosts(struct hosts *hosts)
{
    free(hosts->hosts);
    free(hosts->words);
    cluster_fini(&hosts->cluster);
}

static int split(const char *text, struct hosts *hosts, struct error *error)
{
    size_t most = 1;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    hosts->words = strdup(text);
    hosts->hosts = calloc(most, sizeof *hosts->hosts);
    if (hosts->words == NULL || hosts->hosts == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the names of the hosts");
    char *rest = hosts->words;
    for (char *word; (word = strsep(&rest, ",")) != NULL;)
        hosts->hosts[hosts->count++].name = word;
    return 0;
}

/* Unix sockets need no keys: the system vouches for their users. */
static int read_file(const char *path, struct hosts *hosts, struct error *error)
{
    int rc = cluster_read(files_posix, path, &hosts->cluster, error);
    if (rc < 0)
        return rc;
    hosts->hosts = calloc(hosts->cluster.num_hosts, sizeof *hosts->hosts);
    if (hosts->hosts == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for the names of the hosts", path);
    for (uint32_t h = 0; h < hosts->cluster.num_hosts; h++) {
        const struct cluster_host *host = &hosts->cluster.hosts[h];
        if (host->address != NULL)
            hosts->hosts[hosts->count++] = (struct keys_host){ host->name, host->address };
    }
    return hosts->count > 0
               ? 0
               : error_set(error, TR_EINVAL, "%s: all hosts have unix sockets, which need no keys",
                           path);
}

static int make_keys(const struct cluster_keys_values *values, const struct hosts *hosts,
                     struct keys_report *result, struct error *error)
{
    struct keys_options options = {
        .folder = values->out,
        .hosts = hosts->hosts,
        .num_hosts = hosts->count,
        .days = (uint32_t)values->days,
        .replace = values->replace,
    };
    return keys_make(&options, result, error);
}

static int show(const struct cluster_keys_values *values, const struct keys_report *result,
                struct error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_text(&report, "folder", "folder", values->out);
    report_flag(&report, "made_authority", "new authority", result->made_authority);
    report_count(&report, "made", "hosts with new keys", result->made);
    report_count(&report, "kept", "hosts with keys kept", result->kept);
    return report_print_inside(&report, error);
}

int cluster_keys_run(const struct invocation *invocation, const void *opaque)
{
    const struct cluster_keys_values *values = opaque;
    struct keys_report result;
    struct error error = { 0 };
    struct hosts hosts = { 0 };
    if ((values->cluster == NULL) == (values->hosts == NULL)) {
        error_set(&error, TR_EINVAL, "the hosts: give one of --cluster FILE and --hosts A,B,C");
        return fail_usage_inside(invocation, &error);
    }
    int rc = values->cluster != NULL ? read_file(values->cluster, &hosts, &error)
                                     : split(values->hosts, &hosts, &error);
    if (rc == 0)
        rc = make_keys(values, &hosts, &result, &error);
    if (rc == 0)
        rc = show(values, &result, &error);
    free_hosts(&hosts);
    return rc < 0 ? fail_inside(invocation, &error) : EXIT_DONE;
}
