/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: the same actors, in one thread, from one seed, on a virtual clock.
 *
 * Each step it draws one of what could happen next: a turn of a runnable loop (which itself draws
 * an actor and how many messages it handles), a piece of the first job of the crew, or something
 * of the network (sim_net.h). When nothing is runnable the clock jumps to the next time. Two runs
 * with one seed do the same, step by step, which env_sim_trace shows.
 *
 *     env_sim_create(seed, NULL, &env);
 *     node_create(env, &options, &node, &error); node_spawn(...); node_start(node);
 *     env_sim_run(env, finished, arg, 60 * ENV_SECOND_NS);   0, TR_ETIMEDOUT or TR_EEND (quiescent)
 *     node_stop(node, deadline); env_sim_run(env, NULL, NULL, limit); node_destroy(node);
 *
 * Thread rules: one thread.
 */
#ifndef RUNTIME_SIM_ENV_SIM_H
#define RUNTIME_SIM_ENV_SIM_H

#include "runtime/core/env.h"

#define ENV_SECOND_NS UINT64_C(1000000000)

struct node;

struct env_sim_options {
    uint32_t alloc_fail_ppm;    /* chance that an allocation of messages fails, per million */
    uint64_t turn_ns_max;       /* a turn takes 1 .. this much virtual time; 0: 2000 */
    uint64_t timer_late_ns_max; /* a timer fires up to this late; 0: 50 us */
    uint64_t steps_max;         /* a run longer than this does not end; 0: 100 million */
};

/* options NULL: all defaults, no failing allocation. */
int env_sim_create(uint64_t seed, const struct env_sim_options *options, struct env **env);

/* Runs until done(arg) is true (0), virtual time reached until_ns (TR_ETIMEDOUT), nothing can ever
 * happen again (TR_EEND: quiescent; with work open, a deadlock), or steps_max steps
 * (TR_ERANGE: a livelock). done may be NULL. */
int env_sim_run(struct env *env, bool (*done)(void *arg), void *arg, uint64_t until_ns);

/* After a run that ended with TR_EEND: nothing happens until then, when somebody outside acts. */
void env_sim_wait(struct env *env, uint64_t until_ns);

uint64_t env_sim_now_ns(const struct env *env);

/* Changes the chance of failing allocations from here on (0 to let a run end cleanly). */
void env_sim_set_alloc_fail(struct env *env, uint32_t ppm);

/* That loop of a node takes no turn before until_ns, as if its thread had been stopped. */
void env_sim_pause(struct env *env, const struct node *node, uint32_t loop, uint64_t until_ns);

/* The node's process dies at this instant: its connections break, its actors handle nothing more,
 * nothing it queued leaves. Its open calls complete with TR_ECANCELED so that memory is freed;
 * no one outside sees it. Destroy the node then; one with the same id and the next incarnation may
 * take its place. Between runs (env_sim_run), and where files matter after files_sim_kill. */
void env_sim_kill(struct env *env, struct node *node);

/* The node's process died just now, in the middle of a turn or a job: nothing that it sends from
 * here on leaves. env_sim_kill is to follow before the next step (done() of env_sim_run ends
 * it). */
void env_sim_cut(struct env *env, const struct node *node);

/* Somebody sets the wall clock forward or back. */
void env_sim_wall_jump(struct env *env, int64_t ms);

/* Breaks one drawn connection at a drawn byte; both ends learn of it a little later. False: there
 * is none. */
bool env_sim_net_reset(struct env *env);

/* Nothing gets from one node to another before until_ns; in order, nothing is lost. Connecting
 * takes a way in each direction. A time that is past frees the way. */
void env_sim_net_clog(struct env *env, uint32_t from, uint32_t to, uint64_t until_ns);

/* Connections to this node before until_ns are refused, as by a full backlog. One node at a
 * time. */
void env_sim_net_refuse(struct env *env, uint32_t node, uint64_t until_ns);

/* Chance, per million, that a bit of a chunk of bytes flips on its way. */
void env_sim_net_corrupt(struct env *env, uint32_t ppm);

/* The time that most chunks take on their way at most; 0: SIM_NET_DELAY_NS. */
void env_sim_net_delay(struct env *env, uint64_t delay_ns_max);

/* A hash of every delivery, timer and choice so far. */
uint64_t env_sim_trace(const struct env *env);

/* Steps so far. */
uint64_t env_sim_steps(const struct env *env);

#endif
