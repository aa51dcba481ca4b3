/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrays of a node type that have one number a node: original IDs, degrees and, where they are
 * named, trainers. One pass over original IDs appends to the files of many partitions at a time.
 */
#include "partition/build/write.h"

#include <stdlib.h>

#include "partition/build/write_set.h"
#include "partition/store/part_files.h"

/* Arrays of a node type that hold one number a node. */
enum { ORIGINAL_IDS, IN_DEGREES, OUT_DEGREES, TRAINERS, NUM_ARRAYS };

static const struct {
    const char *array;
    const char *descr;
} arrays[NUM_ARRAYS] = {
    [ORIGINAL_IDS] = { PART_ORIGINAL_IDS, "<u8" },
    [IN_DEGREES] = { PART_IN_DEGREES, "<u4" },
    [OUT_DEGREES] = { PART_OUT_DEGREES, "<u4" },
    [TRAINERS] = { NULL, "<i4" },
};

/* How many nodes pass between two looks at whether somebody cancelled. */
#define STEP_NODES ((uint64_t)1 << 20)

static int open_sets(struct write_set *sets, uint32_t num_arrays, struct partition_job *job,
                     uint32_t ntype, uint32_t first, uint32_t count, struct error *error)
{
    const struct graph_types *types = &job->raw->types;
    const uint64_t *rows = job->plan->node_counts + (size_t)ntype * job->plan->num_parts + first;
    int rv = 0;
    for (uint32_t a = 0; a < num_arrays && rv == 0; a++) {
        char *name = a == TRAINERS ? part_file_feature(types, false, ntype, PARTITION_TRAINER_ID)
                                   : part_file_node(types, ntype, arrays[a].array);
        rv = name == NULL ? job_no_memory(error, "a file's name", 0)
                          : write_set_open(&sets[a], job, name, arrays[a].descr, 0, NULL, first,
                                           count, rows, error);
        free(name);
    }
    return rv;
}

static int append_nodes(struct write_set *sets, uint32_t num_arrays, struct partition_job *job,
                        const uint32_t *trainers, uint32_t ntype, struct error *error)
{
    const uint32_t *parts = job->plan->parts[ntype];
    uint64_t count = job->plan->num_nodes[ntype];
    int rv = 0;
    for (uint64_t v = 0; v < count && rv == 0; v++) {
        if (v % STEP_NODES == 0)
            rv = job_step(job, "nodes", v, count, error);
        if (rv != 0 || !write_set_has(&sets[0], parts[v]))
            continue;
        const uint32_t *values[NUM_ARRAYS] = {
            [IN_DEGREES] = &job->in_degrees[ntype][v],
            [OUT_DEGREES] = &job->out_degrees[ntype][v],
            [TRAINERS] = num_arrays > TRAINERS ? &trainers[v] : NULL,
        };
        rv = write_set_append(&sets[ORIGINAL_IDS], parts[v], &v, sizeof v, error);
        for (uint32_t a = IN_DEGREES; a < num_arrays && rv == 0; a++)
            rv = write_set_append(&sets[a], parts[v], values[a], sizeof(uint32_t), error);
    }
    return rv;
}

int write_nodes(struct partition_job *job, const struct assignment *assignment, uint32_t ntype,
                struct error *error)
{
    static const uint32_t no_trainers[1];
    bool named = assignment->trainers != NULL;
    const uint32_t *trainers = named ? assignment->trainers[ntype] : no_trainers;
    uint32_t num_arrays = named ? NUM_ARRAYS : TRAINERS;
    struct write_set *sets = calloc(NUM_ARRAYS, sizeof *sets);
    int rv = sets == NULL ? job_no_memory(error, "the files of nodes", 0) : 0;
    for (uint32_t first = 0; first < job->plan->num_parts && rv == 0; first += WRITE_SET_PARTS) {
        uint32_t left = job->plan->num_parts - first;
        uint32_t count = left < WRITE_SET_PARTS ? left : WRITE_SET_PARTS;
        rv = open_sets(sets, num_arrays, job, ntype, first, count, error);
        if (rv == 0)
            rv = append_nodes(sets, num_arrays, job, trainers, ntype, error);
        /* The files are closed before the next group is opened, so that few are open at once. */
        for (uint32_t a = 0; a < num_arrays; a++) {
            if (rv == 0)
                rv = write_set_finish(&sets[a], error);
            write_set_close(&sets[a]);
        }
    }
    free(sets);
    return rv;
}
