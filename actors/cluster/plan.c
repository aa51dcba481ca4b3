/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/cluster/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int plan_init_single(struct plan *plan, uint32_t num_parts, uint32_t servers, uint32_t samplers,
                     uint32_t trainers, uint32_t loops)
{
    *plan = (struct plan){ .num_parts = num_parts,
                           .num_processes = 1,
                           .num_hosts = 1,
                           .samplers = samplers,
                           .trainers = trainers };
    plan->processes = calloc(1, sizeof *plan->processes);
    plan->parts = calloc((size_t)num_parts + 1, sizeof *plan->parts);
    if (plan->processes == NULL || plan->parts == NULL) {
        plan_fini(plan);
        return TR_ENOMEM;
    }
    for (uint32_t p = 0; p < num_parts; p++)
        plan->parts[p] = p;
    plan->processes[0] = (struct plan_process){
        .loops = loops,
        .servers = servers != 0 ? servers : num_parts,
        .parts = plan->parts,
        .num_parts = num_parts,
        .samplers = { 0, samplers },
        .trainers = { 0, trainers },
    };
    return 0;
}

void plan_fini(struct plan *plan)
{
    free(plan->processes);
    free(plan->parts);
    *plan = (struct plan){ 0 };
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t plan_mix(uint64_t hash, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++)
        hash = (hash ^ (value >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

void plan_mark(struct plan *plan, uint64_t graph_hash)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = plan_mix(plan_mix(plan_mix(hash, plan->num_parts), plan->num_processes),
                    plan->coordinator);
    for (uint32_t p = 0; p < plan->num_processes; p++) {
        const struct plan_process *plays = &plan->processes[p];
        hash = plan_mix(plan_mix(plan_mix(hash, plays->host), plays->servers), plays->num_parts);
        for (uint32_t i = 0; i < plays->num_parts; i++)
            hash = plan_mix(hash, plays->parts[i]);
        hash = plan_mix(plan_mix(hash, plays->samplers.first), plays->samplers.count);
        hash = plan_mix(plan_mix(hash, plays->trainers.first), plays->trainers.count);
    }
    plan->marks = (struct plan_marks){ hash, graph_hash };
}

static bool plan_serves(const struct plan_process *process, uint32_t part)
{
    uint32_t low = 0, high = process->num_parts;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (process->parts[middle] < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low < process->num_parts && process->parts[low] == part;
}

/* Which of those that ask a process is, among the processes of its own host: its neighbours begin
 * with another replica than it does. */
static uint32_t place_on_host(const struct plan *plan, uint32_t process)
{
    uint32_t place = 0;
    for (uint32_t p = 0; p < process; p++)
        place += plan->processes[p].host == plan->processes[process].host;
    return place;
}

enum nearness { NEAR_SELF, NEAR_HOST, NEAR_NOT, NEAR_CLASSES };

static enum nearness nearness_of(const struct plan *plan, uint32_t process, uint32_t near)
{
    if (process == near)
        return NEAR_SELF;
    return plan->processes[process].host == plan->processes[near].host ? NEAR_HOST : NEAR_NOT;
}

static uint32_t count_near(const struct plan *plan, uint32_t part, uint32_t near,
                           enum nearness nearness)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < plan->num_processes; p++)
        count += nearness_of(plan, p, near) == nearness && plan_serves(&plan->processes[p], part);
    return count;
}

/* Puts the servers of one nearness at [first, first + count), turned by `turn`. */
static void put_near(const struct plan *plan, uint32_t part, uint32_t near, enum nearness nearness,
                     uint32_t first, uint32_t count, uint32_t turn, uint32_t *nodes, uint32_t most)
{
    uint32_t at = 0;
    for (uint32_t p = 0; p < plan->num_processes; p++) {
        if (nearness_of(plan, p, near) != nearness || !plan_serves(&plan->processes[p], part))
            continue;
        uint32_t to = first + (at++ + count - turn % count) % count;
        if (to < most)
            nodes[to] = p;
    }
}

uint32_t plan_part_nodes(const struct plan *plan, uint32_t part, uint32_t near, uint32_t *nodes,
                         uint32_t most)
{
    assert(part < plan->num_parts && near < plan->num_processes);
    uint32_t place = place_on_host(plan, near), turns[NEAR_CLASSES] = {
        [NEAR_HOST] = place,
        /* Hosts and the processes of each begin with different replicas, partitions too. */
        [NEAR_NOT] = plan->processes[near].host + place + part,
    };
    uint32_t first = 0;
    for (enum nearness n = NEAR_SELF; n < NEAR_CLASSES; n++) {
        uint32_t count = count_near(plan, part, near, n);
        if (count > 0)
            put_near(plan, part, near, n, first, count, turns[n], nodes, most);
        first += count;
    }
    return first;
}

uint32_t plan_part_owner(const struct plan *plan, uint32_t part)
{
    for (uint32_t p = 0; p < plan->num_processes; p++)
        if (plan_serves(&plan->processes[p], part) && plan->processes[p].servers > 0)
            return p;
    return PLAN_NO_NODE;
}

static bool is_in(struct plan_range range, uint32_t number)
{
    return number - range.first < range.count;
}

uint32_t plan_sampler_node(const struct plan *plan, uint32_t sampler)
{
    assert(sampler < plan->samplers);
    uint32_t p = 0;
    while (!is_in(plan->processes[p].samplers, sampler)) {
        p++;
        assert(p < plan->num_processes);
    }
    return p;
}

uint32_t plan_trainer_node(const struct plan *plan, uint32_t rank)
{
    assert(rank < plan->trainers);
    uint32_t p = 0;
    while (!is_in(plan->processes[p].trainers, rank)) {
        p++;
        assert(p < plan->num_processes);
    }
    return p;
}

uint32_t plan_host_node(const struct plan *plan, uint32_t host)
{
    for (uint32_t p = 0; p < plan->num_processes; p++)
        if (plan->processes[p].host == host)
            return p;
    return PLAN_NO_NODE;
}

uint32_t plan_second_node(const struct plan *plan, uint32_t host)
{
    uint32_t hosts = plan == NULL ? 1 : plan->num_hosts, node = PLAN_NO_NODE;
    for (uint32_t i = 1; i < hosts && node == PLAN_NO_NODE; i++)
        node = plan_host_node(plan, (host + i) % hosts);
    return node;
}

/* The share of the index-th of `sharers`: even where there are enough, else one that others have
 * too. */
static struct plan_range plan_share(struct plan_range range, uint32_t index, uint32_t sharers)
{
    uint64_t count = range.count;
    if (range.count < sharers)
        return (struct plan_range){ range.first + (uint32_t)(index * count / sharers), 1 };
    uint64_t from = index * count / sharers, to = (index + UINT64_C(1)) * count / sharers;
    return (struct plan_range){ range.first + (uint32_t)from, (uint32_t)(to - from) };
}

/* The samplers (or trainers) of a host have consecutive numbers: its processes do. */
static struct plan_range plan_join(struct plan_range a, struct plan_range b)
{
    if (a.count == 0 || b.count == 0)
        return a.count == 0 ? b : a;
    uint32_t first = a.first < b.first ? a.first : b.first;
    uint32_t a_end = a.first + a.count, b_end = b.first + b.count;
    return (struct plan_range){ first, (a_end > b_end ? a_end : b_end) - first };
}

struct plan_range plan_trainer_samplers(const struct plan *plan, uint32_t rank)
{
    const struct plan_process *home = &plan->processes[plan_trainer_node(plan, rank)];
    /* The nearest samplers come first: those of the process, then those of its host, then all. */
    if (home->samplers.count > 0)
        return plan_share(home->samplers, rank - home->trainers.first, home->trainers.count);
    struct plan_range samplers = { 0 }, trainers = { 0 };
    for (uint32_t p = 0; p < plan->num_processes; p++) {
        if (plan->processes[p].host != home->host)
            continue;
        samplers = plan_join(samplers, plan->processes[p].samplers);
        trainers = plan_join(trainers, plan->processes[p].trainers);
    }
    if (samplers.count > 0)
        return plan_share(samplers, rank - trainers.first, trainers.count);
    samplers = (struct plan_range){ 0, plan->samplers };
    return plan->samplers == 0 ? samplers : plan_share(samplers, rank, plan->trainers);
}
