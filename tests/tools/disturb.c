/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relay for TCP on this host that disturbs what passes through it, by a seed.
 *
 *     disturb SEED FAULTS COUNT
 *
 * FAULTS are words joined by commas: delay, throttle, split (into writes of one byte), reset (of a
 * connection, after a drawn number of bytes), corrupt (a bit, after a drawn number of bytes); none
 * passes everything on as it is. It relays COUNT ports: for each it prints the one it listens at
 * and a free one, where it expects the server. It ends when its standard input does, and then says
 * what it did.
 */
#include "config.h" /* accept4 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORTS_MAX 16
#define PAIRS_MAX 256
#define BUFFER_BYTES 16384u
#define ONE_BYTE_WRITES 64u  /* in a row, before as many bytes as fit are written at once */
#define DELAY_US 5000u       /* at most */
#define THROTTLE_BYTES 4096u /* a millisecond: 4 MB/s a connection and direction */
#define RESET_BYTES (UINT64_C(512) << 10)
#define CORRUPT_BYTES (UINT64_C(512) << 10)

enum fault { DELAY, THROTTLE, SPLIT, RESET, CORRUPT, FAULTS };

static const char *const NAMES[FAULTS] = { "delay", "throttle", "split", "reset", "corrupt" };

/* The bytes that go from one socket to the other. */
struct way {
    unsigned char bytes[BUFFER_BYTES];
    size_t begin, end;
    uint64_t due_us; /* nothing is written before */
    uint64_t passed, reset_at, corrupt_at;
    bool ended; /* the reader has said so, and it was passed on */
};

struct pair {
    int sockets[2];     /* -1: free */
    struct way ways[2]; /* [0]: from sockets[0] to sockets[1] */
};

struct relay {
    uint64_t state;
    bool faults[FAULTS];
    int listeners[PORTS_MAX];
    uint16_t targets[PORTS_MAX];
    int count;
    struct pair *pairs; /* [PAIRS_MAX] */
    uint64_t connections, resets, corrupted, bytes;
};

static uint64_t draw(struct relay *relay, uint64_t below)
{
    relay->state = relay->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (relay->state >> 20) % below;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* Ports that processes are to listen at. */
#define HOLD_FIRST 12000u
#define HOLD_PORTS 18000u
#define HOLD_TRIES 1000

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static int open_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        give_up("disturb: a socket");
    return fd;
}

/* A socket bound to a port that the kernel chose. */
static int open_port(uint16_t *port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = open_socket();
    if (bind(fd, (struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        give_up("disturb: a port");
    *port = ntohs(address.sin_port);
    return fd;
}

/* A port that is free now, for a process that begins to listen there later. Below those that the
 * kernel gives to connections: one of these would be somebody's by then. */
static int hold_port(uint16_t *port)
{
    int fd = open_socket();
    for (int i = 0; i < HOLD_TRIES; i++) {
        *port = (uint16_t)(HOLD_FIRST + (uint32_t)(getpid() * 7 + i * 13) % HOLD_PORTS);
        struct sockaddr_in address = loopback(*port);
        if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
    }
    give_up("disturb: a port to hold");
    return -1;
}

static void open_ports(struct relay *relay)
{
    int held[PORTS_MAX];
    for (int i = 0; i < relay->count; i++) {
        uint16_t port;
        relay->listeners[i] = open_port(&port);
        held[i] = hold_port(&relay->targets[i]);
        if (listen(relay->listeners[i], 64) != 0)
            give_up("disturb: listen");
        printf("%u %u\n", port, relay->targets[i]);
    }
    for (int i = 0; i < relay->count; i++)
        close(held[i]);
    fflush(stdout);
}

static void begin_way(struct relay *relay, struct way *way)
{
    way->begin = way->end = 0;
    way->due_us = way->passed = 0;
    way->ended = false;
    way->reset_at = relay->faults[RESET] ? draw(relay, RESET_BYTES) : UINT64_MAX;
    way->corrupt_at = relay->faults[CORRUPT] ? draw(relay, CORRUPT_BYTES) : UINT64_MAX;
}

static void accept_one(struct relay *relay, int i)
{
    struct pair *pair = relay->pairs;
    int one = 1, from = accept4(relay->listeners[i], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (from < 0)
        return;
    while (pair < relay->pairs + PAIRS_MAX && pair->sockets[0] >= 0)
        pair++;
    struct sockaddr_in to = loopback(relay->targets[i]);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (pair == relay->pairs + PAIRS_MAX || fd < 0 ||
        (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)) {
        close(from);
        if (fd >= 0)
            close(fd);
        return;
    }
    setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    pair->sockets[0] = from;
    pair->sockets[1] = fd;
    begin_way(relay, &pair->ways[0]);
    begin_way(relay, &pair->ways[1]);
    relay->connections++;
}

/* hard: what is on its way is lost, and both sides notice by a reset. */
static void end_pair(struct pair *pair, bool hard)
{
    const struct linger linger = { .l_onoff = 1, .l_linger = 0 };
    for (int i = 0; i < 2; i++) {
        if (hard)
            setsockopt(pair->sockets[i], SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        close(pair->sockets[i]);
        pair->sockets[i] = -1;
    }
}

static void corrupt(struct relay *relay, struct way *way)
{
    uint64_t end = way->passed + (way->end - way->begin);
    while (way->corrupt_at < end) {
        way->bytes[way->begin + (way->corrupt_at - way->passed)] ^= (unsigned char)(1 << draw(relay,
                                                                                              8));
        way->corrupt_at += 1 + draw(relay, CORRUPT_BYTES);
        relay->corrupted++;
    }
}

/* false: the pair is over. */
static bool read_way(struct relay *relay, struct way *way, int from, int to)
{
    ssize_t got = read(from, way->bytes, sizeof way->bytes);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0) {
        way->ended = true;
        return shutdown(to, SHUT_WR) == 0;
    }
    way->begin = 0;
    way->end = (size_t)got;
    corrupt(relay, way);
    if (relay->faults[DELAY])
        way->due_us = now_us() + draw(relay, DELAY_US);
    return true;
}

static ssize_t write_some(struct relay *relay, const struct way *way, int to)
{
    size_t left = way->end - way->begin;
    const unsigned char *at = way->bytes + way->begin;
    if (relay->faults[THROTTLE] && left > THROTTLE_BYTES)
        left = THROTTLE_BYTES;
    if (way->passed + left > way->reset_at)
        left = (size_t)(way->reset_at - way->passed);
    ssize_t done = 0;
    for (uint32_t i = 0; relay->faults[SPLIT] && i < ONE_BYTE_WRITES && (size_t)done < left; i++) {
        ssize_t rc = send(to, at + done, 1, MSG_NOSIGNAL);
        if (rc <= 0)
            return done > 0 ? done : rc;
        done++;
    }
    ssize_t rc = (size_t)done < left ? send(to, at + done, left - (size_t)done, MSG_NOSIGNAL) : 0;
    return rc < 0 && done == 0 ? rc : done + (rc > 0 ? rc : 0);
}

static bool write_way(struct relay *relay, struct way *way, int to)
{
    ssize_t done = way->passed < way->reset_at ? write_some(relay, way, to) : 0;
    if (done < 0)
        return errno == EAGAIN || errno == EINTR;
    way->begin += (size_t)done;
    way->passed += (uint64_t)done;
    relay->bytes += (uint64_t)done;
    relay->resets += way->passed >= way->reset_at;
    if (relay->faults[THROTTLE])
        way->due_us = now_us() + 1000;
    return way->passed < way->reset_at;
}

/* The events that each of a pair's sockets is polled for; *wait_ms falls to when a way is due. */
static void want(const struct pair *pair, struct pollfd *polled, int *wait_ms)
{
    uint64_t now = now_us();
    for (int i = 0; i < 2; i++)
        polled[i] = (struct pollfd){ .fd = pair->sockets[i] };
    for (int i = 0; i < 2 && pair->sockets[0] >= 0; i++) {
        const struct way *way = &pair->ways[i];
        if (way->begin == way->end)
            polled[i].events |= way->ended ? 0 : POLLIN;
        else if (way->due_us <= now)
            polled[1 - i].events |= POLLOUT;
        else
            *wait_ms = 1;
    }
    for (int i = 0; i < 2; i++)
        if (polled[i].events == 0)
            polled[i].fd = -1; /* a hangup that nothing can be done about yet */
}

static void serve(struct relay *relay, struct pair *pair, const struct pollfd *polled)
{
    uint64_t now = now_us();
    bool sound = true;
    for (int i = 0; i < 2 && sound; i++) {
        struct way *way = &pair->ways[i];
        int from = pair->sockets[i], to = pair->sockets[1 - i];
        if (way->begin < way->end && way->due_us <= now && polled[1 - i].revents != 0)
            sound = write_way(relay, way, to);
        else if (way->begin == way->end && !way->ended && polled[i].revents != 0)
            sound = read_way(relay, way, from, to);
    }
    bool over = true;
    for (int i = 0; i < 2; i++)
        over = over && pair->ways[i].ended && pair->ways[i].begin == pair->ways[i].end;
    if (!sound || over)
        end_pair(pair, !sound);
}

static void run(struct relay *relay)
{
    static struct pollfd polled[1 + PORTS_MAX + 2 * PAIRS_MAX];
    struct pollfd *ports = polled + 1, *pairs = ports + relay->count;
    char byte;
    do {
        int wait_ms = 1000;
        polled[0] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
        for (int i = 0; i < relay->count; i++)
            ports[i] = (struct pollfd){ .fd = relay->listeners[i], .events = POLLIN };
        for (int i = 0; i < PAIRS_MAX; i++)
            want(&relay->pairs[i], pairs + 2 * i, &wait_ms);
        poll(polled, 1 + (nfds_t)relay->count + 2 * PAIRS_MAX, wait_ms);
        for (int i = 0; i < PAIRS_MAX; i++)
            if (relay->pairs[i].sockets[0] >= 0)
                serve(relay, &relay->pairs[i], pairs + 2 * i);
        for (int i = 0; i < relay->count; i++)
            if (ports[i].revents != 0)
                accept_one(relay, i);
    } while (polled[0].revents == 0 || read(STDIN_FILENO, &byte, 1) > 0);
    printf("connections %llu resets %llu corrupted %llu bytes %llu\n",
           (unsigned long long)relay->connections, (unsigned long long)relay->resets,
           (unsigned long long)relay->corrupted, (unsigned long long)relay->bytes);
}

static void choose_faults(struct relay *relay, char *words)
{
    char *rest;
    for (char *word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest))
        for (int i = 0; i < FAULTS; i++)
            relay->faults[i] = relay->faults[i] || strcmp(word, NAMES[i]) == 0;
}

int main(int argc, char **argv)
{
    static struct relay relay;
    if (argc != 4 || atoi(argv[3]) < 1 || atoi(argv[3]) > PORTS_MAX) {
        fprintf(stderr, "usage: disturb SEED FAULTS COUNT\n");
        return 2;
    }
    relay.state = strtoull(argv[1], NULL, 10);
    choose_faults(&relay, argv[2]);
    relay.count = atoi(argv[3]);
    relay.pairs = calloc(PAIRS_MAX, sizeof *relay.pairs);
    if (relay.pairs == NULL)
        give_up("disturb");
    for (int i = 0; i < PAIRS_MAX; i++)
        relay.pairs[i].sockets[0] = relay.pairs[i].sockets[1] = -1;
    open_ports(&relay);
    run(&relay);
    free(relay.pairs);
    return 0;
}
