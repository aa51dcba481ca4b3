/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* pipe2 */

#include "cli/launch/job_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actors/cluster/process_notice.h"
#include "api/internal.h"
#include "partition/store/book_json.h"

/* How the process ends that hangs after its launcher has gone. */
#define EXIT_ORPHANED 1

static const char *look_up(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

static const char *option_or(const char *value, const char *name)
{
    return value != NULL ? value : getenv(name);
}

bool process_is_launched(void)
{
    const char *launched = getenv("TROUPE_LAUNCHED");
    return launched != NULL && strcmp(launched, "1") == 0;
}

bool process_is_restarted(void)
{
    const char *restarted = getenv("TROUPE_RESTARTED");
    return process_is_launched() && restarted != NULL && strcmp(restarted, "1") == 0;
}

int process_fail(const struct invocation *invocation, const struct error *error)
{
    int code = fail_inside(invocation, error);
    return error->code == TR_EMISMATCH ? EXIT_USAGE : code;
}

void process_say_kernels(const char *kernels)
{
    if (!process_is_launched())
        return;
    printf("%s %s\n", NOTICE_KERNELS, kernels);
    fflush(stdout);
}

void process_say_checkpoint(uint64_t step)
{
    if (!process_is_launched())
        return;
    printf("%s %llu\n", NOTICE_CHECKPOINT, (unsigned long long)step);
    fflush(stdout);
}

void process_say_complete(void)
{
    if (!process_is_launched())
        return;
    printf("%s\n", NOTICE_COMPLETE);
    fflush(stdout);
}

/* One call of printf a line: loops may say it at once. */
static void say_silent(void *arg, uint32_t node, uint32_t incarnation)
{
    (void)arg;
    printf(NOTICE_SILENT NOTICE_SILENT_WRITE "\n", node, incarnation);
    fflush(stdout);
}

void process_watch_peers(struct tr_session *session)
{
    if (process_is_launched())
        session->silent = say_silent;
}

bool process_in_cluster(const struct process_values *values)
{
    return option_or(values->cluster, "TROUPE_CLUSTER") != NULL;
}

static int read_number(const char *option, const char *text, uint32_t *number, struct error *error)
{
    if (!process_identity_read_number(text, number))
        return error_set(error, TR_EINVAL, "--%s %s: give a number from 0 on", option, text);
    return 0;
}

/* The plan depends on how many partitions there are, and only on that. */
static int make_plan(struct process *process, struct cluster_plan *plan, struct error *error)
{
    struct book_file book = { 0 };
    int rv = book_file_read(&book, files_posix, process->graph, error);
    if (rv == 0)
        rv = cluster_plan_make(plan, &process->cluster, book.book.num_parts, error);
    book_file_fini(&book);
    return rv;
}

static int find_place(struct process *process, struct error *error)
{
    const struct process_values *values = process->values;
    struct cluster_plan plan = { 0 };
    char host_name[256] = "";
    if (gethostname(host_name, sizeof host_name - 1) != 0)
        host_name[0] = '\0';
    struct process_identity_wanted wanted = {
        .host = values->host,
        .role = process->role,
        .environment = look_up,
        .host_name = host_name[0] != '\0' ? host_name : NULL,
    };
    int rv = read_number("process", values->process, &wanted.process, error);
    if (rv == 0)
        rv = read_number("index", values->index, &wanted.index, error);
    if (rv == 0)
        rv = make_plan(process, &plan, error);
    if (rv == 0)
        rv = process_identity_find(&plan, &wanted, &process->number, error);
    if (rv == 0)
        rv = process_identity_check(&plan.plan, process->number, process->role, error);
    if (rv == 0) {
        const struct plan_process *plays = &plan.plan.processes[process->number];
        process->plays.trainers = plays->trainers.count;
        process->plays.threads = process->cluster.hosts[plays->host].threads;
        process->plays.host = plays->host;
        process->plays.first = process->number == cluster_host_processes(&plan, plays->host).first;
        process->plays.beside_trainers = process->cluster.hosts[plays->host].trainers > 0;
    }
    cluster_plan_fini(&plan);
    return rv;
}

static int find_graph(struct process *process, const char *graph, struct error *error)
{
    if (graph == NULL)
        graph = process->cluster.graph;
    if (graph == NULL)
        graph = getenv("TROUPE_GRAPH");
    if (graph == NULL)
        return error_set(error, TR_EINVAL,
                         "%s names no graph: add its field 'graph', or give "
                         "NAME.json",
                         process->cluster_path);
    process->graph = strdup(graph);
    return process->graph != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for a path");
}

/* As the session will: the key of the job stands in where the file chose nothing. */
static int add_key(struct process *process, struct error *error)
{
    const char *key = process->key.path;
    struct cluster *cluster = &process->cluster;
    if (key == NULL || cluster->insecure_network || cluster->tls.ca != NULL ||
        cluster->tls.shared_key != NULL)
        return 0;
    cluster->tls.shared_key = strdup(key);
    return cluster->tls.shared_key != NULL ? 0
                                           : error_set(error, TR_ENOMEM,
                                                       "no memory for a "
                                                       "path");
}

int process_find(struct process *process, const struct process_values *values, const char *graph,
                 enum launcher_role role, struct error *error)
{
    *process = (struct process){ .values = values, .role = role, .stop_pipe = { -1, -1 } };
    atomic_init(&process->orphaned, false);
    const char *path = option_or(values->cluster, "TROUPE_CLUSTER");
    if (path == NULL)
        return error_set(error, TR_EINVAL,
                         "--cluster is missing: add --cluster FILE, or set "
                         "TROUPE_CLUSTER");
    process->cluster_path = strdup(path);
    if (process->cluster_path == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a path");
    int rv = job_key_find(&process->key, error);
    if (rv == 0)
        rv = cluster_read(files_posix, path, &process->cluster, error);
    if (rv == 0)
        rv = add_key(process, error);
    if (rv == 0)
        rv = find_graph(process, graph, error);
    return rv == 0 ? find_place(process, error) : rv;
}

void process_fini(struct process *process)
{
    cluster_fini(&process->cluster);
    free(process->cluster_path);
    free(process->graph);
    job_key_fini(&process->key);
}

void process_session(const struct process *process, struct tr_session_options *options)
{
    const char *incarnation = getenv("TROUPE_INCARNATION");
    options->cluster = process->cluster_path;
    options->process = process->number;
    options->shared_key = process->key.path;
    if (incarnation != NULL)
        options->incarnation = (uint32_t)strtoul(incarnation, NULL, 10);
}

bool process_is_orphaned(const struct process *process)
{
    /* Relaxed: the flag carries no other data. */
    return atomic_load_explicit(&process->orphaned, memory_order_relaxed);
}

bool process_cancelled(const struct process *process)
{
    return process_is_orphaned(process) ||
           atomic_load_explicit(&process->signals.cancelled, memory_order_relaxed);
}

/* Waits for the end of the input, then for the end of the process. */
static void *watch(void *arg)
{
    struct process *process = arg;
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
    atomic_store_explicit(&process->orphaned, true, memory_order_relaxed);
    if (process->interrupter != NULL)
        interrupter_fire(process->interrupter);
    if (poll(polled, 1, (int)(PROCESS_ORPHAN_NS / 1000000u)) == 0)
        _exit(EXIT_ORPHANED);
    return NULL;
}

static void dump(void *arg)
{
    struct process *process = arg;
    if (process->session != NULL)
        (void)tr_session_dump(process->session, NULL);
}

static void interrupt(void *arg)
{
    struct process *process = arg;
    if (process->interrupter != NULL)
        interrupter_fire(process->interrupter);
}

static int watch_launcher(struct process *process, struct error *error)
{
    if (!process_is_launched())
        return 0;
    if (pipe2(process->stop_pipe, O_CLOEXEC) != 0)
        return error_set_errno(error, errno, "cannot make a pipe");
    int rv = pthread_create(&process->watcher, NULL, watch, process);
    if (rv != 0)
        return error_set_errno(error, rv, "cannot start the thread that watches the launcher");
    process->watching = true;
    return 0;
}

int process_begin(struct process *process, bool own_signals, struct error *error)
{
    int rv = watch_launcher(process, error);
    if (rv == 0 && !own_signals)
        rv = signals_start_inside(&process->signals, interrupt, dump, process, error);
    if (rv != 0)
        process_end(process);
    return rv;
}

void process_end(struct process *process)
{
    if (process->watching) {
        close(process->stop_pipe[1]); /* wakes it */
        pthread_join(process->watcher, NULL);
        close(process->stop_pipe[0]);
        process->watching = false;
    } else if (process->stop_pipe[0] >= 0) {
        close(process->stop_pipe[0]);
        close(process->stop_pipe[1]);
    }
    process->stop_pipe[0] = process->stop_pipe[1] = -1;
}

static void listening(void *arg, const struct endpoint *endpoint, const struct error *error)
{
    struct process_metrics *metrics = arg;
    pthread_mutex_lock(&metrics->mutex);
    metrics->told = endpoint != NULL ? 1 : -1;
    if (endpoint != NULL)
        metrics->at = *endpoint;
    else
        metrics->error = *error;
    pthread_cond_signal(&metrics->wake);
    pthread_mutex_unlock(&metrics->mutex);
}

int process_serve_metrics(struct process_metrics *metrics, const char *address,
                          struct tr_graph *graph, struct error *error)
{
    if (address == NULL)
        return 0;
    pthread_mutex_init(&metrics->mutex, NULL);
    pthread_cond_init(&metrics->wake, NULL);
    metrics->told = 0;
    metrics->options = (struct metrics_options){ .status = &graph->status,
                                                 .listening = listening,
                                                 .arg = metrics };
    int rv = metrics_address(address, &metrics->options.listen, error);
    if (rv != 0)
        return rv;
    const struct actor_options root = { .ops = &metrics_ops, .arg = &metrics->options };
    struct address ignored;
    rv = node_spawn(graph_node(graph), &root, &ignored);
    if (rv != 0)
        return error_set(error, rv, "--metrics %s: %s", address, tr_strerror(rv));
    pthread_mutex_lock(&metrics->mutex);
    while (metrics->told == 0)
        pthread_cond_wait(&metrics->wake, &metrics->mutex);
    bool told = metrics->told > 0;
    pthread_mutex_unlock(&metrics->mutex);
    /* A port that the last life of this process still holds must not end this one. */
    if (!told)
        fprintf(stderr, "troupe: --metrics %s: %s; the process goes on without\n", address,
                metrics->error.text);
    return 0;
}

int process_ready(struct process *process, struct tr_session *session, struct tr_graph *graph,
                  struct error *error)
{
    process->session = session;
    int rv = process_serve_metrics(&process->metrics, process->values->metrics, graph, error);
    if (rv != 0)
        return rv;
    if (process->metrics.told > 0) {
        char at[ENDPOINT_TEXT_MAX];
        endpoint_format(&process->metrics.at, at, sizeof at);
        printf("troupe: metrics %s\n", at);
    }
    printf("%s process %u of %s\n", NOTICE_READY, process->number, process->cluster.name);
    if (fflush(stdout) != 0)
        return error_set_errno(error, errno, "the standard output takes nothing");
    return 0;
}
