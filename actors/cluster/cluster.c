/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "actors/cluster/cluster_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table of 65536 hosts takes 20 MB. */
#define FILE_BYTES_MAX ((size_t)64 << 20)

static void fini_host(struct cluster_host *host)
{
    free(host->name);
    free(host->address);
    free(host->unix_folder);
    free(host->parts);
}

void cluster_fini(struct cluster *cluster)
{
    for (uint32_t h = 0; h < cluster->num_hosts; h++)
        fini_host(&cluster->hosts[h]);
    free(cluster->hosts);
    free(cluster->path);
    free(cluster->name);
    free(cluster->graph);
    cluster_tls_fini(&cluster->tls);
    free(cluster->checkpoints.folder);
    free(cluster->metrics.host);
    free(cluster->launcher.user);
    free(cluster->launcher.workdir);
    free(cluster->launcher.program);
    for (uint32_t i = 0; i < cluster->launcher.num_command; i++)
        free(cluster->launcher.command[i]);
    free(cluster->launcher.command);
    *cluster = (struct cluster){ 0 };
}

/* The values that hold where a file says nothing. */
static int set_defaults(struct cluster *cluster, const char *path)
{
    *cluster = (struct cluster){
        .path = strdup(path),
        .direct = true,
        .page_port = -1,
        .limits = { .recovery_deadline_ns = CLUSTER_RECOVERY_NS,
                    .call_ns = CLUSTER_CALL_NS,
                    .coordinator_ns = CLUSTER_COORDINATOR_NS,
                    .step_limit = CLUSTER_UNSAID,
                    .disk_wait = CLUSTER_UNSAID },
        .restart = { .times = CLUSTER_RESTARTS, .ns = CLUSTER_RESTART_NS },
    };
    return cluster->path == NULL ? TR_ENOMEM : 0;
}

/* Several hosts keep parts for each other, so all have to know where; one host's is its run's. */
static int name_checkpoints(struct cluster *cluster, struct error *error)
{
    if (cluster->num_hosts < 2 || cluster->checkpoints.folder != NULL)
        return 0;
    cluster->checkpoints.folder = cluster_resolve(cluster, CLUSTER_CHECKPOINTS);
    return cluster->checkpoints.folder != NULL
               ? 0
               : error_set(error, TR_ENOMEM, "%s: no memory", cluster->path);
}

/* All processes of a job name the same folder, whatever folder each was started in. A relative one
 * stands in the file's folder, which is there, but for a simulator's. */
static int make_absolute(struct cluster *cluster, struct error *error)
{
    const char *slash = strrchr(cluster->path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - cluster->path);
    char *named = cluster->checkpoints.folder, *absolute;
    if (named == NULL || named[0] == '/')
        return 0;
    char *parent = slash == NULL ? strdup(".") : strndup(cluster->path, length);
    char *here = parent == NULL ? NULL : realpath(parent, NULL);
    bool lacking = parent == NULL || (here == NULL && errno == ENOMEM);
    free(parent);
    if (here == NULL)
        return lacking ? error_set(error, TR_ENOMEM, "%s: no memory", cluster->path) : 0;
    const char *rest = slash == NULL ? named : named + length + 1;
    int made = asprintf(&absolute, "%s/%s", here[1] == '\0' ? "" : here, rest);
    free(here);
    if (made < 0)
        return error_set(error, TR_ENOMEM, "%s: no memory", cluster->path);
    free(named);
    cluster->checkpoints.folder = absolute;
    return 0;
}

int cluster_read(struct files *files, const char *path, struct cluster *cluster,
                 struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    bool json = false;
    /* Defaults come first, since what the file says replaces them; constraints are checked when
     * all is read; and the default folder is named before paths are made absolute, of which it
     * is one. */
    int rv = set_defaults(cluster, path);
    if (rv != 0)
        error_set(error, rv, "%s: no memory", path);
    else
        rv = files_read_all(files, path, FILE_BYTES_MAX, &text, &size, error);
    if (rv == 0)
        rv = cluster_find_form(path, text, size, &json, error);
    if (rv == 0 && json)
        rv = cluster_read_json(files, path, cluster, error);
    else if (rv == 0)
        rv = cluster_read_ip_config(path, text, cluster, error);
    if (rv == 0)
        rv = cluster_check(cluster, error);
    if (rv == 0)
        rv = name_checkpoints(cluster, error);
    if (rv == 0)
        rv = make_absolute(cluster, error);
    free(text);
    if (rv != 0)
        cluster_fini(cluster);
    return rv;
}

char *cluster_resolve(const struct cluster *cluster, const char *path)
{
    char *out;
    const char *slash = strrchr(cluster->path, '/');
    if (path[0] == '/' || slash == NULL)
        return strdup(path);
    return asprintf(&out, "%.*s/%s", (int)(slash - cluster->path), cluster->path, path) < 0 ? NULL
                                                                                            : out;
}

int cluster_find_host(const struct cluster *cluster, const char *name, uint32_t *host,
                      struct error *error)
{
    char names[ERROR_TEXT_MAX / 2] = "";
    for (uint32_t h = 0; h < cluster->num_hosts; h++) {
        if (strcmp(cluster->hosts[h].name, name) == 0) {
            *host = h;
            return 0;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", h == 0 ? "" : ", ",
                 cluster->hosts[h].name);
    }
    return error_set(error, TR_ENOENT, "%s: there is no host \"%s\"; there are %s", cluster->path,
                     name, names);
}

void cluster_tls_fini(struct cluster_tls *tls)
{
    free(tls->ca);
    free(tls->certificate);
    free(tls->key);
    free(tls->shared_key);
    *tls = (struct cluster_tls){ 0 };
}

int cluster_put_name(const char *pattern, const char *name, char **out)
{
    *out = NULL;
    if (pattern == NULL)
        return 0;
    size_t size = 1;
    for (const char *c = pattern; *c != '\0'; c++)
        size += c[0] == '%' && c[1] == 'h' ? strlen(name) : 1;
    char *to = *out = malloc(size);
    if (to == NULL)
        return TR_ENOMEM;
    for (const char *c = pattern; *c != '\0'; c++) {
        if (c[0] == '%' && c[1] == 'h') {
            to = stpcpy(to, name);
            c++;
        } else {
            *to++ = *c;
        }
    }
    *to = '\0';
    return 0;
}

bool cluster_needs_key(const struct cluster *cluster)
{
    bool tcp = false;
    for (uint32_t h = 0; h < cluster->num_hosts; h++)
        tcp = tcp || cluster->hosts[h].unix_folder == NULL;
    return tcp && !cluster->insecure_network && cluster->tls.ca == NULL &&
           cluster->tls.shared_key == NULL;
}

int cluster_use_key(struct cluster *cluster, const char *path, struct error *error)
{
    struct cluster_tls *tls = &cluster->tls;
    if (path == NULL || cluster->insecure_network || tls->ca != NULL || tls->shared_key != NULL)
        return 0;
    tls->shared_key = strdup(path);
    return tls->shared_key != NULL ? 0
                                   : error_set(error, TR_ENOMEM, "no memory for the path of a key");
}

int cluster_host_tls(const struct cluster *cluster, uint32_t host, struct cluster_tls *tls)
{
    const char *name = cluster->hosts[host].name;
    *tls = (struct cluster_tls){ 0 };
    int rv = cluster_put_name(cluster->tls.ca, name, &tls->ca);
    if (rv == 0)
        rv = cluster_put_name(cluster->tls.certificate, name, &tls->certificate);
    if (rv == 0)
        rv = cluster_put_name(cluster->tls.key, name, &tls->key);
    if (rv == 0)
        rv = cluster_put_name(cluster->tls.shared_key, name, &tls->shared_key);
    if (rv != 0)
        cluster_tls_fini(tls);
    return rv;
}

void cluster_roles_text(uint32_t roles, char *text, size_t text_size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < CLUSTER_ROLES; i++)
        if ((roles >> i & 1) != 0 && used < text_size)
            used += (size_t)snprintf(text + used, text_size - used, "%s%s", used == 0 ? "" : ", ",
                                     cluster_role_names[i]);
}

const char *const cluster_role_names[CLUSTER_ROLES] = { "server", "sampler", "trainer",
                                                        "coordinator" };
