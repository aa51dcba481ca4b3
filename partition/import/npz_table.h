/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An array of an archive, a row for each node, as a table of the raw graph: features or labels.
 *
 * Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_NPZ_TABLE_H
#define PARTITION_IMPORT_NPZ_TABLE_H

#include "partition/import/npz_job.h"

/* Writes the dense array as the table `name`, "feat" or "label". */
/* The same of "label": floats of one label a node become whole numbers, NaN -1; one with a fraction
 * is refused. */
int npz_labels_copy(struct npz_job *job, const char *array_name);
int npz_table_copy(struct npz_job *job, const char *name, const char *array_name);

/* Writes the sparse rows of a prefix (npz_sparse.h): sparse, where they may be and the options say
 * so, else with their zeroes. */
int npz_table_sparse(struct npz_job *job, const char *name, const char *prefix, bool may_keep);

#endif
