/* SPDX-License-Identifier: Apache-2.0 */
/* Links through TLS: bodies of all sizes arrive as they were sent; and a certificate is worth
 * something for its own host alone. */
#include "tests/runtime/link_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/core/directory.h"
#include "runtime/net/wire.h"
#include "tests/runtime/wires.h"

#define CALLS 60
#define BODY_MAX (1u << 20) /* of an ask */

struct house {
    char folder[64];
    struct security *alpha, *beta, *shared;
};

/* Nodes 0 and 1; node 1 connects and asks. */
struct duo {
    struct env *env;
    struct node *nodes[2];
    struct endpoint endpoints[2];
    struct address echo;
    uint32_t made, done;
    int failure;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool finished;
};

static size_t body_bytes(uint32_t number)
{
    return number % 4 == 0 ? BODY_MAX / (1 + number) : (size_t)number * 997;
}

static unsigned char body_byte(uint32_t number, size_t place)
{
    return (unsigned char)(((place + number) * 2654435761u) >> 12);
}

static void finish(struct duo *duo)
{
    pthread_mutex_lock(&duo->mutex);
    duo->finished = true;
    pthread_cond_signal(&duo->changed);
    pthread_mutex_unlock(&duo->mutex);
}

static void ask(struct actor *self, struct duo *duo);

static bool is_whole(struct message *reply, uint32_t number)
{
    const unsigned char *body = message_body(reply);
    if (reply->frame.body_bytes != body_bytes(number))
        return false;
    for (size_t i = 0; i < body_bytes(number); i++)
        if (body[i] != body_byte(number, i))
            return false;
    return true;
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct duo *duo = arg;
    if (status != 0)
        duo->failure = status;
    else if (!is_whole(reply, (uint32_t)((struct number *)message_head(reply))->value))
        duo->failure = TR_EINTERNAL;
    message_release(self, reply);
    duo->done++;
    if (duo->done == CALLS || duo->failure < 0)
        finish(duo);
    else
        ask(self, duo);
}

/* Four at once, so that bodies go both ways at the same time. */
static void ask(struct actor *self, struct duo *duo)
{
    while (duo->made < CALLS && duo->made < duo->done + 4) {
        uint32_t number = duo->made++;
        struct message *request = message_create(self, KIND_ASK);
        ((struct number *)message_head(request))->value = number;
        unsigned char *body = message_body_alloc(self, request, body_bytes(number));
        for (size_t i = 0; i < body_bytes(number); i++)
            body[i] = body_byte(number, i);
        if (actor_call(self, duo->echo, request, actor_now_ns(self) + 60 * ENV_SECOND_NS, answered,
                       duo, NULL) < 0)
            abort();
    }
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct duo *duo = arg;
    duo->echo = address;
    duo->failure = status;
    if (status < 0)
        finish(duo);
    else
        ask(self, duo);
}

static int start(struct actor *self, const void *arg)
{
    struct duo *duo = (void *)(uintptr_t)arg;
    return directory_wait_at(self, 0, "echo", actor_now_ns(self) + 30 * ENV_SECOND_NS, found, duo);
}

static const struct actor_ops asker_ops = { "asker", start, support_discard, NULL, NULL };

static void make_node(struct duo *duo, uint32_t id, const struct security *security,
                      const char *host)
{
    struct node_options options = { .id = id, .incarnation = 1, .loops = 2, .kinds = link_kinds() };
    struct links_peer peer = { .node = 1 - id, .host = host };
    struct links_options links = { .cluster = "test",
                                   .listen = &duo->endpoints[id],
                                   .num_listen = 1,
                                   .peers = &peer,
                                   .num_peers = 1,
                                   .security = security };
    struct error error;
    if (id == 1)
        peer.endpoint = duo->endpoints[0];
    assert_int_equal(node_create(duo->env, &options, &duo->nodes[id], NULL), 0);
    if (links_create(duo->nodes[id], &links, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(links_listening(duo->nodes[id], 0, &duo->endpoints[id]), 0);
}

static void open_duo(struct duo *duo, const struct house *house, enum endpoint_kind kind,
                     const struct security *security[2], const char *const hosts[2])
{
    *duo = (struct duo){ 0 };
    pthread_mutex_init(&duo->mutex, NULL);
    pthread_cond_init(&duo->changed, NULL);
    assert_int_equal(env_event_create(1, &duo->env, NULL), 0);
    for (uint32_t id = 0; id < 2; id++) {
        duo->endpoints[id] = (struct endpoint){ .kind = kind };
        if (kind == ENDPOINT_UNIX)
            snprintf(duo->endpoints[id].host, ENDPOINT_HOST_MAX, "%s/%u.sock", house->folder, id);
        else
            strcpy(duo->endpoints[id].host, "127.0.0.1");
        make_node(duo, id, security[id], hosts[1 - id]);
    }
    struct actor_options echo = { .ops = &echo_ops, .loop = 1 };
    struct actor_options asker = { .ops = &asker_ops, .arg = duo };
    struct address address;
    assert_int_equal(node_spawn(duo->nodes[0], &echo, &address), 0);
    assert_int_equal(node_spawn(duo->nodes[1], &asker, &address), 0);
    for (uint32_t id = 0; id < 2; id++)
        assert_int_equal(node_start(duo->nodes[id]), 0);
}

static void wait_finished(struct duo *duo)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 100;
    pthread_mutex_lock(&duo->mutex);
    int rc = 0;
    while (!duo->finished && rc == 0)
        rc = pthread_cond_timedwait(&duo->changed, &duo->mutex, &end);
    pthread_mutex_unlock(&duo->mutex);
    assert_int_equal(rc, 0);
}

static void close_duo(struct duo *duo)
{
    for (uint32_t id = 2; id-- > 0;)
        assert_int_equal(support_finish(duo->nodes[id]), 0);
    env_destroy(duo->env);
    pthread_mutex_destroy(&duo->mutex);
    pthread_cond_destroy(&duo->changed);
}

static void expect_answers(const struct house *house, enum endpoint_kind kind,
                           const struct security *first, const struct security *second,
                           const char *const hosts[2])
{
    struct duo duo;
    const struct security *security[2] = { first, second };
    open_duo(&duo, house, kind, security, hosts);
    wait_finished(&duo);
    close_duo(&duo);
    assert_int_equal(duo.failure, 0);
    assert_int_equal(duo.done, CALLS);
}

static const char *const HOSTS[2] = { "alpha", "beta" };

static void bodies_arrive_whole(void **state)
{
    const struct house *house = *state;
    expect_answers(house, ENDPOINT_TCP, house->alpha, house->beta, HOSTS);
    expect_answers(house, ENDPOINT_TCP, house->shared, house->shared, HOSTS);
}

/* Security is of the network: a unix socket beside it stays plain at both ends. */
static void unix_sockets_stay_plain(void **state)
{
    const struct house *house = *state;
    expect_answers(house, ENDPOINT_UNIX, house->alpha, house->beta, HOSTS);
}

/* Until a node has refused the other, or believed it, for this reason. */
static void wait_refused(struct node *node, enum links_refusal reason)
{
    struct links_counters counters = { 0 };
    for (int i = 0; i < 3000 && counters.refused_by[reason] == 0; i++) {
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
        links_counters(node, &counters);
    }
    assert_true(counters.refused_by[reason] > 0);
    assert_int_equal(counters.accepted, 0);
}

static void a_certificate_of_another_host_is_refused(void **state)
{
    const struct house *house = *state;
    struct duo duo;
    /* Node 1 has to be gamma, and shows the certificate of beta. */
    open_duo(&duo, house, ENDPOINT_TCP, (const struct security *[]){ house->alpha, house->beta },
             (const char *[]){ "alpha", "gamma" });
    wait_refused(duo.nodes[0], LINKS_REFUSED_IDENTITY);
    close_duo(&duo);
    /* Node 0 has to be gamma: node 1 ends the handshake. */
    open_duo(&duo, house, ENDPOINT_TCP, (const struct security *[]){ house->alpha, house->beta },
             (const char *[]){ "gamma", "beta" });
    wait_refused(duo.nodes[0], LINKS_REFUSED_MALFORMED);
    close_duo(&duo);
}

static int set_up(void **state)
{
    struct house *house = calloc(1, sizeof *house);
    char path[128];
    assert_non_null(house);
    keys_folder_make(house->folder, HOSTS, 2, 0);
    house->alpha = keys_security(house->folder, "alpha");
    house->beta = keys_security(house->folder, "beta");
    snprintf(path, sizeof path, "%s/shared", house->folder);
    keys_file_write(path, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
                    0600);
    house->shared = keys_shared(path);
    *state = house;
    return 0;
}

static int tear_down(void **state)
{
    struct house *house = *state;
    security_destroy(house->alpha);
    security_destroy(house->beta);
    security_destroy(house->shared);
    keys_folder_remove(house->folder);
    free(house);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_arrive_whole),
        cmocka_unit_test(unix_sockets_stay_plain),
        cmocka_unit_test(a_certificate_of_another_host_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
