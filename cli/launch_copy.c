/*
 * What has to be on a host before its processes start: the cluster file, the graph's book, the
 * partitions it serves, the key of the job. And whether all of them see one folder of checkpoints.
 *
 * rsync leaves out what is equal, so a second launch copies nothing.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/launch.h"

/* Tells the folder of this launch from one of the same name on another host. */
#define TOKEN_BYTES 64

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

/* Everything that stands beside the graph's book and is small: deals are read by all. */
struct deals {
    struct words *words;
    const char *folder;
    const char *name; /* of the graph, with the dot */
};

static int add_deal(void *arg, const char *name)
{
    struct deals *deals = arg;
    size_t length = strlen(name);
    if (strncmp(name, deals->name, strlen(deals->name)) == 0 && length > 9 &&
        strcmp(name + length - 9, ".deal.npy") == 0)
        words_addf(deals->words, "%s/%s", deals->folder, name);
    return 0;
}

/* The paths that a host needs, each as it is here. */
static int list_paths(const struct launch_plan *plan, uint32_t host, struct words *words)
{
    char *folder = files_parent(plan->graph_path);
    if (folder == NULL)
        return TR_ENOMEM;
    words_add(words, plan->cluster_path);
    words_add(words, plan->graph_path);
    struct deals deals = {words, folder, plan->book.book.graph_name};
    files_posix->list(files_posix, folder, add_deal, &deals);
    for (uint32_t part = 0; part < plan->book.book.num_parts; part++) {
        char *path = serves(plan, host, part) ? files_join(folder, plan->book.part_folders[part])
                                              : NULL;
        if (path != NULL)
            words_add(words, path);
        else
            words->failed = words->failed || serves(plan, host, part);
        free(path);
    }
    free(folder);
    return words_failed(words) ? TR_ENOMEM : 0;
}

/* `rsync -R` gives every path the place there that it has here. */
static int copy_to(const struct launch_plan *plan, uint32_t host, struct error *error)
{
    const struct cluster_host *where = &plan->cluster.hosts[host];
    const char *name = where->address != NULL ? where->address : where->name;
    const char *user = plan->cluster.launcher.user;
    struct words words = {0}, paths = {0};
    struct child_process child;
    words_add(&words, "rsync");
    words_add(&words, "--archive");
    words_add(&words, "--relative");
    words_add(&words, "--no-implied-dirs");
    words_add(&words, "--rsh=ssh -o BatchMode=yes");
    words_add(&words, "--");
    int rv = list_paths(plan, host, &paths);
    words_add_all(&words, &paths);
    bool literal = strchr(name, ':') != NULL;
    words_addf(&words, "%s%s%s%s%s:/", user != NULL ? user : "", user != NULL ? "@" : "",
               literal ? "[" : "", name, literal ? "]" : "");
    if (rv != 0 || words_failed(&words)) {
        rv = error_set(error, TR_ENOMEM, "no memory for the list of files");
    } else {
        const struct child_start start = {
            .words = words.list, .orphan_signal = SIGTERM, .inherit = true};
        rv = child_start(&child, &start, error);
    }
    if (rv == 0) {
        int code = 0, number = 0;
        child_close_input(&child);
        while (!child_ended(&child, &code, &number))
            usleep(20000);
        child_close(&child);
        if (code != 0 || number != 0)
            rv = error_set(error, TR_ECHILD,
                           "host %s: rsync ended with exit code %d: its partitions were not "
                           "copied. Install rsync on both sides, or copy them yourself and add "
                           "--no-copy",
                           where->name, number != 0 ? 128 + number : code);
    }
    words_fini(&words);
    words_fini(&paths);
    return rv;
}

/* Through the command's input: a key on a command line could be read by anybody there. */
static int copy_key(const struct launch_plan *plan, uint32_t host, struct error *error)
{
    struct words command = {0};
    char *key = NULL;
    size_t size;
    int rv = files_read_all(files_posix, plan->key_path, 4096, &key, &size, error);
    words_add(&command, "sh");
    words_add(&command, "-c");
    words_add(&command, "umask 077 && mkdir -p -- \"$1\" && cat >\"$2\"");
    words_add(&command, "sh");
    words_add(&command, plan->job_folder);
    words_add(&command, plan->key_path);
    if (rv == 0)
        rv = launch_host_run(plan, host, &command, key, NULL, error);
    words_fini(&command);
    free(key);
    return rv;
}

static int probe(const struct launch_plan *plan, uint32_t host, const char *token, bool *seen,
                 struct error *error)
{
    struct words command = {0};
    int code = 0;
    words_add(&command, "test");
    words_add(&command, "-e");
    words_add(&command, token);
    int rv = launch_host_run(plan, host, &command, NULL, &code, error);
    words_fini(&command);
    *seen = code == 0;
    if (rv == 0 && code > 1)
        rv = error_set(error, TR_ECHILD,
                       "host %s: cannot run a command there (exit code %d of ssh or srun)",
                       plan->cluster.hosts[host].name, code);
    return rv;
}

/* Every process may be started again on its own host, and then reads the last checkpoint. A file
 * that is made here is seen there where hosts share the folder; where they do not, processes copy
 * what they save to a second host, which is told. */
static int check_shared(const struct launch_plan *plan, struct error *error)
{
    const char *folder = plan->cluster.checkpoints.folder;
    char token[TOKEN_BYTES];
    /* "%h" says that each host has its own. */
    if (folder == NULL || strstr(folder, "%h") != NULL || plan->cluster.num_hosts < 2)
        return 0;
    int rv = files_make_folders(files_posix, folder, error);
    if (rv != 0)
        return rv;
    snprintf(token, sizeof token, ".launch-%ld", (long)getpid());
    char *path = files_join(folder, token);
    struct file file = {0};
    if (path == NULL)
        return error_set(error, TR_ENOMEM, "no memory to launch");
    rv = file_create(&file, files_posix, path, error);
    file_close(&file);
    bool seen = true;
    for (uint32_t host = 0; rv == 0 && seen && host < plan->cluster.num_hosts; host++) {
        rv = probe(plan, host, path, &seen, error);
        if (rv == 0 && !seen)
            fprintf(stderr, "troupe launch: host %s does not see the checkpoints in %s: each part "
                    "of one is copied to a second host\n", plan->cluster.hosts[host].name, folder);
    }
    (void)files_posix->unlink(files_posix, path);
    free(path);
    return rv;
}

int launch_copy(const struct launch_plan *plan, struct error *error)
{
    int rv = 0;
    if (plan->kind == CLUSTER_LAUNCH_LOCAL)
        return 0; /* these are our own files */
    for (uint32_t host = 0; rv == 0 && host < plan->cluster.num_hosts; host++) {
        if (plan->kind == CLUSTER_LAUNCH_SSH && !plan->values->no_copy)
            rv = copy_to(plan, host, error);
        if (rv == 0 && plan->key_path != NULL)
            rv = copy_key(plan, host, error);
    }
    return rv == 0 ? check_shared(plan, error) : rv;
}

void launch_copy_undo(const struct launch_plan *plan)
{
    if (plan->kind == CLUSTER_LAUNCH_LOCAL || plan->key_path == NULL)
        return;
    for (uint32_t host = 0; host < plan->cluster.num_hosts; host++) {
        struct words command = {0};
        int code;
        words_add(&command, "rm");
        words_add(&command, "-rf");
        words_add(&command, "--");
        words_add(&command, plan->job_folder);
        (void)launch_host_run(plan, host, &command, NULL, &code, NULL);
        words_fini(&command);
    }
}
