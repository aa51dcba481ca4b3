/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/assign.h"

#include <stdlib.h>

int assignment_init(struct assignment *assignment, struct partition_job *job, struct error *error)
{
    const struct raw_graph *raw = job->raw;
    uint32_t trainers = job->options->trainers;
    *assignment = (struct assignment){ .num_ntypes = raw->types.num_ntypes,
                                       .num_parts = job->options->num_parts,
                                       .num_trainers = trainers };
    assignment->parts = calloc(raw->types.num_ntypes + 1, sizeof *assignment->parts);
    if (trainers > 0)
        assignment->trainers = calloc(raw->types.num_ntypes + 1, sizeof *assignment->trainers);
    if (assignment->parts == NULL || (trainers > 0 && assignment->trainers == NULL))
        return job_no_memory(error, "the assignment", 0);
    for (uint32_t type = 0; type < raw->types.num_ntypes; type++) {
        size_t bytes = (size_t)raw->num_nodes[type] * sizeof(uint32_t) + 1;
        if (raw->num_nodes[type] > SIZE_MAX / 8)
            return job_no_memory(error, "the assignment", raw->num_nodes[type]);
        assignment->parts[type] = malloc(bytes);
        if (trainers > 0)
            assignment->trainers[type] = malloc(bytes);
        if (assignment->parts[type] == NULL || (trainers > 0 && assignment->trainers[type] == NULL))
            return job_no_memory(error, "the assignment", bytes);
    }
    return 0;
}

void assignment_fini(struct assignment *assignment)
{
    for (uint32_t type = 0; type < assignment->num_ntypes; type++) {
        if (assignment->parts != NULL)
            free(assignment->parts[type]);
        if (assignment->trainers != NULL)
            free(assignment->trainers[type]);
    }
    free(assignment->parts);
    free(assignment->trainers);
    *assignment = (struct assignment){ 0 };
}
