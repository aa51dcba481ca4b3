/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions and trainers that are drawn. A draw is a function of the seed, its purpose, the node
 * type and the original ID, so the order in which nodes are visited does not matter. Trainers are
 * drawn here also where METIS or a file gave the partitions.
 */
#include "partition/build/assign.h"

#include "graph/key.h"

/* The purpose of a draw: the same key with another purpose is another number. */
#define PURPOSE_PART UINT64_C(0x70617274)
#define PURPOSE_TRAINER UINT64_C(0x7472616e)

/* A step of splitmix64: 0 does not stay 0. */
static uint64_t mix(uint64_t x)
{
    return key_mix(x + KEY_STEP);
}

static uint64_t key_of(uint64_t seed, uint64_t purpose, uint32_t ntype)
{
    return mix(mix(seed) ^ mix(purpose ^ ((uint64_t)ntype << 32)));
}

/* An unbiased number below bound (Lemire: Fast random integer generation in an interval, 2019):
 * a draw that falls in the uneven rest is drawn again. */
static uint32_t draw_below(uint64_t key, uint64_t id, uint32_t bound)
{
    uint64_t x = mix(key ^ mix(id));
    for (;;) {
        uint64_t product = (x & UINT32_MAX) * bound;
        if ((uint32_t)product >= (uint32_t)(-bound) % bound)
            return (uint32_t)(product >> 32);
        x = mix(x);
    }
}

struct trainer_range assign_part_trainers(uint32_t part, uint32_t num_parts, uint32_t num_trainers)
{
    uint64_t begin = (uint64_t)part * num_trainers;
    return (struct trainer_range){ (uint32_t)(begin / num_parts),
                                   (uint32_t)((begin + num_trainers - 1) / num_parts) };
}

/* A partition is a stretch of num_trainers of the num_parts * num_trainers points of which each
 * trainer has num_parts; a node draws a point of its partition's. */
void assign_trainers(struct assignment *assignment, uint64_t seed, const uint64_t *num_nodes)
{
    if (assignment->trainers == NULL)
        return;
    uint64_t num_trainers = assignment->num_trainers;
    for (uint32_t type = 0; type < assignment->num_ntypes; type++) {
        uint64_t key = key_of(seed, PURPOSE_TRAINER, type);
        for (uint64_t v = 0; v < num_nodes[type]; v++)
            assignment->trainers[type][v] = (uint32_t)((assignment->parts[type][v] * num_trainers +
                                                        draw_below(key, v,
                                                                   assignment->num_trainers)) /
                                                       assignment->num_parts);
    }
}

int assign_random(struct assignment *assignment, struct partition_job *job, struct error *error)
{
    const uint64_t *num_nodes = job->raw->num_nodes;
    for (uint32_t type = 0; type < assignment->num_ntypes; type++) {
        uint64_t key = key_of(job->options->seed, PURPOSE_PART, type);
        int rv = job_step(job, "assign", type, assignment->num_ntypes, error);
        if (rv != 0)
            return rv;
        for (uint64_t v = 0; v < num_nodes[type]; v++)
            assignment->parts[type][v] = draw_below(key, v, assignment->num_parts);
    }
    assign_trainers(assignment, job->options->seed, num_nodes);
    return 0;
}
