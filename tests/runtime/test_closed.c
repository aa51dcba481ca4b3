/* SPDX-License-Identifier: Apache-2.0 */
/* A node that listens, and strangers that want in: whatever comes from one that proved nothing ends
 * soon, costs little, is counted, and never stands in the log. */
#include "tests/runtime/link_support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runtime/net/wire.h"
#include "tests/runtime/wires.h"

#define MS UINT64_C(1000000)
/* The node drops after LINKS_HELLO_NS; machines that run tests may be busy. */
#define PATIENCE_MS 100000
#define CROWD 200
/* The bytes of all the crowd together: what 64 of them may cost, and half as much again for the
 * heap. */
#define CROWD_BYTES_MAX (64 * (size_t)TRANSPORT_BYTES * 3 / 2)
#define SECRET "hunter2-and-more"

struct house {
    struct env *env;
    struct node *node;
    char folder[64], other[64];
    struct security *security, *stranger;
    struct endpoint tcp, local;
    pthread_mutex_t mutex;
    char log[65536];
    size_t log_bytes;
};

static void keep_line(void *arg, enum log_level level, const char *component, const char *line)
{
    (void)component;
    struct house *house = arg;
    (void)level;
    pthread_mutex_lock(&house->mutex);
    int put = snprintf(house->log + house->log_bytes, sizeof house->log - house->log_bytes, "%s\n",
                       line);
    if (put > 0 && house->log_bytes + (size_t)put < sizeof house->log)
        house->log_bytes += (size_t)put;
    pthread_mutex_unlock(&house->mutex);
}

static void open_house(struct house *house, const struct security *security)
{
    struct links_peer peer = { .node = 1, .host = "beta" };
    struct endpoint listen[2] = { { .kind = ENDPOINT_TCP }, { .kind = ENDPOINT_UNIX } };
    struct node_options options = { .id = 0,
                                    .incarnation = 1,
                                    .loops = 1,
                                    .kinds = link_kinds(),
                                    .log = { keep_line, house, LOG_LEVEL_DEBUG } };
    struct links_options links = { .cluster = "test",
                                   .listen = listen,
                                   .num_listen = 2,
                                   .peers = &peer,
                                   .num_peers = 1,
                                   .security = security,
                                   .insecure_network = security == NULL };
    struct error error;
    strcpy(listen[0].host, "127.0.0.1");
    snprintf(listen[1].host, sizeof listen[1].host, "%s/node.sock", house->folder);
    house->log_bytes = 0;
    assert_int_equal(env_event_create(1, &house->env, NULL), 0);
    assert_int_equal(node_create(house->env, &options, &house->node, NULL), 0);
    if (links_create(house->node, &links, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(node_start(house->node), 0);
    assert_int_equal(links_listening(house->node, 0, &house->tcp), 0);
    assert_int_equal(links_listening(house->node, 1, &house->local), 0);
}

static void close_house(struct house *house)
{
    assert_int_equal(support_finish(house->node), 0);
    env_destroy(house->env);
    if (strstr(house->log, SECRET) != NULL)
        fail_msg("what a stranger sent stands in the log: %s", house->log);
}

static int dial(const struct house *house)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(house->tcp.port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Sends a byte of `drips` (may be NULL) now and then while it waits. Did the other side end it in
 * time? */
static bool is_dropped(int fd, const char *drips)
{
    uint64_t end = now_ms() + PATIENCE_MS;
    char bytes[512];
    while (now_ms() < end) {
        struct pollfd wait = { fd, POLLIN, 0 };
        poll(&wait, 1, drips != NULL ? 200 : 1000);
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return true;
        if (drips != NULL && send(fd, drips++, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            return true;
    }
    return false;
}

static struct links_counters counters_of(const struct house *house)
{
    struct links_counters counters;
    links_counters(house->node, &counters);
    return counters;
}

static void expect_dropped(const struct house *house, uint64_t count)
{
    uint64_t end = now_ms() + PATIENCE_MS;
    while (counters_of(house).dropped_unproved < count && now_ms() < end)
        poll(NULL, 0, 10);
    assert_true(counters_of(house).dropped_unproved >= count);
    assert_int_equal(counters_of(house).accepted, 0);
}

static void expect_end(const struct house *house, const void *bytes, size_t size, const char *drips)
{
    uint64_t before = counters_of(house).dropped_unproved;
    int fd = dial(house);
    if (size > 0)
        assert_true(send(fd, bytes, size, MSG_NOSIGNAL) > 0);
    assert_true(is_dropped(fd, drips));
    close(fd);
    expect_dropped(house, before + 1);
}

/* The words of strangers, which end the same way with and without TLS. */
static void knock(struct house *house)
{
    unsigned char garbage[5000];
    struct wire_header large = { .bytes = UINT32_MAX, .type = WIRE_HELLO };
    static const char http[] = "GET /" SECRET " HTTP/1.1\r\nHost: troupe\r\n\r\n";
    static const char hello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" SECRET;
    static char drops[PATIENCE_MS / 200 + 2];
    memcpy(drops, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = (unsigned char)((i * 2654435761u) >> 11);
    for (int i = 0; i < 20; i++) {
        uint64_t before = counters_of(house).dropped_unproved;
        close(dial(house));
        expect_dropped(house, before + 1);
    }
    expect_end(house, http, sizeof http - 1, NULL);
    expect_end(house, &large, sizeof large, NULL);
    expect_end(house, garbage, sizeof garbage, NULL);
    expect_end(house, hello, sizeof hello - 1, NULL); /* and then nothing more */
    expect_end(house, "", 0, NULL);
    expect_end(house, "", 0, drops);
}

static void nobody_gets_in_unproved(void **state)
{
    struct house *house = *state;
    open_house(house, house->security);
    knock(house);
    assert_true(counters_of(house).refused_by[LINKS_REFUSED_TIMEOUT] >= 3);
    assert_true(counters_of(house).refused_by[LINKS_REFUSED_MALFORMED] >= 3);
    assert_non_null(strstr(house->log, "refused"));
    close_house(house);
}

static void nor_without_tls(void **state)
{
    struct house *house = *state;
    open_house(house, NULL);
    knock(house);
    close_house(house);
}

static size_t resident_bytes(void)
{
    size_t pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu %zu", &pages, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Each sends a start of a handshake and waits; all are gone in the end, and their memory never was
 * more than that of those that may wait at once. */
static void a_crowd_is_turned_away(void **state)
{
    struct house *house = *state;
    int fds[CROWD];
    open_house(house, house->security);
    size_t before = resident_bytes();
    for (int i = 0; i < CROWD; i++) {
        fds[i] = dial(house);
        ssize_t sent = send(fds[i], "\x16\x03\x01\x02\x00\x01", 6, MSG_NOSIGNAL);
        (void)sent; /* it may be closed already */
    }
    size_t most = resident_bytes();
    for (int i = 0; i < CROWD; i++) {
        assert_true(is_dropped(fds[i], NULL));
        close(fds[i]);
    }
    assert_true(most < before + CROWD_BYTES_MAX);
    expect_dropped(house, CROWD);
    assert_true(counters_of(house).refused_by[LINKS_REFUSED_FULL] > 0);
    close_house(house);
}

/* Over a socket, as a stream that an end of the test drives. */
struct caller {
    struct stream stream;
    int fd;
};

struct gate {
    atomic_bool closed, opened;
};

/* Holds the loop. */
static int gate_start(struct actor *self, const void *arg)
{
    struct gate *gate = (void *)(uintptr_t)arg;
    atomic_store(&gate->closed, true);
    while (!atomic_load(&gate->opened))
        poll(NULL, 0, 1);
    actor_exit(self, 0);
    return 0;
}

static int gate_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops gate_ops = { "gate", gate_start, gate_receive, NULL, NULL };

/* Many peers that begin a handshake at once don't take the loop for themselves. */
static void handshakes_take_turns(void **state)
{
    static const char hello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" SECRET;
    struct house *house = *state;
    struct gate gate = { .closed = false };
    struct actor_options options = { .ops = &gate_ops, .arg = &gate };
    struct address address;
    int fds[LINKS_HALF_OPEN_MAX / 2];
    uint32_t count = sizeof fds / sizeof *fds;
    open_house(house, house->security);
    assert_int_equal(node_spawn(house->node, &options, &address), 0);
    while (!atomic_load(&gate.closed))
        poll(NULL, 0, 1);
    for (uint32_t i = 0; i < count; i++) {
        fds[i] = dial(house);
        assert_int_equal(send(fds[i], hello, sizeof hello - 1, MSG_NOSIGNAL), sizeof hello - 1);
    }
    atomic_store(&gate.opened, true);
    for (uint32_t i = 0; i < count; i++)
        assert_true(is_dropped(fds[i], NULL));
    expect_dropped(house, count);
    uint64_t most = counters_of(house).handshakes_most;
    assert_true(most >= 1 && most <= LINKS_HANDSHAKES_A_TURN);
    for (uint32_t i = 0; i < count; i++)
        close(fds[i]);
    close_house(house);
}

static ssize_t read_caller(struct stream *stream, const struct iovec *parts, int num_parts)
{
    ssize_t got = readv(((struct caller *)stream)->fd, parts, num_parts);
    return got > 0 ? got : got == 0 ? TR_EEND : errno == EAGAIN ? 0 : TR_EPEERDOWN;
}

static ssize_t write_caller(struct stream *stream, const struct iovec *parts, int num_parts)
{
    ssize_t put = writev(((struct caller *)stream)->fd, parts, num_parts);
    return put >= 0 ? put : errno == EAGAIN ? 0 : TR_EPEERDOWN;
}

static void close_caller(struct stream *stream)
{
    close(((struct caller *)stream)->fd);
    free(stream);
}

/* Shakes hands by TLS and reads until it ends; why it did. */
static int call_by_tls(const struct house *house, const struct security *security,
                       struct error *error)
{
    static const struct stream_ops ops = { .readv = read_caller,
                                           .writev = write_caller,
                                           .close = close_caller };
    struct caller *caller = calloc(1, sizeof *caller);
    struct transport *transport;
    assert_non_null(caller);
    caller->stream.ops = &ops;
    caller->stream.peer.uid = -1;
    caller->fd = dial(house);
    assert_int_equal(fcntl(caller->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(transport_create(&caller->stream, security, true, NULL, &transport, NULL), 0);
    uint64_t end = now_ms() + PATIENCE_MS;
    ssize_t rc = 1;
    while (rc >= 0 && now_ms() < end) {
        unsigned char bytes[256];
        struct iovec part = { bytes, sizeof bytes };
        struct pollfd wait = { caller->fd, POLLIN, 0 };
        rc = rc == 1 ? transport_handshake(transport, error) : 0;
        if (rc == 0 && (rc = transport_readv(transport, &part, 1)) < 0)
            *error = *transport_error(transport);
        rc = rc > 0 ? 0 : rc; /* a REFUSE: read on to the end */
        transport_want(transport, STREAM_READABLE);
        poll(&wait, 1, 20);
    }
    transport_destroy(transport);
    return (int)rc;
}

static void another_authority_is_refused(void **state)
{
    struct house *house = *state;
    struct error error = { 0 };
    open_house(house, house->security);
    assert_int_equal(call_by_tls(house, house->stranger, &error), TR_EPERM);
    assert_non_null(strstr(error.text, "another CA"));
    expect_dropped(house, 1);
    close_house(house);
}

/* A true certificate alone opens nothing: a peer that says no HELLO is dropped as well. */
static void a_silent_friend_is_dropped(void **state)
{
    struct house *house = *state;
    struct error error = { 0 };
    open_house(house, house->security);
    assert_true(call_by_tls(house, house->security, &error) < 0);
    expect_dropped(house, 1);
    close_house(house);
}

/* A unix socket is plain: the system vouches for the user. Garbage ends there too. */
static void a_unix_socket_takes_no_garbage(void **state)
{
    struct house *house = *state;
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    open_house(house, house->security);
    size_t length = strlen(house->local.host);
    assert_true(length < sizeof to.sun_path);
    memcpy(to.sun_path, house->local.host, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_true(send(fd, SECRET SECRET, sizeof SECRET SECRET, MSG_NOSIGNAL) > 0);
    assert_true(is_dropped(fd, NULL));
    close(fd);
    expect_dropped(house, 1);
    close_house(house);
}

static int set_up(void **state)
{
    static const char *const HOSTS[] = { "alpha", "beta" };
    struct house *house = calloc(1, sizeof *house);
    assert_non_null(house);
    pthread_mutex_init(&house->mutex, NULL);
    keys_folder_make(house->folder, HOSTS, 2, 0);
    keys_folder_make(house->other, HOSTS, 1, 0);
    house->security = keys_security(house->folder, "alpha");
    house->stranger = keys_security(house->other, "alpha");
    *state = house;
    return 0;
}

static int tear_down(void **state)
{
    struct house *house = *state;
    security_destroy(house->security);
    security_destroy(house->stranger);
    keys_folder_remove(house->folder);
    keys_folder_remove(house->other);
    pthread_mutex_destroy(&house->mutex);
    free(house);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_gets_in_unproved),
        cmocka_unit_test(nor_without_tls),
        cmocka_unit_test(a_crowd_is_turned_away),
        cmocka_unit_test(handshakes_take_turns),
        cmocka_unit_test(another_authority_is_refused),
        cmocka_unit_test(a_silent_friend_is_dropped),
        cmocka_unit_test(a_unix_socket_takes_no_garbage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
