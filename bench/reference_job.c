/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/reference_job.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "bench/clock.h"
#include "bench/walk.h"
#include "partition/store/store.h"

#define READ_BYTES (1u << 20)

/* Asked of a server: batches [first, first + count). */
struct bench_request {
    uint64_t first, count;
};

/* Before each batch. */
struct lead {
    uint64_t edges, bytes;
};

struct reference_server {
    const char *graph;
    uint64_t seed;
    uint16_t port;
};

static int read_all(int fd, void *bytes, size_t count)
{
    for (char *at = bytes; count > 0;) {
        ssize_t got = read(fd, at, count);
        if (got <= 0)
            return TR_EIO;
        at += got;
        count -= (size_t)got;
    }
    return 0;
}

static int write_parts(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t put = writev(fd, parts, count);
        if (put < 0)
            return TR_EIO;
        while (count > 0 && (size_t)put >= parts->iov_len) {
            put -= (ssize_t)parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + put;
            parts->iov_len -= (size_t)put;
        }
    }
    return 0;
}

static int send_batch(int fd, struct walk *walk, uint64_t batch)
{
    uint64_t edges = walk_reference(walk, batch, 1, 1);
    const struct reference_loops *bare = &walk->bare;
    struct lead lead = { .edges = edges };
    struct iovec parts[] = {
        { &lead, sizeof lead },
        { bare->sources, edges * sizeof *bare->sources },
        { bare->nodes, bare->num_nodes * sizeof *bare->nodes },
        { walk->rows, bare->num_nodes * walk->features->row_bytes },
        { walk->seed_labels, sizeof walk->seed_labels },
    };
    int count = sizeof parts / sizeof *parts;
    for (int i = 1; i < count; i++)
        lead.bytes += parts[i].iov_len;
    return write_parts(fd, parts, count);
}

static int connect_back(uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return TR_EIO;
}

static void reference_serve(int fd, struct walk *walk)
{
    struct bench_request ask;
    while (read_all(fd, &ask, sizeof ask) == 0)
        for (uint64_t i = 0; i < ask.count; i++)
            if (send_batch(fd, walk, ask.first + i) < 0)
                return;
}

/* Ends when its connection does. */
static int reference_play(void *arg, const struct forked_peer_child *child)
{
    const struct reference_server *server = arg;
    const struct partition_load load = { .mode = PARTITION_COPY, .features = true };
    struct error error = { 0 };
    struct store *store;
    struct graph_part *part;
    struct walk walk;
    int rv = store_open(server->graph, &store, &error);
    if (rv == 0)
        rv = store_load(store, 0, &load, &part, &error);
    if (rv == 0)
        rv = walk_init(&walk, part, server->seed, &error);
    int fd = rv == 0 ? connect_back(server->port) : -1;
    if (fd < 0) {
        fprintf(stderr, "troupe bench: a bare server: %s\n", error.text);
        return 1;
    }
    forked_peer_say(child, "", 1);
    reference_serve(fd, &walk);
    return 0;
}

static int listen_loopback(uint16_t *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
        listen(fd, REFERENCE_JOB_SERVERS) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return TR_EIO;
}

/* One after the other, so that a connection is that of the server just started. */
static int reference_start(struct reference_job *job, uint32_t i, int listener,
                           struct reference_server *server, struct error *error)
{
    char said;
    int rv = forked_peer_start(&job->servers[i], reference_play, server, error);
    if (rv == 0)
        rv = forked_peer_hear(&job->servers[i], &said, 1, error);
    if (rv == 0 && (job->fds[i] = accept(listener, NULL, NULL)) < 0)
        rv = error_set(error, TR_EIO, "no connection over TCP loopback");
    return rv;
}

int reference_job_open(struct reference_job *job, const char *graph, uint64_t seed,
                       struct error *error)
{
    struct reference_server server = { .graph = graph, .seed = seed };
    *job = (struct reference_job){ .fds = { -1, -1 } };
    int rv = 0, listener = listen_loopback(&server.port);
    job->memory = malloc(READ_BYTES);
    if (listener < 0 || job->memory == NULL)
        rv = error_set(error, TR_EIO, "no memory or socket for the bare servers");
    for (uint32_t i = 0; i < REFERENCE_JOB_SERVERS && rv == 0; i++)
        rv = reference_start(job, i, listener, &server, error);
    if (listener >= 0)
        close(listener);
    if (rv != 0)
        reference_job_close(job);
    return rv;
}

void reference_job_close(struct reference_job *job)
{
    for (uint32_t i = REFERENCE_JOB_SERVERS; i-- > 0;) {
        if (job->fds[i] >= 0)
            shutdown(job->fds[i], SHUT_RDWR); /* another process may hold a copy */
        if (job->fds[i] >= 0)
            close(job->fds[i]);
        forked_peer_end(&job->servers[i]);
    }
    free(job->memory);
    *job = (struct reference_job){ .fds = { -1, -1 } };
}

/* The stream that comes from one server. */
struct inflow {
    uint64_t batches; /* still to come */
    uint64_t left;    /* of the batch under way */
};

static int take_some(struct reference_job *job, uint32_t i, struct inflow *inflow, uint64_t *edges)
{
    struct lead lead;
    if (inflow->left == 0) {
        if (read_all(job->fds[i], &lead, sizeof lead) < 0)
            return TR_EIO;
        inflow->left = lead.bytes;
        *edges += lead.edges;
    }
    ssize_t got = read(job->fds[i], job->memory,
                       inflow->left < READ_BYTES ? inflow->left : READ_BYTES);
    if (got <= 0)
        return TR_EIO;
    inflow->left -= (uint64_t)got;
    inflow->batches -= inflow->left == 0;
    return 0;
}

int reference_job_take(struct reference_job *job, uint64_t batches, uint64_t *edges,
                       struct error *error)
{
    struct inflow inflows[REFERENCE_JOB_SERVERS];
    int rv = 0;
    *edges = 0;
    for (uint32_t i = 0; i < REFERENCE_JOB_SERVERS && rv == 0; i++) {
        struct bench_request ask = { job->next, batches / REFERENCE_JOB_SERVERS };
        job->next += ask.count;
        inflows[i] = (struct inflow){ .batches = ask.count };
        rv = write(job->fds[i], &ask, sizeof ask) == (ssize_t)sizeof ask ? 0 : TR_EIO;
    }
    while (rv == 0 && (inflows[0].batches > 0 || inflows[1].batches > 0)) {
        struct pollfd polls[REFERENCE_JOB_SERVERS];
        for (uint32_t i = 0; i < REFERENCE_JOB_SERVERS; i++)
            polls[i] = (struct pollfd){ .fd = inflows[i].batches > 0 ? job->fds[i] : -1,
                                        .events = POLLIN };
        rv = poll(polls, REFERENCE_JOB_SERVERS, -1) > 0 ? 0 : TR_EIO;
        for (uint32_t i = 0; i < REFERENCE_JOB_SERVERS && rv == 0; i++)
            if (polls[i].revents != 0)
                rv = take_some(job, i, &inflows[i], edges);
    }
    return rv == 0 ? 0 : error_set(error, rv, "the bare servers ended");
}

double reference_job_cpu(const struct reference_job *job)
{
    double seconds = clock_process();
    for (uint32_t i = 0; i < REFERENCE_JOB_SERVERS; i++) {
        clockid_t clock;
        if (job->servers[i].child > 0 && clock_getcpuclockid(job->servers[i].child, &clock) == 0)
            seconds += clock_seconds(clock);
    }
    return seconds;
}
