/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a simulated job: how many processes each strikes, and when it is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/env_sim.h"
#include "sim/fleet_faults.h"

#define PROCESSES 4u
#define DRAWS 400u
#define LASTS_NS ENV_SECOND_NS

static uint32_t kills[PROCESSES];

void __wrap_fleet_kill(struct fleet *fleet, uint32_t number);

void __wrap_fleet_kill(struct fleet *fleet, uint32_t number)
{
    assert_non_null(fleet->processes[number].node);
    kills[number]++;
}

/* The actor that fails, as the last strike named it. */
static const struct fleet_victim *victim;
static uint32_t hits;

int __wrap_node_spawn(struct node *node, const struct actor_options *options,
                      struct address *address);

int __wrap_node_spawn(struct node *node, const struct actor_options *options,
                      struct address *address)
{
    assert_non_null(node);
    (void)address;
    victim = options->arg;
    hits++;
    return 0;
}

/* A job of processes that only look as if they ran, but for the last, which is down. */
static struct fleet *open_fleet(void)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    assert_int_equal(env_sim_create(1, NULL, &fleet->env), 0);
    fleet->plan.plan.num_processes = PROCESSES;
    fleet->plan.num_strikes = 1;
    for (uint32_t p = 0; p + 1 < PROCESSES; p++)
        fleet->processes[p].node = (struct node *)(void *)fleet;
    return fleet;
}

static void close_fleet(struct fleet *fleet)
{
    env_destroy(fleet->env);
    free(fleet);
}

static void strike(struct fleet *fleet, enum fleet_fault fault, uint64_t draw)
{
    fleet->plan.strikes[0] = (struct fleet_strike){ .fault = fault,
                                                    .lasts_ns = LASTS_NS,
                                                    .draw = draw };
    fleet->next_strike = 0;
    fleet->strike_at_ns = UINT64_MAX;
    fleet_faults_tend(fleet);
    assert_int_equal(fleet->next_strike, 1);
}

/* One process is killed, each at times, or all that run; none that is down. */
static void a_kill_is_of_one_process_or_of_all(void **state)
{
    struct fleet *fleet = open_fleet();
    uint32_t of_one[PROCESSES] = { 0 }, of_all = 0, of_none = 0;
    (void)state;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        uint32_t killed = 0, last = 0;
        for (uint32_t p = 0; p < PROCESSES; p++)
            kills[p] = 0;
        strike(fleet, FLEET_KILL, draw);
        for (uint32_t p = 0; p < PROCESSES; p++)
            if (kills[p] > 0) {
                assert_int_equal(kills[p], 1);
                killed++;
                last = p;
            }
        assert_true(killed <= 1 || killed == PROCESSES - 1);
        of_all += killed == PROCESSES - 1;
        of_none += killed == 0;
        if (killed == 1)
            of_one[last]++;
    }
    assert_int_equal(fleet->tally.faults, DRAWS);
    assert_int_equal(of_one[PROCESSES - 1], 0);
    for (uint32_t p = 0; p + 1 < PROCESSES; p++)
        assert_in_range(of_one[p], DRAWS / 8, DRAWS / 3);
    assert_in_range(of_none, DRAWS / 8, DRAWS / 3); /* it was the one that is down */
    assert_in_range(of_all, DRAWS / 40, DRAWS / 5);
    close_fleet(fleet);
}

static uint32_t count_struck(const struct actor_faults *faults)
{
    uint32_t struck = 0;
    for (uint32_t i = 0; i < ACTOR_FAULTS_ACTORS; i++)
        for (uint32_t kind = 0; kind < ACTOR_FAULT_KINDS; kind++)
            struck += faults->actors[i].until_ns[kind] != 0;
    return struck;
}

/* Busy actors: of one process or of all, in which the same ones are struck, and no other role's. */
static void busy_actors_are_those_of_one_process_or_of_all(void **state)
{
    static const enum fleet_fault kinds[] = { FLEET_SERVERS, FLEET_CHECKPOINT_STORES,
                                              FLEET_REDUCERS };
    (void)state;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t of_one = 0, of_all = 0;
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            struct fleet *fleet = open_fleet();
            uint32_t processes = 0, actors = 0;
            strike(fleet, kinds[k], draw);
            for (uint32_t p = 0; p < PROCESSES; p++) {
                const struct process_faults *faults = &fleet->processes[p].faults;
                uint32_t struck[] = { count_struck(&faults->servers),
                                      count_struck(&faults->checkpoint_stores),
                                      count_struck(&faults->reducers) };
                assert_int_equal(struck[(k + 1) % 3] + struck[(k + 2) % 3], 0);
                if (struck[k] == 0)
                    continue;
                processes++;
                assert_true(actors == 0 || actors == struck[k]);
                actors = struck[k];
            }
            assert_true(processes == 1 || processes == PROCESSES);
            of_one += processes == 1;
            of_all += processes == PROCESSES;
            close_fleet(fleet);
        }
        assert_true(kinds[k] != FLEET_SERVERS || of_all == 0);
        if (kinds[k] != FLEET_SERVERS) {
            assert_in_range(of_one, DRAWS * 2 / 5, DRAWS * 3 / 5);
            assert_in_range(of_all, DRAWS * 2 / 5, DRAWS * 3 / 5);
        }
    }
}

/* Actors of every kind fail, each that a process may have, and the coordinator; none of a process
 * that is down. */
static void actors_of_every_kind_are_hit(void **state)
{
    static const char *const names[] = { "part/4",    "part/7",    "sampler/2", "sampler/3",
                                         "sampler/4", "proxy/5",   "proxy/6",   "proxy/7",
                                         "reducer/5", "reducer/6", "reducer/7", "coordinator" };
    enum { NAMES = sizeof names / sizeof *names };
    static const uint32_t parts[] = { 4, 7 };
    struct fleet *fleet = open_fleet();
    uint32_t seen[NAMES] = { 0 };
    (void)state;
    hits = 0;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        fleet->plan.processes[p].parts = parts;
        fleet->plan.processes[p].num_parts = 2;
        fleet->plan.processes[p].samplers.first = 2;
        fleet->plan.processes[p].trainers.first = 5;
    }
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        uint32_t before = hits, n = 0;
        strike(fleet, FLEET_ACTOR, draw);
        if (hits == before)
            continue;
        while (n < NAMES && strcmp(victim->name, names[n]) != 0)
            n++;
        if (n == NAMES)
            fail_msg("\"%s\" is hit", victim->name);
        seen[n]++;
    }
    assert_in_range(hits, DRAWS / 2, DRAWS - DRAWS / 8); /* the others were of the last process */
    for (uint32_t n = 0; n < NAMES; n++)
        assert_true(seen[n] > 0);
    close_fleet(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_is_of_one_process_or_of_all),
        cmocka_unit_test(busy_actors_are_those_of_one_process_or_of_all),
        cmocka_unit_test(actors_of_every_kind_are_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
