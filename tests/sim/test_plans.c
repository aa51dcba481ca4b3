/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choices of a seed stay what they were: seeds that once failed are remembered by their numbers
 * (tests/sim/seeds.txt), and mean nothing any more when other runs come of them. After a change of
 * the draws on purpose those seeds' failures are found again, new seeds are written down, and then
 * the new hashes here.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fleet_plan.h"
#include "sim/scenario.h"

#define SEEDS 200u
#define SCENARIOS_HASH UINT64_C(0xc343cb0ca43f5337)
#define FLEETS_HASH UINT64_C(0xcc77777a353514b4)

/* FNV-1a, of the bytes of numbers. */
static void add(uint64_t *hash, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        *hash = (*hash ^ (number >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
}

static void add_text(uint64_t *hash, const char *text)
{
    for (; *text != '\0'; text++)
        add(hash, (unsigned char)*text);
}

static void add_loader(uint64_t *hash, const struct wanted_loader *loader, uint32_t num_etypes)
{
    const struct msg_loader_open *open = &loader->open;
    add(hash, open->seed);
    add(hash, open->num_seeds);
    add(hash, open->ntype);
    add(hash, open->batch_size);
    add(hash, open->world);
    add(hash, open->rank);
    add(hash, open->flags);
    add(hash, open->features);
    add(hash, open->labels);
    add(hash, open->prefetch);
    for (uint64_t i = 0; i < open->num_seeds; i++)
        add(hash, loader->seeds[i]);
    for (uint32_t l = 0; l < loader->spec.num_layers; l++)
        for (uint32_t e = 0; e < num_etypes; e++)
            add(hash, (uint64_t)sample_spec_term(&loader->spec, l, e)->fanout);
}

static void add_graph(uint64_t *hash, const struct sim_graph *raw)
{
    add(hash, raw->types.num_ntypes);
    add(hash, raw->types.num_etypes);
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++) {
        add(hash, raw->num_nodes[t]);
        for (uint32_t i = 0; i < raw->num_nodes[t]; i++)
            add(hash, raw->in_degrees[t][i]);
    }
    for (uint32_t e = 0; e < raw->types.num_etypes; e++) {
        add(hash, raw->types.etypes[e].src);
        add(hash, raw->types.etypes[e].dst);
        add(hash, raw->edges[e].count);
    }
}

static void add_client(uint64_t *hash, const struct client_plan *client)
{
    add(hash, client->loop);
    add(hash, client->epochs);
    add(hash, client->hold);
    add(hash, client->keep);
    add(hash, client->look_ns);
    add(hash, client->think_ns);
    add(hash, client->disturbances);
    add(hash, client->disturbance_percent);
    add(hash, client->quit_after);
}

static void add_scenario(uint64_t *hash, const struct scenario *s)
{
    add_graph(hash, &s->raw);
    const uint64_t numbers[] = { s->parts,
                                 s->servers,
                                 s->samplers,
                                 s->loops,
                                 s->checkers,
                                 s->clients,
                                 s->direct,
                                 s->codec,
                                 s->batch_bytes_max,
                                 s->mailbox_bytes_max,
                                 s->message_bytes_max,
                                 s->reply_bytes_max,
                                 s->call_ns,
                                 s->slice_edges,
                                 s->stop_at_ns,
                                 s->faults.faults,
                                 s->faults.count,
                                 s->faults.gap_ns,
                                 s->faults.pause_ns,
                                 s->faults.memory_ppm,
                                 s->server_faults.count,
                                 s->server_faults.gap_ns,
                                 s->server_faults.lasts_ns,
                                 s->env.turn_ns_max,
                                 s->env.timer_late_ns_max };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add(hash, numbers[i]);
    for (uint32_t c = 0; c < s->clients; c++) {
        add_loader(hash, &s->client[c].loader, s->raw.types.num_etypes);
        add_client(hash, &s->client[c]);
    }
}

static void scenarios_stay_what_they_were(void **state)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct scenario scenario;
        char *text = NULL;
        size_t size;
        scenario_init(&scenario, seed);
        add_scenario(&hash, &scenario);
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        scenario_print(&scenario, out);
        fclose(out);
        add_text(&hash, text);
        free(text);
        scenario_fini(&scenario);
    }
    if (hash != SCENARIOS_HASH)
        fail_msg("the draws of scenarios have changed: %#" PRIx64, hash);
}

static void add_fleet(uint64_t *hash, const struct fleet_plan *f)
{
    add_graph(hash, &f->raw);
    add_loader(hash, &f->loader, f->raw.types.num_etypes);
    const uint64_t numbers[] = { f->plan.num_hosts,
                                 f->direct,
                                 f->flat,
                                 f->codec,
                                 f->tcp,
                                 f->evaluates,
                                 f->watches,
                                 f->heartbeat_ns,
                                 f->dead_ns,
                                 f->window_bytes,
                                 f->reply_bytes_max,
                                 f->replies_bytes_max,
                                 f->call_ns,
                                 f->slice_edges,
                                 f->short_ppm,
                                 f->net_delay_ns,
                                 f->think_ns,
                                 f->group_ns,
                                 f->messages,
                                 f->limit_ns,
                                 f->env.turn_ns_max,
                                 f->env.timer_late_ns_max };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add(hash, numbers[i]);
    for (uint32_t i = 0; i < f->num_strikes; i++) {
        add(hash, f->strikes[i].draw);
        add(hash, f->strikes[i].lasts_ns);
        add(hash, f->strikes[i].after_ns);
    }
    for (uint32_t p = 0; p < f->plan.num_processes; p++) {
        const struct plan_process *process = &f->processes[p];
        add(hash, process->servers);
        add(hash, process->samplers.first);
        add(hash, process->trainers.first);
        for (uint32_t i = 0; i < process->num_parts; i++)
            add(hash, process->parts[i]);
    }
}

/* Fleets of all three ranges of seeds, each with faults that the one below has not. */
static void fleets_stay_what_they_were(void **state)
{
    static const uint64_t FROM[] = { 0, FLEET_FAILPOINTS_FROM, FLEET_BUSY_FROM };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++) {
        struct fleet_plan fleet;
        char *text = NULL;
        size_t size;
        fleet_plan_init(&fleet, FROM[i % 3] + i, NULL);
        add_fleet(&hash, &fleet);
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        fleet_plan_print(&fleet, out);
        fclose(out);
        add_text(&hash, text);
        free(text);
        fleet_plan_fini(&fleet);
    }
    if (hash != FLEETS_HASH)
        fail_msg("the draws of fleets have changed: %#" PRIx64, hash);
}

/* As each range says: a process dies at a point only where that is drawn, or asked for. */
static void fail_points_are_drawn_from_a_seed_on(void **state)
{
    static const struct sim_failpoints asked = { .count = 1, .points = { FAILPOINT_RUN_REWOUND } };
    uint32_t drawn = 0;
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++) {
        struct fleet_plan fleet;
        fleet_plan_init(&fleet, FLEET_FAILPOINTS_FROM - 1 - i, NULL);
        assert_int_equal(fleet.num_failpoints, 0);
        fleet_plan_fini(&fleet);
        fleet_plan_init(&fleet, FLEET_FAILPOINTS_FROM + i, NULL);
        assert_in_range(fleet.num_failpoints, 0, FLEET_FAILPOINTS_MAX);
        drawn += fleet.num_failpoints;
        for (uint32_t k = 0; k < fleet.num_failpoints; k++) {
            assert_in_range(fleet.failpoints[k].point, 0, FAILPOINTS_COUNT - 1);
            assert_true(fleet.failpoints[k].nth > 0);
        }
        fleet_plan_fini(&fleet);
        fleet_plan_init(&fleet, FLEET_FAILPOINTS_FROM + i, &asked);
        assert_int_equal(fleet.num_failpoints, 1);
        assert_int_equal(fleet.failpoints[0].point, FAILPOINT_RUN_REWOUND);
        fleet_plan_fini(&fleet);
    }
    assert_true(drawn > SEEDS / 2);
}

static uint32_t count_host_faults(const struct fleet_plan *fleet)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fleet->num_strikes; i++)
        count += fleet->strikes[i].fault == FLEET_HOST;
    return count;
}

/* Only hosts have disks of their own, in most clusters that have several; there whole hosts die, and
 * a part of a checkpoint fits into one message. */
static void disks_are_drawn_from_a_seed_on(void **state)
{
    uint32_t several = 0, own = 0, faults = 0;
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++) {
        struct fleet_plan fleet;
        fleet_plan_init(&fleet, FLEET_DISKS_FROM - 1 - i, NULL);
        assert_false(fleet.own_disks);
        assert_int_equal(count_host_faults(&fleet), 0);
        fleet_plan_fini(&fleet);
        fleet_plan_init(&fleet, FLEET_DISKS_FROM + i, NULL);
        assert_false(fleet.own_disks && fleet.plan.num_hosts == 1);
        assert_in_range(count_host_faults(&fleet), 0, FLEET_HOST_FAULTS_MAX);
        assert_true(fleet.window_bytes / 2 > fleet.values * sizeof(float));
        several += fleet.plan.num_hosts > 1;
        own += fleet.own_disks;
        faults += count_host_faults(&fleet);
        fleet_plan_fini(&fleet);
    }
    assert_in_range(own, several / 2, several - 1);
    assert_true(faults > SEEDS / 2);
}

/* Groups are shut beside calls that are interrupted, and more rarely. */
static void withdrawals_are_drawn_from_a_seed_on(void **state)
{
    uint32_t interrupted = 0, shut = 0;
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++) {
        struct fleet_plan fleet;
        fleet_plan_init(&fleet, FLEET_WITHDRAWALS_FROM - 1 - i, NULL);
        assert_int_equal(fleet.interrupts + fleet.shuts, 0);
        fleet_plan_fini(&fleet);
        fleet_plan_init(&fleet, FLEET_WITHDRAWALS_FROM + i, NULL);
        assert_in_range(fleet.interrupts, 0, FLEET_INTERRUPTS_MAX);
        assert_in_range(fleet.shuts, 0, fleet.interrupts > 0 ? FLEET_SHUTS_MAX : 0);
        assert_false(fleet.interrupts > 0 && fleet_plan_is_of_disks(&fleet));
        interrupted += fleet.interrupts > 0;
        shut += fleet.shuts > 0;
        fleet_plan_fini(&fleet);
    }
    assert_in_range(interrupted, SEEDS / 3, SEEDS - SEEDS / 4);
    assert_in_range(shut, SEEDS / 8, interrupted - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenarios_stay_what_they_were),
        cmocka_unit_test(fleets_stay_what_they_were),
        cmocka_unit_test(fail_points_are_drawn_from_a_seed_on),
        cmocka_unit_test(disks_are_drawn_from_a_seed_on),
        cmocka_unit_test(withdrawals_are_drawn_from_a_seed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
