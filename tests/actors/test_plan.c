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

/* However samplers are shared, none of them idles and none has more than the others but one. */
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

/* Three hosts of 1, 2 and 3 processes; parts are ascending. */
struct small {
    struct plan plan;
    struct plan_process processes[6];
    uint32_t parts[6][2];
};

static void make_small(struct small *small)
{
    static const uint32_t hosts[6] = { 0, 1, 1, 2, 2, 2 };
    *small = (struct small){ .plan = { .num_parts = 5,
                                       .num_processes = 6,
                                       .num_hosts = 3,
                                       .samplers = 6,
                                       .trainers = 6,
                                       .coordinator = 2 } };
    small->plan.processes = small->processes;
    for (uint32_t p = 0; p < 6; p++) {
        small->parts[p][0] = p % 3;
        small->parts[p][1] = p % 3 + 2;
        small->processes[p] = (struct plan_process){ .host = hosts[p],
                                                     .servers = 2,
                                                     .parts = small->parts[p],
                                                     .num_parts = 2,
                                                     .samplers = { p, 1 },
                                                     .trainers = { p, 1 } };
    }
}

/* Processes whose plans differ in anything must not take each other's word. */
static void plans_that_differ_have_other_marks(void **unused)
{
    struct small small;
    uint64_t marks[200];
    uint32_t count = 0;
    (void)unused;
    make_small(&small);
    plan_mark(&small.plan, 77);
    assert_int_equal(small.plan.marks.graph, 77);
    marks[count++] = small.plan.marks.plan;
    plan_mark(&small.plan, 78);
    assert_int_equal(small.plan.marks.plan, marks[0]); /* the graph has its own */
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        uint32_t *const fields[] = { &small.plan.num_parts,
                                     &small.plan.coordinator,
                                     &small.processes[0].host,
                                     &small.processes[5].host,
                                     &small.processes[0].servers,
                                     &small.processes[5].servers,
                                     &small.parts[0][0],
                                     &small.parts[5][1],
                                     &small.processes[0].samplers.first,
                                     &small.processes[5].samplers.count,
                                     &small.processes[0].trainers.first,
                                     &small.processes[5].trainers.count };
        for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            *fields[i] ^= UINT32_C(1) << shift;
            plan_mark(&small.plan, 77);
            *fields[i] ^= UINT32_C(1) << shift;
            marks[count++] = small.plan.marks.plan;
        }
    }
    for (uint32_t fewer = 0; fewer < 2; fewer++) {
        struct small other;
        make_small(&other);
        other.plan.num_processes -= fewer;
        other.processes[5].num_parts -= 1 - fewer;
        plan_mark(&other.plan, 77);
        marks[count++] = other.plan.marks.plan;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_true(marks[i] != marks[j]);
    make_small(&small); /* the same plan has the same mark, wherever it lies */
    plan_mark(&small.plan, 77);
    assert_true(small.plan.marks.plan == marks[0]);
}

static void a_host_keeps_for_itself_and_the_next_one_for_it(void **unused)
{
    static const uint32_t first[3] = { 0, 1, 3 };
    struct small small;
    (void)unused;
    make_small(&small);
    for (uint32_t host = 0; host < 3; host++) {
        assert_int_equal(plan_host_node(&small.plan, host), first[host]);
        assert_int_equal(plan_second_node(&small.plan, host), first[(host + 1) % 3]);
    }
    assert_int_equal(plan_host_node(&small.plan, 3), PLAN_NO_NODE);
    for (uint32_t p = 1; p < 3; p++)
        small.processes[p].host = 0; /* a host without processes is passed over */
    assert_int_equal(plan_second_node(&small.plan, 0), 3);
    assert_int_equal(plan_second_node(&small.plan, 2), 0);
    small.plan.num_hosts = 1;
    assert_int_equal(plan_second_node(&small.plan, 0), PLAN_NO_NODE);
    assert_int_equal(plan_second_node(NULL, 0), PLAN_NO_NODE);
}

/* Trainers without samplers of their own share those of their host, or all, evenly and in order. */
static void trainers_of_a_host_share_its_samplers_evenly(void **unused)
{
    (void)unused;
    for (uint32_t samplers = 1; samplers <= 7; samplers++)
        for (uint32_t trainers = 1; trainers <= 7; trainers++)
            for (uint32_t apart = 0; apart < 2; apart++) {
                /* Two on host 0 and as many on host 1, or all samplers on host 0. */
                struct plan_process processes[32] = { { 0 } };
                struct plan plan = { .num_hosts = 2, .processes = processes };
                uint32_t users[16] = { 0 };
                for (uint32_t host = 0; host < 2; host++) {
                    for (uint32_t s = 0; s < samplers && (!apart || host == 0); s++)
                        processes[plan.num_processes++] = (struct plan_process){
                            .host = host, .samplers = { plan.samplers++, 1 }
                        };
                    for (uint32_t t = 0; t < trainers && (!apart || host == 1); t++)
                        processes[plan.num_processes++] = (struct plan_process){
                            .host = host, .trainers = { plan.trainers++, 1 }
                        };
                }
                for (uint32_t rank = 0; rank < plan.trainers; rank++) {
                    struct plan_range range = plan_trainer_samplers(&plan, rank);
                    assert_true(range.count > 0 && range.first + range.count <= plan.samplers);
                    if (!apart)
                        assert_int_equal(range.first / samplers, rank / trainers);
                    for (uint32_t i = 0; i < range.count; i++)
                        users[range.first + i]++;
                }
                uint32_t least = samplers < trainers ? trainers / samplers : 1;
                uint32_t most = samplers < trainers ? (trainers + samplers - 1) / samplers : 1;
                for (uint32_t s = 0; s < plan.samplers; s++)
                    assert_in_range(users[s], least, most);
            }
}

/* Those that ask from one host begin with different replicas, and so does one for each
 * partition. */
static void neighbours_and_partitions_begin_with_other_replicas(void **unused)
{
    static const uint32_t all[3] = { 0, 1, 2 };
    struct plan_process processes[9] = { { 0 } };
    struct plan plan = {
        .num_parts = 3, .num_processes = 9, .num_hosts = 3, .processes = processes
    };
    (void)unused;
    for (uint32_t p = 0; p < 9; p++) {
        processes[p].host = p / 3;
        processes[p].parts = all;
        processes[p].num_parts = p < 3 ? 3 : 0;
    }
    for (uint32_t host = 1; host < 3; host++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t of_process = 0, of_part = 0, nodes[3];
            for (uint32_t i = 0; i < 3; i++) {
                assert_int_equal(plan_part_nodes(&plan, k, 3 * host + i, nodes, 3), 3);
                of_process |= 1u << nodes[0];
                assert_int_equal(plan_part_nodes(&plan, i, 3 * host + k, nodes, 3), 3);
                of_part |= 1u << nodes[0];
                assert_int_equal(nodes[1], (nodes[0] + 1) % 3);
                assert_int_equal(nodes[2], (nodes[0] + 2) % 3);
            }
            assert_int_equal(of_process, 7);
            assert_int_equal(of_part, 7);
        }
    for (uint32_t p = 3; p < 6; p++) { /* the host's own replicas, by its other processes too */
        uint32_t nodes[6], seen = 0;
        for (uint32_t q = 3; q < 6; q++)
            processes[q].num_parts = q == p ? 0 : 3;
        assert_int_equal(plan_part_nodes(&plan, 0, p, nodes, 6), 5);
        for (uint32_t i = 0; i < 2; i++)
            seen |= 1u << nodes[i];
        assert_int_equal(seen, 0x38 & ~(1u << p));
    }
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
        cmocka_unit_test(plans_that_differ_have_other_marks),
        cmocka_unit_test(a_host_keeps_for_itself_and_the_next_one_for_it),
        cmocka_unit_test(trainers_of_a_host_share_its_samplers_evenly),
        cmocka_unit_test(neighbours_and_partitions_begin_with_other_replicas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
