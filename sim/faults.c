/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults.h"

#include <stdlib.h>

#include "actors/common/part_locator.h"
#include "actors/job/coordinator.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"

struct faults {
    struct actor *self;
    struct world *world;
    const struct fault_plan *plan;
    struct draws draws;
    uint32_t left;
    bool job_is_up; /* a job that cannot even start for want of memory rightly fails */
    bool memory_short;
    struct timer timer;
    struct draws server_draws;
    uint32_t servers_left;
    struct timer servers;
};

static void kill_found(struct actor *self, void *arg, int status, struct address address)
{
    struct faults *f = arg;
    if (status == 0 && actor_kill(self, address, TR_EIO) == 0)
        f->world->tally.faults++;
}

static void kill_server(struct actor *self, void *arg, int status, struct address address)
{
    struct faults *f = arg;
    uint64_t before = f->world->tally.faults;
    kill_found(self, arg, status, address);
    if (f->world->tally.faults > before && !f->world->scenario.direct)
        f->world->bereft |= f->world->in_epoch;
}

static void kill_named(struct faults *f, const char *name)
{
    directory_lookup(f->self, name, kill_found, f);
}

static void kill_one(struct faults *f, enum fault fault)
{
    char name[DIRECTORY_NAME_MAX];
    const struct scenario *s = &f->world->scenario;
    if (fault == FAULT_KILL_SERVER) {
        server_part_name((uint32_t)draws_below(&f->draws, s->parts), name);
        directory_lookup(f->self, name, kill_server, f);
    } else if (fault == FAULT_KILL_SAMPLER) {
        sampler_name((uint32_t)draws_below(&f->draws, s->samplers), name, sizeof name);
        kill_named(f, name);
    } else {
        kill_named(f, fault == FAULT_KILL_PROXY ? WORLD_PROXY : COORDINATOR_NAME);
    }
}

static void pause_loops(struct faults *f, bool all)
{
    uint64_t until_ns = env_sim_now_ns(f->world->env) +
                        draws_scale(&f->draws, 1000, f->plan->pause_ns);
    uint32_t one = (uint32_t)draws_below(&f->draws, f->world->scenario.loops);
    for (uint32_t i = 0; i < f->world->scenario.loops; i++)
        if (all || i == one)
            env_sim_pause(f->world->env, f->world->node, i, until_ns);
    f->world->tally.faults++;
}

/* One of those that may come. */
static enum fault draw_fault(struct faults *f)
{
    for (;;) {
        enum fault fault = 1u << draws_below(&f->draws, 7);
        if ((f->plan->faults & fault) != 0)
            return fault;
    }
}

static void strike(struct faults *f)
{
    enum fault fault = draw_fault(f);
    switch (fault) {
    case FAULT_MEMORY:
        if (!f->job_is_up)
            break;
        env_sim_set_alloc_fail(f->world->env, f->plan->memory_ppm);
        f->memory_short = true;
        f->world->tally.faults++;
        break;
    case FAULT_PAUSE:
    case FAULT_STOP:
        pause_loops(f, fault == FAULT_STOP);
        break;
    default:
        kill_one(f, fault);
        break;
    }
}

static void tick(struct actor *self, void *arg)
{
    struct faults *f = arg;
    /* Memory comes back before anything else strikes: the shortage lasts one gap. */
    if (f->memory_short) {
        env_sim_set_alloc_fail(f->world->env, 0);
        f->memory_short = false;
    } else if (f->left > 0) {
        f->left--;
        strike(f);
    }
    if (f->left > 0 || f->memory_short)
        timer_start(self, &f->timer, actor_now_ns(self) + draws_below(&f->draws, f->plan->gap_ns),
                    tick, f);
}

static void tick_servers(struct actor *self, void *arg)
{
    struct faults *f = arg;
    const struct server_fault_plan *plan = &f->world->scenario.server_faults;
    uint64_t now_ns = actor_now_ns(self);
    (void)actor_faults_strike(&f->world->faults.servers, &f->server_draws, now_ns,
                              draws_below(&f->server_draws, plan->lasts_ns), 1);
    f->world->tally.faults++;
    if (--f->servers_left > 0)
        timer_start(self, &f->servers, now_ns + draws_below(&f->server_draws, plan->gap_ns),
                    tick_servers, f);
}

static void came_up(struct actor *self, void *arg, int status, struct address proxy)
{
    struct faults *f = arg;
    (void)self;
    (void)proxy;
    f->job_is_up = status == 0;
}

static int start(struct actor *self, const void *arg)
{
    struct faults *f = calloc(1, sizeof *f);
    if (f == NULL)
        return TR_ENOMEM;
    actor_set_state(self, f);
    f->self = self;
    f->world = (void *)(uintptr_t)arg;
    f->plan = &f->world->scenario.faults;
    f->left = f->plan->count;
    f->draws = world_draws(f->world, WORLD_DRAWS_FAULTS, 0);
    if (f->left > 0)
        timer_start(self, &f->timer, actor_now_ns(self) + draws_below(&f->draws, f->plan->gap_ns),
                    tick, f);
    f->server_draws = world_draws(f->world, WORLD_DRAWS_SERVERS, 0);
    f->servers_left = f->world->scenario.server_faults.count;
    if (f->servers_left > 0)
        timer_start(self, &f->servers,
                    actor_now_ns(self) +
                        draws_below(&f->server_draws, f->world->scenario.server_faults.gap_ns),
                    tick_servers, f);
    return directory_wait(self, WORLD_PROXY, actor_now_ns(self) + ENV_SECOND_NS, came_up, f);
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void fini(struct actor *self)
{
    free(actor_state(self));
}

const struct actor_ops faults_ops = {
    .name = "faults",
    .start = start,
    .receive = receive,
    .fini = fini,
};
