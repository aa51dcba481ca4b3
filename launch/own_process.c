/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process as a launcher started it.
 *
 * Invariants:
 * - orphaned is set once, by the watching thread, before it interrupts the attached session; a
 *   session that is attached later is interrupted by whoever attaches it. Both hold the mutex, so
 *   that no session is missed, and none is interrupted once it was detached.
 * - The watching thread ends when the stop pipe's other end is closed; nobody else reads the
 *   standard input from tr_process_watch() on.
 */
#include "config.h" /* pipe2 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <troupe/process.h>

#include "actors/cluster/process_notice.h"
#include "api/internal.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "launch/job_key.h"
#include "launch/process_identity.h"
#include "partition/store/book_json.h"
#include "runtime/base/fork_mark.h"
#include "runtime/base/thread.h"

/* How the process ends that hangs after its launcher has gone. */
#define EXIT_ORPHANED 1
#define HOST_NAME_MAX_BYTES 256

_Static_assert(TR_PROCESS_UNSAID == PROCESS_IDENTITY_NONE && CLUSTER_UNSAID == UINT64_MAX,
               "numbers are handed on");

struct tr_process {
    struct fork_mark *mark;
    struct cluster cluster;
    struct tr_process_info info; /* its texts are those of cluster, and these: */
    char *cluster_path, *graph;
    struct job_key key;
    enum launcher_role role;
    atomic_bool orphaned;
    bool watching;
    pthread_t watcher;
    int stop_pipe[2];      /* -1: none */
    pthread_mutex_t mutex; /* guards session */
    struct tr_session *session;
};

static const char *look_up(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "1") == 0;
}

bool tr_process_is_launched(void)
{
    return is_set("TROUPE_LAUNCHED");
}

bool tr_process_is_restarted(void)
{
    return tr_process_is_launched() && is_set("TROUPE_RESTARTED");
}

static int mine(const struct tr_process *process, struct tr_error *error)
{
    return fork_mark_is_child(process->mark) ? error_forked(error, "the process") : 0;
}

/* The plan depends on how many partitions there are, and only on that. */
static int make_plan(struct tr_process *process, struct cluster_plan *plan, struct error *error)
{
    struct book_file book = { 0 };
    int rv = book_file_read(&book, files_posix, process->graph, error);
    if (rv == 0)
        rv = cluster_plan_make(plan, &process->cluster, book.book.num_parts, error);
    book_file_fini(&book);
    return rv;
}

static void describe(struct tr_process *process, const struct cluster_plan *plan, uint32_t number)
{
    const struct plan_process *plays = &plan->plan.processes[number];
    const struct cluster *cluster = &process->cluster;
    const struct cluster_host *host = &cluster->hosts[plays->host];
    const char *incarnation = getenv("TROUPE_INCARNATION");
    process->info = (struct tr_process_info){
        .size = sizeof process->info,
        .process = number,
        .host = plays->host,
        .num_trainers = plays->trainers.count,
        .threads = host->threads,
        .first_of_host = number == cluster_host_processes(plan, plays->host).first,
        .beside_trainers = host->trainers > 0,
        .launched = tr_process_is_launched(),
        .restarted = tr_process_is_restarted(),
        .has_seed = cluster->has_seed,
        .seed = cluster->seed,
        .checkpoint_every = cluster->checkpoints.every,
        .step_limit_s = cluster->limits.step_limit,
        .disk_wait_s = cluster->limits.disk_wait,
        .incarnation = incarnation != NULL ? (uint32_t)strtoul(incarnation, NULL, 10) : 0,
        .cluster = process->cluster_path,
        .name = cluster->name,
        .host_name = host->name,
        .graph = process->graph,
        .shared_key = process->key.path,
        .checkpoints = cluster->checkpoints.folder,
    };
}

static int find_place(struct tr_process *process, const struct tr_process_options *options,
                      struct error *error)
{
    struct cluster_plan plan = { 0 };
    char host_name[HOST_NAME_MAX_BYTES] = "";
    uint32_t number = PROCESS_IDENTITY_NONE;
    if (gethostname(host_name, sizeof host_name - 1) != 0)
        host_name[0] = '\0';
    const struct process_identity_wanted wanted = {
        .process = options->process,
        .host = options->host,
        .role = process->role,
        .index = options->index,
        .environment = look_up,
        .host_name = host_name[0] != '\0' ? host_name : NULL,
    };
    int rv = make_plan(process, &plan, error);
    if (rv == 0)
        rv = process_identity_find(&plan, &wanted, &number, error);
    if (rv == 0)
        rv = process_identity_check(&plan.plan, number, process->role, error);
    if (rv == 0)
        describe(process, &plan, number);
    cluster_plan_fini(&plan);
    return rv;
}

static int find_graph(struct tr_process *process, const char *graph, struct error *error)
{
    if (graph == NULL)
        graph = process->cluster.graph;
    if (graph == NULL)
        graph = getenv("TROUPE_GRAPH");
    if (graph == NULL)
        return error_set(error, TR_EINVAL,
                         "%s names no graph: add its field 'graph', or give NAME.json",
                         process->cluster_path);
    process->graph = strdup(graph);
    return process->graph != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for a path");
}

/* As the session will: the key of the job stands in where the file chose nothing. */
static int add_key(struct tr_process *process, struct error *error)
{
    const char *key = process->key.path;
    struct cluster *cluster = &process->cluster;
    if (key == NULL || cluster->insecure_network || cluster->tls.ca != NULL ||
        cluster->tls.shared_key != NULL)
        return 0;
    cluster->tls.shared_key = strdup(key);
    return cluster->tls.shared_key != NULL ? 0
                                           : error_set(error, TR_ENOMEM, "no memory for a path");
}

static int role_of(uint32_t role, enum launcher_role *out, struct error *error)
{
    if (role == TR_ROLE_TRAINER)
        *out = LAUNCHER_TRAINER;
    else if (role == TR_ROLE_SAMPLER)
        *out = LAUNCHER_SAMPLER;
    else if (role == TR_ROLE_SERVER)
        *out = LAUNCHER_SERVER;
    else
        return error_set(error, TR_EINVAL,
                         "role: %u; TR_ROLE_TRAINER, TR_ROLE_SAMPLER and TR_ROLE_SERVER are "
                         "possible",
                         role);
    return 0;
}

/* The key comes first: it is the first that the standard input holds. */
static int find(struct tr_process *process, const struct tr_process_options *options,
                int64_t timeout_ns, struct error *error)
{
    const char *path = options->cluster != NULL ? options->cluster : getenv("TROUPE_CLUSTER");
    int rv = role_of(options->role, &process->role, error);
    if (rv != 0)
        return rv;
    if (path == NULL)
        return error_set(error, TR_EINVAL,
                         "--cluster is missing: add --cluster FILE, or set TROUPE_CLUSTER");
    process->cluster_path = strdup(path);
    if (process->cluster_path == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a path");
    rv = job_key_find(&process->key, timeout_ns, error);
    if (rv == 0)
        rv = cluster_read(files_posix, path, &process->cluster, error);
    if (rv == 0)
        rv = add_key(process, error);
    if (rv == 0)
        rv = find_graph(process, options->graph, error);
    return rv == 0 ? find_place(process, options, error) : rv;
}

static void destroy(struct tr_process *process)
{
    cluster_fini(&process->cluster);
    free(process->cluster_path);
    free(process->graph);
    job_key_fini(&process->key);
    pthread_mutex_destroy(&process->mutex);
    fork_mark_destroy(process->mark);
    free(process);
}

int tr_process_open(const struct tr_process_options *caller, int64_t timeout_ns,
                    struct tr_process **out, struct tr_error *error)
{
    struct tr_process_options options = TR_PROCESS_OPTIONS_INIT;
    struct error inner = { 0 };
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_process_options", error);
    if (rv != 0)
        return rv;
    struct tr_process *process = calloc(1, sizeof *process);
    struct fork_mark *mark = fork_mark_create();
    if (process == NULL || mark == NULL) {
        fork_mark_destroy(mark);
        free(process);
        return tr_error_set(error, TR_ENOMEM, "no memory for a process's place");
    }
    process->mark = mark;
    process->stop_pipe[0] = process->stop_pipe[1] = -1;
    pthread_mutex_init(&process->mutex, NULL);
    atomic_init(&process->orphaned, false);
    rv = find(process, &options, timeout_ns, &inner);
    if (rv != 0) {
        destroy(process);
        return error_give(&inner, error);
    }
    *out = process;
    return 0;
}

void tr_process_close(struct tr_process *process)
{
    if (process == NULL || fork_mark_is_child(process->mark))
        return;
    if (process->watching) {
        close(process->stop_pipe[1]); /* wakes it */
        pthread_join(process->watcher, NULL);
        close(process->stop_pipe[0]);
    }
    destroy(process);
}

int tr_process_info(const struct tr_process *process, struct tr_process_info *info,
                    struct tr_error *error)
{
    int rv = mine(process, error);
    return rv != 0
               ? rv
               : sized_write(info, &process->info, sizeof process->info, "tr_process_info", error);
}

/* These fields are in every version of the struct. */
int tr_process_session(const struct tr_process *process, struct tr_session_options *options,
                       struct tr_error *error)
{
    int rv = mine(process, error);
    if (rv != 0)
        return rv;
    options->cluster = process->cluster_path;
    options->process = process->info.process;
    options->shared_key = process->key.path;
    if (process->info.incarnation != 0)
        options->incarnation = process->info.incarnation;
    return 0;
}

bool tr_process_is_orphaned(const struct tr_process *process)
{
    /* Relaxed: the flag carries no other data. */
    return atomic_load_explicit(&process->orphaned, memory_order_relaxed);
}

static void orphan(struct tr_process *process)
{
    atomic_store_explicit(&process->orphaned, true, memory_order_relaxed);
    pthread_mutex_lock(&process->mutex);
    if (process->session != NULL)
        tr_session_interrupt(process->session);
    pthread_mutex_unlock(&process->mutex);
}

/* Waits for the end of the input, then for the end of the process. */
static void *watch(void *arg)
{
    struct tr_process *process = arg;
    struct pollfd polled[] = { { .fd = process->stop_pipe[0], .events = POLLIN },
                               { .fd = STDIN_FILENO, .events = POLLIN } };
    for (;;) {
        char bytes[256];
        if (poll(polled, 2, -1) < 0 && errno == EINTR)
            continue;
        if (polled[0].revents != 0)
            return NULL;
        if (polled[1].revents != 0 && read(STDIN_FILENO, bytes, sizeof bytes) <= 0)
            break;
    }
    orphan(process);
    if (poll(polled, 1, (int)(TR_PROCESS_ORPHAN_NS / 1000000)) == 0)
        _exit(EXIT_ORPHANED);
    return NULL;
}

int tr_process_watch(struct tr_process *process, struct tr_error *error)
{
    int rv = mine(process, error);
    if (rv != 0 || !process->info.launched)
        return rv;
    if (process->watching)
        return tr_error_set(error, TR_EEXIST, "the launcher is watched already");
    if (pipe2(process->stop_pipe, O_CLOEXEC) != 0)
        return tr_error_set(error, TR_EIO, "cannot make a pipe: %s", strerror(errno));
    rv = thread_create(&process->watcher, "tr-launcher", watch, process);
    if (rv != 0) {
        close(process->stop_pipe[0]);
        close(process->stop_pipe[1]);
        return tr_error_set(error, rv, "cannot start the thread that watches the launcher");
    }
    process->watching = true;
    return 0;
}

/* One call of printf a line: loops may say it at once. */
static void say_silent(void *arg, uint32_t node, uint32_t incarnation)
{
    (void)arg;
    printf(NOTICE_SILENT NOTICE_SILENT_WRITE "\n", node, incarnation);
    fflush(stdout);
}

int tr_process_attach(struct tr_process *process, struct tr_session *session,
                      struct tr_error *error)
{
    int rv = mine(process, error);
    if (rv == 0 && session != NULL)
        rv = session_mine(session, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&process->mutex);
    process->session = session;
    if (session != NULL && process->info.launched)
        session->silent = say_silent;
    if (session != NULL && tr_process_is_orphaned(process))
        tr_session_interrupt(session);
    pthread_mutex_unlock(&process->mutex);
    return 0;
}

static int say(int written, struct tr_error *error)
{
    if (written >= 0 && fflush(stdout) == 0)
        return 0;
    return tr_error_set(error, TR_EIO, "the standard output takes nothing: %s", strerror(errno));
}

int tr_process_say_ready(const struct tr_process *process, struct tr_error *error)
{
    int rv = mine(process, error);
    return rv != 0 ? rv
                   : say(printf("%s process %u of %s\n", NOTICE_READY, process->info.process,
                                process->info.name),
                         error);
}

int tr_process_say_kernels(const char *kernels, struct tr_error *error)
{
    if (kernels == NULL || strchr(kernels, '\n') != NULL)
        return tr_error_set(error, TR_EINVAL, "kernels: they are no line of text");
    return tr_process_is_launched() ? say(printf("%s %s\n", NOTICE_KERNELS, kernels), error) : 0;
}

int tr_process_say_checkpoint(uint64_t step, struct tr_error *error)
{
    return tr_process_is_launched()
               ? say(printf("%s %" PRIu64 "\n", NOTICE_CHECKPOINT, step), error)
               : 0;
}

int tr_process_say_complete(struct tr_error *error)
{
    return tr_process_is_launched() ? say(printf("%s\n", NOTICE_COMPLETE), error) : 0;
}
