#include "sim/server_faults.h"

#include <stdlib.h>

#include "actors/common/error_reply.h"
#include "actors/data/server_work.h"
#include "runtime/core/call.h"
#include "runtime/core/timer.h"

struct server_held {
    struct server_held *next, **link;
    struct actor *server;
    struct message *message;
    struct timer timer;
};

static const struct server_options *options_of(struct actor *self)
{
    const struct server *server = actor_state(self);
    return server->options;
}

static void unlink_held(struct server_held *held)
{
    *held->link = held->next;
    if (held->next != NULL)
        held->next->link = held->link;
}

static void serve_held(struct actor *self, void *arg)
{
    struct server_held *held = arg;
    struct message *message = held->message;
    unlink_held(held);
    free(held);
    (void)server_ops.receive(self, message);
}

static int hold(struct actor *self, struct server_faults *faults, struct message *message,
                uint64_t ns)
{
    struct server_held *held = calloc(1, sizeof *held);
    if (held == NULL)
        return server_ops.receive(self, message);
    *held = (struct server_held){
        .next = faults->held, .link = &faults->held, .server = self, .message = message
    };
    if (held->next != NULL)
        held->next->link = &held->next;
    faults->held = held;
    timer_start(self, &held->timer, actor_now_ns(self) + ns, serve_held, held);
    return 0;
}

static int refuse(struct actor *self, struct message *request, int code)
{
    struct error error;
    if (actor_random(self) % 2 == 0) {
        actor_refuse(self, request, code);
        return 0;
    }
    error_set(&error, code, "a server is %s for a while",
              code == TR_EFULL ? "full" : "short of memory");
    error_reply_send(self, request, &error);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    const struct server_options *options = options_of(self);
    struct server_faults *faults = options->faults;
    uint32_t number = options->rank % SERVER_FAULTS_SERVERS;
    const uint64_t *until_ns = faults->servers[number].until_ns;
    uint64_t now_ns = actor_now_ns(self);
    if (now_ns < until_ns[SERVER_FULL])
        return refuse(self, message, TR_EFULL);
    if (now_ns < until_ns[SERVER_MEMORY])
        return refuse(self, message, TR_ENOMEM);
    if (now_ns < until_ns[SERVER_SLOW])
        return hold(self, faults, message, faults->servers[number].slow_ns);
    return server_ops.receive(self, message);
}

static int start(struct actor *self, const void *arg)
{
    return server_ops.start(self, arg);
}

static void stop(struct actor *self)
{
    server_ops.stop(self);
}

static void fini(struct actor *self)
{
    if (actor_state(self) != NULL) {
        struct server_faults *faults = options_of(self)->faults;
        for (struct server_held *held = faults->held, *next; held != NULL; held = next) {
            next = held->next;
            if (held->server != self)
                continue;
            unlink_held(held);
            message_release(self, held->message);
            free(held);
        }
    }
    server_ops.fini(self);
}

const struct actor_ops faulty_server_ops = {
    .name = "server",
    .start = start,
    .receive = receive,
    .stop = stop,
    .fini = fini,
};

void server_faults_strike(struct server_faults *faults, struct draws *draws, uint64_t now_ns,
                          uint64_t lasts_ns)
{
    enum server_fault fault = (enum server_fault)draws_below(draws, SERVER_FAULT_KINDS);
    bool all = draws_chance(draws, 50);
    uint32_t one = (uint32_t)draws_below(draws, SERVER_FAULTS_SERVERS);
    uint64_t slow_ns = draws_scale(draws, UINT64_C(100000), UINT64_C(5000000000));
    for (uint32_t i = 0; i < SERVER_FAULTS_SERVERS; i++) {
        if (!all && i != one)
            continue;
        faults->servers[i].until_ns[fault] = now_ns + lasts_ns;
        faults->servers[i].slow_ns = slow_ns;
    }
}
