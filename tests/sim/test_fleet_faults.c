/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a simulated job: how many processes and disks each strikes, and when it is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/atomic_dir.h"
#include "runtime/sim/env_sim.h"
#include "sim/fleet_faults.h"

#define PROCESSES 4u
#define HOSTS 2u
#define DRAWS 400u
#define LASTS_NS ENV_SECOND_NS

static uint32_t kills[PROCESSES];

void __wrap_fleet_kill(struct fleet *fleet, uint32_t number);

void __wrap_fleet_kill(struct fleet *fleet, uint32_t number)
{
    assert_non_null(fleet->processes[number].node);
    kills[number]++;
    if (fleet->plan.own_disks)
        fleet->processes[number].node = NULL;
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

/* A job on hosts of two processes each, all of which only look as if they ran. */
static struct fleet *open_hosts(void)
{
    struct fleet *fleet = open_fleet();
    fleet->plan.own_disks = true;
    fleet->plan.plan.num_hosts = HOSTS;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        fleet->plan.processes[p].host = p / 2;
        fleet->processes[p].node = (struct node *)(void *)fleet;
    }
    fleet_disks_init(fleet);
    return fleet;
}

static void close_hosts(struct fleet *fleet)
{
    fleet_disks_fini(fleet);
    close_fleet(fleet);
}

/* True: a file can be made on the disk of that host, and is synced. */
static bool takes_a_file(struct fleet *fleet, uint32_t host)
{
    struct files *files = fleet->disks.items[host].looks;
    struct file file = { 0 };
    int rv = file_create(&file, files, "file", NULL);
    if (rv == 0)
        rv = file_append(&file, fleet, 4096, NULL);
    /* Half of the syncs fail: so many do not all succeed. */
    for (uint32_t i = 0; i < 64 && rv == 0; i++)
        rv = file_sync(&file, NULL);
    file_close(&file);
    (void)files->unlink(files, "file");
    return rv == 0;
}

/* A disk fails alone or with all others, and is well again when that is over. */
static void a_disk_fails_alone_or_with_all(void **state)
{
    static const enum fleet_fault kinds[] = { FLEET_DISK_FULL, FLEET_SYNC_FAIL };
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t of_one[HOSTS] = { 0 }, of_all = 0;
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            struct fleet *fleet = open_hosts();
            uint64_t begin_ns = env_sim_now_ns(fleet->env);
            strike(fleet, kinds[k], draw);
            uint32_t struck = 0, last = 0;
            for (uint32_t host = 0; host < HOSTS; host++) {
                bool disturbed = fleet->disks.items[host].disturbed;
                /* A disk that is full may still have room for one file. */
                assert_true(disturbed || takes_a_file(fleet, host));
                assert_true(!disturbed || kinds[k] == FLEET_DISK_FULL ||
                            !takes_a_file(fleet, host));
                struck += disturbed;
                last = disturbed ? host : last;
            }
            assert_in_range(struck, 1, HOSTS);
            of_all += struck == HOSTS;
            of_one[last] += struck == 1;
            assert_int_equal(fleet_faults_next_ns(fleet), begin_ns + LASTS_NS);
            fleet_faults_end(fleet);
            assert_true(fleet_faults_next_ns(fleet) == UINT64_MAX);
            assert_true(takes_a_file(fleet, 0) && takes_a_file(fleet, 1));
            close_hosts(fleet);
        }
        assert_in_range(of_all, DRAWS / 5, DRAWS * 2 / 5);
        for (uint32_t host = 0; host < HOSTS; host++)
            assert_in_range(of_one[host], DRAWS / 5, DRAWS / 2);
    }
}

/* All processes of one host die, no others, and its disk is replaced where what was committed is
 * not lost by that. */
static void a_host_dies_with_its_processes(void **state)
{
    uint32_t replaced = 0;
    (void)state;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        struct fleet *fleet = open_hosts();
        fleet->complete = draw % 4 == 0;
        for (uint32_t p = 0; p < PROCESSES; p++)
            kills[p] = 0;
        assert_int_equal(files_write_atomic(fleet->disks.items[0].looks, "there", "", 0, NULL), 0);
        assert_int_equal(files_write_atomic(fleet->disks.items[1].looks, "there", "", 0, NULL), 0);
        strike(fleet, FLEET_HOST, draw);
        uint32_t host = kills[0] > 0 ? 0 : 1;
        for (uint32_t p = 0; p < PROCESSES; p++)
            assert_int_equal(kills[p], p / 2 == host);
        bool gone = !files_exists(fleet->disks.items[host].looks, "there");
        assert_true(files_exists(fleet->disks.items[1 - host].looks, "there"));
        assert_int_equal(fleet->disks.replaced, gone);
        assert_false(gone && fleet->complete);
        /* Not twice before another checkpoint is on two hosts. */
        assert_int_equal(fleet_disks_may_be_replaced(fleet), !gone && !fleet->complete);
        fleet->committed++;
        assert_int_equal(fleet_disks_may_be_replaced(fleet), !fleet->complete);
        replaced += gone;
        close_hosts(fleet);
    }
    assert_in_range(replaced, DRAWS * 2 / 5, DRAWS * 3 / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_is_of_one_process_or_of_all),
        cmocka_unit_test(busy_actors_are_those_of_one_process_or_of_all),
        cmocka_unit_test(actors_of_every_kind_are_hit),
        cmocka_unit_test(a_disk_fails_alone_or_with_all),
        cmocka_unit_test(a_host_dies_with_its_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
