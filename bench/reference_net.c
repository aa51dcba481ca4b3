/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* accept4 */

#include "bench/reference_net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/clock.h"

#define CHUNK_BYTES (1u << 20)
#define RECORD_BYTES 16384
#define PING_BYTES_MAX 65536u

/* How a connection begins. */
struct request {
    uint64_t mode, bytes;
};
enum { MODE_BULK = 1, MODE_TLS, MODE_PING };

static int write_all(int fd, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t put = write(fd, at, count);
        if (put <= 0)
            return TR_EIO;
        at += put;
        count -= (size_t)put;
    }
    return 0;
}

static int read_all(int fd, void *bytes, size_t count)
{
    char *at = bytes;
    while (count > 0) {
        ssize_t got = read(fd, at, count);
        if (got <= 0)
            return TR_EIO;
        at += got;
        count -= (size_t)got;
    }
    return 0;
}

static void set_no_delay(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* A key of zeros: both ends are ours, and what is measured is how fast its records are. */
static unsigned put_key(unsigned char *key, unsigned room)
{
    unsigned size = room < 32 ? room : 32;
    memset(key, 0, size);
    return size;
}

static unsigned client_key(SSL *ssl, const char *hint, char *identity, unsigned identity_room,
                           unsigned char *key, unsigned room)
{
    (void)ssl, (void)hint;
    snprintf(identity, identity_room, "bench");
    return put_key(key, room);
}

static unsigned server_key(SSL *ssl, const char *identity, unsigned char *key, unsigned room)
{
    (void)ssl, (void)identity;
    return put_key(key, room);
}

static SSL *begin_tls(int fd, bool connects)
{
    SSL_CTX *context = SSL_CTX_new(TLS_method());
    if (context == NULL)
        return NULL;
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_psk_client_callback(context, client_key);
    SSL_CTX_set_psk_server_callback(context, server_key);
    SSL *ssl = SSL_new(context);
    SSL_CTX_free(context);
    if (ssl != NULL && SSL_set_fd(ssl, fd) == 1 &&
        (connects ? SSL_connect(ssl) : SSL_accept(ssl)) == 1)
        return ssl;
    SSL_free(ssl);
    ERR_clear_error();
    return NULL;
}

/* The other process. */

static int reference_sink(int fd, char *memory, uint64_t bytes)
{
    while (bytes > 0) {
        ssize_t got = read(fd, memory, bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES);
        if (got <= 0)
            return TR_EIO;
        bytes -= (uint64_t)got;
    }
    return write_all(fd, "", 1);
}

static int sink_tls(int fd, char *memory, uint64_t bytes)
{
    SSL *ssl = begin_tls(fd, false);
    size_t at = 0, got;
    if (ssl == NULL)
        return TR_EIO;
    for (; bytes > 0; bytes -= got) {
        if (SSL_read_ex(ssl, memory + at, RECORD_BYTES, &got) != 1)
            break;
        at = (at + RECORD_BYTES) % CHUNK_BYTES;
    }
    SSL_free(ssl);
    return bytes == 0 ? write_all(fd, "", 1) : TR_EIO;
}

static int await_bytes(int poll, int fd, void *bytes, size_t count)
{
    struct epoll_event event;
    return epoll_wait(poll, &event, 1, -1) == 1 ? read_all(fd, bytes, count) : TR_EIO;
}

static int reference_watch(int fd, int *poll)
{
    struct epoll_event event = { .events = EPOLLIN };
    *poll = epoll_create1(EPOLL_CLOEXEC);
    if (*poll < 0)
        return TR_EIO;
    if (epoll_ctl(*poll, EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    close(*poll);
    return TR_EIO;
}

static int reference_echo(int fd, char *memory, uint64_t bytes)
{
    int poll;
    if (bytes > PING_BYTES_MAX || reference_watch(fd, &poll) < 0)
        return TR_EIO;
    while (await_bytes(poll, fd, memory, bytes) == 0 && write_all(fd, memory, bytes) == 0)
        continue;
    close(poll);
    return 0;
}

static void reference_serve(int fd, char *memory)
{
    struct request request;
    set_no_delay(fd);
    if (read_all(fd, &request, sizeof request) < 0)
        return;
    if (request.mode == MODE_BULK)
        reference_sink(fd, memory, request.bytes);
    else if (request.mode == MODE_TLS)
        sink_tls(fd, memory, request.bytes);
    else
        reference_echo(fd, memory, request.bytes);
}

static int listen_loopback(uint16_t *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return TR_EIO;
    if (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 8) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        close(fd);
        return TR_EIO;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

/* Ends with the pipe that would tell it to. */
static int serve_all(void *arg, const struct forked_peer_child *child)
{
    uint16_t port;
    struct epoll_event event = { .events = EPOLLIN };
    int poll, fd = listen_loopback(&port);
    char *memory = malloc(CHUNK_BYTES);
    (void)arg;
    if (memory == NULL || fd < 0 || reference_watch(child->stop, &poll) < 0)
        return 1;
    event.data.fd = fd;
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    memset(memory, 1, CHUNK_BYTES);
    forked_peer_say(child, &port, sizeof port);
    while (epoll_wait(poll, &event, 1, -1) == 1 && event.data.fd == fd) {
        int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        reference_serve(one, memory);
        close(one);
    }
    return 0;
}

int reference_net_open(struct reference_net *net, struct error *error)
{
    int rv = forked_peer_start(&net->peer, serve_all, NULL, error);
    if (rv == 0)
        rv = forked_peer_hear(&net->peer, &net->port, sizeof net->port, error);
    if (rv < 0)
        reference_net_close(net);
    return rv;
}

void reference_net_close(struct reference_net *net)
{
    forked_peer_end(&net->peer);
}

/* This process. */

static int connect_to(const struct reference_net *net, uint64_t mode, uint64_t bytes,
                      struct error *error)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(net->port) };
    struct request request = { mode, bytes };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_set(error, TR_EIO, "no socket");
    set_no_delay(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        write_all(fd, &request, sizeof request) == 0)
        return fd;
    close(fd);
    return error_set(error, TR_EIO, "no connection over TCP loopback");
}

static int send_plain(int fd, const char *memory, uint64_t bytes)
{
    int rv = 0;
    for (uint64_t size; bytes > 0 && rv == 0; bytes -= size) {
        size = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
        rv = write_all(fd, memory, size);
    }
    return rv;
}

static int send_tls(int fd, const char *memory, uint64_t bytes)
{
    SSL *ssl = begin_tls(fd, true);
    size_t at = 0, put;
    if (ssl == NULL)
        return TR_EIO;
    for (; bytes > 0; bytes -= put) {
        size_t size = bytes < RECORD_BYTES ? (size_t)bytes : RECORD_BYTES;
        if (SSL_write_ex(ssl, memory + at, size, &put) != 1)
            break;
        at = (at + RECORD_BYTES) % CHUNK_BYTES;
    }
    SSL_free(ssl);
    return bytes == 0 ? 0 : TR_EIO;
}

int reference_net_bulk(const struct reference_net *net, bool tls, uint64_t bytes, double *seconds,
                       struct error *error)
{
    char byte, *memory = malloc(CHUNK_BYTES);
    if (memory == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    memset(memory, 1, CHUNK_BYTES);
    int fd = connect_to(net, tls ? MODE_TLS : MODE_BULK, bytes, error);
    int rv = fd < 0 ? fd : 0;
    double start = clock_wall();
    if (rv == 0)
        rv = tls ? send_tls(fd, memory, bytes) : send_plain(fd, memory, bytes);
    if (rv == 0)
        rv = read_all(fd, &byte, 1);
    *seconds = clock_wall() - start;
    if (fd >= 0)
        close(fd);
    free(memory);
    return rv < 0 && fd >= 0 ? error_set(error, rv, "the bare loop over TCP failed") : rv;
}

static int reference_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int reference_ping(int fd, char *memory, uint32_t bytes, double *times, uint32_t trips)
{
    int poll, rv = reference_watch(fd, &poll);
    if (rv < 0)
        return rv;
    for (uint32_t i = 0; i < trips && rv == 0; i++) {
        double start = clock_wall();
        rv = write_all(fd, memory, bytes);
        if (rv == 0)
            rv = await_bytes(poll, fd, memory, bytes);
        times[i] = clock_wall() - start;
    }
    close(poll);
    return rv;
}

int reference_net_ping(const struct reference_net *net, uint32_t trips, uint32_t bytes,
                       double *median, struct error *error)
{
    char memory[PING_BYTES_MAX] = { 0 };
    double *times = calloc(trips, sizeof *times);
    if (times == NULL || bytes > PING_BYTES_MAX) {
        free(times);
        return error_set(error, TR_ENOMEM, "out of memory");
    }
    int fd = connect_to(net, MODE_PING, bytes, error);
    int rv = fd < 0 ? fd : 0;
    if (rv == 0 && reference_ping(fd, memory, bytes, times, trips) < 0)
        rv = error_set(error, TR_EIO, "the bare ping-pong failed");
    if (rv == 0) {
        qsort(times, trips, sizeof *times, reference_compare);
        *median = times[trips / 2];
    }
    if (fd >= 0)
        close(fd);
    free(times);
    return rv;
}

bool reference_net_has_iperf(void)
{
    return system("iperf3 --version >/dev/null 2>&1") == 0;
}

/* The line of JSON that has the receiver's rate is the first behind "sum_received". */
static int read_rate(FILE *from, double *rate)
{
    char line[1024];
    bool received = false;
    *rate = 0;
    while (fgets(line, sizeof line, from) != NULL) {
        const char *at = strstr(line, "\"bits_per_second\"");
        received |= strstr(line, "\"sum_received\"") != NULL;
        if (received && at != NULL && *rate == 0 && (at = strchr(at, ':')) != NULL)
            *rate = strtod(at + 1, NULL) / 8;
    }
    return *rate > 0 ? 0 : TR_EIO;
}

int reference_net_iperf(uint64_t bytes, double *rate, struct error *error)
{
    char command[256];
    uint16_t port;
    int fd = listen_loopback(&port); /* a port that is free now */
    if (fd < 0)
        return error_set(error, TR_EIO, "no socket");
    close(fd);
    snprintf(command, sizeof command,
             "iperf3 -s -1 -B 127.0.0.1 -p %u >/dev/null 2>&1 & "
             "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; "
             "iperf3 -J -c 127.0.0.1 -p %u -n %llu 2>/dev/null && break; done; wait",
             port, port, (unsigned long long)bytes);
    FILE *from = popen(command, "re");
    if (from == NULL)
        return error_set(error, TR_ECHILD, "iperf3 could not be started");
    int rv = read_rate(from, rate);
    pclose(from);
    return rv < 0 ? error_set(error, rv, "iperf3 told no rate") : 0;
}
