/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_job.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/batch_drain.h"
#include "bench/clock.h"
#include "bench/walk.h"
#include "runtime/base/files.h"

#define NEXT_NS INT64_C(120000000000)
#define LOOK_MS 20

/* Ports that are free now; all are held until each has one. */
static int find_ports(uint32_t count, uint16_t *ports, struct error *error)
{
    int fds[JOB_PROCESSES_MAX];
    int rv = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sockaddr_in address = { .sin_family = AF_INET };
        socklen_t length = sizeof address;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fds[i] < 0 || bind(fds[i], (struct sockaddr *)&address, length) < 0 ||
            getsockname(fds[i], (struct sockaddr *)&address, &length) < 0)
            rv = error_set(error, TR_EIO, "no port on TCP loopback");
        ports[i] = ntohs(address.sin_port);
    }
    for (uint32_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return rv;
}

static void write_host(const struct bench_job *job, FILE *to, uint32_t process, uint16_t port)
{
    bool here = process == job->num_processes - 1;
    bool serves = job->shape == JOB_SHARED || !here;
    bool trains = job->shape == JOB_SHARED || here;
    fprintf(to,
            "%s{\"name\": \"h%u\", \"address\": \"127.0.0.1\", \"port\": %u, \"servers\": %d, "
            "\"samplers\": %d, \"trainers\": %d, \"loops\": 1}",
            process == 0 ? "" : ",\n", process, port, serves, trains, trains);
}

static int write_cluster(struct bench_job *job, const char *graph, struct error *error)
{
    uint16_t ports[JOB_PROCESSES_MAX];
    int rv = find_ports(job->num_processes, ports, error);
    char folder[] = "/tmp/troupe-bench-job-XXXXXX";
    if (rv < 0 || mkdtemp(folder) == NULL)
        return rv < 0 ? rv : error_set(error, TR_EIO, "%s: cannot be made", folder);
    job->folder = strdup(folder);
    job->file = files_join(folder, "cluster.json");
    char *absolute = realpath(graph, NULL);
    FILE *to = job->folder != NULL && job->file != NULL && absolute != NULL ? fopen(job->file, "we")
                                                                            : NULL;
    if (to == NULL) {
        free(absolute);
        return error_set(error, TR_EIO, "%s: no cluster file can be written", folder);
    }
    fprintf(to,
            "{\"name\": \"bench\", \"graph\": \"%s\", \"seed\": %llu, \"direct\": %s, "
            "\"insecure_network\": true, \"hosts\": [\n",
            absolute, (unsigned long long)job->seed, job->shape == JOB_SHARED ? "true" : "false");
    for (uint32_t i = 0; i < job->num_processes; i++)
        write_host(job, to, i, ports[i]);
    fprintf(to, "]}\n");
    free(absolute);
    return fclose(to) == 0 ? 0 : error_set(error, TR_EIO, "%s: not written", job->file);
}

static int open_graph(struct bench_job *job, uint32_t process, struct tr_error *why)
{
    struct tr_session_options options;
    tr_session_options_init(&options);
    options.cluster = job->file;
    options.process = process;
    int rv = tr_session_open(&options, &job->session, why);
    return rv == 0 ? tr_graph_open(job->session, NULL, TR_WAIT_FOREVER, &job->graph, why) : rv;
}

static int open_loader(struct bench_job *job, uint32_t rank, struct tr_error *why)
{
    static const int32_t fanouts[] = WALK_FANOUTS;
    struct tr_loader_options options;
    tr_loader_options_init(&options);
    options.num_layers = REFERENCE_LAYERS;
    for (uint32_t i = 0; i < REFERENCE_LAYERS; i++)
        options.fanout[i] = fanouts[REFERENCE_LAYERS - 1 - i];
    options.batch_size = WALK_SEEDS;
    options.shuffle = true;
    options.features = "feat";
    options.labels = "label";
    options.rank = rank;
    int rv = tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &job->nodes, why);
    return rv == 0 ? tr_loader_open(job->graph, job->nodes, &options, TR_WAIT_FOREVER, &job->loader,
                                    why)
                   : rv;
}

static void close_handles(struct bench_job *job)
{
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
}

int job_take(struct bench_job *job, uint64_t batches, uint64_t *edges, struct error *error)
{
    return batch_drain_batches(job->loader, batches, NEXT_NS, edges, error);
}

/* The others. */

struct other {
    struct bench_job *job;
    uint32_t process;
    bool loading;
};

static bool is_over(const struct forked_peer_child *child, int wait_ms)
{
    struct pollfd end = { .fd = child->stop, .events = POLLIN };
    return poll(&end, 1, wait_ms) != 0;
}

static int job_train(const struct other *other, const struct forked_peer_child *child)
{
    struct bench_job *job = other->job;
    struct error error;
    int rv = 0;
    while (rv == 0 && !is_over(child, atomic_load(&job->shared->go) ? 0 : LOOK_MS)) {
        uint64_t edges = 0;
        if (!atomic_load(&job->shared->go))
            continue;
        rv = job_take(job, 1, &edges, &error);
        atomic_fetch_add(&job->shared->edges[other->process], edges);
        atomic_fetch_add(&job->shared->batches[other->process], 1);
    }
    return rv;
}

static int job_play(void *arg, const struct forked_peer_child *child)
{
    struct tr_error why = TR_ERROR_INIT;
    const struct other *other = arg;
    struct bench_job *job = other->job;
    int rv = open_graph(job, other->process, &why);
    if (rv == 0 && other->loading)
        rv = open_loader(job, other->process, &why);
    if (rv != 0)
        fprintf(stderr, "troupe bench: process %u: %s\n", other->process, why.message);
    if (rv == 0)
        rv = forked_peer_say(child, "", 1);
    if (rv == 0 && other->loading)
        job_train(other, child);
    else if (rv == 0)
        forked_peer_wait(child);
    close_handles(job);
    return rv == 0 ? 0 : 1;
}

static int start_others(struct bench_job *job, bool loading, struct error *error)
{
    struct other other = { .job = job, .loading = loading && job->shape == JOB_SHARED };
    int rv = 0;
    for (; other.process < job->num_processes - 1 && rv == 0; other.process++)
        rv = forked_peer_start(&job->others[other.process], job_play, &other, error);
    return rv;
}

static int hear_others(struct bench_job *job, struct error *error)
{
    char said;
    int rv = 0;
    for (uint32_t i = 0; i < job->num_processes - 1 && rv == 0; i++)
        rv = forked_peer_hear(&job->others[i], &said, 1, error);
    return rv;
}

int job_open(struct bench_job *job, enum job_shape shape, uint32_t num_processes, const char *graph,
             bool loading, uint64_t seed, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *job = (struct bench_job){ .shape = shape, .num_processes = num_processes, .seed = seed };
    job->shared = mmap(NULL, sizeof *job->shared, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rv = 0;
    if (job->shared == MAP_FAILED) {
        job->shared = NULL;
        rv = error_set(error, TR_ENOMEM, "out of memory");
    }
    if (rv == 0)
        rv = write_cluster(job, graph, error);
    if (rv == 0)
        rv = start_others(job, loading, error);
    if (rv == 0 && (rv = open_graph(job, num_processes - 1, &why)) != 0)
        batch_drain_failed(&why, rv, error);
    if (rv == 0 && loading &&
        (rv = open_loader(job, shape == JOB_SHARED ? num_processes - 1 : 0, &why)) != 0)
        batch_drain_failed(&why, rv, error);
    if (rv == 0)
        rv = hear_others(job, error);
    if (rv != 0)
        job_close(job);
    return rv;
}

void job_close(struct bench_job *job)
{
    if (job->shared != NULL)
        job_go(job, false);
    for (uint32_t i = job->num_processes; i-- > 0;)
        forked_peer_end(&job->others[i]);
    close_handles(job);
    if (job->folder != NULL)
        files_remove_tree(files_posix, job->folder, NULL);
    free(job->folder);
    free(job->file);
    if (job->shared != NULL)
        munmap(job->shared, sizeof *job->shared);
    *job = (struct bench_job){ .num_processes = 0 };
}

void job_go(struct bench_job *job, bool go)
{
    atomic_store(&job->shared->go, go);
}

uint64_t job_others_edges(const struct bench_job *job)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < JOB_PROCESSES_MAX; i++)
        edges += atomic_load(&job->shared->edges[i]);
    return edges;
}

uint64_t job_others_batches(const struct bench_job *job)
{
    uint64_t batches = 0;
    for (uint32_t i = 0; i < JOB_PROCESSES_MAX; i++)
        batches += atomic_load(&job->shared->batches[i]);
    return batches;
}

double job_cpu(const struct bench_job *job)
{
    double seconds = clock_process();
    for (uint32_t i = 0; i + 1 < job->num_processes; i++) {
        clockid_t clock;
        if (job->others[i].child > 0 && clock_getcpuclockid(job->others[i].child, &clock) == 0)
            seconds += clock_seconds(clock);
    }
    return seconds;
}
