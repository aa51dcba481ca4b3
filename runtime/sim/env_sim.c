/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated env: one step at a time, drawn among those that could happen now.
 *
 * Invariants:
 *   - A draw is made in one place of the order of steps and nowhere else: the same seed plays the
 *     same run only as long as no draw moves, is added or left out.
 *   - The clock goes forward with each step, and jumps only when nothing can happen at its time.
 *   - Jobs are done one after the other, the first of the line piece by piece.
 */
#include "runtime/sim/env_sim.h"

#include <assert.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/crew_impl.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/sim/sim_net.h"

#define SIM_TURN_NS 2000u                    /* a turn's virtual time when options say nothing */
#define SIM_TIMER_LATE_NS 50000u             /* what a busy kernel does to a timer */
#define SIM_STEPS_MAX 100000000u             /* a run of more is a livelock */
#define SIM_MEMORY_BYTES (UINT64_C(8) << 30) /* the same everywhere, so that runs repeat */
#define SIM_START_NS UINT64_C(1000000000)    /* a clock that starts at 0 hides mistakes */
#define SIM_WALL_MS UINT64_C(1800000000000)  /* January 2027 */

struct sim_loop {
    struct sim_loop *next, *before;
    struct loop *loop;
    bool started;
    uint64_t paused_until_ns; /* no turn before */
};

struct env_sim {
    struct env env;
    struct env_sim_options options;
    uint64_t state; /* of the draws */
    uint64_t now_ns;
    uint64_t trace;
    uint64_t steps;
    int64_t wall_jump_ms; /* what was set, summed */
    struct sim_loop *loops;
    struct job *jobs, *last_job;
    struct sim_net net;
};

static struct env_sim *env_sim_of(struct env *env)
{
    return (struct env_sim *)(void *)env;
}

struct sim_net *env_sim_net(struct env *env)
{
    return &env_sim_of(env)->net;
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t env_sim_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t env_sim_draw(struct env *env)
{
    struct env_sim *sim = env_sim_of(env);
    sim->state += UINT64_C(0x9e3779b97f4a7c15);
    return env_sim_mix(sim->state);
}

static uint64_t env_sim_now(struct env *env)
{
    return env_sim_of(env)->now_ns;
}

static uint64_t env_sim_wall(struct env *env)
{
    struct env_sim *sim = env_sim_of(env);
    return (uint64_t)((int64_t)(SIM_WALL_MS + sim->now_ns / 1000000) + sim->wall_jump_ms);
}

static int sim_loop_create(struct env *env, struct loop *loop, void **driver)
{
    struct env_sim *sim = env_sim_of(env);
    struct sim_loop *it = calloc(1, sizeof *it);
    if (it == NULL)
        return TR_ENOMEM;
    it->loop = loop;
    it->next = sim->loops;
    if (sim->loops != NULL)
        sim->loops->before = it;
    sim->loops = it;
    *driver = it;
    return 0;
}

static int sim_loop_start(struct env *env, void *driver)
{
    (void)env;
    ((struct sim_loop *)driver)->started = true;
    return 0;
}

static void sim_loop_wake(struct env *env, void *driver)
{
    (void)env;
    (void)driver;
}

static void sim_loop_join(struct env *env, void *driver)
{
    (void)env;
    (void)driver;
}

static void sim_loop_destroy(struct env *env, void *driver)
{
    struct sim_loop *it = driver;
    if (it->before != NULL)
        it->before->next = it->next;
    else
        env_sim_of(env)->loops = it->next;
    if (it->next != NULL)
        it->next->before = it->before;
    free(it);
}

static void crew_push(struct env *env, struct job *job)
{
    struct env_sim *sim = env_sim_of(env);
    job->next = NULL;
    if (sim->jobs == NULL)
        sim->jobs = job;
    else
        sim->last_job->next = job;
    sim->last_job = job;
}

static bool env_sim_fails(struct env *env)
{
    uint32_t ppm = env_sim_of(env)->options.alloc_fail_ppm;
    return ppm != 0 && env_sim_draw(env) % 1000000 < ppm;
}

static uint64_t timer_late_ns(struct env *env)
{
    return env_sim_draw(env) % env_sim_of(env)->options.timer_late_ns_max;
}

static void env_sim_hash_event(struct env *env, uint64_t a, uint64_t b)
{
    struct env_sim *sim = env_sim_of(env);
    sim->trace = env_sim_mix(sim->trace + UINT64_C(0x9e3779b97f4a7c15) + a);
    sim->trace = env_sim_mix(sim->trace + UINT64_C(0x9e3779b97f4a7c15) + b);
}

static void env_sim_destroy(struct env *env)
{
    struct env_sim *sim = env_sim_of(env);
    assert(sim->loops == NULL && sim->jobs == NULL);
    sim_net_fini(&sim->net);
    free(sim);
}

static const struct env_ops sim_ops = {
    .now_ns = env_sim_now,
    .coarse_ns = env_sim_now,
    .random = env_sim_draw,
    .wall_ms = env_sim_wall,
    .loop_create = sim_loop_create,
    .loop_start = sim_loop_start,
    .loop_wake = sim_loop_wake,
    .loop_join = sim_loop_join,
    .loop_destroy = sim_loop_destroy,
    .crew_push = crew_push,
    .fails = env_sim_fails,
    .timer_late_ns = timer_late_ns,
    .trace = env_sim_hash_event,
    .destroy = env_sim_destroy,
};

int env_sim_create(uint64_t seed, const struct env_sim_options *options, struct env **env)
{
    struct env_sim *sim = calloc(1, sizeof *sim);
    if (sim == NULL)
        return TR_ENOMEM;
    sim->env = (struct env){ .ops = &sim_ops,
                             .streams = &sim_net_ops,
                             .memory_bytes = SIM_MEMORY_BYTES,
                             .simulated = true };
    if (options != NULL)
        sim->options = *options;
    if (sim->options.turn_ns_max == 0)
        sim->options.turn_ns_max = SIM_TURN_NS;
    if (sim->options.timer_late_ns_max == 0)
        sim->options.timer_late_ns_max = SIM_TIMER_LATE_NS;
    if (sim->options.steps_max == 0)
        sim->options.steps_max = SIM_STEPS_MAX;
    sim->state = env_sim_mix(seed + 1);
    sim->now_ns = SIM_START_NS;
    sim_net_init(&sim->net, &sim->env);
    *env = &sim->env;
    return 0;
}

enum happening { NOTHING, JOB, NETWORK, TURN };

/* One of the things that can happen now, drawn. */
static enum happening env_sim_choose(struct env_sim *sim, struct loop **loop)
{
    uint64_t count = 0;
    enum happening what = NOTHING;
    /* Jobs, the network and loops draw in this order, and only where something could happen: in
     * another order the seeds would play other runs. */
    if (sim->jobs != NULL && env_sim_draw(&sim->env) % ++count == 0)
        what = JOB;
    if (sim_net_next_ns(&sim->net) <= sim->now_ns && env_sim_draw(&sim->env) % ++count == 0)
        what = NETWORK;
    for (struct sim_loop *it = sim->loops; it != NULL; it = it->next)
        if (it->started && it->paused_until_ns <= sim->now_ns &&
            loop_is_runnable(it->loop, sim->now_ns) && env_sim_draw(&sim->env) % ++count == 0) {
            *loop = it->loop;
            what = TURN;
        }
    return what;
}

/* When the loop has something to do next; UINT64_MAX: never by itself. */
static uint64_t next_turn(const struct env_sim *sim, const struct sim_loop *it)
{
    uint64_t at_ns = loop_is_runnable(it->loop, sim->now_ns) ? sim->now_ns
                                                             : loop_first_timer(it->loop);
    return at_ns < it->paused_until_ns ? it->paused_until_ns : at_ns;
}

static uint64_t first_turn(const struct env_sim *sim)
{
    uint64_t first_ns = sim_net_next_ns(&sim->net);
    for (const struct sim_loop *it = sim->loops; it != NULL; it = it->next) {
        uint64_t at_ns = it->started ? next_turn(sim, it) : UINT64_MAX;
        first_ns = at_ns < first_ns ? at_ns : first_ns;
    }
    return first_ns;
}

static void run_job(struct env_sim *sim)
{
    struct job *job = sim->jobs;
    /* This is read before the piece: after it a finished job is its actor's. */
    struct job *next = job->next;
    if (job_run_piece(job))
        sim->jobs = next;
}

static int env_sim_jump(struct env_sim *sim, uint64_t until_ns)
{
    uint64_t first_ns = first_turn(sim);
    if (first_ns == UINT64_MAX)
        return TR_EEND;
    if (first_ns > until_ns)
        return TR_ETIMEDOUT;
    sim->now_ns = first_ns;
    return 0;
}

/* 0: something happened; TR_EEND: nothing can any more; TR_ETIMEDOUT: not before until_ns. */
static int env_sim_step(struct env_sim *sim, uint64_t until_ns)
{
    struct loop *loop = NULL;
    enum happening what = env_sim_choose(sim, &loop);
    if (what == NOTHING)
        return env_sim_jump(sim, until_ns);
    /* The clock moves before the step: each step takes its time, and no two happen at the same
     * time. */
    sim->now_ns += 1 + env_sim_draw(&sim->env) % sim->options.turn_ns_max;
    if (what == JOB)
        run_job(sim);
    else if (what == NETWORK)
        sim_net_step(&sim->net, sim->now_ns);
    else
        loop_turn(loop);
    return 0;
}

int env_sim_run(struct env *env, bool (*done)(void *arg), void *arg, uint64_t until_ns)
{
    struct env_sim *sim = env_sim_of(env);
    for (uint64_t steps = 0; steps < sim->options.steps_max; steps++) {
        /* `done` comes before the time: a condition that holds counts though the time is up. After
         * a cut (env_sim_cut), too, nothing may happen before it is asked. */
        if (done != NULL && done(arg))
            return 0;
        if (sim->now_ns >= until_ns)
            return TR_ETIMEDOUT;
        int rc = env_sim_step(sim, until_ns);
        if (rc == TR_ETIMEDOUT)
            sim->now_ns = until_ns;
        if (rc < 0)
            return rc;
        sim->steps++;
    }
    return TR_ERANGE;
}

/* Takes the node's jobs out of the line; they were cancelled. */
static void end_jobs(struct env_sim *sim, const struct node *node)
{
    struct job *jobs = sim->jobs;
    /* The line is emptied first: the jobs of other nodes stand in it again, in their order. */
    sim->jobs = sim->last_job = NULL;
    while (jobs != NULL) {
        struct job *job = jobs;
        /* This is read before the job is in a line again, or is its actor's. */
        jobs = job->next;
        if (job->actor->loop->node != node) {
            crew_push(&sim->env, job);
        } else {
            bool ended = job_run_piece(job);
            assert(ended);
        }
    }
}

void env_sim_kill(struct env *env, struct node *node)
{
    struct env_sim *sim = env_sim_of(env);
    /* The connections go first: actors that end may still write last words, which must not
     * leave. */
    sim_net_kill(&sim->net, node);
    node_kill(node);
    /* The jobs end before each turn: actors wait for theirs, and a turn may submit others. */
    do
        end_jobs(sim, node);
    while (node_kill_turn(node));
    /* This comes after the actors, which close their own streams: the rest belongs to none of
     * them. */
    sim_net_forget(&sim->net, node);
}

void env_sim_cut(struct env *env, const struct node *node)
{
    sim_net_kill(&env_sim_of(env)->net, node);
}

void env_sim_wait(struct env *env, uint64_t until_ns)
{
    struct env_sim *sim = env_sim_of(env);
    assert(sim->jobs == NULL && first_turn(sim) == UINT64_MAX);
    sim->now_ns = until_ns > sim->now_ns ? until_ns : sim->now_ns;
}

uint64_t env_sim_now_ns(const struct env *env)
{
    return ((const struct env_sim *)(const void *)env)->now_ns;
}

void env_sim_set_alloc_fail(struct env *env, uint32_t ppm)
{
    env_sim_of(env)->options.alloc_fail_ppm = ppm;
}

void env_sim_pause(struct env *env, const struct node *node, uint32_t loop, uint64_t until_ns)
{
    for (struct sim_loop *it = env_sim_of(env)->loops; it != NULL; it = it->next)
        if (it->loop->node == node && it->loop->index == loop)
            it->paused_until_ns = until_ns;
}

void env_sim_wall_jump(struct env *env, int64_t ms)
{
    env_sim_of(env)->wall_jump_ms += ms;
}

uint64_t env_sim_trace(const struct env *env)
{
    return ((const struct env_sim *)(const void *)env)->trace;
}

uint64_t env_sim_steps(const struct env *env)
{
    return ((const struct env_sim *)(const void *)env)->steps;
}
