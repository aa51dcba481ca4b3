/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/id_plan.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/hotmem.h"

static size_t map_bytes(const struct id_plan *plan, uint32_t type)
{
    if (plan->num_nodes == NULL)
        return 0;
    size_t item = plan->num_nodes[type] > plan->columns_max ? 8 : 4;
    return (size_t)plan->num_nodes[type] * item;
}

static int fill_type(struct id_plan *plan, uint32_t type, struct error *error)
{
    uint64_t *counts = plan->node_counts + (size_t)type * plan->num_parts;
    uint64_t *begins = plan->node_begins + (size_t)type * plan->num_parts;
    const uint32_t *parts = plan->parts[type];
    uint64_t count = plan->num_nodes[type];
    for (uint64_t v = 0; v < count; v++)
        counts[parts[v]]++;
    for (uint32_t part = 1; part < plan->num_parts; part++)
        begins[part] = begins[part - 1] + counts[part - 1];

    uint64_t *next = malloc(plan->num_parts * sizeof *next);
    void *map = hotmem_alloc(map_bytes(plan, type));
    if (next == NULL || map == NULL) {
        free(next);
        hotmem_free(map, map_bytes(plan, type));
        return job_no_memory(error, "the map of node IDs", map_bytes(plan, type));
    }
    memcpy(next, begins, plan->num_parts * sizeof *next);
    if (count <= plan->columns_max) {
        plan->global32[type] = map;
        for (uint64_t v = 0; v < count; v++)
            plan->global32[type][v] = (uint32_t)next[parts[v]]++;
    } else {
        plan->global64[type] = map;
        for (uint64_t v = 0; v < count; v++)
            plan->global64[type][v] = next[parts[v]]++;
    }
    free(next);
    return 0;
}

int id_plan_init(struct id_plan *plan, const struct assignment *assignment,
                 const struct partition_job *job, struct error *error)
{
    const struct raw_graph *raw = job->raw;
    size_t ntypes = raw->types.num_ntypes, etypes = raw->types.num_etypes;
    size_t num_parts = assignment->num_parts;
    *plan = (struct id_plan){ .num_ntypes = raw->types.num_ntypes,
                              .num_parts = assignment->num_parts,
                              .parts = assignment->parts,
                              .columns_max = job_columns_max(job->options) };
    plan->num_nodes = calloc(ntypes + 1, sizeof *plan->num_nodes);
    plan->node_counts = calloc(ntypes * num_parts + 1, sizeof *plan->node_counts);
    plan->node_begins = calloc(ntypes * num_parts + 1, sizeof *plan->node_begins);
    plan->edge_counts = calloc(etypes * num_parts + 1, sizeof *plan->edge_counts);
    plan->out_counts = calloc(etypes * num_parts + 1, sizeof *plan->out_counts);
    plan->global32 = calloc(ntypes + 1, sizeof *plan->global32);
    plan->global64 = calloc(ntypes + 1, sizeof *plan->global64);
    int rv = 0;
    if (plan->num_nodes == NULL || plan->node_counts == NULL || plan->node_begins == NULL ||
        plan->edge_counts == NULL || plan->out_counts == NULL || plan->global32 == NULL ||
        plan->global64 == NULL)
        rv = job_no_memory(error, "the plan of IDs", (ntypes + etypes) * num_parts * 8);
    for (uint32_t type = 0; type < ntypes && rv == 0; type++) {
        plan->num_nodes[type] = raw->num_nodes[type];
        rv = fill_type(plan, type, error);
    }
    if (rv != 0)
        id_plan_fini(plan);
    return rv;
}

void id_plan_fini(struct id_plan *plan)
{
    for (uint32_t type = 0; type < plan->num_ntypes; type++) {
        if (plan->global32 != NULL)
            hotmem_free(plan->global32[type], map_bytes(plan, type));
        if (plan->global64 != NULL)
            hotmem_free(plan->global64[type], map_bytes(plan, type));
    }
    free(plan->num_nodes);
    free(plan->node_counts);
    free(plan->node_begins);
    free(plan->edge_counts);
    free(plan->out_counts);
    free(plan->global32);
    free(plan->global64);
    *plan = (struct id_plan){ 0 };
}
