/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a cluster file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/cluster_read.h"
#include "partition/store/book.h"
#include "runtime/base/json_field.h"

/* A socket's name has 107 characters; "/65535.sock" follows. */
#define UNIX_FOLDER_MAX 96

#define NAMES(names) names, (int)(sizeof(names) / sizeof *(names))

struct cluster_host cluster_default_host(void)
{
    return (struct cluster_host){ .servers = 1, .samplers = 1, .trainers = 1 };
}

static int take_u32(const struct json_field *field, const char *key, uint32_t most, uint32_t *out,
                    struct error *error)
{
    uint64_t value = *out;
    int rv = json_take_count(field, key, most, &value, error);
    *out = (uint32_t)value;
    return rv;
}

/* Seconds; 0 is no deadline that anything could meet. */
static int take_seconds(const struct json_field *field, const char *key, uint64_t *ns,
                        struct error *error)
{
    struct json_field found;
    uint64_t seconds = *ns / 1000000000;
    int rv = json_take_count(field, key, CLUSTER_SECONDS_MAX, &seconds, error);
    if (rv == 0 && seconds == 0) {
        json_get_optional(field, key, JSON_INTEGER, &found, NULL);
        return json_fail(&found, error, TR_ERANGE, "0 seconds; give 1 or more");
    }
    *ns = seconds * 1000000000;
    return rv;
}

static int take_path(const struct json_field *field, const char *key, const struct cluster *cluster,
                     char **out, struct error *error)
{
    char *text = NULL;
    int rv = json_take_text(field, key, &text, error);
    if (rv == 0 && text != NULL) {
        free(*out);
        *out = cluster_resolve(cluster, text);
        rv = *out == NULL ? json_fail(field, error, TR_ENOMEM, "no memory") : 0;
    }
    free(text);
    return rv;
}

/* An object and its keys; value NULL where it is absent. */
static int get_object(const struct json_field *field, const char *key, const char *const *names,
                      int count, struct json_field *out, struct error *error)
{
    int rv = json_get_optional(field, key, JSON_OBJECT, out, error);
    if (rv == 0 && out->value != NULL)
        rv = json_check_keys(out, names, count, error);
    return rv;
}

/* One word of some; *choice stays where the field is absent. */
static int take_choice(const struct json_field *field, const char *key, const char *const *words,
                       int count, int *choice, struct error *error)
{
    struct json_field found;
    int rv = json_get_optional(field, key, JSON_STRING, &found, error);
    if (rv != 0 || found.value == NULL)
        return rv;
    for (int i = 0; i < count; i++) {
        if (strcmp(json_string_value(found.value), words[i]) == 0) {
            *choice = i;
            return 0;
        }
    }
    char known[100] = "";
    for (int i = 0; i < count; i++) {
        strcat(known, i == 0 ? "\"" : i + 1 < count ? ", \"" : " or \"");
        strcat(strcat(known, words[i]), "\"");
    }
    return json_fail(&found, error, TR_EFORMAT, "\"%.50s\"; give %s",
                     json_string_value(found.value), known);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int read_parts(const struct json_field *field, struct cluster_host *host,
                      struct error *error)
{
    struct json_field list, item;
    uint64_t part;
    int rv = json_get_optional(field, "parts", JSON_ARRAY, &list, error);
    if (rv != 0 || list.value == NULL)
        return rv;
    size_t count = json_array_size(list.value);
    if (count == 0 || count > BOOK_PARTS_MAX)
        return json_fail(&list, error, TR_ERANGE,
                         "%zu partitions; list 1 to %d, or leave it out: "
                         "they are dealt then",
                         count, BOOK_PARTS_MAX);
    host->parts = calloc(count, sizeof *host->parts);
    if (host->parts == NULL)
        return json_fail(&list, error, TR_ENOMEM, "no memory");
    for (size_t i = 0; i < count && rv == 0; i++) {
        rv = json_at(&list, i, JSON_INTEGER, &item, error);
        if (rv == 0)
            rv = json_count(&item, &part, error);
        if (rv == 0 && part >= BOOK_PARTS_MAX)
            rv = json_fail(&item, error, TR_ERANGE, "there are %d partitions at most",
                           BOOK_PARTS_MAX);
        if (rv == 0)
            host->parts[host->num_parts++] = (uint32_t)part;
    }
    qsort(host->parts, host->num_parts, sizeof *host->parts, by_number);
    for (uint32_t i = 1; i < host->num_parts && rv == 0; i++)
        if (host->parts[i] == host->parts[i - 1])
            rv = json_fail(&list, error, TR_EFORMAT, "partition %" PRIu32 " is listed twice",
                           host->parts[i]);
    return rv;
}

static int read_roles(const struct json_field *field, struct cluster_host *host,
                      struct error *error)
{
    struct json_field list, item;
    int rv = json_get_optional(field, "roles", JSON_ARRAY, &list, error);
    if (rv != 0 || list.value == NULL)
        return rv;
    for (size_t i = 0; i < json_array_size(list.value) && rv == 0; i++) {
        int role = 0;
        rv = json_at(&list, i, JSON_STRING, &item, error);
        while (rv == 0 && role < CLUSTER_ROLES &&
               strcmp(cluster_role_names[role], json_string_value(item.value)) != 0)
            role++;
        if (rv == 0 && role == CLUSTER_ROLES)
            rv = json_fail(&item, error, TR_EFORMAT,
                           "\"%.50s\"; give \"server\", \"sampler\", "
                           "\"trainer\" or \"coordinator\"",
                           json_string_value(item.value));
        if (rv == 0)
            host->roles |= 1u << role;
    }
    if (rv == 0 && host->roles == 0)
        rv = json_fail(&list, error, TR_EFORMAT, "a host without a role does nothing");
    return rv;
}

/* Those that a host runs are allowed where nothing is said. */
static int check_roles(const struct json_field *field, struct cluster_host *host,
                       struct error *error)
{
    uint32_t runs = (host->servers > 0 ? CLUSTER_SERVER : 0) |
                    (host->samplers > 0 ? CLUSTER_SAMPLER : 0) |
                    (host->trainers > 0 ? CLUSTER_TRAINER : 0);
    char text[64];
    if (host->roles == 0)
        host->roles = runs | CLUSTER_COORDINATOR;
    if ((runs & ~host->roles) == 0)
        return 0;
    cluster_roles_text(runs & ~host->roles, text, sizeof text);
    return json_fail(field, error, TR_EINVAL, "the host runs what its \"roles\" do not allow: %s",
                     text);
}

static int read_place(const struct json_field *field, const struct cluster *cluster,
                      struct cluster_host *host, struct error *error)
{
    uint64_t port = 0;
    int rv = json_take_text(field, "address", &host->address, error);
    if (rv == 0)
        rv = take_path(field, "unix", cluster, &host->unix_folder, error);
    if (rv == 0)
        rv = json_take_count(field, "port", UINT16_MAX, &port, error);
    host->port = (uint16_t)port;
    if (rv == 0 && host->unix_folder != NULL && (host->address != NULL || port != 0))
        return json_fail(field, error, TR_EINVAL, "give \"unix\", or \"address\" and \"port\"");
    if (rv == 0 && host->unix_folder != NULL && strlen(host->unix_folder) > UNIX_FOLDER_MAX)
        return json_fail(field, error, TR_ERANGE,
                         "\"unix\": the folder's name is longer than the "
                         "%d characters that a socket's allows; use a shorter one",
                         UNIX_FOLDER_MAX);
    if (rv == 0 && host->unix_folder == NULL && host->address == NULL)
        rv = (host->address = strdup(host->name)) == NULL
                 ? json_fail(field, error, TR_ENOMEM, "no memory")
                 : 0;
    if (rv == 0 && host->unix_folder == NULL && port == 0)
        return json_fail(field, error, TR_EFORMAT,
                         "\"port\" is missing or 0; give the first of "
                         "the host's ports, or \"unix\" with a folder for sockets");
    if (rv == 0 && host->address != NULL &&
        (strlen(host->address) >= ENDPOINT_HOST_MAX || strpbrk(host->address, " []/%") != NULL))
        return json_fail(field, error, TR_EFORMAT,
                         "\"address\": \"%.100s\"; give a host name, an "
                         "IPv4 or an IPv6 address without brackets",
                         host->address);
    return rv;
}

static int read_counts(const struct json_field *field, struct cluster_host *host,
                       struct error *error)
{
    static const char *const ways[] = { "one", "role" };
    int way = 0;
    const uint32_t unsaid = UINT32_MAX;
    uint32_t threads = unsaid;
    int rv = take_u32(field, "servers", CLUSTER_ROLE_MAX, &host->servers, error);
    if (rv == 0)
        rv = take_u32(field, "samplers", CLUSTER_ROLE_MAX, &host->samplers, error);
    if (rv == 0)
        rv = take_u32(field, "trainers", CLUSTER_ROLE_MAX, &host->trainers, error);
    if (rv == 0)
        rv = take_u32(field, "loops", CLUSTER_ROLE_MAX, &host->loops, error);
    if (rv == 0)
        rv = take_u32(field, "threads", CLUSTER_ROLE_MAX, &threads, error);
    if (rv == 0)
        rv = take_choice(field, "processes", NAMES(ways), &way, error);
    host->process_per_role = way == 1;
    host->threads = threads == unsaid ? 0 : threads;
    if (rv == 0 && threads == 0)
        return json_fail(field, error, TR_ERANGE, "\"threads\" is 0; give 1 or more");
    return rv;
}

/* A name is part of file names, and of certificates. */
static int read_name(const struct json_field *field, char **name, struct error *error)
{
    struct json_field found;
    int rv = json_get(field, "name", JSON_STRING, &found, error);
    if (rv == 0)
        rv = json_take_text(field, "name", name, error);
    if (rv == 0 && ((*name)[0] == '-' || (*name)[0] == '.' || strlen(*name) > 63 ||
                    (*name)[strspn(*name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_.")] != '\0'))
        rv = json_fail(&found, error, TR_EFORMAT,
                       "\"%.80s\"; a name has up to 63 letters, digits, "
                       "'-', '_' and '.', and begins with a letter or digit",
                       *name);
    return rv;
}

static int read_host(const struct json_field *field, const struct cluster *cluster,
                     struct cluster_host *host, struct error *error)
{
    static const char *const keys[] = { "name",    "address",   "port",     "unix",
                                        "servers", "samplers",  "trainers", "loops",
                                        "threads", "processes", "parts",    "roles" };
    *host = cluster_default_host();
    int rv = json_check_keys(field, NAMES(keys), error);
    if (rv == 0)
        rv = read_name(field, &host->name, error);
    if (rv == 0)
        rv = read_place(field, cluster, host, error);
    if (rv == 0)
        rv = read_counts(field, host, error);
    if (rv == 0)
        rv = read_parts(field, host, error);
    if (rv == 0 && host->num_parts > 0 && host->servers == 0)
        rv = json_fail(field, error, TR_EINVAL, "\"parts\" are listed, but \"servers\" is 0");
    if (rv == 0)
        rv = read_roles(field, host, error);
    return rv == 0 ? check_roles(field, host, error) : rv;
}

static int read_hosts(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    struct json_field list, item;
    int rv = json_get(root, "hosts", JSON_ARRAY, &list, error);
    if (rv != 0)
        return rv;
    size_t count = json_array_size(list.value);
    if (count == 0 || count > CLUSTER_HOSTS_MAX)
        return json_fail(&list, error, TR_ERANGE, "%zu hosts; give 1 to %u", count,
                         CLUSTER_HOSTS_MAX);
    cluster->hosts = calloc(count, sizeof *cluster->hosts);
    if (cluster->hosts == NULL)
        return json_fail(&list, error, TR_ENOMEM, "no memory");
    for (size_t i = 0; i < count && rv == 0; i++) {
        rv = json_at(&list, i, JSON_OBJECT, &item, error);
        if (rv == 0)
            rv = read_host(&item, cluster, &cluster->hosts[cluster->num_hosts++], error);
    }
    return rv;
}

static int read_tls(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    static const char *const keys[] = { "ca", "certificate", "key", "shared_key" };
    struct json_field field;
    struct cluster_tls *tls = &cluster->tls;
    int rv = get_object(root, "tls", NAMES(keys), &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    rv = take_path(&field, "ca", cluster, &tls->ca, error);
    if (rv == 0)
        rv = take_path(&field, "certificate", cluster, &tls->certificate, error);
    if (rv == 0)
        rv = take_path(&field, "key", cluster, &tls->key, error);
    if (rv == 0)
        rv = take_path(&field, "shared_key", cluster, &tls->shared_key, error);
    if (rv != 0)
        return rv;
    int certificates = (tls->ca != NULL) + (tls->certificate != NULL) + (tls->key != NULL);
    if (tls->shared_key != NULL ? certificates != 0 : certificates != 3)
        return json_fail(&field, error, TR_EFORMAT,
                         "give \"ca\", \"certificate\" and \"key\", or "
                         "\"shared_key\" alone");
    return 0;
}

static int read_limits(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    static const char *const keys[] = { "memory",    "window",      "recovery_deadline",
                                        "call",      "coordinator", "step_limit",
                                        "disk_wait", "tensors",     "start" };
    struct json_field field;
    int rv = get_object(root, "limits", NAMES(keys), &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    rv = json_take_count(&field, "memory", INT64_MAX, &cluster->limits.memory_bytes, error);
    if (rv == 0)
        rv = json_take_count(&field, "tensors", INT64_MAX, &cluster->limits.tensor_bytes, error);
    if (rv == 0)
        rv = json_take_count(&field, "window", INT64_MAX, &cluster->limits.window_bytes, error);
    if (rv == 0 && cluster->limits.window_bytes != 0 &&
        cluster->limits.window_bytes < LINKS_WINDOW_BYTES)
        rv = json_fail(&field, error, TR_ERANGE,
                       "\"window\" is %" PRIu64 " bytes; the largest "
                       "messages need %" PRIu64,
                       cluster->limits.window_bytes, LINKS_WINDOW_BYTES);
    if (rv == 0)
        rv = take_seconds(&field, "recovery_deadline", &cluster->limits.recovery_deadline_ns,
                          error);
    /* By default it is as long as any operation may take. */
    cluster->limits.start_ns = cluster->limits.recovery_deadline_ns;
    if (rv == 0)
        rv = take_seconds(&field, "start", &cluster->limits.start_ns, error);
    if (rv == 0)
        rv = take_seconds(&field, "call", &cluster->limits.call_ns, error);
    if (rv == 0)
        rv = take_seconds(&field, "coordinator", &cluster->limits.coordinator_ns, error);
    /* 0 is one of their values: no limit, no waiting. */
    if (rv == 0)
        rv = json_take_count(&field, "step_limit", CLUSTER_SECONDS_MAX, &cluster->limits.step_limit,
                             error);
    return rv == 0 ? json_take_count(&field, "disk_wait", CLUSTER_SECONDS_MAX,
                                     &cluster->limits.disk_wait, error)
                   : rv;
}

static int read_restart(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    static const char *const keys[] = { "times", "seconds" };
    struct json_field field;
    int rv = get_object(root, "restart", NAMES(keys), &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    rv = take_u32(&field, "times", INT32_MAX, &cluster->restart.times, error);
    return rv == 0 ? take_seconds(&field, "seconds", &cluster->restart.ns, error) : rv;
}

static int read_checkpoints(const struct json_field *root, struct cluster *cluster,
                            struct error *error)
{
    static const char *const keys[] = { "folder", "every", "keep" };
    struct json_field field;
    struct cluster_checkpoints *checkpoints = &cluster->checkpoints;
    int rv = get_object(root, "checkpoints", NAMES(keys), &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    rv = take_path(&field, "folder", cluster, &checkpoints->folder, error);
    if (rv == 0)
        rv = json_take_count(&field, "every", INT64_MAX, &checkpoints->every, error);
    if (rv == 0)
        rv = take_u32(&field, "keep", 1000, &checkpoints->keep, error);
    if (rv == 0 && checkpoints->keep == 0 && json_object_get(field.value, "keep") != NULL)
        rv = json_fail(&field, error, TR_ERANGE, "\"keep\" is 0; keep 1 or more");
    return rv;
}

/* The words before what runs on a host. */
static int read_launcher_command(const struct json_field *launcher_field,
                                 struct cluster_launcher *launcher, struct error *error)
{
    struct json_field list, word;
    int rv = json_get_optional(launcher_field, "command", JSON_ARRAY, &list, error);
    if (rv != 0 || list.value == NULL)
        return rv;
    size_t count = json_array_size(list.value);
    if (count == 0 || count > CLUSTER_COMMAND_MAX)
        return json_fail(&list, error, TR_ERANGE, "a command has 1 to %u words, this one %zu",
                         CLUSTER_COMMAND_MAX, count);
    launcher->command = calloc(count, sizeof *launcher->command);
    if (launcher->command == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a cluster file");
    for (size_t i = 0; rv == 0 && i < count; i++) {
        rv = json_at(&list, i, JSON_STRING, &word, error);
        if (rv == 0 && (launcher->command[i] = strdup(json_string_value(word.value))) == NULL)
            rv = error_set(error, TR_ENOMEM, "no memory for a cluster file");
        launcher->num_command += rv == 0;
    }
    return rv;
}

/* A command is a kind of its own, which need not be said. */
static int check_launcher_command(const struct json_field *field,
                                  const struct cluster_launcher *launcher, bool kind_said,
                                  struct error *error)
{
    bool command = launcher->kind == CLUSTER_LAUNCH_COMMAND;
    if (command && launcher->command == NULL)
        return json_fail(field, error, TR_EINVAL,
                         "the kind \"command\" needs \"command\": the words that run others on a "
                         "host, such as [\"kubectl\", \"exec\", \"-i\", \"{host}\", \"--\"]");
    if (launcher->command != NULL && kind_said && !command)
        return json_fail(
            field, error, TR_EINVAL,
            "\"command\" belongs to the kind \"command\"; the command that is troupe on "
            "the hosts is called \"program\"");
    if (launcher->command != NULL && launcher->user != NULL)
        return json_fail(field, error, TR_EINVAL,
                         "\"user\" belongs to the kind \"ssh\"; write the user into \"command\"");
    return 0;
}

static int read_launcher(const struct json_field *root, struct cluster *cluster,
                         struct error *error)
{
    static const char *const keys[] = { "kind", "user", "workdir", "program", "command" };
    static const char *const kinds[] = { "local", "ssh", "srun", "command" };
    struct json_field field;
    struct cluster_launcher *launcher = &cluster->launcher;
    int kind = CLUSTER_LAUNCH_LOCAL;
    int rv = get_object(root, "launcher", NAMES(keys), &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    rv = take_choice(&field, "kind", NAMES(kinds), &kind, error);
    launcher->kind = (enum cluster_launcher_kind)kind;
    if (rv == 0)
        rv = json_take_text(&field, "user", &launcher->user, error);
    if (rv == 0)
        rv = json_take_text(&field, "workdir", &launcher->workdir, error);
    if (rv == 0)
        rv = json_take_text(&field, "program", &launcher->program, error);
    if (rv == 0)
        rv = read_launcher_command(&field, launcher, error);
    bool kind_said = json_object_get(field.value, "kind") != NULL;
    if (rv == 0)
        rv = check_launcher_command(&field, launcher, kind_said, error);
    if (rv == 0 && launcher->command != NULL)
        launcher->kind = CLUSTER_LAUNCH_COMMAND;
    return rv;
}

static int read_seed(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    int rv = json_take_count(root, "seed", INT64_MAX, &cluster->seed, error);
    cluster->has_seed = json_object_get(root->value, "seed") != NULL;
    return rv;
}

static int read_metrics(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    static const char *const keys[] = { "host", "port" };
    struct json_field field;
    struct cluster_metrics *metrics = &cluster->metrics;
    int rv = get_object(root, "metrics", NAMES(keys), &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    rv = json_take_text(&field, "host", &metrics->host, error);
    if (rv == 0)
        rv = take_u32(&field, "port", UINT16_MAX, &metrics->port, error);
    if (rv == 0 && metrics->port == 0)
        rv = json_fail(&field, error, TR_EINVAL,
                       "\"port\" is missing or 0; give the port of process 0, such as 9464");
    return rv;
}

static int read_page(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    static const char *const keys[] = { "port" };
    struct json_field field;
    uint32_t port = 0;
    int rv = get_object(root, "page", NAMES(keys), &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    rv = take_u32(&field, "port", UINT16_MAX, &port, error);
    cluster->page_port = (int32_t)port;
    return rv;
}

static int read_coordinator(const struct json_field *root, struct cluster *cluster,
                            struct error *error)
{
    struct json_field field;
    int rv = json_get_optional(root, "coordinator", JSON_STRING, &field, error);
    if (rv != 0)
        return rv;
    struct error why = { 0 };
    if (field.value != NULL && cluster_find_host(cluster, json_string_value(field.value),
                                                 &cluster->coordinator_host, &why) != 0)
        return json_fail(&field, error, TR_ENOENT, "there is no host \"%.80s\" in \"hosts\"",
                         json_string_value(field.value));
    if ((cluster->hosts[cluster->coordinator_host].roles & CLUSTER_COORDINATOR) != 0)
        return 0;
    return json_fail(&field, error, TR_EINVAL,
                     "host \"%s\" may not coordinate; add "
                     "\"coordinator\" to its \"roles\", or name another host",
                     cluster->hosts[cluster->coordinator_host].name);
}

static int read_root(const struct json_field *root, struct cluster *cluster, struct error *error)
{
    static const char *const keys[] = { "name",        "graph",       "seed",
                                        "hosts",       "tls",         "insecure_network",
                                        "direct",      "codec",       "limits",
                                        "restart",     "checkpoints", "launcher",
                                        "coordinator", "metrics",     "page" };
    int rv = json_check_keys(root, NAMES(keys), error);
    if (rv == 0)
        rv = read_name(root, &cluster->name, error);
    if (rv == 0)
        rv = take_path(root, "graph", cluster, &cluster->graph, error);
    if (rv == 0)
        rv = read_seed(root, cluster, error);
    if (rv == 0)
        rv = read_hosts(root, cluster, error);
    if (rv == 0)
        rv = read_tls(root, cluster, error);
    if (rv == 0)
        rv = json_take_bool(root, "insecure_network", &cluster->insecure_network, error);
    if (rv == 0)
        rv = json_take_bool(root, "direct", &cluster->direct, error);
    if (rv == 0)
        rv = json_take_bool(root, "codec", &cluster->codec, error);
    if (rv == 0)
        rv = read_limits(root, cluster, error);
    if (rv == 0)
        rv = read_restart(root, cluster, error);
    if (rv == 0)
        rv = read_checkpoints(root, cluster, error);
    if (rv == 0)
        rv = read_launcher(root, cluster, error);
    if (rv == 0)
        rv = read_metrics(root, cluster, error);
    if (rv == 0)
        rv = read_page(root, cluster, error);
    /* The coordinator comes last: it names one of the hosts, and asks for their roles. The rest may
     * come in any order. */
    return rv == 0 ? read_coordinator(root, cluster, error) : rv;
}

int cluster_read_json(struct files *files, const char *path, struct cluster *cluster,
                      struct error *error)
{
    json_t *document;
    struct json_field root;
    int rv = json_load_document(files, path, &document, &root, error);
    if (rv != 0)
        return rv;
    rv = read_root(&root, cluster, error);
    json_decref(document);
    return rv;
}
