/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions that METIS finds in a process of its own, balanced over the classes of nodes. Where
 * trainers are a multiple of the partitions, METIS is asked for a part for each trainer, and a
 * partition is the parts of its trainers. METIS is not asked where it has nothing to find: for one
 * part, for no more nodes than parts, or without edges.
 */
#include "partition/build/assign.h"

#include <stdlib.h>

#include "partition/build/classes.h"
#include "partition/build/metis_child.h"
#include "partition/build/symmetric.h"
#include "partition/metis/metis_exchange.h"
#include "runtime/base/hotmem.h"

_Static_assert(PARTITION_CLASSES_MAX + 1 <= METIS_CONSTRAINTS_MAX, "classes, and edges");

/* The weights that METIS balances: a column for each class that has nodes, and one of in-degrees
 * if asked. */
struct weights {
    uint32_t num_columns;
    size_t bytes;
    int32_t *values; /* [num_nodes * num_columns]; NULL: all nodes weigh the same */
};

/* Numbers the classes that have nodes; METIS can't balance a column of zeros. */
static uint32_t number_columns(const struct classes *classes, const uint64_t *num_nodes,
                               int32_t columns[PARTITION_CLASSES_MAX])
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < PARTITION_CLASSES_MAX; c++)
        columns[c] = -1;
    for (uint32_t t = 0; classes->of != NULL && t < classes->num_ntypes; t++) {
        for (uint64_t v = 0; v < num_nodes[t]; v++) {
            if (columns[classes->of[t][v]] < 0)
                columns[classes->of[t][v]] = (int32_t)count++;
        }
    }
    return count;
}

static int make_weights(struct weights *weights, const struct classes *classes,
                        const struct symmetric *graph, struct partition_job *job,
                        struct error *error)
{
    int32_t columns[PARTITION_CLASSES_MAX];
    uint32_t of_classes = number_columns(classes, job->raw->num_nodes, columns);
    bool edges = job->options->balance_edges && graph->num_entries > 0;
    if (of_classes == 1 && !edges)
        of_classes = 0;
    if (of_classes == 0 && edges)
        of_classes = 1; /* nodes and edges, both */
    *weights = (struct weights){ .num_columns = of_classes + edges };
    if (weights->num_columns == 0)
        return 0;
    uint32_t width = weights->num_columns;
    weights->bytes = (size_t)graph->num_nodes * width * sizeof *weights->values;
    weights->values = hotmem_alloc(weights->bytes);
    if (weights->values == NULL)
        return job_no_memory(error, "weights of nodes", weights->bytes);
    for (uint32_t t = 0; t < job->raw->types.num_ntypes; t++) {
        for (uint64_t v = 0; v < job->raw->num_nodes[t]; v++) {
            int32_t *row = weights->values + (graph->offsets[t] + v) * width;
            row[classes->of == NULL ? 0 : columns[classes->of[t][v]]] = 1;
            if (edges)
                row[width - 1] = (int32_t)graph->in_degrees[graph->offsets[t] + v];
        }
    }
    return 0;
}

/* Without edges nothing can be cut: nodes are dealt out, class by class. */
static void deal_nodes(const struct symmetric *graph, const struct classes *classes,
                       const uint64_t *num_nodes, uint32_t num_ids, uint32_t *ids)
{
    uint32_t next[PARTITION_CLASSES_MAX] = { 0 };
    for (uint32_t t = 0; t < classes->num_ntypes; t++) {
        for (uint64_t v = 0; v < num_nodes[t]; v++) {
            uint32_t *turn = &next[classes->of == NULL ? 0 : classes->of[t][v]];
            ids[graph->offsets[t] + v] = *turn;
            *turn = (*turn + 1) % num_ids;
        }
    }
}

static int ask_metis(struct partition_job *job, struct symmetric *graph,
                     const struct classes *classes, uint32_t num_ids, uint32_t *ids,
                     struct error *error)
{
    struct weights weights = { 0 };
    struct metis_answer answer = { 0 };
    int rv = make_weights(&weights, classes, graph, job, error);
    if (rv == 0) {
        struct metis_question question = {
            .graph = graph,
            .num_constraints = weights.num_columns == 0 ? 1 : (int32_t)weights.num_columns,
            .weights = weights.values,
            .num_parts = (int32_t)num_ids,
            .volume = job->options->volume,
            .seed = job->options->seed,
        };
        rv = metis_run(job, &question, ids, &answer, error);
    }
    job->report->metis_seconds = answer.seconds;
    job->report->metis_objective = answer.objective;
    job->report->metis_peak_bytes = answer.peak_bytes;
    hotmem_free(weights.values, weights.bytes);
    return rv;
}

/* An ID for each node: that of its trainer where they split partitions, else of its partition. */
static int find_ids(struct partition_job *job, struct symmetric *graph,
                    const struct classes *classes, uint32_t num_ids, uint32_t *ids,
                    struct error *error)
{
    /* This is asked before the edges: dealt class by class, some of so few nodes would share a
     * partition while others are empty. METIS itself takes no fewer nodes than partitions. */
    if (graph->num_nodes <= num_ids) {
        job->report->metis_unasked = "there are no more nodes than partitions, so each partition "
                                     "gets one node at most; ask for fewer partitions";
        for (uint64_t v = 0; v < graph->num_nodes; v++)
            ids[v] = (uint32_t)v;
        return 0;
    }
    if (graph->num_entries == 0) {
        job->report->metis_unasked = "there are no edges, so the nodes are shared out evenly";
        deal_nodes(graph, classes, job->raw->num_nodes, num_ids, ids);
        return 0;
    }
    return ask_metis(job, graph, classes, num_ids, ids, error);
}

/* Trainers that share no partition with each other: METIS splits their partitions too. */
static bool splits_parts(const struct assignment *assignment)
{
    return assignment->trainers != NULL && assignment->num_trainers % assignment->num_parts == 0;
}

static void spread(struct assignment *assignment, const struct symmetric *graph,
                   const uint64_t *num_nodes, const uint32_t *ids)
{
    bool split = splits_parts(assignment);
    uint32_t each = split ? assignment->num_trainers / assignment->num_parts : 1;
    for (uint32_t t = 0; t < assignment->num_ntypes; t++) {
        for (uint64_t v = 0; v < num_nodes[t]; v++) {
            uint32_t id = ids[graph->offsets[t] + v];
            assignment->parts[t][v] = id / each;
            if (split)
                assignment->trainers[t][v] = id;
        }
    }
}

static void assign_all_to_one(struct assignment *assignment, const uint64_t *num_nodes)
{
    for (uint32_t t = 0; t < assignment->num_ntypes; t++) {
        for (uint64_t v = 0; v < num_nodes[t]; v++) {
            assignment->parts[t][v] = 0;
            if (assignment->trainers != NULL)
                assignment->trainers[t][v] = 0;
        }
    }
}

int assign_metis(struct assignment *assignment, struct partition_job *job, struct error *error)
{
    const struct partition_options *options = job->options;
    bool split = splits_parts(assignment);
    uint32_t num_ids = split ? assignment->num_trainers : assignment->num_parts;
    struct symmetric graph = { 0 };
    struct classes classes = { 0 };
    uint32_t *ids = NULL;
    if (num_ids == 1) {
        assign_all_to_one(assignment, job->raw->num_nodes);
        return 0;
    }
    /* Checks come before the symmetric graph, which takes the most time and memory. */
    int rv = symmetric_check(job->raw, error);
    if (rv == 0)
        rv = classes_init(&classes, job, options->balance_tables, options->num_balance_tables,
                          error);
    if (rv == 0)
        rv = symmetric_init(&graph, job, error);
    if (rv == 0) {
        ids = malloc((size_t)graph.num_nodes * sizeof *ids + 1);
        rv = ids == NULL ? job_no_memory(error, "METIS's answer", graph.num_nodes * 4)
                         : find_ids(job, &graph, &classes, num_ids, ids, error);
    }
    if (rv == 0)
        spread(assignment, &graph, job->raw->num_nodes, ids);
    if (rv == 0 && !split)
        assign_trainers(assignment, options->seed, job->raw->num_nodes);
    free(ids);
    symmetric_fini(&graph);
    classes_fini(&classes);
    return rv;
}
