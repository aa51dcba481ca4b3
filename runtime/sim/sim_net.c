/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated network as a whole: what happens next, and the faults. */
#include "runtime/sim/sim_net.h"

#include <assert.h>
#include <stdlib.h>

#include "runtime/sim/env_sim.h"
#include "runtime/sim/sim_stream.h"

void sim_net_init(struct sim_net *net, struct env *env)
{
    *net = (struct sim_net){ .env = env, .delay_ns_max = SIM_NET_DELAY_NS, .next_port = 40000 };
}

void sim_net_fini(struct sim_net *net)
{
    assert(net->streams == NULL);
    while (net->clogs != NULL) {
        struct sim_clog *clog = net->clogs;
        net->clogs = clog->next;
        free(clog);
    }
}

uint64_t sim_net_now_ns(const struct sim_net *net)
{
    return env_now_ns(net->env);
}

uint64_t sim_net_draw(struct sim_net *net, uint64_t n)
{
    return net->env->ops->random(net->env) % n;
}

uint64_t sim_net_arrival_ns(struct sim_net *net)
{
    uint64_t most_ns = net->delay_ns_max;
    if (sim_net_draw(net, 64) == 0)
        most_ns *= 100;
    return sim_net_now_ns(net) + 1 + sim_net_draw(net, most_ns);
}

uint64_t sim_net_clogged_until_ns(const struct sim_net *net, uint32_t from, uint32_t to)
{
    for (const struct sim_clog *clog = net->clogs; clog != NULL; clog = clog->next)
        if (clog->from == from && clog->to == to)
            return clog->until_ns;
    return 0;
}

uint64_t sim_net_next_ns(const struct sim_net *net)
{
    return net->events.first != NULL ? net->events.first->at_ns : UINT64_MAX;
}

void sim_net_step(struct sim_net *net, uint64_t now_ns)
{
    struct timer *timer = net->events.first;
    assert(timer != NULL && timer->at_ns <= now_ns);
    struct sim_stream *stream = timer->arg;
    /* The timer leaves the heap first: the stream may be scheduled again below. */
    timers_remove(&net->events, timer);
    stream->timed = false;
    net->env->ops->trace(net->env, (uint64_t)stream->node_id << 32 | stream->peer_id, now_ns);
    sim_stream_happen(stream);
}

static bool is_connection(const struct sim_stream *stream)
{
    return stream->state == SIM_OPEN && stream->peer != NULL;
}

bool env_sim_net_reset(struct env *env)
{
    struct sim_net *net = env_sim_net(env);
    struct sim_stream *chosen = NULL;
    uint64_t count = 0;
    for (struct sim_stream *at = net->streams; at != NULL; at = at->next)
        if (is_connection(at) && sim_net_draw(net, ++count) == 0)
            chosen = at;
    if (chosen == NULL)
        return false;
    /* This order stays for ever, since each of the two draws. */
    sim_stream_break(chosen->peer);
    sim_stream_break(chosen);
    return true;
}

void env_sim_net_clog(struct env *env, uint32_t from, uint32_t to, uint64_t until_ns)
{
    struct sim_net *net = env_sim_net(env);
    struct sim_clog *clog = net->clogs;
    while (clog != NULL && (clog->from != from || clog->to != to))
        clog = clog->next;
    if (clog == NULL) {
        clog = calloc(1, sizeof *clog);
        assert(clog != NULL); /* a test's fault that does not happen is no test */
        clog->from = from;
        clog->to = to;
        clog->next = net->clogs;
        net->clogs = clog;
    }
    /* The clog is set before the timers, which follow from it. */
    clog->until_ns = until_ns;
    for (struct sim_stream *at = net->streams; at != NULL; at = at->next)
        if (at->state == SIM_OPEN)
            sim_stream_schedule(at);
}

void env_sim_net_refuse(struct env *env, uint32_t node, uint64_t until_ns)
{
    struct sim_net *net = env_sim_net(env);
    net->refusing = node;
    net->refusing_until_ns = until_ns;
}

void env_sim_net_corrupt(struct env *env, uint32_t ppm)
{
    env_sim_net(env)->corrupt_ppm = ppm;
}

void env_sim_net_delay(struct env *env, uint64_t delay_ns_max)
{
    env_sim_net(env)->delay_ns_max = delay_ns_max != 0 ? delay_ns_max : SIM_NET_DELAY_NS;
}

/* The system sends the rest and an end or, with bytes unread, a reset. */
static void part(struct sim_stream *self)
{
    struct sim_net *net = self->net;
    struct sim_stream *peer = self->peer;
    self->peer = peer->peer = NULL;
    if (sim_net_draw(net, 2) == 0)
        sim_stream_break(peer);
    else
        sim_pipe_mark(&peer->in, PIPE_END, sim_net_arrival_ns(net));
    sim_stream_schedule(peer);
    sim_stream_update(peer);
}

void sim_net_kill(struct sim_net *net, const struct node *node)
{
    for (struct sim_stream *at = net->streams; at != NULL; at = at->next) {
        if (at->node != node)
            continue;
        /* In any order: part() schedules the peer alone. One of the same node is reached later in
         * this loop, or is dead already. */
        if (at->peer != NULL)
            part(at);
        if (at->timed)
            timers_remove(&net->events, &at->timer);
        at->timed = false;
        at->state = SIM_DEAD;
    }
}

void sim_net_forget(struct sim_net *net, const struct node *node)
{
    struct sim_stream *next;
    for (struct sim_stream *at = net->streams; at != NULL; at = next) {
        next = at->next;
        if (at->node == node) {
            stream_close(&at->stream);
            next = net->streams; /* a listener closes those that wait, too */
        }
    }
}
