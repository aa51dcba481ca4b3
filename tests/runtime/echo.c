/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runtime/echo.h"

#include <stdlib.h>

#include "tests/runtime/support.h"

struct connection {
    struct echo_server *server;
    struct connection *next, *before;
    struct stream *stream;
    size_t count, at; /* bytes in the buffer, and of them written back */
    unsigned char buffer[ECHO_BUFFER];
};

static size_t piece(struct actor *self, uint32_t pieces_max)
{
    size_t max = pieces_max != 0 ? pieces_max : ECHO_BUFFER;
    return 1 + actor_random(self) % max;
}

static void forget(struct connection *c)
{
    if (c->before != NULL)
        c->before->next = c->next;
    else
        c->server->connections = c->next;
    if (c->next != NULL)
        c->next->before = c->before;
    free(c);
}

static void drop(struct connection *c, atomic_int *counter)
{
    stream_close(c->stream);
    forget(c);
    atomic_fetch_add(counter, 1); /* a test may end now */
}

/* Reads into two parts and writes from one, as links do. */
static ssize_t fill(struct connection *c, size_t most)
{
    struct iovec parts[2] = { { c->buffer, most / 2 }, { c->buffer + most / 2, most - most / 2 } };
    c->at = c->count = 0;
    ssize_t count = stream_readv(c->stream, parts, 2);
    c->count = count > 0 ? (size_t)count : 0;
    return count;
}

static ssize_t drain(struct connection *c, size_t most)
{
    size_t left = c->count - c->at;
    struct iovec part = { c->buffer + c->at, left < most ? left : most };
    ssize_t count = stream_writev(c->stream, &part, 1);
    c->at += count > 0 ? (size_t)count : 0;
    return count;
}

static void serve(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    struct connection *c = arg;
    struct echo_server *server = c->server;
    (void)what;
    ssize_t rc = server->close_at_once ? TR_EEND : 0;
    if (rc == 0)
        rc = c->at < c->count ? drain(c, piece(self, server->pieces_max))
                              : fill(c, piece(self, server->pieces_max));
    if (rc == TR_EEND)
        drop(c, &server->ended);
    else if (rc < 0)
        drop(c, &server->broken);
    else
        stream_want(stream, c->at < c->count ? STREAM_WRITABLE : STREAM_READABLE);
}

/* Takes the connection away from self and sends it to another actor, of another loop. */
static void hand_over(struct actor *self, struct connection *c)
{
    struct message *message = message_create(self, KIND_NUMBER);
    assert_non_null(message);
    stream_detach(c->stream);
    ((struct number *)message_head(message))->value = (uintptr_t)c;
    assert_int_equal(actor_send(self, c->server->hand_to, message), 0);
}

static int helper_receive(struct actor *self, struct message *message)
{
    struct connection *c =
        (struct connection *)(uintptr_t)((struct number *)message_head(message))->value;
    message_release(self, message);
    return stream_adopt(self, c->stream, serve, c);
}

static void accept_all(struct actor *self, void *arg, struct stream *listener, unsigned what)
{
    struct echo_server *server = arg;
    (void)what;
    for (;;) {
        struct connection *c = calloc(1, sizeof *c);
        if (c == NULL)
            abort();
        c->server = server;
        if (stream_accept(self, listener, serve, c, &c->stream) < 0 || c->stream == NULL) {
            free(c);
            return;
        }
        c->next = server->connections;
        if (c->next != NULL)
            c->next->before = c;
        server->connections = c;
        atomic_fetch_add(&server->accepted, 1);
        if (!address_is_none(server->hand_to))
            hand_over(self, c);
    }
}

static int server_start(struct actor *self, const void *arg)
{
    struct echo_server *server = (void *)(uintptr_t)arg;
    actor_set_state(self, server);
    int rc = stream_listen(self, &server->endpoint, accept_all, server, &server->listener,
                           &server->error);
    if (rc == 0)
        stream_listening(server->listener, &server->endpoint);
    atomic_store(&server->listening, rc == 0 ? 1 : rc);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

/* Leaves its streams to the runtime. */
static void server_fini(struct actor *self)
{
    struct echo_server *server = actor_state(self);
    while (server != NULL && server->connections != NULL)
        forget(server->connections);
}

const struct actor_ops echo_server_ops = {
    .name = "echo", .start = server_start, .receive = receive, .fini = server_fini
};

static int helper_start(struct actor *self, const void *arg)
{
    (void)self;
    (void)arg;
    return 0;
}

const struct actor_ops echo_helper_ops = { .name = "helper",
                                           .start = helper_start,
                                           .receive = helper_receive };

/* Byte `at` of the sequence; no period that a buffer's size divides. */
static unsigned char expected(uint64_t at)
{
    return (unsigned char)((at * UINT64_C(2654435761)) >> 13);
}

static void finish(struct echo_client *client, int result)
{
    if (result < 0) {
        client->error = *stream_error(client->stream);
        stream_close(client->stream);
        client->stream = NULL;
    } else if (!client->stays) {
        stream_close(client->stream);
        client->stream = NULL;
    } else {
        stream_want(client->stream, STREAM_READABLE);
    }
    atomic_store(&client->result, result);
}

static ssize_t send_more(struct actor *self, struct echo_client *client)
{
    unsigned char buffer[ECHO_BUFFER];
    uint64_t left = client->bytes - client->sent;
    size_t most = piece(self, client->pieces_max);
    most = left < most ? (size_t)left : most;
    for (size_t i = 0; i < most; i++)
        buffer[i] = expected(client->sent + i);
    struct iovec parts[2] = { { buffer, most / 3 }, { buffer + most / 3, most - most / 3 } };
    ssize_t count = stream_writev(client->stream, parts, 2);
    client->sent += count > 0 ? (uint64_t)count : 0;
    return count;
}

static ssize_t receive_more(struct actor *self, struct echo_client *client)
{
    unsigned char buffer[ECHO_BUFFER];
    struct iovec part = { buffer, piece(self, client->pieces_max) };
    ssize_t count = stream_readv(client->stream, &part, 1);
    for (ssize_t i = 0; i < count; i++)
        client->wrong += buffer[i] != expected(client->received + (uint64_t)i);
    client->received += count > 0 ? (uint64_t)count : 0;
    return count;
}

static void talk(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    struct echo_client *client = arg;
    ssize_t rc = 0;
    if (what & STREAM_FAILED) {
        finish(client, stream_error(stream)->code);
        return;
    }
    if (what & STREAM_WRITABLE)
        rc = send_more(self, client);
    if (rc >= 0 && (what & STREAM_READABLE))
        rc = receive_more(self, client);
    if (rc < 0)
        finish(client, (int)rc);
    else if (client->received == client->bytes)
        finish(client, 1);
    else
        stream_want(stream, STREAM_READABLE | (client->sent < client->bytes ? STREAM_WRITABLE : 0));
}

static int client_start(struct actor *self, const void *arg)
{
    struct echo_client *client = (void *)(uintptr_t)arg;
    actor_set_state(self, client);
    int rc = stream_connect(self, &client->endpoint, talk, client, &client->stream);
    if (rc < 0)
        atomic_store(&client->result, rc);
    return 0;
}

const struct actor_ops echo_client_ops = { .name = "client",
                                           .start = client_start,
                                           .receive = receive };
