/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which partition (and which trainer) each node goes to, by original ID.
 *
 * Ownership: assignment_fini frees the arrays. Thread rules: filled on one thread, then frozen.
 */
#ifndef PARTITION_BUILD_ASSIGN_H
#define PARTITION_BUILD_ASSIGN_H

#include "partition/build/job.h"

struct assignment {
    uint32_t num_ntypes;
    uint32_t num_parts;
    uint32_t num_trainers; /* of the job; 0: none are named */
    uint32_t **parts;      /* [ntype][node], < num_parts */
    uint32_t **trainers;   /* [ntype][node], of assign_part_trainers(); NULL: none */
};

int assignment_init(struct assignment *assignment, struct partition_job *job, struct error *error);
void assignment_fini(struct assignment *assignment);

/* Each fills parts, and trainers where they are named. */
int assign_random(struct assignment *assignment, struct partition_job *job, struct error *error);
int assign_file(struct assignment *assignment, struct partition_job *job, struct error *error);
int assign_metis(struct assignment *assignment, struct partition_job *job, struct error *error);

/* The trainers beside a partition: partitions and trainers stand in the same order, so each
 * trainer has an equal stretch of partitions, or each partition of trainers. */
struct trainer_range {
    uint32_t first, last;
};
struct trainer_range assign_part_trainers(uint32_t part, uint32_t num_parts, uint32_t num_trainers);

/* Trainers of nodes whose partition is known, drawn by (seed, type, original ID). */
void assign_trainers(struct assignment *assignment, uint64_t seed, const uint64_t *num_nodes);

#endif
