/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over sockets: what is written arrives, what fails says so, nothing leaks or spins. */
#include "tests/runtime/support.h"
#include "tests/scratch.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runtime/event/env_event.h"
#include "tests/runtime/echo.h"

#define WAIT_S 60 /* far more than any of it takes */

struct house {
    struct env *env;
    struct node *nodes[2];
    char folder[64];
};

static int setup(void **state)
{
    struct house *house = calloc(1, sizeof *house);
    assert_non_null(house);
    assert_int_equal(env_event_create(2, &house->env, NULL), 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct node_options options = { .id = i, .loops = 2, .kinds = support_kinds() };
        assert_int_equal(node_create(house->env, &options, &house->nodes[i], NULL), 0);
        assert_int_equal(node_start(house->nodes[i]), 0);
    }
    assert_non_null(scratch_folder(house->folder, sizeof house->folder, "stream")); /* 0700 */
    *state = house;
    return 0;
}

static int teardown(void **state)
{
    struct house *house = *state;
    assert_int_equal(support_finish(house->nodes[0]), 0);
    assert_int_equal(support_finish(house->nodes[1]), 0);
    env_destroy(house->env);
    assert_int_equal(rmdir(house->folder), 0); /* listeners took their sockets away */
    free(house);
    return 0;
}

static void nap(void)
{
    struct timespec time = { 0, 2000000 };
    nanosleep(&time, NULL);
}

/* Waits until it is `wanted` or more, or negative. */
static int await(atomic_int *value, int wanted)
{
    for (int i = 0; i < WAIT_S * 500; i++, nap()) {
        int now = atomic_load(value);
        if (now < 0 || now >= wanted)
            return now;
    }
    return 0;
}

static struct address spawn(struct house *house, int node, uint32_t loop,
                            const struct actor_ops *ops, void *arg)
{
    struct actor_options options = { .ops = ops, .arg = arg, .loop = loop };
    struct address address;
    assert_int_equal(node_spawn(house->nodes[node], &options, &address), 0);
    return address;
}

static struct endpoint parse(const char *text)
{
    struct endpoint endpoint;
    assert_int_equal(endpoint_parse(text, &endpoint, NULL), 0);
    return endpoint;
}

static struct endpoint socket_in(const struct house *house, const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "unix:%s/%s", house->folder, name);
    return parse(text);
}

static void echo(struct house *house, struct endpoint endpoint, uint64_t bytes, uint32_t pieces)
{
    struct echo_server server = { .endpoint = endpoint, .pieces_max = pieces };
    struct echo_client client = { .bytes = bytes, .pieces_max = pieces };
    spawn(house, 0, 0, &echo_server_ops, &server);
    assert_int_equal(await(&server.listening, 1), 1);
    client.endpoint = server.endpoint;
    spawn(house, 1, 1, &echo_client_ops, &client);
    assert_int_equal(await(&client.result, 1), 1);
    assert_int_equal(client.received, bytes);
    assert_int_equal(client.wrong, 0);
    assert_int_equal(await(&server.ended, 1), 1);
    teardown((void *[]){ house });
}

static void megabytes_come_back_over_tcp(void **state)
{
    echo(*state, parse("tcp:127.0.0.1:0"), 4 << 20, 0);
}

static void megabytes_come_back_over_a_unix_socket(void **state)
{
    echo(*state, socket_in(*state, "echo"), 4 << 20, 0);
}

static void bytes_come_back_one_by_one(void **state)
{
    echo(*state, parse("tcp:localhost:0"), 20000, 3); /* a name: looked up by the crew */
}

static int connect_to(struct house *house, struct endpoint endpoint, struct echo_client *client)
{
    client->endpoint = endpoint;
    client->bytes = 1000;
    spawn(house, 1, 0, &echo_client_ops, client);
    return await(&client->result, 1);
}

static void a_refused_connection_says_so(void **state)
{
    struct house *house = *state;
    struct echo_client clients[3] = { 0 };
    /* A port that was free a moment ago. */
    struct echo_server server = { .endpoint = parse("tcp:127.0.0.1:0") };
    spawn(house, 0, 0, &echo_server_ops, &server);
    assert_int_equal(await(&server.listening, 1), 1);
    assert_int_equal(support_finish(house->nodes[0]), 0);
    struct node_options options = { .id = 0, .loops = 2, .kinds = support_kinds() };
    assert_int_equal(node_create(house->env, &options, &house->nodes[0], NULL), 0);
    assert_int_equal(node_start(house->nodes[0]), 0);

    assert_int_equal(connect_to(house, server.endpoint, &clients[0]), TR_EPEERDOWN);
    assert_non_null(strstr(clients[0].error.text, "tcp:127.0.0.1:"));
    assert_int_equal(connect_to(house, socket_in(house, "nobody"), &clients[1]), TR_ENOENT);
    assert_int_equal(connect_to(house, parse("tcp:no-such-host.invalid:1"), &clients[2]),
                     TR_ENOENT);
    assert_non_null(strstr(clients[2].error.text, "no-such-host.invalid"));
    teardown(state);
}

/* Whatever addresses the name has, one of them is answered. */
static void every_address_of_a_name_is_tried(void **state)
{
    struct house *house = *state;
    struct echo_server server = { .endpoint = parse("tcp:127.0.0.1:0") };
    struct echo_client client = { .result = 0 };
    spawn(house, 0, 0, &echo_server_ops, &server);
    assert_int_equal(await(&server.listening, 1), 1);
    struct endpoint endpoint = parse("tcp:localhost:0");
    endpoint.port = server.endpoint.port;
    assert_int_equal(connect_to(house, endpoint, &client), 1);
    teardown(state);
}

/* Its look-ups and half-made connections end with it. */
static void an_actor_may_end_while_it_connects(void **state)
{
    struct house *house = *state;
    static struct echo_client clients[20];
    memset(clients, 0, sizeof clients);
    for (uint32_t i = 0; i < 20; i++) {
        /* The documentation's own network (RFC 5737): nobody answers. */
        clients[i].endpoint = parse(i % 2 ? "tcp:no-such-host.invalid:1" : "tcp:192.0.2.1:1");
        clients[i].bytes = 1;
        spawn(house, 1, i % 2, &echo_client_ops, &clients[i]);
    }
    teardown(state);
}

static int listen_at(struct house *house, struct endpoint endpoint, struct echo_server *server)
{
    server->endpoint = endpoint;
    spawn(house, 0, 0, &echo_server_ops, server);
    return await(&server->listening, 1);
}

static void a_folder_that_others_may_enter_is_refused(void **state)
{
    struct house *house = *state;
    struct echo_server servers[5] = { 0 };
    char path[128];
    assert_int_equal(chmod(house->folder, 0755), 0);
    assert_int_equal(listen_at(house, socket_in(house, "a"), &servers[0]), TR_EPERM);
    assert_non_null(strstr(servers[0].error.text, "chmod 700"));
    assert_int_equal(chmod(house->folder, 0700), 0);
    assert_int_equal(listen_at(house, socket_in(house, "none/a"), &servers[1]), TR_ENOENT);
    assert_non_null(strstr(servers[1].error.text, "mkdir"));

    /* A file that is no socket is not removed. */
    snprintf(path, sizeof path, "%s/file", house->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(listen_at(house, socket_in(house, "file"), &servers[2]), TR_EINVAL);
    assert_int_equal(unlink(path), 0);

    /* Nor is a listener that lives. */
    assert_int_equal(listen_at(house, socket_in(house, "b"), &servers[3]), 1);
    assert_int_equal(listen_at(house, socket_in(house, "b"), &servers[4]), TR_EEXIST);
    teardown(state);
}

/* The longest path that a socket has, and one byte more. */
static void a_path_that_is_too_long_is_refused(void **state)
{
    struct house *house = *state;
    const size_t most = sizeof((struct sockaddr_un *)0)->sun_path - 1;
    struct echo_server servers[2] = { 0 };
    for (size_t i = 0; i < 2; i++) {
        char name[sizeof(struct sockaddr_un)] = { 0 };
        size_t folder = strlen(house->folder) + 1;
        memset(name, 'n', most + i - folder);
        struct endpoint endpoint = { .kind = ENDPOINT_UNIX };
        snprintf(endpoint.host, sizeof endpoint.host, "%s/%s", house->folder, name);
        assert_int_equal(strlen(endpoint.host), most + i);
        assert_int_equal(listen_at(house, endpoint, &servers[i]), i == 0 ? 1 : TR_EINVAL);
    }
    assert_non_null(strstr(servers[1].error.text, ": the path is too long for a socket"));
    struct echo_client client = { .bytes = 1 };
    assert_int_equal(connect_to(house, servers[1].endpoint, &client), TR_EIO);
    teardown(state);
}

static void a_port_that_is_taken_is_refused(void **state)
{
    struct house *house = *state;
    struct echo_server servers[2] = { 0 };
    assert_int_equal(listen_at(house, parse("tcp:127.0.0.1:0"), &servers[0]), 1);
    assert_int_not_equal(servers[0].endpoint.port, 0);
    assert_int_equal(listen_at(house, servers[0].endpoint, &servers[1]), TR_EEXIST);
    teardown(state);
}

static void a_stale_socket_is_replaced(void **state)
{
    struct house *house = *state;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s/stale", house->folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd); /* its file stays, as after a crash */
    echo(house, socket_in(house, "stale"), 1000, 0);
}

static void a_stream_may_be_closed_in_its_ready(void **state)
{
    struct house *house = *state;
    struct echo_server server = { .close_at_once = true };
    struct echo_client client = { .result = 0 };
    assert_int_equal(listen_at(house, socket_in(house, "close"), &server), 1);
    int result = connect_to(house, server.endpoint, &client);
    assert_true(result == TR_EEND || result == TR_EPEERDOWN);
    assert_int_equal(await(&server.ended, 1), 1);
    teardown(state);
}

/* The streams of an actor that ends are closed for it, which the other side sees. */
static void an_actor_that_ends_closes_its_streams(void **state)
{
    struct house *house = *state;
    struct echo_server server = { .pieces_max = 100 };
    struct echo_client client = { .stays = true };
    assert_int_equal(listen_at(house, socket_in(house, "end"), &server), 1);
    assert_int_equal(connect_to(house, server.endpoint, &client), 1);
    assert_non_null(client.stream);
    assert_int_equal(support_finish(house->nodes[1]), 0);
    assert_int_equal(await(&server.ended, 1), 1);
    struct node_options options = { .id = 1, .loops = 2, .kinds = support_kinds() };
    assert_int_equal(node_create(house->env, &options, &house->nodes[1], NULL), 0);
    assert_int_equal(node_start(house->nodes[1]), 0);
    teardown(state);
}

static void two_hundred_connect_at_once(void **state)
{
    struct house *house = *state;
    static struct echo_client clients[200];
    struct echo_server server = { .pieces_max = 1000 };
    memset(clients, 0, sizeof clients);
    assert_int_equal(listen_at(house, parse("tcp:127.0.0.1:0"), &server), 1);
    for (uint32_t i = 0; i < 200; i++) {
        clients[i].endpoint = server.endpoint;
        clients[i].bytes = 5000;
        spawn(house, 1, i % 2, &echo_client_ops, &clients[i]);
    }
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(await(&clients[i].result, 1), 1);
        assert_int_equal(clients[i].wrong, 0);
    }
    assert_int_equal(await(&server.ended, 200), 200);
    assert_int_equal(server.accepted, 200);
    teardown(state);
}

static void a_connection_goes_to_an_actor_of_another_loop(void **state)
{
    struct house *house = *state;
    struct echo_server server = { .pieces_max = 1000 };
    struct echo_client client = { .bytes = 200000 };
    server.endpoint = socket_in(house, "hand");
    client.endpoint = server.endpoint;
    server.hand_to = spawn(house, 0, 1, &echo_helper_ops, &server);
    spawn(house, 0, 0, &echo_server_ops, &server);
    assert_int_equal(await(&server.listening, 1), 1);
    spawn(house, 1, 0, &echo_client_ops, &client);
    assert_int_equal(await(&client.result, 1), 1);
    assert_int_equal(client.wrong, 0);
    assert_int_equal(await(&server.ended, 1), 1);
    teardown(state);
}

/* Always has something to do. */
static int start_busy(struct actor *self, const void *arg)
{
    (void)arg;
    return support_send(self, actor_address(self), KIND_NUMBER, 0);
}

static int receive_busy(struct actor *self, struct message *message)
{
    return actor_send(self, actor_address(self), message);
}

static const struct actor_ops busy_ops = { .name = "busy",
                                           .start = start_busy,
                                           .receive = receive_busy };

static void sockets_have_their_turn_beside_busy_actors(void **state)
{
    struct house *house = *state;
    for (uint32_t loop = 0; loop < 2; loop++)
        for (int i = 0; i < 50; i++)
            spawn(house, 0, loop, &busy_ops, NULL);
    echo(house, socket_in(house, "busy"), 300000, 0);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Without descriptors connections wait, the loop sleeps; with some they are taken. */
static void without_descriptors_connections_wait(void **state)
{
    struct house *house = *state;
    struct echo_server server = { .pieces_max = 1000 };
    struct rlimit limit, tight;
    assert_int_equal(listen_at(house, parse("tcp:127.0.0.1:0"), &server), 1);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);

    /* A plain socket connects, since ours could not; then the limit leaves no room. */
    struct sockaddr_in address = { .sin_family = AF_INET };
    address.sin_port = htons(server.endpoint.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    tight = limit;
    tight.rlim_cur = (rlim_t)fd + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    double before = cpu_seconds();
    struct timespec time = { 0, 500000000 };
    nanosleep(&time, NULL);
    double used = cpu_seconds() - before;
    int accepted = atomic_load(&server.accepted);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(accepted, 0);
    assert_true(used < 0.25); /* a busy loop takes 0.5 */
    assert_int_equal(await(&server.accepted, 1), 1);
    close(fd);
    teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(megabytes_come_back_over_tcp, setup),
        cmocka_unit_test_setup(megabytes_come_back_over_a_unix_socket, setup),
        cmocka_unit_test_setup(bytes_come_back_one_by_one, setup),
        cmocka_unit_test_setup(a_refused_connection_says_so, setup),
        cmocka_unit_test_setup(every_address_of_a_name_is_tried, setup),
        cmocka_unit_test_setup(an_actor_may_end_while_it_connects, setup),
        cmocka_unit_test_setup(a_folder_that_others_may_enter_is_refused, setup),
        cmocka_unit_test_setup(a_path_that_is_too_long_is_refused, setup),
        cmocka_unit_test_setup(a_port_that_is_taken_is_refused, setup),
        cmocka_unit_test_setup(a_stale_socket_is_replaced, setup),
        cmocka_unit_test_setup(a_stream_may_be_closed_in_its_ready, setup),
        cmocka_unit_test_setup(an_actor_that_ends_closes_its_streams, setup),
        cmocka_unit_test_setup(two_hundred_connect_at_once, setup),
        cmocka_unit_test_setup(a_connection_goes_to_an_actor_of_another_loop, setup),
        cmocka_unit_test_setup(sockets_have_their_turn_beside_busy_actors, setup),
        cmocka_unit_test_setup(without_descriptors_connections_wait, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
