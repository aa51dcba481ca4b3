/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream of the simulated network: connecting, accepting, reading, writing, ending.
 *
 * Invariants:
 *   - `peer` is the truth, `in.mark` what this end knows. An end that closes leaves its peer at
 *     once; that one notices when the mark has arrived, and behaves until then as if nothing were.
 *   - The timer follows from the state and the first chunk of `in`: sim_stream_schedule comes after
 *     each change of these. The events to tell follow from both pipes: then sim_stream_update.
 *   - Draws stand in an order that stays: a seed that is remembered plays the same only with it.
 */
#include "runtime/sim/sim_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/env.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"

static struct sim_stream *sim_stream_of(struct stream *stream)
{
    return (struct sim_stream *)(void *)stream;
}

static struct sim_stream *sim_stream_create(struct sim_net *net, const struct node *node,
                                            enum sim_state state, const struct endpoint *endpoint)
{
    struct sim_stream *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->stream.ops = &sim_net_ops;
    self->stream.peer.uid = -1;
    self->net = net;
    self->node = node;
    self->node_id = node->id;
    self->state = state;
    self->endpoint = *endpoint;
    self->timer.arg = self;
    self->next = net->streams;
    if (net->streams != NULL)
        net->streams->before = self;
    net->streams = self;
    return self;
}

static void set_timer(struct sim_stream *self, uint64_t at_ns)
{
    if (self->timed)
        timers_remove(&self->net->events, &self->timer);
    self->timer.at_ns = at_ns;
    timers_insert(&self->net->events, &self->timer);
    self->timed = true;
}

void sim_stream_schedule(struct sim_stream *self)
{
    if (self->timed)
        timers_remove(&self->net->events, &self->timer);
    self->timed = false;
    if (self->state != SIM_OPEN || self->in.count == 0)
        return;
    uint64_t at_ns = self->in.chunks[self->in.first].at_ns;
    uint64_t free_ns = sim_net_clogged_until_ns(self->net, self->peer_id, self->node_id);
    set_timer(self, at_ns > free_ns ? at_ns : free_ns);
}

static bool can_read(const struct sim_stream *self)
{
    return sim_pipe_readable(&self->in) > 0 || self->in.mark != PIPE_BYTES;
}

static bool can_write(const struct sim_stream *self)
{
    return self->in.mark == PIPE_RESET || self->peer == NULL ||
           sim_pipe_is_marked(&self->peer->in) || sim_pipe_room(&self->peer->in) > 0;
}

void sim_stream_update(struct sim_stream *self)
{
    unsigned what = 0;
    if (self->state == SIM_LISTENING)
        what = self->backlog != NULL ? STREAM_READABLE : 0;
    else if (self->state == SIM_OPEN)
        what = (can_read(self) ? STREAM_READABLE : 0) | (can_write(self) ? STREAM_WRITABLE : 0);
    what &= self->stream.want;
    if (what != 0)
        stream_tell(&self->stream, what);
}

void sim_stream_break(struct sim_stream *self)
{
    struct sim_net *net = self->net;
    uint64_t on_way = self->in.sent - self->in.arrived;
    /* The cut comes before the mark: it takes away all chunks on their way, and the mark is one. */
    sim_pipe_cut(&self->in, (size_t)sim_net_draw(net, on_way + 1));
    sim_pipe_mark(&self->in, PIPE_RESET, sim_net_arrival_ns(net));
    sim_stream_schedule(self);
}

static bool is_at(const struct sim_stream *listener, const struct endpoint *endpoint)
{
    return listener->state == SIM_LISTENING && listener->endpoint.kind == endpoint->kind &&
           listener->endpoint.port == endpoint->port &&
           strcmp(listener->endpoint.host, endpoint->host) == 0;
}

static struct sim_stream *sim_stream_find(struct sim_net *net, const struct endpoint *endpoint)
{
    struct sim_stream *at = net->streams;
    while (at != NULL && !is_at(at, endpoint))
        at = at->next;
    return at;
}

static void sim_stream_fail(struct sim_stream *self, int code, const char *why)
{
    char text[ENDPOINT_TEXT_MAX];
    endpoint_format(&self->endpoint, text, sizeof text);
    error_set(&self->stream.error, code, "%s: cannot connect: %s", text, why);
    self->state = SIM_DEAD;
    stream_tell(&self->stream, STREAM_FAILED);
}

static bool has_no_address(const char *host)
{
    static const char suffix[] = ".invalid"; /* RFC 6761 */
    size_t length = strlen(host);
    return length >= sizeof suffix - 1 && strcmp(host + length - (sizeof suffix - 1), suffix) == 0;
}

/* Small windows show which code forgets that a write may be short. */
static size_t sim_stream_capacity(struct sim_net *net)
{
    return SIM_NET_PIPE_BYTES_MAX >> sim_net_draw(net, 7);
}

static void name_peer(struct sim_stream *self, const struct sim_stream *other)
{
    self->peer_id = other->node_id;
    self->stream.peer.source = other->node_id;
    if (self->endpoint.kind == ENDPOINT_UNIX)
        self->stream.peer.uid = geteuid();
    snprintf(self->stream.peer.text, sizeof self->stream.peer.text, "node %u", other->node_id);
}

static void put_in_backlog(struct sim_stream *listener, struct sim_stream *end)
{
    if (listener->backlog == NULL)
        listener->backlog = end;
    else
        listener->last->waiting = end;
    listener->last = end;
    listener->num_waiting++;
    end->listener = listener;
}

static void sim_stream_join(struct sim_stream *self, struct sim_stream *listener)
{
    struct sim_net *net = self->net;
    struct sim_stream *end = sim_stream_create(net, listener->node, SIM_OPEN, &self->endpoint);
    if (end == NULL || sim_pipe_init(&end->in, sim_stream_capacity(net)) < 0 ||
        sim_pipe_init(&self->in, sim_stream_capacity(net)) < 0) {
        if (end != NULL)
            stream_close(&end->stream);
        sim_stream_fail(self, TR_ENOMEM, "out of memory");
        return;
    }
    self->state = SIM_OPEN;
    self->peer = end;
    end->peer = self;
    name_peer(self, end);
    name_peer(end, self);
    /* Both ends are whole before the listener is notified: accepting may be the next step. */
    put_in_backlog(listener, end);
    sim_stream_update(listener);
    stream_tell(&self->stream, STREAM_WRITABLE);
}

static bool sim_stream_refuses(const struct sim_stream *listener)
{
    const struct sim_net *net = listener->net;
    return listener->num_waiting >= SIM_NET_BACKLOG ||
           (listener->node_id == net->refusing && sim_net_now_ns(net) < net->refusing_until_ns);
}

static void end_connecting(struct sim_stream *self)
{
    struct sim_net *net = self->net;
    struct sim_stream *listener = sim_stream_find(net, &self->endpoint);
    /* A name without an address fails before any host is asked, as a system looks it up first. The
     * listener is asked behind it: there is none at such a name either, and its error would hide
     * this one. */
    if (has_no_address(self->endpoint.host)) {
        sim_stream_fail(self, TR_ENOENT, "the host has no address");
        return;
    }
    /* The listener comes before the way, which lies between two nodes: the listener's node is the
     * other one. */
    if (listener == NULL || sim_stream_refuses(listener)) {
        sim_stream_fail(self, TR_EPEERDOWN, "no process listens there");
        return;
    }
    /* Connecting takes a packet each way. */
    uint64_t there_ns = sim_net_clogged_until_ns(net, self->node_id, listener->node_id);
    uint64_t back_ns = sim_net_clogged_until_ns(net, listener->node_id, self->node_id);
    uint64_t free_ns = there_ns > back_ns ? there_ns : back_ns;
    if (free_ns > sim_net_now_ns(net)) {
        /* The attempt is repeated from time to time, as by a system, so that a way freed early is
         * found. */
        uint64_t next_ns = sim_net_now_ns(net) + UINT64_C(200000000);
        set_timer(self, next_ns < free_ns ? next_ns : free_ns);
    } else {
        sim_stream_join(self, listener);
    }
}

void sim_stream_happen(struct sim_stream *self)
{
    struct sim_net *net = self->net;
    if (self->state == SIM_CONNECTING) {
        end_connecting(self);
        return;
    }
    uint64_t before = self->in.arrived;
    sim_pipe_arrive(&self->in);
    uint64_t bytes = self->in.arrived - before;
    if (bytes > 0 && net->corrupt_ppm != 0 && sim_net_draw(net, 1000000) < net->corrupt_ppm)
        sim_pipe_flip(&self->in, before + sim_net_draw(net, bytes), (unsigned)sim_net_draw(net, 8));
    /* A reset may come before the system handed over what had arrived. */
    if (self->in.mark == PIPE_RESET && sim_net_draw(net, 2) == 0)
        sim_pipe_lose_arrived(&self->in);
    /* The next chunk is scheduled, and events are reported, after the faults have had what
     * arrived. */
    sim_stream_schedule(self);
    sim_stream_update(self);
}

static int listen_at(struct loop *loop, const struct endpoint *endpoint, struct stream **stream,
                     struct error *error)
{
    struct sim_net *net = env_sim_net(loop->env);
    struct endpoint wanted = *endpoint;
    char text[ENDPOINT_TEXT_MAX];
    endpoint_format(endpoint, text, sizeof text);
    if (endpoint->kind == ENDPOINT_NONE)
        return error_set(error, TR_EINVAL, "an endpoint to listen on is not given");
    if (endpoint->kind == ENDPOINT_TCP && endpoint->port == 0)
        wanted.port = net->next_port++;
    if (sim_stream_find(net, &wanted) != NULL)
        return error_set(error, TR_EEXIST, "%s: another process listens there", text);
    struct sim_stream *self = sim_stream_create(net, loop->node, SIM_LISTENING, &wanted);
    if (self == NULL)
        return error_set(error, TR_ENOMEM, "%s: cannot listen: out of memory", text);
    *stream = &self->stream;
    return 0;
}

static void sim_stream_listening(const struct stream *stream, struct endpoint *endpoint)
{
    *endpoint = ((const struct sim_stream *)(const void *)stream)->endpoint;
}

static int accept_one(struct stream *listener, struct stream **out)
{
    struct sim_stream *self = sim_stream_of(listener);
    struct sim_stream *end = self->backlog;
    if (end == NULL)
        return 0;
    self->backlog = end->waiting;
    self->num_waiting--;
    /* The connection leaves the backlog for good: when it is closed later it has no listener to
     * leave, and does not pass for one that was never accepted. */
    end->waiting = end->listener = NULL;
    *out = &end->stream;
    return 0;
}

static int connect_to(struct loop *loop, const struct endpoint *endpoint, struct stream **stream)
{
    struct sim_net *net = env_sim_net(loop->env);
    if (endpoint->kind == ENDPOINT_NONE)
        return TR_EINVAL;
    struct sim_stream *self = sim_stream_create(net, loop->node, SIM_CONNECTING, endpoint);
    if (self == NULL)
        return TR_ENOMEM;
    set_timer(self, sim_net_arrival_ns(net));
    *stream = &self->stream;
    return 0;
}

static int sim_stream_attach(struct stream *stream)
{
    if (sim_stream_of(stream)->state == SIM_DEAD)
        stream_tell(stream, STREAM_FAILED);
    return 0;
}

static void sim_stream_detach(struct stream *stream)
{
    struct sim_stream *self = sim_stream_of(stream);
    if (self->state != SIM_CONNECTING)
        return;
    if (self->timed)
        timers_remove(&self->net->events, &self->timer);
    self->timed = false;
    self->state = SIM_DEAD;
}

static void sim_stream_tell(struct stream *stream)
{
    sim_stream_update(sim_stream_of(stream));
}

/* How many of n bytes one call moves: anything from one on. */
static size_t sim_stream_some(struct sim_net *net, size_t n)
{
    switch (sim_net_draw(net, 8)) {
    case 0:
        return 1;
    case 1:
        n = n < 64 ? n : 64;
        return 1 + (size_t)sim_net_draw(net, n);
    case 2:
    case 3:
        return 1 + (size_t)sim_net_draw(net, n);
    default:
        return n;
    }
}

static size_t sim_stream_sum(const struct iovec *parts, int num_parts)
{
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

static ssize_t sim_stream_broken(struct sim_stream *self, const char *verb)
{
    error_set(&self->stream.error, TR_EPEERDOWN, "%s: cannot %s: connection reset",
              self->stream.peer.text, verb);
    return TR_EPEERDOWN;
}

static ssize_t read_some(struct stream *stream, const struct iovec *parts, int num_parts)
{
    struct sim_stream *self = sim_stream_of(stream);
    size_t most = sim_stream_sum(parts, num_parts);
    if (self->state == SIM_DEAD)
        return TR_EPEERDOWN;
    if (self->state != SIM_OPEN)
        return 0;
    size_t there = sim_pipe_readable(&self->in);
    /* Bytes that arrived before the end or the reset are read before either is reported. */
    if (there == 0 && self->in.mark == PIPE_RESET)
        return sim_stream_broken(self, "read");
    if (there == 0)
        return self->in.mark == PIPE_END ? TR_EEND : 0;
    size_t bytes = sim_stream_some(self->net, there < most ? there : most);
    sim_pipe_take(&self->in, parts, num_parts, bytes);
    /* Taking the bytes made room, so the peer is notified only now. */
    if (self->peer != NULL)
        sim_stream_update(self->peer);
    return (ssize_t)bytes;
}

/* The other end is closed, or learns soon that the connection is broken: the bytes go nowhere; when
 * the answer to the first of them has come back, writing fails. */
static ssize_t write_into_void(struct sim_stream *self, size_t bytes)
{
    struct sim_net *net = self->net;
    if (self->void_ns == 0)
        self->void_ns = sim_net_arrival_ns(net);
    uint64_t there_ns = sim_net_clogged_until_ns(net, self->node_id, self->peer_id);
    uint64_t back_ns = sim_net_clogged_until_ns(net, self->peer_id, self->node_id);
    uint64_t now_ns = sim_net_now_ns(net);
    bool told = now_ns >= self->void_ns && now_ns >= there_ns && now_ns >= back_ns;
    return told ? sim_stream_broken(self, "write") : (ssize_t)sim_stream_some(net, bytes);
}

static ssize_t write_some(struct stream *stream, const struct iovec *parts, int num_parts)
{
    struct sim_stream *self = sim_stream_of(stream);
    size_t most = sim_stream_sum(parts, num_parts);
    if (self->state == SIM_DEAD)
        return TR_EPEERDOWN;
    if (self->state != SIM_OPEN)
        return 0;
    /* A reset that has arrived comes before a peer that is gone. Once it has arrived the peer is
     * gone, or was reset, too: asked first, that would hide that this end was notified, and its
     * writes would go into the void for one more round trip, where a system fails them at once. */
    if (self->in.mark == PIPE_RESET)
        return sim_stream_broken(self, "write");
    struct sim_stream *peer = self->peer;
    /* This comes before the room, which is the peer's. */
    if (peer == NULL || sim_pipe_is_marked(&peer->in))
        return write_into_void(self, most);
    size_t room = sim_pipe_room(&peer->in);
    if (room == 0)
        return 0;
    size_t bytes = sim_stream_some(self->net, room < most ? room : most);
    sim_pipe_put(&peer->in, parts, num_parts, bytes, sim_net_arrival_ns(self->net));
    sim_stream_schedule(peer);
    return (ssize_t)bytes;
}

static void leave_backlog(struct sim_stream *self)
{
    struct sim_stream *listener = self->listener;
    struct sim_stream *before = NULL;
    if (listener == NULL)
        return;
    for (struct sim_stream *at = listener->backlog; at != self; at = at->waiting)
        before = at;
    if (before == NULL)
        listener->backlog = self->waiting;
    else
        before->waiting = self->waiting;
    if (listener->last == self)
        listener->last = before;
    listener->num_waiting--;
}

/* An end, or a reset when bytes were left unread, as systems do it. */
static void tell_peer(struct sim_stream *self)
{
    struct sim_stream *peer = self->peer;
    bool unread = self->listener != NULL || sim_pipe_readable(&self->in) > 0;
    /* The pointer goes at once, since this end is freed next. The peer learns of it by the mark,
     * later. */
    peer->peer = NULL;
    if (unread)
        sim_stream_break(peer);
    else
        sim_pipe_mark(&peer->in, PIPE_END, sim_net_arrival_ns(self->net));
    sim_stream_schedule(peer);
    sim_stream_update(peer);
}

static void close_it(struct stream *stream)
{
    struct sim_stream *self = sim_stream_of(stream);
    /* The waiting connections go first: each leaves this listener as it closes. */
    while (self->backlog != NULL)
        stream_close(&self->backlog->stream);
    /* `listener` stays set: tell_peer treats a connection that was never accepted as one with
     * unread bytes. */
    leave_backlog(self);
    if (self->peer != NULL)
        tell_peer(self);
    if (self->timed)
        timers_remove(&self->net->events, &self->timer);
    if (self->before != NULL)
        self->before->next = self->next;
    else
        self->net->streams = self->next;
    if (self->next != NULL)
        self->next->before = self->before;
    sim_pipe_fini(&self->in);
    free(self);
}

const struct stream_ops sim_net_ops = {
    .listen = listen_at,
    .listening = sim_stream_listening,
    .accept = accept_one,
    .connect = connect_to,
    .attach = sim_stream_attach,
    .detach = sim_stream_detach,
    .want = sim_stream_tell,
    .readv = read_some,
    .writev = write_some,
    .again = sim_stream_tell,
    .close = close_it,
};
