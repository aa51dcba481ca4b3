/* SPDX-License-Identifier: Apache-2.0 */
/* `troupe cluster keys`: what hosts need to prove their identities to each other. */
#include "cli/cmd_cluster.h"

#include <stdlib.h>
#include <string.h>

#include <troupe/cluster.h>
#include <troupe/keys.h>

#include "cli/lib/fail.h"
#include "cli/lib/report.h"

/* The hosts whose keys are to be made, and what their names point into. */
struct named_hosts {
    const char **names;
    const char **addresses; /* NULL: none is known */
    size_t count;
    char *words;
    struct tr_cluster *cluster;
};

static void free_hosts(struct named_hosts *hosts)
{
    free(hosts->names);
    free(hosts->addresses);
    free(hosts->words);
    tr_cluster_close(hosts->cluster);
}

static int no_memory(struct tr_error *error)
{
    return tr_error_set(error, TR_ENOMEM, "no memory for the names of the hosts");
}

static int split(const char *text, struct named_hosts *hosts, struct tr_error *error)
{
    size_t most = 1;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    hosts->words = strdup(text);
    hosts->names = calloc(most, sizeof *hosts->names);
    if (hosts->words == NULL || hosts->names == NULL)
        return no_memory(error);
    char *rest = hosts->words;
    for (char *word; (word = strsep(&rest, ",")) != NULL;)
        hosts->names[hosts->count++] = word;
    return 0;
}

/* Unix sockets need no keys: the system vouches for their users. */
static int read_file(const char *path, struct named_hosts *hosts, struct tr_error *error)
{
    struct tr_cluster_info info = TR_CLUSTER_INFO_INIT;
    int rv = tr_cluster_open(path, &hosts->cluster, error);
    if (rv == 0)
        rv = tr_cluster_info(hosts->cluster, &info, error);
    if (rv != 0)
        return rv;
    hosts->names = calloc(info.num_hosts, sizeof *hosts->names);
    hosts->addresses = calloc(info.num_hosts, sizeof *hosts->addresses);
    if (hosts->names == NULL || hosts->addresses == NULL)
        return no_memory(error);
    for (uint32_t h = 0; h < info.num_hosts && rv == 0; h++) {
        struct tr_cluster_host_info host = TR_CLUSTER_HOST_INFO_INIT;
        rv = tr_cluster_host(hosts->cluster, h, &host, error);
        if (rv != 0 || host.address == NULL)
            continue;
        hosts->names[hosts->count] = host.name;
        hosts->addresses[hosts->count++] = host.address;
    }
    if (rv == 0 && hosts->count == 0)
        rv = tr_error_set(error, TR_EINVAL, "%s: all hosts have unix sockets, which need no keys",
                          path);
    return rv;
}

static int make_keys(const struct cluster_keys_values *values, const struct named_hosts *hosts,
                     struct tr_keys_report *result, struct tr_error *error)
{
    struct tr_keys_options options;
    tr_keys_options_init(&options);
    options.folder = values->out;
    options.hosts = hosts->names;
    options.addresses = hosts->addresses;
    options.num_hosts = hosts->count;
    options.days = (uint32_t)values->days;
    options.replace = values->replace;
    return tr_keys_make(&options, result, error);
}

static int show(const struct cluster_keys_values *values, const struct tr_keys_report *result,
                struct tr_error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_text(&report, "folder", "folder", values->out);
    report_flag(&report, "made_authority", "new authority", result->made_authority);
    report_count(&report, "made", "hosts with new keys", result->made);
    report_count(&report, "kept", "hosts with keys kept", result->kept);
    return report_print(&report, error);
}

int cluster_keys_run(const struct invocation *invocation, const void *opaque)
{
    const struct cluster_keys_values *values = opaque;
    struct tr_keys_report result = TR_KEYS_REPORT_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct named_hosts hosts = { 0 };
    if ((values->cluster == NULL) == (values->hosts == NULL)) {
        tr_error_set(&error, TR_EINVAL,
                     "no host is named: give one of --cluster FILE and --hosts A,B,C");
        return fail_usage(invocation, &error);
    }
    int rv = values->cluster != NULL ? read_file(values->cluster, &hosts, &error)
                                     : split(values->hosts, &hosts, &error);
    if (rv == 0)
        rv = make_keys(values, &hosts, &result, &error);
    if (rv == 0)
        rv = show(values, &result, &error);
    free_hosts(&hosts);
    return rv != 0 ? fail(invocation, &error) : EXIT_DONE;
}
