/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of nodes that partitions are to have equal shares of.
 *
 * A class is a node type and a value of each of the named tables (masks or integers), so the
 * train mask gives two classes a type: nodes that train, and the others.
 *
 * Ownership: classes_fini frees. One thread.
 */
#ifndef PARTITION_BUILD_CLASSES_H
#define PARTITION_BUILD_CLASSES_H

#include "partition/build/job.h"

struct classes {
    uint32_t num_ntypes;
    uint32_t num_classes;
    uint8_t **of; /* [ntype][original ID], < num_classes; NULL: no tables were named */
};

int classes_init(struct classes *classes, struct partition_job *job, const char *const *tables,
                 uint32_t num_tables, struct error *error);
void classes_fini(struct classes *classes);

/* Largest share of a class over the mean, for each class: [num_classes]. */
int classes_balance(const struct classes *classes, const struct partition_job *job,
                    uint32_t *const *parts, double *balance);

#endif
