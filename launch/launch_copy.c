/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies what has to be on a host before its processes start: the cluster file, what it reads of
 * the graph, and by what it proves itself, where those are files that lie here.
 *
 * rsync leaves out what is equal, so a second launch copies nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch_plan.h"
#include "partition/store/book_paths.h"

static bool serves(const struct launch_plan *plan, uint32_t host, uint32_t part)
{
    struct plan_range processes = cluster_host_processes(&plan->plan, host);
    for (uint32_t p = processes.first; p < processes.first + processes.count; p++) {
        const struct plan_process *process = &plan->plan.plan.processes[p];
        for (uint32_t i = 0; i < process->num_parts; i++)
            if (process->parts[i] == part)
                return true;
    }
    return false;
}

static int add_path(void *arg, const char *path)
{
    argv_builder_add(arg, path);
    return 0;
}

/* Lists the files by which a host proves itself. The user has put those that are not here on the
 * hosts. */
static int list_proofs(const struct launch_plan *plan, uint32_t host, struct argv_builder *words)
{
    struct cluster_tls tls = { 0 };
    /* The key of this job alone lies in no file. */
    int rv = plan->key.path == NULL ? cluster_host_tls(&plan->cluster, host, &tls) : 0;
    const char *const paths[] = { tls.ca, tls.certificate, tls.key, tls.shared_key };
    for (size_t i = 0; rv == 0 && i < sizeof paths / sizeof *paths; i++)
        if (paths[i] != NULL && files_exists(files_posix, paths[i]))
            argv_builder_add(words, paths[i]);
    cluster_tls_fini(&tls);
    return rv;
}

/* The paths that a host needs, each as it is here. */
static int list_paths(const struct launch_plan *plan, uint32_t host, struct argv_builder *words)
{
    uint32_t num_parts = plan->book.book.num_parts;
    bool *served = calloc(num_parts, sizeof *served);
    if (served == NULL)
        return TR_ENOMEM;
    for (uint32_t part = 0; part < num_parts; part++)
        served[part] = serves(plan, host, part);
    argv_builder_add(words, plan->cluster_path);
    int rv = list_proofs(plan, host, words);
    if (rv == 0)
        rv = book_paths(&plan->book, plan->graph_path, served, add_path, words);
    free(served);
    return rv == 0 && argv_builder_failed(words) ? TR_ENOMEM : rv;
}

/* Makes the folder of a secret, or finds that only its user (or root) may change it, and the
 * folders that it lies in: in a folder of somebody else a secret could be exchanged, and through a
 * link of theirs a file of ours written over. In a sticky one others may change only what is
 * theirs. Where the path goes through links, the folders are looked at by both of their names. */
static const char KEY_FOLDER[] =
    "ours() { [ -z \"$(find \"$1\" \"$1/.\" -prune ! -user \"$(id -u)\" ! -user 0)\" ]; }; "
    "closed() { [ -z \"$(find \"$1/.\" -prune '(' -perm -020 -o -perm -002 ')' $2)\" ]; }; "
    "all_above() { at=$1; while [ -n \"$at\" ]; do at=${at%/*}; "
    "ours \"${at:-/}\" && closed \"$at\" '! -perm -1000' || return 1; done; }; "
    "case $1 in /*) ;; *) exit 1 ;; esac; umask 022; "
    "mkdir -p -- \"$2\" && { [ -d \"$1\" ] || mkdir -m 700 -- \"$1\"; } && "
    "ours \"$1\" && closed \"$1\" && all_above \"$1\" && "
    "real=$(cd -P -- \"$1\" && pwd -P) && all_above \"$real\"";

static int check_key_folder(struct launch_job *job, uint32_t host, const char *key,
                            struct error *error)
{
    struct argv_builder command = { 0 };
    char *folder = files_parent(key), *above = folder != NULL ? files_parent(folder) : NULL;
    bool safe = false;
    int rv = above != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for a path");
    if (rv == 0) {
        argv_builder_add(&command, "sh");
        argv_builder_add(&command, "-c");
        argv_builder_add(&command, KEY_FOLDER);
        argv_builder_add(&command, "sh");
        argv_builder_add(&command, folder);
        argv_builder_add(&command, above);
        rv = launch_host_ask(job, host, &command, &safe, error);
    }
    if (rv == 0 && !safe)
        rv = error_set(
            error, TR_EPERM,
            "host %s: no key is copied to %s, because that is not a folder, or because other users "
            "may write to it or to a folder above it. Remove it there, or make it writable by its "
            "owner alone (chmod go-w), or copy the keys yourself and give options.no_copy",
            job->plan->cluster.hosts[host].name, folder);
    argv_builder_fini(&command);
    free(folder);
    free(above);
    return rv;
}

static int check_keys(struct launch_job *job, uint32_t host, struct error *error)
{
    const struct launch_plan *plan = job->plan;
    struct cluster_tls tls = { 0 };
    if (plan->key.path != NULL) /* it lies in no file */
        return 0;
    int rv = cluster_host_tls(&plan->cluster, host, &tls);
    if (rv != 0)
        error_set(error, rv, "no memory for the names of keys");
    const char *const secrets[] = { tls.key, tls.shared_key };
    for (int i = 0; rv == 0 && i < 2; i++)
        if (secrets[i] != NULL && files_exists(files_posix, secrets[i]))
            rv = check_key_folder(job, host, secrets[i], error);
    cluster_tls_fini(&tls);
    return rv;
}

/* `rsync -R` gives every path the place there that it has here. */
static int copy_to(struct launch_job *job, uint32_t host, struct error *error)
{
    const struct launch_plan *plan = job->plan;
    const struct cluster_host *where = &plan->cluster.hosts[host];
    const char *name = where->address != NULL ? where->address : where->name;
    const char *user = plan->cluster.launcher.user;
    struct argv_builder words = { 0 }, paths = { 0 };
    int code = 0, number = 0;
    argv_builder_add(&words, "rsync");
    argv_builder_add(&words, "--archive");
    argv_builder_add(&words, "--relative");
    argv_builder_add(&words, "--no-implied-dirs");
    argv_builder_add(&words, "--rsh=ssh -o BatchMode=yes");
    argv_builder_add(&words, "--");
    int rv = list_paths(plan, host, &paths);
    argv_builder_add_all(&words, &paths);
    bool literal = strchr(name, ':') != NULL;
    argv_builder_addf(&words, "%s%s%s%s%s:/", user != NULL ? user : "", user != NULL ? "@" : "",
                      literal ? "[" : "", name, literal ? "]" : "");
    if (rv != 0 || argv_builder_failed(&words)) {
        rv = error_set(error, TR_ENOMEM, "no memory for the list of files");
    } else {
        rv = launch_help(job, host, &words, &code, &number, error);
    }
    if (rv == 0 && (code != 0 || number != 0))
        rv = error_set(
            error, TR_ECHILD,
            "host %s: rsync ended with exit code %d: its partitions were not copied. "
            "Install rsync on both sides, or copy them yourself and give options.no_copy",
            where->name, number != 0 ? 128 + number : code);
    argv_builder_fini(&words);
    argv_builder_fini(&paths);
    return rv;
}

int launch_copy(struct launch_job *job, struct error *error)
{
    const struct launch_plan *plan = job->plan;
    int rv = 0;
    if (plan->kind != CLUSTER_LAUNCH_SSH || plan->request.no_copy)
        return 0;
    for (uint32_t host = 0; rv == 0 && host < plan->cluster.num_hosts; host++) {
        tr_task_report(job->task, "copying", "hosts", host, plan->cluster.num_hosts);
        /* The folders of secrets are checked before rsync writes into them. */
        rv = check_keys(job, host, error);
        if (rv == 0)
            rv = copy_to(job, host, error);
    }
    return rv;
}
