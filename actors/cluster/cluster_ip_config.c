/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DGL's ip_config.txt: a host a line, "ADDRESS", "ADDRESS PORT" or "ADDRESS PORT SERVERS".
 *
 * Host names, IPv6, comments and empty lines are taken too; what else a cluster file may say has
 * its default. Each host is called by its number: "host0".
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/cluster_read.h"

#define WORDS_MAX 3

static int bad_line(const char *path, uint32_t line, struct error *error, const char *what)
{
    return error_set(error, TR_EFORMAT,
                     "%s: line %" PRIu32 ": %s; a line is ADDRESS [PORT "
                     "[SERVERS]]",
                     path, line, what);
}

static bool parse_number(const char *word, unsigned long most, unsigned long *out)
{
    char *end;
    if (!isdigit((unsigned char)word[0]) || strlen(word) > 9)
        return false;
    *out = strtoul(word, &end, 10);
    return *end == '\0' && *out > 0 && *out <= most;
}

static uint32_t split(char *line, char *words[WORDS_MAX + 1])
{
    uint32_t count = 0;
    char *rest;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word != NULL && count <= WORDS_MAX;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    return count;
}

static int add_host(struct cluster *cluster, struct cluster_host *host)
{
    if (asprintf(&host->name, "host%" PRIu32, cluster->num_hosts) < 0)
        host->name = NULL;
    uint32_t count = cluster->num_hosts;
    /* Doubles when the number is a power of two. */
    if ((count & (count - 1)) == 0) {
        size_t room = count == 0 ? 1 : (size_t)count * 2;
        struct cluster_host *hosts = realloc(cluster->hosts, room * sizeof *hosts);
        if (hosts != NULL)
            cluster->hosts = hosts;
        if (hosts == NULL || host->name == NULL || host->address == NULL) {
            free(host->name);
            free(host->address);
            return TR_ENOMEM;
        }
    }
    cluster->hosts[cluster->num_hosts++] = *host;
    return host->name == NULL || host->address == NULL ? TR_ENOMEM : 0;
}

static int read_line(struct cluster *cluster, const char *path, uint32_t line, char *text,
                     struct error *error)
{
    char *words[WORDS_MAX + 1];
    unsigned long port = CLUSTER_IP_CONFIG_PORT, servers = 1;
    uint32_t count = split(text, words);
    if (count == 0)
        return 0;
    if (count > WORDS_MAX)
        return bad_line(path, line, error, "more than three words");
    if (count > 1 && !parse_number(words[1], UINT16_MAX, &port))
        return bad_line(path, line, error, "the port is not a number from 1 to 65535");
    if (count > 2 && !parse_number(words[2], CLUSTER_ROLE_MAX, &servers))
        return bad_line(path, line, error, "the number of servers is not one from 1 to 4096");
    if (words[0][0] == '[')
        return bad_line(path, line, error, "an IPv6 address stands here without brackets");
    if (strlen(words[0]) >= ENDPOINT_HOST_MAX || strpbrk(words[0], "[]/%") != NULL)
        return bad_line(path, line, error,
                        "the address is not a host name, an IPv4 or an IPv6 address");
    if (cluster->num_hosts == CLUSTER_HOSTS_MAX)
        return bad_line(path, line, error, "more than 65536 hosts");
    struct cluster_host host = cluster_default_host();
    host.address = strdup(words[0]);
    host.port = (uint16_t)port;
    host.servers = (uint32_t)servers;
    host.roles = CLUSTER_SERVER | CLUSTER_SAMPLER | CLUSTER_TRAINER | CLUSTER_COORDINATOR;
    int rv = add_host(cluster, &host);
    return rv == 0 ? 0 : error_set(error, rv, "%s: no memory for its hosts", path);
}

int cluster_read_ip_config(const char *path, const char *text, struct cluster *cluster,
                           struct error *error)
{
    uint32_t line = 0;
    char *copy = strdup(text);
    cluster->name = strdup("ip_config");
    int rv = copy == NULL || cluster->name == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory", path)
                 : 0;
    for (char *at = copy; rv == 0 && at != NULL;) {
        char *end = strchr(at, '\n');
        if (end != NULL)
            *end = '\0';
        rv = read_line(cluster, path, ++line, at, error);
        at = end == NULL ? NULL : end + 1;
    }
    free(copy);
    if (rv == 0 && cluster->num_hosts == 0)
        rv = error_set(error, TR_EFORMAT,
                       "%s: it names no host; a line is ADDRESS [PORT "
                       "[SERVERS]]",
                       path);
    return rv;
}
