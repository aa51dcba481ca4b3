/* SPDX-License-Identifier: Apache-2.0 */
/* A plan names every server of a partition once, near ones first, and no trainer is without a
 * sampler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/cluster/plan.h"
#include "tests/schemas/random.h"

#define PROCESSES_MAX 24u
#define PARTS_MAX 12u

/* A plan whose processes play random parts; those of a host stand together. */
static void make_random(uint64_t *state, struct plan *plan)
{
    uint32_t processes = 1 + (uint32_t)random_below(state, PROCESSES_MAX);
    *plan = (struct plan){ .num_parts = 1 + (uint32_t)random_below(state, PARTS_MAX),
                           .num_processes = processes };
    plan->processes = calloc(processes, sizeof *plan->processes);
    plan->parts = calloc((size_t)processes * PARTS_MAX, sizeof *plan->parts);
    assert_non_null(plan->processes);
    assert_non_null(plan->parts);
    for (uint32_t p = 0; p < processes; p++) {
        struct plan_process *process = &plan->processes[p];
        uint32_t *parts = plan->parts + (size_t)p * PARTS_MAX;
        if (p == 0 || random_below(state, 3) == 0)
            plan->num_hosts++;
        process->host = plan->num_hosts - 1;
        for (uint32_t part = 0; part < plan->num_parts; part++)
            if (random_below(state, 3) == 0)
                parts[process->num_parts++] = part;
        process->parts = parts;
        process->samplers = (struct plan_range){ plan->samplers, (uint32_t)random_below(state, 4) };
        process->trainers = (struct plan_range){ plan->trainers, (uint32_t)random_below(state, 4) };
        plan->samplers += process->samplers.count;
        plan->trainers += process->trainers.count;
    }
}

static bool is_listed(const struct plan_process *process, uint32_t part)
{
    for (uint32_t i = 0; i < process->num_parts; i++)
        if (process->parts[i] == part)
            return true;
    return false;
}

static int distance(const struct plan *plan, uint32_t process, uint32_t near)
{
    if (process == near)
        return 0;
    return plan->processes[process].host == plan->processes[near].host ? 1 : 2;
}

static void check_part(const struct plan *plan, uint32_t part, uint32_t near)
{
    uint32_t nodes[PROCESSES_MAX], servers = 0;
    bool seen[PROCESSES_MAX] = { 0 };
    uint32_t count = plan_part_nodes(plan, part, near, nodes, PROCESSES_MAX);
    for (uint32_t p = 0; p < plan->num_processes; p++)
        servers += is_listed(&plan->processes[p], part);
    assert_int_equal(count, servers);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(nodes[i] < plan->num_processes && !seen[nodes[i]]);
        assert_true(is_listed(&plan->processes[nodes[i]], part));
        seen[nodes[i]] = true;
        if (i > 0)
            assert_true(distance(plan, nodes[i - 1], near) <= distance(plan, nodes[i], near));
    }
}

static void servers_of_a_partition_are_listed_once_near_ones_first(void **unused)
{
    uint64_t state = 1;
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct plan plan;
        make_random(&state, &plan);
        for (uint32_t part = 0; part < plan.num_parts; part++)
            for (uint32_t near = 0; near < plan.num_processes; near++)
                check_part(&plan, part, near);
        plan_fini(&plan);
    }
}

static void a_short_list_is_the_beginning_of_the_long_one(void **unused)
{
    uint64_t state = 2;
    (void)unused;
    for (int round = 0; round < 100; round++) {
        struct plan plan;
        uint32_t all[PROCESSES_MAX], few[3] = { UINT32_MAX, UINT32_MAX, UINT32_MAX };
        make_random(&state, &plan);
        uint32_t near = (uint32_t)random_below(&state, plan.num_processes);
        uint32_t count = plan_part_nodes(&plan, 0, near, all, PROCESSES_MAX);
        assert_int_equal(plan_part_nodes(&plan, 0, near, few, 2), count);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(few[i], i < 2 && i < count ? all[i] : UINT32_MAX);
        plan_fini(&plan);
    }
}

/* Eight hosts of which two serve the one partition, each with two processes. */
static void those_far_away_share_out_the_replicas(void **unused)
{
    static const uint32_t part = 0;
    struct plan_process processes[10] = { { 0 } };
    struct plan plan = {
        .num_parts = 1, .num_processes = 10, .num_hosts = 8, .processes = processes
    };
    uint32_t first[10] = { 0 };
    (void)unused;
    for (uint32_t p = 0; p < 10; p++) {
        processes[p].host = p < 4 ? p / 2 : p - 2;
        if (p < 4) {
            processes[p].parts = &part;
            processes[p].num_parts = 1;
        }
    }
    for (uint32_t near = 4; near < 10; near++) {
        uint32_t nodes[4];
        assert_int_equal(plan_part_nodes(&plan, 0, near, nodes, 4), 4);
        first[nodes[0]]++;
    }
    for (uint32_t p = 0; p < 4; p++)
        assert_in_range(first[p], 1, 2);
}

static void each_sampler_and_trainer_lives_where_its_process_says(void **unused)
{
    uint64_t state = 3;
    (void)unused;
    for (int round = 0; round < 200; round++) {
        struct plan plan;
        make_random(&state, &plan);
        for (uint32_t p = 0; p < plan.num_processes; p++) {
            const struct plan_process *process = &plan.processes[p];
            for (uint32_t i = 0; i < process->samplers.count; i++)
                assert_int_equal(plan_sampler_node(&plan, process->samplers.first + i), p);
            for (uint32_t i = 0; i < process->trainers.count; i++)
                assert_int_equal(plan_trainer_node(&plan, process->trainers.first + i), p);
        }
        plan_fini(&plan);
    }
}

static uint32_t samplers_on(const struct plan *plan, uint32_t host)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < plan->num_processes; p++)
        if (plan->processes[p].host == host)
            count += plan->processes[p].samplers.count;
    return count;
}

static void trainers_take_the_nearest_samplers_that_there_are(void **unused)
{
    uint64_t state = 4;
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct plan plan;
        make_random(&state, &plan);
        for (uint32_t rank = 0; rank < plan.trainers; rank++) {
            const struct plan_process *home = &plan.processes[plan_trainer_node(&plan, rank)];
            struct plan_range range = plan_trainer_samplers(&plan, rank);
            assert_true(range.first + range.count <= plan.samplers);
            assert_true(range.count > 0 || plan.samplers == 0);
            for (uint32_t i = 0; i < range.count; i++) {
                uint32_t at = plan_sampler_node(&plan, range.first + i);
                if (home->samplers.count > 0)
                    assert_ptr_equal(&plan.processes[at], home);
                else if (samplers_on(&plan, home->host) > 0)
                    assert_int_equal(plan.processes[at].host, home->host);
            }
        }
        plan_fini(&plan);
    }
}

/* Whoever shares samplers, none of them idles and none has more than the others but one. */
static void samplers_are_shared_out_evenly(void **unused)
{
    (void)unused;
    for (uint32_t samplers = 1; samplers < 10; samplers++) {
        for (uint32_t trainers = 1; trainers < 10; trainers++) {
            struct plan plan;
            uint32_t users[10] = { 0 };
            assert_int_equal(plan_init_single(&plan, 1, 0, samplers, trainers, 1), 0);
            for (uint32_t rank = 0; rank < trainers; rank++) {
                struct plan_range range = plan_trainer_samplers(&plan, rank);
                for (uint32_t i = 0; i < range.count; i++)
                    users[range.first + i]++;
            }
            uint32_t least = samplers < trainers ? trainers / samplers : 1;
            uint32_t most = samplers < trainers ? (trainers + samplers - 1) / samplers : 1;
            for (uint32_t s = 0; s < samplers; s++)
                assert_in_range(users[s], least, most);
            plan_fini(&plan);
        }
    }
}

static void one_process_plays_everything(void **unused)
{
    struct plan plan;
    uint32_t node;
    (void)unused;
    assert_int_equal(plan_init_single(&plan, 7, 0, 2, 3, 5), 0);
    assert_int_equal(plan.num_processes, 1);
    assert_int_equal(plan.num_hosts, 1);
    assert_int_equal(plan.coordinator, 0);
    assert_int_equal(plan.processes[0].servers, 7);
    assert_int_equal(plan.processes[0].loops, 5);
    for (uint32_t part = 0; part < 7; part++) {
        assert_int_equal(plan_part_nodes(&plan, part, 0, &node, 1), 1);
        assert_int_equal(node, 0);
    }
    plan_fini(&plan);
    assert_int_equal(plan_init_single(&plan, 7, 3, 0, 1, 0), 0);
    assert_int_equal(plan.processes[0].servers, 3);
    assert_int_equal(plan_trainer_samplers(&plan, 0).count, 0);
    plan_fini(&plan);
    plan_fini(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_of_a_partition_are_listed_once_near_ones_first),
        cmocka_unit_test(a_short_list_is_the_beginning_of_the_long_one),
        cmocka_unit_test(those_far_away_share_out_the_replicas),
        cmocka_unit_test(each_sampler_and_trainer_lives_where_its_process_says),
        cmocka_unit_test(trainers_take_the_nearest_samplers_that_there_are),
        cmocka_unit_test(samplers_are_shared_out_evenly),
        cmocka_unit_test(one_process_plays_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
